/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Element types as one table. */
#include "core/graph/dtype.h"

#include <string.h>

#include "core/base/half.h"

typedef struct
{
  const char *name;
  guint8 size;
  gint32 lo, hi; /* 0, 0 for types without a range of 32 bits */
} Row;

static const Row rows[SL_DTYPE_COUNT] = {
  [SL_DTYPE_F32] = { "float32", 4, 0, 0 },
  [SL_DTYPE_F16] = { "float16", 2, 0, 0 },
  [SL_DTYPE_F64] = { "float64", 8, 0, 0 },
  [SL_DTYPE_I8] = { "int8", 1, G_MININT8, G_MAXINT8 },
  [SL_DTYPE_U8] = { "uint8", 1, 0, G_MAXUINT8 },
  [SL_DTYPE_I16] = { "int16", 2, G_MININT16, G_MAXINT16 },
  [SL_DTYPE_U16] = { "uint16", 2, 0, G_MAXUINT16 },
  [SL_DTYPE_I32] = { "int32", 4, G_MININT32, G_MAXINT32 },
  [SL_DTYPE_U32] = { "uint32", 4, 0, 0 },
  [SL_DTYPE_I64] = { "int64", 8, 0, 0 },
  [SL_DTYPE_U64] = { "uint64", 8, 0, 0 },
  [SL_DTYPE_BOOL] = { "bool", 1, 0, 1 },
};

gsize
sl_dtype_size (SlDtype dtype)
{
  return (guint) dtype < SL_DTYPE_COUNT ? rows[dtype].size : 0;
}

const char *
sl_dtype_name (SlDtype dtype)
{
  if ((guint) dtype >= SL_DTYPE_COUNT || rows[dtype].name == NULL)
    return "invalid";
  return rows[dtype].name;
}

SlDtype
sl_dtype_from_name (const char *name)
{
  for (guint i = 1; i < SL_DTYPE_COUNT; i++)
    if (g_strcmp0 (name, rows[i].name) == 0)
      return (SlDtype) i;
  return SL_DTYPE_INVALID;
}

gboolean
sl_dtype_range (SlDtype dtype, gint32 *lo, gint32 *hi)
{
  if ((guint) dtype >= SL_DTYPE_COUNT || rows[dtype].hi == 0)
    return FALSE;
  *lo = rows[dtype].lo;
  *hi = rows[dtype].hi;
  return TRUE;
}

gboolean
sl_dtype_is_float (SlDtype dtype)
{
  return dtype == SL_DTYPE_F16 || dtype == SL_DTYPE_F32 || dtype == SL_DTYPE_F64;
}

#define READ(type)                                                           \
  {                                                                          \
    type value;                                                              \
    memcpy (&value, (const guint8 *) data + i * sizeof value, sizeof value); \
    return (gdouble) value;                                                  \
  }

gdouble
sl_dtype_value (SlDtype dtype, gconstpointer data, gsize i)
{
  switch (dtype) {
    case SL_DTYPE_F32:
      READ (gfloat)
    case SL_DTYPE_F64:
      READ (gdouble)
    case SL_DTYPE_I8:
      READ (gint8)
    case SL_DTYPE_I16:
      READ (gint16)
    case SL_DTYPE_U16:
      READ (guint16)
    case SL_DTYPE_I32:
      READ (gint32)
    case SL_DTYPE_U32:
      READ (guint32)
    case SL_DTYPE_I64:
      READ (gint64)
    case SL_DTYPE_U64:
      READ (guint64)
    case SL_DTYPE_F16: {
      guint16 half;
      memcpy (&half, (const guint8 *) data + i * sizeof half, sizeof half);
      return sl_half_to_float (half);
    }
    default:
      return ((const guint8 *) data)[i];
  }
}
