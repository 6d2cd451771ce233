/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pieces of a store: zeros, aligned, and each by itself, whatever their sizes. */
#include "core/graph/page_store.h"

#include <string.h>

#include "tests/support/program.h"

#define MIB ((gsize) 1 << 20)

static gboolean
is_zero (const guint8 *bytes, gsize n)
{
  return n == 0 || (bytes[0] == 0 && memcmp (bytes, bytes + 1, n - 1) == 0);
}

/* In an order in which pieces begin blocks, end them, do not fit, and have blocks of their own. */
static void
test_pieces (void)
{
  static const gsize sizes[] = { 1, 100000,   20 * MIB, 7 * MIB, 3 * MIB, 17 * MIB, 15 * MIB,
                                 0, 16 * MIB, 64,       5 * MIB, 4097,    9 * MIB };
  guint8 *pieces[G_N_ELEMENTS (sizes)];
  g_autoptr (SlPageStore) store = sl_page_store_new ();
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    pieces[i] = sl_page_store_take (store, sizes[i]);
    g_assert_nonnull (pieces[i]);
    g_assert_cmpuint ((gsize) pieces[i] % 64, ==, 0);
    g_assert_true (is_zero (pieces[i], sizes[i]));
    memset (pieces[i], (gint) i + 1, sizes[i]);
  }
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (gsize k = 0; k < sizes[i]; k += 63)
      g_assert_cmpuint (pieces[i][k], ==, i + 1);
}

/* The first piece of a store, of any size, has all of its memory. */
static void
test_first (void)
{
  static const gsize sizes[] = { 8 * MIB, 8 * MIB + 1, 12 * MIB, 16 * MIB, 16 * MIB + 1, 70 * MIB };
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autoptr (SlPageStore) store = sl_page_store_new ();
    guint8 *piece = sl_page_store_take (store, sizes[i]), *next = sl_page_store_take (store, MIB);
    memset (piece, 1, sizes[i]);
    memset (next, 2, MIB);
    g_assert_true (memcmp (piece, piece + 1, sizes[i] - 1) == 0);
  }
}

static void
test_no_memory (void)
{
  g_autoptr (SlPageStore) store = sl_page_store_new ();
  g_assert_null (sl_page_store_take (store, G_MAXSIZE / 4));
  g_assert_nonnull (sl_page_store_take (store, 100));
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/page-store/pieces", test_pieces);
  g_test_add_func ("/core/page-store/first", test_first);
  g_test_add_func ("/core/page-store/no-memory", test_no_memory);
  return g_test_run ();
}
