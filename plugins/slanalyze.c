/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slanalyze: what tracked objects do in zones and at lines, over time; it writes an SlAnalysisMeta
 * on each frame and posts its events as messages. Pixels are neither read nor copied. What counts
 * is analyze/'s; here are frames, clocks and messages.
 *
 * A frame without inference changes nothing, and carries what was true before.
 */
#include "plugins/elements.h"

#include <gst/base/gstbasetransform.h>

#include "postprocess/analyze/analyzer.h"
#include "postprocess/analyze/heat.h"
#include "postprocess/analyze/tracks.h"
#include "plugins/base/describe.h"
#include "plugins/meta/analysis_meta.h"
#include "plugins/meta/class_names.h"
#include "plugins/meta/regions/choose.h"
#include "plugins/meta/predictions.h"
#include "plugins/meta/seen_event.h"
#include "plugins/base/properties.h"
#include "plugins/base/report.h"
#include "plugins/base/settings.h"

GST_DEBUG_CATEGORY_STATIC (sl_analyze_debug);
#define GST_CAT_DEFAULT sl_analyze_debug

/* Frames with objects, none of which has an id, after which something is said. */
#define FRAMES_WITHOUT_IDS 50

typedef struct
{
  GstBaseTransform parent;
  char *regions;               /* object lock */
  gboolean redrawn;            /* object lock: @regions was set while frames flow */
  SlAnalyzerSettings settings; /* object lock */
  gboolean post_messages;      /* object lock */
  gint keep_tracks;            /* object lock */
  GMutex lock;          /* of what the analyzer knows, which "counts" reads, and of the two texts */
  SlAnalyzer *analyzer; /* (nullable): while started */
  SlTracks *tracks;     /* (nullable): while started, with keep-tracks */
  char *resume, *kept;  /* (nullable): what the next start goes on from, what the analyzer of the
                           last one knew */
  /* The rest is the streaming thread's. */
  SlPredictionReader reader;
  SlBytePool pool;
  GString *line;
  GPtrArray *occupied; /* of sl_zones_send() */
  gint width, height;
  GstClockTime interval;  /* of frames */
  GstClockTime last;      /* time of the last frame */
  guint without_ids;      /* frames so far, as long as nothing had an id */
  gboolean ids_settled;   /* an id was there, or it was said that none is */
  gboolean classes_known; /* those of regions are the models' */
} SlAnalyze;

typedef GstBaseTransformClass SlAnalyzeClass;

G_DEFINE_TYPE (SlAnalyze, sl_analyze, GST_TYPE_BASE_TRANSFORM)

#define CAPS "video/x-raw(ANY)"

static GType anchor_get_type (void);
G_DEFINE_ENUM_TYPE (SlAnalyzeAnchor, anchor,
                    { SL_ANCHOR_BOTTOM,
                      "The middle of the box's lower edge: where something stands", "bottom" },
                    { SL_ANCHOR_CENTRE, "The box's centre: seen from above", "centre" },
                    { SL_ANCHOR_TOP, "The middle of the upper edge", "top" },
                    { SL_ANCHOR_LEFT, "The middle of the left edge", "left" },
                    { SL_ANCHOR_RIGHT, "The middle of the right edge", "right" })

#define AT(member) G_STRUCT_OFFSET (SlAnalyze, member)
#define PROP_COUNTS (G_N_ELEMENTS (properties) + 1)
#define PROP_KEPT (G_N_ELEMENTS (properties) + 2)

