/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The OpenCV chain as the benchmark sees it; see peers.h. Loads the module that runs it when there is one.
 */
#include "tools/bench/opencv.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "tools/bench/peers.h"

struct SlBenchOpencv
{
  const SlOpencvCalls *calls;
  void *state;
};

/* From where the program's run path says, and kept: it cannot be unloaded. */
static const SlOpencvCalls *
load (void)
{
  static const SlOpencvCalls *calls;
  static bool tried;
  if (!tried) {
    void *module = dlopen (SL_OPENCV_MODULE, RTLD_NOW | RTLD_LOCAL);
    calls = module != NULL ? dlsym (module, SL_OPENCV_SYMBOL) : NULL;
    tried = true;
  }
  return calls;
}

SlBenchOpencv *
sl_bench_opencv_new (const SlBenchPicture *picture, const SlNormalizeSpec *spec)
{
  const SlOpencvJob job = {
    .format = sl_pixel_format_name (picture->info.format),
    .width = picture->info.width,
    .height = picture->info.height,
    .out_width = spec->width,
    .out_height = spec->height,
    .area = spec->filter == SL_FILTER_AREA,
    .type = spec->type == SL_OUT_F32  ? 'f'
            : spec->type == SL_OUT_I8 ? 'i'
                                      : 'u',
    .gain = spec->gain[0],
    .offset = spec->offset[0],
  };
  if (spec->fit != SL_FIT_STRETCH || spec->layout != SL_LAYOUT_NHWC || spec->type == SL_OUT_F16 || load () == NULL)
    return NULL;
  SlBenchOpencv *self = calloc (1, sizeof *self);
  if (self == NULL)
    return NULL;
  self->calls = load ();
  self->state = self->calls->create (&job);
  if (self->state != NULL)
    return self;
  free (self);
  return NULL;
}

void
sl_bench_opencv_run (SlBenchOpencv *self, const uint8_t *memory, void *tensor)
{
  self->calls->run (self->state, memory, tensor);
}

void
sl_bench_opencv_free (SlBenchOpencv *self)
{
  if (self == NULL)
    return;
  self->calls->destroy (self->state);
  free (self);
}
