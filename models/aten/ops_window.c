/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions and pools. Inputs may come without a batch, as torch takes them. */
#include <string.h>

#include "models/aten/quantized.h"
#include "models/aten/shape.h"

#define MAX_CELLS 256
/* Pixels of a window whose highest is told: each takes a handful of nodes. */
#define MAX_PLACES 256

/* One number for each of @spatial dimensions; one number, or a list of one, counts for all. */
static void
spread (TsProgram *program, TsValue value, guint spatial, gint64 *ints)
{
  guint n = 0;
  if (!ts_to_ints (program, value, ints, 3, &n))
    return;
  if (n != 1 && n != spatial)
    ts_refuse (program, SL_ERROR_FORMAT, "%u numbers for %u dimensions", n, spatial);
  for (guint i = 1; n == 1 && i < spatial; i++)
    ints[i] = ints[0];
}

/* ONNX's pads: those in front, then those behind. */
static LowerAttribute
pads_attribute (TsProgram *program, const gint64 *padding, guint spatial)
{
  gint64 pads[6];
  for (guint i = 0; i < spatial; i++)
    pads[i] = pads[i + spatial] = padding[i];
  return ts_attr_ints (program, "pads", pads, 2 * spatial);
}

/* @x with a batch of one in front where it has none for @spatial dimensions; *@added tells. */
static LowerValue *
with_batch (TsProgram *program, LowerValue *x, guint spatial, gboolean *added)
{
  const gint64 axis = 0;
  *added = x != NULL && x->rank == spatial + 1;
  return *added ? ts_onnx_pair (program, "Unsqueeze", x, ts_constant_ints (program, &axis, 1)) : x;
}

static TsValue
without_batch (TsProgram *program, LowerValue *y, gboolean added, TsDtype dtype)
{
  const gint64 axis = 0;
  if (added)
    y = ts_onnx_pair (program, "Squeeze", y, ts_constant_ints (program, &axis, 1));
  return ts_new (program, y, dtype);
}

typedef struct
{
  TsValue x, weight, bias, stride, padding, dilation, output_padding, groups;
  gboolean transposed;
} Convolution;

static TsValue
convolve (TsProgram *program, const Convolution *c)
{
  gint64 stride[3] = { 1, 1, 1 }, padding[3] = { 0 }, dilation[3] = { 1, 1, 1 }, more[3] = { 0 };
  gboolean added = FALSE;
  guint n = 0;
  LowerAttribute attributes[6];
  LowerValue *x = ts_read (program, c->x), *weight = ts_read (program, c->weight);
  if (x == NULL || weight == NULL)
    return ts_none ();
  const guint spatial = weight->rank > 2 ? weight->rank - 2 : 0;
  if (spatial < 1 || spatial > 3)
    return ts_refuse (
      program, SL_ERROR_UNSUPPORTED,
      "weights of %u dimensions; only convolutions along 1, 2 or 3 dimensions are supported",
      weight->rank);
  if (c->transposed && spatial == 3) {
    const TsValue args[] = { c->x,       c->weight,         c->bias,   c->stride,
                             c->padding, c->output_padding, c->groups, c->dilation };
    return ts_run_op (program, "aten::conv_transpose3d", args, NULL, G_N_ELEMENTS (args));
  }
  spread (program, c->stride, spatial, stride);
  spread (program, c->dilation, spatial, dilation);
  attributes[n++] = ts_attr_ints (program, "strides", stride, spatial);
  attributes[n++] = ts_attr_ints (program, "dilations", dilation, spatial);
  attributes[n++] = ts_attr_int ("group", ts_to_int (program, c->groups));
  if (c->padding.kind == TS_STRING) { /* the odd pixel behind */
    const gboolean same = strcmp (c->padding.text, "same") == 0;
    attributes[n++] = ts_attr_text ("auto_pad", same ? "SAME_UPPER" : "VALID");
  } else {
    spread (program, c->padding, spatial, padding);
    attributes[n++] = pads_attribute (program, padding, spatial);
  }
  if (c->transposed) {
    spread (program, c->output_padding, spatial, more);
    attributes[n++] = ts_attr_ints (program, "output_padding", more, spatial);
  }
  LowerValue *const inputs[3] = { with_batch (program, x, spatial, &added), weight,
                                  c->bias.kind != TS_NONE ? ts_read (program, c->bias) : NULL };
  return without_batch (
    program, ts_onnx (program, c->transposed ? "ConvTranspose" : "Conv", inputs, 3, attributes, n),
    added, c->x.tensor->dtype);
}

