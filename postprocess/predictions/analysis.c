/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Analyses copied into one block, and written as JSON. */
#include "postprocess/predictions/analysis.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/json.h"
#include "core/base/printable.h"
#include "core/base/utc.h"

#define N_KINDS (SL_EVENT_EMPTY + 1)
#define ALL "all"

/* A block and what of it is used; without a block only the sizes are added up. */
typedef struct
{
  guint8 *at;
  gsize used;
} Block;

static gpointer
take (Block *block, gconstpointer from, gsize n, gsize size)
{
  const gsize bytes = (n * size + 15) & ~(gsize) 15;
  gpointer to = block->at != NULL ? block->at + block->used : NULL;
  block->used += bytes;
  if (to != NULL && n > 0)
    memcpy (to, from, n * size);
  return to;
}

/* The copy, whose parts lie behind it; NULL without a block. */
static SlAnalysis *
copy_into (Block *block, const SlAnalysis *from)
{
  SlAnalysis *to = take (block, from, 1, sizeof *from);
  SlRegionView *regions = take (block, from->regions, from->n_regions, sizeof *regions);
  for (guint i = 0; i < from->n_regions; i++) {
    const SlRegionView *region = &from->regions[i];
    const SlRegionPoint *points = take (block, region->points, region->n_points, sizeof *points);
    const SlClassCount *classes = take (block, region->classes, region->n_classes, sizeof *classes);
    if (regions == NULL)
      continue;
    regions[i].points = points;
    regions[i].classes = classes;
  }
  const SlAnalysisEvent *events = take (block, from->events, from->n_events, sizeof *events);
  const SlPresence *presences = take (block, from->presences, from->n_presences, sizeof *presences);
  const guint8 *cells =
    take (block, from->heat.cells, (gsize) from->heat.width * from->heat.height, 1);
  if (to == NULL)
    return NULL;
  to->regions = regions;
  to->events = events;
  to->presences = presences;
  to->heat.cells = cells;
  return to;
}

gsize
sl_analysis_size (const SlAnalysis *analysis)
{
  Block block = { 0 };
  copy_into (&block, analysis);
  return block.used;
}

const SlAnalysis *
sl_analysis_copy (const SlAnalysis *analysis, gpointer memory, gboolean events)
{
  Block block = { .at = memory };
  SlAnalysis *copy = copy_into (&block, analysis);
  if (!events) {
    copy->n_events = 0;
    copy->interval_over = FALSE;
  }
  return copy;
}

const char *
sl_region_kind_name (SlRegionKind kind)
{
  static const char *const names[] = { "zone", "line", "mask" };
  return names[kind];
}

const char *
sl_analysis_event_name (SlAnalysisEventKind kind)
{
  static const char *const names[] = {
    [SL_EVENT_ENTERED] = "entered", [SL_EVENT_LEFT] = "left",
    [SL_EVENT_IN] = "in",           [SL_EVENT_OUT] = "out",
    [SL_EVENT_DWELL] = "dwell",     [SL_EVENT_LEFT_BEHIND] = "left-behind",
    [SL_EVENT_EMPTY] = "empty",
  };
  return names[kind];
}

static gboolean
add_kind (const char *word, guint *kinds)
{
  for (guint i = 0; i < N_KINDS; i++)
    if (strcmp (word, sl_analysis_event_name ((SlAnalysisEventKind) i)) == 0) {
      *kinds |= 1u << i;
      return TRUE;
    }
  return FALSE;
}

gboolean
sl_analysis_event_kinds (const char *text, guint *kinds, GError **error)
{
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  *kinds = 0;
  for (guint i = 0; words[i] != NULL; i++) {
    g_strstrip (words[i]);
    if (strcmp (words[i], ALL) == 0)
      *kinds = (1u << N_KINDS) - 1;
    else if (!add_kind (words[i], kinds)) {
      g_autofree char *shown = sl_printable (words[i], SL_PRINTABLE_LABEL);
      return sl_fail (error, SL_ERROR_ARGUMENT,
                      "events=%s: expected all, or entered, left, in, out, dwell, left-behind and "
                      "empty with ',' between",
                      shown);
    }
  }
  return TRUE;
}

static void
append_number (GString *out, const char *key, gdouble value)
{
  sl_json_append_number (out, key, value, 6);
}

static void
append_occupancy (GString *out, const SlOccupancy *occupancy)
{
  g_string_append (out, ",\"occupancy\":{");
  append_number (out, "seconds", occupancy->seconds);
  append_number (out, "mean", occupancy->mean);
  sl_json_append_printf (
    out, ",\"most\":%u,\"entered\":%" G_GUINT64_FORMAT ",\"left\":%" G_GUINT64_FORMAT "}",
    occupancy->most, occupancy->entered, occupancy->left);
}

