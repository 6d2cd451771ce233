/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The model is evaluated as `sightline eval` does it, once for each reading. */
#include "tools/fit/truth.h"

#include <math.h>

#include "core/base/picture.h"
#include "sightline/error.h"
#include "tools/eval/evaluated_model.h"
#include "tools/interrupt.h"
#include "tools/progress.h"

/* Readings that are worth it. */
#define BEST 8
/* Below it a box hardly moves average precision. */
#define THRESHOLD 0.001

/* The share of pictures whose class is right; average precision of boxes at an overlap of 0.5; mean
 * overlap of maps. */
static gdouble
figure_of (const SlEvaluatedModel *contender)
{
  SlClassFigures classes;
  SlObjectFigures objects;
  SlCellFigures cells;
  gdouble right;
  switch (sl_evaluated_model_kind (contender)) {
    case SL_TRUTH_CLASSES:
      g_array_unref (sl_class_score_figures (sl_evaluated_model_classes (contender), &classes));
      return classes.pictures > 0 ? (gdouble) classes.right / classes.pictures : 0;
    case SL_TRUTH_CELLS:
      g_array_unref (sl_cell_score_figures (sl_evaluated_model_cells (contender), &cells, &right));
      return isnan (cells.iou) ? 0 : cells.iou;
    default:
      g_array_unref (sl_object_score_figures (
        sl_evaluated_model_objects (contender, SL_MEASURE_BOXES), &objects));
      return isnan (objects.ap50) ? 0 : objects.ap50;
  }
}

static gboolean
run_samples (const SlFitTruth *truth, SlEvaluatedModel *contender, GError **error)
{
  g_autoptr (SlDataset) dataset =
    sl_dataset_new (truth->path, sl_evaluated_model_kind (contender), NULL, error);
  if (dataset == NULL || !sl_evaluated_model_learn (contender, dataset, error))
    return FALSE;
  g_autoptr (SlPictures) pictures = sl_evaluated_model_pictures (contender, "fit", truth->spawner);
  const guint all = dataset->samples->len, n = MIN (all, truth->most);
  SlProgress progress;
  sl_progress_start (&progress, "fit --truth", "pictures", n);
  for (guint i = 0; i < n && !sl_interrupted (); i++) {
    sl_progress_show (&progress, i);
    const guint index = (guint) ((guint64) i * all / n);
    const void *tensor =
      sl_pictures_load (pictures, g_array_index (dataset->samples, SlSample, index).input);
    if (tensor != NULL
        && !sl_evaluated_model_run (contender, pictures, dataset, index, tensor, error))
      return FALSE;
  }
  sl_progress_hide ();
  return !sl_interrupted ();
}

static gboolean
evaluate (const SlFitTruth *truth, SlReading *reading, GError **error)
{
  g_auto (SlModelOptions) options = { .threads = truth->options->threads };
  sl_reading_settings (reading, &truth->options->settings, &options.settings);
  g_autoptr (SlEvaluatedModel) contender =
    sl_evaluated_model_new (truth->model, &options, THRESHOLD, error);
  if (contender == NULL || !run_samples (truth, contender, error))
    return FALSE;
  reading->truth = figure_of (contender);
  return TRUE;
}

gboolean
sl_fit_truth (const SlFitTruth *truth, GPtrArray *readings, GError **error)
{
  for (guint i = 0; i < MIN (readings->len, BEST) && !sl_interrupted (); i++)
    if (!evaluate (truth, readings->pdata[i], error))
      return FALSE;
  return !sl_interrupted ();
}
