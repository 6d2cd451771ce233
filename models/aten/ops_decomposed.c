/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Quantisation as programs of torch.export state it: operators of real numbers between those that
 * make codes and those that read them. With constant scales they become the quantised tensors of
 * the core, whose passes give layers between them codes. Computed scales, and scales of parts of a
 * row, are arithmetic of real numbers.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "models/aten/ops.h"
#include "models/lower/codes.h"

/* The smallest scale that torch gives a row. */
#define LEAST_ROW_SCALE 1e-5

static TsValue
run (TsProgram *program, const char *name, TsValue a, TsValue b)
{
  const TsValue args[2] = { a, b };
  return ts_run_op (program, name, args, NULL, b.kind == TS_NONE ? 1 : 2);
}

static TsValue
converted (TsProgram *program, TsValue x, TsDtype dtype)
{
  return x.kind == TS_TENSOR ? run (program, "aten::to", x, ts_int (dtype)) : x;
}

/* Whether a number, or each element of a tensor, is known now. */
static gboolean
is_constant (TsProgram *program, TsValue value)
{
  gsize n = 0;
  if (value.kind != TS_TENSOR)
    return TRUE;
  LowerValue *x = ts_read (program, value);
  return x != NULL && lower_data (&program->lower, x, &n) != NULL;
}

/* The elements of a constant tensor, or one number. */
static gboolean
read_reals (TsProgram *program, TsValue value, gsize *n, gfloat **reals)
{
  SlArena *arena = program->lower.arena;
  if (value.kind != TS_TENSOR) {
    *n = 1;
    *reals = sl_arena_alloc (arena, sizeof **reals);
    (*reals)[0] = (gfloat) ts_to_float (program, value);
    return !ts_failed (program);
  }
  LowerValue *x = ts_cast (program, ts_read (program, value), TS_FLOAT32);
  const gfloat *from = x != NULL ? lower_data (&program->lower, x, n) : NULL;
  if (from == NULL || *n == 0) {
    ts_refuse (program, SL_ERROR_UNSUPPORTED, "its scales and zero points must be constants");
    return FALSE;
  }
  *reals = sl_arena_memdup (arena, from, *n * sizeof **reals);
  return TRUE;
}

/* What @scale and @zero say of codes of @dtype. */
static gboolean
read_quant (TsProgram *program, TsValue scale, TsValue zero, SlDtype dtype, SlQuant *quant)
{
  gsize n = 0, n_zero = 0;
  gfloat *scales = NULL, *zeros = NULL;
  gint32 lo = G_MININT32, hi = G_MAXINT32;
  if (!read_reals (program, scale, &n, &scales)
      || (zero.kind != TS_NONE && !read_reals (program, zero, &n_zero, &zeros)))
    return FALSE;
  if (zeros != NULL && n_zero != n) {
    ts_refuse (program, SL_ERROR_FORMAT,
               "%" G_GSIZE_FORMAT " zero points for %" G_GSIZE_FORMAT " scales; expected as many",
               n_zero, n);
    return FALSE;
  }
  sl_dtype_range (dtype, &lo, &hi);
  gint32 *zero_point = sl_arena_alloc (program->lower.arena, n * sizeof zero_point[0]);
  for (gsize i = 0; i < n; i++) {
    const gdouble z = zeros != NULL ? (gdouble) zeros[i] : 0;
    if (!isfinite (scales[i]) || scales[i] < 0 || !(z >= lo && z <= hi)) {
      ts_refuse (program, SL_ERROR_FORMAT,
                 "scale %g and zero point %g of codes of %s; expected a finite scale above 0, and "
                 "a zero point from %d to %d",
                 (gdouble) scales[i], z, sl_dtype_name (dtype), lo, hi);
      return FALSE;
    }
    scales[i] = MAX (scales[i], FLT_MIN);
    zero_point[i] = (gint32) z;
  }
  *quant = (SlQuant){ .count = (guint) n, .scale = scales, .zero_point = zero_point };
  return TRUE;
}

