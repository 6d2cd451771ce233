/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attention in all its spellings: Attention of opset 23, MultiHeadAttention and Attention of
 * com.microsoft, and TorchScript's scaled_dot_product_attention. Each says where queries, keys and
 * values are; lower_attend() alone makes the products. RotaryEmbedding turns queries and keys by
 * their places before.
 */
#include <float.h>
#include <math.h>

#include "models/lower/ops.h"

/* Elements of a mask that is made while loading. */
#define MAX_MASK (1 << 24)

/** Queries, keys and values of a node: [batch,heads,rows,depth]; -1 = none */
typedef struct
{
  gint32 q, k, v;
  gint32 past; /* keys before the first one of this node */
} Heads;

static gint32
join (Lower *o, const gint32 *parts, guint n, gint32 axis)
{
  const SlOpParams params = { .concat = { .axis = axis } };
  return n == 1 ? parts[0]
                : lower_emit (o, SL_OP_CONCATENATION, parts, n, &params,
                              lower_tensor_type (o, parts[0]));
}

/* Scores of a query and the keys behind its own place, as what is added to them. */
static gint32
causal_mask (Lower *o, gint32 queries, gint32 keys, gint32 past)
{
  const gint32 dims[2] = { queries, keys };
  const gsize n = (gsize) queries * (gsize) keys;
  if (n > MAX_MASK || !lower_may_make (o, n * sizeof (gfloat)))
    return lower_fail (
      o, SL_ERROR_LIMIT,
      "a causal mask of %d queries and %d keys is not supported; at most %d elements", queries,
      keys, MAX_MASK);
  g_autofree gfloat *mask = g_new0 (gfloat, MAX (n, 1));
  for (gint32 i = 0; i < queries; i++)
    for (gint32 k = 0; k < keys; k++)
      if (k - past > i)
        mask[(gsize) i * (gsize) keys + (gsize) k] = -FLT_MAX;
  return lower_constant (o, SL_DTYPE_F32, 2, dims, mask);
}

gint32
lower_truth_mask (Lower *o, gint32 keep, gfloat dropped)
{
  if (lower_tensor_type (o, keep) != SL_DTYPE_BOOL)
    keep = lower_cast (o, keep, SL_DTYPE_BOOL);
  const gint32 choices[3] = { keep, lower_float (o, 0), lower_float (o, dropped) };
  return lower_emit (o, SL_OP_SELECT, choices, 3, NULL, SL_DTYPE_F32);
}

/* Heads of keys that serve several heads of queries: the queries of one are rows of the same
 * matrix. */
static gint32
product (Lower *o, gint32 a, gint32 b, gboolean transposed)
{
  const SlTensor x = *lower_t (o, a), y = *lower_t (o, b);
  const SlOpParams params = { .matmul = { .transpose_b = transposed } };
  if (o->error != NULL)
    return -1;
  const gboolean shared = x.rank == 4 && y.rank == 4 && x.dims[1] != y.dims[1] && y.dims[1] > 1;
  if (shared && x.dims[1] % y.dims[1] != 0)
    return lower_fail (o, SL_ERROR_SHAPE,
                       "%d heads of queries and %d heads of keys or values; expected a multiple",
                       x.dims[1], y.dims[1]);
  const gint32 gathered[4] = { x.dims[0], shared ? y.dims[1] : 1,
                               shared ? lower_times (x.dims[1] / y.dims[1], x.dims[2]) : 1,
                               x.dims[3] };
  const gint32 rows = shared ? lower_reshape (o, a, gathered, 4) : a;
  const gint32 result =
    lower_emit (o, SL_OP_BATCH_MATMUL, (const gint32[]){ rows, b }, 2, &params, SL_DTYPE_F32);
  if (!shared || o->error != NULL)
    return result;
  return lower_reshape (
    o, result, (const gint32[]){ x.dims[0], x.dims[1], x.dims[2], lower_t (o, result)->dims[3] },
    4);
}

