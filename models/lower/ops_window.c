/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions and pools. Everything is computed channels last; one-dimensional ones are
 * two-dimensional of height 1. */
#include <math.h>
#include <string.h>

#include "models/lower/ops.h"

/** A window as the node states it, in two dimensions. */
typedef struct
{
  guint spatial; /* dimensions that the file has: 1 or 2 */
  gint32 kernel[2], stride[2], dilation[2], begin[2], end[2];
  gint32 in[2];
  gint32 out_padding[2], out_shape[2];
  const char *auto_pad;
} Window;

static void
read_list (Lower *o, const Window *w, const char *name, gint32 fallback, gint32 values[2])
{
  gint32 list[2];
  guint n = 0;
  values[0] = values[1] = fallback;
  if (!lower_attr_ints (o, name, list, 2, &n) || n == 0)
    return;
  if (n != w->spatial)
    lower_fail (o, SL_ERROR_FORMAT, "attribute %s has %u numbers; expected %u", name, n,
                w->spatial);
  else
    memcpy (values + 2 - n, list, n * sizeof list[0]);
}

/* Ones of a dilated pool. */
#define MAX_WEIGHTS (1 << 22)
/* Pixels of a window that is summed up as a convolution, and the most channels of a register. */
#define MAX_TAPS (1 << 16)
#define LANES 16
/* Pixels of a window whose weights are computed: each is a product. */
#define MAX_COMPUTED 1024

static gint32
extent (const Window *w, guint i)
{
  return (w->kernel[i] - 1) * w->dilation[i] + 1;
}

static gboolean
check_rank (Lower *o, const LowerValue *x)
{
  if (o->error == NULL && x->rank != 3 && x->rank != 4)
    lower_fail (
      o, SL_ERROR_UNSUPPORTED,
      "its input has %u dimensions; only 1 or 2 behind batch and channels are supported, of Conv "
      "and pools 3",
      x->rank);
  return o->error == NULL;
}

/* @kernel: (nullable): what the weights have, which a stated one must be. */
static void
read_kernel (Lower *o, Window *w, const gint32 kernel[2])
{
  read_list (o, w, "kernel_shape", 1, w->kernel);
  if (kernel == NULL)
    return;
  if (lower_attribute (o, "kernel_shape") != NULL
      && memcmp (w->kernel + 2 - w->spatial, kernel + 2 - w->spatial, w->spatial * sizeof kernel[0])
           != 0)
    lower_fail (o, SL_ERROR_SHAPE, "attribute kernel_shape is %d,%d, but its weights are for %d,%d",
                w->kernel[0], w->kernel[1], kernel[0], kernel[1]);
  memcpy (w->kernel, kernel, sizeof w->kernel);
}

static gboolean
read_window (Lower *o, Window *w, const LowerValue *x, const gint32 kernel[2])
{
  static const char *const words[] = { "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", NULL };
  gint32 pads[4] = { 0 };
  guint n = 0;
  if (o->error != NULL || x == NULL || !check_rank (o, x))
    return FALSE;
  w->spatial = x->rank - 2;
  w->in[0] = w->spatial == 2 ? x->dims[2] : 1;
  w->in[1] = x->dims[x->rank - 1];
  read_kernel (o, w, kernel);
  read_list (o, w, "strides", 1, w->stride);
  read_list (o, w, "dilations", 1, w->dilation);
  read_list (o, w, "output_padding", 0, w->out_padding);
  read_list (o, w, "output_shape", 0, w->out_shape);
  if (w->spatial == 1) {
    w->kernel[0] = w->stride[0] = w->dilation[0] = 1;
    w->out_padding[0] = 0;
    w->out_shape[0] = w->out_shape[1] > 0 ? 1 : 0;
  }
  w->auto_pad = words[lower_attr_choice (o, "auto_pad", words)];
  if (strcmp (w->auto_pad, "NOTSET") == 0 && lower_attr_ints (o, "pads", pads, 4, &n)
      && n != 2 * w->spatial && n != 0)
    lower_fail (o, SL_ERROR_FORMAT, "attribute pads has %u numbers; expected %u", n,
                2 * w->spatial);
  for (guint i = 0; i < 2; i++) {
    const gboolean stated = n > 0 && i + w->spatial >= 2;
    w->begin[i] = stated ? pads[i + w->spatial - 2] : 0;
    w->end[i] = stated ? pads[i + 2 * w->spatial - 2] : 0;
    const gint32 values[] = { w->kernel[i], w->stride[i], w->dilation[i] };
    for (guint k = 0; k < G_N_ELEMENTS (values); k++)
      if (values[k] < 1 || values[k] > G_MAXINT16)
        lower_fail (o, SL_ERROR_FORMAT, "a kernel size, stride or dilation is %d; expected 1..%d",
                    values[k], G_MAXINT16);
    if (w->begin[i] < 0 || w->end[i] < 0 || w->begin[i] > G_MAXINT16 || w->end[i] > G_MAXINT16)
      lower_fail (o, SL_ERROR_UNSUPPORTED, "a padding is %d; expected 0..%d",
                  MIN (w->begin[i], w->end[i]), G_MAXINT16);
    if (w->out_padding[i] < 0 || w->out_padding[i] > G_MAXINT16)
      lower_fail (o, SL_ERROR_FORMAT, "an output_padding is %d; expected 0..%d", w->out_padding[i],
                  G_MAXINT16);
  }
  return o->error == NULL;
}

