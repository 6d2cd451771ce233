/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * If, Loop, Scan and SequenceMap: their inner graphs are run while loading, once for each
 * iteration, and nothing of them is left. Conditions that the picture decides: both branches of an
 * If are computed, and one is taken; a Loop goes on to its greatest number of trips and keeps what
 * it had when the condition ended. How often a loop runs must be bounded by a constant, since the
 * work of a frame is.
 */
#include <string.h>

#include "models/onnx/ops.h"

#define MAX_TRIPS 1024
/* Of a loop whose end the picture decides: each is computed for every frame. */
#define MAX_KEPT_TRIPS 64
#define MAX_OUTPUTS 64

/* A boolean that is known: 0 or 1, else -1. */
static gint
known_bool (Lower *o, LowerValue *value)
{
  gsize n = 0;
  const guint8 *data = lower_data (o, value, &n);
  return data == NULL || lower_dtype (o, value) != SL_DTYPE_BOOL || n != 1 ? -1 : data[0] != 0;
}

/* (nullable): @yes where the picture fulfils @condition, else @no. */
static LowerValue *
chosen (Lower *o, LowerValue *condition, LowerValue *yes, LowerValue *no, guint i)
{
  if (o->error != NULL || yes == no)
    return yes;
  const gboolean same =
    !yes->empty && !no->empty && yes->rank == no->rank
    && lower_dtype (o, yes) == lower_dtype (o, no)
    && (yes->rank == 0 || memcmp (yes->dims, no->dims, yes->rank * sizeof yes->dims[0]) == 0);
  if (!same)
    return lower_fail_null (
      o, SL_ERROR_UNSUPPORTED,
      "the picture decides about output %u, whose two values have other shapes or types, or are no "
      "tensors; expected the same: export the model so that both have",
      i);
  if (lower_elements (condition) != 1 || lower_dtype (o, condition) != SL_DTYPE_BOOL)
    return lower_fail_null (o, SL_ERROR_FORMAT,
                            "its condition is %s with %" G_GSIZE_FORMAT
                            " elements; expected one truth value",
                            sl_dtype_name (lower_dtype (o, condition)), lower_elements (condition));
  LowerValue *one =
    lower_value_new (o, lower_reshape (o, lower_plain (o, condition), NULL, 0), FALSE);
  return lower_call (o, "Where", (LowerValue *[]){ one, yes, no }, 3, NULL, 0);
}

/* Both branches, of which the picture takes one. */
static void
choose_branch (Lower *o, LowerValue *condition)
{
  LowerValue *yes[MAX_OUTPUTS], *no[MAX_OUTPUTS];
  const LowerAttribute *then_branch = lower_attribute (o, "then_branch"),
                       *else_branch = lower_attribute (o, "else_branch");
  const guint n = o->node->n_outputs;
  if (then_branch == NULL || then_branch->graph == NULL || else_branch == NULL
      || else_branch->graph == NULL || n > MAX_OUTPUTS) {
    lower_fail (o, SL_ERROR_FORMAT, "it has no graph for its condition, or more than %d outputs",
                MAX_OUTPUTS);
    return;
  }
  if (!onnx_run_inner (o, then_branch->graph, NULL, 0, yes, n)
      || !onnx_run_inner (o, else_branch->graph, NULL, 0, no, n))
    return;
  for (guint i = 0; i < n; i++)
    lower_set_value (o, i, chosen (o, condition, yes[i], no[i], i));
}

static void
onnx_if (Lower *o)
{
  LowerValue *outputs[MAX_OUTPUTS];
  LowerValue *value = lower_required (o, 0);
  const gint condition = known_bool (o, value);
  const LowerAttribute *branch =
    lower_attribute (o, condition == 1 ? "then_branch" : "else_branch");
  if (condition < 0)
    choose_branch (o, value);
  else if (branch == NULL || branch->graph == NULL || o->node->n_outputs > MAX_OUTPUTS)
    lower_fail (o, SL_ERROR_FORMAT, "it has no graph for its condition, or more than %d outputs",
                MAX_OUTPUTS);
  else if (onnx_run_inner (o, branch->graph, NULL, 0, outputs, o->node->n_outputs))
    for (guint i = 0; i < o->node->n_outputs; i++)
      lower_set_value (o, i, outputs[i]);
}

/* What the iterations gave for one scan output, one behind the other along a new first dimension.
 */
