/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/gallery/portrait.h"

#include <math.h>
#include <string.h>

#include "config.h"
#include "core/base/fail.h"
#include "pipelines/remote/jpeg.h"
#include "preprocess/normalize.h"

#define QUALITY 80
/* Bytes of a JPEG beside its pixels. */
#define HEAD 2048
/* Sharpness that counts half. */
#define HALF_SHARP 4.
#define LEAST_FRONTAL 0.1
#define CUT_OFF 0.5

struct _SlPortrait
{
  SlImageInfo image;
  SlNormalizeSpec spec;
  SlNormalizer *normalizer;
  guint side;
  guint8 *pixels, *jpeg; /* RGB */
  gsize room;            /* of @jpeg */
};

SlPortrait *
sl_portrait_new (const SlImageInfo *image, guint side, GError **error)
{
#if !SL_HAVE_JPEG
  return sl_fail_null (error, SL_ERROR_UNSUPPORTED,
                       "pictures=true: this build writes no JPEG: expected libjpeg when it was "
                       "made");
#endif
  SlPortrait *self = g_new0 (SlPortrait, 1);
  self->image = *image;
  self->side = side;
  self->spec = (SlNormalizeSpec){ .width = (int) side,
                                  .height = (int) side,
                                  .type = SL_OUT_U8,
                                  .layout = SL_LAYOUT_NHWC,
                                  .colour = SL_COLOUR_RGB,
                                  .fit = SL_FIT_STRETCH,
                                  .filter = SL_FILTER_AUTO,
                                  .gain = { 1, 1, 1 } };
  const gsize bytes = 3 * (gsize) side * side;
  self->room = bytes + HEAD;
  self->pixels = g_malloc0 (bytes);
  self->jpeg = g_malloc0 (self->room);
  const SlNormalizeStatus status = sl_normalizer_new (&self->normalizer, image, &self->spec);
  if (status == SL_NORMALIZE_OK)
    return self;
  sl_portrait_free (self);
  return sl_fail_null (error, SL_ERROR_BACKEND, "pictures of frames of %dx%d: %s", image->width,
                       image->height, sl_normalize_status_text (status));
}

void
sl_portrait_free (SlPortrait *self)
{
  if (self == NULL)
    return;
  sl_normalizer_free (self->normalizer);
  g_free (self->pixels);
  g_free (self->jpeg);
  g_free (self);
}

/* The part of the frame, and the size of its picture: never larger than the part. */
static gboolean
choose_part (SlPortrait *self, const SlObjectView *object)
{
  const SlRect part = { object->x, object->y, object->w, object->h };
  const gint longest = MAX (part.width, part.height);
  if (part.width < 1 || part.height < 1 || part.x < 0 || part.y < 0
      || part.x + part.width > self->image.width || part.y + part.height > self->image.height)
    return FALSE;
  const gdouble scale = MIN (1, (gdouble) self->side / longest);
  self->spec.width = MAX (1, (int) floor (part.width * scale));
  self->spec.height = MAX (1, (int) floor (part.height * scale));
  self->spec.crop = part;
  return sl_normalizer_set (self->normalizer, &self->image, &self->spec) == SL_NORMALIZE_OK;
}

/* Of green, most of the light that is seen. */
static gdouble
find_sharpness (const SlPortrait *self)
{
  const gint w = self->spec.width, h = self->spec.height;
  guint64 sum = 0;
  if (w < 3 || h < 3)
    return 0;
  for (gint y = 1; y + 1 < h; y++) {
    const guint8 *row = self->pixels + 3 * (gsize) w * (gsize) y + 1;
    const gsize below = 3 * (gsize) w;
    for (gint x = 1; x + 1 < w; x++) {
      const guint8 *at = row + 3 * x;
      sum += (guint) ABS (4 * at[0] - at[-3] - at[3] - *(at - below) - at[below]);
    }
  }
  const gdouble mean = (gdouble) sum / (4. * (w - 2) * (h - 2));
  return mean / (mean + HALF_SHARP);
}

static const SlPoint *
find_point (const SlPortraitSubject *subject, const char *name)
{
  for (guint i = 0; i < subject->skeleton->n_points; i++)
    if (subject->skeleton->names[i] != NULL && strcmp (subject->skeleton->names[i], name) == 0)
      return &subject->points[i];
  return NULL;
}

static gdouble
find_frontal (const SlPortrait *self, const SlPortraitSubject *subject)
{
  if (subject->points == NULL || subject->skeleton == NULL || subject->skeleton->names == NULL)
    return 1;
  const SlPoint *left = find_point (subject, "left_eye"),
                *right = find_point (subject, "right_eye"), *nose = find_point (subject, "nose");
  if (left == NULL || right == NULL || nose == NULL)
    return 1;
  const gdouble w = self->image.width, h = self->image.height;
  const gdouble ex = (left->x - right->x) * w, ey = (left->y - right->y) * h,
                nx = (nose->x - right->x) * w, ny = (nose->y - right->y) * h,
                squares = ex * ex + ey * ey;
  if (!(squares > 0))
    return LEAST_FRONTAL;
  const gdouble along = (nx * ex + ny * ey) / squares; /* 0.5: in the middle of both eyes */
  return CLAMP (1 - 2 * fabs (along - 0.5), LEAST_FRONTAL, 1);
}

static gboolean
is_cut_off (const SlPortrait *self, const SlObjectView *object)
{
  return object->x <= 0 || object->y <= 0 || object->x + object->w >= self->image.width
         || object->y + object->h >= self->image.height;
}

gdouble
sl_portrait_score (SlPortrait *self, const SlImage *image, const SlPortraitSubject *subject)
{
  if (!choose_part (self, subject->object))
    return 0;
  sl_normalizer_run (self->normalizer, image, self->pixels);
  const gdouble size = sqrt ((gdouble) self->spec.width * self->spec.height) / self->side;
  return size * find_sharpness (self) * find_frontal (self, subject)
         * (is_cut_off (self, subject->object) ? CUT_OFF : 1)
         * (1 - CLAMP (subject->covered, 0, 1));
}

GBytes *
sl_portrait_encode (SlPortrait *self)
{
#if SL_HAVE_JPEG
  const SlRemotePicture picture = { (guint) self->spec.width, (guint) self->spec.height, 3 };
  const gsize n = sl_remote_jpeg_write (&picture, QUALITY, self->pixels, self->jpeg, self->room);
  return n > 0 ? g_bytes_new (self->jpeg, n) : NULL;
#else
  return NULL;
#endif
}
