/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures and what is true of them, in the words of the data set: which classes of a model these are is the model's matter.
 */
#ifndef SL_TOOLS_EVAL_DATASET_H
#define SL_TOOLS_EVAL_DATASET_H

#include "evaluate/boxes.h"
#include "tools/predict/inputs.h"

G_BEGIN_DECLS

/** SlTrueClass: a class as the data set has it. @name (nullable); @number: -1 = only its name counts; where both are given, the name counts
 *  first; @where: the file or folder that has it. */
typedef struct
{
  char *name, *where;
  gint32 number;
} SlTrueClass;

/** SlSample: a picture. @truth: index of its class; @boxes: (nullable) (element-type SlEvalBox): with indices of classes as labels;
 *  @in_pixels: not in 0..1; @unreadable: it could not be read before. */
typedef struct
{
  const SlInput *input;
  gint32 truth;
  GArray *boxes;
  gboolean in_pixels, unreadable;
} SlSample;

/** SlDataset: @unlabelled: pictures without a file of boxes, which have none. */
typedef struct
{
  GPtrArray *inputs;   /* (element-type GPtrArray of SlInput) */
  GArray *samples;     /* of SlSample */
  GPtrArray *classes;  /* (element-type SlTrueClass) */
  GHashTable *indices; /* key of a class -> 1 + its index */
  guint unlabelled;
} SlDataset;

/** sl_dataset_new: (transfer full): the pictures of @path: with @of_boxes boxes, else a class for each; after gst_init(). */
SlDataset *sl_dataset_new (const char *path, gboolean of_boxes, GError **error);
void sl_dataset_free (SlDataset *dataset);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlDataset, sl_dataset_free)

G_END_DECLS

#endif
