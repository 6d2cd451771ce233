/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/run/api/push.h"

#include <string.h>

#include "core/base/fail.h"
#include "pipelines/push/crypt.h"
#include "pipelines/push/phones.h"
#include "tools/run/log.h"
#include "tools/run/worker.h"

#define LOGIN_DIGITS 16
/* A browser may be added while its user is removed. */
#define AGAIN (60 * G_USEC_PER_SEC)

/* @what: such as "key"; FALSE with @error set where two descriptions differ */
static gboolean
check_same (const SlDescription *first, const SlDescription *other, const char *what,
            GError **error)
{
  const char *a = sl_description_setting (first, SL_PUSHER, what),
             *b = sl_description_setting (other, SL_PUSHER, what);
  return g_strcmp0 (a, b) == 0
         || sl_fail (error, SL_ERROR_ARGUMENT,
                     "%s: [push] %s is %s, %s has %s: expected one for all that run together",
                     other->path, what, b != NULL ? b : "not stated", first->path,
                     a != NULL ? a : "none");
}

SlApiPush *
sl_api_push_new (GPtrArray *workers, GError **error)
{
  const SlDescription *first = NULL;
  g_autoptr (GError) cause = NULL;
  for (guint i = 0; i < workers->len; i++) {
    const SlDescription *description = sl_worker_description (workers->pdata[i]);
    if (sl_description_setting (description, SL_PUSHER, SL_PUSH_SUBSCRIPTIONS) == NULL)
      continue;
    if (first == NULL)
      first = description;
    if (!check_same (first, description, SL_PUSH_SUBSCRIPTIONS, error)
        || !check_same (first, description, SL_PUSH_KEY, error)
        || !check_same (first, description, SL_PUSH_HOSTS, error))
      return NULL;
  }
  SlApiPush *push = g_new0 (SlApiPush, 1);
  if (first == NULL) {
    push->why =
      g_strdup ("no description has the group [push]; docs/console.md says what it needs");
    return push;
  }
  const char *path = sl_description_setting (first, SL_PUSHER, SL_PUSH_KEY);
  g_autoptr (SlPushKey) key = sl_push_key_load (path != NULL ? path : "", &cause);
  push->path = g_strdup (sl_description_setting (first, SL_PUSHER, SL_PUSH_SUBSCRIPTIONS));
  push->hosts = g_strdup (sl_description_setting (first, SL_PUSHER, SL_PUSH_HOSTS));
  push->key = key != NULL ? g_strdup (sl_push_key_public (key)) : NULL;
  push->why = cause != NULL ? g_strdup (cause->message) : NULL;
  return push;
}

void
sl_api_push_free (SlApiPush *push)
{
  g_free (push->path);
  g_free (push->hosts);
  g_free (push->key);
  g_free (push->why);
  g_free (push);
}

char *
sl_api_push_login (const SlUsers *users, const char *name)
{
  const SlUser *user = users != NULL ? sl_users_find (users, name) : NULL;
  if (user == NULL)
    return g_strdup ("");
  char *login = g_compute_checksum_for_string (G_CHECKSUM_SHA256, user->hash, -1);
  login[LOGIN_DIGITS] = '\0';
  return login;
}

static gboolean
is_known (const SlPhone *phone, gpointer data)
{
  const SlUsers *users = data;
  g_autofree char *login = sl_api_push_login (users, phone->user);
  return sl_users_find (users, phone->user) != NULL && strcmp (login, phone->login) == 0;
}

void
sl_api_push_tick (SlApiPush *push, const SlUsers *users)
{
  g_autoptr (GError) error = NULL;
  guint removed = 0;
  const gint64 now = g_get_monotonic_time ();
  if (push->path == NULL || users == NULL
      || (push->serial == sl_users_serial (users) && now - push->looked < AGAIN))
    return;
  push->looked = now;
  push->serial = sl_users_serial (users);
  if (!sl_phones_keep (push->path, is_known, (gpointer) users, &removed, &error))
    sl_run_log_later (SL_LOG_WARNING, NULL, "push", "%s", error->message);
  else if (removed > 0)
    sl_run_log_later (SL_LOG_INFO, NULL, "changed",
                      "push: %u browsers removed, whose users are gone or have another password",
                      removed);
}
