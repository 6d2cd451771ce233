# SPDX-License-Identifier: LGPL-2.1-or-later
# For Yocto 4.0 (kirkstone) and newer. XNNPACK and pthreadpool come from a layer of yours; all else is in oe-core and meta-openembedded.
SUMMARY = "Camera frames to predictions: elements for GStreamer, libraries and a service"
HOMEPAGE = "https://sightline.example"
LICENSE = "LGPL-2.1-or-later"
LIC_FILES_CHKSUM = "file://LICENSE;md5=4fbd65380cdd255951079008b364516c"

# Your mirror of the sources, and the commit to build.
SIGHTLINE_URI ?= "git://sightline.example/sightline.git;protocol=https;branch=main"
SRC_URI = "${SIGHTLINE_URI}"
SRCREV ?= "${AUTOREV}"
PV = "0.1.0+git${SRCPV}"
S = "${WORKDIR}/git"

DEPENDS = "glib-2.0 zlib gstreamer1.0 gstreamer1.0-plugins-base xnnpack pthreadpool"
inherit meson pkgconfig

PACKAGECONFIG ??= "overlay mqtt lz4 jpeg http sqlite crypt push libyuv"
PACKAGECONFIG[overlay] = "-Doverlay=enabled,-Doverlay=disabled,pango cairo"
PACKAGECONFIG[mqtt] = "-Dmqtt=enabled,-Dmqtt=disabled,mosquitto"
PACKAGECONFIG[kafka] = "-Dkafka=enabled,-Dkafka=disabled,librdkafka"
PACKAGECONFIG[lz4] = "-Dlz4=enabled,-Dlz4=disabled,lz4"
PACKAGECONFIG[jpeg] = "-Djpeg=enabled,-Djpeg=disabled,jpeg"
PACKAGECONFIG[gdk-pixbuf] = "-Dgdk-pixbuf=enabled,-Dgdk-pixbuf=disabled,gdk-pixbuf"
PACKAGECONFIG[http] = "-Dhttp=enabled,-Dhttp=disabled,libsoup"
PACKAGECONFIG[crypt] = "-Dcrypt=enabled,-Dcrypt=disabled,libxcrypt"
PACKAGECONFIG[sqlite] = "-Dsqlite=enabled,-Dsqlite=disabled,sqlite3"
PACKAGECONFIG[push] = "-Dpush=enabled,-Dpush=disabled,openssl"
PACKAGECONFIG[libyuv] = "-Dlibyuv=enabled,-Dlibyuv=disabled,libyuv"
PACKAGECONFIG[zbar] = "-Dzbar=enabled,-Dzbar=disabled,zbar"
PACKAGECONFIG[zxing] = "-Dzxing=enabled,-Dzxing=disabled,zxing-cpp"
PACKAGECONFIG[analytics] = "-Danalytics=enabled,-Danalytics=disabled,gstreamer1.0-plugins-bad"
EXTRA_OEMESON = "--buildtype=release -Dtests=disabled -Dbench=disabled -Dintrospection=disabled -Dvapi=disabled"

PACKAGES =+ "${PN}-gstreamer ${PN}-models"
FILES:${PN}-gstreamer = "${libdir}/gstreamer-1.0 ${libexecdir}/sightline"
FILES:${PN}-models = "${datadir}/sightline/models"
FILES:${PN} += "${libdir}/sightline ${datadir}/sightline ${datadir}/bash-completion ${datadir}/fish ${datadir}/zsh \
    ${nonarch_libdir}/systemd/system"
RDEPENDS:${PN} = "${PN}-gstreamer gstreamer1.0-plugins-good"
RDEPENDS:${PN}-gstreamer = "${PN}-models gstreamer1.0-plugins-base"
