/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A frame's predictions, copied out of the memory that the next frame overwrites. Everything is in
 * one arena, so a copy takes a few allocations for any number of objects; the mask is a separate
 * GBytes, which callers may keep.
 */
#include "predict/predictions_private.h"

#include "predict/object_private.h"

struct _SlPredictions
{
  gatomicrefcount refs;
  SlArena *arena;
  GBytes *mask; /* (nullable) */
  SlLatency latency;
  SlPredictionView value; /* points into all of the above */
  gsize lists; /* a const SlPredictionLists * in the arena; 0 until somebody asks for one of them */
};

G_DEFINE_BOXED_TYPE (SlPredictions, sl_predictions, sl_predictions_ref, sl_predictions_unref)

static void *
copy (SlPredictions *self, const void *data, guint n, gsize size)
{
  return n > 0 ? sl_arena_memdup (self->arena, data, n * size) : NULL;
}

/* (nullable) */
static const char *
copy_text (SlPredictions *self, const char *from)
{
  return from != NULL ? sl_arena_strdup (self->arena, from) : NULL;
}

static SlLabelled *
copy_labels (SlPredictions *self, const SlLabelled *from, guint n)
{
  SlLabelled *labels = copy (self, from, n, sizeof *from);
  for (guint i = 0; i < n; i++) {
    labels[i].label = sl_arena_strdup (self->arena, from[i].label);
    labels[i].model = copy_text (self, from[i].model);
    labels[i].n_shares = 0; /* elements alone use them */
    labels[i].shares = NULL;
  }
  return labels;
}

static const SlSkeleton *
copy_skeleton (SlPredictions *self, const SlSkeleton *from)
{
  const char **names = sl_arena_alloc (self->arena, from->n_points * sizeof *names);
  for (guint i = 0; i < from->n_points; i++)
    names[i] = copy_text (self, from->names[i]);
  SlSkeleton *skeleton = copy (self, from, 1, sizeof *from);
  skeleton->names = names;
  skeleton->bones = copy (self, from->bones, from->n_bones, sizeof *from->bones);
  return skeleton;
}

/* (nullable): that of object @i, which objects before it may have, too; their copies are in
 * @copies. */
static const SlSkeleton *
copy_own_skeleton (SlPredictions *self, const SlPredictionView *prediction,
                   const SlObjectView *copies, guint i)
{
  const SlSkeleton *from = prediction->objects[i].skeleton;
  for (guint k = 0; k < i; k++)
    if (prediction->objects[k].skeleton == from)
      return copies[k].skeleton;
  return from != NULL ? copy_skeleton (self, from) : NULL;
}

static const SlCodeView *
copy_code (SlPredictions *self, const SlCodeView *from)
{
  if (from == NULL)
    return NULL;
  SlCodeView *code = sl_arena_memdup (self->arena, from, sizeof *from);
  code->symbology = sl_arena_strdup (self->arena, from->symbology);
  code->text = copy_text (self, from->text);
  code->add_on = copy_text (self, from->add_on);
  code->bytes = copy (self, from->bytes, (guint) from->n_bytes, 1);
  return code;
}

static void
copy_objects (SlPredictions *self, const SlPredictionView *from)
{
  SlObjectView *objects = sl_arena_alloc (self->arena, from->n_objects * sizeof *objects);
  for (guint i = 0; i < from->n_objects; i++) {
    const SlObjectView *object = &from->objects[i];
    objects[i] = *object;
    objects[i].label = sl_arena_strdup (self->arena, object->label);
    objects[i].mask.cells =
      copy (self, object->mask.cells, object->mask.width * object->mask.height, 1);
    objects[i].labels = copy_labels (self, object->labels, object->n_labels);
    objects[i].code = copy_code (self, object->code);
    objects[i].text = object->text != NULL
                        ? sl_arena_memdup (self->arena, object->text, sizeof *object->text)
                        : NULL;
    objects[i].identity_cameras = copy_text (self, object->identity_cameras);
    objects[i].identity_name = copy_text (self, object->identity_name);
    objects[i].points = copy (self, object->points, object->n_points, sizeof *object->points);
    objects[i].skeleton = copy_own_skeleton (self, from, objects, i);
  }
  self->value.objects = objects;
}

