/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state machine: what is known of each object, and where it is to each region. Memory is taken
 * once, for the objects that were there at the same time at most.
 */
#include "postprocess/analyze/analyzer_private.h"

#include <math.h>
#include <string.h>

#define SECOND 1e9
/* Seconds between two views of the heat map. */
#define HEAT_REFRESH 0.5
/* A box that goes on as another differs in size by at most this factor, and in place by this part
 * of its size. */
#define RELINK_SIZE 2
#define RELINK_DISTANCE 0.5
/* Seconds without a frame after which objects may go on; how many sizes of its box one may move in
 * each, and in all. */
#define CARRY_MOST 60
/* A gap in which a tracker may lose its objects before they are gone here: seconds, and intervals
 * of frames. */
#define AWAY_LEAST 0.5
#define AWAY_INTERVALS 8
#define CARRY_SPEED 2
#define CARRY_FARTHEST 2
/* Most boxes that are kept of an object that waits for what it is. */
#define MAX_WAITED 256

const SlAnalyzerSettings sl_analyzer_defaults = { .anchor = SL_ANCHOR_BOTTOM,
                                                  .confirm = 2,
                                                  .margin = 0.02,
                                                  .patience = 2,
                                                  .relink = 0.5,
                                                  .still = 0.25,
                                                  .interval = 60 };

static gdouble
seconds_between (guint64 from, guint64 to)
{
  return to > from ? (to - from) / SECOND : 0;
}

SlAnalyzer *
sl_analyzer_new (SlRegions *regions, const SlAnalyzerSettings *settings)
{
  SlAnalyzer *self = g_new0 (SlAnalyzer, 1);
  self->settings = *settings;
  sl_analyzer_take_regions (self, regions);
  self->events = g_array_new (FALSE, FALSE, sizeof (SlAnalysisEvent));
  self->presences = g_array_new (FALSE, FALSE, sizeof (SlPresence));
  self->fresh = g_array_new (FALSE, FALSE, sizeof (const SlObjectView *));
  return self;
}

void
sl_analyzer_forget (SlAnalyzer *self)
{
  self->forgetting = self->forgetting || !self->resumed;
}

void
sl_analyzer_set_utc (SlAnalyzer *self, gint64 utc)
{
  self->utc = utc;
  if (self->analysis.since == 0)
    self->analysis.since = utc;
}

void
sl_analyzer_set_size (SlAnalyzer *self, gint width, gint height)
{
  const guint columns = (guint) CLAMP (self->settings.heat_columns, 0, SL_HEAT_MOST);
  if (width == self->width && height == self->height)
    return;
  sl_analyzer_forget (self);
  self->width = MAX (width, 1);
  self->height = MAX (height, 1);
  sl_analyzer_place_regions (self);
  g_clear_pointer (&self->heat, sl_heat_free);
  self->analysis.heat = (SlHeatMap){ 0 };
  if (columns > 0)
    self->heat = sl_heat_new (
      columns,
      (guint) CLAMP (lrint ((gdouble) columns * self->height / self->width), 1, SL_HEAT_MOST),
      self->settings.heat_half_life);
}

static Place *
place_of (SlAnalyzer *self, guint known, guint region)
{
  return &self->places[(gsize) known * self->n_regions + region];
}

static void
add_event (SlAnalyzer *self, SlAnalysisEventKind kind, guint region, const Known *object,
           gdouble seconds)
{
  const SlAnalysisEvent event = { kind, region, object != NULL ? MAX (object->id, 0) : 0,
                                  object != NULL ? object->label : NULL, seconds };
  g_array_append_val (self->events, event);
}

/* How much of the interval went by after @time. */
static gdouble
since_then (const SlAnalyzer *self, guint64 time)
{
  return seconds_between (MAX (time, self->interval_since), self->now);
}

