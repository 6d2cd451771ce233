/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the inputs and outputs of a program's graph are: weights, buffers, the user's tensors. */
#pragma once

#include "models/pt2/program.h"

/** PtKind: a constant is a number or None that the program was exported with; a buffer's new value
 * is an output. A state is a buffer that the program writes (pt_mark_states()). */
typedef enum
{
  PT_WEIGHT,
  PT_BUFFER,
  PT_STATE,
  PT_USER,
  PT_NUMBER,
  PT_RESULT,
  PT_NEW_BUFFER,
  PT_OTHER
} PtKind;

/** PtSpec: of one input or output of the graph, in the graph's order. @name: of the value in the
 * graph; @target: of the weight or buffer; @number: of a constant. */
typedef struct
{
  PtKind kind;
  const char *name, *target;
  TsValue number;
} PtSpec;

/** pt_read_signature: arrays of PtSpec (transfer full) (nullable); FALSE with the error set. */
gboolean pt_read_signature (PtProgram *program, GArray **inputs, GArray **outputs);
/** pt_mark_states: buffers among @inputs that an operation in place or one of @outputs writes
 * become states. Returns how many. */
guint pt_mark_states (PtProgram *program, GArray *inputs, const GArray *outputs);
/** pt_class_name: (transfer full) (nullable): the class of the module that was exported; @hint:
 * (transfer none) (nullable): what its makers trained it with, by ts_guess_range(). */
char *pt_class_name (PtProgram *program, const char **hint);
