/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a tensor lies in its frame. */
#pragma once

#include <glib.h>

#include "core/base/affine.h"

/**
 * SlFrameGeometry:
 * @affine: tensor pixels -> frame pixels
 * @tensor_width, @tensor_height, @frame_width, @frame_height: all >= 1
 */
typedef struct
{
  SlAffine affine;
  gint tensor_width, tensor_height;
  gint frame_width, frame_height;
} SlFrameGeometry;
