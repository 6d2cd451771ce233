/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader in a process of its own, whatever becomes of that process: it is not there, ends, answers nonsense or nothing. Scripts stand in for
 * it; SIGHTLINE_ZXING names the real one.
 */
#include <glib/gstdio.h>
#include <string.h>

#include "read/regions.h"
#include "tests/read/symbols.h"

#define SIDE 200

static char *real, *folder;

/* A script that is the program from now on. */
static void
stand_in (const char *body)
{
  g_autofree char *path = g_build_filename (folder, "program", NULL), *text = g_strdup_printf ("#!/bin/sh\n%s\n", body);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_cmpint (g_chmod (path, 0755), ==, 0);
}

/* What @reader says of a QR code, or of an Aztec code. */
static SlScanResult
read_code (SlRegionReader *reader, const TestModules *modules, SlReadCode *code)
{
  const TestSymbol symbol = { SIDE / 2.0, SIDE / 2.0, 4, 0, FALSE, FALSE, modules };
  guint8 pixels[SIDE * SIDE];
  const SlLuma luma = { { pixels }, { SIDE }, 1, -1, SIDE, SIDE };
  double box[4];
  test_draw_symbol (pixels, SIDE, SIDE, SIDE, &symbol);
  test_symbol_box (&symbol, box);
  return sl_region_reader_read (reader, &luma, box, modules != NULL ? SL_READ_MATRIX : SL_READ_QR,
                                g_get_monotonic_time () + 600 * G_TIME_SPAN_SECOND, code);
}

static void
test_missing (void)
{
  g_assert_null (sl_region_reader_new ("zxing"));
  g_autoptr (SlRegionReader) reader = sl_region_reader_new (NULL);
  if (reader != NULL) {
    g_autofree SlReadCode *code = g_new0 (SlReadCode, 1);
    g_assert_cmpuint (sl_region_reader_kinds (reader, NULL), ==, SL_READ_QR | SL_READ_LINEAR);
    g_assert_cmpint (read_code (reader, NULL, code), ==, SL_SCAN_FOUND);
  }
}

static const struct
{
  const char *name, *body;
} broken[] = {
  { "ends", "exit 1" },
  { "aborts", "kill -ABRT $$" },
  { "zeros", "head -c 100000 /dev/zero >&0; exec sleep 3" },
  { "noise", "head -c 100000 \"$0.noise\" >&0; exec sleep 3" },
  { "echo", "exec cat >&0" },
  { "no program", "exec /nonexistent/program" },
};

/* A code that zbar reads is read all the same; others say nothing, however often. */
static void
test_broken (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  g_autofree SlReadCode *code = g_new0 (SlReadCode, 1);
  g_autofree char *noise = g_build_filename (folder, "program.noise", NULL);
  char bytes[4096];
  memset (bytes, 0x7f, sizeof bytes);
  g_assert_true (g_file_set_contents (noise, bytes, sizeof bytes, NULL));
  stand_in (broken[i].body);
  g_autoptr (SlRegionReader) all = sl_region_reader_new (NULL), alone = sl_region_reader_new ("zxing");
  const gboolean has_zbar = sl_readers[0] != NULL && sl_readers[1] != NULL;
  g_assert_cmpint (read_code (all, NULL, code), ==, has_zbar ? SL_SCAN_FOUND : SL_SCAN_NOTHING);
  for (guint n = 0; n < 12; n++)
    g_assert_cmpint (read_code (alone, &test_aztec, code), ==, SL_SCAN_NOTHING);
}

/* It ends in the midst of the first picture, and is started for the next. */
static void
test_again (void)
{
  g_autofree SlReadCode *code = g_new0 (SlReadCode, 1);
  g_autofree char *body = g_strdup_printf ("test -e \"$0.mark\" && exec '%s'; touch \"$0.mark\"; head -c 1000 >/dev/null; exit 1", real);
  stand_in (body);
  g_autoptr (SlRegionReader) reader = sl_region_reader_new ("zxing");
  g_assert_cmpint (read_code (reader, &test_aztec, code), ==, SL_SCAN_NOTHING);
  for (guint n = 0; n < 2; n++) {
    g_assert_cmpint (read_code (reader, &test_aztec, code), ==, SL_SCAN_FOUND);
    g_assert_cmpstr ((const char *) code->bytes, ==, test_aztec.text);
  }
}

/* Frames need not wait for one that says nothing, and its end is not waited for either. */
static void
test_silent (void)
{
  g_autofree SlReadCode *code = g_new0 (SlReadCode, 1);
  const guint8 pixels[64] = { 0 };
  const SlLuma luma = { { (guint8 *) pixels }, { 8 }, 1, -1, 8, 8 };
  const double box[4] = { 0, 0, 8, 8 };
  stand_in ("exec sleep 3");
  SlRegionReader *reader = sl_region_reader_new ("zxing");
  const gint64 start = g_get_monotonic_time ();
  g_assert_cmpint (sl_region_reader_read (reader, &luma, box, SL_READ_MATRIX, start + 50000, code), ==, SL_SCAN_LATE);
  g_assert_cmpint (sl_region_reader_read (reader, &luma, box, SL_READ_MATRIX, start + 60000, code), ==, SL_SCAN_UNTRIED);
  sl_region_reader_free (reader);
  g_assert_cmpint (g_get_monotonic_time () - start, <, 10 * G_TIME_SPAN_SECOND);
}

/* Its standard input is no socket. */
static void
test_program (void)
{
  const char *const argv[] = { real, NULL };
  gint status;
  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, NULL, NULL,
                               &status, NULL));
  g_assert_cmpint (status, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  real = g_strdup (g_getenv ("SIGHTLINE_ZXING"));
  folder = g_dir_make_tmp ("sightline-read-XXXXXX", NULL);
  g_assert_true (real != NULL && folder != NULL);
  g_autofree char *program = g_build_filename (folder, "program", NULL);
  g_setenv ("SIGHTLINE_ZXING", program, TRUE);
  g_test_add_func ("/read-process/missing", test_missing);
  for (guint i = 0; i < G_N_ELEMENTS (broken); i++) {
    g_autofree char *path = g_strdup_printf ("/read-process/%s", broken[i].name);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_broken);
  }
  g_test_add_func ("/read-process/again", test_again);
  g_test_add_func ("/read-process/silent", test_silent);
  g_test_add_func ("/read-process/program", test_program);
  const int failed = g_test_run ();
  static const char *const files[] = { "program", "program.noise", "program.mark", NULL };
  for (guint i = 0; files[i] != NULL; i++) {
    g_autofree char *path = g_build_filename (folder, files[i], NULL);
    g_remove (path);
  }
  g_rmdir (folder);
  g_free (folder);
  g_free (real);
  return failed;
}
