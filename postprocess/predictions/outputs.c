/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes tensors of any element type as JSON. Quantised values are written as they are, and the
 * scale is written next to them. */
#include "postprocess/predictions/outputs.h"

#include <string.h>

#include "core/base/half.h"
#include "core/base/json.h"
#include "core/base/printable.h"

/* Digits that tell a float32, and a float64, from its neighbours. */
#define FLOAT_DIGITS 9
#define DOUBLE_DIGITS 17

/* Characters of a name that are shown. */
#define NAME_LENGTH 200

static void
append_value (GString *out, SlDtype dtype, const void *data, gsize i)
{
  union
  {
    gfloat f32;
    guint16 f16, u16;
    gdouble f64;
    gint8 i8;
    guint8 u8;
    gint16 i16;
    gint32 i32;
    guint32 u32;
    gint64 i64;
    guint64 u64;
  } v;
  memcpy (&v, (const guint8 *) data + i * sl_dtype_size (dtype), sl_dtype_size (dtype));
  if (dtype == SL_DTYPE_F32)
    sl_json_append_double (out, v.f32, FLOAT_DIGITS);
  else if (dtype == SL_DTYPE_F16)
    sl_json_append_double (out, sl_half_to_float (v.f16), FLOAT_DIGITS);
  else if (dtype == SL_DTYPE_F64)
    sl_json_append_double (out, v.f64, DOUBLE_DIGITS);
  else if (dtype == SL_DTYPE_U64)
    sl_json_append_printf (out, "%" G_GUINT64_FORMAT, v.u64);
  else
    sl_json_append_printf (out, "%" G_GINT64_FORMAT,
                           dtype == SL_DTYPE_I8    ? v.i8
                           : dtype == SL_DTYPE_I16 ? v.i16
                           : dtype == SL_DTYPE_U16 ? v.u16
                           : dtype == SL_DTYPE_I32 ? v.i32
                           : dtype == SL_DTYPE_U32 ? v.u32
                           : dtype == SL_DTYPE_I64 ? v.i64
                                                   : v.u8); /* or BOOL */
}

static void
append_output (GString *out, const SlTensorInfo *info, const void *data)
{
  const gsize n = info->bytes / sl_dtype_size (info->dtype);
  g_string_append_c (out, '{');
  sl_json_append_text (out, "name", info->name != NULL ? info->name : "");
  sl_json_append_printf (out, ",\"type\":\"%s\",\"shape\":[", sl_dtype_name (info->dtype));
  for (guint d = 0; d < info->rank; d++)
    sl_json_append_printf (out, "%s%d", d > 0 ? "," : "", info->dims[d]);
  g_string_append_c (out, ']');
  if (info->scale > 0) {
    sl_json_append_number (out, "scale", info->scale, FLOAT_DIGITS);
    sl_json_append_printf (out, ",\"zero_point\":%d", info->zero_point);
  }
  g_string_append (out, ",\"values\":[");
  for (gsize i = 0; i < n; i++) {
    if (i > 0)
      g_string_append_c (out, ',');
    append_value (out, info->dtype, data, i);
  }
  g_string_append (out, "]}");
}

void
sl_outputs_append_json (GString *out, const SlOutputs *outputs)
{
  g_string_append_c (out, '[');
  for (guint t = 0; t < outputs->n; t++) {
    if (t > 0)
      g_string_append_c (out, ',');
    append_output (out, &outputs->infos[t], outputs->data[t]);
  }
  g_string_append_c (out, ']');
}

void
sl_outputs_append_text (GString *out, const SlOutputs *outputs)
{
  for (guint t = 0; t < outputs->n; t++) {
    g_autofree char *shape = sl_tensor_info_describe (&outputs->infos[t]);
    g_autofree char *name =
      sl_printable (outputs->infos[t].name != NULL ? outputs->infos[t].name : "", NAME_LENGTH);
    g_string_append_printf (out, "%s %s\n", name, shape);
  }
}
