/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * What became of objects over time, in zones and at lines of the picture: the results of analyze/ as whoever writes or draws them reads
 * them. Times are seconds, coordinates 0..1 of the frame.
 */
#ifndef SL_PREDICTIONS_ANALYSIS_H
#define SL_PREDICTIONS_ANALYSIS_H

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  SL_REGION_ZONE, /* a polygon */
  SL_REGION_LINE  /* from its first point to its second */
} SlRegionKind;

typedef struct
{
  gdouble x, y;
} SlRegionPoint;

/** Objects of one class. @inside: in the zone now; @entered, @left: since the start; of a line, those that crossed it from its left side to
 *  its right, and the other way, for who looks from the first point to the second. */
typedef struct
{
  const char *label; /* (not nullable): interned */
  guint inside;
  guint64 entered, left;
} SlClassCount;

/** A zone's last whole interval: @seconds long (0 = none is over yet), with @mean objects inside, at most @most. */
typedef struct
{
  gdouble seconds, mean;
  guint most;
  guint64 entered, left;
} SlOccupancy;

/**
 * SlRegionView:
 * @name: (not nullable): interned
 * @inside, @entered, @left: of all classes together, as SlClassCount has them
 * @longest: how long the one has been inside that is longest of those that are
 * @mean_dwell: how long those that left were inside, on average; 0 = none left
 * @empty: how long nobody has been inside
 */
typedef struct
{
  SlRegionKind kind;
  const char *name;
  guint n_points, n_classes;
  const SlRegionPoint *points;
  const SlClassCount *classes;
  guint inside;
  guint64 entered, left;
  gdouble longest, mean_dwell, empty;
  SlOccupancy occupancy;
} SlRegionView;

typedef enum
{
  SL_EVENT_ENTERED,
  SL_EVENT_LEFT,
  SL_EVENT_IN,
  SL_EVENT_OUT,
  SL_EVENT_DWELL,
  SL_EVENT_LEFT_BEHIND,
  SL_EVENT_EMPTY
} SlAnalysisEventKind;

/** @region: its place among the regions; @object_id: 0 = of no object; @label: (nullable): interned; @seconds: inside so far, or
 *  without moving, or empty; below 0 = says nothing */
typedef struct
{
  SlAnalysisEventKind kind;
  guint region;
  gint32 object_id;
  const char *label;
  gdouble seconds;
} SlAnalysisEvent;

/** An object inside a zone, since so many seconds. */
typedef struct
{
  gint32 object_id;
  guint region;
  gdouble seconds;
} SlPresence;

/** Where objects were: a grid over the frame, row by row, 0..255 of @most, the seconds of the fullest cell. @width 0 = none. */
typedef struct
{
  guint width, height;
  const guint8 *cells;
  gdouble most;
} SlHeatMap;

/** @since: microseconds since 1970 from which on counts count, 0 = unknown; @interval_over: an interval of the occupancy ended with this
 *  frame. */
typedef struct
{
  gint64 since;
  guint n_regions, n_events, n_presences;
  const SlRegionView *regions;
  const SlAnalysisEvent *events;
  const SlPresence *presences;
  SlHeatMap heat;
  gboolean interval_over;
} SlAnalysis;

/** sl_region_kind_name: (transfer none): "zone" or "line". */
const char *sl_region_kind_name (SlRegionKind kind);
/** sl_analysis_event_name: (transfer none): "entered", "left", "in", "out", "dwell", "left-behind", "empty". */
const char *sl_analysis_event_name (SlAnalysisEventKind kind);
/** sl_analysis_size: bytes that sl_analysis_copy() wants. */
gsize sl_analysis_size (const SlAnalysis *analysis);
/** sl_analysis_copy: everything of @analysis in one @block, aligned as malloc aligns; returns its beginning. With @events FALSE the copy has
 *  no events, and no interval is over: that of a frame between two that were looked at. */
const SlAnalysis *sl_analysis_copy (const SlAnalysis *analysis, gpointer block, gboolean events);
/** sl_analysis_append_json: an object, as docs/analytics.md has it. */
void sl_analysis_append_json (GString *out, const SlAnalysis *analysis);
/** sl_analysis_append_event: one event, an object. */
void sl_analysis_append_event (GString *out, const SlAnalysis *analysis, const SlAnalysisEvent *event);

G_END_DECLS

#endif
