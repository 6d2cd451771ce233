/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "quantize/constant.h"

#include <math.h>

gboolean
sl_constant_is_within (const SlTensor *tensor, gfloat most)
{
  const gfloat *values = tensor->data;
  for (gsize i = 0; i < tensor->bytes / sizeof values[0]; i++)
    if (!(fabsf (values[i]) <= most))
      return FALSE;
  return TRUE;
}
