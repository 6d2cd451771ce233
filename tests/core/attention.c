/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attention written out in the spellings of exporters becomes one node, and gives what its
 * definition says in double precision: every instruction set, one thread and two, and the plain
 * kernel. So does attention whose keys and values are quantised. */
#include <math.h>
#include <string.h>

#include "core/backends/float/isa.h"
#include "core/backends/int8/isa.h"
#include "core/graph/attention.h"
#include "tests/core/opcheck.h"
#include "tests/support/program.h"

#define LOW (-FLT_MAX)

/* How queries, keys and values come. */
typedef enum
{
  HEADS_FIRST, /* [batch,heads,rows,depth] */
  ROWS_FIRST,  /* [batch,rows,heads * depth] each */
  FLAT,        /* the same, with batch and heads as one dimension behind */
  SLICED,      /* [batch,rows,3 * heads * depth], parts in a dimension of their own */
  GATHERED,    /* likewise, parts taken by GATHER */
  UNPACKED,    /* likewise, by UNPACK */
  CHANNELS     /* likewise, parts cut from the channels by SPLIT */
} Source;

typedef enum
{
  SCORES_TIMES,
  SCORES_DIVIDED,
  QUERIES_TIMES,
  BOTH_TIMES,
  BETA,
  NEGATIVE
} Scale;

typedef enum
{
  NO_MASK,
  PADDING,      /* numbers for each key, an input, added first operand */
  BIAS,         /* numbers for each head, query and key, a constant */
  WINDOWS,      /* likewise, then numbers for each batch, whose dimension is apart */
  TRUTH,        /* a constant of booleans, by SELECT */
  TRUTH_FILLS,  /* its opposite */
  TRUTH_KEYS,   /* booleans for each query alone: none of its keys, or all; an input */
  CAUSAL,       /* numbers: 0, and the least number behind a query's place */
  CAUSAL_TRUTH, /* booleans, and -infinity */
  CAUSAL_TEXT,  /* as CAUSAL, with the -10000 of text models */
  TRUTH_TEXT,   /* as CAUSAL_TRUTH, with it */
  CAUSAL_TIMES, /* hidden scores times 0, less 10000 */
  TIMES_HALF,   /* likewise, but some of those that are shown are halved */
  ALMOST_CAUSAL /* what is hidden is only 100 less */
} Mask;

typedef struct
{
  gint32 batch, heads, key_heads, rows, keys, depth, width;
  Source source;
  Scale scale;
  Mask mask;
  gboolean by_row;  /* keys are multiplied row by row, not transposed */
  gboolean turned;  /* the result is [batch,rows,heads * width] */
  gboolean rounded; /* keys and values are quantised */
} Case;

static const Case cases[] = {
  { 1, 1, 1, 1, 1, 1, 1, HEADS_FIRST, SCORES_TIMES, NO_MASK, TRUE, FALSE },
  { 1, 1, 1, 3, 2, 5, 7, HEADS_FIRST, SCORES_DIVIDED, NO_MASK, FALSE, FALSE },
  { 2, 3, 3, 49, 49, 32, 32, GATHERED, QUERIES_TIMES, WINDOWS, FALSE, TRUE },
  { 1, 6, 6, 197, 197, 64, 64, SLICED, BOTH_TIMES, NO_MASK, FALSE, TRUE },
  { 2, 2, 2, 33, 33, 16, 16, UNPACKED, BETA, NO_MASK, TRUE, TRUE },
  { 2, 3, 3, 20, 20, 24, 24, CHANNELS, SCORES_TIMES, BIAS, FALSE, TRUE },
  { 2, 4, 4, 17, 29, 8, 12, ROWS_FIRST, SCORES_TIMES, PADDING, FALSE, TRUE },
  { 2, 4, 4, 17, 29, 8, 12, FLAT, SCORES_TIMES, NO_MASK, FALSE, TRUE },
  { 1, 2, 2, 9, 600, 40, 48, HEADS_FIRST, SCORES_TIMES, TRUTH, TRUE, FALSE },
  { 1, 2, 2, 9, 600, 40, 48, HEADS_FIRST, NEGATIVE, TRUTH_FILLS, TRUE, TRUE },
  { 1, 2, 2, 12, 50, 40, 48, HEADS_FIRST, SCORES_TIMES, TRUTH_KEYS, TRUE, TRUE },
  { 2, 4, 2, 70, 70, 16, 16, HEADS_FIRST, SCORES_TIMES, CAUSAL, TRUE, FALSE },
  { 2, 4, 1, 70, 75, 16, 16, HEADS_FIRST, SCORES_DIVIDED, CAUSAL_TRUTH, TRUE, FALSE },
  { 1, 1, 1, 700, 1300, 33, 31, ROWS_FIRST, QUERIES_TIMES, CAUSAL, FALSE, TRUE },
  { 1, 2, 2, 40, 40, 16, 16, SLICED, SCORES_TIMES, ALMOST_CAUSAL, FALSE, TRUE },
  { 1, 2, 2, 40, 40, 64, 16, HEADS_FIRST, BETA, CAUSAL_TEXT, FALSE, TRUE },
  { 1, 2, 2, 33, 40, 16, 16, HEADS_FIRST, SCORES_TIMES, TRUTH_TEXT, FALSE, TRUE },
  { 2, 2, 2, 33, 40, 16, 16, HEADS_FIRST, SCORES_DIVIDED, CAUSAL_TIMES, FALSE, TRUE },
  { 1, 1, 1, 65, 1100, 64, 130, ROWS_FIRST, SCORES_TIMES, NO_MASK, FALSE, TRUE },
  { 1, 1, 1, 5, 40, 512, 512, HEADS_FIRST, SCORES_TIMES, NO_MASK, TRUE, FALSE },
  { 3, 5, 5, 1, 77, 20, 20, ROWS_FIRST, NEGATIVE, NO_MASK, FALSE, TRUE },
};

