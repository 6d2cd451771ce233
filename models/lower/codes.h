/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Codes: whole numbers of 8 bits that stand for real ones by a constant scale and zero point. The
 * core's passes join what quantises and dequantises with the layer in between, which then computes
 * with codes.
 */
#pragma once

#include "core/graph/few_bits.h"
#include "models/lower/build.h"

/** LowerCodes: of type @dtype, from @lo to @hi. */
typedef struct
{
  SlDtype dtype;
  SlQuant quant;
  gint32 lo, hi;
} LowerCodes;

/** lower_code_at: code or zero point @i; of @dtype uint8, int8 or int32. */
gint32 lower_code_at (SlDtype dtype, const void *codes, gsize i);
/** lower_code_within: NaN gives the lowest code. */
gint32 lower_code_within (gfloat value, gint32 lo, gint32 hi);
/** lower_make_signed: int8 for uint8, moved by 128, where the graph's codes are to be so. */
void lower_make_signed (Lower *o, SlDtype *dtype, SlQuant *quant);
/** lower_as_codes: @tensor as codes of that quantisation. What the file says beside each use must
 * agree with where they come from. */
gint32 lower_as_codes (Lower *o, gint32 tensor, SlDtype dtype, SlQuant quant);
/** lower_widen: the float matrix of the integers @x, a constant of two dimensions, which is made
 * later; @matrix has its blocks, scales and zero points. */
gint32 lower_widen (Lower *o, LowerValue *x, SlFewBits matrix);
/** lower_quantised: real @x as @codes; *@last tells their layout. */
gint32 lower_quantised (Lower *o, LowerValue *x, const LowerCodes *codes, gboolean *last);
/** lower_dequantised: (nullable): what codes @x, or constants of 32 bits, stand for. Constants that
 * layers take stay codes beside it. */
LowerValue *lower_dequantised (Lower *o, LowerValue *x, SlDtype dtype, SlQuant quant);
