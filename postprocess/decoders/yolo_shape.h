/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the tensors of a YOLO detector mean: read from parameters, a preset, shapes and the number
 * of labels, in that order. Used by decoders/yolo.c alone.
 *
 * Parameters:
 *   preset         v3, v5, v7: objectness, rows of channels; v6, v8, v9, v11: channels first, no
 *                  objectness;
 *                  v10, v26: end to end; x: objectness, boxes=grid
 *   transposed     yes: [1,channels,rows]; no: [1,rows,channels]
 *   objectness     whether a score that there is any object comes before the classes
 *   end-to-end     rows are x_min, y_min, x_max, y_max, score, class; no suppression
 *   columns        what the numbers of a row are, in their order: x1y1x2y2, y1x1y2x2 or xywh for
 *                  the four of a box, score, class,
 *                  objectness (the score is multiplied by it), image or - for a number that does
 *                  not count
 *   box            xywh (centre and size) or xyxy (corners)
 *   boxes          decoded; grid: offsets from cells, logarithms of sizes; anchors: sigmoids over
 *                  "anchors"; unstated, one row with
 *                  objectness for each cell of strides 8,16,32 is grid where a size is negative
 *   anchors        width,height of each anchor in pixels, level by level ("anchors" as YAML of v5
 *                  has them)
 *   strides        pixels between cells of each level, 8,16,32
 *   units          normalised (0..1 of the input) or pixels; else told by scale or values
 *   activation     none or sigmoid, of scores
 *   keypoints      count,2 or count,3 behind the classes
 *   masks          whether one of two tensors, [1,H,W,K] or [1,K,H,W], is prototypes of masks,
 *                  whose K coefficients are behind the
 *                  classes; yes where shapes allow it
 *   angle          whether the last number of a row is the angle of its box, in radians; yes where
 *                  "task" is obb
 *   iou-threshold, agnostic: suppression
 * and "task", "stride", "imgsz", "kpt_shape" as Ultralytics' exporters write them into models.
 */
#pragma once

#include "postprocess/decoder.h"
#include "postprocess/grid.h"

#define SL_YOLO_MAX_ANCHORS 32

typedef enum
{
  SL_YOLO_BOXES_DECODED,
  SL_YOLO_BOXES_GRID,
  SL_YOLO_BOXES_ANCHORS
} SlYoloBoxes;

typedef enum
{
  SL_YOLO_UNITS_AUTO,
  SL_YOLO_UNITS_NORMALISED,
  SL_YOLO_UNITS_PIXELS
} SlYoloUnits;

/**
 * SlYoloShape:
 * @n_parts: tensors whose rows follow one another, from the @first_part-th on
 * @n_coefficients: of masks, behind the classes; the prototypes are tensor @prototypes
 * @channels: numbers of a row; @classes of them are scores from @first_class on
 * @width, @height: of the input, 0 = unknown, which only coordinates known to be fractions allow
 * @first_box, @score_at, @class_at, @objectness_at: columns of rows that are @end_to_end;
 * @objectness_at 0 = there is none
 * @stated_columns: numbers that "columns" names, 0 = it is not there
 * @suppress: whether overlapping boxes are still there
 * @y_first: corners are y before x
 * @stated: a parameter says which columns there are, so that values may contradict, but not choose
 * @told: labels, the task or a number of classes that is known tell whether there is objectness
 * @tried: one of the readings that values may tell
 * @turned: boxes have an angle, the number of a row that keypoints would begin at
 * @per_cell, @anchors: for SL_YOLO_BOXES_ANCHORS
 * @by_values: nothing states @boxes, and rows are YOLOX's, which come decoded or not: a negative
 * size means SL_YOLO_BOXES_GRID
 * @certain: whether it is surely YOLO's, so that nobody needs to name the decoder
 */
typedef struct
{
  guint n_parts, rows, channels, classes, first_class;
  guint first_box, score_at, class_at, objectness_at, stated_columns;
  gboolean transposed, objectness, end_to_end, corners, sigmoid, certain, by_values, turned,
    suppress, y_first, stated, told, tried;
  SlYoloBoxes boxes;
  SlYoloUnits units;
  guint n_keypoints, keypoint_size, first_keypoint;
  guint first_part, n_coefficients, prototypes, first_coefficient;
  gint32 width, height;
  SlGrid grid;
  guint per_cell;
  double anchors[2 * SL_YOLO_MAX_ANCHORS];
} SlYoloShape;

extern const SlDecoderParam sl_yolo_params[];

/** sl_yolo_shape_find: FALSE with @error set when a parameter is wrong, contradicts the tensors, or
 * says too little. */
gboolean sl_yolo_shape_find (SlYoloShape *shape, const SlDecoderConfig *config, GError **error);
