/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading relations. They may be anyone's: numbers are checked, and counts bounded. A relation
 * counts in both directions and whatever its type: elements differ in how they relate a label to
 * its object.
 */
#include "config.h"
#include "plugins/meta/relations/read.h"

#ifdef SL_HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#include <math.h>
#include <string.h>

#include "plugins/meta/relations/masks.h"

/* Labels of one classification beyond the best are noise. */
#define MAX_LABELS 10
/* Labels that are looked at in a frame, and relations of objects to other entries that are
 * followed. */
#define MAX_LOOKED_AT (1 << 17)
#define MAX_LINKS (1 << 16)
/* An entry that more than one object is related to. */
#define SHARED G_MAXUINT
#define UNKNOWN "unknown"

/* Entry @entry is related to object @object. */
typedef struct
{
  guint object, entry;
} Link;

struct _SlRelated
{
  GstAnalyticsRelationMeta *relations; /* (nullable): of the frame in hand */
  gint width, height;                  /* of the frame */
  guint n_entries;
  GArray *objects; /* of SlRelatedObject */
  GArray *links;   /* of Link, by object */
  GArray *labels;  /* of SlLabelled: of the classification in hand */
  guint looked_at; /* labels so far, in this frame */
  GArray *owners;  /* of guint, for each entry: 1 + the only object that is related to it; SHARED; 0
                      = none */
  GByteArray *linked; /* for each entry: whether it is related to an object */
  GArray *places;     /* of guint, for each entry: 1 + the place of the object that it is */
  guint
    next; /* the object behind the one claimed last: regions mostly come in the order of objects */
};

SlRelated *
sl_related_new (void)
{
  SlRelated *related = g_new0 (SlRelated, 1);
  related->objects = g_array_new (FALSE, TRUE, sizeof (SlRelatedObject));
  related->links = g_array_new (FALSE, FALSE, sizeof (Link));
  related->labels = g_array_new (FALSE, FALSE, sizeof (SlLabelled));
  related->linked = g_byte_array_new ();
  related->owners = g_array_new (FALSE, TRUE, sizeof (guint));
  related->places = g_array_new (FALSE, TRUE, sizeof (guint));
  return related;
}

void
sl_related_free (SlRelated *related)
{
  if (related == NULL)
    return;
  g_array_unref (related->objects);
  g_array_unref (related->links);
  g_array_unref (related->labels);
  g_byte_array_unref (related->linked);
  g_array_unref (related->owners);
  g_array_unref (related->places);
  g_free (related);
}

static double
share (gfloat confidence)
{
  return confidence > 0 ? MIN ((double) confidence, 1) : 0;
}

static const char *
type_name (GQuark type)
{
  return type != 0 ? g_quark_to_string (type) : UNKNOWN;
}

gboolean
sl_related_read_box (const struct _GstAnalyticsMtd *object, double box[4], double *confidence)
{
  gint x, y, w, h;
  gfloat sure = 0, angle = 0;
#ifdef SL_HAVE_ORIENTED_OD_MTD
  if (!gst_analytics_od_mtd_get_oriented_location (object, &x, &y, &w, &h, &angle, &sure))
    return FALSE;
#else
  if (!gst_analytics_od_mtd_get_location (object, &x, &y, &w, &h, &sure))
    return FALSE;
#endif
  const double c = isfinite (angle) ? fabs (cos (angle)) : 1,
               s = isfinite (angle) ? fabs (sin (angle)) : 0;
  const double across = (w * c + h * s) / 2, down = (w * s + h * c) / 2, middle_x = x + w / 2.0,
               middle_y = y + h / 2.0;
  box[0] = middle_x - across;
  box[1] = middle_y - down;
  box[2] = middle_x + across;
  box[3] = middle_y + down;
  *confidence = share (sure);
  return w > 0 && h > 0;
}

/* How far @edge, and what of it is before @end of the frame, is from @region_edge: the nearer one.
 */
