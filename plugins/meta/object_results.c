/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Labels and objects waiting for their frame. Words are interned: they come from label files, of
 * which there are few; texts that a model read are not.
 */
#include "plugins/meta/object_results.h"

#include <gst/video/video.h>

#include "core/base/text_pool.h"
#include "plugins/meta/regions/keep.h"
#include "plugins/meta/regions/object.h"
#include "plugins/meta/relations/write.h"

typedef struct
{
  guint region;
  guint first_point, first_cell;
  SlObjectView object; /* its points and cells are in the arrays of these */
  const SlSkeleton *skeleton;
} NestedObject;

struct _SlObjectResults
{
  GArray *labels;        /* of SlLabelled; those of a region follow each other */
  SlTextPool *texts;     /* that labels are, where they are no classes' names */
  GArray *label_regions; /* of guint: for each label */
  GArray *shares;        /* of gfloat: of all texts' characters, in the labels' order */
  GArray *objects;       /* of NestedObject */
  GArray *points;        /* of SlPoint */
  GByteArray *cells;
  gint width, height; /* of the frame at hand */
  GPtrArray *regions; /* of the frame at hand: its region metas, in order */
};

SlObjectResults *
sl_object_results_new (void)
{
  SlObjectResults *nested = g_new0 (SlObjectResults, 1);
  nested->labels = g_array_new (FALSE, FALSE, sizeof (SlLabelled));
  nested->texts = sl_text_pool_new ();
  nested->label_regions = g_array_new (FALSE, FALSE, sizeof (guint));
  nested->shares = g_array_new (FALSE, FALSE, sizeof (gfloat));
  nested->objects = g_array_new (FALSE, FALSE, sizeof (NestedObject));
  nested->points = g_array_new (FALSE, FALSE, sizeof (SlPoint));
  nested->cells = g_byte_array_new ();
  nested->regions = g_ptr_array_new ();
  return nested;
}

void
sl_object_results_free (SlObjectResults *nested)
{
  if (nested == NULL)
    return;
  g_array_unref (nested->labels);
  sl_text_pool_free (nested->texts);
  g_array_unref (nested->label_regions);
  g_array_unref (nested->shares);
  g_array_unref (nested->objects);
  g_array_unref (nested->points);
  g_byte_array_unref (nested->cells);
  g_ptr_array_unref (nested->regions);
  g_free (nested);
}

void
sl_object_results_clear (SlObjectResults *nested)
{
  g_array_set_size (nested->labels, 0);
  sl_text_pool_clear (nested->texts);
  g_array_set_size (nested->label_regions, 0);
  g_array_set_size (nested->shares, 0);
  g_array_set_size (nested->objects, 0);
  g_array_set_size (nested->points, 0);
  g_byte_array_set_size (nested->cells, 0);
}

static void
add_object (SlObjectResults *nested, guint region, const SlObjectView *object,
            const SlSkeleton *skeleton)
{
  NestedObject copy = { region, nested->points->len, nested->cells->len, *object, skeleton };
  const gsize cells = (gsize) object->mask.width * object->mask.height;
  copy.object.label = g_intern_string (object->label);
  if (object->n_points > 0)
    g_array_append_vals (nested->points, object->points, object->n_points);
  if (nested->cells->len + cells > SL_MAX_OBJECT_CELLS)
    copy.object.mask = (SlObjectMask){ 0 };
  else if (cells > 0)
    g_byte_array_append (nested->cells, object->mask.cells, (guint) cells);
  g_array_append_val (nested->objects, copy);
}

