/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The highest score of each candidate over its classes: the one loop of a detector that touches the
 * whole tensor, kept in a form that compilers turn into vector instructions.
 *
 * The score of class c of candidate i is data[c * class_step + i * row_step]; one of the steps
 * is 1.
 */
#pragma once

#include <glib.h>

/** sl_class_max_codes: @best[i] = highest of quantised value XOR @flip. @classes >= 1. */
void sl_class_max_codes (const guint8 *data, gsize n, gsize classes, gsize class_step,
                         gsize row_step, guint8 flip, guint8 *best);
/** sl_class_max_floats: NaN counts as -infinity. @data is aligned. */
void sl_class_max_floats (const gfloat *data, gsize n, gsize classes, gsize class_step,
                          gsize row_step, gfloat *best);
/** sl_class_max_objects: rows of @row_step floats, an objectness followed by @classes scores first:
 * @best[i] = objectness times highest; -infinity where the objectness is below @lowest, without
 * looking further. */
void sl_class_max_objects (const gfloat *data, gsize n, gsize classes, gsize row_step,
                           gfloat lowest, gfloat *best);
