/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The options tables of TensorFlow Lite operators, for tflite_writer.c.
 */
#ifndef SL_TESTS_SUPPORT_TFLITE_OPTIONS_H
#define SL_TESTS_SUPPORT_TFLITE_OPTIONS_H

#include "models/tflite/flatbuffer_writer.h"
#include "tests/support/tflite_writer.h"

/** sl_tflite_ints: a vector of @n numbers. */
FbNode *sl_tflite_ints (FbWriter *fb, const gint32 *values, guint n);
/** sl_tflite_options_build: the options table of @op; empty where an operator has none. */
FbNode *sl_tflite_options_build (FbWriter *fb, const SlTfliteOp *op);

#endif