gint32
lower_attend (Lower *o, const LowerAttention *a)
{
  const SlTensor q = *lower_t (o, a->q), k = *lower_t (o, a->k), v = *lower_t (o, a->v);
  if (o->error != NULL)
    return -1;
  if (q.rank < 2 || k.rank != q.rank || v.rank != q.rank || k.dims[k.rank - 1] != q.dims[q.rank - 1]
      || v.dims[v.rank - 2] != k.dims[k.rank - 2]) {
    g_autofree char *text_q = sl_tensor_describe (&q), *text_k = sl_tensor_describe (&k),
                    *text_v = sl_tensor_describe (&v);
    return lower_fail (
      o, SL_ERROR_SHAPE,
      "queries %s, keys %s and values %s do not fit; expected [...,rows,depth] of as many "
      "dimensions",
      text_q, text_k, text_v);
  }
  if (!isfinite (a->scale) || !isfinite (a->softcap) || a->softcap < 0)
    return lower_fail (o, SL_ERROR_FORMAT,
                       "a scale of %g and a softcap of %g; expected finite numbers",
                       (gdouble) a->scale, (gdouble) a->softcap);
  if (a->softcap > 0 && (a->causal || a->mask >= 0))
    return lower_fail (
      o, SL_ERROR_UNSUPPORTED,
      "attribute softcap is %g beside a mask; expected 0: runtimes differ in what comes first",
      (gdouble) a->softcap);
  const SlOpParams softmax = { .softmax = { .beta = 1 } };
  const gfloat scale = a->scale != 0 ? a->scale : 1 / sqrtf ((gfloat) q.dims[q.rank - 1]);
  gint32 scores =
    lower_binary (o, SL_OP_MUL, product (o, a->q, a->k, TRUE), lower_float (o, scale));
  if (a->softcap > 0) {
    const gint32 bent = lower_unary (
      o, SL_OP_TANH, lower_binary (o, SL_OP_MUL, scores, lower_float (o, 1 / a->softcap)));
    scores = lower_binary (o, SL_OP_MUL, bent, lower_float (o, a->softcap));
  }
  if (a->causal)
    scores = lower_binary (o, SL_OP_ADD, scores,
                           causal_mask (o, q.dims[q.rank - 2], k.dims[k.rank - 2], a->past));
  if (a->mask >= 0) {
    const gboolean truth = lower_tensor_type (o, a->mask) == SL_DTYPE_BOOL;
    scores = lower_binary (o, SL_OP_ADD, scores,
                           truth ? lower_truth_mask (o, a->mask, -FLT_MAX) : a->mask);
  }
  return product (o, lower_emit (o, SL_OP_SOFTMAX, &scores, 1, &softmax, SL_DTYPE_F32), a->v,
                  FALSE);
}

/* [batch,rows,heads * depth] as [batch,heads,rows,depth]; four dimensions stay. */
static gint32
apart (Lower *o, gint32 x, gint64 heads, const char *what)
{
  const SlTensor t = *lower_t (o, x);
  if (o->error != NULL || t.rank == 4)
    return x;
  if (t.rank != 3 || heads < 1 || heads > t.dims[2] || t.dims[2] % heads != 0) {
    g_autofree char *text = sl_tensor_describe (&t);
    return lower_fail (o, SL_ERROR_SHAPE,
                       "%s are %s and have %" G_GINT64_FORMAT
                       " heads; expected [batch,rows,heads * depth]",
                       what, text, heads);
  }
  const gint32 dims[4] = { t.dims[0], t.dims[1], (gint32) heads, t.dims[2] / (gint32) heads };
  return lower_transpose (o, lower_reshape (o, x, dims, 4), (const gint32[]){ 0, 2, 1, 3 });
}

/* [batch,heads,rows,depth] as [batch,rows,heads * depth]. */
static gint32
together (Lower *o, gint32 x)
{
  const gint32 y = lower_transpose (o, x, (const gint32[]){ 0, 2, 1, 3 });
  const SlTensor t = *lower_t (o, y);
  return lower_reshape (
    o, y, (const gint32[]){ t.dims[0], t.dims[1], lower_times (t.dims[2], t.dims[3]) }, 3);
}

/* Keys and values of earlier runs, inputs @i and @i + 1, come before those of this one; outputs 1
 * and 2 are all of them. */
