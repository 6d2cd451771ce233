/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slinfer writes in threads of its own, and tells there what became of it; lines are logged on the
 * main thread. */
#include "tools/run/boxes.h"

#include "pipelines/description/build.h"
#include "models/replay/recorder.h"
#include "tools/run/log.h"
#include "tools/run/notify.h"

/* The time for black boxes that are still being written when everything else has ended, and the
 * state that a service manager gets then. */
#define FINISH_SECONDS 60
#define FINISH_STATE \
  "EXTEND_TIMEOUT_USEC=" G_STRINGIFY (FINISH_SECONDS) "000000\nSTATUS=writing black boxes"

typedef struct
{
  char *pipeline, *path, *message;
  guint inferences;
} Written;

static gboolean
log_written (gpointer data)
{
  const Written *written = data;
  if (written->message != NULL)
    sl_run_log (SL_LOG_WARNING, written->pipeline, "black-box", "no black box: %s",
                written->message);
  else
    sl_run_log (SL_LOG_INFO, written->pipeline, "black-box", "%s: black box of %u inferences",
                written->path, written->inferences);
  return G_SOURCE_REMOVE;
}

static void
written_free (gpointer data)
{
  Written *written = data;
  g_free (written->pipeline);
  g_free (written->path);
  g_free (written->message);
  g_free (written);
}

/* In the thread that wrote it. */
static void
on_dumped (GstElement *infer, const char *path, guint inferences, const char *message,
           gpointer name)
{
  Written *written = g_new0 (Written, 1);
  written->pipeline = g_strdup (name);
  written->path = g_strdup (path);
  written->message = g_strdup (message);
  written->inferences = inferences;
  g_idle_add_full (G_PRIORITY_DEFAULT, log_written, written, written_free);
}

static void
free_name (gpointer name, GClosure *closure)
{
  g_free (name);
}

void
sl_run_boxes_attach (GstElement *pipeline, const char *folder, const char *name)
{
  g_autoptr (GPtrArray) infers = sl_find_elements (pipeline, "slinfer");
  for (guint i = 0; i < infers->len; i++) {
    g_autofree char *own = NULL;
    g_object_get (infers->pdata[i], "black-box", &own, NULL);
    if (own == NULL && folder != NULL)
      g_object_set (infers->pdata[i], "black-box", folder, NULL);
    g_signal_connect_data (infers->pdata[i], "dumped", G_CALLBACK (on_dumped), g_strdup (name),
                           free_name, (GConnectFlags) 0);
  }
}

guint
sl_run_boxes_dump (GstElement *pipeline, const char *reason, guint *recording)
{
  g_autoptr (GPtrArray) infers = sl_find_elements (pipeline, "slinfer");
  guint n = 0, wanted = 0;
  for (guint i = 0; i < infers->len; i++) {
    g_autofree char *path = NULL, *folder = NULL;
    g_object_get (infers->pdata[i], "black-box", &folder, NULL);
    g_signal_emit_by_name (infers->pdata[i], "dump", reason, &path);
    wanted += folder != NULL && folder[0] != '\0';
    n += path != NULL;
  }
  if (recording != NULL)
    *recording = wanted;
  return n;
}

static gboolean
on_time (gpointer context)
{
  return G_SOURCE_CONTINUE;
}

void
sl_run_boxes_finish (void)
{
  const gint64 end = g_get_monotonic_time () + FINISH_SECONDS * G_USEC_PER_SEC;
  if (!sl_recorders_wait (0)) {
    const guint timer = g_timeout_add (20, on_time, NULL);
    sl_notify (FINISH_STATE, NULL);
    while (!sl_recorders_wait (0) && g_get_monotonic_time () < end)
      g_main_context_iteration (NULL, TRUE);
    g_source_remove (timer);
  }
  for (guint i = 0; i < 100 && g_main_context_iteration (NULL, FALSE); i++)
    ; /* lines of what was written last */
  if (!sl_recorders_wait (0))
    sl_run_log (
      SL_LOG_WARNING, NULL, "black-box",
      "black boxes are still being written after %d s; the next start makes them of what was "
      "recorded",
      FINISH_SECONDS);
}
