/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Questions about events: asked in a thread, answered with JSON, CSV, bytes or a sentence. */
#pragma once

#include "tools/run/api/api.h"
#include "tools/run/events/query.h"

/**
 * SlApiJob: what a function of a thread fills in: @why, or what is answered
 * @stores: (element-type SlStore) @folders: (element-type SlEventFolder)
 * @status, @why: (nullable): of a refusal
 * @type: media type of @bytes or @file; @name: (nullable): the file name for saving
 * @buckets: of minutes, hours or days, of sl_api_job_buckets()
 * @csv: whether a table is asked for
 * @changes: (element-type utf8): for the audit log: what was done
 * @mark, @ids: (nullable): what is done with which events; @user: who does it
 * @searcher, @asker: (nullable): whose search it is, until the job ends
 */
typedef struct
{
  SlEvents *events;
  GPtrArray *stores, *folders;
  SlEventQuery query;
  SlBuckets buckets;
  gboolean csv;
  guint status, mark;
  char *why, *before, *user, **ids;
  GPtrArray *changes;
  GString *json;
  GBytes *bytes;
  SlMp4 *file;
  const char *type, *name;
  char *save_as;
  SlSearcher *searcher;
  char *asker;
} SlApiJob;

/** sl_api_job_new: (transfer full) (nullable): NULL, having answered, where the query is wrong. */
SlApiJob *sl_api_job_new (SlApiRequest *request);
/** sl_api_job_run: answers after @work, in a thread, has filled in @job, which is taken. */
void sl_api_job_run (SlApiRequest *request, SlApiJob *job, SlApiFunc work);
/** sl_api_job_answer: both. */
void sl_api_job_answer (SlApiRequest *request, SlApiFunc work);
/** sl_api_job_convert: the same in a thread for conversions of clips. */
void sl_api_job_convert (SlApiRequest *request, SlApiFunc work);
/** sl_api_job_refuse: the answer is a sentence. */
void sl_api_job_refuse (SlApiJob *job, guint status, const char *format, ...) G_GNUC_PRINTF (3, 4);
/** sl_api_job_fail: the answer is what is wrong here. @error: (nullable) */
void sl_api_job_fail (SlApiJob *job, const GError *error);
/** sl_api_job_buckets: reads ?bucket= and ?zone=: FALSE, having refused, when the first is none of
 * minute, hour and day, or the second no time zone. @smallest: microseconds */
gboolean sl_api_job_buckets (SlApiRequest *request, SlApiJob *job, gint64 smallest);
/** sl_api_job_refuse_missing: there is no event @id. */
void sl_api_job_refuse_missing (SlApiJob *job, const char *id);
/** sl_api_job_event: (transfer full) (nullable): the one of {id}; NULL, having refused, where there
 * is none. */
SlEventRow *sl_api_job_event (SlApiRequest *request, SlApiJob *job);
/** sl_api_job_find: the same of the event @id. */
SlEventRow *sl_api_job_find (SlApiJob *job, const char *id);
/** sl_api_job_is_recorded: whether a clip of the event @row, which has none yet, is being written.
 */
gboolean sl_api_job_is_recorded (const SlApiJob *job, const SlEventRow *row);
/** sl_api_append_event: what lists have of @row, without its end. */
void sl_api_append_event (GString *json, const SlEventRow *row);
/** sl_api_append_time: a member with a time; null for 0. */
void sl_api_append_time (GString *json, const char *key, gint64 us);
/** sl_api_list_like: answers with events that are like ?words=, or like the event ?similar=. */
void sl_api_list_like (SlApiRequest *request);