static TsValue
conv (TsProgram *program, const TsCall *call)
{
  const TsValue *a = call->args;
  const Convolution c = { .x = a[0],
                          .weight = a[1],
                          .bias = a[2],
                          .stride = a[3],
                          .padding = a[4],
                          .dilation = a[5],
                          .groups = a[6] };
  return convolve (program, &c);
}

static TsValue
conv_transpose (TsProgram *program, const TsCall *call)
{
  const TsValue *a = call->args;
  const Convolution c = { .x = a[0],
                          .weight = a[1],
                          .bias = a[2],
                          .stride = a[3],
                          .padding = a[4],
                          .output_padding = a[5],
                          .groups = a[6],
                          .dilation = a[7],
                          .transposed = TRUE };
  return convolve (program, &c);
}

static TsValue
convolution (TsProgram *program, const TsCall *call)
{
  const TsValue *a = call->args;
  const Convolution c = { .x = a[0],
                          .weight = a[1],
                          .bias = a[2],
                          .stride = a[3],
                          .padding = a[4],
                          .dilation = a[5],
                          .transposed = ts_truth (program, a[6]),
                          .output_padding = a[7],
                          .groups = a[8] };
  return convolve (program, &c);
}

static gboolean
is_given (TsValue value)
{
  return value.kind != TS_NONE && (value.kind != TS_LIST || value.list->n > 0);
}

/* The attributes that all pools have. */
static guint
pool_attributes (TsProgram *program, const TsValue *a, guint spatial, TsValue ceil_mode,
                 LowerAttribute *attributes)
{
  gint64 kernel[3], stride[3], padding[3];
  spread (program, a[1], spatial, kernel);
  spread (program, is_given (a[2]) ? a[2] : a[1], spatial, stride);
  spread (program, a[3], spatial, padding);
  if (ts_failed (program))
    return 0;
  attributes[0] = ts_attr_ints (program, "kernel_shape", kernel, spatial);
  attributes[1] = ts_attr_ints (program, "strides", stride, spatial);
  attributes[2] = pads_attribute (program, padding, spatial);
  attributes[3] = ts_attr_int ("ceil_mode", ts_truth (program, ceil_mode));
  return 4;
}

static guint
spatial_of (const TsCall *call)
{
  return strstr (call->op->name, "1d") != NULL ? 1 : strstr (call->op->name, "3d") != NULL ? 3 : 2;
}

static TsValue
max_pool (TsProgram *program, const TsCall *call)
{
  const guint spatial = spatial_of (call);
  LowerAttribute attributes[5];
  gint64 dilation[3] = { 1, 1, 1 };
  gboolean added = FALSE;
  LowerValue *x = with_batch (program, ts_read (program, call->args[0]), spatial, &added);
  guint n = pool_attributes (program, call->args, spatial, call->args[5], attributes);
  spread (program, call->args[4], spatial, dilation);
  if (ts_failed (program))
    return ts_none ();
  attributes[n++] = ts_attr_ints (program, "dilations", dilation, spatial);
  return without_batch (program, ts_onnx (program, "MaxPool", &x, 1, attributes, n), added,
                        call->args[0].tensor->dtype);
}

/* Places of real numbers alone, and of windows of two dimensions as unpooling reads them; where
 * nothing does, their nodes are dropped. */
static TsValue
max_pool_with_indices (TsProgram *program, const TsCall *call)
{
  TsValue pair[2] = { max_pool (program, call), ts_none () };
  gint64 numbers[4][3] = { { 0 } };
  const TsTensor *y = pair[0].kind == TS_TENSOR ? pair[0].tensor : NULL;
  if (ts_failed (program) || y == NULL || ts_is_quantized (y->dtype) || spatial_of (call) != 2)
    return ts_tuple (program->heap, pair, 2);
  const TsValue given[4] = { call->args[1],
                             is_given (call->args[2]) ? call->args[2] : call->args[1],
                             call->args[3], call->args[4] };
  const gint64 size[2] = { y->dims[y->rank - 2], y->dims[y->rank - 1] };
  TsValue args[6] = { call->args[0], ts_none (), ts_none (),
                      ts_none (),    ts_none (), ts_int_list (program->heap, size, 2) };
  for (guint i = 0; i < 4; i++) {
    spread (program, given[i], 2, numbers[i]);
    args[1 + i] = ts_int_list (program->heap, numbers[i], 2);
  }
  if (numbers[0][0] > MAX_PLACES / MAX (numbers[0][1], 1))
    return ts_tuple (program->heap, pair, 2);
  pair[1] = ts_run_op (program, TS_MAX_POOL_PLACES, args, NULL, 6);
  return ts_tuple (program->heap, pair, 2);
}

