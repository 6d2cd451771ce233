/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Collects the output of decoders from plug-ins: any number of objects and labels, in any order and
 * with any values. The best become the result. The detector of the built-in box decoders selects
 * them. The calls for a frame are
 *
 *   sl_collector_begin() -> sl_collector_add_object() and others -> sl_collector_finish()
 */
#pragma once

#include "postprocess/detector.h"

/** SlCollector: allocated by sl_collector_init(), but for the map, which grows. */
typedef struct
{
  /*< private >*/
  SlDetector detector;
  gfloat threshold;
  SlSkeleton skeleton;
  gboolean suppress;
  SlDetection *boxes;      /* one an entry of the detector's top */
  SlDetectedPoint *points; /* (nullable): those of each box */
  gboolean *has_points;
  SlTopK labels;
  gfloat *values;
  guint8 *cells; /* (nullable) */
  gsize n_cells;
  SlResult *result; /* of the frame */
} SlCollector;

/** sl_collector_init: @skeleton: (nullable): skeleton of the keypoints of each object. @suppress:
 * whether objects that overlap a better one of their class are removed. FALSE with @error set; call
 * sl_collector_clear() then, too */
gboolean sl_collector_init (SlCollector *self, const SlDecoderConfig *config,
                            const SlSkeleton *skeleton, gboolean suppress, GError **error);
/** sl_collector_clear: also for a zeroed struct. */
void sl_collector_clear (SlCollector *self);
void sl_collector_begin (SlCollector *self, SlResult *result);
/** sl_collector_add_object: adds an object. It is left out with non-finite values, without area,
 * below the threshold or with an invalid class.
 *  @points: (nullable): as many points as the skeleton has */
void sl_collector_add_object (SlCollector *self, const SlDetection *box,
                              const SlDetectedPoint *points);
/** sl_collector_add_label: adds a label of the whole picture, by the same rules. */
void sl_collector_add_label (SlCollector *self, gint32 class_id, gfloat confidence);
/** sl_collector_set_values: copies @n numbers; ignored with @n 0 or above 65536. */
void sl_collector_set_values (SlCollector *self, const gfloat *values, guint n,
                              gboolean is_embedding);
/** sl_collector_set_map: copies a class for each cell; ignored without cells or with more than 2^26
 * cells. */
void sl_collector_set_map (SlCollector *self, const guint8 *classes, guint width, guint height,
                           gint background);
void sl_collector_finish (SlCollector *self);
