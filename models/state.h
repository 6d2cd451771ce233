/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Inputs that callers do not pass with each frame: state, which is an output of the previous run,
 * and inputs from other branches. Sessions hold them (sl_graph_hold_input()), so callers see only
 * the other inputs and outputs.
 */
#pragma once

#include <glib.h>

#include "core/graph/graph.h"

/** The value of `state` for a model without state. */
#define SL_STATE_NONE "none"

/**
 * SlState: which inputs of a graph are held.
 * @n: how many are
 * @automatic: nothing was stated, so names may tell
 * @inputs: tensors
 * @outputs: tensors, -1 for what others hand in
 * @first: (nullable): what the first run gets, in the graph's arena
 */
typedef struct
{
  guint n;
  gboolean automatic;
  gint32 inputs[SL_MAX_IO], outputs[SL_MAX_IO];
  const void *first[SL_MAX_IO];
} SlState;

/**
 * sl_state_read:
 * @text: (nullable): "h0=hn,c0=cn": an input and the output that it gets, names or numbers from 0
 * on, as sl_io_names_find() has them; SL_STATE_NONE; NULL or "" = sl_state_apply() goes by names
 * @handed: (nullable): "#1,#2": inputs that others hand in
 * @own: (nullable): pairs that the model's file states, as @text has them; @own_first: by pair:
 * what the first run gets, NULL = zeros
 * @graph: not prepared, with every input and output
 *
 * Returns: FALSE with SL_ERROR_ARGUMENT for another text, and for inputs and outputs that the model
 * does not have
 */
gboolean sl_state_read (const char *text, const char *handed, const char *own,
                        const void *const *own_first, const SlGraph *graph, SlState *state,
                        GError **error);
/** sl_state_check: FALSE with SL_ERROR_ARGUMENT for a text that is neither pairs nor SL_STATE_NONE,
 * whatever the model. */
gboolean sl_state_check (const char *text, GError **error);
/** sl_state_find: place of @input, a tensor, in @state; -1 = it is not held. */
gint sl_state_find (const SlState *state, gint32 input);
/** sl_state_apply: to @graph, prepared by now. FALSE with SL_ERROR_SHAPE where an input and its
 * output differ in type or size. Pairs are found by names where nothing is stated: an input, not
 * the first, and an output of one type and size whose names differ as those of a state do (r1i and
 * r1o, h0 and hn, state_in and state_out, ...), where no other of either does and other outputs are
 * left. */
gboolean sl_state_apply (const SlState *state, SlGraph *graph, GError **error);
/** sl_state_describe: (transfer full) (nullable): pairs of @graph as sl_state_read() takes them, by
 * number, or with @names for people; NULL = it carries nothing. */
char *sl_state_describe (const SlGraph *graph, gboolean names);
/** sl_state_describe_handed: (transfer full) (nullable): likewise inputs that others hand in. */
char *sl_state_describe_handed (const SlGraph *graph);
/** sl_state_refuse: FALSE with SL_ERROR_UNSUPPORTED where @graph carries state, and @why, a
 * sentence's end, is no place for that. */
gboolean sl_state_refuse (const SlGraph *graph, const char *why, GError **error);
