/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The analyzer's state: shared by the state machine and the code that saves it as text. */
#pragma once

#include "postprocess/analyze/analyzer.h"
#include "postprocess/analyze/counts.h"
#include "postprocess/analyze/heat.h"

/* A box of an object. */
typedef struct
{
  gdouble corners[4];
  guint64 time;
} Sighting;

/* @heir_of: the lost object that this one may continue under another id, 0 = none. Until that one
 * is back, or has left, this one has no state of its own, and @waited (of Sighting) records its
 * positions. @corners: its last box, in pixels; @rest_x, @rest_y: where it has been, more or less,
 * since @rest_since; @here: in the frame at hand; @carried: it was there before a gap without
 * frames, until @gone, and has not been seen since; @id is then negative if ids were restarted */
typedef struct
{
  gint32 id, heir_of;
  const char *label; /* interned; that of its first box */
  GArray *waited;    /* (nullable) */
  gdouble corners[4];
  gdouble rest_x, rest_y;
  guint64 rest_since, seen, gone;
  gboolean here, carried;
} Known;

/* An object to a region: @side: 1 = inside, or right of the line, -1 = outside, or left of it, 0 =
 * of a line, not known yet; @through: passes through the line's segment since the side was sure,
 * those to the right less those to the left; @other: times in a row that it was seen on the other
 * side, the first of them at @other_since. */
typedef struct
{
  gboolean counts; /* by its class */
  gboolean has_point, told_dwell, told_behind;
  gint side, through;
  SlRegionPoint point;
  guint class;
  guint other;
  guint64 since, other_since; /* @since: inside */
} Place;

typedef struct
{
  const SlRegion *spec;
  SlArea area;
  SlCounts counts;
  guint64 empty_since, last_left;
  gboolean told_empty;
} Region;

struct _SlAnalyzer
{
  SlRegions *specs;
  SlArea *masks; /* of specs->masks */
  SlAnalyzerSettings settings;
  gint width, height;
  guint n_regions, n_known, room;
  Region *regions;
  Known *known;
  Place *places; /* n_regions of each object */
  gboolean begun, forgetting;
  gboolean resumed; /* the state is of an earlier analyzer, and no frame has come yet */
  gint resumed_width, resumed_height;
  gint64 utc, resumed_utc; /* microseconds since 1970, of the last frame; 0 = unknown */
  guint64 offset;         /* offset of this clock to that of frames: it continues the earlier one */
  gdouble gap;            /* seconds without a frame, after which objects were carried over */
  gdouble frame_interval; /* seconds between the last two frames, 0 = unknown */
  guint64 now, last, interval_since, heat_since;
  SlHeat *heat; /* (nullable) */
  GArray *events, *presences, *fresh;
  SlRegionView *views;
  SlAnalysis analysis;
};

/** sl_analyzer_update_views: updates what readers see to the state at @time, of the analyzer's
 * clock. */
void sl_analyzer_update_views (SlAnalyzer *analyzer, guint64 time);
/** sl_analyzer_take_regions: (transfer full) @regions, without counts; those before are the
 * caller's. */
void sl_analyzer_take_regions (SlAnalyzer *analyzer, SlRegions *regions);
void sl_analyzer_clear_regions (SlAnalyzer *analyzer);
/** sl_analyzer_place_regions: into a frame of the analyzer's size. */
void sl_analyzer_place_regions (SlAnalyzer *analyzer);
/** sl_analyzer_view_counts, sl_analyzer_view_events: what readers see, of region @r and of the
 * frame.
 */
void sl_analyzer_view_counts (SlAnalyzer *analyzer, guint r);
void sl_analyzer_view_events (SlAnalyzer *analyzer);
