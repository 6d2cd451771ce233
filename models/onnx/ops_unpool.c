/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What pools and unfolded windows came from: elements are written into a picture of zeros.
 * Everything is in ONNX's order of dimensions. */
#include "models/onnx/ops.h"

/* Dimensions behind batch and channels. */
#define MAX_SPATIAL (SL_MAX_RANK - 2)
/* Places that the columns of windows have. */
#define MAX_PLACES (1 << 22)

/** A list of numbers for each spatial dimension, or of paddings before and behind each. */
typedef struct
{
  guint n;
  gint32 kernel[MAX_SPATIAL], stride[MAX_SPATIAL], dilation[MAX_SPATIAL], begin[MAX_SPATIAL],
    end[MAX_SPATIAL];
} Spatial;

/* @fallback: what @values has where the attribute is missing. */
static void
read_list (Lower *o, const char *name, gint32 fallback, gint32 *values, guint n)
{
  guint stated = 0;
  for (guint i = 0; i < n; i++)
    values[i] = fallback;
  if (!lower_attr_ints (o, name, values, n, &stated))
    return;
  if (stated != n)
    lower_fail (o, SL_ERROR_FORMAT, "attribute %s has %u numbers; expected %u", name, stated, n);
  for (guint i = 0; i < n && o->error == NULL; i++)
    if (values[i] < 0 || values[i] > G_MAXINT16)
      lower_fail (o, SL_ERROR_FORMAT, "attribute %s has %d; expected 0..%d", name, values[i],
                  G_MAXINT16);
}

static gboolean
read_spatial (Lower *o, Spatial *s)
{
  gint32 pads[2 * MAX_SPATIAL];
  read_list (o, "strides", 1, s->stride, s->n);
  read_list (o, "dilations", 1, s->dilation, s->n);
  read_list (o, "pads", 0, pads, 2 * s->n);
  for (guint i = 0; i < s->n; i++) {
    s->begin[i] = pads[i];
    s->end[i] = pads[i + s->n];
    if (o->error == NULL && (s->kernel[i] < 1 || s->stride[i] < 1 || s->dilation[i] < 1))
      lower_fail (o, SL_ERROR_FORMAT,
                  "a window's size, stride and dilation are %d, %d and %d; expected 1 or more",
                  s->kernel[i], s->stride[i], s->dilation[i]);
  }
  return o->error == NULL;
}

static gint32
zeros (Lower *o, const gint32 *dims, guint rank)
{
  return lower_emit (o, SL_OP_FILL,
                     (const gint32[]){ lower_ints_constant (o, dims, rank), lower_float (o, 0) }, 2,
                     NULL, SL_DTYPE_F32);
}

/* What MaxPool took, at the places that its Indices name. */
static void
onnx_max_unpool (Lower *o)
{
  LowerValue *x = lower_required (o, 0), *indices = lower_required (o, 1);
  Spatial s = { 0 };
  gint32 dims[SL_MAX_RANK], stated[SL_MAX_RANK];
  guint n_stated = 0;
  gint64 all = 1;
  if (o->error != NULL)
    return;
  if (x->rank < 3 || indices->rank != x->rank || lower_elements (indices) != lower_elements (x)) {
    lower_fail (
      o, SL_ERROR_SHAPE,
      "its input has %u dimensions, its indices %u; expected at least 3, and equal shapes", x->rank,
      indices->rank);
    return;
  }
  s.n = x->rank - 2;
  read_list (o, "kernel_shape", 0, s.kernel, s.n);
  lower_input_ints (o, 2, "output_shape", stated, SL_MAX_RANK, &n_stated);
  if (!read_spatial (o, &s))
    return;
  for (guint i = 0; i < x->rank; i++) {
    const gint64 size = i < 2 ? x->dims[i]
                              : (x->dims[i] - 1) * (gint64) s.stride[i - 2] + s.kernel[i - 2]
                                  - s.begin[i - 2] - s.end[i - 2];
    dims[i] = (gint32) CLAMP (size, 0, G_MAXINT32);
    all = MIN (all * dims[i], G_MAXINT32);
    if (size < 1 || size > G_MAXINT32
        || (n_stated > 0 && (n_stated != x->rank || stated[i] != dims[i]))) {
      lower_fail (o, SL_ERROR_UNSUPPORTED,
                  "dimension %u of its result would be %" G_GINT64_FORMAT
                  "; expected 1 or more, and as its output_shape says",
                  i, size);
      return;
    }
  }
  const gint32 whole[1] = { (gint32) all },
               flat[1] = { (gint32) MIN (lower_elements (x), (gsize) G_MAXINT32) };
  const gint32 inputs[3] = { zeros (o, whole, 1),
                             lower_reshape (o, lower_plain (o, indices), flat, 1),
                             lower_reshape (o, lower_plain (o, x), flat, 1) };
  lower_set (o, 0,
             lower_reshape (
               o,
               lower_emit (o, SL_OP_SCATTER_ELEMENTS, inputs, 3, &(SlOpParams){ 0 }, SL_DTYPE_F32),
               dims, x->rank),
             FALSE);
}

