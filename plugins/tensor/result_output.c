/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The choice of the form by the caps that downstream allows. */
#include "plugins/tensor/result_output.h"

#include "plugins/base/held_events.h"
#include "plugins/meta/map/downstream.h"

/* The first form that downstream takes, in its order, and that there is; @video: (nullable). */
static SlResultForm
choose_form (GstCaps *allowed, GstCaps *video, GstCaps **caps)
{
  g_autoptr (GstCaps) text = gst_caps_from_string (SL_RESULT_TEXT_CAPS);
  g_autoptr (GstCaps) json = gst_caps_from_string (SL_RESULT_JSON_CAPS);
  const struct
  {
    SlResultForm form;
    GstCaps *caps;
  } offers[] = {
    { SL_RESULT_VIDEO, video },
    { SL_RESULT_TEXT, text },
    { SL_RESULT_JSON, json },
  };
  guint n = gst_caps_is_any (allowed) ? 1 : gst_caps_get_size (allowed);
  for (guint i = 0; i < n; i++) {
    g_autoptr (GstCaps) one =
      gst_caps_is_any (allowed) ? gst_caps_new_any () : gst_caps_copy_nth (allowed, i);
    for (guint o = 0; o < G_N_ELEMENTS (offers); o++) {
      if (offers[o].caps != NULL && gst_caps_can_intersect (one, offers[o].caps)) {
        *caps = gst_caps_ref (offers[o].caps);
        return offers[o].form;
      }
    }
  }
  return SL_RESULT_NONE;
}

static GstFlowReturn
fail (GstElement *owner, const GstCaps *allowed, const SlFrameMeta *meta)
{
  g_autofree char *wanted = gst_caps_to_string (allowed);
  if (meta == NULL || meta->frame == NULL) {
    GST_ELEMENT_ERROR (
      owner, STREAM, FORMAT,
      ("the element after slpostprocess wants %s, but the tensors bring no frame: expected frames "
       "from slnormalize, or ask for text/x-raw or application/x-json after slpostprocess",
       wanted),
      (NULL));
  } else {
    g_autofree char *got = gst_caps_to_string (meta->caps);
    GST_ELEMENT_ERROR (
      owner, STREAM, FORMAT,
      ("the element after slpostprocess wants %s, but the frame is %s: put videoconvert after "
       "slpostprocess",
       wanted, got),
      (NULL));
  }
  return GST_FLOW_NOT_NEGOTIATED;
}

gboolean
sl_result_output_fits (const SlResultOutput *output, const GstCaps *video)
{
  if (output->form == SL_RESULT_VIDEO)
    return video != NULL && gst_caps_is_equal (output->caps, video);
  return output->form != SL_RESULT_NONE;
}

GstFlowReturn
sl_result_output_choose (SlResultOutput *output, GstElement *owner, GstPad *pad, GstCaps *video,
                         const SlFrameMeta *meta)
{
  g_autoptr (GstCaps) allowed = gst_pad_peer_query_caps (pad, NULL);
  g_autoptr (GstCaps) caps = NULL;
  const SlResultForm form = choose_form (allowed, video, &caps);
  if (form == SL_RESULT_NONE)
    return GST_PAD_IS_FLUSHING (pad) ? GST_FLOW_FLUSHING : fail (owner, allowed, meta);
  if (output->form == SL_RESULT_NONE || !gst_caps_is_equal (caps, output->caps)) {
    if (!gst_pad_push_event (pad, gst_event_new_caps (caps))) {
      gst_pad_mark_reconfigure (pad);
      return GST_PAD_IS_FLUSHING (pad) ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;
    }
    gst_caps_replace (&output->caps, caps);
  }
  output->form = form;
  sl_held_events_push (&output->held, pad);
  if (form == SL_RESULT_VIDEO)
    sl_results_follow (pad);
  return GST_FLOW_OK;
}

gboolean
sl_result_output_is_lines (GstPad *pad)
{
  g_autoptr (GstCaps) allowed = gst_pad_peer_query_caps (pad, NULL);
  g_autoptr (GstCaps) video = gst_caps_from_string ("video/x-raw(ANY)");
  g_autoptr (GstCaps) caps = NULL;
  const SlResultForm form = choose_form (allowed, video, &caps);
  return form == SL_RESULT_TEXT || form == SL_RESULT_JSON;
}

void
sl_result_output_clear (SlResultOutput *output)
{
  output->form = SL_RESULT_NONE;
  gst_clear_caps (&output->caps);
  sl_held_events_clear (&output->held);
}

void
sl_result_output_write (const SlResultOutput *output, const SlPredictionView *prediction,
                        GString *line)
{
  g_string_truncate (line, 0);
  if (output->form == SL_RESULT_TEXT) {
    sl_prediction_append_text (line, prediction);
  } else {
    sl_prediction_append_json (line, prediction);
    g_string_append_c (line, '\n');
  }
  /* A quarter of room, for later lines with more digits. */
  const gsize length = line->len;
  g_string_set_size (line, length + length / 4);
  g_string_truncate (line, length);
}