/* SAME_UPPER puts the odd pixel behind, SAME_LOWER before. */
static void
pad_automatically (Window *w)
{
  for (guint i = 0; i < 2 && g_str_has_prefix (w->auto_pad, "SAME_"); i++) {
    const gint64 out = ((gint64) w->in[i] + w->stride[i] - 1) / w->stride[i];
    const gint64 total = CLAMP ((out - 1) * w->stride[i] + extent (w, i) - w->in[i], 0, G_MAXINT16);
    w->begin[i] =
      (gint32) (strcmp (w->auto_pad, "SAME_LOWER") == 0 ? total - total / 2 : total / 2);
    w->end[i] = (gint32) total - w->begin[i];
  }
}

static SlOpParams
window_params (const Window *w)
{
  return (SlOpParams){ .window = { .padding = SL_PADDING_EXPLICIT,
                                   .stride_h = w->stride[0],
                                   .stride_w = w->stride[1],
                                   .dilation_h = w->dilation[0],
                                   .dilation_w = w->dilation[1],
                                   .filter_h = w->kernel[0],
                                   .filter_w = w->kernel[1],
                                   .pad_top = w->begin[0],
                                   .pad_bottom = w->end[0],
                                   .pad_left = w->begin[1],
                                   .pad_right = w->end[1] } };
}

/* The input as [batch, height, width, channels]. */
static gint32
picture (Lower *o, LowerValue *x)
{
  if (!check_rank (o, x))
    return -1;
  const gint32 last = lower_last (o, x);
  if (o->error != NULL || x->rank == 4)
    return last;
  return lower_reshape (o, last, (const gint32[]){ x->dims[0], 1, x->dims[2], x->dims[1] }, 4);
}

static void
set_picture (Lower *o, guint i, const LowerValue *x, gint32 y)
{
  const gint32 *d = lower_t (o, y)->dims;
  if (o->error == NULL && x->rank == 3)
    y = lower_reshape (o, y, (const gint32[]){ d[0], d[2], d[3] }, 3);
  lower_set (o, i, y, TRUE);
}

/* Weights as 4 dimensions in ONNX's order. */
static gint32
square_weights (Lower *o, LowerValue *value)
{
  const gint32 w = value->codes >= 0 ? value->codes : lower_plain (o, value);
  if (o->error != NULL || value->rank == 4)
    return w;
  if (value->rank == 3)
    return lower_reshape (o, w,
                          (const gint32[]){ value->dims[0], value->dims[1], 1, value->dims[2] }, 4);
  return lower_fail (o, SL_ERROR_UNSUPPORTED, "its weights have %u dimensions; expected 3 or 4",
                     value->rank);
}

gint32
lower_conv_weights (Lower *o, gint32 w, gint64 group, gint32 channels, SlOpType *op)
{
  const gint32 ohwi[4] = { 0, 2, 3, 1 }, hwo[4] = { 1, 2, 3, 0 };
  const SlTensor *t = lower_t (o, w);
  *op = SL_OP_CONV_2D;
  if (o->error != NULL)
    return -1;
  if (group < 1 || group > channels || channels % group != 0 || t->dims[1] != channels / group
      || t->dims[0] % group != 0) {
    g_autofree char *text = sl_tensor_describe (t);
    return lower_fail (o, SL_ERROR_SHAPE,
                       "weights %s and %" G_GINT64_FORMAT " groups do not fit %d channels", text,
                       group, channels);
  }
  if (group > 1 && group == channels) {
    *op = SL_OP_DEPTHWISE_CONV_2D;
    return lower_transpose (o, w, hwo);
  }
  return lower_transpose (o, w, ohwi);
}

/* @y and a bias that is computed, or of a convolution that takes none. */
static gint32
add_bias (Lower *o, gint32 y, LowerValue *bias)
{
  return bias == NULL ? y : lower_binary (o, SL_OP_ADD, y, lower_plain (o, bias));
}

gint32
lower_conv_2d (Lower *o, LowerValue *x, gint32 input, gint32 weights, gint32 bias,
               const SlTensor *result)
{
  Window w = { 0 };
  SlOpType op;
  const SlTensor *t = lower_t (o, weights);
  if (o->error != NULL || !read_window (o, &w, x, (const gint32[]){ t->dims[2], t->dims[3] }))
    return -1;
  pad_automatically (&w);
  const SlOpParams params = window_params (&w);
  const gint32 filter =
    lower_conv_weights (o, weights, lower_attr_int (o, "group", 1), x->dims[1], &op);
  const gint32 inputs[3] = { input, filter, bias };
  return lower_settled (o, op, inputs, bias >= 0 ? 3 : 2, &params, result);
}

