/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an analyzer knows as text, a key file: [analysis], a group [region N] for each region,
 * [object N] for each object inside or beside them. Times are those of the analyzer's clock, in
 * nanoseconds. The text may come from a file that somebody has changed, so every number is checked
 * before anything of it counts.
 */
#include "postprocess/analyze/analyzer_private.h"

#include <math.h>
#include <string.h>

#include "core/base/fail.h"

#define VERSION 1
#define GROUP "analysis"
/* Counts and times beyond this are damage; doubles hold whole numbers up to here. */
#define MOST 9007199254740992.0
#define LONGEST_TEXT (8 << 20)

/* Numbers of a region, of an object, and of an object in a region, in the order of the file. */
enum
{
  REGION_DWELL,
  REGION_INTEGRAL,
  REGION_MOST,
  REGION_HAD_ENTERED,
  REGION_HAD_LEFT,
  REGION_SECONDS,
  REGION_MEAN,
  REGION_PEAK,
  REGION_IN,
  REGION_OUT,
  REGION_EMPTY_SINCE,
  REGION_LAST_LEFT,
  REGION_TOLD_EMPTY,
  N_REGION
};
enum
{
  OBJECT_CORNERS,
  OBJECT_REST_X = OBJECT_CORNERS + 4,
  OBJECT_REST_Y,
  OBJECT_REST_SINCE,
  OBJECT_SEEN,
  N_OBJECT
};
enum
{
  PLACE_SIDE,
  PLACE_THROUGH,
  PLACE_HAS_POINT,
  PLACE_X,
  PLACE_Y,
  PLACE_SINCE,
  PLACE_OTHER,
  PLACE_OTHER_SINCE,
  PLACE_TOLD_DWELL,
  PLACE_TOLD_BEHIND,
  N_PLACE
};

typedef struct
{
  GKeyFile *file;
  SlAnalyzer *analyzer;
  SlCounts *counts; /* of each of the analyzer's regions */
  Region *regions;  /* times of these */
  gint *places;     /* of regions of the file among the analyzer's, -1 = it has none like it */
  guint n_regions;  /* of the file */
  Known *known;
  Place *at; /* of each object, the analyzer's n_regions */
  guint n_known;
  gdouble last;
} Reader;

static void
save_region (GKeyFile *file, const char *group, const Region *region)
{
  const SlCounts *counts = &region->counts;
  const char *labels[SL_COUNTS_MAX_CLASSES];
  gdouble entered[SL_COUNTS_MAX_CLASSES], left[SL_COUNTS_MAX_CLASSES];
  gdouble numbers[N_REGION] = { counts->dwell,
                                counts->integral,
                                counts->most,
                                (gdouble) counts->had_entered,
                                (gdouble) counts->had_left,
                                counts->occupancy.seconds,
                                counts->occupancy.mean,
                                counts->occupancy.most,
                                (gdouble) counts->occupancy.entered,
                                (gdouble) counts->occupancy.left,
                                (gdouble) region->empty_since,
                                (gdouble) region->last_left,
                                region->told_empty };
  for (guint c = 0; c < counts->n_classes; c++) {
    labels[c] = counts->classes[c].label;
    entered[c] = (gdouble) counts->classes[c].entered;
    left[c] = (gdouble) counts->classes[c].left;
  }
  g_key_file_set_string (file, group, "kind", sl_region_kind_name (region->spec->kind));
  g_key_file_set_string (file, group, "name", region->spec->name);
  g_key_file_set_double_list (file, group, "numbers", numbers, N_REGION);
  g_key_file_set_string_list (file, group, "labels", labels, counts->n_classes);
  g_key_file_set_double_list (file, group, "entered", entered, counts->n_classes);
  g_key_file_set_double_list (file, group, "left", left, counts->n_classes);
}

static void
save_object (GKeyFile *file, const char *group, const SlAnalyzer *self, guint i)
{
  const Known *known = &self->known[i];
  gdouble numbers[N_OBJECT] = { known->corners[0],
                                known->corners[1],
                                known->corners[2],
                                known->corners[3],
                                known->rest_x,
                                known->rest_y,
                                (gdouble) known->rest_since,
                                (gdouble) (known->carried ? known->gone : known->seen) };
  g_key_file_set_string (file, group, "label", known->label);
  g_key_file_set_double_list (file, group, "numbers", numbers, N_OBJECT);
  for (guint r = 0; r < self->n_regions; r++) {
    const Place *place = &self->places[(gsize) i * self->n_regions + r];
    g_autofree char *key = g_strdup_printf ("region %u", r);
    gdouble at[N_PLACE] = { place->side,       place->through,
                            place->has_point,  place->point.x,
                            place->point.y,    (gdouble) place->since,
                            place->other,      (gdouble) place->other_since,
                            place->told_dwell, place->told_behind };
    if (place->counts)
      g_key_file_set_double_list (file, group, key, at, N_PLACE);
  }
}