static const Case rounded_cases[] = {
  { 1, 1, 1, 1, 1, 1, 1, HEADS_FIRST, SCORES_TIMES, NO_MASK, TRUE, FALSE, TRUE },
  { 1, 1, 1, 3, 2, 5, 7, HEADS_FIRST, SCORES_DIVIDED, NO_MASK, FALSE, FALSE, TRUE },
  { 2, 3, 3, 49, 49, 32, 32, GATHERED, QUERIES_TIMES, WINDOWS, FALSE, TRUE, TRUE },
  { 1, 3, 3, 197, 197, 64, 64, SLICED, BOTH_TIMES, NO_MASK, FALSE, TRUE, TRUE },
  { 2, 3, 3, 20, 20, 24, 24, CHANNELS, SCORES_TIMES, BIAS, FALSE, TRUE, TRUE },
  { 1, 2, 2, 9, 600, 40, 48, HEADS_FIRST, NEGATIVE, TRUTH_FILLS, TRUE, TRUE, TRUE },
  { 2, 4, 2, 70, 70, 16, 16, HEADS_FIRST, SCORES_TIMES, CAUSAL, TRUE, FALSE, TRUE },
  { 1, 1, 1, 90, 1300, 33, 31, ROWS_FIRST, QUERIES_TIMES, CAUSAL, FALSE, TRUE, TRUE },
  { 1, 1, 1, 5, 40, 512, 512, HEADS_FIRST, SCORES_TIMES, NO_MASK, TRUE, FALSE, TRUE },
  { 1, 1, 1, 2, 1, 511, 1, HEADS_FIRST, SCORES_TIMES, NO_MASK, TRUE, FALSE, TRUE },
};

/** A graph of a case. @memory: constants, until the check is cleared; @y, @size: (nullable): what
 * comes out, and how large what it adds up is, once they are computed for its inputs */
typedef struct
{
  const Case *c;
  Check check;
  double *y, *size;
  gint32 operands[3];
  gint32 mask;
  GPtrArray *memory;
} Model;

static gint32
floats (Model *m, guint rank, const gint32 *dims, gfloat *values)
{
  g_ptr_array_add (m->memory, values);
  return check_constant (&m->check, SL_DTYPE_F32, rank, dims, NULL, 0, 0, 0, values);
}

/* Random numbers of operands are in -2..2. */
#define QUANTUM (2.0f / 127)

static gint32
quantised (Model *m, gint32 x, gfloat scale)
{
  const gint32 y = check_middle (&m->check, SL_DTYPE_I8, scale, 0);
  check_node (&m->check, SL_OP_QUANTIZE, &x, 1, y, NULL);
  return y;
}

static gint32
number (Model *m, gfloat value)
{
  gfloat *values = g_new (gfloat, 1);
  *values = value;
  return floats (m, 0, NULL, values);
}

static gint32
node (Model *m, SlOpType op, gint32 a, gint32 b, gint32 c, const SlOpParams *params)
{
  const gint32 inputs[3] = { a, b, c }, y = check_middle (&m->check, SL_DTYPE_F32, 0, 0);
  check_node (&m->check, op, inputs, c >= 0 ? 3 : b >= 0 ? 2 : 1, y, params);
  return y;
}

static gint32
reshape (Model *m, gint32 x, guint n, const gint32 *dims)
{
  SlOpParams params = { .reshape = { .count = n } };
  memcpy (params.reshape.dims, dims, n * sizeof dims[0]);
  return node (m, SL_OP_RESHAPE, x, -1, -1, &params);
}

static gint32
ints (Model *m, guint n, const gint32 *values)
{
  gint32 *kept = g_memdup2 (values, n * sizeof values[0]);
  g_ptr_array_add (m->memory, kept);
  return check_ints (&m->check, n, kept);
}

