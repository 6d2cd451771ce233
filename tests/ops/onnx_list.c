/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX's sequences of tensors: what is read from them, by their specification. */
#include "tests/ops/onnxmodel.h"
#include "tests/support/program.h"

#define DIMS(...) ((const gint64[]){ __VA_ARGS__ })

/* Parts of 2, 2 and 1 of a dimension of 5, of a tensor in ONNX's order and of one that a pool left
 * channels last. */
static void
test_split (void)
{
  for (guint pooled = 0; pooled < 2; pooled++) {
    OnnxModel m;
    double second[2 * 3 * 4 * 2], third[2 * 3 * 4], alone[2 * 3 * 4], sized[2 * 3 * 4 * 3],
      joined[2 * 3 * 4 * 5];
    onnx_model_init (&m, 13, 2);
    const gfloat *x = onnx_model_floats (&m, "x", 4, DIMS (2, 3, 4, 5));
    const char *data = pooled ? "p" : "x";
    g_autofree char *by_size = g_strdup_printf ("%s,size", data),
                    *by_sizes = g_strdup_printf ("%s,sizes", data);
    sl_onnx_writer_ints (m.writer, "two", 1, DIMS (2));
    sl_onnx_writer_ints (m.writer, "sizes", 2, DIMS (2, 3));
    sl_onnx_writer_ints (m.writer, "minus", 1, DIMS (-1));
    sl_onnx_writer_ints (m.writer, "one", 1, DIMS (1));
    sl_onnx_writer_node (m.writer, "Squeeze", "two", "size", NULL);
    sl_onnx_writer_node (m.writer, "MaxPool", "x", "p", "kernel_shape I 1,1", NULL);
    sl_onnx_writer_node (m.writer, "SplitToSequence", by_size, "s", "axis i -1", NULL);
    sl_onnx_writer_node (m.writer, "SplitToSequence", by_sizes, "t", "axis i 3", NULL);
    sl_onnx_writer_node (m.writer, "SplitToSequence", data, "u", "axis i 3", "keepdims i 0", NULL);
    sl_onnx_writer_node (m.writer, "SequenceAt", "s,one", "second", NULL);
    sl_onnx_writer_node (m.writer, "SequenceAt", "s,minus", "third", NULL);
    sl_onnx_writer_node (m.writer, "SequenceAt", "t,minus", "sized", NULL);
    sl_onnx_writer_node (m.writer, "SequenceAt", "u,two", "alone", NULL);
    sl_onnx_writer_node (m.writer, "ConcatFromSequence", "u", "joined", "axis i -1", "new_axis i 1",
                         NULL);
    for (guint i = 0; i < 120; i++) {
      const guint row = i / 5, k = i % 5;
      joined[i] = (double) x[i];
      if (k == 2 || k == 3)
        second[row * 2 + k - 2] = (double) x[i];
      if (k >= 2)
        sized[row * 3 + k - 2] = (double) x[i];
      if (k == 2)
        alone[row] = (double) x[i];
      if (k == 4)
        third[row] = (double) x[i];
    }
    onnx_model_expect (&m, "second", SL_ONNX_FLOAT, 48, second, 0);
    onnx_model_expect (&m, "third", SL_ONNX_FLOAT, 24, third, 0);
    onnx_model_expect (&m, "sized", SL_ONNX_FLOAT, 72, sized, 0);
    onnx_model_expect (&m, "alone", SL_ONNX_FLOAT, 24, alone, 0);
    onnx_model_expect (&m, "joined", SL_ONNX_FLOAT, 120, joined, 0);
    onnx_model_clear (&m);
  }
}

