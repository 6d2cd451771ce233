/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * What a decoder makes of tensors: boxes, keypoints, whole-picture classes, a mask of classes, a picture, a vector; in coordinates
 * of the model's input (0..1 over its width and height). Mapping to the frame is the caller's.
 */
#ifndef SL_POSTPROCESS_RESULT_H
#define SL_POSTPROCESS_RESULT_H

#include <glib.h>

#include "core/graph/tensor_info.h"

G_BEGIN_DECLS

/** Most detections and most classes one result holds. */
#define SL_MAX_RESULTS 1000
/** Most keypoints one detection has, and all of a result together. */
#define SL_MAX_KEYPOINTS 512
#define SL_MAX_RESULT_KEYPOINTS (17 * SL_MAX_RESULTS)
/** Class of a map's cell that nothing is known about. */
#define SL_MASK_VOID 255

/** A point; @x, @y in 0..1 of the model's input, not clipped, never NaN; @confidence 0..1. */
typedef struct
{
  gfloat x, y, confidence;
} SlDetectedPoint;

/** What the keypoints of a detection are called and which belong together; static tables. */
typedef struct
{
  guint n_points, n_bones;
  const char *const *names;
  const guint8 (*bones)[2]; /* indices of two points */
} SlSkeleton;

/** A box; corners in 0..1 of the model's input, not clipped. Its keypoints are @n_keypoints from @first_keypoint on. */
typedef struct
{
  gfloat x_min, y_min, x_max, y_max;
  gfloat confidence;
  gint32 label_id;
  guint32 first_keypoint, n_keypoints;
} SlDetection;

/** A class of the whole picture, or, with the @label_id SL_TEXT_ID, a @text that was read in it; valid until the next run. */
typedef struct
{
  gint32 label_id;
  gfloat confidence;
  const char *text; /* (nullable): NULL of a class */
} SlClass;

/** Stands for the class of what is no class. */
#define SL_TEXT_ID (-1)

/** SlClassMask's @background where every class is something that is there. */
#define SL_NO_BACKGROUND (-1)

/** A class for each cell of a grid over the whole input, row by row. @background: the class that is none of what the model looks for,
 *  SL_NO_BACKGROUND = there is no such class. @width 0 = none. */
typedef struct
{
  guint width, height;
  const guint8 *classes;
  gint background;
} SlClassMask;

/** Most cells of the masks of all objects of a result together. */
#define SL_MAX_OBJECT_CELLS (1u << 19)

/** Which part of a detection's box is the object: a grid, row by row, of the share 0..255 of sureness that a cell belongs to it,
 *  128 and more meaning that it does. Corners of the grid in 0..1 of the model's input; it may reach beyond the box, where it means
 *  nothing unless @is_cut: then it has nothing but the object. @width 0 = none. */
typedef struct
{
  gfloat x_min, y_min, x_max, y_max;
  guint width, height;
  const guint8 *cells;
  gboolean is_cut;
} SlInstanceMask;

/** A picture, rows without padding, @channels 1 (gray) or 3 (R, G, B) bytes a pixel. @width 0 = none. */
typedef struct
{
  guint width, height, channels;
  const guint8 *pixels;
} SlPicture;

/** Numbers that are no scores. @is_embedding: of length 1, to be compared as a whole; else each means something by itself.
 *  @names, @units: (nullable): one a number. @n 0 = none. */
typedef struct
{
  guint n;
  const gfloat *values;
  gboolean is_embedding;
  const char *const *names;
  const char *const *units;
} SlVector;

/** The tensors themselves: @n of them, @infos with names (nullable) and sizes in bytes, @data their numbers. */
typedef struct
{
  guint n;
  const SlTensorInfo *infos;
  const void *const *data;
} SlOutputs;

/** Filled by a decoder, best first; memory is allocated once and reused for every frame. @highest: the highest score as the tensor has it. */
typedef struct
{
  gfloat highest;
  guint n_detections, n_classes, n_keypoints;
  SlDetection detections[SL_MAX_RESULTS];
  SlClass classes[SL_MAX_RESULTS];
  SlDetectedPoint keypoints[SL_MAX_RESULT_KEYPOINTS];
  const SlSkeleton *skeleton;  /* (nullable): of all keypoints */
  const SlInstanceMask *masks; /* (nullable): one a detection */
  SlClassMask mask;
  SlPicture picture;
  SlVector vector;
  SlOutputs outputs;
} SlResult;

/** The 17 points of COCO's persons, and the 5 of face detectors (eyes, nose, corners of the mouth). */
extern const SlSkeleton sl_skeleton_person;
extern const SlSkeleton sl_skeleton_face;
/** Points of MediaPipe's detectors: of a face, of a palm, and two pairs that say where a person is and how it is turned. */
extern const SlSkeleton sl_skeleton_face_and_ears;
extern const SlSkeleton sl_skeleton_palm;
extern const SlSkeleton sl_skeleton_alignment;
/** The 21 points of a hand, four a finger from the palm to the tip. */
extern const SlSkeleton sl_skeleton_hand;
/** The corners of a box that is turned, around it. */
extern const SlSkeleton sl_skeleton_corners;
/** The middle and the 8 corners of a box in space as they appear in the picture, and its 12 edges. */
extern const SlSkeleton sl_skeleton_cuboid;

G_END_DECLS

#endif
