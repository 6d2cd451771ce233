/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What slrecord and its inner pipelines share: elements, one linked behind the other, raw caps, and
 * times of segments.
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

/** sl_record_add: (transfer none): a new element of @factory in @bin, linked behind *@last (inout,
 * nullable at first). NULL with @error set, naming the package, where it is not installed, or does
 * not fit. */
GstElement *sl_record_add (GstBin *bin, const char *factory, GstElement **last, GError **error);
/** sl_record_has: whether there is an element called @factory. */
gboolean sl_record_has (const char *factory);
/** sl_record_reads: whether @caps are raw video in system memory, in *@info (out) then. Features of
 * metas do not matter: sl_record_plain() is without them. */
gboolean sl_record_reads (GstCaps *caps, GstVideoInfo *info);
/** sl_record_plain: (transfer full): @caps, which sl_record_reads(), without features, which
 * converters do not take. */
GstCaps *sl_record_plain (GstCaps *caps);
/** sl_record_running_time: of @time in @segment; NONE where it is outside of the segment, before
 * its beginning, or no time. */
GstClockTime sl_record_running_time (const GstSegment *segment, GstClockTime time);
/** sl_record_package: (transfer none): Debian's package of @factory. */
const char *sl_record_package (const char *factory);
