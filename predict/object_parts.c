/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SlBox, SlKeypoint, SlLabel and SlMask; object.c makes the latter three. A reference to one is a
 * reference to its predictions. */
#include "predict/object_parts.h"

G_DEFINE_BOXED_TYPE (SlBox, sl_box, sl_box_copy, sl_box_free)
G_DEFINE_BOXED_TYPE (SlKeypoint, sl_keypoint, sl_keypoint_ref, sl_keypoint_unref)
G_DEFINE_BOXED_TYPE (SlLabel, sl_label, sl_label_ref, sl_label_unref)
G_DEFINE_BOXED_TYPE (SlMask, sl_mask, sl_mask_ref, sl_mask_unref)

/**
 * sl_box_copy:
 * @box: a box
 *
 * Copies a box.
 *
 * Returns: (transfer full): a copy of @box, to be freed with sl_box_free()
 *
 * Since: 0.1
 */
SlBox *
sl_box_copy (const SlBox *box)
{
  g_return_val_if_fail (box != NULL, NULL);
  return g_memdup2 (box, sizeof *box);
}

/**
 * sl_box_free:
 * @box: (transfer full) (nullable): a copy made by sl_box_copy()
 *
 * Frees a copy of a box.
 *
 * Since: 0.1
 */
void
sl_box_free (SlBox *box)
{
  g_free (box);
}

/**
 * sl_keypoint_ref:
 * @keypoint: a keypoint
 *
 * Keeps the predictions that @keypoint belongs to.
 *
 * Returns: (transfer full): @keypoint
 *
 * Since: 0.1
 */
SlKeypoint *
sl_keypoint_ref (SlKeypoint *keypoint)
{
  g_return_val_if_fail (keypoint != NULL, NULL);
  sl_predictions_ref (keypoint->owner);
  return keypoint;
}

/**
 * sl_keypoint_unref:
 * @keypoint: (transfer full): a keypoint
 *
 * Drops a reference to the keypoint.
 *
 * Since: 0.1
 */
void
sl_keypoint_unref (SlKeypoint *keypoint)
{
  g_return_if_fail (keypoint != NULL);
  sl_predictions_unref (keypoint->owner);
}

/**
 * sl_keypoint_get_name:
 * @keypoint: a keypoint
 *
 * Gets the point's name.
 *
 * Returns: (transfer none) (nullable): what the point is called, such as "left_elbow"; %NULL when
 * it has no name
 *
 * Since: 0.1
 */
const char *
sl_keypoint_get_name (const SlKeypoint *keypoint)
{
  g_return_val_if_fail (keypoint != NULL, NULL);
  return keypoint->name;
}

/**
 * sl_keypoint_get_x:
 * @keypoint: a keypoint
 *
 * Gets where the point lies from left to right.
 *
 * Returns: pixels from the frame's left edge; outside of the frame where the point lies outside
 *
 * Since: 0.1
 */
gdouble
sl_keypoint_get_x (const SlKeypoint *keypoint)
{
  g_return_val_if_fail (keypoint != NULL, 0);
  return keypoint->x;
}

/**
 * sl_keypoint_get_y:
 * @keypoint: a keypoint
 *
 * Gets where the point lies from top to bottom.
 *
 * Returns: pixels from the frame's top edge; outside of the frame where the point lies outside
 *
 * Since: 0.1
 */
gdouble
sl_keypoint_get_y (const SlKeypoint *keypoint)
{
  g_return_val_if_fail (keypoint != NULL, 0);
  return keypoint->y;
}

/**
 * sl_keypoint_get_confidence:
 * @keypoint: a keypoint
 *
 * Gets how sure the model is of the point.
 *
 * Returns: 0..1
 *
 * Since: 0.1
 */
gdouble
sl_keypoint_get_confidence (const SlKeypoint *keypoint)
{
  g_return_val_if_fail (keypoint != NULL, 0);
  return keypoint->confidence;
}

/**
 * sl_label_ref:
 * @label: a label
 *
 * Keeps the predictions that @label belongs to.
 *
 * Returns: (transfer full): @label
 *
 * Since: 0.1
 */
SlLabel *
sl_label_ref (SlLabel *label)
{
  g_return_val_if_fail (label != NULL, NULL);
  sl_predictions_ref (label->owner);
  return label;
}

