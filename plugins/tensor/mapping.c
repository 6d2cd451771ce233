/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors read from a buffer, in place where possible. */
#include "plugins/tensor/mapping.h"

#include <string.h>

void
sl_tensor_mapping_init (SlTensorMapping *mapping, const SlTensorInfo *tensors, guint n,
                        gsize padding)
{
  memset (mapping, 0, sizeof *mapping);
  mapping->n = n;
  mapping->padding = padding;
  for (guint i = 0; i < n; i++) {
    mapping->bytes[i] = tensors[i].bytes;
    mapping->align[i] = MAX (sl_dtype_size (tensors[i].dtype), 1);
  }
}

void
sl_tensor_mapping_clear (SlTensorMapping *mapping)
{
  for (guint i = 0; i < mapping->n; i++)
    g_clear_pointer (&mapping->scratch[i], sl_tensor_buffer_free);
  mapping->n = 0;
}

static gsize
total_bytes (const SlTensorMapping *mapping)
{
  gsize total = 0;
  for (guint i = 0; i < mapping->n; i++)
    total += mapping->bytes[i];
  return total;
}

static gboolean
sizes_agree (const SlTensorMapping *mapping, GstBuffer *buffer)
{
  if (gst_buffer_n_memory (buffer) != mapping->n)
    return gst_buffer_get_size (buffer) == total_bytes (mapping);
  for (guint i = 0; i < mapping->n; i++)
    if (gst_memory_get_sizes (gst_buffer_peek_memory (buffer, i), NULL, NULL) != mapping->bytes[i])
      return FALSE;
  return TRUE;
}

static SlTensorMappingStatus
copy_tensor (SlTensorMapping *mapping, GstBuffer *buffer, guint i, gsize offset)
{
  if (mapping->scratch[i] == NULL)
    mapping->scratch[i] = sl_tensor_buffer_new (mapping->bytes[i]);
  if (mapping->scratch[i] == NULL)
    return SL_TENSOR_MAPPING_NO_MEMORY;
  if (gst_buffer_extract (buffer, offset, mapping->scratch[i], mapping->bytes[i])
      != mapping->bytes[i])
    return SL_TENSOR_MAPPING_UNREADABLE;
  mapping->data[i] = mapping->scratch[i];
  return SL_TENSOR_MAPPING_OK;
}

/* Whether the i-th memory was mapped and may be used as it is. */
static gboolean
map_in_place (SlTensorMapping *mapping, GstBuffer *buffer, guint i)
{
  GstMemory *memory = gst_buffer_peek_memory (buffer, i);
  if (!gst_memory_map (memory, &mapping->info[i], GST_MAP_READ))
    return FALSE;
  gsize behind = mapping->info[i].maxsize - mapping->info[i].size;
  if (behind < mapping->padding
      || GPOINTER_TO_SIZE (mapping->info[i].data) % mapping->align[i] != 0) {
    gst_memory_unmap (memory, &mapping->info[i]);
    return FALSE;
  }
  mapping->mapped[i] = memory;
  mapping->data[i] = mapping->info[i].data;
  return TRUE;
}

SlTensorMappingStatus
sl_tensor_mapping_read (SlTensorMapping *mapping, GstBuffer *buffer)
{
  if (!sizes_agree (mapping, buffer))
    return SL_TENSOR_MAPPING_BAD_SIZE;
  gboolean one_each = gst_buffer_n_memory (buffer) == mapping->n;
  gsize offset = 0;
  for (guint i = 0; i < mapping->n; i++) {
    if (!one_each || !map_in_place (mapping, buffer, i)) {
      SlTensorMappingStatus status = copy_tensor (mapping, buffer, i, offset);
      if (status != SL_TENSOR_MAPPING_OK) {
        sl_tensor_mapping_done (mapping);
        return status;
      }
    }
    offset += mapping->bytes[i];
  }
  return SL_TENSOR_MAPPING_OK;
}

void
sl_tensor_mapping_done (SlTensorMapping *mapping)
{
  for (guint i = 0; i < mapping->n; i++) {
    if (mapping->mapped[i] != NULL)
      gst_memory_unmap (mapping->mapped[i], &mapping->info[i]);
    mapping->mapped[i] = NULL;
    mapping->data[i] = NULL;
  }
}

char *
sl_tensor_mapping_complaint (const SlTensorMapping *mapping, GstBuffer *buffer,
                             SlTensorMappingStatus status)
{
  if (status == SL_TENSOR_MAPPING_NO_MEMORY)
    return g_strdup_printf ("no memory for a copy of %" G_GSIZE_FORMAT " bytes of tensors",
                            total_bytes (mapping));
  if (status == SL_TENSOR_MAPPING_UNREADABLE)
    return g_strdup_printf ("a tensor buffer of %" G_GSIZE_FORMAT
                            " bytes cannot be mapped for reading",
                            gst_buffer_get_size (buffer));
  GString *text = g_string_new ("tensor buffer: expected ");
  for (guint i = 0; i < mapping->n; i++)
    g_string_append_printf (text, "%s%" G_GSIZE_FORMAT, i > 0 ? " + " : "", mapping->bytes[i]);
  g_string_append_printf (text, " bytes in %u %s, got ", mapping->n,
                          mapping->n == 1 ? "memory" : "memories");
  guint n = gst_buffer_n_memory (buffer);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s%" G_GSIZE_FORMAT, i > 0 ? " + " : "",
                            gst_memory_get_sizes (gst_buffer_peek_memory (buffer, i), NULL, NULL));
  g_string_append_printf (
    text, "%s bytes in %u %s; the element before this one sends less or more than its caps say",
    n == 0 ? "0" : "", n, n == 1 ? "memory" : "memories");
  return g_string_free (text, FALSE);
}
