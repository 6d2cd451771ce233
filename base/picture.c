/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conventions of pictures. */
#include "base/picture.h"

#define STANDARD_DEFINITION_ROWS 576

SlMatrix
sl_matrix_of_height (int height)
{
  return height <= STANDARD_DEFINITION_ROWS ? SL_MATRIX_BT601 : SL_MATRIX_BT709;
}