/* The type and range that a program states for codes. */
static gboolean
read_range (TsProgram *program, TsValue low, TsValue high, TsValue dtype, LowerCodes *codes)
{
  gint32 lo = 0, hi = 0;
  const gint64 number = ts_to_int (program, dtype), least = ts_to_int (program, low),
               most = ts_to_int (program, high);
  if (ts_failed (program))
    return FALSE;
  if (number != TS_INT8 && number != TS_UINT8) {
    ts_refuse (program, SL_ERROR_UNSUPPORTED, "codes of %s; expected int8 or uint8",
               ts_dtype_name ((TsDtype) CLAMP (number, 0, TS_N_DTYPES)));
    return FALSE;
  }
  codes->dtype = ts_dtype_graph ((TsDtype) number);
  sl_dtype_range (codes->dtype, &lo, &hi);
  if (least < lo || most > hi || least >= most) {
    ts_refuse (program, SL_ERROR_FORMAT,
               "codes from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
               "; %s has those from %d to %d",
               least, most, sl_dtype_name (codes->dtype), lo, hi);
    return FALSE;
  }
  codes->lo = (gint32) least;
  codes->hi = (gint32) most;
  return TRUE;
}

/* Whether the scales, of which there are @quant->count, are those of dimension @axis of @x. */
static gboolean
check_axis (TsProgram *program, const LowerValue *x, TsValue axis, SlQuant *quant)
{
  const guint at = ts_axis (program, axis, x->rank);
  if (ts_failed (program))
    return FALSE;
  quant->axis = (gint) at;
  if (quant->count == (guint) x->dims[at])
    return TRUE;
  ts_refuse (program, SL_ERROR_FORMAT, "%u scales along dimension %u of size %d; expected as many",
             quant->count, at, x->dims[at]);
  return FALSE;
}

/* Codes as whole numbers of the program, as they are where scales are computed. */
static TsValue
rounded (TsProgram *program, TsValue x, const TsValue range[3])
{
  const TsValue args[3] = { x, range[0], range[1] };
  return converted (program, ts_run_op (program, "aten::clamp", args, NULL, 3),
                    (TsDtype) ts_to_int (program, range[2]));
}

/* round (x / scale) + zero, within the range at @range, whose third is the type. */
static TsValue
quantize_real (TsProgram *program, TsValue x, TsValue scale, TsValue zero, const TsValue range[3])
{
  const TsValue y =
    run (program, "aten::round",
         run (program, "aten::mul", x, run (program, "aten::reciprocal", scale, ts_none ())),
         ts_none ());
  return rounded (program, run (program, "aten::add", y, zero), range);
}

static TsValue
dequantize_real (TsProgram *program, TsValue codes, TsValue scale, TsValue zero)
{
  TsValue x = converted (program, codes, TS_FLOAT32);
  if (zero.kind != TS_NONE)
    x = run (program, "aten::sub", x, converted (program, zero, TS_FLOAT32));
  return run (program, "aten::mul", x, scale);
}

static TsValue
quantized (TsProgram *program, TsValue value, SlQuant quant, LowerCodes *codes, TsDtype dtype)
{
  gsize n = 0;
  gboolean last = FALSE;
  LowerValue *x = ts_cast (program, ts_read (program, value), TS_FLOAT32);
  if (x == NULL || x->empty)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED, "a tensor without elements");
  if (quant.count > 1 && lower_data (&program->lower, x, &n) == NULL)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                      "%u scales of what is computed; expected one, or a constant", quant.count);
  codes->quant = quant;
  const gint32 tensor = lower_quantised (&program->lower, x, codes, &last);
  /* constants stay whole numbers of the file's type */
  const TsDtype type = lower_data (&program->lower, x, &n) != NULL ? dtype
                       : dtype == TS_UINT8                         ? TS_QUINT8
                                                                   : TS_QINT8;
  return last ? ts_new_last (program, tensor, type) : ts_new_plain (program, tensor, type);
}

