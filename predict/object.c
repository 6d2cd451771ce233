/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlObject and what belongs to one: handles into a frame's predictions, made when somebody first
 * asks for them.
 *
 * Handles lie in the predictions' arena and have no count of their own: a reference to one is a
 * reference to its predictions.
 */
#include "predict/object_private.h"

#include "predict/object_parts.h"

struct _SlObject
{
  SlPredictions *owner;
  const SlObjectView *value;
  guint index;
  SlBox box, relative_box;
  SlObject *parent; /* (nullable) */
  SlMask *mask;     /* (nullable) */
  SlKeypoint *const *keypoints;
  SlLabel *const *attributes;
  SlKeypoint *const *corners;
};

G_DEFINE_BOXED_TYPE (SlObject, sl_object, sl_object_ref, sl_object_unref)

static SlKeypoint *const *
make_keypoints (SlArena *arena, SlPredictions *owner, const SlPredictionView *view,
                const SlObjectView *object)
{
  SlKeypoint **list = sl_arena_alloc (arena, (object->n_points + 1) * sizeof *list);
  SlKeypoint *keypoints = sl_arena_alloc (arena, object->n_points * sizeof *keypoints);
  const SlSkeleton *skeleton = sl_object_skeleton (object, view->skeleton);
  for (guint i = 0; i < object->n_points; i++) {
    const SlPoint *point = &object->points[i];
    keypoints[i] = (SlKeypoint){ .owner = owner,
                                 .name = skeleton != NULL ? skeleton->names[i] : NULL,
                                 .x = point->x * view->width,
                                 .y = point->y * view->height,
                                 .confidence = point->confidence };
    list[i] = &keypoints[i];
  }
  return list;
}

/* Of a code; none of what was not read. */
static SlKeypoint *const *
make_corners (SlArena *arena, SlPredictions *owner, const SlPredictionView *view,
              const SlObjectView *object)
{
  const guint n = object->code != NULL ? G_N_ELEMENTS (object->code->corners) : 0;
  SlKeypoint **list = sl_arena_alloc (arena, (n + 1) * sizeof *list);
  SlKeypoint *corners = sl_arena_alloc (arena, n * sizeof *corners);
  for (guint i = 0; i < n; i++) {
    const double x = object->x_min + object->code->corners[i][0] * (object->x_max - object->x_min);
    const double y = object->y_min + object->code->corners[i][1] * (object->y_max - object->y_min);
    corners[i] =
      (SlKeypoint){ .owner = owner, .x = x * view->width, .y = y * view->height, .confidence = 1 };
    list[i] = &corners[i];
  }
  return list;
}

static SlLabel *const *
make_labels (SlArena *arena, SlPredictions *owner, const SlLabelled *values, guint n)
{
  SlLabel **list = sl_arena_alloc (arena, (n + 1) * sizeof *list);
  SlLabel *labels = sl_arena_alloc (arena, n * sizeof *labels);
  for (guint i = 0; i < n; i++) {
    labels[i] = (SlLabel){ owner, &values[i] };
    list[i] = &labels[i];
  }
  return list;
}

static SlMask *
make_mask (SlArena *arena, SlMask mask)
{
  return mask.width > 0 ? sl_arena_memdup (arena, &mask, sizeof mask) : NULL;
}

static SlObject *const *
make_objects (SlArena *arena, SlPredictions *owner, const SlPredictionView *view)
{
  SlObject **list = sl_arena_alloc (arena, (view->n_objects + 1) * sizeof *list);
  SlObject *objects = sl_arena_alloc (arena, view->n_objects * sizeof *objects);
  for (guint i = 0; i < view->n_objects; i++) {
    const SlObjectView *value = &view->objects[i];
    const gdouble width = value->x_max - value->x_min, height = value->y_max - value->y_min;
    const SlBox pixels = { value->x, value->y, value->w, value->h };
    objects[i] =
      (SlObject){ .owner = owner,
                  .value = value,
                  .index = i,
                  .box = { value->x_min * view->width, value->y_min * view->height,
                           width * view->width, height * view->height },
                  .relative_box = { value->x_min, value->y_min, width, height },
                  .parent = value->parent > 0 ? &objects[value->parent - 1] : NULL,
                  .mask = make_mask (arena, (SlMask){ owner, value->mask.width, value->mask.height,
                                                      value->mask.cells, pixels }),
                  .keypoints = make_keypoints (arena, owner, view, value),
                  .attributes = make_labels (arena, owner, value->labels, value->n_labels),
                  .corners = make_corners (arena, owner, view, value) };
    list[i] = &objects[i];
  }
  return list;
}

static const char *const *
make_keypoint_names (SlArena *arena, const SlSkeleton *skeleton)
{
  const guint n = skeleton != NULL ? skeleton->n_points : 0;
  const char **names = sl_arena_alloc (arena, (n + 1) * sizeof *names);
  for (guint i = 0; i < n; i++)
    names[i] = skeleton->names[i] != NULL ? skeleton->names[i] : "";
  return names;
}

