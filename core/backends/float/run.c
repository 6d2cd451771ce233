/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs packed layers: cuts them into pieces for the pool. */
#include "core/backends/float/windows.h"

/* Bytes of results whose curve is computed at a time: they stay in the first cache, and a curve of
 * few values takes longer to begin than to compute. */
#define CURVE_BYTES 16384
/* Results in binary16 whose curve is computed by way of floats at a time. */
#define BENT 512

/* @rows rows of a layer without windows, as floats. */
static const gfloat *
rows_of (const SlFloatRun *run, gint32 first, gint32 rows, guint thread)
{
  const gsize depth = (gsize) run->layer->depth, at = (gsize) first * depth;
  if (!run->layer->narrow.x)
    return sl_float_after (run->x, (gssize) at, run->layer->in_size);
  gfloat *floats = sl_float_narrow_in (run->layer, thread);
  sl_float_widen (run->x, at, floats, (gsize) rows * depth);
  return floats;
}

/* Where loops write the results of rows from @first on. */
static gfloat *
results_at (const SlFloatRun *run, gint32 first, guint thread)
{
  return run->layer->narrow.y
           ? sl_float_narrow_out (run->layer, thread)
           : sl_float_behind (run->y, (gsize) (first - run->first) * run->layer->stride,
                              run->layer->out_size);
}

/* Rounds them, @c, where the output is binary16: channels from @channel to before @end of @rows
 * rows. */
static void
finish_rows (const SlFloatRun *run, gint32 first, gint32 rows, gint32 channel, gint32 end,
             const gfloat *c)
{
  const SlFloatLayer *layer = run->layer;
  const gsize at = (gsize) (first - run->first) * layer->stride + (gsize) channel;
  if (layer->narrow.y)
    sl_float_narrow_rows (layer, c + channel, run->y, at, rows, (gsize) (end - channel));
}

/* Rows of a layer without windows are runs as they are. */
static SlFloatRows
direct_runs (const SlFloatRun *run, gint32 first, gint32 rows, const gfloat **runs, guint thread)
{
  const SlFloatLayer *layer = run->layer;
  const gfloat *row = rows_of (run, first, rows, thread);
  for (gint32 r = 0; r < rows; r++, row = sl_float_after (row, layer->depth, layer->in_size))
    runs[r] = row;
  return (SlFloatRows){ .runs = runs,
                        .n_runs = 1,
                        .length = layer->depth,
                        .rows = rows,
                        .narrow = layer->in_size < sizeof (gfloat) };
}

/* The curve of results in binary16: by way of floats where there is no loop for it. */
static void
bend_halves (const SlFloatLayer *layer, guint16 *values, gsize n)
{
  gfloat floats[BENT];
  if (layer->halves->bends (layer->activation)) {
    layer->halves->activate (layer->activation, values, values, n);
    return;
  }
  for (gsize i = 0, some; i < n; i += some) {
    some = MIN (n - i, BENT);
    sl_float_widen (values, i, floats, some);
    if (layer->activation == SL_ACTIVATION_LEAKY_RELU)
      layer->isa->leaky (layer->slope, floats, floats, some);
    else
      layer->isa->activate (layer->activation, floats, floats, some);
    sl_float_narrow (floats, values, i, some);
  }
}

static void
bend (const SlFloatLayer *layer, const gfloat *in, gfloat *out, gsize n)
{
  if (layer->out_size < sizeof (gfloat))
    bend_halves (layer, (guint16 *) (gpointer) out, n);
  else if (layer->activation == SL_ACTIVATION_LEAKY_RELU)
    layer->isa->leaky (layer->slope, in, out, n);
  else
    layer->isa->activate (layer->activation, in, out, n);
}

/* The curve of @rows rows' channels from @first to before @end, which are still in the first cache.
 */
static void
activate_channels (const SlFloatLayer *layer, gint32 first, gint32 end, gint32 rows, gfloat *c)
{
  const gsize channels = (gsize) (end - first), stride = sl_float_loop_stride (layer);
  if (!sl_activation_is_curve (layer->activation))
    return;
  c = sl_float_behind (c, (gsize) first, layer->out_size);
  if (channels == stride)
    bend (layer, c, c, channels * (gsize) rows);
  for (gint32 r = 0; channels < stride && r < rows;
       r++, c = sl_float_behind (c, stride, layer->out_size))
    bend (layer, c, c, channels);
}

