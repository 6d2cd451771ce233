/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A frame's predictions, copied out of the memory that the next frame overwrites. Everything lies in one arena, so a copy costs
 * a handful of allocations however many objects there are; the mask is a GBytes of its own, to be handed on.
 */
#include "predict/predictions_private.h"

#include <string.h>

#include "core/graph/arena.h"

struct _SlPredictions
{
  gatomicrefcount refs;
  SlArena *arena;
  GBytes *mask; /* (nullable) */
  SlLatency latency;
  SlSkeleton skeleton;
  SlPredictionView value; /* points into all of the above */
};

G_DEFINE_BOXED_TYPE (SlPredictions, sl_predictions, sl_predictions_ref, sl_predictions_unref)

static void *
copy (SlPredictions *self, const void *data, guint n, gsize size)
{
  return n > 0 ? sl_arena_memdup (self->arena, data, n * size) : NULL;
}

static SlLabelled *
copy_labels (SlPredictions *self, const SlLabelled *from, guint n)
{
  SlLabelled *labels = copy (self, from, n, sizeof *from);
  for (guint i = 0; i < n; i++) {
    labels[i].label = sl_arena_strdup (self->arena, from[i].label);
    labels[i].model = from[i].model != NULL ? sl_arena_strdup (self->arena, from[i].model) : NULL;
  }
  return labels;
}

static void
copy_objects (SlPredictions *self, const SlPredictionView *from)
{
  SlObjectView *objects = sl_arena_alloc (self->arena, from->n_objects * sizeof *objects);
  for (guint i = 0; i < from->n_objects; i++) {
    const SlObjectView *object = &from->objects[i];
    objects[i] = (SlObjectView){ .x = object->x,
                                 .y = object->y,
                                 .w = object->w,
                                 .h = object->h,
                                 .x_min = object->x_min,
                                 .y_min = object->y_min,
                                 .x_max = object->x_max,
                                 .y_max = object->y_max,
                                 .confidence = object->confidence,
                                 .label_id = object->label_id,
                                 .label = sl_arena_strdup (self->arena, object->label),
                                 .object_id = object->object_id,
                                 .tracked_since = object->tracked_since,
                                 .mask = { object->mask.width, object->mask.height,
                                           copy (self, object->mask.cells, object->mask.width * object->mask.height, 1) },
                                 .n_labels = object->n_labels,
                                 .labels = copy_labels (self, object->labels, object->n_labels),
                                 .parent = object->parent,
                                 .n_points = object->n_points,
                                 .points = copy (self, object->points, object->n_points, sizeof *object->points) };
  }
  self->value.objects = objects;
}

static void
copy_skeleton (SlPredictions *self, const SlSkeleton *from)
{
  const char **names = sl_arena_alloc (self->arena, from->n_points * sizeof *names);
  for (guint i = 0; i < from->n_points; i++)
    names[i] = from->names[i] != NULL ? sl_arena_strdup (self->arena, from->names[i]) : NULL;
  self->skeleton = *from;
  self->skeleton.names = names;
  self->skeleton.bones = copy (self, from->bones, from->n_bones, sizeof *from->bones);
  self->value.skeleton = &self->skeleton;
}

static void
copy_mask (SlPredictions *self, const SlPredictionView *from)
{
  SlMaskClass *classes = copy (self, from->mask_classes, from->n_mask_classes, sizeof *from->mask_classes);
  for (guint i = 0; i < from->n_mask_classes; i++)
    classes[i].label = sl_arena_strdup (self->arena, from->mask_classes[i].label);
  self->mask = g_bytes_new (from->mask.classes, (gsize) from->mask.width * from->mask.height);
  self->value.mask.classes = g_bytes_get_data (self->mask, NULL);
  self->value.mask_classes = classes;
}

SlPredictions *
sl_predictions_new (const SlPredictionView *prediction)
{
  g_return_val_if_fail (prediction != NULL, NULL);
  SlPredictions *self = g_new0 (SlPredictions, 1);
  g_atomic_ref_count_init (&self->refs);
  self->arena = sl_arena_new ();
  self->value = *prediction;
  self->value.source = prediction->source != NULL ? sl_arena_strdup (self->arena, prediction->source) : NULL;
  copy_objects (self, prediction);
  self->value.labels = copy_labels (self, prediction->labels, prediction->n_labels);
  if (prediction->skeleton != NULL)
    copy_skeleton (self, prediction->skeleton);
  if (prediction->mask.width > 0)
    copy_mask (self, prediction);
  if (prediction->latency != NULL) {
    self->latency = *prediction->latency;
    self->value.latency = &self->latency;
  }
  return self;
}

