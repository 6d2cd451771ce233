/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The walk upstream, in and out of bins. A sink pad without a peer counts as a source: elements
 * such as decodebin are linked to it later. A filter with caps of other data than pictures ends a
 * way, too, since no picture passes it.
 */
#include "pipelines/description/privacy.h"

#include <string.h>

#include "core/base/fail.h"

#define REDACTOR "slredact"

/* (transfer none) */
static const char *
factory_of (GstElement *element)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  return factory != NULL ? GST_OBJECT_NAME (factory) : "";
}

static gboolean
is_filled (GstElement *element, const char *property)
{
  g_autofree char *text = NULL;
  g_object_get (element, property, &text, NULL);
  return text != NULL && *text != '\0';
}

/* Whether @bin makes the elements that show pictures when it starts, so that a walk over its
 * elements finds none or a fakesink. Plain bins have what the launch line says. */
static gboolean
is_sink_of_its_own (GstElement *bin)
{
  static const char *const open[] = { "bin", "pipeline", "fakevideosink", "fakeaudiosink" };
  const char *factory = factory_of (bin);
  const char *klass = gst_element_get_metadata (bin, GST_ELEMENT_METADATA_KLASS);
  for (guint i = 0; i < G_N_ELEMENTS (open); i++)
    if (strcmp (factory, open[i]) == 0)
      return FALSE;
  return GST_OBJECT_FLAG_IS_SET (bin, GST_ELEMENT_FLAG_SINK) || strcmp (factory, "webrtcbin") == 0
         || (klass != NULL && strstr (klass, "Sink") != NULL);
}

/* (nullable): what @element does with pictures that it gets. */
static const char *
shows (GstElement *element)
{
  const char *factory = factory_of (element);
  gdouble interval = 0;
  gboolean dump = FALSE;
  if (strcmp (factory, "slrecord") == 0)
    return "records the open picture";
  if (strcmp (factory, "slgallery") == 0) {
    gboolean pictures = FALSE;
    g_object_get (element, "pictures", &pictures, NULL);
    return pictures ? "keeps open pictures of people" : NULL;
  }
  if (strcmp (factory, "slrestream") == 0)
    return "streams the open picture, or the camera's own at its pad encoded";
  if (strcmp (factory, "slremote") == 0)
    return "sends the open picture to another machine";
  if (strcmp (factory, "slinfer") == 0)
    return is_filled (element, "black-box") ? "writes the open picture to black boxes" : NULL;
  if (strcmp (factory, "slpublish") == 0) {
    gboolean attaches = FALSE;
    g_object_get (element, "picture-interval", &interval, "attach-picture", &attaches, NULL);
    return interval > 0 || attaches ? "publishes the open picture" : NULL;
  }
  if (strcmp (factory, "fakesink") == 0 || strcmp (factory, "identity") == 0) {
    g_object_get (element, "dump", &dump, NULL);
    return dump ? "prints the open picture" : NULL;
  }
  if (GST_IS_BIN (element) ? !is_sink_of_its_own (element)
                           : !GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SINK))
    return NULL;
  return "shows the open picture or passes it on";
}

/* (transfer full) (nullable): the source pad, not of a bin, that sink pad @pad gets data from. */
static GstPad *
source_of (GstPad *pad)
{
  GstPad *peer = gst_pad_get_peer (pad);
  while (peer != NULL && GST_IS_PROXY_PAD (peer)) {
    GstPad *next = NULL;
    if (GST_IS_GHOST_PAD (peer)) {
      next = gst_ghost_pad_get_target (GST_GHOST_PAD (peer)); /* into a bin */
    } else {
      GstProxyPad *outside = gst_proxy_pad_get_internal (GST_PROXY_PAD (peer)); /* out of one */
      next = outside != NULL ? gst_pad_get_peer (GST_PAD (outside)) : NULL;
      g_clear_object (&outside);
    }
    gst_object_unref (peer);
    peer = next;
  }
  return peer;
}