static const char *const *
make_mask_class_names (SlArena *arena, const SlPredictionView *view)
{
  const char **names = sl_arena_alloc (arena, (view->n_mask_classes + 1) * sizeof *names);
  for (guint i = 0; i < view->n_mask_classes; i++)
    names[i] = view->mask_classes[i].label;
  return names;
}

const SlPredictionLists *
sl_prediction_lists_new (SlArena *arena, SlPredictions *owner, const SlPredictionView *view)
{
  SlPredictionLists *lists = sl_arena_alloc (arena, sizeof *lists);
  lists->objects = make_objects (arena, owner, view);
  lists->labels = make_labels (arena, owner, view->labels, view->n_labels);
  lists->class_mask = make_mask (arena, (SlMask){ owner,
                                                  view->mask.width,
                                                  view->mask.height,
                                                  view->mask.classes,
                                                  { 0, 0, view->width, view->height } });
  lists->keypoint_names = make_keypoint_names (arena, view->skeleton);
  lists->mask_class_names = make_mask_class_names (arena, view);
  lists->outputs = sl_output_list_new (arena, owner, &view->outputs);
  return lists;
}

/**
 * sl_object_ref:
 * @object: an object
 *
 * Keeps the predictions that @object belongs to.
 *
 * Returns: (transfer full): @object
 *
 * Since: 0.1
 */
SlObject *
sl_object_ref (SlObject *object)
{
  g_return_val_if_fail (object != NULL, NULL);
  sl_predictions_ref (object->owner);
  return object;
}

/**
 * sl_object_unref:
 * @object: (transfer full): an object
 *
 * Drops a reference to the object.
 *
 * Since: 0.1
 */
void
sl_object_unref (SlObject *object)
{
  g_return_if_fail (object != NULL);
  sl_predictions_unref (object->owner);
}

/**
 * sl_object_get_index:
 * @object: an object
 *
 * Gets the object's place among the frame's objects.
 *
 * Returns: its place in sl_predictions_get_objects()
 *
 * Since: 0.1
 */
guint
sl_object_get_index (const SlObject *object)
{
  g_return_val_if_fail (object != NULL, 0);
  return object->index;
}

/**
 * sl_object_get_predictions:
 * @object: an object
 *
 * Gets back from the object to all predictions of its frame.
 *
 * Returns: (transfer none): the predictions that it is one of
 *
 * Since: 0.1
 */
SlPredictions *
sl_object_get_predictions (const SlObject *object)
{
  g_return_val_if_fail (object != NULL, NULL);
  return object->owner;
}

/**
 * sl_object_get_label:
 * @object: an object
 *
 * Gets the object's class by name.
 *
 * Returns: (transfer none): name of its class; the class's number where it has no name
 *
 * Since: 0.1
 */
const char *
sl_object_get_label (const SlObject *object)
{
  g_return_val_if_fail (object != NULL, NULL);
  return object->value->label;
}

/**
 * sl_object_get_label_id:
 * @object: an object
 *
 * Gets the object's class as a number.
 *
 * Returns: number of its class, -1 = unknown
 *
 * Since: 0.1
 */
gint
sl_object_get_label_id (const SlObject *object)
{
  g_return_val_if_fail (object != NULL, -1);
  return object->value->label_id;
}

/**
 * sl_object_get_confidence:
 * @object: an object
 *
 * Gets how sure the model is of the object.
 *
 * Returns: 0..1
 *
 * Since: 0.1
 */
gdouble
sl_object_get_confidence (const SlObject *object)
{
  g_return_val_if_fail (object != NULL, 0);
  return object->value->confidence;
}

/**
 * sl_object_get_box:
 * @object: an object
 *
 * Gets where on the frame the object is.
 *
 * Returns: (transfer none): its box in pixels of the frame, clipped to the frame and not rounded
 *
 * Since: 0.1
 */
const SlBox *
sl_object_get_box (const SlObject *object)
{
  g_return_val_if_fail (object != NULL, NULL);
  return &object->box;
}

/**
 * sl_object_get_relative_box:
 * @object: an object
 *
 * Gets where on the frame the object is, whatever the frame's size.
 *
 * Returns: (transfer none): its box in 0..1 of the frame's width and height
 *
 * Since: 0.1
 */
const SlBox *
sl_object_get_relative_box (const SlObject *object)
{
  g_return_val_if_fail (object != NULL, NULL);
  return &object->relative_box;
}

/**
 * sl_object_get_track_id:
 * @object: an object
 *
 * Gets the number that a tracker gave to the object.
 *
 * Returns: a number from 1 on that stays with the object from frame to frame; 0 where objects are
 * not tracked
 *
 * Since: 0.1
 */
guint
sl_object_get_track_id (const SlObject *object)
{
  g_return_val_if_fail (object != NULL, 0);
  return (guint) object->value->object_id;
}