/* The same of panels. */
static void
activate (const SlFloatLayer *layer, gint32 panel, gint32 end, gint32 rows, gfloat *c)
{
  const SlFloatPanel *last = &layer->tiles.gemm.panels[end - 1];
  activate_channels (layer, layer->tiles.gemm.panels[panel].channel, last->channel + last->channels,
                     rows, c);
}

void
sl_float_activate_rows (const SlFloatLayer *layer, gfloat *rows, gint32 n)
{
  activate_channels (layer, 0, layer->channels, n, rows);
}

/* A tile of rows by panels. */
static void
multiply (const SlFloatLayer *layer, gint32 panel, gint32 end, const SlFloatRows *rows, gfloat *c,
          gsize c_stride, guint thread)
{
  if (layer->tiles.pairs != NULL)
    layer->tiles.pairs (
      &layer->tiles.gemm, panel, end, rows, layer->depth, c, c_stride,
      (guint16 *) (gpointer) (layer->scratch->memory + layer->scratch->bytes * thread));
  else
    layer->tiles.multiply (&layer->tiles.gemm, panel, end, rows, c, c_stride);
}

static void
run_winograd (const void *data, guint item, guint thread)
{
  const SlFloatRun *run = data;
  sl_float_winograd_run (run->layer, run->x, run->y, item, thread);
}

/** What a work item is of: rows from @first on, and panels or channels. */
typedef struct
{
  gint32 first, rows, panel, end;
} Piece;

/* Of a layer with pairs the last tile also has the rows behind the last block: they are too few to
 * read all weights once more. */
static gint32
tiles_of (const SlFloatLayer *layer)
{
  const gint32 whole = layer->tiles.paired > 0 ? 2 * layer->isa->max_rows : 1;
  return (layer->rows / whole * whole + layer->tile_rows - 1) / layer->tile_rows;
}

/* A thread's tiles follow each other, each chunk's before the next chunk's, so that weights of a
 * chunk stay in its cache. */
static Piece
piece_of (const SlFloatLayer *layer, gint32 item)
{
  const gint32 tiles = tiles_of (layer);
  gint32 start = 0, end = tiles;
  for (gint32 thread = 1;
       thread <= layer->threads && (end = tiles * thread / layer->threads) * layer->chunks <= item;
       thread++)
    start = end;
  const gint32 place = item - start * layer->chunks, tile = start + place % (end - start),
               first = tile * layer->tile_rows, chunk = place / (end - start);
  return (Piece){ first, tile < tiles - 1 ? layer->tile_rows : layer->rows - first,
                  sl_float_first_panel (layer, chunk), sl_float_first_panel (layer, chunk + 1) };
}

/* What comes after the products of @rows rows from @first on, whose results begin at @c. */
static void
finish_tiles (const SlFloatRun *run, const Piece *piece, gint32 first, gint32 rows, gfloat *c)
{
  const SlFloatPanel *panels = run->layer->tiles.gemm.panels, *last = &panels[piece->end - 1];
  activate (run->layer, piece->panel, piece->end, rows, c);
  finish_rows (run, first, rows, panels[piece->panel].channel, last->channel + last->channels, c);
}

/* Whether the next chunk's weights are brought into the second cache while tiles of @piece are
 * multiplied. With more rows it is not the weights that take the time. */
static gboolean
looks_ahead (const SlFloatLayer *layer, const Piece *piece)
{
  return piece->rows == layer->rows && piece->end < layer->n_panels
         && layer->isa->gemm_ahead != NULL && layer->tiles.weights == SL_FLOAT_SINGLE
         && !layer->tiles.deep;
}

/* A tile behind the first of @tiles. It prefetches about its share of the next chunk's weights;
 * where there are fewer than four tiles, not all of them. */
static void
multiply_ahead (const SlFloatLayer *layer, const Piece *piece, gint32 tile, gint32 tiles,
                const SlFloatRows *rows, gfloat *c)
{
  const SlFloatGemm *gemm = &layer->tiles.gemm;
  const guint8 *from = gemm->panels[piece->panel].weights, *next = gemm->panels[piece->end].weights;
  const gsize part = (gsize) (next - from) / (gsize) (tiles - 1),
              steps = (gsize) layer->depth * (gsize) (piece->end - piece->panel);
  layer->isa->gemm_ahead (gemm, piece->panel, piece->end, rows, next + part * (gsize) (tile - 1),
                          (part + steps - 1) / steps, c, sl_float_loop_stride (layer));
}