static void
copy_mask (SlPredictions *self, const SlPredictionView *from)
{
  SlMaskClass *classes =
    copy (self, from->mask_classes, from->n_mask_classes, sizeof *from->mask_classes);
  for (guint i = 0; i < from->n_mask_classes; i++)
    classes[i].label = sl_arena_strdup (self->arena, from->mask_classes[i].label);
  self->mask = g_bytes_new (from->mask.classes, (gsize) from->mask.width * from->mask.height);
  self->value.mask.classes = g_bytes_get_data (self->mask, NULL);
  self->value.mask_classes = classes;
}

static const char *const *
copy_words (SlPredictions *self, const char *const *from, guint n)
{
  const char **words = from != NULL ? sl_arena_alloc (self->arena, n * sizeof *words) : NULL;
  for (guint i = 0; i < n && words != NULL; i++)
    words[i] = sl_arena_strdup (self->arena, from[i]);
  return words;
}

static void
copy_outputs (SlPredictions *self, const SlOutputs *from)
{
  SlTensorInfo *infos = copy (self, from->infos, from->n, sizeof *from->infos);
  const void **data = copy (self, from->data, from->n, sizeof *from->data);
  for (guint i = 0; i < from->n; i++) {
    infos[i].name = (char *) copy_text (self, from->infos[i].name);
    data[i] = sl_arena_memdup (self->arena, from->data[i], infos[i].bytes);
  }
  self->value.outputs.infos = infos;
  self->value.outputs.data = data;
}

static void
fill (SlPredictions *self, const SlPredictionView *prediction)
{
  self->value = *prediction;
  self->value.source = copy_text (self, prediction->source);
  copy_objects (self, prediction);
  self->value.labels = copy_labels (self, prediction->labels, prediction->n_labels);
  if (prediction->skeleton != NULL)
    self->value.skeleton = copy_skeleton (self, prediction->skeleton);
  if (prediction->mask.width > 0)
    copy_mask (self, prediction);
  const SlVector *vector = &prediction->vector;
  self->value.vector.values = copy (self, vector->values, vector->n, sizeof *vector->values);
  self->value.vector.names = copy_words (self, vector->names, vector->n);
  self->value.vector.units = copy_words (self, vector->units, vector->n);
  copy_outputs (self, &prediction->outputs);
  if (prediction->analysis != NULL)
    self->value.analysis = sl_analysis_copy (
      prediction->analysis, sl_arena_alloc (self->arena, sl_analysis_size (prediction->analysis)),
      TRUE);
  if (prediction->latency != NULL) {
    self->latency = *prediction->latency;
    self->value.latency = &self->latency;
  }
  self->value.worker = copy_text (self, prediction->worker);
}

SlPredictions *
sl_predictions_new (const SlPredictionView *prediction)
{
  g_return_val_if_fail (prediction != NULL, NULL);
  SlPredictions *self = g_new0 (SlPredictions, 1);
  g_atomic_ref_count_init (&self->refs);
  self->arena = sl_arena_new ();
  fill (self, prediction);
  return self;
}

void
sl_predictions_refill (SlPredictions *self, const SlPredictionView *prediction)
{
  g_return_if_fail (self != NULL && prediction != NULL);
  g_return_if_fail (g_atomic_ref_count_compare (&self->refs, 1));
  g_clear_pointer (&self->mask, g_bytes_unref);
  sl_arena_clear (self->arena);
  self->lists = 0;
  fill (self, prediction);
}

const SlPredictionView *
sl_predictions_view (const SlPredictions *predictions)
{
  return &predictions->value;
}

/* Any thread may be the first to ask. From here on nothing else is allocated in the arena. */
static const SlPredictionLists *
get_lists (const SlPredictions *predictions)
{
  SlPredictions *self = (SlPredictions *) predictions;
  if (g_once_init_enter (&self->lists))
    g_once_init_leave (&self->lists,
                       (gsize) sl_prediction_lists_new (self->arena, self, &self->value));
  return (const SlPredictionLists *) self->lists;
}

