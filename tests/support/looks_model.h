/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model of appearance for tests: the mean colours of a grid, so anyone can work out what it
 * gives. */
#pragma once

#include <glib.h>

/** Its input is float32[1,3,LOOKS_MODEL_HEIGHT,LOOKS_MODEL_WIDTH]; a cell of the grid is a square
 * of LOOKS_MODEL_CELL pixels. */
#define LOOKS_MODEL_WIDTH 8
#define LOOKS_MODEL_HEIGHT 16
#define LOOKS_MODEL_CELL 4
/** Numbers of its embedding: a colour after another. */
#define LOOKS_MODEL_LENGTH \
  (3 * (LOOKS_MODEL_WIDTH / LOOKS_MODEL_CELL) * (LOOKS_MODEL_HEIGHT / LOOKS_MODEL_CELL))

/** looks_model: (transfer full): an ONNX file. @factor: of each number, such as 1, 0 or NAN. */
GBytes *looks_model (gfloat factor);
