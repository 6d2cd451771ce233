/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TensorFlow Lite operators -> SlOpType and parameters, for the TFLite reader; the writer finds
 * numbers in the same table.
 */
#pragma once

#include "core/graph/op.h"
#include "sightline/error.h"
#include "models/tflite/flatbuffer.h"

/** Number of the builtin operator that stands for all custom ones. */
#define TFL_BUILTIN_CUSTOM 32
/** The operator that converts a sparse constant to a dense one. */
#define TFL_BUILTIN_DENSIFY 124

/** Inputs of UNIDIRECTIONAL_SEQUENCE_LSTM that are state. */
#define TFL_LSTM_OUTPUT_STATE 18
#define TFL_LSTM_CELL_STATE 19

/** What an operator's options are parsed from. */
typedef struct
{
  SlFbTable options;    /* builtin options; absent for none */
  const guint8 *custom; /* (nullable): custom options */
  gsize custom_size;
  guint n_inputs; /* inputs that are not omitted */
} TflOptions;

/** TflParse: fills @params with what the fields of options.c do not say, and checks those; use
 * tfl_read_options(). */
typedef gboolean (*TflParse) (const TflOptions *options, SlOpParams *params, GError **error);

/**
 * TflOp:
 * @builtin: number in the schema, @custom the name of a custom operator (@builtin is then
 * TFL_BUILTIN_CUSTOM)
 * @options_type: union member of the options table; 0 when nobody needs its options
 * @parse: (nullable): of a custom operator; use tfl_op_parse()
 */
typedef struct
{
  gint32 builtin;
  const char *custom;
  SlOpType op;
  guint8 options_type;
  TflParse parse;
} TflOp;

/** tfl_op_is_state: whether input @i of @op (nullable) is state kept by TFLite; it is left away, so
 * every run starts anew. */
gboolean tfl_op_is_state (const TflOp *op, guint i);

/** tfl_op_find: (nullable): the row for a builtin operator or, with @custom, for a custom one. */
const TflOp *tfl_op_find (gint32 builtin, const char *custom);
/** tfl_op_row: (nullable): the row of @op; NULL for an operator that TensorFlow Lite lacks. */
const TflOp *tfl_op_row (SlOpType op);
/** tfl_op_parse: (nullable): of @op. */
TflParse tfl_op_parse (const TflOp *op);
/** tfl_bad_option: sets @error, with @expected of option @name; returns FALSE. */
gboolean tfl_bad_option (GError **error, SlError code, const char *name, gint value,
                         const char *expected);
/** tfl_read_activation: FALSE with @error for a number that the schema lacks. */
gboolean tfl_read_activation (guint8 number, SlActivation *activation, GError **error);
/** tfl_activation_number: of a fused activation; -1 for one that the schema lacks. */
gint tfl_activation_number (SlActivation activation);
/** tfl_builtin_name: TensorFlow Lite's name, "UNKNOWN" for a number without one. */
const char *tfl_builtin_name (gint32 builtin);
