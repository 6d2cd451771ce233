/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Every row function of every instruction set that this machine has against C, bit by bit: random
 * sizes from 1 up, any alignment, negative strides, inputs between inaccessible pages, outputs
 * between guard bytes. With --bench it prints what each takes instead.
 */
#include "preprocess/kernels.h"

#include <glib.h>
#include <string.h>

#include "preprocess/gather.h"
#include "preprocess/normalize.h"
#include "tests/preprocess/guard.h"
#include "tests/support/program.h"

#define CASES 3000
#define MAX_N 400
#define MAX_ROWS 260
#define CANARY 64

static const char *const names[] = { "c", "sse41", "avx2", "avx512", "neon" };

/* An output with guard bytes on both sides, twice: for C and for the other. */
typedef struct
{
  guint8 *memory[2];
  guint8 *data[2];
  gsize bytes;
} Output;

static void
output_init (Output *output, GRand *rand, gsize bytes, gsize element)
{
  const gsize shift = (gsize) g_rand_int_range (rand, 0, 33) * element;
  output->bytes = bytes;
  for (int i = 0; i < 2; i++) {
    output->memory[i] = g_malloc (bytes + shift + 2 * CANARY);
    memset (output->memory[i], 0x5c, bytes + shift + 2 * CANARY);
    output->data[i] = output->memory[i] + CANARY + shift;
  }
}

static void
output_check (Output *output)
{
  g_assert_cmpmem (output->data[0], output->bytes, output->data[1], output->bytes);
  for (int i = 0; i < 2; i++) {
    for (int k = 1; k <= CANARY; k++)
      g_assert_cmpint (output->data[i][-k], ==, 0x5c);
    for (int k = 0; k < CANARY; k++)
      g_assert_cmpint (output->data[i][output->bytes + (gsize) k], ==, 0x5c);
    g_free (output->memory[i]);
  }
}

/* Guarded rows of @row_bytes for a band, and the band. */
typedef struct
{
  TestGuard rows;
  SlBand band;
  SlPrefetch prefetch;
} Input;

static int
random_count (GRand *rand, int most)
{
  return g_rand_int_range (rand, 0, 10) == 0 ? g_rand_int_range (rand, 0, most + 1)
                                             : g_rand_int_range (rand, 0, 8);
}

static int
random_n (GRand *rand)
{
  return g_rand_boolean (rand) ? g_rand_int_range (rand, 1, MAX_N) : g_rand_int_range (rand, 1, 40);
}

/* The largest shift that keeps the sum of @count samples in 16 bits, and of two bytes in 15. */
static int
largest_shift (int count, int bits)
{
  int shift = 16 - bits;
  while ((count << shift) > (1 << (16 - bits)))
    shift--;
  return bits == 8 && count > 1 ? MIN (shift, 6) : shift;
}

static void
input_init (Input *input, GRand *rand, gsize row_bytes, int bits)
{
  const int count = random_count (rand, bits == 8 ? 256 : 64);
  const gsize stride =
    row_bytes + (gsize) g_rand_int_range (rand, 0, 3) * (gsize) g_rand_int_range (rand, 0, 50);
  const gsize rows = (gsize) count + 2;
  const gboolean backwards = g_rand_boolean (rand);
  test_guard_init (&input->rows, stride * (rows - 1) + row_bytes, g_rand_boolean (rand));
  for (gsize i = 0; i < input->rows.bytes; i++)
    input->rows.data[i] = (guint8) (g_rand_int_range (rand, 0, 4) == 0 ? 255 : g_rand_int (rand));
  const guint8 *row = input->rows.data + (backwards ? stride * (rows - 1) : 0);
  const ptrdiff_t step = backwards ? -(ptrdiff_t) stride : (ptrdiff_t) stride;
  SlBand *band = &input->band;
  *band = (SlBand){ .first = row,
                    .between = row + step,
                    .last = row + step * (ptrdiff_t) (rows - 1),
                    .stride = step,
                    .count = count };
  for (int i = 0; i < 3; i++)
    band->weight[i] = (guint16) (g_rand_int_range (rand, 0, 8) == 0 ? 32768 : g_rand_int (rand));
  band->shift = largest_shift (count, bits);
  if (count == 0 && g_rand_boolean (rand)) {
    band->weight[1] = 0;
    band->last = input->rows.map; /* not to be read */
  }
  input->prefetch = (SlPrefetch){ .at = row,
                                  .end = row + row_bytes,
                                  .stride = step,
                                  .bytes = (ptrdiff_t) row_bytes,
                                  .rows = (int) rows };
  input->prefetch.pace = g_rand_int_range (rand, 0, 4);
}

