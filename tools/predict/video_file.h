/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames with predictions on them -> one MP4 file with the predictions drawn. */
#pragma once

#include <gst/gst.h>

typedef struct _SlVideoFile SlVideoFile;

/** sl_video_file_new: a file that has its name @path once it is whole, PATH.part until then.
 * @redact: (nullable): as in sl_make_drawing() */
SlVideoFile *sl_video_file_new (const char *path, const char *redact, GError **error);
/** sl_video_file_free: what was not finished is deleted. */
void sl_video_file_free (SlVideoFile *video);
/** sl_video_file_next_source: frames to come follow those so far, whatever their timestamps. */
void sl_video_file_next_source (SlVideoFile *video);
/** sl_video_file_write: the first frame's size and rate are the video's; a frame that is not
 * @moving is shown for a second. */
gboolean sl_video_file_write (SlVideoFile *video, GstSample *frame, gboolean moving,
                              GError **error);
/** sl_video_file_finish: without a frame there is no file. */
gboolean sl_video_file_finish (SlVideoFile *video, GError **error);
