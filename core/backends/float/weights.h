/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The weights of a layer as the graph has them (internal to core/backends/float): what their
 * values are, before they are packed. A matrix that is to be transposed is packed without that.
 */
#pragma once

#include "core/graph/few_bits.h"
#include "core/graph/graph.h"

/**
 * SlFloatSource:
 * @values: of @n floats, at an address that is aligned for floats unless @turned
 * @turned: it has a row for each of the depth's elements, else for each of the @channels
 * @by: (nullable): then: a factor for each of the channels
 * @halves: then: its values are binary16
 * @few_bits: @matrix, a row for each of the channels, stands for the values, which are not there
 * @bytes: of the values
 * @came: whether it was read from the file for this; @parts: of a matrix of few bits
 */
typedef struct
{
  SlGraph *graph;
  const SlTensor *tensor;
  const void *values;
  const gfloat *by;
  gsize n, channels, bytes;
  gboolean turned, halves, few_bits, came;
  SlFewBits matrix;
  guint parts;
} SlFloatSource;

/** sl_float_source_take: of @node, a layer, readable until sl_float_source_return(). @may_turn:
 * those of a layer of @channels may be as a transposed matrix, or of few bits. FALSE as
 * sl_graph_need_constant().
 */
gboolean sl_float_source_take (SlFloatSource *source, SlGraph *graph, const SlNode *node,
                               gboolean may_turn, GError **error);
/** sl_float_source_straighten: the same weights, a row for each channel. */
gboolean sl_float_source_straighten (SlFloatSource *source, GError **error);
void sl_float_source_return (SlFloatSource *source);

/** sl_float_source_full: whether over @share of them, at least 0, or all, are not zero. */
gboolean sl_float_source_full (const SlFloatSource *source, gdouble share);
/** sl_float_source_within: whether all are finite numbers of at most @most. */
gboolean sl_float_source_within (const SlFloatSource *source, gfloat most);
/** sl_float_source_halves: whether all are numbers of binary16, as those of files that keep them
 * so. */
gboolean sl_float_source_halves (const SlFloatSource *source);
/** sl_float_source_bytes: whether those of each channel are whole multiples of a step, as those of
 * files that keep them in 8 bits. */
gboolean sl_float_source_bytes (const SlFloatSource *source);
/** sl_float_step: the step if all @values are integer multiples of it, from -128 to 127 times, like
 * weights that a file stores in 8 bits; 0 = there is none. */
gfloat sl_float_step (const gfloat *values, gsize n);