static gint32
transpose (Model *m, gint32 x, guint n, const gint32 *order)
{
  return node (m, SL_OP_TRANSPOSE, x, ints (m, n, order), -1, NULL);
}

#define RESHAPE(m, x, ...) \
  reshape (m, x, G_N_ELEMENTS (((const gint32[]){ __VA_ARGS__ })), (const gint32[]){ __VA_ARGS__ })
#define TRANSPOSE(m, x, ...)                                         \
  transpose (m, x, G_N_ELEMENTS (((const gint32[]){ __VA_ARGS__ })), \
             (const gint32[]){ __VA_ARGS__ })
#define DIMS(...) ((const gint32[]){ __VA_ARGS__ })

static gint32
heads_of (const Case *c, guint which)
{
  return which == 0 ? c->heads : c->key_heads;
}

static gint32
rows_of (const Case *c, guint which)
{
  return which == 0 ? c->rows : c->keys;
}

static gint32
columns_of (const Case *c, guint which)
{
  return which == 2 ? c->width : c->depth;
}

static void
three_inputs (Model *m)
{
  const Case *c = m->c;
  for (guint i = 0; i < 3; i++) {
    const gint32 heads = heads_of (c, i), rows = rows_of (c, i), columns = columns_of (c, i);
    if (c->source == HEADS_FIRST) {
      m->operands[i] =
        check_input (&m->check, SL_DTYPE_F32, 4, DIMS (c->batch, heads, rows, columns), 0, 0);
      continue;
    }
    const gint32 x =
      check_input (&m->check, SL_DTYPE_F32, 3, DIMS (c->batch, rows, heads * columns), 0, 0);
    m->operands[i] = TRANSPOSE (m, RESHAPE (m, x, c->batch, rows, heads, columns), 0, 2, 1, 3);
    if (c->source == FLAT)
      m->operands[i] = RESHAPE (m, m->operands[i], c->batch * heads, rows, columns);
  }
}

/* Operands as outputs of one node. */
static void
cut (Model *m, SlOpType op, const gint32 *inputs, guint n, gint32 axis)
{
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < 3; i++)
    m->operands[i] = check_middle (&m->check, SL_DTYPE_F32, 0, 0);
  sl_graph_add_node (m->check.graph, op, 0, inputs, n, m->operands, 3,
                     &(SlOpParams){ .axis = { .axis = axis, .count = 3 } }, &error);
  g_assert_no_error (error);
}

static void
one_input (Model *m)
{
  const Case *c = m->c;
  const gint32 x = check_input (&m->check, SL_DTYPE_F32, 3,
                                DIMS (c->batch, c->rows, 3 * c->heads * c->depth), 0, 0);
  if (c->source == CHANNELS) {
    cut (m, SL_OP_SPLIT, DIMS (check_ints (&m->check, 1, DIMS (2)), x), 2, 2);
    for (guint i = 0; i < 3; i++)
      m->operands[i] = TRANSPOSE (
        m, RESHAPE (m, m->operands[i], c->batch, c->rows, c->heads, c->depth), 0, 2, 1, 3);
    return;
  }
  const gint32 parts =
    TRANSPOSE (m, RESHAPE (m, x, c->batch, c->rows, 3, c->heads, c->depth), 2, 0, 3, 1, 4);
  if (c->source == UNPACKED)
    cut (m, SL_OP_UNPACK, &parts, 1, 0);
  for (gint32 i = 0; i < 3 && c->source == GATHERED; i++) {
    gint32 *place = g_memdup2 (&i, sizeof i);
    g_ptr_array_add (m->memory, place);
    const gint32 at = check_constant (&m->check, SL_DTYPE_I32, 0, NULL, NULL, 0, 0, 0, place);
    m->operands[i] = node (m, SL_OP_GATHER, parts, at, -1, NULL);
  }
  for (gint32 i = 0; i < 3 && c->source == SLICED; i++) {
    const gint32 begin = ints (m, 5, DIMS (i, 0, 0, 0, 0)),
                 size = ints (m, 5, DIMS (1, c->batch, c->heads, c->rows, c->depth));
    m->operands[i] = RESHAPE (m, node (m, SL_OP_SLICE, parts, begin, size, NULL), c->batch,
                              c->heads, c->rows, c->depth);
  }
}

/* Element [batch,head,row,column] of queries, keys or values, which may serve several heads. */
static double
element_of (const Model *m, guint which, gint32 b, gint32 h, gint32 row, gint32 column)
{
  const Case *c = m->c;
  const gint32 heads = heads_of (c, which), rows = rows_of (c, which),
               columns = columns_of (c, which);
  h = h * heads / c->heads;
  if (c->source >= SLICED)
    return (double) ((const gfloat *) m->check
                       .input_data[0])[((b * rows + row) * 3 + (gint32) which) * heads * columns
                                       + h * columns + column];
  const gfloat *data = m->check.input_data[which];
  if (c->source == HEADS_FIRST)
    return (double) data[((b * heads + h) * rows + row) * columns + column];
  return (double) data[((b * rows + row) * heads + h) * columns + column];
}

