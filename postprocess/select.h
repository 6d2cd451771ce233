/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The best candidates of any number of them, in order, in time linear in that number: a histogram
 * of the scores finds the score below which none is taken, then only what is taken gets sorted.
 * Exact: equal scores go by index, lower first.
 */
#pragma once

#include "postprocess/topk.h"

/** Entries of the scratch histogram for sl_select_floats(). */
#define SL_SELECT_BINS 65536

/** sl_select_codes: fills @top, best first, with the indices of the highest @ranks of at least
 * @lowest (256: none); keys are the ranks. */
void sl_select_codes (const guint8 *ranks, guint n, guint lowest, SlTopK *top);
/** sl_select_floats: likewise for finite scores of at least @threshold. @bins: scratch,
 * SL_SELECT_BINS entries. */
void sl_select_floats (const gfloat *scores, guint n, gfloat threshold, guint32 *bins, SlTopK *top);
