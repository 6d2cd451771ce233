/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties of SlPredictor, and their values. They know no lock: SlPredictor holds its own. */
#pragma once

#include "models/settings.h"
#include "sightline/custom_decoder.h"

/** SlPredictorSettings: pointers are nullable and owned; zeroed = what may be cleared. */
typedef struct
{
  SlModelSettings model;
  char *filter, *classes, *source;
  gdouble threshold, iou_threshold;
  guint max_results, top_k, threads;
  SlCustomDecoder *custom;
} SlPredictorSettings;

/** sl_predictor_settings_install: for the class of SlPredictor. */
void sl_predictor_settings_install (GObjectClass *klass);
/** sl_predictor_settings_set, sl_predictor_settings_get: the value of property @id. Setting it
 * returns whether the model has to be loaded anew. */
gboolean sl_predictor_settings_set (SlPredictorSettings *settings, guint id, const GValue *value,
                                    GParamSpec *spec);
void sl_predictor_settings_get (const SlPredictorSettings *settings, guint id, GValue *value,
                                GParamSpec *spec);
/** sl_predictor_settings_copy: what @to was is freed. */
void sl_predictor_settings_copy (const SlPredictorSettings *from, SlPredictorSettings *to);
void sl_predictor_settings_clear (SlPredictorSettings *settings);
