/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Tiles: a model runs on overlapping tiles of a frame, and then on the whole frame. This part
 * places the tiles and merges their predictions into one.
 */
#pragma once

#include "core/base/affine.h"
#include "plugins/meta/frame_meta.h"
#include "postprocess/predictions/prediction.h"

/** Most tiles each way. */
#define SL_MAX_TILES 8
/** Most tiles around motion. */
#define SL_MAX_MOTION_TILES 4

/** sl_tiles_parse: reads "2x2" as columns and rows, 1..SL_MAX_TILES each. NULL and "" give 1 and 1.
 * FALSE with @error set. */
gboolean sl_tiles_parse (const char *text, guint *columns, guint *rows, GError **error);
/** sl_tiles_place: the @i-th of @columns x @rows tiles of @part, row by row. Neighbours overlap by
 * a fifth of a tile. Each side of a tile is at least one pixel. */
SlRect sl_tiles_place (const SlRect *part, guint columns, guint rows, guint i);

/** sl_tiles_around: tiles of the shape @width x @height, and at least of that size, around the @n
 * @regions, SL_MOTION_MOST at most, with a margin; all in pixels. Each lies in @part as a whole.
 * Where the regions need more than SL_MAX_MOTION_TILES tiles, they take turns, from left to right:
 * *@turn is the place at which the next frame goes on; zeroed at first. Returns the number of
 * tiles. 0: the whole @part costs less than the tiles, or shows a region as large; no region lies
 * in @part: *@none is set then. */
guint sl_tiles_around (const SlRect *part, const SlRect *regions, guint n, gint width, gint height,
                       SlRect *turn, SlRect tiles[SL_MAX_MOTION_TILES], gboolean *none);

typedef struct _SlTiles SlTiles;

SlTiles *sl_tiles_new (void);
/** sl_tiles_free: NULL is legal. */
void sl_tiles_free (SlTiles *tiles);
/** sl_tiles_clear: removes all added objects. */
void sl_tiles_clear (SlTiles *tiles);
/** sl_tiles_seen: the part of @tile that a tensor of @width x @height, mapped by @affine, shows. It
 * is smaller than @tile where preprocessing crops. */
SlRect sl_tiles_seen (const SlRect *tile, const SlAffine *affine, gint width, gint height);
/** sl_tiles_add: copies the objects that a model found in @tile. @prediction has the size of the
 * whole frame. @divided is the part of the frame that all tiles cover. Objects that touch an edge
 * of @tile inside @divided are left out: they are cut there, and the next tile or the whole part
 * has them. */
void sl_tiles_add (SlTiles *tiles, const SlPredictionView *prediction, const SlRect *tile,
                   const SlRect *divided);
/** sl_tiles_merge: adds the objects of the tiles to @prediction, the prediction of the whole frame:
 * at most @most objects, best first. Of two objects of one class that overlap by more than @iou,
 * the less confident one is removed; so it is for two objects of any classes above SL_TILES_SAME.
 * @tiles owns the objects until the next sl_tiles_clear(). */
void sl_tiles_merge (SlTiles *tiles, SlPredictionView *prediction, double iou, guint most);
/** sl_tiles_keep: remembers the objects of @prediction, the result of a frame. NULL: none */
void sl_tiles_keep (SlTiles *tiles, const SlPredictionView *prediction);
/** sl_tiles_merge_motion: makes @prediction what the tiles of a frame have and what was kept and
 * lies as a whole in none of them, merged as sl_tiles_merge() does; then keeps it. */
void sl_tiles_merge_motion (SlTiles *tiles, SlPredictionView *prediction, double iou, guint most);
/** sl_tiles_forget: removes all added and kept objects. NULL is legal. */
void sl_tiles_forget (SlTiles *tiles);
/** sl_tiles_gather: takes @prediction of the tensor with @meta (nullable). TRUE: it is of a tile,
 * and there is nothing to tell yet. That of the whole frame after its tiles, or of the last tile
 * around motion, gets what the tiles had. @tiles: (inout): where the caller keeps them, NULL at
 * first */
gboolean sl_tiles_gather (SlTiles **tiles, const SlFrameMeta *meta, SlPredictionView *prediction,
                          double iou, guint most);
/** Overlap (intersection over union) from which two boxes are the same object, whatever their
 * classes. */
#define SL_TILES_SAME 0.7