/**
 * sl_predictions_ref:
 * @predictions: predictions
 *
 * Returns: (transfer full): @predictions
 */
SlPredictions *
sl_predictions_ref (SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, NULL);
  g_atomic_ref_count_inc (&predictions->refs);
  return predictions;
}

/**
 * sl_predictions_unref:
 * @predictions: (transfer full): predictions
 */
void
sl_predictions_unref (SlPredictions *predictions)
{
  g_return_if_fail (predictions != NULL);
  if (!g_atomic_ref_count_dec (&predictions->refs))
    return;
  g_clear_pointer (&predictions->mask, g_bytes_unref);
  sl_arena_free (predictions->arena);
  g_free (predictions);
}

/**
 * sl_predictions_get_source:
 * @predictions: predictions
 *
 * Returns: (transfer none) (nullable): where the frame came from, where something said so: slpostprocess' source property
 */
const char *
sl_predictions_get_source (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, NULL);
  return predictions->value.source;
}

/**
 * sl_predictions_get_frame_number:
 * @predictions: predictions
 *
 * Returns: how many frames were predicted on before this one
 */
guint64
sl_predictions_get_frame_number (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, 0);
  return predictions->value.frame;
}

/**
 * sl_predictions_get_timestamp:
 * @predictions: predictions
 *
 * Returns: nanoseconds of stream time of the frame, %G_MAXUINT64 = unknown
 */
guint64
sl_predictions_get_timestamp (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, G_MAXUINT64);
  return predictions->value.timestamp;
}

/**
 * sl_predictions_get_width:
 * @predictions: predictions
 *
 * Returns: width of the frame in pixels
 */
guint
sl_predictions_get_width (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, 0);
  return (guint) predictions->value.width;
}

/**
 * sl_predictions_get_height:
 * @predictions: predictions
 *
 * Returns: height of the frame in pixels
 */
guint
sl_predictions_get_height (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, 0);
  return (guint) predictions->value.height;
}

static void
set_time (gint64 *out, gint64 value)
{
  if (out != NULL)
    *out = value;
}

/**
 * sl_predictions_get_latency:
 * @predictions: predictions
 * @age: (out) (optional): microseconds from the frame's arrival to these predictions
 * @preprocess: (out) (optional): microseconds of that in which the model's input was made, without waiting
 * @inference: (out) (optional): microseconds that the model took, with waiting
 * @decode: (out) (optional): microseconds that its outputs took to decode, with waiting
 *
 * A time that is not known is -1.
 *
 * Returns: %FALSE when nothing is known of the times
 */
gboolean
sl_predictions_get_latency (const SlPredictions *predictions, gint64 *age, gint64 *preprocess, gint64 *inference, gint64 *decode)
{
  static const SlLatency unknown = { -1, -1, -1, -1 };
  g_return_val_if_fail (predictions != NULL, FALSE);
  const SlLatency *latency = predictions->value.latency != NULL ? predictions->value.latency : &unknown;
  set_time (age, latency->age);
  set_time (preprocess, latency->preprocess);
  set_time (inference, latency->inference);
  set_time (decode, latency->decode);
  return predictions->value.latency != NULL;
}

/**
 * sl_predictions_get_n_objects:
 * @predictions: predictions
 *
 * Returns: number of objects
 */
guint
sl_predictions_get_n_objects (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, 0);
  return predictions->value.n_objects;
}

static const SlObjectView *
get_object (const SlPredictions *predictions, guint object)
{
  return predictions != NULL && object < predictions->value.n_objects ? &predictions->value.objects[object] : NULL;
}

/**
 * sl_predictions_get_object_label:
 * @predictions: predictions
 * @object: 0 to sl_predictions_get_n_objects() - 1
 *
 * Returns: (transfer none): name of its class; the class's number where it has no name
 */
const char *
sl_predictions_get_object_label (const SlPredictions *predictions, guint object)
{
  const SlObjectView *found = get_object (predictions, object);
  g_return_val_if_fail (found != NULL, NULL);
  return found->label;
}

/**
 * sl_predictions_get_object_label_id:
 * @predictions: predictions
 * @object: 0 to sl_predictions_get_n_objects() - 1
 *
 * Returns: number of its class, -1 = unknown
 */
gint
sl_predictions_get_object_label_id (const SlPredictions *predictions, guint object)
{
  const SlObjectView *found = get_object (predictions, object);
  g_return_val_if_fail (found != NULL, -1);
  return found->label_id;
}