static const SlProperty properties[] = {
  { "regions", "Regions",
    "Zones, lines and masks, points in 0..1 of the frame: \"[zone door] points=0.1,0.2 0.5,0.2 "
    "0.5,0.9; classes=person; [line way] points=0,0.5 1,0.5\"; more keys: anchor, dwell-after, "
    "left-behind-after, empty-after. While frames flow, new regions count from the next frame, and "
    "those of the same kind and name keep their counts. Description files have groups instead",
    SL_PROPERTY_STRING, AT (regions), .live = TRUE },
  { "anchor", "Anchor",
    "The point of an object's box that is its position, for regions without an anchor",
    SL_PROPERTY_CHOICE, AT (settings.anchor), 0, 0, SL_ANCHOR_BOTTOM, anchor_get_type },
  { "margin", "Margin",
    "How far beyond an edge an object must be to have crossed it, as a fraction of the frame's "
    "shorter side",
    SL_PROPERTY_DOUBLE, AT (settings.margin), 0, 0.5, 0.02 },
  { "confirm", "Confirm", "Consecutive sightings beyond an edge until an object has crossed it",
    SL_PROPERTY_INT, AT (settings.confirm), 1, 1000, 2 },
  { "patience", "Patience", "Seconds after which a missing object has left", SL_PROPERTY_DOUBLE,
    AT (settings.patience), 0, 3600, 2 },
  { "relink", "Relink",
    "Seconds in which a lost object may continue under another id, if a new object of its class "
    "and size appears at its position; -1 = never",
    SL_PROPERTY_DOUBLE, AT (settings.relink), -1, 60, 0.5 },
  { "still", "Still", "How far an object that was left behind may move, in sizes of its box",
    SL_PROPERTY_DOUBLE, AT (settings.still), 0, 10, 0.25 },
  { "interval", "Interval", "Seconds of an interval for mean and peak occupancy; 0 = none",
    SL_PROPERTY_DOUBLE, AT (settings.interval), 0, 86400, 60 },
  { "heat-map", "Heat map", "Columns of the heat map of positions and times of objects; 0 = no map",
    SL_PROPERTY_INT, AT (settings.heat_columns), 0, SL_HEAT_MOST, 0 },
  { "heat-half-life", "Half-life of heat",
    "Seconds after which half of the heat map has faded; 0 = it stays", SL_PROPERTY_DOUBLE,
    AT (settings.heat_half_life), 0, 1e9, 0 },
  { "post-messages", "Post messages",
    "Post an element message \"slanalyze\" for each event, with the fields event, region, label "
    "(string), id (int), seconds (double), timestamp (uint64) and json (string); and one with "
    "event=interval for each interval's end, whose json has all counts",
    SL_PROPERTY_BOOL, AT (post_messages), 0, 0, TRUE, NULL, TRUE },
  { "keep-tracks", "Keep tracks",
    "Seconds of objects' positions that the signal preview counts with other regions, at most 5 "
    "frames a second; 0 = none",
    SL_PROPERTY_INT, AT (keep_tracks), 0, 3600, 0 },
};

/* Appends @structure, which it takes, to the list @list. */
static void
append_structure (GValue *list, GstStructure *structure)
{
  GValue item = G_VALUE_INIT;
  g_value_init (&item, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&item, structure);
  gst_value_list_append_and_take_value (list, &item);
}

static GstStructure *
region_counts (const SlRegionView *region)
{
  GValue classes = G_VALUE_INIT;
  GstStructure *counts = gst_structure_new (
    sl_region_kind_name (region->kind), "name", G_TYPE_STRING, region->name, "inside", G_TYPE_UINT,
    region->inside, "entered", G_TYPE_UINT64, region->entered, "left", G_TYPE_UINT64, region->left,
    "longest", G_TYPE_DOUBLE, region->longest, "mean-dwell", G_TYPE_DOUBLE, region->mean_dwell,
    "empty", G_TYPE_DOUBLE, region->empty, NULL);
  g_value_init (&classes, GST_TYPE_LIST);
  for (guint i = 0; i < region->n_classes; i++)
    append_structure (&classes,
                      gst_structure_new ("class", "label", G_TYPE_STRING, region->classes[i].label,
                                         "inside", G_TYPE_UINT, region->classes[i].inside,
                                         "entered", G_TYPE_UINT64, region->classes[i].entered,
                                         "left", G_TYPE_UINT64, region->classes[i].left, NULL));
  gst_structure_take_value (counts, "classes", &classes);
  return counts;
}

/* @analysis: (nullable) */
static GstStructure *
all_counts (const char *name, const SlAnalysis *analysis)
{
  GValue regions = G_VALUE_INIT;
  GstStructure *counts = gst_structure_new_empty (name);
  g_value_init (&regions, GST_TYPE_LIST);
  for (guint i = 0; analysis != NULL && i < analysis->n_regions; i++)
    append_structure (&regions, region_counts (&analysis->regions[i]));
  gst_structure_take_value (counts, "regions", &regions);
  return counts;
}

