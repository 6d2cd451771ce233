/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What convolutions tell of the values that they were trained with. Batch normalisation gave the
 * sums of each channel a mean near 0 and a spread near 1; its bias takes the mean of what the
 * weights made of those values away.
 */
#pragma once

#include "core/graph/graph.h"

/** SlChannel: one of a layer's outputs. @bias: what it adds without an input; @sum: what the input
 * adds; @spread: of what it adds in all places; @energy: the sum of its squared weights. */
typedef struct
{
  gdouble bias, sum, spread, energy;
} SlChannel;

/**
 * SlLayerFit: how a layer's biases go with its sums, both in spreads.
 * @n: channels that tell something; 0 = too few, or no normalisation has scaled them, and all
 * else is 0
 * @off: what the slope of biases over sums differs by from the one expected, in standard errors
 * @size: the logarithm of the median bias
 * @spread: the logarithm of the median spread
 */
typedef struct
{
  guint n;
  gdouble off, size, spread;
} SlLayerFit;

/** sl_layer_floats: (transfer full) (nullable): the @n values of a constant; NULL where there is
 * none, or one that is too large. */
gfloat *sl_layer_floats (const SlTensor *tensor, gsize *n);
/** sl_layer_median: sorts @values. */
gdouble sl_layer_median (gdouble *values, guint n);
/** sl_layer_fit: @slope: the one expected. */
void sl_layer_fit (const SlChannel *channels, guint n, gdouble slope, SlLayerFit *fit);
