/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Quantised tensors of the program. In the graph they are int8: quint8 and its zero point are
 * shifted by 128, which does not change real values. Scale and zero point are the graph tensor's.
 */
#pragma once

#include "models/aten/ops.h"

/** ts_quantized_unary: the function that @call's operator is of real numbers, by a table of all
 * codes. */
TsValue ts_quantized_unary (TsProgram *program, const TsCall *call);
/** ts_quantized_clip: a limit of None does not clip. */
TsValue ts_quantized_clip (TsProgram *program, TsValue x, TsValue low, TsValue high);
/** ts_through_codes: runs @run with the codes of its first argument as real numbers, less their
 * zero point, and rounds the result to codes of the same scale, half to even: exact where sums of
 * codes are. */
TsValue ts_through_codes (TsProgram *program, const TsCall *call,
                          TsValue (*run) (TsProgram *program, const TsCall *call));
/** ts_dequantized: @x as float32. */
TsValue ts_dequantized (TsProgram *program, TsValue x);
/** ts_quantized_result: what a quantised operator makes: codes of @scale and @zero_point of the
 * program. */
gboolean ts_quantized_result (TsProgram *program, TsDtype dtype, TsValue scale, TsValue zero_point,
                              SlTensor *like);
