/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that move elements along dimensions and compute none. */
#include "tests/ops/onnxaxes.h"
#include "tests/support/program.h"

#include <string.h>

/* Forms: the other operand in ONNX's order, from a convolution, the data twice. */
static void
build_concat (AxisCase *c)
{
  gint64 dims[AXIS_RANK];
  memcpy (dims, c->dims, sizeof dims);
  dims[c->d] = c->form == 1 && c->d == 1 ? 3 : 2;
  c->other = c->form == 2 ? c->x : onnx_model_floats (&c->m, "o", AXIS_RANK, dims);
  if (c->form == 1)
    sl_onnx_writer_node (c->m.writer, "MaxPool", "o", "p", "kernel_shape I 1,1", NULL);
  g_autofree char *twice = g_strdup_printf (",%s", c->data);
  axis_add_along (c, c->form == 0 ? ",o" : c->form == 1 ? ",p" : twice, NULL);
  c->out[c->d] = c->dims[c->d] + (c->form == 2 ? c->dims[c->d] : dims[c->d]);
}

static double
concat_value (const AxisCase *c, const gint64 *at)
{
  gint64 p[AXIS_RANK], dims[AXIS_RANK];
  memcpy (p, at, sizeof p);
  memcpy (dims, c->dims, sizeof dims);
  dims[c->d] = c->out[c->d] - c->dims[c->d];
  if (at[c->d] < c->dims[c->d])
    return axis_data_at (c, p);
  p[c->d] -= c->dims[c->d];
  return axis_element (dims, c->other, p);
}

/* Forms: the first part, the second. */
static void
build_split (AxisCase *c)
{
  g_autofree char *axis = axis_text (c),
                  *sizes = g_strdup_printf ("split I 1,%d", (int) c->dims[c->d] - 1);
  const gboolean input = c->row->opset >= 13;
  g_autofree char *inputs = g_strconcat (c->data, input ? ",sizes" : NULL, NULL);
  sl_onnx_writer_ints (c->m.writer, "sizes", 2, AXIS_DIMS (1, c->dims[c->d] - 1));
  sl_onnx_writer_node (c->m.writer, "Split", inputs, c->form == 0 ? "y,none" : "none,y", axis,
                       input ? NULL : sizes, NULL);
  c->out[c->d] = c->form == 0 ? 1 : c->dims[c->d] - 1;
}

static double
split_value (const AxisCase *c, const gint64 *at)
{
  gint64 p[AXIS_RANK];
  memcpy (p, at, sizeof p);
  p[c->d] += c->form;
  return axis_data_at (c, p);
}

/* Forms: from 1 on, up to the last but one, every second, backwards. */
static const gint64 slices[][3] = {
  { 1, G_MAXINT64, 1 }, { 0, -1, 1 }, { 0, G_MAXINT64, 2 }, { -1, G_MININT64, -1 }
};

static void
build_slice (AxisCase *c)
{
  const gint64 *s = slices[c->form], n = c->dims[c->d];
  sl_onnx_writer_ints (c->m.writer, "starts", 1, s);
  sl_onnx_writer_ints (c->m.writer, "ends", 1, s + 1);
  sl_onnx_writer_ints (c->m.writer, "axes", 1, &c->axis);
  sl_onnx_writer_ints (c->m.writer, "steps", 1, s + 2);
  axis_add (c, ",starts,ends,axes,steps", NULL, NULL);
  c->out[c->d] = c->form < 2 ? n - 1 : c->form == 2 ? (n + 1) / 2 : n;
}

static double
slice_value (const AxisCase *c, const gint64 *at)
{
  gint64 p[AXIS_RANK];
  memcpy (p, at, sizeof p);
  p[c->d] = c->form == 3 ? c->dims[c->d] - 1 - at[c->d]
                         : slices[c->form][0] + at[c->d] * slices[c->form][2];
  return axis_data_at (c, p);
}

