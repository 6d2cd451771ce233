/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Means of cells, and rows made of them, plane by plane. A row of bytes is made once for a row of
 * cells and copied to each row of the picture. Compiled with full optimisation in every build.
 */
#include "plugins/redact/hide.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* A cell's side is a multiple of this: of every format's chroma samples, and of blocks. */
#define CELL_STEP 8
#define OPAQUE 0xff

/* Where the cells of an area begin in one direction, in pixels; the last one ends at @at[@n]. */
typedef struct
{
  gint n;
  gint at[SL_HIDE_CELLS + 1];
} Cuts;

/* A component within its plane. */
typedef struct
{
  guint index, offset, step, x_shift, y_shift;
  gint width, height;
} Part;

typedef struct
{
  guint8 *data;
  gint stride, row_bytes;
  guint n_parts, y_shift;
  Part parts[4];
} Plane;

void
sl_hide_scratch_clear (SlHideScratch *scratch)
{
  for (guint i = 0; i < G_N_ELEMENTS (scratch->rows); i++)
    g_clear_pointer (&scratch->rows[i], g_free);
  scratch->bytes = 0;
}

static void
reserve (SlHideScratch *scratch, gsize bytes)
{
  if (bytes <= scratch->bytes)
    return;
  sl_hide_scratch_clear (scratch);
  for (guint i = 0; i < G_N_ELEMENTS (scratch->rows); i++)
    scratch->rows[i] = g_malloc (bytes);
  scratch->bytes = bytes;
}

/* Cells of one size on the frame's grid. A first or last one of less than half that size is part of
 * its neighbour. */
static Cuts
cut (gint from, gint to)
{
  Cuts cuts = { 0, { from } };
  gint side = CELL_STEP;
  while ((to - 1) / side - from / side + 1 > SL_HIDE_CELLS)
    side += CELL_STEP;
  for (gint at = (from / side + 1) * side; at < to; at += side)
    if (at - cuts.at[cuts.n] >= side / 2)
      cuts.at[++cuts.n] = at;
  if (cuts.n > 0 && to - cuts.at[cuts.n] < side / 2)
    cuts.n--;
  cuts.at[++cuts.n] = to;
  return cuts;
}

static gint
ceil_shift (gint value, guint shift)
{
  return (value + (1 << shift) - 1) >> shift;
}

static void
plane_init (Plane *plane, GstVideoFrame *frame, guint p)
{
  const GstVideoInfo *info = &frame->info;
  memset (plane, 0, sizeof *plane);
  plane->data = GST_VIDEO_FRAME_PLANE_DATA (frame, p);
  plane->stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, p);
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    if ((guint) GST_VIDEO_INFO_COMP_PLANE (info, c) != p)
      continue;
    Part *part = &plane->parts[plane->n_parts++];
    *part = (Part){ c,
                    (guint) GST_VIDEO_INFO_COMP_POFFSET (info, c),
                    (guint) GST_VIDEO_INFO_COMP_PSTRIDE (info, c),
                    GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, c),
                    GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, c),
                    GST_VIDEO_INFO_COMP_WIDTH (info, c),
                    GST_VIDEO_INFO_COMP_HEIGHT (info, c) };
    plane->y_shift = part->y_shift;
    plane->row_bytes = MAX (plane->row_bytes, part->width * (gint) part->step);
  }
}

/* The first byte of the group of samples at pixel @x, which begins one or is the frame's end. */
static gint
byte_at (const Plane *plane, gint x)
{
  gint bytes = 0;
  for (guint i = 0; i < plane->n_parts; i++)
    bytes = MAX (bytes, ceil_shift (x, plane->parts[i].x_shift) * (gint) plane->parts[i].step);
  return MIN (bytes, plane->row_bytes);
}

#ifdef __SSE2__
/* Sums of the even and of the odd bytes; returns how many bytes were summed. */
static gint
sum_pairs (const guint8 *row, gint n, guint32 *even, guint32 *odd)
{
  const __m128i zero = _mm_setzero_si128 (), low = _mm_set1_epi16 (0xff);
  __m128i evens = zero, odds = zero;
  gint i = 0;
  for (gint step = 16; i + 8 <= n; i += step) {
    step = i + 16 <= n ? 16 : 8;
    const __m128i *at = (const __m128i *) (gconstpointer) (row + i);
    const __m128i bytes = step == 16 ? _mm_loadu_si128 (at) : _mm_loadl_epi64 (at);
    evens = _mm_add_epi64 (evens, _mm_sad_epu8 (_mm_and_si128 (bytes, low), zero));
    odds = _mm_add_epi64 (odds, _mm_sad_epu8 (_mm_srli_epi16 (bytes, 8), zero));
  }
  *even =
    (guint32) (_mm_cvtsi128_si32 (evens) + _mm_cvtsi128_si32 (_mm_unpackhi_epi64 (evens, evens)));
  *odd = (guint32) (_mm_cvtsi128_si32 (odds) + _mm_cvtsi128_si32 (_mm_unpackhi_epi64 (odds, odds)));
  return i;
}
#else
static gint
sum_pairs (const guint8 *row, gint n, guint32 *even, guint32 *odd)
{
  gint i = 0;
  *even = *odd = 0;
  for (; i + 2 <= n; i += 2) {
    *even += row[i];
    *odd += row[i + 1];
  }
  return i;
}
#endif

