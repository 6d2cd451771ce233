/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How likely each reading is: how usual it is, what the model's layers tell of the pixels that it
 * was trained with, and what it says of the pictures, together.
 */
#pragma once

#include "tools/fit/layer.h"
#include "tools/fit/reading.h"
#include "tools/fit/sighting.h"

/** SlWeighed: what all readings of a model share. @decoder: the name of its decoder; @lean: see
 * sl_first_layer_lean(). */
typedef struct
{
  const char *decoder;
  SlOrigin origin;
  SlSightKind kind;
  gdouble lean;
} SlWeighed;

/** sl_weigh_layers: the logarithm of how likely the model's layers are with a reading. @first: of
 * the layer that reads the picture; @later: see sl_later_layers_off(). */
gdouble sl_weigh_layers (const SlLayerFit *first, gdouble later);
/** sl_weigh_values: sets how likely each of @readings (element-type SlReading) is, which have one
 * fit; together they have 1. */
void sl_weigh_values (const GPtrArray *readings, const SlWeighed *model);
/** sl_weigh_fits: of readings that differ in the fit alone, the best has what its values have, the
 * others less by what the model says less. */
void sl_weigh_fits (const GPtrArray *readings);
