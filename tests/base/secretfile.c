/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Passwords in files: what is taken, what is refused with which words, and that no message has any
 * of the file in it. */
#include "core/base/secretfile.h"
#include "tests/support/program.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

static char *folder;

static char *
write_file (const char *name, const char *text, gsize length, guint mode)
{
  char *path = g_build_filename (folder, name, NULL);
  g_assert_true (g_file_set_contents (path, text, (gssize) length, NULL));
  g_assert_cmpint (g_chmod (path, (int) mode), ==, 0);
  return path;
}

static void
test_good (void)
{
  static const struct
  {
    const char *text, *secret;
    guint mode;
    gboolean warned;
  } rows[] = {
    { "hush", "hush", 0600, FALSE },     { "hush\n", "hush", 0400, FALSE },
    { "hush\r\n", "hush", 0640, FALSE }, { " a b#/@\xc3\xa9 ", " a b#/@\xc3\xa9 ", 0600, FALSE },
    { "hush\n", "hush", 0644, TRUE },    { "hush\n", "hush", 0660, TRUE },
    { "hush\n", "hush", 0602, TRUE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = write_file ("good", rows[i].text, strlen (rows[i].text), rows[i].mode),
                    *warning = NULL;
    g_autoptr (GError) error = NULL;
    g_autofree char *secret = sl_secret_file_read (path, &warning, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (secret, ==, rows[i].secret);
    g_assert_cmpint (warning != NULL, ==, rows[i].warned);
    if (warning != NULL) {
      g_autofree char *mode = g_strdup_printf ("(mode %04o): chmod 600", rows[i].mode);
      g_assert_nonnull (strstr (warning, mode));
      g_assert_true (g_str_has_prefix (warning, path));
      g_assert_null (strstr (warning, "hush"));
    }
    g_remove (path);
  }
}

static void
assert_refused (const char *path, const char *why)
{
  g_autofree char *warning = NULL;
  g_autoptr (GError) error = NULL;
  g_assert_null (sl_secret_file_read (path, &warning, &error));
  g_test_message ("%s", error->message);
  g_assert_true (g_str_has_prefix (error->message, path));
  g_assert_nonnull (strstr (error->message, why));
  g_assert_null (strstr (error->message, "hush"));
  g_assert_null (warning);
}

static void
test_bad (void)
{
  g_autofree char *longest = g_strnfill (SL_SECRET_MAX, 'h'),
                  *longer = g_strnfill (SL_SECRET_MAX + 1, 'h');
  const struct
  {
    const char *text;
    gsize length;
    const char *why;
  } rows[] = {
    { "", 0, "is empty: expected the secret" },
    { "\n", 1, "is empty: expected the secret" },
    { "hush\nhush\n", 10, "has several lines: expected the secret, and nothing else" },
    { "hush\0hush", 9, "has several lines" },
    { longer, SL_SECRET_MAX + 1, "is longer than 4096 bytes" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = write_file ("bad", rows[i].text, rows[i].length, 0644);
    assert_refused (path, rows[i].why);
    g_remove (path);
  }
  g_autofree char *path = write_file ("long", longest, SL_SECRET_MAX, 0600), *warning = NULL,
                  *missing = g_build_filename (folder, "no", NULL);
  g_autofree char *secret = sl_secret_file_read (path, &warning, NULL);
  g_assert_cmpstr (secret, ==, longest);
  g_remove (path);
  assert_refused (folder, "expected a regular file with the secret in it");
  assert_refused (missing, g_strerror (ENOENT));
  assert_refused ("/dev/null", "expected a regular file");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("sightline-XXXXXX", NULL);
  g_test_add_func ("/secretfile/good", test_good);
  g_test_add_func ("/secretfile/bad", test_bad);
  const int status = g_test_run ();
  g_rmdir (folder);
  g_free (folder);
  return status;
}
