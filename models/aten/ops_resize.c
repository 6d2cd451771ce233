/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Upsampling, padding, and sampling at stated places. */
#include <math.h>
#include <string.h>

#include "models/aten/quantized.h"

/* Channels of a picture. */
#define MAX_COLOURS 4

/* A list of @spatial factors, or FALSE where the argument is none. */
static gboolean
read_factors (TsProgram *program, TsValue value, guint spatial, gfloat *factors)
{
  if (value.kind != TS_LIST || value.list->n != spatial)
    return FALSE;
  for (guint i = 0; i < spatial; i++)
    factors[i] = (gfloat) ts_to_float (program, value.list->items[i]);
  return TRUE;
}

/* Whether @x is a picture, of which torch computes each colour in a plane of its own, and is
 * resized from edge to edge. */
static gboolean
is_picture (const LowerValue *x, const gint64 *size, const gfloat *factors)
{
  gboolean picture = x->rank == 4 && x->dims[1] > 1 && x->dims[1] <= MAX_COLOURS;
  for (guint i = 0; i < 2 && picture && factors != NULL; i++)
    picture = (gfloat) (1 / (gdouble) factors[i]) == (gfloat) x->dims[2 + i] / (gfloat) size[i];
  return picture;
}

/* A picture may be quantised next, where the last bit decides between two codes. Other tensors take
 * faster kernels, which round otherwise. */
static TsValue
resized_picture (TsProgram *program, LowerValue *x, const gint64 *size, gboolean corners)
{
  Lower *o = &program->lower;
  const gint32 sizes[2] = { (gint32) size[0], (gint32) size[1] };
  const SlOpParams params = {
    .resize = { .align_corners = corners, .half_pixel_centers = !corners, .fused = TRUE }
  };
  const gint32 inputs[2] = { lower_last (o, x), lower_ints_constant (o, sizes, 2) };
  return ts_new_last (
    program, lower_emit (o, SL_OP_RESIZE_BILINEAR, inputs, 2, &params, SL_DTYPE_F32), TS_FLOAT32);
}

static TsValue
resized (TsProgram *program, TsValue input, const gint64 *size, const gfloat *factors,
         const char *mode, const char *coordinates, const char *nearest)
{
  gint64 sizes[SL_MAX_RANK];
  gfloat scales[SL_MAX_RANK];
  LowerValue *x = ts_read (program, input);
  if (x == NULL)
    return ts_none ();
  for (guint i = 0; i < x->rank; i++) {
    sizes[i] = i < 2 || size == NULL ? x->dims[i] : size[i - 2];
    scales[i] = i < 2 || factors == NULL ? 1 : factors[i - 2];
    if (sizes[i] < 1 || !(scales[i] > 0) || !isfinite (scales[i]))
      return ts_refuse (program, SL_ERROR_SHAPE, "a size of %" G_GINT64_FORMAT " by a factor of %g",
                        sizes[i], (gdouble) scales[i]);
  }
  for (guint i = 2; i < x->rank && size == NULL; i++)
    sizes[i] = (gint64) MIN (floor ((gdouble) x->dims[i] * (gdouble) scales[i]), G_MAXINT32);
  const gboolean corners = strcmp (coordinates, "align_corners") == 0;
  if (strcmp (mode, "linear") == 0 && strcmp (program->op, "aten::upsample_bilinear2d") == 0
      && input.tensor->dtype == TS_FLOAT32 && is_picture (x, sizes + 2, corners ? NULL : factors))
    return resized_picture (program, x, sizes + 2, corners);
  const gboolean antialias = g_str_has_suffix (program->op, "_aa");
  const LowerAttribute attributes[6] = {
    ts_attr_int ("antialias", antialias),
    ts_attr_int ("exclude_outside", antialias),
    ts_attr_text ("mode", mode),
    ts_attr_text ("coordinate_transformation_mode", coordinates),
    ts_attr_text ("nearest_mode", nearest),
    ts_attr_float ("cubic_coeff_a", antialias ? -0.5 : -0.75)
  };
  LowerValue *const inputs[4] = {
    x, NULL, factors != NULL ? ts_constant_floats (program, scales, x->rank) : NULL,
    factors == NULL ? ts_constant_ints (program, sizes, x->rank) : NULL
  };
  return ts_new (program, ts_onnx (program, "Resize", inputs, 4, attributes, 6),
                 input.tensor->dtype);
}