/* @left rows of @piece from @first on. */
static void
run_tiles (const SlFloatRun *run, const Piece *piece, gint32 first, gint32 left, guint thread)
{
  const SlFloatLayer *layer = run->layer;
  const gint32 most = layer->isa->max_rows,
               at_once = layer->narrow.y ? 1 : CURVE_BYTES / 4 / layer->channels;
  const gfloat *runs[SL_FLOAT_MAX_RUNS * SL_FLOAT_MAX_ROWS];
  gfloat copies[SL_FLOAT_COPIES];
  const gboolean direct = layer->mode == SL_FLOAT_DIRECT, ahead = looks_ahead (layer, piece);
  SlFloatOutput at = direct ? (SlFloatOutput){ 0 } : sl_float_output (&layer->window, first);
  const gint32 pieces = (left + most - 1) / most, least = left / pieces;
  SlFloatRows found = { 0 };
  SlFloatOutput before = at;
  gint32 more = left % pieces, tile = 0;
  gint32 open = 0; /* rows before @first that are not finished */
  while (left > 0) {
    const gint32 rows = more-- > 0 ? least + 1 : least;
    if (direct)
      found = direct_runs (run, first, rows, runs, thread);
    else if (!sl_float_move_runs (run, &found, runs, before, at, rows))
      found = sl_float_find_runs (run, at, rows, runs, copies);
    before = at;
    if (ahead && tile > 0)
      multiply_ahead (layer, piece, tile, pieces, &found, results_at (run, first, thread));
    else
      multiply (layer, piece->panel, piece->end, &found, results_at (run, first, thread),
                sl_float_loop_stride (layer), thread);
    tile++;
    first += rows;
    left -= rows;
    open += rows;
    if (open >= at_once || left == 0) {
      finish_tiles (run, piece, first - open, open, results_at (run, first - open, thread));
      open = 0;
    }
    if (!direct)
      at = sl_float_next (&layer->window, at, rows);
  }
}

/* Block @i, of @blocks, of @piece by its pairs of panels, and by tiles where panels are without a
 * partner. */
static void
run_block (const SlFloatRun *run, const Piece *piece, gint32 i, gint32 blocks, guint thread)
{
  const SlFloatLayer *layer = run->layer;
  const gint32 rows = layer->isa->max_rows, first = piece->first + 2 * rows * i;
  const gfloat *runs[SL_FLOAT_MAX_ROWS];
  gfloat *c = results_at (run, first, thread);
  for (gint32 panel = piece->panel, alone, end; panel < piece->end; panel = end) {
    alone = sl_float_strassen_next (layer, panel, piece->end, FALSE);
    end = sl_float_strassen_next (layer, alone, piece->end, TRUE);
    sl_float_strassen_run (layer, rows_of (run, first, 2 * rows, thread), i, blocks, panel, alone,
                           c, thread);
    for (gint32 r = first; alone < end && r < first + 2 * rows; r += rows) {
      const SlFloatRows found = direct_runs (run, r, rows, runs, thread);
      multiply (layer, alone, end, &found, results_at (run, r, thread), layer->stride, thread);
    }
  }
  finish_tiles (run, piece, first, 2 * rows, c);
}

/* A piece of a layer with pairs. All its blocks, and the rows behind them, take a few panels before
 * the next ones are read. */
static void
run_blocks (const SlFloatRun *run, const Piece *piece, guint thread)
{
  const SlFloatLayer *layer = run->layer;
  const gint32 rows = 2 * layer->isa->max_rows,
               blocks = MIN (piece->rows / rows, layer->tiles.blocks),
               behind = piece->rows - blocks * rows;
  gboolean good[SL_FLOAT_MAX_BLOCKS];
  for (gint32 i = 0; i < blocks; i++)
    good[i] = sl_float_strassen_begin (layer, rows_of (run, piece->first + i * rows, rows, thread),
                                       i, thread);
  for (Piece part = *piece; part.panel < piece->end; part.panel = part.end) {
    part.end = MIN (part.panel + layer->tiles.step, piece->end);
    for (gint32 i = 0; i < blocks; i++)
      if (good[i])
        run_block (run, &part, i, blocks, thread);
      else
        run_tiles (run, &part, piece->first + i * rows, rows, thread);
    if (behind > 0)
      run_tiles (run, &part, piece->first + blocks * rows, behind, thread);
  }
}

