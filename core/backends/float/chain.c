/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Neighbouring layers row by row: an expanding convolution, a depthwise one, a projecting one and
 * an addition, as mobile networks have them. Max pooling may be in the place of the depthwise one.
 * A work item is a band of rows of the last layer. Of each other layer it keeps the few rows that
 * the next one's window covers, in its thread's scratch memory, so that tensors larger than the
 * second cache are never written. Results are those of the layers by themselves, bit by bit: rows
 * at the border of two bands are computed twice.
 */
#include "core/backends/float/layer.h"
#include "core/graph/constants.h"
#include "core/ops/ops.h"

/* Tensors between layers: one from these bytes on does not stay in the second cache, and makes a
 * chain worth it; smaller ones do, and only lengthen it. */
#define LARGE_BYTES 524288
#define LEAST_BYTES 262144
/* Rows that stay for a window, for each thread; a dilation may reach over more. */
#define KEPT_BYTES 4194304
/* Fewer rows are not worth it, and rows of fewer pixels leave tiles empty. */
#define FEW_ROWS 8
/* Of so many rows at most one is computed twice for each of the bands of several threads. */
#define ROWS_A_REPEAT 8
#define FEW_PIXELS 8
/* Most layers of a chain. */
#define MAX_STAGES 5
/* Work items for each of several threads, so that one that is held up does fewer. */
#define ITEMS_A_THREAD 2

/**
 * Stage: a layer of a chain.
 * @input, @second: operands that are whole tensors; -1: rows of the stage before
 * @line: bytes from a row of the output to the next; @in_line: of the input; @in_size: of its
 * elements;
 * @second_line: of a row of @second
 * @in_h, @out_h: rows of an image
 * @kept: rows of the output that stay until the next stage has read them
 * @at: bytes from the beginning of the chain's scratch memory to these rows
 */
typedef struct
{
  SlFloatLayer *layer;
  gint32 input, second;
  gsize line, in_line, in_size, second_line, at;
  gint32 in_h, out_h, kept;
} Stage;

/**
 * SlFloatChain:
 * @n: stages; @output: the operand that the last one makes
 * @images: of the batch; @bands: work items of each
 * @between: the tensor that the stage made last makes
 * @at: bytes of a thread's scratch memory before the chain's rows
 */
struct _SlFloatChain
{
  Stage stages[MAX_STAGES];
  guint n, output, cost_us;
  gint32 images, bands, between;
  const SlScratch *scratch;
  gsize at;
};

typedef struct
{
  const SlFloatChain *chain;
  void *const *memory;
} Run;

/** @next: by stage: the first row that is not made yet */
typedef struct
{
  const Run *run;
  gint32 image, next[MAX_STAGES];
  guint8 *kept;
  guint thread;
} Band;

/* Whether a row of the output of @node covers several of the input, of the same channels. */
static gboolean
has_strips (const SlNode *node)
{
  return node->op == SL_OP_DEPTHWISE_CONV_2D || node->op == SL_OP_MAX_POOL_2D;
}

static gboolean
is_floats (const SlTensor *tensor)
{
  return tensor->rank == 4 && (tensor->dtype == SL_DTYPE_F32 || tensor->dtype == SL_DTYPE_F16);
}

/* Bytes of @tensor as floats: chains are the same for any precision. */
static gsize
float_bytes (const SlTensor *tensor)
{
  return sl_tensor_count (tensor) * sizeof (gfloat);
}

/* Whether the loops of a chain read and write the data of @node: all of it is floats, and so are
 * the weights as the file has them. */
static gboolean
has_floats (const SlGraph *graph, const SlNode *node)
{
  SlFewBits few_bits;
  const guint operands = node->op == SL_OP_ADD ? 2 : 1;
  for (guint i = 0; i < operands; i++)
    if (!is_floats (sl_node_input (graph, node, i)))
      return FALSE;
  return is_floats (sl_node_output (graph, node, 0))
         && (operands == 2 || node->op == SL_OP_MAX_POOL_2D
             || !sl_graph_few_bits_of (graph, sl_node_input (graph, node, 1)->data, &few_bits));
}