/**
 * sl_predictions_get_object_confidence:
 * @predictions: predictions
 * @object: 0 to sl_predictions_get_n_objects() - 1
 *
 * Returns: 0..1
 */
gdouble
sl_predictions_get_object_confidence (const SlPredictions *predictions, guint object)
{
  const SlObjectView *found = get_object (predictions, object);
  g_return_val_if_fail (found != NULL, 0);
  return found->confidence;
}

static void
set_number (gdouble *out, gdouble value)
{
  if (out != NULL)
    *out = value;
}

/**
 * sl_predictions_get_object_box:
 * @predictions: predictions
 * @object: 0 to sl_predictions_get_n_objects() - 1
 * @x: (out) (optional): left edge in pixels of the frame
 * @y: (out) (optional): top edge in pixels of the frame
 * @width: (out) (optional): pixels
 * @height: (out) (optional): pixels
 *
 * The box, clipped to the frame and not rounded.
 */
void
sl_predictions_get_object_box (const SlPredictions *predictions, guint object, gdouble *x, gdouble *y, gdouble *width, gdouble *height)
{
  const SlObjectView *found = get_object (predictions, object);
  g_return_if_fail (found != NULL);
  set_number (x, found->x_min * predictions->value.width);
  set_number (y, found->y_min * predictions->value.height);
  set_number (width, (found->x_max - found->x_min) * predictions->value.width);
  set_number (height, (found->y_max - found->y_min) * predictions->value.height);
}

/**
 * sl_predictions_get_object_relative_box:
 * @predictions: predictions
 * @object: 0 to sl_predictions_get_n_objects() - 1
 * @x_min: (out) (optional): left edge, 0..1 of the frame's width
 * @y_min: (out) (optional): top edge, 0..1 of the frame's height
 * @x_max: (out) (optional): right edge
 * @y_max: (out) (optional): bottom edge
 */
void
sl_predictions_get_object_relative_box (const SlPredictions *predictions, guint object, gdouble *x_min, gdouble *y_min, gdouble *x_max,
                                        gdouble *y_max)
{
  const SlObjectView *found = get_object (predictions, object);
  g_return_if_fail (found != NULL);
  set_number (x_min, found->x_min);
  set_number (y_min, found->y_min);
  set_number (x_max, found->x_max);
  set_number (y_max, found->y_max);
}

/**
 * sl_predictions_get_object_id:
 * @predictions: predictions
 * @object: 0 to sl_predictions_get_n_objects() - 1
 *
 * Returns: a number from 1 on that stays with the object from frame to frame; 0 where objects are not tracked
 */
gint
sl_predictions_get_object_id (const SlPredictions *predictions, guint object)
{
  const SlObjectView *found = get_object (predictions, object);
  g_return_val_if_fail (found != NULL, 0);
  return found->object_id;
}

/**
 * sl_predictions_get_object_mask:
 * @predictions: predictions
 * @object: 0 to sl_predictions_get_n_objects() - 1
 * @x: (out) (optional): left edge of the grid in pixels of the frame
 * @y: (out) (optional): top edge of the grid
 * @pixel_width: (out) (optional): width of the grid in pixels
 * @pixel_height: (out) (optional): height of the grid in pixels
 * @width: (out) (optional): cells in a row
 * @height: (out) (optional): rows
 *
 * Which part of its box the object is: a grid over the box's whole pixels with a byte a cell, row by row, of how sure it is that the cell
 * belongs to the object, 0..255; from 128 on it does.
 *
 * Returns: (transfer full) (nullable): @width times @height bytes, %NULL when the model makes no masks of objects
 */
GBytes *
sl_predictions_get_object_mask (const SlPredictions *predictions, guint object, gint *x, gint *y, gint *pixel_width, gint *pixel_height,
                                guint *width, guint *height)
{
  const SlObjectView *found = get_object (predictions, object);
  g_return_val_if_fail (found != NULL, NULL);
  gint *const box[] = { x, y, pixel_width, pixel_height };
  const gint values[] = { found->x, found->y, found->w, found->h };
  for (guint i = 0; i < G_N_ELEMENTS (box); i++)
    if (box[i] != NULL)
      *box[i] = values[i];
  if (width != NULL)
    *width = found->mask.width;
  if (height != NULL)
    *height = found->mask.height;
  return found->mask.width > 0 ? g_bytes_new (found->mask.cells, (gsize) found->mask.width * found->mask.height) : NULL;
}

