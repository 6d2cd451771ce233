/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Prior boxes: the boxes that a detector's numbers are offsets from; generated from a description
 * or read from a file.
 */
#pragma once

#include "postprocess/grid.h"

#define SL_MAX_ASPECT_RATIOS 16

/** Centre and size in 0..1 of the input. */
typedef struct
{
  gfloat x, y, w, h;
} SlAnchor;

/**
 * SlSsdAnchors: TensorFlow's SSD anchor generator.
 * @n_maps: feature maps, each half the size of the one before; 0 sizes = from the input's size and
 * a stride of 16
 * @scale_min, @scale_max: of the first and the last map, fractions of the input
 * @ratios: width / height
 * @reduce_lowest: the first map has three boxes: a small square and ratios 2 and 1/2
 * @interpolated: ratio of the additional box between a map's scale and the next one's, 0 = none
 */
typedef struct
{
  guint n_maps;
  guint map_width[SL_MAX_LEVELS], map_height[SL_MAX_LEVELS];
  double scale_min, scale_max;
  guint n_ratios;
  double ratios[SL_MAX_ASPECT_RATIOS];
  gboolean reduce_lowest;
  double interpolated;
} SlSsdAnchors;

/** sl_anchors_ssd: (transfer full) (nullable): *@n anchors, map by map, row by row; NULL when there
 * would be over 10 million. */
SlAnchor *sl_anchors_ssd (const SlSsdAnchors *spec, guint *n);
/** sl_anchors_faces: (transfer full) (nullable): those of UltraFace for an input of @width x
 * @height; NULL for no size. */
SlAnchor *sl_anchors_faces (gint32 width, gint32 height, guint *n);
/**
 * SlPyramidAnchors: EfficientDet's and RetinaNet's anchors.
 * @strides: of the @n_levels maps
 * @side: of the smallest square anchor, in strides
 * @scales: number of sizes of each anchor, each 2^(1 / @scales) of the one before
 * @shapes: width and height of each of the @n_shapes anchors of a size, in that size's side
 */
typedef struct
{
  guint n_levels, strides[SL_MAX_LEVELS];
  double side;
  guint scales, n_shapes;
  double shapes[SL_MAX_ASPECT_RATIOS][2];
} SlPyramidAnchors;

/** sl_anchors_pyramid: (transfer full) (nullable): *@n anchors, map by map, row by row, size by
 * size; NULL when there would be over 10 million, or none. */
SlAnchor *sl_anchors_pyramid (const SlPyramidAnchors *spec, gint32 width, gint32 height, guint *n);
/** sl_anchors_load: (transfer full): box priors as text: four lines of equally many numbers: centre
 * y, centre x, height, width, in 0..1. NULL with @error set. */
SlAnchor *sl_anchors_load (const char *path, guint *n, GError **error);
/** sl_anchor_decode: corners of the box that @offsets (x, y, logarithms of width and height, times
 * @scales) mean. */
void sl_anchor_decode (const SlAnchor *anchor, const gfloat offsets[4], const gfloat scales[4],
                       gfloat corners[4]);
