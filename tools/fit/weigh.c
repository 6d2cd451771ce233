/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Logarithms of likelihoods are added, as of things that have nothing to do with each other. Each
 * is bounded: none is so certain that it overrules all others. The numbers are of some sixty models
 * whose pixels are known.
 */
#include "tools/fit/weigh.h"

#include <math.h>

/* How far the logarithms of the first layer's bias, in spreads, and of its spread are from the
 * usual ones in most models. */
#define USUAL_SIZE 1.2
#define USUAL_SPREAD -0.5
#define SPREAD_VARIES 0.85
/* What counts how much, of the logarithm of a likelihood: slopes of the first layer and of later
 * ones, which tell much the same; the spread; and what the model says. */
#define OF_FIRST 2
#define OF_LATER 0.15
#define OF_SPREAD 0.5
#define OF_SAID 2
/* Models whose layers tell nothing, though they look as if. */
#define MISLEADING 0.02
/* What chance makes of the mean of what models say, beside what pictures differ by. */
#define CHANCE 0.03
/* How much a first layer that leans to one side tells, and how many lean to the wrong one. */
#define OF_LEAN 4
#define LEANS_WRONG 0.1

gdouble
sl_weigh_layers (const SlLayerFit *first, gdouble later)
{
  gdouble sum = -OF_LATER * later;
  if (first->n > 0) {
    const gdouble size = first->size / USUAL_SIZE,
                  spread = (first->spread - USUAL_SPREAD) / SPREAD_VARIES;
    sum -= size * size / 2 + OF_FIRST * log1p (first->off * first->off / 3)
           + OF_SPREAD * spread * spread / 2;
  }
  return sum;
}

/* What the layers tell of a convention does not depend on the order of channels: the better of
 * both, since they differ by chance. Of all conventions where it is NULL. */
static gdouble
layers_of (const GPtrArray *readings, const SlConvention *convention)
{
  gdouble best = -INFINITY;
  for (guint i = 0; i < readings->len; i++) {
    const SlReading *reading = readings->pdata[i];
    if (convention == NULL || reading->convention == convention)
      best = fmax (best, reading->layers);
  }
  return best;
}

/* How much kinds of results tell: that a model sees an object tells more than that its numbers
 * differ. */
static gdouble
trust_in (SlSightKind kind)
{
  return kind == SL_SIGHT_NUMBERS ? 0.4 : kind == SL_SIGHT_MAP || kind == SL_SIGHT_POINTS ? 0.6 : 1;
}

/* What @best says more of the pictures than @other in the mean, in the errors of that mean,
 * squared. */
static gdouble
lead_of (const SlReading *best, const SlReading *other)
{
  const guint n = best->score_of->len;
  gdouble sum = 0, squares = 0;
  for (guint i = 0; i < n; i++) {
    const gdouble difference =
      g_array_index (best->score_of, gdouble, i) - g_array_index (other->score_of, gdouble, i);
    sum += difference;
    squares += difference * difference;
  }
  const gdouble mean = sum / n, variance = fmax (squares - sum * mean, 0) / MAX (n - 1, 1);
  return mean * mean / (variance / n + CHANCE * CHANCE);
}

static gdouble
colour_of (const SlReading *reading, gdouble lean)
{
  if (reading->colour == SL_COLOUR_GRAY || lean == 0)
    return 0;
  const gdouble to = OF_LEAN * (reading->colour == SL_COLOUR_BGR ? -lean : lean);
  return log (LEANS_WRONG + (1 - LEANS_WRONG) / (1 + exp (-to)));
}

static const SlReading *
says_most (const GPtrArray *readings)
{
  const SlReading *best = readings->pdata[0];
  for (guint i = 1; i < readings->len; i++) {
    const SlReading *reading = readings->pdata[i];
    best = reading->said > best->said ? reading : best;
  }
  return best;
}

void
sl_weigh_values (const GPtrArray *readings, const SlWeighed *model)
{
  const SlReading *most = says_most (readings);
  const gdouble layers = layers_of (readings, NULL);
  gdouble all = 0;
  for (guint i = 0; i < readings->len; i++) {
    SlReading *reading = readings->pdata[i];
    gdouble sum = colour_of (reading, model->lean)
                  - OF_SAID * trust_in (model->kind) * log1p (lead_of (most, reading) / 3);
    if (isfinite (layers))
      sum += log (MISLEADING
                  + (1 - MISLEADING) * exp (layers_of (readings, reading->convention) - layers));
    reading->evidence = sum;
    reading->likely = exp (sum) * sl_reading_share (reading, model->origin, model->decoder);
    all += reading->likely;
  }
  for (guint i = 0; i < readings->len; i++) {
    SlReading *reading = readings->pdata[i];
    reading->score = reading->likely /= all;
  }
}

void
sl_weigh_fits (const GPtrArray *readings)
{
  for (guint i = 0; i < readings->len; i++) {
    SlReading *reading = readings->pdata[i];
    gdouble most = 0;
    for (guint k = 0; k < readings->len; k++) {
      const SlReading *other = readings->pdata[k];
      most = sl_reading_same_values (reading, other) ? fmax (most, other->said) : most;
    }
    reading->score = reading->likely * (most > 0 ? reading->said / most : 1);
  }
}