/* The object came in at place->since. */
static void
enter (SlAnalyzer *self, guint r, const Known *object, Place *place)
{
  SlCounts *counts = &self->regions[r].counts;
  place->side = 1;
  place->told_dwell = place->told_behind = FALSE;
  place->class = sl_counts_class (counts, object->label);
  sl_counts_enter (counts, place->class, since_then (self, place->since));
  add_event (self, SL_EVENT_ENTERED, r, object, -1);
}

static void
leave (SlAnalyzer *self, guint r, const Known *object, Place *place, guint64 time)
{
  Region *region = &self->regions[r];
  const gdouble seconds = seconds_between (place->since, time);
  sl_counts_leave (&region->counts, place->class, seconds, since_then (self, time));
  add_event (self, SL_EVENT_LEFT, r, object, seconds);
  region->last_left = MAX (region->last_left, time);
  if (region->counts.inside == 0) {
    region->empty_since = region->last_left;
    region->told_empty = FALSE;
  }
  place->side = -1;
}

/* The last one takes the place of one. */
static void
drop_known (SlAnalyzer *self, guint i)
{
  const guint last = --self->n_known;
  g_clear_pointer (&self->known[i].waited, g_array_unref);
  if (i == last)
    return;
  self->known[i] = self->known[last];
  memcpy (place_of (self, i, 0), place_of (self, last, 0), self->n_regions * sizeof (Place));
}

/* The object is on the other @side of the line; it has crossed it if it went through. */
static void
change_side (SlAnalyzer *self, guint r, const Known *object, Place *place, gint side)
{
  SlCounts *counts = &self->regions[r].counts;
  if (side == -place->side && place->through * side > 0) {
    sl_counts_cross (counts, sl_counts_class (counts, object->label), side > 0);
    add_event (self, side > 0 ? SL_EVENT_IN : SL_EVENT_OUT, r, object, -1);
  }
  place->side = side;
  place->through = 0;
}

/* The object is gone, since it was seen last; where that was beyond an edge, nothing speaks against
 * it any more. */
static void
remove_known (SlAnalyzer *self, guint i)
{
  const Known *object = &self->known[i];
  for (guint r = 0; r < self->n_regions; r++) {
    Place *place = place_of (self, i, r);
    if (self->regions[r].spec->kind == SL_REGION_ZONE && place->side > 0)
      leave (self, r, object, place,
             place->other > 0  ? place->other_since
             : object->carried ? object->gone
                               : object->seen);
    else if (self->regions[r].spec->kind == SL_REGION_LINE && place->other > 0)
      change_side (self, r, object, place, -place->side);
  }
  drop_known (self, i);
}

static void
forget_all (SlAnalyzer *self)
{
  while (self->n_known > 0)
    remove_known (self, self->n_known - 1);
  self->forgetting = FALSE;
}

void
sl_analyzer_free (SlAnalyzer *self)
{
  if (self == NULL)
    return;
  forget_all (self);
  sl_analyzer_clear_regions (self);
  sl_heat_free (self->heat);
  g_free (self->known);
  g_free (self->places);
  g_array_unref (self->events);
  g_array_unref (self->presences);
  g_array_unref (self->fresh);
  g_free (self);
}

static gboolean
read_corners (const SlAnalyzer *self, const SlObjectView *object, gdouble corners[4])
{
  const gdouble edges[4] = { object->x_min * self->width, object->y_min * self->height,
                             object->x_max * self->width, object->y_max * self->height };
  for (guint i = 0; i < 4; i++) {
    if (!isfinite (edges[i]) || fabs (edges[i]) > 1e6)
      return FALSE;
    corners[i] = edges[i];
  }
  return edges[2] >= edges[0] && edges[3] >= edges[1];
}

static SlRegionPoint
anchor_of (const SlAnalyzer *self, const SlRegion *spec, const gdouble corners[4])
{
  static const SlRegionPoint parts[SL_ANCHOR_DEFAULT] = {
    { 0.5, 1 }, { 0.5, 0.5 }, { 0.5, 0 }, { 0, 0.5 }, { 1, 0.5 }
  };
  const guint anchor =
    spec->anchor == SL_ANCHOR_DEFAULT ? (guint) self->settings.anchor : spec->anchor;
  const SlRegionPoint part = parts[anchor < SL_ANCHOR_DEFAULT ? anchor : SL_ANCHOR_BOTTOM];
  return (SlRegionPoint){ corners[0] + part.x * (corners[2] - corners[0]),
                          corners[1] + part.y * (corners[3] - corners[1]) };
}

