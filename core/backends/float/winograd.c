/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Convolutions of three by three with fewer multiplications than their sums have products:
 * Winograd's F(2x2, 3x3) takes 16 for four output pixels instead of 36, F(4x4, 3x3) takes 36 for
 * sixteen instead of 144. As many matrices of weights are made once. A tile of four by four, or six
 * by six pixels becomes as many sums and differences, each of which is multiplied with one of these
 * matrices; sums and differences of the products are two by two, or four by four output pixels.
 *
 * Tiles of four by four: only pixels under an output's window get into it, and its rounding is as
 * far from exact as the largest product of a window allows; an infinite activation makes NaN. Tiles
 * of six by six evaluate polynomials at 0, +-5/8, +-3/2 and infinity. These round half as much as
 * the usual 0, +-1, +-2, and their powers are exact. All pixels of a tile get into its output
 * pixels, where those outside of a window cancel; so what is not finite reaches the whole tile.
 */
#include <math.h>

#include "core/backends/float/layer.h"

/* Fewer tiles would read the matrices, which are larger than the weights, for little. */
#define MIN_TILES 24
/* Each byte more of weights saves 5/7 of a multiply-add a tile. So these layers need more tiles,
 * unless there are few such bytes. */
#define MIN_LARGE_TILES 32
#define LARGE_BYTES ((gint64) 4 << 20)
/* Tiles of six by six pixels: the least, and the bytes of weights beyond those of four by four that
 * each tile more may take. */
#define MIN_TILES_SIX 12
#define TILE_BYTES_SIX ((gint64) 64 << 10)
/* Sums and differences of a register on the way in, and out, take as long as this many
 * multiply-adds; a product's beginning and end too. */
#define WAY 72
#define WAY_SIX 160
#define ENDS 12
/* Bytes of a work item's sums, which stay in the second cache, and its most tiles. */
#define ITEM_BYTES 786432
#define MAX_TILES 48
/* Between the matrices of an item, so that they do not share lines of the first cache. */
#define GAP 32

static gint32
to_registers (const SlFloatLayer *layer, gint32 channels)
{
  return (channels + layer->isa->lanes - 1) / layer->isa->lanes * layer->isa->lanes;
}

static gint64
tiles_of (const SlFloatLayer *layer, gint32 tile)
{
  const SlWindowShape *w = &layer->window;
  return (gint64) layer->images * ((w->out_h + tile - 1) / tile) * ((w->out_w + tile - 1) / tile);
}

/* Bytes of the matrices beyond those of the weights. */
static gint64
bytes_more (const SlFloatLayer *layer, gint32 tile)
{
  return (gint64) ((tile + 2) * (tile + 2) - 9) * layer->window.channels * layer->channels
         * (gint64) sizeof (gfloat);
}

gboolean
sl_float_rounds (const SlGraph *graph)
{
  for (guint i = 0; i < sl_graph_n_nodes (graph); i++) {
    const SlOpType op = sl_graph_node (graph, i)->op;
    if (op == SL_OP_FAKE_QUANTIZE || op == SL_OP_DYNAMIC_QUANTIZE)
      return TRUE;
  }
  return FALSE;
}

gboolean
sl_float_winograd_fits (const SlFloatLayer *layer, gint32 tile)
{
  const SlWindowShape *w = &layer->window;
  const gint64 tiles = tiles_of (layer, tile), more = bytes_more (layer, tile);
  const gboolean enough =
    tile == 2 ? tiles >= (more > LARGE_BYTES ? MIN_LARGE_TILES : MIN_TILES)
              : more - bytes_more (layer, 2) <= (tiles - MIN_TILES_SIX) * TILE_BYTES_SIX;
  return layer->mode == SL_FLOAT_WINDOW && layer->groups == 1 && w->filter_h == 3
         && w->filter_w == 3 && w->stride_h == 1 && w->stride_w == 1 && w->dilation_h == 1
         && w->dilation_w == 1 && enough;
}

gdouble
sl_float_winograd_work (const SlFloatLayer *layer, const SlFloatIsa *isa, gint32 tile)
{
  const gint32 lanes = isa->lanes, in = layer->window.channels;
  const gint32 whole_in = (in + lanes - 1) / lanes * lanes,
               whole_out = (layer->channels + lanes - 1) / lanes * lanes;
  return (gdouble) tiles_of (layer, tile)
         * ((tile + 2) * (tile + 2) * (gdouble) (in + ENDS) * whole_out
            + (tile == 2 ? WAY : WAY_SIX) * ((gdouble) whole_in + whole_out));
}

