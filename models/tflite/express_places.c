/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GATHER_ELEMENTS becomes a GATHER of the flat tensor. GRID_SAMPLE becomes four of them, times the
 * weights of its four pixels: arithmetic of floats finds the pixels, which is exact up to 2^24.
 */
#include "models/tflite/express_places.h"

#include <string.h>

#include "sightline/error.h"
#include "core/ops/ops.h"

/* Whole numbers that floats hold. */
#define MAX_PIXELS (1 << 24)

/** Nodes in the place of @node; @failed once one of them could not be added, with @error set. */
typedef struct
{
  SlGraph *to;
  SlArena *arena;
  const SlNode *node;
  guint made;
  gboolean failed;
  GError **error;
} Build;

static gint32
added (Build *b, gint32 tensor)
{
  b->failed |= tensor < 0;
  return tensor;
}

static gint32
constant (Build *b, SlDtype dtype, guint rank, const gint32 *dims, const void *data, gsize bytes)
{
  SlTensor tensor = { .name = "place", .dtype = dtype, .rank = rank, .bytes = bytes };
  if (rank > 0)
    memcpy (tensor.dims, dims, rank * sizeof dims[0]);
  tensor.data = sl_arena_memdup (b->arena, data, bytes);
  return added (b, sl_graph_add_tensor (b->to, &tensor, b->error));
}

static gint32
number (Build *b, gfloat value)
{
  return constant (b, SL_DTYPE_F32, 0, NULL, &value, sizeof value);
}

static gint32
ints (Build *b, const gint32 *values, guint n)
{
  return constant (b, SL_DTYPE_I32, 1, (const gint32[]){ (gint32) n }, values,
                   n * sizeof values[0]);
}

/* The result of a new node, or @output where that is a tensor already. */
static gint32
node_to (Build *b, SlOpType op, gint32 first, gint32 second, const SlOpParams *params,
         gint32 output)
{
  const gint32 inputs[2] = { first, second };
  if (b->failed)
    return -1;
  b->failed = !sl_graph_add_node (b->to, op, b->node->index, inputs, second >= 0 ? 2 : 1, &output,
                                  1, params, b->error);
  return b->failed ? -1 : output;
}

/* A tensor for the result of a new node. */
static gint32
tensor_new (Build *b, SlDtype dtype, guint rank, const gint32 *dims)
{
  if (b->failed)
    return -1;
  g_autofree char *name = g_strdup_printf ("%s/place%u", b->node->name, b->made++);
  SlTensor tensor = { .name = sl_arena_strdup (b->arena, name), .dtype = dtype, .rank = rank };
  gsize bytes = sl_dtype_size (dtype);
  for (guint i = 0; i < rank; i++) {
    tensor.dims[i] = dims[i];
    bytes *= (gsize) dims[i];
  }
  tensor.bytes = bytes;
  return added (b, sl_graph_add_tensor (b->to, &tensor, b->error));
}

static gint32
node (Build *b, SlOpType op, gint32 first, gint32 second, SlDtype dtype, guint rank,
      const gint32 *dims)
{
  static const SlOpParams limited = { .axis = { .indexing = SL_INDEX_LIMITED } };
  const gint32 output = tensor_new (b, dtype, rank, dims);
  return node_to (b, op, first, second, op == SL_OP_GATHER ? &limited : NULL, output);
}

static gint32
reshaped (Build *b, gint32 tensor, SlDtype dtype, guint rank, const gint32 *dims)
{
  return node (b, SL_OP_RESHAPE, tensor, ints (b, dims, rank), dtype, rank, dims);
}

/* Elements of the flat tensor: their index along the axis times the step of that, and where the
 * other dimensions are. */
static void
gather_elements (Build *b, const SlGraph *from, const gint32 *inputs)
{
  static const SlOpParams limited = { .axis = { .indexing = SL_INDEX_LIMITED } };
  const SlTensor *x = sl_node_input (from, b->node, 0), *index = sl_node_input (from, b->node, 1);
  const guint rank = x->rank, axis = (guint) b->node->params.elements.axis;
  const gsize n = sl_tensor_count (index);
  const gint32 all = (gint32) sl_tensor_count (x),
               step = (gint32) sl_tensor_span (x, axis + 1, rank);
  gint32 *offsets = sl_arena_alloc (b->arena, n * sizeof offsets[0]);
  for (gsize i = 0; i < n; i++) {
    gsize left = i, stride = 1;
    for (guint k = rank; k-- > 0; left /= (gsize) index->dims[k], stride *= (gsize) x->dims[k])
      if (k != axis)
        offsets[i] += (gint32) (left % (gsize) index->dims[k] * stride);
  }
  const gint32 size = constant (b, SL_DTYPE_I32, 0, NULL, &x->dims[axis], sizeof size),
               steps = constant (b, SL_DTYPE_I32, 0, NULL, &step, sizeof step),
               others =
                 constant (b, SL_DTYPE_I32, rank, index->dims, offsets, n * sizeof offsets[0]);
  /* Indices that count from the end are less than 0. */
  gint32 at = node (b, SL_OP_FLOOR_MOD, inputs[1], size, SL_DTYPE_I32, rank, index->dims);
  at = node (b, SL_OP_MUL, at, steps, SL_DTYPE_I32, rank, index->dims);
  at = node (b, SL_OP_ADD, at, others, SL_DTYPE_I32, rank, index->dims);
  node_to (b, SL_OP_GATHER, reshaped (b, inputs[0], x->dtype, 1, &all), at, &limited,
           b->node->outputs[0]);
}