static TsValue
quantize_tensor (TsProgram *program, const TsCall *call)
{
  SlQuant quant;
  LowerCodes codes;
  const TsValue *a = call->args;
  if (!read_range (program, a[3], a[4], a[5], &codes))
    return ts_none ();
  if (!is_constant (program, a[1]) || !is_constant (program, a[2]))
    return quantize_real (program, a[0], a[1], a[2], a + 3);
  return read_quant (program, a[1], a[2], codes.dtype, &quant)
           ? quantized (program, a[0], quant, &codes, (TsDtype) a[5].number)
           : ts_none ();
}

static TsValue
quantize_channels (TsProgram *program, const TsCall *call)
{
  SlQuant quant;
  LowerCodes codes;
  const TsValue *a = call->args;
  LowerValue *x = ts_read (program, a[0]);
  if (x == NULL || !read_range (program, a[4], a[5], a[6], &codes)
      || !read_quant (program, a[1], a[2], codes.dtype, &quant)
      || !check_axis (program, x, a[3], &quant))
    return ts_none ();
  return quantized (program, a[0], quant, &codes, (TsDtype) a[6].number);
}

/* The type of codes in the file: that of an operand that an operator here made is quint8 for
 * uint8. */
static SlDtype
stored_type (TsProgram *program, TsValue codes)
{
  if (codes.kind != TS_TENSOR)
    return SL_DTYPE_INVALID;
  const SlDtype dtype = ts_dtype_graph (codes.tensor->dtype);
  return dtype == SL_DTYPE_I8 || dtype == SL_DTYPE_U8 || dtype == SL_DTYPE_I32 ? dtype
                                                                               : SL_DTYPE_INVALID;
}

/* (nullable): the codes, and how they are read; @axis: (nullable). */
static TsValue
dequantized (TsProgram *program, const TsValue *codes, TsValue scale, TsValue zero,
             const TsValue *axis)
{
  SlQuant quant;
  gsize n = 0;
  LowerValue *x = ts_read (program, *codes);
  const SlDtype dtype = x != NULL ? stored_type (program, *codes) : SL_DTYPE_INVALID;
  if (x != NULL
      && (dtype == SL_DTYPE_INVALID || x->empty
          || (dtype == SL_DTYPE_I32 && lower_data (&program->lower, x, &n) == NULL)))
    ts_refuse (program, SL_ERROR_UNSUPPORTED,
               "its codes are %s; expected int8 or uint8, or a constant of int32",
               ts_dtype_name (codes->tensor->dtype));
  if (ts_failed (program) || !read_quant (program, scale, zero, dtype, &quant)
      || (axis != NULL && !check_axis (program, x, *axis, &quant)))
    return ts_none ();
  return ts_new (program, lower_dequantised (&program->lower, x, dtype, quant), TS_FLOAT32);
}

static TsValue
dequantize_tensor (TsProgram *program, const TsCall *call)
{
  const TsValue *a = call->args;
  if (!is_constant (program, a[1]) || !is_constant (program, a[2]))
    return dequantize_real (program, a[0], a[1], a[2]);
  return dequantized (program, a, a[1], a[2], NULL);
}

static TsValue
dequantize_channels (TsProgram *program, const TsCall *call)
{
  const TsValue *a = call->args;
  return dequantized (program, a, a[1], a[2], a + 3);
}

static TsValue
pair (TsProgram *program, TsValue a, TsValue b)
{
  const TsValue list = ts_list (program->heap);
  if (!ts_failed (program) && ts_list_append (program->heap, list.list, a))
    ts_list_append (program->heap, list.list, b);
  return list;
}

/* Largest or smallest values and 0: of the whole tensor, or of its rows. */
static TsValue
extreme (TsProgram *program, TsValue x, gboolean largest, gboolean rows)
{
  const TsValue args[3] = { x, ts_int (-1), ts_bool (TRUE) };
  const char *name = largest ? "aten::amax" : "aten::amin";
  const TsValue limit = rows ? ts_run_op (program, name, args, NULL, 3)
                             : run (program, largest ? "aten::max" : "aten::min", x, ts_none ());
  const TsValue bounds[3] = { limit, largest ? ts_int (0) : ts_none (),
                              largest ? ts_none () : ts_int (0) };
  return ts_run_op (program, "aten::clamp", bounds, NULL, 3);
}

