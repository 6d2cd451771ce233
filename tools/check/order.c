/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What elements need of others: models before trackers, trackers before those who count, classes
 * that the models have, and boxes that stay where they were found.
 */

#include "core/base/printable.h"
#include "core/base/suggest.h"
#include "plugins/base/report.h"
#include "plugins/record/triggers.h"
#include "postprocess/analyze/regions.h"
#include "tools/check/findings.h"

/* Whether @element makes predictions. Its objects are reported by the metas of its frames. */
static gboolean
is_model (GstElement *element)
{
  return sl_check_is (element, "slpostprocess") || sl_check_is (element, "slinfer")
         || sl_check_is (element, "slremote");
}

static gboolean
is_analyzer (GstElement *element)
{
  return sl_check_is (element, "slanalyze");
}

static gboolean
is_motion (GstElement *element)
{
  return sl_check_is (element, "slmotion");
}

/* sltrack, or slpredict by what is inside of it. */
static gboolean
is_tracker (GstElement *element)
{
  gboolean tracks = FALSE;
  if (sl_check_is (element, "slpostprocess"))
    g_object_get (element, "track", &tracks, NULL);
  return tracks || sl_check_is (element, "sltrack");
}

/* Whether @element, of which nobody here knows what it does, may put objects on frames, as
 * detectors of others do. */
static gboolean
may_detect (GstElement *element)
{
  static const char *const others[] = { "Source",  "Codec",       "Converter", "Generic", "Effect",
                                        "Demuxer", "Depayloader", "Parser",    "Scaler" };
  const GstElementFactory *factory = gst_element_get_factory (element);
  if (factory != NULL && g_str_has_prefix (GST_OBJECT_NAME (factory), "sl"))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (sl_element_has_class (element, others[i]))
      return FALSE;
  return TRUE;
}

/* Whether one of the elements before @element, along first sink pads, is such. */
static gboolean
has_before (GstElement *element, gboolean (*is_such) (GstElement *))
{
  gboolean found = FALSE;
  for (GstElement *at = sl_check_upstream (element, FALSE), *next; at != NULL; at = next) {
    found = found || is_such (at);
    next = found ? NULL : sl_check_upstream (at, FALSE);
    gst_object_unref (at);
  }
  return found;
}

static void
check_tracker (GstElement *element, GArray *findings)
{
  if (has_before (element, is_model))
    return;
  sl_findings_add (
    findings, has_before (element, may_detect) ? SL_FINDING_ADVICE : SL_FINDING_PROBLEM,
    GST_OBJECT_NAME (element),
    "no model is before it, so there is nothing to track but what elements of others find; put "
    "slpredict before it");
}

static void
check_analyzer (GstElement *element, GArray *findings)
{
  if (has_before (element, is_tracker))
    return;
  sl_findings_add (
    findings, has_before (element, may_detect) ? SL_FINDING_ADVICE : SL_FINDING_PROBLEM,
    GST_OBJECT_NAME (element),
    "no tracker is before it, which gives objects the numbers that it counts by; put sltrack, or "
    "slpredict with track=true, before it");
}

static void
check_redactor (GstElement *element, GArray *findings)
{
  gboolean objects = FALSE;
  g_object_get (element, "objects", &objects, NULL);
  if (objects && !has_before (element, is_model))
    sl_findings_add (
      findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element),
      "no model is before it, so every frame is hidden whole; put slpredict before it, or set "
      "objects=false for zones alone");
}

/* Tiles around motion, which slmotion finds. */
static void
check_tiles (GstElement *element, GArray *findings)
{
  g_autofree char *tiles = NULL;
  GstElement *predict = sl_check_predict (element);
  g_object_get (element, "tiles", &tiles, NULL);
  if (g_strcmp0 (tiles, "motion") == 0 && !has_before (element, is_motion))
    sl_findings_add (findings, SL_FINDING_ADVICE,
                     GST_OBJECT_NAME (predict != NULL ? predict : element),
                     "tiles=motion: no slmotion is before it, so the model looks at whole frames; "
                     "put slmotion before it");
}

/* What begins the clips of an slrecord. */
static void
check_recorder (GstElement *element, GArray *findings)
{
  g_autofree char *on = NULL;
  g_object_get (element, "on", &on, NULL);
  if (has_before (element, is_analyzer) || (on != NULL && !sl_triggers_needs_analysis (on)))
    return;
  if (on != NULL)
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element),
                     "on=%s: no slanalyze is before it, whose events these are; put slanalyze "
                     "before it, or set on=object",
                     on);
  else
    sl_findings_add (findings, SL_FINDING_ADVICE, GST_OBJECT_NAME (element),
                     "no slanalyze is before it, whose events begin clips: only the signal record "
                     "does; put slanalyze before it, or set on=object");
}

/* (transfer full) (nullable): names of the classes of all models; NULL where there is none, or one
 * does not say. */
