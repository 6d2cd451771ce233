/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Descriptions of tensors, copied from graphs. */
#include "core/graph/tensor_info.h"

#include <string.h>

void
sl_tensor_info_init (SlTensorInfo *info, const SlTensor *tensor)
{
  *info = (SlTensorInfo){
    .name = g_strdup (tensor->name),
    .dtype = tensor->dtype,
    .rank = tensor->rank,
    .bytes = tensor->bytes,
    .scale = sl_tensor_scale (tensor),
    .zero_point = sl_tensor_zero_point (tensor),
  };
  memcpy (info->dims, tensor->dims, sizeof info->dims);
}

char *
sl_tensor_info_describe (const SlTensorInfo *info)
{
  SlTensor tensor = { .dtype = info->dtype, .rank = info->rank };
  memcpy (tensor.dims, info->dims, sizeof tensor.dims);
  return sl_tensor_describe (&tensor);
}

char *
sl_tensor_infos_describe (const SlTensorInfo *infos, guint n)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < n; i++) {
    g_autofree char *one = sl_tensor_info_describe (&infos[i]);
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", one);
  }
  return g_string_free (text, FALSE);
}

void
sl_tensor_infos_clear (SlTensorInfo *infos, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_clear_pointer (&infos[i].name, g_free);
    g_clear_pointer (&infos[i].id, g_free);
  }
}
