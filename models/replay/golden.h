/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A self-test of a machine: MODEL.golden beside a model is a black box of one inference with all
 * outputs, made on a machine with known correct results. If the file exists, the model must give
 * the same before it is used.
 */
#pragma once

#include "models/replay/black_box.h"

/** How far a float may be from the golden one, as a share of that, and more by a share of the
 * largest absolute value of its output: instruction sets add up in another order. The second is
 * small, since boxes in pixels may be beside scores. Integers must be equal. */
#define SL_GOLDEN_OF_VALUE 0.001
#define SL_GOLDEN_OF_RANGE 0.00002

/** sl_golden_path: (transfer full): of @model. */
char *sl_golden_path (const SlModel *model);
/** sl_golden_make: runs @session of @model, loaded as slinfer does it and with @input_shape
 * (nullable), on an input that is always the same, and writes the file. FALSE with @error set; then
 * what was there is left. */
gboolean sl_golden_make (SlModel *model, SlSession *session, const char *input_shape,
                         GError **error);
/** sl_golden_check: TRUE when there is no golden file, or @session gives what it says; else FALSE
 * with SL_ERROR_BACKEND (expected and got), or what is wrong with the file. Takes an inference, and
 * 1 ms for 0.5 MB of the model's file. */
gboolean sl_golden_check (SlModel *model, SlSession *session, GError **error);
