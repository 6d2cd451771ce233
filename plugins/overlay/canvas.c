/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rectangles, lines and stencils, component by component. A subsampled component is touched where
 * any of its pixels is. Compiled with full optimisation in every build.
 */
#include "plugins/overlay/canvas.h"

#include <math.h>
#include <string.h>

#include "core/base/picture.h"

/* Samples of a stencil handled at a time. */
#define CHUNK 512

void
sl_canvas_init (SlCanvas *canvas, GstVideoFrame *frame)
{
  const GstVideoInfo *info = &frame->info;
  memset (canvas, 0, sizeof *canvas);
  canvas->width = GST_VIDEO_INFO_WIDTH (info);
  canvas->height = GST_VIDEO_INFO_HEIGHT (info);
  canvas->yuv = GST_VIDEO_INFO_IS_YUV (info) || GST_VIDEO_INFO_IS_GRAY (info);
  canvas->n_components =
    MIN (GST_VIDEO_INFO_N_COMPONENTS (info), GST_VIDEO_INFO_IS_GRAY (info) ? 1 : 3);
  for (guint c = 0; c < canvas->n_components; c++)
    canvas->components[c] = (SlCanvasGrid){
      .data = GST_VIDEO_FRAME_COMP_DATA (frame, c),
      .width = GST_VIDEO_FRAME_COMP_WIDTH (frame, c),
      .height = GST_VIDEO_FRAME_COMP_HEIGHT (frame, c),
      .pixel_stride = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c),
      .row_stride = GST_VIDEO_FRAME_COMP_STRIDE (frame, c),
      .x_shift = GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, c),
      .y_shift = GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, c),
    };
  if (!canvas->yuv)
    return;
  static const GstVideoColorMatrix unstated[] = { [SL_MATRIX_BT601] = GST_VIDEO_COLOR_MATRIX_BT601,
                                                  [SL_MATRIX_BT709] =
                                                    GST_VIDEO_COLOR_MATRIX_BT709 };
  const GstVideoColorMatrix matrix = info->colorimetry.matrix;
  if (!gst_video_color_matrix_get_Kr_Kb (matrix, &canvas->kr, &canvas->kb))
    gst_video_color_matrix_get_Kr_Kb (unstated[sl_matrix_of_height (canvas->height)], &canvas->kr,
                                      &canvas->kb);
  gst_video_color_range_offsets (info->colorimetry.range, info->finfo, canvas->offset,
                                 canvas->scale);
}

static guint8
to_code (double value)
{
  return (guint8) CLAMP (lrint (value), 0, 255);
}

SlInk
sl_canvas_ink (const SlCanvas *canvas, guint32 rgb)
{
  SlInk ink = { { (guint8) (rgb >> 16), (guint8) (rgb >> 8), (guint8) rgb } };
  if (!canvas->yuv)
    return ink;
  const double r = ink.value[0] / 255.0, g = ink.value[1] / 255.0, b = ink.value[2] / 255.0;
  const double y = canvas->kr * r + (1 - canvas->kr - canvas->kb) * g + canvas->kb * b;
  ink.value[0] = to_code (canvas->offset[0] + y * canvas->scale[0]);
  ink.value[1] = to_code (canvas->offset[1] + (b - y) / (2 * (1 - canvas->kb)) * canvas->scale[1]);
  ink.value[2] = to_code (canvas->offset[2] + (r - y) / (2 * (1 - canvas->kr)) * canvas->scale[2]);
  return ink;
}

/* Clips to the canvas; FALSE when nothing is left. */
static gboolean
clip (const SlCanvas *canvas, gint *x, gint *y, gint *width, gint *height)
{
  const gint64 right = MIN ((gint64) *x + *width, canvas->width),
               bottom = MIN ((gint64) *y + *height, canvas->height);
  *x = MAX (*x, 0);
  *y = MAX (*y, 0);
  *width = (gint) MAX (right - *x, 0);
  *height = (gint) MAX (bottom - *y, 0);
  return *width > 0 && *height > 0;
}

/* The part of a component under a clipped rectangle: its first byte; *@n bytes in each of *@rows
 * rows. */
static guint8 *
part_of (const SlCanvasGrid *component, gint x, gint y, gint width, gint height, gint *n,
         gint *rows)
{
  const gint left = x >> component->x_shift, top = y >> component->y_shift;
  *n = MIN (((x + width - 1) >> component->x_shift) + 1, component->width) - left;
  *rows = MIN (((y + height - 1) >> component->y_shift) + 1, component->height) - top;
  return component->data + (gssize) top * component->row_stride
         + (gssize) left * component->pixel_stride;
}

static void
fill_row (guint8 *row, gint n, gint stride, guint8 value)
{
  if (stride == 1) {
    memset (row, value, (gsize) n);
    return;
  }
  for (gint i = 0; i < n; i++)
    row[i * stride] = value;
}

