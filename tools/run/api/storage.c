/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How much room clips take, and which rules delete them. */
#include <string.h>
#include <sys/statvfs.h>

#include "core/base/json.h"
#include "tools/run/api/job.h"

/* FALSE: the folder does not say. */
static gboolean
free_bytes (const char *path, guint64 *bytes)
{
  struct statvfs status;
  if (statvfs (path, &status) != 0)
    return FALSE;
  *bytes = (guint64) status.f_bavail * (guint64) status.f_frsize;
  return TRUE;
}

static void
append_limit (GString *json, const char *key, gdouble value)
{
  if (value > 0)
    sl_json_append_number (json, key, value, 15);
  else
    sl_json_append_text (json, key, NULL);
}

static void
append_folder (GString *json, const SlEventFolder *folder)
{
  guint64 bytes = 0;
  g_string_append_c (json, '{');
  sl_json_append_text (json, "path", folder->path);
  sl_json_append_text (json, "pipeline", folder->pipeline);
  append_limit (json, "keep_days", folder->keep_days);
  append_limit (json, "max_bytes", (gdouble) folder->max_bytes);
  append_limit (json, "min_free_bytes", (gdouble) folder->min_free);
  if (free_bytes (folder->path, &bytes))
    sl_json_append_count (json, "free_bytes", bytes);
  else
    sl_json_append_text (json, "free_bytes", NULL);
  g_string_append_c (json, '}');
}

static void
storage (SlApiRequest *request, gpointer data)
{
  SlApiJob *job = data;
  g_autoptr (GError) error = NULL;
  SlEventTotals sum = { 0 };
  guint64 least = G_MAXUINT64;
  for (guint i = 0; i < job->stores->len; i++) {
    SlStore *store = job->stores->pdata[i];
    SlEventTotals totals;
    guint64 bytes;
    if (!store->has_clips)
      continue;
    if (!sl_event_query_totals (store, &totals, &error)) {
      sl_api_job_fail (job, error);
      return;
    }
    sum.clips += totals.clips;
    sum.bytes += totals.bytes;
    sum.kept += totals.kept;
    sum.kept_bytes += totals.kept_bytes;
    if (totals.oldest > 0 && (sum.oldest == 0 || totals.oldest < sum.oldest))
      sum.oldest = totals.oldest;
    if (free_bytes (store->folder, &bytes))
      least = MIN (least, bytes);
  }
  g_string_append_c (job->json, '{');
  sl_json_append_count (job->json, "bytes", sum.bytes);
  sl_json_append_count (job->json, "clips", sum.clips);
  sl_json_append_count (job->json, "kept", sum.kept);
  sl_json_append_count (job->json, "kept_bytes", sum.kept_bytes);
  sl_api_append_time (job->json, "oldest", sum.oldest);
  if (least < G_MAXUINT64)
    sl_json_append_count (job->json, "free_bytes", least);
  else
    sl_json_append_text (job->json, "free_bytes", NULL);
  sl_json_append_key (job->json, "folders");
  g_string_append_c (job->json, '[');
  for (guint i = 0; i < job->folders->len; i++) {
    g_string_append (job->json, i > 0 ? "," : "");
    append_folder (job->json, job->folders->pdata[i]);
  }
  g_string_append (job->json, "]}");
}

static void
answer_storage (SlApiRequest *request)
{
  sl_api_job_answer (request, storage);
}

const SlApiRoute sl_api_storage_routes[] = {
  { "GET", "/api/v1/storage", SL_ROLE_LOOK, 0, answer_storage },
  { NULL, NULL, SL_ROLE_NONE, 0, NULL },
};