/* Whether @node may be a stage behind another one that makes @before, or the first one, -1. */
static gboolean
may_be_stage (const SlGraph *graph, const SlNode *node, gint32 before)
{
  if ((node->op != SL_OP_ADD && node->op != SL_OP_CONV_2D && !has_strips (node))
      || !has_floats (graph, node))
    return FALSE;
  if (node->op == SL_OP_ADD)
    return before >= 0 && (node->inputs[0] == before) != (node->inputs[1] == before);
  if (has_strips (node))
    return before < 0 || node->inputs[0] == before;
  if (sl_node_input (graph, node, 1)->bytes > SL_FLOAT_CHAIN_WEIGHTS)
    return FALSE;
  const SlWindowShape w = sl_window_shape (graph, node);
  const gboolean grouped = sl_node_input (graph, node, 1)->dims[3] != w.channels;
  if (before < 0)
    return !grouped && (sl_window_is_pixel (&w) || w.stride_h > 1);
  return node->inputs[0] == before && !grouped && sl_window_is_pixel (&w);
}

/* Rows that two bands compute where they meet, of the input of a window. */
static gint64
repeated_rows (const SlWindowShape *w)
{
  return MAX (((gint64) w->filter_h - 1) * w->dilation_h + 1 - w->stride_h, 0);
}

/* Whether an image of @rows rows, windows @w above them, may be as many bands: not so many that
 * rows which are computed twice take more time than memory does. */
static gboolean
may_be_bands (const SlWindowShape *w, gint64 rows, gint64 bands)
{
  return (bands - 1) * repeated_rows (w) * ROWS_A_REPEAT <= rows;
}

/* Whether going row by row is worth it between @node and what makes @between for it. */
static gboolean
has_good_rows (const SlGraph *graph, const SlNode *node, const SlTensor *between, guint threads)
{
  const gint64 rows = (gint64) between->dims[0] * between->dims[1];
  guint64 reach = 1;
  if (has_strips (node)) {
    const SlWindowShape w = sl_window_shape (graph, node);
    reach += ((guint64) w.filter_h - 1) * (guint64) w.dilation_h;
    if (!may_be_bands (&w, rows, threads))
      return FALSE;
  }
  return rows >= FEW_ROWS && between->dims[2] >= FEW_PIXELS
         && float_bytes (between) / (guint64) rows <= KEPT_BYTES / reach;
}

/* Whether node @next may be the stage behind node @next - 1, whose only reader it is. */
static gboolean
may_follow (const SlGraph *graph, const SlBackend *const *backends, const guint *readers,
            guint threads, guint next)
{
  if (next >= sl_graph_n_nodes (graph) || backends[next] != backends[next - 1])
    return FALSE;
  const SlNode *before = sl_graph_node (graph, next - 1);
  return readers[before->outputs[0]] == 1
         && may_be_stage (graph, sl_graph_node (graph, next), before->outputs[0])
         && has_good_rows (graph, sl_graph_node (graph, next), sl_node_output (graph, before, 0),
                           threads);
}

/* Whether node @i makes more channels for a window behind it: it is better kept for a chain with
 * that. */
static gboolean
expands (const SlGraph *graph, const SlBackend *const *backends, const guint *readers,
         guint threads, guint i)
{
  const SlNode *node = sl_graph_node (graph, i);
  return sl_node_output (graph, node, 0)->dims[3] > sl_node_input (graph, node, 0)->dims[3]
         && may_follow (graph, backends, readers, threads, i + 1)
         && sl_graph_node (graph, i + 1)->op == SL_OP_DEPTHWISE_CONV_2D;
}

guint
sl_float_chain_length (const SlGraph *graph, const SlBackend *const *backends, const guint *readers,
                       guint threads, guint first)
{
  gboolean windows = FALSE, large = FALSE;
  guint n = 1;
  if (!may_be_stage (graph, sl_graph_node (graph, first), -1))
    return 1;
  for (; n < MAX_STAGES && may_follow (graph, backends, readers, threads, first + n); n++) {
    const SlNode *next = sl_graph_node (graph, first + n);
    const gsize bytes =
      float_bytes (sl_node_output (graph, sl_graph_node (graph, first + n - 1), 0));
    const gboolean window = has_strips (next);
    if ((window && windows) || (next->op == SL_OP_ADD ? n < 2 : bytes < LEAST_BYTES)
        || (n > 1 && !window && expands (graph, backends, readers, threads, first + n)))
      break;
    windows |= window;
    large |= bytes >= LARGE_BYTES;
  }
  return large ? n : 1;
}