/* a, b and a again, inserted in front, at the end and between; one taken out. */
static void
test_list (void)
{
  OnnxModel m;
  double joined[18], left[12];
  onnx_model_init (&m, 13, 2);
  const gfloat *a = onnx_model_floats (&m, "a", 2, DIMS (2, 3)),
               *b = onnx_model_floats (&m, "b", 2, DIMS (2, 3));
  sl_onnx_writer_ints (m.writer, "zero", 1, DIMS (0));
  sl_onnx_writer_ints (m.writer, "one", 1, DIMS (1));
  sl_onnx_writer_node (m.writer, "SequenceEmpty", "", "none", NULL);
  sl_onnx_writer_node (m.writer, "SequenceInsert", "none,a", "first", NULL);
  sl_onnx_writer_node (m.writer, "SequenceInsert", "first,a", "two", NULL);
  sl_onnx_writer_node (m.writer, "SequenceInsert", "two,b,one", "three", NULL);
  sl_onnx_writer_node (m.writer, "SequenceErase", "three,zero", "rest", NULL);
  sl_onnx_writer_node (m.writer, "SequenceLength", "rest", "n", NULL);
  sl_onnx_writer_node (m.writer, "Cast", "n", "real", "to i 1", NULL);
  sl_onnx_writer_node (m.writer, "ConcatFromSequence", "three", "joined", "axis i 0", NULL);
  sl_onnx_writer_node (m.writer, "SequenceConstruct", "b,a", "pair", NULL);
  sl_onnx_writer_node (m.writer, "ConcatFromSequence", "pair", "both", "axis i 0", NULL);
  sl_onnx_writer_node (m.writer, "ConcatFromSequence", "rest", "left", "axis i 0", NULL);
  sl_onnx_writer_node (m.writer, "Mul", "left,real", "twice", NULL);
  sl_onnx_writer_node (m.writer, "Sub", "twice,both", "y", NULL);
  for (guint i = 0; i < 6; i++) {
    joined[i] = joined[12 + i] = left[6 + i] = (double) a[i];
    joined[6 + i] = left[i] = (double) b[i];
  }
  onnx_model_expect (&m, "joined", SL_ONNX_FLOAT, 18, joined, 0);
  onnx_model_expect (&m, "y", SL_ONNX_FLOAT, 12, left, 1e-6);
  onnx_model_clear (&m);
}

static void
test_refused (void)
{
  static const struct
  {
    const char *op, *inputs, *attribute, *text;
  } rows[] = {
    { "SequenceAt", "x,c", NULL, "input 0 is a tensor; expected a sequence" },
    { "SequenceAt", "s,c", NULL, "position 3 is outside a sequence of 2" },
    { "SequenceAt", "s,i", NULL, "the position, input 1, is computed from the picture" },
    { "SequenceAt", "e,c", NULL, "its sequence is empty" },
    { "SequenceAt", "s", NULL, "input 1 is missing" },
    { "SequenceErase", "e", NULL, "its sequence is empty" },
    { "SequenceErase", "s,c", NULL, "position 3 is outside a sequence of 2" },
    { "SequenceInsert", "s,x,c", NULL, "position 3 is outside a sequence of 2" },
    { "SequenceInsert", "s,s", NULL, "input 1 is a sequence; expected a tensor" },
    { "SequenceConstruct", "x,s", NULL, "input 1 is a sequence; expected a tensor" },
    { "SequenceLength", "x", NULL, "input 0 is a tensor; expected a sequence" },
    { "ConcatFromSequence", "e", "axis i 0", "a sequence of 0 tensors, and an attribute axis" },
    { "ConcatFromSequence", "s", NULL, "a sequence of 2 tensors, and no attribute axis" },
    { "ConcatFromSequence", "s", "axis i 2", "axis 2 is outside a tensor of 2 dimensions" },
    { "SplitToSequence", "x,c", NULL, "part 0 of 3 elements does not fit a dimension of 2" },
    { "SplitToSequence", "x,z", NULL, "part 0 of 0 elements does not fit" },
    { "SplitToSequence", "x,o", NULL, "its parts have 1 elements of a dimension of 2" },
    { "SplitToSequence", "long", NULL, "a sequence of 300 tensors; at most 256 are supported" },
    { "Relu", "s", NULL, "an input is a sequence; expected a tensor" },
    { "SequenceEmpty", "", NULL, "model output 0 'y' has no elements" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    OnnxModel m;
    onnx_model_init (&m, 13, 2);
    onnx_model_floats (&m, "x", 2, DIMS (2, 3));
    onnx_model_floats (&m, "long", 1, DIMS (300));
    onnx_model_ints (&m, "i", 1, DIMS (1), 0, 2);
    sl_onnx_writer_ints (m.writer, "c", 1, DIMS (3));
    sl_onnx_writer_ints (m.writer, "z", 1, DIMS (0));
    sl_onnx_writer_ints (m.writer, "o", 1, DIMS (1));
    sl_onnx_writer_node (m.writer, "SequenceConstruct", "x,x", "s", NULL);
    sl_onnx_writer_node (m.writer, "SequenceEmpty", "", "e", NULL);
    sl_onnx_writer_node (m.writer, rows[i].op, rows[i].inputs, "y", rows[i].attribute, NULL);
    sl_onnx_writer_output (m.writer, "y", SL_ONNX_FLOAT);
    onnx_model_refuse (&m, rows[i].text);
    onnx_model_clear (&m);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/onnx-list/split", test_split);
  g_test_add_func ("/onnx-list/list", test_list);
  g_test_add_func ("/onnx-list/refused", test_refused);
  return g_test_run ();
}