static TsValue
at_least (TsProgram *program, TsValue x, gdouble least)
{
  const TsValue args[3] = { x, ts_float (least), ts_none () };
  return ts_run_op (program, "aten::clamp", args, NULL, 3);
}

/* The scale and zero point that the values of a tensor ask for. */
static TsValue
choose (TsProgram *program, const TsCall *call)
{
  const TsValue *a = call->args;
  const gint64 low = ts_to_int (program, a[1]), high = ts_to_int (program, a[2]);
  const gdouble eps = ts_to_float (program, a[3]);
  const gboolean symmetric = g_str_has_suffix (call->op->name, "_symmetric");
  TsValue min = extreme (program, a[0], FALSE, FALSE), max = extreme (program, a[0], TRUE, FALSE);
  if (ts_failed (program) || high <= low)
    return ts_refuse (program, SL_ERROR_FORMAT,
                      "codes from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, low, high);
  if (symmetric) {
    const gboolean is_unsigned = ts_to_int (program, a[4]) == TS_UINT8;
    max = run (program, "aten::maximum", run (program, "aten::neg", min, ts_none ()), max);
    const TsValue half = ts_float ((gdouble) (high - low) / 2);
    return pair (program, at_least (program, run (program, "aten::div", max, half), eps),
                 ts_int (is_unsigned ? (low + high + 1) / 2 : 0));
  }
  const TsValue scale = at_least (program,
                                  run (program, "aten::div", run (program, "aten::sub", max, min),
                                       ts_float ((gdouble) (high - low))),
                                  eps);
  const TsValue steps =
    run (program, "aten::round", run (program, "aten::div", min, scale), ts_none ());
  const TsValue bounds[3] = { run (program, "aten::rsub", steps, ts_int (low)), ts_int (low),
                              ts_int (high) };
  return pair (program, scale, ts_run_op (program, "aten::clamp", bounds, NULL, 3));
}

/* The same of each row, symmetric. */
static TsValue
choose_rows (TsProgram *program, const TsCall *call)
{
  const TsValue size = run (program, "aten::abs", call->args[0], ts_none ());
  const TsValue scale = run (
    program, "aten::div", at_least (program, extreme (program, size, TRUE, TRUE), LEAST_ROW_SCALE),
    ts_float (G_MAXINT8));
  return pair (program, scale, run (program, "aten::mul", scale, ts_float (0)));
}

/* And with a zero point: that of the end of the range whose error is smaller. */
static TsValue
choose_rows_affine (TsProgram *program, const TsCall *call)
{
  const TsValue x = call->args[0], min = extreme (program, x, FALSE, TRUE),
                max = extreme (program, x, TRUE, TRUE);
  const TsValue scale = at_least (
    program,
    run (program, "aten::div", run (program, "aten::sub", max, min), ts_float (G_MAXUINT8)),
    (gdouble) FLT_EPSILON);
  const TsValue low = run (program, "aten::div", min, scale),
                high = run (program, "aten::div", max, scale);
  const TsValue pick[3] = { run (program, "aten::gt", run (program, "aten::add", low, high),
                                 ts_float (1)),
                            run (program, "aten::rsub", low, ts_float (G_MININT8)),
                            run (program, "aten::rsub", high, ts_float (G_MAXINT8)) };
  const TsValue bounds[3] = { ts_run_op (program, "aten::where", pick, NULL, 3), ts_int (G_MININT8),
                              ts_int (G_MAXINT8) };
  return pair (
    program, scale,
    run (program, "aten::round", ts_run_op (program, "aten::clamp", bounds, NULL, 3), ts_none ()));
}

/* round (x / scale + zero): rows round what is moved already. */
static TsValue
quantize_rows (TsProgram *program, const TsCall *call)
{
  const TsValue *a = call->args;
  LowerCodes codes;
  if (!read_range (program, a[3], a[4], a[5], &codes))
    return ts_none ();
  const TsValue y =
    run (program, "aten::mul", a[0], run (program, "aten::reciprocal", a[1], ts_none ()));
  return rounded (program,
                  run (program, "aten::round",
                       run (program, "aten::add", y, converted (program, a[2], TS_FLOAT32)),
                       ts_none ()),
                  a + 3);
}

static TsValue
dequantize_rows (TsProgram *program, const TsCall *call)
{
  const TsValue *a = call->args;
  return dequantize_real (program, a[0], a[1], a[2]);
}

/* Codes of a constant with a scale for each block: rows of the blocks' size, then their own shape
 * again. */
static TsValue
dequantized_blocks (TsProgram *program, TsValue codes, TsValue scale, TsValue zero, gint64 size)
{
  gint64 dims[SL_MAX_RANK];
  LowerValue *x = ts_read (program, codes), *scales = ts_read (program, scale);
  if (x == NULL || scales == NULL)
    return ts_none ();
  const gint64 row = x->rank > 0 ? x->dims[x->rank - 1] : 0;
  const gint64 blocks = size > 0 && row % size == 0 ? (gint64) lower_elements (x) / size : -1;
  if (blocks != (gint64) lower_elements (scales))
    return ts_refuse (program, SL_ERROR_FORMAT,
                      "%" G_GSIZE_FORMAT " scales for blocks of %" G_GINT64_FORMAT
                      " in rows of %" G_GINT64_FORMAT "; expected one for each whole block",
                      lower_elements (scales), size, row);
  for (guint i = 0; i < x->rank; i++)
    dims[i] = x->dims[i];
  const TsValue columns = ts_int_list (program->heap, (const gint64[]){ -1, 1 }, 2),
                rows = ts_int_list (program->heap, (const gint64[]){ -1, size }, 2);
  if (zero.kind != TS_NONE)
    zero = run (program, "aten::reshape", zero, columns);
  const TsValue real = dequantize_real (program, run (program, "aten::reshape", codes, rows),
                                        run (program, "aten::reshape", scale, columns), zero);
  return run (program, "aten::reshape", real, ts_int_list (program->heap, dims, x->rank));
}

static TsValue
dequantize_groups (TsProgram *program, const TsCall *call)
{
  const TsValue *a = call->args;
  return dequantized_blocks (program, a[0], a[1], a[2], ts_to_int (program, a[6]));
}

/* Of torchao: blocks of which each dimension is 1 or the tensor's, or a part of the last one. */
static TsValue
dequantize_affine (TsProgram *program, const TsCall *call)
{
  gint64 block[SL_MAX_RANK];
  guint n = 0, whole = 0, axis = 0;
  const TsValue *a = call->args;
  LowerValue *x = ts_read (program, a[0]);
  if (x == NULL || !ts_to_ints (program, a[1], block, SL_MAX_RANK, &n))
    return ts_none ();
  if (!is_constant (program, a[0]) || !is_constant (program, a[2]) || n != x->rank || n == 0)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                      "only constant weights with constant scales are supported; quantise with "
                      "weights alone (Int8WeightOnlyConfig), or with PT2E");
  if (a[7].kind == TS_STRING && strcmp (a[7].text, "INT") != 0)
    return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                      "zero points of the kind %s; expected whole numbers (INT)", a[7].text);
  for (guint i = 0; i < n; i++) {
    whole += block[i] == x->dims[i];
    axis = block[i] == x->dims[i] ? axis : i;
  }
  if (whole == n)
    return dequantized (program, a, a[2], a[3], NULL);
  const TsValue dimension = ts_int (axis);
  if (whole == n - 1 && block[axis] == 1)
    return dequantized (
      program, a, run (program, "aten::flatten", a[2], ts_none ()),
      a[3].kind == TS_NONE ? a[3] : run (program, "aten::flatten", a[3], ts_none ()), &dimension);
  for (guint i = 0; i + 1 < n; i++)
    if (block[i] != 1)
      return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                        "blocks of %" G_GINT64_FORMAT " along dimension %u; expected 1", block[i],
                        i);
  return dequantized_blocks (program, a[0], a[2], a[3], block[n - 1]);
}

