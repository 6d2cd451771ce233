/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The normaliser's specification in double precision; see reference.h.
 */
#include "tests/preprocess/reference.h"

#include <math.h>
#include <string.h>

/* Far below the distance of a position from a boundary it does not touch (sizes up to 2^15), far
 * above rounding. */
#define EPSILON 1e-7

/* One axis: where the tensor position falls in the frame, how many pixels it covers, the pixels of
 * the fitted rectangle. */
typedef struct
{
  double position, scale;
  int first, last;
} Place;

/* The samples of one axis that a position is made of. */
typedef struct
{
  int first, count;
  double weight[32770];
} Weights;

static Weights across, down;

static gboolean
place (SlFit fit, double share, double origin, double frame, double tensor, double other_frame,
       double other_tensor, int i, Place *out)
{
  double scale = frame / tensor;
  if (fit == SL_FIT_LETTERBOX)
    scale = fmax (scale, other_frame / other_tensor);
  if (fit == SL_FIT_CROP)
    scale = fmin (scale, other_frame / other_tensor);
  if (fit != SL_FIT_LETTERBOX && share > 0)
    scale *= share;
  const double left = origin + frame / 2 - tensor / 2 * scale;
  const double right = origin + frame / 2 + tensor / 2 * scale;
  out->position = left + (i + 0.5) * scale;
  out->scale = scale;
  out->first = (int) fmax (floor (left + EPSILON), origin);
  out->last = (int) fmin (ceil (right - EPSILON) - 1, origin + frame - 1);
  return out->position > origin - EPSILON && out->position < origin + frame - EPSILON;
}

static void
weigh_bilinear (double position, Weights *weights)
{
  weights->first = (int) floor (position);
  weights->count = 2;
  weights->weight[1] = position - weights->first;
  weights->weight[0] = 1 - weights->weight[1];
}

/* Pixel interval in samples, sample k covering k to k + 1, restricted to @first..@last; equal parts
 * of it count equally. */
static void
weigh_area (double from, double to, int first, int last, Weights *weights)
{
  from = fmax (from, first);
  to = fmin (to, last + 1);
  weights->first = (int) floor (from + EPSILON);
  weights->count = (int) ceil (to - EPSILON) - weights->first;
  for (int k = 0; k < weights->count; k++) {
    const double left = MAX (from, weights->first + k);
    const double right = MIN (to, weights->first + k + 1);
    weights->weight[k] = (right - left) / (to - from);
  }
}

static void
weigh (const Place *at, SlFilter filter, gboolean halved, SlSite site, Weights *weights)
{
  const int first = halved ? at->first / 2 : at->first;
  const int last = halved ? at->last / 2 : at->last;
  const double size = halved ? 2 : 1;
  /* Where the interval of sample 0 starts, in pixels. */
  const double start = halved && site == SL_SITE_COSITED ? -0.5 : 0;
  if (filter == SL_FILTER_NEAREST) {
    const int pixel = (int) floor (at->position + EPSILON);
    weights->first = halved ? pixel / 2 : pixel;
    weights->count = 1;
    weights->weight[0] = 1;
  } else if (filter == SL_FILTER_BILINEAR || at->scale <= 1 + EPSILON / 100) {
    weigh_bilinear ((at->position - start) / size - 0.5, weights);
  } else {
    weigh_area ((at->position - at->scale / 2 - start) / size,
                (at->position + at->scale / 2 - start) / size, first, last, weights);
  }
  /* Samples beyond the fitted rectangle repeat its edge. */
  while (weights->count > 1 && weights->first < first) {
    weights->weight[1] += weights->weight[0];
    memmove (weights->weight, weights->weight + 1,
             (gsize) --weights->count * sizeof weights->weight[0]);
    weights->first++;
  }
  while (weights->count > 1 && weights->first + weights->count - 1 > last) {
    weights->weight[weights->count - 2] += weights->weight[weights->count - 1];
    weights->count--;
  }
  weights->first = CLAMP (weights->first, first, last);
}

/* The components of a position follow each other: each has the weights of the one before it, unless
 * it is the first, or the first of halved ones. */
static double
sample (const TestFrame *frame, SlFilter filter, int c, const Place *px, const Place *py)
{
  double sum = 0;
  if (c == 0 || (c == 1 && (frame->halved_w || frame->halved_h))) {
    weigh (px, filter, c > 0 && frame->halved_w, frame->info.site_h, &across);
    weigh (py, filter, c > 0 && frame->halved_h, frame->info.site_v, &down);
  }
  for (int j = 0; j < down.count; j++) {
    const guint16 *row =
      frame->sample[c] + (gsize) (down.first + j) * (gsize) frame->width[c] + across.first;
    for (int i = 0; i < across.count; i++)
      sum += row[i] * across.weight[i] * down.weight[j];
  }
  return sum;
}