static void
check_blend (GRand *rand, const SlKernels *kernels)
{
  const int n = random_n (rand);
  Input input;
  Output output;
  input_init (&input, rand, (gsize) n, 8);
  output_init (&output, rand, (gsize) n * 2, 2);
  sl_kernels_c.blend ((gint16 *) output.data[0], &input.band, n, &input.prefetch);
  kernels->blend ((gint16 *) output.data[1], &input.band, n, &input.prefetch);
  output_check (&output);
  test_guard_clear (&input.rows);
}

static void
check_blend_pairs (GRand *rand, const SlKernels *kernels)
{
  const int n = random_n (rand);
  Input input;
  Output even, odd;
  input_init (&input, rand, (gsize) n * 2, 8);
  output_init (&even, rand, (gsize) n * 2, 2);
  output_init (&odd, rand, (gsize) n * 2, 2);
  sl_kernels_c.blend_pairs ((gint16 *) even.data[0], (gint16 *) odd.data[0], &input.band, n,
                            &input.prefetch);
  kernels->blend_pairs ((gint16 *) even.data[1], (gint16 *) odd.data[1], &input.band, n,
                        &input.prefetch);
  output_check (&even);
  output_check (&odd);
  test_guard_clear (&input.rows);
}

static void
check_blend_words (GRand *rand, const SlKernels *kernels)
{
  const int n = random_n (rand);
  const int left = g_rand_boolean (rand) ? 6 : 0;
  Input input;
  Output output;
  input_init (&input, rand, (gsize) n * 2, 10);
  output_init (&output, rand, (gsize) n * 2, 2);
  sl_kernels_c.blend_words ((gint16 *) output.data[0], &input.band, left, n, &input.prefetch);
  kernels->blend_words ((gint16 *) output.data[1], &input.band, left, n, &input.prefetch);
  output_check (&output);
  test_guard_clear (&input.rows);
}

static void
fill_row (TestGuard *row, GRand *rand)
{
  for (gsize i = 0; i < row->bytes / 2; i++)
    ((gint16 *) row->data)[i] = (gint16) g_rand_int_range (rand, 0, 32737);
}

static void
check_split_pairs (GRand *rand, const SlKernels *kernels)
{
  const int n = random_n (rand);
  TestGuard row;
  Output even, odd;
  test_guard_init (&row, (gsize) n * 4, g_rand_boolean (rand));
  fill_row (&row, rand);
  output_init (&even, rand, (gsize) n * 2, 2);
  output_init (&odd, rand, (gsize) n * 2, 2);
  sl_kernels_c.split_pairs ((gint16 *) even.data[0], (gint16 *) odd.data[0],
                            (const gint16 *) row.data, n);
  kernels->split_pairs ((gint16 *) even.data[1], (gint16 *) odd.data[1], (const gint16 *) row.data,
                        n);
  output_check (&even);
  output_check (&odd);
  test_guard_clear (&row);
}

static void
check_split_triples (GRand *rand, const SlKernels *kernels)
{
  const int n = random_n (rand);
  TestGuard row;
  Output output[3];
  gint16 *dst[2][3];
  test_guard_init (&row, (gsize) n * 6, g_rand_boolean (rand));
  fill_row (&row, rand);
  for (int c = 0; c < 3; c++) {
    output_init (&output[c], rand, (gsize) n * 2, 2);
    dst[0][c] = (gint16 *) output[c].data[0];
    dst[1][c] = (gint16 *) output[c].data[1];
  }
  sl_kernels_c.split_triples (dst[0], (const gint16 *) row.data, n);
  kernels->split_triples (dst[1], (const gint16 *) row.data, n);
  for (int c = 0; c < 3; c++)
    output_check (&output[c]);
  test_guard_clear (&row);
}

