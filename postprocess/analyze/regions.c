/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Descriptions of regions: groups, keys, points. */
#include "postprocess/analyze/regions.h"

#include <math.h>
#include <string.h>

#include "postprocess/analyze/geometry.h"
#include "core/base/duration.h"
#include "core/base/suggest.h"
#include "core/base/fail.h"

/* Least area of a zone and least length of a line, of the frame's. */
#define MIN_AREA 1e-4
#define MIN_LENGTH 1e-2
/* Every kind's name has this length; a blank is behind it. */
#define PREFIX_LENGTH 5

const char *const sl_anchor_names[SL_ANCHOR_DEFAULT] = { "bottom", "centre", "top", "left",
                                                         "right" };

const char *
sl_anchor_name (SlAnchor anchor)
{
  return anchor < SL_ANCHOR_DEFAULT ? sl_anchor_names[anchor] : NULL;
}

gboolean
sl_anchor_parse (const char *name, SlAnchor *anchor)
{
  for (guint i = 0; i < SL_ANCHOR_DEFAULT; i++)
    if (strcmp (name, sl_anchor_names[i]) == 0) {
      *anchor = (SlAnchor) i;
      return TRUE;
    }
  return FALSE;
}

static void
region_clear (gpointer data)
{
  sl_class_filter_free (((SlRegion *) data)->classes);
  g_free (((SlRegion *) data)->classes_text);
}

SlRegions *
sl_regions_new (void)
{
  SlRegions *regions = g_new0 (SlRegions, 1);
  regions->list = g_array_new (FALSE, TRUE, sizeof (SlRegion));
  regions->masks = g_array_new (FALSE, TRUE, sizeof (SlRegion));
  g_array_set_clear_func (regions->list, region_clear);
  g_array_set_clear_func (regions->masks, region_clear);
  return regions;
}

void
sl_regions_free (SlRegions *regions)
{
  if (regions == NULL)
    return;
  g_array_unref (regions->list);
  g_array_unref (regions->masks);
  g_free (regions);
}

/* FALSE: @group is none of a region. */
static gboolean
kind_of (const char *group, SlRegionKind *kind)
{
  for (guint k = 0; k <= SL_REGION_MASK; k++)
    if (g_str_has_prefix (group, sl_region_kind_name ((SlRegionKind) k))
        && group[PREFIX_LENGTH - 1] == ' ') {
      *kind = (SlRegionKind) k;
      return TRUE;
    }
  return FALSE;
}

gboolean
sl_regions_is_group (const char *group)
{
  SlRegionKind kind;
  return kind_of (group, &kind);
}

static GArray *
list_of (const SlRegions *regions, SlRegionKind kind)
{
  return kind == SL_REGION_MASK ? regions->masks : regions->list;
}

static SlRegion *
find_region (SlRegions *regions, SlRegionKind kind, const char *name)
{
  const GArray *list = list_of (regions, kind);
  for (guint i = 0; i < list->len; i++) {
    SlRegion *region = &g_array_index (list, SlRegion, i);
    if (region->kind == kind && strcmp (region->name, name) == 0)
      return region;
  }
  return NULL;
}

gboolean
sl_region_is_of (const SlRegion *region, const char *group)
{
  g_autofree char *name =
    sl_regions_is_group (group) ? g_strstrip (g_strdup (group + PREFIX_LENGTH)) : NULL;
  return name != NULL && g_str_has_prefix (group, sl_region_kind_name (region->kind))
         && strcmp (name, region->name) == 0;
}

