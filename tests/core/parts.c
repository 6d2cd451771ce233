/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inputs of concatenations that layers write in place. The same graph, in which something else
 * reads each of them, too, copies them. The rows of these inputs beside each other are what both
 * give, bit by bit, with every instruction set of this machine, and one to three threads.
 */
#include <string.h>

#include "core/backends/float/float_layers.h"
#include "core/graph/lifetimes.h"
#include "core/ops/ops.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define MAX_ROWS 10
#define MAX_FROM 4

typedef enum
{
  NONE,
  POINTWISE,
  SPARSE, /* the same with few weights that are not 0 */
  WINDOW, /* of three by three */
  GROUPS,
  STRIDED, /* of three by three, every second pixel */
  DEPTHWISE,
  POOL,
  ADDITION,
  PRODUCT,
  CURVE,
  SLOPES,
  SOFTMAX,
  JOIN,
  FLAT, /* a view: all pixels of an image are a row */
  STACK /* the pixels of several of them */
} Kind;

/**
 * Row: a node, which may read the input, 0, and rows before it, 1 for the first
 * @output: of the graph
 * @apart: it is read by another node, too, in the graph without parts
 */
typedef struct
{
  Kind kind;
  gint32 channels;
  gint32 from[MAX_FROM];
  guint n_from;
  gboolean curve, output, apart;
} Row;

/** @parts: how many tensors are written in place */
typedef struct
{
  const char *name;
  gint32 n, h, w, channels;
  Row rows[MAX_ROWS];
  guint parts;
} Case;

#define FROM(...) { __VA_ARGS__ }, sizeof ((gint32[]){ __VA_ARGS__ }) / sizeof (gint32)
#define PART(kind, channels, ...)                     \
  {                                                   \
    kind, channels, FROM (__VA_ARGS__), .apart = TRUE \
  }
#define BENT(kind, channels, ...)                                    \
  {                                                                  \
    kind, channels, FROM (__VA_ARGS__), .curve = TRUE, .apart = TRUE \
  }
#define INNER(kind, channels, ...)     \
  {                                    \
    kind, channels, FROM (__VA_ARGS__) \
  }
#define STACKED(...)                             \
  {                                              \
    STACK, 0, FROM (__VA_ARGS__), .output = TRUE \
  }
#define OUTPUT(...)                             \
  {                                             \
    JOIN, 0, FROM (__VA_ARGS__), .output = TRUE \
  }

