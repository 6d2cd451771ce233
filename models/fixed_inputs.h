/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inputs with a constant value: a number, or a tensor from a file. They become constants of the
 * graph before it is prepared, so callers pass only the other inputs.
 */
#pragma once

#include <glib.h>

#include "core/graph/graph.h"
#include "models/state.h"

typedef struct _SlFixedInputs SlFixedInputs;

/**
 * sl_fixed_inputs_read:
 * @text: (nullable): "1=style.npy;mask=0.5": an input's number, from 0 on, or its name, and its
 * value: a number, which all elements get, a file of NumPy (.npy), or one with the bytes of the
 * tensor (any other name); with "[3]" behind the input its last of four channels alone
 * @beside: (nullable): a file that relative paths start beside; NULL = the working directory
 *
 * Returns: (transfer full): with the bytes of all files; NULL with SL_ERROR_ARGUMENT for another
 * text, SL_ERROR_OPEN for a file that is not there
 */
SlFixedInputs *sl_fixed_inputs_read (const char *text, const char *beside, GError **error);
/** sl_fixed_inputs_check: FALSE with SL_ERROR_ARGUMENT for another text; no file is read. */
gboolean sl_fixed_inputs_check (const char *text, GError **error);
void sl_fixed_inputs_free (SlFixedInputs *fixed);
/** sl_fixed_inputs_hash: of inputs and values as they are stated; 0 without inputs. */
guint64 sl_fixed_inputs_hash (const SlFixedInputs *fixed);
/** sl_fixed_inputs_apply: makes constants of inputs of @graph, which is not prepared. FALSE with
 * @error set where it has no such input, where none is left, and where a value is of another type
 * or shape; numbers are quantised, dimensions of 1 do not count. Of an input of @state it is what
 * the first run gets.
 *  @files: (nullable): gets their bytes as SL_DATA_FIXED_INPUTS (models/data_file.h), the same
 * however they are stated. */
gboolean sl_fixed_inputs_apply (const SlFixedInputs *fixed, SlGraph *graph, SlState *state,
                                GHashTable **files, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlFixedInputs, sl_fixed_inputs_free)
