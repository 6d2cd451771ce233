/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Relations are made anew, one by one, because no position in them can be set. */
#include "config.h"
#include "plugins/meta/map/relations.h"

#include <math.h>
#include <string.h>

#include "plugins/meta/map/regions.h"
#include "plugins/meta/relations/read.h"

gboolean
sl_meta_api_is_relations (GType api)
{
  return strcmp (g_type_name (api), "GstAnalyticsRelationMetaAPI") == 0;
}

#ifdef SL_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>

/* The id of what was left out. */
#define GONE G_MAXUINT
#define FARTHEST (1 << 29)
/* By how many pixels the edges of a turned box may miss each other. */
#define MAX_SKEW 1

typedef struct
{
  GstAnalyticsRelationMeta *from, *to;
  guint n;
  guint *ids;              /* in @to, of those in @from */
  guint8 *objects;         /* of each in @from: whether it is an object, */
  guint8 *related, *there; /* related to one, and to one that is still there */
  const SlAffine *affine;  /* (nullable): nothing moves */
  const GstVideoInfo *picture;
  const guint8 *removed; /* (nullable): for each in @from */
} Copy;

/* Whole pixels, so far out at most that sizes can be computed. */
static gint
whole (double pixels)
{
  return (gint) floor (CLAMP (pixels, -FARTHEST, FARTHEST) + 0.5);
}

#ifdef SL_HAVE_ORIENTED_OD_MTD
/* A box that is turned about its middle keeps its edges, which are mapped as vectors; FALSE where
 * it would be none any more, because one side of the picture is scaled more than the other. */
static gboolean
add_oriented (Copy *copy, const GstAnalyticsODMtd *object, GstAnalyticsODMtd *added)
{
  gint x, y, w, h;
  gfloat angle = 0, confidence;
  SlAffine inverse;
  if (!gst_analytics_od_mtd_get_oriented_location (object, &x, &y, &w, &h, &angle, &confidence)
      || angle == 0 || !isfinite (angle))
    return FALSE;
  if (copy->affine == NULL)
    return gst_analytics_relation_meta_add_oriented_od_mtd (
      copy->to, gst_analytics_od_mtd_get_obj_type (object), x, y, w, h, angle, confidence, added);
  if (!sl_affine_invert (copy->affine, &inverse)
      || fabs (hypot (inverse.xx, inverse.yx) - hypot (inverse.xy, inverse.yy)) * ((double) w + h)
           > MAX_SKEW)
    return FALSE;
  const double c = cos (angle), s = sin (angle);
  const double across[2] = { inverse.xx * c + inverse.xy * s, inverse.yx * c + inverse.yy * s };
  const double down[2] = { inverse.xy * c - inverse.xx * s, inverse.yy * c - inverse.yx * s };
  const double width = w * hypot (across[0], across[1]), height = h * hypot (down[0], down[1]);
  double middle_x, middle_y;
  sl_affine_apply (&inverse, x + w / 2.0, y + h / 2.0, &middle_x, &middle_y);
  return gst_analytics_relation_meta_add_oriented_od_mtd (
    copy->to, gst_analytics_od_mtd_get_obj_type (object), whole (middle_x - width / 2),
    whole (middle_y - height / 2), whole (width), whole (height),
    (gfloat) atan2 (across[1], across[0]), confidence, added);
}
#else
static gboolean
add_oriented (Copy *copy, const GstAnalyticsODMtd *object, GstAnalyticsODMtd *added)
{
  return FALSE;
}
#endif

static void
add_object (Copy *copy, guint id)
{
  GstAnalyticsODMtd object, added;
  gint x, y, w, h;
  gfloat confidence;
  double box[4], sure;
  if (!gst_analytics_relation_meta_get_od_mtd (copy->from, id, &object))
    return;
  copy->objects[id] = TRUE;
  if (!gst_analytics_od_mtd_get_location (&object, &x, &y, &w, &h, &confidence)
      || (copy->removed != NULL && copy->removed[id]) || !sl_related_read_box (&object, box, &sure))
    return;
  SlRect mapped = { x, y, w, h };
  if (copy->affine != NULL && !sl_region_map (copy->affine, box, copy->picture, &mapped))
    return;
  if (add_oriented (copy, &object, &added)
      || gst_analytics_relation_meta_add_od_mtd (
        copy->to, gst_analytics_od_mtd_get_obj_type (&object), mapped.x, mapped.y, mapped.width,
        mapped.height, confidence, &added))
    copy->ids[id] = added.id;
}