static GstStructure *
read_counts (SlAnalyze *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  const SlAnalysis *analysis = self->analyzer != NULL ? sl_analyzer_last (self->analyzer) : NULL;
  GstStructure *counts = all_counts ("counts", analysis);
  gst_structure_set (counts, "since", G_TYPE_INT64,
                     analysis != NULL ? analysis->since : G_GINT64_CONSTANT (0), NULL);
  return counts;
}

/* The handler of the signal: what @text would have counted of the kept tracks. */
static GstStructure *
preview (SlAnalyze *self, const char *text)
{
  g_autoptr (GError) error = NULL;
  SlRegions *regions = sl_regions_parse (text != NULL ? text : "", &error);
  if (regions == NULL)
    return gst_structure_new ("preview", "error", G_TYPE_STRING, error->message, NULL);
  GST_OBJECT_LOCK (self);
  const SlAnalyzerSettings settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  g_mutex_lock (&self->lock);
  g_autoptr (SlTracks) tracks =
    self->tracks != NULL ? sl_tracks_copy (self->tracks) : sl_tracks_new (0);
  g_mutex_unlock (&self->lock);
  g_autoptr (SlAnalyzer) analyzer = sl_tracks_replay (tracks, regions, &settings);
  GstStructure *counts = all_counts ("preview", sl_analyzer_last (analyzer));
  gst_structure_set (counts, "seconds", G_TYPE_DOUBLE, sl_tracks_seconds (tracks), NULL);
  return counts;
}

/* (transfer full) (nullable) */
static char *
dup_kept (SlAnalyze *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  return self->analyzer != NULL ? sl_analyzer_save (self->analyzer)
                                : g_strdup (self->resume != NULL ? self->resume : self->kept);
}

static void
sl_analyze_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  if (id == PROP_COUNTS) {
    g_value_take_boxed (value, read_counts ((SlAnalyze *) object));
    return;
  }
  if (id == PROP_KEPT) {
    g_value_take_string (value, dup_kept ((SlAnalyze *) object));
    return;
  }
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (object));
  sl_property_get (object, &properties[id - 1], value);
}

static void
sl_analyze_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  SlAnalyze *self = (SlAnalyze *) object;
  if (id == PROP_KEPT) {
    g_mutex_lock (&self->lock);
    g_free (self->resume);
    self->resume = g_value_dup_string (value);
    g_mutex_unlock (&self->lock);
    return;
  }
  GST_OBJECT_LOCK (object);
  sl_property_set (object, &properties[id - 1], value);
  self->redrawn = self->redrawn || strcmp (properties[id - 1].name, "regions") == 0;
  GST_OBJECT_UNLOCK (object);
}

static guint64
stream_time (SlAnalyze *self, GstBuffer *buffer)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  if (segment->format != GST_FORMAT_TIME || !GST_BUFFER_PTS_IS_VALID (buffer))
    return G_MAXUINT64;
  return gst_segment_to_stream_time (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
}

static void
post (SlAnalyze *self, GstStructure *structure, guint64 timestamp)
{
  gst_structure_set (structure, "timestamp", G_TYPE_UINT64, timestamp, "json", G_TYPE_STRING,
                     self->line->str, NULL);
  sl_element_post (GST_ELEMENT (self), structure);
}

static void
post_events (SlAnalyze *self, const SlAnalysis *analysis, guint64 timestamp)
{
  for (guint i = 0; i < analysis->n_events; i++) {
    const SlAnalysisEvent *event = &analysis->events[i];
    g_string_truncate (self->line, 0);
    sl_analysis_append_event (self->line, analysis, event);
    post (self,
          gst_structure_new ("slanalyze", "event", G_TYPE_STRING,
                             sl_analysis_event_name (event->kind), "region", G_TYPE_STRING,
                             analysis->regions[event->region].name, "label", G_TYPE_STRING,
                             event->label, "id", G_TYPE_INT, event->object_id, "seconds",
                             G_TYPE_DOUBLE, event->seconds, NULL),
          timestamp);
  }
  if (!analysis->interval_over)
    return;
  g_string_truncate (self->line, 0);
  sl_analysis_append_json (self->line, analysis);
  post (self, gst_structure_new ("slanalyze", "event", G_TYPE_STRING, "interval", NULL), timestamp);
}

