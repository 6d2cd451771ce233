/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lines from video frames that carry predictions: the metas of a frame are read as slpostprocess
 * reads them and written as it writes them. Pixels are never mapped. One thread at a time.
 */
#pragma once

#include <gst/gst.h>

#include "plugins/meta/class_names.h"
#include "plugins/meta/predictions.h"

typedef enum
{
  SL_LINE_JSON,
  SL_LINE_TEXT
} SlLineFormat;

/** sl_line_format_get_type: the enumeration SlLineFormat, with the nicks json and text. */
GType sl_line_format_get_type (void);

typedef struct
{
  SlPredictionReader reader;
  GString *line;
  gint width, height; /* of frames; 0 = the input is no video */
  SlLineFormat format;
  SlClassChoice choice; /* of classes that lines are about */
  guint64 frames;       /* that came since the stream's start */
} SlFrameLines;

void sl_frame_lines_init (SlFrameLines *lines);
void sl_frame_lines_clear (SlFrameLines *lines);
/** sl_frame_lines_open: for frames of @caps, raw video of any format in any memory. FALSE with
 * @error set for other caps. */
gboolean sl_frame_lines_open (SlFrameLines *lines, GstCaps *caps, SlLineFormat format,
                              GError **error);
/** sl_frame_lines_read: reads @frame, as sl_frame_lines_write() does, into @prediction, of all
 * classes, valid until the next. FALSE where nothing is known of it. */
gboolean sl_frame_lines_read (SlFrameLines *lines, GstBuffer *frame, const GstSegment *segment,
                              const char *source, SlPredictionView *prediction);
/** sl_frame_lines_write: (transfer none): the line of @frame, of @segment; empty when no model has
 * looked at it and there are no predictions of others on it, and as text when nothing was found;
 * valid until the next. @source: (nullable): of the line */
const GString *sl_frame_lines_write (SlFrameLines *lines, GstBuffer *frame,
                                     const GstSegment *segment, const char *source);
