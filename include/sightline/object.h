/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlObject: an object that a model found in a frame, and its parts: SlBox, SlKeypoint, SlLabel,
 * SlMask.
 *
 * All of them but SlBox belong to the SlPredictions that they came from. A reference to one keeps
 * those predictions as a whole.
 */
#ifndef SL_OBJECT_H
#define SL_OBJECT_H

#include <glib-object.h>

G_BEGIN_DECLS

#define SL_TYPE_BOX (sl_box_get_type ())
#define SL_TYPE_KEYPOINT (sl_keypoint_get_type ())
#define SL_TYPE_LABEL (sl_label_get_type ())
#define SL_TYPE_MASK (sl_mask_get_type ())
#define SL_TYPE_OBJECT (sl_object_get_type ())

/**
 * SlBox:
 * @x: left edge
 * @y: top edge
 * @width: from the left to the right edge
 * @height: from the top to the bottom edge
 *
 * A rectangle. The function that returns it says the unit.
 *
 * Since: 0.1
 */
typedef struct
{
  gdouble x;
  gdouble y;
  gdouble width;
  gdouble height;
} SlBox;

/**
 * SlKeypoint:
 *
 * A named point of an object, such as an elbow. Immutable; any thread may read it, take and drop
 * references.
 *
 * Since: 0.1
 */
typedef struct _SlKeypoint SlKeypoint;

/**
 * SlLabel:
 *
 * The name of a class and the model's confidence: a label of the whole frame, or an attribute of an
 * object. Immutable; any thread may read it, take and drop references.
 *
 * Since: 0.1
 */
typedef struct _SlLabel SlLabel;

/**
 * SlMask:
 *
 * A grid of cells over a part of the frame, a byte a cell: where an object is, or what class each
 * part of the frame has. Immutable; any thread may read it, take and drop references.
 *
 * Since: 0.1
 */
typedef struct _SlMask SlMask;

/**
 * SlObject:
 *
 * An object that a model found in a frame. Immutable; any thread may read it, take and drop
 * references.
 *
 * Since: 0.1
 */
typedef struct _SlObject SlObject;

/**
 * SlPredictions:
 *
 * The predictions of one frame: objects (boxes, with keypoints), labels of the whole frame, a mask.
 * Best first. Immutable; any thread may read it, take and drop references.
 *
 * Since: 0.1
 */
typedef struct _SlPredictions SlPredictions;

GType sl_box_get_type (void);
SlBox *sl_box_copy (const SlBox *box);
void sl_box_free (SlBox *box);

GType sl_keypoint_get_type (void);
SlKeypoint *sl_keypoint_ref (SlKeypoint *keypoint);
void sl_keypoint_unref (SlKeypoint *keypoint);
const char *sl_keypoint_get_name (const SlKeypoint *keypoint);
gdouble sl_keypoint_get_x (const SlKeypoint *keypoint);
gdouble sl_keypoint_get_y (const SlKeypoint *keypoint);
gdouble sl_keypoint_get_confidence (const SlKeypoint *keypoint);

GType sl_label_get_type (void);
SlLabel *sl_label_ref (SlLabel *label);
void sl_label_unref (SlLabel *label);
const char *sl_label_get_name (const SlLabel *label);
gint sl_label_get_id (const SlLabel *label);
gdouble sl_label_get_confidence (const SlLabel *label);
const char *sl_label_get_model (const SlLabel *label);

GType sl_mask_get_type (void);
SlMask *sl_mask_ref (SlMask *mask);
void sl_mask_unref (SlMask *mask);
guint sl_mask_get_width (const SlMask *mask);
guint sl_mask_get_height (const SlMask *mask);
const guint8 *sl_mask_get_cells (const SlMask *mask, gsize *n_cells);
const SlBox *sl_mask_get_box (const SlMask *mask);

GType sl_object_get_type (void);
SlObject *sl_object_ref (SlObject *object);
void sl_object_unref (SlObject *object);
guint sl_object_get_index (const SlObject *object);
SlPredictions *sl_object_get_predictions (const SlObject *object);
const char *sl_object_get_label (const SlObject *object);
gint sl_object_get_label_id (const SlObject *object);
gdouble sl_object_get_confidence (const SlObject *object);
const SlBox *sl_object_get_box (const SlObject *object);
const SlBox *sl_object_get_relative_box (const SlObject *object);
guint sl_object_get_track_id (const SlObject *object);
SlObject *sl_object_get_parent (const SlObject *object);
SlMask *sl_object_get_mask (const SlObject *object);
SlKeypoint *const *sl_object_get_keypoints (const SlObject *object);
SlLabel *const *sl_object_get_attributes (const SlObject *object);
const char *sl_object_get_symbology (const SlObject *object);
const char *sl_object_get_text (const SlObject *object);
const char *sl_object_get_add_on (const SlObject *object);
const guint8 *sl_object_get_payload (const SlObject *object, gsize *n_bytes);
SlKeypoint *const *sl_object_get_corners (const SlObject *object);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlBox, sl_box_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlKeypoint, sl_keypoint_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlLabel, sl_label_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlMask, sl_mask_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlObject, sl_object_unref)

G_END_DECLS

#endif
