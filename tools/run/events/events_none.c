/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A build without SQLite keeps no events. */
#include "tools/run/events/events.h"

#include "core/base/fail.h"

SlEvents *
sl_events_new (void)
{
  return NULL;
}

gboolean
sl_events_search (SlEvents *events, const SlModelSettings *settings, GError **error)
{
  return sl_fail (error, SL_ERROR_UNSUPPORTED,
                  "this build keeps no events: expected SQLite 3 when it was made (Debian: "
                  "libsqlite3-dev, meson option sqlite)");
}

const char *
sl_events_searches (SlEvents *events)
{
  return "none";
}

void
sl_events_stop (SlEvents *events)
{
}

void
sl_events_free (SlEvents *events)
{
}

void
sl_events_adopt (SlEvents *events, SlWorker *worker, GstElement *pipeline)
{
}

void
sl_events_posted (SlEvents *events, SlWorker *worker, GstMessage *message)
{
}

void
sl_events_append_newest (SlEvents *events, const char *pipeline, GString *json)
{
  g_string_append (json, "null");
}

void
sl_events_note (SlEvents *events, const SlReportPipeline *pipeline,
                const SlPredictions *predictions, guint ms)
{
}
