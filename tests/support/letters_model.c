/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/letters_model.h"

#include "tests/support/onnx_writer.h"

#define CLASSES 5
#define CHANNELS 3
#define SIDE LETTERS_SIDE

gboolean
letters_is_white (char letter, double x, double y)
{
  switch (letter) {
    case 'A':
      return x < 0.5;
    case 'B':
      return x >= 0.5;
    case 'C':
      return y < 0.5;
    case 'D':
      return y >= 0.5;
    default:
      return FALSE;
  }
}

GBytes *
letters_model (gfloat factor)
{
  static gfloat weights[CLASSES][CHANNELS][SIDE][SIDE];
  gfloat bias[CLASSES] = { 0 };
  for (guint c = 1; c < CLASSES; c++) {
    bias[c] = -5 * factor;
    for (guint i = 0; i < CHANNELS * SIDE * SIDE; i++) {
      const guint y = i / SIDE % SIDE, x = i % SIDE;
      const gboolean white =
        letters_is_white (LETTERS_ALPHABET[c - 1], (x + 0.5) / SIDE, (y + 0.5) / SIDE);
      weights[c][i / SIDE / SIDE][y][x] =
        factor * (white ? 10.0f : -10.0f) / (CHANNELS * SIDE * SIDE / 2);
    }
  }
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  const gint64 classes = CLASSES, shape[] = { 1, CLASSES, LETTERS_PLACES };
  sl_onnx_writer_input (w, "line", SL_ONNX_FLOAT, 4,
                        (const gint64[]){ 1, CHANNELS, SIDE, SIDE * LETTERS_PLACES });
  sl_onnx_writer_floats (w, "weights", 4, (const gint64[]){ CLASSES, CHANNELS, SIDE, SIDE },
                         &weights[0][0][0][0]);
  sl_onnx_writer_floats (w, "bias", 1, &classes, bias);
  sl_onnx_writer_ints (w, "shape", G_N_ELEMENTS (shape), shape);
  sl_onnx_writer_node (w, "Conv", "line,weights,bias", "places", "kernel_shape I 8,8",
                       "strides I 8,8", NULL);
  sl_onnx_writer_node (w, "Reshape", "places,shape", "logits", NULL);
  sl_onnx_writer_output (w, "logits", SL_ONNX_FLOAT);
  return sl_onnx_writer_finish (w);
}
