/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Spectra. A Fourier transform is a product with a constant matrix of cosines and sines, computed
 * in double precision; windows and banks of filters, whose parameters are constants, are constants
 * themselves.
 */
#include <math.h>
#include <string.h>

#include "models/onnx/ops.h"

/* Samples of a transform: its matrix has the square of that. */
#define MAX_SAMPLES 4096
#define MAX_WINDOW (1 << 20)
/* Elements of a bank of filters. */
#define MAX_BANK (1 << 22)

/** @samples: that are read; @bins: that are made; @length: of the transform; @complex: inputs have
 * an imaginary part */
typedef struct
{
  gint32 samples, bins, length;
  gboolean complex, inverse;
} Transform;

/* [bins * 2, samples * (1 or 2)]: weights of rows of samples, real and imaginary parts beside each
 * other. @window: (nullable): what samples are multiplied by. */
static gint32
transform_matrix (Lower *o, const Transform *t, const gfloat *window)
{
  const gint32 parts = t->complex ? 2 : 1, dims[2] = { 2 * t->bins, parts * t->samples };
  const gsize n = (gsize) dims[0] * (gsize) dims[1];
  if (!lower_may_make (o, n * sizeof (gfloat)))
    return -1;
  g_autofree gfloat *m = g_new (gfloat, n);
  for (gint32 k = 0; k < t->bins; k++)
    for (gint32 i = 0; i < t->samples; i++) {
      const gdouble turn =
        2 * G_PI * (gdouble) ((gint64) k * i % t->length) / t->length * (t->inverse ? 1 : -1);
      const gdouble weight =
        (window != NULL ? (gdouble) window[i] : 1) / (t->inverse ? t->length : 1);
      gfloat *real = m + (gsize) (2 * k) * (gsize) dims[1] + (gsize) (i * parts),
             *imaginary = real + dims[1];
      real[0] = (gfloat) (weight * cos (turn));
      imaginary[0] = (gfloat) (weight * sin (turn));
      if (t->complex) {
        real[1] = (gfloat) (-weight * sin (turn));
        imaginary[1] = (gfloat) (weight * cos (turn));
      }
    }
  return lower_constant (o, SL_DTYPE_F32, 2, dims, m);
}

static gboolean
check_length (Lower *o, gint64 length)
{
  if (length >= 1 && length <= MAX_SAMPLES)
    return TRUE;
  return lower_refuse (o, SL_ERROR_LIMIT,
                       "a transform of %" G_GINT64_FORMAT
                       " samples is not supported; expected 1 to %d",
                       length, MAX_SAMPLES);
}

/* The last dimension but one is transformed: [...,samples,1 or 2] to [...,bins,2]. */
static gint32
transformed (Lower *o, gint32 x, const Transform *t, const gfloat *window)
{
  const SlTensor in = *lower_t (o, x);
  gint32 dims[SL_MAX_RANK];
  if (o->error != NULL)
    return -1;
  memcpy (dims, in.dims, sizeof dims);
  dims[in.rank - 2] *= dims[in.rank - 1];
  const gint32 rows = lower_reshape (o, x, dims, in.rank - 1);
  const gint32 y = lower_layer (o, rows, transform_matrix (o, t, window), -1);
  memcpy (dims, in.dims, sizeof dims);
  dims[in.rank - 2] = t->bins;
  dims[in.rank - 1] = 2;
  return lower_reshape (o, y, dims, in.rank);
}

/* As many samples along dimension @axis as @length: cut, or zeros behind. */
static gint32
fit_samples (Lower *o, gint32 x, guint axis, gint32 length)
{
  const SlTensor t = *lower_t (o, x);
  gint32 amounts[2 * SL_MAX_RANK] = { 0 };
  if (o->error != NULL || t.dims[axis] >= length)
    return lower_cut (o, x, axis, 0, length);
  amounts[2 * axis + 1] = length - t.dims[axis];
  return lower_pad (o, x, amounts, 0);
}

/* The axis is an attribute before opset 20 and counts from 1 there unless stated; an input since.
 */
