/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors to and from GStreamer's common meta. */
#include "plugins/tensor/tensor_meta.h"

#include <gst/analytics/analytics.h>

#include "core/base/fail.h"

static const struct
{
  GstTensorDataType theirs;
  SlDtype ours;
} types[] = {
  { GST_TENSOR_DATA_TYPE_FLOAT32, SL_DTYPE_F32 },
  { GST_TENSOR_DATA_TYPE_FLOAT16, SL_DTYPE_F16 },
  { GST_TENSOR_DATA_TYPE_FLOAT64, SL_DTYPE_F64 },
  { GST_TENSOR_DATA_TYPE_INT8, SL_DTYPE_I8 },
  { GST_TENSOR_DATA_TYPE_UINT8, SL_DTYPE_U8 },
  { GST_TENSOR_DATA_TYPE_INT16, SL_DTYPE_I16 },
  { GST_TENSOR_DATA_TYPE_UINT16, SL_DTYPE_U16 },
  { GST_TENSOR_DATA_TYPE_INT32, SL_DTYPE_I32 },
  { GST_TENSOR_DATA_TYPE_UINT32, SL_DTYPE_U32 },
  { GST_TENSOR_DATA_TYPE_INT64, SL_DTYPE_I64 },
  { GST_TENSOR_DATA_TYPE_UINT64, SL_DTYPE_U64 },
  { GST_TENSOR_DATA_TYPE_UINT8, SL_DTYPE_BOOL }, /* theirs has no truth values */
};

static GstTensorDataType
type_to_theirs (SlDtype type)
{
  guint i = 0;
  while (i + 1 < G_N_ELEMENTS (types) && types[i].ours != type)
    i++;
  return types[i].theirs;
}

static SlDtype
type_to_ours (GstTensorDataType type)
{
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (types[i].theirs == type)
      return types[i].ours;
  return SL_DTYPE_INVALID;
}

gboolean
sl_tensor_meta_add (GstBuffer *frame, GstBuffer *data, const SlTensorInfo *tensors, guint n,
                    const GQuark ids[])
{
  gsize total = 0, offset = 0;
  for (guint i = 0; i < n; i++)
    total += tensors[i].bytes;
  if (gst_buffer_get_size (data) != total) {
    gst_buffer_unref (data);
    return FALSE;
  }
  GstTensorMeta *meta = gst_buffer_add_tensor_meta (frame);
  meta->num_tensors = n;
  meta->tensors = g_new0 (GstTensor *, n);
  for (guint i = 0; i < n; i++) {
    GstTensor *tensor = gst_tensor_alloc (tensors[i].rank);
    tensor->id = ids[i];
    tensor->layout = GST_TENSOR_LAYOUT_CONTIGUOUS;
    tensor->dims_order = GST_TENSOR_DIM_ORDER_ROW_MAJOR;
    tensor->data_type = type_to_theirs (tensors[i].dtype);
    for (guint d = 0; d < tensors[i].rank; d++)
      tensor->dims[d] = (gsize) tensors[i].dims[d];
    tensor->data = gst_buffer_copy_region (data, GST_BUFFER_COPY_MEMORY, offset, tensors[i].bytes);
    gst_buffer_add_parent_buffer_meta (tensor->data, data); /* goes back to its pool whole */
    offset += tensors[i].bytes;
    meta->tensors[i] = tensor;
  }
  gst_buffer_unref (data);
  return TRUE;
}

static gboolean
refuse (GError **error, gsize i, const char *expected, gsize got)
{
  return sl_fail (error, SL_ERROR_SHAPE,
                  "GstTensorMeta: tensor %" G_GSIZE_FORMAT ": expected %s, got %" G_GSIZE_FORMAT, i,
                  expected, got);
}

static gboolean
describe_one (const GstTensor *tensor, gsize i, SlTensorInfo *info, gboolean *empty, GError **error)
{
  *info = (SlTensorInfo){ .dtype = type_to_ours (tensor->data_type),
                          .rank = MAX ((guint) MIN (tensor->num_dims, SL_MAX_RANK + 1), 1) };
  if (info->dtype == SL_DTYPE_INVALID)
    return refuse (error, i, "a type of whole bytes but bfloat16 (numbers of GstTensorDataType)",
                   tensor->data_type);
  if (tensor->dims_order != GST_TENSOR_DIM_ORDER_ROW_MAJOR)
    return refuse (error, i, "dimensions in the order row-major (0)", tensor->dims_order);
  if (info->rank > SL_MAX_RANK)
    return refuse (error, i, "at most " G_STRINGIFY (SL_MAX_RANK) " dimensions", tensor->num_dims);
  info->dims[0] = 1;
  info->bytes = sl_dtype_size (info->dtype);
  for (gsize d = 0; d < tensor->num_dims; d++) {
    *empty = *empty || tensor->dims[d] == 0;
    if (tensor->dims[d] > G_MAXINT32
        || !g_size_checked_mul (&info->bytes, info->bytes, tensor->dims[d]))
      return refuse (error, i, "a dimension of at most 2147483647, and a size that can be counted",
                     tensor->dims[d]);
    info->dims[d] = (gint32) tensor->dims[d];
  }
  const gsize bytes = tensor->data != NULL ? gst_buffer_get_size (tensor->data) : 0;
  g_autofree char *expected =
    g_strdup_printf ("%" G_GSIZE_FORMAT " bytes, as type and dimensions say", info->bytes);
  return bytes == info->bytes || refuse (error, i, expected, bytes);
}

guint
sl_tensor_meta_describe (const GstTensorMeta *meta, SlTensorInfo tensors[SL_MAX_IO],
                         gboolean *empty, GError **error)
{
  *empty = FALSE;
  if (meta->num_tensors < 1 || meta->num_tensors > SL_MAX_IO) {
    sl_fail (error, SL_ERROR_SHAPE, "GstTensorMeta: expected 1 to %d tensors, got %" G_GSIZE_FORMAT,
             SL_MAX_IO, meta->num_tensors);
    return 0;
  }
  for (gsize i = 0; i < meta->num_tensors; i++)
    if (meta->tensors[i] == NULL ? !refuse (error, i, "a tensor", 0)
                                 : !describe_one (meta->tensors[i], i, &tensors[i], empty, error))
      return 0;
  return *empty ? 0 : (guint) meta->num_tensors;
}

void
sl_tensor_meta_append (const GstTensorMeta *meta, GstBuffer *buffer)
{
  for (gsize i = 0; i < meta->num_tensors; i++)
    gst_buffer_append_memory (buffer, gst_buffer_get_all_memory (meta->tensors[i]->data));
}