static TsValue
real_average_pool (TsProgram *program, const TsCall *call)
{
  const guint spatial = spatial_of (call);
  LowerAttribute attributes[5];
  gboolean added = FALSE;
  LowerValue *x = with_batch (program, ts_read (program, call->args[0]), spatial, &added);
  guint n = pool_attributes (program, call->args, spatial, call->args[4], attributes);
  if (ts_failed (program))
    return ts_none ();
  const TsValue divisor = call->args[6];
  if (divisor.kind != TS_NONE
      && (ts_truth (program, call->args[4]) || ts_to_int (program, divisor) == 0))
    return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                      "divisor_override is supported without ceil_mode, and not as 0");
  attributes[n++] =
    ts_attr_int ("count_include_pad", divisor.kind != TS_NONE || ts_truth (program, call->args[5]));
  LowerValue *y = ts_onnx (program, "AveragePool", &x, 1, attributes, n);
  if (divisor.kind != TS_NONE) {
    gdouble factor = 1 / ts_to_float (program, divisor);
    for (guint i = 0; i < spatial; i++)
      factor *= (gdouble) attributes[0].ints[i];
    y = ts_onnx_pair (program, "Mul", y, ts_scalar (program, ts_float (factor), TS_FLOAT32));
  }
  return without_batch (program, y, added, call->args[0].tensor->dtype);
}

/* Of codes, parts of a window that lie outside count as zero, too. */
static TsValue
average_pool (TsProgram *program, const TsCall *call)
{
  const TsValue x = call->args[0];
  const gboolean codes = x.kind == TS_TENSOR && ts_is_quantized (x.tensor->dtype);
  return codes ? ts_through_codes (program, call, real_average_pool)
               : real_average_pool (program, call);
}

static LowerValue *
cut (TsProgram *program, LowerValue *x, gint64 axis, gint64 first, gint64 end)
{
  LowerValue *const inputs[4] = { x, ts_constant_ints (program, &first, 1),
                                  ts_constant_ints (program, &end, 1),
                                  ts_constant_ints (program, &axis, 1) };
  return ts_onnx (program, "Slice", inputs, 4, NULL, 0);
}

/* Cells of different sizes: along one dimension after the other each cell is cut out and reduced.
 */
static LowerValue *
uneven_cells (TsProgram *program, LowerValue *x, gint64 axis, gint64 out, gboolean average)
{
  LowerValue *cells[MAX_CELLS];
  const gint64 in = x != NULL ? x->dims[axis] : 1;
  const LowerAttribute keep[2] = { ts_attr_ints (program, "axes", &axis, 1),
                                   ts_attr_int ("keepdims", 1) };
  const LowerAttribute join = ts_attr_int ("axis", axis);
  if (out == in || ts_failed (program))
    return x;
  if (out < 1 || out >= MAX_CELLS) {
    ts_refuse (program, SL_ERROR_UNSUPPORTED,
               "%" G_GINT64_FORMAT " uneven cells along one dimension", out);
    return NULL;
  }
  for (gint64 i = 0; i < out; i++) {
    /* as torch cuts them: cells may overlap by an element */
    LowerValue *one = cut (program, x, axis, i * in / out, ((i + 1) * in + out - 1) / out);
    cells[i] = ts_onnx (program, average ? "ReduceMean" : "ReduceMax", &one, 1, keep, 2);
  }
  return out == 1 ? cells[0] : ts_onnx (program, "Concat", cells, (guint) out, &join, 1);
}

/* Pools of a stated output size: one value, the same size, windows that divide the picture, or
 * cells cut one by one. */
