/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The older getters of SlPredictions, which count objects, keypoints and labels. They return the same values as SlObject, SlKeypoint,
 * SlLabel and SlMask.
 */
#include "predict/predictions_private.h"

/**
 * sl_predictions_get_n_objects:
 * @predictions: predictions
 *
 * Counts the frame's objects.
 *
 * Returns: number of objects
 *
 * Since: 0.1
 */
guint
sl_predictions_get_n_objects (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, 0);
  return sl_predictions_view (predictions)->n_objects;
}

static const SlObjectView *
get_object (const SlPredictions *predictions, guint object)
{
  const SlPredictionView *view = predictions != NULL ? sl_predictions_view (predictions) : NULL;
  return view != NULL && object < view->n_objects ? &view->objects[object] : NULL;
}

/**
 * sl_predictions_get_object_label:
 * @predictions: predictions
 * @object: 0 to sl_predictions_get_n_objects() - 1
 *
 * Gets an object's class by name.
 *
 * Returns: (transfer none): name of its class; the class's number where it has no name
 *
 * Since: 0.1
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
 * Gets an object's class as a number.
 *
 * Returns: number of its class, -1 = unknown
 *
 * Since: 0.1
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
 * Gets how sure the model is of an object.
 *
 * Returns: 0..1
 *
 * Since: 0.1
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
 *
 * Since: 0.1
 */
void
sl_predictions_get_object_box (const SlPredictions *predictions, guint object, gdouble *x, gdouble *y, gdouble *width, gdouble *height)
{
  const SlObjectView *found = get_object (predictions, object);
  g_return_if_fail (found != NULL);
  set_number (x, found->x_min * sl_predictions_view (predictions)->width);
  set_number (y, found->y_min * sl_predictions_view (predictions)->height);
  set_number (width, (found->x_max - found->x_min) * sl_predictions_view (predictions)->width);
  set_number (height, (found->y_max - found->y_min) * sl_predictions_view (predictions)->height);
}

/**
 * sl_predictions_get_object_relative_box:
 * @predictions: predictions
 * @object: 0 to sl_predictions_get_n_objects() - 1
 * @x_min: (out) (optional): left edge, 0..1 of the frame's width
 * @y_min: (out) (optional): top edge, 0..1 of the frame's height
 * @x_max: (out) (optional): right edge
 * @y_max: (out) (optional): bottom edge
 *
 * Gets where on the frame an object is, whatever the frame's size.
 *
 * Since: 0.1
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
 * Gets the number that a tracker gave to an object.
 *
 * Returns: a number from 1 on that stays with the object from frame to frame; 0 where objects are not tracked
 *
 * Since: 0.1
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
 *
 * Since: 0.1
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
 * Gets the object that another one belongs to.
 *
 * Returns: the object, of those before it, inside which a further model found this one; -1 = none
 *
 * Since: 0.1
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
 * Counts what further models said of an object.
 *
 * Returns: number of labels that further models gave to the object
 *
 * Since: 0.1
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
 * Gets what a further model said of an object.
 *
 * Returns: (transfer none): the label
 *
 * Since: 0.1
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
 * Counts the keypoints of an object.
 *
 * Returns: number of the object's keypoints, 0 = it has none
 *
 * Since: 0.1
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
 *
 * Gets a keypoint of an object.
 *
 * Since: 0.1
 */
void
sl_predictions_get_keypoint (const SlPredictions *predictions, guint object, guint keypoint, gdouble *x, gdouble *y, gdouble *confidence)
{
  const SlObjectView *found = get_object (predictions, object);
  g_return_if_fail (found != NULL && keypoint < found->n_points);
  set_number (x, found->points[keypoint].x * sl_predictions_view (predictions)->width);
  set_number (y, found->points[keypoint].y * sl_predictions_view (predictions)->height);
  set_number (confidence, found->points[keypoint].confidence);
}

/**
 * sl_predictions_get_keypoint_name:
 * @predictions: predictions
 * @keypoint: 0 to sl_predictions_get_n_keypoints() - 1 of any object
 *
 * Gets the name of a keypoint.
 *
 * Returns: (transfer none) (nullable): what the point is called, such as "left_elbow"; %NULL when it has no name
 *
 * Since: 0.1
 */
const char *
sl_predictions_get_keypoint_name (const SlPredictions *predictions, guint keypoint)
{
  g_return_val_if_fail (predictions != NULL, NULL);
  const SlSkeleton *skeleton = sl_predictions_view (predictions)->skeleton;
  return skeleton != NULL && keypoint < skeleton->n_points ? skeleton->names[keypoint] : NULL;
}

/**
 * sl_predictions_get_n_bones:
 * @predictions: predictions
 *
 * Counts the lines of the skeleton.
 *
 * Returns: number of lines to draw between an object's keypoints
 *
 * Since: 0.1
 */
guint
sl_predictions_get_n_bones (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, 0);
  return sl_predictions_view (predictions)->skeleton != NULL ? sl_predictions_view (predictions)->skeleton->n_bones : 0;
}

