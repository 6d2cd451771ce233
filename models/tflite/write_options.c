/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A function for each kind of options, found by the type that the operator's row has. Fields are in
 * the order of the schema. */
#include "models/tflite/write_options.h"

#include "models/tflite/types.h"

typedef struct
{
  FbWriter *fb;
  FbNode *table;
  const SlGraph *graph;
  const SlNode *node;
} Options;

static void
put_activation (const Options *o, guint field, SlActivation activation)
{
  fb_u8 (o->table, field, (guint8) tfl_activation_number (activation));
}

static void
put_strides (const Options *o)
{
  const SlWindow *w = &o->node->params.window;
  fb_u8 (o->table, 0, w->padding == SL_PADDING_SAME ? 0 : 1);
  fb_i32 (o->table, 1, w->stride_w);
  fb_i32 (o->table, 2, w->stride_h);
}

static void
put_conv (const Options *o)
{
  const SlWindow *w = &o->node->params.window;
  put_strides (o);
  put_activation (o, 3, w->activation);
  fb_i32 (o->table, 4, w->dilation_w);
  fb_i32 (o->table, 5, w->dilation_h);
}

static void
put_depthwise (const Options *o)
{
  const SlWindow *w = &o->node->params.window;
  const SlTensor *input = sl_node_input (o->graph, o->node, 0),
                 *output = sl_node_output (o->graph, o->node, 0);
  put_strides (o);
  fb_i32 (o->table, 3, output->dims[3] / input->dims[3]);
  put_activation (o, 4, w->activation);
  fb_i32 (o->table, 5, w->dilation_w);
  fb_i32 (o->table, 6, w->dilation_h);
}

static void
put_transpose_conv (const Options *o)
{
  put_strides (o);
  put_activation (o, 3, o->node->params.window.activation);
}

static void
put_pool (const Options *o)
{
  const SlWindow *w = &o->node->params.window;
  put_strides (o);
  fb_i32 (o->table, 3, w->filter_w);
  fb_i32 (o->table, 4, w->filter_h);
  put_activation (o, 5, w->activation);
}

static void
put_binary (const Options *o)
{
  put_activation (o, 0, o->node->params.binary.activation);
}

static void
put_concat (const Options *o)
{
  fb_i32 (o->table, 0, o->node->params.concat.axis);
  put_activation (o, 1, o->node->params.concat.activation);
}

static void
put_fully_connected (const Options *o)
{
  put_activation (o, 0, o->node->params.fully_connected.activation);
  fb_u8 (o->table, 2, o->node->params.fully_connected.keep_dims != 0);
}

static void
put_softmax (const Options *o)
{
  fb_f32 (o->table, 0, o->node->params.softmax.beta);
}

static void
put_bilinear (const Options *o)
{
  fb_u8 (o->table, 2, o->node->params.resize.align_corners != 0);
  fb_u8 (o->table, 3, o->node->params.resize.half_pixel_centers != 0);
}

static void
put_nearest (const Options *o)
{
  fb_u8 (o->table, 0, o->node->params.resize.align_corners != 0);
  fb_u8 (o->table, 1, o->node->params.resize.half_pixel_centers != 0);
}

/* The shape that the result has, so that older readers, which take no tensor for it, find it here.
 */
static void
put_reshape (const Options *o)
{
  const SlTensor *output = sl_node_output (o->graph, o->node, 0);
  fb_ref (o->table, 0, fb_vector (o->fb, output->dims, output->rank, 4, 4, 0));
}

static void
put_squeeze (const Options *o)
{
  fb_ref (o->table, 0,
          fb_vector (o->fb, o->node->params.squeeze.axes, o->node->params.squeeze.count, 4, 4, 0));
}

static void
put_block (const Options *o)
{
  fb_i32 (o->table, 0, o->node->params.block.size);
}

static void
put_local_response (const Options *o)
{
  fb_i32 (o->table, 0, o->node->params.local_response.before);
  fb_f32 (o->table, 1, o->node->params.local_response.bias);
  fb_f32 (o->table, 2, o->node->params.local_response.alpha);
  fb_f32 (o->table, 3, o->node->params.local_response.beta);
}

static void
put_gather (const Options *o)
{
  fb_i32 (o->table, 0, o->node->params.axis.axis);
  fb_i32 (o->table, 1, o->node->params.axis.batch_dims);
}

