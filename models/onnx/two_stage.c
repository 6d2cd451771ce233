/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loops over found objects as torchvision's two-stage networks export them: each iteration resizes
 * one object's masks or heat maps to the size of its box, which the picture decides. They are known
 * by their bodies, which pick rows of the same values in the same order whatever the opset is, and
 * become something whose size is known at load:
 *
 * - Mask R-CNN pastes masks into pictures. Masks stay as the network gives them, [n,height,width],
 * each over its box.
 * - Keypoint R-CNN reads points from heat maps: HEAT_MAP_PEAKS.
 */
#include <string.h>

#include "models/onnx/ops.h"

#define MAX_PICKS 7

/** What a body picks a row of in each iteration, in order. */
typedef struct
{
  const char *names[MAX_PICKS];
  LowerValue *values[MAX_PICKS];
  guint n;
} Picks;

static const LowerNode *
node_at (const OnnxGraph *graph, guint i)
{
  return &g_array_index (graph->nodes, LowerNode, i);
}

/* FALSE for bodies that pick more, or resize anything but one tensor. */
static gboolean
find_picks (Lower *o, const OnnxGraph *body, Picks *picks)
{
  const char *trip = body->inputs->len > 0 ? g_array_index (body->inputs, OnnxEdge, 0).name : "";
  guint resized = 0;
  picks->n = 0;
  onnx_reader (o)->steps += body->nodes->len;
  for (guint i = 0; i < body->nodes->len; i++) {
    const LowerNode *node = node_at (body, i);
    resized += strcmp (node->op, "Resize") == 0;
    if (strcmp (node->op, "Gather") != 0 || node->n_inputs != 2 || node->n_outputs != 1
        || strcmp (node->inputs[1], trip) != 0)
      continue;
    LowerValue *value = lower_lookup (o, node->inputs[0]);
    if (picks->n == MAX_PICKS || value == NULL || value->empty || value->is_list)
      return FALSE;
    picks->names[picks->n] = node->outputs[0];
    picks->values[picks->n++] = value;
  }
  return resized == 1 && picks->n > 0;
}

/* (nullable): the node of the graphs around the loop that gives @name. Looking costs steps, so that
 * many loops do not take long. */
static const LowerNode *
find_source (Lower *o, const char *name)
{
  for (const LowerScope *scope = o->scope;
       scope != NULL && onnx_reader (o)->steps <= ONNX_MAX_STEPS; scope = scope->outer) {
    onnx_reader (o)->steps += scope->graph != NULL ? scope->graph->nodes->len : 0;
    for (guint i = 0; scope->graph != NULL && i < scope->graph->nodes->len; i++)
      if (node_at (scope->graph, i)->n_outputs > 0
          && strcmp (node_at (scope->graph, i)->outputs[0], name) == 0)
        return node_at (scope->graph, i);
  }
  return NULL;
}

static gboolean
is_row_count (const LowerValue *value, gint32 n, guint rank)
{
  return value->rank == rank && value->dims[0] == n;
}

/* The masks that got a ring of zeros, [n,1,height,width], and boxes [n,4] of whole numbers. */
static gboolean
replace_masks (Lower *o, const OnnxGraph *body, const Picks *picks)
{
  const LowerValue *boxes = picks->n == 2 ? picks->values[1] : NULL, *ringed = picks->values[0];
  gsize n = 0;
  if (boxes == NULL || ringed->rank != 4 || ringed->dims[1] != 1
      || !is_row_count (boxes, ringed->dims[0], 2) || boxes->dims[1] != 4
      || lower_dtype (o, boxes) != SL_DTYPE_I32 || lower_data (o, picks->values[1], &n) != NULL)
    return FALSE;
  const LowerNode *ring = NULL;
  for (guint i = 0; i < body->nodes->len && ring == NULL; i++)
    if (node_at (body, i)->n_outputs > 0 && node_at (body, i)->outputs[0] == picks->names[0])
      ring = find_source (o, node_at (body, i)->inputs[0]);
  LowerValue *masks = ring != NULL && strcmp (ring->op, "Pad") == 0 && ring->n_inputs > 0
                        ? lower_lookup (o, ring->inputs[0])
                        : NULL;
  if (masks == NULL || masks->rank != 4 || masks->dims[1] != 1 || masks->dims[0] != ringed->dims[0])
    return FALSE;
  const gint32 dims[3] = { masks->dims[0], masks->dims[2], masks->dims[3] };
  lower_set (o, 0, lower_reshape (o, lower_plain (o, masks), dims, 3), FALSE);
  return TRUE;
}