static GPtrArray *
class_names (GPtrArray *elements)
{
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func (g_free);
  gboolean models = FALSE;
  for (guint i = 0; i < elements->len; i++) {
    const GPtrArray *names = g_object_get_data (elements->pdata[i], SL_CHECK_CLASSES);
    if (!is_model (elements->pdata[i]) || sl_check_is (elements->pdata[i], "slpostprocess"))
      continue;
    if (names == NULL || names->len == 0)
      return NULL;
    models = TRUE;
    for (guint k = 0; k < names->len; k++)
      g_ptr_array_add (all, names->pdata[k] != NULL ? g_strdup (names->pdata[k])
                                                    : g_strdup_printf ("%u", k));
  }
  return models ? g_steal_pointer (&all) : NULL;
}

static void
check_filter (GstElement *element, const char *where, const SlClassFilter *filter,
              const GPtrArray *names, GArray *findings)
{
  g_autoptr (GError) error = NULL;
  if (!sl_class_filter_check (filter, (const char *const *) names->pdata, names->len, "the model",
                              &error))
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element), "%s%s", where,
                     error->message);
}

/* The property "classes", and those of zones and lines. */
static void
check_classes (GstElement *element, const GPtrArray *names, GArray *findings)
{
  GObjectClass *klass = G_OBJECT_GET_CLASS (element);
  g_autofree char *classes = NULL, *text = NULL;
  g_autoptr (SlClassFilter) filter = NULL;
  g_autoptr (GError) error = NULL;
  if (!g_str_has_prefix (G_OBJECT_CLASS_NAME (klass), "Sl"))
    return;
  if (g_object_class_find_property (klass, "classes") != NULL)
    g_object_get (element, "classes", &classes, NULL);
  if (!sl_class_filter_parse (classes, &filter, &error))
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element), "%s", error->message);
  else if (names != NULL)
    check_filter (element, "", filter, names, findings);
  if (names == NULL || !sl_check_is (element, "slanalyze"))
    return;
  g_object_get (element, "regions", &text, NULL);
  g_autoptr (SlRegions) regions = text != NULL ? sl_regions_parse (text, NULL) : NULL;
  for (guint i = 0; regions != NULL && i < regions->list->len; i++) {
    const SlRegion *region = &g_array_index (regions->list, SlRegion, i);
    g_autofree char *where =
      g_strdup_printf ("[%s %s] ", region->kind == SL_REGION_ZONE ? "zone" : "line", region->name);
    check_filter (element, where, region->classes, names, findings);
  }
}

/* (transfer full): the names of the zones and lines of all slanalyze. */
static GPtrArray *
region_names (GPtrArray *elements)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < elements->len; i++) {
    g_autofree char *text = NULL;
    if (!sl_check_is (elements->pdata[i], "slanalyze"))
      continue;
    g_object_get (elements->pdata[i], "regions", &text, NULL);
    g_autoptr (SlRegions) regions = text != NULL ? sl_regions_parse (text, NULL) : NULL;
    for (guint k = 0; regions != NULL && k < regions->list->len; k++)
      g_ptr_array_add (names, g_strdup (g_array_index (regions->list, SlRegion, k).name));
  }
  return names;
}

/* The zones of @publisher without which no event counts. */
static void
check_places (GstElement *publisher, const char *zones, const GPtrArray *names, GArray *findings)
{
  g_auto (GStrv) words = g_strsplit (zones, ",", -1);
  for (guint i = 0; words[i] != NULL; i++) {
    g_strstrip (words[i]);
    if (g_ptr_array_find_with_equal_func ((GPtrArray *) names, words[i], g_str_equal, NULL))
      continue;
    g_autofree char *shown = sl_printable (words[i], SL_PRINTABLE_NAME);
    const char *near = sl_suggest (words[i], (const char *const *) names->pdata, names->len);
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (publisher),
                     "zones: no zone or line is called '%s', so none of its events is told%s%s%s",
                     shown, near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                     near != NULL ? "'?" : "");
  }
}

/* @publisher publishes lines, of which these properties say nothing. */
static void
check_eventless (GstElement *publisher, const char *zones, GArray *findings)
{
  gboolean attaches = FALSE;
  g_object_get (publisher, "attach-picture", &attaches, NULL);
  if ((zones != NULL && *zones != '\0') || attaches)
    sl_findings_add (findings, SL_FINDING_ADVICE, GST_OBJECT_NAME (publisher),
                     "%s is for messages about events, and no events are published; set events=, "
                     "or remove it",
                     attaches ? "attach-picture" : "zones");
}

/* Which events an slpublish tells. */
static void
check_publisher (GstElement *element, GPtrArray *elements, GArray *findings)
{
  g_autofree char *events = NULL, *zones = NULL;
  g_autoptr (GPtrArray) names = region_names (elements);
  g_autoptr (GError) error = NULL;
  guint kinds;
  g_object_get (element, "events", &events, "zones", &zones, NULL);
  if (events == NULL || *events == '\0') {
    check_eventless (element, zones, findings);
    return;
  }
  if (!has_before (element, is_analyzer))
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element),
                     "events=%s: no slanalyze is before it, whose events these are, so nothing is "
                     "published; put slanalyze before it",
                     events);
  if (!sl_analysis_event_kinds (events, &kinds, &error))
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element), "%s", error->message);
  if (zones != NULL && *zones != '\0')
    check_places (element, zones, names, findings);
}

