/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who may use the API: users of a file, or the one password, or everybody who reaches the server.
 * The server's thread, but for what says otherwise.
 */
#pragma once

#include "pipelines/description/description.h"
#include "tools/run/http/sessions.h"
#include "tools/run/http/users.h"

/**
 * SlWho:
 * @users: (nullable): where users log in
 * @cookie: name of the cookie that names a session
 * @known:: credentials that were right lately, by their keyed hash
 * @open: what who states nothing may do, where nothing is asked for
 */
typedef struct
{
  SlUsers *users;
  SlSessions *sessions;
  GHashTable *known;
  char *cookie, *key;
  SlRole open;
} SlWho;

/** sl_who_new: NULL with @error set when the file of users cannot be used. Main thread. */
SlWho *sl_who_new (const SlHttpSettings *settings, GError **error);
void sl_who_free (SlWho *who);
/** sl_who_tick: reads the file of users when it has changed, and forgets what has ended. */
void sl_who_tick (SlWho *who, gint64 now);
/** sl_who_session: (transfer none) (nullable): the session that @name names, and in @role what its
 * user may do now. Sessions of users whose password has changed end. */
const SlSession *sl_who_session (SlWho *who, const char *name, gint64 now, SlRole *role);
/** sl_who_remember: @credentials are @user's, for a while. */
void sl_who_remember (SlWho *who, const char *credentials, const SlUser *user, gint64 now);
/** sl_who_recall: (transfer none) (nullable): whose @credentials are, if they were right lately. */
const SlUser *sl_who_recall (SlWho *who, const char *credentials, gint64 now);