static double
far_edge (double edge, gint end, double region_edge)
{
  const double whole = fabs (edge - region_edge), cut = fabs (MIN (edge, end) - region_edge);
  return MIN (whole, cut);
}

/* How far the edges of @box are from those of @region, which cannot be left of the frame of @width
 * x @height or above it, and may end where it ends. */
static double
distance (const double box[4], gint width, gint height, const GstVideoRegionOfInterestMeta *region)
{
  const double left = fabs (MAX (box[0], 0) - region->x), top = fabs (MAX (box[1], 0) - region->y);
  const double right = far_edge (box[2], width, (double) region->x + region->w);
  const double bottom = far_edge (box[3], height, (double) region->y + region->h);
  return MAX (MAX (left, top), MAX (right, bottom));
}

static const char *
region_type (const GstVideoRegionOfInterestMeta *region)
{
  return type_name (region->roi_type);
}

#ifdef SL_HAVE_ORIENTED_OD_MTD
static gboolean
read_corners (const GstAnalyticsODMtd *object, double corners[4][2])
{
  static const double sides[4][2] = { { -0.5, -0.5 }, { 0.5, -0.5 }, { 0.5, 0.5 }, { -0.5, 0.5 } };
  gint x, y, w, h;
  gfloat sure, angle = 0;
  if (!gst_analytics_od_mtd_get_oriented_location (object, &x, &y, &w, &h, &angle, &sure)
      || !isfinite (angle) || angle == 0)
    return FALSE;
  const double c = cos (angle), s = sin (angle);
  for (guint i = 0; i < G_N_ELEMENTS (sides); i++) {
    const double across = sides[i][0] * w, down = sides[i][1] * h;
    corners[i][0] = x + w / 2.0 + across * c - down * s;
    corners[i][1] = y + h / 2.0 + across * s + down * c;
  }
  return TRUE;
}
#else
static gboolean
read_corners (const GstAnalyticsODMtd *object, double corners[4][2])
{
  return FALSE;
}
#endif

static void
list_objects (SlRelated *related)
{
  for (guint id = 0; id < related->n_entries && related->objects->len < SL_MAX_RELATED_OBJECTS;
       id++) {
    SlRelatedObject object = { .id = id };
    GstAnalyticsODMtd entry;
    if (!gst_analytics_relation_meta_get_od_mtd (related->relations, id, &entry)
        || !sl_related_read_box (&entry, object.box, &object.confidence))
      continue;
    object.label = type_name (gst_analytics_od_mtd_get_obj_type (&entry));
    object.turned = read_corners (&entry, object.corners);
    g_array_append_val (related->objects, object);
    g_array_index (related->places, guint, id) = related->objects->len;
  }
}

/* That @other is around @object, where its place is before it: so nothing goes round in circles. */
static void
relate_objects (SlRelated *related, guint object, guint other, GstAnalyticsRelTypes type)
{
  const guint inner = (type & GST_ANALYTICS_REL_TYPE_CONTAIN) != 0      ? other
                      : (type & GST_ANALYTICS_REL_TYPE_IS_PART_OF) != 0 ? object
                                                                        : G_MAXUINT;
  const guint outer = inner == other ? object : other;
  if (inner != G_MAXUINT && outer < inner)
    g_array_index (related->objects, SlRelatedObject, inner).parent = outer + 1;
}

static void
add_link (SlRelated *related, guint object, guint entry)
{
  const Link link = { object, entry };
  guint *owner = &g_array_index (related->owners, guint, entry);
  *owner = *owner == 0 || *owner == object + 1 ? object + 1 : SHARED;
  if (related->links->len < MAX_LINKS)
    g_array_append_val (related->links, link);
  related->linked->data[entry] = TRUE;
}