/* Elements that move pixels within the frame, or cut some off, and with which properties at 0 they
 * do not. */
static const struct
{
  const char *factory, *still[4];
  const char *unless; /* (nullable): a switch without which they do not */
} movers[] = {
  { "videocrop", { "left", "right", "top", "bottom" }, NULL },
  { "videobox", { "left", "right", "top", "bottom" }, NULL },
  { "videoflip", { NULL }, NULL }, /* it does not say which way before it plays */
  { "glvideoflip", { NULL }, NULL },
  { "videoscale", { NULL }, "add-borders" },
  { "videoconvertscale", { NULL }, "add-borders" },
  { "rotate", { NULL }, NULL },
  { "gltransformation", { NULL }, NULL },
};

static gboolean
is_zero (GstElement *element, const char *property)
{
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), property);
  g_auto (GValue) value = G_VALUE_INIT, number = G_VALUE_INIT;
  if (spec == NULL)
    return TRUE;
  g_value_init (&value, G_PARAM_SPEC_VALUE_TYPE (spec));
  g_value_init (&number, G_TYPE_INT);
  g_object_get_property (G_OBJECT (element), property, &value);
  return g_value_transform (&value, &number) && g_value_get_int (&number) == 0;
}

/* (nullable): the aspectratiocrop, a bin, that @element is the part of which crops. */
static GstObject *
cropper_of (GstElement *element)
{
  GstObject *parent = GST_OBJECT_PARENT (element);
  return parent != NULL && sl_check_is (GST_ELEMENT (parent), "aspectratiocrop")
             && sl_check_is (element, "videocrop")
           ? parent
           : NULL;
}

static gboolean
moves (GstElement *element)
{
  if (cropper_of (element) != NULL)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (movers); i++) {
    if (!sl_check_is (element, movers[i].factory))
      continue;
    gboolean still = movers[i].still[0] != NULL;
    for (guint k = 0; k < G_N_ELEMENTS (movers[i].still) && movers[i].still[k] != NULL; k++)
      still = still && is_zero (element, movers[i].still[k]);
    return !still && (movers[i].unless == NULL || !is_zero (element, movers[i].unless));
  }
  return FALSE;
}

/* Elements that use boxes on frames. */
static gboolean
uses_boxes (GstElement *element)
{
  static const char *const users[] = { "sloverlay", "slpublish", "slrecord", "slrestream",
                                       "sltrack",   "slanalyze", "slread",   "sltext",
                                       "slredact",  "slgallery", "appsink" };
  for (guint i = 0; i < G_N_ELEMENTS (users); i++)
    if (sl_check_is (element, users[i]))
      return TRUE;
  return FALSE;
}

/* What is between @user and the model before it leaves boxes where they were; each mover is told
 * once. */
static void
check_displaced (GstElement *user, GHashTable *told, GArray *findings)
{
  g_autoptr (GPtrArray) between = g_ptr_array_new_with_free_func (gst_object_unref);
  GstElement *at = sl_check_upstream (user, FALSE);
  while (at != NULL && !is_model (at)) {
    if (moves (at))
      g_ptr_array_add (between, gst_object_ref (at));
    sl_check_go_up (&at, FALSE);
  }
  for (guint i = 0; at != NULL && i < between->len; i++)
    if (g_hash_table_add (told, between->pdata[i]))
      sl_findings_add (
        findings, SL_FINDING_ADVICE,
        GST_OBJECT_NAME (cropper_of (between->pdata[i]) != NULL
                           ? (gpointer) cropper_of (between->pdata[i])
                           : between->pdata[i]),
        "behind the model it moves what is in the picture: the boxes that %s gets may not fit any "
        "more; put it before the model",
        GST_OBJECT_NAME (user));
  gst_clear_object (&at);
}

void
sl_check_order (GPtrArray *elements, GArray *findings)
{
  g_autoptr (GPtrArray) names = class_names (elements);
  g_autoptr (GHashTable) told = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < elements->len; i++) {
    GstElement *element = elements->pdata[i];
    check_classes (element, names, findings);
    if (sl_check_is (element, "slnormalize"))
      check_tiles (element, findings);
    if (sl_check_is (element, "slrecord"))
      check_recorder (element, findings);
    if (sl_check_is (element, "sltrack"))
      check_tracker (element, findings);
    if (sl_check_is (element, "slanalyze"))
      check_analyzer (element, findings);
    if (sl_check_is (element, "slpublish"))
      check_publisher (element, elements, findings);
    if (sl_check_is (element, "slredact"))
      check_redactor (element, findings);
    if (uses_boxes (element))
      check_displaced (element, told, findings);
  }
}
