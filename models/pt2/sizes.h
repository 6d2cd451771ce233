/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sizes of a program's inputs. A size is a number or an expression of symbols, 32*h; what is stated
 * for it gives the symbols their values, and the program states a range for each.
 */
#pragma once

#include "models/pt2/program.h"
#include "models/torch/shapes.h"

/** PtInput: an input that is a tensor, or an output. @open: (nullable): by dimension: the
 * expression in the text; NULL = the size is fixed. @hints: sizes that the program was exported
 * with, 0 = unknown. */
typedef struct
{
  const char *name;
  TsShape shape;
  const char *open[SL_MAX_RANK];
  gint64 hints[SL_MAX_RANK];
} PtInput;

/** pt_read_types: types and sizes of those of the @n tensors that the program lists, by their
 * names; others stay as they are. */
gboolean pt_read_types (PtProgram *program, PtInput *tensors, guint n);
/** pt_read_inputs: types and sizes of the @n @inputs, whose names are set. */
gboolean pt_read_inputs (PtProgram *program, PtInput *inputs, guint n);
/** pt_describe_open: (transfer full) (nullable): the shapes of inputs that have open sizes, and the
 * ranges of these: "x 1,3,32*h,32*w; h from 2 to 20". */
char *pt_describe_open (PtProgram *program, const PtInput *inputs, guint n);
/** pt_settle_sizes: gives every open size of @inputs a number: that of @stated, n_stated of them,
 * and 1 for a first dimension of which nothing is stated. @examples: (nullable): sizes to propose.
 */
gboolean pt_settle_sizes (PtProgram *program, PtInput *inputs, guint n, const TsShape *stated,
                          guint n_stated);
