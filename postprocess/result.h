/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The result of a decoder: boxes, keypoints, whole-picture classes, a mask of classes, a picture or
 * a vector. Coordinates are 0..1 over width and height of the model's input. The caller maps them
 * to the frame.
 */
#pragma once

#include <glib.h>

#include "core/graph/tensor_info.h"

/** Most detections and most classes one result holds. */
#define SL_MAX_RESULTS 1000
/** Most keypoints of one detection, and of all detections of a result together. */
#define SL_MAX_KEYPOINTS 512
#define SL_MAX_RESULT_KEYPOINTS (17 * SL_MAX_RESULTS)
/** The class of a cell whose class is unknown. */
#define SL_MASK_VOID 255

/** A point; @x, @y in 0..1 of the model's input, not clipped, never NaN; @confidence 0..1. */
typedef struct
{
  gfloat x, y, confidence;
} SlDetectedPoint;

/** The names of keypoints, and the pairs of points that are connected (bones); static tables. */
typedef struct
{
  guint n_points, n_bones;
  const char *const *names;
  const guint8 (*bones)[2]; /* indices of two points */
} SlSkeleton;

/** A box; corners in 0..1 of the model's input, not clipped. It has @n_keypoints keypoints,
 * beginning at the index @first_keypoint. */
typedef struct
{
  gfloat x_min, y_min, x_max, y_max;
  gfloat confidence;
  gint32 label_id;
  guint32 first_keypoint, n_keypoints;
} SlDetection;

/** A class of the whole picture. With the @label_id SL_TEXT_ID it is a @text that was read in the
 * picture; valid until the next run. Then @shares has the confidence of each of its @n_shares
 * characters, 0..1; @n_shares 0 = unknown. */
typedef struct
{
  gint32 label_id;
  gfloat confidence;
  const char *text; /* (nullable): NULL of a class; else UTF-8 */
  guint n_shares;
  const gfloat *shares;
} SlClass;

/** The @label_id of a text, which has no class. */
#define SL_TEXT_ID (-1)

/** The @background of an SlClassMask without a background class. */
#define SL_NO_BACKGROUND (-1)

/** A class for each cell of a grid over the whole input, row by row. @background: the background
 * class, SL_NO_BACKGROUND = there is no such class. @width 0 = no mask. */
typedef struct
{
  guint width, height;
  const guint8 *classes;
  gint background;
} SlClassMask;

/** Most cells of the masks of all objects of a result together. */
#define SL_MAX_OBJECT_CELLS (1u << 19)

/** The mask of one detection: a grid, row by row. A cell is the confidence, 0..255, that it belongs
 * to the object; from 128 on it does. The corners of the grid are in 0..1 of the model's input. The
 * grid may be larger than the box. Without @is_cut, cells outside the box have no meaning. With
 * @is_cut, the grid holds only the object. @width 0 = no mask. */
typedef struct
{
  gfloat x_min, y_min, x_max, y_max;
  guint width, height;
  const guint8 *cells;
  gboolean is_cut;
} SlInstanceMask;

/** A picture, rows without padding, @channels 1 (gray) or 3 (R, G, B) bytes per pixel. @width 0 =
 * no picture. */
typedef struct
{
  guint width, height, channels;
  const guint8 *pixels;
} SlPicture;

/** A vector of numbers other than scores. @is_embedding: a vector of length 1 that is compared as a
 * whole; else each number has its own meaning.
 *  @names, @units: (nullable): one for each number. @n 0 = no vector. */
typedef struct
{
  guint n;
  const gfloat *values;
  gboolean is_embedding;
  const char *const *names;
  const char *const *units;
} SlVector;

/** The undecoded tensors: @n tensors, @infos with names (nullable) and sizes in bytes, @data with
 * their values. */
typedef struct
{
  guint n;
  const SlTensorInfo *infos;
  const void *const *data;
} SlOutputs;

/** The result, filled by a decoder, best first. The memory is allocated once and reused for every
 * frame. @highest: the highest score, as in the tensor. */
typedef struct
{
  gfloat highest;
  guint n_detections, n_classes, n_keypoints;
  SlDetection detections[SL_MAX_RESULTS];
  SlClass classes[SL_MAX_RESULTS];
  SlDetectedPoint keypoints[SL_MAX_RESULT_KEYPOINTS];
  const SlSkeleton *skeleton;  /* (nullable): of all keypoints */
  const SlInstanceMask *masks; /* (nullable): one for each detection */
  SlClassMask mask;
  SlPicture picture;
  SlVector vector;
  SlOutputs outputs;
} SlResult;

/** The 17 points of COCO's persons, and the 5 points of face detectors (eyes, nose, corners of the
 * mouth). */
extern const SlSkeleton sl_skeleton_person;
extern const SlSkeleton sl_skeleton_face;
/** Points of MediaPipe's detectors: of a face, of a palm, and two pairs of points for the position
 * and the direction of a person. */
extern const SlSkeleton sl_skeleton_face_and_ears;
extern const SlSkeleton sl_skeleton_palm;
extern const SlSkeleton sl_skeleton_alignment;
/** The 21 points of a hand: the wrist, then four points per finger from the palm to the tip. */
extern const SlSkeleton sl_skeleton_hand;
/** The two ends of a line segment. */
extern const SlSkeleton sl_skeleton_line;
/** The corners of a rotated box, in their order around it. */
extern const SlSkeleton sl_skeleton_corners;
/** The centre and the 8 corners of a box in space, projected to the picture, and its 12 edges. */
extern const SlSkeleton sl_skeleton_cuboid;
