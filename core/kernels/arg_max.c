/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ARG_MAX, ARG_MIN (the first of equals wins, NaN never) and TOPK_V2. Along the last dimension of 8-bit codes, as
 * class maps have it, a row is searched 16 codes at a time.
 */
#include <string.h>

#include "core/kernels/kernels.h"
#include "core/kernels/parallel.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define PART_ELEMENTS 32768

typedef struct
{
  const SlKernelCall *call;
  const SlTensor *input;
  gsize n, inner; /* elements searched, and how far they are apart */
  gboolean lowest;
} Search;

static gdouble
value_at (const void *data, SlDtype dtype, gsize i)
{
  switch (dtype) {
    case SL_DTYPE_F32:
      return (gdouble) ((const gfloat *) data)[i];
    case SL_DTYPE_I32:
      return ((const gint32 *) data)[i];
    default:
      return sl_load_wide (data, dtype, i);
  }
}

static gsize
search_any (const Search *s, gsize at)
{
  gdouble best = -INFINITY;
  gsize found = 0;
  for (gsize i = 0; i < s->n; i++) {
    const gdouble value = value_at (s->call->inputs[0], s->input->dtype, at + i * s->inner);
    if ((s->lowest ? -value : value) > best) {
      best = s->lowest ? -value : value;
      found = i;
    }
  }
  return found;
}

static gsize
search_floats (const gfloat *in, gsize n)
{
  gfloat best = -INFINITY;
  gsize found = 0;
  for (gsize i = 0; i < n; i++)
    if (in[i] > best) {
      best = in[i];
      found = i;
    }
  return found;
}

/* @flip makes the order of codes that of unsigned bytes: 0x80 for signed ones, inverted for the lowest. */
#if defined(__SSE2__)
static gsize
search_bytes (const guint8 *in, gsize n, guint8 flip)
{
  const __m128i flips = _mm_set1_epi8 ((char) flip);
  __m128i most = _mm_setzero_si128 ();
  gsize i = 0;
  if (n < 16) {
    gsize found = 0;
    for (i = 1; i < n; i++)
      found = (guint8) (in[i] ^ flip) > (guint8) (in[found] ^ flip) ? i : found;
    return found;
  }
  for (; i + 16 <= n; i += 16)
    most = _mm_max_epu8 (most, _mm_xor_si128 (_mm_loadu_si128 ((const __m128i *) (in + i)), flips));
  most = _mm_max_epu8 (most, _mm_xor_si128 (_mm_loadu_si128 ((const __m128i *) (in + n - 16)), flips));
  most = _mm_max_epu8 (most, _mm_srli_si128 (most, 8));
  most = _mm_max_epu8 (most, _mm_srli_si128 (most, 4));
  most = _mm_max_epu8 (most, _mm_srli_si128 (most, 2));
  most = _mm_max_epu8 (most, _mm_srli_si128 (most, 1));
  const guint8 best = (guint8) (_mm_cvtsi128_si32 (most) & 0xff) ^ flip;
  const __m128i bests = _mm_set1_epi8 ((char) best);
  for (i = 0; i + 16 <= n; i += 16) {
    const int equal = _mm_movemask_epi8 (_mm_cmpeq_epi8 (_mm_loadu_si128 ((const __m128i *) (in + i)), bests));
    if (equal != 0)
      return i + (gsize) __builtin_ctz ((guint) equal);
  }
  return n - 16
         + (gsize) __builtin_ctz ((guint) _mm_movemask_epi8 (_mm_cmpeq_epi8 (_mm_loadu_si128 ((const __m128i *) (in + n - 16)), bests)));
}
#else
static gsize
search_bytes (const guint8 *in, gsize n, guint8 flip)
{
  guint8 best = 0;
  gsize found = 0;
  for (gsize i = 0; i < n; i++)
    best = MAX (best, (guint8) (in[i] ^ flip));
  while ((guint8) (in[found] ^ flip) != best)
    found++;
  return found;
}
#endif

