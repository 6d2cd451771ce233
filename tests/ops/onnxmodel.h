/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Small ONNX models in memory against expected values, by every backend and by plain kernels alone,
 * on one thread and on two. A test adds inputs, constants and nodes by the writer, then outputs,
 * and says what they are; opmodel.h is the same for TensorFlow Lite.
 */
#ifndef SL_TESTS_ONNXMODEL_H
#define SL_TESTS_ONNXMODEL_H

#include <glib.h>

#include "tests/support/onnx_writer.h"

#define ONNX_MODEL_EDGES 8

typedef struct
{
  SlOnnxWriter *writer;
  GRand *rand;
  guint n_inputs, n_outputs;
  void *data[ONNX_MODEL_EDGES];
} OnnxModel;

void onnx_model_init (OnnxModel *m, guint opset, guint32 seed);
void onnx_model_clear (OnnxModel *m);
/** onnx_model_floats: (transfer none): adds an input; its values, -2..2 by chance, which may be
 * changed before the first run. */
gfloat *onnx_model_floats (OnnxModel *m, const char *name, guint rank, const gint64 *dims);
/** onnx_model_ints: the same of int64 values @low..@high-1. */
gint64 *onnx_model_ints (OnnxModel *m, const char *name, guint rank, const gint64 *dims, gint32 low,
                         gint32 high);
/** onnx_model_expect: adds output @name of that element type, and compares its elements, which must
 * be @n. */
void onnx_model_expect (OnnxModel *m, const char *name, guint type, gsize n, const double *expected,
                        double tolerance);
/** onnx_model_refuse: loading fails with a message that contains @text. */
void onnx_model_refuse (OnnxModel *m, const char *text);

#endif