static const Case cases[] = {
  { "squeezenet",
    1,
    9,
    11,
    16,
    { PART (POINTWISE, 64, 0), PART (WINDOW, 64, 0), OUTPUT (1, 2) },
    2 },
  { "few-channels",
    2,
    7,
    5,
    5,
    { PART (POINTWISE, 3, 0), PART (WINDOW, 1, 0), PART (GROUPS, 5, 0), PART (DEPTHWISE, 5, 0),
      OUTPUT (1, 2, 3, 4) },
    4 },
  { "curves",
    2,
    6,
    13,
    24,
    { BENT (POINTWISE, 40, 0), BENT (WINDOW, 33, 0), BENT (DEPTHWISE, 24, 0), OUTPUT (1, 2, 3) },
    3 },
  { "tiles", 1, 37, 29, 40, { PART (WINDOW, 48, 0), BENT (WINDOW, 20, 0), OUTPUT (1, 2) }, 2 },
  { "strides", 1, 15, 17, 12, { PART (STRIDED, 20, 0), BENT (STRIDED, 16, 0), OUTPUT (1, 2) }, 2 },
  { "many-rows",
    1,
    12,
    12,
    256,
    { PART (POINTWISE, 320, 0), BENT (POINTWISE, 272, 0), OUTPUT (2, 1) },
    2 },
  { "sparse", 1, 14, 9, 96, { PART (SPARSE, 64, 0), BENT (SPARSE, 30, 0), OUTPUT (1, 2) }, 2 },
  { "elements",
    2,
    8,
    9,
    19,
    { INNER (POINTWISE, 19, 0), PART (ADDITION, 19, 0, 1), PART (PRODUCT, 19, 1, 0),
      PART (CURVE, 19, 1), PART (SLOPES, 19, 1), OUTPUT (2, 3, 4, 5) },
    4 },
  { "pools", 1, 13, 10, 35, { PART (POOL, 35, 0), PART (POINTWISE, 4, 0), OUTPUT (1, 2) }, 2 },
  /* Layers before them run row by row with them. */
  { "chains",
    1,
    41,
    45,
    10,
    { INNER (POINTWISE, 96, 0), INNER (DEPTHWISE, 96, 1), INNER (POINTWISE, 10, 2),
      PART (ADDITION, 10, 0, 3), INNER (POINTWISE, 90, 0), PART (DEPTHWISE, 90, 5),
      INNER (POINTWISE, 80, 0), PART (POOL, 80, 7), OUTPUT (4, 6, 8) },
    3 },
  { "some",
    1,
    6,
    7,
    9,
    { PART (POINTWISE, 8, 0), INNER (SOFTMAX, 9, 0), PART (POINTWISE, 7, 0), OUTPUT (2, 1, 0, 3) },
    2 },
  { "inside",
    1,
    9,
    8,
    6,
    { PART (POINTWISE, 10, 0), PART (WINDOW, 12, 0), INNER (JOIN, 0, 1, 2), PART (POINTWISE, 5, 0),
      OUTPUT (4, 3) },
    4 },
  /* The inner one copies the input, so it is copied whole. */
  { "inside-some",
    1,
    9,
    8,
    6,
    { PART (POINTWISE, 10, 0), INNER (JOIN, 0, 1, 0), PART (POINTWISE, 5, 0), OUTPUT (3, 2) },
    2 },
  { "twice", 1, 5, 6, 4, { INNER (POINTWISE, 8, 0), PART (POINTWISE, 9, 0), OUTPUT (1, 1, 2) }, 1 },
  { "two-readers",
    1,
    5,
    6,
    4,
    { INNER (POINTWISE, 8, 0), PART (POINTWISE, 9, 0), PART (POINTWISE, 3, 0), OUTPUT (1, 2),
      OUTPUT (3, 1) },
    2 },
  { "an-output",
    1,
    5,
    6,
    4,
    { { POINTWISE, 8, FROM (0), .output = TRUE }, PART (POINTWISE, 9, 0), OUTPUT (1, 2) },
    1 },
  { "not-an-output",
    1,
    8,
    8,
    8,
    { PART (POINTWISE, 20, 0),
      PART (WINDOW, 30, 0),
      INNER (JOIN, 0, 1, 2),
      { POINTWISE, 12, FROM (3), .output = TRUE } },
    2 },
  /* The first one would keep the memory of all three while the large layers run. */
  { "early",
    1,
    16,
    16,
    8,
    { PART (POINTWISE, 4, 0),
      INNER (POINTWISE, 300, 0),
      INNER (WINDOW, 300, 2),
      PART (POINTWISE, 60, 3),
      INNER (JOIN, 0, 1, 4),
      { POINTWISE, 4, FROM (5), .output = TRUE } },
    1 },
  /* As detectors end: pixels of large and small tensors, whole inputs behind each other. */
  { "heads",
    1,
    8,
    7,
    9,
    { PART (POINTWISE, 4, 0), BENT (WINDOW, 6, 0), PART (JOIN, 0, 1, 2), INNER (FLAT, 0, 3),
      PART (STRIDED, 10, 0), INNER (FLAT, 0, 5), STACKED (4, 6) },
    6 },
  /* The first input of the stack is copied into what its view shows. */
  { "heads-some",
    1,
    8,
    7,
    9,
    { INNER (SOFTMAX, 9, 0), PART (POINTWISE, 6, 0), PART (JOIN, 0, 1, 2), INNER (FLAT, 0, 3),
      INNER (STRIDED, 15, 0), INNER (FLAT, 0, 5), STACKED (4, 6, 6) },
    3 },
  { "heads-of-two",
    2,
    8,
    7,
    9,
    { PART (POINTWISE, 4, 0), PART (WINDOW, 6, 0), PART (JOIN, 0, 1, 2), INNER (FLAT, 0, 3),
      INNER (STRIDED, 10, 0), INNER (FLAT, 0, 5), STACKED (4, 6) },
    2 },
};

typedef struct
{
  Check check;
  GPtrArray *data;              /* constants */
  gint32 tensors[MAX_ROWS + 1]; /* the input, and what rows make */
  gint32 channels[MAX_ROWS + 1];
  gint32 at[MAX_ROWS + 1]; /* by row: the output that is twice what it makes; -1 = none */
} Model;

