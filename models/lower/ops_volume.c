/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolutions and pools of volumes, [batch,channels,depth,height,width]. The core's windows have
 * two dimensions: planes are pictures of a larger batch. A convolution is a sum over the planes of
 * its kernel; a pool is one within planes, then one across them.
 */
#include <string.h>

#include "models/lower/ops.h"

#define MAX_ATTRIBUTES 16
/* Planes of a kernel: each is a convolution. */
#define MAX_PLANES 64

/** A node's attributes, of the planes alone and across them. */
typedef struct
{
  LowerAttribute planes[MAX_ATTRIBUTES], across[MAX_ATTRIBUTES];
  gint64 ints[2][MAX_ATTRIBUTES][4];
  guint n;
  gint32 kernel, stride, dilation, begin, end;
  gboolean whole_planes; /* the planes' window is one pixel */
} Split;

static gint32
bounded (Lower *o, const char *name, gint64 value, gint32 least)
{
  if (value < least || value > G_MAXINT16)
    lower_fail (o, SL_ERROR_FORMAT, "attribute %s has %" G_GINT64_FORMAT "; expected %d to %d",
                name, value, least, G_MAXINT16);
  return (gint32) CLAMP (value, least, G_MAXINT16);
}

/* Attribute @i, a list for three dimensions, or of paddings for six, as one for two dimensions and
 * one for the depth. */
static void
split_list (Lower *o, Split *s, guint i)
{
  LowerAttribute *planes = &s->planes[i], *across = &s->across[i];
  const gboolean pads = strcmp (planes->name, "pads") == 0;
  const gint64 *from = planes->ints, other = pads ? 0 : 1;
  if (lower_fail_if (o, planes->n_ints != (pads ? 6 : 3), SL_ERROR_FORMAT,
                     "attribute %s has %u numbers; expected %u", planes->name, planes->n_ints,
                     pads ? 6 : 3))
    return;
  memcpy (s->ints[0][i],
          pads ? (gint64[]){ from[1], from[2], from[4], from[5] }
               : (gint64[]){ from[1], from[2], 0, 0 },
          sizeof s->ints[0][i]);
  memcpy (s->ints[1][i],
          pads ? (gint64[]){ from[0], 0, from[3], 0 } : (gint64[]){ from[0], other, 0, 0 },
          sizeof s->ints[1][i]);
  for (guint k = 0; k < planes->n_ints; k++)
    s->whole_planes &= k % 3 == 0 || strcmp (planes->name, "dilations") == 0 || from[k] == other;
  if (strcmp (planes->name, "kernel_shape") == 0)
    s->kernel = bounded (o, planes->name, from[0], 1);
  else if (strcmp (planes->name, "strides") == 0)
    s->stride = bounded (o, planes->name, from[0], 1);
  else if (strcmp (planes->name, "dilations") == 0)
    s->dilation = bounded (o, planes->name, from[0], 1);
  else if (pads) {
    s->begin = bounded (o, planes->name, from[0], 0);
    s->end = bounded (o, planes->name, from[3], 0);
  }
  planes->ints = s->ints[0][i];
  across->ints = s->ints[1][i];
  planes->n_ints = across->n_ints = pads ? 4 : 2;
}

static gboolean
split_attributes (Lower *o, Split *s)
{
  *s = (Split){
    .kernel = 1, .stride = 1, .dilation = 1, .whole_planes = TRUE, .n = o->node->n_attributes
  };
  if (s->n > MAX_ATTRIBUTES)
    lower_fail (o, SL_ERROR_FORMAT, "it has %u attributes; expected at most %d", s->n,
                MAX_ATTRIBUTES);
  for (guint i = 0; i < s->n && o->error == NULL; i++) {
    s->planes[i] = s->across[i] = o->node->attributes[i];
    if (s->planes[i].n_ints > 0)
      split_list (o, s, i);
  }
  return o->error == NULL;
}

/* The depth's paddings where the node says how they follow from the size. */
static void
pad_depth (Lower *o, Split *s, gint32 depth)
{
  static const char *const words[] = { "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", NULL };
  const guint word = lower_attr_choice (o, "auto_pad", words);
  if (word == 0)
    return;
  const gint64 out = ((gint64) depth + s->stride - 1) / s->stride;
  const gint64 total =
    word == 3 ? 0
              : MAX ((out - 1) * s->stride + (gint64) (s->kernel - 1) * s->dilation + 1 - depth, 0);
  s->begin = (gint32) (word == 2 ? total - total / 2 : total / 2);
  s->end = (gint32) total - s->begin;
}

/* Planes @at, @at + stride, ... of [batch,depth,height,width,channels], as pictures. */
static LowerValue *
some_planes (Lower *o, gint32 x, const Split *s, gint32 at, gint32 n)
{
  const SlTensor t = *lower_t (o, x);
  if (o->error != NULL)
    return NULL;
  const gint32 begins[5] = { 0, at, 0, 0, 0 }, ends[5] = { t.dims[0], at + (n - 1) * s->stride + 1,
                                                           t.dims[2], t.dims[3], t.dims[4] };
  const gint32 steps[5] = { 1, s->stride, 1, 1, 1 },
               flat[4] = { lower_times (t.dims[0], n), t.dims[2], t.dims[3], t.dims[4] };
  const gint32 inputs[4] = { x, lower_ints_constant (o, begins, 5),
                             lower_ints_constant (o, ends, 5), lower_ints_constant (o, steps, 5) };
  const gint32 planes = lower_emit (o, SL_OP_STRIDED_SLICE, inputs, 4, &(SlOpParams){ 0 }, t.dtype);
  return lower_value_new (o, lower_reshape (o, planes, flat, 4), TRUE);
}

