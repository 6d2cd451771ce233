/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Operands of binary16 (internal to core/backends/float). The loops compute with floats: what a
 * work item reads becomes floats in its thread's scratch memory, and what it writes is rounded from
 * there, a few lines or rows at a time.
 */
#pragma once

#include "core/backends/float/layer.h"

/** sl_float_narrow_set: which operands of @node, the layer's, are binary16. */
void sl_float_narrow_set (SlFloatLayer *layer, const SlGraph *graph, const SlNode *node);
/** sl_float_narrow_room: scratch memory of @layer, whose plan is set, for them. */
void sl_float_narrow_room (SlFloatLayer *layer, SlHost *host);

/** sl_float_narrow_in, sl_float_narrow_out: (transfer none): @thread's floats of what it reads, and
 * of what it writes. */
gfloat *sl_float_narrow_in (const SlFloatLayer *layer, guint thread);
gfloat *sl_float_narrow_out (const SlFloatLayer *layer, guint thread);

/** sl_float_widen: @n values from element @first of @x on, to floats. */
void sl_float_widen (const void *x, gsize first, gfloat *to, gsize n);
/** sl_float_narrow: @n floats to element @first of @y on. */
void sl_float_narrow (const gfloat *from, void *y, gsize first, gsize n);

/**
 * sl_float_widen_lines:
 * @y, @count, @step: lines of picture @image of @x, as far as they are inside
 * @from, @end: their columns, likewise
 *
 * Returns: (transfer none): the pictures as floats, of which nothing else may be read
 */
const gfloat *sl_float_widen_lines (const SlFloatLayer *layer, const void *x, gint32 image,
                                    gint32 y, gint32 count, gint32 step, gint32 from, gint32 end,
                                    guint thread);