/* The region of @group, which is made when it is new. */
static SlRegion *
open_region (SlRegions *regions, const char *group, GError **error)
{
  SlRegionKind kind;
  g_autofree char *name = NULL;
  if (!kind_of (group, &kind)) {
    sl_fail (error, SL_ERROR_ARGUMENT,
             "[%s]: unknown group; expected [zone NAME], [line NAME] or [mask NAME]", group);
    return NULL;
  }
  name = g_strstrip (g_strdup (group + PREFIX_LENGTH));
  SlRegion *known = find_region (regions, kind, name);
  if (known != NULL)
    return known;
  if (*name == '\0' || strlen (name) > SL_REGION_NAME_MAX || !g_utf8_validate (name, -1, NULL)
      || strpbrk (name, ";[]\n") != NULL)
    sl_fail (error, SL_ERROR_ARGUMENT,
             "[%s]: expected a name of 1 to %d bytes of UTF-8 without ';' behind '%s'", group,
             SL_REGION_NAME_MAX, sl_region_kind_name (kind));
  else if (regions->list->len + regions->masks->len >= SL_REGIONS_MOST)
    sl_fail (error, SL_ERROR_ARGUMENT, "[%s]: more than %d zones, lines and masks", group,
             SL_REGIONS_MOST);
  else {
    const SlRegion fresh = { .kind = kind,
                             .name = g_intern_string (name),
                             .anchor = SL_ANCHOR_DEFAULT };
    GArray *list = list_of (regions, kind);
    g_array_append_val (list, fresh);
    return &g_array_index (list, SlRegion, list->len - 1);
  }
  return NULL;
}

/* One number of 0..1 at *@at, which goes behind it and what separates it from the next. */
static gboolean
take_number (const char **at, gdouble *number)
{
  char *end = NULL;
  if (!g_ascii_isdigit (**at) && **at != '.')
    return FALSE;
  *number = g_ascii_strtod (*at, &end);
  if (end == *at || !(*number >= 0 && *number <= 1))
    return FALSE;
  *at = end + strspn (end, ", \t");
  return *at > end || *end == '\0';
}

static gboolean
is_same (const SlRegionPoint *a, const SlRegionPoint *b)
{
  return a->x == b->x && a->y == b->y;
}

static gboolean
set_points (SlRegion *region, const char *value, GError **error)
{
  const char *at = value + strspn (value, " \t");
  guint n = 0;
  while (*at != '\0') {
    SlRegionPoint point;
    if (!take_number (&at, &point.x) || !take_number (&at, &point.y))
      return sl_fail (
        error, SL_ERROR_ARGUMENT,
        "expected points x,y of numbers from 0 to 1, such as 0.1,0.2 0.5,0.2 0.5,0.9, got '%s' in "
        "'%s'",
        at, value);
    if (n == SL_REGION_MAX_POINTS)
      return sl_fail (error, SL_ERROR_ARGUMENT, "more than %d points", SL_REGION_MAX_POINTS);
    region->points[n++] = point;
  }
  if (region->kind != SL_REGION_LINE && n > 3
      && is_same (&region->points[0], &region->points[n - 1]))
    n--; /* a closed ring */
  region->n_points = n;
  return TRUE;
}

static gboolean
set_classes (SlRegion *region, const char *value, GError **error)
{
  SlClassFilter *classes;
  if (!sl_class_filter_parse (value, &classes, error))
    return FALSE;
  sl_class_filter_free (region->classes);
  region->classes = classes;
  g_free (region->classes_text);
  region->classes_text = *value != '\0' ? g_strdup (value) : NULL;
  return TRUE;
}

static gboolean
set_anchor (SlRegion *region, const char *value, GError **error)
{
  if (sl_anchor_parse (value, &region->anchor))
    return TRUE;
  g_autofree char *hint = sl_suggest_text (value, sl_anchor_names, SL_ANCHOR_DEFAULT);
  return sl_fail (error, SL_ERROR_ARGUMENT, "unknown anchor '%s'%s", value, hint);
}

static const struct
{
  const char *key;
  gboolean (*set) (SlRegion *region, const char *value,
                   GError **error); /* NULL: a time, at @offset */
  gsize offset;
  gboolean all; /* lines and masks have it, too */
} keys[] = {
  { "points", set_points, 0, TRUE },
  { "classes", set_classes, 0, TRUE },
  { "anchor", set_anchor, 0, TRUE },
  { "dwell-after", NULL, G_STRUCT_OFFSET (SlRegion, dwell_after), FALSE },
  { "left-behind-after", NULL, G_STRUCT_OFFSET (SlRegion, left_behind_after), FALSE },
  { "empty-after", NULL, G_STRUCT_OFFSET (SlRegion, empty_after), FALSE },
};

