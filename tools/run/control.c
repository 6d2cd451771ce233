/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element knows the broker, and this side the settings: both talk by messages and a signal. */
#include "tools/run/control.h"

#include <string.h>

#include "core/base/json.h"
#include "core/base/json_reader.h"
#include "core/base/fail.h"
#include "core/base/printable.h"
#include "pipelines/description/build.h"
#include "tools/run/change.h"
#include "tools/run/log.h"

/* The last one is for names that no setting has. */
#define N_ANSWERS (SL_N_LIVE + 1)

/* Changes of a pipeline: so many at once, then one for each so many seconds. At more the
 * audit log would soon have nothing but them. */
#define CHANGES_MOST 16
#define CHANGE_S 5
#define CHANGE_US (CHANGE_S * G_USEC_PER_SEC)
#define TOO_MANY                                                                                  \
  "expected at most " G_STRINGIFY (CHANGES_MOST) " changes at once, then one each " G_STRINGIFY ( \
    CHANGE_S) " s"
/* Between two lines of the log about wishes that were too many. */
#define TOLD_US (60 * G_USEC_PER_SEC)

/* @serial: of the last refusal, 0 = none; @why: (nullable) */
typedef struct
{
  guint serial;
  char *why;
} Answer;

/* @free_at: when as many changes as may be at once are free again; @refused: wishes since
 * @told_at that were too many. Both are monotonic times. */
typedef struct
{
  Answer answers[N_ANSWERS];
  gint64 free_at, told_at;
  guint refused;
} Talk;

struct _SlRunControl
{
  SlRunHttp *http;   /* (nullable) */
  GHashTable *talks; /* of SlWorker: a Talk */
};

static void
clear_answers (Talk *talk)
{
  Answer *answers = talk->answers;
  for (guint i = 0; i < N_ANSWERS; i++) {
    answers[i].serial = 0;
    g_clear_pointer (&answers[i].why, g_free);
  }
}

static void
free_talk (gpointer data)
{
  clear_answers (data);
  g_free (data);
}

SlRunControl *
sl_run_control_new (SlRunHttp *http)
{
  SlRunControl *control = g_new0 (SlRunControl, 1);
  control->http = http;
  control->talks = g_hash_table_new_full (NULL, NULL, NULL, free_talk);
  return control;
}

void
sl_run_control_free (SlRunControl *control)
{
  g_hash_table_unref (control->talks);
  g_free (control);
}

static Talk *
talk_of (SlRunControl *control, SlWorker *worker)
{
  Talk *talk = g_hash_table_lookup (control->talks, worker);
  if (talk == NULL) {
    talk = g_new0 (Talk, 1);
    g_hash_table_insert (control->talks, worker, talk);
  }
  return talk;
}

void
sl_run_control_adopt (SlRunControl *control, SlWorker *worker)
{
  clear_answers (talk_of (control, worker));
}

void
sl_run_control_tick (SlRunControl *control)
{
  GHashTableIter iter;
  gpointer worker, data;
  const gint64 now = g_get_monotonic_time ();
  g_hash_table_iter_init (&iter, control->talks);
  while (g_hash_table_iter_next (&iter, &worker, &data)) {
    Talk *talk = data;
    if (talk->refused == 0 || (talk->told_at != 0 && now - talk->told_at < TOLD_US))
      continue;
    sl_run_log (SL_LOG_WARNING, sl_worker_name (worker), "control",
                "%u settings by MQTT were refused: " TOO_MANY, talk->refused);
    talk->told_at = now;
    talk->refused = 0;
  }
}

/* A line of the signal publish-states: name, serial number, whether it is retained, text. */
static void
append_line (GString *states, const char *name, guint serial, gboolean retained, const char *text)
{
  g_autofree char *shown = sl_printable (text, SL_PRINTABLE_MESSAGE);
  g_string_append_printf (states, "%s\t%u\t%d\t%s\n", name, serial, retained, shown);
}

/* (transfer full): as JSON, null where nothing is stated. */
static char *
value_of (GstElement *element, SlLiveKind kind)
{
  g_autofree char *text = sl_live_text (element, kind);
  gdouble number;
  GString *json = g_string_new (NULL);
  if (kind == SL_LIVE_RECORDING || kind == SL_LIVE_REDACTION)
    g_string_append (json, text);
  else if (!sl_live_stated (element, kind, text, &number))
    g_string_append (json, "null");
  else if (kind == SL_LIVE_CLASSES)
    sl_json_append_string (json, text);
  else
    sl_json_append_double (json, number, 6);
  return g_string_free (json, FALSE);
}

