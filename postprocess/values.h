/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the values of a tensor of uint8, int8 or float32. A quantised value of 8 bits is handled as
 * its rank, an unsigned byte that grows with the real value (quantised value XOR flip). So values
 * are compared without a conversion to float. A table of 256 entries gives the real value of each
 * rank.
 */
#pragma once

#include <string.h>

#include "postprocess/decoder.h"

typedef enum
{
  SL_SCORES_PLAIN,   /* none: numbers mean themselves */
  SL_SCORES_SIGMOID, /* sigmoid */
} SlScoreActivation;

/** No rank reaches this one. */
#define SL_NO_RANK 256

/**
 * SlValues:
 * @quantised: 8-bit codes; else float32
 * @flip: rank = code XOR flip
 * @table: value of each rank, after the activation
 */
typedef struct
{
  gboolean quantised, sigmoid;
  guint8 flip;
  gfloat table[256];
} SlValues;

/** sl_sigmoid: the logistic function, 1 / (1 + exp (-@x)). */
double sl_sigmoid (double x);
/** sl_values_readable: whether the functions here read tensors of @dtype. */
gboolean sl_values_readable (SlDtype dtype);
/** sl_values_init: @tensor must be readable. Codes without a scale count as they are. */
void sl_values_init (SlValues *values, const SlTensorInfo *tensor, SlScoreActivation activation);
/** sl_values_lowest: lowest rank whose value is at least @threshold, SL_NO_RANK when none is. */
guint sl_values_lowest (const SlValues *values, gfloat threshold);
/** sl_values_raw_threshold: the number in a float tensor whose value after the activation is
 * @threshold. */
gfloat sl_values_raw_threshold (const SlValues *values, gfloat threshold);
/** sl_values_activate: a number of a float tensor after the activation. */
gfloat sl_values_activate (const SlValues *values, gfloat raw);

/** sl_values_rank: of the @i-th code. */
static inline guint8
sl_values_rank (const SlValues *values, const void *data, gsize i)
{
  return ((const guint8 *) data)[i] ^ values->flip;
}

/** sl_values_float: the @i-th number of a float tensor as it is stored. */
static inline gfloat
sl_values_float (const void *data, gsize i)
{
  gfloat value;
  memcpy (&value, (const guint8 *) data + i * sizeof value, sizeof value);
  return value;
}

/** sl_values_get: the @i-th number, dequantised, after the activation. */
static inline gfloat
sl_values_get (const SlValues *values, const void *data, gsize i)
{
  if (values->quantised)
    return values->table[sl_values_rank (values, data, i)];
  gfloat raw = sl_values_float (data, i);
  return values->sigmoid ? sl_values_activate (values, raw) : raw;
}
