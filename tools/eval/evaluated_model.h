/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model that is evaluated: pictures in, figures out. */
#pragma once

#include "tools/evaluate/cells.h"
#include "tools/evaluate/classes.h"
#include "tools/eval/dataset.h"
#include "tools/eval/measures.h"
#include "tools/options.h"
#include "tools/quantize/pictures.h"

typedef struct _SlEvaluatedModel SlEvaluatedModel;

/** SlSeenPicture: a picture that was run, number @sample of the data set. Of classes: @truth,
 * @guess: classes of the model, and the guess's
 *  @confidence; of cells: @pixels that count, of which @right are right. */
typedef struct
{
  guint sample;
  gint32 truth, guess;
  gdouble confidence;
  guint64 pixels, right;
} SlSeenPicture;

/** sl_evaluated_model_new: model @path under @options; boxes from a confidence of @threshold on are
 * counted. Messages start with @path. */
SlEvaluatedModel *sl_evaluated_model_new (const char *path, const SlModelOptions *options,
                                          gdouble threshold, GError **error);
void sl_evaluated_model_free (SlEvaluatedModel *contender);
const char *sl_evaluated_model_path (const SlEvaluatedModel *contender);
/** sl_evaluated_model_kind: what it says of pictures. */
SlTruthKind sl_evaluated_model_kind (const SlEvaluatedModel *contender);
/** sl_evaluated_model_label: (transfer full): what class @label is called, as it is shown: its name
 * in one line, or its number. */
char *sl_evaluated_model_label (const SlEvaluatedModel *contender, gint32 label);
/** sl_evaluated_model_learn: which of its classes those of @dataset are; what of its results is
 * measured. */
gboolean sl_evaluated_model_learn (SlEvaluatedModel *contender, const SlDataset *dataset,
                                   GError **error);
/** sl_evaluated_model_pictures: (transfer full): tensors for it. */
SlPictures *sl_evaluated_model_pictures (const SlEvaluatedModel *contender, const char *command,
                                         SlSpawner *spawner);
/** sl_evaluated_model_run: @tensor: of @dataset's sample @index, loaded last by @pictures. */
gboolean sl_evaluated_model_run (SlEvaluatedModel *contender, const SlPictures *pictures,
                                 const SlDataset *dataset, guint index, const void *tensor,
                                 GError **error);
/** sl_evaluated_model_seen: (transfer none) (element-type SlSeenPicture): in the order of running;
 * so are pictures of SlAnswer numbered. */
const GArray *sl_evaluated_model_seen (const SlEvaluatedModel *contender);
/** sl_evaluated_model_classes, sl_evaluated_model_objects, sl_evaluated_model_cells: (transfer
 * none): what has been counted, of the kind that it is; of objects NULL where @measure is not
 * taken. */
SlClassScore *sl_evaluated_model_classes (const SlEvaluatedModel *contender);
SlObjectScore *sl_evaluated_model_objects (const SlEvaluatedModel *contender, SlMeasure measure);
const SlCellScore *sl_evaluated_model_cells (const SlEvaluatedModel *contender);
/** sl_evaluated_model_answers: (transfer full) (element-type SlAnswer): of classes the first of
 * each picture, of objects see sl_object_score_answers(); sorted. @measure: of objects alone. */
GArray *sl_evaluated_model_answers (const SlEvaluatedModel *contender, SlMeasure measure);
/** sl_evaluated_model_matrix: (transfer full) (element-type SlMatrixCell): @confidence: of objects
 * alone. */
GArray *sl_evaluated_model_matrix (const SlEvaluatedModel *contender, gdouble confidence);
/** sl_evaluated_model_ms: median time of the model, without preprocessing and decoding; not a
 * number before it ran. */
gdouble sl_evaluated_model_ms (SlEvaluatedModel *contender);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlEvaluatedModel, sl_evaluated_model_free)
