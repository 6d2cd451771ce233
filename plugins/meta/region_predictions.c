/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Predictions as metas of a buffer: GstVideoRegionOfInterestMeta on every GStreamer, and what relations.c adds. Reading uses
 * the region metas only, which are always there.
 */
#include "plugins/meta/region_predictions.h"

#include <gst/video/video.h>
#include <string.h>

#include "plugins/meta/analysis_meta.h"
#include "plugins/meta/mask_meta.h"
#include "plugins/meta/object_mask.h"
#include "plugins/meta/object_regions.h"
#include "plugins/meta/region_keeper.h"
#include "plugins/meta/relations.h"
#include "plugins/meta/vector_meta.h"

#define OBJECT_ID "object_id"

void
sl_region_set_object_id (GstVideoRegionOfInterestMeta *region, gint32 id)
{
  GstStructure *object_id = gst_video_region_of_interest_meta_get_param (region, OBJECT_ID);
  if (object_id != NULL)
    gst_structure_set (object_id, "id", G_TYPE_INT, id, NULL);
  else
    gst_video_region_of_interest_meta_add_param (region, gst_structure_new (OBJECT_ID, "id", G_TYPE_INT, id, NULL));
  if (region->id <= 0)
    region->id = id;
}

/* Name of the structure with a label, of the whole frame or of an object. */
#define LABEL "classification"
/* Objects inside objects inside ... deeper than this lie flat. */
#define MOST_DEPTH 8

GstVideoRegionOfInterestMeta *
sl_buffer_add_object (GstBuffer *buffer, const SlObjectView *object, const SlSkeleton *skeleton)
{
  GstVideoRegionOfInterestMeta *region = gst_buffer_add_video_region_of_interest_meta (
    buffer, object->label, (guint) object->x, (guint) object->y, (guint) object->w, (guint) object->h);
  GstStructure *detection =
    gst_structure_new ("detection", "x_min", G_TYPE_DOUBLE, object->x_min, "x_max", G_TYPE_DOUBLE, object->x_max, "y_min", G_TYPE_DOUBLE,
                       object->y_min, "y_max", G_TYPE_DOUBLE, object->y_max, "confidence", G_TYPE_DOUBLE, object->confidence, "label",
                       G_TYPE_STRING, object->label, "label_id", G_TYPE_INT, object->label_id, NULL);
  gst_video_region_of_interest_meta_add_param (region, detection);
  sl_region_add_points (region, object, skeleton);
  sl_region_add_mask (region, object);
  if (object->object_id > 0)
    sl_region_set_object_id (region, object->object_id);
  return region;
}

void
sl_region_add_label (GstVideoRegionOfInterestMeta *region, const SlLabelled *label)
{
  GstStructure *classification = gst_structure_new (LABEL, "label", G_TYPE_STRING, label->label, "label_id", G_TYPE_INT, label->label_id,
                                                    "confidence", G_TYPE_DOUBLE, label->confidence, NULL);
  if (label->model != NULL)
    gst_structure_set (classification, "model_name", G_TYPE_STRING, label->model, NULL);
  gst_video_region_of_interest_meta_add_param (region, classification);
}

static void
add_mask (GstBuffer *buffer, const SlPredictionView *prediction, SlBytePool *pool)
{
  const SlClassMask *mask = &prediction->mask;
  g_autoptr (GstBuffer) cells = sl_byte_pool_take (pool, mask->classes, (gsize) mask->width * mask->height);
  SlMaskMeta *meta = sl_buffer_add_mask_meta (buffer, mask->width, mask->height, cells);
  if (meta != NULL)
    meta->background = mask->background;
  for (guint i = 0; i < prediction->n_mask_classes && meta != NULL; i++)
    meta->names[prediction->mask_classes[i].label_id & 0xff] = g_intern_string (prediction->mask_classes[i].label);
}

void
sl_buffer_add_prediction (GstBuffer *buffer, const SlPredictionView *prediction, SlBytePool *pool)
{
  g_return_if_fail (gst_buffer_is_writable (buffer));
  for (guint i = 0; i < prediction->n_objects; i++)
    sl_buffer_add_object (buffer, &prediction->objects[i], prediction->skeleton);
  for (guint i = 0; i < prediction->n_labels; i++)
    sl_region_add_label (gst_buffer_add_video_region_of_interest_meta (buffer, prediction->labels[i].label, 0, 0, (guint) prediction->width,
                                                                       (guint) prediction->height),
                         &prediction->labels[i]);
  if (prediction->mask.width > 0)
    add_mask (buffer, prediction, pool);
  if (prediction->vector.n > 0)
    sl_buffer_add_vector_meta (buffer, &prediction->vector);
  sl_buffer_relate_prediction (buffer, prediction, pool);
  sl_buffer_keep_regions (buffer);
}

gboolean
sl_buffer_has_predictions (GstBuffer *buffer)
{
  return gst_buffer_get_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) != NULL || sl_buffer_get_mask_meta (buffer) != NULL
         || sl_buffer_get_vector (buffer) != NULL;
}

