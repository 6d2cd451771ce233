/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Clients that have logged in, in memory: who they are, by a random text that only they know. The
 * table has hashes of these texts. Times are monotonic microseconds. The server's thread.
 */
#pragma once

#include <glib.h>

/** A session ends so long after its last request, and so long after its login. */
#define SL_SESSION_IDLE (12 * G_TIME_SPAN_HOUR)
#define SL_SESSION_LONGEST (7 * G_TIME_SPAN_DAY)
/** Sessions of one user at once: the oldest gives way. */
#define SL_SESSIONS_PER_USER 64

typedef struct _SlSessions SlSessions;

/**
 * SlSession:
 * @user: whose it is
 * @secret: what it was begun with: when the user's is another one, the session is to be ended
 * @token: what requests that change something state, too
 * @begun, @used: when
 */
typedef struct
{
  char *user, *secret, *token;
  gint64 begun, used;
} SlSession;

SlSessions *sl_sessions_new (void);
void sl_sessions_free (SlSessions *sessions);
/** sl_sessions_begin: (transfer full): the text that names the new session. @session: (out)
 * (transfer none) */
char *sl_sessions_begin (SlSessions *sessions, const char *user, const char *secret, gint64 now,
                         const SlSession **session);
/** sl_sessions_find: (transfer none) (nullable): the one that goes on, which is used now. */
const SlSession *sl_sessions_find (SlSessions *sessions, const char *name, gint64 now);
/** sl_sessions_end: if there is one. */
void sl_sessions_end (SlSessions *sessions, const char *name);
/** sl_sessions_expire: forgets those that have ended, to be called now and then. */
void sl_sessions_expire (SlSessions *sessions, gint64 now);
guint sl_sessions_count (const SlSessions *sessions);
