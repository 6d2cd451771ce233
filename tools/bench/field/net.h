/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Networks made in memory, with weights from a generator: what `sightline bench field` runs, since
 * a board needs no model file for it. Values keep their size from layer to layer, so that no
 * quantised value saturates often and each layer's results reach the outputs.
 */
#pragma once

#include "core/graph/graph.h"

/**
 * SlFieldType:
 * @SL_FIELD_FLOAT: floats
 * @SL_FIELD_FP16: floats, with precision=fp16
 * @SL_FIELD_INT8: layers of 8-bit integers; of transformers the weights, and rows rounded at run
 * time
 */
typedef enum
{
  SL_FIELD_FLOAT,
  SL_FIELD_FP16,
  SL_FIELD_INT8,
  SL_FIELD_N_TYPES
} SlFieldType;

/** SlFieldNet: a network in the making. Once something failed, nothing is added any more. */
typedef struct
{
  SlGraph *graph;
  GError *error;
  gboolean quantised; /* tensors are int8 */
  gboolean bytes;     /* weights of fully connected layers are, and tensors are floats */
  guint32 state;      /* of the generator */
} SlFieldNet;

/**
 * SlFieldValue: a tensor of a network
 * @h, @w, @c: its shape is [1,h,w,c]; where @h is 0 [1,w,c], where @w is 0 [1,c]
 * @lo, @hi: the range that 8-bit values have
 * @square: the mean of the squares, about
 */
typedef struct
{
  gint32 index, h, w, c;
  double lo, hi, square;
} SlFieldValue;

typedef enum
{
  SL_FIELD_LINEAR,
  SL_FIELD_RELU,
  SL_FIELD_RELU6,
  SL_FIELD_SILU
} SlFieldCurve;

/** SlFieldLayer: of a convolution; 0 for @stride and @dilation is 1. */
typedef struct
{
  gint32 channels, filter, stride, dilation;
  SlFieldCurve curve;
  gboolean depthwise; /* then @channels is that of the input, whatever it says */
} SlFieldLayer;

void sl_field_net_init (SlFieldNet *net, SlFieldType type, gboolean transformer, guint32 seed);
/** sl_field_net_finish: (transfer full): the prepared graph; NULL with @error set. */
SlGraph *sl_field_net_finish (SlFieldNet *net, const SlFieldValue *input,
                              const SlFieldValue *outputs, guint n, GError **error);

/** sl_field_random: the generator's next number. */
guint32 sl_field_random (guint32 *state);

SlFieldValue sl_field_input (SlFieldNet *net, gint32 h, gint32 w, gint32 c);
SlFieldValue sl_field_conv (SlFieldNet *net, SlFieldValue x, SlFieldLayer layer);
SlFieldValue sl_field_add (SlFieldNet *net, SlFieldValue a, SlFieldValue b);
SlFieldValue sl_field_concat (SlFieldNet *net, const SlFieldValue *parts, guint n);
/** sl_field_split: the two halves of the channels. */
void sl_field_split (SlFieldNet *net, SlFieldValue x, SlFieldValue halves[2]);
SlFieldValue sl_field_max_pool (SlFieldNet *net, SlFieldValue x, gint32 window);
SlFieldValue sl_field_twice (SlFieldNet *net, SlFieldValue x); /* as high and as wide */
SlFieldValue sl_field_mean (SlFieldNet *net, SlFieldValue x);  /* of all pixels */
SlFieldValue sl_field_dense (SlFieldNet *net, SlFieldValue x, gint32 channels);

/* Parts of which transformers are made. */

/** sl_field_floats: a constant of @n random floats: @mean plus up to @spread; of the shape
 * [1,@rows,@n / @rows], or [@n] where @rows is 0. */
gint32 sl_field_floats (SlFieldNet *net, gint32 rows, gint32 n, double mean, double spread);
/** sl_field_ints: a constant. */
gint32 sl_field_ints (SlFieldNet *net, const gint32 *values, guint n);
/** sl_field_node: a node of floats with one output, whose shape follows from the inputs. */
gint32 sl_field_node (SlFieldNet *net, SlOpType op, const gint32 *inputs, guint n,
                      const SlOpParams *params);