static void
build_gather_elements (AxisCase *c)
{
  gint64 dims[AXIS_RANK] = { 2, 2, 3, 3 };
  dims[c->d] = 6;
  c->indices =
    onnx_model_ints (&c->m, "i", AXIS_RANK, dims, (gint32) -c->dims[c->d], (gint32) c->dims[c->d]);
  axis_add_along (c, ",i", NULL);
  memcpy (c->out, dims, sizeof dims);
}

static gint64
index_at (const AxisCase *c, const gint64 *dims, const gint64 *at)
{
  gint64 place = 0;
  for (guint i = 0; i < AXIS_RANK; i++)
    place = place * dims[i] + at[i];
  const gint64 index = c->indices[place];
  return index < 0 ? index + c->dims[c->d] : index;
}

static double
gather_elements_value (const AxisCase *c, const gint64 *at)
{
  gint64 p[AXIS_RANK];
  memcpy (p, at, sizeof p);
  p[c->d] = index_at (c, c->out, at);
  return axis_data_at (c, p);
}

/* Updates of one element along the dimension, so that none comes twice. */
static void
build_scatter_elements (AxisCase *c)
{
  gint64 dims[AXIS_RANK] = { 2, 2, 3, 3 };
  dims[c->d] = 1;
  c->indices =
    onnx_model_ints (&c->m, "i", AXIS_RANK, dims, (gint32) -c->dims[c->d], (gint32) c->dims[c->d]);
  c->other = onnx_model_floats (&c->m, "u", AXIS_RANK, dims);
  axis_add_along (c, ",i,u", NULL);
}

static double
scatter_elements_value (const AxisCase *c, const gint64 *at)
{
  gint64 dims[AXIS_RANK] = { 2, 2, 3, 3 }, p[AXIS_RANK];
  gboolean inside = TRUE;
  dims[c->d] = 1;
  memcpy (p, at, sizeof p);
  p[c->d] = 0;
  for (guint i = 0; i < AXIS_RANK; i++)
    inside &= p[i] < dims[i];
  return inside && index_at (c, dims, p) == at[c->d] ? axis_element (dims, c->other, p)
                                                     : axis_data_at (c, at);
}

static void
build_squeeze (AxisCase *c)
{
  const gboolean input = c->row->opset >= 13;
  g_autofree char *axes = g_strdup_printf ("axes I %d", (int) c->axis);
  sl_onnx_writer_ints (c->m.writer, "axes", 1, &c->axis);
  sl_onnx_writer_ints (c->m.writer, "first", 1, AXIS_DIMS (0));
  sl_onnx_writer_ints (c->m.writer, "one", 1, AXIS_DIMS (1));
  sl_onnx_writer_ints (c->m.writer, "along", 1, &c->axis);
  g_autofree char *cut = g_strconcat (c->data, ",first,one,along", NULL);
  sl_onnx_writer_node (c->m.writer, "Slice", cut, "thin", NULL);
  sl_onnx_writer_node (c->m.writer, "Squeeze", input ? "thin,axes" : "thin", "y",
                       input ? "unused i 0" : axes, NULL);
  axis_drop (c, FALSE);
}

static double
squeeze_value (const AxisCase *c, const gint64 *at)
{
  gint64 p[AXIS_RANK];
  axis_base_of (c, at, p);
  return axis_data_at (c, p);
}

/* Axes of the result, which has one dimension more: -5 to 4. */
static void
build_unsqueeze (AxisCase *c)
{
  const gboolean input = c->row->opset >= 13;
  const gint64 axis = c->form       ? c->axis
                      : c->axis < 0 ? c->axis - 1
                                    : c->axis + 1,
               d = axis < 0 ? axis + AXIS_RANK + 1 : axis;
  g_autofree char *axes = g_strdup_printf ("axes I %d", (int) axis);
  sl_onnx_writer_ints (c->m.writer, "axes", 1, &axis);
  axis_add (c, input ? ",axes" : "", input ? NULL : axes, NULL);
  for (gint64 i = 0; i < AXIS_RANK + 1; i++)
    c->out[i] = i == d ? 1 : c->dims[i > d ? i - 1 : i];
  c->rank = AXIS_RANK + 1;
}