/* What lies in a mask is not seen. */
static gboolean
is_masked (const SlAnalyzer *self, const SlObjectView *object, const gdouble corners[4])
{
  for (guint i = 0; i < self->specs->masks->len; i++) {
    const SlRegion *spec = &g_array_index (self->specs->masks, SlRegion, i);
    if (sl_class_filter_passes (spec->classes, object->label)
        && sl_area_side (&self->masks[i], anchor_of (self, spec, corners)) > 0)
      return TRUE;
  }
  return FALSE;
}

/* Whether @corners are where @object has been since it came to rest. */
static gboolean
rests (const SlAnalyzer *self, const Known *object, const gdouble corners[4])
{
  const gdouble x = (corners[0] + corners[2]) / 2, y = (corners[1] + corners[3]) / 2;
  const gdouble side = (corners[2] - corners[0] + corners[3] - corners[1]) / 2;
  return object->rest_since > 0
         && hypot (x - object->rest_x, y - object->rest_y) <= side * self->settings.still;
}

static void
see (SlAnalyzer *self, guint i, const gdouble corners[4], guint64 time)
{
  Known *object = &self->known[i];
  memcpy (object->corners, corners, sizeof object->corners);
  object->seen = time;
  object->here = TRUE;
  object->carried = FALSE;
  if (object->waited != NULL && object->waited->len < MAX_WAITED) {
    Sighting sighting = { .time = time };
    memcpy (sighting.corners, corners, sizeof sighting.corners);
    g_array_append_val (object->waited, sighting);
  }
  if (rests (self, object, corners))
    return;
  object->rest_x = (corners[0] + corners[2]) / 2;
  object->rest_y = (corners[1] + corners[3]) / 2;
  object->rest_since = MAX (time, 1);
  for (guint r = 0; r < self->n_regions; r++)
    place_of (self, i, r)->told_behind = FALSE;
}

static gint
find_known (const SlAnalyzer *self, gint32 id)
{
  for (guint i = 0; i < self->n_known; i++)
    if (self->known[i].id == id)
      return (gint) i;
  return -1;
}

/* Two boxes that are about as large, and not farther from each other than so many @sizes; how far
 * they are, below 0 = they are not. */
static gdouble
likeness (const gdouble a[4], const gdouble b[4], gdouble sizes)
{
  const gdouble side_a = (a[2] - a[0] + a[3] - a[1]) / 2, side_b = (b[2] - b[0] + b[3] - b[1]) / 2;
  const gdouble distance = hypot ((a[0] + a[2] - b[0] - b[2]) / 2, (a[1] + a[3] - b[1] - b[3]) / 2);
  if (MAX (side_a, side_b) > RELINK_SIZE * MIN (side_a, side_b)
      || distance > sizes * (side_a + side_b) / 2)
    return -1;
  return distance;
}

static gboolean
has_heir (const SlAnalyzer *self, gint32 id)
{
  for (guint i = 0; i < self->n_known; i++)
    if (self->known[i].heir_of == id)
      return TRUE;
  return FALSE;
}

/* The id of the object not in this frame that may go on as a new one, 0 = there is none. */
static gint32
find_lost (const SlAnalyzer *self, const SlObjectView *object, const gdouble corners[4],
           guint64 time)
{
  gdouble least = HUGE_VAL;
  gint32 best = 0;
  for (guint i = 0; i < self->n_known; i++) {
    const Known *lost = &self->known[i];
    if (lost->here || lost->carried || lost->heir_of > 0
        || seconds_between (lost->seen, time) > self->settings.relink
        || strcmp (lost->label, object->label) != 0)
      continue;
    const gdouble distance = likeness (lost->corners, corners, RELINK_DISTANCE);
    if (distance >= 0 && distance < least && !has_heir (self, lost->id)) {
      least = distance;
      best = lost->id;
    }
  }
  return best;
}