/* Codes to R G B in 0..255, by the definitions of luma and colour difference. */
static void
yuv_to_rgb (const SlImageInfo *info, int bits, const double code[3], double rgb[3])
{
  static const double weights[][2] = { { 0.299, 0.114 }, { 0.2126, 0.0722 }, { 0.2627, 0.0593 } };
  const double kr = weights[info->matrix][0];
  const double kb = weights[info->matrix][1];
  const double unit = 1 << (bits - 8);
  const double most = 256 * unit - 1;
  const double y = info->full_range ? code[0] / most : (code[0] / unit - 16) / 219;
  const double pb = (code[1] - 128 * unit) / (info->full_range ? most : 224 * unit);
  const double pr = (code[2] - 128 * unit) / (info->full_range ? most : 224 * unit);
  const double r = y + pr * 2 * (1 - kr);
  const double b = y + pb * 2 * (1 - kb);
  const double g = (y - kr * r - kb * b) / (1 - kr - kb);
  rgb[0] = r * 255;
  rgb[1] = g * 255;
  rgb[2] = b * 255;
}

/* R G B, or gray in all three. */
static void
picture_colour (const TestFrame *frame, SlColour colour, const double code[3], double rgb[3])
{
  if (frame->components == 3 && !frame->yuv) {
    for (int i = 0; i < 3; i++)
      rgb[i] =
        colour == SL_COLOUR_GRAY ? 0.299 * code[0] + 0.587 * code[1] + 0.114 * code[2] : code[i];
  } else if (frame->yuv && colour != SL_COLOUR_GRAY) {
    yuv_to_rgb (&frame->info, frame->bits, code, rgb);
  } else {
    for (int i = 0; i < 3; i++)
      rgb[i] = frame->info.full_range ? code[0] * 255 / ((1 << frame->bits) - 1)
                                      : (code[0] / (1 << (frame->bits - 8)) - 16) * 255 / 219;
  }
}

/* The pixel of the upright picture that turning brings to (x, y) of a width x height tensor. */
static void
unturn (SlOrientation orientation, int width, int height, int x, int y, int *u, int *v)
{
  const int from_right = width - 1 - x;
  const int from_bottom = height - 1 - y;
  switch (orientation) {
    default:
      *u = x, *v = y;
      break;
    case SL_ORIENTATION_90R:
      *u = y, *v = from_right;
      break;
    case SL_ORIENTATION_180:
      *u = from_right, *v = from_bottom;
      break;
    case SL_ORIENTATION_90L:
      *u = from_bottom, *v = x;
      break;
    case SL_ORIENTATION_HORIZ:
      *u = from_right, *v = y;
      break;
    case SL_ORIENTATION_VERT:
      *u = x, *v = from_bottom;
      break;
    case SL_ORIENTATION_UL_LR:
      *u = y, *v = x;
      break;
    case SL_ORIENTATION_UR_LL:
      *u = from_bottom, *v = from_right;
      break;
  }
}

static SlFilter
find_filter (SlFilter filter, double x, double y)
{
  if (filter != SL_FILTER_AUTO)
    return filter;
  return x > 2 + EPSILON / 100 || y > 2 + EPSILON / 100 ? SL_FILTER_AREA : SL_FILTER_BILINEAR;
}

void
reference_pixel (const TestFrame *frame, const SlNormalizeSpec *spec, int x, int y, double value[3])
{
  const SlImageInfo *info = &frame->info;
  const gboolean turned = spec->orientation == SL_ORIENTATION_90R
                          || spec->orientation == SL_ORIENTATION_90L
                          || spec->orientation >= SL_ORIENTATION_UL_LR;
  const int columns = turned ? spec->height : spec->width;
  const int rows = turned ? spec->width : spec->height;
  const SlRect whole = { 0, 0, info->width, info->height };
  const SlRect part = spec->crop.width > 0 ? spec->crop : whole;
  Place px, py;
  int u, v;
  double rgb[3] = { spec->pad_value, spec->pad_value, spec->pad_value };
  unturn (spec->orientation, spec->width, spec->height, x, y, &u, &v);
  gboolean in_w =
    place (spec->fit, spec->share, part.x, part.width, columns, part.height, rows, u, &px);
  gboolean in_h =
    place (spec->fit, spec->share, part.y, part.height, rows, part.width, columns, v, &py);
  if (in_w && in_h) {
    double code[3] = { 0 };
    for (int c = 0; c < frame->components; c++)
      code[c] = sample (frame, find_filter (spec->filter, px.scale, py.scale), c, &px, &py);
    picture_colour (frame, spec->colour, code, rgb);
  }
  for (int i = 0; i < 3; i++) {
    double byte = CLAMP (rgb[spec->colour == SL_COLOUR_BGR ? 2 - i : i], 0.0, 255.0);
    value[i] = byte * spec->gain[i] + spec->offset[i];
  }
}