static double
same_order (const AxisCase *c, const gint64 *at)
{
  gint64 place = 0;
  for (guint i = 0; i < c->rank; i++)
    place = place * c->out[i] + at[i];
  return (double) c->x[place];
}

static void
build_flatten (AxisCase *c)
{
  axis_add_along (c, "", NULL);
  c->rank = 2;
  c->out[0] = c->out[1] = 1;
  for (gint64 i = 0; i < AXIS_RANK; i++)
    c->out[i >= c->d] *= c->dims[i];
}

static const gint64 shapes[][6] = { { 2, 3, 20 },   { 2, 3, 2, 2, 5 }, { 2, 60 },
                                    { 6, 20 },      { 120 },           { 2, 12, 5 },
                                    { 2, 3, 5, 4 }, { 1, 2, 3, 4, 5 }, { 24, 5 },
                                    { 3, 2, 4, 5 } };

static void
build_reshape (AxisCase *c)
{
  const gint64 *shape = shapes[c->form];
  for (c->rank = 0; c->rank < 6 && shape[c->rank] != 0; c->rank++)
    c->out[c->rank] = shape[c->rank];
  sl_onnx_writer_ints (c->m.writer, "shape", c->rank, shape);
  axis_add (c, ",shape", NULL, NULL);
}

/* The order of dimensions that is number @form of all 24. */
static void
nth_order (guint form, gint64 order[AXIS_RANK])
{
  gint64 left[AXIS_RANK] = { 0, 1, 2, 3 };
  guint n = AXIS_RANK;
  for (guint i = 0; i < AXIS_RANK; i++) {
    const guint k = form % n;
    form /= n;
    order[i] = left[k];
    for (guint j = k; j + 1 < n; j++)
      left[j] = left[j + 1];
    n--;
  }
}

static void
build_transpose (AxisCase *c)
{
  gint64 order[AXIS_RANK];
  nth_order (c->form, order);
  g_autofree char *perm = g_strdup_printf ("perm I %d,%d,%d,%d", (int) order[0], (int) order[1],
                                           (int) order[2], (int) order[3]);
  axis_add (c, "", perm, NULL);
  for (guint i = 0; i < AXIS_RANK; i++)
    c->out[i] = c->dims[order[i]];
}

static double
transpose_value (const AxisCase *c, const gint64 *at)
{
  gint64 order[AXIS_RANK], p[AXIS_RANK];
  nth_order (c->form, order);
  for (guint i = 0; i < AXIS_RANK; i++)
    p[order[i]] = at[i];
  return axis_data_at (c, p);
}

/* One before and two behind the dimension; forms: 0, the edge, mirrored, repeated, less than
 * nothing. */
static void
build_pad (AxisCase *c)
{
  static const char *const modes[] = { "mode s constant", "mode s edge", "mode s reflect",
                                       "mode s wrap", "mode s constant" };
  gint64 pads[2 * AXIS_RANK] = { 0 };
  pads[c->d] = c->form == 4 ? -1 : 1;
  pads[AXIS_RANK + c->d] = c->form == 2 ? 1 : 2;
  sl_onnx_writer_ints (c->m.writer, "pads", 2 * AXIS_RANK, pads);
  axis_add (c, ",pads", modes[c->form], NULL);
  c->out[c->d] = c->dims[c->d] + pads[c->d] + pads[AXIS_RANK + c->d];
}

static double
pad_value (const AxisCase *c, const gint64 *at)
{
  const gint64 n = c->dims[c->d];
  gint64 p[AXIS_RANK];
  memcpy (p, at, sizeof p);
  gint64 *k = &p[c->d];
  *k += c->form == 4 ? 1 : -1;
  if (c->form == 1)
    *k = CLAMP (*k, 0, n - 1);
  else if (c->form == 2)
    *k = *k < 0 ? -*k : *k >= n ? 2 * n - 2 - *k : *k;
  else if (c->form == 3)
    *k = (*k + n) % n;
  return *k < 0 || *k >= n ? 0 : axis_data_at (c, p);
}