/* The pixel of the padded picture of place @k of window @l. */
static gint32
pixel_of (const Spatial *s, const gint32 *windows, const gint32 *padded, gint64 k, gint64 l)
{
  gint32 at = 0, step = 1;
  for (guint i = s->n; i-- > 0;) {
    at += ((gint32) (l % windows[i]) * s->stride[i] + (gint32) (k % s->kernel[i]) * s->dilation[i])
          * step;
    step *= padded[i];
    k /= s->kernel[i];
    l /= windows[i];
  }
  return at;
}

/* @taps places of @count windows each, and of each the sum of what the columns have for it:
 * [pixels, planes]. */
static gint32
add_columns (Lower *o, const Spatial *s, const gint32 *windows, const gint32 *padded, gint64 taps,
             gint64 count, gint32 columns)
{
  const gint32 n = (gint32) (taps * count), planes = lower_t (o, columns)->dims[1],
               place_dims[2] = { n, 1 };
  gint32 dims[2] = { 1, planes };
  g_autofree gint32 *places = g_new (gint32, (gsize) n);
  for (guint i = 0; i < s->n; i++)
    dims[0] *= padded[i];
  for (gint32 i = 0; i < n; i++)
    places[i] = pixel_of (s, windows, padded, i / count, i % count);
  const SlOpParams params = { .elements = { .scatter = SL_SCATTER_ADD } };
  const gint32 inputs[3] = { zeros (o, dims, 2),
                             lower_constant (o, SL_DTYPE_I32, 2, place_dims, places), columns };
  return lower_emit (o, SL_OP_SCATTER_ND, inputs, 3, &params, SL_DTYPE_F32);
}

/* The windows that each dimension has; FALSE where they do not fit the columns. */
static gboolean
count_windows (const Spatial *s, const LowerValue *x, const gint32 *image, gint32 *windows,
               gint32 *padded, gint64 *taps, gint64 *count)
{
  gint64 pixels = 1;
  *taps = *count = 1;
  for (guint i = 0; i < s->n; i++) {
    const gint64 size = (gint64) image[i] + s->begin[i] + s->end[i],
                 room = size - (s->kernel[i] - 1) * (gint64) s->dilation[i] - 1;
    if (image[i] < 1 || room < 0 || size > MAX_PLACES)
      return FALSE;
    padded[i] = (gint32) size;
    windows[i] = (gint32) (room / s->stride[i]) + 1;
    *taps *= s->kernel[i];
    *count *= windows[i];
    pixels *= size;
    if (*taps > MAX_PLACES || *count > MAX_PLACES || pixels > MAX_PLACES)
      return FALSE;
  }
  return *taps * *count <= MAX_PLACES && x->rank == 3 && x->dims[2] == *count
         && x->dims[1] % *taps == 0;
}

/* [batch, channels * places, windows] back to pictures: what overlaps is added up. */
static void
onnx_col_to_image (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  Spatial s = { 0 };
  gint32 image[MAX_SPATIAL], windows[MAX_SPATIAL], padded[MAX_SPATIAL], dims[SL_MAX_RANK];
  gint64 taps = 0, count = 0;
  guint n_block = 0;
  lower_input_ints (o, 1, "image_shape", image, MAX_SPATIAL, &s.n);
  lower_input_ints (o, 2, "block_shape", s.kernel, MAX_SPATIAL, &n_block);
  const gint32 columns = lower_plain (o, x);
  if (o->error != NULL || !read_spatial (o, &s))
    return;
  if (s.n < 1 || n_block != s.n || !count_windows (&s, x, image, windows, padded, &taps, &count)) {
    g_autofree char *text = sl_tensor_describe (lower_t (o, columns));
    if (taps > MAX_PLACES || count > MAX_PLACES || taps * count > MAX_PLACES) {
      lower_fail (o, SL_ERROR_LIMIT,
                  "columns %s are of more than %d places, which is not supported", text,
                  MAX_PLACES);
      return;
    }
    lower_fail (o, SL_ERROR_SHAPE,
                "columns %s do not fit an image of %u dimensions and a block of %u", text, s.n,
                n_block);
    return;
  }
  const gint32 planes = x->dims[0] * (x->dims[1] / (gint32) taps), swapped[2] = { 1, 0 };
  const gint32 flat =
    lower_reshape (o, columns, (const gint32[]){ planes, (gint32) (taps * count) }, 2);
  const gint32 sums = lower_transpose (
    o, add_columns (o, &s, windows, padded, taps, count, lower_transpose (o, flat, swapped)),
    swapped);
  dims[0] = x->dims[0];
  dims[1] = x->dims[1] / (gint32) taps;
  for (guint i = 0; i < s.n; i++)
    dims[2 + i] = padded[i];
  gint32 y = lower_reshape (o, sums, dims, s.n + 2);
  for (guint i = 0; i < s.n; i++)
    y = lower_cut (o, y, 2 + i, s.begin[i], s.begin[i] + image[i]);
  lower_set (o, 0, y, FALSE);
}

const LowerOp onnx_ops_unpool[] = {
  { LOWER_ROW (Col2Im, onnx_col_to_image), 0 },
  { LOWER_ROW (MaxUnpool, onnx_max_unpool), 0 },
  { NULL },
};