static TsValue
real_adaptive_pool (TsProgram *program, const TsCall *call)
{
  const guint spatial = spatial_of (call);
  const gboolean average = strstr (call->op->name, "avg") != NULL;
  gint64 out[3], kernel[3];
  gboolean added = FALSE, one = TRUE, even = TRUE;
  LowerValue *x = with_batch (program, ts_read (program, call->args[0]), spatial, &added);
  const TsValue size = call->args[1];
  if (x == NULL || x->rank != spatial + 2)
    return ts_refuse (program, SL_ERROR_SHAPE, "a tensor of %u dimensions",
                      x != NULL ? x->rank : 0);
  for (guint i = 0; i < spatial; i++) {
    const TsValue item =
      size.kind == TS_LIST || size.kind == TS_TUPLE ? ts_index (program, size, ts_int (i)) : size;
    out[i] = item.kind == TS_NONE ? x->dims[2 + i] : ts_to_int (program, item);
    if (ts_failed (program) || out[i] < 1)
      return ts_refuse (program, SL_ERROR_SHAPE, "an output of %" G_GINT64_FORMAT " cells", out[i]);
    one &= out[i] == 1;
    even &= x->dims[2 + i] % out[i] == 0;
    kernel[i] = x->dims[2 + i] / out[i];
  }
  const LowerAttribute attributes[2] = { ts_attr_ints (program, "kernel_shape", kernel, spatial),
                                         ts_attr_ints (program, "strides", kernel, spatial) };
  if (one) {
    x = ts_onnx (program, average ? "GlobalAveragePool" : "GlobalMaxPool", &x, 1, NULL, 0);
  } else if (even) {
    x = ts_onnx (program, average ? "AveragePool" : "MaxPool", &x, 1, attributes, 2);
  } else {
    for (guint i = 0; i < spatial; i++)
      x = uneven_cells (program, x, 2 + i, out[i], average);
  }
  return without_batch (program, x, added, call->args[0].tensor->dtype);
}

static TsValue
adaptive_pool (TsProgram *program, const TsCall *call)
{
  const TsValue x = call->args[0];
  gint64 sizes[3] = { 0 };
  guint n = 0;
  if (x.kind != TS_TENSOR || !ts_is_quantized (x.tensor->dtype))
    return real_adaptive_pool (program, call);
  ts_to_ints (program, call->args[1], sizes, 3, &n);
  const gboolean one = n > 0 && sizes[0] == 1 && (n == 1 || sizes[1] == 1);
  return one ? real_adaptive_pool (program, call)
             : ts_through_codes (program, call, real_adaptive_pool);
}

static TsValue
adaptive_max_pool (TsProgram *program, const TsCall *call)
{
  const TsValue pair[] = { adaptive_pool (program, call), ts_none () };
  return ts_tuple (program->heap, pair, 2);
}

/* unfold: the windows' elements as channels, one column for each window. */
static TsValue
windows (TsProgram *program, const TsCall *call)
{
  gint64 kernel[3], dilation[3], padding[3], stride[3];
  LowerValue *cells[MAX_CELLS];
  gboolean added = FALSE;
  guint n = 0;
  LowerValue *x = with_batch (program, ts_read (program, call->args[0]), 2, &added);
  gint64 *const lists[] = { kernel, dilation, padding, stride };
  for (guint i = 0; i < 4; i++)
    spread (program, call->args[i + 1], 2, lists[i]);
  if (x == NULL || ts_failed (program))
    return ts_none ();
  const gint64 pads[8] = { 0, 0, padding[0], padding[1], 0, 0, padding[0], padding[1] }, axis = 2;
  const LowerAttribute mode = ts_attr_text ("mode", "constant"), join = ts_attr_int ("axis", axis);
  x = ts_onnx (program, "Pad", (LowerValue *[]){ x, ts_constant_ints (program, pads, 8) }, 2, &mode,
               1);
  gint64 out[2] = { 0, 0 };
  for (guint i = 0; x != NULL && i < 2; i++)
    out[i] = stride[i] < 1 || dilation[i] < 1 || kernel[i] < 1
               ? 0
               : (x->dims[2 + i] - dilation[i] * (kernel[i] - 1) - 1) / stride[i] + 1;
  if (x == NULL || out[0] < 1 || out[1] < 1 || kernel[0] * kernel[1] > MAX_CELLS)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                      "windows that do not fit the tensor, or of more than %d elements", MAX_CELLS);
  for (gint64 k = 0; k < kernel[0] * kernel[1]; k++) {
    const gint64 y = k / kernel[1] * dilation[0], z = k % kernel[1] * dilation[1];
    LowerValue *rows = ts_slice_of (program, x, 2, y, y + (out[0] - 1) * stride[0] + 1, stride[0]);
    rows = ts_slice_of (program, rows, 3, z, z + (out[1] - 1) * stride[1] + 1, stride[1]);
    cells[n++] = ts_onnx_pair (program, "Unsqueeze", rows, ts_constant_ints (program, &axis, 1));
  }
  LowerValue *all = n == 1 ? cells[0] : ts_onnx (program, "Concat", cells, n, &join, 1);
  const gint64 dims[3] = { x->dims[0], (gint64) x->dims[1] * n, out[0] * out[1] };
  return without_batch (program, ts_reshaped (program, all, dims, 3), added, TS_FLOAT32);
}