static void
add_past (Lower *o, Heads *h, guint i)
{
  LowerValue *keys = lower_input (o, i), *values = lower_input (o, i + 1);
  h->past = 0;
  if (o->error == NULL && (keys == NULL) != (values == NULL))
    lower_fail (o, SL_ERROR_FORMAT,
                "inputs %u and %u, keys and values of earlier runs, come together; one is missing",
                i, i + 1);
  if (o->error == NULL && keys != NULL && !keys->empty && (keys->rank != 4 || values->rank != 4))
    lower_fail (o, SL_ERROR_SHAPE,
                "keys of earlier runs have %u dimensions; expected [batch,heads,rows,depth]",
                keys->rank);
  if (o->error != NULL)
    return;
  if (keys != NULL && !keys->empty && !values->empty) {
    h->past = keys->dims[2];
    h->k = join (o, (const gint32[]){ lower_plain (o, keys), h->k }, 2, 2);
    h->v = join (o, (const gint32[]){ lower_plain (o, values), h->v }, 2, 2);
  }
  lower_set (o, 1, h->k, FALSE);
  lower_set (o, 2, h->v, FALSE);
}

static gint32
given_heads (Lower *o, const char *name)
{
  const gint64 heads = lower_attr_int (o, name, 0);
  if (heads < 1 || heads > G_MAXINT16)
    lower_fail (o, SL_ERROR_FORMAT, "attribute %s is %" G_GINT64_FORMAT "; expected 1 to %d", name,
                heads, G_MAXINT16);
  return (gint32) CLAMP (heads, 1, G_MAXINT16);
}

static void
refuse_input (Lower *o, guint i, const char *what)
{
  if (lower_has_input (o, i))
    lower_fail (o, SL_ERROR_UNSUPPORTED,
                "input %u, %s, is not supported; export the model without it", i, what);
}

/* Opset 23: queries, keys, values, a mask, keys and values of earlier runs. */
static void
lower_attention (Lower *o)
{
  LowerValue *q = lower_required (o, 0), *mask = lower_input (o, 3);
  refuse_input (o, 6, "lengths without padding");
  if (lower_has_output (o, 3))
    lower_fail (
      o, SL_ERROR_UNSUPPORTED,
      "output 3, scores of queries and keys, is not supported; export the model without it");
  if (o->error != NULL)
    return;
  const gboolean flat = q->rank == 3;
  const gint64 heads = flat ? given_heads (o, "q_num_heads") : 0,
               key_heads = flat ? given_heads (o, "kv_num_heads") : 0;
  Heads h = { apart (o, lower_plain (o, q), heads, "queries"),
              apart (o, lower_plain (o, lower_required (o, 1)), key_heads, "keys"),
              apart (o, lower_plain (o, lower_required (o, 2)), key_heads, "values"), 0 };
  add_past (o, &h, 4);
  const LowerAttention a = { .q = h.q,
                             .k = h.k,
                             .v = h.v,
                             .mask = mask != NULL ? lower_plain (o, mask) : -1,
                             .scale = lower_attr_float (o, "scale", 0),
                             .softcap = lower_attr_float (o, "softcap", 0),
                             .causal = lower_attr_int (o, "is_causal", 0) != 0,
                             .past = h.past };
  const gint32 y = lower_attend (o, &a);
  lower_set (o, 0, flat ? together (o, y) : y, FALSE);
}

/* Input @i of com.microsoft's operators: which keys count, 1 or 0, [batch,keys] or
 * [batch,queries,keys]; as what is added to scores. */
static gint32
key_mask (Lower *o, guint i)
{
  LowerValue *mask = lower_input (o, i);
  if (o->error != NULL || mask == NULL)
    return -1;
  if (mask->rank != 2 && mask->rank != 3)
    return lower_fail (
      o, SL_ERROR_UNSUPPORTED,
      "its mask, input %u, has %u dimensions; expected [batch,keys] or [batch,queries,keys]", i,
      mask->rank);
  const gint32 dims[4] = { mask->dims[0], 1, mask->rank == 3 ? mask->dims[1] : 1,
                           mask->dims[mask->rank - 1] };
  const gint32 keep = lower_reshape (o, lower_plain (o, mask), dims, 4);
  return lower_truth_mask (o, keep, lower_attr_float (o, "mask_filter_value", -10000));
}

static gint32
add_masks (Lower *o, gint32 a, gint32 b)
{
  return a < 0 ? b : b < 0 ? a : lower_binary (o, SL_OP_ADD, a, b);
}

