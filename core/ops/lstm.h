/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* UNIDIRECTIONAL_SEQUENCE_LSTM: its operands, and the integer one (internal to core). */
#pragma once

#include "core/ops/ops.h"

/** Operands, by their place in TensorFlow Lite's files. */
enum
{
  SL_LSTM_INPUT = 0,
  SL_LSTM_INPUT_WEIGHTS = 1, /* gates: input, forget, cell, output */
  SL_LSTM_RECURRENT_WEIGHTS = 5,
  SL_LSTM_PEEPHOLES = 9, /* input, forget, output */
  SL_LSTM_BIASES = 12,
  SL_LSTM_PROJECTION = 16,
  SL_LSTM_PROJECTION_BIAS = 17,
  SL_LSTM_STATES = 18, /* hidden, cell; the reader leaves both away */
  SL_LSTM_LAYER_NORM = 20,
  SL_LSTM_N_INPUTS = 24
};

enum
{
  SL_GATE_INPUT,
  SL_GATE_FORGET,
  SL_GATE_CELL,
  SL_GATE_OUTPUT,
  SL_N_GATES
};

/** sl_lstm_integer_check, sl_lstm_integer_prepare, sl_lstm_integer_run: the functions of the
 * operator's row, for int8 inputs. */
gboolean sl_lstm_integer_check (const SlGraph *graph, const SlNode *node, GError **error);
void *sl_lstm_integer_prepare (const SlGraph *graph, const SlNode *node, SlArena *arena);
void sl_lstm_integer_run (const SlKernelCall *call);
