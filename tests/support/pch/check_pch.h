/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* As core/base/pch/glib_pch.h, for tests of elements. */
#include <gio/gio.h>
#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <string.h>
