/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Height, width and channels of a tensor. Called when a decoder is opened or looked for. */
#include "postprocess/picture_shape.h"

gboolean
sl_picture_shape_find (SlPictureShape *shape, const SlTensorInfo *tensor, guint likely)
{
  const gint32 *d = tensor->dims;
  if (tensor->rank < 3 || tensor->rank > 4 || d[0] != 1)
    return FALSE;
  if (tensor->rank == 3) {
    *shape = (SlPictureShape){ (guint) d[2], (guint) d[1], 1, 1, 1 };
    return TRUE;
  }
  if ((guint) d[3] != likely && ((guint) d[1] == likely || (d[1] < d[2] && d[1] < d[3])))
    *shape =
      (SlPictureShape){ (guint) d[3], (guint) d[2], (guint) d[1], 1, (gsize) d[2] * (gsize) d[3] };
  else
    *shape = (SlPictureShape){ (guint) d[2], (guint) d[1], (guint) d[3], (gsize) d[3], 1 };
  return TRUE;
}