/* The rows of @piece times a panel whose weights are widened first. */
static void
multiply_widened (const SlFloatRun *run, const Piece *piece, gint32 p, gfloat *widened)
{
  const SlFloatLayer *layer = run->layer;
  const gfloat *runs[SL_FLOAT_MAX_ROWS];
  SlFloatGemm gemm = layer->tiles.gemm;
  SlFloatPanel panel = gemm.panels[p];
  gint32 first = piece->first, left = piece->rows;
  layer->isa->widen (panel.weights, widened);
  panel.weights = widened;
  gemm.panels = &panel;
  while (left > 0) {
    const gint32 pieces = (left + layer->isa->max_rows - 1) / layer->isa->max_rows,
                 rows = (left + pieces - 1) / pieces;
    const SlFloatRows found = direct_runs (run, first, rows, runs, 0);
    gfloat *c = run->y + (gsize) first * (gsize) layer->channels;
    layer->isa->gemm (&gemm, 0, 1, &found, c, (gsize) layer->channels);
    activate_channels (layer, panel.channel, panel.channel + panel.channels, rows, c);
    first += rows;
    left -= rows;
  }
}

static void
run_few_bits (const void *data, guint item, guint thread)
{
  const SlFloatRun *run = data;
  const SlScratch *scratch = run->layer->scratch;
  const Piece piece = piece_of (run->layer, (gint32) item);
  for (gint32 p = piece.panel; p < piece.end; p++)
    multiply_widened (run, &piece, p,
                      (gfloat *) (gpointer) (scratch->memory + scratch->bytes * thread));
}

/* Windows over binary16: lines under those of a row of the output become floats. */
static void
run_lines (const SlFloatRun *run, const Piece *piece, guint thread)
{
  const SlFloatLayer *layer = run->layer;
  const SlWindowShape *w = &layer->window;
  for (gint32 done = 0; done < piece->rows;) {
    const SlFloatOutput at = sl_float_output (w, piece->first + done);
    const gint32 n = MIN (piece->rows - done, w->out_w - at.x), x0 = at.x * w->stride_w - w->left,
                 end = x0 + (gint32) sl_window_columns (w, n);
    SlFloatRun floats = *run;
    floats.x = sl_float_widen_lines (layer, run->x, at.image, at.y * w->stride_h - w->top,
                                     w->filter_h, w->dilation_h, x0, end, thread);
    run_tiles (&floats, piece, piece->first + done, n, thread);
    done += n;
  }
}

static void
run_pieces (const SlFloatRun *run, const Piece *piece, guint thread)
{
  if (run->layer->mode == SL_FLOAT_WINDOW && run->layer->narrow.x)
    run_lines (run, piece, thread);
  else if (run->layer->tiles.paired > 0)
    run_blocks (run, piece, thread);
  else
    run_tiles (run, piece, piece->first, piece->rows, thread);
}

static void
run_gemm (const void *data, guint item, guint thread)
{
  const SlFloatRun *run = data;
  const Piece piece = piece_of (run->layer, (gint32) item);
  run_pieces (run, &piece, thread);
}

/* Products of @rows places from @at on: to the row of the output that begins at @line. They go by
 * way of the scratch where some are no output, or are rounded. */
static void
run_places (const SlFloatRun *run, const SlFloatPiece *piece, SlFloatOutput at, gint32 rows,
            gssize line, gfloat *scratch)
{
  const SlFloatLayer *part = piece->part;
  const gfloat *runs[SL_FLOAT_MAX_RUNS * SL_FLOAT_MAX_ROWS];
  gfloat copies[SL_FLOAT_COPIES];
  const gboolean inside = !part->narrow.y && sl_float_transposed_inside (part, at.x, rows);
  const gsize stride =
    (gsize) (inside ? part->transposed.place.stride_w * part->transposed.place.channels
                    : part->channels);
  gfloat *to = inside ? run->y + line + sl_float_transposed_offset (part, at.x) : scratch;
  const SlFloatRows found = sl_float_find_runs (run, at, rows, runs, copies);
  part->tiles.multiply (&part->tiles.gemm, piece->panel, piece->end, &found, to, stride);
  if (!inside)
    sl_float_transposed_copy (piece, scratch, at.x, rows, run->y, line);
}

