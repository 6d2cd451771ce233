/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Predictions as metas of a buffer: GstVideoRegionOfInterestMeta on every GStreamer, and what
 * relations/write.c adds. Reading takes objects from the region metas, and from relations/read.c
 * what no region stands for. Metas may be anyone's: numbers are checked.
 */
#include "plugins/meta/predictions.h"

#include <gst/video/video.h>
#include <string.h>

#include "plugins/meta/analysis_meta.h"
#include "plugins/meta/mask_meta.h"
#include "plugins/meta/outputs_meta.h"
#include "plugins/meta/regions/code.h"
#include "plugins/meta/regions/keep.h"
#include "plugins/meta/regions/mask.h"
#include "plugins/meta/regions/object.h"
#include "plugins/meta/regions/text.h"
#include "plugins/meta/relations/write.h"
#include "plugins/meta/vector_meta.h"

/* Type of a region whose label is a text. */
#define TEXT "text"
/* Objects inside objects inside ... deeper than this lie flat. */
#define MAX_DEPTH 8
/* Regions beyond this many are not read. */
#define MAX_REGIONS 4096

static void
add_mask (GstBuffer *buffer, const SlPredictionView *prediction, SlBytePool *pool)
{
  const SlClassMask *mask = &prediction->mask;
  g_autoptr (GstBuffer) cells =
    sl_byte_pool_take (pool, mask->classes, (gsize) mask->width * mask->height);
  SlMaskMeta *meta = sl_buffer_add_mask_meta (buffer, mask->width, mask->height, cells);
  if (meta != NULL)
    meta->background = mask->background;
  for (guint i = 0; i < prediction->n_mask_classes && meta != NULL; i++)
    meta->names[prediction->mask_classes[i].label_id & 0xff] =
      g_intern_string (prediction->mask_classes[i].label);
}

void
sl_buffer_add_prediction (GstBuffer *buffer, const SlPredictionView *prediction, SlBytePool *pool)
{
  g_return_if_fail (gst_buffer_is_writable (buffer));
  for (guint i = 0; i < prediction->n_objects; i++)
    sl_buffer_add_object (buffer, &prediction->objects[i], prediction->skeleton);
  for (guint i = 0; i < prediction->n_labels; i++) {
    const SlLabelled *label = &prediction->labels[i];
    const char *type = label->label_id == SL_TEXT_ID ? TEXT : label->label;
    sl_region_add_label (gst_buffer_add_video_region_of_interest_meta (buffer, type, 0, 0,
                                                                       (guint) prediction->width,
                                                                       (guint) prediction->height),
                         label);
  }
  if (prediction->mask.width > 0)
    add_mask (buffer, prediction, pool);
  if (prediction->vector.n > 0)
    sl_buffer_add_vector_meta (buffer, &prediction->vector);
  if (prediction->outputs.n > 0)
    sl_buffer_add_outputs_meta (buffer, &prediction->outputs);
  sl_buffer_relate_prediction (buffer, prediction, pool);
  sl_buffer_keep_regions (buffer);
}

gboolean
sl_buffer_has_predictions (GstBuffer *buffer)
{
  return gst_buffer_get_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) != NULL
         || sl_buffer_get_mask_meta (buffer) != NULL || sl_buffer_get_vector (buffer) != NULL
         || sl_buffer_get_outputs (buffer) != NULL || sl_buffer_has_related (buffer, FALSE);
}

void
sl_prediction_reader_init (SlPredictionReader *reader)
{
  reader->objects = g_array_new (FALSE, TRUE, sizeof (SlObjectView));
  reader->labels = g_array_new (FALSE, TRUE, sizeof (SlLabelled));
  reader->texts = sl_text_pool_new ();
  reader->points = g_array_new (FALSE, TRUE, sizeof (SlPoint));
  reader->mask_classes = g_array_new (FALSE, TRUE, sizeof (SlMaskClass));
  reader->cells = g_byte_array_new ();
  reader->object_labels = g_array_new (FALSE, TRUE, sizeof (SlLabelled));
  reader->ids = g_array_new (FALSE, TRUE, sizeof (SlRegionIds));
  reader->codes = g_array_new (FALSE, TRUE, sizeof (SlCodeView));
  reader->object_texts = g_array_new (FALSE, TRUE, sizeof (SlTextView));
  reader->frame_cells = g_byte_array_new ();
  reader->related = sl_related_new ();
  memset (reader->skeletons, 0, sizeof reader->skeletons);
  reader->n_skeletons = 0;
}

