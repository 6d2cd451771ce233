/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GELU before dynamic layers, which round its results to 8 bits: with an error of 2e-4 at most. */
#pragma once

#include "core/backends/int8/int8.h"

/** sl_int8_gelu_supports: whether @node is such a GELU: dynamic layers alone read what it makes. */
gboolean sl_int8_gelu_supports (const SlInt8Isa *isa, const SlGraph *graph, const SlNode *node);
/** sl_int8_gelu_run: @n floats, in place or not. */
void sl_int8_gelu_run (const SlInt8Isa *isa, SlPool *pool, const gfloat *x, gfloat *y, gsize n);
