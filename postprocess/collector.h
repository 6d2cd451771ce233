/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * What decoders from outside of the tree give: any number of objects and labels, in any order and with any numbers. The best become the
 * result, through the detector that the table's own box decoders use. A frame goes
 *
 *   sl_collector_begin() -> sl_collector_add_object() and others -> sl_collector_finish()
 */
#ifndef SL_POSTPROCESS_COLLECTOR_H
#define SL_POSTPROCESS_COLLECTOR_H

#include "postprocess/detector.h"

G_BEGIN_DECLS

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

/** sl_collector_init: @skeleton: (nullable): of the keypoints of each object. @suppress: whether objects that overlap a better one of their class
 *  are left out. FALSE: sl_collector_clear() it all the same */
gboolean sl_collector_init (SlCollector *self, const SlDecoderConfig *config, const SlSkeleton *skeleton, gboolean suppress,
                            GError **error);
/** sl_collector_clear: also for a zeroed struct. */
void sl_collector_clear (SlCollector *self);
void sl_collector_begin (SlCollector *self, SlResult *result);
/** sl_collector_add_object: one whose numbers are not finite, without area, below the threshold or of no class is left out. @points:
 *  (nullable): as many as the skeleton has */
void sl_collector_add_object (SlCollector *self, const SlDetection *box, const SlDetectedPoint *points);
/** sl_collector_add_label: likewise, of the whole picture. */
void sl_collector_add_label (SlCollector *self, gint32 class_id, gfloat confidence);
/** sl_collector_set_values: copies @n numbers; none or more than 65536 are left out. */
void sl_collector_set_values (SlCollector *self, const gfloat *values, guint n, gboolean is_embedding);
/** sl_collector_set_map: copies a class for each cell; of no size or of more than 2^26 cells it is left out. */
void sl_collector_set_map (SlCollector *self, const guint8 *classes, guint width, guint height, gint background);
void sl_collector_finish (SlCollector *self);

G_END_DECLS

#endif
