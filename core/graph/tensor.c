/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shape arithmetic, description and memory of tensors; sizes are overflow-checked. */
#include "core/graph/tensor.h"

#include <stdlib.h>
#include <string.h>

gboolean
sl_tensor_elements (const SlTensor *tensor, gsize *elements)
{
  gsize n = 1;
  for (guint i = 0; i < tensor->rank; i++)
    if (tensor->dims[i] < 0 || !g_size_checked_mul (&n, n, (gsize) tensor->dims[i]))
      return FALSE;
  *elements = n;
  return TRUE;
}

gsize
sl_tensor_count (const SlTensor *tensor)
{
  gsize elements = 0;
  sl_tensor_elements (tensor, &elements);
  return elements;
}

gsize
sl_tensor_span (const SlTensor *tensor, guint first, guint end)
{
  gsize n = 1;
  for (guint i = first; i < end; i++)
    n *= (gsize) tensor->dims[i];
  return n;
}

gfloat
sl_tensor_scale (const SlTensor *tensor)
{
  return tensor->quant.count == 1 ? tensor->quant.scale[0] : 0.0f;
}

gint32
sl_tensor_zero_point (const SlTensor *tensor)
{
  return tensor->quant.count == 1 ? tensor->quant.zero_point[0] : 0;
}

gboolean
sl_tensor_is_shifted (const SlTensor *tensor)
{
  for (guint i = 0; i < tensor->quant.count; i++)
    if (tensor->quant.zero_point[i] != 0)
      return TRUE;
  return FALSE;
}

gboolean
sl_tensor_same_shape (const SlTensor *a, const SlTensor *b)
{
  if (a->rank != b->rank)
    return FALSE;
  for (guint i = 0; i < a->rank; i++)
    if (a->dims[i] != b->dims[i])
      return FALSE;
  return TRUE;
}

gboolean
sl_dims_same_but_ones (const gint32 *a, guint rank_a, const gint32 *b, guint rank_b)
{
  guint i = 0, k = 0;
  while (i < rank_a || k < rank_b) {
    if (i < rank_a && a[i] == 1)
      i++;
    else if (k < rank_b && b[k] == 1)
      k++;
    else if (i == rank_a || k == rank_b || a[i++] != b[k++])
      return FALSE;
  }
  return TRUE;
}

char *
sl_tensor_describe (const SlTensor *tensor)
{
  GString *text = g_string_new (sl_dtype_name (tensor->dtype));
  g_string_append_c (text, '[');
  for (guint i = 0; i < tensor->rank; i++)
    g_string_append_printf (text, "%s%d", i > 0 ? "," : "", tensor->dims[i]);
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

void *
sl_tensor_buffer_new_unset (gsize bytes)
{
  void *buffer = NULL;
  if (bytes > G_MAXSIZE - 2 * SL_TENSOR_PADDING
      || posix_memalign (&buffer, SL_TENSOR_ALIGN, bytes + SL_TENSOR_PADDING) != 0)
    return NULL;
  memset ((guint8 *) buffer + bytes, 0, SL_TENSOR_PADDING);
  return buffer;
}

void *
sl_tensor_buffer_new (gsize bytes)
{
  void *buffer = sl_tensor_buffer_new_unset (bytes);
  if (buffer != NULL)
    memset (buffer, 0, bytes);
  return buffer;
}

void
sl_tensor_buffer_free (void *buffer)
{
  free (buffer);
}

void *
sl_tensor_alloc (SlArena *arena, gsize bytes)
{
  guint8 *memory = sl_arena_alloc (arena, bytes + SL_TENSOR_PADDING + SL_TENSOR_ALIGN);
  return memory + (SL_TENSOR_ALIGN - (gsize) memory % SL_TENSOR_ALIGN) % SL_TENSOR_ALIGN;
}
