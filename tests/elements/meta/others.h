/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Metas that others wrote, as the test files others*.c make them, and what is read from them.
 */
#ifndef SL_TESTS_ELEMENTS_META_OTHERS_H
#define SL_TESTS_ELEMENTS_META_OTHERS_H

#include "config.h"

#include "tests/elements/support.h"
#ifdef SL_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#define OTHERS_WIDTH 64
#define OTHERS_HEIGHT 48
#define OTHERS_CAPS "video/x-raw,format=I420,width=64,height=48,framerate=25/1"
#define OTHERS_PREFIX \
  "{\"source\":null,\"frame\":0,\"timestamp\":0,\"resolution\":{\"width\":64,\"height\":48},"
/* An object's JSON up to its detection's end. */
#define OTHERS_OBJECT(place, type, id, edges, sure, label_id)                          \
  "{" place ",\"roi_type\":\"" type "\"," id "\"detection\":{\"bounding_box\":{" edges \
  "},\"confidence\":" sure ",\"label\":\"" type "\",\"label_id\":" label_id "}"

/** test_others_frame: a frame of OTHERS_CAPS. */
GstBuffer *test_others_frame (GstClockTime pts);
/** test_others_json: what is read from @buffer, as JSON; all of it is inside the frame. */
char *test_others_json (GstBuffer *buffer);
/** test_others_count: the number of objects that are read from @buffer. */
guint test_others_count (GstBuffer *buffer);
/** test_others_add_region: the region x, y, w, h of a "thing", and its detection. @edges: x_min
 * y_min x_max y_max of 0..1 */
void test_others_add_region (GstBuffer *buffer, guint x, guint y, guint w, guint h,
                             const double edges[4], double confidence);
/** test_others_through_all: copies of @frame go through every element that reads metas, in a row.
 */
void test_others_through_all (GstBuffer *frame);
#ifdef SL_HAVE_ANALYTICS
/** test_others_relate: adds an object detection; its id. */
guint test_others_relate (GstBuffer *frame, const char *type, gint x, gint y, gint w, gint h,
                          gfloat confidence);
/** test_others_relate_label: adds a classification, related to @object unless @type is none; its
 * id. @back: the relation goes from the classification to the object. */
guint test_others_relate_label (GstBuffer *frame, guint object, GstAnalyticsRelTypes type,
                                gboolean back, const char *label, gfloat confidence);
/** test_others_relate_id: adds the tracking @id of @object. */
void test_others_relate_id (GstBuffer *frame, guint object, guint64 id);
#endif

#endif