/* Objects without a tracker before this element never become anything here. */
static void
watch_ids (SlAnalyze *self, const SlPredictionView *prediction)
{
  if (self->ids_settled || prediction->n_objects == 0)
    return;
  for (guint i = 0; i < prediction->n_objects && !self->ids_settled; i++)
    self->ids_settled = prediction->objects[i].object_id > 0;
  if (self->ids_settled || ++self->without_ids < FRAMES_WITHOUT_IDS)
    return;
  self->ids_settled = TRUE;
  GST_ELEMENT_WARNING (
    self, STREAM, FORMAT,
    ("%d frames had objects without an id, which are not counted: expected sltrack (or slpredict "
     "track=true) before slanalyze",
     FRAMES_WITHOUT_IDS),
    (NULL));
}

/* Time of the frame; of one without, that of the last and a frame's duration. */
static GstClockTime
frame_time (SlAnalyze *self, GstBuffer *buffer)
{
  if (GST_BUFFER_PTS_IS_VALID (buffer))
    self->last = GST_BUFFER_PTS (buffer);
  else
    self->last = GST_CLOCK_TIME_IS_VALID (self->last) ? self->last + self->interval : 0;
  return self->last;
}

static gboolean
check_list (SlAnalyze *self, const GArray *list, GError **error)
{
  for (guint i = 0; i < list->len; i++) {
    const SlRegion *region = &g_array_index (list, SlRegion, i);
    if (sl_class_names_check (GST_BASE_TRANSFORM_SINK_PAD (self), region->classes, error))
      continue;
    g_prefix_error (error, "regions: [%s %s] ", sl_region_kind_name (region->kind), region->name);
    return FALSE;
  }
  return TRUE;
}

static gboolean
have_classes (SlAnalyze *self, const SlRegions *regions, GError **error)
{
  return check_list (self, regions->list, error) && check_list (self, regions->masks, error);
}

/* Once, when models before this element have opened their labels; FALSE after an error message. */
static gboolean
check_classes (SlAnalyze *self)
{
  g_autoptr (GError) error = NULL;
  if (!self->classes_known && !have_classes (self, sl_analyzer_regions (self->analyzer), &error))
    return sl_element_report (GST_ELEMENT (self), error);
  self->classes_known = TRUE;
  return TRUE;
}

/* What the property is now; later changes are noted in self->redrawn. */
static SlRegions *
read_regions (SlAnalyze *self, GError **error)
{
  GST_OBJECT_LOCK (self);
  self->redrawn = FALSE;
  g_autofree char *text = g_strdup (self->regions != NULL ? self->regions : "");
  GST_OBJECT_UNLOCK (self);
  SlRegions *regions = sl_regions_parse (text, error);
  if (regions == NULL)
    g_prefix_error (error, "regions: ");
  return regions;
}

/* Regions that were set while frames flow count from this frame on; wrong ones are a warning, and
 * those before go on. */
static void
follow_regions (SlAnalyze *self)
{
  g_autoptr (GError) error = NULL;
  GST_OBJECT_LOCK (self);
  const gboolean redrawn = self->redrawn;
  GST_OBJECT_UNLOCK (self);
  if (!redrawn)
    return;
  SlRegions *regions = read_regions (self, &error);
  if (regions != NULL && have_classes (self, regions, &error)) {
    g_mutex_lock (&self->lock);
    sl_analyzer_replace_regions (self->analyzer, regions);
    g_mutex_unlock (&self->lock);
    return;
  }
  sl_regions_free (regions);
  GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
                       ("%s: the regions before go on counting", error->message), (NULL));
}