static void
search_part (void *data, gsize first, gsize n)
{
  const Search *s = data;
  const SlDtype dtype = s->input->dtype;
  const gboolean wide = sl_node_output (s->call->graph, s->call->node, 0)->dtype == SL_DTYPE_I64;
  const gboolean bytes = s->inner == 1 && (dtype == SL_DTYPE_I8 || dtype == SL_DTYPE_U8);
  const guint8 flip = (dtype == SL_DTYPE_I8 ? 0x80 : 0) ^ (s->lowest ? 0xff : 0);
  for (gsize k = first; k < first + n; k++) {
    const gsize at = k / s->inner * s->inner * s->n + k % s->inner;
    gsize found;
    if (bytes)
      found = search_bytes ((const guint8 *) s->call->inputs[0] + at, s->n, flip);
    else if (dtype == SL_DTYPE_F32 && s->inner == 1 && !s->lowest)
      found = search_floats ((const gfloat *) s->call->inputs[0] + at, s->n);
    else
      found = search_any (s, at);
    if (wide)
      ((gint64 *) s->call->outputs[0])[k] = (gint64) found;
    else
      ((gint32 *) s->call->outputs[0])[k] = (gint32) found;
  }
}

void
sl_kernel_arg_max (const SlKernelCall *call)
{
  Search s = { .call = call, .input = sl_node_input (call->graph, call->node, 0), .inner = 1 };
  gint32 axis = 0;
  guint count = 0;
  gsize results = 0;
  sl_constant_ints (sl_node_input (call->graph, call->node, 1), &axis, 1, &count);
  axis += axis < 0 ? (gint32) s.input->rank : 0;
  s.n = (gsize) s.input->dims[axis];
  s.lowest = call->node->op == SL_OP_ARG_MIN;
  for (guint i = (guint) axis + 1; i < s.input->rank; i++)
    s.inner *= (gsize) s.input->dims[i];
  sl_tensor_elements (sl_node_output (call->graph, call->node, 0), &results);
  sl_parallel (call, results, PART_ELEMENTS / s.n + 1, search_part, &s);
}

/* An ordered list of the k best so far; most elements are refused by one comparison. */
typedef struct
{
  gdouble *values;
} TopK;

void *
sl_kernel_topk_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena)
{
  const SlTensor *output = sl_node_output (graph, node, 0);
  TopK *p = sl_arena_alloc (arena, sizeof *p);
  p->values = sl_arena_alloc (arena, (gsize) output->dims[output->rank - 1] * sizeof p->values[0]);
  return p;
}

void
sl_kernel_topk (const SlKernelCall *call)
{
  const TopK *p = call->state;
  const SlTensor *input = sl_node_input (call->graph, call->node, 0), *output = sl_node_output (call->graph, call->node, 0);
  const gsize n = (gsize) input->dims[input->rank - 1], k = (gsize) output->dims[output->rank - 1], size = sl_dtype_size (input->dtype);
  gsize elements = 0;
  sl_tensor_elements (input, &elements);
  for (gsize row = 0; row < elements / n; row++) {
    gint32 *indices = (gint32 *) call->outputs[1] + row * k;
    gsize kept = 0;
    for (gsize i = 0; i < n; i++) {
      gdouble value = value_at (call->inputs[0], input->dtype, row * n + i);
      value = isnan (value) ? -INFINITY : value;
      if (kept == k && !(value > p->values[k - 1]))
        continue;
      gsize low = 0, high = kept;
      while (low < high) {
        const gsize middle = (low + high) / 2;
        if (p->values[middle] >= value)
          low = middle + 1;
        else
          high = middle;
      }
      kept = MIN (kept + 1, k);
      memmove (p->values + low + 1, p->values + low, (kept - 1 - low) * sizeof p->values[0]);
      memmove (indices + low + 1, indices + low, (kept - 1 - low) * sizeof indices[0]);
      p->values[low] = value;
      indices[low] = (gint32) i;
    }
    for (gsize i = 0; i < k; i++)
      memcpy ((guint8 *) call->outputs[0] + (row * k + i) * size, (const guint8 *) call->inputs[0] + (row * n + (gsize) indices[i]) * size,
              size);
  }
}