/* The object from before a time without frames that goes on as @object; below 0 = there is none. */
static gint
find_carried (const SlAnalyzer *self, const SlObjectView *object, const gdouble corners[4])
{
  gdouble least = HUGE_VAL;
  gint best = -1;
  for (guint i = 0; i < self->n_known; i++) {
    const Known *known = &self->known[i];
    if (!known->carried || strcmp (known->label, object->label) != 0)
      continue;
    const gdouble distance = likeness (
      known->corners, corners, MIN (RELINK_DISTANCE + CARRY_SPEED * self->gap, CARRY_FARTHEST));
    if (distance >= 0 && distance < least) {
      least = distance;
      best = (gint) i;
    }
  }
  return best;
}

static void
add_known (SlAnalyzer *self, const SlObjectView *object, const gdouble corners[4], guint64 time)
{
  if (self->n_known == SL_ANALYZE_MOST)
    return;
  if (self->n_known == self->room) {
    self->room = MIN (MAX (2 * self->room, 32), SL_ANALYZE_MOST);
    self->known = g_renew (Known, self->known, self->room);
    self->places = g_renew (Place, self->places, (gsize) self->room * MAX (self->n_regions, 1));
  }
  const guint i = self->n_known;
  self->known[i] = (Known){ .id = object->object_id, .label = g_intern_string (object->label) };
  self->known[i].heir_of = find_lost (self, object, corners, time);
  if (self->known[i].heir_of > 0)
    self->known[i].waited = g_array_new (FALSE, FALSE, sizeof (Sighting));
  self->n_known++;
  for (guint r = 0; r < self->n_regions; r++)
    *place_of (self, i, r) =
      (Place){ .counts = sl_class_filter_passes (self->regions[r].spec->classes, object->label),
               .side = self->regions[r].spec->kind == SL_REGION_ZONE ? -1 : 0 };
  see (self, i, corners, time);
}

static void
see_objects (SlAnalyzer *self, const SlObjectView *objects, guint n, guint64 time)
{
  gdouble corners[4];
  g_array_set_size (self->fresh, 0);
  for (guint i = 0; i < self->n_known; i++)
    self->known[i].here = FALSE;
  for (guint i = 0; i < n; i++) {
    const SlObjectView *object = &objects[i];
    if (object->object_id <= 0 || !read_corners (self, object, corners)
        || is_masked (self, object, corners))
      continue;
    const gint known = find_known (self, object->object_id);
    if (known < 0)
      g_array_append_val (self->fresh, object);
    else if (!self->known[known].here)
      see (self, (guint) known, corners, time);
  }
  for (guint i = 0; i < self->fresh->len; i++) {
    const SlObjectView *object = g_array_index (self->fresh, const SlObjectView *, i);
    if (find_known (self, object->object_id) >= 0 || !read_corners (self, object, corners))
      continue;
    const gint carried = find_carried (self, object, corners);
    if (carried < 0) {
      add_known (self, object, corners, time);
    } else {
      self->known[carried].id = object->object_id;
      see (self, (guint) carried, corners, time);
    }
  }
}

/* Whether the object, seen on @side, now is there; until then it stays where it was. */
static gboolean
has_changed (const SlAnalyzer *self, Place *place, gint side, guint64 time)
{
  if (side == 0 || side == place->side) {
    place->other = 0;
    return FALSE;
  }
  if (place->other++ == 0)
    place->other_since = time;
  if (place->other < (guint) MAX (self->settings.confirm, 1))
    return FALSE;
  place->other = 0;
  return TRUE;
}