static LowerValue *
join_scans (Lower *o, const GArray *parts)
{
  const SlOpParams params = { .concat = { .axis = 0 } };
  g_autoptr (GArray) tensors = g_array_new (FALSE, FALSE, sizeof (gint32));
  if (parts->len == 0)
    return lower_fail_null (o, SL_ERROR_UNSUPPORTED,
                            "a scan output of no iterations is not supported");
  for (guint i = 0; i < parts->len && o->error == NULL; i++) {
    const LowerValue *value = g_array_index (parts, LowerValue *, i);
    gint32 dims[SL_MAX_RANK + 1] = { 1 };
    if (value->rank + 1 > SL_MAX_RANK)
      return lower_fail_null (o, SL_ERROR_LIMIT,
                              "a scan output of %u dimensions; at most %d are supported",
                              value->rank + 1, SL_MAX_RANK);
    memcpy (dims + 1, value->dims, value->rank * sizeof dims[0]);
    const gint32 row = lower_reshape (o, lower_plain (o, g_array_index (parts, LowerValue *, i)),
                                      dims, value->rank + 1);
    g_array_append_val (tensors, row);
  }
  while (tensors->len > 1 && o->error == NULL) { /* as many at once as an operator takes */
    guint n = 0;
    for (guint i = 0; i < tensors->len && o->error == NULL; i += SL_MAX_OPERANDS) {
      const gint32 *inputs = &g_array_index (tensors, gint32, i);
      const guint few = MIN (tensors->len - i, SL_MAX_OPERANDS);
      const gint32 all = few == 1 ? inputs[0]
                                  : lower_emit (o, SL_OP_CONCATENATION, inputs, few, &params,
                                                lower_tensor_type (o, inputs[0]));
      g_array_index (tensors, gint32, n++) = all;
    }
    g_array_set_size (tensors, n);
  }
  return o->error == NULL ? lower_value_new (o, g_array_index (tensors, gint32, 0), FALSE) : NULL;
}

/**
 * Loop: what one carries from trip to trip
 * @state: the trip's number, whether to go on, then the values that the body changes
 * @running: (nullable): the truth value that the picture decides whether this trip counts
 * @parts: by scan output: what each trip gave
 */
typedef struct
{
  const OnnxGraph *body;
  guint carried, n_outputs;
  LowerValue *state[MAX_OUTPUTS], *outputs[MAX_OUTPUTS], *running;
  GPtrArray *parts;
} Loop;

static LowerValue *
truth (Lower *o, gboolean holds)
{
  const guint8 value = holds ? 1 : 0;
  return lower_value_new (o, lower_constant (o, SL_DTYPE_BOOL, 0, NULL, &value), FALSE);
}

/* Zeros like @value, which trips that do not count give. */
static LowerValue *
zeros_like (Lower *o, LowerValue *value)
{
  const gint32 tensor = lower_plain (o, value);
  return lower_value_new (
    o, lower_emit (o, SL_OP_ZEROS_LIKE, &tensor, 1, NULL, lower_tensor_type (o, tensor)), FALSE);
}

/* A trip that may not count changes nothing then. */
static void
keep_state (Lower *o, Loop *l)
{
  for (guint i = 0; i < l->carried && l->running != NULL; i++)
    l->outputs[1 + i] = chosen (o, l->running, l->outputs[1 + i], l->state[2 + i], i);
  for (guint i = 1 + l->carried; i < l->n_outputs && l->running != NULL && o->error == NULL; i++)
    if (!l->outputs[i]->empty)
      l->outputs[i] = chosen (o, l->running, l->outputs[i], zeros_like (o, l->outputs[i]), i);
}

/* Goes on while both hold. */
static LowerValue *
both (Lower *o, LowerValue *a, LowerValue *b)
{
  return a == NULL ? b : lower_call (o, "And", (LowerValue *[]){ a, b }, 2, NULL, 0);
}

/* One trip; returns whether to go on: 1, 0, or -1 where the picture decides. */
static gint
run_trip (Lower *o, Loop *l, gint32 trip)
{
  l->state[0] = lower_value_new (o, lower_int_scalar (o, trip), FALSE);
  l->state[1] = truth (o, TRUE);
  if (!onnx_run_inner (o, l->body, l->state, l->carried + 2, l->outputs, l->n_outputs))
    return 0;
  const gint go = known_bool (o, l->outputs[0]);
  keep_state (o, l);
  if (o->error != NULL)
    return 0;
  memcpy (l->state + 2, l->outputs + 1, l->carried * sizeof l->state[0]);
  for (guint i = 0; i < l->parts->len; i++)
    g_array_append_val ((GArray *) l->parts->pdata[i], l->outputs[1 + l->carried + i]);
  if (go < 0)
    l->running = both (o, l->running, l->outputs[0]);
  return go == 0 ? 0 : l->running != NULL ? -1 : 1;
}