static void
put_reducer (const Options *o)
{
  fb_u8 (o->table, 0, o->node->params.reduce.keep_dims != 0);
}

static void
put_slice (const Options *o)
{
  fb_i32 (o->table, 0, (gint32) o->node->params.slice.begin_mask);
  fb_i32 (o->table, 1, (gint32) o->node->params.slice.end_mask);
  fb_i32 (o->table, 2, (gint32) o->node->params.slice.ellipsis_mask);
  fb_i32 (o->table, 3, (gint32) o->node->params.slice.new_axis_mask);
  fb_i32 (o->table, 4, (gint32) o->node->params.slice.shrink_axis_mask);
  fb_u8 (o->table, 5, o->node->params.slice.end_is_size != 0);
}

static void
put_split (const Options *o)
{
  fb_i32 (o->table, 0, (gint32) o->node->n_outputs);
}

static void
put_pack (const Options *o)
{
  fb_i32 (o->table, 0, (gint32) o->node->n_inputs);
  fb_i32 (o->table, 1, o->node->params.axis.axis);
}

static void
put_unpack (const Options *o)
{
  fb_i32 (o->table, 0, (gint32) o->node->n_outputs);
  fb_i32 (o->table, 1, o->node->params.axis.axis);
}

static void
put_leaky_relu (const Options *o)
{
  fb_f32 (o->table, 0, o->node->params.leaky_relu.alpha);
}

static void
put_mirror (const Options *o)
{
  fb_u8 (o->table, 0, o->node->params.mirror.symmetric != 0);
}

static void
put_cast (const Options *o)
{
  fb_u8 (o->table, 0, tfl_type_of (sl_node_input (o->graph, o->node, 0)->dtype));
  fb_u8 (o->table, 1, tfl_type_of (sl_node_output (o->graph, o->node, 0)->dtype));
}

static void
put_result_type (const Options *o)
{
  fb_u8 (o->table, 0, tfl_type_of (sl_node_output (o->graph, o->node, 0)->dtype));
}

static void
put_matmul (const Options *o)
{
  fb_u8 (o->table, 0, o->node->params.matmul.transpose_a != 0);
  fb_u8 (o->table, 1, o->node->params.matmul.transpose_b != 0);
}

static void
put_cumsum (const Options *o)
{
  fb_u8 (o->table, 0, o->node->params.cumsum.exclusive != 0);
  fb_u8 (o->table, 1, o->node->params.cumsum.reverse != 0);
}

static void
put_gelu (const Options *o)
{
  fb_u8 (o->table, 0, o->node->params.gelu.approximate != 0);
}

static const struct
{
  guint8 type; /* union member */
  void (*put) (const Options *options);
} kinds[] = {
  { 1, put_conv },         { 2, put_depthwise },
  { 5, put_pool },         { 8, put_fully_connected },
  { 9, put_softmax },      { 10, put_concat },
  { 11, put_binary },      { 13, put_local_response },
  { 15, put_bilinear },    { 17, put_reshape },
  { 19, put_block },       { 21, put_binary },
  { 23, put_gather },      { 27, put_reducer },
  { 28, put_binary },      { 29, put_binary },
  { 30, put_squeeze },     { 32, put_slice },
  { 35, put_split },       { 37, put_cast },
  { 40, put_result_type }, { 49, put_transpose_conv },
  { 55, put_result_type }, { 57, put_result_type },
  { 59, put_pack },        { 64, put_unpack },
  { 74, put_nearest },     { 75, put_leaky_relu },
  { 77, put_mirror },      { 79, put_split },
  { 94, put_block },       { 101, put_matmul },
  { 102, put_cumsum },     { 120, put_gelu },
};

FbNode *
tfl_write_options (FbWriter *fb, const SlGraph *graph, const SlNode *node, const TflOp *op)
{
  if (node->op == SL_OP_LOCAL_RESPONSE_NORMALIZATION
      && node->params.local_response.before != node->params.local_response.after)
    return NULL; /* TensorFlow Lite has one radius for both sides */
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    if (kinds[i].type != op->options_type)
      continue;
    const Options options = { fb, fb_table (fb), graph, node };
    kinds[i].put (&options);
    return options.table;
  }
  return NULL;
}