static void
place_in_zone (SlAnalyzer *self, guint r, const Known *object, Place *place, SlRegionPoint point,
               guint64 time)
{
  const gint side = sl_area_side (&self->regions[r].area, point);
  if (!has_changed (self, place, side, time))
    return;
  if (side > 0) {
    place->since = place->other_since;
    enter (self, r, object, place);
  } else {
    leave (self, r, object, place, place->other_since);
  }
}

static void
place_at_line (SlAnalyzer *self, guint r, const Known *object, Place *place, SlRegionPoint point,
               guint64 time)
{
  Region *region = &self->regions[r];
  if (place->has_point)
    place->through += sl_area_passes (&region->area, place->point, point);
  place->point = point;
  place->has_point = TRUE;
  const gint side = sl_area_beside (&region->area, point);
  if (side != 0 && side == place->side)
    place->through = 0;
  if (place->side != 0 ? !has_changed (self, place, side, time) : side == 0)
    return;
  change_side (self, r, object, place, side);
}

/* The object was at @corners at @time. */
static void
place_object (SlAnalyzer *self, guint i, const gdouble corners[4], guint64 time)
{
  for (guint r = 0; r < self->n_regions; r++) {
    Place *place = place_of (self, i, r);
    if (!place->counts)
      continue;
    const SlRegionPoint point = anchor_of (self, self->regions[r].spec, corners);
    if (self->regions[r].spec->kind == SL_REGION_ZONE)
      place_in_zone (self, r, &self->known[i], place, point, time);
    else
      place_at_line (self, r, &self->known[i], place, point, time);
  }
}

/* The heir is the lost one from now on: where that was to each region, and since when it rests, if
 * the heir is still there. */
static void
inherit (SlAnalyzer *self, guint i, guint lost)
{
  Known *heir = &self->known[i];
  const Known *from = &self->known[lost];
  const gboolean still = rests (self, from, heir->corners);
  memcpy (place_of (self, i, 0), place_of (self, lost, 0), self->n_regions * sizeof (Place));
  for (guint r = 0; r < self->n_regions && !still; r++)
    place_of (self, i, r)->told_behind = FALSE;
  if (!still)
    return;
  heir->rest_x = from->rest_x;
  heir->rest_y = from->rest_y;
  heir->rest_since = from->rest_since;
}

/* What objects that wait beside a lost one are: new when that one is back; that one when it stays
 * away. An object whose box is missing for a frame so loses nothing to one that comes up near it
 * just then. */
static void
settle_heirs (SlAnalyzer *self, guint64 time)
{
  for (guint i = self->n_known; i > 0; i--) {
    Known *heir = &self->known[i - 1];
    if (heir->heir_of == 0)
      continue;
    const gint lost = find_known (self, heir->heir_of);
    const gboolean gone = lost >= 0 && !self->known[lost].here;
    if (gone && seconds_between (self->known[lost].seen, time) <= self->settings.relink)
      continue;
    heir->heir_of = 0;
    if (gone)
      inherit (self, i - 1, (guint) lost);
    for (guint k = 0; k < heir->waited->len; k++) {
      const Sighting *sighting = &g_array_index (heir->waited, Sighting, k);
      if (sighting->time < time)
        place_object (self, i - 1, sighting->corners, sighting->time);
    }
    g_clear_pointer (&heir->waited, g_array_unref);
    if (gone)
      drop_known (self, (guint) lost);
  }
}

static void
place_objects (SlAnalyzer *self, guint64 time)
{
  for (guint i = 0; i < self->n_known; i++)
    if (self->known[i].here && self->known[i].heir_of == 0)
      place_object (self, i, self->known[i].corners, time);
}

static void
remove_lost (SlAnalyzer *self, guint64 time)
{
  for (guint i = self->n_known; i > 0; i--)
    if (!self->known[i - 1].here
        && seconds_between (self->known[i - 1].seen, time) > self->settings.patience)
      remove_known (self, i - 1);
}

static gboolean
is_due (guint after_ms, gdouble seconds, gboolean *told)
{
  if (after_ms == 0 || *told || seconds * 1000 < after_ms)
    return FALSE;
  *told = TRUE;
  return TRUE;
}

