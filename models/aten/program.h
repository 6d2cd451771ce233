/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program of torch's operators while it is lowered: the values that it computes with, and the
 * graph that its operators on tensors build. A reader calls one operator after the other, whatever
 * its file looks like.
 *
 * Errors stick, those of the heap and those of the builder alike; what is called after one does
 * nothing.
 */
#pragma once

#include "models/aten/value.h"
#include "models/lower/build.h"

typedef struct _TsProgram TsProgram;
typedef struct _TsCall TsCall;

/** TsRunBody: runs the row of @call, whose body is a function written in TorchScript. */
typedef TsValue (*TsRunBody) (TsProgram *program, const TsCall *call);

/**
 * TsProgram:
 * @ops: name -> TsOp of every operator
 * @views: tensor -> what it is a view of
 * @reader: (nullable): the state of the program's reader
 * @run_body: (nullable): of a reader that has no TorchScript
 * @steps: that the reader took so far
 * @located: the error says already where it happened
 * @op: (nullable): the operator that runs, for messages
 */
struct _TsProgram
{
  TsHeap *heap;
  Lower lower;
  LowerScope scope;
  GHashTable *ops;
  GHashTable *views;
  gpointer reader;
  TsRunBody run_body;
  guint64 steps;
  gboolean located;
  const char *op;
};

/** ts_program_init: @heap must outlive the program, and @graph takes the nodes. */
void ts_program_init (TsProgram *program, TsHeap *heap, SlGraph *graph);
void ts_program_clear (TsProgram *program);
/** ts_failed: whether there was an error, of the heap or of the builder. */
gboolean ts_failed (const TsProgram *program);
/** ts_refuse: ts_fail() with the name of the operator that runs before the text; gives none. */
TsValue ts_refuse (TsProgram *program, SlError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
/** ts_take_error: (transfer full) (nullable): the first error. */
GError *ts_take_error (TsProgram *program);

/* Operators (schema.c). */

/** ts_ops_new: (transfer full): name -> const TsOp *. */
GHashTable *ts_ops_new (void);
/** ts_run_op: operator @name, "aten::add". */
TsValue ts_run_op (TsProgram *program, const char *name, const TsValue *args,
                   const char *const *keywords, guint n);

/** ts_run_named: the same where each argument has the name that torch's schema gives it. Where a
 * row has another name, the argument's place counts. */
TsValue ts_run_named (TsProgram *program, const char *name, const TsValue *args,
                      const char *const *names, guint n);
/** ts_has_op: whether ts_run_op() knows operator @name. */
gboolean ts_has_op (TsProgram *program, const char *name);
