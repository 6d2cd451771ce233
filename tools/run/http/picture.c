/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the last emitter says of a frame is drawn, whatever metas the frame has. */
#include "tools/run/http/picture.h"

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
mark (const SlFeedFrame *frame)
{
  GstBuffer *buffer = gst_buffer_copy (frame->buffer);
  if (frame->predictions == NULL)
    return buffer;
  gst_buffer_foreach_meta (buffer, is_no_prediction, NULL);
  sl_buffer_add_prediction (buffer, sl_predictions_view (frame->predictions), NULL);
  return buffer;
}

GBytes *
sl_picture_make (SlPictureMaker *maker, const SlFeedFrame *frame, GError **error)
{
  g_autoptr (GstBuffer) marked = mark (frame);
  return sl_picture_maker_make (maker, marked, frame->caps, error);
}
