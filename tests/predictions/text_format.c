/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Formats of texts: against every string that a pattern and its pairs allow, counted here one by
 * one; what is corrected and what is not; and files that are refused.
 */
#include "postprocess/predictions/text_format.h"

#include <glib/gstdio.h>
#include <string.h>

#include "sightline/error.h"
#include "tests/support/program.h"

static SlTextFormats *
load (const char *text, GError **error)
{
  g_autofree char *path = NULL;
  const int file = g_file_open_tmp ("sightline-formats-XXXXXX", &path, NULL);
  g_assert_cmpint (file, >=, 0);
  g_assert_true (g_close (file, NULL));
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  SlTextFormats *formats = sl_text_formats_load (path, error);
  g_remove (path);
  return formats;
}

static SlTextView
view_of (const char *text)
{
  SlTextView view = { .confidence = 0.5, .votes = 3 };
  g_strlcpy (view.text, text, sizeof view.text);
  for (const char *at = text; *at != '\0'; at = g_utf8_next_char (at))
    view.characters[view.n++] = (SlTextCharacter){ g_utf8_get_char (at), 0, 0.5f };
  return view;
}

#define RULES                            \
  "# comment\n\n"                        \
  "pairs: O0 I1 Z2 S5 B8\n"              \
  "pairs: L1 D>0\n"                      \
  "gb: AA99 AAA\n"                       \
  "de: [ABDÄÖÜ]{1,3}-A{1,2} 9{1,4}\n" \
  "short: 9*9\n"

static void
test_applied (void)
{
  static const struct
  {
    const char *read, *text, *format;
    guint most;
  } rows[] = {
    { "AB12CDE", "AB12CDE", "gb", 2 },
    { "ab12 cde", "AB12CDE", "gb", 2 },
    { "A.B-1\xc2\xb7"
      "2 CDE",
      "AB12CDE", "gb", 2 },
    { "AB1ZCDE", "AB12CDE", "gb", 2 }, /* Z is no digit */
    { "A8I2CDE", "AB12CDE", "gb", 2 },
    { "A8IZCDE", "A8IZCDE", NULL, 2 }, /* three corrections */
    { "A8IZCDE", "AB12CDE", "gb", 3 },
    { "AB1ZCDE", "AB1ZCDE", NULL, 0 },
    { "AB121DE", "AB121DE", NULL, 2 }, /* 1 is I or L */
    { "AB12CD4", "AB12CD4", NULL, 2 }, /* 4 looks like none */
    { "0I0", "0I0", "short", 1 },      /* a place for either keeps what was read */
    { "\xc3\xbc"
      "B1",
      "\xc3\x9c"
      "B1",
      "de", 0 },
    { "OIO", "0I0", "short", 2 },
    { "ABD2CDE", "AB02CDE", "gb", 2 }, /* D may be 0, but 0 is O */
    { "AB120DE", "AB12ODE", "gb", 2 },
    { "", "", NULL, 2 },
    { " -.", " -.", NULL, 2 },
    { "AB12CDEF", "AB12CDEF", NULL, 2 },
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTextFormats) formats = load (RULES, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    SlTextView view = view_of (rows[i].read);
    sl_text_formats_apply (formats, rows[i].most, &view);
    g_assert_cmpstr (view.text, ==, rows[i].text);
    g_assert_cmpstr (view.format, ==, rows[i].format);
    g_assert_cmpuint (view.votes, ==, 3);
    if (rows[i].format != NULL)
      g_assert_cmpuint (view.n, ==, g_utf8_strlen (rows[i].text, -1));
  }
}

static void
test_reported (void)
{
  g_autoptr (SlTextFormats) formats = load (RULES, NULL);
  SlTextView view = view_of ("A8 1Z cde");
  view.characters[1].confidence = 0.25f;
  view.characters[8].confidence = 1;
  sl_text_formats_apply (formats, 2, &view);
  g_assert_cmpstr (view.text, ==, "AB12CDE");
  g_assert_cmpuint (view.characters[0].read, ==, 0);
  g_assert_cmpuint (view.characters[1].read, ==, '8');
  g_assert_cmpuint (view.characters[1].character, ==, 'B');
  g_assert_cmpuint (view.characters[3].read, ==, 'Z');
  g_assert_cmpuint (view.characters[6].read, ==, 0); /* a small letter is the same one */
  g_assert_cmpfloat_with_epsilon (view.confidence, (0.25 + 1 + 5 * 0.5) / 7, 1e-6);
}

/* Where a digit may follow one or two letters, "B01" and "BO1" both fit as they are; of "8O1" one
 * character is certain and the other is not. */
static void
test_certain (void)
{
  g_autoptr (SlTextFormats) formats = load ("pairs: O0 B8 D0\nx: A{1,2} 9{1,2}\n", NULL);
  static const struct
  {
    const char *read, *text;
  } rows[] = { { "B01", "B01" }, { "BO1", "BO1" }, { "8O1", "BO1" },
               { "801", "B01" }, { "O0", "O0" },   { "00", "00" } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    SlTextView view = view_of (rows[i].read);
    sl_text_formats_apply (formats, 2, &view);
    g_assert_cmpstr (view.text, ==, rows[i].text);
    g_assert_cmpint (view.format != NULL, ==, i != 5); /* the first 0 is O or D */
  }
}