/**
 * sl_predictions_ref:
 * @predictions: predictions
 *
 * Takes a reference to the predictions.
 *
 * Returns: (transfer full): @predictions
 *
 * Since: 0.1
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
 *
 * Drops a reference to the predictions; the last one frees them with all their objects.
 *
 * Since: 0.1
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
 * Gets the name of the camera or file.
 *
 * Returns: (transfer none) (nullable): where the frame came from, where something said so:
 * slpostprocess' source property
 *
 * Since: 0.1
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
 * Gets the number of the frame since the predictor or the pipeline began.
 *
 * Returns: how many frames were predicted on before this one
 *
 * Since: 0.1
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
 * Gets the frame's time.
 *
 * Returns: nanoseconds of stream time of the frame, %G_MAXUINT64 = unknown
 *
 * Since: 0.1
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
 * Gets the frame's width, in whose pixels boxes are.
 *
 * Returns: width of the frame in pixels
 *
 * Since: 0.1
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
 * Gets the frame's height, in whose pixels boxes are.
 *
 * Returns: height of the frame in pixels
 *
 * Since: 0.1
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
 * @preprocess: (out) (optional): microseconds of that in which the model's input was made, without
 * waiting
 * @inference: (out) (optional): microseconds that the model took, with waiting
 * @decode: (out) (optional): microseconds that its outputs took to decode, with waiting
 *
 * A time that is not known is -1.
 *
 * Returns: %FALSE when nothing is known of the times
 *
 * Since: 0.1
 */
gboolean
sl_predictions_get_latency (const SlPredictions *predictions, gint64 *age, gint64 *preprocess,
                            gint64 *inference, gint64 *decode)
{
  static const SlLatency unknown = { -1, -1, -1, -1 };
  g_return_val_if_fail (predictions != NULL, FALSE);
  const SlLatency *latency =
    predictions->value.latency != NULL ? predictions->value.latency : &unknown;
  set_time (age, latency->age);
  set_time (preprocess, latency->preprocess);
  set_time (inference, latency->inference);
  set_time (decode, latency->decode);
  return predictions->value.latency != NULL;
}

/**
 * sl_predictions_get_worker:
 * @predictions: predictions
 *
 * Gets where the model ran, when that was another machine: the name of the worker (`sightline
 * serve`) that computed the frame.
 *
 * Returns: (transfer none) (nullable): the worker's name; %NULL when the model ran in this process
 *
 * Since: 0.1
 */
const char *
sl_predictions_get_worker (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, NULL);
  return predictions->value.worker;
}

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
  return predictions->value.n_objects;
}

/**
 * sl_predictions_get_objects:
 * @predictions: predictions
 *
 * Gets what a detector found on the frame.
 *
 * Returns: (array zero-terminated=1) (transfer none): the objects, best first, then %NULL; the
 * array belongs to @predictions
 *
 * Since: 0.1
 */
SlObject *const *
sl_predictions_get_objects (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, NULL);
  return get_lists (predictions)->objects;
}

/**
 * sl_predictions_get_object:
 * @predictions: predictions
 * @index: 0, the best, to sl_predictions_get_n_objects() - 1
 *
 * Gets one of the frame's objects.
 *
 * Returns: (transfer none): the object
 *
 * Since: 0.1
 */
SlObject *
sl_predictions_get_object (const SlPredictions *predictions, guint index)
{
  g_return_val_if_fail (predictions != NULL && index < predictions->value.n_objects, NULL);
  return get_lists (predictions)->objects[index];
}

/**
 * sl_predictions_get_labels:
 * @predictions: predictions
 *
 * Gets what a classifier says of the whole frame.
 *
 * Returns: (array zero-terminated=1) (transfer none): labels of the whole frame, best first, then
 * %NULL; the array belongs to @predictions
 *
 * Since: 0.1
 */
SlLabel *const *
sl_predictions_get_labels (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, NULL);
  return get_lists (predictions)->labels;
}

/**
 * sl_predictions_get_keypoint_names:
 * @predictions: predictions
 *
 * Gets the names of all keypoints.
 *
 * Returns: (array zero-terminated=1) (transfer none): what the keypoints of each object are called,
 * in their order, "" for one without a name, then %NULL; the array belongs to @predictions
 *
 * Since: 0.1
 */