static GstFlowReturn
sl_analyze_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  SlAnalyze *self = (SlAnalyze *) base;
  SlPredictionView prediction = { .width = self->width, .height = self->height };
  const GstClockTime time = frame_time (self, buffer);
  GST_OBJECT_LOCK (self);
  const gboolean post_messages = self->post_messages;
  GST_OBJECT_UNLOCK (self);
  follow_regions (self);
  if (!sl_buffer_has_objects (buffer, self->width, self->height)) {
    sl_buffer_set_analysis (buffer, sl_analyzer_last (self->analyzer), FALSE, &self->pool);
    return GST_FLOW_OK;
  }
  if (!check_classes (self))
    return GST_FLOW_ERROR;
  sl_prediction_reader_read (&self->reader, buffer, &prediction);
  watch_ids (self, &prediction);
  g_mutex_lock (&self->lock);
  sl_analyzer_set_utc (self->analyzer, g_get_real_time ());
  const SlAnalysis *analysis =
    sl_analyzer_update (self->analyzer, prediction.objects, prediction.n_objects, time);
  if (self->tracks != NULL)
    sl_tracks_add (self->tracks, prediction.objects, prediction.n_objects, time, self->width,
                   self->height);
  g_mutex_unlock (&self->lock);
  sl_buffer_set_analysis (buffer, analysis, TRUE, &self->pool);
  sl_zones_send (base->sinkpad, self->occupied, analysis);
  if (post_messages)
    post_events (self, analysis, stream_time (self, buffer));
  return GST_FLOW_OK;
}

static gboolean
sl_analyze_set_caps (GstBaseTransform *base, GstCaps *in, GstCaps *out)
{
  SlAnalyze *self = (SlAnalyze *) base;
  const GstStructure *structure = gst_caps_get_structure (in, 0);
  gint fps_n = 0, fps_d = 1;
  if (!gst_structure_get_int (structure, "width", &self->width)
      || !gst_structure_get_int (structure, "height", &self->height))
    return FALSE;
  gst_structure_get_fraction (structure, "framerate", &fps_n, &fps_d);
  self->interval = fps_n > 0 ? gst_util_uint64_scale (GST_SECOND, (guint64) fps_d, (guint64) fps_n)
                             : GST_SECOND / 25;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  sl_analyzer_set_size (self->analyzer, self->width, self->height);
  return TRUE;
}

static gboolean
sl_analyze_sink_event (GstBaseTransform *base, GstEvent *event)
{
  SlAnalyze *self = (SlAnalyze *) base;
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP
      || GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START) {
    self->last = GST_CLOCK_TIME_NONE;
    g_mutex_lock (&self->lock);
    sl_analyzer_forget (self->analyzer);
    if (self->tracks != NULL)
      sl_tracks_clear (self->tracks);
    g_mutex_unlock (&self->lock);
    sl_zones_send (base->sinkpad, self->occupied, NULL);
  }
  return GST_BASE_TRANSFORM_CLASS (sl_analyze_parent_class)->sink_event (base, event);
}

static gboolean
check_settings (GstElement *element, GError **error)
{
  g_autoptr (SlRegions) regions = read_regions ((SlAnalyze *) element, error);
  return regions != NULL;
}

static gboolean
sl_analyze_start (GstBaseTransform *base)
{
  SlAnalyze *self = (SlAnalyze *) base;
  g_autoptr (GError) error = NULL;
  SlRegions *regions = read_regions (self, &error);
  if (regions == NULL)
    return sl_element_report_settings (GST_ELEMENT (self), error);
  GST_OBJECT_LOCK (self);
  const SlAnalyzerSettings settings = self->settings;
  const gint keep_tracks = self->keep_tracks;
  GST_OBJECT_UNLOCK (self);
  g_mutex_lock (&self->lock);
  self->analyzer = sl_analyzer_new (regions, &settings);
  self->tracks = keep_tracks > 0 ? sl_tracks_new ((guint) keep_tracks) : NULL;
  if (self->resume != NULL)
    sl_analyzer_restore (self->analyzer, self->resume, &error);
  g_clear_pointer (&self->resume, g_free);
  g_mutex_unlock (&self->lock);
  if (error != NULL)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("kept: %s: counts begin at 0", error->message),
                         (NULL));
  self->last = GST_CLOCK_TIME_NONE;
  self->without_ids = 0;
  self->ids_settled = self->classes_known = FALSE;
  return TRUE;
}