gboolean
sl_regions_open (SlRegions *regions, const char *group, GError **error)
{
  return open_region (regions, group, error) != NULL;
}

gboolean
sl_regions_set (SlRegions *regions, const char *group, const char *key, const char *value,
                GError **error)
{
  const char *known[G_N_ELEMENTS (keys)] = { NULL };
  SlRegion *region = open_region (regions, group, error);
  if (region == NULL)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    if (region->kind != SL_REGION_ZONE && !keys[i].all)
      continue;
    known[i] = keys[i].key;
    if (strcmp (key, keys[i].key) != 0)
      continue;
    if (keys[i].set != NULL)
      return keys[i].set (region, value, error);
    return sl_duration_parse (value, G_STRUCT_MEMBER_P (region, keys[i].offset))
           || sl_fail (error, SL_ERROR_ARGUMENT, "expected " SL_DURATION_EXPECTED ", got '%s'",
                       value);
  }
  g_autofree char *hint = sl_suggest_text (key, known, G_N_ELEMENTS (known));
  return sl_fail (error, SL_ERROR_ARGUMENT, "unknown key of a %s%s",
                  sl_region_kind_name (region->kind), hint);
}

/* Two sides without a corner in common that meet; TRUE with their numbers, from 1. */
static gboolean
find_crossing (const SlRegion *region, guint *first, guint *second)
{
  const guint n = region->n_points;
  for (guint i = 0; i < n; i++)
    for (guint k = i + 2; k < n && !(i == 0 && k == n - 1); k++)
      if (sl_segments_cross (region->points[i], region->points[i + 1], region->points[k],
                             region->points[(k + 1) % n])) {
        *first = i + 1;
        *second = k + 1;
        return TRUE;
      }
  return FALSE;
}

static gboolean
check_polygon (const SlRegion *region, GError **error)
{
  const char *kind = sl_region_kind_name (region->kind);
  guint first, second;
  if (region->n_points < 3)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "[%s %s] points: expected at least 3 corners x,y of 0..1, got %u", kind,
                    region->name, region->n_points);
  for (guint i = 1; i < region->n_points; i++)
    if (is_same (&region->points[i - 1], &region->points[i]))
      return sl_fail (error, SL_ERROR_ARGUMENT, "[%s %s] points: corners %u and %u are the same",
                      kind, region->name, i, i + 1);
  if (find_crossing (region, &first, &second))
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "[%s %s] points: sides %u and %u cross; expected corners in the order around the %s", kind,
      region->name, first, second, kind);
  if (sl_polygon_area (region->points, region->n_points) < MIN_AREA)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "[%s %s] points: the %s has no area; expected corners of 0..1 of the frame, in the order "
      "around it",
      kind, region->name, kind);
  return TRUE;
}

static gboolean
check_line (const SlRegion *region, GError **error)
{
  if (region->n_points != 2)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "[line %s] points: expected 2 points x,y of 0..1, got %u", region->name,
                    region->n_points);
  if (hypot (region->points[1].x - region->points[0].x, region->points[1].y - region->points[0].y)
      >= MIN_LENGTH)
    return TRUE;
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "[line %s] points: the line is shorter than %g of the frame", region->name,
                  MIN_LENGTH);
}

static const SlRegion *
find_fault_in (const GArray *list, GError **error)
{
  for (guint i = 0; i < list->len; i++) {
    const SlRegion *region = &g_array_index (list, SlRegion, i);
    if (!(region->kind == SL_REGION_LINE ? check_line (region, error)
                                         : check_polygon (region, error)))
      return region;
  }
  return NULL;
}

const SlRegion *
sl_regions_find_fault (const SlRegions *regions, GError **error)
{
  const SlRegion *fault = find_fault_in (regions->list, error);
  return fault != NULL ? fault : find_fault_in (regions->masks, error);
}

/* Takes what stands in front of the next entry's end, without its comment. @group: (inout)
 * (nullable) */
