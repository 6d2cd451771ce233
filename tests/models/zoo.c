/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of the zoo, and models named zoo:NAME: what is read, found and refused. */
#include "models/zoo/cache.h"

#include <string.h>

#include "core/base/zoo_name.h"
#include "models/model.h"
#include "sightline/error.h"
#include "tests/support/program.h"

#define SOURCE "source=npm:@scope/pack@1.2.3/sub/m.tflite\n"
#define ROW                                                                                  \
  "[zoo]\ntask=detection\nfile=m.tflite\n" SOURCE "licence=MIT\npage=https://example.org/\n" \
  "tried=no\n"
#define INFO "\n[modelinfo]\nversion=1.0\n\n[sightline]\nmean=3\n"

static void
test_row (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlZooRow) row = sl_zoo_row_parse (
    "name", "# SPDX of the row\n" ROW "slice=7,9\nsize=9\ngives=no: numbers\n" INFO, "row.ini",
    &error);
  g_assert_no_error (error);
  g_assert_cmpstr (row->name, ==, "name");
  g_assert_cmpstr (row->source, ==, "npm:@scope/pack@1.2.3/sub/m.tflite");
  g_assert_cmpuint (row->slice.first, ==, 7);
  g_assert_cmpuint (row->slice.length, ==, 9);
  g_assert_false (row->tried || sl_zoo_row_decodes (row));
  g_assert_null (row->sha256);
  g_assert_nonnull (strstr (row->info, "mean=3"));
  g_assert_true (
    g_str_has_prefix (row->info, "[modelinfo]")); /* the licence of a row is not the model's */
  g_autoptr (SlZooRow) bare = sl_zoo_row_parse ("name", ROW, "row.ini", &error);
  g_assert_no_error (error);
  g_assert_null (bare->info);
}

static void
refuse_text (const char *text, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (sl_zoo_row_parse ("name", text, "row.ini", &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_FORMAT);
  g_assert_cmpstr (error->message, ==, expected);
}

static void
refuse (const char *more, const char *expected)
{
  g_autofree char *text = g_strconcat (ROW, more, NULL);
  refuse_text (text, expected);
}

/* A later line of a key file replaces an earlier one. */
static void
test_refused (void)
{
  refuse ("file=a/b\n", "row.ini: [zoo] file: expected the name of a file, got 'a/b'");
  refuse ("source=https://host\n",
          "row.ini: [zoo] source: expected npm:PACKAGE@VERSION/PATH or https://HOST/PATH, got "
          "'https://host'");
  refuse ("size=99999999999999\n",
          "row.ini: [zoo] size: expected a number of bytes, got '99999999999999'");
  refuse ("slice=1\n", "row.ini: [zoo] slice: expected FIRST,LENGTH in bytes, got '1'");
  refuse ("slice=0,7\nsize=9\n", "row.ini: [zoo] slice: expected as many bytes as size, 9, got 7");
  refuse ("slice=0,7\nparts=a\n", "row.ini: [zoo] slice and parts: expected one of them");
  refuse ("labels-source=x\n",
          "row.ini: [zoo] labels-source and labels-sha256: expected both or none");
  refuse ("tried=yes\n", "row.ini: [zoo] tried=yes: expected sha256, size and gives, too");
  refuse ("tried=maybe\n", "row.ini: [zoo] tried: expected yes or no, got 'maybe'");
  refuse_text ("[modelinfo]\nversion=1.0\n", "row.ini: expected a group [zoo], got none");
  refuse_text ("[zoo]\ntask=detection\n", "row.ini: [zoo] file: missing");
  refuse_text (ROW "licence=\xff\n", "row.ini: [zoo] licence: expected UTF-8");
}

static void
write_file (const char *folder, const char *name, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);
}

/* Rows at SIGHTLINE_ZOO; the cache is where GLib was told before it was asked first. */
static void
test_named (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *cache = sl_zoo_cache (), *rows = g_dir_make_tmp ("zoo-XXXXXX", &error);
  g_assert_no_error (error);
  g_setenv ("SIGHTLINE_ZOO", rows, TRUE);
  write_file (rows, "seen.ini", ROW INFO);
  g_assert_null (sl_model_load ("zoo:seen", NULL, &error));
  g_autofree char *expected =
    g_strdup_printf ("zoo:seen: the model is not in %s; run: sightline get seen", cache);
  g_assert_error (error, SL_ERROR, SL_ERROR_OPEN);
  g_assert_cmpstr (error->message, ==, expected);
  g_clear_error (&error);
  g_assert_null (sl_model_load ("zoo:sean", NULL, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_ARGUMENT);
  g_assert_cmpstr (error->message, ==,
                   "zoo:sean: the zoo (sightline zoo) has no model 'sean'; did you mean 'seen'?");
  g_clear_error (&error);
  g_auto (GStrv) files = sl_model_files ("zoo:seen");
  g_assert_cmpuint (g_strv_length (files), ==, 0);
  g_setenv ("SIGHTLINE_ZOO", "/nowhere", TRUE);
  g_assert_null (sl_zoo_find ("zoo:seen", &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_OPEN);
  g_assert_cmpstr (error->message, ==,
                   "the table of models is not at /nowhere; install Sightline, or set "
                   "SIGHTLINE_ZOO to a folder of rows");
  g_assert_cmpstr (sl_zoo_name ("zoo:seen"), ==, "seen");
  g_assert_null (sl_zoo_name ("zoo/seen"));
}

TEST_MAIN (int argc, char **argv)
{
  g_autofree char *cache = g_dir_make_tmp ("zoo-cache-XXXXXX", NULL);
  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/models/zoo/row", test_row);
  g_test_add_func ("/models/zoo/refused", test_refused);
  g_test_add_func ("/models/zoo/named", test_named);
  return g_test_run ();
}
