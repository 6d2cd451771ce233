/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/bench/field/networks.h"

#define CLASSES 1000
/* Of the detector: numbers a box and classes. */
#define YOLO_BOX 64
#define YOLO_CLASSES 80
#define YOLO_SIZE 640
/* Of the transformer. */
#define TOKENS 197
#define WIDTH 192
#define HEADS 3
#define BLOCKS 12

static SlFieldValue
plain (SlFieldNet *net, SlFieldValue x, gint32 channels, gint32 filter, gint32 stride,
       SlFieldCurve curve)
{
  return sl_field_conv (net, x, (SlFieldLayer){ channels, filter, stride, 1, curve, FALSE });
}

static SlFieldValue
depthwise (SlFieldNet *net, SlFieldValue x, gint32 stride, SlFieldCurve curve)
{
  return sl_field_conv (net, x, (SlFieldLayer){ 0, 3, stride, 1, curve, TRUE });
}

/* An inverted residual. */
static SlFieldValue
inverted (SlFieldNet *net, SlFieldValue x, gint32 expand, gint32 channels, gint32 stride)
{
  SlFieldValue y = x;
  if (expand > 1)
    y = plain (net, y, x.c * expand, 1, 1, SL_FIELD_RELU6);
  y = depthwise (net, y, stride, SL_FIELD_RELU6);
  y = plain (net, y, channels, 1, 1, SL_FIELD_LINEAR);
  return stride == 1 && x.c == channels ? sl_field_add (net, x, y) : y;
}

static SlGraph *
mobilenet_v2 (SlFieldNet *net, GError **error)
{
  static const struct
  {
    gint32 expand, channels, n, stride;
  } stages[] = { { 1, 16, 1, 1 }, { 6, 24, 2, 2 },  { 6, 32, 3, 2 }, { 6, 64, 4, 2 },
                 { 6, 96, 3, 1 }, { 6, 160, 3, 2 }, { 6, 320, 1, 1 } };
  const SlFieldValue input = sl_field_input (net, 224, 224, 3);
  SlFieldValue x = plain (net, input, 32, 3, 2, SL_FIELD_RELU6);
  for (guint s = 0; s < G_N_ELEMENTS (stages); s++)
    for (gint32 i = 0; i < stages[s].n; i++)
      x = inverted (net, x, stages[s].expand, stages[s].channels, i == 0 ? stages[s].stride : 1);
  x = plain (net, x, 1280, 1, 1, SL_FIELD_RELU6);
  x = sl_field_dense (net, sl_field_mean (net, x), CLASSES);
  return sl_field_net_finish (net, &input, &x, 1, error);
}

/* C2f: half of the channels pass @n bottlenecks, and everything on the way is joined. */
static SlFieldValue
c2f (SlFieldNet *net, SlFieldValue x, gint32 channels, guint n, gboolean shortcut)
{
  SlFieldValue parts[4];
  sl_field_split (net, plain (net, x, channels, 1, 1, SL_FIELD_SILU), parts);
  for (guint i = 0; i < n; i++) {
    SlFieldValue y = plain (net, parts[i + 1], channels / 2, 3, 1, SL_FIELD_SILU);
    y = plain (net, y, channels / 2, 3, 1, SL_FIELD_SILU);
    parts[i + 2] = shortcut ? sl_field_add (net, parts[i + 1], y) : y;
  }
  return plain (net, sl_field_concat (net, parts, n + 2), channels, 1, 1, SL_FIELD_SILU);
}

static SlFieldValue
sppf (SlFieldNet *net, SlFieldValue x)
{
  SlFieldValue parts[4] = { plain (net, x, x.c / 2, 1, 1, SL_FIELD_SILU) };
  for (guint i = 1; i < 4; i++)
    parts[i] = sl_field_max_pool (net, parts[i - 1], 5);
  return plain (net, sl_field_concat (net, parts, 4), x.c, 1, 1, SL_FIELD_SILU);
}

/* Boxes and classes of one scale. */
static SlFieldValue
yolo_head (SlFieldNet *net, SlFieldValue x)
{
  static const gint32 channels[] = { YOLO_BOX, YOLO_CLASSES };
  SlFieldValue parts[2];
  for (guint i = 0; i < 2; i++) {
    SlFieldValue y = plain (net, x, channels[i], 3, 1, SL_FIELD_SILU);
    y = plain (net, y, channels[i], 3, 1, SL_FIELD_SILU);
    parts[i] = plain (net, y, channels[i], 1, 1, SL_FIELD_LINEAR);
  }
  return sl_field_concat (net, parts, 2);
}

static SlFieldValue
join (SlFieldNet *net, SlFieldValue a, SlFieldValue b)
{
  const SlFieldValue parts[] = { a, b };
  return sl_field_concat (net, parts, 2);
}

