/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of CSV with what codes say: one line each, and other bytes are other text.
 */
#include "tools/predict/rows.h"

#include <string.h>

#define AFTER_BOX ",1,2,3,4,"

static char *
row_of (const SlCodeView *code)
{
  GString *out = g_string_new (NULL);
  const SlObjectView object = {
    .x = 1, .y = 2, .w = 3, .h = 4, .confidence = 0.5, .label = "qr", .code = code
  };
  const SlPredictionView prediction = {
    .source = "a.png", .width = 8, .height = 8, .n_objects = 1, .objects = &object
  };
  g_assert_true (sl_rows_append (out, &prediction, NULL));
  return g_string_free (out, FALSE);
}

static void
check (const char *text, const char *bytes, gsize n_bytes, const char *expected)
{
  const SlCodeView code = {
    .symbology = "qr-code", .text = text, .bytes = (const guint8 *) bytes, .n_bytes = n_bytes
  };
  SlRowPlace place;
  g_autofree char *row = row_of (&code);
  g_autofree char *end = g_strdup_printf (AFTER_BOX "\"qr-code\",\"%s\"\n", expected);
  g_test_message ("%s", expected);
  g_assert_cmpstr (strstr (row, AFTER_BOX), ==, end);
  g_assert_true (sl_rows_parse (row, &place));
  g_assert_cmpuint (place.rows, ==, 1);
}

static void
test_codes (void)
{
  check ("https://example.org/?a=1,2", NULL, 0, "https://example.org/?a=1,2");
  check ("say \"yes\"", NULL, 0, "say \"\"yes\"\"");
  check ("a\nb\x1d", NULL, 0, "a\\u000ab\\u001d");
  check ("a\\u000ab", NULL, 0, "a\\\\u000ab");
  check ("\xc3\xa9\xe2\x80\xae", NULL, 0, "\xc3\xa9\\u202e");
  check ("", NULL, 0, "");
  check (NULL, "a\0\xff\\\"", 5, "a\\x00\\xff\\\\\"\"");
}

static void
test_no_code (void)
{
  g_autofree char *row = row_of (NULL);
  g_assert_cmpstr (strstr (row, AFTER_BOX), ==, AFTER_BOX ",\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rows/codes", test_codes);
  g_test_add_func ("/rows/no-code", test_no_code);
  return g_test_run ();
}
