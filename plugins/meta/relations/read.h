/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a frame's GstAnalyticsRelationMeta, written by any element: object detections and the
 * entries related to them. Without gstreamer-analytics a frame has no such meta.
 */
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include "postprocess/predictions/prediction.h"

/** Edges of a box may differ by so many pixels from the edges of its region: elements that scale a
 * frame round the two differently. */
#define SL_RELATED_SLACK 2

/** Of one frame, this many object detections and this many entries of any kind are read. */
#define SL_MAX_RELATED_OBJECTS 1024
#define SL_MAX_RELATED_ENTRIES 4096
/** Of an object, and of the frame itself, this many labels of classifications are taken. */
#define SL_MAX_RELATED_LABELS 32

/** An object detection: @box is x0, y0, x1, y1 in pixels, around it when it is turned, anywhere;
 * @confidence 0..1; @parent: the one that contains it: 1 + its place; 0 = none; @region: a region
 * stands for the same object; @turned: the box is turned, and has
 * these @corners in pixels, in their order around it; @place: for the reader */
typedef struct
{
  guint id;
  const char *label;
  double box[4];
  double confidence;
  gboolean turned;
  double corners[4][2];
  guint parent;
  gboolean region;
  guint place;
} SlRelatedObject;

typedef struct _SlRelated SlRelated;

SlRelated *sl_related_new (void);
/** sl_related_free: NULL is legal. */
void sl_related_free (SlRelated *related);
/** sl_related_list: reads @buffer, a frame of @width x @height; what was read before is forgotten.
 * Returns how many objects there are. */
guint sl_related_list (SlRelated *related, GstBuffer *buffer, gint width, gint height);
/** sl_related_object: (transfer none): the @i-th. */
SlRelatedObject *sl_related_object (SlRelated *related, guint i);
/** sl_related_claim: (transfer none) (nullable): the object that @region stands for, too: of its
 * type, and at its place but for rounding, all of it or what of it is inside the frame. It is
 * nobody else's then. */
SlRelatedObject *sl_related_claim (SlRelated *related, const GstVideoRegionOfInterestMeta *region);
/** sl_related_id: the id of the tracking that was related last to @object; 0 = none, or none
 * of 1..G_MAXINT32. */
gint32 sl_related_id (SlRelated *related, const SlRelatedObject *object);
/** sl_related_labels: appends to @labels (of SlLabelled), best first, those of classifications
 * related to @object; NULL = to no object. Those whose label is there from @first on are left out,
 * and those beyond SL_MAX_RELATED_LABELS, or beyond what may be looked at in a frame. */
void sl_related_labels (SlRelated *related, const SlRelatedObject *object, GArray *labels,
                        guint first);
/** sl_related_mask: appends to @cells the mask of @object, read as @view, whose box is set; FALSE
 * when no segmentation is about it alone. */
gboolean sl_related_mask (SlRelated *related, const SlRelatedObject *object,
                          const SlObjectView *view, GByteArray *cells, SlObjectMask *mask);
/** sl_related_frame_mask: as sl_segmentation_read_frame() does it, of the first segmentation that
 * is about no object; FALSE when there is none. */
gboolean sl_related_frame_mask (SlRelated *related, gint width, gint height, GByteArray *cells,
                                SlClassMask *mask, const char **names);

struct _GstAnalyticsMtd;
/** sl_related_read_box: x0, y0, x1, y1 of an object detection, around it when it is turned, and its
 * confidence 0..1; FALSE when it is none or has no size. Only with gstreamer-analytics. */
gboolean sl_related_read_box (const struct _GstAnalyticsMtd *object, double box[4],
                              double *confidence);
/** sl_buffer_has_related: whether the frame @buffer has something that the functions above read; an
 * object if @objects. */
gboolean sl_buffer_has_related (GstBuffer *buffer, gboolean objects);
/** sl_buffer_has_none_related: whether the frame @buffer has a meta for relations with nothing in
 * it, which says that who looked for objects found none. */
gboolean sl_buffer_has_none_related (GstBuffer *buffer);
/** sl_buffer_find_related: FALSE when @buffer, a frame of @width x @height, has no object detection
 * that @region stands for, too; else @id is its id. */
gboolean sl_buffer_find_related (GstBuffer *buffer, gint width, gint height,
                                 const GstVideoRegionOfInterestMeta *region, guint *id);