char *
sl_analyzer_save (const SlAnalyzer *self)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  guint n = 0;
  g_key_file_set_integer (file, GROUP, "version", VERSION);
  g_key_file_set_int64 (file, GROUP, "since", self->analysis.since);
  g_key_file_set_int64 (file, GROUP, "saved", self->resumed ? self->resumed_utc : self->utc);
  g_key_file_set_integer (file, GROUP, "width", self->resumed ? self->resumed_width : self->width);
  g_key_file_set_integer (file, GROUP, "height",
                          self->resumed ? self->resumed_height : self->height);
  g_key_file_set_uint64 (file, GROUP, "last", self->last);
  g_key_file_set_uint64 (file, GROUP, "interval-since", self->interval_since);
  for (guint r = 0; r < self->n_regions; r++) {
    g_autofree char *group = g_strdup_printf ("region %u", r);
    save_region (file, group, &self->regions[r]);
  }
  for (guint i = 0; i < self->n_known; i++) {
    g_autofree char *group = g_strdup_printf ("object %u", n);
    if (self->known[i].heir_of > 0) /* the one that it may be is there */
      continue;
    save_object (file, group, self, i);
    n++;
  }
  return g_key_file_to_data (file, NULL, NULL);
}

static gboolean
fail (GError **error, const char *group, const char *key)
{
  return sl_fail (error, SL_ERROR_FORMAT, "[%s] %s: missing, or not what an analyzer saved", group,
                  key);
}

/* @n numbers that are finite and within @least..MOST. */
static gboolean
read_numbers (const Reader *reader, const char *group, const char *key, gdouble least,
              gdouble *numbers, gsize n, GError **error)
{
  gsize length = 0;
  g_autofree gdouble *list = g_key_file_get_double_list (reader->file, group, key, &length, NULL);
  if (length != n)
    return fail (error, group, key);
  for (gsize i = 0; i < n; i++)
    if (!isfinite (list[i]) || list[i] < least || list[i] > MOST)
      return fail (error, group, key);
  if (n > 0)
    memcpy (numbers, list, n * sizeof *numbers);
  return TRUE;
}

static gint
find_region (const SlAnalyzer *self, const char *kind, const char *name)
{
  for (guint r = 0; r < self->n_regions; r++)
    if (strcmp (sl_region_kind_name (self->regions[r].spec->kind), kind) == 0
        && strcmp (self->regions[r].spec->name, name) == 0)
      return (gint) r;
  return -1;
}

static gboolean
read_classes (Reader *reader, const char *group, SlCounts *counts, GError **error)
{
  gdouble entered[SL_COUNTS_MAX_CLASSES], left[SL_COUNTS_MAX_CLASSES];
  gsize n = 0;
  g_auto (GStrv) labels = g_key_file_get_string_list (reader->file, group, "labels", &n, NULL);
  if (labels == NULL || n > SL_COUNTS_MAX_CLASSES)
    return fail (error, group, "labels");
  if (!read_numbers (reader, group, "entered", 0, entered, n, error)
      || !read_numbers (reader, group, "left", 0, left, n, error))
    return FALSE;
  for (gsize c = 0; c < n; c++) {
    SlClassCount *count = &counts->classes[c];
    *count = (SlClassCount){ .label = g_intern_string (labels[c]),
                             .entered = (guint64) entered[c],
                             .left = (guint64) left[c] };
    counts->entered += count->entered;
    counts->left += count->left;
  }
  counts->n_classes = (guint) n;
  return TRUE;
}