void
sl_canvas_fill (SlCanvas *canvas, gint x, gint y, gint width, gint height, SlInk ink)
{
  if (!clip (canvas, &x, &y, &width, &height))
    return;
  for (guint c = 0; c < canvas->n_components; c++) {
    const SlCanvasGrid *component = &canvas->components[c];
    gint n, rows;
    guint8 *row = part_of (component, x, y, width, height, &n, &rows);
    for (; rows > 0; rows--, row += component->row_stride)
      fill_row (row, n, component->pixel_stride, ink.value[c]);
  }
}

static inline guint8
mix (guint8 under, guint added, guint keep)
{
  return (guint8) ((under * keep + added) >> 8);
}

/* @added = ink * alpha + rounding; @keep = 256 - alpha. */
static void
blend_row (guint8 *restrict row, gint n, gint stride, guint added, guint keep)
{
  if (stride == 1)
    for (gint i = 0; i < n; i++)
      row[i] = mix (row[i], added, keep);
  else
    for (gint i = 0; i < n; i++)
      row[i * stride] = mix (row[i * stride], added, keep);
}

void
sl_canvas_blend (SlCanvas *canvas, gint x, gint y, gint width, gint height, SlInk ink, guint alpha)
{
  if (!clip (canvas, &x, &y, &width, &height))
    return;
  for (guint c = 0; c < canvas->n_components; c++) {
    const SlCanvasGrid *component = &canvas->components[c];
    const guint mask_x = (1u << component->x_shift) - 1, mask_y = (1u << component->y_shift) - 1;
    gint n, rows;
    /* Neighbouring rectangles must not mix a shared chroma sample twice: it belongs to the one that
     * has its first pixel. */
    const gint left = (gint) (((guint) x + mask_x) & ~mask_x),
               top = (gint) (((guint) y + mask_y) & ~mask_y);
    if (left >= x + width || top >= y + height)
      continue;
    guint8 *row = part_of (component, left, top, x + width - left, y + height - top, &n, &rows);
    for (; rows > 0; rows--, row += component->row_stride)
      blend_row (row, n, component->pixel_stride, ink.value[c] * alpha + 128, 256 - alpha);
  }
}

void
sl_canvas_outline (SlCanvas *canvas, gint x, gint y, gint width, gint height, gint thickness,
                   SlInk ink)
{
  /* Edges far outside are moved to just outside, where sums of coordinates are small. */
  const gint64 left = CLAMP ((gint64) x, -thickness, canvas->width + thickness),
               top = CLAMP ((gint64) y, -thickness, canvas->height + thickness);
  const gint64 right = CLAMP ((gint64) x + width, -thickness, canvas->width + thickness);
  const gint64 bottom = CLAMP ((gint64) y + height, -thickness, canvas->height + thickness);
  const gint t = MIN (thickness, MIN (width, height));
  x = (gint) left;
  y = (gint) top;
  width = (gint) (right - left);
  height = (gint) (bottom - top);
  sl_canvas_fill (canvas, x, y, width, t, ink);
  sl_canvas_fill (canvas, x, y + height - t, width, t, ink);
  sl_canvas_fill (canvas, x, y + t, t, height - 2 * t, ink);
  sl_canvas_fill (canvas, x + width - t, y + t, t, height - 2 * t, ink);
}

/* Cuts the line from (@x0, @y0) along (@dx, @dy) to where @position + t * @step lies in [0, @size];
 * t in [*@from, *@to]. */
static gboolean
clip_axis (double position, double step, double size, double *from, double *to)
{
  if (step == 0)
    return position >= 0 && position <= size;
  const double a = -position / step, b = (size - position) / step;
  *from = MAX (*from, MIN (a, b));
  *to = MIN (*to, MAX (a, b));
  return *from <= *to;
}

void
sl_canvas_line (SlCanvas *canvas, double x0, double y0, double x1, double y1, gint thickness,
                SlInk ink)
{
  const double dx = x1 - x0, dy = y1 - y0;
  double from = 0, to = 1;
  if (!isfinite (x0 + y0 + x1 + y1) || !isfinite (dx) || !isfinite (dy)
      || !clip_axis (x0, dx, canvas->width, &from, &to)
      || !clip_axis (y0, dy, canvas->height, &from, &to))
    return;
  const gint steps = (gint) ceil (MAX (fabs (dx), fabs (dy)) * (to - from));
  const double half = thickness / 2.0;
  const gboolean flat = fabs (dx) >= fabs (dy);
  /* Along the longer axis one pixel a step, across it the thickness. */
  const gint width = flat ? 1 : thickness, height = flat ? thickness : 1;
  for (gint i = 0; i <= steps; i++) {
    const double t = steps > 0 ? from + (to - from) * i / steps : from;
    const double x = x0 + dx * t, y = y0 + dy * t;
    sl_canvas_fill (canvas, (gint) floor (flat ? x : x - half + 0.5),
                    (gint) floor (flat ? y - half + 0.5 : y), width, height, ink);
  }
}

