/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Launch lines and element groups to pipelines, with GStreamer's errors completed by file, line and
 * the name probably meant.
 */
#include "pipelines/description/build.h"

#include <string.h>

#include "core/base/decoder_memory.h"
#include "core/base/printable.h"
#include "core/base/fail.h"
#include "core/base/suggest.h"
#include "pipelines/description/element_names.h"
#include "pipelines/description/graph.h"
#include "pipelines/description/notify.h"
#include "pipelines/description/privacy.h"
#include "pipelines/description/promises.h"

#define ENCODED "encoded"

/* Elements whose frames are those that came. A clip must not show more than the launch line passes
 * on, so elements that cover or crop a part of the picture also apply to clips. */
static const char *const transparent[] = {
  "slmotion",    "slpredict",  "sltrack",       "slgallery",    "sltext",
  "slread",      "slanalyze",  "slinfer",       "slpublish",    "slrecord",
  "slnormalize", "slrestream", "slpostprocess", "queue",        "queue2",
  "capsfilter",  "identity",   "videorate",     "videoconvert", "tee"
};

static gboolean
is_transparent (GstElement *element)
{
  for (guint i = 0; i < G_N_ELEMENTS (transparent); i++)
    if (strcmp (sl_factory_name (element), transparent[i]) == 0)
      return TRUE;
  return FALSE;
}

/* (transfer full) (nullable): what is linked to the sink pad of @element. */
static GstElement *
element_before (GstElement *element)
{
  g_autoptr (GstPad) sink = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstPad) peer = sink != NULL ? gst_pad_get_peer (sink) : NULL;
  return peer != NULL ? gst_pad_get_parent_element (peer) : NULL;
}

/* (transfer full) (nullable) */
static GstElement *
camera_before (GstElement *taker)
{
  GstElement *element = element_before (taker);
  while (element != NULL && is_transparent (element)) {
    GstElement *before = element_before (element);
    gst_object_unref (element);
    element = before;
  }
  if (element != NULL && strcmp (sl_factory_name (element), "slcamera") != 0)
    gst_clear_object (&element);
  return element;
}

static gboolean
is_in_use (GstElement *element)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, ENCODED);
  return pad != NULL;
}

/* (transfer full) (nullable): a tee between @camera and the slrecord that has its encoded stream.
 */
static GstElement *
camera_tee (GstElement *camera)
{
  g_autoptr (GstPad) source = gst_element_get_static_pad (camera, ENCODED);
  g_autoptr (GstPad) taker = gst_pad_get_peer (source);
  GstElement *tee = taker != NULL ? gst_pad_get_parent_element (taker) : NULL;
  const gboolean recorded = tee != NULL && strcmp (sl_factory_name (tee), "slrecord") == 0;
  if (!recorded) {
    gst_clear_object (&tee);
    return NULL;
  }
  gst_object_unref (tee);
  g_autoptr (GstElement) bin = GST_ELEMENT (gst_object_get_parent (GST_OBJECT (camera)));
  tee = gst_element_factory_make ("tee", NULL);
  if (tee == NULL)
    return NULL;
  gst_bin_add (GST_BIN (bin), gst_object_ref (tee));
  g_autoptr (GstPad) in = gst_element_get_static_pad (tee, "sink"),
                     out = gst_element_request_pad_simple (tee, "src_%u");
  gst_pad_unlink (source, taker);
  gst_pad_link (source, in);
  gst_pad_link (out, taker);
  return tee;
}

/* Links the pad encoded of the slcamera before @taker, an slrecord or slrestream, to its own, where
 * between them are only elements that leave pictures as they are, neither pad is in use but by the
 * [record] of the same camera, and @taker encodes nothing by order. */
static void
link_camera (GstElement *taker)
{
  g_autoptr (GstElement) camera = camera_before (taker);
  g_autoptr (GstElement) tee = NULL;
  if (camera == NULL || is_in_use (taker))
    return;
  if (!is_in_use (camera))
    gst_element_link_pads (camera, ENCODED, taker, ENCODED);
  else if ((tee = camera_tee (camera)) != NULL)
    gst_element_link_pads (tee, "src_%u", taker, ENCODED);
}

