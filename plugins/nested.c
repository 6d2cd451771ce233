/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Labels and objects waiting for their frame. Words are interned: they come from label files, of which there are few.
 */
#include "plugins/nested.h"

#include <gst/video/video.h>

#include "plugins/predictions.h"

typedef struct
{
  guint region;
  SlLabelled label;
} NestedLabel;

typedef struct
{
  guint region;
  guint first_point;
  SlObject object; /* its points are in the array of points */
  const SlSkeleton *skeleton;
} NestedObject;

struct _SlNested
{
  GArray *labels;  /* of NestedLabel */
  GArray *objects; /* of NestedObject */
  GArray *points;  /* of SlPoint */
};

SlNested *
sl_nested_new (void)
{
  SlNested *nested = g_new0 (SlNested, 1);
  nested->labels = g_array_new (FALSE, FALSE, sizeof (NestedLabel));
  nested->objects = g_array_new (FALSE, FALSE, sizeof (NestedObject));
  nested->points = g_array_new (FALSE, FALSE, sizeof (SlPoint));
  return nested;
}

void
sl_nested_free (SlNested *nested)
{
  if (nested == NULL)
    return;
  g_array_unref (nested->labels);
  g_array_unref (nested->objects);
  g_array_unref (nested->points);
  g_free (nested);
}

void
sl_nested_clear (SlNested *nested)
{
  g_array_set_size (nested->labels, 0);
  g_array_set_size (nested->objects, 0);
  g_array_set_size (nested->points, 0);
}

void
sl_nested_add (SlNested *nested, guint region, const SlPrediction *prediction, const char *model)
{
  for (guint i = 0; i < prediction->n_labels; i++) {
    NestedLabel label = { region, prediction->labels[i] };
    label.label.label = g_intern_string (label.label.label);
    label.label.model = model != NULL ? g_intern_string (model) : NULL;
    g_array_append_val (nested->labels, label);
  }
  for (guint i = 0; i < prediction->n_objects; i++) {
    NestedObject object = { region, nested->points->len, prediction->objects[i], prediction->skeleton };
    object.object.label = g_intern_string (object.object.label);
    if (object.object.n_points > 0)
      g_array_append_vals (nested->points, object.object.points, object.object.n_points);
    g_array_append_val (nested->objects, object);
  }
}

/* The frame's region metas, in order; @highest: the highest id among them, 0 when none has one. */
static GPtrArray *
list_regions (GstBuffer *frame, gint *highest)
{
  GPtrArray *regions = g_ptr_array_new ();
  gpointer state = NULL;
  GstMeta *meta;
  *highest = 0;
  while ((meta = gst_buffer_iterate_meta_filtered (frame, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) != NULL) {
    *highest = MAX (*highest, ((GstVideoRegionOfInterestMeta *) meta)->id);
    g_ptr_array_add (regions, meta);
  }
  return regions;
}

void
sl_nested_attach (SlNested *nested, GstBuffer *frame)
{
  gint last_id;
  g_autoptr (GPtrArray) regions = list_regions (frame, &last_id);
  for (guint i = 0; i < nested->labels->len; i++) {
    const NestedLabel *label = &g_array_index (nested->labels, NestedLabel, i);
    if (label->region < regions->len)
      sl_region_add_label (g_ptr_array_index (regions, label->region), &label->label);
  }
  for (guint i = 0; i < nested->objects->len; i++) {
    NestedObject *object = &g_array_index (nested->objects, NestedObject, i);
    if (object->region >= regions->len || last_id > G_MAXINT - 2)
      continue;
    GstVideoRegionOfInterestMeta *parent = g_ptr_array_index (regions, object->region);
    object->object.points = &g_array_index (nested->points, SlPoint, object->first_point);
    if (parent->id <= 0)
      parent->id = ++last_id;
    GstVideoRegionOfInterestMeta *child = sl_buffer_add_object (frame, &object->object, object->skeleton);
    child->id = ++last_id;
    child->parent_id = parent->id;
  }
  sl_nested_clear (nested);
}
