/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/bench/field/digest.h"

#include <math.h>

#include "core/base/xxh64.h"

/* Sums of stretches are taken by one pass over all outputs, one after another. */
typedef struct
{
  gsize all, at;
  guint32 state;
  double squares;
  double sums[SL_FIELD_STRETCHES];
  gsize counts[SL_FIELD_STRETCHES];
} Pass;

static void
add_output (Pass *pass, const SlTensor *tensor, const void *data)
{
  const gsize n = sl_tensor_count (tensor);
  const double scale = tensor->dtype == SL_DTYPE_F32 ? 1 : (double) sl_tensor_scale (tensor);
  for (gsize i = 0; i < n; i++, pass->at++) {
    const gsize stretch = pass->at * SL_FIELD_STRETCHES / pass->all;
    const double value =
      scale * (sl_dtype_value (tensor->dtype, data, i) - sl_tensor_zero_point (tensor));
    pass->squares += value * value;
    pass->sums[stretch] += (sl_field_random (&pass->state) >> 16 & 1) != 0 ? value : -value;
    pass->counts[stretch]++;
  }
}

void
sl_field_digest (const SlGraph *graph, void *const *outputs, SlFieldDigest *digest)
{
  Pass pass = { .state = 88675123 };
  *digest = (SlFieldDigest){ 0 };
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++) {
    const SlTensor *tensor = sl_graph_output_tensor (graph, i);
    pass.all += sl_tensor_count (tensor);
    digest->hash = sl_xxh64 (outputs[i], tensor->bytes, digest->hash);
  }
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    add_output (&pass, sl_graph_output_tensor (graph, i), outputs[i]);
  digest->size = isfinite (pass.squares) ? sqrt (pass.squares / (double) pass.all) : NAN;
  for (guint i = 0; i < SL_FIELD_STRETCHES; i++)
    digest->sums[i] = pass.counts[i] > 0 ? pass.sums[i] / sqrt ((double) pass.counts[i]) : 0;
}

double
sl_field_error (const SlFieldDigest *digest, const SlFieldExpected *expected)
{
  const SlFieldValues *values = expected->values;
  const double size = (double) values->size;
  if (expected->exact)
    return digest->hash == values->hash ? 0 : INFINITY;
  double error = fabs (digest->size - size) / size;
  for (guint i = 0; i < SL_FIELD_STRETCHES; i++)
    error = MAX (error, fabs (digest->sums[i] - (double) values->sums[i]) / size);
  return isfinite (digest->size) && isfinite (error) ? error : INFINITY;
}
