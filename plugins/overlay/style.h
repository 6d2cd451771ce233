/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What sloverlay draws, and how: one row of SL_DRAW_STYLES a property, of which the element makes
 * its table of properties and SlDrawStyle its members.
 */
#pragma once

#include <glib.h>

/* X (kind of plugins/base/properties.h, member, name, nick, help, minimum, maximum, default). */
#define SL_DRAW_STYLES(X)                                                                          \
  X (BOOL, boxes, "boxes", "Boxes", "Draw a box around each object", 0, 0, TRUE)                   \
  X (BOOL, labels, "labels", "Labels",                                                             \
     "Write the name of each object, of the whole picture's labels and of the mask's classes", 0,  \
     0, TRUE)                                                                                      \
  X (BOOL, scores, "scores", "Scores", "Write confidences after names", 0, 0, TRUE)                \
  X (BOOL, ids, "ids", "Ids", "Write the ids of tracked objects after their names", 0, 0, TRUE)    \
  X (BOOL, by_id, "colour-by-id", "Colour by id",                                                  \
     "Give each tracked object a colour of its own, by its id, in place of its class's", 0, 0,     \
     FALSE)                                                                                        \
  X (BOOL, masks, "masks", "Masks", "Draw segmentation masks and masks of objects in colour", 0,   \
     0, TRUE)                                                                                      \
  X (BOOL, keypoints, "keypoints", "Keypoints", "Draw keypoints and the bones between them", 0, 0, \
     TRUE)                                                                                         \
  X (BOOL, regions, "regions", "Regions", "Draw slanalyze's zones and lines with their counts", 0, \
     0, TRUE)                                                                                      \
  X (BOOL, heat, "heat-map", "Heat map", "Draw the heat map of slanalyze", 0, 0, TRUE)             \
  X (BOOL, stats, "stats", "Statistics",                                                           \
     "Write frames per second, and the time since capture if it is known, in the top right "       \
     "corner",                                                                                     \
     0, 0, FALSE)                                                                                  \
  X (DOUBLE, opacity, "mask-opacity", "Opacity of masks", "Opacity of masks and heat maps, 0..1",  \
     0, 1, 0.5)                                                                                    \
  X (DOUBLE, point_threshold, "point-threshold", "Point threshold",                                \
     "Least confidence of drawn keypoints, 0..1", 0, 1, 0.2)                                       \
  X (DOUBLE, threshold, "threshold", "Threshold",                                                  \
     "Least confidence of drawn objects, 0..1; objects without a confidence are always drawn", 0,  \
     1, 0)                                                                                         \
  X (INT, thickness, "thickness", "Thickness",                                                     \
     "Thickness of lines in pixels; 0 = by the size of the frame", 0, 64, 0)                       \
  X (INT, font_size, "font-size", "Font size",                                                     \
     "Height of letters in pixels; 0 = by the size of the frame", 0, 256, 0)

#define SL_DRAW_STYLE_BOOL gboolean
#define SL_DRAW_STYLE_DOUBLE double
#define SL_DRAW_STYLE_INT gint
#define SL_DRAW_STYLE_MEMBER(kind, member, name, nick, help, minimum, maximum, initial) \
  SL_DRAW_STYLE_##kind member;

/** SlDrawStyle: a member for each row. */
typedef struct
{
  SL_DRAW_STYLES (SL_DRAW_STYLE_MEMBER)
} SlDrawStyle;

#undef SL_DRAW_STYLE_MEMBER
