/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Element types of tensors. Names are those of NumPy and of NNStreamer's caps ("uint8", "float32",
 * ...).
 */
#pragma once

#include <glib.h>

typedef enum
{
  SL_DTYPE_INVALID = 0,
  SL_DTYPE_F32,
  SL_DTYPE_F16,
  SL_DTYPE_F64,
  SL_DTYPE_I8,
  SL_DTYPE_U8,
  SL_DTYPE_I16,
  SL_DTYPE_U16,
  SL_DTYPE_I32,
  SL_DTYPE_U32,
  SL_DTYPE_I64,
  SL_DTYPE_U64,
  SL_DTYPE_BOOL,
  SL_DTYPE_COUNT
} SlDtype;

/** sl_dtype_size: bytes of one element; 0 for SL_DTYPE_INVALID. */
gsize sl_dtype_size (SlDtype dtype);
/** sl_dtype_name: (transfer none): "uint8", "float32", ...; "invalid" for anything else. */
const char *sl_dtype_name (SlDtype dtype);
/** sl_dtype_from_name: the type of that name, SL_DTYPE_INVALID when there is none. (nullable) @name
 */
SlDtype sl_dtype_from_name (const char *name);
/** sl_dtype_range: lowest and highest value of an integer type of at most 32 bits; FALSE for other
 * types. */
gboolean sl_dtype_range (SlDtype dtype, gint32 *lo, gint32 *hi);
/** sl_dtype_is_float: whether it is float16, float32 or float64. */
gboolean sl_dtype_is_float (SlDtype dtype);
/** sl_dtype_value: element @i of @data, which is aligned to nothing; integers of 64 bits beyond
 * 2^53 rounded. */
gdouble sl_dtype_value (SlDtype dtype, gconstpointer data, gsize i);
