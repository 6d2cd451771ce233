/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A model's output tensors, undecoded, as JSON and text. Called by sl_prediction_append_json() and
 * sl_prediction_append_text().
 */
#pragma once

#include "postprocess/result.h"

/** sl_outputs_append_json: an array of objects; numbers as they are stored, with as many digits as
 * make them whole again. */
void sl_outputs_append_json (GString *out, const SlOutputs *outputs);
/** sl_outputs_append_text: a line each: name and shape. */
void sl_outputs_append_text (GString *out, const SlOutputs *outputs);