const char *const *
sl_predictions_get_keypoint_names (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, NULL);
  return get_lists (predictions)->keypoint_names;
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
  return predictions->value.skeleton != NULL ? predictions->value.skeleton->n_bones : 0;
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
  g_return_if_fail (predictions != NULL && bone < sl_predictions_get_n_bones (predictions)
                    && from != NULL && to != NULL);
  *from = predictions->value.skeleton->bones[bone][0];
  *to = predictions->value.skeleton->bones[bone][1];
}

/**
 * sl_predictions_get_class_mask:
 * @predictions: predictions
 *
 * The class of each part of the frame. A cell has the number of its class: 0 is the background
 * where the model has one, 255 stands where the model did not look.
 *
 * Returns: (transfer none) (nullable): a mask over the whole frame; %NULL when the model makes none
 *
 * Since: 0.1
 */
SlMask *
sl_predictions_get_class_mask (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, NULL);
  return get_lists (predictions)->class_mask;
}

/**
 * sl_predictions_get_mask_class_names:
 * @predictions: predictions
 *
 * Gets which classes the frame's mask has.
 *
 * Returns: (array zero-terminated=1) (transfer none): names of the classes that the mask has, the
 * largest first, as
 *   sl_predictions_get_mask_class() counts them, then %NULL; the array belongs to @predictions
 *
 * Since: 0.1
 */
const char *const *
sl_predictions_get_mask_class_names (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, NULL);
  return get_lists (predictions)->mask_class_names;
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
  return predictions->value.n_mask_classes;
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
sl_predictions_get_mask_class (const SlPredictions *predictions, guint mask_class, gint *label_id,
                               gdouble *fraction)
{
  g_return_val_if_fail (predictions != NULL && mask_class < predictions->value.n_mask_classes,
                        NULL);
  const SlMaskClass *found = &predictions->value.mask_classes[mask_class];
  if (label_id != NULL)
    *label_id = found->label_id;
  if (fraction != NULL)
    *fraction = found->fraction;
  return found->label;
}

/**
 * sl_predictions_get_values:
 * @predictions: predictions
 * @n: (out): how many there are
 *
 * The numbers of a model that neither names nor finds anything: an embedding, whose length is 1, or
 * estimated values, in the order of the model's output.
 *
 * Returns: (transfer none) (array length=n) (nullable): the numbers; %NULL without any
 *
 * Since: 0.1
 */
const gfloat *
sl_predictions_get_values (const SlPredictions *predictions, guint *n)
{
  g_return_val_if_fail (predictions != NULL && n != NULL, NULL);
  *n = predictions->value.vector.n;
  return predictions->value.vector.values;
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
  g_return_val_if_fail (predictions != NULL && value < predictions->value.vector.n, NULL);
  const SlVector *vector = &predictions->value.vector;
  if (unit != NULL)
    *unit = vector->units != NULL ? vector->units[value] : NULL;
  return vector->names != NULL ? vector->names[value] : NULL;
}

/**
 * sl_predictions_get_outputs:
 * @predictions: predictions
 *
 * Gets the model's output tensors as they are.
 *
 * Returns: (array zero-terminated=1) (transfer none): the model's output tensors in its order, then
 * %NULL: there are some where the decoder is "none"; the array belongs to @predictions
 *
 * Since: 0.1
 */
SlOutput *const *
sl_predictions_get_outputs (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, NULL);
  return get_lists (predictions)->outputs;
}

/**
 * sl_predictions_to_json:
 * @predictions: predictions
 *
 * Writes the predictions as JSON.
 *
 * Returns: (transfer full): one line without newline, the same as `sightline predict --json` prints
 *
 * Since: 0.1
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
 * Writes the predictions for people to read.
 *
 * Returns: (transfer full): the best label, or a line an object "label confidence x y w h"; a
 * newline after each
 *
 * Since: 0.1
 */
char *
sl_predictions_to_text (const SlPredictions *predictions)
{
  g_return_val_if_fail (predictions != NULL, NULL);
  GString *text = g_string_new (NULL);
  sl_prediction_append_text (text, &predictions->value);
  return g_string_free (text, FALSE);
}