/* Each element three times. */
static void
build_resize (AxisCase *c)
{
  gfloat scales[AXIS_RANK] = { 1, 1, 1, 1 };
  scales[c->d] = 3;
  sl_onnx_writer_floats (c->m.writer, "scales", 1, AXIS_DIMS (AXIS_RANK), scales);
  axis_add (c, ",,scales", "mode s nearest", NULL);
  c->out[c->d] *= 3;
}

static double
resize_value (const AxisCase *c, const gint64 *at)
{
  gint64 p[AXIS_RANK];
  memcpy (p, at, sizeof p);
  p[c->d] /= 3;
  return axis_data_at (c, p);
}

static void
build_depth (AxisCase *c)
{
  const gboolean to_space = strcmp (c->row->op, "DepthToSpace") == 0;
  axis_add (c, "", "blocksize i 2", to_space ? (c->form ? "mode s CRD" : "mode s DCR") : NULL);
  c->out[1] = to_space ? c->dims[1] / 4 : c->dims[1] * 4;
  for (guint i = 2; i < AXIS_RANK; i++)
    c->out[i] = to_space ? c->dims[i] * 2 : c->dims[i] / 2;
}

static double
depth_value (const AxisCase *c, const gint64 *at)
{
  gint64 p[AXIS_RANK] = { at[0] };
  if (strcmp (c->row->op, "DepthToSpace") == 0) {
    const gint64 part = at[2] % 2 * 2 + at[3] % 2;
    p[1] = c->form ? at[1] * 4 + part : part * c->out[1] + at[1];
    p[2] = at[2] / 2;
    p[3] = at[3] / 2;
  } else {
    p[1] = at[1] % c->dims[1];
    p[2] = at[2] * 2 + at[1] / c->dims[1] / 2;
    p[3] = at[3] * 2 + at[1] / c->dims[1] % 2;
  }
  return axis_data_at (c, p);
}

static void
build_trilu (AxisCase *c)
{
  axis_add (c, "", c->form ? "upper i 1" : "upper i 0", NULL);
}

static double
trilu_value (const AxisCase *c, const gint64 *at)
{
  return (c->form ? at[3] >= at[2] : at[3] <= at[2]) ? axis_data_at (c, at) : 0;
}

static void
build_tile (AxisCase *c)
{
  gint64 repeats[AXIS_RANK] = { 1, 1, 1, 1 };
  repeats[c->d] = 3;
  sl_onnx_writer_ints (c->m.writer, "repeats", AXIS_RANK, repeats);
  axis_add (c, ",repeats", NULL, NULL);
  c->out[c->d] *= 3;
}

static double
tile_value (const AxisCase *c, const gint64 *at)
{
  gint64 p[AXIS_RANK];
  memcpy (p, at, sizeof p);
  p[c->d] %= c->dims[c->d];
  return axis_data_at (c, p);
}

/* A dimension of 1 to seven, and a new one in front. */
static void
build_expand (AxisCase *c)
{
  gint64 shape[AXIS_RANK + 1] = { 2, 1, 1, 1, 1 };
  shape[1 + c->d] = 7;
  sl_onnx_writer_ints (c->m.writer, "starts", 1, AXIS_DIMS (0));
  sl_onnx_writer_ints (c->m.writer, "ends", 1, AXIS_DIMS (1));
  sl_onnx_writer_ints (c->m.writer, "axes", 1, &c->axis);
  sl_onnx_writer_ints (c->m.writer, "shape", AXIS_RANK + 1, shape);
  g_autofree char *cut = g_strconcat (c->data, ",starts,ends,axes", NULL);
  sl_onnx_writer_node (c->m.writer, "Slice", cut, "thin", NULL);
  sl_onnx_writer_node (c->m.writer, "Expand", "thin,shape", "y", NULL);
  c->rank = AXIS_RANK + 1;
  c->out[0] = 2;
  for (gint64 i = 0; i < AXIS_RANK; i++)
    c->out[i + 1] = i == c->d ? 7 : c->dims[i];
}

