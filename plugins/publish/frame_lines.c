/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines from frames: once a frame, in the streaming thread. */
#include "plugins/publish/frame_lines.h"

#include "core/base/fail.h"
#include "plugins/meta/frame_meta.h"

G_DEFINE_ENUM_TYPE (SlLineFormat, sl_line_format,
                    { SL_LINE_JSON,
                      "An object of JSON, as slpostprocess gives with application/x-json", "json" },
                    { SL_LINE_TEXT, "Text, as slpostprocess gives with text/x-raw", "text" })

void
sl_frame_lines_init (SlFrameLines *lines)
{
  *lines = (SlFrameLines){ .line = g_string_new (NULL) };
  sl_prediction_reader_init (&lines->reader);
}

void
sl_frame_lines_clear (SlFrameLines *lines)
{
  sl_prediction_reader_clear (&lines->reader);
  sl_class_choice_clear (&lines->choice);
  g_string_free (lines->line, TRUE);
}

gboolean
sl_frame_lines_open (SlFrameLines *lines, GstCaps *caps, SlLineFormat format, GError **error)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  g_autofree char *got = NULL;
  lines->format = format;
  if (gst_structure_has_name (structure, "video/x-raw")
      && gst_structure_get_int (structure, "width", &lines->width)
      && gst_structure_get_int (structure, "height", &lines->height) && lines->width > 0
      && lines->height > 0)
    return TRUE;
  lines->width = lines->height = 0;
  got = gst_caps_to_string (caps);
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "the input is %s: expected video/x-raw with width and height and predictions on its frames, "
    "application/x-json or text/x-raw: encoded video carries no predictions; take the frames after "
    "slpredict and before the encoder",
    got);
}

gboolean
sl_frame_lines_read (SlFrameLines *lines, GstBuffer *frame, const GstSegment *segment,
                     const char *source, SlPredictionView *prediction)
{
  const guint64 counted = lines->frames++;
  *prediction =
    (SlPredictionView){ .source = source, .width = lines->width, .height = lines->height };
  if (!sl_buffer_has_predictions (frame) && !sl_buffer_was_looked_at (frame))
    return FALSE;
  sl_prediction_reader_read_frame (&lines->reader, frame, segment, counted, prediction);
  return TRUE;
}

const GString *
sl_frame_lines_write (SlFrameLines *lines, GstBuffer *frame, const GstSegment *segment,
                      const char *source)
{
  SlPredictionView prediction;
  g_string_truncate (lines->line, 0);
  if (!sl_frame_lines_read (lines, frame, segment, source, &prediction))
    return lines->line;
  sl_prediction_reader_choose (&lines->reader, lines->choice.filter, &prediction);
  if (lines->format == SL_LINE_TEXT)
    sl_prediction_append_text (lines->line, &prediction);
  else
    sl_prediction_append_json (lines->line, &prediction);
  return lines->line;
}
