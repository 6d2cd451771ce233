/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A reader of text for tests: a picture of LETTERS_PLACES squares of LETTERS_SIDE pixels, in each
 * of which one half is white, says A (left), B (right), C (upper) or D (lower). A dark square is
 * the blank, class 0. It is one convolution, so anyone can work out what it gives.
 */
#pragma once

#include <glib.h>

#define LETTERS_PLACES 6
#define LETTERS_SIDE 8
#define LETTERS_ALPHABET "ABCD"
/** A file of formats for it. */
#define LETTERS_FORMATS "pairs: 8B\nletters: A{4}\nlong: A{6}\n"

/** letters_model: (transfer full): an ONNX file: float32[1,3,8,48] in 0..1 -> float32[1,5,6],
 * logits of the blank and the letters in each place. @factor: of each number, such as 1 or NAN. */
GBytes *letters_model (gfloat factor);
/** letters_is_white: whether the point (@x, @y) of 0..1 of the square of @letter is white. */
gboolean letters_is_white (char letter, double x, double y);