void
sl_prediction_reader_init (SlPredictionReader *reader)
{
  reader->objects = g_array_new (FALSE, TRUE, sizeof (SlObjectView));
  reader->labels = g_array_new (FALSE, TRUE, sizeof (SlLabelled));
  reader->points = g_array_new (FALSE, TRUE, sizeof (SlPoint));
  reader->mask_classes = g_array_new (FALSE, TRUE, sizeof (SlMaskClass));
  reader->cells = g_byte_array_new ();
  reader->object_labels = g_array_new (FALSE, TRUE, sizeof (SlLabelled));
  reader->ids = g_array_new (FALSE, TRUE, sizeof (SlRegionIds));
}

void
sl_prediction_reader_clear (SlPredictionReader *reader)
{
  g_clear_pointer (&reader->objects, g_array_unref);
  g_clear_pointer (&reader->labels, g_array_unref);
  g_clear_pointer (&reader->points, g_array_unref);
  g_clear_pointer (&reader->mask_classes, g_array_unref);
  g_clear_pointer (&reader->cells, g_byte_array_unref);
  g_clear_pointer (&reader->object_labels, g_array_unref);
  g_clear_pointer (&reader->ids, g_array_unref);
}

/* The label of @params, else the region's own type; both outlive the buffer. */
const char *
sl_region_type_name (const GstVideoRegionOfInterestMeta *region)
{
  return region->roi_type != 0 ? g_quark_to_string (region->roi_type) : "unknown";
}

static const char *
read_label (const GstVideoRegionOfInterestMeta *region, const GstStructure *params)
{
  const char *label = params != NULL ? gst_structure_get_string (params, "label") : NULL;
  if (label != NULL)
    return g_intern_string (label);
  return sl_region_type_name (region);
}

/* The label that @classification states. */
static void
read_labelled (const GstVideoRegionOfInterestMeta *region, const GstStructure *classification, GArray *labels)
{
  const char *model = gst_structure_get_string (classification, "model_name");
  SlLabelled label = {
    .label_id = -1, .confidence = 1, .label = read_label (region, classification), .model = model != NULL ? g_intern_string (model) : NULL
  };
  gst_structure_get_double (classification, "confidence", &label.confidence);
  gst_structure_get_int (classification, "label_id", &label.label_id);
  g_array_append_val (labels, label);
}

static guint
read_object_labels (const GstVideoRegionOfInterestMeta *region, GArray *labels)
{
  const guint before = labels->len;
  for (const GList *l = region->params; l != NULL; l = l->next)
    if (gst_structure_has_name (l->data, LABEL))
      read_labelled (region, l->data, labels);
  return labels->len - before;
}

static void
read_object (SlPredictionReader *reader, GstVideoRegionOfInterestMeta *region, const GstStructure *detection,
             const SlPredictionView *prediction)
{
  const double width = MAX (prediction->width, 1), height = MAX (prediction->height, 1);
  SlObjectView object = {
    .x = (gint) MIN (region->x, G_MAXINT),
    .y = (gint) MIN (region->y, G_MAXINT),
    .w = (gint) MIN (region->w, G_MAXINT),
    .h = (gint) MIN (region->h, G_MAXINT),
    .x_min = region->x / width,
    .x_max = ((double) region->x + region->w) / width,
    .y_min = region->y / height,
    .y_max = ((double) region->y + region->h) / height,
    .confidence = 1,
    .label_id = -1,
    .label = read_label (region, detection),
  };
  if (detection != NULL) {
    gst_structure_get_double (detection, "x_min", &object.x_min);
    gst_structure_get_double (detection, "x_max", &object.x_max);
    gst_structure_get_double (detection, "y_min", &object.y_min);
    gst_structure_get_double (detection, "y_max", &object.y_max);
    gst_structure_get_double (detection, "confidence", &object.confidence);
    gst_structure_get_int (detection, "label_id", &object.label_id);
  }
  const GstStructure *object_id = gst_video_region_of_interest_meta_get_param (region, OBJECT_ID);
  if (object_id != NULL && (!gst_structure_get_int (object_id, "id", &object.object_id) || object.object_id < 0))
    object.object_id = 0;
  sl_region_read_mask (region, reader->cells, &object.mask);
  const SlRegionIds ids = { region->id, region->parent_id, 0 };
  object.n_points = sl_region_read_points (region, &object, reader->points, &reader->skeleton);
  object.n_labels = read_object_labels (region, reader->object_labels);
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
  guint32 cells[256] = { 0 };
  g_array_set_size (reader->mask_classes, 0);
  prediction->mask = (SlClassMask){ 0 };
  if (meta != NULL) {
    const gsize n = (gsize) meta->width * meta->height;
    prediction->mask = (SlClassMask){ meta->width, meta->height, meta->cells, meta->background };
    for (gsize i = 0; i < n; i++)
      cells[meta->cells[i]]++;
    for (guint i = 0; i < SL_MASK_VOID; i++) {
      const SlMaskClass found = { (gint32) i, meta->names[i] != NULL ? meta->names[i] : "unknown", cells[i] / (double) n };
      if (cells[i] > 0)
        g_array_append_val (reader->mask_classes, found);
    }
    g_array_sort (reader->mask_classes, larger_first);
  }
  prediction->n_mask_classes = reader->mask_classes->len;
  prediction->mask_classes = (const SlMaskClass *) (gconstpointer) reader->mask_classes->data;
}