/* The size of a pool's output. With ceil_mode the last window may hang over, but not start in the
 * padding behind. */
static void
pool_size (const Window *w, gboolean ceil_mode, gint32 out[2])
{
  for (guint i = 0; i < 2; i++) {
    const gint64 room = (gint64) w->in[i] + w->begin[i] + w->end[i] - extent (w, i);
    gint64 size = room < 0 ? 0 : room / w->stride[i] + 1;
    if (ceil_mode && room >= 0 && room % w->stride[i] != 0
        && size * w->stride[i] < (gint64) w->in[i] + w->begin[i])
      size++;
    out[i] = (gint32) size;
  }
}

/* The pixels at one place of all windows of @picture. */
static gint32
at_place (Lower *o, gint32 picture, const Window *w, const gint32 out[2], gint32 fy, gint32 fx)
{
  const SlTensor t = *lower_t (o, picture);
  const gint32 begins[4] = { 0, fy, fx, 0 }, strides[4] = { 1, w->stride[0], w->stride[1], 1 };
  const gint32 ends[4] = { t.dims[0], fy + (out[0] - 1) * w->stride[0] + 1,
                           fx + (out[1] - 1) * w->stride[1] + 1, t.dims[3] };
  const gint32 inputs[4] = { picture, lower_ints_constant (o, begins, 4),
                             lower_ints_constant (o, ends, 4),
                             lower_ints_constant (o, strides, 4) };
  return lower_emit (o, SL_OP_STRIDED_SLICE, inputs, 4, &(SlOpParams){ 0 }, t.dtype);
}

/* What the pixels at one place of all windows, [batch,rows,columns,channels], add: each group of
 * channels times its weights [inputs,outputs]. */
static gint32
times_place (Lower *o, gint32 pixels, gint32 weights, gint32 groups)
{
  const SlTensor x = *lower_t (o, pixels), w = *lower_t (o, weights);
  if (o->error != NULL)
    return -1;
  const gint32 depth = w.dims[0], all = w.dims[1], each = all / groups,
               area = lower_times (x.dims[1], x.dims[2]);
  if (depth == 1) { /* each channel has its own */
    const gint32 apart[5] = { x.dims[0], x.dims[1], x.dims[2], groups, 1 },
                 result[4] = { x.dims[0], x.dims[1], x.dims[2], all };
    const gint32 factors = lower_reshape (o, weights, (const gint32[]){ groups, each }, 2);
    return lower_reshape (
      o, lower_binary (o, SL_OP_MUL, lower_reshape (o, pixels, apart, 5), factors), result, 4);
  }
  const gint32 apart[4] = { x.dims[0], area, groups, depth }, swap[4] = { 0, 2, 1, 3 },
               split[3] = { depth, groups, each };
  const gint32 rows = lower_transpose (o, lower_reshape (o, pixels, apart, 4), swap);
  const gint32 matrices =
    lower_transpose (o, lower_reshape (o, weights, split, 3), (const gint32[]){ 1, 0, 2 });
  const gint32 y = lower_emit (o, SL_OP_BATCH_MATMUL, (const gint32[]){ rows, matrices }, 2,
                               &(SlOpParams){ 0 }, SL_DTYPE_F32);
  return lower_reshape (o, lower_transpose (o, y, swap),
                        (const gint32[]){ x.dims[0], x.dims[1], x.dims[2], all }, 4);
}

/* A convolution whose weights are computed or given, as of trackers that look for a part of the
 * picture: a sum over the places of the window. */
static void
conv_computed (Lower *o, LowerValue *x, LowerValue *value, LowerValue *bias)
{
  const gint64 group = lower_attr_int (o, "group", 1);
  const gint32 input = picture (o, x), filter = square_weights (o, value);
  const SlTensor t = *lower_t (o, filter);
  Window w = { 0 };
  gint32 out[2], sum = -1;
  if (o->error != NULL || !read_window (o, &w, x, (const gint32[]){ t.dims[2], t.dims[3] }))
    return;
  pad_automatically (&w);
  pool_size (&w, FALSE, out);
  if (group < 1 || group > x->dims[1] || x->dims[1] % group != 0 || t.dims[1] != x->dims[1] / group
      || t.dims[0] % group != 0) {
    g_autofree char *text = sl_tensor_describe (&t);
    lower_fail (o, SL_ERROR_SHAPE,
                "weights %s and %" G_GINT64_FORMAT " groups do not fit %d channels", text, group,
                x->dims[1]);
    return;
  }
  if (out[0] < 1 || out[1] < 1 || (gint64) t.dims[2] * t.dims[3] > MAX_COMPUTED) {
    lower_fail (
      o, SL_ERROR_LIMIT,
      "a window of %dx%d with weights that are computed, over %dx%d; expected at most %d pixels "
      "that fit",
      t.dims[2], t.dims[3], w.in[0], w.in[1], MAX_COMPUTED);
    return;
  }
  const gint32 padded = lower_pad (
    o, input, (const gint32[]){ 0, 0, w.begin[0], w.end[0], w.begin[1], w.end[1], 0, 0 }, 0);
  const gint32 places = lower_transpose (o, filter, (const gint32[]){ 2, 3, 1, 0 });
  for (gint32 k = 0; k < t.dims[2] * t.dims[3] && o->error == NULL; k++) {
    const gint32 fy = k / t.dims[3], fx = k % t.dims[3];
    const gint32 one = lower_cut (o, lower_cut (o, places, 0, fy, fy + 1), 1, fx, fx + 1);
    const gint32 weights = lower_reshape (o, one, (const gint32[]){ t.dims[1], t.dims[0] }, 2);
    const gint32 pixels = at_place (o, padded, &w, out, fy * w.dilation[0], fx * w.dilation[1]);
    const gint32 y = times_place (o, pixels, weights, (gint32) group);
    sum = sum < 0 ? y : lower_binary (o, SL_OP_ADD, sum, y);
  }
  lower_conv_set (o, x, add_bias (o, sum, bias));
}