/**
 * sl_predictions_get_object_parent:
 * @predictions: predictions
 * @object: 0 to sl_predictions_get_n_objects() - 1
 *
 * Returns: the object, of those before it, inside which a further model found this one; -1 = none
 */
gint
sl_predictions_get_object_parent (const SlPredictions *predictions, guint object)
{
  const SlObjectView *found = get_object (predictions, object);
  g_return_val_if_fail (found != NULL, -1);
  return (gint) found->parent - 1;
}

/**
 * sl_predictions_get_n_object_details:
 * @predictions: predictions
 * @object: 0 to sl_predictions_get_n_objects() - 1
 *
 * Returns: number of labels that further models gave to the object
 */
guint
sl_predictions_get_n_object_details (const SlPredictions *predictions, guint object)
{
  const SlObjectView *found = get_object (predictions, object);
  g_return_val_if_fail (found != NULL, 0);
  return found->n_labels;
}

/**
 * sl_predictions_get_object_detail:
 * @predictions: predictions
 * @object: 0 to sl_predictions_get_n_objects() - 1
 * @detail: 0 to sl_predictions_get_n_object_details() - 1
 * @label_id: (out) (optional): number of the label's class in its model, -1 = unknown
 * @confidence: (out) (optional): 0..1
 * @model: (out) (optional) (nullable) (transfer none): name of the model that gave it
 *
 * Returns: (transfer none): the label
 */
const char *
sl_predictions_get_object_detail (const SlPredictions *predictions, guint object, guint detail, gint *label_id, gdouble *confidence,
                                  const char **model)
{
  const SlObjectView *found = get_object (predictions, object);
  g_return_val_if_fail (found != NULL && detail < found->n_labels, NULL);
  if (label_id != NULL)
    *label_id = found->labels[detail].label_id;
  if (model != NULL)
    *model = found->labels[detail].model;
  set_number (confidence, found->labels[detail].confidence);
  return found->labels[detail].label;
}

/**
 * sl_predictions_get_n_keypoints:
 * @predictions: predictions
 * @object: 0 to sl_predictions_get_n_objects() - 1
 *
 * Returns: number of the object's keypoints, 0 = it has none
 */
guint
sl_predictions_get_n_keypoints (const SlPredictions *predictions, guint object)
{
  const SlObjectView *found = get_object (predictions, object);
  g_return_val_if_fail (found != NULL, 0);
  return found->n_points;
}

/**
 * sl_predictions_get_keypoint:
 * @predictions: predictions
 * @object: 0 to sl_predictions_get_n_objects() - 1
 * @keypoint: 0 to sl_predictions_get_n_keypoints() - 1
 * @x: (out) (optional): pixels of the frame; outside of it where the point lies outside
 * @y: (out) (optional): pixels of the frame
 * @confidence: (out) (optional): 0..1
 */
void
sl_predictions_get_keypoint (const SlPredictions *predictions, guint object, guint keypoint, gdouble *x, gdouble *y, gdouble *confidence)
{
  const SlObjectView *found = get_object (predictions, object);
  g_return_if_fail (found != NULL && keypoint < found->n_points);
  set_number (x, found->points[keypoint].x * predictions->value.width);
  set_number (y, found->points[keypoint].y * predictions->value.height);
  set_number (confidence, found->points[keypoint].confidence);
}

/**
 * sl_predictions_get_keypoint_name:
 * @predictions: predictions
 * @keypoint: 0 to sl_predictions_get_n_keypoints() - 1 of any object
 *
 * Returns: (transfer none) (nullable): what the point is called, such as "left_elbow"; %NULL when it has no name
 */
const char *
sl_predictions_get_keypoint_name (const SlPredictions *predictions, guint keypoint)
{
  g_return_val_if_fail (predictions != NULL, NULL);
  const SlSkeleton *skeleton = predictions->value.skeleton;
  return skeleton != NULL && keypoint < skeleton->n_points ? skeleton->names[keypoint] : NULL;
}

/**
 * sl_predictions_get_n_bones:
 * @predictions: predictions
 *
 * Returns: number of lines to draw between an object's keypoints
 */
guint
sl_predictions_get_n_bones (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, 0);
  return predictions->value.skeleton != NULL ? predictions->value.skeleton->n_bones : 0;
}

/**
 * sl_predictions_get_bone:
 * @predictions: predictions
 * @bone: 0 to sl_predictions_get_n_bones() - 1
 * @from: (out): keypoint at one end
 * @to: (out): keypoint at the other end
 */