void
sl_canvas_disc (SlCanvas *canvas, double x, double y, double radius, SlInk ink)
{
  if (!(x > -radius && y > -radius && x < canvas->width + radius && y < canvas->height + radius))
    return;
  const gint top = (gint) floor (y - radius), bottom = (gint) ceil (y + radius);
  for (gint row = top; row < bottom; row++) {
    const double offset = row + 0.5 - y, span = radius * radius - offset * offset;
    if (span <= 0)
      continue;
    const gint left = (gint) lrint (x - sqrt (span)), right = (gint) lrint (x + sqrt (span));
    sl_canvas_fill (canvas, left, row, right - left, 1, ink);
  }
}

/* Mean coverage of the pixels under the sample at (@x, @y) of a component, both relative to the
 * stencil and in pixels. */
static guint8
coverage_at (const SlStencil *stencil, gint x, gint y, guint x_shift, guint y_shift)
{
  guint sum = 0;
  for (gint j = y; j < y + (1 << y_shift); j++)
    for (gint i = x; i < x + (1 << x_shift); i++)
      if (i >= 0 && j >= 0 && i < stencil->width && j < stencil->height)
        sum += stencil->data[j * stencil->stride + i];
  return (guint8) (sum >> (x_shift + y_shift));
}

/* Means of pairs, or of squares of four, that lie wholly inside the stencil. */
static void
average_row (const guint8 *restrict upper, const guint8 *restrict lower, gint n,
             guint8 *restrict out)
{
  for (gint i = 0; i < n; i++)
    out[i] = (guint8) ((upper[2 * i] + upper[2 * i + 1] + lower[2 * i] + lower[2 * i + 1]) >> 2);
}

/* Coverage of @n samples from pixel (@x, @y) of the stencil on. */
static void
coverage_row (const SlStencil *stencil, gint x, gint y, gint n, const SlCanvasGrid *component,
              guint8 *out)
{
  const guint x_shift = component->x_shift, y_shift = component->y_shift;
  const guint8 *row = stencil->data + (gssize) y * stencil->stride;
  gint i = 0;
  if (y >= 0 && y + (1 << y_shift) <= stencil->height && x_shift <= 1 && y_shift <= 1) {
    for (; i < n && x + (i << x_shift) < 0; i++)
      out[i] = coverage_at (stencil, x + (i << x_shift), y, x_shift, y_shift);
    const gint first = x + (i << x_shift),
               inside = CLAMP ((stencil->width - first) >> x_shift, 0, n - i);
    if (x_shift == 0 && y_shift == 0)
      memcpy (out + i, row + first, (gsize) inside);
    else if (x_shift == 1)
      average_row (row + first, row + first + (y_shift == 1 ? stencil->stride : 0), inside,
                   out + i);
    i += x_shift == 1 || y_shift == 0 ? inside : 0;
  }
  for (; i < n; i++)
    out[i] = coverage_at (stencil, x + (i << x_shift), y, x_shift, y_shift);
}

static void
cover_row (guint8 *restrict row, gint n, gint stride, guint8 value, const guint8 *restrict alpha)
{
  if (stride == 1)
    for (gint i = 0; i < n; i++) {
      const guint a = alpha[i] + (alpha[i] >> 7u);
      row[i] = mix (row[i], value * a + 128, 256 - a);
    }
  else
    for (gint i = 0; i < n; i++) {
      const guint a = alpha[i] + (alpha[i] >> 7u);
      row[i * stride] = mix (row[i * stride], value * a + 128, 256 - a);
    }
}

void
sl_canvas_stencil (SlCanvas *canvas, gint x, gint y, const SlStencil *stencil, SlInk ink)
{
  gint left = x, top = y, width = stencil->width, height = stencil->height;
  guint8 alpha[CHUNK];
  if (!clip (canvas, &left, &top, &width, &height))
    return;
  for (guint c = 0; c < canvas->n_components; c++) {
    const SlCanvasGrid *component = &canvas->components[c];
    const gint first_x = left >> component->x_shift, first_y = top >> component->y_shift;
    gint n, rows;
    guint8 *row = part_of (component, left, top, width, height, &n, &rows);
    for (gint j = 0; j < rows; j++, row += component->row_stride)
      for (gint i = 0; i < n; i += CHUNK) {
        const gint count = MIN (n - i, CHUNK);
        coverage_row (stencil, ((first_x + i) << component->x_shift) - x,
                      ((first_y + j) << component->y_shift) - y, count, component, alpha);
        cover_row (row + (gssize) i * component->pixel_stride, count, component->pixel_stride,
                   ink.value[c], alpha);
      }
  }
}
