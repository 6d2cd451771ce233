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

#define LOAD(type) \
  type value;      \
  memcpy (&value, (const type *) data + i, sizeof value)

static void
append_value (GString *out, SlDtype dtype, const void *data, gsize i)
{
  switch (dtype) {
    case SL_DTYPE_F32: {
      LOAD (gfloat);
      sl_json_append_double (out, value, FLOAT_DIGITS);
      break;
    }
    case SL_DTYPE_F16: {
      LOAD (guint16);
      sl_json_append_double (out, sl_half_to_float (value), FLOAT_DIGITS);
      break;
    }
    case SL_DTYPE_F64: {
      LOAD (gdouble);
      sl_json_append_double (out, value, DOUBLE_DIGITS);
      break;
    }
    case SL_DTYPE_I8: {
      LOAD (gint8);
      sl_json_append_printf (out, "%d", value);
      break;
    }
    case SL_DTYPE_BOOL:
    case SL_DTYPE_U8: {
      LOAD (guint8);
      sl_json_append_printf (out, "%u", value);
      break;
    }
    case SL_DTYPE_I16: {
      LOAD (gint16);
      sl_json_append_printf (out, "%d", value);
      break;
    }
    case SL_DTYPE_U16: {
      LOAD (guint16);
      sl_json_append_printf (out, "%u", value);
      break;
    }
    case SL_DTYPE_I32: {
      LOAD (gint32);
      sl_json_append_printf (out, "%d", value);
      break;
    }
    case SL_DTYPE_U32: {
      LOAD (guint32);
      sl_json_append_printf (out, "%u", value);
      break;
    }
    case SL_DTYPE_I64: {
      LOAD (gint64);
      sl_json_append_printf (out, "%" G_GINT64_FORMAT, value);
      break;
    }
    case SL_DTYPE_U64: {
      LOAD (guint64);
      sl_json_append_printf (out, "%" G_GUINT64_FORMAT, value);
      break;
    }
    default:
      g_assert_not_reached ();
  }
}

static void
append_output (GString *out, const SlTensorInfo *info, const void *data)
{
  const gsize n = info->bytes / sl_dtype_size (info->dtype);
  g_string_append (out, "{\"name\":");
  sl_json_append_string (out, info->name != NULL ? info->name : "");
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
