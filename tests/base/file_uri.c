/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths of file:// URIs, by RFC 8089: no host and "localhost" are this machine. */
#include "core/base/file_uri.h"
#include "tests/support/program.h"

static void
test_paths (void)
{
  static const struct
  {
    const char *uri, *path, *error; /* one of the two is NULL */
  } rows[] = {
    { "file:///a/b%20c", "/a/b c", NULL },
    { "file://localhost/a", "/a", NULL },
    { "file://LocalHost/a", "/a", NULL },
    { "FILE:///a", "/a", NULL },
    { "file://host/a", NULL, "the file is on another machine, 'host': expected file:///PATH" },
    { "file://a/b.png", NULL, "the file is on another machine, 'a': expected file:///PATH" },
    { "http://host/a", NULL, "" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = sl_file_uri_path (rows[i].uri, &error);
    g_assert_cmpstr (path, ==, rows[i].path);
    g_assert_true ((error == NULL) == (rows[i].error == NULL));
    if (error != NULL && *rows[i].error != '\0')
      g_assert_cmpstr (error->message, ==, rows[i].error);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/file-uri/paths", test_paths);
  return g_test_run ();
}