/* Events of time, of objects that are here and in zones; and who is inside. */
static void
watch_zone (SlAnalyzer *self, guint r, guint64 time)
{
  Region *region = &self->regions[r];
  SlRegionView *view = &self->views[r];
  for (guint i = 0; i < self->n_known; i++) {
    const Known *object = &self->known[i];
    Place *place = place_of (self, i, r);
    if (place->side <= 0)
      continue;
    const gdouble seconds = seconds_between (place->since, time);
    const gdouble still = seconds_between (MAX (place->since, object->rest_since), time);
    const SlPresence presence = { object->id, r, seconds };
    if (object->id > 0)
      g_array_append_val (self->presences, presence);
    view->longest = MAX (view->longest, seconds);
    if (object->here && is_due (region->spec->dwell_after, seconds, &place->told_dwell))
      add_event (self, SL_EVENT_DWELL, r, object, seconds);
    if (object->here && is_due (region->spec->left_behind_after, still, &place->told_behind))
      add_event (self, SL_EVENT_LEFT_BEHIND, r, object, still);
  }
  view->empty = region->counts.inside == 0 ? seconds_between (region->empty_since, time) : 0;
  if (region->counts.inside == 0
      && is_due (region->spec->empty_after, view->empty, &region->told_empty))
    add_event (self, SL_EVENT_EMPTY, r, NULL, view->empty);
}

void
sl_analyzer_view_counts (SlAnalyzer *self, guint r)
{
  const SlCounts *counts = &self->regions[r].counts;
  SlRegionView *view = &self->views[r];
  view->n_classes = counts->n_classes;
  view->inside = counts->inside;
  view->entered = counts->entered;
  view->left = counts->left;
  view->mean_dwell =
    view->kind == SL_REGION_ZONE && counts->left > 0 ? counts->dwell / (gdouble) counts->left : 0;
  view->occupancy = counts->occupancy;
}

void
sl_analyzer_view_events (SlAnalyzer *self)
{
  self->analysis.n_events = self->events->len;
  self->analysis.events = (const SlAnalysisEvent *) (gconstpointer) self->events->data;
  self->analysis.n_presences = self->presences->len;
  self->analysis.presences = (const SlPresence *) (gconstpointer) self->presences->data;
}

void
sl_analyzer_update_views (SlAnalyzer *self, guint64 time)
{
  g_array_set_size (self->presences, 0);
  for (guint r = 0; r < self->n_regions; r++) {
    self->views[r].longest = 0;
    if (self->views[r].kind == SL_REGION_ZONE)
      watch_zone (self, r, time);
    sl_analyzer_view_counts (self, r);
  }
  sl_analyzer_view_events (self);
}
static void
pass_time (SlAnalyzer *self, guint64 time)
{
  const gdouble seconds = self->begun ? seconds_between (self->last, time) : 0;
  for (guint r = 0; r < self->n_regions; r++)
    sl_counts_pass (&self->regions[r].counts, seconds);
}

/* What this frame says of those who were lost before it counts, where it finds others belongs to
 * the next interval. */
static void
end_interval (SlAnalyzer *self, guint64 time)
{
  const gdouble interval = seconds_between (self->interval_since, time);
  self->analysis.interval_over =
    self->begun && self->settings.interval > 0 && interval >= self->settings.interval;
  if (!self->analysis.interval_over)
    return;
  for (guint r = 0; r < self->n_regions; r++)
    sl_counts_end_interval (&self->regions[r].counts, interval);
  self->interval_since = time;
}

/* Where the objects of this frame are counts for the time since the last one, unless there was no
 * inference for long. */