static gint32
add_floats (Model *m, guint rank, const gint32 *dims, gboolean sparse)
{
  gsize n = 1;
  for (guint i = 0; i < rank; i++)
    n *= (gsize) dims[i];
  gfloat *values = g_new (gfloat, n);
  g_ptr_array_add (m->data, values);
  for (gsize i = 0; i < n; i++)
    values[i] = sparse && g_rand_int_range (m->check.rand, 0, 20) > 0
                  ? 0
                  : (gfloat) g_rand_double_range (m->check.rand, -0.3, 0.3);
  return check_constant (&m->check, SL_DTYPE_F32, rank, dims, NULL, 0, 0, 0, values);
}

static void
add_convolution (Model *m, const Row *row, gint32 to)
{
  const gint32 from = row->from[0], in = m->channels[from],
               side = row->kind == POINTWISE || row->kind == SPARSE ? 1 : 3,
               stride = row->kind == STRIDED ? 2 : 1;
  const gboolean depthwise = row->kind == DEPTHWISE;
  const gint32 dims[4] = { depthwise ? 1 : row->channels, side, side,
                           row->kind == GROUPS ? 1 : in };
  const gint32 inputs[3] = { m->tensors[from], add_floats (m, 4, dims, row->kind == SPARSE),
                             add_floats (m, 1, &row->channels, FALSE) };
  check_node (&m->check, depthwise ? SL_OP_DEPTHWISE_CONV_2D : SL_OP_CONV_2D, inputs, 3, to,
              &(SlOpParams){ .window = { .padding = SL_PADDING_SAME,
                                         .stride_h = stride,
                                         .stride_w = stride,
                                         .dilation_h = 1,
                                         .dilation_w = 1,
                                         .depth_multiplier = 1 } });
}

static void
add_elements (Model *m, const Row *row, gint32 to)
{
  const gint32 slopes[] = { row->channels };
  gint32 inputs[2] = { m->tensors[row->from[0]] };
  if (row->kind == SLOPES)
    inputs[1] = add_floats (m, 1, slopes, FALSE);
  else if (row->n_from > 1)
    inputs[1] = m->tensors[row->from[1]];
  check_node (&m->check,
              row->kind == ADDITION  ? SL_OP_ADD
              : row->kind == PRODUCT ? SL_OP_MUL
              : row->kind == CURVE   ? SL_OP_LOGISTIC
              : row->kind == SLOPES  ? SL_OP_PRELU
                                     : SL_OP_SOFTMAX,
              inputs, row->kind == SLOPES || row->n_from > 1 ? 2 : 1, to,
              &(SlOpParams){ .softmax = { row->kind == SOFTMAX ? 1.0f : 0 } });
}

static void
add_pool (Model *m, const Row *row, gint32 to)
{
  check_node (
    &m->check, SL_OP_MAX_POOL_2D, &m->tensors[row->from[0]], 1, to,
    &(SlOpParams){
      .window = {
        .padding = SL_PADDING_SAME, .stride_h = 1, .stride_w = 1, .filter_h = 3, .filter_w = 3 } });
}

static void
add_flat (Model *m, const Case *c, const Row *row, gint32 to)
{
  const gint32 from = row->from[0], dims[3] = { c->n, -1, m->channels[from] };
  check_node (&m->check, SL_OP_RESHAPE,
              (const gint32[2]){ m->tensors[from], check_ints (&m->check, 3, dims) }, 2, to, NULL);
}

static void
add_join (Model *m, const Row *row, gint32 to)
{
  gint32 inputs[MAX_FROM];
  for (guint k = 0; k < row->n_from; k++)
    inputs[k] = m->tensors[row->from[k]];
  check_node (&m->check, SL_OP_CONCATENATION, inputs, row->n_from, to,
              &(SlOpParams){ .concat = { .axis = row->kind == STACK ? 1 : 3 } });
}

static gint32
channels_of (const Model *m, const Row *row)
{
  gint32 channels = row->kind == JOIN ? 0 : row->channels;
  for (guint k = 0; row->kind == JOIN && k < row->n_from; k++)
    channels += m->channels[row->from[k]];
  if (row->kind == FLAT || row->kind == STACK)
    channels = m->channels[row->from[0]];
  return channels;
}