/** A value of each of two channels. */
typedef gdouble Two __attribute__ ((vector_size (16)));

/* What a row or a column of a window, @a, @b, @d, is at each of the points of a tile. */
static inline __attribute__ ((always_inline)) void
evaluate (const gint tile, Two a, Two b, Two d, Two *values)
{
  const gdouble p = SL_FLOAT_POINT_A * SL_FLOAT_POINT_A, q = SL_FLOAT_POINT_B * SL_FLOAT_POINT_B,
                by_p = 1 / (2 * p * (p - q)), by_q = 1 / (2 * q * (q - p));
  if (tile == 2) {
    values[0] = a;
    values[1] = (a + b + d) * 0.5;
    values[2] = (a - b + d) * 0.5;
    values[3] = d;
    return;
  }
  const Two even_p = (a + p * d) * by_p, odd_p = (gdouble) SL_FLOAT_POINT_A * by_p * b,
            even_q = (a + q * d) * by_q, odd_q = (gdouble) SL_FLOAT_POINT_B * by_q * b;
  values[0] = a * (1 / (p * q));
  values[1] = even_p + odd_p;
  values[2] = even_p - odd_p;
  values[3] = even_q + odd_q;
  values[4] = even_q - odd_q;
  values[5] = d;
}

/* @from: a window of @channels channels; @to: of each of the matrices, @apart floats apart, its row
 */
static inline __attribute__ ((always_inline)) void
transform_weights (const gint tile, const gfloat *from, gint32 channels, gfloat *to, gsize apart)
{
  const gint side = tile + 2;
  for (gint32 c = 0; c < channels; c += 2) {
    const gint32 other = MIN (c + 1, channels - 1);
    Two taps[9], columns[3][6];
    for (gint i = 0; i < 9; i++)
      taps[i] = (Two){ from[i * channels + c], from[i * channels + other] };
    for (gint x = 0; x < 3; x++)
      evaluate (tile, taps[x], taps[3 + x], taps[6 + x], columns[x]);
    for (gint y = 0; y < side; y++) {
      Two row[6];
      evaluate (tile, columns[0][y], columns[1][y], columns[2][y], row);
      for (gint x = 0; x < side; x++) {
        gfloat *at = to + (gsize) (side * y + x) * apart;
        at[c] = (gfloat) row[x][0];
        at[other] = (gfloat) row[x][1];
      }
    }
  }
}

gfloat *
sl_float_winograd_weights (const SlFloatLayer *layer, const gfloat *weights, gint32 first, gint32 n)
{
  const gsize depth = (gsize) layer->window.channels, apart = depth * (gsize) n;
  gfloat *matrices = g_new (gfloat, (gsize) sl_float_winograd_matrices (layer) * apart);
  for (gint32 c = 0; c < n; c++) {
    const gfloat *from = weights + (gsize) (first + c) * 9 * depth;
    gfloat *to = matrices + (gsize) c * depth;
    if (layer->tile == 2)
      transform_weights (2, from, layer->window.channels, to, apart);
    else
      transform_weights (4, from, layer->window.channels, to, apart);
  }
  return matrices;
}

/* Floats from one of an item's matrices to the next. */
static gsize
apart (const SlFloatLayer *layer, gint32 channels)
{
  return (gsize) layer->tile_rows * (gsize) to_registers (layer, channels) + GAP;
}

void
sl_float_winograd_tiles (SlFloatLayer *layer, SlHost *host)
{
  const gint32 most = layer->isa->max_rows, in = layer->window.channels;
  const gsize matrices = (gsize) sl_float_winograd_matrices (layer);
  const gsize tile_bytes =
    matrices * (gsize) (to_registers (layer, in) + to_registers (layer, layer->channels))
    * sizeof (gfloat);
  const gint64 pieces =
    host->threads > 1 ? CLAMP ((gint64) layer->cost_us / 50, 1, 4 * (gint64) host->threads) : 1;
  const gint64 tiles =
    MIN ((gint64) (ITEM_BYTES / tile_bytes), (tiles_of (layer, layer->tile) + pieces - 1) / pieces);
  layer->n_panels = sl_float_panels (layer->isa, layer->channels);
  layer->tile_rows = (gint32) CLAMP (tiles, 2 * most, MAX_TILES) / most * most;
  sl_float_need_scratch (
    layer, host, matrices * (apart (layer, in) + apart (layer, layer->channels)) * sizeof (gfloat));
}