/* (transfer full): "; did you mean 'X'?" when an element of nearly that name is installed. */
static char *
suggest_element (const char *name)
{
  GList *features = gst_registry_get_feature_list (gst_registry_get (), GST_TYPE_ELEMENT_FACTORY);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (GList *link = features; link != NULL; link = link->next)
    g_ptr_array_add (names, GST_OBJECT_NAME (link->data));
  const char *near = sl_suggest (name, (const char *const *) names->pdata, names->len);
  char *hint = near != NULL ? g_strdup_printf ("; did you mean '%s'?", near)
                            : g_strdup ("; is its GStreamer plugin installed?");
  gst_plugin_feature_list_free (features);
  return hint;
}

/* (transfer full): @message has the property's name in its first quotes, and the element's kind or
 * name in the second. */
static char *
suggest_property (const char *message)
{
  g_auto (GStrv) quoted = g_strsplit (message, "\"", 5);
  GstElement *element =
    g_strv_length (quoted) == 5 ? gst_element_factory_make (quoted[3], NULL) : NULL;
  if (element == NULL)
    return g_strdup ("; gst-inspect-1.0 ELEMENT lists an element's properties");
  g_autoptr (GError) unknown = NULL;
  char *hint = NULL;
  gst_object_ref_sink (element);
  if (!sl_property_from_text (G_OBJECT (element), quoted[1], "", &unknown)
      && strchr (unknown->message, ';') != NULL)
    hint = g_strdup (strchr (unknown->message, ';'));
  gst_object_unref (element);
  return hint != NULL ? hint : g_strdup ("");
}

static char *
suggest (GstParseContext *context, const GError *problem)
{
  g_auto (GStrv) missing = gst_parse_context_get_missing_elements (context);
  if (g_error_matches (problem, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_ELEMENT)
      && missing != NULL)
    return suggest_element (missing[0]);
  if (g_error_matches (problem, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_PROPERTY))
    return suggest_property (problem->message);
  if (g_error_matches (problem, GST_PARSE_ERROR, GST_PARSE_ERROR_SYNTAX))
    return g_strdup (
      "; expected ELEMENT PROPERTY=VALUE ... ! ELEMENT ..., with one '!' between two elements and "
      "none at the ends");
  return g_strdup ("");
}

static void
launch_error (const SlDescription *description, GstParseContext *context, const GError *problem,
              GError **error)
{
  const gboolean unknown =
    g_error_matches (problem, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_ELEMENT);
  g_autofree char *hint = suggest (context, problem);
  sl_fail (error, unknown ? SL_ERROR_UNSUPPORTED : SL_ERROR_FORMAT,
           "%s:%u: [pipeline] launch: %s%s", description->launch_file, description->launch_line,
           problem->message, hint);
}

/* A launch line of one element, or of one bin, is no pipeline yet. */
static GstElement *
as_pipeline (GstElement *parsed)
{
  if (GST_IS_PIPELINE (parsed))
    return parsed;
  GstElement *pipeline = gst_pipeline_new (NULL);
  gst_bin_add (GST_BIN (pipeline), parsed);
  gst_object_unref (parsed); /* sunk, so the bin took a reference of its own */
  return pipeline;
}

static void
set_up_item (const GValue *item, gpointer data)
{
  sl_decoder_use_own_memory (g_value_get_object (item));
}

static void
set_up_added (GstBin *bin, GstBin *sub, GstElement *element, gpointer data)
{
  sl_decoder_use_own_memory (element);
}

/* What GObject says of values that properties do not take, while this thread reads a launch line:
 * they stay as they are, and the line is taken. */
static GPrivate refusals = G_PRIVATE_INIT (NULL);

static void
take_refusal (const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
  GPtrArray *taken = g_private_get (&refusals);
  if (taken == NULL)
    g_log_default_handler (domain, level, message, data);
  else
    g_ptr_array_add (taken, g_strdup (message));
}

