/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A tensor as the graph sees it: a name, an element type, a shape (outermost dimension first),
 * quantisation and, for constants, a pointer to its bytes. A tensor owns nothing; the arena of its
 * graph does.
 *
 * Quantisation is affine: real = scale * (q - zero_point), q the quantised value, as in the
 * TensorFlow Lite 8-bit specification.
 */
#pragma once

#include <glib.h>

#include "core/graph/arena.h"
#include "core/graph/dtype.h"

/** Highest rank a tensor may have. */
#define SL_MAX_RANK 8
/** Alignment in bytes of every tensor buffer the library allocates, and that it asks of others. */
#define SL_TENSOR_ALIGN 64
/** Bytes behind a tensor's last one that kernels may read (never use): buffers must have them. */
#define SL_TENSOR_PADDING 64

/**
 * SlQuant:
 * @count: number of scales: 0 = not quantised, 1 = per tensor, dims[axis] = per channel
 * @axis: the channel dimension when @count > 1
 * @scale: @count scales, all finite and > 0
 * @zero_point: @count zero points
 */
typedef struct
{
  guint count;
  gint axis;
  const gfloat *scale;
  const gint32 *zero_point;
} SlQuant;

/**
 * SlTensor:
 * @name: (not nullable): name in the model file, "" when it has none
 * @rank: 0 for a scalar
 * @dims: outermost first; all >= 1 once shapes are inferred
 * @data: (nullable): the bytes of a constant, NULL for a variable
 * @bytes: size of the data in bytes; valid once shapes are inferred
 */
typedef struct
{
  const char *name;
  SlDtype dtype;
  guint rank;
  gint32 dims[SL_MAX_RANK];
  SlQuant quant;
  const void *data;
  gsize bytes;
} SlTensor;

/** sl_tensor_elements: product of the dimensions, FALSE on overflow or a negative dimension. */
gboolean sl_tensor_elements (const SlTensor *tensor, gsize *elements);
/** sl_tensor_count: the same of a tensor whose dimensions were checked; else 0. */
gsize sl_tensor_count (const SlTensor *tensor);
/** sl_tensor_span: likewise, of dimensions @first to before @end. */
gsize sl_tensor_span (const SlTensor *tensor, guint first, guint end);
/** sl_tensor_scale: per-tensor scale, 0 when not quantised per tensor. */
gfloat sl_tensor_scale (const SlTensor *tensor);
/** sl_tensor_zero_point: per-tensor zero point, 0 when not quantised per tensor. */
gint32 sl_tensor_zero_point (const SlTensor *tensor);
/** sl_tensor_is_shifted: whether a quantised tensor has a zero point other than 0. */
gboolean sl_tensor_is_shifted (const SlTensor *tensor);
/** sl_tensor_same_shape: whether rank and dimensions are equal. */
gboolean sl_tensor_same_shape (const SlTensor *a, const SlTensor *b);
/** sl_dims_same_but_ones: whether two shapes are the same when dimensions of 1 are left out. */
gboolean sl_dims_same_but_ones (const gint32 *a, guint rank_a, const gint32 *b, guint rank_b);
/** sl_tensor_describe: (transfer full): "uint8[1,224,224,3]", for messages. */
char *sl_tensor_describe (const SlTensor *tensor);

/** sl_tensor_buffer_new: zeroed memory for @bytes and padding, aligned; free with
 * sl_tensor_buffer_free(). NULL when there is none. */
void *sl_tensor_buffer_new (gsize bytes);
/** sl_tensor_buffer_new_unset: the same, but only the padding is zeroed. */
void *sl_tensor_buffer_new_unset (gsize bytes);
void sl_tensor_buffer_free (void *buffer);
/** sl_tensor_alloc: the same in @arena, never NULL. */
void *sl_tensor_alloc (SlArena *arena, gsize bytes);
