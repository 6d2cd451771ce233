/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads pictures; see source.h. All that depends on the format is in the packing of its planes. */
#include "preprocess/source.h"

#define RAW_ROWS 3
#define TRIPLES 512     /* blended and split at a time */
#define MAX_PREFETCH 32 /* rows; more would push each other out of the cache */

/* The 16-bit rows of one row of the tensor: of the components, and packed ones on the way there. */
typedef struct
{
  int16_t *component[3];
  int16_t *raw[RAW_ROWS];
} Rows;

static size_t
round_up (size_t n)
{
  return (n + SL_AXIS_SLACK - 1) / SL_AXIS_SLACK * SL_AXIS_SLACK;
}

static int
group_samples (SlPacking packing)
{
  static const int samples[] = { [SL_PACKING_PLANAR] = 1,
                                 [SL_PACKING_PAIR] = 2,
                                 [SL_PACKING_TRIPLE] = 3,
                                 [SL_PACKING_QUAD] = 4,
                                 [SL_PACKING_YUV422] = 4 };
  return samples[packing];
}

static bool
init_grid (SlGrid *grid, const SlImageInfo *image, const SlSourceSpec *spec, int shift_w,
           int shift_h, int bits, SlTables *tables)
{
  const SlAxisSpec columns = {
    .scale = spec->x,
    .origin = spec->crop.x,
    .frame = spec->crop.width,
    .tensor = spec->columns,
    .flip = spec->flip_x,
    .chroma_shift = shift_w,
    .site = image->site_h,
    .filter = spec->filter,
  };
  const SlAxisSpec rows = {
    .scale = spec->y,
    .origin = spec->crop.y,
    .frame = spec->crop.height,
    .tensor = spec->rows,
    .flip = spec->flip_y,
    .chroma_shift = shift_h,
    .site = image->site_v,
    .filter = spec->filter,
    .bits = bits,
  };
  return sl_axis_init (&grid->columns, &columns, tables)
         && sl_axis_init (&grid->rows, &rows, tables);
}

static const SlGrid *
component_grid (const SlSource *source, int component)
{
  return &source->grid[component > 0 && source->layout->components == SL_COMPONENTS_YUV];
}

/* The groups of YUV422 that hold the samples wanted of luma and, if wanted, of chroma. */
static void
init_macropixels (SlSource *source, SlPlaneRead *plane, int *first)
{
  const SlAxis *luma = &source->grid[0].columns;
  int begin = luma->origin / 2;
  int end = (luma->origin + luma->samples + 1) / 2;
  if (source->components == 3) {
    const SlAxis *chroma = &source->grid[1].columns;
    begin = chroma->origin < begin ? chroma->origin : begin;
    end = chroma->origin + chroma->samples > end ? chroma->origin + chroma->samples : end;
    source->skew[1] = source->skew[2] = chroma->origin - begin;
  }
  source->skew[0] = luma->origin - 2 * begin;
  plane->groups = end - begin;
  *first = begin;
}

static void
init_plane (SlSource *source, int number, int component)
{
  const SlPixelLayout *layout = source->layout;
  const SlGrid *grid = component_grid (source, component);
  SlPlaneRead *plane = &source->plane[source->planes++];
  int first = grid->columns.origin;
  plane->number = number;
  plane->packing = layout->packing[number > 0];
  plane->rows = &grid->rows;
  plane->groups = grid->columns.samples;
  if (plane->packing == SL_PACKING_YUV422)
    init_macropixels (source, plane, &first);
  const int samples = group_samples (plane->packing);
  plane->offset = (ptrdiff_t) first * samples * (layout->bits > 8 ? 2 : 1);
  const size_t raw = round_up ((size_t) (plane->groups * samples)) + SL_AXIS_SLACK;
  const size_t row =
    round_up ((size_t) plane->groups * (plane->packing == SL_PACKING_YUV422 ? 2 : 1))
    + SL_AXIS_SLACK;
  source->raw_samples = raw > source->raw_samples ? raw : source->raw_samples;
  source->row_samples = row > source->row_samples ? row : source->row_samples;
}

bool
sl_source_init (SlSource *source, const SlKernels *kernels, const SlPixelLayout *layout,
                const SlImageInfo *image, const SlSourceSpec *spec)
{
  *source = (SlSource){
    .kernels = kernels, .layout = layout, .components = spec->components, .tables = source->tables
  };
  SlTables *tables = &source->tables;
  const bool chroma = spec->components == 3 && layout->components == SL_COMPONENTS_YUV;
  bool good = init_grid (&source->grid[0], image, spec, 0, 0, layout->bits, tables)
              && (!chroma
                  || init_grid (&source->grid[1], image, spec, layout->chroma_shift_w,
                                layout->chroma_shift_h, layout->bits, tables));
  for (int i = 0; good && kernels->gathers && i < 2; i++)
    good = sl_gather_attach (&source->grid[i].columns, tables);
  if (!good)
    return false;
  unsigned int seen = 0;
  for (int c = 0; c < spec->components; c++) {
    const int number = layout->component[c].plane;
    if ((seen >> number & 1) == 0)
      init_plane (source, number, c);
    seen |= 1U << number;
  }
  return true;
}

