/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a model says of a view of a picture, in coordinates of the picture, and how well such
 * sightings agree.
 */
#pragma once

#include "core/base/affine.h"
#include "postprocess/decoder.h"

#define SL_SIGHTING_CLASSES 30
#define SL_SIGHTING_BOXES 60
/** A map of classes is looked at in as many places a side. */
#define SL_SIGHTING_GRID 24
#define SL_SIGHTING_NUMBERS 512

typedef enum
{
  SL_SIGHT_CLASSES,
  SL_SIGHT_BOXES,
  SL_SIGHT_POINTS,
  SL_SIGHT_MAP,
  SL_SIGHT_NUMBERS
} SlSightKind;

/** A box, a point (corners alike) or a class, in 0..1 of the picture. */
typedef struct
{
  gint32 label;
  gdouble confidence;
  gdouble x_min, y_min, x_max, y_max;
} SlSighted;

/** SlSighting: @n of @all; of a map @cells with 255 where the view has no picture; of numbers
 * @n_numbers. */
typedef struct
{
  SlSightKind kind;
  guint n, n_numbers;
  SlSighted all[SL_SIGHTING_BOXES];
  guint8 cells[SL_SIGHTING_GRID * SL_SIGHTING_GRID];
  gint background;
  gfloat numbers[SL_SIGHTING_NUMBERS];
  gdouble left, top, right, bottom; /* what of the picture the view has, 0..1 */
} SlSighting;

/** sl_sighting_take: of @result, or of @outputs where it has nothing that is looked at. @map:
 * tensor -> picture of @width x @height. */
void sl_sighting_take (SlSighting *sighting, const SlResult *result, SlSightKind kind,
                       const SlTensorInfo *infos, const void *const *outputs, guint n_outputs,
                       const SlAffine *map, gint tensor_width, gint tensor_height, gint width,
                       gint height);
/** SlSightings: @all: @n_views of each of @n_pictures pictures, one picture behind the other; the
 * first @n_moved of them are moved or mirrored, the others darker. */
typedef struct
{
  const SlSighting *all;
  guint n_pictures, n_views, n_moved;
} SlSightings;

/** sl_sightings_score: @scores: of each picture, 0..1: how sure results are that all its views
 * share and that are not those of the other pictures as well. */
void sl_sightings_score (const SlSightings *sightings, gdouble *scores);