static double
operand (const Model *m, guint which, gint32 b, gint32 h, gint32 row, gint32 column)
{
  const double x = element_of (m, which, b, h, row, column), step = (double) QUANTUM;
  return m->c->rounded && which > 0 ? nearbyint (x / step) * step : x;
}

static double
scale_of (const Case *c)
{
  return (c->scale == NEGATIVE ? -1 : 1) / sqrt (c->depth);
}

static gint32
past_of (const Case *c)
{
  return c->keys - c->rows;
}

/* What a constant mask has for a query and a key. */
static gboolean
shows (const Case *c, gint32 row, gint32 key)
{
  return c->mask >= CAUSAL ? key <= row + past_of (c) : (row * 7 + key * 3) % 5 != 0;
}

/* What shown scores are multiplied by. */
static double
kept_share (const Case *c, gint32 key)
{
  return c->mask == TIMES_HALF && key == 3 ? 0.5 : 1;
}

static double
bias_of (gint32 h, gint32 row, gint32 key)
{
  return ((h * 5 + row * 3 + key * 11) % 17) / 8.0 - 1;
}

static double
window_of (gint32 b, gint32 row, gint32 key)
{
  return (row + key + b) % 3 == 0 ? -100 : 0;
}

static double
masked (const Model *m, double score, gint32 b, gint32 h, gint32 row, gint32 key)
{
  const Case *c = m->c;
  switch (c->mask) {
    case PADDING:
      return score + (double) ((const gfloat *) m->check.input_data[3])[b * c->keys + key];
    case BIAS:
      return score + bias_of (h, row, key);
    case WINDOWS:
      return score + bias_of (h, row, key) + window_of (b, row, key);
    case TRUTH_KEYS:
      return ((const guint8 *) m->check.input_data[3])[row] ? score : -3;
    case ALMOST_CAUSAL:
      return shows (c, row, key) ? score : score - 100;
    case TIMES_HALF:
      return shows (c, row, key) ? score * kept_share (c, key) : -INFINITY;
    case NO_MASK:
      return score;
    default:
      return shows (c, row, key) ? score : -INFINITY;
  }
}

static gint32
truth_constant (Model *m, gboolean opposite)
{
  const Case *c = m->c;
  guint8 *values = g_malloc ((gsize) (c->rows * c->keys));
  for (gint32 i = 0; i < c->rows * c->keys; i++)
    values[i] = shows (c, i / c->keys, i % c->keys) != opposite;
  g_ptr_array_add (m->memory, values);
  return check_constant (&m->check, SL_DTYPE_BOOL, 2, DIMS (c->rows, c->keys), NULL, 0, 0, 0,
                         values);
}

static gint32
shown_constant (Model *m, gfloat shown, gfloat hidden)
{
  const Case *c = m->c;
  gfloat *values = g_new (gfloat, c->rows * c->keys);
  for (gint32 i = 0; i < c->rows * c->keys; i++)
    values[i] =
      shows (c, i / c->keys, i % c->keys) ? shown * (gfloat) kept_share (c, i % c->keys) : hidden;
  return floats (m, 2, DIMS (c->rows, c->keys), values);
}

static gint32
bias_constant (Model *m)
{
  const Case *c = m->c;
  gfloat *values = g_new (gfloat, c->heads * c->rows * c->keys);
  for (gint32 i = 0; i < c->heads * c->rows * c->keys; i++)
    values[i] = (gfloat) bias_of (i / c->keys / c->rows, i / c->keys % c->rows, i % c->keys);
  return floats (m, 3, DIMS (c->heads, c->rows, c->keys), values);
}

static gint32
add_windows (Model *m, gint32 scores)
{
  const Case *c = m->c;
  gfloat *values = g_new (gfloat, c->batch * c->rows * c->keys);
  for (gint32 i = 0; i < c->batch * c->rows * c->keys; i++)
    values[i] = (gfloat) window_of (i / c->keys / c->rows, i / c->keys % c->rows, i % c->keys);
  const gint32 all = floats (m, 5, DIMS (1, c->batch, 1, c->rows, c->keys), values);
  scores = RESHAPE (m, scores, 1, c->batch, c->heads, c->rows, c->keys);
  return RESHAPE (m, node (m, SL_OP_ADD, scores, all, -1, NULL), c->batch, c->heads, c->rows,
                  c->keys);
}