/* The sum of @n samples, @step bytes apart, of which the first is *@row. */
static guint32
sum_row (const guint8 *row, gint n, guint step)
{
  guint32 sum = 0, other = 0;
  gint i = 0;
  if (step == 1) {
    i = sum_pairs (row, n, &sum, &other);
    sum += other;
  } else if (step == 2) {
    i = sum_pairs (row, 2 * n - 1, &sum, &other) / 2;
  }
  for (; i < n; i++)
    sum += row[(gsize) i * step];
  return sum;
}

/* The mean of a component over a cell, rounded. */
static guint8
mean (const Plane *plane, const Part *part, gint x0, gint x1, gint y0, gint y1)
{
  const gint left = x0 >> part->x_shift, right = MIN (ceil_shift (x1, part->x_shift), part->width),
             top = y0 >> part->y_shift, bottom = MIN (ceil_shift (y1, part->y_shift), part->height);
  const guint64 count = (guint64) (right - left) * (guint64) (bottom - top);
  guint64 sum = 0;
  for (gint y = top; y < bottom; y++)
    sum +=
      sum_row (plane->data + (gssize) y * plane->stride + part->offset + (gsize) left * part->step,
               right - left, part->step);
  return (guint8) ((sum + count / 2) / count);
}

typedef guint8 Values[4][SL_HIDE_CELLS][SL_HIDE_CELLS]; /* by part, row and column */

static void
find_values (const Plane *plane, const SlHideStyle *style, const Cuts *columns, const Cuts *rows,
             Values values)
{
  for (guint i = 0; i < plane->n_parts; i++)
    for (gint r = 0; r < rows->n; r++)
      for (gint c = 0; c < columns->n; c++)
        values[i][r][c] = style->mode == SL_HIDE_FILL
                            ? style->value[plane->parts[i].index]
                            : mean (plane, &plane->parts[i], columns->at[c], columns->at[c + 1],
                                    rows->at[r], rows->at[r + 1]);
}

/* The weight 0..256 of the cell after *@cell at the sample @at: cells count at their middle. *@cell
 * is at most that cell before. */
static gint
weigh (const Cuts *cuts, gint at, gint *cell)
{
  gint c = *cell;
  while (c + 1 < cuts->n && 2 * at + 1 >= cuts->at[c + 1] + cuts->at[c + 2])
    c++;
  *cell = c;
  const gint from = cuts->at[c] + cuts->at[c + 1];
  if (c + 1 >= cuts->n || 2 * at + 1 <= from)
    return 0;
  return (2 * at + 1 - from) * 256 / (cuts->at[c + 1] + cuts->at[c + 2] - from);
}

/* The bytes of a row of the area from values of row @r of cells, for a plane's row from its
 * beginning. */
static void
make_row (const Plane *plane, SlHideMode mode, const Cuts *columns, const Values values, gint r,
          guint8 *row)
{
  const gint from = byte_at (plane, columns->at[0]), to = byte_at (plane, columns->at[columns->n]);
  memset (row + from, OPAQUE, (gsize) (to - from));
  for (guint i = 0; i < plane->n_parts; i++) {
    const Part *part = &plane->parts[i];
    const guint8 *cells = values[i][r];
    for (gint c = 0; c < columns->n; c++) {
      const gint end = MIN (ceil_shift (columns->at[c + 1], part->x_shift), part->width);
      for (gint x = columns->at[c] >> part->x_shift; x < end; x++) {
        gint cell = mode == SL_HIDE_BLUR ? MAX (c - 1, 0) : c;
        const gint t = mode == SL_HIDE_BLUR ? weigh (columns, x << part->x_shift, &cell) : 0;
        row[(guint) x * part->step + part->offset] =
          t == 0 ? cells[cell]
                 : (guint8) ((cells[cell] * (256 - t) + cells[cell + 1] * t + 128) >> 8);
      }
    }
  }
}

static void
mix_rows (guint8 *restrict out, const guint8 *restrict a, const guint8 *restrict b, gint n, gint t)
{
  for (gint i = 0; i < n; i++)
    out[i] = (guint8) ((a[i] * (256 - t) + b[i] * t + 128) >> 8);
}

