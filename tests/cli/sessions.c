/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sessions of the console over time, users of a file, and hashes of passwords. */
#include "tools/run/http/sessions.h"

#include <string.h>

#include "tools/run/http/hash.h"
#include "tools/run/http/users.h"

#define START ((gint64) 1000)

static void
test_expiry (void)
{
  SlSessions *sessions = sl_sessions_new ();
  const SlSession *session;
  g_autofree char *name = sl_sessions_begin (sessions, "anna", "hash", START, &session);
  gint64 now = START;
  g_assert_cmpuint (strlen (name), ==, 43);
  g_assert_cmpuint (strlen (session->token), ==, 43);
  g_assert_cmpstr (name, !=, session->token);
  g_assert_null (sl_sessions_find (sessions, session->token, now));
  /* each request prolongs it, up to its longest time */
  while (now + SL_SESSION_IDLE <= START + SL_SESSION_LONGEST) {
    now += SL_SESSION_IDLE;
    g_assert_nonnull (sl_sessions_find (sessions, name, now));
  }
  g_assert_null (sl_sessions_find (sessions, name, START + SL_SESSION_LONGEST + 1));
  g_assert_cmpuint (sl_sessions_count (sessions), ==, 0);
  g_autofree char *idle G_GNUC_UNUSED =
    sl_sessions_begin (sessions, "anna", "hash", START, &session);
  sl_sessions_expire (sessions, START + SL_SESSION_IDLE);
  g_assert_cmpuint (sl_sessions_count (sessions), ==, 1);
  sl_sessions_expire (sessions, START + SL_SESSION_IDLE + 1);
  g_assert_cmpuint (sl_sessions_count (sessions), ==, 0);
  sl_sessions_free (sessions);
}

static void
test_many (void)
{
  SlSessions *sessions = sl_sessions_new ();
  const SlSession *session;
  g_autofree char *first = sl_sessions_begin (sessions, "anna", "", START, &session);
  g_autofree char *other = sl_sessions_begin (sessions, "bert", "", START - 1, &session);
  for (guint i = 1; i < SL_SESSIONS_PER_USER; i++)
    g_free (sl_sessions_begin (sessions, "anna", "", START + i, &session));
  g_assert_nonnull (sl_sessions_find (sessions, first, START));
  g_free (sl_sessions_begin (sessions, "anna", "", START + 100, &session));
  g_assert_null (sl_sessions_find (sessions, first, START)); /* the oldest gave way */
  g_assert_nonnull (sl_sessions_find (sessions, other, START));
  g_assert_cmpuint (sl_sessions_count (sessions), ==, SL_SESSIONS_PER_USER + 1);
  sl_sessions_end (sessions, other);
  sl_sessions_end (sessions, "none");
  g_assert_cmpuint (sl_sessions_count (sessions), ==, SL_SESSIONS_PER_USER);
  sl_sessions_free (sessions);
}

static void
test_hash (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *hash = sl_hash_new ("a password", &error);
  if (hash == NULL) {
    g_autoptr (GError) refused = NULL;
    g_assert_nonnull (strstr (error->message, "libcrypt"));
    g_assert_null (sl_users_new ("users", &refused));
    g_assert_cmpstr (
      refused->message, ==,
      "users: no user can log in: this build has no libcrypt, which checks passwords: expected "
      "libxcrypt 4.4 when it was made (Debian: libcrypt-dev, meson option crypt)");
    g_test_skip ("built without libcrypt");
    return;
  }
  g_autofree char *again = sl_hash_new ("a password", NULL);
  g_assert_true (sl_hash_is_valid (hash));
  g_assert_cmpstr (hash, !=, again); /* each has a salt of its own */
  g_assert_true (sl_hash_check (hash, "a password"));
  g_assert_false (sl_hash_check (hash, "a passwore"));
  g_assert_false (sl_hash_check (hash, ""));
  g_assert_false (sl_hash_check ("$y$", "a password"));
  g_assert_false (sl_hash_check ("*0", "a password"));
  /* as crypt() of Python made it */
  g_assert_true (sl_hash_check (
    "$y$j9T$0123456789abcdefghijk.$I3uD8618sd71LawXAQ3C1cNaTJY33n2k0K5f1qBawYB", "a password"));
  g_assert_false (sl_hash_is_valid ("$6$salt$hash"));
  g_assert_false (sl_hash_is_valid ("$y$a:b"));
  g_assert_true (sl_same_text ("abc", "abc"));
  g_assert_false (sl_same_text ("abc", "abd"));
  g_assert_false (sl_same_text ("abc", "ab"));
}

static void
test_names (void)
{
  static const char *const good[] = { "anna", "a.b_c-d@shop.example", "Jürgen", "7" };
  static const char *const bad[] = {
    "",       "a b",
    "a:b",    "a\n",
    "\xff",   "<b>",
    "a/b",    "password",
    "nobody", "0123456789012345678901234567890123456789012345678901234567890123456789"
  };
  for (guint i = 0; i < G_N_ELEMENTS (good); i++)
    g_assert_true (sl_user_name_is_valid (good[i]));
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    g_assert_false (sl_user_name_is_valid (bad[i]));
}

/* A file of the kernel opens, and fails to be read. */
static void
test_unreadable (void)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (sl_users_new ("/proc/self/mem", &error));
  g_assert_cmpstr (
    error->message, ==,
    "/proc/self/mem: Input/output error; expected a file that can be read to its end");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sessions/expiry", test_expiry);
  g_test_add_func ("/sessions/many", test_many);
  g_test_add_func ("/sessions/hash", test_hash);
  g_test_add_func ("/sessions/names", test_names);
  g_test_add_func ("/sessions/unreadable", test_unreadable);
  return g_test_run ();
}