static gint32
add_mask (Model *m, gint32 scores)
{
  const Case *c = m->c;
  switch (c->mask) {
    case PADDING:
      m->mask = check_input (&m->check, SL_DTYPE_F32, 4, DIMS (c->batch, 1, 1, c->keys), 0, 0);
      return node (m, SL_OP_ADD, m->mask, scores, -1, NULL);
    case BIAS:
      return node (m, SL_OP_ADD, scores, bias_constant (m), -1, NULL);
    case WINDOWS:
      return add_windows (m, node (m, SL_OP_ADD, scores, bias_constant (m), -1, NULL));
    case TRUTH_KEYS:
      m->mask = check_input (&m->check, SL_DTYPE_BOOL, 2, DIMS (c->rows, 1), 0, 0);
      return node (m, SL_OP_SELECT, m->mask, scores, number (m, -3), NULL);
    case TRUTH:
    case CAUSAL_TRUTH:
    case TRUTH_TEXT:
      return node (m, SL_OP_SELECT, truth_constant (m, FALSE), scores,
                   number (m, c->mask == TRUTH_TEXT ? -10000 : -INFINITY), NULL);
    case TRUTH_FILLS:
      return node (m, SL_OP_SELECT, truth_constant (m, TRUE), number (m, -INFINITY), scores, NULL);
    case CAUSAL_TIMES:
    case TIMES_HALF:
      scores = node (m, SL_OP_MUL, scores, shown_constant (m, 1, 0), -1, NULL);
      return node (m, SL_OP_SUB, scores, shown_constant (m, 0, 10000), -1, NULL);
    case CAUSAL:
      return node (m, SL_OP_ADD, scores, shown_constant (m, 0, LOW), -1, NULL);
    case CAUSAL_TEXT:
      return node (m, SL_OP_ADD, scores, shown_constant (m, 0, -10000), -1, NULL);
    case ALMOST_CAUSAL:
      return node (m, SL_OP_ADD, scores, shown_constant (m, 0, -100), -1, NULL);
    default:
      return scores;
  }
}

static gint32
scaled (Model *m, gint32 x, gboolean is_scores)
{
  const double scale = scale_of (m->c);
  const Scale how = m->c->scale;
  if (how == SCORES_DIVIDED && is_scores)
    return node (m, SL_OP_DIV, x, number (m, (gfloat) (1 / scale)), -1, NULL);
  if ((how == SCORES_TIMES || how == NEGATIVE) && is_scores)
    return node (m, SL_OP_MUL, number (m, (gfloat) scale), x, -1, NULL);
  if (how == QUERIES_TIMES && !is_scores)
    return node (m, SL_OP_MUL, x, number (m, (gfloat) scale), -1, NULL);
  if (how == BOTH_TIMES && !is_scores)
    return node (m, SL_OP_MUL, x, number (m, (gfloat) sqrt (scale)), -1, NULL);
  return x;
}

/* Heads of queries that share one of keys become rows of one matrix. */
static gint32
product (Model *m, gint32 a, gint32 b, gint32 columns, gboolean by_row)
{
  const Case *c = m->c;
  const SlOpParams params = { .matmul = { .transpose_b = by_row } };
  const gboolean shared = c->heads != c->key_heads;
  const gint32 together = c->heads / c->key_heads * c->rows,
               inner = a == m->operands[0] ? c->depth : c->keys;
  if (shared)
    a = RESHAPE (m, a, c->batch, c->key_heads, together, inner);
  const gint32 y = node (m, SL_OP_BATCH_MATMUL, a, b, -1, &params);
  return shared ? RESHAPE (m, y, c->batch, c->heads, c->rows, columns) : y;
}

static void
build (Model *m, const Case *c, guint32 seed)
{
  const SlOpParams softmax = { .softmax = { c->scale == BETA ? (gfloat) scale_of (c) : 1 } };
  *m = (Model){ .c = c, .mask = -1, .memory = g_ptr_array_new_with_free_func (g_free) };
  check_init (&m->check, seed);
  (c->source < SLICED ? three_inputs : one_input) (m);
  m->operands[0] = scaled (m, m->operands[0], FALSE);
  if (!c->by_row)
    m->operands[1] = c->source == FLAT ? TRANSPOSE (m, m->operands[1], 0, 2, 1)
                                       : TRANSPOSE (m, m->operands[1], 0, 1, 3, 2);
  if (c->scale == BOTH_TIMES)
    m->operands[1] = scaled (m, m->operands[1], FALSE);
  const gfloat times = c->scale == BOTH_TIMES ? (gfloat) sqrt (scale_of (c)) : 1;
  for (guint i = 1; c->rounded && i < 3; i++)
    m->operands[i] = quantised (m, m->operands[i], i == 1 ? times * QUANTUM : QUANTUM);
  gint32 scores = scaled (m, product (m, m->operands[0], m->operands[1], c->keys, c->by_row), TRUE);
  const gint32 shares = node (m, SL_OP_SOFTMAX, add_mask (m, scores), -1, -1, &softmax);
  gint32 y = product (m, shares, m->operands[2], c->width, FALSE);
  if (c->turned && c->source == FLAT)
    y = RESHAPE (m, y, c->batch, c->heads, c->rows, c->width);
  if (c->turned)
    y = TRANSPOSE (m, y, 0, 2, 1, 3);
  SlOpParams params = { .reshape = { .count = 1, .dims = { -1 } } };
  check_node (&m->check, SL_OP_RESHAPE, &y, 1, check_output (&m->check, SL_DTYPE_F32, 0, 0),
              &params);
  check_prepare (&m->check);
}