/* What entry @id is related to: at least one of the two is an object. */
static void
follow (SlRelated *related, guint id)
{
  const guint place = g_array_index (related->places, guint, id);
  const GstAnalyticsMtdType wanted =
    place > 0 ? GST_ANALYTICS_MTD_TYPE_ANY : gst_analytics_od_mtd_get_mtd_type ();
  gpointer state = NULL;
  GstAnalyticsMtd other;
  while (gst_analytics_relation_meta_get_direct_related (
    related->relations, id, GST_ANALYTICS_REL_TYPE_ANY, wanted, &state, &other)) {
    const guint other_place =
      other.id < related->n_entries ? g_array_index (related->places, guint, other.id) : 0;
    if (other.id >= related->n_entries || other.id == id)
      continue;
    if (place > 0 && other_place > 0)
      relate_objects (related, place - 1, other_place - 1,
                      gst_analytics_relation_meta_get_relation (related->relations, id, other.id));
    else if (place > 0)
      add_link (related, place - 1, other.id);
    else if (other_place > 0)
      add_link (related, other_place - 1, id);
  }
}

#ifdef SL_HAVE_SEGMENTATION_MTD
/* Names of a segmentation's classes are no labels of the frame. */
static void
mark_class_names (SlRelated *related)
{
  gpointer state = NULL;
  GstAnalyticsSegmentationMtd segmentation;
  while (gst_analytics_relation_meta_iterate (
    related->relations, &state, gst_analytics_segmentation_mtd_get_mtd_type (), &segmentation)) {
    gpointer inner = NULL;
    GstAnalyticsClsMtd names;
    while (gst_analytics_relation_meta_get_direct_related (
      related->relations, segmentation.id, GST_ANALYTICS_REL_TYPE_ANY,
      gst_analytics_cls_mtd_get_mtd_type (), &inner, &names))
      if (names.id < related->n_entries)
        related->linked->data[names.id] = TRUE;
  }
}
#else
static void
mark_class_names (SlRelated *related)
{
}
#endif

static int
by_object (gconstpointer a, gconstpointer b)
{
  const Link *x = a, *y = b;
  return x->object != y->object ? (x->object < y->object ? -1 : 1)
         : x->entry < y->entry  ? -1
                                : x->entry > y->entry;
}

guint
sl_related_list (SlRelated *related, GstBuffer *buffer, gint width, gint height)
{
  related->relations = gst_buffer_get_analytics_relation_meta (buffer);
  related->n_entries =
    related->relations != NULL
      ? (guint) MIN (gst_analytics_relation_get_length (related->relations), SL_MAX_RELATED_ENTRIES)
      : 0;
  related->width = width;
  related->height = height;
  related->next = 0;
  related->looked_at = 0;
  g_array_set_size (related->objects, 0);
  g_array_set_size (related->links, 0);
  g_byte_array_set_size (related->linked, related->n_entries);
  g_array_set_size (related->places, 0);
  g_array_set_size (related->owners, 0);
  g_array_set_size (related->owners, related->n_entries);
  g_array_set_size (related->places, related->n_entries);
  if (related->n_entries == 0)
    return 0;
  memset (related->linked->data, FALSE, related->n_entries);
  list_objects (related);
  for (guint id = 0; id < related->n_entries; id++)
    follow (related, id);
  mark_class_names (related);
  g_array_sort (related->links, by_object);
  return related->objects->len;
}

SlRelatedObject *
sl_related_object (SlRelated *related, guint i)
{
  return &g_array_index (related->objects, SlRelatedObject, i);
}

SlRelatedObject *
sl_related_claim (SlRelated *related, const GstVideoRegionOfInterestMeta *region)
{
  const char *type = region_type (region);
  SlRelatedObject *nearest = NULL;
  double least = SL_RELATED_SLACK;
  for (guint i = 0; i < related->objects->len && (nearest == NULL || least > 0); i++) {
    SlRelatedObject *object =
      sl_related_object (related, (related->next + i) % related->objects->len);
    const double far = object->region
                         ? G_MAXDOUBLE
                         : distance (object->box, related->width, related->height, region);
    if (far > least || (far == least && nearest != NULL) || strcmp (object->label, type) != 0)
      continue;
    nearest = object;
    least = far;
  }
  if (nearest == NULL)
    return NULL;
  nearest->region = TRUE;
  related->next = (guint) (nearest - sl_related_object (related, 0)) + 1;
  return nearest;
}

