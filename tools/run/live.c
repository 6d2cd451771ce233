/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A setting is the text of an element's property; notes of SlKeep have those that clients set. */
#include "tools/run/live.h"

#include <math.h>
#include <string.h>

#include "core/base/fail.h"
#include "pipelines/description/build.h"
#include "plugins/meta/class_names.h"
#include "tools/run/log.h"

#define PREFIX "setting "
#define LAUNCH PREFIX "of"
/* Frames of which one has an inference, at most. */
#define LONGEST_INTERVAL 1000

const SlLiveRow sl_live_rows[SL_N_LIVE] = {
  [SL_LIVE_THRESHOLD] = { "threshold", "Least confidence", "slpredict", "threshold",
                          "slpostprocess" },
  [SL_LIVE_CLASSES] = { "classes", "Classes", "slpredict", "classes", "slpostprocess" },
  [SL_LIVE_RATE] = { "rate", "Inferences a second", "slpredict", "inference-interval",
                     "slnormalize" },
  [SL_LIVE_RECORDING] = { "recording", "Record clips", "slrecord", "recording", NULL },
  [SL_LIVE_REDACTION] = { "redaction", "Hide people", "slredact", "active", NULL },
};

struct _SlLive
{
  SlKeep *keep;
  char *defaults[SL_N_LIVE];
  char *launch; /* (nullable): a hash of it */
  void (*changed) (SlLiveKind kind, gpointer data);
  gpointer data;
};

SlLive *
sl_live_new (SlKeep *keep)
{
  SlLive *live = g_new0 (SlLive, 1);
  live->keep = keep;
  return live;
}

void
sl_live_free (SlLive *live)
{
  for (guint i = 0; i < SL_N_LIVE; i++)
    g_free (live->defaults[i]);
  g_free (live->launch);
  g_free (live);
}

void
sl_live_set_listener (SlLive *live, void (*changed) (SlLiveKind kind, gpointer data), gpointer data)
{
  live->changed = changed;
  live->data = data;
}

gboolean
sl_live_kind_of (const char *name, SlLiveKind *kind)
{
  for (guint i = 0; i < SL_N_LIVE; i++)
    if (strcmp (name, sl_live_rows[i].key) == 0) {
      *kind = (SlLiveKind) i;
      return TRUE;
    }
  return FALSE;
}

gboolean
sl_live_read_wish (SlJsonReader *reader, SlLiveWish *wish)
{
  const SlJsonKind kind = sl_json_reader_kind (reader);
  g_clear_pointer (&wish->text, g_free);
  wish->kind = kind == SL_JSON_NULL     ? SL_LIVE_NOTHING
               : kind == SL_JSON_NUMBER ? SL_LIVE_NUMBER
               : kind == SL_JSON_STRING ? SL_LIVE_TEXT
               : kind == SL_JSON_TRUE   ? SL_LIVE_ON
               : kind == SL_JSON_FALSE  ? SL_LIVE_OFF
                                        : SL_LIVE_OTHER;
  if (kind == SL_JSON_NUMBER)
    return sl_json_reader_number (reader, &wish->number);
  if (kind != SL_JSON_STRING)
    return sl_json_reader_skip (reader);
  if (!sl_json_reader_string (reader))
    return FALSE;
  wish->text = g_strdup (reader->text->str);
  return TRUE;
}

GstElement *
sl_live_find (GstElement *pipeline, SlLiveKind kind)
{
  const SlLiveRow *row = &sl_live_rows[kind];
  g_autoptr (GPtrArray) found = sl_find_elements (pipeline, row->factory);
  if (found->len == 0 && row->part != NULL) {
    g_ptr_array_unref (found);
    found = sl_find_elements (pipeline, row->part);
  }
  return found->len > 0 ? gst_object_ref (found->pdata[0]) : NULL;
}