static void
add_row (Model *m, const Case *c, const Row *row, guint i)
{
  Check *check = &m->check;
  const gint32 made = row->output ? check_output (check, SL_DTYPE_F32, 0, 0)
                                  : check_middle (check, SL_DTYPE_F32, 0, 0),
               to = row->curve ? check_middle (check, SL_DTYPE_F32, 0, 0) : made;
  if (row->kind == JOIN || row->kind == STACK)
    add_join (m, row, to);
  else if (row->kind == FLAT)
    add_flat (m, c, row, to);
  else if (row->kind == POOL)
    add_pool (m, row, to);
  else if (row->kind >= ADDITION)
    add_elements (m, row, to);
  else
    add_convolution (m, row, to);
  if (row->curve)
    check_node (check, SL_OP_HARD_SWISH, &to, 1, made, NULL);
  m->tensors[i + 1] = made;
  m->channels[i + 1] = channels_of (m, row);
}

/* @copies: each part is read by a sum, too, which is an output. */
static void
build (Model *m, const Case *c, guint32 seed, SlPrecision precision, gboolean copies)
{
  const gint32 dims[4] = { c->n, c->h, c->w, c->channels };
  check_init (&m->check, seed);
  sl_graph_set_precision (m->check.graph, precision);
  m->data = g_ptr_array_new_with_free_func (g_free);
  m->tensors[0] = check_input (&m->check, SL_DTYPE_F32, 4, dims, 0, 0);
  m->channels[0] = c->channels;
  guint n = 0;
  for (; n < MAX_ROWS && c->rows[n].kind != NONE; n++)
    add_row (m, c, &c->rows[n], n);
  for (guint i = 0; i < n; i++) {
    m->at[i + 1] = copies && c->rows[i].apart ? (gint32) m->check.n_outputs : -1;
    if (m->at[i + 1] >= 0)
      check_node (&m->check, SL_OP_ADD, (gint32[]){ m->tensors[i + 1], m->tensors[i + 1] }, 2,
                  check_output (&m->check, SL_DTYPE_F32, 0, 0), &(SlOpParams){ 0 });
  }
  check_prepare (&m->check);
  check_random (&m->check, SL_DTYPE_F32,
                sl_tensor_count (sl_graph_input_tensor (m->check.graph, 0)),
                m->check.input_data[0]);
}

static void
model_clear (Model *m)
{
  check_clear (&m->check);
  g_ptr_array_unref (m->data);
}

/* Runs twice, since memory of the first run must not matter. Each of @outputs is to be freed. */
static void
run (const Model *m, guint threads, void **outputs, SlSessionStats *stats)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlSession) session = sl_session_new (m->check.graph, threads, &error);
  g_assert_no_error (error);
  const void *input = m->check.input_data[0];
  for (guint i = 0; i < m->check.n_outputs; i++)
    outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (m->check.graph, i)->bytes);
  for (guint i = 0; i < 2; i++)
    g_assert_cmpint (sl_session_run (session, &input, outputs), ==, SL_STATUS_OK);
  sl_session_stats (session, stats);
}

static void
free_outputs (const Model *m, void **outputs)
{
  for (guint i = 0; i < m->check.n_outputs; i++)
    sl_tensor_buffer_free (outputs[i]);
}

/* Compares the rows of part @row in @joined, whose pixels have @channels, from @first on. */
static void
compare_part (const Model *m, gint32 row, void *const *outputs, const gfloat *joined,
              gint32 channels, gint32 first)
{
  const gint32 part = m->channels[row];
  const gfloat *twice = outputs[m->at[row]];
  const gsize pixels =
    sl_tensor_count (sl_graph_output_tensor (m->check.graph, (guint) m->at[row])) / (gsize) part;
  for (gsize i = 0; i < pixels; i++)
    for (gint32 k = 0; k < part; k++)
      g_assert_cmpfloat (2 * joined[i * (gsize) channels + (gsize) (first + k)], ==,
                         twice[i * (gsize) part + (gsize) k]);
}

/* Compares parts of @row, and of those inside of it. */
static void
compare_join (const Model *m, const Case *c, gint32 row, void *const *outputs, const gfloat *joined,
              gint32 channels, gint32 first)
{
  const Row *join = &c->rows[row - 1];
  for (guint k = 0; k < join->n_from; k++) {
    const gint32 from = join->from[k];
    if (from > 0 && c->rows[from - 1].kind == JOIN)
      compare_join (m, c, from, outputs, joined, channels, first);
    else if (from > 0 && m->at[from] >= 0)
      compare_part (m, from, outputs, joined, channels, first);
    first += m->channels[from];
  }
}