/* Rows of the output that are made at a time. */
static gint32
rows_at_once (const SlFloatLayer *layer)
{
  return sl_float_has_strips (layer) ? layer->depthwise.rows : 1;
}

/* Rows of the input under @n rows of the output. */
static gint32
window_rows (const SlFloatLayer *layer, gint32 n)
{
  const SlWindowShape *w = &layer->window;
  return sl_float_has_strips (layer) ? (n - 1) * w->stride_h + (w->filter_h - 1) * w->dilation_h + 1
                                     : n;
}

/* The first row of the input under row @y of the output; it may be outside. */
static gint32
first_row (const SlFloatLayer *layer, gint32 y)
{
  const SlWindowShape *w = &layer->window;
  return sl_float_has_strips (layer) ? y * w->stride_h - w->top : y;
}

/* Stage @i of @chain, which computes @node, whose operands begin at @operand. */
static gboolean
set_stage (SlFloatChain *chain, guint i, const SlFloatIsa *isa, SlHost *host, const SlNode *node,
           gint32 operand, GError **error)
{
  Stage *stage = &chain->stages[i];
  const SlTensor *x = sl_node_input (host->graph, node, 0),
                 *y = sl_node_output (host->graph, node, 0);
  *stage = (Stage){ .layer = sl_float_layer_new (isa, host, node, error),
                    .input = i == 0 ? operand : -1,
                    .second = -1,
                    .in_line = (gsize) x->dims[2] * (gsize) x->dims[3] * sl_dtype_size (x->dtype),
                    .in_size = sl_dtype_size (x->dtype),
                    .in_h = x->dims[1],
                    .out_h = y->dims[1] };
  if (stage->layer == NULL)
    return FALSE;
  stage->line = (gsize) y->dims[2] * stage->layer->stride * sl_dtype_size (y->dtype);
  if (node->op == SL_OP_ADD) {
    const guint other = node->inputs[0] == chain->between ? 1 : 0;
    const SlTensor *second = sl_node_input (host->graph, node, other);
    stage->second = operand + (gint32) other;
    stage->second_line = second->bytes / ((gsize) y->dims[0] * (gsize) y->dims[1]);
    stage->layer->elements.piece = (gsize) y->dims[2] * (gsize) y->dims[3];
    if (other == 0) {
      const gboolean narrow = stage->layer->narrow.x;
      stage->layer->narrow.x = stage->layer->narrow.second;
      stage->layer->narrow.second = narrow;
    }
  }
  chain->between = node->outputs[0];
  chain->output = (guint) operand + node->n_inputs;
  chain->images = y->dims[0];
  chain->cost_us += stage->layer->cost_us;
  return TRUE;
}

/* Where the rows of each stage are kept; returns the bytes of all. */
static gsize
set_rows (SlFloatChain *chain)
{
  gsize at = 0;
  for (guint i = 0; i + 1 < chain->n; i++) {
    Stage *stage = &chain->stages[i];
    stage->kept =
      window_rows (stage[1].layer, rows_at_once (stage[1].layer)) + rows_at_once (stage->layer) - 1;
    stage->at = at;
    at += ((gsize) stage->kept * stage->line + SL_TENSOR_PADDING + SL_TENSOR_ALIGN - 1)
          / SL_TENSOR_ALIGN * SL_TENSOR_ALIGN;
  }
  return at;
}

/* Work items of each image: as many as windows allow. */
static gint32
bands_of (const SlFloatChain *chain, gint32 threads)
{
  gint32 bands =
    threads > 1 ? MIN (ITEMS_A_THREAD * threads, chain->stages[chain->n - 1].out_h) : 1;
  for (guint i = 1; i < chain->n; i++)
    while (sl_float_has_strips (chain->stages[i].layer) && bands > threads
           && !may_be_bands (&chain->stages[i].layer->window, chain->stages[i].in_h, bands))
      bands--;
  return bands;
}

