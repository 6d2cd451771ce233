/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Masks of objects from prototypes: a model gives each object some coefficients, and all objects
 * together as many maps; the object's map is the sum of those, each times its coefficient, through
 * a sigmoid (D. Bolya et al., "YOLACT: Real-time Instance Segmentation", ICCV 2019). Only what an
 * object's box covers is computed. Used by decoders/yolo.c.
 */
#pragma once

#include "postprocess/picture_shape.h"
#include "postprocess/values.h"

/** Most prototypes. */
#define SL_MAX_PROTOTYPES 64

/** One object's mask to be: which cells, what each prototype counts, as a number, and as a code
 * whose sums @scale and @bias make numbers of. */
typedef struct
{
  guint x, y, width, height;
  gfloat weights[SL_MAX_PROTOTYPES];
  gint16 codes[SL_MAX_PROTOTYPES];
  gfloat scale, bias;
  guint8 *cells;
} SlPrototypeSum;

typedef struct
{
  SlPictureShape shape;
  SlValues values;
  gfloat scale;
  gint32 zero_point;
  guint8 *shares; /* sigmoid of sums, in steps */
  guint8 *cells;
  guint used; /* of SL_MAX_OBJECT_CELLS */
  SlInstanceMask *masks;
  SlPrototypeSum *sums;
  guint n;
  gfloat *row;   /* sums of a row of cells */
  gint32 *whole; /* the same of codes */
} SlPrototypes;

/** sl_prototypes_shape: whether @tensor can be prototypes: [1,H,W,K] or [1,K,H,W] of uint8, int8 or
 * float32, K in 4..SL_MAX_PROTOTYPES. */
gboolean sl_prototypes_shape (const SlTensorInfo *tensor, SlPictureShape *shape);
/** sl_prototypes_init: @tensor has passed sl_prototypes_shape(). */
void sl_prototypes_init (SlPrototypes *self, const SlTensorInfo *tensor, guint max_results);
/** sl_prototypes_clear: also for a zeroed struct. */
void sl_prototypes_clear (SlPrototypes *self);
/** sl_prototypes_begin: forgets the masks of the frame before. */
void sl_prototypes_begin (SlPrototypes *self);
/** sl_prototypes_cut: which mask the @i-th detection, @box, will have in masks[@i], detections in
 * order; none where a coefficient is not finite or the cells of all masks together would be more
 * than SL_MAX_OBJECT_CELLS. Its grid has the cells that the box touches and one more around, where
 * the map has one. */
void sl_prototypes_cut (SlPrototypes *self, const gfloat *coefficients, const SlDetection *box,
                        guint i);
/** sl_prototypes_run: fills all masks from the tensor at @data, which is read once, whatever their
 * number. */
void sl_prototypes_run (SlPrototypes *self, const void *data);