/* (transfer full) (nullable): what an element of @pipeline with this property takes for it. */
static char *
what_it_takes (GstElement *pipeline, const char *property)
{
  GstIterator *elements = gst_bin_iterate_recurse (GST_BIN (pipeline));
  GValue item = G_VALUE_INIT;
  char *takes = NULL;
  while (takes == NULL && gst_iterator_next (elements, &item) == GST_ITERATOR_OK) {
    GParamSpec *spec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (g_value_get_object (&item)), property);
    takes = spec != NULL && !G_IS_PARAM_SPEC_BOOLEAN (spec) ? sl_property_describe (spec) : NULL;
    g_value_reset (&item);
  }
  if (G_IS_VALUE (&item))
    g_value_unset (&item);
  gst_iterator_free (elements);
  return takes;
}

/* @message: 'value "7.000000" of type 'gdouble' is invalid or out of range for property 'threshold'
 * of type 'gdouble'' */
static void
refuse_value (const SlDescription *description, GstElement *pipeline, const char *message,
              GError **error)
{
  g_auto (GStrv) quoted = g_strsplit_set (message, "\"'", -1);
  const gboolean known = g_strv_length (quoted) > 6 && g_str_has_prefix (message, "value \"");
  g_autofree char *takes = known ? what_it_takes (pipeline, quoted[5]) : NULL;
  g_autofree char *said =
    takes != NULL ? g_strdup_printf ("%s: expected %s, got %s", quoted[5], takes, quoted[1])
                  : g_strdup (message);
  sl_fail (error, SL_ERROR_ARGUMENT, "%s:%u: [pipeline] launch: %s", description->launch_file,
           description->launch_line, said);
}

/* (transfer full) (nullable) */
static GstElement *
parse_watched (const char *launch, GstParseContext *context, GPtrArray *refused, GError **problem)
{
  static GMutex lock;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  /* A warning in GLib 2.74, critical in GLib 2.84. */
  const guint handler = g_log_set_handler (
    "GLib-GObject", G_LOG_LEVEL_WARNING | G_LOG_LEVEL_CRITICAL, take_refusal, NULL);
  g_private_set (&refusals, refused);
  GstElement *parsed =
    gst_parse_launch_full (launch, context, GST_PARSE_FLAG_FATAL_ERRORS, problem);
  g_private_set (&refusals, NULL);
  g_log_remove_handler ("GLib-GObject", handler);
  return parsed;
}

static gboolean
check_graph (GstElement *pipeline, const SlDescription *description, GError **error)
{
  return sl_graph_check (pipeline, error)
         || sl_fail_prefix (error, "%s:%u: [pipeline] launch: ", description->launch_file,
                            description->launch_line);
}

static GstElement *
parse_launch (const SlDescription *description, GError **error)
{
  g_autoptr (GError) problem = NULL;
  GstParseContext *context = gst_parse_context_new ();
  g_autoptr (GPtrArray) refused = g_ptr_array_new_with_free_func (g_free);
  GstElement *parsed = parse_watched (description->launch, context, refused, &problem);
  if (parsed != NULL)
    parsed = as_pipeline (gst_object_ref_sink (parsed));
  if (problem != NULL || (parsed != NULL && refused->len > 0)) {
    if (problem != NULL)
      launch_error (description, context, problem, error);
    else
      refuse_value (description, parsed, refused->pdata[0], error);
    if (parsed != NULL)
      gst_object_unref (parsed);
    parsed = NULL;
  }
  gst_parse_context_free (context);
  return parsed;
}

static void
collect_name (const GValue *item, gpointer names)
{
  g_ptr_array_add (names, gst_object_get_name (g_value_get_object (item)));
}

static gboolean
unknown_element (GstElement *pipeline, const SlElementOverride *override, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  GstIterator *elements = gst_bin_iterate_recurse (GST_BIN (pipeline));
  gst_iterator_foreach (elements, collect_name, names);
  gst_iterator_free (elements);
  g_autofree char *hint =
    sl_suggest_text (override->element, (const char *const *) names->pdata, names->len);
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "%s:%u: [element %s] %s: the launch line has no element with name=%s%s",
                  override->file, override->line, override->element, override->property,
                  override->element, hint);
}