static void
add_labels (Copy *copy, guint id, gboolean names_nothing)
{
  GstAnalyticsClsMtd labels, added;
  if (!gst_analytics_relation_meta_get_cls_mtd (copy->from, id, &labels) || names_nothing)
    return;
  const gsize n = gst_analytics_cls_mtd_get_length (&labels);
  g_autofree gfloat *confidences = g_new (gfloat, n);
  g_autofree GQuark *names = g_new (GQuark, n);
  for (gsize i = 0; i < n; i++) {
    confidences[i] = gst_analytics_cls_mtd_get_level (&labels, i);
    names[i] = gst_analytics_cls_mtd_get_quark (&labels, i);
  }
  if (gst_analytics_relation_meta_add_cls_mtd (copy->to, n, confidences, names, &added))
    copy->ids[id] = added.id;
}

static void
add_tracking (Copy *copy, guint id)
{
  GstAnalyticsTrackingMtd tracking, added;
  guint64 number;
  GstClockTime first, last;
  gboolean lost;
  if (!gst_analytics_relation_meta_get_tracking_mtd (copy->from, id, &tracking)
      || !gst_analytics_tracking_mtd_get_info (&tracking, &number, &first, &last, &lost)
      || !gst_analytics_relation_meta_add_tracking_mtd (copy->to, number, first, &added))
    return;
  if (GST_CLOCK_TIME_IS_VALID (last))
    gst_analytics_tracking_mtd_update_last_seen (&added, last);
  if (lost)
    gst_analytics_tracking_mtd_set_lost (&added);
  copy->ids[id] = added.id;
}

/* Calls @tell for each pair of entries of which the first is related to the second. */
static void
each_relation (const Copy *copy, void (*tell) (const Copy *copy, guint a, guint b))
{
  for (guint a = 0; a < copy->n; a++) {
    gpointer state = NULL;
    GstAnalyticsMtd b;
    while (gst_analytics_relation_meta_get_direct_related (
      copy->from, a, GST_ANALYTICS_REL_TYPE_ANY, GST_ANALYTICS_MTD_TYPE_ANY, &state, &b))
      if (b.id != a && b.id < copy->n)
        tell (copy, a, b.id);
  }
}

static void
note_object (const Copy *copy, guint a, guint b)
{
  const guint object = copy->objects[a] ? a : b, other = object == a ? b : a;
  copy->related[other] |= copy->objects[object];
  copy->there[other] |= copy->objects[object] && copy->ids[object] != GONE;
}

#ifdef SL_HAVE_SEGMENTATION_MTD
/* The mask is a picture of its own: only where it lies on the frame changes. What is related to an
 * object shows instances; the type cannot be asked for. */
static void
add_segmentation (Copy *copy, guint id, gboolean of_object)
{
  GstAnalyticsSegmentationMtd segmentation, added;
  SlAffine inverse;
  gint x, y;
  guint w, h;
  sl_affine_identity (&inverse);
  if (!gst_analytics_relation_meta_get_segmentation_mtd (copy->from, id, &segmentation)
      || (copy->affine != NULL && !sl_affine_invert (copy->affine, &inverse)) || inverse.xy != 0
      || inverse.yx != 0 || inverse.xx < 0 || inverse.yy < 0)
    return;
  GstBuffer *mask = gst_analytics_segmentation_mtd_get_mask (&segmentation, &x, &y, &w, &h);
  const gsize n = gst_analytics_segmentation_mtd_get_region_count (&segmentation);
  g_autofree guint *regions = g_new (guint, n);
  const double box[4] = { x, y, (double) x + w, (double) y + h };
  double mapped[4];
  for (gsize i = 0; i < n; i++)
    regions[i] = gst_analytics_segmentation_mtd_get_region_id (&segmentation, i);
  sl_affine_box (&inverse, box, mapped);
  const gint left = whole (mapped[0]), top = whole (mapped[1]);
  const gint right = whole (mapped[2]), bottom = whole (mapped[3]);
  if (gst_analytics_relation_meta_add_segmentation_mtd (
        copy->to, mask, of_object ? GST_SEGMENTATION_TYPE_INSTANCE : GST_SEGMENTATION_TYPE_SEMANTIC,
        n, regions, left, top, (guint) MAX (right - left, 1), (guint) MAX (bottom - top, 1),
        &added))
    copy->ids[id] = added.id;
}
#else
static void
add_segmentation (Copy *copy, guint id, gboolean of_object)
{
}
#endif

#ifdef SL_HAVE_SEGMENTATION_MTD
/* Entries that name the classes of a segmentation that was left out. */
static void
find_idle_names (const Copy *copy, guint8 *idle)
{
  gpointer state = NULL;
  GstAnalyticsSegmentationMtd segmentation;
  while (gst_analytics_relation_meta_iterate (
    copy->from, &state, gst_analytics_segmentation_mtd_get_mtd_type (), &segmentation)) {
    gpointer inner = NULL;
    GstAnalyticsMtd names;
    while (segmentation.id < copy->n && copy->ids[segmentation.id] == GONE
           && gst_analytics_relation_meta_get_direct_related (
             copy->from, segmentation.id, GST_ANALYTICS_REL_TYPE_ANY, GST_ANALYTICS_MTD_TYPE_ANY,
             &inner, &names))
      if (names.id < copy->n)
        idle[names.id] = TRUE;
  }
}
#else
static void
find_idle_names (const Copy *copy, guint8 *idle)
{
}
#endif

