/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts of all lengths keep their bytes until the pool is cleared; then its memory is used again.
 */
#include "core/base/text_pool.h"

#include <string.h>

#include "tests/support/program.h"

static void
test_kept (void)
{
  SlTextPool *pool = sl_text_pool_new ();
  const char *first = NULL;
  for (guint turn = 0; turn < 3; turn++) {
    const char *copies[300];
    g_auto (GStrv) texts = g_new0 (char *, 301);
    for (guint i = 0; i < 300; i++) {
      texts[i] = g_strnfill (i * i % 9000, (char) ('a' + i % 26));
      copies[i] = sl_text_pool_insert (pool, texts[i]);
    }
    for (guint i = 0; i < 300; i++)
      g_assert_cmpstr (copies[i], ==, texts[i]);
    if (turn == 0)
      first = copies[0];
    g_assert_true (copies[0] == first);
    sl_text_pool_clear (pool);
  }
  sl_text_pool_free (pool);
  sl_text_pool_free (NULL);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/text_pool/kept", test_kept);
  return g_test_run ();
}
