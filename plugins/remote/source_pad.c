/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/remote/source_pad.h"

#include "core/graph/tensor.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/tensor/model_caps.h"
#include "core/base/fail.h"

GstCaps *
sl_remote_query_sink_caps (GstPad *srcpad, GstCaps *filter, SlContract *contracts[2])
{
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (srcpad);
  g_autoptr (GstCaps) outputs = sl_model_caps_transform (GST_PAD_SINK, template, NULL, contracts);
  g_autoptr (GstCaps) taken = gst_pad_peer_query_caps (srcpad, outputs);
  g_autoptr (GstCaps) both = gst_caps_intersect (taken, outputs);
  return sl_model_caps_transform (GST_PAD_SRC, both, filter, contracts);
}

GstCaps *
sl_remote_choose_output (GstPad *srcpad, GstCaps *caps, SlContract *contract, GError **error)
{
  g_autoptr (GstCaps) all =
    sl_model_caps_transform (GST_PAD_SINK, caps, NULL, (SlContract *[2]){ NULL, contract });
  g_autoptr (GstCaps) taken = gst_pad_peer_query_caps (srcpad, all);
  g_autoptr (GstCaps) both = gst_caps_intersect_full (all, taken, GST_CAPS_INTERSECT_FIRST);
  if (!gst_caps_is_empty (both))
    return gst_caps_fixate (gst_caps_truncate (g_steal_pointer (&both)));
  g_autofree char *gives = sl_tensor_infos_describe (contract->outputs, contract->n_outputs);
  return sl_fail_null (
    error, SL_ERROR_SHAPE,
    "%s gives %s, which the element after slremote does not take: expected slpostprocess there",
    contract->model, gives);
}

gboolean
sl_remote_append_outputs (GstBuffer *buffer, const SlContract *contract, GstMapInfo maps[SL_MAX_IO],
                          void **outputs)
{
  GstAllocationParams params = { .align = SL_TENSOR_ALIGN - 1, .padding = SL_TENSOR_PADDING };
  for (guint i = 0; i < contract->n_outputs; i++) {
    GstMemory *memory = gst_allocator_alloc (NULL, contract->outputs[i].bytes, &params);
    if (memory == NULL || !gst_memory_map (memory, &maps[i], GST_MAP_WRITE)) {
      g_clear_pointer (&memory, gst_memory_unref);
      while (i-- > 0)
        gst_memory_unmap (maps[i].memory, &maps[i]);
      return FALSE;
    }
    gst_buffer_append_memory (buffer, memory);
    outputs[i] = maps[i].data;
  }
  return TRUE;
}

GstBuffer *
sl_remote_make_empty (GstBuffer *buffer)
{
  SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  if (meta == NULL || meta->frame == NULL || sl_buffer_is_part (buffer)) {
    gst_buffer_unref (buffer);
    return NULL;
  }
  meta->content = meta->content == SL_FRAME_LAST_OBJECT ? SL_FRAME_NO_OBJECTS : SL_FRAME_SKIPPED;
  return buffer;
}

gboolean
sl_remote_accept_tensors (GstPad *sinkpad, GstQuery *query)
{
  GstCaps *caps;
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (sinkpad);
  gst_query_parse_accept_caps (query, &caps);
  gst_query_set_accept_caps_result (query, gst_caps_can_intersect (caps, template));
  return TRUE;
}

gboolean
sl_remote_peer_is_live (GstPad *sinkpad)
{
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  gboolean live = FALSE;
  if (gst_pad_peer_query (sinkpad, query))
    gst_query_parse_latency (query, &live, NULL, NULL);
  return live;
}

void
sl_remote_keep_event (GstPad *srcpad, gpointer object)
{
  if (GST_IS_EVENT (object) && GST_EVENT_IS_STICKY (object)
      && GST_EVENT_TYPE (object) != GST_EVENT_SEGMENT && GST_EVENT_TYPE (object) != GST_EVENT_EOS)
    gst_pad_store_sticky_event (srcpad, object);
}
