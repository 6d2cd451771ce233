/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a decoder makes of tensors: boxes and whole-picture classes, in coordinates of the model's input
 * (0..1 over its width and height). Mapping to the frame is the caller's.
 */
#ifndef SL_POSTPROCESS_RESULT_H
#define SL_POSTPROCESS_RESULT_H

#include <glib.h>

G_BEGIN_DECLS

/** Most detections and most classes one result holds. */
#define SL_MAX_RESULTS 1000

/** A box; corners in 0..1 of the model's input, not clipped. */
typedef struct
{
  gfloat x_min, y_min, x_max, y_max;
  gfloat confidence;
  gint32 label_id;
} SlDetection;

typedef struct
{
  gint32 label_id;
  gfloat confidence;
} SlClass;

/** Filled by a decoder, best first; the arrays are allocated once and reused for every frame. */
typedef struct
{
  guint n_detections, n_classes;
  SlDetection detections[SL_MAX_RESULTS];
  SlClass classes[SL_MAX_RESULTS];
} SlResult;

G_END_DECLS

#endif
