/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How long a search among a million embeddings of 512 numbers takes, by one thread. */
#include "core/search/search.h"

#include <string.h>

#include "core/graph/tensor.h"

#define ROWS 1000000
#define LENGTH 512
#define RUNS 10

int
main (void)
{
  gint8 *numbers = sl_tensor_buffer_new ((gsize) ROWS * LENGTH),
        *query = sl_tensor_buffer_new (LENGTH);
  g_autofree gfloat *scales = g_new (gfloat, ROWS);
  SlSearchHit hits[10];
  guint32 state = 1;
  if (numbers == NULL || query == NULL) {
    g_printerr ("no memory for %d MB of embeddings\n", ROWS / 1000000 * LENGTH);
    return 77;
  }
  for (gsize i = 0; i < (gsize) ROWS * LENGTH; i++) {
    state = state * 1664525u + 1013904223u;
    numbers[i] = (gint8) (state >> 24);
  }
  for (guint i = 0; i < ROWS; i++)
    scales[i] = 1e-3f;
  memcpy (query, numbers, LENGTH);
  gint64 least = G_MAXINT64;
  const SlSearchTable table = { ROWS, LENGTH, numbers, scales };
  for (guint run = 0; run < RUNS; run++) {
    const gint64 start = g_get_monotonic_time ();
    sl_search (&table, query, 1e-3f, G_N_ELEMENTS (hits), hits);
    least = MIN (least, g_get_monotonic_time () - start);
  }
  g_print ("%d rows of %d numbers: %.1f ms, %.1f GB/s\n", ROWS, LENGTH, (double) least / 1e3,
           (double) ROWS * LENGTH / 1e3 / (double) least);
  sl_tensor_buffer_free (numbers);
  sl_tensor_buffer_free (query);
  return 0;
}