char *
sl_live_text (GstElement *element, SlLiveKind kind)
{
  GValue value = G_VALUE_INIT;
  char *text;
  g_object_get_property (G_OBJECT (element), sl_live_rows[kind].property, &value);
  if (G_VALUE_HOLDS_DOUBLE (&value)) {
    char buffer[G_ASCII_DTOSTR_BUF_SIZE];
    text = g_strdup (g_ascii_formatd (buffer, sizeof buffer, "%.6g", g_value_get_double (&value)));
  } else if (G_VALUE_HOLDS_STRING (&value)) {
    text = g_value_dup_string (&value);
  } else {
    text = gst_value_serialize (&value);
  }
  g_value_unset (&value);
  return text != NULL ? text : g_strdup ("");
}

gboolean
sl_live_stated (GstElement *element, SlLiveKind kind, const char *text, gdouble *number)
{
  *number = g_ascii_strtod (text, NULL);
  if (kind == SL_LIVE_THRESHOLD)
    return *text != '\0' && *number >= 0;
  if (kind != SL_LIVE_RATE)
    return *text != '\0';
  const gdouble fps = sl_live_frame_rate (element), interval = *number;
  *number = interval >= 1 ? fps / interval : 0;
  return *number > 0;
}

const char *
sl_live_default (const SlLive *live, SlLiveKind kind)
{
  return live->defaults[kind] != NULL ? live->defaults[kind] : "";
}

static char *
note_of (SlLiveKind kind)
{
  return g_strconcat (PREFIX, sl_live_rows[kind].key, NULL);
}

static gboolean
put (GstElement *element, SlLiveKind kind, const char *text, GError **error)
{
  return sl_property_from_text (G_OBJECT (element), sl_live_rows[kind].property, text, error);
}

static void
apply_one (SlLive *live, GstElement *pipeline, const char *name, SlLiveKind kind)
{
  g_autoptr (GstElement) element = sl_live_find (pipeline, kind);
  g_autofree char *note = note_of (kind);
  g_autoptr (GError) error = NULL;
  const char *text = sl_keep_noted (live->keep, note);
  if (element == NULL)
    return;
  g_free (live->defaults[kind]);
  live->defaults[kind] = sl_live_text (element, kind);
  if (text == NULL)
    return;
  if (put (element, kind, text, &error))
    sl_run_log (SL_LOG_INFO, name, "setting", "%s is %s, as it was set at run time",
                sl_live_rows[kind].key, text);
  else
    sl_run_log (SL_LOG_WARNING, name, "setting", "%s: %s; the description's holds",
                sl_live_rows[kind].key, error->message);
}

void
sl_live_apply (SlLive *live, GstElement *pipeline, const char *name, const char *launch)
{
  const char *of = sl_keep_noted (live->keep, LAUNCH);
  g_free (live->launch);
  live->launch = g_compute_checksum_for_string (G_CHECKSUM_SHA256, launch, -1);
  if (of != NULL && strcmp (of, live->launch) != 0)
    sl_keep_note (live->keep, PREFIX "classes", NULL);
  for (guint i = 0; i < SL_N_LIVE; i++)
    apply_one (live, pipeline, name, (SlLiveKind) i);
}

gboolean
sl_live_set (SlLive *live, GstElement *element, SlLiveKind kind, const char *text, GError **error)
{
  g_autofree char *note = note_of (kind);
  if (!put (element, kind, text != NULL ? text : sl_live_default (live, kind), error))
    return FALSE;
  sl_keep_note (live->keep, note, text);
  sl_keep_note (live->keep, LAUNCH, live->launch);
  sl_keep_save (live->keep);
  if (live->changed != NULL)
    live->changed (kind, live->data);
  return TRUE;
}

/* (transfer full): the value @text as a client would say it. */
static char *
shown (const SlLive *live, GstElement *element, SlLiveKind kind, const char *text)
{
  gdouble number;
  const gboolean stated = sl_live_stated (element, kind, text, &number),
                 described = strcmp (text, sl_live_default (live, kind)) == 0;
  const char *whose = described ? " (the description's)" : "";
  if (!stated)
    return g_strdup (described ? "the description's" : "none");
  if (kind == SL_LIVE_THRESHOLD || kind == SL_LIVE_RATE)
    return g_strdup_printf ("%.6g%s", number, whose);
  return g_strdup_printf (kind == SL_LIVE_CLASSES ? "'%s'%s" : "%s%s", text, whose);
}