/* Pictures as planes again; the node's output. */
static void
set_volume (Lower *o, LowerValue *pictures, gint32 batch, gint32 depth)
{
  const gint32 y = lower_last (o, pictures);
  const SlTensor t = *lower_t (o, y);
  if (o->error == NULL)
    lower_set (
      o, 0,
      lower_reshape (o, y, (const gint32[]){ batch, depth, t.dims[1], t.dims[2], t.dims[3] }, 5),
      TRUE);
}

void
lower_conv_volume (Lower *o, LowerValue *x, LowerValue *weights, LowerValue *bias)
{
  Split s;
  LowerValue *sum = NULL;
  if (!split_attributes (o, &s))
    return;
  if (weights->rank != 5
      || (lower_attribute (o, "kernel_shape") != NULL && s.kernel != weights->dims[2])) {
    lower_fail (
      o, SL_ERROR_SHAPE,
      "its weights have %u dimensions, %d planes of a kernel of %d; expected 5, and as many",
      weights->rank, weights->rank > 2 ? weights->dims[2] : 0, s.kernel);
    return;
  }
  s.kernel = weights->dims[2];
  pad_depth (o, &s, x->dims[2]);
  const gint64 room =
    (gint64) x->dims[2] + s.begin + s.end - ((gint64) (s.kernel - 1) * s.dilation + 1);
  if (o->error == NULL && (room < 0 || s.kernel > MAX_PLANES))
    lower_fail (o, SL_ERROR_SHAPE, "a kernel of %d planes over %d; expected at most %d that fit",
                s.kernel, x->dims[2], MAX_PLANES);
  const gint32 input =
    lower_pad (o, lower_last (o, x), (const gint32[]){ 0, 0, s.begin, s.end, 0, 0, 0, 0, 0, 0 }, 0);
  const gint32 n = (gint32) (room / s.stride) + 1, w = lower_plain (o, weights);
  const gint32 flat[4] = { weights->dims[0], weights->dims[1], weights->dims[3], weights->dims[4] };
  for (gint32 k = 0; k < s.kernel && o->error == NULL; k++) {
    LowerValue *plane =
      lower_value_new (o, lower_reshape (o, lower_cut (o, w, 2, k, k + 1), flat, 4), FALSE);
    LowerValue *inputs[3] = { some_planes (o, input, &s, k * s.dilation, n), plane,
                              k == 0 ? bias : NULL };
    LowerValue *y = lower_call (o, "Conv", inputs, 3, s.planes, s.n);
    sum = sum == NULL ? y : lower_call (o, "Add", (LowerValue *[]){ sum, y }, 2, NULL, 0);
  }
  set_volume (o, sum, x->dims[0], n);
}

/* Maxima, means with as many neighbours, and norms are those across planes of those within. */
static void
pool_volume (Lower *o, LowerValue *x)
{
  static const Split every = { .stride = 1 };
  Split s;
  if (lower_has_output (o, 1))
    lower_fail (
      o, SL_ERROR_UNSUPPORTED,
      "Indices of an input of 5 dimensions are not supported; export the model without them");
  if (lower_attribute (o, "kernel_shape") == NULL)
    lower_fail (o, SL_ERROR_FORMAT, "attribute kernel_shape is missing");
  if (!split_attributes (o, &s))
    return;
  LowerValue *y = some_planes (o, lower_last (o, x), &every, 0, x->dims[2]);
  y = s.whole_planes ? y : lower_call (o, o->node->op, &y, 1, s.planes, s.n);
  const gint32 planes = lower_last (o, y);
  const SlTensor t = *lower_t (o, planes);
  if (o->error != NULL)
    return;
  const gint32 columns[4] = { x->dims[0], x->dims[2], lower_times (t.dims[1], t.dims[2]),
                              t.dims[3] };
  y = lower_value_new (o, lower_reshape (o, planes, columns, 4), TRUE);
  const gint32 z = lower_last (o, lower_call (o, o->node->op, &y, 1, s.across, s.n));
  const SlTensor result = *lower_t (o, z);
  if (o->error == NULL)
    lower_set (
      o, 0,
      lower_reshape (
        o, z, (const gint32[]){ x->dims[0], result.dims[1], t.dims[1], t.dims[2], t.dims[3] }, 5),
      TRUE);
}

static void
lower_pool (Lower *o)
{
  LowerValue *x = lower_required (o, 0);
  if (o->error == NULL && x->rank == 5) {
    pool_volume (o, x);
    return;
  }
  const gint32 y = lower_pool_of (o, x);
  lower_conv_set (o, x, y);
}

const LowerOp lower_ops_volume[] = {
  { LOWER_ROW (AveragePool, lower_pool), SL_OP_AVERAGE_POOL_2D },
  { LOWER_ROW (LpPool, lower_pool), SL_OP_L2_POOL_2D },
  { LOWER_ROW (MaxPool, lower_pool), SL_OP_MAX_POOL_2D },
  { NULL },
};