static gboolean
divides (const OnnxGraph *body, const char *a, const char *b)
{
  for (guint i = 0; i < body->nodes->len; i++) {
    const LowerNode *node = node_at (body, i);
    if (strcmp (node->op, "Div") == 0 && node->n_inputs == 2 && strcmp (node->inputs[0], a) == 0
        && strcmp (node->inputs[1], b) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Heat maps [n,points,height,width]; widths and heights rounded up, then as they are; left and
 * upper edges. */
static gboolean
replace_heat_maps (Lower *o, const OnnxGraph *body, const Picks *picks)
{
  gint32 edges[4];
  gsize n = 0;
  LowerValue *const *values = picks->values;
  if (picks->n != MAX_PICKS || values[0]->rank != 4
      || !divides (body, picks->names[3], picks->names[1])
      || !divides (body, picks->names[4], picks->names[2]) || lower_data (o, values[1], &n) != NULL)
    return FALSE;
  for (guint i = 1; i < MAX_PICKS; i++)
    if (!is_row_count (values[i], values[0]->dims[0], 1))
      return FALSE;
  const gint32 count = values[0]->dims[0], points = values[0]->dims[1], column[2] = { count, 1 },
               order[3] = { 0, 2, 1 };
  const gint32 ones_dims[3] = { count, 1, points }, flat[2] = { count, points };
  for (guint i = 0; i < 2; i++) {
    edges[i] = lower_reshape (o, lower_plain (o, values[5 + i]), column, 2);
    edges[2 + i] = lower_binary (o, SL_OP_ADD, edges[i],
                                 lower_reshape (o, lower_plain (o, values[3 + i]), column, 2));
  }
  const SlOpParams across = { .axis = { .axis = 1 } };
  LowerValue *regions = lower_value_new (
    o, lower_emit (o, SL_OP_CONCATENATION, edges, 4, &across, SL_DTYPE_F32), FALSE);
  LowerValue *peaks = regions != NULL ? lower_heat_map_peaks (o, values[0], regions) : NULL;
  if (peaks == NULL)
    return TRUE;
  const gint32 all = lower_plain (o, peaks);
  g_autofree gfloat *ones = g_new (gfloat, (gsize) count * (gsize) points);
  for (gsize i = 0; i < (gsize) count * (gsize) points; i++)
    ones[i] = 1;
  const gint32 parts[2] = { lower_transpose (o, lower_cut (o, all, 2, 0, 2), order),
                            lower_constant (o, SL_DTYPE_F32, 3, ones_dims, ones) };
  lower_set (o, 0, lower_emit (o, SL_OP_CONCATENATION, parts, 2, &across, SL_DTYPE_F32), FALSE);
  lower_set (o, 1, lower_reshape (o, lower_cut (o, all, 2, 2, 3), flat, 2), FALSE);
  return TRUE;
}

gboolean
onnx_loop_of_objects (Lower *o, const OnnxGraph *body)
{
  Picks picks;
  if (o->error != NULL || !find_picks (o, body, &picks))
    return FALSE;
  switch (o->node->n_outputs) {
    case 1:
      return replace_masks (o, body, &picks);
    case 2:
      return replace_heat_maps (o, body, &picks);
    default:
      return FALSE;
  }
}
