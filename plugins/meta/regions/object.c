/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Structures of a region and their fields. Metas may be anyone's: numbers are checked. */
#include "plugins/meta/regions/object.h"

#include <math.h>

#include "plugins/meta/regions/code.h"
#include "plugins/meta/regions/keypoints.h"
#include "plugins/meta/regions/mask.h"
#include "plugins/meta/regions/text.h"

#define OBJECT_ID "object_id"
#define IDENTITY "identity"
#define DETECTION "detection"
/* Name of the structure with a label, of the whole frame or of an object. */
#define LABEL "classification"

GstVideoRegionOfInterestMeta *
sl_next_region (GstBuffer *buffer, gpointer *state)
{
  return (GstVideoRegionOfInterestMeta *) gst_buffer_iterate_meta_filtered (
    buffer, state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

void
sl_region_set_object_id (GstVideoRegionOfInterestMeta *region, gint32 id)
{
  GstStructure *object_id = gst_video_region_of_interest_meta_get_param (region, OBJECT_ID);
  if (object_id != NULL)
    gst_structure_set (object_id, "id", G_TYPE_INT, id, NULL);
  else
    gst_video_region_of_interest_meta_add_param (
      region, gst_structure_new (OBJECT_ID, "id", G_TYPE_INT, id, NULL));
  if (region->id <= 0)
    region->id = id;
}

void
sl_region_set_identity (GstVideoRegionOfInterestMeta *region, const SlObjectView *object)
{
  GstStructure *identity = gst_video_region_of_interest_meta_get_param (region, IDENTITY);
  const char *cameras = object->identity_cameras != NULL ? object->identity_cameras : "";
  if (identity != NULL)
    gst_structure_set (identity, "id", G_TYPE_INT64, object->identity, "confidence", G_TYPE_DOUBLE,
                       object->identity_confidence, "cameras", G_TYPE_STRING, cameras, NULL);
  else
    gst_video_region_of_interest_meta_add_param (
      region, gst_structure_new (IDENTITY, "id", G_TYPE_INT64, object->identity, "confidence",
                                 G_TYPE_DOUBLE, object->identity_confidence, "cameras",
                                 G_TYPE_STRING, cameras, NULL));
  identity = gst_video_region_of_interest_meta_get_param (region, IDENTITY);
  if (object->identity_name != NULL)
    gst_structure_set (identity, "name", G_TYPE_STRING, object->identity_name, NULL);
  else
    gst_structure_remove_field (identity, "name");
}

gboolean
sl_object_set_box (SlObjectView *object, const double corners[4], gint width, gint height)
{
  const double left = MAX (corners[0], 0), top = MAX (corners[1], 0),
               right = MIN (corners[2], width), bottom = MIN (corners[3], height);
  if (!(right > left) || !(bottom > top))
    return FALSE;
  object->x = (gint) floor (left);
  object->y = (gint) floor (top);
  object->w = (gint) ceil (right) - object->x;
  object->h = (gint) ceil (bottom) - object->y;
  object->x_min = left / width;
  object->y_min = top / height;
  object->x_max = right / width;
  object->y_max = bottom / height;
  return TRUE;
}

GstVideoRegionOfInterestMeta *
sl_buffer_add_object (GstBuffer *buffer, const SlObjectView *object, const SlSkeleton *skeleton)
{
  GstVideoRegionOfInterestMeta *region = gst_buffer_add_video_region_of_interest_meta (
    buffer, object->label, (guint) object->x, (guint) object->y, (guint) object->w,
    (guint) object->h);
  GstStructure *detection = gst_structure_new (
    DETECTION, "x_min", G_TYPE_DOUBLE, object->x_min, "x_max", G_TYPE_DOUBLE, object->x_max,
    "y_min", G_TYPE_DOUBLE, object->y_min, "y_max", G_TYPE_DOUBLE, object->y_max, "confidence",
    G_TYPE_DOUBLE, object->confidence, "label", G_TYPE_STRING, object->label, "label_id",
    G_TYPE_INT, object->label_id, NULL);
  gst_video_region_of_interest_meta_add_param (region, detection);
  sl_region_add_points (region, object, skeleton);
  sl_region_add_mask (region, object);
  if (object->object_id > 0)
    sl_region_set_object_id (region, object->object_id);
  if (object->identity > 0)
    sl_region_set_identity (region, object);
  if (object->code != NULL)
    sl_region_set_code (region, object->code);
  if (object->text != NULL)
    sl_region_set_text (region, object->text);
  return region;
}

void
sl_region_add_label (GstVideoRegionOfInterestMeta *region, const SlLabelled *label)
{
  GstStructure *classification =
    gst_structure_new (LABEL, "label", G_TYPE_STRING, label->label, "label_id", G_TYPE_INT,
                       label->label_id, "confidence", G_TYPE_DOUBLE, label->confidence, NULL);
  if (label->model != NULL)
    gst_structure_set (classification, "model_name", G_TYPE_STRING, label->model, NULL);
  if (label->n_shares > 0)
    sl_reading_set_shares (classification, label->shares, label->n_shares);
  gst_video_region_of_interest_meta_add_param (region, classification);
}

gboolean
sl_region_is_label (GstVideoRegionOfInterestMeta *region, gint width, gint height)
{
  return region->x == 0 && region->y == 0 && region->w >= (guint) width
         && region->h >= (guint) height
         && gst_video_region_of_interest_meta_get_param (region, DETECTION) == NULL
         && gst_video_region_of_interest_meta_get_param (region, LABEL) != NULL;
}

const char *
sl_region_type_name (const GstVideoRegionOfInterestMeta *region)
{
  return region->roi_type != 0 ? g_quark_to_string (region->roi_type) : "unknown";
}

/* The label of @params, else the region's own type; both outlive the buffer. */
static const char *
read_label (const GstVideoRegionOfInterestMeta *region, const GstStructure *params)
{
  const char *label = params != NULL ? gst_structure_get_string (params, "label") : NULL;
  if (label != NULL)
    return g_intern_string (label);
  return sl_region_type_name (region);
}

/* A number that should be in 0..1. */
static void
read_share (const GstStructure *structure, const char *field, double *value)
{
  double number;
  if (gst_structure_get_double (structure, field, &number))
    *value = number >= 0 ? MIN (number, 1) : 0;
}

/* The label that @classification states. Texts are kept until the next frame only, since there is
 * no end of them. */
static void
read_labelled (const GstVideoRegionOfInterestMeta *region, const GstStructure *classification,
               SlTextPool *texts, GArray *labels)
{
  const char *model = gst_structure_get_string (classification, "model_name"),
             *text = gst_structure_get_string (classification, "label");
  SlLabelled label = { .label_id = SL_TEXT_ID,
                       .confidence = 1,
                       .model = model != NULL ? g_intern_string (model) : NULL };
  read_share (classification, "confidence", &label.confidence);
  gst_structure_get_int (classification, "label_id", &label.label_id);
  label.label = label.label_id == SL_TEXT_ID && text != NULL ? sl_text_pool_insert (texts, text)
                                                             : read_label (region, classification);
  g_array_append_val (labels, label);
}

/* DL Streamer names the structure of a classification by the layer that it comes from, or by an
 * attribute. */
static gboolean
is_classification (const GstStructure *structure)
{
  return gst_structure_has_name (structure, LABEL)
         || (!gst_structure_has_name (structure, DETECTION)
             && gst_structure_get_string (structure, "label") != NULL);
}

void
sl_region_read_labels (const GstVideoRegionOfInterestMeta *region, SlTextPool *texts,
                       GArray *labels)
{
  for (const GList *l = region->params; l != NULL; l = l->next)
    if (is_classification (l->data))
      read_labelled (region, l->data, texts, labels);
}

void
sl_region_read_frame_label (GstVideoRegionOfInterestMeta *region, SlTextPool *texts, GArray *labels)
{
  read_labelled (region, gst_video_region_of_interest_meta_get_param (region, LABEL), texts,
                 labels);
}

/* The edges that @detection states in place of whole pixels, where they make sense. */
static void
read_edges (const GstStructure *detection, SlObjectView *object)
{
  static const char *const names[4] = { "x_min", "y_min", "x_max", "y_max" };
  double edges[4] = { object->x_min, object->y_min, object->x_max, object->y_max };
  for (guint i = 0; i < 4; i++)
    gst_structure_get_double (detection, names[i], &edges[i]);
  const double left = MAX (edges[0], 0), top = MAX (edges[1], 0), right = MIN (edges[2], 1),
               bottom = MIN (edges[3], 1);
  if (isnan (edges[0]) || isnan (edges[1]) || !(left < right) || !(top < bottom))
    return; /* no area: the pixels' box has one */
  object->x_min = left;
  object->y_min = top;
  object->x_max = right;
  object->y_max = bottom;
}

static void
read_identity (GstVideoRegionOfInterestMeta *region, SlObjectView *object)
{
  const GstStructure *identity = gst_video_region_of_interest_meta_get_param (region, IDENTITY);
  if (identity == NULL || !gst_structure_get_int64 (identity, "id", &object->identity)
      || object->identity < 1) {
    object->identity = 0;
    return;
  }
  read_share (identity, "confidence", &object->identity_confidence);
  object->identity_cameras = gst_structure_get_string (identity, "cameras");
  object->identity_name = gst_structure_get_string (identity, "name");
}

gboolean
sl_region_read_object (const GstVideoRegionOfInterestMeta *region, gint width, gint height,
                       SlObjectView *object)
{
  const double corners[4] = { region->x, region->y, (double) region->x + region->w,
                              (double) region->y + region->h };
  GstVideoRegionOfInterestMeta *owner = (GstVideoRegionOfInterestMeta *) region;
  const GstStructure *detection = gst_video_region_of_interest_meta_get_param (owner, DETECTION);
  const GstStructure *object_id = gst_video_region_of_interest_meta_get_param (owner, OBJECT_ID);
  *object =
    (SlObjectView){ .confidence = 1, .label_id = -1, .label = read_label (region, detection) };
  if (!sl_object_set_box (object, corners, MAX (width, 1), MAX (height, 1)))
    return FALSE;
  if (detection != NULL) {
    read_edges (detection, object);
    read_share (detection, "confidence", &object->confidence);
    gst_structure_get_int (detection, "label_id", &object->label_id);
  }
  if (object_id != NULL
      && (!gst_structure_get_int (object_id, "id", &object->object_id) || object->object_id < 0))
    object->object_id = 0;
  read_identity (owner, object);
  return TRUE;
}