/** Two neighbours along a dimension: where they are, and their weights; @dims: of all of these */
typedef struct
{
  gint32 dims[4], places[2], weights[2];
} Pair;

static gint32
real (Build *b, const Pair *pair, SlOpType op, gint32 first, gint32 second)
{
  return node (b, op, first, second, SL_DTYPE_F32, 4, pair->dims);
}

/* A weight where @limited is the place itself, 0 where it is 1 away; farther places have none. */
static gint32
weight_inside (Build *b, const Pair *pair, gint32 weight, gint32 place, gint32 limited)
{
  const gint32 away = real (b, pair, SL_OP_SQUARED_DIFFERENCE, place, limited);
  return real (b, pair, SL_OP_MUL, weight, real (b, pair, SL_OP_SUB, number (b, 1), away));
}

/* @dims of @tensor from @begin on. */
static gint32
sliced (Build *b, gint32 tensor, const gint32 begin[4], const gint32 dims[4])
{
  const SlTensor like = { .name = "coordinate",
                          .dtype = SL_DTYPE_F32,
                          .rank = 4,
                          .dims = { dims[0], dims[1], dims[2], dims[3] },
                          .bytes = (gsize) dims[0] * (gsize) dims[1] * (gsize) dims[2]
                                   * (gsize) dims[3] * sizeof (gfloat) };
  const gint32 inputs[3] = { tensor, ints (b, begin, 4), ints (b, dims, 4) };
  const gint32 output = b->failed ? -1 : added (b, sl_graph_add_tensor (b->to, &like, b->error));
  if (!b->failed)
    b->failed = !sl_graph_add_node (b->to, SL_OP_SLICE, b->node->index, inputs, 3, &output, 1, NULL,
                                    b->error);
  return b->failed ? -1 : output;
}

/* Of the grid's coordinate @k, in a picture of @size pixels along it. */
static void
find_pair (Build *b, gint32 grid, gint32 k, gint32 size, Pair *pair)
{
  const gint32 begin[4] = { 0, 0, 0, k };
  const gboolean align = b->node->params.grid_sample.align_corners,
                 edge = b->node->params.grid_sample.border == SL_BORDER_EDGE;
  const gfloat last = (gfloat) (size - 1), half = (align ? last : (gfloat) size) / 2;
  gint32 at = sliced (b, grid, begin, pair->dims);
  at = real (b, pair, SL_OP_MUL, at, number (b, half));
  at = real (b, pair, SL_OP_ADD, at, number (b, last / 2));
  at = real (b, pair, SL_OP_MAXIMUM, at, number (b, edge ? 0 : -1));
  at = real (b, pair, SL_OP_MINIMUM, at, number (b, edge ? last : last + 1));
  const gint32 first = real (b, pair, SL_OP_FLOOR, at, -1),
               second = real (b, pair, SL_OP_ADD, first, number (b, 1));
  pair->weights[1] = real (b, pair, SL_OP_SUB, at, first);
  pair->weights[0] = real (b, pair, SL_OP_SUB, second, at);
  pair->places[1] = real (b, pair, SL_OP_MINIMUM, second, number (b, last));
  pair->places[0] =
    edge ? first
         : real (b, pair, SL_OP_MINIMUM, real (b, pair, SL_OP_MAXIMUM, first, number (b, 0)),
                 number (b, last));
  if (edge)
    return;
  pair->weights[1] = weight_inside (b, pair, pair->weights[1], second, pair->places[1]);
  pair->weights[0] = weight_inside (b, pair, pair->weights[0], first, pair->places[0]);
}

/* Where the pictures of a batch begin, to be added to places. */
static gint32
batches (Build *b, const SlTensor *x)
{
  const gint32 dims[4] = { x->dims[0], 1, 1, 1 };
  gfloat *first = sl_arena_alloc (b->arena, (gsize) x->dims[0] * sizeof first[0]);
  for (gint32 i = 0; i < x->dims[0]; i++)
    first[i] = (gfloat) (i * x->dims[1] * x->dims[2]);
  return constant (b, SL_DTYPE_F32, 4, dims, first, (gsize) x->dims[0] * sizeof first[0]);
}

/* Samples of the picture @x at the places of @grid, whose tensors are @inputs; @output: it is made,
 * -1 = a new one. Returns what is made. */
