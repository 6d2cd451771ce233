/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/class_embeddings.h"

#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/half.h"
#include "models/file.h"
#include "models/npy.h"
#include "models/prompt_list.h"

#define MAX_BYTES ((gsize) 64 << 20)

static gboolean
check_rows (const gfloat *numbers, guint n, guint length, GError **error)
{
  for (guint i = 0; i < n; i++) {
    double squares = 0;
    for (guint k = 0; k < length; k++)
      squares +=
        (double) numbers[(gsize) i * length + k] * (double) numbers[(gsize) i * length + k];
    if (!isfinite (squares) || squares <= 0)
      return sl_fail (error, SL_ERROR_FORMAT,
                      "row %u has no direction; expected finite numbers that are not all 0", i);
  }
  return TRUE;
}

static gfloat *
read_rows (GBytes *bytes, guint *n, guint *length, GError **error)
{
  SlTensorInfo info;
  gsize offset = 0;
  if (!sl_npy_parse (bytes, &info, &offset, error))
    return NULL;
  const gboolean known = info.dtype == SL_DTYPE_F32 || info.dtype == SL_DTYPE_F16;
  const guint rank = info.rank == 3 && info.dims[0] == 1 ? 3 : 2;
  if (!known || info.rank != rank || info.dims[rank - 2] > SL_MAX_CLASSES
      || info.dims[rank - 1] < 2) {
    g_autofree char *got = sl_tensor_info_describe (&info);
    return sl_fail_null (error, SL_ERROR_SHAPE,
                         "expected float32 or float16 [classes,length], 1 to %d classes, got %s",
                         SL_MAX_CLASSES, got);
  }
  *n = (guint) info.dims[rank - 2];
  *length = (guint) info.dims[rank - 1];
  const gsize all = (gsize) *n * *length;
  const guint8 *data = (const guint8 *) g_bytes_get_data (bytes, NULL) + offset;
  g_autofree gfloat *numbers = g_new (gfloat, all);
  for (gsize i = 0; i < all; i++) {
    guint16 half;
    if (info.dtype == SL_DTYPE_F32) {
      memcpy (&numbers[i], data + i * sizeof *numbers, sizeof *numbers);
      continue;
    }
    memcpy (&half, data + i * sizeof half, sizeof half);
    numbers[i] = sl_half_to_float (half);
  }
  return check_rows (numbers, *n, *length, error) ? g_steal_pointer (&numbers) : NULL;
}

gfloat *
sl_class_embeddings_load (const char *path, guint *n, guint *length, GError **error)
{
  g_autoptr (GBytes) bytes = sl_file_read (path, "a .npy file", MAX_BYTES, error);
  gfloat *numbers = NULL;
  if (bytes != NULL && g_bytes_get_size (bytes) > MAX_BYTES)
    sl_fail (error, SL_ERROR_LIMIT, "more than %" G_GSIZE_FORMAT " bytes", MAX_BYTES);
  else if (bytes != NULL)
    numbers = read_rows (bytes, n, length, error);
  if (numbers == NULL)
    sl_fail_prefix (error, "embeddings: %s: ", path);
  return numbers;
}
