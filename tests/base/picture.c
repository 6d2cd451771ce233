/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words for pictures: each is found again whatever its case, and by nothing else; lists in messages
 * name all of them.
 */
#include "core/base/picture.h"
#include "tests/support/program.h"

#include <glib.h>
#include <string.h>

static void
test_names (void)
{
  SlColour colour = SL_COLOUR_BGR;
  SlLayout layout = SL_LAYOUT_NCHW;
  SlFit fit = SL_FIT_CROP;
  g_assert_true (sl_colour_from_name ("gray", &colour));
  g_assert_cmpint (colour, ==, SL_COLOUR_GRAY);
  g_assert_false (sl_colour_from_name (NULL, &colour));
  g_assert_true (sl_layout_from_name ("nhwc", &layout));
  g_assert_cmpint (layout, ==, SL_LAYOUT_NHWC);
  g_assert_false (sl_layout_from_name ("", &layout));
  g_assert_true (sl_fit_from_name ("LetterBox", &fit));
  g_assert_cmpint (fit, ==, SL_FIT_LETTERBOX);
  g_assert_false (sl_fit_from_name ("letter", &fit));
  g_assert_false (sl_fit_from_name ("letterboxes", &fit));
  g_assert_cmpint (fit, ==, SL_FIT_LETTERBOX);
  g_assert_cmpstr (sl_colour_name (SL_COLOUR_BGR), ==, "BGR");
  g_assert_cmpstr (sl_layout_name (SL_LAYOUT_NCHW), ==, "NCHW");
  g_assert_cmpstr (sl_fit_name (SL_FIT_CROP), ==, "crop");
  g_assert_cmpstr (sl_fit_name ((SlFit) 99), ==, "unknown");
  g_assert_cmpstr (sl_colour_name ((SlColour) -1), ==, "unknown");
}

/* "A, B or C" of @words. */
static void
expect_list (const char *list, const SlPictureWord *words, guint n)
{
  GString *expected = g_string_new (words[0].name);
  for (guint i = 1; i < n; i++)
    g_string_append_printf (expected, "%s%s", i + 1 < n ? ", " : " or ", words[i].name);
  g_assert_cmpstr (list, ==, expected->str);
  g_string_free (expected, TRUE);
}

static void
test_lists (void)
{
  expect_list (SL_COLOUR_NAMES, sl_colour_words, SL_N_COLOURS);
  expect_list (SL_LAYOUT_NAMES, sl_layout_words, SL_N_LAYOUTS);
  expect_list (SL_FIT_NAMES, sl_fit_words, SL_N_FITS);
  g_assert_cmpstr (SL_MAX_SIDE_TEXT, ==, "32768");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/picture/names", test_names);
  g_test_add_func ("/picture/lists", test_lists);
  return g_test_run ();
}