/* What zones and lines have of all classes and of each. */
static void
append_counts (GString *out, SlRegionKind kind, guint inside, guint64 entered, guint64 left)
{
  if (kind == SL_REGION_ZONE)
    sl_json_append_printf (
      out, ",\"inside\":%u,\"entered\":%" G_GUINT64_FORMAT ",\"left\":%" G_GUINT64_FORMAT, inside,
      entered, left);
  else
    sl_json_append_printf (out, ",\"in\":%" G_GUINT64_FORMAT ",\"out\":%" G_GUINT64_FORMAT, entered,
                           left);
}

static void
append_region (GString *out, const SlRegionView *region)
{
  g_string_append_c (out, '{');
  sl_json_append_text (out, "name", region->name);
  append_counts (out, region->kind, region->inside, region->entered, region->left);
  if (region->kind == SL_REGION_ZONE) {
    append_number (out, "longest", region->longest);
    append_number (out, "mean_dwell", region->mean_dwell);
    append_number (out, "empty", region->empty);
  }
  g_string_append (out, ",\"classes\":[");
  for (guint i = 0; i < region->n_classes; i++) {
    const SlClassCount *count = &region->classes[i];
    g_string_append (out, i > 0 ? ",{" : "{");
    sl_json_append_text (out, "label", count->label);
    append_counts (out, region->kind, count->inside, count->entered, count->left);
    g_string_append_c (out, '}');
  }
  g_string_append_c (out, ']');
  if (region->kind == SL_REGION_ZONE && region->occupancy.seconds > 0)
    append_occupancy (out, &region->occupancy);
  g_string_append_c (out, '}');
}

static void
append_regions (GString *out, const SlAnalysis *analysis, SlRegionKind kind)
{
  gboolean first = TRUE;
  for (guint i = 0; i < analysis->n_regions; i++) {
    if (analysis->regions[i].kind != kind)
      continue;
    if (!first)
      g_string_append_c (out, ',');
    first = FALSE;
    append_region (out, &analysis->regions[i]);
  }
}

static void
append_place (GString *out, const SlAnalysis *analysis, guint region)
{
  const SlRegionView *view = &analysis->regions[region];
  sl_json_append_text (out, sl_region_kind_name (view->kind), view->name);
}

void
sl_analysis_append_event (GString *out, const SlAnalysis *analysis, const SlAnalysisEvent *event)
{
  sl_json_append_printf (out, "{\"event\":\"%s\"", sl_analysis_event_name (event->kind));
  append_place (out, analysis, event->region);
  if (event->object_id > 0) {
    sl_json_append_printf (out, ",\"id\":%d", event->object_id);
    sl_json_append_text (out, "label", event->label);
  }
  if (event->seconds >= 0)
    append_number (out, "seconds", event->seconds);
  g_string_append_c (out, '}');
}

static void
append_presence (GString *out, const SlAnalysis *analysis, const SlPresence *presence)
{
  sl_json_append_printf (out, "{\"id\":%d", presence->object_id);
  append_place (out, analysis, presence->region);
  append_number (out, "seconds", presence->seconds);
  g_string_append_c (out, '}');
}

/* A grid is long, and says little more from one frame to the next. */
static void
append_heat (GString *out, const SlHeatMap *heat)
{
  sl_json_append_printf (out, ",\"heat\":{\"width\":%u,\"height\":%u", heat->width, heat->height);
  append_number (out, "most", heat->most);
  g_string_append (out, ",\"cells\":[");
  for (gsize i = 0; i < (gsize) heat->width * heat->height; i++)
    sl_json_append_printf (out, i > 0 ? ",%u" : "%u", heat->cells[i]);
  g_string_append (out, "]}");
}

void
sl_analysis_append_json (GString *out, const SlAnalysis *analysis)
{
  g_string_append_c (out, '{');
  if (analysis->since > 0) {
    g_string_append (out, "\"since\":\"");
    sl_utc_append (out, analysis->since);
    g_string_append (out, "\",");
  }
  g_string_append (out, "\"zones\":[");
  append_regions (out, analysis, SL_REGION_ZONE);
  g_string_append (out, "],\"lines\":[");
  append_regions (out, analysis, SL_REGION_LINE);
  g_string_append (out, "],\"inside\":[");
  for (guint i = 0; i < analysis->n_presences; i++) {
    if (i > 0)
      g_string_append_c (out, ',');
    append_presence (out, analysis, &analysis->presences[i]);
  }
  g_string_append (out, "],\"events\":[");
  for (guint i = 0; i < analysis->n_events; i++) {
    if (i > 0)
      g_string_append_c (out, ',');
    sl_analysis_append_event (out, analysis, &analysis->events[i]);
  }
  g_string_append_c (out, ']');
  if (analysis->heat.width > 0 && analysis->interval_over)
    append_heat (out, &analysis->heat);
  g_string_append_c (out, '}');
}