static gboolean
apply (GstElement *pipeline, const SlElementOverride *override, GError **error)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), override->element);
  if (element == NULL)
    return unknown_element (pipeline, override, error);
  const gboolean good =
    sl_property_from_text (G_OBJECT (element), override->property, override->value, error);
  if (!good)
    g_prefix_error (error, "%s:%u: [element %s] %s: ", override->file, override->line,
                    override->element, override->property);
  gst_object_unref (element);
  return good;
}

/* The property that has the zones whose motion does not count, of the elements that look for it,
 * where the description does not state it. */
static void
set_ignored (GstElement *pipeline, const char *factory, const char *property, const char *zones)
{
  g_autoptr (GPtrArray) elements = sl_find_elements (pipeline, factory);
  for (guint i = 0; i < elements->len; i++) {
    g_autofree char *stated = NULL;
    g_object_get (elements->pdata[i], property, &stated, NULL);
    if (stated == NULL)
      g_object_set (elements->pdata[i], property, zones, NULL);
  }
}

/* Motion in masks of all classes is no motion. */
static void
apply_masks (GstElement *pipeline, const char *text)
{
  g_autoptr (SlRegions) regions = sl_regions_parse (text, NULL);
  g_autoptr (GString) zones = g_string_new (NULL);
  for (guint i = 0; regions != NULL && i < regions->masks->len; i++) {
    const SlRegion *mask = &g_array_index (regions->masks, SlRegion, i);
    if (mask->classes == NULL)
      sl_region_append (zones, SL_REGION_ZONE, mask);
  }
  if (zones->len == 0)
    return;
  set_ignored (pipeline, "slmotion", "ignore", zones->str);
  set_ignored (pipeline, "slcamera", "quiet-ignore", zones->str);
}

/* The zones, lines and masks of the description's groups, for the one element that takes such. */
static gboolean
apply_regions (GstElement *pipeline, const SlDescription *description, GError **error)
{
  g_autofree char *stated = NULL;
  if (description->regions == NULL)
    return TRUE;
  g_autoptr (GPtrArray) analyzers = sl_find_elements (pipeline, "slanalyze");
  if (analyzers->len == 1)
    g_object_get (g_ptr_array_index (analyzers, 0), "regions", &stated, NULL);
  if (analyzers->len != 1 || stated != NULL)
    return sl_fail (
      error, SL_ERROR_ARGUMENT, "%s:%u: [zone NAME], [line NAME] and [mask NAME]: %s",
      description->regions_file, description->regions_line,
      stated != NULL ? "slanalyze has regions=, too; expected one of both"
      : analyzers->len == 0
        ? "the launch line has no slanalyze; expected one behind sltrack"
        : "the launch line has several slanalyze; expected one, or regions= of each in [element "
          "NAME]");
  g_object_set (g_ptr_array_index (analyzers, 0), "regions", description->regions, NULL);
  apply_masks (pipeline, description->regions);
  return TRUE;
}

/* Puts an element @factory between @before and what follows it. NULL without @error: there is
 * nothing to put it between. */
static GstElement *
insert_behind (GstElement *before, const char *factory, GError **error)
{
  g_autoptr (GstPad) source = gst_element_get_static_pad (before, "src");
  g_autoptr (GstPad) next = source != NULL ? gst_pad_get_peer (source) : NULL;
  g_autoptr (GstElement) bin =
    next != NULL ? GST_ELEMENT (gst_object_get_parent (GST_OBJECT (before))) : NULL;
  GstElement *recorder = bin != NULL ? gst_element_factory_make (factory, NULL) : NULL;
  if (recorder == NULL)
    return NULL;
  gst_bin_add (GST_BIN (bin), recorder);
  g_autoptr (GstPad) in = gst_element_get_static_pad (recorder, "sink"),
                     out = gst_element_get_static_pad (recorder, "src");
  gst_pad_unlink (source, next);
  if (gst_pad_link (source, in) == GST_PAD_LINK_OK && gst_pad_link (out, next) == GST_PAD_LINK_OK)
    return recorder;
  return sl_fail_null (error, SL_ERROR_ARGUMENT,
                       "no %s fits between %s and what follows; expected raw video there", factory,
                       GST_OBJECT_NAME (before));
}

/* (transfer none) (nullable): the one @factory of the launch line, else a new one behind the last
 * element that says what is on frames, or hides it. */
