/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cells of RECURRENT over any loops (internal to core). */
#pragma once

#include "core/ops/ops.h"

/**
 * SlRecurrentLoops: where the time goes
 * @add_rows: adds @n_rows rows of @n floats, @stride floats apart, each times its factor, to @sums
 * @activate: SL_ACTIVATION_LOGISTIC or SL_ACTIVATION_TANH of @n floats, in place or not
 */
typedef struct
{
  void (*add_rows) (const gfloat *rows, gsize stride, const gfloat *factors, gsize n_rows,
                    gfloat *sums, gsize n);
  void (*activate) (SlActivation activation, const gfloat *in, gfloat *out, gsize n);
} SlRecurrentLoops;

/** sl_recurrent_run: the node of @call, whose state is what the prepare() of RECURRENT's row made.
 */
void sl_recurrent_run (const SlKernelCall *call, const SlRecurrentLoops *loops);
