/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/graph/precision.h"

#include <string.h>

#include "core/base/printable.h"
#include "core/base/fail.h"

static const char *const names[] = {
  [SL_PRECISION_FLOAT] = "float", [SL_PRECISION_BF16] = "bf16", [SL_PRECISION_FP16] = "fp16"
};

gboolean
sl_precision_parse (const char *text, SlPrecision *precision, GError **error)
{
  *precision = SL_PRECISION_FLOAT;
  if (text == NULL || text[0] == '\0')
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (text, names[i]) == 0) {
      *precision = (SlPrecision) i;
      return TRUE;
    }
  g_autofree char *shown = sl_printable (text, SL_PRINTABLE_MESSAGE);
  return sl_fail (error, SL_ERROR_ARGUMENT, "precision=%s: expected " SL_PRECISION_NAMES, shown);
}

const char *
sl_precision_name (SlPrecision precision)
{
  return names[precision];
}
