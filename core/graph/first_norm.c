/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See first_norm.h. */
#include "core/graph/first_norm.h"

#include <string.h>

#include "core/graph/graph_private.h"

void
sl_graph_set_first_norm (SlGraph *graph, const gfloat *scale, const gfloat *bias, guint n)
{
  gfloat *values = sl_arena_alloc (graph->arena, 2 * (gsize) n * sizeof *values);
  memcpy (values, scale, n * sizeof *values);
  memcpy (values + n, bias, n * sizeof *values);
  graph->norm = sl_arena_alloc (graph->arena, sizeof *graph->norm);
  *graph->norm = (SlFirstNorm){ n, values, values + n };
}

const SlFirstNorm *
sl_graph_first_norm (const SlGraph *graph)
{
  return graph->norm;
}
