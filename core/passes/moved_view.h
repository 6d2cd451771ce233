/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors as views of others, of which nodes make them that only move elements (internal to
 * core/passes). */
#pragma once

#include "core/graph/strided.h"
#include "core/passes/passes.h"

/** Most nodes between a tensor and the one that it is a view of. */
#define SL_MAX_MOVES 12

/** SlMoved: elements of a tensor are those of @view of @tensor, times @factor. */
typedef struct
{
  gint32 tensor;
  SlStrided view;
  gdouble factor;
} SlMoved;

/** sl_moved_view: @tensor by the memory of the one that is @back nodes before; FALSE where it is
 * not one that nodes only moved, or, with @scales, multiplied by one number. */
gboolean sl_moved_view (SlGraph *graph, const SlPassIndex *index, gint32 tensor, guint back,
                        gboolean scales, SlMoved *moved);
/** sl_pass_number: whether @tensor is a constant of one float. */
gboolean sl_pass_number (const SlGraph *graph, gint32 tensor, gdouble *value);
/** sl_pass_scaled: whether @node is a tensor times, or divided by, one number. */
gboolean sl_pass_scaled (const SlGraph *graph, const SlNode *node, gint32 *tensor, gdouble *factor);
