/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolutions of three by three with 16 multiplications for four output pixels instead of 36:
 * Winograd's F(2x2, 3x3). Sixteen matrices of weights are made once. A tile of four by four pixels
 * becomes sixteen pixels of sums and differences, each of which is multiplied with one of these
 * matrices; sums and differences of the products are two by two output pixels. Only pixels under an
 * output's window get into it. Rounding is as far from exact as the largest product of a window
 * allows, and an infinite activation makes NaN.
 */
#include <math.h>

#include "core/backends/float/layer.h"

/* Fewer tiles would read the sixteen matrices, almost twice the weights, for little. */
#define MIN_TILES 24
/* Each byte more of weights saves 5/7 of a multiply-add a tile. So these layers need more tiles,
 * unless there are few such bytes. */
#define MIN_LARGE_TILES 32
#define LARGE_BYTES ((gint64) 4 << 20)
/* Sums and differences of a register on the way in, and out, take as long as this many
 * multiply-adds; a product's beginning and end too. */
#define WAY 72
#define ENDS 12
/* Bytes of a work item's sums, which stay in the second cache, and its most tiles. */
#define ITEM_BYTES 786432
#define MAX_TILES 48
/* Between the sixteen matrices of an item, so that they do not share lines of the first cache. */
#define GAP 32

static gint32
to_registers (const SlFloatLayer *layer, gint32 channels)
{
  return (channels + layer->isa->lanes - 1) / layer->isa->lanes * layer->isa->lanes;
}

static gint64
tiles_of (const SlFloatLayer *layer)
{
  const SlWindowShape *w = &layer->window;
  return (gint64) layer->images * ((w->out_h + 1) / 2) * ((w->out_w + 1) / 2);
}

/* Bytes of the sixteen matrices beyond those of the weights. */
static gint64
bytes_more (const SlFloatLayer *layer)
{
  return (gint64) (SL_FLOAT_TILE - 9) * layer->window.channels * layer->channels
         * (gint64) sizeof (gfloat);
}

gboolean
sl_float_winograd_fits (const SlFloatLayer *layer)
{
  const SlWindowShape *w = &layer->window;
  return layer->mode == SL_FLOAT_WINDOW && layer->groups == 1 && w->filter_h == 3
         && w->filter_w == 3 && w->stride_h == 1 && w->stride_w == 1 && w->dilation_h == 1
         && w->dilation_w == 1
         && tiles_of (layer) >= (bytes_more (layer) > LARGE_BYTES ? MIN_LARGE_TILES : MIN_TILES);
}

gdouble
sl_float_winograd_work (const SlFloatLayer *layer, const SlFloatIsa *isa)
{
  const gint32 lanes = isa->lanes, in = layer->window.channels;
  const gint32 whole_in = (in + lanes - 1) / lanes * lanes,
               whole_out = (layer->channels + lanes - 1) / lanes * lanes;
  return (gdouble) tiles_of (layer)
         * (SL_FLOAT_TILE * (gdouble) (in + ENDS) * whole_out
            + WAY * ((gdouble) whole_in + whole_out));
}

/* @from: a window of @channels channels; @to: of each of the sixteen matrices, @apart floats apart,
 * its row */
static void
transform_weights (const gfloat *from, gint32 channels, gfloat *to, gsize apart)
{
  for (gint32 c = 0; c < channels; c++) {
    double columns[4][3];
    for (gint x = 0; x < 3; x++) {
      const double a = from[x * channels + c], b = from[(3 + x) * channels + c],
                   d = from[(6 + x) * channels + c];
      columns[0][x] = a;
      columns[1][x] = (a + b + d) / 2;
      columns[2][x] = (a - b + d) / 2;
      columns[3][x] = d;
    }
    for (gint y = 0; y < 4; y++) {
      const double a = columns[y][0], b = columns[y][1], d = columns[y][2];
      const double row[] = { a, (a + b + d) / 2, (a - b + d) / 2, d };
      for (gint x = 0; x < 4; x++)
        to[(gsize) (4 * y + x) * apart + (gsize) c] = (gfloat) row[x];
    }
  }
}

gfloat *
sl_float_winograd_weights (const SlFloatLayer *layer, const gfloat *weights, gint32 first, gint32 n)
{
  const gsize depth = (gsize) layer->window.channels, apart = depth * (gsize) n;
  gfloat *matrices = g_new (gfloat, SL_FLOAT_TILE * apart);
  for (gint32 c = 0; c < n; c++)
    transform_weights (weights + (gsize) (first + c) * 9 * depth, layer->window.channels,
                       matrices + (gsize) c * depth, apart);
  return matrices;
}