void
sl_prediction_reader_clear (SlPredictionReader *reader)
{
  g_clear_pointer (&reader->objects, g_array_unref);
  g_clear_pointer (&reader->labels, g_array_unref);
  g_clear_pointer (&reader->texts, sl_text_pool_free);
  g_clear_pointer (&reader->points, g_array_unref);
  g_clear_pointer (&reader->mask_classes, g_array_unref);
  g_clear_pointer (&reader->cells, g_byte_array_unref);
  g_clear_pointer (&reader->object_labels, g_array_unref);
  g_clear_pointer (&reader->ids, g_array_unref);
  g_clear_pointer (&reader->codes, g_array_unref);
  g_clear_pointer (&reader->object_texts, g_array_unref);
  g_clear_pointer (&reader->frame_cells, g_byte_array_unref);
  g_clear_pointer (&reader->related, sl_related_free);
  for (guint i = 0; i <= SL_MAX_SKELETONS; i++)
    g_clear_pointer (&reader->skeletons[i], g_free);
}

/* Takes what is related to @object, which @found is, too: labels behind those from @first on. */
static void
read_related (SlPredictionReader *reader, SlRelatedObject *found, guint first, SlObjectView *object)
{
  found->place = reader->objects->len + 1;
  sl_related_labels (reader->related, found, reader->object_labels, first);
  if (object->object_id == 0)
    object->object_id = sl_related_id (reader->related, found);
  if (object->mask.width == 0)
    sl_related_mask (reader->related, found, object, reader->cells, &object->mask);
}

static gboolean
same_skeleton (const SlSkeleton *a, const SlSkeleton *b)
{
  return a->n_points == b->n_points && a->n_bones == b->n_bones
         && memcmp (a->names, b->names, a->n_points * sizeof *a->names) == 0
         && memcmp (a->bones, b->bones, a->n_bones * sizeof *a->bones) == 0;
}

/* Points, and the one of the reader's skeletons that has their names; names that are too many
 * kinds' are left out. */
static void
read_points (SlPredictionReader *reader, GstVideoRegionOfInterestMeta *region, SlObjectView *object)
{
  guint at = 0;
  if (reader->skeletons[reader->n_skeletons] == NULL)
    reader->skeletons[reader->n_skeletons] = g_new0 (SlReadSkeleton, 1);
  const SlSkeleton *read = &reader->skeletons[reader->n_skeletons]->skeleton;
  object->n_points =
    sl_region_read_points (region, object, reader->points, reader->skeletons[reader->n_skeletons]);
  if (object->n_points == 0 || read->n_points == 0)
    return;
  while (at < reader->n_skeletons && !same_skeleton (&reader->skeletons[at]->skeleton, read))
    at++;
  if (at == SL_MAX_SKELETONS)
    return;
  reader->n_skeletons = MAX (reader->n_skeletons, at + 1);
  object->skeleton = &reader->skeletons[at]->skeleton;
}

/* The object's code has no address yet: any that is not NULL stands for the next one. */
static void
read_code (SlPredictionReader *reader, GstVideoRegionOfInterestMeta *region, SlObjectView *object)
{
  SlCodeView code;
  if (!sl_region_read_code (region, &code))
    return;
  g_array_append_val (reader->codes, code);
  object->code = (const SlCodeView *) (gconstpointer) reader->codes->data;
}

/* As with codes. */
static void
read_text (SlPredictionReader *reader, GstVideoRegionOfInterestMeta *region, SlObjectView *object)
{
  const guint n = reader->object_texts->len;
  g_array_set_size (reader->object_texts, n + 1);
  if (sl_region_read_text (region, &g_array_index (reader->object_texts, SlTextView, n)))
    object->text = (const SlTextView *) (gconstpointer) reader->object_texts->data;
  else
    g_array_set_size (reader->object_texts, n);
}