/* Whether no picture passes a filter of these caps. */
static gboolean
has_no_pictures (GstElement *element)
{
  g_autoptr (GstCaps) caps = NULL;
  if (strcmp (factory_of (element), "capsfilter") != 0)
    return FALSE;
  g_object_get (element, "caps", &caps, NULL);
  if (caps == NULL || gst_caps_is_any (caps))
    return FALSE;
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    const char *name = gst_structure_get_name (gst_caps_get_structure (caps, i));
    if (!g_str_has_prefix (name, "text/") && strcmp (name, "application/x-json") != 0)
      return FALSE;
  }
  return TRUE;
}

/* (transfer full) */
static GList *
sink_pads (GstElement *element)
{
  GST_OBJECT_LOCK (element);
  GList *pads =
    g_list_copy_deep (element->sinkpads, (GCopyFunc) (void (*) (void)) gst_object_ref, NULL);
  GST_OBJECT_UNLOCK (element);
  return pads;
}

/* Whether pictures come to @element that no slredact has seen; @seen ends loops. */
static gboolean
is_reached (GstElement *element, GHashTable *seen)
{
  gboolean open = FALSE;
  if (strcmp (factory_of (element), REDACTOR) == 0 || has_no_pictures (element)
      || !g_hash_table_add (seen, element))
    return FALSE;
  GList *pads = sink_pads (element);
  open = pads == NULL;
  for (GList *link = pads; link != NULL && !open; link = link->next) {
    g_autoptr (GstPad) source = source_of (link->data);
    g_autoptr (GstElement) before = source != NULL ? gst_pad_get_parent_element (source) : NULL;
    open = before == NULL || is_reached (before, seen);
  }
  g_list_free_full (pads, gst_object_unref);
  return open;
}

static void
check_element (const GValue *item, gpointer text)
{
  GstElement *element = g_value_get_object (item);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  const char *what = shows (element);
  if (what != NULL && is_reached (element, seen))
    g_string_append_printf (text, "%s%s (%s) %s", ((GString *) text)->len > 0 ? ", " : "",
                            GST_OBJECT_NAME (element), factory_of (element), what);
}

/* Elements behind a model that leave objects where they were, or after which slpostprocess moves
 * them with the pixels. */
static const char *const keeping[] = {
  "slredact",    "sltrack",           "slgallery",      "sltext",   "slanalyze", "slread",
  "slrecord",    "slrestream",        "sloverlay",      "queue",    "queue2",    "multiqueue",
  "tee",         "capsfilter",        "identity",       "valve",    "videorate", "videoconvert",
  "videoscale",  "videoconvertscale", "videocrop",      "videobox", "videoflip", "aspectratiocrop",
  "glvideoflip", "slpostprocess",     "glcolorconvert", "glupload", "gldownload"
};

static gboolean
keeps_objects (GstElement *element)
{
  for (guint i = 0; i < G_N_ELEMENTS (keeping); i++)
    if (strcmp (factory_of (element), keeping[i]) == 0)
      return TRUE;
  return FALSE;
}

/* Whether a model is before @element, on any of its sink pads; without one frames are hidden whole.
 * @loser is then the nearest element between that may lose objects, or leave them where they are
 * not any more, and stays what it was where there is none. */
static gboolean
has_model_before (GstElement *element, GHashTable *seen, GstElement **loser)
{
  gboolean found = FALSE;
  if (!g_hash_table_add (seen, element))
    return FALSE;
  GList *pads = sink_pads (element);
  for (GList *link = pads; link != NULL; link = link->next) {
    g_autoptr (GstPad) source = source_of (link->data);
    g_autoptr (GstElement) before = source != NULL ? gst_pad_get_parent_element (source) : NULL;
    if (before == NULL)
      continue;
    const gboolean model = strcmp (factory_of (before), "slpostprocess") == 0;
    if (!model && !has_model_before (before, seen, loser))
      continue;
    found = TRUE;
    if (!keeps_objects (before))
      *loser = before;
  }
  g_list_free_full (pads, gst_object_unref);
  return found;
}

