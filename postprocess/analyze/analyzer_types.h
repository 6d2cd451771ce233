/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the analyzer knows: shared by the state machine and by what keeps its state as text. */
#ifndef SL_ANALYZE_ANALYZER_TYPES_H
#define SL_ANALYZE_ANALYZER_TYPES_H

#include "postprocess/analyze/analyzer.h"
#include "postprocess/analyze/counts.h"
#include "postprocess/analyze/heat.h"

/* A box of an object. */
typedef struct
{
  gdouble corners[4];
  guint64 time;
} Sighting;

/* @heir_of: the object that this one may be under another id, 0 = none. Until that one is back, or gone for good, this one waits beside it
 * without a state of its own, and @waited (of Sighting) says where it was meanwhile. @corners: its last box, in pixels; @rest_x, @rest_y: where it has been, more or
 * less, since @rest_since; @here: in the frame at hand; @carried: it was there before a time without frames, until @gone, and has not been
 * seen since; @id is below 0 then where ids began anew */
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

/* An object to a region: @side: 1 = inside, or right of the line, -1 = outside, or left of it, 0 = of a line, not known yet; @through: passes through
 * the line's segment since the side was sure, those to the right less those to the left; @other: times in a row that it was seen on the
 * other side, the first of them at @other_since. */
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
  SlAnalyzerSettings settings;
  gint width, height;
  guint n_regions, n_known, room;
  Region *regions;
  Known *known;
  Place *places; /* n_regions of each object */
  gboolean begun, forgetting;
  gboolean resumed; /* what it knows is of an analyzer before it, and no frame has come yet */
  gint resumed_width, resumed_height;
  gint64 utc, resumed_utc; /* microseconds since 1970, of the last frame; 0 = unknown */
  guint64 offset;          /* of this clock to that of frames: it goes on where the one before ended */
  gdouble gap;             /* seconds without a frame, after which objects were carried over */
  guint64 now, last, interval_since, heat_since;
  SlHeat *heat; /* (nullable) */
  GArray *events, *presences, *fresh;
  SlRegionView *views;
  SlAnalysis analysis;
};

/** sl_analyzer_update_views: what readers see is what is known at @time, of the analyzer's clock. */
void sl_analyzer_update_views (SlAnalyzer *analyzer, guint64 time);

#endif