static void
attend_microsoft (Lower *o, const Heads *h, guint mask, guint bias)
{
  const LowerAttention a = { .q = h->q,
                             .k = h->k,
                             .v = h->v,
                             .mask = add_masks (o, key_mask (o, mask), lower_optional (o, bias)),
                             .scale = lower_attr_float (o, "scale", 0),
                             .causal = lower_attr_int (o, "unidirectional", 0) != 0,
                             .past = h->past };
  lower_set (o, 0, together (o, lower_attend (o, &a)), FALSE);
}

/* Part @i of @n, along dimension 3 of [batch,rows,heads,n,depth]. */
static gint32
packed_part (Lower *o, LowerValue *x, gint32 i, gint32 n)
{
  if (o->error == NULL && (x->rank != 5 || x->dims[3] != n))
    return lower_fail (o, SL_ERROR_SHAPE,
                       "input 1 or 2 is missing, and what is packed has %u dimensions; expected "
                       "[batch,rows,heads,%d,depth]",
                       x->rank, n);
  const gint32 part = lower_cut (o, lower_plain (o, x), 3, i, i + 1);
  if (o->error != NULL)
    return -1;
  return lower_reshape (
    o, part, (const gint32[]){ x->dims[0], x->dims[1], lower_times (x->dims[2], x->dims[4]) }, 3);
}

/* Input 3: biases of queries, keys and values, one behind the other. @at moves on. */
static gint32
add_part_of_bias (Lower *o, gint32 x, gint32 bias, gint32 *at)
{
  if (bias < 0 || o->error != NULL)
    return x;
  const SlTensor t = *lower_t (o, x), b = *lower_t (o, bias);
  if (t.rank != 3 || b.rank != 1 || b.dims[0] - *at < t.dims[2])
    return lower_fail (o, SL_ERROR_SHAPE,
                       "its bias of %u dimensions and %d elements does not fit rows of %d", b.rank,
                       b.rank > 0 ? b.dims[0] : 1, t.rank > 0 ? t.dims[t.rank - 1] : 1);
  const gint32 part = lower_cut (o, bias, 0, *at, *at + t.dims[2]);
  *at += t.dims[2];
  return lower_binary (o, SL_OP_ADD, x, part);
}

/* Of com.microsoft: queries; keys; values; biases; which keys count; what is added to scores; keys
 * and values of earlier runs. */
void
lower_multi_head_attention (Lower *o)
{
  LowerValue *q = lower_required (o, 0), *k = lower_input (o, 1), *v = lower_input (o, 2);
  const gint32 heads = given_heads (o, "num_heads"), bias = lower_optional (o, 3);
  gint32 parts[3], at = 0;
  refuse_input (o, 8, "the length of earlier runs");
  refuse_input (o, 9, "the indirection of beams");
  if (o->error != NULL)
    return;
  parts[0] = k == NULL ? packed_part (o, q, 0, 3) : lower_plain (o, q);
  parts[1] = k == NULL   ? packed_part (o, q, 1, 3)
             : v == NULL ? packed_part (o, k, 0, 2)
                         : lower_plain (o, k);
  parts[2] = k == NULL   ? packed_part (o, q, 2, 3)
             : v == NULL ? packed_part (o, k, 1, 2)
                         : lower_plain (o, v);
  for (guint i = 0; i < 3; i++)
    parts[i] = add_part_of_bias (o, parts[i], bias, &at);
  Heads h = { apart (o, parts[0], heads, "queries"), apart (o, parts[1], heads, "keys"),
              apart (o, parts[2], heads, "values"), 0 };
  add_past (o, &h, 6);
  attend_microsoft (o, &h, 4, 5);
}