static void
lower_conv (Lower *o)
{
  LowerValue *x = lower_required (o, 0), *weights = lower_required (o, 1),
             *bias = lower_input (o, 2);
  gsize n = 0;
  const gboolean constant = bias == NULL || lower_data (o, bias, &n) != NULL;
  if (o->error == NULL && x->rank == 5) {
    lower_conv_volume (o, x, weights, bias);
    return;
  }
  if (o->error == NULL && weights->codes < 0 && lower_data (o, weights, &n) == NULL) {
    conv_computed (o, x, weights, bias);
    return;
  }
  const gint32 input = o->error == NULL ? picture (o, x) : -1;
  const gint32 w = o->error == NULL ? square_weights (o, weights) : -1;
  gint32 y = lower_conv_2d (o, x, input, w, constant && bias != NULL ? lower_plain (o, bias) : -1,
                            &(SlTensor){ .dtype = SL_DTYPE_F32 });
  if (!constant)
    y = add_bias (o, y, bias);
  if (o->error == NULL)
    set_picture (o, 0, x, y);
}

gint32
lower_conv_input (Lower *o, LowerValue *x)
{
  return x != NULL ? picture (o, x) : -1;
}

gint32
lower_conv_filter (Lower *o, LowerValue *weights)
{
  return weights != NULL ? square_weights (o, weights) : -1;
}

void
lower_conv_set (Lower *o, const LowerValue *x, gint32 y)
{
  if (o->error == NULL)
    set_picture (o, 0, x, y);
}

/* There is an offset for each place of the output. */
static gboolean
check_deformed (Lower *o, const Window *w, const LowerValue *x, const LowerValue *offsets)
{
  gint32 out[2];
  pool_size (w, FALSE, out);
  if (offsets->rank == 4 && out[0] > 0 && out[1] > 0 && offsets->dims[2] == out[0]
      && offsets->dims[3] == out[1])
    return TRUE;
  return lower_refuse (
    o, SL_ERROR_SHAPE,
    "its offsets have %u dimensions, for %dx%d places; expected [%d,offsets,%d,%d]", offsets->rank,
    offsets->rank == 4 ? offsets->dims[2] : 0, offsets->rank == 4 ? offsets->dims[3] : 0,
    x->dims[0], MAX (out[0], 0), MAX (out[1], 0));
}

/* The core gathers the pixels that the moved windows read; what is left is a convolution of one
 * pixel. */
static void
lower_deform_conv (Lower *o)
{
  LowerValue *x = lower_required (o, 0), *weights = lower_required (o, 1),
             *offsets = lower_required (o, 2), *bias = lower_input (o, 3);
  const gint64 group = lower_attr_int (o, "group", 1),
               moved = lower_attr_int (o, "offset_group", 1);
  Window w = { 0 };
  if (o->error == NULL && (x->rank != 4 || weights->rank != 4))
    lower_fail (o, SL_ERROR_SHAPE, "its input and weights have %u and %u dimensions; expected 4",
                x->rank, weights->rank);
  if (o->error != NULL || !read_window (o, &w, x, weights->dims + 2)
      || !check_deformed (o, &w, x, offsets))
    return;
  if (group < 1 || moved < 1 || group > x->dims[1] || moved > x->dims[1]
      || weights->dims[1] != x->dims[1] / group || weights->dims[0] % group != 0) {
    lower_fail (o, SL_ERROR_SHAPE,
                "%" G_GINT64_FORMAT " groups, and %" G_GINT64_FORMAT
                " of offsets, do not fit %d channels and its weights",
                group, moved, x->dims[1]);
    return;
  }
  const SlOpParams params = { .deform = { .kernel_h = w.kernel[0],
                                          .kernel_w = w.kernel[1],
                                          .stride_h = w.stride[0],
                                          .stride_w = w.stride[1],
                                          .dilation_h = w.dilation[0],
                                          .dilation_w = w.dilation[1],
                                          .pad_top = w.begin[0],
                                          .pad_left = w.begin[1],
                                          .groups = (gint32) group,
                                          .offset_groups = (gint32) moved } };
  const gint32 inputs[3] = { lower_last (o, x), lower_last (o, offsets),
                             lower_has_input (o, 4) ? lower_last (o, lower_input (o, 4)) : -1 };
  const gint32 columns =
    lower_emit (o, SL_OP_DEFORM_COLUMNS, inputs, inputs[2] >= 0 ? 3 : 2, &params, SL_DTYPE_F32);
  const gint32 rows = lower_transpose (o, lower_plain (o, weights), (const gint32[]){ 0, 2, 3, 1 });
  const gint64 taps = (gint64) w.kernel[0] * w.kernel[1] * weights->dims[1];
  const gint32 dims[4] = { weights->dims[0], (gint32) MIN (taps, G_MAXINT32), 1, 1 };
  const LowerAttribute groups = { .name = "group", .i = group };
  LowerValue *parts[3] = { lower_value_new (o, columns, TRUE),
                           lower_value_new (o, lower_reshape (o, rows, dims, 4), FALSE), bias };
  lower_set_value (o, 0, lower_call (o, "Conv", parts, 3, &groups, 1));
}