static void
check_redactor (const GValue *item, gpointer text)
{
  GstElement *element = g_value_get_object (item), *loser = NULL;
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  gboolean objects = FALSE;
  if (strcmp (factory_of (element), REDACTOR) != 0)
    return;
  g_object_get (element, "objects", &objects, NULL);
  if (objects)
    has_model_before (element, seen, &loser);
  if (loser != NULL)
    g_string_append_printf (text, "%s%s (%s) before %s", ((GString *) text)->len > 0 ? ", " : "",
                            GST_OBJECT_NAME (loser), factory_of (loser), GST_OBJECT_NAME (element));
}

static void
add_name (GString *text, GstElement *element)
{
  g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", GST_OBJECT_NAME (element));
}

/* An slredact that hides neither objects nor zones is none. */
static void
check_settings (const GValue *item, gpointer text)
{
  GstElement *element = g_value_get_object (item);
  gboolean objects = FALSE, invert = FALSE;
  if (strcmp (factory_of (element), REDACTOR) != 0)
    return;
  g_object_get (element, "objects", &objects, "invert", &invert, NULL);
  if (!objects && !invert && !is_filled (element, "zones"))
    add_name (text, element);
}

/* An slredact that may be switched off shows the open picture then. */
static void
check_switch (const GValue *item, gpointer text)
{
  GstElement *element = g_value_get_object (item);
  gboolean switchable = FALSE;
  if (strcmp (factory_of (element), REDACTOR) != 0)
    return;
  g_object_get (element, "switch", &switchable, NULL);
  if (switchable)
    add_name (text, element);
}

/* Embeddings identify people. Without a key, the broker and its subscribers can read them. */
static void
check_share (const GValue *item, gpointer text)
{
  GstElement *element = g_value_get_object (item);
  if (strcmp (factory_of (element), "slgallery") == 0 && is_filled (element, "share")
      && !is_filled (element, "key-file"))
    add_name (text, element);
}

static void
check_each (GstElement *pipeline, GstIteratorForeachFunction check, GString *text)
{
  GstIterator *elements = gst_bin_iterate_recurse (GST_BIN (pipeline));
  gst_iterator_foreach (elements, check, text);
  gst_iterator_free (elements);
}

static gboolean
has_redactor (GstBin *pipeline)
{
  GstIterator *redactors = gst_bin_iterate_all_by_element_factory_name (pipeline, REDACTOR);
  GValue item = G_VALUE_INIT;
  const gboolean found = gst_iterator_next (redactors, &item) == GST_ITERATOR_OK;
  if (G_IS_VALUE (&item))
    g_value_unset (&item);
  gst_iterator_free (redactors);
  return found;
}

gboolean
sl_privacy_prove (GstElement *pipeline, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL), losers = g_string_new (NULL),
                      idle = g_string_new (NULL);
  if (!has_redactor (GST_BIN (pipeline)))
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "privacy=strict: expected an slredact or the group [redact], got none: the page of "
      "sightline run would show the open picture");
  check_each (pipeline, check_settings, idle);
  if (idle->len > 0)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "privacy=strict: expected an slredact that hides something, got objects=false "
                    "without zones at %s: set objects=true, or zones",
                    idle->str);
  check_each (pipeline, check_switch, idle);
  if (idle->len > 0)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "privacy=strict: expected an slredact that always hides, got switch=true at %s: "
      "remove it",
      idle->str);
  check_each (pipeline, check_share, idle);
  if (idle->len > 0)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "privacy=strict: expected embeddings of people that leave the machine encrypted, got share= "
      "without key-file= at %s (slgallery): state key-file=, or remove share=",
      idle->str);
  check_each (pipeline, check_element, text);
  check_each (pipeline, check_redactor, losers);
  if (losers->len > 0)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "privacy=strict: expected elements between the model and slredact that keep objects in "
      "their places, got %s: put it before the model or behind slredact",
      losers->str);
  return text->len == 0
         || sl_fail (
           error, SL_ERROR_ARGUMENT,
           "privacy=strict: expected slredact before every element that shows pictures, but "
           "%s: put slredact before it, or remove it",
           text->str);
}