SlFloatChain *
sl_float_chain_new (const SlFloatIsa *isa, SlHost *host, const SlStep *step, GError **error)
{
  SlFloatChain *chain = sl_arena_alloc (host->arena, sizeof *chain);
  const gsize before = host->scratch.bytes;
  gint32 operand = 0;
  *chain = (SlFloatChain){ .n = step->nodes->len, .between = -1, .scratch = &host->scratch };
  host->scratch.bytes = 0;
  for (guint i = 0; i < chain->n; i++) {
    const SlNode *node = sl_graph_node (host->graph, g_array_index (step->nodes, guint, i));
    if (!set_stage (chain, i, isa, host, node, operand, error))
      return NULL;
    operand += (gint32) (node->n_inputs + node->n_outputs);
  }
  chain->at = host->scratch.bytes;
  sl_host_need_scratch (host, chain->at + set_rows (chain));
  sl_host_need_scratch (host, before);
  chain->bands = bands_of (chain, (gint32) host->threads);
  return chain;
}

/* Row @y of stage @i, of those that are kept or of the output of the chain. */
static guint8 *
row_of (const Band *band, guint i, gint32 y)
{
  const SlFloatChain *chain = band->run->chain;
  const Stage *stage = &chain->stages[i];
  return i + 1 == chain->n
           ? (guint8 *) band->run->memory[chain->output]
               + ((gsize) band->image * (gsize) stage->out_h + (gsize) y) * stage->line
           : band->kept + stage->at + (gsize) (y % stage->kept) * stage->line;
}

static gfloat *
place_of (const Band *band, guint i, gint32 y)
{
  return (gfloat *) (gpointer) row_of (band, i, y);
}

/* Row @y of operand @operand of the chain, whose rows are @line bytes, of as many as @h an image.
 */
static const gfloat *
operand_row (const Band *band, gint32 operand, gint32 h, gint32 y, gsize line)
{
  return (const gfloat *) (gconstpointer) ((const guint8 *) band->run->memory[operand]
                                           + ((gsize) band->image * (gsize) h + (gsize) y) * line);
}

/* The next @n rows of stage @i. */
static void
make_next (Band *band, guint i, gint32 n)
{
  const Stage *stage = &band->run->chain->stages[i];
  const gint32 y = band->next[i];
  const gfloat *second = NULL;
  SlFloatLines in = { NULL, stage->in_h, stage->in_size };
  if (stage->input >= 0) {
    in.first = operand_row (band, stage->input, stage->in_h, 0, stage->in_line);
  } else {
    in.first = place_of (band, i - 1, 0);
    in.kept = stage[-1].kept;
  }
  if (stage->second >= 0)
    second = operand_row (band, stage->second, stage->out_h, y, stage->second_line);
  sl_float_layer_rows (stage->layer, &in, second, y, n,
                       (gfloat *const[2]){ place_of (band, i, y), place_of (band, i, y + n - 1) },
                       band->thread);
  band->next[i] += n;
}

/* Rows of stage @i up to before @end or one more, after those of the stages before that they need.
 */
static void
make_rows (Band *band, guint i, gint32 end)
{
  const Stage *stage = &band->run->chain->stages[i];
  const gint32 most = i + 1 == band->run->chain->n ? end : stage->out_h;
  while (band->next[i] < end) {
    const gint32 y = band->next[i], n = MIN (rows_at_once (stage->layer), most - y);
    if (i > 0)
      make_rows (band, i - 1,
                 MIN (first_row (stage->layer, y) + window_rows (stage->layer, n), stage->in_h));
    make_next (band, i, n);
  }
}

static void
run_band (const void *data, guint item, guint thread)
{
  const Run *run = data;
  const SlFloatChain *chain = run->chain;
  const gint32 rows = chain->stages[chain->n - 1].out_h, at = (gint32) item % chain->bands,
               begin = (gint32) ((gint64) rows * at / chain->bands),
               end = (gint32) ((gint64) rows * (at + 1) / chain->bands);
  Band band = { .run = run, .image = (gint32) item / chain->bands, .thread = thread };
  band.kept = chain->scratch->memory + chain->scratch->bytes * thread + chain->at;
  band.next[chain->n - 1] = begin;
  for (guint i = chain->n - 1; i > 0; i--) {
    const Stage *stage = &chain->stages[i];
    band.next[i - 1] = CLAMP (first_row (stage->layer, band.next[i]), 0, stage->in_h);
  }
  make_rows (&band, chain->n - 1, end);
}

void
sl_float_chain_run (const SlFloatChain *chain, SlPool *pool, void *const *memory)
{
  const Run run = { chain, memory };
  sl_pool_run (pool, run_band, &run, (guint) (chain->images * chain->bands), chain->cost_us);
}