/* Weights of a dilated transposed convolution: zeros between them. */
static gint32
spread_weights (Lower *o, gint32 w, Window *window)
{
  for (guint i = 0; i < 2 && o->error == NULL; i++) {
    const SlTensor t = *lower_t (o, w);
    const gint32 d = window->dilation[i];
    if (d == 1 || t.dims[2 + i] == 1)
      continue;
    gint32 apart[5], pads[10] = { 0 }, flat[4];
    for (guint k = 0; k < 5; k++)
      apart[k] = k < 3 + i ? t.dims[k] : k == 3 + i ? 1 : t.dims[k - 1];
    pads[2 * (3 + i) + 1] = d - 1;
    memcpy (flat, t.dims, sizeof flat);
    flat[2 + i] *= d;
    w = lower_reshape (o, lower_pad (o, lower_reshape (o, w, apart, 5), pads, 0), flat, 4);
    w = lower_cut (o, w, 2 + i, 0, flat[2 + i] - (d - 1));
    window->kernel[i] = extent (window, i);
    window->dilation[i] = 1;
  }
  return w;
}

/* The output's size and the paddings: stated, or from the size stated. */
static void
transposed_size (Window *w, gint32 size[2])
{
  for (guint i = 0; i < 2; i++) {
    const gint64 whole = (gint64) w->stride[i] * (w->in[i] - 1) + w->out_padding[i] + extent (w, i);
    gint64 out = w->out_shape[i];
    if (out == 0 && g_str_has_prefix (w->auto_pad, "SAME_"))
      out = (gint64) w->in[i] * w->stride[i];
    if (out > 0) {
      const gint64 total = MAX (whole - out, 0);
      w->begin[i] =
        (gint32) (strcmp (w->auto_pad, "SAME_UPPER") == 0 ? total / 2 : total - total / 2);
      w->end[i] = (gint32) total - w->begin[i];
    }
    size[i] = (gint32) CLAMP (out > 0 ? out : whole - w->begin[i] - w->end[i], 0, G_MAXINT32);
  }
}

static gint32
transposed_group (Lower *o, gint32 x, gint32 weights, const Window *w, const gint32 size[2])
{
  const gint32 order[4] = { 1, 2, 3, 0 };
  const gint32 filter = lower_transpose (o, weights, order);
  SlOpParams params = window_params (w);
  params.window.filter_h = params.window.filter_w = 0;
  const gint32 shape[4] = { lower_t (o, x)->dims[0], size[0], size[1],
                            lower_t (o, filter)->dims[0] };
  return lower_emit (o, SL_OP_TRANSPOSE_CONV,
                     (const gint32[]){ lower_ints_constant (o, shape, 4), filter, x }, 3, &params,
                     SL_DTYPE_F32);
}

static void
lower_conv_transpose (Lower *o)
{
  LowerValue *x = lower_required (o, 0), *weights = lower_required (o, 1),
             *bias = lower_input (o, 2);
  const gint64 group = lower_attr_int (o, "group", 1);
  gint32 parts[SL_MAX_OPERANDS], size[2];
  Window w = { 0 };
  const gint32 input = o->error == NULL ? picture (o, x) : -1;
  gint32 filter = o->error == NULL ? square_weights (o, weights) : -1;
  if (o->error != NULL
      || !read_window (
        o, &w, x, (const gint32[]){ lower_t (o, filter)->dims[2], lower_t (o, filter)->dims[3] }))
    return;
  if (group < 1 || group > SL_MAX_OPERANDS || x->dims[1] % group != 0
      || lower_t (o, filter)->dims[0] != x->dims[1]) {
    lower_fail (o, SL_ERROR_UNSUPPORTED,
                "%" G_GINT64_FORMAT
                " groups of %d channels; expected 1..%d that divide them and fit the weights",
                group, x->dims[1], SL_MAX_OPERANDS);
    return;
  }
  transposed_size (&w, size);
  filter = spread_weights (o, filter, &w);
  const gint32 step = x->dims[1] / (gint32) group;
  for (gint32 g = 0; g < (gint32) group; g++)
    parts[g] = transposed_group (o, lower_cut (o, input, 3, g * step, (g + 1) * step),
                                 lower_cut (o, filter, 0, g * step, (g + 1) * step), &w, size);
  const SlOpParams join = { .concat = { .axis = 3 } };
  const gint32 y =
    group == 1 ? parts[0]
               : lower_emit (o, SL_OP_CONCATENATION, parts, (guint) group, &join, SL_DTYPE_F32);
  lower_conv_set (o, x, add_bias (o, y, bias));
}