static void
random_axis (GRand *rand, const SlKernels *kernels, SlAxis *axis, SlTables *tables)
{
  const SlAxisSpec spec = {
    .frame = g_rand_int_range (rand, 1, 700),
    .tensor = g_rand_int_range (rand, 1, 150),
    .scale = { g_rand_int_range (rand, 1, 400), g_rand_int_range (rand, 1, 40) },
    .flip = g_rand_boolean (rand),
    .chroma_shift = g_rand_int_range (rand, 0, 2),
    .site = g_rand_int_range (rand, 0, 2),
    .filter = g_rand_int_range (rand, 0, SL_FILTER_AUTO),
  };
  g_assert_true (sl_axis_init (axis, &spec, tables));
  if (kernels->gathers)
    g_assert_true (sl_gather_attach (axis, tables));
}

static void
check_reduce (GRand *rand, const SlKernels *kernels)
{
  const int rows = g_rand_int_range (rand, 1, 4);
  SlAxis axis;
  TestGuard row[3];
  gint32 *dst[2][3];
  const gint16 *src[3];
  SlPrefetch prefetch = { 0 };
  SlTables tables = { 0 };
  random_axis (rand, kernels, &axis, &tables);
  const gsize room = (gsize) (axis.count / SL_AXIS_GROUP + 1) * SL_AXIS_GROUP;
  for (int r = 0; r < 3; r++) {
    test_guard_init (&row[r], (gsize) (axis.samples + SL_AXIS_SLACK) * 2, TRUE);
    fill_row (&row[r], rand);
    src[r] = (const gint16 *) row[r].data;
    dst[0][r] = g_new0 (gint32, room);
    dst[1][r] = g_new0 (gint32, room);
  }
  if (axis.taps > 0) {
    sl_kernels_c.reduce (dst[0], src, &axis, rows, &prefetch);
    kernels->reduce (dst[1], src, &axis, rows, &prefetch);
  }
  for (int r = 0; r < 3; r++) {
    g_assert_cmpmem (dst[0][r], (gsize) axis.count * 4, dst[1][r], (gsize) axis.count * 4);
    g_free (dst[0][r]);
    g_free (dst[1][r]);
    test_guard_clear (&row[r]);
  }
  sl_tables_clear (&tables);
}

static void
random_mix (GRand *rand, SlMix *mix, SlOutType type)
{
  const double gain = g_rand_boolean (rand) ? 1.0 : g_rand_double_range (rand, -3, 3);
  for (int i = 0; i < 3; i++)
    mix->m[i] = (float) (gain * g_rand_double_range (rand, -2.2, 2.2) / (1 << 21));
  mix->constant = (float) g_rand_double_range (rand, -300, 300);
  mix->low = type <= SL_OUT_I8 ? 0 : (float) g_rand_double_range (rand, -70, 0);
  mix->high = type <= SL_OUT_I8 ? 255 : (float) g_rand_double_range (rand, 0, 300);
  if (type == SL_OUT_F16 && g_rand_boolean (rand)) {
    const float tiny = 1e-5f;
    mix->constant *= tiny;
    for (int i = 0; i < 3; i++)
      mix->m[i] *= tiny;
  }
}

static void
check_store (GRand *rand, const SlKernels *kernels)
{
  const int n = g_rand_int_range (rand, 1, 120);
  const SlOutType type = (SlOutType) g_rand_int_range (rand, 0, 4);
  const SlStoreLayout layout = (SlStoreLayout) g_rand_int_range (rand, 0, SL_STORE_COUNT);
  const gsize element = type == SL_OUT_F32 ? 4 : type == SL_OUT_F16 ? 2 : 1;
  const int outputs = layout == SL_STORE_PLANES ? 3 : 1;
  SlMix mix[3];
  TestGuard row[3];
  Output output[3];
  const gint32 *src[3];
  void *dst[2][3] = { { NULL } };
  for (int c = 0; c < 3; c++) {
    random_mix (rand, &mix[c], type);
    test_guard_init (&row[c], (gsize) n * 4, TRUE);
    for (int i = 0; i < n; i++)
      ((gint32 *) row[c].data)[i] = g_rand_int_range (rand, 0, 1 << 29);
    src[c] = (const gint32 *) row[c].data;
  }
  for (int c = 0; c < outputs; c++) {
    output_init (&output[c], rand, (gsize) n * element * (layout == SL_STORE_INTERLEAVED ? 3 : 1),
                 element);
    dst[0][c] = output[c].data[0];
    dst[1][c] = output[c].data[1];
  }
  sl_kernels_c.store[type][layout](dst[0], src, mix, n);
  kernels->store[type][layout](dst[1], src, mix, n);
  for (int c = 0; c < outputs; c++)
    output_check (&output[c]);
  for (int c = 0; c < 3; c++)
    test_guard_clear (&row[c]);
}

