/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text of others for people: no byte that commands a terminal gets through, whatever comes in.
 */
#include "core/base/printable.h"
#include "tests/support/program.h"

#include <gio/gio.h>
#include <string.h>

static const struct
{
  const char *text;
  gsize most;
  const char *shown;
} rows[] = {
  { "", 10, "" },
  { "a cat, \xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x88 C:\\x", 40,
    "a cat, \xc3\xa9t\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x88 C:\\x" },
  { "a\x1b]0;pwned\x07", 40, "a\\x1b]0;pwned\\x07" },
  { "b\x1b[2J\x7f", 40, "b\\x1b[2J\\x7f" },
  { "one\ntwo\r\n\tthree\v", 40, "one\\ntwo\\r\\n\\tthree\\x0b" },
  { "\xff\xfe\xc3", 40, "\\xff\\xfe\\xc3" },
  { "\xef\xbf\xbd", 40, "\xef\xbf\xbd" }, /* U+FFFD itself */
  { "\xc2\x9b"
    "31m",
    40, "\\x9b31m" }, /* CSI as one character */
  { "\xe2\x80\xae"
    "fdp.exe\xe2\x80\xa8",
    40, "\\u202efdp.exe\\u2028" },
  { "0123456789", 10, "0123456789" },
  { "0123456789a", 10, "01234...9a" },
  { "\x1b\x1b\x1b\x1b", 10, "\\x1b\\...1b" },
  { "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 6, "\xc3\xa9\xc3\xa9...\xc3\xa9" },
};

static void
test_show (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *shown = sl_printable (rows[i].text, rows[i].most);
    g_assert_cmpstr (shown, ==, rows[i].shown);
  }
}

static void
test_message (void)
{
  g_autofree char *name = g_strnfill (10000, 'n'), *blanks = g_strnfill (10000, ' ');
  g_autofree char *text = g_strdup_printf (
    "tensor '%s' of rtsp://joe:hush@cam/1\x1b[2J: expected 3; export it again", name);
  g_autofree char *shown = sl_printable_message (text);
  g_assert_cmpuint (strlen (shown), <, 300);
  g_assert_true (g_str_has_prefix (shown, "tensor 'nnnnnnnn"));
  g_assert_true (
    g_str_has_suffix (shown, "nnn' of rtsp://joe:***@cam/1\\x1b[2J: expected 3; export it again"));
  g_autofree char *again = sl_printable_message (shown);
  g_assert_cmpstr (again, ==, shown);
  g_autofree char *wide = sl_printable_message (blanks);
  g_assert_cmpuint (strlen (wide), ==, SL_PRINTABLE_MESSAGE);
}

static void
test_error (void)
{
  GError *error = NULL;
  sl_printable_error (NULL);
  sl_printable_error (&error);
  error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_FAILED, "a\x07");
  sl_printable_error (&error);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED);
  g_assert_cmpstr (error->message, ==, "a\\x07");
  g_error_free (error);
}

/* Any bytes: UTF-8, plain, in one line. */
static void
test_noise (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  for (guint i = 0; i < 5000; i++) {
    char text[64] = "";
    for (gsize k = 0; k + 1 < sizeof text; k++)
      text[k] = (char) g_rand_int_range (rand, 1, 256);
    g_autofree char *shown = i % 2 == 0 ? sl_printable (text, 30) : sl_printable_message (text);
    g_assert_true (g_utf8_validate (shown, -1, NULL));
    for (const char *c = shown; *c != '\0'; c = g_utf8_next_char (c)) {
      g_assert_false (g_unichar_iscntrl (g_utf8_get_char (c)));
      g_assert_true (sl_is_plain (g_utf8_get_char (c)));
    }
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/show/show", test_show);
  g_test_add_func ("/show/message", test_message);
  g_test_add_func ("/show/error", test_error);
  g_test_add_func ("/show/noise", test_noise);
  return g_test_run ();
}