static void
read_object (SlPredictionReader *reader, GstVideoRegionOfInterestMeta *region,
             const SlPredictionView *prediction)
{
  const guint first = reader->object_labels->len;
  const SlRegionIds ids = { region->id, region->parent_id, 0 };
  SlRelatedObject *found = sl_related_claim (reader->related, region);
  SlObjectView object;
  if (!sl_region_read_object (region, prediction->width, prediction->height, &object))
    return;
  sl_region_read_mask (region, reader->cells, &object.mask);
  read_points (reader, region, &object);
  sl_region_read_labels (region, reader->texts, reader->object_labels);
  if (found != NULL)
    read_related (reader, found, first, &object);
  object.n_labels = reader->object_labels->len - first;
  read_code (reader, region, &object);
  read_text (reader, region, &object);
  g_array_append_val (reader->objects, object);
  g_array_append_val (reader->ids, ids);
}

/* The corners of a turned box, as decoders give them. */
static void
read_corners (SlPredictionReader *reader, const SlRelatedObject *found,
              const SlPredictionView *prediction, SlObjectView *object)
{
  for (guint i = 0; found->turned && i < G_N_ELEMENTS (found->corners); i++) {
    const SlPoint point = { found->corners[i][0] / MAX (prediction->width, 1),
                            found->corners[i][1] / MAX (prediction->height, 1), found->confidence };
    g_array_append_val (reader->points, point);
  }
  object->n_points = found->turned ? G_N_ELEMENTS (found->corners) : 0;
  object->skeleton = found->turned ? &sl_skeleton_corners : NULL;
}

/* The @i-th related object, unless a region stands for it. */
static void
read_unclaimed (SlPredictionReader *reader, guint i, const SlPredictionView *prediction)
{
  const guint first = reader->object_labels->len;
  SlRelatedObject *found = sl_related_object (reader->related, i);
  SlObjectView object = { .confidence = found->confidence, .label_id = -1, .label = found->label };
  SlRegionIds ids = { 0 };
  if (found->region
      || !sl_object_set_box (&object, found->box, MAX (prediction->width, 1),
                             MAX (prediction->height, 1)))
    return;
  const guint parent =
    found->parent > 0 ? sl_related_object (reader->related, found->parent - 1)->place : 0;
  if (parent > 0 && g_array_index (reader->ids, SlRegionIds, parent - 1).depth < MAX_DEPTH) {
    ids.depth = g_array_index (reader->ids, SlRegionIds, parent - 1).depth + 1;
    object.parent = parent;
  }
  read_related (reader, found, first, &object);
  read_corners (reader, found, prediction, &object);
  object.n_labels = reader->object_labels->len - first;
  g_array_append_val (reader->objects, object);
  g_array_append_val (reader->ids, ids);
}

static int
larger_first (gconstpointer a, gconstpointer b)
{
  const SlMaskClass *x = a, *y = b;
  return x->fraction > y->fraction ? -1 : x->fraction < y->fraction ? 1 : x->label_id - y->label_id;
}

static void
read_mask (SlPredictionReader *reader, GstBuffer *buffer, SlPredictionView *prediction)
{
  const SlMaskMeta *meta = sl_buffer_get_mask_meta (buffer);
  SlClassMask *mask = &prediction->mask;
  const char *related_names[256];
  const char *const *names = meta != NULL ? meta->names : related_names;
  guint32 cells[256] = { 0 };
  g_array_set_size (reader->mask_classes, 0);
  *mask = (SlClassMask){ 0 };
  if (meta != NULL)
    *mask = (SlClassMask){ meta->width, meta->height, meta->cells, meta->background };
  else
    sl_related_frame_mask (reader->related, prediction->width, prediction->height,
                           reader->frame_cells, mask, related_names);
  if (mask->width > 0) {
    const gsize n = (gsize) mask->width * mask->height;
    for (gsize i = 0; i < n; i++)
      cells[mask->classes[i]]++;
    for (guint i = 0; i < SL_MASK_VOID; i++) {
      const SlMaskClass found = { (gint32) i, names[i] != NULL ? names[i] : "unknown",
                                  cells[i] / (double) n };
      if (cells[i] > 0)
        g_array_append_val (reader->mask_classes, found);
    }
    g_array_sort (reader->mask_classes, larger_first);
  }
  prediction->n_mask_classes = reader->mask_classes->len;
  prediction->mask_classes = (const SlMaskClass *) (gconstpointer) reader->mask_classes->data;
}

