/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* COCO's files of annotations ("instances", "person_keypoints"): pictures with their objects. */
#pragma once

#include "tools/eval/ground_truth.h"

/** SlCocoPicture: @id: as the file has it; @name: relative to the folder of pictures; @truths:
 * (element-type SlGroundTruth): in pixels, with indices of categories as labels. */
typedef struct
{
  gint64 id;
  char *name;
  guint width, height;
  GArray *truths;
} SlCocoPicture;

/** SlCoco: @masks: whether all objects have masks; @points: whether any has keypoints. */
typedef struct
{
  GArray *pictures;      /* of SlCocoPicture, by id, as pycocotools takes them: it counts where
                            confidences are equal */
  GPtrArray *categories; /* (element-type utf8): names */
  gboolean masks, points;
} SlCoco;

/** sl_coco_new: (transfer full): the file @path of at most 1 GiB; messages start with it. */
SlCoco *sl_coco_new (const char *path, GError **error);
void sl_coco_free (SlCoco *coco);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlCoco, sl_coco_free)
