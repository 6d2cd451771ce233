/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pictures and their labels, with the class names of the data set. The evaluated model maps these
 * names to its classes.
 */
#pragma once

#include "tools/evaluate/cells.h"
#include "tools/eval/ground_truth.h"
#include "tools/predict/inputs.h"

/** SlTrueClass: a class as the data set has it. @name (nullable); @number: -1 = only its name
 * counts; where both are given, the name counts first; @where: the file or folder that has it. */
typedef struct
{
  char *name, *where;
  gint32 number;
} SlTrueClass;

/** What is true of pictures. */
typedef enum
{
  SL_TRUTH_CLASSES, /* a class each */
  SL_TRUTH_OBJECTS,
  SL_TRUTH_CELLS /* a class for each pixel */
} SlTruthKind;

/** SlSample: a picture. @truth: index of its class; @objects: (nullable) (element-type
 * SlGroundTruth); @in_pixels: these are not in 0..1; @map: (nullable): file of the pixels' classes;
 * @width, @height: what the data set says of the picture's size, 0 = nothing; @unreadable: it could
 *  not be read before. */
typedef struct
{
  const SlInput *input;
  gint32 truth;
  GArray *objects;
  char *map;
  guint width, height;
  gboolean in_pixels, unreadable;
} SlSample;

/** SlDataset: @unlabelled: pictures without a file of boxes, which have none, or without a map,
 * which are left out; @numbered: of maps: numbers of classes are the model's, and @classes is
 * empty; @masks, @points: whether objects have them; @numbers: (nullable): of maps: by number, the
 * first map that has it. */
typedef struct
{
  GPtrArray *inputs;   /* (element-type GPtrArray of SlInput) */
  GArray *samples;     /* of SlSample */
  GPtrArray *classes;  /* (element-type SlTrueClass) */
  GHashTable *indices; /* key of a class -> 1 + its index */
  guint unlabelled;
  SlTruthKind kind;
  gboolean numbered, masks, points;
  const char *numbers[SL_CELL_VOID];
} SlDataset;

/** sl_dataset_new: (transfer full): the pictures of @path; after gst_init(). @images: (nullable):
 * folder of the pictures that a file of COCO's names. */
SlDataset *sl_dataset_new (const char *path, SlTruthKind kind, const char *images, GError **error);
/** sl_dataset_would_read: whether the file @file lies in the folder of the data set @path, by a
 * name that is a picture's or that of labels. */
gboolean sl_dataset_would_read (const char *path, const char *file);
void sl_dataset_free (SlDataset *dataset);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlDataset, sl_dataset_free)
