/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the preprocessor's table of formats to the places of samples. */
#include "postprocess/read/luma.h"

/* Samples of a group of each SlPacking. */
static const gint steps[] = { 1, 2, 3, 4, 2 };

SlLuma
sl_luma_of (const SlImageInfo *info, const SlImage *image)
{
  const SlPixelLayout *layout = sl_pixel_layout (info->format);
  const gint bytes = layout->bits > 8 ? 2 : 1;
  SlLuma luma = { .step = steps[layout->packing[0]] * bytes,
                  .shift = bytes == 1 ? -1 : 8 - layout->shift,
                  .width = info->width,
                  .height = info->height };
  for (guint i = 0; i < (layout->components == SL_COMPONENTS_RGB ? 3 : 1); i++) {
    const SlComponent *component = &layout->component[i];
    luma.plane[i] = image->plane[component->plane] + component->lane * bytes;
    luma.stride[i] = image->stride[component->plane];
  }
  return luma;
}
