/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What readers share.
 */
#include "read/reader.h"

gboolean
sl_read_is_inside (const SlReadHow *how, double x, double y)
{
  double u, v;
  sl_affine_apply (&how->map, x, y, &u, &v);
  return u >= how->box[0] && u <= how->box[2] && v >= how->box[1] && v <= how->box[3];
}