guint
sl_float_winograd_items (const SlFloatLayer *layer)
{
  return (guint) ((tiles_of (layer, layer->tile) + layer->tile_rows - 1) / layer->tile_rows);
}

/** A tile: its image and place in that, in tiles. */
typedef struct
{
  gint32 image, y, x;
} Tile;

static gint32
tiles_across (const SlFloatLayer *layer)
{
  return (layer->window.out_w + layer->tile - 1) / layer->tile;
}

static gint32
tiles_down (const SlFloatLayer *layer)
{
  return (layer->window.out_h + layer->tile - 1) / layer->tile;
}

static Tile
tile_at (const SlFloatLayer *layer, gint64 number)
{
  const gint32 across = tiles_across (layer), down = tiles_down (layer);
  return (Tile){ (gint32) (number / across / down), (gint32) (number / across % down),
                 (gint32) (number % across) };
}

static Tile
next_tile (const SlFloatLayer *layer, Tile tile)
{
  if (++tile.x < tiles_across (layer))
    return tile;
  tile.x = 0;
  if (++tile.y == tiles_down (layer)) {
    tile.y = 0;
    tile.image++;
  }
  return tile;
}

/* The pixels under a tile; zeros for what is outside of the picture. */
static void
find_pixels (const SlFloatLayer *layer, const gfloat *x, Tile tile, const gfloat **pixels)
{
  const SlWindowShape *w = &layer->window;
  const gint32 side = layer->tile + 2, y0 = layer->tile * tile.y - w->top,
               x0 = layer->tile * tile.x - w->left;
  for (gint32 y = y0; y < y0 + side; y++) {
    const gfloat *row = x + ((gssize) tile.image * w->h + y) * w->w * w->channels;
    const gboolean inside = y >= 0 && y < w->h;
    for (gint32 column = x0; column < x0 + side; column++)
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
  const gint32 side = layer->tile, x0 = side * tile.x - w->left;
  return layer->narrow.x ? sl_float_widen_lines (layer, x, tile.image, side * tile.y - w->top,
                                                 side + 2, 1, x0, x0 + side * n + 2, thread)
                         : x;
}

/* The output pixels of a tile; NULL for what is outside of the output. */
static void
find_outputs (const SlFloatLayer *layer, gfloat *y, Tile tile, gfloat **out)
{
  const SlWindowShape *w = &layer->window;
  const gint32 y0 = layer->tile * tile.y, x0 = layer->tile * tile.x;
  for (gint32 row = y0; row < y0 + layer->tile; row++)
    for (gint32 column = x0; column < x0 + layer->tile; column++)
      *out++ = row < w->out_h && column < w->out_w
                 ? y
                     + (((gssize) tile.image * w->out_h + row) * w->out_w + column)
                         * (gssize) layer->stride
                 : NULL;
}

/* The products of @n pixels with each matrix: panel by panel, whose weights stay in the first
 * cache. */
static void
multiply (const SlFloatLayer *layer, gint32 n, const gfloat *in, gfloat *sums)
{
  const SlFloatGemm gemm = { layer->tiles.gemm.panels, layer->zeros, NULL, -INFINITY, INFINITY, 0 };
  const gint32 most = layer->isa->max_rows, depth = layer->window.channels,
               stride = to_registers (layer, depth);
  const gsize out_stride = (gsize) to_registers (layer, layer->channels);
  const gsize in_apart = apart (layer, depth), out_apart = apart (layer, layer->channels);
  for (gint32 p = 0; p < sl_float_winograd_matrices (layer) * layer->n_panels; p++) {
    const gfloat *from = in + (gsize) (p / layer->n_panels) * in_apart;
    gfloat *to = sums + (gsize) (p / layer->n_panels) * out_apart;
    gint32 left = n;
    for (gint32 pieces = (n + most - 1) / most; pieces > 0; pieces--) {
      const gint32 rows = (left + pieces - 1) / pieces;
      const gfloat *runs[SL_FLOAT_MAX_ROWS];
      for (gint32 r = 0; r < rows; r++, from += stride)
        runs[r] = from;
      layer->tiles.multiply (
        &gemm, p, p + 1, &(SlFloatRows){ .runs = runs, .n_runs = 1, .length = depth, .rows = rows },
        to, out_stride);
      to += (gsize) rows * out_stride;
      left -= rows;
    }
  }
}

/* Rounds the output pixels of a tile, which are floats at @from, with their curve. */
static void
round_tile (const SlFloatLayer *layer, gfloat *const *from, gfloat *const *out, gfloat *y)
{
  for (gint32 row = 0; row < layer->tile * layer->tile; row += layer->tile) {
    gint32 n = 0;
    while (n < layer->tile && out[row + n] != NULL)
      n++;
    if (n > 0) {
      sl_float_activate_rows (layer, from[row], n);
      sl_float_narrow_rows (layer, from[row], y, (gsize) (out[row] - y), n,
                            (gsize) layer->channels);
    }
  }
}

/* The output pixels of a tile, whose sums are at @sums: of binary16 with their curve, rounded. */
static void
write_tile (const SlFloatLayer *layer, const gfloat *sums, gfloat *y, Tile tile, guint thread)
{
  gfloat *out[SL_FLOAT_MAX_TILE], *to[SL_FLOAT_MAX_TILE];
  find_outputs (layer, y, tile, out);
  for (gint32 i = 0; layer->narrow.y && i < layer->tile * layer->tile; i++)
    to[i] = out[i] == NULL
              ? NULL
              : sl_float_narrow_out (layer, thread) + (gsize) i * (gsize) layer->channels;
  layer->isa->tile_out[layer->tile / 4](&layer->tiles.gemm, sums, apart (layer, layer->channels),
                                        layer->channels, layer->narrow.y ? to : out);
  if (layer->narrow.y)
    round_tile (layer, to, out, y);
}

/* The curve of the output pixels of @n tiles beside each other, which are floats. */
static void
bend_tiles (const SlFloatLayer *layer, gfloat *y, Tile first, gint32 n)
{
  const gint32 pixels = MIN (layer->tile * n, layer->window.out_w - layer->tile * first.x);
  gfloat *out[SL_FLOAT_MAX_TILE];
  find_outputs (layer, y, first, out);
  for (gint32 row = 0; row < layer->tile * layer->tile; row += layer->tile)
    if (out[row] != NULL)
      sl_float_activate_rows (layer, out[row], pixels);
}

void
sl_float_winograd_run (const SlFloatLayer *layer, const gfloat *x, gfloat *y, guint item,
                       guint thread)
{
  const gint64 number = (gint64) item * layer->tile_rows;
  const gint32 n = (gint32) MIN (layer->tile_rows, tiles_of (layer, layer->tile) - number),
               depth = layer->window.channels;
  const gsize in_apart = apart (layer, depth);
  const gint32 in_stride = to_registers (layer, depth),
               out_stride = to_registers (layer, layer->channels);
  gfloat *in = (gfloat *) (gpointer) (layer->scratch->memory + layer->scratch->bytes * thread),
         *sums = in + (gsize) sl_float_winograd_matrices (layer) * in_apart;
  Tile tile = tile_at (layer, number);
  const Tile first = tile;
  const gfloat *pictures = x;
  for (gint32 r = 0; r < n; r++, tile = next_tile (layer, tile)) {
    const gfloat *pixels[SL_FLOAT_MAX_TILE];
    if (r == 0 || tile.x == 0)
      pictures = pictures_at (layer, x, tile, n - r, thread);
    find_pixels (layer, pictures, tile, pixels);
    layer->isa->tile_in[layer->tile / 4](pixels, depth, in + r * in_stride, in_apart);
  }
  multiply (layer, n, in, sums);
  const gboolean bends = !layer->narrow.y && sl_activation_is_curve (layer->activation);
  Tile row = tile = first;
  for (gint32 r = 0; r < n; r++) {
    write_tile (layer, sums + r * out_stride, y, tile, thread);
    const gint32 beside = tile.x - row.x + 1;
    tile = next_tile (layer, tile);
    if (bends && (tile.x == 0 || r + 1 == n)) {
      bend_tiles (layer, y, row, beside);
      row = tile;
    }
  }
}
