/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The regions of an analyzer: taken, put into a frame, and replaced while objects are known.
 * An edited zone loses no count, because regions go on by kind and name, or place.
 */
#include "postprocess/analyze/analyzer_private.h"

#include <string.h>

void
sl_analyzer_take_regions (SlAnalyzer *self, SlRegions *regions)
{
  self->specs = regions;
  self->n_regions = regions->list->len;
  self->regions = g_new0 (Region, self->n_regions);
  self->views = g_new0 (SlRegionView, self->n_regions);
  self->masks = g_new0 (SlArea, regions->masks->len);
  for (guint i = 0; i < self->n_regions; i++) {
    const SlRegion *spec = &g_array_index (regions->list, SlRegion, i);
    self->regions[i].spec = spec;
    self->views[i] = (SlRegionView){
      .kind = spec->kind, .name = spec->name, .n_points = spec->n_points, .points = spec->points
    };
    self->views[i].classes = self->regions[i].counts.classes;
  }
  self->analysis.n_regions = self->n_regions;
  self->analysis.regions = self->views;
}

void
sl_analyzer_clear_regions (SlAnalyzer *self)
{
  sl_regions_free (self->specs);
  g_free (self->regions);
  g_free (self->views);
  g_free (self->masks);
}

void
sl_analyzer_place_regions (SlAnalyzer *self)
{
  for (guint i = 0; i < self->n_regions; i++)
    sl_area_init (&self->regions[i].area, self->regions[i].spec, self->width, self->height,
                  self->settings.margin);
  for (guint i = 0; i < self->specs->masks->len; i++)
    sl_area_init (&self->masks[i], &g_array_index (self->specs->masks, SlRegion, i), self->width,
                  self->height, 0);
}

static gboolean
is_where_it_was (const SlRegion *a, const SlRegion *b)
{
  gboolean same = a->n_points == b->n_points;
  for (guint i = 0; same && i < a->n_points; i++)
    same = a->points[i].x == b->points[i].x && a->points[i].y == b->points[i].y;
  return same;
}

static const Region *
find_named (const SlAnalyzer *analyzer, const SlRegion *spec)
{
  for (guint r = 0; r < analyzer->n_regions; r++)
    if (analyzer->regions[r].spec->kind == spec->kind
        && strcmp (analyzer->regions[r].spec->name, spec->name) == 0)
      return &analyzer->regions[r];
  return NULL;
}

/* (nullable): the one of @before that goes on as @spec of @now: by its name, or in its place where
 * its name is gone. */
static const Region *
find_before (const SlAnalyzer *before, const SlAnalyzer *now, const SlRegion *spec)
{
  const Region *found = find_named (before, spec);
  for (guint r = 0; found == NULL && r < before->n_regions; r++) {
    const SlRegion *old = before->regions[r].spec;
    if (old->kind == spec->kind && is_where_it_was (old, spec) && find_named (now, old) == NULL)
      found = &before->regions[r];
  }
  return found;
}

/* The same object to the region that is @r now. @from: (nullable): the region before, where it had
 * @place. A line that moved has no side yet; a zone that moved is left, or entered, when frames
 * show it. */
static Place
place_again (SlAnalyzer *self, guint r, const char *label, const Region *from, const Place *place)
{
  Region *region = &self->regions[r];
  const gboolean zone = region->spec->kind == SL_REGION_ZONE;
  Place now = { .side = zone ? -1 : 0 };
  if (from != NULL && (zone || is_where_it_was (from->spec, region->spec)))
    now = *place;
  now.counts = sl_class_filter_passes (region->spec->classes, label);
  if (!now.counts && zone && now.side > 0) {
    sl_counts_leave (&region->counts, now.class, (gdouble) (self->last - now.since) / 1e9, 0);
    now.side = -1;
  }
  return now;
}

/* @view: (nullable), with @from */
static void
go_on (SlAnalyzer *self, guint r, const Region *from, const SlRegionView *view)
{
  Region *region = &self->regions[r];
  region->empty_since = self->last;
  if (from == NULL)
    return;
  region->counts = from->counts;
  region->empty_since = from->empty_since;
  region->last_left = from->last_left;
  region->told_empty = from->told_empty;
  self->views[r].longest = view->longest;
  self->views[r].empty = view->empty;
}

void
sl_analyzer_replace_regions (SlAnalyzer *self, SlRegions *regions)
{
  SlAnalyzer before = *self;
  const guint n = MAX (regions->list->len, 1);
  sl_analyzer_take_regions (self, regions);
  if (self->width > 0)
    sl_analyzer_place_regions (self);
  self->places = self->room > 0 ? g_new0 (Place, (gsize) self->room * n) : NULL;
  for (guint r = 0; r < self->n_regions; r++) {
    const Region *from = find_before (&before, self, self->regions[r].spec);
    const gsize at = from != NULL ? (gsize) (from - before.regions) : 0;
    go_on (self, r, from, from != NULL ? &before.views[at] : NULL);
    for (guint i = 0; i < self->n_known; i++)
      self->places[(gsize) i * self->n_regions + r] =
        place_again (self, r, self->known[i].label, from,
                     from != NULL ? &before.places[(gsize) i * before.n_regions + at] : NULL);
    sl_analyzer_view_counts (self, r);
  }
  g_array_set_size (self->events, 0);
  g_array_set_size (self->presences, 0);
  sl_analyzer_view_events (self);
  g_free (before.places);
  sl_analyzer_clear_regions (&before);
}