char *
sl_live_told (const SlLive *live, GstElement *element, SlLiveKind kind, const char *before)
{
  g_autofree char *text = sl_live_text (element, kind);
  g_autofree char *now = shown (live, element, kind, text),
                  *then = shown (live, element, kind, before);
  return strcmp (text, before) != 0
           ? g_strdup_printf ("%s: %s instead of %s", sl_live_rows[kind].key, now, then)
           : NULL;
}

gdouble
sl_live_frame_rate (GstElement *element)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstCaps) caps = pad != NULL ? gst_pad_get_current_caps (pad) : NULL;
  gint n = 0, d = 1;
  if (caps == NULL
      || !gst_structure_get_fraction (gst_caps_get_structure (caps, 0), "framerate", &n, &d))
    return 0;
  return n > 0 && d > 0 ? (gdouble) n / d : 0;
}

char *
sl_live_why_not (SlLiveKind kind, GstElement *element, const SlDescription *description)
{
  static const char *const groups[SL_N_LIVE] = {
    [SL_LIVE_RECORDING] = "[record] with location=", [SL_LIVE_REDACTION] = "[redact]"
  };
  gboolean switchable = FALSE;
  if (element == NULL && groups[kind] != NULL)
    return g_strdup_printf ("%s has no %s: add the group %s", description->path,
                            sl_live_rows[kind].factory, groups[kind]);
  if (element == NULL)
    return g_strdup_printf ("the launch line of %s has no %s", description->path,
                            sl_live_rows[kind].factory);
  if (kind == SL_LIVE_RATE && sl_live_frame_rate (element) <= 0)
    return g_strdup ("the camera does not say how many frames a second it has");
  if (kind != SL_LIVE_REDACTION)
    return NULL;
  g_object_get (element, "switch", &switchable, NULL);
  if (description->privacy_strict)
    return g_strdup ("privacy=strict: no open picture is ever shown");
  return switchable ? NULL
                    : g_strdup_printf ("%s does not allow it: add switch=true to [redact]",
                                       description->path);
}

/* Names that the model does not have would end the pipeline. */
static gboolean
check_classes (GstElement *element, const char *text, GError **error)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "src");
  SlClassFilter *filter = NULL;
  const gboolean good =
    sl_class_filter_parse (text, &filter, error) && sl_class_names_check (pad, filter, error);
  sl_class_filter_free (filter);
  return good;
}

static gboolean
expect (SlLiveKind kind, const char *what, GError **error)
{
  return sl_fail (error, SL_ERROR_ARGUMENT, "%s: expected %s", sl_live_rows[kind].key, what);
}

gboolean
sl_live_check (SlLiveKind kind, GstElement *element, const SlLiveWish *wish, char **text,
               GError **error)
{
  const gdouble fps = sl_live_frame_rate (element);
  char buffer[G_ASCII_DTOSTR_BUF_SIZE];
  *text = NULL;
  if (wish->kind == SL_LIVE_NOTHING)
    return TRUE;
  if (kind == SL_LIVE_RECORDING || kind == SL_LIVE_REDACTION) {
    if (wish->kind != SL_LIVE_ON && wish->kind != SL_LIVE_OFF)
      return expect (kind, "true, false or null", error);
    *text = g_strdup (wish->kind == SL_LIVE_ON ? "true" : "false");
  } else if (kind == SL_LIVE_CLASSES) {
    if (wish->kind != SL_LIVE_TEXT)
      return expect (kind, "names with ',' between, or null for the description's", error);
    if (!check_classes (element, wish->text, error))
      return FALSE;
    *text = g_strdup (wish->text);
  } else if (kind == SL_LIVE_THRESHOLD) {
    if (wish->kind != SL_LIVE_NUMBER || !(wish->number >= 0 && wish->number <= 1))
      return expect (kind, "a number from 0 to 1, or null for the description's", error);
    *text = g_strdup (g_ascii_formatd (buffer, sizeof buffer, "%.6g", wish->number));
  } else {
    if (wish->kind != SL_LIVE_NUMBER || !(wish->number > 0))
      return expect (kind, "a number above 0, or null for the description's", error);
    *text = g_strdup_printf ("%ld", CLAMP (lrint (fps / wish->number), 1, LONGEST_INTERVAL));
  }
  return TRUE;
}
