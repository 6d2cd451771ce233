/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shape arithmetic and description of tensors; sizes are overflow-checked. */
#include "core/graph/tensor.h"

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
sl_tensor_same_shape (const SlTensor *a, const SlTensor *b)
{
  if (a->rank != b->rank)
    return FALSE;
  for (guint i = 0; i < a->rank; i++)
    if (a->dims[i] != b->dims[i])
      return FALSE;
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