static gboolean
read_region (Reader *reader, const char *group, gint *place, GError **error)
{
  gdouble numbers[N_REGION];
  SlCounts counts = { 0 };
  g_autofree char *kind = g_key_file_get_string (reader->file, group, "kind", NULL);
  g_autofree char *name = g_key_file_get_string (reader->file, group, "name", NULL);
  if (kind == NULL || name == NULL)
    return fail (error, group, kind == NULL ? "kind" : "name");
  *place = find_region (reader->analyzer, kind, name);
  if (!read_numbers (reader, group, "numbers", 0, numbers, N_REGION, error)
      || !read_classes (reader, group, &counts, error))
    return FALSE;
  if (*place < 0)
    return TRUE;
  counts.dwell = numbers[REGION_DWELL];
  counts.integral = numbers[REGION_INTEGRAL];
  counts.most = (guint) MIN (numbers[REGION_MOST], SL_ANALYZE_MOST);
  counts.had_entered = MIN ((guint64) numbers[REGION_HAD_ENTERED], counts.entered);
  counts.had_left = MIN ((guint64) numbers[REGION_HAD_LEFT], counts.left);
  counts.occupancy = (SlOccupancy){ .seconds = numbers[REGION_SECONDS],
                                    .mean = numbers[REGION_MEAN],
                                    .most = (guint) MIN (numbers[REGION_PEAK], SL_ANALYZE_MOST),
                                    .entered = (guint64) numbers[REGION_IN],
                                    .left = (guint64) numbers[REGION_OUT] };
  reader->counts[*place] = counts;
  reader->regions[*place].empty_since = (guint64) MIN (numbers[REGION_EMPTY_SINCE], reader->last);
  reader->regions[*place].last_left = (guint64) MIN (numbers[REGION_LAST_LEFT], reader->last);
  reader->regions[*place].told_empty = numbers[REGION_TOLD_EMPTY] != 0;
  return TRUE;
}

static gboolean
read_place (Reader *reader, const char *group, const char *key, const Known *known, guint r,
            Place *place, GError **error)
{
  const SlRegion *spec = reader->analyzer->regions[r].spec;
  SlCounts *counts = &reader->counts[r];
  gdouble at[N_PLACE];
  if (!read_numbers (reader, group, key, -1e9, at, N_PLACE, error))
    return FALSE;
  place->side = at[PLACE_SIDE] > 0 ? 1 : at[PLACE_SIDE] < 0 ? -1 : 0;
  place->through = (gint) CLAMP (at[PLACE_THROUGH], -1000, 1000);
  place->has_point = at[PLACE_HAS_POINT] != 0;
  place->point = (SlRegionPoint){ at[PLACE_X], at[PLACE_Y] };
  place->since = (guint64) CLAMP (at[PLACE_SINCE], 0, reader->last);
  place->other = (guint) CLAMP (at[PLACE_OTHER], 0, 1000);
  place->other_since = (guint64) CLAMP (at[PLACE_OTHER_SINCE], 0, reader->last);
  place->told_dwell = at[PLACE_TOLD_DWELL] != 0;
  place->told_behind = at[PLACE_TOLD_BEHIND] != 0;
  if (spec->kind != SL_REGION_ZONE || place->side <= 0)
    return TRUE;
  place->class = sl_counts_class (counts, known->label);
  counts->inside++;
  SlClassCount *class = &counts->classes[place->class];
  class->inside++;
  return class->inside <= class->entered - MIN (class->left, class->entered)
         || fail (error, group, key);
}

static gboolean
read_object (Reader *reader, const char *group, GError **error)
{
  const SlAnalyzer *self = reader->analyzer;
  gdouble numbers[N_OBJECT];
  Known *known = &reader->known[reader->n_known];
  Place *places = &reader->at[(gsize) reader->n_known * self->n_regions];
  g_autofree char *label = g_key_file_get_string (reader->file, group, "label", NULL);
  if (label == NULL)
    return fail (error, group, "label");
  if (!read_numbers (reader, group, "numbers", -1e9, numbers, N_OBJECT, error))
    return FALSE;
  *known =
    (Known){ .id = -1 - (gint32) reader->n_known,
             .label = g_intern_string (label),
             .rest_x = numbers[OBJECT_REST_X],
             .rest_y = numbers[OBJECT_REST_Y],
             .rest_since = (guint64) CLAMP (numbers[OBJECT_REST_SINCE], 1, MAX (reader->last, 1)),
             .seen = (guint64) CLAMP (numbers[OBJECT_SEEN], 0, reader->last) };
  memcpy (known->corners, &numbers[OBJECT_CORNERS], sizeof known->corners);
  for (guint r = 0; r < self->n_regions; r++)
    places[r] = (Place){ .counts = sl_class_filter_passes (self->regions[r].spec->classes, label),
                         .side = self->regions[r].spec->kind == SL_REGION_ZONE ? -1 : 0 };
  for (guint i = 0; i < reader->n_regions; i++) {
    g_autofree char *key = g_strdup_printf ("region %u", i);
    const gint r = reader->places[i];
    if (r >= 0 && g_key_file_has_key (reader->file, group, key, NULL)
        && !read_place (reader, group, key, known, (guint) r, &places[r], error))
      return FALSE;
  }
  reader->n_known++;
  return TRUE;
}