/* Pixels of a window: those inside the picture, and with its stated paddings. */
static gfloat
covered (const Window *w, guint i, gint32 at, gboolean with_padding)
{
  const gint32 first = at * w->stride[i] - w->begin[i], low = with_padding ? -w->begin[i] : 0;
  const gint32 high = w->in[i] + (with_padding ? w->end[i] : 0);
  gint32 n = 0;
  for (gint32 k = 0; k < w->kernel[i]; k++) {
    const gint32 position = first + k * w->dilation[i];
    n += position >= low && position < high;
  }
  return (gfloat) n;
}

/** What is counted of a window's pixels along a dimension. */
typedef enum
{
  INSIDE,
  WITH_PADDING,
  SHARE_INSIDE /* of those with padding */
} Counted;

static gfloat
count_of (const Window *w, guint i, gint32 at, Counted counted)
{
  const gfloat n = covered (w, i, at, counted == WITH_PADDING);
  return counted == SHARE_INSIDE ? n / covered (w, i, at, TRUE) : n;
}

/* For each pixel of the output the power of that count, 0 of none; a constant [1, h, w, 1]. */
static gint32
coverage (Lower *o, const Window *w, const gint32 out[2], Counted counted, gfloat power)
{
  const gint32 dims[4] = { 1, out[0], out[1], 1 };
  if (out[0] < 1 || out[1] < 1 || (gint64) out[0] * out[1] > (1 << 22)
      || (gint64) out[0] * w->kernel[0] > (1 << 24) || (gint64) out[1] * w->kernel[1] > (1 << 24))
    return lower_fail (o, SL_ERROR_LIMIT, "an output of %dx%d windows is not supported", out[0],
                       out[1]);
  g_autofree gfloat *values = g_new (gfloat, (gsize) out[0] * (gsize) out[1]);
  g_autofree gfloat *columns = g_new (gfloat, (gsize) out[1]);
  for (gint32 x = 0; x < out[1]; x++)
    columns[x] = count_of (w, 1, x, counted);
  for (gint32 y = 0; y < out[0]; y++) {
    const gfloat row = count_of (w, 0, y, counted);
    for (gint32 x = 0; x < out[1]; x++)
      values[(gsize) y * (gsize) out[1] + (gsize) x] =
        row * columns[x] > 0 ? powf (row * columns[x], power) : 0;
  }
  return lower_constant (o, SL_DTYPE_F32, 4, dims, values);
}

/* The padding behind as the core counts it: so that exactly the output's windows fit. */
static void
fit_windows (Window *w, const gint32 out[2])
{
  for (guint i = 0; i < 2; i++)
    w->end[i] = MAX ((out[i] - 1) * w->stride[i] + extent (w, i) - w->in[i] - w->begin[i], 0);
}

/* Of a padded picture's pixels: 0, and -1 of those that are padding. */
static gint32
outside (Lower *o, const Window *w)
{
  const gint32 h = w->in[0] + w->begin[0] + w->end[0], width = w->in[1] + w->begin[1] + w->end[1],
               dims[4] = { 1, h, width, 1 };
  const gsize n = (gsize) h * (gsize) width;
  if (!lower_may_make (o, n * sizeof (gint32)))
    return -1;
  g_autofree gint32 *values = g_new (gint32, n);
  for (gsize i = 0; i < n; i++) {
    const gint32 row = (gint32) (i / (gsize) width) - w->begin[0],
                 column = (gint32) (i % (gsize) width) - w->begin[1];
    values[i] = row >= 0 && row < w->in[0] && column >= 0 && column < w->in[1] ? 0 : -1;
  }
  return lower_constant (o, SL_DTYPE_I32, 4, dims, values);
}

/* A maximum over windows with gaps: one strided picture for each place of the window. @places:
 * (nullable): the pixels from a window's first one to the first of the largest, which is none
 * outside of the picture. */
