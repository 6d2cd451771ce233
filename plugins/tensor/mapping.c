/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tensors read from a buffer, in place where possible.
 */
#include "plugins/tensor/mapping.h"

#include "core/runtime/session.h"

#include <string.h>

void
sl_tensor_map_init (SlTensorMap *map, const SlTensorInfo *tensors, guint n, gsize padding)
{
  memset (map, 0, sizeof *map);
  map->n = n;
  map->padding = padding;
  for (guint i = 0; i < n; i++) {
    map->bytes[i] = tensors[i].bytes;
    map->align[i] = MAX (sl_dtype_size (tensors[i].dtype), 1);
  }
}

void
sl_tensor_map_clear (SlTensorMap *map)
{
  for (guint i = 0; i < map->n; i++)
    g_clear_pointer (&map->scratch[i], sl_tensor_buffer_free);
  map->n = 0;
}

static gsize
total_bytes (const SlTensorMap *map)
{
  gsize total = 0;
  for (guint i = 0; i < map->n; i++)
    total += map->bytes[i];
  return total;
}

static gboolean
sizes_agree (const SlTensorMap *map, GstBuffer *buffer)
{
  if (gst_buffer_n_memory (buffer) != map->n)
    return gst_buffer_get_size (buffer) == total_bytes (map);
  for (guint i = 0; i < map->n; i++)
    if (gst_memory_get_sizes (gst_buffer_peek_memory (buffer, i), NULL, NULL) != map->bytes[i])
      return FALSE;
  return TRUE;
}

static SlTensorMapStatus
copy_tensor (SlTensorMap *map, GstBuffer *buffer, guint i, gsize offset)
{
  if (map->scratch[i] == NULL)
    map->scratch[i] = sl_tensor_buffer_new (map->bytes[i]);
  if (map->scratch[i] == NULL)
    return SL_TENSOR_MAP_NO_MEMORY;
  if (gst_buffer_extract (buffer, offset, map->scratch[i], map->bytes[i]) != map->bytes[i])
    return SL_TENSOR_MAP_UNREADABLE;
  map->data[i] = map->scratch[i];
  return SL_TENSOR_MAP_OK;
}

/* Whether the i-th memory was mapped and may be used as it is. */
static gboolean
map_in_place (SlTensorMap *map, GstBuffer *buffer, guint i)
{
  GstMemory *memory = gst_buffer_peek_memory (buffer, i);
  if (!gst_memory_map (memory, &map->info[i], GST_MAP_READ))
    return FALSE;
  gsize behind = map->info[i].maxsize - map->info[i].size;
  if (behind < map->padding || GPOINTER_TO_SIZE (map->info[i].data) % map->align[i] != 0) {
    gst_memory_unmap (memory, &map->info[i]);
    return FALSE;
  }
  map->mapped[i] = memory;
  map->data[i] = map->info[i].data;
  return TRUE;
}

SlTensorMapStatus
sl_tensor_map_read (SlTensorMap *map, GstBuffer *buffer)
{
  if (!sizes_agree (map, buffer))
    return SL_TENSOR_MAP_BAD_SIZE;
  gboolean one_each = gst_buffer_n_memory (buffer) == map->n;
  gsize offset = 0;
  for (guint i = 0; i < map->n; i++) {
    if (!one_each || !map_in_place (map, buffer, i)) {
      SlTensorMapStatus status = copy_tensor (map, buffer, i, offset);
      if (status != SL_TENSOR_MAP_OK) {
        sl_tensor_map_done (map);
        return status;
      }
    }
    offset += map->bytes[i];
  }
  return SL_TENSOR_MAP_OK;
}

void
sl_tensor_map_done (SlTensorMap *map)
{
  for (guint i = 0; i < map->n; i++) {
    if (map->mapped[i] != NULL)
      gst_memory_unmap (map->mapped[i], &map->info[i]);
    map->mapped[i] = NULL;
    map->data[i] = NULL;
  }
}

static void
append_sizes (GString *text, const SlTensorMap *map)
{
  for (guint i = 0; i < map->n; i++)
    g_string_append_printf (text, "%s%" G_GSIZE_FORMAT, i > 0 ? " + " : "", map->bytes[i]);
}

char *
sl_tensor_map_complaint (const SlTensorMap *map, GstBuffer *buffer, SlTensorMapStatus status)
{
  if (status == SL_TENSOR_MAP_NO_MEMORY)
    return g_strdup_printf ("no memory for a copy of %" G_GSIZE_FORMAT " bytes of tensors", total_bytes (map));
  if (status == SL_TENSOR_MAP_UNREADABLE)
    return g_strdup_printf ("a tensor buffer of %" G_GSIZE_FORMAT " bytes cannot be mapped for reading", gst_buffer_get_size (buffer));
  GString *text = g_string_new ("tensor buffer: expected ");
  append_sizes (text, map);
  g_string_append_printf (text, " bytes in %u %s, got ", map->n, map->n == 1 ? "memory" : "memories");
  guint n = gst_buffer_n_memory (buffer);
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s%" G_GSIZE_FORMAT, i > 0 ? " + " : "",
                            gst_memory_get_sizes (gst_buffer_peek_memory (buffer, i), NULL, NULL));
  g_string_append_printf (text, "%s bytes in %u %s; the element before this one sends less or more than its caps say", n == 0 ? "0" : "", n,
                          n == 1 ? "memory" : "memories");
  return g_string_free (text, FALSE);
}