static void
model_clear (Model *m)
{
  g_free (m->y);
  g_free (m->size);
  check_clear (&m->check);
  g_ptr_array_unref (m->memory);
}

/* The row of the result of a query, and how large what it adds up is. */
static void
expected_row (const Model *m, gint32 b, gint32 h, gint32 row, double *y, double *size)
{
  const Case *c = m->c;
  g_autofree double *scores = g_new (double, c->keys);
  double highest = -INFINITY, sum = 0;
  for (gint32 k = 0; k < c->keys; k++) {
    double score = 0;
    for (gint32 d = 0; d < c->depth; d++)
      score += operand (m, 0, b, h, row, d) * operand (m, 1, b, h, k, d);
    scores[k] = masked (m, score * scale_of (c), b, h, row, k);
    highest = fmax (highest, scores[k]);
  }
  for (gint32 k = 0; k < c->keys; k++) {
    scores[k] = exp (scores[k] - highest);
    sum += scores[k];
  }
  for (gint32 d = 0; d < c->width; d++) {
    y[d] = size[d] = 0;
    for (gint32 k = 0; k < c->keys; k++) {
      y[d] += scores[k] / sum * operand (m, 2, b, h, k, d);
      size[d] += fabs (scores[k] / sum * operand (m, 2, b, h, k, d));
    }
  }
}

/* The same for every instruction set, so computed once. */
static void
expect (Model *m)
{
  const Case *c = m->c;
  if (m->y != NULL)
    return;
  const gsize rows = (gsize) (c->batch * c->heads * c->rows), width = (gsize) c->width;
  m->y = g_new (double, rows *width);
  m->size = g_new (double, rows *width);
  for (gint32 i = 0; i < (gint32) rows; i++)
    expected_row (m, i / c->rows / c->heads, i / c->rows % c->heads, i % c->rows,
                  m->y + (gsize) i * width, m->size + (gsize) i * width);
}

static void
compare (Model *m, const gfloat *got)
{
  const Case *c = m->c;
  const double bound = c->rounded ? 0.05 : 1e-5; /* queries and shares have at least 127 steps */
  expect (m);
  for (gint32 i = 0; i < c->batch * c->heads * c->rows; i++) {
    const gint32 row = i % c->rows, h = i / c->rows % c->heads, b = i / c->rows / c->heads;
    const gint32 at = c->turned ? ((b * c->rows + row) * c->heads + h) * c->width : i * c->width;
    const double *y = m->y + i * c->width, *size = m->size + i * c->width;
    for (gint32 d = 0; d < c->width; d++)
      g_assert_cmpfloat (fabs ((double) got[at + d] - y[d]), <=, bound * fmax (1, size[d]));
  }
}

static guint
count (const Model *m, SlOpType op)
{
  guint n = 0;
  for (guint i = 0; i < sl_graph_n_nodes (m->check.graph); i++)
    n += sl_graph_node (m->check.graph, i)->op == op;
  return n;
}

static void
run_case (Model *m, gboolean plain, guint threads)
{
  gfloat *out = check_run (&m->check, plain, threads);
  compare (m, out);
  sl_tensor_buffer_free (out);
}

static void
fill_mask (const Model *m)
{
  guint8 *truths = m->check.input_data[3];
  for (gint32 i = 0; m->c->mask == TRUTH_KEYS && i < m->c->rows; i++)
    truths[i] = i % 3 != 0;
}

static void
test_spellings (void)
{
  const SlFloatIsa *isas[SL_FLOAT_MAX_ISAS];
  const guint n = sl_float_isas (isas);
  for (guint k = 0; k < G_N_ELEMENTS (cases); k++) {
    Model m;
    g_test_message ("case %u", k);
    build (&m, &cases[k], k);
    fill_mask (&m);
    g_assert_cmpuint (count (&m, SL_OP_ATTENTION), ==, 1);
    g_assert_cmpuint (count (&m, SL_OP_SOFTMAX) + count (&m, SL_OP_BATCH_MATMUL), ==, 0);
    g_assert_cmpuint (count (&m, SL_OP_TRANSPOSE) + count (&m, SL_OP_SLICE), ==, 0);
    const SlNode *node = sl_graph_node (m.check.graph, 0);
    g_assert_cmpint (node->params.attention->period, ==,
                     m.c->mask >= CAUSAL && m.c->mask != ALMOST_CAUSAL ? m.c->rows : 0);
    for (guint i = 0; i < n; i++) {
      sl_float_isa_force (isas[i]);
      for (guint threads = 1; threads <= 2; threads++)
        run_case (&m, FALSE, threads);
    }
    sl_float_isa_force (NULL);
    run_case (&m, TRUE, 1);
    model_clear (&m);
  }
}