/* The fewest changes of @read by pairs O0, I1, S5 that give two or three letters and a digit or
 * two, by trying all. G_MAXUINT: none. @result: the only text with so few, else "". */
static guint
try_all (const char *read, char *result)
{
  static const char *const pairs[] = { "O0", "I1", "S5" };
  const guint n = (guint) strlen (read);
  guint best = G_MAXUINT;
  for (guint mask = 0; mask < 1u << n; mask++) {
    char text[8] = "";
    guint changes = 0, letters = 0, digits = 0;
    gboolean possible = TRUE;
    for (guint i = 0; i < n; i++) {
      text[i] = read[i];
      if ((mask >> i & 1) == 0)
        continue;
      changes++;
      for (guint k = 0; k < 3 && text[i] == read[i]; k++)
        text[i] = pairs[k][0] == read[i]   ? pairs[k][1]
                  : pairs[k][1] == read[i] ? pairs[k][0]
                                           : read[i];
      possible &= text[i] != read[i];
    }
    for (; g_ascii_isalpha (text[letters]); letters++)
      ;
    for (; g_ascii_isdigit (text[letters + digits]); digits++)
      ;
    if (!possible || letters < 2 || letters > 3 || digits < 1 || digits > 2 || letters + digits != n
        || changes > best)
      continue;
    strcpy (result, changes == best && strcmp (result, text) != 0 ? "" : text);
    best = changes;
  }
  return best;
}

static void
test_all (void)
{
  static const char letters[] = "O0I1S5AB27";
  g_autoptr (SlTextFormats) formats = load ("pairs: O0 I1 S5\nx: A{2,3}9{1,2}\n", NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  guint found = 0;
  for (guint i = 0; i < 3000; i++) {
    char read[8] = "", expected[8] = "";
    const gint n = g_rand_int_range (rand, 3, 6);
    for (gint k = 0; k < n; k++)
      read[k] = letters[g_rand_int_range (rand, 0, 10)];
    const guint fewest = try_all (read, expected);
    SlTextView view = view_of (read);
    sl_text_formats_apply (formats, 3, &view);
    const gboolean fits = fewest <= 3 && expected[0] != '\0';
    g_assert_cmpint (view.format != NULL, ==, fits);
    g_assert_cmpstr (view.text, ==, fits ? expected : read);
    found += fits;
  }
  g_assert_cmpuint (found, >, 300);
}

static void
test_refused (void)
{
  g_autofree char *many = g_strnfill (70000, '\n');
  const struct
  {
    const char *text, *message;
  } rows[] = {
    { "", "expected a line NAME: PATTERN, got none" },
    { "gb AA99", ":1: expected NAME: PATTERN, with a name of at most 32 bytes" },
    { ": AA99", ":1: expected NAME: PATTERN" },
    { "gb: AA99\nde:\n", ":2: expected a pattern behind the name, got 'de'" },
    { "gb: AB99", ":1: expected A, 9, *, [...], a space or '-' in a pattern, got 'B99'" },
    { "gb: [AB", ":1: expected 1 to 64 characters between [ and ], got '[AB'" },
    { "gb: []", "expected 1 to 64 characters between" },
    { "gb: A{", "expected a count such as {2} or {1,3}, of at most 32, got '{'" },
    { "gb: A{3,2}", "expected a count such as" },
    { "gb: A{0}", "expected a count such as" },
    { "gb: A{99999999999999999999}", "expected a count such as" },
    { "gb: A{2", "expected a count such as" },
    { "gb: A{30}9{3}", "expected a pattern of at most 32 characters, got 'gb'" },
    { "pairs: O0 X", "expected at most 64 pairs of two characters, such as O0 I1 D>0, got 'X'" },
    { "gb: A\xff", "expected at most 65536 bytes of UTF-8, got other bytes" },
    { many, "expected at most 65536 bytes of UTF-8, got more" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (load (rows[i].text, &error));
    g_assert_error (error, SL_ERROR, SL_ERROR_FORMAT);
    if (strstr (error->message, rows[i].message) == NULL)
      g_error ("expected '%s', got '%s'", rows[i].message, error->message);
  }
  g_autoptr (GString) formats = g_string_new (NULL);
  for (guint i = 0; i < 65; i++)
    g_string_append_printf (formats, "f%u: A\n", i);
  g_autoptr (GError) error = NULL, missing = NULL;
  g_assert_null (load (formats->str, &error));
  g_assert_nonnull (strstr (error->message, ":65: expected at most 64 formats, got 'f64'"));
  g_assert_null (sl_text_formats_load ("/nonexistent/x.formats", &missing));
  g_assert_error (missing, SL_ERROR, SL_ERROR_OPEN);
  g_assert_nonnull (strstr (missing->message, "expected a file of formats"));
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/text_format/applied", test_applied);
  g_test_add_func ("/text_format/reported", test_reported);
  g_test_add_func ("/text_format/certain", test_certain);
  g_test_add_func ("/text_format/all", test_all);
  g_test_add_func ("/text_format/refused", test_refused);
  return g_test_run ();
}