/* Floats from one of an item's sixteen matrices of pixels to the next. */
static gsize
apart (const SlFloatLayer *layer, gint32 channels)
{
  return (gsize) layer->tile_rows * (gsize) to_registers (layer, channels) + GAP;
}

void
sl_float_winograd_tiles (SlFloatLayer *layer, SlHost *host)
{
  const gint32 most = layer->isa->max_rows, in = layer->window.channels;
  const gsize tile_bytes =
    SL_FLOAT_TILE * (gsize) (to_registers (layer, in) + to_registers (layer, layer->channels))
    * sizeof (gfloat);
  const gint64 pieces =
    host->threads > 1 ? CLAMP ((gint64) layer->cost_us / 50, 1, 4 * (gint64) host->threads) : 1;
  const gint64 tiles =
    MIN ((gint64) (ITEM_BYTES / tile_bytes), (tiles_of (layer) + pieces - 1) / pieces);
  layer->n_panels = sl_float_panels (layer->isa, layer->channels);
  layer->tile_rows = (gint32) CLAMP (tiles, 2 * most, MAX_TILES) / most * most;
  sl_float_need_scratch (layer, host,
                         SL_FLOAT_TILE * (apart (layer, in) + apart (layer, layer->channels))
                           * sizeof (gfloat));
}

guint
sl_float_winograd_items (const SlFloatLayer *layer)
{
  return (guint) ((tiles_of (layer) + layer->tile_rows - 1) / layer->tile_rows);
}

/** A tile: its image and place in that, in tiles. */
typedef struct
{
  gint32 image, y, x;
} Tile;

static Tile
tile_at (const SlWindowShape *w, gint64 number)
{
  const gint32 across = (w->out_w + 1) / 2, down = (w->out_h + 1) / 2;
  return (Tile){ (gint32) (number / across / down), (gint32) (number / across % down),
                 (gint32) (number % across) };
}

static Tile
next_tile (const SlWindowShape *w, Tile tile)
{
  if (++tile.x < (w->out_w + 1) / 2)
    return tile;
  tile.x = 0;
  if (++tile.y == (w->out_h + 1) / 2) {
    tile.y = 0;
    tile.image++;
  }
  return tile;
}

/* The pixels under a tile; zeros for what is outside of the picture. */
static void
find_pixels (const SlFloatLayer *layer, const gfloat *x, Tile tile,
             const gfloat *pixels[SL_FLOAT_TILE])
{
  const SlWindowShape *w = &layer->window;
  const gint32 y0 = 2 * tile.y - w->top, x0 = 2 * tile.x - w->left;
  for (gint32 y = y0; y < y0 + 4; y++) {
    const gfloat *row = x + ((gssize) tile.image * w->h + y) * w->w * w->channels;
    const gboolean inside = y >= 0 && y < w->h;
    for (gint32 column = x0; column < x0 + 4; column++)
      *pixels++ =
        inside && column >= 0 && column < w->w ? row + (gssize) column * w->channels : layer->zeros;
  }
}

/* The pictures @x as floats: of binary16, the lines under the tiles from @tile to the end of their
 * row of tiles, at most @n. */
static const gfloat *
pictures_at (const SlFloatLayer *layer, const gfloat *x, Tile tile, gint32 n, guint thread)
{
  const SlWindowShape *w = &layer->window;
  const gint32 x0 = 2 * tile.x - w->left;
  return layer->narrow.x ? sl_float_widen_lines (layer, x, tile.image, 2 * tile.y - w->top, 4, 1,
                                                 x0, x0 + 2 * n + 2, thread)
                         : x;
}

/* Two by two output pixels; NULL for what is outside of the output. */
static void
find_outputs (const SlFloatLayer *layer, gfloat *y, Tile tile, gfloat *out[4])
{
  const SlWindowShape *w = &layer->window;
  const gsize channels = (gsize) layer->channels, line = (gsize) w->out_w * channels;
  const gboolean right = 2 * tile.x + 1 < w->out_w, below = 2 * tile.y + 1 < w->out_h;
  out[0] = y + ((gsize) tile.image * (gsize) w->out_h + 2 * (gsize) tile.y) * line
           + 2 * (gsize) tile.x * channels;
  out[1] = right ? out[0] + channels : NULL;
  out[2] = below ? out[0] + line : NULL;
  out[3] = right && below ? out[2] + channels : NULL;
}