static void
run_transposed (const void *data, guint item, guint thread)
{
  const SlFloatRun *whole = data;
  const SlFloatPiece piece = sl_float_transposed_piece (whole->layer, item);
  const SlFloatLayer *part = piece.part;
  const SlWindowShape *w = &part->window;
  SlFloatRun run = { part, whole->x, NULL, whole->y };
  const gint32 places = part->window.out_w, most = part->isa->max_rows;
  gfloat *scratch = (gfloat *) (gpointer) (part->scratch->memory + part->scratch->bytes * thread);
  for (gint32 line = piece.line; line < piece.end_line; line++) {
    const gssize row = sl_float_transposed_row (part, line);
    SlFloatOutput at = sl_float_output (w, line * places);
    gint32 left = row >= 0 ? places : 0;
    if (part->narrow.x && left > 0)
      run.x = sl_float_widen_lines (part, whole->x, at.image, at.y - w->top, w->filter_h, 1,
                                    -w->left, places - 1 - w->left + w->filter_w, thread);
    for (gint32 pieces = (left + most - 1) / most; pieces > 0; pieces--) {
      const gint32 rows = (left + pieces - 1) / pieces;
      run_places (&run, &piece, at, rows, row, scratch);
      at.x += rows;
      left -= rows;
    }
  }
}

static void
multiply_sparse (const SlFloatRun *run, const Piece *piece, guint thread)
{
  const SlFloatLayer *layer = run->layer;
  gfloat *columns = (gfloat *) (gpointer) (layer->scratch->memory + layer->scratch->bytes * thread);
  gfloat *c = results_at (run, piece->first, thread);
  layer->isa->turn (rows_of (run, piece->first, piece->rows, thread), piece->rows, layer->depth,
                    columns);
  layer->isa->sparse (&layer->sparse, piece->panel, piece->end, columns, piece->rows, c,
                      sl_float_loop_stride (layer));
  activate_channels (layer, piece->panel, piece->end, piece->rows, c);
  finish_rows (run, piece->first, piece->rows, piece->panel, piece->end, c);
}

static void
run_sparse (const void *data, guint item, guint thread)
{
  const SlFloatRun *run = data;
  const Piece piece = piece_of (run->layer, (gint32) item);
  multiply_sparse (run, &piece, thread);
}

/* @n pixels of @line (nullable) from @x on; the layer's zeros for what is outside of the picture.
 */
static void
find_columns (const SlFloatLayer *layer, const gfloat *line, gint32 x, gint32 n,
              const gfloat **pixels)
{
  const SlWindowShape *w = &layer->window;
  const gboolean inside = line != NULL;
  const gint32 from = inside ? CLAMP (-x, 0, n) : n, to = inside ? CLAMP (w->w - x, from, n) : n;
  const gsize bytes = (gsize) w->channels * layer->in_size;
  const gfloat *pixel = from < to ? sl_float_after (line, x + from, bytes) : NULL;
  for (gint32 i = 0; i < from; i++)
    pixels[i] = layer->zeros;
  for (gint32 i = from; i < to; i++, pixel = sl_float_after (pixel, 1, bytes))
    pixels[i] = pixel;
  for (gint32 i = to; i < n; i++)
    pixels[i] = layer->zeros;
}

/* Row @y of the input; NULL outside of the picture. */
static const gfloat *
line_of (const SlFloatLayer *layer, const SlFloatLines *in, gint32 y)
{
  const SlWindowShape *w = &layer->window;
  return y < 0 || y >= w->h
           ? NULL
           : sl_float_after (in->first, (gssize) (y % in->kept) * w->w * w->channels, in->size);
}