/* Copies @source to @row from pixel @left to @right, where @blocks say so. */
static void
copy_row (const Plane *plane, guint8 *row, const guint8 *source, gint left, gint right,
          const guint8 *blocks)
{
  for (gint x = left; x < right;) {
    gint end = right;
    if (blocks != NULL) {
      const gboolean hidden = blocks[x / SL_HIDE_BLOCK];
      for (end = x; end < right && (blocks[end / SL_HIDE_BLOCK] != 0) == (hidden != 0);)
        end = MIN ((end / SL_HIDE_BLOCK + 1) * SL_HIDE_BLOCK, right);
      if (!hidden) {
        x = end;
        continue;
      }
    }
    const gint from = byte_at (plane, x), to = byte_at (plane, end);
    memcpy (row + from, source + from, (gsize) (to - from));
    x = end;
  }
}

typedef struct
{
  const Plane *plane;
  const SlHideStyle *style;
  const Cuts *columns, *rows;
  const guint8 *blocks; /* (nullable) */
  gint blocks_stride;
  SlHideScratch *scratch;
} Job;

/* Makes row @cell of cells, and for a blur the one after it; before, that of @made was. */
static void
prepare_rows (const Job *job, const Values values, gint made, gint cell)
{
  const SlHideMode mode = job->style->mode;
  guint8 **scratch = job->scratch->rows, *first = scratch[0];
  if (mode == SL_HIDE_BLUR && made >= 0 && cell == made + 1) {
    scratch[0] = scratch[1];
    scratch[1] = first;
  } else
    make_row (job->plane, mode, job->columns, values, cell, first);
  if (mode == SL_HIDE_BLUR && cell + 1 < job->rows->n)
    make_row (job->plane, mode, job->columns, values, cell + 1, scratch[1]);
}

/* The rows of the plane: each of what the cells at it are, or between them. */
static void
write_rows (const Job *job, const Values values)
{
  const Plane *plane = job->plane;
  const Cuts *rows = job->rows;
  const gint left = job->columns->at[0], right = job->columns->at[job->columns->n],
             from = byte_at (plane, left), n = byte_at (plane, right) - from,
             bottom = MIN (ceil_shift (rows->at[rows->n], plane->y_shift), plane->parts[0].height);
  guint8 **scratch = job->scratch->rows;
  gint made = -1, cell = 0;
  for (gint y = rows->at[0] >> plane->y_shift; y < bottom; y++) {
    const gint pixel = y << plane->y_shift;
    gint t = 0;
    const guint8 *source;
    if (job->style->mode == SL_HIDE_BLUR)
      t = weigh (rows, pixel, &cell);
    else
      while (cell + 1 < rows->n && pixel >= rows->at[cell + 1])
        cell++;
    guint8 *row = plane->data + (gssize) y * plane->stride;
    if (cell != made) {
      prepare_rows (job, values, made, cell);
      made = cell;
    }
    if (t > 0) {
      guint8 *mixed = job->blocks == NULL ? row : scratch[2];
      mix_rows (mixed + from, scratch[0] + from, scratch[1] + from, n, t);
      if (mixed == row)
        continue;
      source = mixed;
    } else
      source = scratch[0];
    copy_row (plane, row, source, left, right,
              job->blocks != NULL ? job->blocks + (pixel / SL_HIDE_BLOCK) * job->blocks_stride
                                  : NULL);
  }
}

/* @area inside the frame, on whole samples of all its components; FALSE when nothing is left. */
static gboolean
fit (const GstVideoInfo *info, SlRect *area)
{
  gint left = MAX (area->x, 0), top = MAX (area->y, 0);
  gint right = (gint) MIN ((gint64) area->x + area->width, GST_VIDEO_INFO_WIDTH (info)),
       bottom = (gint) MIN ((gint64) area->y + area->height, GST_VIDEO_INFO_HEIGHT (info));
  if (left >= right || top >= bottom)
    return FALSE;
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    const gint x = 1 << GST_VIDEO_FORMAT_INFO_W_SUB (info->finfo, c),
               y = 1 << GST_VIDEO_FORMAT_INFO_H_SUB (info->finfo, c);
    left = left / x * x;
    top = top / y * y;
    right = MIN ((right + x - 1) / x * x, GST_VIDEO_INFO_WIDTH (info));
    bottom = MIN ((bottom + y - 1) / y * y, GST_VIDEO_INFO_HEIGHT (info));
  }
  *area = (SlRect){ left, top, right - left, bottom - top };
  return TRUE;
}

void
sl_hide (GstVideoFrame *frame, const SlHideStyle *style, SlRect area, const guint8 *blocks,
         SlHideScratch *scratch)
{
  if (!fit (&frame->info, &area))
    return;
  const Cuts columns = cut (area.x, area.x + area.width), rows = cut (area.y, area.y + area.height);
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES (frame); p++) {
    Plane plane;
    Values values;
    plane_init (&plane, frame, p);
    reserve (scratch, (gsize) plane.row_bytes);
    find_values (&plane, style, &columns, &rows, values);
    const Job job = { &plane, style,  &columns,
                      &rows,  blocks, (GST_VIDEO_FRAME_WIDTH (frame) + 3) / SL_HIDE_BLOCK,
                      scratch };
    write_rows (&job, values);
  }
}
