/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Readings: ways in which a model may want its pictures. Each is a convention of pixel values, an
 * order of channels and a fit.
 */
#pragma once

#include "models/contract.h"
#include "preprocess/normalize.h"
#include "tools/options.h"

/** SlOrigin: where models that use the same conventions come from: TensorFlow, and of the others
 * those that name classes, those that read text, and the rest. */
typedef enum
{
  SL_ORIGIN_TENSORFLOW,
  SL_ORIGIN_CLASSES,
  SL_ORIGIN_TEXT,
  SL_ORIGIN_OTHERS,
  SL_N_ORIGINS
} SlOrigin;

/** SlConvention: pixel values that many models are trained with. @mean, @std: of red, green and
 * blue, real = (byte - mean) / std. @share: how many models of an origin use them, of 1. */
typedef struct
{
  const char *name;
  gdouble mean[3], std[3];
  gdouble share[SL_N_ORIGINS];
} SlConvention;

/** SlReading: @said: how well results were, 0..1; @score_of: of each picture. @likely: how likely
 * its values and order of channels are; @score: the same, less what its fit is worse (weigh.h). */
typedef struct
{
  const SlConvention *convention;
  SlColour colour;
  SlFit fit;
  SlFit own_fit; /* the model's, whose crop share is @own_share; other fits keep all */
  gdouble own_share;
  gdouble said, likely, score;
  gdouble evidence; /* the logarithm of how likely it is apart from how usual it is */
  gdouble layers;   /* what the model's layers tell of the values, see sl_weigh_layers(); NAN =
                       nothing */
  gdouble truth;    /* the share of the labelled objects that was found; NAN = no labels */
  GArray *score_of; /* of gdouble */
} SlReading;

/** sl_readings_values: (transfer full) (element-type SlReading): the conventions and orders of
 * channels to try on @contract, with the fit @fit. What
 *  @options (nullable) states is in all of them. */
GPtrArray *sl_readings_values (const SlContract *contract, const SlModelOptions *options,
                               SlFit fit);
/** sl_reading_new: (transfer full): @of with another fit. */
SlReading *sl_reading_new (const SlReading *of, SlFit fit);
void sl_reading_free (SlReading *reading);
/** sl_reading_share: how many models of @origin want it, of 1. @decoder: most models whose outputs
 * it reads may want the same. */
gdouble sl_reading_share (const SlReading *reading, SlOrigin origin, const char *decoder);
/** sl_reading_same_values: whether they differ in the fit at most. */
gboolean sl_reading_same_values (const SlReading *a, const SlReading *b);
/** sl_reading_usual: the mean of usual pictures in these values. */
gdouble sl_reading_usual (const SlReading *reading);
/** sl_reading_spec: what the normaliser needs for it; the rest is @spec's. */
void sl_reading_spec (const SlReading *reading, SlNormalizeSpec *spec);
/** sl_reading_is_bytes: whether the pixels are codes of a quantised input, so that no values are to
 * be stated. */
gboolean sl_reading_is_bytes (const SlReading *reading);
/** sl_reading_mean, sl_reading_std: (transfer full): as options take them, in the tensor's order of
 * channels. */
char *sl_reading_mean (const SlReading *reading);
char *sl_reading_std (const SlReading *reading);
/** sl_reading_settings: fills the zeroed @settings with those that the user @given stated; @reading
 * replaces the ones about pixel values. */
void sl_reading_settings (const SlReading *reading, const SlModelSettings *given,
                          SlModelSettings *settings);
/** sl_reading_options: (transfer full): "--mean 0 --std 255 --colour BGR --fit letterbox", without
 * what is so anyway. */
char *sl_reading_options (const SlReading *reading);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlReading, sl_reading_free)
