/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures of frames. What is drawn is what predictions of the frame say, and nothing else. */
#include "tools/run/http/view.h"

#include <gst/video/video.h>

#include "plugins/meta/map/relations.h"
#include "plugins/meta/mask_meta.h"
#include "plugins/meta/predictions.h"
#include "predict/predictions_private.h"

static gboolean
is_no_prediction (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  const GType api = (*meta)->info->api;
  if (api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE || api == sl_mask_meta_api_get_type ()
      || sl_meta_api_is_relations (api))
    *meta = NULL;
  return TRUE;
}

/* (transfer full): the frame's memory with its predictions, and no others: those on the frame may
 * be only a part of them. */
static GstBuffer *
with_predictions (const SlFeedFrame *frame)
{
  GstBuffer *buffer = gst_buffer_copy (frame->buffer);
  if (frame->predictions == NULL)
    return buffer;
  gst_buffer_foreach_meta (buffer, is_no_prediction, NULL);
  sl_buffer_add_prediction (buffer, sl_predictions_view (frame->predictions), NULL);
  return buffer;
}

static gboolean
is_of_pixels (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  const GType api = (*meta)->info->api;
  if (api != GST_VIDEO_META_API_TYPE && api != GST_VIDEO_CROP_META_API_TYPE)
    *meta = NULL;
  return TRUE;
}

/* (transfer full): the frame's memory, and nothing that could be drawn. */
static GstBuffer *
without_predictions (const SlFeedFrame *frame)
{
  GstBuffer *buffer = gst_buffer_copy (frame->buffer);
  gst_buffer_foreach_meta (buffer, is_of_pixels, NULL);
  return buffer;
}

SlView *
sl_view_new (gboolean drawn, guint width)
{
  SlView *view = g_new0 (SlView, 1);
  view->drawn = drawn;
  view->width = width;
  return view;
}

void
sl_view_rest (SlView *view)
{
  g_clear_pointer (&view->maker, sl_picture_maker_free);
}

void
sl_view_free (SlView *view)
{
  sl_view_rest (view);
  g_clear_pointer (&view->jpeg, g_bytes_unref);
  g_clear_pointer (&view->part, g_bytes_unref);
  g_free (view);
}

/* Takes what @jpeg is. */
static void
keep (SlView *view, GBytes *jpeg)
{
  gsize size;
  const char *data = g_bytes_get_data (jpeg, &size);
  GString *part = g_string_sized_new (size + 128);
  g_string_append_printf (
    part, "Content-Type: image/jpeg\r\nContent-Length: %" G_GSIZE_FORMAT "\r\n\r\n", size);
  g_string_append_len (part, data, (gssize) size);
  g_string_append (part, "\r\n--" SL_VIEW_BOUNDARY "\r\n");
  g_clear_pointer (&view->part, g_bytes_unref);
  g_clear_pointer (&view->jpeg, g_bytes_unref);
  view->part = g_string_free_to_bytes (part);
  view->jpeg = jpeg;
  view->serial++;
}

gboolean
sl_view_make (SlView *view, const SlFeedFrame *frame, GError **error)
{
  if (view->maker == NULL)
    view->maker = sl_picture_maker_new ((SlPictureLook){ view->width, TRUE }, error);
  g_autoptr (GstBuffer) shown =
    view->drawn ? with_predictions (frame) : without_predictions (frame);
  GBytes *jpeg =
    view->maker != NULL ? sl_picture_maker_make (view->maker, shown, frame->caps, error) : NULL;
  if (jpeg != NULL)
    keep (view, jpeg);
  else
    sl_view_rest (view);
  return jpeg != NULL;
}
