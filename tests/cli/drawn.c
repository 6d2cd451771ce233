/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What `sightline quantize` does with the process that draws: this program is that process, too,
 * and does what its picture is called. Time is this test's.
 */
#include "tools/quantize/drawn.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "tools/interrupt.h"

static gint64 now, passes;
static gboolean interrupted;

/* Each look at the clock takes @passes. */
gint64
g_get_monotonic_time (void)
{
  return now += passes;
}

gboolean
sl_interrupted (void)
{
  return interrupted;
}

/* predict --model MODEL --frames 1 --draw FILE [settings] -- PICTURE */
static int
predict (int argc, char **argv)
{
  const char *picture = argv[argc - 1], *to = argv[7];
  if (g_str_equal (picture, "endless"))
    pause ();
  if (g_str_equal (picture, "wrong"))
    fputs ("it is wrong\nand more of it\n", stderr);
  else if (g_str_equal (picture, "settings"))
    for (int i = 8; i < argc; i++)
      fprintf (stderr, "%s%s", i > 8 ? " " : "", argv[i]);
  else if (!g_str_equal (picture, "silent"))
    return g_file_set_contents (to, "drawn", -1, NULL) ? 0 : 1;
  return 1;
}

/* (transfer full) (nullable): what is drawn of @picture, the message of an error or, "", nothing at
 * all. Nothing is left of it. */
static char *
drawn (const char *picture, const SlModelSettings *settings)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("sightline-XXXXXX", NULL);
  char *text = sl_drawn_new ("model", settings, picture, folder, &error);
  g_assert_true (text == NULL || error == NULL);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
  return text != NULL ? text : g_strdup (error != NULL ? error->message : "");
}

static void
check (const char *picture, const char *expected)
{
  static const SlModelSettings none;
  g_autofree char *got = drawn (picture, &none);
  g_assert_cmpstr (got, ==, expected);
}

static void
test_drawn (void)
{
  g_autofree char *coded = g_base64_encode ((const guchar *) "drawn", 5);
  check ("good", coded);
}

static void
test_failures (void)
{
  check ("wrong", "it is wrong");
  check ("silent", "the process that draws failed");
}

/* A process that does not end is ended: after half a minute, and at once when the program is
 * interrupted. */
static void
test_endless (void)
{
  const gint64 started = g_get_real_time ();
  passes = G_USEC_PER_SEC;
  check ("endless", "not done within 30 seconds");
  g_assert_cmpint (now, >=, 30 * G_USEC_PER_SEC);
  passes = 0;
  interrupted = TRUE;
  check ("endless", "");
  interrupted = FALSE;
  g_assert_cmpint (g_get_real_time () - started, <, 20 * G_USEC_PER_SEC);
}

/* The parent process may have set SIGCHLD to be ignored. */
static void
test_ignored_signal (void)
{
  g_autofree char *coded = g_base64_encode ((const guchar *) "drawn", 5);
  signal (SIGCHLD, SIG_IGN);
  check ("good", coded);
  signal (SIGCHLD, SIG_IGN);
  check ("wrong", "it is wrong");
}

static void
test_settings (void)
{
  const SlModelSettings settings = { .model = "other",
                                     .tensor_limit = "7",
                                     .work_limit = "9",
                                     .mean = "0",
                                     .state = "none",
                                     .fallback = "true" };
  g_autofree char *got = drawn ("settings", &settings);
  g_assert_cmpstr (got, ==,
                   "--mean 0 --tensor-limit 7 --work-limit 9 --state none --fallback -- settings");
}

int
main (int argc, char **argv)
{
  if (argc > 3 && g_str_equal (argv[1], "predict"))
    return predict (argc, argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize/drawn/drawn", test_drawn);
  g_test_add_func ("/quantize/drawn/failures", test_failures);
  g_test_add_func ("/quantize/drawn/endless", test_endless);
  g_test_add_func ("/quantize/drawn/ignored-signal", test_ignored_signal);
  g_test_add_func ("/quantize/drawn/settings", test_settings);
  return g_test_run ();
}