static gboolean
sl_analyze_stop (GstBaseTransform *base)
{
  SlAnalyze *self = (SlAnalyze *) base;
  g_mutex_lock (&self->lock);
  g_free (self->kept);
  self->kept = self->analyzer != NULL ? sl_analyzer_save (self->analyzer) : NULL;
  g_clear_pointer (&self->analyzer, sl_analyzer_free);
  g_clear_pointer (&self->tracks, sl_tracks_free);
  g_mutex_unlock (&self->lock);
  sl_byte_pool_clear (&self->pool);
  g_ptr_array_set_size (self->occupied, 0);
  return TRUE;
}

static void
sl_analyze_finalize (GObject *object)
{
  SlAnalyze *self = (SlAnalyze *) object;
  sl_prediction_reader_clear (&self->reader);
  g_string_free (self->line, TRUE);
  g_ptr_array_unref (self->occupied);
  g_mutex_clear (&self->lock);
  g_free (self->resume);
  g_free (self->kept);
  sl_properties_clear (object, properties, G_N_ELEMENTS (properties));
  G_OBJECT_CLASS (sl_analyze_parent_class)->finalize (object);
}

static void
sl_analyze_class_init (SlAnalyzeClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (sl_analyze_debug, "slanalyze", 0, "objects in zones and at lines");
  object_class->finalize = sl_analyze_finalize;
  sl_properties_install (object_class, properties, G_N_ELEMENTS (properties));
  object_class->get_property = sl_analyze_get_property;
  object_class->set_property = sl_analyze_set_property;
  g_object_class_install_property (
    object_class, PROP_COUNTS,
    sl_property_figures (
      "counts", "Counts",
      "Current counts: a structure with since (int64, microseconds since 1970, 0 before the first "
      "frame) and the list regions. It has a structure zone or line for each region, with name "
      "(string), inside (uint), entered, left (uint64, for a line the crossings to its right and "
      "to its left), longest, mean-dwell, empty (double, seconds) and the list classes of "
      "structures class with label, inside, entered, left"));
  g_object_class_install_property (
    object_class, PROP_KEPT,
    g_param_spec_string (
      "kept", "Kept",
      "The state as text: counts, times and objects, now or when the element stopped last. If set "
      "before the start, counts of regions of the same kind and name continue from it",
      NULL, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS));
  /**
   * SlAnalyze::preview:
   * @regions: text as of the property regions
   *
   * Returns: what these regions would have counted in the last keep-tracks seconds: a structure
   * preview with seconds (double), and regions as in the property counts. For wrong regions it has
   * the string error instead.
   */
  g_signal_new_class_handler ("preview", G_TYPE_FROM_CLASS (klass),
                              G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, G_CALLBACK (preview), NULL, NULL,
                              NULL, GST_TYPE_STRUCTURE, 1, G_TYPE_STRING);
  sl_element_class_set_check (element_class, check_settings);
  sl_element_class_pads (element_class, CAPS, CAPS);
  sl_element_class_describe (
    element_class, "Sightline analytics", "Filter/Analyzer/Video",
    "Counts tracked objects in zones and across lines: entries, exits, crossings, dwell times, "
    "occupancy, heat map. Results are metas on the frames, for sloverlay and slpublish, and events "
    "are posted as messages.",
    "gst-launch-1.0 v4l2src ! slpredict model=ssd.tflite threshold=0.1 ! sltrack ! slanalyze "
    "regions=\"[line way] points=0,0.5 1,0.5\" ! sloverlay ! videoconvert ! autovideosink",
    "analytics.md");
  klass->transform_ip = sl_analyze_transform_ip;
  klass->set_caps = sl_analyze_set_caps;
  klass->sink_event = sl_analyze_sink_event;
  klass->start = sl_analyze_start;
  klass->stop = sl_analyze_stop;
}

static void
sl_analyze_init (SlAnalyze *self)
{
  sl_properties_init (self, properties, G_N_ELEMENTS (properties));
  sl_prediction_reader_init (&self->reader);
  self->line = g_string_new (NULL);
  self->occupied = g_ptr_array_new ();
  g_mutex_init (&self->lock);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
