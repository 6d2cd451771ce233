/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Constants that are made again after their memory went. */
#include "core/graph/made_constants.h"

#include <string.h>

#include "sightline/error.h"
#include "tests/support/program.h"

#define FLOATS 40000
#define BYTES (FLOATS * sizeof (gfloat))

/* Float i is @first + i; @calls counts. */
typedef struct
{
  gfloat first;
  guint calls;
  gboolean fails;
} Count;

static gboolean
count (void *memory, gpointer data, GError **error)
{
  Count *from = data;
  from->calls++;
  for (gsize i = 0; i < FLOATS; i++)
    ((gfloat *) memory)[i] = from->first + (gfloat) i;
  if (from->fails)
    g_set_error_literal (error, SL_ERROR, SL_ERROR_OPEN, "the file is gone");
  return !from->fails;
}

static void
assert_counts (const gfloat *floats, gfloat first, gfloat by)
{
  for (gsize i = 0; i < FLOATS; i++)
    g_assert_cmpfloat (floats[i], ==, (first + (gfloat) i) * by);
}

static void
test_again (void)
{
  g_autoptr (GError) error = NULL;
  Count from = { 3, 0, FALSE };
  SlMadeConstants *made = sl_made_constants_new ();
  const gfloat *floats = sl_made_constants_add (made, BYTES, count, &from, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sl_made_constants_holds (made, floats + FLOATS - 1));
  g_assert_false (sl_made_constants_holds (made, &from));
  assert_counts (floats, 3, 1);
  for (guint i = 1; i < 4; i++) {
    sl_made_constants_use (made);
    sl_made_constants_spare (made, &from);
    g_assert_true (sl_made_constants_need (made, floats + 5, &error));
    g_assert_cmpuint (from.calls, ==, i);
    assert_counts (floats, 3, 1);
    sl_made_constants_spare (made, floats);
    g_assert_cmpuint (sl_made_constants_resident (made), ==, 0);
    sl_made_constants_done (made);
  }
  sl_made_constants_free (made);
}

/* Factors are applied again; a constant that is kept, or that another user may read, stays. */
static void
test_stays (void)
{
  static const gfloat half = 0.5f, four = 4;
  Count from = { -7, 0, FALSE };
  SlMadeConstants *made = sl_made_constants_new ();
  const gfloat *floats = sl_made_constants_add (made, BYTES, count, &from, NULL, NULL);
  g_assert_false (sl_made_constants_multiply (made, floats + 1, &half, 1, FLOATS));
  g_assert_true (sl_made_constants_multiply (made, floats, &half, 1, FLOATS));
  g_assert_true (sl_made_constants_multiply (made, floats, &four, 1, 8));
  assert_counts (floats, -7, 2);
  sl_made_constants_use (made);
  sl_made_constants_use (made);
  sl_made_constants_spare (made, floats);
  sl_made_constants_done (made);
  assert_counts (floats, -7, 2);
  sl_made_constants_done (made);
  g_assert_cmpuint (sl_made_constants_resident (made), ==, 0);
  sl_made_constants_use (made);
  g_assert_false (sl_made_constants_multiply (made, floats, &four, 1, 8));
  g_assert_true (sl_made_constants_need (made, floats, NULL));
  assert_counts (floats, -7, 2);
  sl_made_constants_keep (made, floats);
  sl_made_constants_spare (made, floats);
  sl_made_constants_done (made);
  g_assert_cmpuint (sl_made_constants_resident (made), >=, BYTES);
  assert_counts (floats, -7, 2);
  sl_made_constants_free (made);
}

static gboolean
copy_floats (void *memory, gpointer data, GError **error)
{
  memcpy (memory, data, BYTES);
  return TRUE;
}

/* What is made when it is first needed, with the factors that came before. */
static void
test_later (void)
{
  static const gfloat four = 4;
  g_autoptr (GError) error = NULL;
  Count from = { 5, 0, FALSE };
  const SlMadeOf of = { &from, BYTES, 8, FLOATS / 8 };
  SlMadeOf got = { NULL, 0, 0, 0 };
  SlMadeConstants *made = sl_made_constants_new ();
  sl_made_constants_use (made);
  const gfloat *first = sl_made_constants_add_later (made, BYTES, &of, count, &from, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (sl_made_constants_resident (made), ==, 0);
  g_assert_true (sl_made_constants_of (made, first, TRUE, &got));
  g_assert_true (got.data == &from && got.bytes == BYTES && got.rows == 8);
  g_assert_false (sl_made_constants_of (made, first + 1, FALSE, &got));
  g_assert_true (sl_made_constants_multiply (made, first, &four, 1, FLOATS));
  g_assert_false (sl_made_constants_of (made, first, TRUE, &got));
  g_assert_cmpuint (from.calls, ==, 0);
  from.fails = TRUE;
  g_assert_false (sl_made_constants_need (made, first, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_OPEN);
  g_clear_error (&error);
  from.fails = FALSE;
  g_assert_true (sl_made_constants_need (made, first, &error));
  assert_counts (first, 5, 4);
  sl_made_constants_spare (made, first);
  g_assert_true (sl_made_constants_of (made, first, FALSE, &got));
  g_assert_true (sl_made_constants_need (made, first, &error));
  assert_counts (first, 5, 4);
  g_assert_cmpuint (from.calls, ==, 3);
  sl_made_constants_done (made);
  sl_made_constants_free (made);
}

static void
test_errors (void)
{
  g_autoptr (GError) error = NULL;
  Count from = { 1, 0, TRUE };
  SlMadeConstants *made = sl_made_constants_new ();
  g_assert_null (sl_made_constants_add (made, BYTES, count, &from, NULL, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_OPEN);
  g_clear_error (&error);
  g_assert_cmpuint (sl_made_constants_resident (made), ==, 0);
  g_assert_null (sl_made_constants_add (made, G_MAXSIZE / 4, copy_floats, NULL, NULL, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_LIMIT);
  g_assert_nonnull (strstr (error->message, "no memory for a constant of"));
  g_clear_error (&error);
  from.fails = FALSE;
  const gfloat *floats = sl_made_constants_add (made, BYTES, count, &from, NULL, &error);
  g_assert_no_error (error);
  sl_made_constants_use (made);
  sl_made_constants_spare (made, floats);
  from.fails = TRUE;
  g_assert_false (sl_made_constants_need (made, floats, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_OPEN);
  from.fails = FALSE;
  g_assert_true (sl_made_constants_need (made, floats, NULL));
  assert_counts (floats, 1, 1);
  sl_made_constants_done (made);
  sl_made_constants_free (made);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/made_constants/again", test_again);
  g_test_add_func ("/made_constants/stays", test_stays);
  g_test_add_func ("/made_constants/later", test_later);
  g_test_add_func ("/made_constants/errors", test_errors);
  return g_test_run ();
}