/* Points, labels, codes, texts and cells are appended while objects are read, which may move them:
 * only now have they an address. */
static void
place_parts (SlPredictionReader *reader)
{
  guint point = 0, label = 0, code = 0, text = 0, cell = 0;
  for (guint i = 0; i < reader->objects->len; i++) {
    SlObjectView *object = &g_array_index (reader->objects, SlObjectView, i);
    guint n_cells = object->mask.width * object->mask.height;
    /* An array to which nothing was appended has no data. */
    object->points = object->n_points > 0 ? &g_array_index (reader->points, SlPoint, point) : NULL;
    object->labels =
      object->n_labels > 0 ? &g_array_index (reader->object_labels, SlLabelled, label) : NULL;
    object->code = object->code != NULL ? &g_array_index (reader->codes, SlCodeView, code++) : NULL;
    object->text =
      object->text != NULL ? &g_array_index (reader->object_texts, SlTextView, text++) : NULL;
    object->mask.cells = n_cells > 0 ? &g_array_index (reader->cells, guint8, cell) : NULL;
    point += object->n_points;
    label += object->n_labels;
    cell += n_cells;
  }
}

/* An object belongs to the nearest one before it that has the id it names as its parent's. */
static void
find_parents (SlPredictionReader *reader)
{
  for (guint i = 0; i < reader->ids->len; i++) {
    SlRegionIds *ids = &g_array_index (reader->ids, SlRegionIds, i);
    for (guint k = i; ids->parent_id > 0 && k > 0; k--) {
      const SlRegionIds *other = &g_array_index (reader->ids, SlRegionIds, k - 1);
      if (other->id != ids->parent_id)
        continue;
      if (other->depth < MAX_DEPTH) {
        ids->depth = other->depth + 1;
        g_array_index (reader->objects, SlObjectView, i).parent = k;
      }
      break;
    }
  }
}

static void
forget (SlPredictionReader *reader)
{
  g_array_set_size (reader->objects, 0);
  g_array_set_size (reader->labels, 0);
  sl_text_pool_clear (reader->texts);
  g_array_set_size (reader->points, 0);
  g_byte_array_set_size (reader->cells, 0);
  g_array_set_size (reader->object_labels, 0);
  g_array_set_size (reader->ids, 0);
  reader->n_skeletons = 0;
  g_array_set_size (reader->codes, 0);
  g_array_set_size (reader->object_texts, 0);
}

void
sl_prediction_reader_read (SlPredictionReader *reader, GstBuffer *buffer,
                           SlPredictionView *prediction)
{
  gpointer state = NULL;
  GstVideoRegionOfInterestMeta *region;
  const guint n_related =
    sl_related_list (reader->related, buffer, prediction->width, prediction->height);
  forget (reader);
  for (guint i = 0; i < MAX_REGIONS && (region = sl_next_region (buffer, &state)) != NULL; i++)
    if (sl_region_is_label (region, prediction->width, prediction->height))
      sl_region_read_frame_label (region, reader->texts, reader->labels);
    else
      read_object (reader, region, prediction);
  find_parents (reader);
  reader->n_regions = reader->objects->len;
  for (guint i = 0; i < n_related; i++)
    read_unclaimed (reader, i, prediction);
  sl_related_labels (reader->related, NULL, reader->labels, 0);
  place_parts (reader);
  read_mask (reader, buffer, prediction);
  const SlVector *vector = sl_buffer_get_vector (buffer);
  prediction->vector = vector != NULL ? *vector : (SlVector){ 0 };
  const SlOutputs *outputs = sl_buffer_get_outputs (buffer);
  prediction->outputs = outputs != NULL ? *outputs : (SlOutputs){ 0 };
  prediction->analysis = sl_buffer_get_analysis (buffer);
  prediction->skeleton = reader->n_skeletons > 0 ? &reader->skeletons[0]->skeleton : NULL;
  prediction->n_objects = reader->objects->len;
  prediction->objects = (const SlObjectView *) (gconstpointer) reader->objects->data;
  prediction->n_labels = reader->labels->len;
  prediction->labels = (const SlLabelled *) (gconstpointer) reader->labels->data;
}

