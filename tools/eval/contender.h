/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A model that is evaluated: pictures in, figures out.
 */
#ifndef SL_TOOLS_EVAL_CONTENDER_H
#define SL_TOOLS_EVAL_CONTENDER_H

#include "tools/evaluate/cells.h"
#include "tools/evaluate/classes.h"
#include "tools/eval/dataset.h"
#include "tools/eval/measures.h"
#include "tools/options.h"
#include "tools/quantize/pictures.h"

G_BEGIN_DECLS

typedef struct _SlContender SlContender;

/** sl_contender_new: model @path under @options; boxes from a confidence of @threshold on are counted. Messages start with @path. */
SlContender *sl_contender_new (const char *path, const SlModelOptions *options, gdouble threshold, GError **error);
void sl_contender_free (SlContender *contender);
const char *sl_contender_path (const SlContender *contender);
/** sl_contender_kind: what it says of pictures. */
SlTruthKind sl_contender_kind (const SlContender *contender);
/** sl_contender_label: (transfer full): what class @label is called, as it is shown: its name in one line, or its number. */
char *sl_contender_label (const SlContender *contender, gint32 label);
/** sl_contender_learn: which of its classes those of @dataset are; what of its results is measured. */
gboolean sl_contender_learn (SlContender *contender, const SlDataset *dataset, GError **error);
/** sl_contender_pictures: (transfer full): tensors for it. */
SlPictures *sl_contender_pictures (const SlContender *contender, const char *command, SlSpawner *spawner);
/** sl_contender_run: @tensor: of @sample, loaded last by @pictures. */
gboolean sl_contender_run (SlContender *contender, const SlPictures *pictures, const SlSample *sample, const void *tensor, GError **error);
/** sl_contender_classes, sl_contender_objects, sl_contender_cells: (transfer none): what has been counted, of the kind that it is; of objects
 *  NULL where @measure is not taken. */
SlClassScore *sl_contender_classes (const SlContender *contender);
SlObjectScore *sl_contender_objects (const SlContender *contender, SlMeasure measure);
const SlCellScore *sl_contender_cells (const SlContender *contender);
/** sl_contender_ms: median time of the model, without preprocessing and decoding; not a number before it ran. */
gdouble sl_contender_ms (SlContender *contender);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlContender, sl_contender_free)

G_END_DECLS

#endif