void
sl_source_clear (SlSource *source)
{
  sl_tables_clear (&source->tables);
}

size_t
sl_source_scratch_bytes (const SlSource *source)
{
  return (3 * source->row_samples + RAW_ROWS * source->raw_samples) * sizeof (int16_t);
}

/* The rows that position @y + 1 reads and @y does not, going either way. Blending asks for about
 * half of their lines and leaves the rest to the columns; of three planes all, because some share
 * their columns with another. */
static void
plan_prefetch (SlPrefetch *prefetch, const SlPlaneRead *plane, const SlPixelLayout *layout,
               const SlImage *image, int y)
{
  const SlSpan *span = &plane->rows->span[y];
  const SlSpan *next = y + 1 < plane->rows->count ? span + 1 : span;
  const ptrdiff_t stride = image->stride[plane->number];
  const bool three_planes = layout->planes == 3;
  int32_t first = next->first, last = next->last;
  if (last > span->last)
    first = first > span->last ? first : span->last + 1;
  else
    last = last < span->first ? last : span->first - 1;
  prefetch->rows = last < first ? 0 : last - first < MAX_PREFETCH ? last - first + 1 : MAX_PREFETCH;
  prefetch->pace = plane->number > 0 && three_planes ? prefetch->rows : (prefetch->rows + 1) / 2;
  prefetch->stride = stride;
  prefetch->bytes =
    (ptrdiff_t) plane->groups * group_samples (plane->packing) * (layout->bits > 8 ? 2 : 1);
  prefetch->at =
    prefetch->rows > 0 ? image->plane[plane->number] + plane->offset + first * stride : NULL;
  prefetch->end = prefetch->rows > 0 ? prefetch->at + prefetch->bytes : NULL;
}

/* What blending left, over the columns. */
static void
pace_columns (SlPrefetch *prefetch, const SlAxis *columns)
{
  const int lines = (int) (prefetch->bytes / SL_CACHE_LINE + 1) * prefetch->rows;
  prefetch->pace =
    prefetch->rows > 0 ? lines * SL_AXIS_GROUP / (columns->count + SL_AXIS_GROUP) + 1 : 0;
}

/* Sets members one by one: a copy of the whole right after would wait until all of them have left
 * the store queue. */
static void
plan_band (SlBand *band, const SlPlaneRead *plane, const uint8_t *rows, ptrdiff_t stride, int y)
{
  const SlSpan *span = &plane->rows->span[y];
  const int32_t count = span->last - span->first - 1;
  band->first = rows + span->first * stride;
  band->last = rows + span->last * stride;
  band->between = count > 0 ? band->first + stride : band->first;
  band->stride = stride;
  band->count = count > 0 ? count : 0;
  for (int i = 0; i < 3; i++)
    band->weight[i] = span->narrow[i];
  band->shift = span->shift;
}

/* A plane's samples as they come. */
static void
blend_samples (const SlSource *source, const SlPlaneRead *plane, const uint8_t *rows,
               ptrdiff_t stride, int y, int16_t *dst, SlPrefetch *prefetch)
{
  const SlPixelLayout *layout = source->layout;
  const SlSpan *span = &plane->rows->span[y];
  const int n = plane->groups * group_samples (plane->packing);
  if (span->shift < 0) {
    sl_blend_tall (dst, rows, stride, span, layout->bits, layout->shift, n);
    return;
  }
  SlBand band;
  plan_band (&band, plane, rows, stride, y);
  if (layout->bits > 8)
    source->kernels->blend_words (dst, &band, layout->shift, n, prefetch);
  else
    source->kernels->blend (dst, &band, n, prefetch);
}

/* Every other sample of a plane to @even, the others to @odd. */
static void
blend_halves (const SlSource *source, const SlPlaneRead *plane, const uint8_t *rows,
              ptrdiff_t stride, int y, Rows *to, int16_t *even, int16_t *odd, SlPrefetch *prefetch)
{
  const int n = plane->groups * group_samples (plane->packing) / 2;
  if (source->layout->bits > 8 || plane->rows->span[y].shift < 0) {
    blend_samples (source, plane, rows, stride, y, to->raw[0], prefetch);
    source->kernels->split_pairs (even, odd, to->raw[0], n);
    return;
  }
  SlBand band;
  plan_band (&band, plane, rows, stride, y);
  source->kernels->blend_pairs (even, odd, &band, n, prefetch);
}

/* The component rows by lane of the plane's groups; an unused lane gets a raw row as scratch space.
 */