/* Keys and values that are quantised: every instruction set of 8 bits, and the plain kernel. */
static void
test_rounded (void)
{
  const SlInt8Isa *isas[SL_INT8_MAX_ISAS];
  const guint n = sl_int8_isas (isas);
  for (guint k = 0; k < G_N_ELEMENTS (rounded_cases); k++) {
    Model m;
    g_test_message ("case %u", k);
    build (&m, &rounded_cases[k], k);
    g_assert_cmpuint (count (&m, SL_OP_ATTENTION), ==, 1);
    g_assert_cmpuint (count (&m, SL_OP_QUANTIZE) + count (&m, SL_OP_BATCH_MATMUL), ==, 0);
    for (guint i = 0; i < n; i++) {
      sl_int8_isa_force (isas[i]);
      for (guint threads = 1; threads <= 2; threads++)
        run_case (&m, FALSE, threads);
    }
    sl_int8_isa_force (NULL);
    run_case (&m, TRUE, 1);
    model_clear (&m);
  }
}

/* Numbers that are not finite: a query's spoil its own row, infinite keys are the largest. */
static void
test_rounded_nan (void)
{
  static const Case c = {
    1, 1, 1, 6, 5, 8, 8, HEADS_FIRST, SCORES_TIMES, NO_MASK, TRUE, FALSE, TRUE
  };
  Model m;
  build (&m, &c, 3);
  gfloat *q = m.check.input_data[0];
  q[9] = NAN; /* of query 1 */
  q[17] = INFINITY;
  for (guint i = 0; i < 2; i++) {
    gfloat *out = check_run (&m.check, i == 1, 1);
    for (guint k = 0; k < 6 * 8; k++)
      g_assert_cmpint (isnan (out[k]) != 0, ==, k / 8 == 1 || k / 8 == 2);
    sl_tensor_buffer_free (out);
  }
  for (guint i = 0; i < 6 * 8; i++)
    q[i] = 0.25f;
  ((gfloat *) m.check.input_data[1])[3] = INFINITY;
  ((gfloat *) m.check.input_data[1])[8] = -1e30f;
  for (guint i = 0; i < 2; i++) {
    gfloat *out = check_run (&m.check, i == 1, 1);
    for (guint k = 0; k < 6 * 8; k++)
      g_assert_true (isfinite (out[k]));
    sl_tensor_buffer_free (out);
  }
  model_clear (&m);
}

/* Where only one of the two products has 8 bits, or there is no softmax, it stays a product whose
 * rows are rounded. */
static void
test_rounded_product (void)
{
  Model m = { .memory = g_ptr_array_new () };
  check_init (&m.check, 5);
  const gint32 x = check_input (&m.check, SL_DTYPE_F32, 2, DIMS (4, 9), 0, 0),
               k = check_input (&m.check, SL_DTYPE_F32, 2, DIMS (9, 5), 0, 0),
               v = check_input (&m.check, SL_DTYPE_F32, 2, DIMS (5, 3), 0, 0);
  const gint32 y = check_output (&m.check, SL_DTYPE_F32, 0, 0),
               scores = node (&m, SL_OP_BATCH_MATMUL, x, quantised (&m, k, QUANTUM), -1,
                              &(SlOpParams){ 0 }),
               shares = node (&m, SL_OP_SOFTMAX, scores, -1, -1, &(SlOpParams){ .softmax = { 1 } }),
               z = check_output (&m.check, SL_DTYPE_F32, 0, 0);
  check_node (&m.check, SL_OP_RESHAPE, &scores, 1, y,
              &(SlOpParams){ .reshape = { .count = 1, .dims = { -1 } } });
  check_node (&m.check, SL_OP_BATCH_MATMUL, DIMS (shares, v), 2, z, &(SlOpParams){ 0 });
  check_prepare (&m.check);
  g_assert_cmpuint (count (&m, SL_OP_ATTENTION), ==, 0);
  const gfloat *a = m.check.input_data[0], *b = m.check.input_data[1];
  double expected[4 * 5];
  for (gint32 i = 0; i < 4 * 5; i++) {
    double least = 0, most = 0, sum = 0;
    for (gint32 d = 0; d < 9; d++) {
      least = fmin (least, (double) a[i / 5 * 9 + d]);
      most = fmax (most, (double) a[i / 5 * 9 + d]);
    }
    const double step = (most - least) / 255, quantum = (double) QUANTUM;
    for (gint32 d = 0; d < 9; d++)
      sum += nearbyint ((double) a[i / 5 * 9 + d] / step) * step
             * nearbyint ((double) b[d * 5 + i % 5] / quantum) * quantum;
    expected[i] = sum;
  }
  check_expect (&m.check, expected, 1e-5, 1e-5);
  ((gfloat *) m.check.input_data[0])[2] = NAN;
  gfloat *out = check_run (&m.check, FALSE, 1);
  for (guint i = 0; i < 4 * 5; i++)
    g_assert_cmpint (isnan (out[i]) != 0, ==, i < 5);
  sl_tensor_buffer_free (out);
  model_clear (&m);
}

