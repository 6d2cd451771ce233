/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/remote/result.h"

#include "core/graph/tensor.h"
#include "plugins/meta/frame_meta.h"

gboolean
sl_remote_append_outputs (GstBuffer *buffer, const SlContract *contract, GstMapInfo maps[SL_MAX_IO], void **outputs)
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