static gint32
dilated_max (Lower *o, gint32 x, const Window *w, const gint32 out[2], gint32 *places)
{
  const gint32 pads[8] = { 0, 0, w->begin[0], w->end[0], w->begin[1], w->end[1], 0, 0 };
  const gint32 padded = lower_pad (o, x, pads, -INFINITY);
  const gboolean edged = places != NULL && (w->begin[0] > 0 || w->begin[1] > 0);
  const gint32 edges = edged ? outside (o, w) : -1, zero = edged ? lower_int_scalar (o, 0) : -1;
  gint32 y = -1, edge = -1;
  if (w->kernel[0] * w->kernel[1] > 1024)
    return lower_fail (o, SL_ERROR_LIMIT,
                       "a window of %dx%d, dilated or with Indices, is not supported", w->kernel[0],
                       w->kernel[1]);
  for (gint32 k = 0; k < w->kernel[0] * w->kernel[1] && o->error == NULL; k++) {
    const gint32 fy = k / w->kernel[1] * w->dilation[0], fx = k % w->kernel[1] * w->dilation[1];
    const gint32 one = at_place (o, padded, w, out, fy, fx);
    if (places != NULL) {
      const gint32 place = lower_int_scalar (o, fy * w->in[1] + fx),
                   here = edged ? at_place (o, edges, w, out, fy, fx) : -1;
      gint32 more =
        y >= 0 ? lower_emit (o, SL_OP_GREATER, (const gint32[]){ one, y }, 2, NULL, SL_DTYPE_BOOL)
               : -1;
      if (edged && y >= 0) {
        const gint32 none =
          lower_emit (o, SL_OP_LESS, (const gint32[]){ edge, zero }, 2, NULL, SL_DTYPE_BOOL);
        more =
          lower_emit (o, SL_OP_LOGICAL_OR, (const gint32[]){ more, none }, 2, NULL, SL_DTYPE_BOOL);
        edge =
          lower_emit (o, SL_OP_SELECT, (const gint32[]){ none, here, edge }, 3, NULL, SL_DTYPE_I32);
      } else {
        edge = here;
      }
      *places = y < 0 ? place
                      : lower_emit (o, SL_OP_SELECT, (const gint32[]){ more, place, *places }, 3,
                                    NULL, SL_DTYPE_I32);
    }
    y = y < 0 ? one : lower_binary (o, SL_OP_MAXIMUM, y, one);
  }
  return y;
}

/* Indices: which elements of the whole input, counted in ONNX's order, lie @places behind the first
 * ones of windows. */
static gint32
number_elements (Lower *o, const LowerValue *x, gint32 places, const Window *w, const gint32 out[2])
{
  const gsize pixels = (gsize) w->in[0] * (gsize) w->in[1],
              planes = (gsize) x->dims[0] * (gsize) x->dims[1];
  const gsize n = (gsize) out[0] * (gsize) out[1];
  if (lower_attr_int (o, "storage_order", 0) != 0)
    return lower_fail (o, SL_ERROR_UNSUPPORTED,
                       "attribute storage_order is 1; expected 0: Indices count row by row");
  if (o->error != NULL || lower_elements (x) > G_MAXINT32 || n > MAX_WEIGHTS
      || planes > MAX_WEIGHTS)
    return lower_fail (o, SL_ERROR_LIMIT,
                       "Indices of %" G_GSIZE_FORMAT " planes and %dx%d windows are not supported",
                       planes, out[0], out[1]);
  g_autofree gint32 *numbers = g_new (gint32, MAX (n, planes));
  for (gsize i = 0; i < n; i++) {
    const gint32 y = (gint32) i / out[1] * w->stride[0] - w->begin[0],
                 column = (gint32) i % out[1] * w->stride[1] - w->begin[1];
    numbers[i] = y * w->in[1] + column;
  }
  const gint32 windows =
    lower_constant (o, SL_DTYPE_I32, 4, (const gint32[]){ 1, out[0], out[1], 1 }, numbers);
  for (gsize i = 0; i < planes; i++)
    numbers[i] = (gint32) (i * pixels);
  const gint32 first =
    lower_constant (o, SL_DTYPE_I32, 4, (const gint32[]){ x->dims[0], 1, 1, x->dims[1] }, numbers);
  return lower_binary (o, SL_OP_ADD, lower_binary (o, SL_OP_ADD, windows, places), first);
}

static gint32
power_of (Lower *o, gint32 x, gfloat power)
{
  if (power == 2 || power == 0.5f)
    return lower_unary (o, power == 2 ? SL_OP_SQUARE : SL_OP_SQRT, x);
  return power == 1 ? x : lower_binary (o, SL_OP_POW, x, lower_float (o, power));
}