/* The dimensions behind batch and channels: 1 to 3, by the operator's name. */
static guint
spatial_of (TsProgram *program, const TsCall *call)
{
  const char *name = call->op->name;
  const guint spatial = strstr (name, "1d") != NULL ? 1 : strstr (name, "3d") != NULL ? 3 : 2;
  if (call->args[0].kind != TS_TENSOR || call->args[0].tensor->rank != spatial + 2)
    ts_refuse (program, SL_ERROR_SHAPE, "expected a tensor of %u dimensions", spatial + 2);
  return spatial;
}

/* The size from an argument, or from factors: those may come as a list or as one argument each. */
static TsValue
upsample (TsProgram *program, const TsCall *call, TsValue size, const TsValue *scales,
          const char *mode, const char *coordinates, const char *nearest)
{
  gint64 sizes[3];
  gfloat factors[3];
  guint n = 0;
  const guint spatial = spatial_of (program, call);
  gboolean has_factors = read_factors (program, scales[0], spatial, factors);
  if (ts_failed (program))
    return ts_none ();
  if (!has_factors && ts_is_number (scales[0])) {
    has_factors = TRUE;
    for (guint i = 0; i < spatial; i++)
      factors[i] =
        (gfloat) ts_to_float (program, scales[i].kind == TS_NONE ? scales[0] : scales[i]);
  }
  if (size.kind == TS_NONE && !has_factors)
    return ts_refuse (program, SL_ERROR_FORMAT, "neither a size nor factors");
  if (size.kind != TS_NONE && ts_to_ints (program, size, sizes, 3, &n) && n != spatial)
    return ts_refuse (program, SL_ERROR_FORMAT, "%u sizes for %u dimensions", n, spatial);
  for (guint i = 0; size.kind != TS_NONE && has_factors && i < spatial;
       i++) /* the factors count only where they give that size */
    has_factors &= floor ((gdouble) call->args[0].tensor->dims[2 + i] * (gdouble) factors[i])
                   == (gdouble) sizes[i];
  return resized (program, call->args[0], size.kind != TS_NONE ? sizes : NULL,
                  has_factors ? factors : NULL, mode, coordinates, nearest);
}

static TsValue
nearest (TsProgram *program, const TsCall *call)
{
  const gboolean exact = strstr (call->op->name, "exact") != NULL;
  return upsample (program, call, call->args[1], call->args + 2, "nearest",
                   exact ? "half_pixel" : "asymmetric", exact ? "round_prefer_ceil" : "floor");
}

static TsValue
real_smooth (TsProgram *program, const TsCall *call)
{
  const gboolean corners = ts_truth (program, call->args[2]);
  return upsample (program, call, call->args[1], call->args + 3, call->op->onnx,
                   corners ? "align_corners" : "half_pixel", "floor");
}

static TsValue
smooth (TsProgram *program, const TsCall *call)
{
  const gboolean codes =
    call->args[0].kind == TS_TENSOR && ts_is_quantized (call->args[0].tensor->dtype);
  return codes ? ts_through_codes (program, call, real_smooth) : real_smooth (program, call);
}

/* ONNX's amounts, in front and behind, from torch's list that begins with the last dimension. */
static TsValue
padded (TsProgram *program, TsValue input, TsValue list, const char *mode, TsValue value)
{
  gint64 amounts[2 * SL_MAX_RANK], pads[2 * SL_MAX_RANK] = { 0 };
  guint n = 0;
  LowerValue *x = ts_read (program, input);
  if (x == NULL || !ts_to_ints (program, list, amounts, 2 * SL_MAX_RANK, &n))
    return ts_none ();
  if (n % 2 != 0 || n > 2 * x->rank)
    return ts_refuse (program, SL_ERROR_FORMAT, "%u amounts for %u dimensions", n, x->rank);
  for (guint i = 0; i < n / 2; i++) {
    pads[x->rank - 1 - i] = amounts[2 * i];
    pads[2 * x->rank - 1 - i] = amounts[2 * i + 1];
  }
  const LowerAttribute attribute = ts_attr_text ("mode", mode);
  const TsDtype dtype = input.tensor->dtype;
  LowerValue *const inputs[3] = { x, ts_constant_ints (program, pads, 2 * x->rank),
                                  value.kind != TS_NONE && ts_to_float (program, value) != 0
                                    ? ts_scalar (program, value, dtype)
                                    : NULL };
  return ts_new (program, ts_onnx (program, "Pad", inputs, 3, &attribute, 1), dtype);
}

