/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The results of zones and lines over time. postprocess/analyze makes them; code that writes or
 * draws predictions reads them. Times are in seconds, coordinates in 0..1 of the frame.
 */
#pragma once

#include <glib.h>

typedef enum
{
  SL_REGION_ZONE, /* a polygon */
  SL_REGION_LINE, /* from its first point to its second */
  SL_REGION_MASK  /* a polygon in which objects do not count; analyses have none */
} SlRegionKind;

typedef struct
{
  gdouble x, y;
} SlRegionPoint;

/** Counts of the objects of one class. @inside: in the zone now; @entered, @left: since the start.
 * For a line, @entered counts crossings from its left side to its right side, @left the other
 * direction. Left and right are seen from the first point to the second. */
typedef struct
{
  const char *label; /* (not nullable): interned */
  guint inside;
  guint64 entered, left;
} SlClassCount;

/** The last complete interval of a zone: @seconds long (0 = no interval is complete yet), with
 * @mean objects inside on average, and at most @most. */
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
 * @longest: the longest time that an object that is inside now has been inside
 * @mean_dwell: how long the objects that left were inside, on average; 0 = no object has left
 * @empty: how long the zone has been empty
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

/** @region: index of the region; @object_id: 0 = the event has no object; @label: (nullable):
 * interned; @seconds: how long the object has been inside or has not moved, or how long the zone
 * has been empty; below 0 = not set */
typedef struct
{
  SlAnalysisEventKind kind;
  guint region;
  gint32 object_id;
  const char *label;
  gdouble seconds;
} SlAnalysisEvent;

/** An object that has been inside a zone for @seconds. */
typedef struct
{
  gint32 object_id;
  guint region;
  gdouble seconds;
} SlPresence;

/** How long objects were where: a grid over the frame, row by row. A cell value of 255 stands for
 * @most seconds, the largest cell. @width 0 = no heat map. */
typedef struct
{
  guint width, height;
  const guint8 *cells;
  gdouble most;
} SlHeatMap;

/** @since: start of the counts, in microseconds since 1970, 0 = unknown; @interval_over: an
 * interval of the occupancy ended with this frame. */
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

/** sl_region_kind_name: (transfer none): "zone", "line" or "mask". */
const char *sl_region_kind_name (SlRegionKind kind);
/** sl_analysis_event_name: (transfer none): "entered", "left", "in", "out", "dwell", "left-behind",
 * "empty". */
const char *sl_analysis_event_name (SlAnalysisEventKind kind);
/** sl_analysis_event_kinds: the kinds that @text names, with ',' between, or all of them for "all".
 * @kinds: (out): bit by bit. FALSE with SL_ERROR_ARGUMENT set for another word. */
gboolean sl_analysis_event_kinds (const char *text, guint *kinds, GError **error);
/** sl_analysis_size: bytes that sl_analysis_copy() needs. */
gsize sl_analysis_size (const SlAnalysis *analysis);
/** sl_analysis_copy: copies @analysis with all its arrays into @block, which is aligned as by
 * malloc. Returns the copy at the start of @block. With @events FALSE the copy has no events and no
 * end of an interval. Use this for frames on which no model ran. */
const SlAnalysis *sl_analysis_copy (const SlAnalysis *analysis, gpointer block, gboolean events);
/** sl_analysis_append_json: appends a JSON object; see docs/analytics.md. */
void sl_analysis_append_json (GString *out, const SlAnalysis *analysis);
/** sl_analysis_append_event: appends one event as a JSON object. */
void sl_analysis_append_event (GString *out, const SlAnalysis *analysis,
                               const SlAnalysisEvent *event);