/* The first link of @object, and how many follow. */
static const Link *
find_links (SlRelated *related, const SlRelatedObject *object, guint *n)
{
  const guint place = g_array_index (related->places, guint, object->id) - 1;
  const Link *links = (const Link *) (gconstpointer) related->links->data;
  guint first = 0, end = related->links->len;
  while (first < end) {
    const guint middle = (first + end) / 2;
    if (links[middle].object < place)
      first = middle + 1;
    else
      end = middle;
  }
  for (*n = 0; first + *n < related->links->len && links[first + *n].object == place;)
    ++*n;
  return links + first;
}

gint32
sl_related_id (SlRelated *related, const SlRelatedObject *object)
{
  guint n;
  const Link *links = find_links (related, object, &n);
  for (guint i = n; i > 0; i--) {
    GstAnalyticsTrackingMtd tracking;
    guint64 id;
    GstClockTime first, last;
    gboolean lost;
    if (gst_analytics_relation_meta_get_tracking_mtd (related->relations, links[i - 1].entry,
                                                      &tracking)
        && gst_analytics_tracking_mtd_get_info (&tracking, &id, &first, &last, &lost))
      return id <= G_MAXINT32 ? (gint32) id : 0;
  }
  return 0;
}

static int
surer_first (gconstpointer a, gconstpointer b)
{
  const SlLabelled *x = a, *y = b;
  return x->confidence > y->confidence ? -1 : x->confidence < y->confidence;
}

static gboolean
has_label (const GArray *labels, guint first, const char *label)
{
  for (guint i = first; i < labels->len; i++)
    if (strcmp (g_array_index (labels, SlLabelled, i).label, label) == 0)
      return TRUE;
  return FALSE;
}

/* The best labels of entry @id, when it is a classification, behind the @before that were there. */
static void
read_labels (SlRelated *related, guint id, GArray *labels, guint first, guint before)
{
  GArray *found = related->labels;
  GstAnalyticsClsMtd entry;
  if (!gst_analytics_relation_meta_get_cls_mtd (related->relations, id, &entry))
    return;
  const guint n = (guint) MIN (gst_analytics_cls_mtd_get_length (&entry), SL_MAX_RELATED_ENTRIES);
  related->looked_at += MAX (n, 1);
  g_array_set_size (found, 0);
  for (guint i = 0; i < n; i++) {
    const SlLabelled label = { .label_id = -1,
                               .confidence = share (gst_analytics_cls_mtd_get_level (&entry, i)),
                               .label = type_name (gst_analytics_cls_mtd_get_quark (&entry, i)) };
    g_array_append_val (found, label);
  }
  g_array_sort (found, surer_first);
  for (guint i = 0;
       i < MIN (found->len, MAX_LABELS) && labels->len - before < SL_MAX_RELATED_LABELS; i++) {
    const SlLabelled *label = &g_array_index (found, SlLabelled, i);
    if (!has_label (labels, first, label->label))
      g_array_append_val (labels, *label);
  }
}

/* Whether there is room for more than the @n labels that were taken. */
static gboolean
has_room (const SlRelated *related, guint n)
{
  return n < SL_MAX_RELATED_LABELS && related->looked_at < MAX_LOOKED_AT;
}

void
sl_related_labels (SlRelated *related, const SlRelatedObject *object, GArray *labels, guint first)
{
  guint n;
  const guint before = labels->len;
  const Link *links = object != NULL ? find_links (related, object, &n) : NULL;
  if (object == NULL)
    for (guint id = 0; id < related->n_entries && has_room (related, labels->len - before); id++)
      if (!related->linked->data[id])
        read_labels (related, id, labels, first, before);
  for (guint i = 0; object != NULL && i < n && has_room (related, labels->len - before); i++)
    read_labels (related, links[i].entry, labels, first, before);
}

