/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The share of the labels of pictures that a model finds with a reading. */
#pragma once

#include "tools/fit/reading.h"
#include "tools/predict/spawner.h"

/** SlFitTruth: @path: of labelled pictures, as `sightline eval` takes them; of these @most. */
typedef struct
{
  const char *model, *path;
  const SlModelOptions *options;
  SlSpawner *spawner;
  guint most;
} SlFitTruth;

/** sl_fit_truth: sets @truth of the first of @readings (element-type SlReading). */
gboolean sl_fit_truth (const SlFitTruth *truth, GPtrArray *readings, GError **error);
