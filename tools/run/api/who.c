/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs state a password with each request, and checking one costs more than an answer. So
 * credentials that were right are remembered for some minutes, as a hash with a random key.
 */
#include "tools/run/api/who.h"

#include <string.h>

#include "tools/run/http/hash.h"
#include "tools/run/log.h"

#define REMEMBERED (5 * 60 * G_USEC_PER_SEC)
#define KNOWN_MOST 256

typedef struct
{
  char *user, *hash;
  gint64 until;
} Known;

static void
known_free (gpointer data)
{
  Known *known = data;
  g_free (known->user);
  g_free (known->hash);
  g_free (known);
}

SlWho *
sl_who_new (const SlHttpSettings *settings, GError **error)
{
  SlWho *who = g_new0 (SlWho, 1);
  const char *port = strrchr (settings->listen, ':');
  who->sessions = sl_sessions_new ();
  who->known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, known_free);
  who->cookie = g_strconcat ("sightline-", port != NULL ? port + 1 : "0", NULL);
  who->key = sl_random_text ();
  who->open = SL_ROLE_LOOK;
  if (settings->role != NULL)
    sl_role_parse (settings->role, &who->open);
  if (settings->users == NULL || (who->users = sl_users_new (settings->users, error)) != NULL)
    return who;
  sl_who_free (who);
  return NULL;
}

void
sl_who_free (SlWho *who)
{
  g_clear_pointer (&who->users, sl_users_free);
  sl_sessions_free (who->sessions);
  g_hash_table_unref (who->known);
  g_free (who->cookie);
  g_free (who->key);
  g_free (who);
}

static gboolean
is_over (gpointer key, gpointer value, gpointer now)
{
  return ((Known *) value)->until < *(gint64 *) now;
}

void
sl_who_tick (SlWho *who, gint64 now)
{
  g_autoptr (GError) error = NULL;
  sl_sessions_expire (who->sessions, now);
  g_hash_table_foreach_remove (who->known, is_over, &now);
  if (who->users != NULL && !sl_users_refresh (who->users, &error))
    sl_run_log_later (SL_LOG_WARNING, NULL, "http", "users stay as they were: %s", error->message);
}

const SlSession *
sl_who_session (SlWho *who, const char *name, gint64 now, SlRole *role)
{
  const SlSession *session = sl_sessions_find (who->sessions, name, now);
  if (session == NULL || who->users == NULL) {
    *role = SL_ROLE_CONFIGURE; /* the one password is everything */
    return session;
  }
  const SlUser *user = sl_users_find (who->users, session->user);
  if (user != NULL && strcmp (user->hash, session->secret) == 0) {
    *role = user->role;
    return session;
  }
  sl_sessions_end (who->sessions, name);
  return NULL;
}

static char *
key_of (const SlWho *who, const char *credentials)
{
  return g_compute_hmac_for_string (G_CHECKSUM_SHA256, (const guchar *) who->key, strlen (who->key),
                                    credentials, -1);
}

void
sl_who_remember (SlWho *who, const char *credentials, const SlUser *user, gint64 now)
{
  Known *known = g_new0 (Known, 1);
  known->user = g_strdup (user->name);
  known->hash = g_strdup (user->hash);
  known->until = now + REMEMBERED;
  if (g_hash_table_size (who->known) >= KNOWN_MOST)
    g_hash_table_remove_all (who->known);
  g_hash_table_replace (who->known, key_of (who, credentials), known);
}

const SlUser *
sl_who_recall (SlWho *who, const char *credentials, gint64 now)
{
  g_autofree char *key = key_of (who, credentials);
  const Known *known = g_hash_table_lookup (who->known, key);
  const SlUser *user =
    known != NULL && known->until >= now ? sl_users_find (who->users, known->user) : NULL;
  return user != NULL && strcmp (user->hash, known->hash) == 0 ? user : NULL;
}
