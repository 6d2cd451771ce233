/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Results mapped through the frame's affine, clipped, rounded and named. */
#include "postprocess/predictions/mapper.h"

#include <math.h>

#include "postprocess/predictions/class_mask_map.h"
#include "postprocess/predictions/object_mask_map.h"

/* Pixels by which an edge may miss a whole number and still count as on it: floats of a box are
 * this coarse. */
#define EDGE_SLACK 1e-3
/* Class numbers up to here are names of their own; beyond, a broken tensor could make up names
 * without end. */
#define MAX_NUMBERED 65535

struct _SlPredictionMapper
{
  SlObjectView objects[SL_MAX_RESULTS];
  SlLabelled labels[SL_MAX_RESULTS];
  SlPoint points[SL_MAX_RESULT_KEYPOINTS];
  SlMaskClass mask_classes[256];
  char object_numbers[SL_MAX_RESULTS][8];
  char label_numbers[SL_MAX_RESULTS][8];
  char mask_numbers[256][8];
  SlClassMaskMap *mask;
  SlObjectMaskMap object_masks;
  const SlClassFilter *classes; /* (nullable) */
  guint most;
};

SlPredictionMapper *
sl_prediction_mapper_new (void)
{
  SlPredictionMapper *mapper = g_new0 (SlPredictionMapper, 1);
  mapper->mask = sl_class_mask_map_new ();
  mapper->most = SL_MAX_RESULTS;
  return mapper;
}

void
sl_prediction_mapper_choose (SlPredictionMapper *mapper, const SlClassFilter *classes, guint most)
{
  mapper->classes = classes;
  mapper->most = MIN (most, SL_MAX_RESULTS);
}

void
sl_prediction_mapper_free (SlPredictionMapper *mapper)
{
  if (mapper == NULL)
    return;
  sl_class_mask_map_free (mapper->mask);
  sl_object_mask_map_clear (&mapper->object_masks);
  g_free (mapper);
}

static const char *
name_class (const SlLabels *labels, const char *const *names, gint32 id, char number[8])
{
  const char *name = labels != NULL && id >= 0 ? sl_labels_get (labels, (guint) id) : NULL;
  if (labels == NULL && names != NULL && id >= 0 && (guint) id < g_strv_length ((char **) names))
    name = names[id];
  if (name != NULL)
    return name;
  if (id < 0 || id > MAX_NUMBERED)
    return "unknown";
  g_snprintf (number, 8, "%d", id);
  return number;
}

/* Smallest whole-pixel interval around [low, high], which lies inside [0, size]. */
static void
whole_pixels (double low, double high, gint size, gint *start, gint *length)
{
  gint first = (gint) floor (low + EDGE_SLACK);
  gint end = (gint) ceil (high - EDGE_SLACK);
  first = CLAMP (first, 0, size - 1);
  *start = first;
  *length = CLAMP (end, first + 1, size) - first;
}

/* FALSE when nothing of the box is inside the frame, or a corner is not a number. */
static gboolean
map_box (const SlDetection *box, const SlFrameGeometry *geometry, SlObjectView *object)
{
  const double in[4] = { box->x_min * (double) geometry->tensor_width,
                         box->y_min * (double) geometry->tensor_height,
                         box->x_max * (double) geometry->tensor_width,
                         box->y_max * (double) geometry->tensor_height };
  double out[4];
  for (guint i = 0; i < 4; i++)
    if (!isfinite (in[i]))
      return FALSE;
  sl_affine_box (&geometry->affine, in, out);
  double left = fmax (out[0], 0), top = fmax (out[1], 0);
  double right = fmin (out[2], geometry->frame_width),
         bottom = fmin (out[3], geometry->frame_height);
  if (!(box->x_max > box->x_min) || !(box->y_max > box->y_min) || !(right > left)
      || !(bottom > top))
    return FALSE;
  whole_pixels (left, right, geometry->frame_width, &object->x, &object->w);
  whole_pixels (top, bottom, geometry->frame_height, &object->y, &object->h);
  object->x_min = left / geometry->frame_width;
  object->x_max = right / geometry->frame_width;
  object->y_min = top / geometry->frame_height;
  object->y_max = bottom / geometry->frame_height;
  return TRUE;
}