/* Points, labels and cells are appended while objects are read, which may move them: only now have they an address. */
static void
place_parts (SlPredictionReader *reader)
{
  const guint8 *cells = reader->cells->data;
  const SlPoint *points = (const SlPoint *) (gconstpointer) reader->points->data;
  const SlLabelled *labels = (const SlLabelled *) (gconstpointer) reader->object_labels->data;
  for (guint i = 0; i < reader->objects->len; i++) {
    SlObjectView *object = &g_array_index (reader->objects, SlObjectView, i);
    object->points = points;
    object->labels = labels;
    points += object->n_points;
    labels += object->n_labels;
    object->mask.cells = cells;
    cells += (gsize) object->mask.width * object->mask.height;
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
      if (other->depth < MOST_DEPTH) {
        ids->depth = other->depth + 1;
        g_array_index (reader->objects, SlObjectView, i).parent = k;
      }
      break;
    }
  }
}

void
sl_prediction_reader_read (SlPredictionReader *reader, GstBuffer *buffer, SlPredictionView *prediction)
{
  gpointer state = NULL;
  GstMeta *meta;
  g_array_set_size (reader->objects, 0);
  g_array_set_size (reader->labels, 0);
  g_array_set_size (reader->points, 0);
  g_byte_array_set_size (reader->cells, 0);
  g_array_set_size (reader->object_labels, 0);
  g_array_set_size (reader->ids, 0);
  memset (&reader->skeleton.skeleton, 0, sizeof reader->skeleton.skeleton);
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) != NULL) {
    GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) meta;
    const GstStructure *detection = gst_video_region_of_interest_meta_get_param (region, "detection");
    if (sl_region_is_label (region, prediction->width, prediction->height))
      read_labelled (region, gst_video_region_of_interest_meta_get_param (region, LABEL), reader->labels);
    else
      read_object (reader, region, detection, prediction);
  }
  place_parts (reader);
  find_parents (reader);
  read_mask (reader, buffer, prediction);
  const SlVector *vector = sl_buffer_get_vector (buffer);
  prediction->vector = vector != NULL ? *vector : (SlVector){ 0 };
  prediction->analysis = sl_buffer_get_analysis (buffer);
  prediction->skeleton = reader->skeleton.skeleton.n_points > 0 ? &reader->skeleton.skeleton : NULL;
  prediction->n_objects = reader->objects->len;
  prediction->objects = (const SlObjectView *) (gconstpointer) reader->objects->data;
  prediction->n_labels = reader->labels->len;
  prediction->labels = (const SlLabelled *) (gconstpointer) reader->labels->data;
}

/* The depth of an object's ids becomes its new place, or that of what it is in, from 1 on: objects come behind those that they are in. */
void
sl_prediction_reader_choose (SlPredictionReader *reader, const SlClassFilter *filter, SlPredictionView *prediction)
{
  guint kept = 0;
  if (filter == NULL)
    return;
  for (guint i = 0; i < reader->objects->len; i++) {
    SlObjectView object = g_array_index (reader->objects, SlObjectView, i);
    guint *place = &g_array_index (reader->ids, SlRegionIds, i).depth;
    object.parent = object.parent > 0 ? g_array_index (reader->ids, SlRegionIds, object.parent - 1).depth : 0;
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
      g_array_index (reader->labels, SlLabelled, kept++) = g_array_index (reader->labels, SlLabelled, i);
  prediction->n_labels = kept;
}

void
sl_prediction_set_times (SlPredictionView *prediction, GstBuffer *buffer, const GstSegment *segment, const SlFrameMeta *meta,
                         SlLatency *latency)
{
  prediction->timestamp = G_MAXUINT64;
  if (segment->format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID (buffer))
    prediction->timestamp = gst_segment_to_stream_time (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
  prediction->latency = sl_frame_meta_latency (meta, g_get_monotonic_time (), latency) ? latency : NULL;
}

void
sl_prediction_reader_read_frame (SlPredictionReader *reader, GstBuffer *buffer, const GstSegment *segment, guint64 counted,
                                 SlPredictionView *prediction)
{
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  prediction->frame = meta != NULL && meta->number != SL_NO_NUMBER ? meta->number : counted;
  sl_prediction_set_times (prediction, buffer, segment, meta, &reader->latency);
  sl_prediction_reader_read (reader, buffer, prediction);
}
