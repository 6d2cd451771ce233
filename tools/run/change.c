/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/run/change.h"

#include "core/base/fail.h"
#include "tools/run/log.h"

gboolean
sl_change_setting (SlWorker *worker, SlLiveKind kind, const SlLiveWish *wish, SlRunHttp *http,
                   const char *who, const char *way, gboolean *changed, GError **error)
{
  SlLive *live = sl_worker_live (worker);
  GstElement *pipeline = sl_worker_pipeline (worker);
  g_autoptr (GstElement) element = pipeline != NULL ? sl_live_find (pipeline, kind) : NULL;
  g_autofree char *why = sl_live_why_not (kind, element, sl_worker_description (worker));
  g_autofree char *text = NULL;
  *changed = FALSE;
  if (why != NULL)
    return sl_fail (error, SL_ERROR_ARGUMENT, "%s: %s", sl_live_rows[kind].key, why);
  if (!sl_live_check (kind, element, wish, &text, error))
    return FALSE;
  g_autofree char *before = sl_live_text (element, kind);
  if (!sl_live_set (live, element, kind, text, error))
    return FALSE;
  g_autofree char *told = sl_live_told (live, element, kind, before);
  *changed = told != NULL;
  if (told == NULL)
    return TRUE;
  g_autofree char *sentence = g_strdup_printf ("%s: %s", sl_worker_name (worker), told);
  sl_run_log (SL_LOG_INFO, NULL, "changed", "%s: %s", who, sentence);
  sl_run_http_audit (http, who, way, sentence);
  return TRUE;
}