static SlGraph *
yolo_n (SlFieldNet *net, GError **error)
{
  const SlFieldValue input = sl_field_input (net, YOLO_SIZE, YOLO_SIZE, 3);
  SlFieldValue x = plain (net, input, 16, 3, 2, SL_FIELD_SILU);
  x = c2f (net, plain (net, x, 32, 3, 2, SL_FIELD_SILU), 32, 1, TRUE);
  const SlFieldValue p3 = c2f (net, plain (net, x, 64, 3, 2, SL_FIELD_SILU), 64, 2, TRUE);
  const SlFieldValue p4 = c2f (net, plain (net, p3, 128, 3, 2, SL_FIELD_SILU), 128, 2, TRUE);
  x = c2f (net, plain (net, p4, 256, 3, 2, SL_FIELD_SILU), 256, 1, TRUE);
  const SlFieldValue p5 = sppf (net, x);
  const SlFieldValue up = c2f (net, join (net, sl_field_twice (net, p5), p4), 128, 1, FALSE);
  SlFieldValue scales[3];
  scales[0] = c2f (net, join (net, sl_field_twice (net, up), p3), 64, 1, FALSE);
  x = join (net, plain (net, scales[0], 64, 3, 2, SL_FIELD_SILU), up);
  scales[1] = c2f (net, x, 128, 1, FALSE);
  x = join (net, plain (net, scales[1], 128, 3, 2, SL_FIELD_SILU), p5);
  scales[2] = c2f (net, x, 256, 1, FALSE);
  for (guint i = 0; i < 3; i++)
    scales[i] = yolo_head (net, scales[i]);
  return sl_field_net_finish (net, &input, scales, 3, error);
}

static SlFieldValue
separable (SlFieldNet *net, SlFieldValue x, gint32 channels, gint32 stride, SlFieldCurve curve)
{
  return plain (net, depthwise (net, x, stride, SL_FIELD_RELU), channels, 1, 1, curve);
}

/* Three branches with windows of different reach, beside a shortcut. */
static SlFieldValue
receptive_field (SlFieldNet *net, SlFieldValue x)
{
  static const gint32 dilations[] = { 2, 3, 5 };
  SlFieldValue parts[3];
  for (guint i = 0; i < 3; i++) {
    SlFieldValue y = plain (net, x, 8, 1, 1, SL_FIELD_LINEAR);
    y = plain (net, y, 16, 3, 1, SL_FIELD_RELU);
    parts[i] =
      sl_field_conv (net, y, (SlFieldLayer){ 16, 3, 1, dilations[i], SL_FIELD_LINEAR, FALSE });
  }
  const SlFieldValue y = plain (net, sl_field_concat (net, parts, 3), x.c, 1, 1, SL_FIELD_LINEAR);
  return sl_field_add (net, y, plain (net, x, x.c, 1, 1, SL_FIELD_LINEAR));
}

static SlGraph *
rfb (SlFieldNet *net, GError **error)
{
  const SlFieldValue input = sl_field_input (net, 240, 320, 3);
  SlFieldValue taps[4];
  SlFieldValue x = plain (net, input, 16, 3, 2, SL_FIELD_RELU);
  x = separable (net, x, 32, 1, SL_FIELD_RELU);
  x = separable (net, x, 32, 2, SL_FIELD_RELU);
  x = separable (net, x, 32, 1, SL_FIELD_RELU);
  x = separable (net, x, 64, 2, SL_FIELD_RELU);
  x = separable (net, x, 64, 1, SL_FIELD_RELU);
  taps[0] = receptive_field (net, separable (net, x, 64, 1, SL_FIELD_RELU));
  x = separable (net, taps[0], 128, 2, SL_FIELD_RELU);
  x = separable (net, x, 128, 1, SL_FIELD_RELU);
  taps[1] = separable (net, x, 128, 1, SL_FIELD_RELU);
  x = separable (net, taps[1], 256, 2, SL_FIELD_RELU);
  taps[2] = separable (net, x, 256, 1, SL_FIELD_RELU);
  taps[3] = separable (net, plain (net, taps[2], 64, 1, 1, SL_FIELD_RELU), 256, 2, SL_FIELD_RELU);
  for (guint i = 0; i < 4; i++) /* of three or two sizes of boxes: a score each, and four numbers */
    taps[i] = separable (net, taps[i], i == 0 || i == 3 ? 18 : 12, 1, SL_FIELD_LINEAR);
  return sl_field_net_finish (net, &input, taps, 4, error);
}

static gint32
normalise (SlFieldNet *net, gint32 x)
{
  const gint32 inputs[] = { x, sl_field_floats (net, 0, WIDTH, 1, 0.25),
                            sl_field_floats (net, 0, WIDTH, 0, 0.25) };
  return sl_field_node (net, SL_OP_NORMALIZE, inputs, 3,
                        &(SlOpParams){ .normalize = { .epsilon = 1e-6f, .centered = TRUE } });
}

static gint32
sum (SlFieldNet *net, gint32 a, gint32 b)
{
  const gint32 both[] = { a, b };
  return sl_field_node (net, SL_OP_ADD, both, 2, &(SlOpParams){ 0 });
}

/* Values of @x, of @depth numbers a token, whose mean square is @square. */
static gint32
dense (SlFieldNet *net, gint32 x, gint32 depth, gint32 channels, double square)
{
  const SlFieldValue value = { x, 0, TOKENS, depth, -1, 1, square };
  return sl_field_dense (net, value, channels).index;
}

