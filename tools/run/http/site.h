/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What `sightline run` serves. Nothing that clients do there reaches the pipelines but the wish for
 * a frame.
 */
#pragma once

#include "tools/run/http/channel.h"
#include "tools/run/events/events.h"
#include "tools/run/http/report.h"
#include "tools/run/http/sender.h"
#include "tools/run/http/server.h"

typedef struct _SlRunSite SlRunSite;

/** Of an SlRunSite, which has a report before the server is started. */
extern const SlHttpSite sl_run_site;

/** sl_run_site_new: @settings, @messages, @workers (element-type SlWorker) and @channels
 * (element-type SlChannel), one a worker, must live as long. */
SlRunSite *sl_run_site_new (const SlHttpSettings *settings, SlMessages *messages,
                            GPtrArray *workers, GPtrArray *channels);
/** sl_run_site_set_events: @events: (nullable): before the server is started; it must live as long.
 */
void sl_run_site_set_events (SlRunSite *site, SlEvents *events);
/** sl_run_site_events: (transfer none) (nullable): NULL in a build without SQLite. */
SlEvents *sl_run_site_events (const SlRunSite *site);
/** sl_run_site_senders: (transfer none): of the server's thread. */
SlSenders *sl_run_site_senders (const SlRunSite *site);
/** sl_run_site_free: after the server. */
void sl_run_site_free (SlRunSite *site);
/** sl_run_site_report: @report (transfer full): what is told from now on. Any thread. */
void sl_run_site_report (SlRunSite *site, SlReport *report);
/** sl_run_site_get_report: (transfer full): the newest. Any thread. */
SlReport *sl_run_site_get_report (SlRunSite *site);
/** sl_run_site_settings, sl_run_site_messages: (transfer none) */
const SlHttpSettings *sl_run_site_settings (const SlRunSite *site);
SlMessages *sl_run_site_messages (const SlRunSite *site);
/** sl_run_site_workers: (transfer none) (element-type SlWorker): of the main thread. */
GPtrArray *sl_run_site_workers (const SlRunSite *site);
/** sl_run_site_worker: (transfer none) (nullable): the one of that name. Main thread. */
SlWorker *sl_run_site_worker (const SlRunSite *site, const char *name);
/** sl_run_site_channel: (transfer none) (nullable): the one of that name. @index: (out)
 * (optional): of it, and of its pipeline in reports */
SlChannel *sl_run_site_channel (const SlRunSite *site, const char *name, guint *index);
/** sl_run_site_pictures: answers @message with a stream of pictures of @channel, with predictions
 * or without. The server's thread, as what follows. */
void sl_run_site_pictures (SlRunSite *site, SoupServerMessage *message, SlChannel *channel,
                           gboolean drawn);
/** sl_run_site_predictions: answers @message with a stream of events where it accepts them, else
 * with the newest predictions. @analysed: with results of zones and lines, where they are known
 */
void sl_run_site_predictions (SlRunSite *site, SoupServerMessage *message, SlChannel *channel,
                              gboolean analysed);