static TsValue
pad (TsProgram *program, const TsCall *call)
{
  static const char *const words[][2] = { { "constant", "constant" },
                                          { "reflect", "reflect" },
                                          { "replicate", "edge" },
                                          { "circular", "wrap" } };
  const char *mode = call->args[2].kind == TS_STRING ? call->args[2].text : "constant";
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strcmp (mode, words[i][0]) == 0)
      return padded (program, call->args[0], call->args[1], words[i][1], call->args[3]);
  return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                    "mode '%s'; expected constant, reflect, replicate or circular", mode);
}

static TsValue
constant_pad (TsProgram *program, const TsCall *call)
{
  return padded (program, call->args[0], call->args[1], "constant", call->args[2]);
}

static TsValue
mode_pad (TsProgram *program, const TsCall *call)
{
  return padded (program, call->args[0], call->args[1], call->op->onnx, ts_none ());
}

static TsValue
grid_sampler (TsProgram *program, const TsCall *call)
{
  static const char *const modes[] = { "bilinear", "nearest", "bicubic" }, *const borders[] = {
    "zeros", "border", "reflection"
  };
  const gint64 mode = ts_to_int (program, call->args[2]),
               border = ts_to_int (program, call->args[3]);
  if (ts_failed (program) || mode < 0 || mode > 2 || border < 0 || border > 2)
    return ts_refuse (program, SL_ERROR_FORMAT, "an unknown mode");
  const LowerAttribute attributes[3] = {
    ts_attr_text ("mode", modes[mode]), ts_attr_text ("padding_mode", borders[border]),
    ts_attr_int ("align_corners", ts_truth (program, call->args[4]))
  };
  LowerValue *const inputs[2] = { ts_read (program, call->args[0]),
                                  ts_read (program, call->args[1]) };
  return ts_new (program, ts_onnx (program, "GridSample", inputs, 2, attributes, 3), TS_FLOAT32);
}

const TsOp ts_ops_resize[] = {
  { "aten::upsample_nearest1d", "input,output_size,scale_factors=None", nearest },
  { "aten::upsample_nearest2d", "input,output_size,scale_factors=None,scales_w=None", nearest },
  { "aten::_upsample_nearest_exact1d", "input,output_size,scale_factors=None", nearest },
  { "aten::_upsample_nearest_exact2d", "input,output_size,scale_factors=None,scales_w=None",
    nearest },
  { "aten::upsample_nearest3d", "input,output_size,scale_factors=None,scales_h=None,scales_w=None",
    nearest },
  { "aten::_upsample_nearest_exact3d",
    "input,output_size,scale_factors=None,scales_h=None,scales_w=None", nearest },
  { "aten::upsample_trilinear3d",
    "input,output_size,align_corners,scale_factors=None,scales_h=None,scales_w=None", smooth,
    "linear" },
  { "aten::upsample_linear1d", "input,output_size,align_corners,scale_factors=None", smooth,
    "linear" },
  { "aten::upsample_bilinear2d", "input,output_size,align_corners,scale_factors=None,scales_w=None",
    smooth, "linear" },
  { "aten::upsample_bicubic2d", "input,output_size,align_corners,scale_factors=None,scales_w=None",
    smooth, "cubic" },
  { "aten::_upsample_bilinear2d_aa",
    "input,output_size,align_corners,scale_factors=None,scales_w=None", smooth, "linear" },
  { "aten::_upsample_bicubic2d_aa",
    "input,output_size,align_corners,scale_factors=None,scales_w=None", smooth, "cubic" },
  { "aten::pad", "self,pad,mode=constant,value=None", pad },
  { "aten::constant_pad_nd", "self,pad,value=0", constant_pad },
  { "aten::reflection_pad1d", "self,padding", mode_pad, "reflect" },
  { "aten::reflection_pad2d", "self,padding", mode_pad, "reflect" },
  { "aten::reflection_pad3d", "self,padding", mode_pad, "reflect" },
  { "aten::replication_pad3d", "self,padding", mode_pad, "edge" },
  { "aten::replication_pad1d", "self,padding", mode_pad, "edge" },
  { "aten::replication_pad2d", "self,padding", mode_pad, "edge" },
  { "aten::grid_sampler", "input,grid,interpolation_mode,padding_mode,align_corners",
    grid_sampler },
  { "aten::grid_sampler_2d", "input,grid,interpolation_mode,padding_mode,align_corners",
    grid_sampler },
  { NULL },
};
