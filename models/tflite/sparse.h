/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sparse constants of TensorFlow Lite: the values that are not zero and where they are, dimension
 * by dimension, dense or compressed rows. */
#pragma once

#include "core/graph/tensor.h"
#include "models/tflite/flatbuffer.h"

/** tfl_sparse_read: writes the @n values of @tensor's type at @values to where @sparsity puts them
 * in @dense, which has room for all of the tensor's elements and is zero. Work is at most that of
 * going through them once a level. SL_ERROR_FORMAT for what does not fit. */
gboolean tfl_sparse_read (const SlFbTable *sparsity, const SlTensor *tensor, const guint8 *values,
                          gsize n, guint8 *dense, GError **error);