static gint32
grid_sample (Build *b, const SlTensor *x, const SlTensor *grid, const gint32 inputs[2],
             gint32 output)
{
  const gint32 flat[2] = { x->dims[0] * x->dims[1] * x->dims[2], x->dims[3] },
               dims[4] = { grid->dims[0], grid->dims[1], grid->dims[2], x->dims[3] };
  const gint32 pixels = reshaped (b, inputs[0], SL_DTYPE_F32, 2, flat),
               width = number (b, (gfloat) x->dims[2]), begin = batches (b, x);
  Pair across = { .dims = { dims[0], dims[1], dims[2], 1 } }, down = across;
  gint32 sum = -1;
  find_pair (b, inputs[1], 0, x->dims[2], &across);
  find_pair (b, inputs[1], 1, x->dims[1], &down);
  for (guint i = 0; i < 4; i++) {
    gint32 at = real (b, &down, SL_OP_MUL, down.places[i / 2], width);
    at = real (b, &down, SL_OP_ADD, at, across.places[i % 2]);
    at = real (b, &down, SL_OP_ADD, at, begin);
    at =
      reshaped (b, node (b, SL_OP_CAST, at, -1, SL_DTYPE_I32, 4, down.dims), SL_DTYPE_I32, 3, dims);
    const gint32 weight = real (b, &down, SL_OP_MUL, down.weights[i / 2], across.weights[i % 2]);
    const gint32 found = node (b, SL_OP_GATHER, pixels, at, SL_DTYPE_F32, 4, dims),
                 part = node (b, SL_OP_MUL, found, weight, SL_DTYPE_F32, 4, dims);
    if (i == 0)
      sum = part;
    else if (i < 3 || output < 0)
      sum = node (b, SL_OP_ADD, sum, part, SL_DTYPE_F32, 4, dims);
    else
      sum = node_to (b, SL_OP_ADD, sum, part, NULL, output);
  }
  return sum;
}

/* The @n tensors @parts, one behind the other along dimension 2, of which there are @dims then. */
static gint32
joined (Build *b, const gint32 *parts, guint n, const gint32 dims[4])
{
  const SlOpParams params = { .concat = { .axis = 2 } };
  const gint32 output = tensor_new (b, SL_DTYPE_F32, 4, dims);
  if (!b->failed)
    b->failed = !sl_graph_add_node (b->to, SL_OP_CONCATENATION, b->node->index, parts, n, &output,
                                    1, &params, b->error);
  return b->failed ? -1 : output;
}

/* Sums of weighed samples, as fuse_samples found them. */
static void
weighed_samples (Build *b, const SlGraph *from, const gint32 *inputs)
{
  const SlOpParams kept = { .reduce = { .keep_dims = TRUE } };
  gint32 parts[SL_MAX_OPERANDS], dims[4] = { 0 }, samples = 0;
  guint n = 0;
  for (guint i = 0; i < b->node->n_inputs; i = sl_samples_next (i)) {
    const SlTensor *x = sl_node_input (from, b->node, i),
                   *grid = sl_node_input (from, b->node, i + 1);
    const gint32 here[2] = { inputs[i], inputs[i + 1] };
    parts[n++] = grid_sample (b, x, grid, here, -1);
    samples += grid->dims[2];
    memcpy (dims, grid->dims, 2 * sizeof dims[0]);
    dims[3] = x->dims[3];
  }
  dims[2] = samples;
  const gint32 each[4] = { dims[0], dims[1], samples, 1 },
               all = n > 1 ? joined (b, parts, n, dims) : parts[0],
               weights = reshaped (b, inputs[2], SL_DTYPE_F32, 4, each);
  node_to (b, SL_OP_SUM, node (b, SL_OP_MUL, all, weights, SL_DTYPE_F32, 4, dims),
           ints (b, (const gint32[]){ 2 }, 1), &kept, b->node->outputs[0]);
}

static gboolean
fits (const SlTensor *x)
{
  return x->rank == 4 && sl_tensor_count (x) / (gsize) x->dims[3] <= MAX_PIXELS;
}

gboolean
sl_express_places_fits (const SlGraph *graph, const SlNode *node)
{
  if (node->op == SL_OP_GATHER_ELEMENTS)
    return sl_tensor_count (sl_node_input (graph, node, 0)) <= G_MAXINT32;
  if (node->op != SL_OP_GRID_SAMPLE || node->params.grid_sample.mode != SL_SAMPLE_LINEAR
      || node->params.grid_sample.border == SL_BORDER_MIRROR)
    return FALSE;
  gboolean all = TRUE;
  for (guint i = 0; i < node->n_inputs; i = sl_samples_next (i))
    all &= fits (sl_node_input (graph, node, i));
  return all;
}

gboolean
sl_express_places (SlGraph *to, const SlGraph *from, const SlNode *node, const gint32 *inputs,
                   GError **error)
{
  Build b = { .to = to, .arena = sl_graph_arena (to), .node = node, .error = error };
  if (node->op == SL_OP_GATHER_ELEMENTS)
    gather_elements (&b, from, inputs);
  else if (node->n_inputs == 2)
    grid_sample (&b, sl_node_input (from, node, 0), sl_node_input (from, node, 1), inputs,
                 node->outputs[0]);
  else
    weighed_samples (&b, from, inputs);
  return !b.failed;
}