void
sl_object_results_add (SlObjectResults *nested, guint region, const SlPredictionView *prediction,
                       double lowest, const char *model)
{
  for (guint i = 0; i < prediction->n_labels; i++) {
    SlLabelled label = prediction->labels[i];
    label.label = label.label_id == SL_TEXT_ID ? sl_text_pool_insert (nested->texts, label.label)
                                               : g_intern_string (label.label);
    label.model = model != NULL ? g_intern_string (model) : NULL;
    g_array_append_vals (nested->shares, label.shares, label.n_shares);
    g_array_append_val (nested->labels, label);
    g_array_append_val (nested->label_regions, region);
  }
  for (guint i = 0; i < prediction->n_objects; i++)
    if (prediction->objects[i].confidence >= lowest)
      add_object (nested, region, &prediction->objects[i], prediction->skeleton);
}

/* Lists the frame's region metas; returns the highest id among them, 0 when none has one. */
static gint
list_regions (GPtrArray *regions, GstBuffer *frame)
{
  gpointer state = NULL;
  GstVideoRegionOfInterestMeta *region;
  gint highest = 0;
  g_ptr_array_set_size (regions, 0);
  while ((region = sl_next_region (frame, &state)) != NULL) {
    highest = MAX (highest, region->id);
    g_ptr_array_add (regions, region);
  }
  return highest;
}

/* The array of shares no longer grows: each label's are where they stay. */
static void
place_shares (SlObjectResults *nested)
{
  const gfloat *shares = (const gfloat *) (gconstpointer) nested->shares->data;
  for (guint i = 0; i < nested->labels->len; i++) {
    SlLabelled *label = &g_array_index (nested->labels, SlLabelled, i);
    label->shares = label->n_shares > 0 ? shares : NULL;
    if (label->n_shares > 0)
      shares += label->n_shares;
  }
}

/* Labels from the @first on, as many as are about the same region; returns the next one. */
static guint
attach_labels (SlObjectResults *nested, guint first, GPtrArray *regions, GstBuffer *frame)
{
  const guint region = g_array_index (nested->label_regions, guint, first);
  const SlLabelled *labels = &g_array_index (nested->labels, SlLabelled, first);
  guint n = 0;
  while (first + n < nested->labels->len
         && g_array_index (nested->label_regions, guint, first + n) == region)
    n++;
  if (region >= regions->len)
    return first + n;
  for (guint i = 0; i < n; i++)
    sl_region_add_label (g_ptr_array_index (regions, region), &labels[i]);
  sl_buffer_relate_labels (frame, nested->width, nested->height,
                           g_ptr_array_index (regions, region), labels, n);
  return first + n;
}

static void
attach_object (SlObjectResults *nested, NestedObject *object, GstVideoRegionOfInterestMeta *parent,
               gint *last_id, GstBuffer *frame)
{
  /* An array to which nothing was appended has no data. */
  object->object.points = object->object.n_points > 0
                            ? &g_array_index (nested->points, SlPoint, object->first_point)
                            : NULL;
  object->object.mask.cells =
    nested->cells->len > 0 ? nested->cells->data + object->first_cell : NULL;
  if (parent->id <= 0)
    parent->id = ++*last_id;
  GstVideoRegionOfInterestMeta *child =
    sl_buffer_add_object (frame, &object->object, object->skeleton);
  child->id = ++*last_id;
  child->parent_id = parent->id;
  sl_buffer_relate_part (frame, nested->width, nested->height, parent, &object->object);
}

void
sl_object_results_attach (SlObjectResults *nested, GstBuffer *frame, gint width, gint height)
{
  nested->width = width;
  nested->height = height;
  GPtrArray *regions = nested->regions;
  gint last_id = list_regions (regions, frame);
  place_shares (nested);
  for (guint i = 0; i < nested->labels->len;)
    i = attach_labels (nested, i, regions, frame);
  for (guint i = 0; i < nested->objects->len; i++) {
    NestedObject *object = &g_array_index (nested->objects, NestedObject, i);
    if (object->region < regions->len && last_id <= G_MAXINT - 2)
      attach_object (nested, object, g_ptr_array_index (regions, object->region), &last_id, frame);
  }
  sl_buffer_keep_regions (frame);
  sl_object_results_clear (nested);
}