/* Whether @buffer has an object without a region. */
static gboolean
has_unclaimed (SlPredictionReader *reader, GstBuffer *buffer, gint width, gint height)
{
  const guint n_related = sl_related_list (reader->related, buffer, width, height);
  gpointer state = NULL;
  GstVideoRegionOfInterestMeta *region;
  guint claimed = 0;
  for (guint i = 0;
       i < MAX_REGIONS && n_related > 0 && (region = sl_next_region (buffer, &state)) != NULL; i++)
    claimed += sl_related_claim (reader->related, region) != NULL;
  return claimed < n_related;
}

void
sl_prediction_reader_adopt (SlPredictionReader *reader, GstBuffer **buffer, gint width, gint height)
{
  SlPredictionView prediction = { .width = width, .height = height };
  gint last_id = 0;
  if (!has_unclaimed (reader, *buffer, width, height))
    return;
  sl_prediction_reader_read (reader, *buffer, &prediction);
  if (prediction.n_objects == reader->n_regions)
    return;
  *buffer = gst_buffer_make_writable (*buffer);
  for (guint i = 0; i < reader->ids->len; i++)
    last_id = MAX (last_id, g_array_index (reader->ids, SlRegionIds, i).id);
  for (guint i = reader->n_regions; i < prediction.n_objects; i++) {
    SlRegionIds *ids = &g_array_index (reader->ids, SlRegionIds, i);
    const SlObjectView *object = &prediction.objects[i];
    GstVideoRegionOfInterestMeta *region = sl_buffer_add_object (*buffer, object, NULL);
    for (guint k = 0; k < object->n_labels; k++)
      sl_region_add_label (region, &object->labels[k]);
    ids->id = region->id = last_id < G_MAXINT ? ++last_id : 0;
    region->parent_id =
      object->parent > 0 ? g_array_index (reader->ids, SlRegionIds, object->parent - 1).id : 0;
  }
  sl_buffer_keep_regions (*buffer);
}

/* The depth of an object's ids becomes its new place, or that of what it is in, from 1 on: objects
 * come behind those that they are in. */
void
sl_prediction_reader_choose (SlPredictionReader *reader, const SlClassFilter *filter,
                             SlPredictionView *prediction)
{
  guint kept = 0;
  if (filter == NULL)
    return;
  for (guint i = 0; i < reader->objects->len; i++) {
    SlObjectView object = g_array_index (reader->objects, SlObjectView, i);
    guint *place = &g_array_index (reader->ids, SlRegionIds, i).depth;
    object.parent =
      object.parent > 0 ? g_array_index (reader->ids, SlRegionIds, object.parent - 1).depth : 0;
    *place = object.parent;
    if (!sl_class_filter_passes (filter, object.label))
      continue;
    g_array_index (reader->objects, SlObjectView, kept++) = object;
    *place = kept;
  }
  prediction->n_objects = kept;
  kept = 0;
  for (guint i = 0; i < reader->labels->len; i++)
    if (sl_class_filter_passes (filter, g_array_index (reader->labels, SlLabelled, i).label))
      g_array_index (reader->labels, SlLabelled, kept++) =
        g_array_index (reader->labels, SlLabelled, i);
  prediction->n_labels = kept;
}

void
sl_prediction_set_times (SlPredictionView *prediction, GstBuffer *buffer, const GstSegment *segment,
                         const SlFrameMeta *meta, SlLatency *latency)
{
  prediction->timestamp = G_MAXUINT64;
  if (segment->format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID (buffer))
    prediction->timestamp =
      gst_segment_to_stream_time (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
  prediction->latency =
    sl_frame_meta_latency (meta, g_get_monotonic_time (), latency) ? latency : NULL;
  prediction->utc = g_get_real_time () - (prediction->latency != NULL ? latency->age : 0);
  prediction->worker = meta != NULL ? meta->worker : NULL;
}

void
sl_prediction_reader_read_frame (SlPredictionReader *reader, GstBuffer *buffer,
                                 const GstSegment *segment, guint64 counted,
                                 SlPredictionView *prediction)
{
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  prediction->frame = meta != NULL && meta->number != SL_NO_NUMBER ? meta->number : counted;
  sl_prediction_set_times (prediction, buffer, segment, meta, &reader->latency);
  sl_prediction_reader_read (reader, buffer, prediction);
}
