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

static void
free_rows (SlHideScratch *scratch)
{
  for (guint i = 0; i < G_N_ELEMENTS (scratch->rows); i++)
    g_clear_pointer (&scratch->rows[i], g_free);
}

void
sl_hide_scratch_clear (SlHideScratch *scratch)
{
  free_rows (scratch);
  g_clear_pointer (&scratch->weights, g_free);
  scratch->bytes = scratch->n_weights = 0;
}

static void
reserve_rows (SlHideScratch *scratch, gsize bytes)
{
  if (bytes <= scratch->bytes)
    return;
  free_rows (scratch);
  for (guint i = 0; i < G_N_ELEMENTS (scratch->rows); i++)
    scratch->rows[i] = g_malloc (bytes);
  scratch->bytes = bytes;
}

static void
reserve_weights (SlHideScratch *scratch, gsize n)
{
  if (n <= scratch->n_weights)
    return;
  g_free (scratch->weights);
  scratch->weights = g_malloc (n);
  scratch->n_weights = n;
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

/* A component's part of a cell: @rows lines of @n samples, of which the first is *@at. */
typedef struct
{
  const guint8 *at;
  gssize stride;
  gint n, rows;
  guint64 count;
} Block;

static Block
block_of (const Plane *plane, const Part *part, gint x0, gint x1, gint y0, gint y1)
{
  const gint left = x0 >> part->x_shift, right = MIN (ceil_shift (x1, part->x_shift), part->width),
             top = y0 >> plane->y_shift,
             bottom = MIN (ceil_shift (y1, plane->y_shift), part->height);
  return (Block){ plane->data + (gssize) top * plane->stride + part->offset
                    + (gsize) left * part->step,
                  plane->stride, right - left, bottom - top,
                  (guint64) (right - left) * (guint64) (bottom - top) };
}

#ifdef __SSE2__
/* Bytes that a line has at least. */
#define SUM_LEAST 8

static guint64
add_halves (__m128i sums)
{
  guint64 halves[2];
  memcpy (halves, &sums, sizeof halves);
  return halves[0] + halves[1];
}

static __m128i
load_8 (const guint8 *bytes)
{
  return _mm_loadl_epi64 ((const __m128i *) (gconstpointer) bytes);
}

/* Bytes @i.. of a line of @n, 16 at most, and zeros where it ends. Nothing outside is read. */
static __m128i
load_some (const guint8 *row, gint i, gint n)
{
  if (i + 16 <= n)
    return _mm_loadu_si128 ((const __m128i *) (gconstpointer) (row + i));
  /* The last eight bytes without those before @from. */
  const gint from = i + 8 <= n ? i + 8 : i;
  const __m128i end = _mm_srl_epi64 (load_8 (row + n - 8), _mm_cvtsi32_si128 (8 * (8 - n + from)));
  return from > i ? _mm_unpacklo_epi64 (load_8 (row + i), end) : end;
}

/* The sums of the even and of the odd bytes of lines of @n bytes. */
static void
sum_bytes (const Block *block, gint n, guint64 *even, guint64 *odd)
{
  const __m128i zero = _mm_setzero_si128 (), low = _mm_set1_epi16 (0xff);
  __m128i all = zero, evens = zero;
  const guint8 *row = block->at;
  for (gint y = 0; y < block->rows; y++, row += block->stride)
    for (gint i = 0; i < n; i += 16) {
      const __m128i bytes = load_some (row, i, n);
      all = _mm_add_epi64 (all, _mm_sad_epu8 (bytes, zero));
      evens = _mm_add_epi64 (evens, _mm_sad_epu8 (_mm_and_si128 (bytes, low), zero));
    }
  *even = add_halves (evens);
  *odd = add_halves (all) - *even;
}
#else
#define SUM_LEAST 1

static void
sum_bytes (const Block *block, gint n, guint64 *even, guint64 *odd)
{
  guint64 sums[2] = { 0, 0 };
  for (gint y = 0; y < block->rows; y++) {
    const guint8 *row = block->at + y * block->stride;
    for (gint i = 0; i + 1 < n; i += 2) {
      sums[0] += row[i];
      sums[1] += row[i + 1];
    }
    sums[0] += n % 2 != 0 ? row[n - 1] : 0;
  }
  *even = sums[0];
  *odd = sums[1];
}
#endif

/* The sum of samples that are @step bytes apart. */
static guint64
sum_samples (const Block *block, guint step)
{
  const gint n = (block->n - 1) * (gint) step + 1;
  guint64 sum = 0, odd = 0;
  if (step <= 2 && n >= SUM_LEAST) {
    sum_bytes (block, n, &sum, &odd);
    return step == 1 ? sum + odd : sum;
  }
  for (gint y = 0; y < block->rows; y++)
    for (gint i = 0; i < n; i += (gint) step)
      sum += block->at[y * block->stride + i];
  return sum;
}

static guint8
mean (guint64 sum, guint64 count)
{
  return (guint8) ((sum + count / 2) / count);
}

typedef guint8 Values[4][SL_HIDE_CELLS][SL_HIDE_CELLS]; /* by part, row and column */

/* The rounded means of a cell's components. */
static void
find_means (const Plane *plane, gint x0, gint x1, gint y0, gint y1, guint8 means[4])
{
  const Part *parts = plane->parts;
  const Block first = block_of (plane, &parts[0], x0, x1, y0, y1);
  /* Two components side by side: one pass over both. */
  if (plane->n_parts == 2 && parts[0].step == 2 && 2 * first.n >= SUM_LEAST) {
    guint64 sums[2];
    Block both = first;
    both.at -= parts[0].offset;
    sum_bytes (&both, 2 * both.n, &sums[0], &sums[1]);
    for (guint i = 0; i < 2; i++)
      means[i] = mean (sums[parts[i].offset], both.count);
    return;
  }
  for (guint i = 0; i < plane->n_parts; i++) {
    const Block block = block_of (plane, &parts[i], x0, x1, y0, y1);
    means[i] = mean (sum_samples (&block, parts[i].step), block.count);
  }
}

static void
find_values (const Plane *plane, const SlHideStyle *style, const Cuts *columns, const Cuts *rows,
             Values values)
{
  for (gint r = 0; r < rows->n; r++)
    for (gint c = 0; c < columns->n; c++) {
      guint8 means[4];
      if (style->mode != SL_HIDE_FILL)
        find_means (plane, columns->at[c], columns->at[c + 1], rows->at[r], rows->at[r + 1], means);
      for (guint i = 0; i < plane->n_parts; i++)
        values[i][r][c] =
          style->mode == SL_HIDE_FILL ? style->value[plane->parts[i].index] : means[i];
    }
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

/* Weights 0..255 of pixels from @columns->at[0] on; returns the pixels between the middles of two
 * cells, for each but the last cell, which has what is left. */
static Cuts
find_weights (const Cuts *columns, guint8 *weights)
{
  Cuts between = *columns;
  gint cell = 0;
  for (gint c = 1; c < columns->n; c++)
    between.at[c] = (columns->at[c] + columns->at[c + 1]) / 2;
  for (gint x = columns->at[0]; x < columns->at[columns->n]; x++)
    *weights++ = (guint8) weigh (columns, x, &cell);
  return between;
}

/* Samples @step bytes apart, from @a to @b by weights that are @stride bytes apart. */
static inline void
blend (guint8 *restrict out, guint step, const guint8 *restrict weights, guint stride, gint n,
       guint8 a, guint8 b)
{
  const guint first = a * 256u + 128, more = (guint) b - a;
  for (guint i = 0; i < (guint) n; i++)
    out[i * step] = (guint8) ((guint16) (first + more * weights[i * stride]) >> 8);
}

/* The most usual distances have loops of their own. */
static void
blend_part (const Part *part, guint8 *out, const guint8 *weights, gint n, guint8 a, guint8 b)
{
  if (part->step == 1 && part->x_shift == 0)
    blend (out, 1, weights, 1, n, a, b);
  else if (part->step == 2 && part->x_shift == 1)
    blend (out, 2, weights, 2, n, a, b);
  else
    blend (out, part->step, weights, 1u << part->x_shift, n, a, b);
}

static void
repeat (guint8 *out, guint step, gint n, guint8 value)
{
  if (step == 1) {
    memset (out, value, (gsize) n);
    return;
  }
  for (guint i = 0; i < (guint) n; i++)
    out[i * step] = value;
}

/* The bytes of a row of the area from values of row @r of cells, for a plane's row from its
 * beginning. @weights: (nullable): those between cells, of which @spans has the pixels */
static void
make_row (const Plane *plane, const Cuts *spans, const guint8 *weights, const Values values, gint r,
          guint8 *row)
{
  const gint left = spans->at[0], right = spans->at[spans->n], from = byte_at (plane, left),
             to = byte_at (plane, right);
  memset (row + from, OPAQUE, (gsize) (to - from));
  for (guint i = 0; i < plane->n_parts; i++) {
    const Part *part = &plane->parts[i];
    const guint8 *cells = values[i][r];
    for (gint c = 0; c < spans->n; c++) {
      const gint begin = ceil_shift (spans->at[c], part->x_shift),
                 n = MIN (ceil_shift (spans->at[c + 1], part->x_shift), part->width) - begin;
      guint8 *out = row + (guint) begin * part->step + part->offset;
      if (weights != NULL)
        blend_part (part, out, weights + (begin << part->x_shift) - left, n, cells[c],
                    cells[MIN (c + 1, spans->n - 1)]);
      else
        repeat (out, part->step, n, cells[c]);
    }
  }
}

static void
mix_rows (guint8 *restrict out, const guint8 *restrict a, const guint8 *restrict b, gint n, gint t)
{
  const guint16 first = (guint16) (256 - t), second = (guint16) t;
  for (gint i = 0; i < n; i++)
    out[i] = (guint8) ((guint16) (a[i] * first + b[i] * second + 128) >> 8);
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
  const Cuts *spans;     /* of columns, see make_row() */
  const guint8 *weights; /* (nullable) */
  const guint8 *blocks;  /* (nullable) */
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
    make_row (job->plane, job->spans, job->weights, values, cell, first);
  if (mode == SL_HIDE_BLUR && cell + 1 < job->rows->n)
    make_row (job->plane, job->spans, job->weights, values, cell + 1, scratch[1]);
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
  const gboolean blurs = style->mode == SL_HIDE_BLUR;
  reserve_weights (scratch, (gsize) area.width);
  const Cuts spans = blurs ? find_weights (&columns, scratch->weights) : columns;
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES (frame); p++) {
    Plane plane;
    Values values;
    plane_init (&plane, frame, p);
    reserve_rows (scratch, (gsize) plane.row_bytes);
    find_values (&plane, style, &columns, &rows, values);
    const Job job = { .plane = &plane,
                      .style = style,
                      .columns = &columns,
                      .rows = &rows,
                      .spans = &spans,
                      .weights = blurs ? scratch->weights : NULL,
                      .blocks = blocks,
                      .blocks_stride = (GST_VIDEO_FRAME_WIDTH (frame) + 3) / SL_HIDE_BLOCK,
                      .scratch = scratch };
    write_rows (&job, values);
  }
}