static void
heat_up (SlAnalyzer *self, guint64 time)
{
  static const SlRegion plain = { .anchor = SL_ANCHOR_DEFAULT };
  const gdouble seconds = self->begun ? seconds_between (self->last, time) : 0;
  if (self->heat == NULL)
    return;
  sl_heat_pass (self->heat, seconds);
  for (guint i = 0; i < self->n_known; i++) {
    if (!self->known[i].here)
      continue;
    const SlRegionPoint point = anchor_of (self, &plain, self->known[i].corners);
    sl_heat_add (self->heat, point.x / self->width, point.y / self->height,
                 MIN (seconds, self->settings.patience));
  }
  if (self->analysis.heat.width == 0 || self->analysis.interval_over
      || seconds_between (self->heat_since, time) >= HEAT_REFRESH) {
    self->analysis.heat = sl_heat_view (self->heat);
    self->heat_since = time;
  }
}

/* The clock begins, or begins again. */
static void
start_clock (SlAnalyzer *self, guint64 time)
{
  self->begun = FALSE;
  self->last = self->interval_since = self->heat_since = time;
  for (guint r = 0; r < self->n_regions; r++) {
    self->regions[r].empty_since = time;
    self->regions[r].last_left = 0;
    self->regions[r].counts.integral = 0;
  }
}

/* This clock goes on behind the last frame of the analyzer before, and the time since then. */
static void
resume (SlAnalyzer *self, guint64 time)
{
  const gint64 us =
    self->utc > self->resumed_utc && self->resumed_utc > 0 ? self->utc - self->resumed_utc : 0;
  self->offset = self->last + (guint64) MIN (us, G_GINT64_CONSTANT (3600000000)) * 1000 - time;
  self->begun = us <= CARRY_MOST * G_USEC_PER_SEC;
  self->forgetting =
    !self->begun || self->width != self->resumed_width || self->height != self->resumed_height;
}

/* Whether the camera was away, and not only slow, in the @gap before this frame. */
static gboolean
was_away (const SlAnalyzer *self, gdouble gap)
{
  return gap > MAX (self->settings.patience, 1)
         || (self->frame_interval > 0 && gap > MAX (self->settings.relink, AWAY_LEAST)
             && gap > AWAY_INTERVALS * self->frame_interval);
}

/* Nobody could see objects while no frame came, so that they are not gone for that: they go on
 * where one like them is seen next. Those that are not seen have left when they were seen last. */
static void
carry_over (SlAnalyzer *self, guint64 time)
{
  const gdouble gap = seconds_between (self->last, time);
  const gboolean carries = self->resumed || (was_away (self, gap) && gap <= CARRY_MOST);
  self->frame_interval = self->begun ? gap : 0;
  if (!self->begun || !carries)
    return;
  self->gap = gap;
  for (guint i = self->n_known; i > 0; i--) {
    Known *known = &self->known[i - 1];
    if (known->heir_of > 0) {
      drop_known (self, i - 1);
    } else if (!known->carried) {
      known->carried = TRUE;
      known->gone = known->seen;
      known->seen = time;
    }
  }
}

const SlAnalysis *
sl_analyzer_update (SlAnalyzer *self, const SlObjectView *objects, guint n, guint64 time)
{
  g_return_val_if_fail (self->width > 0, &self->analysis);
  g_array_set_size (self->events, 0);
  if (self->resumed)
    resume (self, time);
  time = (gint64) (time + self->offset) > 0 ? time + self->offset : 0;
  if (self->forgetting || time < self->last)
    forget_all (self);
  if (!self->begun || time < self->last)
    start_clock (self, time);
  self->now = time;
  carry_over (self, time);
  self->resumed = FALSE;
  pass_time (self, time);
  see_objects (self, objects, n, time);
  settle_heirs (self, time);
  remove_lost (self, time); /* so that who is gone is not counted beside who comes */
  end_interval (self, time);
  place_objects (self, time);
  heat_up (self, time);
  sl_analyzer_update_views (self, time);
  self->begun = TRUE;
  self->last = time;
  return &self->analysis;
}

const SlAnalysis *
sl_analyzer_last (const SlAnalyzer *self)
{
  return &self->analysis;
}

const SlRegions *
sl_analyzer_regions (const SlAnalyzer *self)
{
  return self->specs;
}
