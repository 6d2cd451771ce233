/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs and outputs as runtimes describe them, checked. */
#include "core/external/runtime.h"

#include "core/base/fail.h"

/* Element types of TensorFlow Lite and LiteRT, by SlDtype; 0 is none. */
static const int types[SL_DTYPE_COUNT] = {
  [SL_DTYPE_F32] = 1,  [SL_DTYPE_I32] = 2,  [SL_DTYPE_U8] = 3,   [SL_DTYPE_I64] = 4,
  [SL_DTYPE_BOOL] = 6, [SL_DTYPE_I16] = 7,  [SL_DTYPE_I8] = 9,   [SL_DTYPE_F16] = 10,
  [SL_DTYPE_F64] = 11, [SL_DTYPE_U64] = 13, [SL_DTYPE_U32] = 16, [SL_DTYPE_U16] = 17,
};

gboolean
sl_tflite_read_kind (SlTensor *tensor, int type, int rank, GError **error)
{
  tensor->dtype = SL_DTYPE_INVALID;
  for (guint i = 0; i < SL_DTYPE_COUNT && type != 0; i++)
    if (types[i] == type)
      tensor->dtype = (SlDtype) i;
  if (tensor->dtype == SL_DTYPE_INVALID || rank < 0 || rank > SL_MAX_RANK)
    return sl_fail (error, SL_ERROR_UNSUPPORTED,
                    "a tensor has elements of type %d and %d dimensions, which is not supported",
                    type, rank);
  tensor->rank = (guint) rank;
  return TRUE;
}

gboolean
sl_runtime_check_counts (gint64 n_inputs, gint64 n_outputs, GError **error)
{
  if (n_inputs >= 1 && n_inputs <= SL_MAX_IO && n_outputs >= 1 && n_outputs <= SL_MAX_IO)
    return TRUE;
  return sl_fail (error, SL_ERROR_LIMIT,
                  "the model has %" G_GINT64_FORMAT " inputs and %" G_GINT64_FORMAT
                  " outputs; expected 1 to %d each",
                  n_inputs, n_outputs, SL_MAX_IO);
}

gboolean
sl_runtime_check_bytes (const SlTensor *tensor, gsize bytes, GError **error)
{
  if (bytes == tensor->bytes)
    return TRUE;
  return sl_fail (error, SL_ERROR_SHAPE,
                  "tensor '%s': expected %" G_GSIZE_FORMAT " bytes, got %" G_GSIZE_FORMAT,
                  tensor->name, tensor->bytes, bytes);
}
