/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Single-operator graphs for tests: build one, fill its input, run it on XNNPACK where it goes
 * there and on the kernels of our own, and compare with numbers the test computed in double
 * precision.
 */
#ifndef SL_TESTS_OPCHECK_H
#define SL_TESTS_OPCHECK_H

#include "core/graph/graph.h"
#include "core/runtime/session.h"

/** A graph under construction; inputs and outputs are collected in order. */
typedef struct
{
  SlGraph *graph;
  GRand *rand;
  guint n_inputs, n_outputs;
  gint32 inputs[SL_MAX_IO], outputs[SL_MAX_IO];
  void *input_data[SL_MAX_IO]; /* owned, filled by the test */
  guint32 seed;
  gboolean on_xnnpack; /* the last run, or a part of it */
} Check;

void check_init (Check *check, guint32 seed);
void check_clear (Check *check);
/** check_input, check_output: a variable tensor; @scale 0 = not quantised. Returns its index. */
gint32 check_input (Check *check, SlDtype dtype, guint rank, const gint32 *dims, gfloat scale,
                    gint32 zero_point);
gint32 check_output (Check *check, SlDtype dtype, gfloat scale, gint32 zero_point);
/** check_middle: a tensor between two nodes. */
gint32 check_middle (Check *check, SlDtype dtype, gfloat scale, gint32 zero_point);
/** check_constant: @data is kept by the caller until check_clear(). @n_scales > 1: per channel
 * along @axis. */
gint32 check_constant (Check *check, SlDtype dtype, guint rank, const gint32 *dims,
                       const gfloat *scales, guint n_scales, gint axis, gint32 zero_point,
                       const void *data);
gint32 check_ints (Check *check, guint n, const gint32 *values);
/** check_node: adds a node with one output. */
void check_node (Check *check, SlOpType op, const gint32 *inputs, guint n_inputs, gint32 output,
                 const SlOpParams *params);
/** check_float_node: adds a node of one or two inputs, @b = -1: none, that makes floats for other
 * nodes; returns their tensor. */
gint32 check_float_node (Check *check, SlOpType op, gint32 a, gint32 b, const SlOpParams *params);
/** check_prepare: sets inputs and outputs and prepares; fails the test on error. */
void check_prepare (Check *check);
/** check_prepare_error: prepares and requires this error code and this text in the message. */
void check_prepare_error (Check *check, gint code, const char *text);

/** check_random: fills @n elements: floats in -2..2, codes over their whole range. */
void check_random (Check *check, SlDtype dtype, gsize n, void *data);
/** check_real: element @i of tensor @index as a real number, from @data. */
double check_real (const SlTensor *tensor, const void *data, gsize i);

/** check_run: runs the graph with @threads on the backends that the environment names or the
 * library chooses, or on plain kernels alone
 *  (@reference); returns the buffer of output 0 (free with
 *  sl_tensor_buffer_free()). Guard bytes behind the padding are verified. */
void *check_run (Check *check, gboolean reference, guint threads);
/** check_expect: runs on both backends; element i of output 0 must be within @tolerance output
 * steps (codes, or absolute value for floats relative to max(1, |expected|)) of @expected[i], real
 * numbers before quantisation. Codes saturate. Kernels of our own run on two threads, too.
 * XNNPACK's pool spins for milliseconds in each session, so one seed of eight has that. */
void check_expect (Check *check, const double *expected, double tolerance,
                   double tolerance_reference);

#endif
