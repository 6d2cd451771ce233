/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Objects and labels are held in bounded heaps, so that a frame costs the same memory whatever is
 * given. */
#include "postprocess/collector.h"

#include <math.h>
#include <string.h>

#define OVERLAP 0.5
#define MAX_VALUES 65536
#define MAX_CELLS (1u << 26)
#define MAX_CLASSES 1000000
/* Objects of a frame that are held, the best of all. */
#define MAX_OBJECTS 2048

gboolean
sl_collector_init (SlCollector *self, const SlDecoderConfig *config, const SlSkeleton *skeleton,
                   gboolean suppress, GError **error)
{
  const guint most = MAX (MAX_OBJECTS, config->max_results);
  *self = (SlCollector){ .threshold = config->threshold, .suppress = suppress };
  if (!sl_detector_init (&self->detector, config, most, NULL, OVERLAP, error))
    return FALSE;
  if (skeleton != NULL && skeleton->n_points > 0) {
    self->skeleton = *skeleton;
    self->points = g_new (SlDetectedPoint, (gsize) most * skeleton->n_points);
  }
  self->boxes = g_new (SlDetection, most);
  self->has_points = g_new (gboolean, most);
  self->labels.capacity = config->max_results;
  self->labels.items = g_new (SlRanked, config->max_results);
  self->values = g_new (gfloat, MAX_VALUES);
  return TRUE;
}

void
sl_collector_clear (SlCollector *self)
{
  sl_detector_clear (&self->detector);
  g_clear_pointer (&self->boxes, g_free);
  g_clear_pointer (&self->points, g_free);
  g_clear_pointer (&self->has_points, g_free);
  g_clear_pointer (&self->labels.items, g_free);
  g_clear_pointer (&self->values, g_free);
  g_clear_pointer (&self->cells, g_free);
}

void
sl_collector_begin (SlCollector *self, SlResult *result)
{
  self->result = result;
  self->detector.top.count = 0;
  self->detector.n_candidates = 0;
  self->labels.count = 0;
}

/* Room for an entry of @confidence: its place in arrays beside @top, -1 when the entries held are
 * better. */
static gint
take_place (SlTopK *top, gfloat confidence)
{
  const gboolean full = top->count == top->capacity;
  if (full && confidence <= top->items[0].key)
    return -1;
  const guint place = full ? top->items[0].index : top->count;
  sl_top_k_push (top, confidence, place);
  return (gint) place;
}

static gboolean
counts (const SlCollector *self, gint32 class_id, gfloat confidence)
{
  return isfinite (confidence) && confidence >= self->threshold && class_id >= 0
         && class_id < MAX_CLASSES;
}

void
sl_collector_add_object (SlCollector *self, const SlDetection *box, const SlDetectedPoint *points)
{
  const guint n = self->skeleton.n_points;
  if (!counts (self, box->label_id, box->confidence)
      || !isfinite (box->x_min + box->y_min + box->x_max + box->y_max) || !(box->x_max > box->x_min)
      || !(box->y_max > box->y_min))
    return;
  const gint place = take_place (&self->detector.top, MIN (box->confidence, 1));
  if (place < 0)
    return;
  self->boxes[place] = *box;
  self->has_points[place] = points != NULL && n > 0;
  if (self->has_points[place])
    memcpy (&self->points[(gsize) place * n], points, n * sizeof *points);
}

void
sl_collector_add_label (SlCollector *self, gint32 class_id, gfloat confidence)
{
  if (!counts (self, class_id, confidence))
    return;
  const gint place = take_place (&self->labels, MIN (confidence, 1));
  if (place >= 0)
    self->result->classes[place].label_id = class_id;
}

void
sl_collector_set_values (SlCollector *self, const gfloat *values, guint n, gboolean is_embedding)
{
  if (n == 0 || n > MAX_VALUES)
    return;
  for (guint i = 0; i < n; i++)
    if (!isfinite (values[i]))
      return;
  memcpy (self->values, values, n * sizeof *values);
  self->result->vector = (SlVector){ .n = n, .values = self->values, .is_embedding = is_embedding };
}

void
sl_collector_set_map (SlCollector *self, const guint8 *classes, guint width, guint height,
                      gint background)
{
  const guint64 n = (guint64) width * height;
  if (n == 0 || n > MAX_CELLS)
    return;
  if (n > self->n_cells) {
    g_free (self->cells);
    self->cells = g_malloc (n);
    self->n_cells = n;
  }
  memcpy (self->cells, classes, n);
  self->result->mask =
    (SlClassMask){ .width = width,
                   .height = height,
                   .classes = self->cells,
                   .background =
                     background >= 0 && background < SL_MASK_VOID ? background : SL_NO_BACKGROUND };
}

static void
add_points (const SlCollector *self, guint place, SlDetection *found)
{
  const guint n = self->skeleton.n_points;
  SlDetectedPoint *out =
    self->has_points[place] ? sl_result_add_keypoints (self->result, found, n) : NULL;
  for (guint k = 0; k < n && out != NULL; k++) {
    const SlDetectedPoint *point = &self->points[(gsize) place * n + k];
    const gboolean is_there = isfinite (point->x) && isfinite (point->y) && point->confidence >= 0;
    out[k] = is_there ? (SlDetectedPoint){ point->x, point->y, MIN (point->confidence, 1) }
                      : (SlDetectedPoint){ 0, 0, 0 };
  }
}

/* Labels in order; a label's class is at its place until then. */
static void
finish_labels (SlCollector *self)
{
  SlTopK *top = &self->labels;
  SlResult *result = self->result;
  for (guint i = 0; i < top->count; i++)
    top->items[i].index = (guint32) result->classes[top->items[i].index].label_id;
  sl_top_k_sort (top);
  for (guint i = 0; i < top->count; i++)
    result->classes[i] = (SlClass){ (gint32) top->items[i].index, top->items[i].key };
  result->n_classes = top->count;
}

void
sl_collector_finish (SlCollector *self)
{
  SlDetector *detector = &self->detector;
  SlResult *result = self->result;
  sl_top_k_sort (&detector->top);
  for (guint i = 0; i < detector->top.count; i++) {
    const guint place = detector->top.items[i].index;
    const SlDetection *box = &self->boxes[place];
    const gfloat corners[4] = { box->x_min, box->y_min, box->x_max, box->y_max };
    sl_detector_add (detector, corners, box->confidence, box->label_id, place);
  }
  sl_detector_finish (detector, self->suppress, result);
  for (guint i = 0; i < result->n_detections; i++)
    add_points (self, detector->origins[detector->kept[i]], &result->detections[i]);
  result->skeleton = result->n_keypoints > 0 ? &self->skeleton : NULL;
  finish_labels (self);
}