const TsOp ts_ops_window[] = {
  { "aten::adaptive_max_pool1d", "self,output_size", adaptive_max_pool },
  { "aten::adaptive_max_pool2d", "self,output_size", adaptive_max_pool },
  { "aten::adaptive_max_pool3d", "self,output_size", adaptive_max_pool },
  { "aten::avg_pool3d",
    "self,kernel_size,stride=[],padding=0,ceil_mode=False,count_include_pad=True,"
    "divisor_override=None",
    average_pool },
  { "aten::im2col", "self,kernel_size,dilation,padding,stride", windows },
  { "aten::conv1d", "input,weight,bias=None,stride=1,padding=0,dilation=1,groups=1", conv },
  { "aten::conv2d", "input,weight,bias=None,stride=1,padding=0,dilation=1,groups=1", conv },
  { "aten::conv3d", "input,weight,bias=None,stride=1,padding=0,dilation=1,groups=1", conv },
  { "aten::conv_transpose1d",
    "input,weight,bias=None,stride=1,padding=0,output_padding=0,groups=1,dilation=1",
    conv_transpose },
  { "aten::conv_transpose2d",
    "input,weight,bias=None,stride=1,padding=0,output_padding=0,groups=1,dilation=1",
    conv_transpose },
  { "aten::_convolution_mode", "input,weight,bias,stride,padding,dilation,groups", conv },
  { "aten::convolution",
    "input,weight,bias,stride,padding,dilation,transposed,output_padding,groups", convolution },
  { "aten::_convolution",
    "input,weight,bias,stride,padding,dilation,transposed,output_padding,groups,benchmark=None,"
    "deterministic=None,cudnn_enabled=None,allow_tf32=None",
    convolution },
  { "aten::max_pool1d", "self,kernel_size,stride=[],padding=0,dilation=1,ceil_mode=False",
    max_pool },
  { "aten::max_pool2d", "self,kernel_size,stride=[],padding=0,dilation=1,ceil_mode=False",
    max_pool },
  { "aten::max_pool2d_with_indices",
    "self,kernel_size,stride=[],padding=0,dilation=1,ceil_mode=False", max_pool_with_indices },
  { "aten::max_pool3d", "self,kernel_size,stride=[],padding=0,dilation=1,ceil_mode=False",
    max_pool },
  { "aten::max_pool3d_with_indices",
    "self,kernel_size,stride=[],padding=0,dilation=1,ceil_mode=False", max_pool_with_indices },
  { "aten::avg_pool1d",
    "self,kernel_size,stride=[],padding=0,ceil_mode=False,count_include_pad=True,"
    "divisor_override=None",
    average_pool },
  { "aten::avg_pool2d",
    "self,kernel_size,stride=[],padding=0,ceil_mode=False,count_include_pad=True,"
    "divisor_override=None",
    average_pool },
  { "aten::adaptive_avg_pool1d", "self,output_size", adaptive_pool },
  { "aten::adaptive_avg_pool2d", "self,output_size", adaptive_pool },
  { "aten::adaptive_avg_pool3d", "self,output_size", adaptive_pool },
  { "aten::_adaptive_avg_pool2d", "self,output_size", adaptive_pool },
  { "aten::_adaptive_avg_pool3d", "self,output_size", adaptive_pool },
  { NULL },
};