void
sl_run_control_tell (SlRunControl *control, SlWorker *worker)
{
  GstElement *pipeline = sl_worker_pipeline (worker);
  const Answer *answers = talk_of (control, worker)->answers;
  g_autoptr (GString) states = g_string_new (NULL);
  if (pipeline == NULL)
    return;
  for (guint i = 0; i < SL_N_LIVE; i++) {
    g_autoptr (GstElement) element = sl_live_find (pipeline, (SlLiveKind) i);
    g_autofree char *value = element != NULL ? value_of (element, (SlLiveKind) i) : NULL;
    g_autofree char *topic = g_strconcat (sl_live_rows[i].key, "/error", NULL);
    if (value != NULL)
      append_line (states, sl_live_rows[i].key, 0, TRUE, value);
    if (answers[i].serial > 0)
      append_line (states, topic, answers[i].serial, FALSE, answers[i].why);
  }
  if (answers[SL_N_LIVE].serial > 0)
    append_line (states, "error", answers[SL_N_LIVE].serial, FALSE, answers[SL_N_LIVE].why);
  g_autoptr (GPtrArray) publishers = sl_find_elements (pipeline, "slpublish");
  for (guint i = 0; i < publishers->len; i++) {
    gboolean obeys = FALSE;
    g_object_get (publishers->pdata[i], "control", &obeys, NULL);
    if (obeys)
      g_signal_emit_by_name (publishers->pdata[i], "publish-states", states->str);
  }
}

/* Classes may also be names as they are. */
static void
read_wish (SlLiveKind kind, const char *text, SlLiveWish *wish)
{
  SlJsonReader reader;
  sl_json_reader_init (&reader, text, strlen (text));
  const gboolean good = sl_live_read_wish (&reader, wish) && sl_json_reader_end (&reader);
  sl_json_reader_clear (&reader);
  if (good)
    return;
  g_clear_pointer (&wish->text, g_free);
  wish->kind = kind == SL_LIVE_CLASSES ? SL_LIVE_TEXT : SL_LIVE_OTHER;
  wish->text = g_strdup (text);
}

/* @text: (nullable): NULL = it was no text, or too long */
static gboolean
obey (SlRunControl *control, SlWorker *worker, SlLiveKind kind, const char *topic, const char *text,
      GError **error)
{
  SlLiveWish wish = { .kind = SL_LIVE_OTHER };
  Talk *talk = talk_of (control, worker);
  const gint64 now = g_get_monotonic_time (), free_at = MAX (talk->free_at, now);
  gboolean changed;
  g_autofree char *who = g_strconcat ("mqtt:", topic, NULL);
  if (text == NULL)
    return sl_fail (error, SL_ERROR_ARGUMENT, "%s: expected at most 1024 bytes of UTF-8",
                    sl_live_rows[kind].key);
  if (free_at - now > (CHANGES_MOST - 1) * CHANGE_US) {
    talk->refused++;
    return sl_fail (error, SL_ERROR_ARGUMENT, "%s: " TOO_MANY, sl_live_rows[kind].key);
  }
  read_wish (kind, text, &wish);
  const gboolean good =
    sl_change_setting (worker, kind, &wish, control->http, who, "mqtt", &changed, error);
  if (changed)
    talk->free_at = free_at + CHANGE_US;
  g_free (wish.text);
  return good;
}

static void
take_wish (SlRunControl *control, SlWorker *worker, const GstStructure *structure)
{
  const char *name = gst_structure_get_string (structure, "setting");
  g_autoptr (GError) error = NULL;
  SlLiveKind kind;
  if (!sl_live_kind_of (name, &kind)) {
    kind = SL_N_LIVE;
    sl_fail (&error, SL_ERROR_ARGUMENT, SL_LIVE_UNKNOWN, name);
  } else
    obey (control, worker, kind, gst_structure_get_string (structure, "topic"),
          gst_structure_get_string (structure, "text"), &error);
  if (error != NULL) {
    Answer *answer = &talk_of (control, worker)->answers[kind];
    answer->serial++;
    g_free (answer->why);
    answer->why = g_strdup (error->message);
  }
  sl_run_control_tell (control, worker); /* also what was refused, or is as it was */
}

void
sl_run_control_posted (SlRunControl *control, SlWorker *worker, GstMessage *message)
{
  const GstStructure *structure = gst_message_get_structure (message);
  if (gst_structure_has_name (structure, "slpublish-set")) {
    take_wish (control, worker, structure);
  } else if (gst_structure_has_name (structure, "slpublish")
             && g_strcmp0 (gst_structure_get_string (structure, "state"), "connected") == 0) {
    clear_answers (talk_of (control, worker)); /* who asked was on another connection */
    sl_run_control_tell (control, worker);
  }
}