/* Adds the entries that are not objects. An entry is left out when all objects that it relates to
 * are gone. Labels come after the segmentations, since a label may name one. */
static void
add_others (Copy *copy)
{
  g_autofree guint8 *idle = g_malloc0 (copy->n);
  for (guint id = 0; id < copy->n; id++)
    if (!copy->objects[id] && (!copy->related[id] || copy->there[id]))
      add_segmentation (copy, id, copy->related[id]);
  find_idle_names (copy, idle);
  for (guint id = 0; id < copy->n; id++)
    if (!copy->objects[id] && (!copy->related[id] || copy->there[id])) {
      add_labels (copy, id, idle[id]);
      add_tracking (copy, id);
    }
}

static void
add_relation (const Copy *copy, guint a, guint b)
{
  if (copy->ids[a] != GONE && copy->ids[b] != GONE)
    gst_analytics_relation_meta_set_relation (
      copy->to, gst_analytics_relation_meta_get_relation (copy->from, a, b), copy->ids[a],
      copy->ids[b]);
}

/* What is left of @copy's relations. */
static void
add_all (Copy *copy)
{
  g_autofree guint *ids = copy->ids = g_new (guint, copy->n);
  g_autofree guint8 *objects = copy->objects = g_malloc0 (copy->n);
  g_autofree guint8 *related = copy->related = g_malloc0 (copy->n);
  g_autofree guint8 *there = copy->there = g_malloc0 (copy->n);
  for (guint id = 0; id < copy->n; id++)
    ids[id] = GONE;
  for (guint id = 0; id < copy->n; id++)
    add_object (copy, id);
  each_relation (copy, note_object);
  add_others (copy);
  each_relation (copy, add_relation);
}

/* A meta with room for the relations of @n entries: a matrix, which would grow and be copied with
 * the entries. */
static GstAnalyticsRelationMeta *
add_meta (GstBuffer *buffer, guint n)
{
  GstAnalyticsRelationMetaInitParams room = { .initial_relation_order = MAX (n, 1),
                                              .initial_buf_size = 1024 };
  return gst_buffer_add_analytics_relation_meta_full (buffer, &room);
}

static guint
count_entries (const GstAnalyticsRelationMeta *relations)
{
  return (guint) MIN (gst_analytics_relation_get_length (relations), SL_MAX_RELATED_ENTRIES);
}

void
sl_buffer_add_mapped_relations (GstBuffer *out, GstBuffer *in, const SlAffine *affine,
                                const GstVideoInfo *to)
{
  Copy copy = { .from = gst_buffer_get_analytics_relation_meta (in),
                .affine = affine,
                .picture = to };
  if (copy.from == NULL || gst_buffer_get_analytics_relation_meta (out) != NULL)
    return;
  copy.n = count_entries (copy.from);
  copy.to = add_meta (out, copy.n);
  add_all (&copy);
}

/* A buffer has one such meta: it is emptied and filled from a copy. */
void
sl_buffer_remove_related (GstBuffer *buffer, gint width, gint height,
                          GstVideoRegionOfInterestMeta *const *regions, guint n)
{
  GstAnalyticsRelationMeta *relations =
    n > 0 ? gst_buffer_get_analytics_relation_meta (buffer) : NULL;
  gboolean found = FALSE;
  if (relations == NULL)
    return;
  Copy copy = { .n = count_entries (relations) };
  g_autofree guint8 *removed = g_malloc0 (copy.n + 1);
  SlRelated *objects = sl_related_new ();
  sl_related_list (objects, buffer, width, height);
  for (guint i = 0; i < n; i++) {
    const SlRelatedObject *object =
      sl_related_claim (objects, regions[i]); /* of equal regions each its own */
    if (object != NULL)
      found = removed[object->id] = TRUE;
  }
  sl_related_free (objects);
  if (!found)
    return;
  g_autoptr (GstBuffer) before = gst_buffer_new ();
  gst_buffer_copy_into (before, buffer, GST_BUFFER_COPY_META, 0, (gsize) -1);
  gst_buffer_remove_meta (buffer, (GstMeta *) relations);
  copy.removed = removed;
  copy.from = gst_buffer_get_analytics_relation_meta (before);
  copy.to = add_meta (buffer, copy.n);
  if (copy.from != NULL)
    add_all (&copy);
}

#else

void
sl_buffer_add_mapped_relations (GstBuffer *out, GstBuffer *in, const SlAffine *affine,
                                const GstVideoInfo *to)
{
}
void
sl_buffer_remove_related (GstBuffer *buffer, gint width, gint height,
                          GstVideoRegionOfInterestMeta *const *regions, guint n)
{
}

#endif
