/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What slremote's encodings make of tensors: encoding ROWS COLUMNS CHANNELS TYPE FILE..., each FILE
 * the bytes of one, TYPE uint8 or float32. Of each encoding: size beside the tensor's, milliseconds
 * to write and to read (the least of rounds, the mean of files), and how far off bytes are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/tensor.h"
#include "pipelines/remote/encoding.h"

#define ROUNDS 20

typedef struct
{
  gsize raw, size;
  gdouble write_ms, read_ms, off;
  guint most, n;
} Sum;

static gdouble
best_ms (gint64 *best, gint64 begun)
{
  *best = MIN (*best, g_get_monotonic_time () - begun);
  return (gdouble) *best / 1000;
}

static void
measure (Sum *sum, SlRemoteEncoding encoding, const SlTensorInfo *tensor, gint quality,
         const guint8 *raw)
{
  g_autofree guint8 *out = g_malloc (tensor->bytes), *back = g_malloc (tensor->bytes);
  g_autoptr (GError) error = NULL;
  gint64 write_us = G_MAXINT64, read_us = G_MAXINT64;
  gdouble write_ms = 0, read_ms = 0, off = 0;
  gsize size = 0;
  for (guint i = 0; i < ROUNDS; i++) {
    gint64 begun = g_get_monotonic_time ();
    size = sl_remote_encode (encoding, tensor, quality, raw, out);
    write_ms = best_ms (&write_us, begun);
    begun = g_get_monotonic_time ();
    if (!sl_remote_decode (encoding, tensor, size > 0 ? out : raw, size > 0 ? size : tensor->bytes,
                           back, "bench", &error))
      g_error ("%s", error->message);
    read_ms = best_ms (&read_us, begun);
  }
  for (gsize i = 0; i < tensor->bytes; i++) {
    const guint one = (guint) ABS (raw[i] - back[i]);
    off += one;
    sum->most = MAX (sum->most, one);
  }
  sum->raw += tensor->bytes;
  sum->size += size > 0 ? size : tensor->bytes;
  sum->write_ms += write_ms;
  sum->read_ms += read_ms;
  sum->off += off / (gdouble) tensor->bytes;
  sum->n++;
}

int
main (int argc, char **argv)
{
  static const struct
  {
    SlRemoteEncoding encoding;
    gint quality;
  } rows[] = { { SL_REMOTE_ENCODING_NONE, 0 },   { SL_REMOTE_ENCODING_LZ4, 0 },
               { SL_REMOTE_ENCODING_JPEG, 100 }, { SL_REMOTE_ENCODING_JPEG, 95 },
               { SL_REMOTE_ENCODING_JPEG, 90 },  { SL_REMOTE_ENCODING_JPEG, 75 } };
  Sum sums[G_N_ELEMENTS (rows)] = { { 0 } };
  if (argc < 6) {
    fprintf (stderr, "usage: %s ROWS COLUMNS CHANNELS TYPE FILE...\n", argv[0]);
    return 2;
  }
  SlTensorInfo tensor = { .dtype = sl_dtype_from_name (argv[4]),
                          .rank = 4,
                          .dims = { 1, atoi (argv[1]), atoi (argv[2]), atoi (argv[3]) } };
  tensor.bytes =
    (gsize) (tensor.dims[1] * tensor.dims[2] * tensor.dims[3]) * sl_dtype_size (tensor.dtype);
  for (int i = 5; i < argc; i++) {
    g_autofree char *bytes = NULL;
    gsize size;
    if (!g_file_get_contents (argv[i], &bytes, &size, NULL) || size != tensor.bytes) {
      fprintf (stderr, "%s: expected %zu bytes\n", argv[i], tensor.bytes);
      return 1;
    }
    for (guint k = 0; k < G_N_ELEMENTS (rows); k++)
      measure (&sums[k], rows[k].encoding, &tensor, rows[k].quality, (const guint8 *) bytes);
  }
  for (guint k = 0; k < G_N_ELEMENTS (rows); k++)
    if (sl_remote_encoding_suits (rows[k].encoding, &tensor))
      printf (
        "%-4s %3d: %5.1f %% of %.1f kB, %.3f ms to write, %.3f ms to read, off by %.2f in the "
        "mean, %u at most\n",
        sl_remote_encoding_name (rows[k].encoding), rows[k].quality,
        100.0 * (gdouble) sums[k].size / (gdouble) sums[k].raw,
        (gdouble) sums[k].raw / sums[k].n / 1000, sums[k].write_ms / sums[k].n,
        sums[k].read_ms / sums[k].n, sums[k].off / sums[k].n, sums[k].most);
  return 0;
}