static void
find_lanes (const SlSource *source, int plane, const Rows *to, int16_t *lanes[4])
{
  for (int i = 0; i < 4; i++)
    lanes[i] = to->raw[0];
  for (int c = 0; c < source->components; c++) {
    if (source->layout->component[c].plane == plane)
      lanes[source->layout->component[c].lane] = to->component[c];
  }
}

static void
read_yuv422 (const SlSource *source, const SlPlaneRead *plane, const uint8_t *rows,
             ptrdiff_t stride, int y, Rows *to, SlPrefetch *prefetch)
{
  const SlComponent *component = source->layout->component;
  int16_t *luma = to->component[0];
  int16_t *chroma = to->raw[1];
  blend_halves (source, plane, rows, stride, y, to, component[0].lane == 0 ? luma : chroma,
                component[0].lane == 0 ? chroma : luma, prefetch);
  if (source->components == 3)
    source->kernels->split_pairs (to->component[component[1].lane / 2 == 0 ? 1 : 2],
                                  to->component[component[1].lane / 2 == 0 ? 2 : 1], chroma,
                                  plane->groups);
}

/* In parts that stay in the first cache between blending and splitting. */
static void
read_triples (const SlSource *source, const SlPlaneRead *plane, const uint8_t *rows,
              ptrdiff_t stride, int y, Rows *to, int16_t *const lanes[3], SlPrefetch *prefetch)
{
  SlPlaneRead part = *plane;
  for (int x = 0; x < plane->groups; x += part.groups) {
    const int left = plane->groups - x;
    part.groups = left < 2 * TRIPLES ? left : TRIPLES;
    blend_samples (source, &part, rows + 3 * x, stride, y, to->raw[1], prefetch);
    source->kernels->split_triples ((int16_t *const[3]){ lanes[0] + x, lanes[1] + x, lanes[2] + x },
                                    to->raw[1], part.groups);
  }
}

static void
read_plane (const SlSource *source, const SlPlaneRead *plane, const SlImage *image, int y, Rows *to,
            SlPrefetch *prefetch)
{
  const SlKernels *kernels = source->kernels;
  const ptrdiff_t stride = image->stride[plane->number];
  const uint8_t *rows = image->plane[plane->number] + plane->offset;
  int16_t *lanes[4];
  find_lanes (source, plane->number, to, lanes);
  switch (plane->packing) {
    case SL_PACKING_PLANAR:
      blend_samples (source, plane, rows, stride, y, lanes[0], prefetch);
      break;
    case SL_PACKING_PAIR:
      blend_halves (source, plane, rows, stride, y, to, lanes[0], lanes[1], prefetch);
      break;
    case SL_PACKING_TRIPLE:
      read_triples (source, plane, rows, stride, y, to, lanes, prefetch);
      break;
    case SL_PACKING_QUAD:
      blend_halves (source, plane, rows, stride, y, to, to->raw[1], to->raw[2], prefetch);
      kernels->split_pairs (lanes[0], lanes[2], to->raw[1], plane->groups);
      kernels->split_pairs (lanes[1], lanes[3], to->raw[2], plane->groups);
      break;
    case SL_PACKING_YUV422:
      read_yuv422 (source, plane, rows, stride, y, to, prefetch);
      break;
  }
}

/* @n components from @first, which share @columns. */
static void
reduce_components (const SlSource *source, const SlAxis *columns, const Rows *from, int first,
                   int n, int32_t *const out[3], SlPrefetch *prefetch)
{
  const int16_t *row[3] = { NULL };
  for (int c = 0; c < n; c++)
    row[c] = from->component[first + c] + source->skew[first + c];
  if (columns->span == NULL) {
    source->kernels->reduce (out + first, row, columns, n, prefetch);
    return;
  }
  for (int c = 0; c < n; c++)
    sl_reduce_wide (out[first + c], row[c], columns);
}

void
sl_source_row (const SlSource *source, const SlImage *image, int y, void *scratch,
               int32_t *const out[3])
{
  int16_t *next = scratch;
  SlPrefetch prefetch[3];
  Rows to;
  for (int c = 0; c < 3; c++, next += source->row_samples)
    to.component[c] = next;
  for (int i = 0; i < RAW_ROWS; i++, next += source->raw_samples)
    to.raw[i] = next;
  for (int p = 0; p < source->planes; p++) {
    plan_prefetch (&prefetch[p], &source->plane[p], source->layout, image, y);
    read_plane (source, &source->plane[p], image, y, &to, &prefetch[p]);
  }
  for (int c = 0, n; c < source->components; c += n) {
    const SlAxis *columns = &component_grid (source, c)->columns;
    n = c + 1;
    while (n < source->components && component_grid (source, n) == component_grid (source, c))
      n++;
    n -= c;
    SlPrefetch *rest = &prefetch[c < source->planes ? c : source->planes - 1];
    pace_columns (rest, columns);
    reduce_components (source, columns, &to, c, n, out, rest);
  }
}
