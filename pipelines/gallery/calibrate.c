/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cosines of the same person, and of different ones, are taken as normal distributions of one
 * deviation, so the logarithm of their ratio is a line. The threshold is so high that of all people
 * of a gallery a stranger reaches it once in a hundred times. No evidence is direct for the same
 * person on two cameras. There the mean of both cameras' own tracks is moved by what different
 * persons' cosines differ between the cameras and within them. Cosines of people who were merged
 * are such evidence; what the tracks say counts as much as SL_CALIBRATION_SAME of them. Merges are
 * made where the gallery was wrong, so their cosines are low; the bound for strangers stays.
 */
#include "pipelines/gallery/calibrate.h"

#include <math.h>

/* Evidence older than this many cosines loses weight. */
#define REMEMBERED 5000
/* How often a stranger may be taken for somebody of the gallery. */
#define STRANGERS 0.01
/* Without evidence: the cosine from the threshold at which odds are e. */
#define USUAL_SPREAD 0.05
#define LEAST_DEVIATION 0.01
#define MOST_ODDS 1e6

void
sl_cosines_add (SlCosines *cosines, gdouble cosine)
{
  if (cosines->n >= REMEMBERED) {
    cosines->squares *= (REMEMBERED - 1) / cosines->n;
    cosines->n = REMEMBERED - 1;
  }
  const gdouble before = cosine - cosines->mean;
  cosines->n++;
  cosines->mean += before / cosines->n;
  cosines->squares += before * (cosine - cosines->mean);
}

void
sl_calibration_same (SlCalibration *calibration, guint camera, gdouble cosine)
{
  sl_cosines_add (&calibration->same[camera], cosine);
}

void
sl_calibration_others (SlCalibration *calibration, guint a, guint b, gdouble cosine)
{
  sl_cosines_add (&calibration->others[MIN (a, b)][MAX (a, b)], cosine);
}

void
sl_cosines_forget (SlCosines *cosines)
{
  if (cosines->n <= REMEMBERED)
    return;
  cosines->squares *= REMEMBERED / cosines->n;
  cosines->n = REMEMBERED;
}

void
sl_cosines_join (SlCosines *sum, const SlCosines *more)
{
  const gdouble n = sum->n + more->n, apart = more->mean - sum->mean;
  if (!(more->n > 0))
    return;
  sum->squares += more->squares + apart * apart * sum->n * more->n / n;
  sum->mean += apart * more->n / n;
  sum->n = n;
}

void
sl_calibration_merged (SlCalibration *calibration, guint a, guint b, const SlCosines *cosines)
{
  sl_cosines_join (&calibration->merged[MIN (a, b)][MAX (a, b)], cosines);
}

/* Few cosines say little of how far others lie: so it is wider then. */
static gdouble
deviation (const SlCosines *cosines)
{
  const gdouble sigma = sqrt (MAX (cosines->squares, 0) / MAX (cosines->n - 1, 1));
  return MAX (sigma * (1 + 2 / sqrt (cosines->n)), LEAST_DEVIATION);
}

/* The share of a normal distribution beyond @z deviations. */
static gdouble
beyond (gdouble z)
{
  return erfc (z / G_SQRT2) / 2;
}

/* Beyond which number of deviations @share lies; by halving. */
static gdouble
find_deviations (gdouble share)
{
  gdouble low = 0, high = 8;
  for (guint i = 0; i < 40; i++) {
    const gdouble middle = (low + high) / 2;
    *(beyond (middle) > share ? &low : &high) = middle;
  }
  return high;
}

static SlPairRule
usual (const SlIdentityRules *rules)
{
  return (SlPairRule){ rules->threshold, rules->threshold, 1 / USUAL_SPREAD, 0, FALSE };
}

/* What different persons' cosines are more between the cameras than within them. */
static gdouble
find_shift (const SlCalibration *calibration, guint a, guint b)
{
  const SlCosines *of_a = &calibration->others[a][a], *of_b = &calibration->others[b][b];
  if (of_a->n < SL_CALIBRATION_OTHERS || of_b->n < SL_CALIBRATION_OTHERS)
    return 0;
  return calibration->others[MIN (a, b)][MAX (a, b)].mean - (of_a->mean + of_b->mean) / 2;
}

/* Mean and deviation of the same person's cosines. FALSE: there is too little evidence. */
static gboolean
find_same (const SlCalibration *calibration, guint a, guint b, gdouble *mean, gdouble *spread)
{
  const SlCosines *of_a = &calibration->same[a], *of_b = &calibration->same[b],
                  *merged = &calibration->merged[MIN (a, b)][MAX (a, b)];
  if (of_a->n < SL_CALIBRATION_SAME || of_b->n < SL_CALIBRATION_SAME) {
    *mean = merged->mean;
    *spread = deviation (merged);
    return merged->n >= SL_CALIBRATION_SAME;
  }
  *mean = (of_a->mean + of_b->mean) / 2 + (a != b ? find_shift (calibration, a, b) : 0);
  *spread = MAX (deviation (of_a), deviation (of_b));
  if (merged->n > 0) {
    SlCosines all = { SL_CALIBRATION_SAME, *mean, SL_CALIBRATION_SAME * *spread * *spread };
    sl_cosines_join (&all, merged);
    *mean = all.mean;
    *spread = sqrt (all.squares / all.n);
  }
  return TRUE;
}

SlPairRule
sl_calibration_pair (const SlCalibration *calibration, guint a, guint b, guint people,
                     const SlIdentityRules *rules)
{
  const SlCosines *others = &calibration->others[MIN (a, b)][MAX (a, b)];
  gdouble same, spread;
  if (others->n < SL_CALIBRATION_OTHERS || !find_same (calibration, a, b, &same, &spread))
    return usual (rules);
  const gdouble apart = deviation (others), pooled = (spread * spread + apart * apart) / 2;
  const gdouble middle = (same + others->mean) / 2, slope = (same - others->mean) / pooled;
  if (!(slope > 0)) /* the model does not tell people apart here */
    return usual (rules);
  const gdouble strangers = others->mean + apart * find_deviations (STRANGERS / MAX (people, 1));
  const gdouble threshold = MIN (MAX (middle, strangers), 1);
  return (SlPairRule){ threshold, middle, slope, beyond ((threshold - same) / spread), TRUE };
}

gdouble
sl_calibration_odds (const SlPairRule *rule, gdouble cosine)
{
  const gdouble most = log (MOST_ODDS);
  return exp (CLAMP ((cosine - rule->middle) * rule->slope, -most, most));
}
