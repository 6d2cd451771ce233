/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sessions by the SHA-256 of their names: a lookup's time says nothing about a name. */
#include "tools/run/http/sessions.h"

#include <string.h>

#include "tools/run/http/hash.h"

struct _SlSessions
{
  GHashTable *all; /* hash of the name -> SlSession */
};

static void
session_free (gpointer data)
{
  SlSession *session = data;
  g_free (session->user);
  g_free (session->secret);
  g_free (session->token);
  g_free (session);
}

SlSessions *
sl_sessions_new (void)
{
  SlSessions *sessions = g_new0 (SlSessions, 1);
  sessions->all = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, session_free);
  return sessions;
}

void
sl_sessions_free (SlSessions *sessions)
{
  g_hash_table_unref (sessions->all);
  g_free (sessions);
}

static gboolean
has_ended (const SlSession *session, gint64 now)
{
  return now - session->used > SL_SESSION_IDLE || now - session->begun > SL_SESSION_LONGEST;
}

/* Of @user's, the one that began first goes when there are too many. */
static void
make_room (SlSessions *sessions, const char *user)
{
  GHashTableIter iter;
  SlSession *session;
  const char *key, *oldest_key = NULL;
  gint64 oldest = G_MAXINT64;
  guint n = 0;
  g_hash_table_iter_init (&iter, sessions->all);
  while (g_hash_table_iter_next (&iter, (gpointer *) &key, (gpointer *) &session)) {
    if (strcmp (session->user, user) != 0)
      continue;
    n++;
    if (session->begun >= oldest)
      continue;
    oldest = session->begun;
    oldest_key = key;
  }
  if (n >= SL_SESSIONS_PER_USER)
    g_hash_table_remove (sessions->all, oldest_key);
}

char *
sl_sessions_begin (SlSessions *sessions, const char *user, const char *secret, gint64 now,
                   const SlSession **session)
{
  char *name = sl_random_text ();
  SlSession *begun = g_new0 (SlSession, 1);
  begun->user = g_strdup (user);
  begun->secret = g_strdup (secret);
  begun->token = sl_random_text ();
  begun->begun = begun->used = now;
  make_room (sessions, user);
  g_hash_table_insert (sessions->all, g_compute_checksum_for_string (G_CHECKSUM_SHA256, name, -1),
                       begun);
  *session = begun;
  return name;
}

const SlSession *
sl_sessions_find (SlSessions *sessions, const char *name, gint64 now)
{
  g_autofree char *key = g_compute_checksum_for_string (G_CHECKSUM_SHA256, name, -1);
  SlSession *session = g_hash_table_lookup (sessions->all, key);
  if (session == NULL)
    return NULL;
  if (has_ended (session, now)) {
    g_hash_table_remove (sessions->all, key);
    return NULL;
  }
  session->used = now;
  return session;
}

void
sl_sessions_end (SlSessions *sessions, const char *name)
{
  g_autofree char *key = g_compute_checksum_for_string (G_CHECKSUM_SHA256, name, -1);
  g_hash_table_remove (sessions->all, key);
}

void
sl_sessions_expire (SlSessions *sessions, gint64 now)
{
  GHashTableIter iter;
  gpointer session;
  g_hash_table_iter_init (&iter, sessions->all);
  while (g_hash_table_iter_next (&iter, NULL, &session))
    if (has_ended (session, now))
      g_hash_table_iter_remove (&iter);
}

guint
sl_sessions_count (const SlSessions *sessions)
{
  return g_hash_table_size (sessions->all);
}