/* A query whose keys are all hidden has no result; one without a number spoils its own row
 * alone. */
static void
test_hidden_row (void)
{
  static const Case c = { 1, 1, 1, 6, 5, 8, 8, HEADS_FIRST, SCORES_TIMES, PADDING, TRUE, FALSE };
  Model m;
  build (&m, &c, 3);
  gfloat *padding = m.check.input_data[3];
  for (guint k = 0; k < 5; k++)
    padding[k] = -INFINITY;
  for (guint i = 0; i < 2; i++) {
    gfloat *out = check_run (&m.check, i == 1, 1);
    for (guint k = 0; k < 6 * 8; k++)
      g_assert_true (isnan (out[k]));
    sl_tensor_buffer_free (out);
  }
  padding[2] = 1;
  run_case (&m, FALSE, 1);
  run_case (&m, TRUE, 1);
  ((gfloat *) m.check.input_data[0])[9] = NAN; /* of query 1 */
  for (guint i = 0; i < 2; i++) {
    gfloat *out = check_run (&m.check, i == 1, 1);
    for (guint k = 0; k < 6 * 8; k++)
      g_assert_cmpint (isnan (out[k]) != 0, ==, k / 8 == 1);
    sl_tensor_buffer_free (out);
  }
  model_clear (&m);
}

/* What stays as it is: shares that are an output, too, rows too long for a thread's memory, and
 * scores times a constant that is not of the mask. */
static void
test_left_alone (void)
{
  static const Case others[] = {
    { 1, 1, 1, 4, 5, 513, 8, HEADS_FIRST, SCORES_TIMES, NO_MASK, TRUE, FALSE },
    { 1, 2, 2, 9, 9, 16, 8, HEADS_FIRST, SCORES_TIMES, TIMES_HALF, TRUE, FALSE },
  };
  const SlOpParams params = { .softmax = { 1 } };
  Model m = { .memory = g_ptr_array_new () };
  check_init (&m.check, 5);
  const gint32 x = check_input (&m.check, SL_DTYPE_F32, 2, DIMS (4, 6), 0, 0),
               k = check_input (&m.check, SL_DTYPE_F32, 2, DIMS (6, 5), 0, 0),
               v = check_input (&m.check, SL_DTYPE_F32, 2, DIMS (5, 3), 0, 0);
  const gint32 scores = node (&m, SL_OP_BATCH_MATMUL, x, k, -1, &(SlOpParams){ 0 });
  const gint32 shares = check_output (&m.check, SL_DTYPE_F32, 0, 0),
               y = check_output (&m.check, SL_DTYPE_F32, 0, 0);
  check_node (&m.check, SL_OP_SOFTMAX, &scores, 1, shares, &params);
  check_node (&m.check, SL_OP_BATCH_MATMUL, DIMS (shares, v), 2, y, &(SlOpParams){ 0 });
  check_prepare (&m.check);
  g_assert_cmpuint (count (&m, SL_OP_ATTENTION), ==, 0);
  g_assert_cmpuint (count (&m, SL_OP_BATCH_MATMUL), ==, 2);
  model_clear (&m);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    build (&m, &others[i], 6);
    g_assert_cmpuint (count (&m, SL_OP_ATTENTION), ==, 0);
    run_case (&m, FALSE, 1);
    model_clear (&m);
  }
}

/* Attention of many tokens needs no memory for scores: the plan of the arena has none, and tensors
 * of scores over the limit are no reason to refuse the model. */
static void
test_memory (void)
{
  static const Case c = {
    1, 8, 8, 4096, 4096, 64, 64, SLICED, QUERIES_TIMES, NO_MASK, FALSE, TRUE
  };
  g_autoptr (GError) error = NULL;
  SlSessionStats stats;
  Model m;
  build (&m, &c, 7);
  g_assert_cmpuint (count (&m, SL_OP_ATTENTION), ==, 1);
  g_autoptr (SlSession) session = sl_session_new (m.check.graph, 2, &error);
  g_assert_no_error (error);
  sl_session_stats (session, &stats);
  g_assert_cmpuint (stats.arena_bytes, <=, 40 << 20);
  model_clear (&m);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/core/attention/spellings", test_spellings);
  g_test_add_func ("/core/attention/rounded", test_rounded);
  g_test_add_func ("/core/attention/rounded-nan", test_rounded_nan);
  g_test_add_func ("/core/attention/rounded-product", test_rounded_product);
  g_test_add_func ("/core/attention/hidden-row", test_hidden_row);
  g_test_add_func ("/core/attention/left-alone", test_left_alone);
  g_test_add_func ("/core/attention/memory", test_memory);
  return g_test_run ();
}
