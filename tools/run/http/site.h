/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What `sightline run` serves. Nothing that clients do there reaches the pipelines but the wish for
 * a frame.
 */
#pragma once

#include "tools/run/http/channel.h"
#include "tools/run/http/report.h"
#include "tools/run/http/server.h"

typedef struct _SlRunSite SlRunSite;

/** Of an SlRunSite, which has a report before the server is started. */
extern const SlHttpSite sl_run_site;

/** sl_run_site_new: @settings, @messages and @channels (element-type SlChannel) must live as long.
 */
SlRunSite *sl_run_site_new (const SlHttpSettings *settings, SlMessages *messages,
                            GPtrArray *channels);
/** sl_run_site_free: after the server. */
void sl_run_site_free (SlRunSite *site);
/** sl_run_site_report: @report (transfer full): what is told from now on. Any thread. */
void sl_run_site_report (SlRunSite *site, SlReport *report);
