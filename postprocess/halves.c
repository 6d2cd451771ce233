/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See halves.h. */
#include "postprocess/halves.h"

#include <string.h>

#include "core/base/half.h"
#include "postprocess/params.h"

SlHalves *
sl_halves_new (SlDecoderConfig *config)
{
  g_autoptr (SlHalves) halves = g_new0 (SlHalves, 1);
  gboolean any = FALSE;
  halves->n = config->n_tensors;
  for (guint t = 0; t < config->n_tensors; t++) {
    if (config->tensors[t].dtype != SL_DTYPE_F16)
      continue;
    any = TRUE;
    config->tensors[t].dtype = SL_DTYPE_F32;
    halves->elements[t] = sl_decoder_elements (&config->tensors[t]);
    halves->values[t] = g_new (gfloat, halves->elements[t]);
  }
  return any ? g_steal_pointer (&halves) : NULL;
}

void
sl_halves_free (SlHalves *halves)
{
  if (halves == NULL)
    return;
  for (guint t = 0; t < halves->n; t++)
    g_free (halves->values[t]);
  g_free (halves);
}

const void *const *
sl_halves_read (SlHalves *halves, const void *const *data)
{
  for (guint t = 0; t < halves->n; t++) {
    const guint8 *bytes = data[t];
    halves->data[t] = halves->values[t] != NULL ? halves->values[t] : data[t];
    for (gsize i = 0; halves->values[t] != NULL && i < halves->elements[t]; i++) {
      guint16 half;
      memcpy (&half, bytes + i * sizeof half, sizeof half);
      halves->values[t][i] = sl_half_to_float (half);
    }
  }
  return halves->data;
}