/**
 * sl_label_unref:
 * @label: (transfer full): a label
 *
 * Drops a reference to the label.
 *
 * Since: 0.1
 */
void
sl_label_unref (SlLabel *label)
{
  g_return_if_fail (label != NULL);
  sl_predictions_unref (label->owner);
}

/**
 * sl_label_get_name:
 * @label: a label
 *
 * Gets the label's class by name.
 *
 * Returns: (transfer none): name of the class; its number where it has no name
 *
 * Since: 0.1
 */
const char *
sl_label_get_name (const SlLabel *label)
{
  g_return_val_if_fail (label != NULL, NULL);
  return label->value->label;
}

/**
 * sl_label_get_id:
 * @label: a label
 *
 * Gets the label's class as a number.
 *
 * Returns: number of the class in its model, -1 = unknown
 *
 * Since: 0.1
 */
gint
sl_label_get_id (const SlLabel *label)
{
  g_return_val_if_fail (label != NULL, -1);
  return label->value->label_id;
}

/**
 * sl_label_get_confidence:
 * @label: a label
 *
 * Gets how sure the model is of the label.
 *
 * Returns: 0..1
 *
 * Since: 0.1
 */
gdouble
sl_label_get_confidence (const SlLabel *label)
{
  g_return_val_if_fail (label != NULL, 0);
  return label->value->confidence;
}

/**
 * sl_label_get_model:
 * @label: a label
 *
 * Gets which model the label is from.
 *
 * Returns: (transfer none) (nullable): name of the model that gave an object's attribute; %NULL for
 * a label of the frame
 *
 * Since: 0.1
 */
const char *
sl_label_get_model (const SlLabel *label)
{
  g_return_val_if_fail (label != NULL, NULL);
  return label->value->model;
}

/**
 * sl_mask_ref:
 * @mask: a mask
 *
 * Keeps the predictions that @mask belongs to.
 *
 * Returns: (transfer full): @mask
 *
 * Since: 0.1
 */
SlMask *
sl_mask_ref (SlMask *mask)
{
  g_return_val_if_fail (mask != NULL, NULL);
  sl_predictions_ref (mask->owner);
  return mask;
}

/**
 * sl_mask_unref:
 * @mask: (transfer full): a mask
 *
 * Drops a reference to the mask.
 *
 * Since: 0.1
 */
void
sl_mask_unref (SlMask *mask)
{
  g_return_if_fail (mask != NULL);
  sl_predictions_unref (mask->owner);
}

/**
 * sl_mask_get_width:
 * @mask: a mask
 *
 * Gets the width of the mask's grid.
 *
 * Returns: cells in a row
 *
 * Since: 0.1
 */
guint
sl_mask_get_width (const SlMask *mask)
{
  g_return_val_if_fail (mask != NULL, 0);
  return mask->width;
}

/**
 * sl_mask_get_height:
 * @mask: a mask
 *
 * Gets the height of the mask's grid.
 *
 * Returns: rows
 *
 * Since: 0.1
 */
guint
sl_mask_get_height (const SlMask *mask)
{
  g_return_val_if_fail (mask != NULL, 0);
  return mask->height;
}

/**
 * sl_mask_get_cells:
 * @mask: a mask
 * @n_cells: (out) (optional): width times height
 *
 * Row by row. What a cell's byte means is said by sl_object_get_mask() and
 * sl_predictions_get_class_mask().
 *
 * Returns: (array length=n_cells) (transfer none): a byte a cell
 *
 * Since: 0.1
 */
const guint8 *
sl_mask_get_cells (const SlMask *mask, gsize *n_cells)
{
  g_return_val_if_fail (mask != NULL, NULL);
  if (n_cells != NULL)
    *n_cells = (gsize) mask->width * mask->height;
  return mask->cells;
}

/**
 * sl_mask_get_box:
 * @mask: a mask
 *
 * Gets where on the frame the mask lies.
 *
 * Returns: (transfer none): the rectangle that the grid covers, in pixels of the frame
 *
 * Since: 0.1
 */
const SlBox *
sl_mask_get_box (const SlMask *mask)
{
  g_return_val_if_fail (mask != NULL, NULL);
  return &mask->box;
}
