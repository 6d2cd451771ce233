/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reader in a process of its own, whatever becomes of that process: it is not there, ends,
 * answers nonsense or nothing. Scripts stand in for it; SIGHTLINE_ZXING names the real one.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>

#include "postprocess/read/regions.h"
#include "tests/read/symbols.h"

#define SIDE 200
/* One of which a socket takes no more than a part. */
#define LARGE 900
/* After which the reader rests. */
#define MAX_ENDS 8

static char *real, *folder;

/* A script that is the program from now on. */
static void
stand_in (const char *body)
{
  g_autofree char *path = g_build_filename (folder, "program", NULL),
                  *text = g_strdup_printf ("#!/bin/sh\n%s\n", body);
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

static void
expect_rest (const char *why)
{
  g_autofree char *pattern =
    g_strdup_printf ("codes: %s/program %s; it is asked again in *", folder, why);
  g_test_expect_message (NULL, G_LOG_LEVEL_WARNING, pattern);
}

#define ENDS "ends, or does not start, again and again without an answer"

/* What a look that ends with a rest says. A busy machine may take longer than that @rest, in ms, of
 * which up to a quarter is taken off. @since: a time before it began. */
static void
assert_tired (SlScanResult scan, gint64 since, guint rest)
{
  const gboolean over = g_get_monotonic_time () - since >= rest * G_TIME_SPAN_MILLISECOND * 3 / 4;
  g_assert_true (scan == SL_SCAN_UNTRIED || (scan == SL_SCAN_NOTHING && over));
}

/* A code that zbar reads is read all the same; others say nothing, and are soon not tried any more,
 * until the rest is over. */
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
  g_autoptr (SlRegionReader) all = sl_region_reader_new (NULL),
                             alone = sl_region_reader_new ("zxing");
  const gboolean has_zbar = sl_readers[0] != NULL && sl_readers[1] != NULL;
  g_assert_cmpint (read_code (all, NULL, code), ==, has_zbar ? SL_SCAN_FOUND : SL_SCAN_NOTHING);
  expect_rest (ENDS);
  gint64 tried = 0;
  for (guint n = 1; n < 12; n++) {
    if (n <= MAX_ENDS)
      tried = g_get_monotonic_time ();
    const SlScanResult scan = read_code (alone, &test_aztec, code);
    if (n < MAX_ENDS)
      g_assert_cmpint (scan, ==, SL_SCAN_NOTHING);
    else
      assert_tired (scan, tried, SHORTEST_REST);
  }
  g_test_assert_expected_messages ();
}

static guint
count_starts (void)
{
  g_autofree char *path = g_build_filename (folder, "program.starts", NULL), *starts = NULL;
  gsize n = 0;
  g_assert_true (g_file_get_contents (path, &starts, &n, NULL));
  return (guint) n;
}

/* It is tried again after a rest, which is longer each time until it answers; there is one warning.
 */
static void
test_rest (void)
{
  g_autofree SlReadCode *code = g_new0 (SlReadCode, 1);
  g_autofree char *mark = g_build_filename (folder, "program.mark", NULL);
  g_autofree char *body =
    g_strdup_printf ("printf x >>\"$0.starts\"; test -e \"$0.mark\" && exec '%s'; exit 1", real);
  g_remove (mark);
  stand_in (body);
  g_autoptr (SlRegionReader) reader = sl_region_reader_new ("zxing");
  g_assert_cmpuint (sl_region_reader_ready (reader), ==, SL_READ_ANY);
  expect_rest (ENDS);
  for (guint n = 1; n < MAX_ENDS; n++)
    g_assert_cmpint (read_code (reader, &test_aztec, code), ==, SL_SCAN_NOTHING);
  const gint64 last = g_get_monotonic_time ();
  assert_tired (read_code (reader, &test_aztec, code), last, SHORTEST_REST);
  g_test_assert_expected_messages ();
  g_assert_cmpuint (count_starts (), ==, MAX_ENDS);
  g_usleep (500 * G_TIME_SPAN_MILLISECOND);
  g_assert_cmpuint (sl_region_reader_ready (reader), ==, SL_READ_ANY);
  const gint64 start = g_get_monotonic_time ();
  assert_tired (read_code (reader, &test_aztec, code), start, 2 * SHORTEST_REST);
  g_assert_cmpuint (count_starts (), ==, MAX_ENDS + 1);
  g_assert_true (g_file_set_contents (mark, "", 0, NULL));
  while (sl_region_reader_ready (reader) == 0) {
    g_assert_cmpuint (sl_region_reader_kinds (reader, NULL), ==, SL_READ_ANY);
    g_usleep (10 * G_TIME_SPAN_MILLISECOND);
  }
  const gint64 rest = g_get_monotonic_time () - start;
  g_assert_cmpint (rest, >=, 750 * G_TIME_SPAN_MILLISECOND);
  g_assert_cmpint (read_code (reader, &test_aztec, code), ==, SL_SCAN_FOUND);
  g_assert_cmpstr ((const char *) code->bytes, ==, test_aztec.text);
}