static gboolean
refuse_trips (Lower *o, gint go, gint32 trip, gint32 trips, gboolean counted)
{
  if (go < 0 && trips > MAX_KEPT_TRIPS)
    lower_fail (
      o, SL_ERROR_UNSUPPORTED,
      "the number of its iterations depends on the picture; expected a constant trip count of at "
      "most %d beside its condition: the work of a frame must be bounded",
      MAX_KEPT_TRIPS);
  else if (trip >= MAX_TRIPS)
    lower_fail (
      o, SL_ERROR_UNSUPPORTED,
      "the number of its iterations %s; at most %d that follow from constants and shapes are "
      "supported",
      counted ? "is too high" : "has no end", MAX_TRIPS);
  return o->error != NULL;
}

/* The trip count, input 0; more than are supported where none is stated. */
static gint32
trip_count (Lower *o, gboolean *counted)
{
  gint32 trips = MAX_TRIPS + 1;
  gsize elements = 0;
  guint n = 0;
  LowerValue *count = lower_input (o, 0);
  if (o->error == NULL && count != NULL && lower_data (o, count, &elements) == NULL)
    lower_fail (
      o, SL_ERROR_UNSUPPORTED,
      "the trip count, input 0, depends on the picture; expected a constant: the work of a frame "
      "must be bounded. Export the model with the greatest count, of at most %d, and a condition "
      "that ends it",
      MAX_KEPT_TRIPS);
  *counted = lower_input_ints (o, 0, "trip count", &trips, 1, &n);
  return trips;
}

static void
onnx_loop (Lower *o)
{
  const LowerAttribute *body = lower_attribute (o, "body");
  const guint carried = o->node->n_inputs > 2 ? o->node->n_inputs - 2 : 0;
  gboolean counted;
  Loop l = { .carried = carried };
  if (body == NULL || body->graph == NULL || carried + 2 > MAX_OUTPUTS
      || body->graph->outputs->len > MAX_OUTPUTS || body->graph->outputs->len < carried + 1
      || o->node->n_outputs + 1 > body->graph->outputs->len) {
    lower_fail (o, SL_ERROR_FORMAT, "its body does not fit its inputs and outputs");
    return;
  }
  if (o->error != NULL || onnx_loop_of_objects (o, body->graph))
    return;
  const gint32 trips = trip_count (o, &counted);
  LowerValue *condition = lower_input (o, 1);
  gint go = condition != NULL ? known_bool (o, condition) : 1;
  l.body = body->graph;
  l.n_outputs = body->graph->outputs->len;
  l.running = go < 0 ? condition : NULL;
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  for (guint i = 1 + carried; i < l.n_outputs; i++)
    g_ptr_array_add (parts, g_array_new (FALSE, FALSE, sizeof (LowerValue *)));
  l.parts = parts;
  for (guint i = 0; i < carried; i++)
    l.state[i + 2] = lower_required (o, i + 2);
  for (gint32 trip = 0; o->error == NULL && trip < trips && go != 0; trip++) {
    if (refuse_trips (o, go, trip, trips, counted))
      return;
    go = run_trip (o, &l, trip);
  }
  for (guint i = 0; i < o->node->n_outputs && o->error == NULL; i++)
    if (lower_has_output (o, i))
      lower_set_value (o, i,
                       i < carried ? l.state[i + 2] : join_scans (o, parts->pdata[i - carried]));
}

/** Scan: @along, @back: by sequence that it reads or writes: its dimension, and whether it goes
 * from the end to the begin */
typedef struct
{
  guint states, reads, writes;
  gint32 steps;
  guint along[2][MAX_OUTPUTS];
  gboolean back[2][MAX_OUTPUTS];
  LowerValue *sequences[MAX_OUTPUTS];
} Scan;

static void
read_ways (Lower *o, Scan *s, guint which, const char *axes, const char *directions, guint n)
{
  gint32 list[MAX_OUTPUTS] = { 0 }, ways[MAX_OUTPUTS] = { 0 };
  guint n_axes = 0, n_ways = 0;
  lower_attr_ints (o, axes, list, MAX_OUTPUTS, &n_axes);
  lower_attr_ints (o, directions, ways, MAX_OUTPUTS, &n_ways);
  if (o->error == NULL && ((n_axes != 0 && n_axes != n) || (n_ways != 0 && n_ways != n)))
    lower_fail (o, SL_ERROR_FORMAT, "attributes %s and %s have %u and %u numbers; expected %u",
                axes, directions, n_axes, n_ways, n);
  for (guint i = 0; i < n && o->error == NULL; i++) {
    if (which == 0)
      s->along[0][i] = lower_norm_axis (o, list[i], s->sequences[i]->rank);
    else
      s->along[1][i] = (guint) MAX (list[i], 0);
    if (which == 1 && list[i] < 0)
      lower_fail (o, SL_ERROR_UNSUPPORTED,
                  "attribute %s has %d; expected a dimension counted from 0", axes, list[i]);
    s->back[which][i] = ways[i] != 0;
  }
}