/* @n rows of the output from row @y on. */
static void
run_depthwise_rows (const SlFloatLayer *layer, const SlFloatLines *in, gint32 y, gint32 n,
                    gfloat *const out[2])
{
  const SlWindowShape *w = &layer->window;
  const gint32 y0 = y * w->stride_h - w->top;
  const gsize stride = sl_float_loop_stride (layer);
  const gfloat *pixels[SL_FLOAT_MAX_COLUMNS];
  gfloat *to[2] = { out[0], out[n - 1] };
  for (gint32 left = w->out_w; left > 0;) {
    const gint32 pieces = (left + layer->depthwise.strip - 1) / layer->depthwise.strip,
                 count = (left + pieces - 1) / pieces;
    const gint32 x0 = (w->out_w - left) * w->stride_w - w->left;
    const SlFloatStrip strip = { pixels, (gint32) sl_window_columns (w, count), count, n, stride };
    for (gint32 fy = 0; fy < w->filter_h + n - 1; fy++)
      find_columns (layer, line_of (layer, in, y0 + fy * w->dilation_h), x0, strip.columns,
                    pixels + fy * strip.columns);
    (layer->mode == SL_FLOAT_POOL ? layer->isa->largest
     : layer->halves != NULL      ? layer->halves->depthwise
                                  : layer->isa->depthwise) (&layer->depthwise.kernel, &strip, to);
    for (gint32 r = 0; r < n; r++)
      to[r] = sl_float_behind (to[r], (gsize) count * stride, layer->out_size);
    left -= count;
  }
  for (gint32 r = 0; r < n; r++)
    activate_channels (layer, 0, w->channels, w->out_w, out[r]);
}

/* Rows of an image are shared out to so many parts, one for each thread. */
static gint32
depthwise_parts (const SlFloatLayer *layer)
{
  return layer->images == 1 ? MIN (layer->threads, layer->window.out_h) : 1;
}

/* Work items of a part. */
static gint32
depthwise_items (const SlFloatLayer *layer)
{
  const gint32 parts = depthwise_parts (layer), most = (layer->window.out_h + parts - 1) / parts;
  return (most + layer->depthwise.lines - 1) / layer->depthwise.lines;
}

/* Of binary16 only as many lines of the input as a window has are floats at a time. */
static void
run_depthwise (const void *data, guint item, guint thread)
{
  const SlFloatRun *run = data;
  const SlFloatLayer *layer = run->layer;
  const SlWindowShape *w = &layer->window;
  const gint32 parts = depthwise_parts (layer), items = depthwise_items (layer),
               part = (gint32) item / items % parts, image = (gint32) item / items / parts,
               reach = (w->filter_h - 1) * w->dilation_h + 1;
  const gint32 first = w->out_h * part / parts + (gint32) item % items * layer->depthwise.lines,
               end = MIN (first + layer->depthwise.lines, w->out_h * (part + 1) / parts);
  const gsize line = (gsize) w->w * (gsize) w->channels,
              out_line = (gsize) w->out_w * sl_float_loop_stride (layer);
  const SlFloatLines in = { layer->narrow.x ? sl_float_narrow_in (layer, thread)
                                            : sl_float_image (run, image),
                            layer->narrow.x ? reach : w->h, layer->in_size };
  gint32 next = 0; /* line of the input that is not float yet */
  for (gint32 y = first, n; y < end; y += n) {
    const gint32 y0 = y * w->stride_h - w->top, row = (image * w->out_h + y) * w->out_w;
    n = MIN (layer->depthwise.rows, end - y);
    for (next = MAX (next, y0); layer->narrow.x && next < MIN (y0 + reach, w->h); next++)
      sl_float_widen (run->x, ((gsize) image * (gsize) w->h + (gsize) next) * line,
                      sl_float_narrow_in (layer, thread) + (gsize) (next % reach) * line, line);
    gfloat *out = results_at (run, row, thread);
    run_depthwise_rows (
      layer, &in, y, n,
      (gfloat *const[2]){ out, sl_float_behind (out, out_line, layer->out_size) });
    finish_rows (run, row, n * w->out_w, 0, w->channels, out);
  }
}

/* @n elements from @first on, of floats. */
static void
run_floats (const SlFloatLayer *layer, const gfloat *x, const gfloat *second, gfloat *y, gsize n)
{
  if (layer->mode == SL_FLOAT_ACTIVATE)
    bend (layer, x, y, n);
  else if (layer->mode == SL_FLOAT_SOFTMAX)
    layer->isa->softmax (layer->softmax.beta, x, y, (gsize) layer->depth, n / (gsize) layer->depth);
  else if (layer->mode == SL_FLOAT_NORMALIZE)
    layer->isa->normalize (&layer->norm, x, y, n / layer->norm.n);
  else if (layer->mode == SL_FLOAT_PRELU)
    layer->isa->prelu (layer->prelu.slopes, layer->prelu.period, x, y, n);
  else
    (layer->mode == SL_FLOAT_ADD ? layer->isa->add : layer->isa->multiply) (x, second, y, n,
                                                                            layer->lo, layer->hi);
}