/* The keypoints of @box, in the frame. */
static void
map_points (SlPredictionMapper *mapper, const SlResult *result, const SlDetection *box,
            const SlFrameGeometry *geometry, SlObjectView *object)
{
  object->n_points = box->n_keypoints;
  object->points = &mapper->points[box->first_keypoint];
  for (guint i = 0; i < box->n_keypoints; i++) {
    const SlDetectedPoint *from = &result->keypoints[box->first_keypoint + i];
    SlPoint *to = &mapper->points[box->first_keypoint + i];
    sl_affine_apply (&geometry->affine, from->x * (double) geometry->tensor_width,
                     from->y * (double) geometry->tensor_height, &to->x, &to->y);
    to->x /= geometry->frame_width;
    to->y /= geometry->frame_height;
    to->confidence = from->confidence;
  }
}

static void
map_mask (SlPredictionMapper *mapper, const SlResult *result, const SlLabels *labels,
          const char *const *names, const SlFrameGeometry *geometry, SlPredictionView *prediction)
{
  guint32 cells[256];
  guint n = 0;
  sl_class_mask_map_run (mapper->mask, &result->mask, geometry, &prediction->mask, cells);
  const double total = (double) prediction->mask.width * prediction->mask.height;
  for (guint i = 0; i < SL_MASK_VOID && prediction->mask.width > 0; i++) {
    if (cells[i] == 0)
      continue;
    const SlMaskClass found = { (gint32) i,
                                name_class (labels, names, (gint32) i, mapper->mask_numbers[i]),
                                cells[i] / total };
    guint at = n++;
    for (; at > 0 && mapper->mask_classes[at - 1].fraction < found.fraction; at--)
      mapper->mask_classes[at] = mapper->mask_classes[at - 1];
    mapper->mask_classes[at] = found;
  }
  prediction->n_mask_classes = n;
  prediction->mask_classes = mapper->mask_classes;
}

/* Labels of the whole picture that count, at most @most; returns how many. */
static guint
name_labels (SlPredictionMapper *mapper, const SlResult *result, const SlLabels *labels,
             const char *const *names, guint most)
{
  guint n = 0;
  for (guint i = 0; i < MIN (result->n_classes, SL_MAX_RESULTS) && n < most; i++) {
    const SlClass *found = &result->classes[i];
    const char *label = found->text != NULL
                          ? found->text
                          : name_class (labels, names, found->label_id, mapper->label_numbers[n]);
    if (found->text != NULL || sl_class_filter_passes (mapper->classes, label))
      mapper->labels[n++] = (SlLabelled){ .label_id = found->label_id,
                                          .confidence = found->confidence,
                                          .label = label,
                                          .n_shares = found->n_shares,
                                          .shares = found->shares };
  }
  return n;
}

void
sl_prediction_mapper_fill (SlPredictionMapper *mapper, const SlResult *result,
                           const SlLabels *labels, const char *const *names,
                           const SlFrameGeometry *geometry, guint max_labels,
                           SlPredictionView *prediction)
{
  guint n = 0;
  mapper->object_masks.used = 0;
  for (guint i = 0; i < MIN (result->n_detections, SL_MAX_RESULTS) && n < mapper->most; i++) {
    const SlDetection *box = &result->detections[i];
    SlObjectView *object = &mapper->objects[n];
    const char *label = name_class (labels, names, box->label_id, mapper->object_numbers[n]);
    if (!sl_class_filter_passes (mapper->classes, label) || !map_box (box, geometry, object))
      continue;
    object->confidence = box->confidence;
    object->label_id = box->label_id;
    object->label = label;
    map_points (mapper, result, box, geometry, object);
    object->skeleton = NULL;
    object->mask = (SlObjectMask){ 0 };
    if (result->masks != NULL)
      sl_object_mask_map_run (&mapper->object_masks, &result->masks[i], box, geometry, object,
                              &object->mask);
    n++;
  }
  prediction->width = geometry->frame_width;
  prediction->height = geometry->frame_height;
  prediction->n_objects = n;
  prediction->objects = mapper->objects;
  prediction->n_labels = name_labels (mapper, result, labels, names, max_labels);
  prediction->labels = mapper->labels;
  prediction->skeleton = result->skeleton;
  prediction->vector = result->vector;
  prediction->outputs = result->outputs;
  map_mask (mapper, result, labels, names, geometry, prediction);
}
