/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the reader of JSON says of wrong texts. */
#include <string.h>

#include "core/base/json_reader.h"
#include "tests/support/program.h"

static const struct
{
  const char *text, *message;
} rows[] = {
  { "{\n\"a\" 1}", "expected ':' behind \"a\"" },
  { "\"\\x\"", "a string with an unknown escape" },
  { "\"\\u00zz\"", "expected four hexadecimal digits behind '\\u'" },
  { "\"\\u0000\"", "a string with a zero character" },
  { "\"\xff\"", "a string that is no UTF-8" },
  { "\"abc", "a string without end" },
  { "{\"a\": @}", "expected a value" },
  { "[1 2]", "expected ',' or ']'" },
  { "[1", "expected ',' or ']', but the file ends" },
  { "{\"a\": 1", "expected ',' or '}', but the file ends" },
  { "{} 1", "more behind the end of the value" },
};

/* Every value of @text, as a string where it is one. */
static void
read_all (SlJsonReader *reader)
{
  switch (sl_json_reader_kind (reader)) {
    case SL_JSON_OBJECT:
    case SL_JSON_LIST:
      sl_json_reader_enter (reader, sl_json_reader_kind (reader));
      while (sl_json_reader_next (reader))
        read_all (reader);
      break;
    case SL_JSON_STRING:
      sl_json_reader_string (reader);
      break;
    default:
      sl_json_reader_skip (reader);
  }
}

static void
test_refused (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    SlJsonReader reader;
    sl_json_reader_init (&reader, rows[i].text, strlen (rows[i].text));
    read_all (&reader);
    g_assert_false (sl_json_reader_end (&reader));
    g_assert_error (reader.error, G_FILE_ERROR, G_FILE_ERROR_INVAL);
    if (strstr (reader.error->message, rows[i].message) == NULL)
      g_error ("'%s' does not contain '%s'", reader.error->message, rows[i].message);
    sl_json_reader_clear (&reader);
  }
}

/* A zero byte in a string, which no text of C has. */
static void
test_zero (void)
{
  SlJsonReader reader;
  sl_json_reader_init (&reader, "\"a\0b\"", 5);
  g_assert_false (sl_json_reader_string (&reader));
  g_assert_nonnull (strstr (reader.error->message, "a string with a zero character"));
  sl_json_reader_clear (&reader);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/json-reader/refused", test_refused);
  g_test_add_func ("/json-reader/zero", test_zero);
  return g_test_run ();
}