static void
onnx_dft (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  const gboolean stated = o->opset < 20, onesided = lower_attr_int (o, "onesided", 0) != 0;
  gint32 length = 0, along = -2, order[SL_MAX_RANK];
  guint n = 0;
  lower_input_ints (o, 1, "length", &length, 1, &n);
  const gboolean given = n > 0;
  if (!stated)
    lower_input_ints (o, 2, "axis", &along, 1, &n);
  if (o->error != NULL)
    return;
  const guint axis = lower_norm_axis (o, stated ? lower_attr_int (o, "axis", 1) : along, x->rank);
  if (o->error == NULL && (x->rank < 2 || axis + 1 == x->rank || x->dims[x->rank - 1] > 2))
    lower_fail (
      o, SL_ERROR_SHAPE,
      "its input has %u dimensions, the last of %d, and axis %u; expected [...,samples,...,1 or 2]",
      x->rank, x->rank > 0 ? x->dims[x->rank - 1] : 0, axis);
  if (o->error != NULL || !check_length (o, given ? length : x->dims[axis]))
    return;
  length = given ? length : x->dims[axis];
  const Transform t = { .samples = length,
                        .bins = onesided ? length / 2 + 1 : length,
                        .length = length,
                        .complex = x->dims[x->rank - 1] == 2,
                        .inverse = lower_attr_int (o, "inverse", 0) != 0 };
  if (lower_fail_if (o, onesided && (t.complex || t.inverse), SL_ERROR_UNSUPPORTED,
                     "attribute onesided is 1 for %s; expected 0",
                     t.inverse ? "an inverse transform" : "an input with imaginary parts"))
    return;
  for (guint i = 0; i < x->rank; i++)
    order[i] = (gint32) i;
  order[axis] = (gint32) x->rank - 2;
  order[x->rank - 2] = (gint32) axis;
  const gint32 samples =
    lower_transpose (o, fit_samples (o, lower_plain (o, x), axis, length), order);
  lower_set (o, 0, lower_transpose (o, transformed (o, samples, &t, NULL), order), FALSE);
}

/* Where the samples of each frame lie: [frames,length]. */
static gint32
frame_places (Lower *o, gint32 frames, gint32 length, gint32 step)
{
  const gint32 dims[2] = { frames, length };
  const gsize n = (gsize) frames * (gsize) length;
  if (!lower_may_make (o, n * sizeof (gint32)))
    return -1;
  g_autofree gint32 *places = g_new (gint32, n);
  for (gsize i = 0; i < n; i++)
    places[i] = (gint32) (i / (gsize) length) * step + (gint32) (i % (gsize) length);
  return lower_constant (o, SL_DTYPE_I32, 2, dims, places);
}

/* [batch,samples,1 or 2], a step, a window, a length: [batch,frames,bins,2]. */
static void
onnx_stft (Lower *o)
{
  LowerValue *x = lower_required (o, 0), *window = lower_input (o, 2);
  gint32 step = 0, length = 0;
  gsize size = 0;
  guint n = 0;
  lower_required (o, 1);
  lower_input_ints (o, 1, "step", &step, 1, &n);
  const gfloat *weights = window != NULL ? lower_data (o, window, &size) : NULL;
  lower_input_ints (o, 3, "length of a frame", &length, 1, &n);
  if (o->error == NULL && window != NULL
      && (weights == NULL || lower_dtype (o, window) != SL_DTYPE_F32))
    lower_fail (
      o, SL_ERROR_UNSUPPORTED,
      "the window, input 2, is computed from the picture or no float; expected a constant");
  if (o->error != NULL)
    return;
  length = length > 0 || n > 0 ? length : (gint32) MIN (size, G_MAXINT32);
  if (!check_length (o, length))
    return;
  if (x->rank != 3 || x->dims[2] > 2 || step < 1 || x->dims[1] < length
      || (window != NULL && size != (gsize) length)) {
    lower_fail (o, SL_ERROR_SHAPE,
                "its input has %u dimensions and %d samples, frames of %d every %d, a window of "
                "%" G_GSIZE_FORMAT "; expected [batch,samples,1 or 2], and a frame that fits",
                x->rank, x->rank > 1 ? x->dims[1] : 0, length, step, size);
    return;
  }
  const gboolean complex = x->dims[2] == 2,
                 onesided = lower_attr_int (o, "onesided", 1) != 0 && !complex;
  const Transform t = { .samples = length,
                        .bins = onesided ? length / 2 + 1 : length,
                        .length = length,
                        .complex = complex };
  const gint32 frames = (x->dims[1] - length) / step + 1;
  const SlOpParams params = { .axis = { .axis = 1 } };
  const gint32 cut = lower_emit (
    o, SL_OP_GATHER, (const gint32[]){ lower_plain (o, x), frame_places (o, frames, length, step) },
    2, &params, SL_DTYPE_F32);
  lower_set (o, 0, o->error == NULL ? transformed (o, cut, &t, weights) : -1, FALSE);
}

