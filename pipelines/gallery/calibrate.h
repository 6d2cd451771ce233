/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What cosines mean between two cameras. Embeddings of one track are of one person. Two boxes in
 * one frame are two persons. A merge says that two persons are one. From these come the mean and
 * the deviation of cosines of the same person and of different ones. A threshold and the
 * confidence of a match follow from them. Until there is enough of both, the threshold of the rules
 * counts. One thread at a time.
 */
#pragma once

#include "pipelines/gallery/cameras.h"
#include "pipelines/gallery/rules.h"

/** Cosines of the same person, and of different ones, from which a calibration is made. */
#define SL_CALIBRATION_SAME 20
#define SL_CALIBRATION_OTHERS 50

/** SlCosines: @n cosines, their mean, and the sum of squares of what they differ from it. */
typedef struct
{
  gdouble n, mean, squares;
} SlCosines;

/** SlCalibration: zeroed = no evidence. @same: of each camera. @others, @merged: of each pair, the
 * lower number first: different persons, and those who were merged. */
typedef struct
{
  SlCosines same[SL_IDENTITY_CAMERAS];
  SlCosines others[SL_IDENTITY_CAMERAS][SL_IDENTITY_CAMERAS];
  SlCosines merged[SL_IDENTITY_CAMERAS][SL_IDENTITY_CAMERAS];
} SlCalibration;

/**
 * SlPairRule: what cosines mean between two cameras.
 * @threshold: least cosine of a match
 * @middle, @slope: the logarithm of how much more likely one person is than two, at cosine c, is
 * (c - @middle) * @slope
 * @is_calibrated: FALSE = by the rules alone
 * @hits: share of the same person's cosines that reach @threshold; 0 where it is not calibrated
 */
typedef struct
{
  gdouble threshold, middle, slope, hits;
  gboolean is_calibrated;
} SlPairRule;

/** sl_cosines_add: one more; of many, older ones lose weight. */
void sl_cosines_add (SlCosines *cosines, gdouble cosine);
/** sl_cosines_join: @sum has the numbers of @more, too. */
void sl_cosines_join (SlCosines *sum, const SlCosines *more);
/** sl_cosines_forget: of more cosines than count, all lose weight alike. */
void sl_cosines_forget (SlCosines *cosines);
/** sl_calibration_merged: what a merge said of the cameras @a and @b. */
void sl_calibration_merged (SlCalibration *calibration, guint a, guint b, const SlCosines *cosines);
/** sl_calibration_same: two embeddings of one person, of one camera. */
void sl_calibration_same (SlCalibration *calibration, guint camera, gdouble cosine);
/** sl_calibration_others: embeddings of two persons, of the cameras @a and @b. */
void sl_calibration_others (SlCalibration *calibration, guint a, guint b, gdouble cosine);
/** sl_calibration_pair: of a new embedding of camera @a and a known one of @b, among @people. */
SlPairRule sl_calibration_pair (const SlCalibration *calibration, guint a, guint b, guint people,
                                const SlIdentityRules *rules);
/** sl_calibration_odds: how much more likely one person is than two, at @cosine; bounded. */
gdouble sl_calibration_odds (const SlPairRule *rule, gdouble cosine);
