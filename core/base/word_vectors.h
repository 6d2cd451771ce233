/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Embeddings of words, which embeddings of pictures are compared with. */
#pragma once

#include <glib.h>

/** SlWordVectors: @n vectors of @length numbers, each of length 1; all zero = none. */
typedef struct
{
  guint n, length;
  gfloat *numbers;
} SlWordVectors;
