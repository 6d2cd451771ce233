/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One setting, changed by a client that is not the page: checked, set, and noted. Main thread. */
#pragma once

#include "tools/run/http/http.h"
#include "tools/run/worker.h"

/** sl_change_setting: what @wish says, with the rules of the page. The log and the audit log of
 * @http (nullable) get a line with @who; @way: how the wish came, for the audit log.
 * @changed: (out): FALSE: it was so before. FALSE with SL_ERROR_ARGUMENT. */
gboolean sl_change_setting (SlWorker *worker, SlLiveKind kind, const SlLiveWish *wish,
                            SlRunHttp *http, const char *who, const char *way, gboolean *changed,
                            GError **error);
