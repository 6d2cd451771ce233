/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Models of one operator, written as TFLite files in memory, read back, run on XNNPACK where it
 * goes there and on the kernels of our own, and compared with what the test computed in double
 * precision.
 */
#ifndef SL_TESTS_OPMODEL_H
#define SL_TESTS_OPMODEL_H

#include "core/runtime/session.h"
#include "models/reader.h"
#include "tests/support/tflite_writer.h"

/** One model: operands are added in order, then it is run. */
typedef struct
{
  SlTfliteWriter *writer;
  SlTfliteOp op;
  gboolean is_written;
  GRand *rand;
  guint n_inputs, n_outputs; /* of the model: variable operands */
  gint32 inputs[SL_MAX_IO], outputs[SL_MAX_IO];
  void *data[SL_MAX_IO]; /* of the inputs; random, may be overwritten before the model runs */
  SlTfliteTensor in[SL_MAX_IO], out[SL_MAX_IO];
  void *results[SL_MAX_IO];
  SlGraph *graph;
} OpModel;

#define DIMS(...) ((const gint32[]){ __VA_ARGS__ })
#define RANK(...) (sizeof (DIMS (__VA_ARGS__)) / sizeof (gint32))

void om_init (OpModel *m, SlOpType op, const SlOpParams *params, guint32 seed);
/** om_init_builtin: of the operator that has that number in the schema; @options of its union
 * member, 0 = none, with @n numbers of 32 bits as its first fields. */
void om_init_builtin (OpModel *m, gint32 builtin, guint8 options, guint n, const gint32 *fields,
                      guint32 seed);
void om_clear (OpModel *m);
/** om_input: a variable operand with random contents; @scale 0 = not quantised. Returns its number
 * among the inputs. */
guint om_input (OpModel *m, SlDtype dtype, guint rank, const gint32 *dims, gfloat scale,
                gint32 zero_point);
/** om_constant: @data is copied. */
void om_constant (OpModel *m, SlDtype dtype, guint rank, const gint32 *dims, gfloat scale,
                  gint32 zero_point, const void *data);
void om_ints (OpModel *m, guint n, const gint32 *values);
/** om_scalar: a constant int32 without dimensions. */
void om_scalar (OpModel *m, gint32 value);
void om_omitted (OpModel *m);
/** om_output: @dims is what must be inferred. */
void om_output (OpModel *m, SlDtype dtype, guint rank, const gint32 *dims, gfloat scale,
                gint32 zero_point);
/** om_refuse: reading or preparing must fail with this in the message. */
void om_refuse (OpModel *m, const char *text);
/** om_real: element @i of input @input as a real number. */
double om_real (const OpModel *m, guint input, gsize i);
/** om_leaves_out: whether a model does not run on XNNPACK with @threads: one of five runs with two,
 * and so does the first. XNNPACK's threads spin, for milliseconds a run when another program has
 * the core of one. */
gboolean om_leaves_out (guint threads);
/** om_expect: runs on both backends, and on two threads (but see above); output @output must be
 * within @tolerance steps (codes) or, for floats, relative to max(1, |expected|). @expected are
 * real numbers (codes saturate) or whole ones. */
void om_expect (OpModel *m, guint output, const double *expected, double tolerance);
/** om_elements, om_place, om_at: shape arithmetic of the test's own. */
gsize om_elements (const SlTfliteTensor *t);
void om_place (const SlTfliteTensor *t, gsize i, gint32 *position);
gsize om_at (const SlTfliteTensor *t, const gint32 *position);

#endif
