/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of events that are like words, or like another event, best first. */
#include <string.h>

#include "core/base/json.h"
#include "sightline/error.h"
#include "tools/run/api/call.h"
#include "tools/run/api/job.h"
#include "tools/search/searcher.h"

#define STATUS_TOO_MANY_REQUESTS 429

/* What is wrong with the question is the client's; what is wrong here is not. A tokenizer has
 * limits of the text. */
static void
refuse (SlApiJob *job, const GError *error, gboolean similar)
{
  if (g_error_matches (error, SL_ERROR, SL_ERROR_ARGUMENT)
      || (!similar && g_error_matches (error, SL_ERROR, SL_ERROR_LIMIT)))
    sl_api_job_refuse (job, SOUP_STATUS_BAD_REQUEST, "%s", error->message);
  else if (similar && g_error_matches (error, SL_ERROR, SL_ERROR_OPEN))
    sl_api_job_refuse (job, SOUP_STATUS_NOT_FOUND, "%s", error->message);
  else
    sl_api_job_fail (job, error);
}

/* In a thread. */
static void
list (SlApiRequest *request, gpointer data)
{
  SlApiJob *job = data;
  const char *words = sl_api_query (request, "words"), *similar = sl_api_query (request, "similar");
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) hits =
    words != NULL ? sl_searcher_words (job->searcher, job->stores, &job->query, words, &error)
                  : sl_searcher_similar (job->searcher, job->stores, &job->query, similar, &error);
  if (hits == NULL) {
    refuse (job, error, words == NULL);
    return;
  }
  g_string_append (job->json, "{\"events\":[");
  for (guint i = 0; i < hits->len; i++) {
    const SlVectorHit *hit = hits->pdata[i];
    g_string_append (job->json, i > 0 ? "," : "");
    sl_api_append_event (job->json, hit->row);
    sl_json_append_number (job->json, "score", (gdouble) hit->score, 6);
    sl_json_append_text (job->json, "found", hit->label);
    g_string_append_c (job->json, '}');
  }
  g_string_append (job->json, "],\"next\":null");
  sl_json_append_count (job->json, "total", hits->len);
  g_string_append_c (job->json, '}');
}

/* FALSE, having refused, for texts that are no question. */
static gboolean
check_texts (SlApiRequest *request, const char *words, const char *similar)
{
  const char *name = words != NULL ? "words" : "similar", *text = words != NULL ? words : similar;
  if (words != NULL && similar != NULL)
    sl_api_error (request, SOUP_STATUS_BAD_REQUEST,
                  "?words= and ?similar=: expected one of them, not both");
  else if (!g_utf8_validate (text, -1, NULL))
    sl_api_error (request, SOUP_STATUS_BAD_REQUEST, "?%s=: expected UTF-8", name);
  else if (words != NULL && (strlen (words) > SL_SEARCH_TEXT || words[strspn (words, " ")] == '\0'))
    sl_api_error (request, SOUP_STATUS_BAD_REQUEST, "?words=: expected 1 to %d bytes of text",
                  SL_SEARCH_TEXT);
  else if (*text == '\0')
    sl_api_error (request, SOUP_STATUS_BAD_REQUEST, "?similar=: expected the id of an event");
  else
    return TRUE;
  return FALSE;
}

/* (transfer none) (nullable): having refused, where the question cannot be asked. */
static SlSearcher *
check (SlApiRequest *request)
{
  const char *words = sl_api_query (request, "words");
  SlEvents *events = sl_run_site_events (request->site);
  SlSearcher *searcher = events != NULL ? sl_events_searcher (events) : NULL;
  if (!check_texts (request, words, sl_api_query (request, "similar")))
    return NULL;
  if (searcher == NULL)
    sl_api_error (request, SOUP_STATUS_CONFLICT,
                  "pictures of events have no embeddings here: expected a group [search] with "
                  "model=FILE in the description");
  else if (words != NULL && !sl_searcher_knows_words (searcher))
    sl_api_error (request, SOUP_STATUS_CONFLICT,
                  "there is no text model here: expected text-model=FILE and tokenizer=FILE in the "
                  "group [search] of the description");
  else
    return searcher;
  return NULL;
}

void
sl_api_list_like (SlApiRequest *request)
{
  SlSearcher *searcher = check (request);
  if (searcher == NULL)
    return;
  g_autofree char *asker =
    g_strdup_printf ("%s %s", request->user, ((SlApiCall *) request)->address);
  if (!sl_searcher_enter (searcher, asker)) {
    sl_api_error (request, STATUS_TOO_MANY_REQUESTS,
                  "another search of this user goes on: expected one at a time; try again");
    return;
  }
  SlApiJob *job = sl_api_job_new (request);
  if (job == NULL) {
    sl_searcher_leave (searcher, asker);
    return;
  }
  job->searcher = searcher;
  job->asker = g_steal_pointer (&asker);
  sl_api_job_run (request, job, list);
}
