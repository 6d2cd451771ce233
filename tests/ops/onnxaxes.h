/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX operators along each dimension, counted from either end. A row adds its nodes and says what
 * the result has at given coordinates, computed from the data in double.
 */
#ifndef SL_TESTS_OPS_ONNXAXES_H
#define SL_TESTS_OPS_ONNXAXES_H

#include "core/graph/tensor.h"
#include "tests/ops/onnxmodel.h"

#define AXIS_DIMS(...) ((const gint64[]){ __VA_ARGS__ })
#define AXIS_RANK 4

typedef struct _Row AxisRow;

/** @d: the dimension, counted from the front; @dims: of the data; @out, @rank: of the result, set
 * by the row; @other: a second operand */
typedef struct
{
  const AxisRow *row;
  OnnxModel m;
  const gfloat *x, *other;
  const gint64 *indices;
  const char *data;
  gint64 axis, d, dims[AXIS_RANK], out[SL_MAX_RANK];
  guint form, rank;
} AxisCase;

struct _Row
{
  const char *op;
  guint opset, forms;
  gint64 dims[AXIS_RANK]; /* of the data; none = 2,3,4,5 */
  gboolean whole;         /* the result is int64 */
  double tolerance;
  void (*build) (AxisCase *c);
  double (*value) (const AxisCase *c, const gint64 *at);
};

/** axis_element: the element at @at of @x, whose shape is @dims. */
double axis_element (const gint64 *dims, const gfloat *x, const gint64 *at);
/** axis_data_at: the same of the data. */
double axis_data_at (const AxisCase *c, const gint64 *at);
/** axis_add: adds the row's operator over the data and @more, with up to two attributes (nullable).
 * The result is called y. */
void axis_add (AxisCase *c, const char *more, const char *a, const char *b);
/** axis_text: (transfer full): the attribute "axis". */
char *axis_text (const AxisCase *c);
/** axis_add_along: axis_add() with the attribute "axis". @attribute: (nullable): one more */
void axis_add_along (AxisCase *c, const char *more, const char *attribute);
/** axis_base_of: sets @base to the data's coordinates of @at in a result that lacks dimension d, or
 * has it as 1. */
void axis_base_of (const AxisCase *c, const gint64 *at, gint64 base[AXIS_RANK]);
/** axis_drop: the result lacks dimension d, or has it as 1 where @keep. */
void axis_drop (AxisCase *c, gboolean keep);
/** axis_run: main() of a test of @n rows. */
int axis_run (int argc, char **argv, const AxisRow *rows, guint n);

#endif
