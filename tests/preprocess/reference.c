/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The normaliser's specification in double precision; see reference.h.
 */
#include "tests/preprocess/reference.h"

#include <math.h>

/* Far below the distance of a position from a boundary it does not touch (sizes up to 2^15), far above rounding. */
#define EPSILON 1e-7

/* One axis: where the tensor position falls in the frame, and the pixels of the fitted rectangle. */
typedef struct
{
  double position;
  int first, last;
} Place;

static gboolean
place (SlAffineFit fit, double frame, double tensor, double other_frame, double other_tensor, int i, Place *out)
{
  double scale = frame / tensor;
  if (fit == SL_AFFINE_LETTERBOX)
    scale = fmax (scale, other_frame / other_tensor);
  if (fit == SL_AFFINE_CROP)
    scale = fmin (scale, other_frame / other_tensor);
  const double left = frame / 2 - tensor / 2 * scale;
  const double right = frame / 2 + tensor / 2 * scale;
  out->position = left + (i + 0.5) * scale;
  out->first = (int) fmax (floor (left + EPSILON), 0);
  out->last = (int) fmin (ceil (right - EPSILON) - 1, frame - 1);
  return out->position > -EPSILON && out->position < frame - EPSILON;
}

/* Position in samples of a component, sample k at k. */
static double
sample_position (double position, gboolean halved, SlSite site)
{
  if (!halved)
    return position - 0.5;
  return site == SL_SITE_COSITED ? (position - 0.5) / 2 : position / 2 - 0.5;
}

static double
at (const TestFrame *frame, int c, int x, int y, const int bounds[4])
{
  x = CLAMP (x, bounds[0], bounds[2]);
  y = CLAMP (y, bounds[1], bounds[3]);
  return frame->sample[c][y * frame->width[c] + x];
}

static double
sample (const TestFrame *frame, SlFilter filter, int c, const Place *px, const Place *py)
{
  const gboolean half_w = c > 0 && frame->halved_w;
  const gboolean half_h = c > 0 && frame->halved_h;
  const int bounds[4] = {
    half_w ? px->first / 2 : px->first,
    half_h ? py->first / 2 : py->first,
    half_w ? px->last / 2 : px->last,
    half_h ? py->last / 2 : py->last,
  };
  if (filter == SL_FILTER_NEAREST) {
    int x = (int) floor (px->position + EPSILON);
    int y = (int) floor (py->position + EPSILON);
    return at (frame, c, half_w ? x / 2 : x, half_h ? y / 2 : y, bounds);
  }
  const double x = sample_position (px->position, half_w, frame->info.site_h);
  const double y = sample_position (py->position, half_h, frame->info.site_v);
  const int x0 = (int) floor (x);
  const int y0 = (int) floor (y);
  const double fx = x - x0;
  const double fy = y - y0;
  const double top = at (frame, c, x0, y0, bounds) * (1 - fx) + at (frame, c, x0 + 1, y0, bounds) * fx;
  const double bottom = at (frame, c, x0, y0 + 1, bounds) * (1 - fx) + at (frame, c, x0 + 1, y0 + 1, bounds) * fx;
  return top * (1 - fy) + bottom * fy;
}

/* Codes to R G B in 0..255, by the definitions of luma and colour difference. */
static void
yuv_to_rgb (const SlImageInfo *info, const double code[3], double rgb[3])
{
  static const double weights[][2] = { { 0.299, 0.114 }, { 0.2126, 0.0722 }, { 0.2627, 0.0593 } };
  const double kr = weights[info->matrix][0];
  const double kb = weights[info->matrix][1];
  const double y = info->full_range ? code[0] / 255 : (code[0] - 16) / 219;
  const double pb = (code[1] - 128) / (info->full_range ? 255 : 224);
  const double pr = (code[2] - 128) / (info->full_range ? 255 : 224);
  const double r = y + pr * 2 * (1 - kr);
  const double b = y + pb * 2 * (1 - kb);
  const double g = (y - kr * r - kb * b) / (1 - kr - kb);
  rgb[0] = r * 255;
  rgb[1] = g * 255;
  rgb[2] = b * 255;
}

/* R G B, or gray in all three. */
static void
picture_colour (const TestFrame *frame, SlOutColour colour, const double code[3], double rgb[3])
{
  if (frame->components == 3 && !frame->yuv) {
    for (int i = 0; i < 3; i++)
      rgb[i] = colour == SL_OUT_GRAY ? 0.299 * code[0] + 0.587 * code[1] + 0.114 * code[2] : code[i];
  } else if (frame->yuv && colour != SL_OUT_GRAY) {
    yuv_to_rgb (&frame->info, code, rgb);
  } else {
    for (int i = 0; i < 3; i++)
      rgb[i] = frame->info.full_range ? code[0] : (code[0] - 16) * 255 / 219;
  }
}

void
reference_pixel (const TestFrame *frame, const SlNormalizeSpec *spec, int x, int y, double value[3])
{
  const SlImageInfo *info = &frame->info;
  Place px, py;
  double rgb[3] = { spec->pad_value, spec->pad_value, spec->pad_value };
  gboolean in_w = place (spec->fit, info->width, spec->width, info->height, spec->height, x, &px);
  gboolean in_h = place (spec->fit, info->height, spec->height, info->width, spec->width, y, &py);
  if (in_w && in_h) {
    double code[3] = { 0 };
    for (int c = 0; c < frame->components; c++)
      code[c] = sample (frame, spec->filter, c, &px, &py);
    picture_colour (frame, spec->colour, code, rgb);
  }
  for (int i = 0; i < 3; i++) {
    double byte = CLAMP (rgb[spec->colour == SL_OUT_BGR ? 2 - i : i], 0.0, 255.0);
    value[i] = byte * spec->gain[i] + spec->offset[i];
  }
}
