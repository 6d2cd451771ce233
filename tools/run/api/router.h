/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The router of /api/v1: from a request's headers to its handler. The server's thread. */
#pragma once

#include "tools/run/http/server.h"
#include "tools/run/http/site.h"

typedef struct _SlApi SlApi;

#define SL_API_PREFIX "/api/v1/"

/** sl_api_new: @site and @settings must live as long. NULL with @error set when the file of users
 * or the audit log cannot be used. Main thread. */
SlApi *sl_api_new (SlRunSite *site, const SlHttpSettings *settings, GError **error);
/** sl_api_free: after the server. Main thread. */
void sl_api_free (SlApi *api);
/** sl_api_audit_line: adds a line to the audit log, where there is one. FALSE with SL_ERROR_OPEN
 * when it could not be written. Any thread. */
gboolean sl_api_audit_line (SlApi *api, const char *user, const char *address, const char *message,
                            GError **error);
/** sl_api_branch: for the server. When it stops, jobs in threads are waited for, and those that
 * wait for the main thread are left out. */
SlHttpBranch sl_api_branch (SlApi *api);
