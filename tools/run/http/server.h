/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The thread that answers. Nothing that clients do there reaches the pipelines but the wish for a frame.
 */
#ifndef SL_TOOLS_RUN_HTTP_SERVER_H
#define SL_TOOLS_RUN_HTTP_SERVER_H

#include "tools/run/http/channel.h"
#include "tools/run/http/report.h"

G_BEGIN_DECLS

typedef struct _SlHttpServer SlHttpServer;

/** sl_http_server_new: listens; answers come once it was started. @settings, @messages and @channels (element-type SlChannel) must live as
 *  long. @warning: (out) (transfer full) (nullable): a sentence about the password's file. NULL with @error set. Main thread, as all. */
SlHttpServer *sl_http_server_new (const SlHttpSettings *settings, SlMessages *messages, GPtrArray *channels, char **warning,
                                  GError **error);
/** sl_http_server_start: @report (transfer full): the first one. */
void sl_http_server_start (SlHttpServer *server, SlReport *report);
/** sl_http_server_free: ends the thread. */
void sl_http_server_free (SlHttpServer *server);
/** sl_http_server_url: (transfer none) */
const char *sl_http_server_url (const SlHttpServer *server);
/** sl_http_server_report: @report (transfer full): what is told from now on. */
void sl_http_server_report (SlHttpServer *server, SlReport *report);

G_END_DECLS

#endif
