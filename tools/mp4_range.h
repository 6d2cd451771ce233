/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The range of the samples that an MP4 file states of its video, which GStreamer 1.22 does not
 * read.
 */
#pragma once

#include <glib.h>

/** sl_mp4_is_full_range: whether a track's colr box says that samples range over 0..255. Other
 * files and damaged ones give FALSE. */
gboolean sl_mp4_is_full_range (const guint8 *bytes, gsize size);