gboolean
sl_related_mask (SlRelated *related, const SlRelatedObject *object, const SlObjectView *view,
                 GByteArray *cells, SlObjectMask *mask)
{
  guint n;
  const Link *links = find_links (related, object, &n);
  for (guint i = 0; i < n; i++)
    if (g_array_index (related->owners, guint, links[i].entry) != SHARED
        && sl_segmentation_read_object (related->relations, links[i].entry, view, cells, mask))
      return TRUE;
  return FALSE;
}

gboolean
sl_related_frame_mask (SlRelated *related, gint width, gint height, GByteArray *cells,
                       SlClassMask *mask, const char **names)
{
  for (guint id = 0; id < related->n_entries; id++)
    if (!related->linked->data[id]
        && sl_segmentation_read_frame (related->relations, id, width, height, cells, mask, names))
      return TRUE;
  return FALSE;
}

gboolean
sl_buffer_has_related (GstBuffer *buffer, gboolean objects)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  const GstAnalyticsMtdType kinds[] = {
    gst_analytics_od_mtd_get_mtd_type (),
    gst_analytics_cls_mtd_get_mtd_type (),
#ifdef SL_HAVE_SEGMENTATION_MTD
    gst_analytics_segmentation_mtd_get_mtd_type (),
#endif
  };
  for (guint i = 0; relations != NULL && i < (objects ? 1 : G_N_ELEMENTS (kinds)); i++) {
    gpointer state = NULL;
    GstAnalyticsMtd entry;
    if (gst_analytics_relation_meta_iterate (relations, &state, kinds[i], &entry))
      return TRUE;
  }
  return FALSE;
}

gboolean
sl_buffer_has_none_related (GstBuffer *buffer)
{
  const GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  return relations != NULL && gst_analytics_relation_get_length (relations) == 0;
}

gboolean
sl_buffer_find_related (GstBuffer *buffer, gint width, gint height,
                        const GstVideoRegionOfInterestMeta *region, guint *id)
{
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  gpointer state = NULL;
  GstAnalyticsODMtd object;
  double least = G_MAXDOUBLE;
  while (relations != NULL && least > 0
         && gst_analytics_relation_meta_iterate (relations, &state,
                                                 gst_analytics_od_mtd_get_mtd_type (), &object)) {
    double box[4], confidence;
    if (strcmp (type_name (gst_analytics_od_mtd_get_obj_type (&object)), region_type (region)) != 0
        || !sl_related_read_box (&object, box, &confidence))
      continue;
    const double far = distance (box, width, height, region);
    if (far >= least)
      continue;
    least = far;
    *id = object.id;
  }
  return least <= SL_RELATED_SLACK;
}

#else

SlRelated *
sl_related_new (void)
{
  return NULL;
}

void
sl_related_free (SlRelated *related)
{
}

guint
sl_related_list (SlRelated *related, GstBuffer *buffer, gint width, gint height)
{
  return 0;
}

SlRelatedObject *
sl_related_object (SlRelated *related, guint i)
{
  return NULL;
}

SlRelatedObject *
sl_related_claim (SlRelated *related, const GstVideoRegionOfInterestMeta *region)
{
  return NULL;
}

gint32
sl_related_id (SlRelated *related, const SlRelatedObject *object)
{
  return 0;
}

void
sl_related_labels (SlRelated *related, const SlRelatedObject *object, GArray *labels, guint first)
{
}

gboolean
sl_related_mask (SlRelated *related, const SlRelatedObject *object, const SlObjectView *view,
                 GByteArray *cells, SlObjectMask *mask)
{
  return FALSE;
}

gboolean
sl_related_frame_mask (SlRelated *related, gint width, gint height, GByteArray *cells,
                       SlClassMask *mask, const char **names)
{
  return FALSE;
}

gboolean
sl_buffer_has_related (GstBuffer *buffer, gboolean objects)
{
  return FALSE;
}

gboolean
sl_buffer_has_none_related (GstBuffer *buffer)
{
  return FALSE;
}

gboolean
sl_buffer_find_related (GstBuffer *buffer, gint width, gint height,
                        const GstVideoRegionOfInterestMeta *region, guint *id)
{
  return FALSE;
}

#endif