static const struct
{
  const char *name;
  void (*check) (GRand *rand, const SlKernels *kernels);
} checks[] = {
  { "blend", check_blend },
  { "blend-pairs", check_blend_pairs },
  { "blend-words", check_blend_words },
  { "split-pairs", check_split_pairs },
  { "split-triples", check_split_triples },
  { "reduce", check_reduce },
  { "store", check_store },
};

typedef struct
{
  const char *kernels;
  guint check;
} Case;

static void
test_kernel (gconstpointer data)
{
  const Case *test = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (test->check + 1);
  const SlKernels *kernels = sl_kernels_find (test->kernels);
  if (kernels == NULL) {
    g_test_skip ("not in this build or not in this processor");
    return;
  }
  for (int i = 0; i < CASES; i++)
    checks[test->check].check (rand, kernels);
}

static void
test_find (void)
{
  g_assert_true (sl_kernels_find ("c") == &sl_kernels_c);
  g_assert_null (sl_kernels_find ("mmx"));
  g_assert_null (sl_kernels_find (""));
  g_assert_cmpstr (sl_kernels_get ()->name, ==, sl_normalizer_cpu ());
}

#define BENCH_WIDTH 1920
#define BENCH_TENSOR 224
#define BENCH_ROUNDS 400

typedef struct
{
  const SlKernels *kernels;
  SlBand band;
  SlPrefetch prefetch; /* nothing */
  gint16 *row[4];
  gint32 *sum[3];
  SlAxis axis[2];
  SlTables tables;
  float *out;
  SlMix mix[3];
} Bench;

static void
bench_blend (Bench *bench)
{
  bench->kernels->blend (bench->row[0], &bench->band, BENCH_WIDTH, &bench->prefetch);
}

static void
bench_pairs (Bench *bench)
{
  bench->kernels->blend_pairs (bench->row[0], bench->row[1], &bench->band, BENCH_WIDTH / 2,
                               &bench->prefetch);
}

static void
bench_words (Bench *bench)
{
  bench->kernels->blend_words (bench->row[0], &bench->band, 0, BENCH_WIDTH, &bench->prefetch);
}

static void
bench_split_pairs (Bench *bench)
{
  bench->kernels->split_pairs (bench->row[0], bench->row[1], bench->row[3], BENCH_WIDTH);
}

static void
bench_split_triples (Bench *bench)
{
  bench->kernels->split_triples (bench->row, bench->row[3], BENCH_WIDTH);
}

static void
bench_reduce_luma (Bench *bench)
{
  bench->kernels->reduce (bench->sum, (const gint16 *const *) bench->row, &bench->axis[0], 1,
                          &bench->prefetch);
}

static void
bench_reduce_chroma (Bench *bench)
{
  bench->kernels->reduce (bench->sum, (const gint16 *const *) bench->row, &bench->axis[1], 2,
                          &bench->prefetch);
}

static void
bench_store_float (Bench *bench)
{
  bench->kernels->store[SL_OUT_F32][SL_STORE_INTERLEAVED](
    (void *const[3]){ bench->out }, (const gint32 *const *) bench->sum, bench->mix, BENCH_TENSOR);
}

static void
bench_store_byte (Bench *bench)
{
  bench->kernels->store[SL_OUT_U8][SL_STORE_INTERLEAVED](
    (void *const[3]){ bench->out }, (const gint32 *const *) bench->sum, bench->mix, BENCH_TENSOR);
}