static gint32
shaped (SlFieldNet *net, gint32 x, const gint32 *dims, guint n)
{
  const gint32 inputs[] = { x, sl_field_ints (net, dims, n) };
  return sl_field_node (net, SL_OP_RESHAPE, inputs, 2, &(SlOpParams){ 0 });
}

static gint32
turned (SlFieldNet *net, gint32 x)
{
  static const gint32 order[] = { 0, 2, 1, 3 };
  const gint32 inputs[] = { x, sl_field_ints (net, order, 4) };
  return sl_field_node (net, SL_OP_TRANSPOSE, inputs, 2, &(SlOpParams){ 0 });
}

/* As exporters write it; a pass makes one node of it. */
static gint32
attention (SlFieldNet *net, gint32 x)
{
  static const gint32 by_head[] = { 1, TOKENS, HEADS, WIDTH / HEADS },
                      joined[] = { 1, TOKENS, WIDTH };
  gint32 operands[3];
  for (guint i = 0; i < 3; i++)
    operands[i] = turned (net, shaped (net, dense (net, x, WIDTH, WIDTH, 1), by_head, 4));
  gint32 y = sl_field_node (net, SL_OP_BATCH_MATMUL, operands, 2,
                            &(SlOpParams){ .matmul = { .transpose_b = TRUE } });
  const gint32 scaled[] = { y, sl_field_floats (net, 0, 1, 0.125, 0) };
  y = sl_field_node (net, SL_OP_MUL, scaled, 2, &(SlOpParams){ 0 });
  const gint32 shares[] = { sl_field_node (net, SL_OP_SOFTMAX, &y, 1,
                                           &(SlOpParams){ .softmax = { .beta = 1 } }),
                            operands[2] };
  y = sl_field_node (net, SL_OP_BATCH_MATMUL, shares, 2, &(SlOpParams){ 0 });
  return shaped (net, turned (net, y), joined, 3);
}

static gint32
transformer_block (SlFieldNet *net, gint32 x)
{
  x = sum (net, x, dense (net, attention (net, normalise (net, x)), WIDTH, WIDTH, 1));
  gint32 y = dense (net, normalise (net, x), WIDTH, 4 * WIDTH, 1);
  y = sl_field_node (net, SL_OP_GELU, &y, 1, &(SlOpParams){ 0 });
  return sum (net, x, dense (net, y, 4 * WIDTH, WIDTH, 2));
}

static SlGraph *
vit_ti (SlFieldNet *net, GError **error)
{
  static const gint32 patches[] = { 1, TOKENS - 1, WIDTH }, begin[] = { 0, 0, 0 },
                      size[] = { 1, 1, WIDTH }, flat[] = { 1, WIDTH };
  const gboolean bytes = net->bytes;
  const SlFieldValue input = sl_field_input (net, 224, 224, 3);
  net->bytes = FALSE; /* the first layer's weights stay floats */
  gint32 x = plain (net, input, WIDTH, 16, 16, SL_FIELD_LINEAR).index;
  net->bytes = bytes;
  const gint32 parts[] = { sl_field_floats (net, 1, WIDTH, 0, 1), shaped (net, x, patches, 3) };
  x = sl_field_node (net, SL_OP_CONCATENATION, parts, 2, &(SlOpParams){ .concat = { .axis = 1 } });
  x = sum (net, x, sl_field_floats (net, TOKENS, TOKENS * WIDTH, 0, 0.5));
  for (guint i = 0; i < BLOCKS; i++)
    x = transformer_block (net, x);
  const gint32 cut[] = { normalise (net, x), sl_field_ints (net, begin, 3),
                         sl_field_ints (net, size, 3) };
  x = shaped (net, sl_field_node (net, SL_OP_SLICE, cut, 3, NULL), flat, 2);
  const SlFieldValue output = { dense (net, x, WIDTH, CLASSES, 1), 0, 0, CLASSES };
  return sl_field_net_finish (net, &input, &output, 1, error);
}

static const struct
{
  const char *name;
  SlGraph *(*make) (SlFieldNet *net, GError **error);
  gboolean transformer;
} networks[SL_FIELD_N_NETWORKS] = {
  [SL_FIELD_MOBILENET_V2] = { "mobilenet_v2", mobilenet_v2, FALSE },
  [SL_FIELD_YOLO_N] = { "yolo_n", yolo_n, FALSE },
  [SL_FIELD_RFB] = { "rfb", rfb, FALSE },
  [SL_FIELD_VIT_TI] = { "vit_ti", vit_ti, TRUE },
};

const char *
sl_field_network_name (SlFieldNetwork network)
{
  return networks[network].name;
}

SlGraph *
sl_field_network_new (SlFieldNetwork network, SlFieldType type, GError **error)
{
  SlFieldNet net;
  sl_field_net_init (&net, type, networks[network].transformer, 2463534242u + (guint32) network);
  return networks[network].make (&net, error);
}