/* HannWindow, HammingWindow and BlackmanWindow: sums of cosines. */
static void
onnx_window (Lower *o)
{
  static const struct
  {
    const char *op;
    gdouble terms[3];
  } windows[] = { { "HannWindow", { 0.5, 0.5, 0 } },
                  { "HammingWindow", { 25.0 / 46, 21.0 / 46, 0 } },
                  { "BlackmanWindow", { 0.42, 0.5, 0.08 } } };
  gint32 size = 0;
  guint n = 0, which = 0;
  lower_required (o, 0);
  lower_input_ints (o, 0, "size", &size, 1, &n);
  if (o->error == NULL && (size < 1 || size > MAX_WINDOW))
    lower_fail (o, SL_ERROR_LIMIT, "a window of %d samples is not supported; expected 1 to %d",
                size, MAX_WINDOW);
  if (o->error == NULL && lower_attr_int (o, "output_datatype", ONNX_FLOAT) != ONNX_FLOAT)
    lower_fail (o, SL_ERROR_UNSUPPORTED,
                "attribute output_datatype is %" G_GINT64_FORMAT "; expected %d, float32",
                lower_attr_int (o, "output_datatype", ONNX_FLOAT), ONNX_FLOAT);
  if (o->error != NULL)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (windows); i++)
    which = strcmp (windows[i].op, o->node->op) == 0 ? i : which;
  const gdouble *terms = windows[which].terms,
                turn = 2 * G_PI / MAX (lower_attr_int (o, "periodic", 1) != 0 ? size : size - 1, 1);
  g_autofree gfloat *values = g_new (gfloat, (gsize) size);
  for (gint32 i = 0; i < size; i++)
    values[i] = (gfloat) (terms[0] - terms[1] * cos (turn * i) + terms[2] * cos (2 * turn * i));
  lower_set (o, 0, lower_constant (o, SL_DTYPE_F32, 1, &size, values), FALSE);
}

/* The spectrum's bin in which the edge @i of @bands + 2 bands lies, which are equally wide as
 * people hear. */
static gint64
band_edge (gdouble low, gdouble high, gint32 i, gint32 bands, gint32 length, gint32 rate)
{
  const gdouble low_mel = 2595 * log10 (1 + low / 700), high_mel = 2595 * log10 (1 + high / 700);
  const gdouble hertz =
    700 * (pow (10, ((high_mel - low_mel) / (bands + 2) * i + low_mel) / 2595) - 1);
  return (gint64) CLAMP (floor ((length + 1) * hertz / rate), -1, G_MAXINT32);
}

/* Triangles between the edges of bands, [bins,bands]. */
static void
fill_bank (gfloat *bank, gint32 bins, gint32 bands, gdouble low, gdouble high, gint32 length,
           gint32 rate)
{
  for (gint32 band = 0; band < bands; band++) {
    const gint64 from = band_edge (low, high, band, bands, length, rate),
                 middle = band_edge (low, high, band + 1, bands, length, rate),
                 end = band_edge (low, high, band + 2, bands, length, rate);
    if (middle == from && middle >= 0 && middle < bins)
      bank[middle * bands + band] = 1;
    for (gint64 i = MAX (from, 0); i <= MIN (middle, bins - 1) && middle > from; i++)
      bank[i * bands + band] = (gfloat) (i - from) / (gfloat) (middle - from);
    for (gint64 i = MAX (middle, 0); i < MIN (end, bins) && end > middle; i++)
      bank[i * bands + band] = (gfloat) (end - i) / (gfloat) (end - middle);
  }
}

/* Bands, length of the transform, samples a second, lowest and highest frequency. */
static void
onnx_mel_weights (Lower *o)
{
  gint32 numbers[3] = { 0 };
  gfloat ends[2] = { 0 };
  guint n = 0;
  for (guint i = 0; i < 5; i++) {
    lower_required (o, i);
    if (i < 3)
      lower_input_ints (o, i, "number", &numbers[i], 1, &n);
    else
      lower_input_floats (o, i, "frequency", &ends[i - 3], 1, &n);
  }
  const gint32 bins = numbers[1] / 2 + 1, bands = numbers[0];
  if (o->error != NULL)
    return;
  if (bands < 1 || numbers[1] < 1 || numbers[2] < 1
      || !(ends[0] >= 0 && ends[1] > ends[0] && ends[1] <= 1e9f)
      || (gint64) bins * bands > MAX_BANK) {
    lower_fail (
      o, SL_ERROR_FORMAT,
      "%d bands of %d samples at %d a second from %g to %g Hz are not supported; at most %d "
      "weights",
      bands, numbers[1], numbers[2], (gdouble) ends[0], (gdouble) ends[1], MAX_BANK);
    return;
  }
  g_autofree gfloat *bank = g_new0 (gfloat, (gsize) bins * (gsize) bands);
  fill_bank (bank, bins, bands, (gdouble) ends[0], (gdouble) ends[1], numbers[1], numbers[2]);
  lower_set (o, 0, lower_constant (o, SL_DTYPE_F32, 2, (const gint32[]){ bins, bands }, bank),
             FALSE);
}

const LowerOp onnx_ops_signal[] = {
  { LOWER_ROW (BlackmanWindow, onnx_window), 0 },
  { LOWER_ROW (DFT, onnx_dft), 0 },
  { LOWER_ROW (HammingWindow, onnx_window), 0 },
  { LOWER_ROW (HannWindow, onnx_window), 0 },
  { LOWER_ROW (MelWeightMatrix, onnx_mel_weights), 0 },
  { LOWER_ROW (STFT, onnx_stft), 0 },
  { NULL },
};