/**
 * sl_predictions_get_bone:
 * @predictions: predictions
 * @bone: 0 to sl_predictions_get_n_bones() - 1
 * @from: (out): keypoint at one end
 * @to: (out): keypoint at the other end
 *
 * Gets which two keypoints a line of the skeleton joins.
 *
 * Since: 0.1
 */
void
sl_predictions_get_bone (const SlPredictions *predictions, guint bone, guint *from, guint *to)
{
  g_return_if_fail (predictions != NULL && bone < sl_predictions_get_n_bones (predictions) && from != NULL && to != NULL);
  *from = sl_predictions_view (predictions)->skeleton->bones[bone][0];
  *to = sl_predictions_view (predictions)->skeleton->bones[bone][1];
}

/**
 * sl_predictions_get_n_labels:
 * @predictions: predictions
 *
 * Counts the labels of the whole frame.
 *
 * Returns: number of labels of the whole frame
 *
 * Since: 0.1
 */
guint
sl_predictions_get_n_labels (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, 0);
  return sl_predictions_view (predictions)->n_labels;
}

static const SlLabelled *
get_labelled (const SlPredictions *predictions, guint label)
{
  const SlPredictionView *view = predictions != NULL ? sl_predictions_view (predictions) : NULL;
  return view != NULL && label < view->n_labels ? &view->labels[label] : NULL;
}

/**
 * sl_predictions_get_label:
 * @predictions: predictions
 * @label: 0, the best, to sl_predictions_get_n_labels() - 1
 *
 * Gets a label of the whole frame.
 *
 * Returns: (transfer none): name of the class; its number where it has no name
 *
 * Since: 0.1
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
 * Gets the class of a label of the whole frame.
 *
 * Returns: number of the class, -1 = unknown
 *
 * Since: 0.1
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
 * Gets how sure the model is of a label of the whole frame.
 *
 * Returns: 0..1
 *
 * Since: 0.1
 */
gdouble
sl_predictions_get_label_confidence (const SlPredictions *predictions, guint label)
{
  const SlLabelled *found = get_labelled (predictions, label);
  g_return_val_if_fail (found != NULL, 0);
  return found->confidence;
}

/**
 * sl_predictions_get_n_mask_classes:
 * @predictions: predictions
 *
 * Counts the classes of the frame's mask.
 *
 * Returns: number of classes that the mask has
 *
 * Since: 0.1
 */
guint
sl_predictions_get_n_mask_classes (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, 0);
  return sl_predictions_view (predictions)->n_mask_classes;
}

/**
 * sl_predictions_get_mask_class:
 * @predictions: predictions
 * @mask_class: 0, the largest, to sl_predictions_get_n_mask_classes() - 1
 * @label_id: (out) (optional): its number, as in the mask
 * @fraction: (out) (optional): share of the mask's cells, 0..1
 *
 * Gets a class of the frame's mask and how much of the frame it covers.
 *
 * Returns: (transfer none): name of the class
 *
 * Since: 0.1
 */
const char *
sl_predictions_get_mask_class (const SlPredictions *predictions, guint mask_class, gint *label_id, gdouble *fraction)
{
  g_return_val_if_fail (predictions != NULL && mask_class < sl_predictions_view (predictions)->n_mask_classes, NULL);
  const SlMaskClass *found = &sl_predictions_view (predictions)->mask_classes[mask_class];
  if (label_id != NULL)
    *label_id = found->label_id;
  set_number (fraction, found->fraction);
  return found->label;
}

/**
 * sl_predictions_get_values:
 * @predictions: predictions
 * @n: (out): how many there are
 *
 * The numbers of a model that neither names nor finds anything: an embedding, whose length is 1, or estimated values, in the order of the
 * model's output.
 *
 * Returns: (transfer none) (array length=n) (nullable): the numbers; %NULL without any
 *
 * Since: 0.1
 */
const gfloat *
sl_predictions_get_values (const SlPredictions *predictions, guint *n)
{
  g_return_val_if_fail (predictions != NULL && n != NULL, NULL);
  *n = sl_predictions_view (predictions)->vector.n;
  return sl_predictions_view (predictions)->vector.values;
}

/**
 * sl_predictions_get_value_name:
 * @predictions: predictions
 * @value: its place, 0 to one less than sl_predictions_get_values() has
 * @unit: (out) (optional) (transfer none) (nullable): what it is measured in, where that is stated
 *
 * Gets what an estimated value is called.
 *
 * Returns: (transfer none) (nullable): name of an estimated value, where it is stated
 *
 * Since: 0.1
 */
const char *
sl_predictions_get_value_name (const SlPredictions *predictions, guint value, const char **unit)
{
  g_return_val_if_fail (predictions != NULL && value < sl_predictions_view (predictions)->vector.n, NULL);
  const SlVector *vector = &sl_predictions_view (predictions)->vector;
  if (unit != NULL)
    *unit = vector->units != NULL ? vector->units[value] : NULL;
  return vector->names != NULL ? vector->names[value] : NULL;
}