/* Of com.microsoft: one product gives queries, keys and values. */
void
lower_packed_attention (Lower *o)
{
  static const char *const names[3] = { "queries", "keys", "values" };
  const gint32 heads = given_heads (o, "num_heads"), bias = lower_optional (o, 2);
  gint32 sizes[3] = { 0 }, parts[3],
         y = lower_product (o, lower_plain (o, lower_required (o, 0)),
                            lower_plain (o, lower_required (o, 1)));
  guint n = 0;
  refuse_input (o, 4, "keys and values of earlier runs");
  refuse_input (o, 6, "the length of earlier runs");
  if (lower_has_output (o, 1) || lower_attr_int (o, "do_rotary", 0) != 0)
    lower_fail (
      o, SL_ERROR_UNSUPPORTED,
      "output 1 and attribute do_rotary are not supported; export the model without them");
  lower_attr_ints (o, "qkv_hidden_sizes", sizes, 3, &n);
  if (bias >= 0)
    y = lower_binary (o, SL_OP_ADD, y, bias);
  const SlTensor t = *lower_t (o, y);
  if (o->error != NULL)
    return;
  for (guint i = 0; i < 3 && n != 3; i++)
    sizes[i] = t.dims[t.rank - 1] / 3;
  if (t.rank != 3 || sizes[0] < 1 || sizes[1] < 1 || sizes[2] < 1
      || (gint64) sizes[0] + sizes[1] + sizes[2] != t.dims[2]) {
    lower_fail (o, SL_ERROR_SHAPE,
                "rows of %d numbers do not part into queries, keys and values of %d, %d and %d",
                t.dims[MAX (t.rank, 1) - 1], sizes[0], sizes[1], sizes[2]);
    return;
  }
  for (gint32 i = 0, at = 0; i < 3; at += sizes[i++])
    parts[i] = apart (o, lower_cut (o, y, 2, at, at + sizes[i]), heads, names[i]);
  attend_microsoft (o, &(Heads){ parts[0], parts[1], parts[2], 0 }, 3, 5);
}

/* Places of rows: [batch,rows] as they are; one number is the first one's place. */
static gint32
row_places (Lower *o, gint32 places, gint32 rows)
{
  if (o->error != NULL || lower_t (o, places)->rank == 2)
    return places;
  const gint32 first = lower_reshape (o, places, (const gint32[]){ 1, 1 }, 2);
  return lower_binary (o, SL_OP_ADD, first,
                       lower_reshape (o, lower_count (o, 0, rows), (const gint32[]){ 1, rows }, 2));
}

/* Rows @places of @table [places,pairs], or the table of the rows themselves, [batch,rows,pairs];
 * with a dimension of 1 for heads at @heads_at. */
static gint32
turns (Lower *o, gint32 table, gint32 places, gint32 pairs, guint heads_at)
{
  const SlOpParams params = { .axis = { .axis = 0, .indexing = SL_INDEX_FROM_END } };
  const gint32 rows = places < 0 ? table
                                 : lower_emit (o, SL_OP_GATHER, (const gint32[]){ table, places },
                                               2, &params, lower_tensor_type (o, table));
  const SlTensor t = *lower_t (o, rows);
  if (o->error != NULL)
    return -1;
  if (t.rank != 3 || t.dims[2] != pairs) {
    g_autofree char *text = sl_tensor_describe (&t);
    return lower_fail (o, SL_ERROR_SHAPE, "its cosines and sines are %s; expected [batch,rows,%d]",
                       text, pairs);
  }
  const gint32 dims[4] = { t.dims[0], heads_at == 1 ? 1 : t.dims[1], heads_at == 1 ? t.dims[1] : 1,
                           pairs };
  return lower_reshape (o, rows, dims, 4);
}

/* Of each pair the first or the second: neighbours, or one in each half. */
static gint32
of_pairs (Lower *o, gint32 x, gint32 pairs, gboolean neighbours, gint32 which)
{
  const SlTensor t = *lower_t (o, x);
  if (!neighbours || o->error != NULL)
    return lower_cut (o, x, 3, which * pairs, (which + 1) * pairs);
  const gint32 dims[5] = { t.dims[0], t.dims[1], t.dims[2], pairs, 2 };
  return lower_reshape (o, lower_cut (o, lower_reshape (o, x, dims, 5), 4, which, which + 1), dims,
                        4);
}