static gboolean
read_scan (Lower *o, Scan *s, const OnnxGraph *body)
{
  const gint64 reads = lower_attr_int (o, "num_scan_inputs", 0);
  const guint n = o->node->n_inputs;
  if (o->opset < 9)
    lower_fail (o, SL_ERROR_UNSUPPORTED,
                "Scan of opset %" G_GINT64_FORMAT " is not supported; expected 9 or newer",
                o->opset);
  else if (reads < 1 || reads > n || n > MAX_OUTPUTS || body->outputs->len > MAX_OUTPUTS
           || body->outputs->len < n - (guint) reads || o->node->n_outputs > body->outputs->len)
    lower_fail (o, SL_ERROR_FORMAT,
                "its body does not fit its %u inputs, of which %" G_GINT64_FORMAT
                " are sequences, and its outputs",
                n, reads);
  if (o->error != NULL)
    return FALSE;
  s->reads = (guint) reads;
  s->states = n - s->reads;
  s->writes = body->outputs->len - s->states;
  for (guint i = 0; i < s->reads; i++)
    s->sequences[i] = lower_required (o, s->states + i);
  if (o->error == NULL)
    read_ways (o, s, 0, "scan_input_axes", "scan_input_directions", s->reads);
  read_ways (o, s, 1, "scan_output_axes", "scan_output_directions", s->writes);
  for (guint i = 0; i < s->reads && o->error == NULL; i++) {
    const gint32 steps = s->sequences[i]->dims[s->along[0][i]];
    s->steps = i == 0 ? steps : s->steps;
    if (steps != s->steps || steps < 1 || steps > MAX_TRIPS)
      lower_fail (o, SL_ERROR_SHAPE,
                  "sequence %u has %d elements, the first one %d; expected as many, 1 to %d", i,
                  steps, s->steps, MAX_TRIPS);
  }
  return o->error == NULL;
}

/* Element @at of a sequence, without its dimension. */
static LowerValue *
element_of (Lower *o, const Scan *s, guint i, gint32 at)
{
  LowerValue *x = s->sequences[i];
  const guint axis = s->along[0][i];
  const gint32 place = s->back[0][i] ? s->steps - 1 - at : at,
               cut = lower_cut (o, lower_plain (o, x), axis, place, place + 1);
  gint32 dims[SL_MAX_RANK];
  memcpy (dims, x->dims, sizeof dims);
  memmove (dims + axis, dims + axis + 1, (x->rank - 1 - axis) * sizeof dims[0]);
  return lower_value_new (o, lower_reshape (o, cut, dims, x->rank - 1), FALSE);
}

/* What the steps gave, along the dimension asked for. */
static void
set_written (Lower *o, const Scan *s, guint i, GArray *parts)
{
  gint32 order[SL_MAX_RANK];
  for (guint a = 0, b = parts->len; s->back[1][i] && a + 1 < b; a++) {
    LowerValue *other = g_array_index (parts, LowerValue *, a);
    g_array_index (parts, LowerValue *, a) = g_array_index (parts, LowerValue *, --b);
    g_array_index (parts, LowerValue *, b) = other;
  }
  LowerValue *all = join_scans (o, parts);
  const guint axis = s->along[1][i];
  if (o->error == NULL && axis >= all->rank)
    lower_fail (o, SL_ERROR_FORMAT, "output %u is written along dimension %u of %u", s->states + i,
                axis, all->rank);
  if (o->error != NULL)
    return;
  for (guint k = 0; k < all->rank; k++)
    order[k] = k < axis ? (gint32) k + 1 : k == axis ? 0 : (gint32) k;
  lower_set (o, s->states + i, lower_transpose (o, lower_plain (o, all), order), FALSE);
}