/* It ends in the midst of the first picture, and is started for the next. */
static void
test_again (void)
{
  g_autofree SlReadCode *code = g_new0 (SlReadCode, 1);
  g_autofree char *body = g_strdup_printf (
    "test -e \"$0.mark\" && exec '%s'; touch \"$0.mark\"; head -c 1000 >/dev/null; exit 1", real);
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
  stand_in ("exec sleep 1");
  SlRegionReader *reader = sl_region_reader_new ("zxing");
  const gint64 start = g_get_monotonic_time ();
  g_assert_cmpint (sl_region_reader_read (reader, &luma, box, SL_READ_MATRIX, start + 50000, code),
                   ==, SL_SCAN_LATE);
  g_assert_cmpint (sl_region_reader_read (reader, &luma, box, SL_READ_MATRIX, start + 60000, code),
                   ==, SL_SCAN_UNTRIED);
  sl_region_reader_free (reader);
  g_assert_cmpint (g_get_monotonic_time () - start, <, 10 * G_TIME_SPAN_SECOND);
}

/* The process of the stand-in, once it has begun; 0 where a busy machine let it be ended before
 * that. */
static GPid
wait_for_pid (void)
{
  g_autofree char *path = g_build_filename (folder, "program.pid", NULL), *text = NULL;
  const gint64 end = g_get_monotonic_time () + 10 * G_TIME_SPAN_SECOND;
  while (!g_file_get_contents (path, &text, NULL, NULL) || strchr (text, '\n') == NULL) {
    g_clear_pointer (&text, g_free);
    if (g_get_monotonic_time () > end)
      return 0;
    g_usleep (10 * G_TIME_SPAN_MILLISECOND);
  }
  g_remove (path);
  return (GPid) g_ascii_strtoll (text, NULL, 10);
}

/* Programs that take no picture, or never end to answer: they are ended, the reader rests at once,
 * and nothing of them stays. */
static void
test_stuck (void)
{
  static const char *const bodies[] = {
    "echo $$ >\"$0.pid\"; exec sleep 60",
    "echo $$ >\"$0.pid\"; while :; do printf '\\0' >&0; sleep 0.2; done"
  };
  g_autofree SlReadCode *code = g_new0 (SlReadCode, 1);
  g_autofree guint8 *pixels = g_malloc0 ((gsize) LARGE * LARGE);
  const SlLuma luma = { { pixels }, { LARGE }, 1, -1, LARGE, LARGE };
  const double box[4] = { 0, 0, LARGE, LARGE };
  SlRegionReader *readers[2];
  GPid pids[2];
  for (guint i = 0; i < 2; i++)
    expect_rest ("does not answer");
  for (guint i = 0; i < 2; i++) {
    stand_in (bodies[i]);
    readers[i] = sl_region_reader_new ("zxing");
    g_assert_cmpint (sl_region_reader_read (readers[i], &luma, box, SL_READ_MATRIX,
                                            g_get_monotonic_time () + 500000, code),
                     ==, SL_SCAN_LATE);
    pids[i] = wait_for_pid ();
  }
  for (guint i = 0; i < 2; i++) {
    g_assert_true (
      sl_region_reader_wait (readers[i], g_get_monotonic_time () + 30 * G_TIME_SPAN_SECOND));
    g_assert_true (pids[i] == 0 || (kill (pids[i], 0) != 0 && errno == ESRCH));
    sl_region_reader_free (readers[i]);
  }
  g_test_assert_expected_messages ();
}

/* Its standard input is no socket. */
static void
test_program (void)
{
  const char *const argv[] = { real, NULL };
  gint status;
  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL,
                               G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                               NULL, NULL, &status, NULL));
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
  g_test_add_func ("/read-process/rest", test_rest);
  g_test_add_func ("/read-process/stuck", test_stuck);
  g_test_add_func ("/read-process/program", test_program);
  const int failed = g_test_run ();
  static const char *const files[] = { "program",        "program.noise", "program.mark",
                                       "program.starts", "program.pid",   NULL };
  for (guint i = 0; files[i] != NULL; i++) {
    g_autofree char *path = g_build_filename (folder, files[i], NULL);
    g_remove (path);
  }
  g_rmdir (folder);
  g_free (folder);
  g_free (real);
  return failed;
}