/* Some of the operands are binary16, or the second one repeats: a chunk of elements after the
 * other.
 */
static void
run_chunks (const SlFloatRun *run, gsize first, gsize n, guint thread)
{
  const SlFloatLayer *layer = run->layer;
  const SlFloatNarrow *narrow = &layer->narrow;
  const gsize chunk = layer->elements.chunk;
  const gboolean repeated = layer->repeated.period > 0;
  gfloat *in = sl_float_narrow_in (layer, thread),
         *in_second = narrow->second || repeated ? in + chunk : NULL;
  for (const gsize end = first + n; first < end; first += chunk) {
    const gsize some = MIN (chunk, end - first);
    gfloat *y = narrow->y ? sl_float_narrow_out (layer, thread) : run->y + first;
    if (narrow->x)
      sl_float_widen (run->x, first, in, some);
    if (narrow->second && !repeated)
      sl_float_widen (run->second, first, in_second, some);
    run_floats (layer, narrow->x ? in : run->x + first,
                in_second != NULL     ? in_second
                : run->second != NULL ? run->second + first
                                      : NULL,
                y, some);
    if (narrow->y)
      sl_float_narrow (y, run->y, first, some);
  }
}

/* The second operand repeats: the work item's part of an image after the other. */
static void
run_repeated (const SlFloatRun *run, gsize first, gsize n, guint thread)
{
  const SlFloatLayer *layer = run->layer;
  gsize some;
  for (const gsize end = first + n; first < end; first += some) {
    const gsize image = first / layer->repeated.image;
    some = MIN (end, (image + 1) * layer->repeated.image) - first;
    sl_float_repeat (layer, run->second, image,
                     sl_float_narrow_in (layer, thread) + layer->elements.chunk);
    run_chunks (run, first, some, thread);
  }
}

/* The same of binary16. */
static void
run_halves (const SlFloatRun *run, gsize first, gsize n)
{
  const SlFloatLayer *layer = run->layer;
  const guint16 *x = (const guint16 *) (gconstpointer) run->x + first,
                *second = (const guint16 *) (gconstpointer) run->second;
  guint16 *y = (guint16 *) (gpointer) run->y + first;
  if (layer->mode == SL_FLOAT_ACTIVATE)
    layer->halves->activate (layer->activation, x, y, n);
  else
    (layer->mode == SL_FLOAT_ADD ? layer->halves->add : layer->halves->multiply) (
      x, second + first, y, n, layer->lo, layer->hi);
}

/* @n elements from @first on. */
static void
run_all (const SlFloatRun *run, gsize first, gsize n, guint thread)
{
  const SlFloatLayer *layer = run->layer;
  if (layer->halves != NULL)
    run_halves (run, first, n);
  else if (layer->repeated.period > 0)
    run_repeated (run, first, n, thread);
  else if (layer->narrow.x || layer->narrow.second || layer->narrow.y)
    run_chunks (run, first, n, thread);
  else
    run_floats (layer, run->x + first, run->second != NULL ? run->second + first : NULL,
                run->y + first, n);
}

/* The same, pixel by pixel where there are numbers of other tensors between them. */
static void
run_pixels (const SlFloatRun *run, gsize first, gsize n, guint thread)
{
  const SlFloatLayer *layer = run->layer;
  const gsize channels = (gsize) layer->channels, between = layer->stride - channels;
  if (between == 0) {
    run_all (run, first, n, thread);
    return;
  }
  const gsize size = layer->narrow.y ? sizeof (guint16) : layer->out_size;
  SlFloatRun pixel = *run;
  pixel.y = sl_float_behind (run->y, first / channels * between, size);
  for (const gsize end = first + n; first < end; first += channels) {
    run_all (&pixel, first, channels, thread);
    pixel.y = sl_float_behind (pixel.y, between, size);
  }
}

static void
run_elements (const void *data, guint item, guint thread)
{
  const SlFloatRun *run = data;
  const gsize first = item * run->layer->elements.piece;
  run_pixels (run, first, MIN (run->layer->elements.piece, run->layer->elements.total - first),
              thread);
}

