################################################################################
#
# sightline
#
################################################################################

# SPDX-License-Identifier: LGPL-2.1-or-later
# In package/sightline of Buildroot or of an external tree. SIGHTLINE_OVERRIDE_SRCDIR in local.mk names a folder with the sources.
SIGHTLINE_VERSION = 0.1.0
SIGHTLINE_SITE = https://sightline.example/releases
SIGHTLINE_SOURCE = sightline-$(SIGHTLINE_VERSION).tar.gz
SIGHTLINE_LICENSE = LGPL-2.1-or-later
SIGHTLINE_LICENSE_FILES = LICENSE
SIGHTLINE_INSTALL_STAGING = YES
SIGHTLINE_DEPENDENCIES = host-pkgconf gst1-plugins-base gstreamer1 libglib2 xnnpack zlib
SIGHTLINE_CONF_OPTS = \
	-Dtests=disabled \
	-Dbench=disabled \
	-Dintrospection=disabled \
	-Dvapi=disabled

ifeq ($(BR2_PACKAGE_LIBSOUP3),y)
SIGHTLINE_DEPENDENCIES += libsoup3
SIGHTLINE_CONF_OPTS += -Dhttp=enabled
else
SIGHTLINE_CONF_OPTS += -Dhttp=disabled
endif

ifeq ($(BR2_PACKAGE_SQLITE),y)
SIGHTLINE_DEPENDENCIES += sqlite
SIGHTLINE_CONF_OPTS += -Dsqlite=enabled
else
SIGHTLINE_CONF_OPTS += -Dsqlite=disabled
endif

ifeq ($(BR2_PACKAGE_OPENSSL),y)
SIGHTLINE_DEPENDENCIES += openssl
SIGHTLINE_CONF_OPTS += -Dpush=enabled
else
SIGHTLINE_CONF_OPTS += -Dpush=disabled
endif

ifeq ($(BR2_PACKAGE_LIBXCRYPT),y)
SIGHTLINE_DEPENDENCIES += libxcrypt
SIGHTLINE_CONF_OPTS += -Dcrypt=enabled
else
SIGHTLINE_CONF_OPTS += -Dcrypt=disabled
endif

ifeq ($(BR2_PACKAGE_MOSQUITTO),y)
SIGHTLINE_DEPENDENCIES += mosquitto
SIGHTLINE_CONF_OPTS += -Dmqtt=enabled
else
SIGHTLINE_CONF_OPTS += -Dmqtt=disabled
endif

ifeq ($(BR2_PACKAGE_LIBRDKAFKA),y)
SIGHTLINE_DEPENDENCIES += librdkafka
SIGHTLINE_CONF_OPTS += -Dkafka=enabled
else
SIGHTLINE_CONF_OPTS += -Dkafka=disabled
endif

ifeq ($(BR2_PACKAGE_LIBYUV),y)
SIGHTLINE_DEPENDENCIES += libyuv
SIGHTLINE_CONF_OPTS += -Dlibyuv=enabled
else
SIGHTLINE_CONF_OPTS += -Dlibyuv=disabled
endif

ifeq ($(BR2_PACKAGE_LZ4),y)
SIGHTLINE_DEPENDENCIES += lz4
SIGHTLINE_CONF_OPTS += -Dlz4=enabled
else
SIGHTLINE_CONF_OPTS += -Dlz4=disabled
endif

ifeq ($(BR2_PACKAGE_JPEG),y)
SIGHTLINE_DEPENDENCIES += jpeg
SIGHTLINE_CONF_OPTS += -Djpeg=enabled
else
SIGHTLINE_CONF_OPTS += -Djpeg=disabled
endif

ifeq ($(BR2_PACKAGE_GDK_PIXBUF),y)
SIGHTLINE_DEPENDENCIES += gdk-pixbuf
SIGHTLINE_CONF_OPTS += -Dgdk-pixbuf=enabled
else
SIGHTLINE_CONF_OPTS += -Dgdk-pixbuf=disabled
endif

ifeq ($(BR2_PACKAGE_ZBAR),y)
SIGHTLINE_DEPENDENCIES += zbar
SIGHTLINE_CONF_OPTS += -Dzbar=enabled
else
SIGHTLINE_CONF_OPTS += -Dzbar=disabled
endif

ifeq ($(BR2_PACKAGE_ZXING_CPP),y)
SIGHTLINE_DEPENDENCIES += zxing-cpp
SIGHTLINE_CONF_OPTS += -Dzxing=enabled
else
SIGHTLINE_CONF_OPTS += -Dzxing=disabled
endif

ifeq ($(BR2_PACKAGE_PANGO),y)
SIGHTLINE_DEPENDENCIES += pango
SIGHTLINE_CONF_OPTS += -Doverlay=enabled
else
SIGHTLINE_CONF_OPTS += -Doverlay=disabled
endif

$(eval $(meson-package))