/* Elements of what @row makes in the picture. */
static gsize
elements_of (const Model *m, gint32 row)
{
  return sl_tensor_count (sl_graph_tensor (m->check.graph, m->tensors[row]));
}

/* Compares the inputs of @row, which lie behind each other in the only image. */
static void
compare_stack (const Model *m, const Case *c, gint32 row, void *const *outputs,
               const gfloat *joined)
{
  const Row *stack = &c->rows[row - 1];
  for (guint k = 0; c->n == 1 && k < stack->n_from; k++) {
    const gint32 flat = stack->from[k], from = c->rows[flat - 1].from[0];
    if (c->rows[from - 1].kind == JOIN)
      compare_join (m, c, from, outputs, joined, m->channels[from], 0);
    else if (m->at[from] >= 0)
      compare_part (m, from, outputs, joined, m->channels[from], 0);
    joined += elements_of (m, flat);
  }
}

static void
compare (const Model *copied, const Case *c, void *const *reference, void *const *outputs)
{
  guint output = 0;
  for (gint32 row = 1; row <= MAX_ROWS && c->rows[row - 1].kind != NONE; row++) {
    if (!c->rows[row - 1].output)
      continue;
    const gsize bytes = sl_graph_output_tensor (copied->check.graph, output)->bytes;
    g_assert_cmpmem (outputs[output], bytes, reference[output], bytes);
    if (c->rows[row - 1].kind == JOIN)
      compare_join (copied, c, row, reference, outputs[output], copied->channels[row], 0);
    if (c->rows[row - 1].kind == STACK)
      compare_stack (copied, c, row, reference, outputs[output]);
    output++;
  }
}

/* Bytes of the arena in which every tensor has memory of its own. */
static gsize
arena_of_copies (const SlGraph *graph)
{
  guint fullest;
  gsize bytes = sl_memory_at_once (graph, &fullest) - sl_graph_input_tensor (graph, 0)->bytes;
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    bytes -= sl_graph_output_tensor (graph, i)->bytes;
  return bytes;
}

/* Max pooling takes no binary16: a CAST stands between it and the concatenation. */
static guint
parts_of (const Case *c, SlPrecision precision)
{
  guint n = c->parts;
  for (guint i = 0; precision == SL_PRECISION_FP16 && i < MAX_ROWS; i++)
    n -= c->rows[i].kind == POOL && c->rows[i].apart;
  return n;
}

static void
check_case (const Case *c, SlPrecision precision)
{
  for (guint threads = 1; threads <= 3; threads++) {
    Model parts, copied;
    SlSessionStats stats, copied_stats;
    void *outputs[SL_MAX_IO], *reference[SL_MAX_IO];
    build (&parts, c, 5, precision, FALSE);
    build (&copied, c, 5, precision, TRUE);
    run (&parts, threads, outputs, &stats);
    run (&copied, threads, reference, &copied_stats);
    g_assert_cmpuint (copied_stats.parts, ==, 0);
    if (threads == 1)
      g_assert_cmpuint (stats.arena_bytes, <=, arena_of_copies (parts.check.graph));
    g_assert_cmpuint (stats.parts, ==, parts_of (c, precision));
    compare (&copied, c, reference, outputs);
    free_outputs (&parts, outputs);
    free_outputs (&copied, reference);
    model_clear (&parts);
    model_clear (&copied);
  }
}

static void
on_every_isa (const Case *c, SlPrecision precision)
{
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n = sl_float_isas (isas);
  for (guint i = 0; i < n; i++)
    for (gint wide = 0; wide < 2; wide++) {
      sl_float_isa_force (isas[i]);
      sl_float_wide_force (wide);
      check_case (c, precision);
    }
  sl_float_isa_force (NULL);
  sl_float_wide_force (-1);
}

static void
test_floats (gconstpointer data)
{
  on_every_isa (data, SL_PRECISION_FLOAT);
}

static void
test_halves (gconstpointer data)
{
  on_every_isa (data, SL_PRECISION_FP16);
}

TEST_MAIN (int argc, char **argv)
{
  g_setenv ("SIGHTLINE_BACKEND", "float", TRUE);
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *floats = g_strconcat ("/core/parts/floats/", cases[i].name, NULL),
                    *halves = g_strconcat ("/core/parts/halves/", cases[i].name, NULL);
    g_test_add_data_func (floats, &cases[i], test_floats);
    g_test_add_data_func (halves, &cases[i], test_halves);
  }
  return g_test_run ();
}
