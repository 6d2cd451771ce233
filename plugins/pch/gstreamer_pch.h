/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* As core/base/pch/glib_pch.h, for files that use GStreamer. */
#include <gio/gio.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <string.h>
