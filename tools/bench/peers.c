/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The libyuv chain; see peers.h. */
#include "tools/bench/peers.h"

#include <stdlib.h>

#include "config.h"

#ifdef SL_HAVE_LIBYUV

#include <libyuv.h>

struct SlBenchPeer
{
  SlImageInfo info;
  SlNormalizeSpec spec;
  enum FilterMode mode;
  uint8_t *luma, *chroma, *rgb;
};

SlBenchPeer *
sl_bench_libyuv_new (const SlBenchPicture *picture, const SlNormalizeSpec *spec)
{
  const SlPixelFormat format = picture->info.format;
  const size_t pixels = (size_t) (spec->width + 1) * (size_t) (spec->height + 1);
  const bool known = format == SL_PIXEL_NV12 || format == SL_PIXEL_NV21 || format == SL_PIXEL_I420;
  SlBenchPeer *peer = NULL;
  if (!known || spec->fit != SL_FIT_STRETCH || spec->layout != SL_LAYOUT_NHWC
      || spec->type == SL_OUT_F16)
    return NULL;
  peer = calloc (1, sizeof *peer);
  if (peer == NULL)
    return NULL;
  *peer = (SlBenchPeer){
    picture->info,   *spec,           spec->filter == SL_FILTER_AREA ? kFilterBox : kFilterBilinear,
    malloc (pixels), malloc (pixels), malloc (pixels * 3)
  };
  if (peer->luma != NULL && peer->chroma != NULL && peer->rgb != NULL)
    return peer;
  sl_bench_libyuv_free (peer);
  return NULL;
}

static void
scale_and_convert (SlBenchPeer *peer, const SlImage *image)
{
  const uint8_t *const *plane = image->plane;
  const int stride[3] = { (int) image->stride[0], (int) image->stride[1], (int) image->stride[2] };
  const int w = peer->spec.width, h = peer->spec.height;
  const int half = (w + 1) / 2;
  if (peer->info.format == SL_PIXEL_I420) {
    uint8_t *v = peer->chroma + half * ((h + 1) / 2);
    I420Scale (plane[0], stride[0], plane[1], stride[1], plane[2], stride[2], peer->info.width,
               peer->info.height, peer->luma, w, peer->chroma, half, v, half, w, h, peer->mode);
    I420ToRAW (peer->luma, w, peer->chroma, half, v, half, peer->rgb, w * 3, w, h);
    return;
  }
  NV12Scale (plane[0], stride[0], plane[1], stride[1], peer->info.width, peer->info.height,
             peer->luma, w, peer->chroma, 2 * half, w, h, peer->mode);
  if (peer->info.format == SL_PIXEL_NV12)
    NV12ToRAW (peer->luma, w, peer->chroma, 2 * half, peer->rgb, w * 3, w, h);
  else
    NV21ToRAW (peer->luma, w, peer->chroma, 2 * half, peer->rgb, w * 3, w, h);
}

void
sl_bench_libyuv_run (SlBenchPeer *peer, const SlImage *image, void *tensor)
{
  const size_t n = (size_t) peer->spec.width * (size_t) peer->spec.height * 3;
  const float gain = (float) peer->spec.gain[0], offset = (float) peer->spec.offset[0];
  scale_and_convert (peer, image);
  for (size_t i = 0; i < n && peer->spec.type == SL_OUT_F32; i++)
    ((float *) tensor)[i] = (float) peer->rgb[i] * gain + offset;
  for (size_t i = 0; i < n && peer->spec.type != SL_OUT_F32; i++)
    ((uint8_t *) tensor)[i] = (uint8_t) (peer->rgb[i] ^ (peer->spec.type == SL_OUT_I8 ? 0x80 : 0));
}

void
sl_bench_libyuv_free (SlBenchPeer *peer)
{
  if (peer == NULL)
    return;
  free (peer->luma);
  free (peer->chroma);
  free (peer->rgb);
  free (peer);
}

#else

SlBenchPeer *
sl_bench_libyuv_new (const SlBenchPicture *picture, const SlNormalizeSpec *spec)
{
  return NULL;
}

void
sl_bench_libyuv_run (SlBenchPeer *peer, const SlImage *image, void *tensor)
{
}

void
sl_bench_libyuv_free (SlBenchPeer *peer)
{
}

#endif