static gint32
turned (Lower *o, gint32 x, gint32 cosines, gint32 sines, gint32 pairs, gboolean neighbours)
{
  const SlTensor t = *lower_t (o, x);
  const gint32 a = of_pairs (o, x, pairs, neighbours, 0), b = of_pairs (o, x, pairs, neighbours, 1);
  gint32 parts[2] = { lower_binary (o, SL_OP_SUB, lower_binary (o, SL_OP_MUL, a, cosines),
                                    lower_binary (o, SL_OP_MUL, b, sines)),
                      lower_binary (o, SL_OP_ADD, lower_binary (o, SL_OP_MUL, a, sines),
                                    lower_binary (o, SL_OP_MUL, b, cosines)) };
  if (!neighbours)
    return join (o, parts, 2, 3);
  const gint32 dims[5] = { t.dims[0], t.dims[1], t.dims[2], pairs, 1 };
  for (guint i = 0; i < 2; i++)
    parts[i] = lower_reshape (o, parts[i], dims, 5);
  return lower_reshape (o, join (o, parts, 2, 4),
                        (const gint32[]){ t.dims[0], t.dims[1], t.dims[2], 2 * pairs }, 4);
}

/* Of opset 23, and of com.microsoft, which has the places first and may leave the number of heads
 * open. */
void
lower_rotary_embedding (Lower *o)
{
  const gboolean microsoft = o->node->domain[0] != '\0';
  LowerValue *x = lower_required (o, 0);
  const gint32 cosines = lower_plain (o, lower_required (o, microsoft ? 2 : 1)),
               sines = lower_plain (o, lower_required (o, microsoft ? 3 : 2));
  gint32 places = lower_optional (o, microsoft ? 1 : 3), input = lower_plain (o, x), whole;
  const gint64 size = lower_attr_int (o, "rotary_embedding_dim", 0);
  if (lower_attr_int (o, "is_packed_batching", 0) != 0)
    lower_fail (o, SL_ERROR_UNSUPPORTED, "attribute is_packed_batching is 1; expected 0");
  if (o->error != NULL)
    return;
  const SlTensor table = *lower_t (o, cosines);
  const gint32 columns = table.rank > 0 ? table.dims[table.rank - 1] : 0;
  gint64 heads = lower_attr_int (o, "num_heads", 0);
  if (microsoft && x->rank == 3 && heads == 0 && columns > 0)
    heads = size > 0 ? 0 : x->dims[2] / (2 * (gint64) columns);
  const guint heads_at = x->rank == 4 ? 1 : 2;
  if (x->rank == 3 && heads >= 1 && heads <= x->dims[2] && x->dims[2] % heads == 0) {
    input = lower_reshape (
      o, input,
      (const gint32[]){ x->dims[0], x->dims[1], (gint32) heads, x->dims[2] / (gint32) heads }, 4);
  } else if (x->rank != 4) {
    lower_fail (o, SL_ERROR_SHAPE,
                "its input has %u dimensions and %" G_GINT64_FORMAT
                " heads; expected [batch,heads,rows,depth], or "
                "[batch,rows,heads * depth] and attribute num_heads",
                x->rank, heads);
    return;
  }
  const gint32 depth = o->error == NULL ? lower_t (o, input)->dims[3] : 0;
  if (lower_fail_if (o, size < 0 || size > depth || size % 2 != 0 || (size == 0 && depth % 2 != 0),
                     SL_ERROR_FORMAT,
                     "attribute rotary_embedding_dim is %" G_GINT64_FORMAT
                     " for a depth of %d; expected an even number up to it",
                     size, depth))
    return;
  whole = size > 0 ? (gint32) size : depth;
  if (places >= 0)
    places = row_places (o, places, x->dims[x->rank == 4 ? 2 : 1]);
  const gint32 c = turns (o, cosines, places, whole / 2, heads_at),
               s = turns (o, sines, places, whole / 2, heads_at);
  const gint32 parts[2] = { turned (o, lower_cut (o, input, 3, 0, whole), c, s, whole / 2,
                                    lower_attr_int (o, "interleaved", 0) != 0),
                            whole < depth ? lower_cut (o, input, 3, whole, depth) : -1 };
  const gint32 y = join (o, parts, whole < depth ? 2 : 1, 3);
  lower_set (o, 0, lower_reshape (o, y, x->dims, x->rank), FALSE);
}

const LowerOp lower_ops_attention[] = {
  { LOWER_ROW (Attention, lower_attention), 0 },
  { LOWER_ROW (RotaryEmbedding, lower_rotary_embedding), 0 },
  { NULL },
};
