/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TensorType by number. Types without a dtype are named for the message. */
#include "models/tflite/types.h"

static const struct
{
  const char *name;
  SlDtype dtype;
} types[] = {
  { "FLOAT32", SL_DTYPE_F32 }, { "FLOAT16", SL_DTYPE_F16 }, { "INT32", SL_DTYPE_I32 },
  { "UINT8", SL_DTYPE_U8 },    { "INT64", SL_DTYPE_I64 },   { "STRING", 0 },
  { "BOOL", SL_DTYPE_BOOL },   { "INT16", SL_DTYPE_I16 },   { "COMPLEX64", 0 },
  { "INT8", SL_DTYPE_I8 },     { "FLOAT64", SL_DTYPE_F64 }, { "COMPLEX128", 0 },
  { "UINT64", SL_DTYPE_U64 },  { "RESOURCE", 0 },           { "VARIANT", 0 },
  { "UINT32", SL_DTYPE_U32 },  { "UINT16", SL_DTYPE_U16 },  { "INT4", 0 },
};

SlDtype
tfl_type_dtype (guint8 type)
{
  return type < G_N_ELEMENTS (types) ? types[type].dtype : SL_DTYPE_INVALID;
}

const char *
tfl_type_name (guint8 type)
{
  return type < G_N_ELEMENTS (types) ? types[type].name : "UNKNOWN";
}

guint8
tfl_type_of (SlDtype dtype)
{
  for (guint8 i = 0; i < G_N_ELEMENTS (types); i++)
    if (types[i].dtype == dtype)
      return i;
  g_return_val_if_reached (0);
}