/* A row of strips of which some are binary16 that the loops do not read or write. */
static void
run_narrow_strips (const SlFloatLayer *layer, const SlFloatLines *in, gint32 y, gfloat *out,
                   guint thread)
{
  const SlWindowShape *w = &layer->window;
  const gint32 reach = (w->filter_h - 1) * w->dilation_h + 1, y0 = y * w->stride_h - w->top;
  const gsize line = (gsize) w->w * (gsize) w->channels;
  gfloat *floats = layer->narrow.x ? sl_float_narrow_in (layer, thread) : NULL,
         *made = layer->narrow.y ? sl_float_narrow_out (layer, thread) : out;
  const SlFloatLines widened = { floats, reach, sizeof (gfloat) };
  for (gint32 next = MAX (y0, 0); floats != NULL && next < MIN (y0 + reach, w->h); next++)
    sl_float_widen (line_of (layer, in, next), 0, floats + (gsize) (next % reach) * line, line);
  run_depthwise_rows (layer, floats != NULL ? &widened : in, y, 1,
                      (gfloat *const[2]){ made, made });
  if (layer->narrow.y)
    sl_float_narrow_rows (layer, made, out, 0, w->out_w, (gsize) w->channels);
}

void
sl_float_layer_rows (const SlFloatLayer *layer, const SlFloatLines *in, const gfloat *second,
                     gint32 y, gint32 n, gfloat *const out[2], guint thread)
{
  const SlWindowShape *w = &layer->window;
  const gboolean direct = layer->mode != SL_FLOAT_WINDOW;
  if (sl_float_has_strips (layer)) {
    if (layer->narrow.x || layer->narrow.y)
      run_narrow_strips (layer, in, y, out[0], thread);
    else
      run_depthwise_rows (layer, in, y, n, out);
    return;
  }
  if (layer->mode == SL_FLOAT_ADD) {
    const gsize line = layer->elements.piece;
    const SlFloatRun sum = {
      layer, sl_float_after (in->first, (gssize) (y % in->kept) * (gssize) line, in->size), second,
      out[0], 0
    };
    run_pixels (&sum, 0, line, thread);
    return;
  }
  Piece piece = { direct ? 0 : y * w->out_w, w->out_w, 0, layer->n_panels };
  const SlFloatRun run = { layer, direct ? line_of (layer, in, y) : in->first, NULL, out[0],
                           piece.first };
  if (layer->mode != SL_FLOAT_SPARSE) {
    run_pieces (&run, &piece, thread);
    return;
  }
  for (; piece.first < w->out_w; piece.first += layer->tile_rows) {
    piece.rows = MIN (layer->tile_rows, w->out_w - piece.first);
    multiply_sparse (&run, &piece, thread);
  }
}

void
sl_float_layer_run (const SlFloatLayer *layer, SlPool *pool, const void *const *inputs,
                    void *output)
{
  const gboolean turned = layer->repeated.first,
                 two = layer->mode == SL_FLOAT_ADD || layer->mode == SL_FLOAT_MULTIPLY;
  const SlFloatRun run = { layer, inputs[layer->mode == SL_FLOAT_TRANSPOSED ? 2 : turned],
                           two ? inputs[!turned] : NULL, output };
  const gint32 tiles = layer->mode <= SL_FLOAT_WINDOW ? tiles_of (layer) : 0;
  switch (layer->mode) {
    case SL_FLOAT_SPARSE:
    case SL_FLOAT_DIRECT:
    case SL_FLOAT_WINDOW:
      sl_pool_run (pool,
                   layer->mode == SL_FLOAT_SPARSE              ? run_sparse
                   : layer->tiles.weights == SL_FLOAT_FEW_BITS ? run_few_bits
                                                               : run_gemm,
                   &run, (guint) (tiles * layer->chunks), layer->cost_us);
      return;
    case SL_FLOAT_WINOGRAD:
      sl_pool_run (pool, run_winograd, &run, sl_float_winograd_items (layer), layer->cost_us);
      return;
    case SL_FLOAT_TRANSPOSED:
      sl_pool_run (pool, run_transposed, &run, sl_float_transposed_items (layer), layer->cost_us);
      return;
    case SL_FLOAT_DEPTHWISE:
    case SL_FLOAT_POOL:
      sl_pool_run (pool, run_depthwise, &run,
                   (guint) (layer->images * depthwise_parts (layer) * depthwise_items (layer)),
                   layer->cost_us);
      return;
    default:
      sl_pool_run (
        pool, run_elements, &run,
        (guint) ((layer->elements.total + layer->elements.piece - 1) / layer->elements.piece),
        layer->cost_us);
  }
}