static gboolean
parse_entry (SlRegions *regions, char *entry, char **group, GError **error)
{
  g_strstrip (entry);
  if (*entry == '[') {
    char *end = strchr (entry, ']');
    if (end == NULL)
      return sl_fail (error, SL_ERROR_ARGUMENT, "'%s': expected ']' behind a group's name", entry);
    g_free (*group);
    *group = g_strndup (entry + 1, (gsize) (end - entry - 1));
    entry = g_strchug (end + 1);
    if (open_region (regions, *group, error) == NULL)
      return FALSE;
  }
  if (*entry == '\0' || *entry == '#')
    return TRUE;
  char *equals = strchr (entry, '=');
  if (*group == NULL || equals == NULL)
    return sl_fail (error, SL_ERROR_ARGUMENT, "'%s': expected %s", entry,
                    *group == NULL ? "[zone NAME], [line NAME] or [mask NAME] first" : "KEY=VALUE");
  *equals = '\0';
  const char *key = g_strstrip (entry), *value = g_strstrip (equals + 1);
  if (sl_regions_set (regions, *group, key, value, error))
    return TRUE;
  return sl_fail_prefix (error, "[%s] %s: ", *group, key);
}

SlRegions *
sl_regions_parse (const char *text, GError **error)
{
  g_autoptr (SlRegions) regions = sl_regions_new ();
  g_autofree char *group = NULL;
  while (*text != '\0') {
    const gsize length = *text == '#' ? strcspn (text, "\n") : strcspn (text, "\n;");
    g_autofree char *entry = g_strndup (text, length);
    if (!parse_entry (regions, entry, &group, error))
      return NULL;
    text += length;
    text += strspn (text, "\n; \t\r");
  }
  return sl_regions_find_fault (regions, error) == NULL ? g_steal_pointer (&regions) : NULL;
}

/* (nullable) */
static const SlRegion *
find_no_zone (const SlRegions *regions)
{
  for (guint i = 0; i < regions->list->len; i++)
    if (g_array_index (regions->list, SlRegion, i).kind != SL_REGION_ZONE
        || g_array_index (regions->list, SlRegion, i).classes != NULL)
      return &g_array_index (regions->list, SlRegion, i);
  return regions->masks->len > 0 ? &g_array_index (regions->masks, SlRegion, 0) : NULL;
}

gboolean
sl_regions_parse_zones (const char *text, const char *property, SlRegions **zones, GError **error)
{
  *zones = NULL;
  if (text == NULL || *text == '\0')
    return TRUE;
  g_autoptr (SlRegions) regions = sl_regions_parse (text, error);
  if (regions == NULL)
    return sl_fail_prefix (error, "%s: ", property);
  const SlRegion *wrong = find_no_zone (regions);
  if (wrong != NULL)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "%s: expected zones with points alone, got '%s': it %s%s", property,
                    wrong->name, wrong->classes != NULL ? "has classes" : "is a ",
                    wrong->classes != NULL ? "" : sl_region_kind_name (wrong->kind));
  *zones = g_steal_pointer (&regions);
  return TRUE;
}

/* At most four decimals: less than a pixel of any frame. */
static void
append_number (GString *text, gdouble number)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  gsize length = strlen (g_ascii_formatd (buffer, sizeof buffer, "%.4f", number));
  while (buffer[length - 1] == '0')
    length--;
  g_string_append_len (text, buffer, (gssize) (length - (buffer[length - 1] == '.')));
}

void
sl_region_append_points (GString *text, const SlRegionPoint *points, guint n)
{
  for (guint i = 0; i < n; i++) {
    if (i > 0)
      g_string_append_c (text, ' ');
    append_number (text, points[i].x);
    g_string_append_c (text, ',');
    append_number (text, points[i].y);
  }
}

void
sl_region_append (GString *text, SlRegionKind kind, const SlRegion *region)
{
  g_string_append_printf (text, "[%s %s] points=", sl_region_kind_name (kind), region->name);
  sl_region_append_points (text, region->points, region->n_points);
  g_string_append_c (text, '\n');
}
