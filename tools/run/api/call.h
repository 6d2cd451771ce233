/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A request on its way through the router, and the jobs that answer it. */
#pragma once

#include "tools/run/api/api.h"
#include "tools/run/api/audit.h"
#include "tools/run/api/push.h"
#include "tools/run/api/watch.h"
#include "tools/run/api/who.h"
#include "tools/run/http/server.h"

typedef struct _SlApi SlApi;
typedef struct _SlApiJobs SlApiJobs;
typedef struct _SlRevoke SlRevoke;

/** SlApi: what all calls share. @guard: while the server runs */
struct _SlApi
{
  SlRunSite *site;
  const SlHttpSettings *settings;
  const SlHttpGuard *guard;
  SlApiJobs *jobs;
  SlWho *who;
  SlRevoke *revoke;
  SlWatch *watch;
  SlAudit *audit; /* (nullable) */
  SlApiPush *push;
  gint64 looked;  /* when files were last looked at */
  gint64 refused; /* when a refused login was last a line of the log */
  guint unlisted; /* those that were refused since */
};

/**
 * SlApiCall: lives as long as its message.
 * @wanted: (nullable): the route of its address
 * @route: (nullable): the same, once it may be asked for
 * @address: of the client, for the audit
 * @session: (nullable): a token, when a cookie says who it is
 * @received: bytes of a body so far
 * @too_long: the body has more than the route takes
 * @gone: the message is finished
 * @busy: jobs that go on
 */
typedef struct
{
  SlApiRequest request;
  const SlApiRoute *wanted, *route;
  SlApi *api;
  char *user, *address, *session;
  GByteArray *received;
  gboolean too_long, gone;
  guint busy;
} SlApiCall;

/** sl_api_call_new: (transfer none): @message's from now on. @query: (nullable) */
SlApiCall *sl_api_call_new (SoupServerMessage *message, SlApi *api, GHashTable *query);
/** sl_api_call_of: (nullable) */
SlApiCall *sl_api_call_of (SoupServerMessage *message);
/** sl_api_call_take_body: reads the body that comes, up to what the route takes. */
void sl_api_call_take_body (SlApiCall *call);
/** sl_api_call_end_body: it has come, request.body has it. */
void sl_api_call_end_body (SlApiCall *call);

/** sl_api_call_take_turn: calls @answer, at once or when it is the turn of the password that the
 * client states. FALSE, having answered, when too many wait. */
gboolean sl_api_call_take_turn (SlApiCall *call, SlAuthThrottleFunc answer);
/** sl_api_call_identify: sets who the client is and goes on with @known, at once or when a password
 * has been checked; who it is stays nobody, with a status set, when too many wait. */
void sl_api_call_identify (SlApiCall *call, void (*known) (SlApiCall *call));
/** sl_api_call_set_user: from now on it is @name's. */
void sl_api_call_set_user (SlApiCall *call, const char *name, SlRole role);
/** sl_api_call_check_password: sets whose @name and @password are, and goes on with @known. */
void sl_api_call_check_password (SlApiCall *call, const char *name, const char *password,
                                 void (*known) (SlApiCall *call));
/** sl_api_call_cookie: (transfer full) (nullable): what names the session. */
char *sl_api_call_cookie (SlApiCall *call);
/** sl_api_in_hashing: sl_api_in_thread() in a thread that checks passwords and does nothing else.
 * FALSE: too many wait, and nothing is begun. */
gboolean sl_api_in_hashing (SlApiCall *call, SlApiFunc work, SlApiFunc done, gpointer data,
                            GDestroyNotify free);

/** sl_api_jobs_new: in the thread's default context. */
SlApiJobs *sl_api_jobs_new (void);
/** sl_api_jobs_free: waits for threads; nothing is answered any more. The main thread waits
 * meanwhile. */
void sl_api_jobs_free (SlApiJobs *jobs);