/* Sixteen products of @n pixels: panel by panel, whose weights stay in the first cache. */
static void
multiply (const SlFloatLayer *layer, gint32 n, const gfloat *in, gfloat *sums)
{
  const SlFloatGemm gemm = { layer->tiles.gemm.panels, layer->zeros, NULL, -INFINITY, INFINITY, 0 };
  const gint32 most = layer->isa->max_rows, depth = layer->window.channels,
               stride = to_registers (layer, depth);
  const gsize out_stride = (gsize) to_registers (layer, layer->channels);
  const gsize in_apart = apart (layer, depth), out_apart = apart (layer, layer->channels);
  for (gint32 p = 0; p < SL_FLOAT_TILE * layer->n_panels; p++) {
    const gfloat *from = in + (gsize) (p / layer->n_panels) * in_apart;
    gfloat *to = sums + (gsize) (p / layer->n_panels) * out_apart;
    gint32 left = n;
    for (gint32 pieces = (n + most - 1) / most; pieces > 0; pieces--) {
      const gint32 rows = (left + pieces - 1) / pieces;
      const gfloat *runs[SL_FLOAT_MAX_ROWS];
      for (gint32 r = 0; r < rows; r++, from += stride)
        runs[r] = from;
      layer->isa->gemm (&gemm, p, p + 1,
                        &(SlFloatRows){ .runs = runs, .n_runs = 1, .length = depth, .rows = rows },
                        to, out_stride);
      to += (gsize) rows * out_stride;
      left -= rows;
    }
  }
}

/* The output pixels of a tile, whose sums are at @sums: of binary16 with their curve, rounded. */
static void
write_tile (const SlFloatLayer *layer, const gfloat *sums, gfloat *y, Tile tile, guint thread)
{
  gfloat *out[4], *to[4];
  const gsize channels = (gsize) layer->channels;
  find_outputs (layer, y, tile, out);
  for (gint i = 0; i < 4; i++)
    to[i] = layer->narrow.y && out[i] != NULL
              ? sl_float_narrow_out (layer, thread) + (gsize) i * channels
              : out[i];
  layer->isa->tile_out (&layer->tiles.gemm, sums, apart (layer, layer->channels), layer->channels,
                        to);
  for (gint row = 0; layer->narrow.y && row < 4; row += 2) {
    const gint32 n = out[row] == NULL ? 0 : out[row + 1] != NULL ? 2 : 1;
    if (n > 0) {
      sl_float_activate_rows (layer, to[row], n);
      sl_float_narrow (to[row], y, (gsize) (out[row] - y), (gsize) n * channels);
    }
  }
}

/* The curve of the output pixels of @n tiles beside each other, which are floats. */
static void
bend_tiles (const SlFloatLayer *layer, gfloat *y, Tile first, gint32 n)
{
  const gint32 pixels = MIN (2 * n, layer->window.out_w - 2 * first.x);
  gfloat *out[4];
  find_outputs (layer, y, first, out);
  for (gint row = 0; row < 4; row += 2)
    if (out[row] != NULL)
      sl_float_activate_rows (layer, out[row], pixels);
}

void
sl_float_winograd_run (const SlFloatLayer *layer, const gfloat *x, gfloat *y, guint item,
                       guint thread)
{
  const gint64 first = (gint64) item * layer->tile_rows;
  const gint32 n = (gint32) MIN (layer->tile_rows, tiles_of (layer) - first),
               depth = layer->window.channels;
  const gsize in_apart = apart (layer, depth);
  const gint32 in_stride = to_registers (layer, depth),
               out_stride = to_registers (layer, layer->channels);
  gfloat *in = (gfloat *) (gpointer) (layer->scratch->memory + layer->scratch->bytes * thread),
         *sums = in + SL_FLOAT_TILE * in_apart;
  Tile tile = tile_at (&layer->window, first);
  const gfloat *pictures = x;
  for (gint32 r = 0; r < n; r++, tile = next_tile (&layer->window, tile)) {
    const gfloat *pixels[SL_FLOAT_TILE];
    if (r == 0 || tile.x == 0)
      pictures = pictures_at (layer, x, tile, n - r, thread);
    find_pixels (layer, pictures, tile, pixels);
    layer->isa->tile_in (pixels, depth, in + r * in_stride, in_apart);
  }
  multiply (layer, n, in, sums);
  tile = tile_at (&layer->window, first);
  const gboolean bends = !layer->narrow.y && sl_activation_is_curve (layer->activation);
  Tile row = tile;
  for (gint32 r = 0; r < n; r++) {
    write_tile (layer, sums + r * out_stride, y, tile, thread);
    const gint32 beside = tile.x - row.x + 1;
    tile = next_tile (&layer->window, tile);
    if (bends && (tile.x == 0 || r + 1 == n)) {
      bend_tiles (layer, y, row, beside);
      row = tile;
    }
  }
}