static const struct
{
  const char *name;
  void (*run) (Bench *bench);
} benches[] = {
  { "blend 6x1920", bench_blend },
  { "blend-pairs 6x960", bench_pairs },
  { "blend-words 6x1920", bench_words },
  { "split-pairs 1920", bench_split_pairs },
  { "split-triples 1920", bench_split_triples },
  { "reduce 1920 -> 224", bench_reduce_luma },
  { "reduce 2x960 -> 224", bench_reduce_chroma },
  { "store f32 224", bench_store_float },
  { "store u8 224", bench_store_byte },
};

static gint64
bench_best (Bench *bench, guint which)
{
  gint64 best = G_MAXINT64;
  for (int round = 0; round < BENCH_ROUNDS; round++) {
    const gint64 before = g_get_monotonic_time ();
    for (int i = 0; i < 100; i++)
      benches[which].run (bench);
    best = MIN (best, g_get_monotonic_time () - before);
  }
  return best;
}

static void
bench_init (Bench *bench, guint8 *rows, SlFilter filter)
{
  bench->band = (SlBand){ .first = rows,
                          .between = rows + 2 * BENCH_WIDTH,
                          .last = rows + 10 * BENCH_WIDTH,
                          .stride = 2 * BENCH_WIDTH,
                          .count = 4,
                          .weight = { 6000, 6000, 20000 },
                          .shift = 4 };
  for (int i = 0; i < 4; i++)
    bench->row[i] = g_aligned_alloc0 (3 * BENCH_WIDTH + SL_AXIS_SLACK, 2, SL_ROW_ALIGN);
  for (int i = 0; i < 3; i++)
    bench->sum[i] = g_aligned_alloc0 (BENCH_TENSOR, 4, SL_ROW_ALIGN);
  bench->out = g_aligned_alloc0 (3 * BENCH_TENSOR, 4, SL_ROW_ALIGN);
  for (int i = 0; i < 2; i++) {
    const SlAxisSpec spec = { .scale = { BENCH_WIDTH, BENCH_TENSOR },
                              .frame = BENCH_WIDTH,
                              .tensor = BENCH_TENSOR,
                              .chroma_shift = i,
                              .filter = filter };
    g_assert_true (sl_axis_init (&bench->axis[i], &spec, &bench->tables)
                   && sl_gather_attach (&bench->axis[i], &bench->tables));
  }
}

static void
bench_all (void)
{
  guint8 *rows = g_malloc0 (12 * 2 * BENCH_WIDTH);
  Bench bench = { 0 };
  bench_init (&bench, rows, SL_FILTER_AREA);
  for (guint b = 0; b < G_N_ELEMENTS (benches); b++) {
    g_print ("%-22s", benches[b].name);
    for (guint k = 0; k < G_N_ELEMENTS (names); k++) {
      bench.kernels = sl_kernels_find (names[k]);
      if (bench.kernels != NULL)
        g_print ("  %s %7.0f ns", names[k], (double) bench_best (&bench, b) * 10);
    }
    g_print ("\n");
  }
  for (int i = 0; i < 4; i++)
    g_aligned_free (bench.row[i]);
  for (int i = 0; i < 3; i++)
    g_aligned_free (bench.sum[i]);
  g_aligned_free (bench.out);
  sl_tables_clear (&bench.tables);
  g_free (rows);
}

TEST_MAIN (int argc, char **argv)
{
  static Case cases[G_N_ELEMENTS (names) * G_N_ELEMENTS (checks)];
  if (argc > 1 && strcmp (argv[1], "--bench") == 0) {
    bench_all ();
    return 0;
  }
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/find", test_find);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    cases[i] = (Case){ names[i / G_N_ELEMENTS (checks)], i % G_N_ELEMENTS (checks) };
    if (cases[i].kernels == names[0])
      continue;
    g_autofree char *path =
      g_strdup_printf ("/kernels/%s/%s", cases[i].kernels, checks[cases[i].check].name);
    g_test_add_data_func (path, &cases[i], test_kernel);
  }
  return g_test_run ();
}
