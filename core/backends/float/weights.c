/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/backends/float/weights.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/base/half.h"
#include "core/graph/constants.h"

/* How far a weight may be from a whole number of steps, as a part of itself: what is left of
 * rounding a product and a quotient. */
#define STEP_ERROR (2 * FLT_EPSILON)
/* Weights that are counted before the count is looked at. */
#define COUNTED_AT_ONCE ((gsize) 4096)
/* Values whose zeros are counted in registers; a constant, so that the compiler does. */
#define BLOCK 64

static gboolean
take_straight (SlFloatSource *source, GError **error)
{
  source->values = source->tensor->data;
  source->by = NULL;
  source->turned = source->halves = source->few_bits = source->came = FALSE;
  return sl_graph_need_constant (source->graph, source->tensor->data, source->tensor->bytes, error);
}

/* Integers of few bits that the weights will be made of, or whose floats they will be transposed
 * of.
 */
static gboolean
find_few_bits (SlFloatSource *source, const SlMadeOf *of)
{
  SlMadeOf before;
  source->by = of->by;
  if (of->few_bits != NULL)
    source->matrix = *of->few_bits;
  else if (of->rows > 0 && sl_graph_is_pending (source->graph, of->data, &before)
           && before.few_bits != NULL && before.by == NULL)
    source->matrix = sl_few_bits_transposed (before.few_bits);
  else
    return FALSE;
  return source->matrix.rows == source->channels
         && source->matrix.rows * source->matrix.columns == source->n;
}

/* The values of a matrix that the weights are the transpose of: those of binary16 become no floats
 * if nothing else needs these. */
static gboolean
take_turned (SlFloatSource *source, const SlMadeOf *of, GError **error)
{
  SlMadeOf before;
  source->turned = TRUE;
  source->by = of->by;
  source->halves =
    sl_graph_is_pending (source->graph, of->data, &before) && before.halves && before.by == NULL;
  source->bytes = source->halves ? before.bytes : of->bytes;
  return sl_graph_take_values (source->graph, source->halves ? before.data : of->data,
                               source->bytes, &source->values, &source->came, error);
}

gboolean
sl_float_source_take (SlFloatSource *source, SlGraph *graph, const SlNode *node, gboolean may_turn,
                      GError **error)
{
  SlMadeOf of;
  const SlTensor *tensor = sl_node_input (graph, node, 1);
  *source = (SlFloatSource){ .graph = graph,
                             .tensor = tensor,
                             .n = tensor->bytes / sizeof (gfloat),
                             .channels = (gsize) tensor->dims[0] };
  const gboolean pending =
    may_turn && tensor->rank == 2 && sl_graph_is_pending (graph, tensor->data, &of);
  if (pending && find_few_bits (source, &of)) {
    source->few_bits = TRUE;
    return sl_graph_take_few_bits (graph, &source->matrix, &source->parts, error);
  }
  if (!pending || of.rows != (gsize) tensor->dims[1] || of.columns != (gsize) tensor->dims[0])
    return take_straight (source, error);
  return take_turned (source, &of, error);
}

void
sl_float_source_return (SlFloatSource *source)
{
  if (source->few_bits)
    sl_graph_return_few_bits (source->graph, &source->matrix, source->parts);
  else if (source->turned)
    sl_graph_return_source (source->graph, source->values, source->bytes, source->came);
}

gboolean
sl_float_source_straighten (SlFloatSource *source, GError **error)
{
  if (!source->turned && !source->few_bits)
    return TRUE;
  sl_float_source_return (source);
  return take_straight (source, error);
}

static gfloat
value_at (const SlFloatSource *source, gsize i)
{
  gfloat value;
  if (source->halves)
    value = sl_half_to_float (((const guint16 *) source->values)[i]);
  else
    memcpy (&value, (const guint8 *) source->values + i * sizeof value, sizeof value);
  return source->by != NULL ? value * source->by[i % source->channels] : value;
}

/* How many of the values from @first to before @end are not zero, one by one. */
static gsize
count_some (const SlFloatSource *source, gsize first, gsize end)
{
  gsize found = 0;
  for (gsize i = first; i < end; i++)
    found += value_at (source, i) != 0;
  return found;
}

/* How many of a block of floats are not zero: their bits but the sign. */
static guint32
count_floats (const guint8 *values)
{
  guint32 words[BLOCK], found = 0;
  memcpy (words, values, sizeof words);
  for (guint i = 0; i < BLOCK; i++)
    found += words[i] << 1 != 0;
  return found;
}

static guint32
count_halves (const guint16 *values)
{
  guint16 found = 0;
  for (guint i = 0; i < BLOCK; i++)
    found = (guint16) (found + ((values[i] & 0x7fff) != 0));
  return found;
}

/* As count_some(), by blocks where values are as they are. */
static gsize
count_full (const SlFloatSource *source, gsize first, gsize end)
{
  const guint16 *halves = source->values;
  const guint8 *floats = source->values;
  gsize found = 0;
  for (; source->by == NULL && first + BLOCK <= end; first += BLOCK)
    found += source->halves ? count_halves (halves + first)
                            : count_floats (floats + first * sizeof (gfloat));
  return found + count_some (source, first, end);
}

gboolean
sl_float_source_full (const SlFloatSource *source, gdouble share)
{
  const gsize most = (gsize) MIN (share * (gdouble) source->n, (gdouble) source->n - 1);
  gsize found = 0;
  for (gsize i = 0; i < source->n && found <= most; i += COUNTED_AT_ONCE)
    found += count_full (source, i, MIN (i + COUNTED_AT_ONCE, source->n));
  return found > most;
}

gboolean
sl_float_source_within (const SlFloatSource *source, gfloat most)
{
  gboolean within = TRUE;
  for (gsize i = 0; i < source->n; i++)
    within &= fabsf (value_at (source, i)) <= most;
  return within;
}

gboolean
sl_float_source_halves (const SlFloatSource *source)
{
  for (gsize i = 0; i < source->n; i++)
    if (!sl_half_holds (value_at (source, i)))
      return FALSE;
  return TRUE;
}

gboolean
sl_float_source_bytes (const SlFloatSource *source)
{
  const gsize depth = source->n / source->channels;
  g_autofree gfloat *row = g_new (gfloat, depth);
  for (gsize c = 0; c < source->channels; c++) {
    for (gsize k = 0; k < depth; k++)
      row[k] = value_at (source, source->turned ? k * source->channels + c : c * depth + k);
    if (sl_float_step (row, depth) == 0)
      return FALSE;
  }
  return TRUE;
}

/* Most values differ within the first few of a row, so other weights are soon known as such. */
static gboolean
are_steps (const gfloat *values, gsize n, gfloat step)
{
  for (gsize i = 0; i < n; i++) {
    const gfloat whole = rintf (values[i] / step);
    if (whole < G_MININT8 || whole > G_MAXINT8
        || !(fabsf (values[i] - whole * step) <= STEP_ERROR * fabsf (values[i])))
      return FALSE;
  }
  return TRUE;
}

gfloat
sl_float_step (const gfloat *values, gsize n)
{
  gfloat most = 0;
  for (gsize i = 0; i < n; i++)
    most = MAX (most, fabsf (values[i]));
  if (most == 0)
    return 1;
  for (gint whole = -G_MININT8; whole > 0; whole--)
    if (most / (gfloat) whole >= FLT_MIN && are_steps (values, n, most / (gfloat) whole))
      return most / (gfloat) whole;
  return 0;
}
