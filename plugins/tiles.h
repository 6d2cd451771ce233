/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A frame that a model sees in overlapping tiles and then as a whole: where the tiles lie, and one prediction of all of them.
 */
#ifndef SL_PLUGINS_TILES_H
#define SL_PLUGINS_TILES_H

#include "core/base/affine.h"
#include "postprocess/predictions/prediction.h"

G_BEGIN_DECLS

/** Most tiles each way. */
#define SL_MAX_TILES 8

/** sl_tiles_parse: "2x2" as columns and rows, 1..SL_MAX_TILES each; 1 and 1 of NULL and of nothing. FALSE with @error set. */
gboolean sl_tiles_parse (const char *text, guint *columns, guint *rows, GError **error);
/** sl_tiles_place: the @i-th of @columns x @rows tiles of @part, row by row; neighbours overlap by a fifth of a tile. A side is at least a
 *  pixel. */
SlRect sl_tiles_place (const SlRect *part, guint columns, guint rows, guint i);

typedef struct _SlTiles SlTiles;

SlTiles *sl_tiles_new (void);
/** sl_tiles_free: NULL is legal. */
void sl_tiles_free (SlTiles *tiles);
/** sl_tiles_clear: forgets what was added. */
void sl_tiles_clear (SlTiles *tiles);
/** sl_tiles_seen: what a tensor of @width x @height, mapped by @affine, shows of @tile: less than all of it where it is cropped. */
SlRect sl_tiles_seen (const SlRect *tile, const SlAffine *affine, gint width, gint height);
/** sl_tiles_add: copies the objects of @prediction, of the whole frame's size, of which a model saw @tile. Those that end at an edge of it inside
 *  @divided, the part of the frame that tiles are of, are left out: they are cut there, and the next tile or the whole part has them. */
void sl_tiles_add (SlTiles *tiles, const SlPredictionView *prediction, const SlRect *tile, const SlRect *divided);
/** sl_tiles_merge: gives @prediction, of the whole frame, the objects that were added, too: at most @most, best first; of two of one class that
 *  overlap by more than @iou, and of any by more than SL_TILES_SAME, the less confident goes. They are @tiles' memory until the next
 *  sl_tiles_clear(). */
void sl_tiles_merge (SlTiles *tiles, SlPredictionView *prediction, double iou, guint most);
/** Overlap of boxes that are one thing whatever it is called. */
#define SL_TILES_SAME 0.7

G_END_DECLS

#endif