/* Sums over windows, with gaps or without: a convolution of each channel with ones. */
static gint32
window_sum (Lower *o, gint32 x, const Window *w)
{
  const gint64 n = (gint64) w->kernel[0] * w->kernel[1] * lower_t (o, x)->dims[3];
  const gint32 dims[4] = { 1, w->kernel[0], w->kernel[1], lower_t (o, x)->dims[3] };
  SlOpParams params = window_params (w);
  if (o->error != NULL || n > MAX_WEIGHTS || n / dims[3] > MAX_TAPS)
    return lower_fail (o, SL_ERROR_LIMIT, "a sum over %dx%d pixels of %d channels is not supported",
                       dims[1], dims[2], dims[3]);
  /* Backends pack whole registers of channels. */
  if (!lower_may_make (o, (guint64) n / (guint64) dims[3] * LANES * sizeof (gfloat)))
    return -1;
  g_autofree gfloat *ones = g_new (gfloat, (gsize) n);
  for (gint64 i = 0; i < n; i++)
    ones[i] = 1;
  params.window.filter_h = params.window.filter_w = 0;
  params.window.depth_multiplier = 1;
  return lower_emit (o, SL_OP_DEPTHWISE_CONV_2D,
                     (const gint32[]){ x, lower_constant (o, SL_DTYPE_F32, 4, dims, ones) }, 2,
                     &params, SL_DTYPE_F32);
}

/* Padding that the core's pools do not take: at least as wide as the window. */
static gint32
pad_widely (Lower *o, gint32 x, Window *w, gfloat value)
{
  gboolean wide = FALSE;
  for (guint i = 0; i < 2; i++)
    wide |= w->begin[i] >= w->kernel[i] || w->end[i] >= w->kernel[i];
  if (!wide)
    return x;
  x = lower_pad (
    o, x, (const gint32[]){ 0, 0, w->begin[0], w->end[0], w->begin[1], w->end[1], 0, 0 }, value);
  memset (w->begin, 0, sizeof w->begin);
  memset (w->end, 0, sizeof w->end);
  return x;
}

static gint32
pool (Lower *o, SlOpType op, gint32 x, const Window *w)
{
  const SlOpParams params = window_params (w);
  const SlTensor *t = lower_t (o, x);
  return lower_settled (o, op, &x, 1, &params, &(SlTensor){ .dtype = t->dtype, .quant = t->quant });
}

gint32
lower_pool_of (Lower *o, LowerValue *x)
{
  const SlOpType op = o->row->type;
  const gboolean include = lower_attr_int (o, "count_include_pad", 0) != 0;
  gint32 input = o->error == NULL ? picture (o, x) : -1, out[2];
  Window w = { 0 };
  if (o->error != NULL || !read_window (o, &w, x, NULL))
    return -1;
  if (lower_attribute (o, "kernel_shape") == NULL)
    return lower_fail (o, SL_ERROR_FORMAT, "attribute kernel_shape is missing");
  pad_automatically (&w);
  pool_size (&w, lower_attr_int (o, "ceil_mode", 0) != 0 && strcmp (w.auto_pad, "NOTSET") == 0,
             out);
  const Window stated = w;
  fit_windows (&w, out);
  const gboolean padded = w.begin[0] + w.begin[1] + w.end[0] + w.end[1] > 0,
                 dilated = w.dilation[0] > 1 || w.dilation[1] > 1;
  gint32 y;
  if (op == SL_OP_MAX_POOL_2D) {
    if (lower_has_output (o, 1)) {
      gint32 places = -1;
      y = dilated_max (o, input, &w, out, &places);
      set_picture (o, 1, x, number_elements (o, x, places, &w, out));
    } else if (dilated) {
      y = dilated_max (o, input, &w, out, NULL);
    } else {
      input = pad_widely (o, input, &w, -G_MAXFLOAT);
      y = pool (o, op, input, &w);
    }
  } else if (op == SL_OP_L2_POOL_2D) {
    const gint64 p = lower_attr_int (o, "p", 2);
    if (p < 1 || p > G_MAXINT8)
      return lower_fail (o, SL_ERROR_UNSUPPORTED,
                         "attribute p is %" G_GINT64_FORMAT "; expected 1 to %d", p, G_MAXINT8);
    if (dilated || p > 2) {
      y = power_of (o,
                    window_sum (o, power_of (o, lower_unary (o, SL_OP_ABS, input), (gfloat) p), &w),
                    1 / (gfloat) p);
    } else {
      y = p == 1 ? pool (o, SL_OP_AVERAGE_POOL_2D, lower_unary (o, SL_OP_ABS, input), &w)
                 : pool (o, op, input, &w);
      y = lower_binary (o, SL_OP_MUL, y, coverage (o, &stated, out, INSIDE, p == 1 ? 1 : 0.5f));
    }
  } else if (dilated) {
    y = lower_binary (o, SL_OP_MUL, window_sum (o, input, &w),
                      coverage (o, &stated, out, include ? WITH_PADDING : INSIDE, -1));
  } else {
    y = pool (o, op, input, &w);
    if (include && padded)
      y = lower_binary (o, SL_OP_MUL, y, coverage (o, &stated, out, SHARE_INSIDE, 1));
  }
  return y;
}

const LowerOp lower_ops_window[] = {
  { LOWER_ROW (Conv, lower_conv), 0 },
  { LOWER_ROW (ConvTranspose, lower_conv_transpose), 0 },
  { LOWER_ROW (DeformConv, lower_deform_conv), 0 },
  { NULL },
};