static double
expand_value (const AxisCase *c, const gint64 *at)
{
  gint64 p[AXIS_RANK];
  memcpy (p, at + 1, sizeof p);
  p[c->d] = 0;
  return axis_data_at (c, p);
}

/* Of the place of the greatest element along the dimension, which becomes the new dimension again.
 */
static void
build_one_hot (AxisCase *c)
{
  g_autofree char *axis = axis_text (c);
  sl_onnx_writer_ints (c->m.writer, "depth", 1, &c->dims[c->d]);
  sl_onnx_writer_floats (c->m.writer, "values", 1, AXIS_DIMS (2), (const gfloat[]){ -1, 2 });
  sl_onnx_writer_node (c->m.writer, "ArgMax", c->data, "i", axis, "keepdims i 0", NULL);
  sl_onnx_writer_node (c->m.writer, "OneHot", "i,depth,values", "y", axis, NULL);
}

static double
one_hot_value (const AxisCase *c, const gint64 *at)
{
  gint64 p[AXIS_RANK];
  memcpy (p, at, sizeof p);
  for (p[c->d] = 0; p[c->d] < c->dims[c->d]; p[c->d]++)
    if (axis_data_at (c, p) > axis_data_at (c, at))
      return -1;
  return 2;
}

static const AxisRow rows[] = {
  { "Concat", 13, 3, { 0 }, FALSE, 0, build_concat, concat_value },
  { "Split", 11, 2, { 0 }, FALSE, 0, build_split, split_value },
  { "Split", 13, 2, { 0 }, FALSE, 0, build_split, split_value },
  { "Slice", 13, 4, { 0 }, FALSE, 0, build_slice, slice_value },
  { "GatherElements", 13, 1, { 0 }, FALSE, 0, build_gather_elements, gather_elements_value },
  { "ScatterElements", 13, 1, { 0 }, FALSE, 0, build_scatter_elements, scatter_elements_value },
  { "Squeeze", 11, 1, { 0 }, FALSE, 0, build_squeeze, squeeze_value },
  { "Squeeze", 13, 1, { 0 }, FALSE, 0, build_squeeze, squeeze_value },
  { "Unsqueeze", 11, 2, { 0 }, FALSE, 0, build_unsqueeze, same_order },
  { "Unsqueeze", 13, 2, { 0 }, FALSE, 0, build_unsqueeze, same_order },
  { "Flatten", 13, 1, { 0 }, FALSE, 0, build_flatten, same_order },
  { "Reshape", 13, G_N_ELEMENTS (shapes), { 0 }, FALSE, 0, build_reshape, same_order },
  { "Transpose", 13, 24, { 0 }, FALSE, 0, build_transpose, transpose_value },
  { "Pad", 19, 5, { 0 }, FALSE, 0, build_pad, pad_value },
  { "Resize", 13, 1, { 0 }, FALSE, 0, build_resize, resize_value },
  { "DepthToSpace", 13, 2, { 2, 8, 3, 5 }, FALSE, 0, build_depth, depth_value },
  { "SpaceToDepth", 13, 1, { 2, 3, 4, 6 }, FALSE, 0, build_depth, depth_value },
  { "Trilu", 14, 2, { 0 }, FALSE, 0, build_trilu, trilu_value },
  { "Tile", 13, 1, { 0 }, FALSE, 0, build_tile, tile_value },
  { "Expand", 13, 1, { 0 }, FALSE, 0, build_expand, expand_value },
  { "OneHot", 13, 1, { 0 }, FALSE, 0, build_one_hot, one_hot_value },
};

TEST_MAIN (int argc, char **argv)
{
  return axis_run (argc, argv, rows, G_N_ELEMENTS (rows));
}