static GstElement *
find_or_insert (GstElement *pipeline, const char *factory, GError **error)
{
  static const char *const before[] = { "slredact", "slanalyze", "slgallery", "sltext",
                                        "sltrack",  "slread",    "slpredict" };
  g_autoptr (GPtrArray) there = sl_find_elements (pipeline, factory);
  if (there->len == 1)
    return g_ptr_array_index (there, 0);
  g_autoptr (GstElementFactory) known = gst_element_factory_find (factory);
  if (known == NULL)
    return sl_fail_null (error, SL_ERROR_UNSUPPORTED,
                         "the element %s is missing; expected a build of Sightline with it",
                         factory);
  if (there->len > 1)
    return sl_fail_null (
      error, SL_ERROR_ARGUMENT,
      "the launch line has several %s; expected one, or properties of each in [element NAME]",
      factory);
  for (guint i = 0; i < G_N_ELEMENTS (before); i++) {
    g_autoptr (GPtrArray) found = sl_find_elements (pipeline, before[i]);
    if (found->len == 0)
      continue;
    g_autoptr (GError) reason = NULL;
    GstElement *made = insert_behind (g_ptr_array_index (found, found->len - 1), factory, &reason);
    if (made != NULL)
      return made;
    if (reason != NULL) {
      g_propagate_error (error, g_steal_pointer (&reason));
      return NULL;
    }
  }
  return sl_fail_null (
    error, SL_ERROR_ARGUMENT,
    "the launch line has no %s, and no slanalyze, sltext, sltrack, slread or slpredict with "
    "something behind that one could stand in between",
    factory);
}

/* Whether @override is of a group that stands for an element, or for none. */
static gboolean
is_of_group (const SlElementOverride *override)
{
  return strcmp (override->element, SL_REDACTOR) == 0
         || strcmp (override->element, SL_RECORDER) == 0
         || strcmp (override->element, SL_RESTREAMER) == 0
         || strcmp (override->element, SL_NOTIFIER) == 0
         || strcmp (override->element, SL_PUSHER) == 0
         || strcmp (override->element, SL_GALLERIST) == 0
         || strcmp (override->element, SL_SEARCHER) == 0;
}

/* Sets the properties of the group [@group], whose settings are @owner's, on the one @factory of
 * the pipeline. @element: (nullable): that one; NULL where there is no such group. */
static gboolean
apply_group (GstElement *pipeline, const SlDescription *description, const char *group,
             const char *owner, const char *factory, GstElement **element, GError **error)
{
  *element = NULL;
  for (guint i = 0; i < description->overrides->len; i++) {
    const SlElementOverride *override =
      &g_array_index (description->overrides, SlElementOverride, i);
    if (strcmp (override->element, owner) != 0)
      continue;
    if (*element == NULL && (*element = find_or_insert (pipeline, factory, error)) == NULL)
      return sl_fail_prefix (error, "%s:%u: [%s]: ", override->file, override->line, group);
    if (*override->property != '\0'
        && !sl_property_from_text (G_OBJECT (*element), override->property, override->value, error))
      return sl_fail_prefix (error, "%s:%u: [%s] %s: ", override->file, override->line, group,
                             override->property);
  }
  return TRUE;
}

/* The group [redact]; before [record], since clips must not be open. */
static gboolean
apply_redact (GstElement *pipeline, const SlDescription *description, GError **error)
{
  GstElement *redactor;
  return apply_group (pipeline, description, "redact", SL_REDACTOR, "slredact", &redactor, error);
}

/* The group [gallery]: right behind the last sltrack, so that all that follows has identities. */
static gboolean
apply_gallery (GstElement *pipeline, const SlDescription *description, GError **error)
{
  GstElement *gallery;
  g_autofree char *camera = NULL;
  const char *location = sl_description_setting (description, SL_GALLERIST, "location");
  if (location == NULL)
    return TRUE;
  g_autoptr (GPtrArray) there = sl_find_elements (pipeline, "slgallery");
  g_autoptr (GPtrArray) trackers = sl_find_elements (pipeline, "sltrack");
  if (there->len == 0 && trackers->len > 0) {
    g_autoptr (GstElementFactory) known = gst_element_factory_find ("slgallery");
    if (known != NULL)
      insert_behind (g_ptr_array_index (trackers, trackers->len - 1), "slgallery", NULL);
  }
  if (!apply_group (pipeline, description, "gallery", SL_GALLERIST, "slgallery", &gallery, error))
    return FALSE;
  g_object_get (gallery, "camera", &camera, NULL);
  if (camera == NULL)
    g_object_set (gallery, "camera", description->name, NULL);
  return TRUE;
}