/**
 * sl_object_get_parent:
 * @object: an object
 *
 * Gets the object that this one belongs to, such as the car of a number plate.
 *
 * Returns: (transfer none) (nullable): the object inside which a further model found this one
 *
 * Since: 0.1
 */
SlObject *
sl_object_get_parent (const SlObject *object)
{
  g_return_val_if_fail (object != NULL, NULL);
  return object->parent;
}

/**
 * sl_object_get_mask:
 * @object: an object
 *
 * Which part of its box the object covers: a grid over the box's whole pixels. A cell says how sure
 * the model is that it belongs to the object, 0..255; from 128 on it does.
 *
 * Returns: (transfer none) (nullable): the mask; %NULL when the model makes no masks of objects
 *
 * Since: 0.1
 */
SlMask *
sl_object_get_mask (const SlObject *object)
{
  g_return_val_if_fail (object != NULL, NULL);
  return object->mask;
}

/**
 * sl_object_get_keypoints:
 * @object: an object
 *
 * Gets the object's keypoints, such as the joints of a person.
 *
 * Returns: (array zero-terminated=1) (transfer none): its keypoints, then %NULL; the array belongs
 * to @object
 *
 * Since: 0.1
 */
SlKeypoint *const *
sl_object_get_keypoints (const SlObject *object)
{
  g_return_val_if_fail (object != NULL, NULL);
  return object->keypoints;
}

/**
 * sl_object_get_attributes:
 * @object: an object
 *
 * Gets what further models said of the object.
 *
 * Returns: (array zero-terminated=1) (transfer none): labels that further models gave to the
 * object, then %NULL; the array belongs to @object
 *
 * Since: 0.1
 */
SlLabel *const *
sl_object_get_attributes (const SlObject *object)
{
  g_return_val_if_fail (object != NULL, NULL);
  return object->attributes;
}

/**
 * sl_object_get_symbology:
 * @object: an object
 *
 * What kind of code was read in the object's box: "qr-code", "ean-13", "code-128" and others that
 * docs/codes.md lists.
 *
 * Returns: (transfer none) (nullable): the symbology; %NULL where no code was read
 *
 * Since: 0.1
 */
const char *
sl_object_get_symbology (const SlObject *object)
{
  g_return_val_if_fail (object != NULL, NULL);
  return object->value->code != NULL ? object->value->code->symbology : NULL;
}

/**
 * sl_object_get_text:
 * @object: an object
 *
 * What the code in the object's box says, where an element that reads codes, such as `slread`, read
 * it; else what `sltext` made of the texts that models read there. It is whatever somebody printed:
 * it may hold line breaks and control characters.
 *
 * Returns: (transfer none) (nullable): the text, valid UTF-8; %NULL where nothing was read, and
 * where what a code says is no UTF-8 or holds a zero
 *   byte: sl_object_get_payload() has that
 *
 * Since: 0.1
 */
const char *
sl_object_get_text (const SlObject *object)
{
  g_return_val_if_fail (object != NULL, NULL);
  const SlObjectView *value = object->value;
  if (value->code != NULL)
    return value->code->text;
  return value->text != NULL ? value->text->text : NULL;
}

/**
 * sl_object_get_add_on:
 * @object: an object
 *
 * The digits beside an EAN or UPC code, such as an issue number or a price. They are not part of
 * sl_object_get_text().
 *
 * Returns: (transfer none) (nullable): two or five digits; %NULL where no code was read, and where
 * no add-on was read beside it
 *
 * Since: 0.1
 */
const char *
sl_object_get_add_on (const SlObject *object)
{
  g_return_val_if_fail (object != NULL, NULL);
  return object->value->code != NULL ? object->value->code->add_on : NULL;
}

/**
 * sl_object_get_payload:
 * @object: an object
 * @n_bytes: (out) (optional): how many bytes, up to 8192
 *
 * What the code in the object's box says, byte by byte, text or not.
 *
 * Returns: (array length=n_bytes) (transfer none) (nullable): the bytes; %NULL where no code was
 * read
 *
 * Since: 0.1
 */
const guint8 *
sl_object_get_payload (const SlObject *object, gsize *n_bytes)
{
  g_return_val_if_fail (object != NULL, NULL);
  const SlCodeView *code = object->value->code;
  if (n_bytes != NULL)
    *n_bytes = code != NULL ? code->n_bytes : 0;
  return code != NULL ? code->bytes : NULL;
}

/**
 * sl_object_get_corners:
 * @object: an object
 *
 * Where the code in the object's box lies: four points, in pixels of the frame, from the code's own
 * upper left clockwise where that is known, as it is of QR codes. Of linear codes they are the
 * corners of the rectangle in which lines were read.
 *
 * Returns: (array zero-terminated=1) (transfer none): four points without names, then %NULL; none
 * where no code was read. The array belongs to @object
 *
 * Since: 0.1
 */
SlKeypoint *const *
sl_object_get_corners (const SlObject *object)
{
  g_return_val_if_fail (object != NULL, NULL);
  return object->corners;
}