void
sl_predictions_get_bone (const SlPredictions *predictions, guint bone, guint *from, guint *to)
{
  g_return_if_fail (predictions != NULL && bone < sl_predictions_get_n_bones (predictions) && from != NULL && to != NULL);
  *from = predictions->value.skeleton->bones[bone][0];
  *to = predictions->value.skeleton->bones[bone][1];
}

/**
 * sl_predictions_get_n_labels:
 * @predictions: predictions
 *
 * Returns: number of labels of the whole frame
 */
guint
sl_predictions_get_n_labels (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, 0);
  return predictions->value.n_labels;
}

static const SlLabelled *
get_labelled (const SlPredictions *predictions, guint label)
{
  return predictions != NULL && label < predictions->value.n_labels ? &predictions->value.labels[label] : NULL;
}

/**
 * sl_predictions_get_label:
 * @predictions: predictions
 * @label: 0, the best, to sl_predictions_get_n_labels() - 1
 *
 * Returns: (transfer none): name of the class; its number where it has no name
 */
const char *
sl_predictions_get_label (const SlPredictions *predictions, guint label)
{
  const SlLabelled *found = get_labelled (predictions, label);
  g_return_val_if_fail (found != NULL, NULL);
  return found->label;
}

/**
 * sl_predictions_get_label_id:
 * @predictions: predictions
 * @label: 0 to sl_predictions_get_n_labels() - 1
 *
 * Returns: number of the class, -1 = unknown
 */
gint
sl_predictions_get_label_id (const SlPredictions *predictions, guint label)
{
  const SlLabelled *found = get_labelled (predictions, label);
  g_return_val_if_fail (found != NULL, -1);
  return found->label_id;
}

/**
 * sl_predictions_get_label_confidence:
 * @predictions: predictions
 * @label: 0 to sl_predictions_get_n_labels() - 1
 *
 * Returns: 0..1
 */
gdouble
sl_predictions_get_label_confidence (const SlPredictions *predictions, guint label)
{
  const SlLabelled *found = get_labelled (predictions, label);
  g_return_val_if_fail (found != NULL, 0);
  return found->confidence;
}

/**
 * sl_predictions_get_mask:
 * @predictions: predictions
 * @width: (out) (optional): cells in a row
 * @height: (out) (optional): rows
 *
 * A class for each cell of a grid over the whole frame, a byte each, row by row; 0 is the background where the model has one, 255 where the model did not
 * look.
 *
 * Returns: (transfer none) (nullable): @width times @height bytes, %NULL when the model makes no mask
 */
GBytes *
sl_predictions_get_mask (const SlPredictions *predictions, guint *width, guint *height)
{
  g_return_val_if_fail (predictions != NULL, NULL);
  if (width != NULL)
    *width = predictions->value.mask.width;
  if (height != NULL)
    *height = predictions->value.mask.height;
  return predictions->mask;
}

/**
 * sl_predictions_get_n_mask_classes:
 * @predictions: predictions
 *
 * Returns: number of classes that the mask has
 */
guint
sl_predictions_get_n_mask_classes (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, 0);
  return predictions->value.n_mask_classes;
}

/**
 * sl_predictions_get_mask_class:
 * @predictions: predictions
 * @mask_class: 0, the largest, to sl_predictions_get_n_mask_classes() - 1
 * @label_id: (out) (optional): its number, as in the mask
 * @fraction: (out) (optional): share of the mask's cells, 0..1
 *
 * Returns: (transfer none): name of the class
 */
const char *
sl_predictions_get_mask_class (const SlPredictions *predictions, guint mask_class, gint *label_id, gdouble *fraction)
{
  g_return_val_if_fail (predictions != NULL && mask_class < predictions->value.n_mask_classes, NULL);
  const SlMaskClass *found = &predictions->value.mask_classes[mask_class];
  if (label_id != NULL)
    *label_id = found->label_id;
  set_number (fraction, found->fraction);
  return found->label;
}

/**
 * sl_predictions_to_json:
 * @predictions: predictions
 *
 * Returns: (transfer full): one line without newline, the same as `sightline predict --json` prints
 */
char *
sl_predictions_to_json (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, NULL);
  GString *text = g_string_new (NULL);
  sl_prediction_append_json (text, &predictions->value);
  return g_string_free (text, FALSE);
}

/**
 * sl_predictions_to_text:
 * @predictions: predictions
 *
 * Returns: (transfer full): the best label, or a line an object "label confidence x y w h"; a newline after each
 */
char *
sl_predictions_to_text (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, NULL);
  GString *text = g_string_new (NULL);
  sl_prediction_append_text (text, &predictions->value);
  return g_string_free (text, FALSE);
}