static void
onnx_scan (Lower *o)
{
  const LowerAttribute *body = lower_attribute (o, "body");
  LowerValue *state[MAX_OUTPUTS] = { NULL }, *outputs[MAX_OUTPUTS] = { NULL };
  Scan s = { 0 };
  if (lower_fail_if (o, body == NULL || body->graph == NULL, SL_ERROR_FORMAT, "it has no body"))
    return;
  if (!read_scan (o, &s, body->graph))
    return;
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  for (guint i = 0; i < s.writes; i++)
    g_ptr_array_add (parts, g_array_new (FALSE, FALSE, sizeof (LowerValue *)));
  for (guint i = 0; i < s.states; i++)
    state[i] = lower_required (o, i);
  for (gint32 step = 0; step < s.steps && o->error == NULL; step++) {
    for (guint i = 0; i < s.reads; i++)
      state[s.states + i] = element_of (o, &s, i, step);
    if (!onnx_run_inner (o, body->graph, state, s.states + s.reads, outputs, s.states + s.writes))
      return;
    memcpy (state, outputs, s.states * sizeof state[0]);
    for (guint i = 0; i < s.writes; i++)
      g_array_append_val ((GArray *) parts->pdata[i], outputs[s.states + i]);
  }
  for (guint i = 0; i < o->node->n_outputs && o->error == NULL; i++)
    if (lower_has_output (o, i) && i < s.states)
      lower_set_value (o, i, state[i]);
    else if (lower_has_output (o, i))
      set_written (o, &s, i - s.states, parts->pdata[i - s.states]);
}

/* Each item of the first sequence, with those of other sequences in the same place, and tensors as
 * they are. */
static void
onnx_sequence_map (Lower *o)
{
  const LowerAttribute *body = lower_attribute (o, "body");
  const LowerValue *first = lower_required (o, 0);
  const guint n_in = o->node->n_inputs, n_out = o->node->n_outputs;
  LowerValue *inputs[MAX_OUTPUTS], *outputs[MAX_OUTPUTS], *lists[MAX_OUTPUTS];
  if (o->error == NULL
      && (body == NULL || body->graph == NULL || !first->is_list || n_in > MAX_OUTPUTS
          || n_out > MAX_OUTPUTS))
    lower_fail (o, SL_ERROR_FORMAT, "it has no body, or its first input is no sequence");
  for (guint i = 0; i < n_out; i++)
    lists[i] = o->error == NULL ? onnx_list_new (o, first->n_items) : NULL;
  for (guint at = 0; o->error == NULL && at < first->n_items; at++) {
    for (guint i = 0; i < n_in && o->error == NULL; i++) {
      LowerValue *value = lower_required (o, i);
      if (o->error == NULL && value->is_list && value->n_items != first->n_items)
        lower_fail (o, SL_ERROR_SHAPE, "its sequences have %u and %u items; expected as many",
                    first->n_items, value->n_items);
      inputs[i] = o->error == NULL && value->is_list ? value->items[at] : value;
    }
    if (o->error == NULL && onnx_run_inner (o, body->graph, inputs, n_in, outputs, n_out))
      for (guint i = 0; i < n_out; i++)
        lists[i]->items[at] = outputs[i];
  }
  for (guint i = 0; i < n_out; i++)
    lower_set_value (o, i, lists[i]);
}

/* A value that may be there, which is known while loading. */
static void
onnx_optional_of (Lower *o)
{
  LowerValue *value = lower_has_input (o, 0) ? lower_input (o, 0) : lower_value_empty (o, 0, NULL);
  if (o->error == NULL && !lower_has_input (o, 0))
    value->is_missing = TRUE;
  lower_set_value (o, 0, value);
}

static void
onnx_optional_has (Lower *o)
{
  const LowerValue *value = lower_input (o, 0);
  if (o->error == NULL)
    lower_set_value (o, 0, truth (o, value != NULL && !value->is_missing));
}

static void
onnx_optional_get (Lower *o)
{
  LowerValue *value = lower_required (o, 0);
  if (o->error == NULL && value->is_missing)
    lower_fail (o, SL_ERROR_FORMAT, "its optional value is not there");
  lower_set_value (o, 0, value);
}

const LowerOp onnx_ops_control[] = {
  { LOWER_ROW (If, onnx_if), 0 },
  { LOWER_ROW (Loop, onnx_loop), 0 },
  { LOWER_ROW (Optional, onnx_optional_of), 0 },
  { LOWER_ROW (OptionalGetElement, onnx_optional_get), 0 },
  { LOWER_ROW (OptionalHasElement, onnx_optional_has), 0 },
  { LOWER_ROW (Scan, onnx_scan), 0 },
  { LOWER_ROW (SequenceMap, onnx_sequence_map), 0 },
  { NULL },
};
