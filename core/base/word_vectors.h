/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Classes that sentences describe. Pictures, or parts of them, are compared with their embeddings.
 */
#pragma once

#include <glib.h>

/**
 * SlWordVectors: all zero = none.
 * @n: classes; the first @shown are reported. The others are negative: they compete with these, and
 * are not reported themselves
 * @length: of an embedding; @numbers: (nullable): @n embeddings; NULL = the model has them
 * @columns: (nullable): the class of each of @n_columns numbers that the model gives, -1 = of none;
 * a class has the highest of its numbers. NULL = number i is of class i
 */
typedef struct
{
  guint n, shown, length;
  gfloat *numbers;
  guint n_columns;
  gint32 *columns;
} SlWordVectors;