/* A linear layer of int8 weights with a scale for each row. */
static TsValue
int8_product (TsProgram *program, const TsCall *call)
{
  const TsValue *a = call->args, axis = ts_int (0);
  const TsValue args[2] = { a[0], dequantized (program, a + 1, a[2], ts_none (), &axis) };
  return ts_run_op (program, "aten::linear", args, NULL, 2);
}

static TsValue
refuse_packed (TsProgram *program, const TsCall *call)
{
  return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                    "weights packed for one kernel are not supported; export the model before its "
                    "weights are packed, or quantise it with 8 bits");
}

static TsValue
refuse_affine (TsProgram *program, const TsCall *call)
{
  return ts_refuse (program, SL_ERROR_UNSUPPORTED,
                    "activations are quantised by PT2E here; quantise weights alone "
                    "(Int8WeightOnlyConfig), or with PT2E");
}

#define REFUSED(name, run)    \
  {                           \
    name, "...", run, NULL, 0 \
  }
#define RANGE "quant_min,quant_max,dtype"
#define AFFINE                                                                                     \
  "input,block_size,scale,zero_point,input_dtype,quant_min=None,quant_max=None,zero_point_domain=" \
  "None,output_dtype=None"

const TsOp ts_ops_decomposed[] = {
  { "quantized_decomposed::quantize_per_tensor", "input,scale,zero_point," RANGE, quantize_tensor },
  { "quantized_decomposed::dequantize_per_tensor",
    "input,scale,zero_point," RANGE ",out_dtype=None", dequantize_tensor },
  { "quantized_decomposed::quantize_per_channel", "input,scales,zero_points,axis," RANGE,
    quantize_channels },
  { "quantized_decomposed::dequantize_per_channel",
    "input,scales,zero_points,axis," RANGE ",out_dtype=None", dequantize_channels },
  { "quantized_decomposed::choose_qparams", "input,quant_min,quant_max,eps,dtype", choose },
  { "quantized_decomposed::choose_qparams_symmetric", "input,quant_min,quant_max,eps,dtype",
    choose },
  { "quantized_decomposed::choose_qparams_per_token", "input,dtype", choose_rows },
  { "quantized_decomposed::choose_qparams_per_token_asymmetric", "input,dtype",
    choose_rows_affine },
  { "quantized_decomposed::_choose_qparams_per_token_asymmetric_impl", "input,dtype",
    choose_rows_affine },
  { "quantized_decomposed::quantize_per_token", "input,scales,zero_points," RANGE, quantize_rows },
  { "quantized_decomposed::dequantize_per_token",
    "input,scales,zero_points," RANGE ",output_dtype=None", dequantize_rows },
  { "quantized_decomposed::dequantize_per_channel_group",
    "input,scales,zero_points," RANGE ",group_size=128,output_dtype=None", dequantize_groups },
  { "torchao::dequantize_affine", AFFINE, dequantize_affine },
  REFUSED ("torchao::quantize_affine", refuse_affine),
  REFUSED ("torchao::choose_qparams_affine", refuse_affine),
  { "pt2e_quant::dequantize_affine", AFFINE, dequantize_affine },
  REFUSED ("pt2e_quant::quantize_affine", refuse_affine),
  REFUSED ("pt2e_quant::choose_qparams_affine", refuse_affine),
  { "aten::_weight_int8pack_mm", "self,mat2,scales", int8_product },
  REFUSED ("aten::_weight_int4pack_mm", refuse_packed),
  REFUSED ("aten::_weight_int4pack_mm_for_cpu", refuse_packed),
  { NULL },
};