static gboolean
prove_privacy (GstElement *pipeline, const SlDescription *description, GError **error)
{
  return !description->privacy_strict || sl_privacy_prove (pipeline, error)
         || sl_fail_prefix (error, "%s:%u: [pipeline] ", description->launch_file,
                            description->launch_line);
}

/* The group [record]. */
static gboolean
apply_record (GstElement *pipeline, const SlDescription *description, GError **error)
{
  GstElement *recorder;
  g_autofree char *source = NULL, *encoder = NULL;
  if (!apply_group (pipeline, description, "record", SL_RECORDER, "slrecord", &recorder, error))
    return FALSE;
  if (recorder == NULL)
    return TRUE;
  g_object_get (recorder, "source", &source, "encoder", &encoder, NULL);
  if (encoder == NULL || *encoder == '\0')
    link_camera (recorder);
  if (source == NULL)
    g_object_set (recorder, "source", description->name, NULL);
  return TRUE;
}

/* The group [publish]. */
static gboolean
apply_publish (GstElement *pipeline, const SlDescription *description, GError **error)
{
  GstElement *restreamer;
  if (!apply_group (pipeline, description, "publish", SL_RESTREAMER, "slrestream", &restreamer,
                    error))
    return FALSE;
  if (restreamer != NULL)
    link_camera (restreamer);
  return TRUE;
}

/* For each slinfer that has none of its own, those inside slpredict among them. */
static void
apply_black_box (GstElement *pipeline, const SlDescription *description)
{
  if (description->black_box == NULL)
    return;
  g_autoptr (GPtrArray) found = sl_find_elements (pipeline, "slinfer");
  for (guint i = 0; i < found->len; i++) {
    GstElement *element = g_ptr_array_index (found, i);
    g_autofree char *own = NULL;
    g_object_get (element, "black-box", &own, NULL);
    if (own == NULL)
      g_object_set (element, "black-box", description->black_box, NULL);
  }
}

GstElement *
sl_description_build (const SlDescription *description, GError **error)
{
  GstElement *pipeline = parse_launch (description, error);
  gboolean good = pipeline != NULL && check_graph (pipeline, description, error);
  if (good) {
    sl_number_elements (pipeline, description->launch);
    /* Decoders that the launch line names, and those that elements such as decodebin make later. */
    GstIterator *elements = gst_bin_iterate_recurse (GST_BIN (pipeline));
    gst_iterator_foreach (elements, set_up_item, NULL);
    gst_iterator_free (elements);
    g_signal_connect (pipeline, "deep-element-added", G_CALLBACK (set_up_added), NULL);
  }
  for (guint i = 0; good && i < description->overrides->len; i++) {
    const SlElementOverride *override =
      &g_array_index (description->overrides, SlElementOverride, i);
    good = is_of_group (override) || apply (pipeline, override, error);
  }
  good =
    good && apply_regions (pipeline, description, error)
    && apply_gallery (pipeline, description, error) && apply_redact (pipeline, description, error)
    && apply_record (pipeline, description, error) && apply_publish (pipeline, description, error)
    && sl_notify_groups_apply (pipeline, description, error);
  if (good) {
    sl_number_elements (pipeline, description->launch); /* what was inserted, too */
    apply_black_box (pipeline, description);
    good = prove_privacy (pipeline, description, error)
           && sl_promises_apply (pipeline, description, error);
  }
  if (!good) {
    sl_printable_error (error);
    gst_clear_object (&pipeline);
    return NULL;
  }
  gst_object_set_name (GST_OBJECT (pipeline), description->name);
  return pipeline;
}