static gboolean
read_all (Reader *reader, GError **error)
{
  for (guint i = 0; i < SL_REGIONS_MOST; i++, reader->n_regions++) {
    g_autofree char *group = g_strdup_printf ("region %u", i);
    if (!g_key_file_has_group (reader->file, group))
      break;
    if (!read_region (reader, group, &reader->places[i], error))
      return FALSE;
  }
  for (guint i = 0; i < SL_ANALYZE_MOST; i++) {
    g_autofree char *group = g_strdup_printf ("object %u", i);
    if (!g_key_file_has_group (reader->file, group))
      return TRUE;
    if (!read_object (reader, group, error))
      return FALSE;
  }
  return TRUE;
}

/* An object whose class counts no more is no more inside. */
static void
leave_uncounted (SlAnalyzer *self)
{
  for (guint i = 0; i < self->n_known; i++)
    for (guint r = 0; r < self->n_regions; r++) {
      Place *place = &self->places[(gsize) i * self->n_regions + r];
      if (!place->counts && self->regions[r].spec->kind == SL_REGION_ZONE && place->side > 0) {
        sl_counts_leave (&self->regions[r].counts, place->class,
                         (gdouble) (self->last - place->since) / 1e9, 0);
        place->side = -1;
      }
    }
}

static void
take (SlAnalyzer *self, Reader *reader)
{
  for (guint r = 0; r < self->n_regions; r++) {
    self->regions[r].counts = reader->counts[r];
    self->regions[r].empty_since = reader->regions[r].empty_since;
    self->regions[r].last_left = reader->regions[r].last_left;
    self->regions[r].told_empty = reader->regions[r].told_empty;
  }
  self->known = g_steal_pointer (&reader->known);
  self->places = g_steal_pointer (&reader->at);
  self->n_known = reader->n_known;
  self->room = SL_ANALYZE_MOST;
  self->last = self->now = self->heat_since = (guint64) reader->last;
  self->interval_since =
    MIN (g_key_file_get_uint64 (reader->file, GROUP, "interval-since", NULL), self->last);
  self->analysis.since = MAX (g_key_file_get_int64 (reader->file, GROUP, "since", NULL), 0);
  self->resumed_utc = MAX (g_key_file_get_int64 (reader->file, GROUP, "saved", NULL), 0);
  self->resumed_width = g_key_file_get_integer (reader->file, GROUP, "width", NULL);
  self->resumed_height = g_key_file_get_integer (reader->file, GROUP, "height", NULL);
  self->resumed = self->begun = TRUE;
  leave_uncounted (self);
  sl_analyzer_update_views (self, self->last);
}

gboolean
sl_analyzer_restore (SlAnalyzer *self, const char *text, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  const gsize length = strlen (text);
  g_return_val_if_fail (!self->begun && self->n_known == 0, FALSE);
  if (length > LONGEST_TEXT
      || !g_key_file_load_from_data (file, text, length, G_KEY_FILE_NONE, NULL)
      || g_key_file_get_integer (file, GROUP, "version", NULL) != VERSION)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "expected counts that an analyzer of this version saved");
  Reader reader = { .file = file,
                    .analyzer = self,
                    .counts = g_new0 (SlCounts, MAX (self->n_regions, 1)),
                    .regions = g_new0 (Region, MAX (self->n_regions, 1)),
                    .places = g_new0 (gint, SL_REGIONS_MOST),
                    .known = g_new0 (Known, SL_ANALYZE_MOST),
                    .at = g_new0 (Place, (gsize) SL_ANALYZE_MOST * MAX (self->n_regions, 1)),
                    .last = (gdouble) MIN (g_key_file_get_uint64 (file, GROUP, "last", NULL),
                                           (guint64) MOST) };
  const gboolean good = read_all (&reader, error);
  if (good)
    take (self, &reader);
  g_free (reader.counts);
  g_free (reader.regions);
  g_free (reader.places);
  g_free (reader.known);
  g_free (reader.at);
  return good;
}
