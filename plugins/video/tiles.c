/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Objects of tiles, merged. slnormalize places the tiles, slpostprocess adds what each gave.
 * Predictions are copied as a whole (SlPredictions), since the decoder's memory is the next tile's.
 */
#include "plugins/video/tiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/meta/motion_meta.h"
#include "predict/predictions_private.h"
#include "core/base/fail.h"

/* Of a tile's side: how far neighbours overlap, and how near to an edge a box is cut by it. */
#define OVERLAP 0.2
#define CUT 0.015
/* Of a region's side: margin around it. Of the whole part: what tiles may cost. */
#define MARGIN 0.25
#define LEAST_MARGIN 16
#define MOST_OF_PART 0.8

struct _SlTiles
{
  GPtrArray *parts;    /* of SlPredictions */
  GPtrArray *spare;    /* likewise, of frames before */
  GArray *objects;     /* of SlObjectView: they point into parts, and the last of them into the
                          prediction of the whole frame */
  GArray *seen;        /* of SlRect: the tiles that were added */
  SlPredictions *kept; /* (nullable) */
  GstBuffer *frame;    /* (nullable): whose tiles are coming in */
};

static gboolean
is_count (char digit)
{
  return digit >= '1' && digit <= '0' + SL_MAX_TILES;
}

gboolean
sl_tiles_parse (const char *text, guint *columns, guint *rows, GError **error)
{
  *columns = *rows = 1;
  if (text == NULL || *text == '\0')
    return TRUE;
  if (strlen (text) == 3 && is_count (text[0]) && text[1] == 'x' && is_count (text[2])) {
    *columns = (guint) (text[0] - '0');
    *rows = (guint) (text[2] - '0');
    return TRUE;
  }
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "tiles=%s: expected COLUMNSxROWS, each 1..%d, such as tiles=2x2", text,
                  SL_MAX_TILES);
}

/* Where the @i-th of @n pieces of @size pixels begins, and how long it is. */
static void
place (gint size, guint n, guint i, int *start, int *length)
{
  const double piece = size / (n - (n - 1) * OVERLAP);
  const gint first = (gint) (i * piece * (1 - OVERLAP)),
             end = i + 1 == n ? size : (gint) (i * piece * (1 - OVERLAP) + piece + 0.5);
  *start = CLAMP (first, 0, size - 1);
  *length = CLAMP (end - *start, 1, size - *start);
}

SlRect
sl_tiles_place (const SlRect *part, guint columns, guint rows, guint i)
{
  SlRect tile;
  place (part->width, columns, i % columns, &tile.x, &tile.width);
  place (part->height, rows, i / columns, &tile.y, &tile.height);
  tile.x += part->x;
  tile.y += part->y;
  return tile;
}

SlRect
sl_tiles_seen (const SlRect *tile, const SlAffine *affine, gint width, gint height)
{
  double box[4];
  sl_affine_box (affine, (const double[4]){ 0, 0, width, height }, box);
  const gint left = (gint) CLAMP (rint (box[0]), tile->x, tile->x + tile->width - 1);
  const gint top = (gint) CLAMP (rint (box[1]), tile->y, tile->y + tile->height - 1);
  const gint right = (gint) CLAMP (rint (box[2]), left + 1, tile->x + tile->width);
  const gint bottom = (gint) CLAMP (rint (box[3]), top + 1, tile->y + tile->height);
  return (SlRect){ left, top, right - left, bottom - top };
}

/* A side of a tile: as long as @length, around @from and @region, inside @start..@start+@all. */
static void
place_around (gint start, gint all, gint from, gint region, gint length, int *at, int *side)
{
  *side = MIN (length, all);
  *at = CLAMP (from + region / 2 - *side / 2, start, start + all - *side);
}

static gboolean
contains (const SlRect *outer, const SlRect *inner)
{
  return inner->x >= outer->x && inner->y >= outer->y
         && inner->x + inner->width <= outer->x + outer->width
         && inner->y + inner->height <= outer->y + outer->height;
}

/* @region with its margin, cut to @part. FALSE: it lies outside. */
static gboolean
widen (const SlRect *region, const SlRect *part, SlRect *wide)
{
  const gint x = MAX ((gint) (region->width * MARGIN), LEAST_MARGIN),
             y = MAX ((gint) (region->height * MARGIN), LEAST_MARGIN),
             left = MAX (region->x - x, part->x), top = MAX (region->y - y, part->y),
             right = MIN (region->x + region->width + x, part->x + part->width),
             bottom = MIN (region->y + region->height + y, part->y + part->height);
  *wide = (SlRect){ left, top, right - left, bottom - top };
  return right > left && bottom > top;
}

static int
leftmost_first (gconstpointer a, gconstpointer b)
{
  const SlRect *x = a, *y = b;
  return x->x != y->x ? x->x - y->x : x->y - y->y;
}

static SlRect
join (const SlRect *a, const SlRect *b)
{
  const gint left = MIN (a->x, b->x), top = MIN (a->y, b->y),
             right = MAX (a->x + a->width, b->x + b->width),
             bottom = MAX (a->y + a->height, b->y + b->height);
  return (SlRect){ left, top, right - left, bottom - top };
}

/* The regions of @part in @wide, which has room for @n: each with its margin, from left to right.
 * Returns how many. */
static guint
widen_all (const SlRect *regions, guint n, const SlRect *part, SlRect *wide)
{
  guint count = 0;
  for (guint i = 0; i < n; i++)
    count += widen (&regions[i], part, &wide[count]);
  qsort (wide, count, sizeof *wide, leftmost_first);
  return count;
}

/* A tile of the shape @width x @height around the @first-th of @n regions of @wide, and around
 * what else it has room for. Those are @done then. */
static SlRect
make_tile (const SlRect *part, const SlRect *wide, guint n, guint first, gint width, gint height,
           gboolean *done)
{
  SlRect inside = wide[first], tile;
  const double scale =
    MAX (1, MAX ((double) inside.width / width, (double) inside.height / height));
  const gint across = (gint) ceil (width * scale), down = (gint) ceil (height * scale);
  for (guint i = 0; i < n; i++) {
    const SlRect both = join (&inside, &wide[i]);
    if (done[i] || both.width > across || both.height > down)
      continue;
    inside = both;
    done[i] = TRUE;
  }
  place_around (part->x, part->width, inside.x, inside.width, across, &tile.x, &tile.width);
  place_around (part->y, part->height, inside.y, inside.height, down, &tile.y, &tile.height);
  return tile;
}

guint
sl_tiles_around (const SlRect *part, const SlRect *regions, guint n, gint width, gint height,
                 SlRect *turn, SlRect tiles[SL_MAX_MOTION_TILES], gboolean *none)
{
  SlRect wide[SL_MOTION_MOST];
  gboolean done[SL_MOTION_MOST] = { FALSE };
  guint count = 0, begin = 0;
  double area = 0;
  n = widen_all (regions, n, part, wide);
  *none = n == 0;
  while (begin < n && leftmost_first (&wide[begin], turn) < 0)
    begin++;
  for (guint i = 0; i < n; i++) {
    const guint first = (begin + i) % n;
    if (done[first])
      continue;
    if (count == SL_MAX_MOTION_TILES) {
      *turn = wide[first];
      return count;
    }
    const SlRect tile = make_tile (part, wide, n, first, width, height, done);
    tiles[count++] = tile;
    area += (double) tile.width * tile.height;
    if (area > MOST_OF_PART * part->width * part->height)
      return 0;
  }
  return count;
}

/* (transfer full): a copy, in the memory of one that is not needed any longer. */
static SlPredictions *
copy_of (SlTiles *tiles, const SlPredictionView *prediction)
{
  if (tiles->spare->len == 0)
    return sl_predictions_new (prediction);
  SlPredictions *copy = g_ptr_array_steal_index_fast (tiles->spare, tiles->spare->len - 1);
  sl_predictions_refill (copy, prediction);
  return copy;
}

SlTiles *
sl_tiles_new (void)
{
  SlTiles *tiles = g_new0 (SlTiles, 1);
  tiles->parts = g_ptr_array_new_with_free_func ((GDestroyNotify) sl_predictions_unref);
  tiles->spare = g_ptr_array_new_with_free_func ((GDestroyNotify) sl_predictions_unref);
  tiles->objects = g_array_new (FALSE, FALSE, sizeof (SlObjectView));
  tiles->seen = g_array_new (FALSE, FALSE, sizeof (SlRect));
  return tiles;
}

void
sl_tiles_free (SlTiles *tiles)
{
  if (tiles == NULL)
    return;
  sl_tiles_keep (tiles, NULL);
  g_ptr_array_unref (tiles->parts);
  g_ptr_array_unref (tiles->spare);
  g_array_unref (tiles->objects);
  g_array_unref (tiles->seen);
  gst_clear_buffer (&tiles->frame);
  g_free (tiles);
}

void
sl_tiles_clear (SlTiles *tiles)
{
  while (tiles->parts->len > 0)
    g_ptr_array_add (tiles->spare,
                     g_ptr_array_steal_index_fast (tiles->parts, tiles->parts->len - 1));
  g_array_set_size (tiles->objects, 0);
  g_array_set_size (tiles->seen, 0);
}

/* Whether @low..@high ends at an edge of @start..@start + @length that is inside @first..@last; all
 * in pixels. */
static gboolean
ends_inside (double low, double high, gint start, gint length, gint first, gint last)
{
  const double near = MAX (CUT * length, 2);
  return (start > first && low < start + near)
         || (start + length < last && high > start + length - near);
}

static gboolean
is_cut (const SlObjectView *object, const SlPredictionView *frame, const SlRect *tile,
        const SlRect *divided)
{
  return ends_inside (object->x_min * frame->width, object->x_max * frame->width, tile->x,
                      tile->width, divided->x, divided->x + divided->width)
         || ends_inside (object->y_min * frame->height, object->y_max * frame->height, tile->y,
                         tile->height, divided->y, divided->y + divided->height);
}

void
sl_tiles_add (SlTiles *tiles, const SlPredictionView *prediction, const SlRect *tile,
              const SlRect *divided)
{
  SlPredictions *copy = copy_of (tiles, prediction);
  const SlPredictionView *view = sl_predictions_view (copy);
  g_ptr_array_add (tiles->parts, copy);
  g_array_append_val (tiles->seen, *tile);
  for (guint i = 0; i < view->n_objects; i++)
    if (!is_cut (&view->objects[i], view, tile, divided))
      g_array_append_val (tiles->objects, view->objects[i]);
}

static double
overlap (const SlObjectView *a, const SlObjectView *b)
{
  const double width = MIN (a->x_max, b->x_max) - MAX (a->x_min, b->x_min),
               height = MIN (a->y_max, b->y_max) - MAX (a->y_min, b->y_min);
  const double both = width > 0 && height > 0 ? width * height : 0;
  const double all = (a->x_max - a->x_min) * (a->y_max - a->y_min)
                     + (b->x_max - b->x_min) * (b->y_max - b->y_min) - both;
  return all > 0 ? both / all : 0;
}

static int
surer_first (gconstpointer a, gconstpointer b)
{
  const SlObjectView *x = a, *y = b;
  return x->confidence > y->confidence ? -1 : x->confidence < y->confidence;
}

void
sl_tiles_merge (SlTiles *tiles, SlPredictionView *prediction, double iou, guint most)
{
  GArray *objects = tiles->objects;
  guint kept = 0;
  g_array_append_vals (objects, prediction->objects, prediction->n_objects);
  g_array_sort (objects, surer_first);
  for (guint i = 0; i < objects->len && kept < most; i++) {
    const SlObjectView object = g_array_index (objects, SlObjectView, i);
    gboolean again = FALSE;
    for (guint k = 0; k < kept && !again; k++) {
      const SlObjectView *other = &g_array_index (objects, SlObjectView, k);
      const double same = overlap (&object, other);
      again = same > SL_TILES_SAME || (same > iou && object.label_id == other->label_id);
    }
    if (!again)
      g_array_index (objects, SlObjectView, kept++) = object;
  }
  g_array_set_size (objects, kept);
  prediction->n_objects = kept;
  prediction->objects = (const SlObjectView *) (gconstpointer) objects->data;
}

void
sl_tiles_keep (SlTiles *tiles, const SlPredictionView *prediction)
{
  SlPredictions *kept = prediction != NULL ? copy_of (tiles, prediction) : NULL;
  if (tiles->kept != NULL)
    g_ptr_array_add (tiles->spare, tiles->kept); /* @prediction may point into it */
  tiles->kept = kept;
}

/* Whether the model has seen the place of @object, so that the object would have been found. */
static gboolean
is_seen (const SlTiles *tiles, const SlPredictionView *frame, const SlObjectView *object)
{
  const gint left = (gint) floor (object->x_min * frame->width),
             top = (gint) floor (object->y_min * frame->height);
  const SlRect box = { left, top, (gint) ceil (object->x_max * frame->width) - left,
                       (gint) ceil (object->y_max * frame->height) - top };
  for (guint i = 0; i < tiles->seen->len; i++)
    if (contains (&g_array_index (tiles->seen, SlRect, i), &box))
      return TRUE;
  return FALSE;
}

void
sl_tiles_merge_motion (SlTiles *tiles, SlPredictionView *prediction, double iou, guint most)
{
  const SlPredictionView *kept = tiles->kept != NULL ? sl_predictions_view (tiles->kept) : NULL;
  SlPredictionView whole = *prediction;
  for (guint i = 0; kept != NULL && i < kept->n_objects; i++)
    if (!is_seen (tiles, prediction, &kept->objects[i]))
      g_array_append_val (tiles->objects, kept->objects[i]);
  whole.n_objects = whole.n_labels = whole.n_mask_classes = 0;
  whole.mask = (SlClassMask){ 0 };
  whole.vector = (SlVector){ 0 };
  whole.outputs = (SlOutputs){ 0 };
  sl_tiles_merge (tiles, &whole, iou, most);
  *prediction = whole;
  if (tiles->kept != NULL) /* it lives as long as the objects of this frame */
    g_ptr_array_add (tiles->parts, g_steal_pointer (&tiles->kept));
  tiles->kept = copy_of (tiles, prediction);
}

void
sl_tiles_forget (SlTiles *tiles)
{
  if (tiles == NULL)
    return;
  sl_tiles_clear (tiles);
  sl_tiles_keep (tiles, NULL);
  gst_clear_buffer (&tiles->frame);
}

/* Begins with the tiles of another frame where @meta is of one. */
static void
begin_frame (SlTiles *tiles, const SlFrameMeta *meta)
{
  if (tiles->frame != meta->frame)
    sl_tiles_clear (tiles);
  gst_buffer_replace (&tiles->frame, meta->frame);
}

gboolean
sl_tiles_gather (SlTiles **place, const SlFrameMeta *meta, SlPredictionView *prediction, double iou,
                 guint most)
{
  const SlFrameContent content = meta != NULL ? meta->content : SL_FRAME_WHOLE;
  const gboolean whole = content == SL_FRAME_WHOLE && meta != NULL && meta->motion,
                 tile = content == SL_FRAME_TILE || content == SL_FRAME_LAST_TILE;
  if (!whole && !tile && content != SL_FRAME_AFTER_TILES)
    return FALSE;
  if (*place == NULL)
    *place = sl_tiles_new ();
  SlTiles *tiles = *place;
  begin_frame (tiles, meta);
  if (tile)
    sl_tiles_add (tiles, prediction, &meta->part, &meta->divided);
  if (content == SL_FRAME_TILE)
    return TRUE;
  gst_clear_buffer (&tiles->frame);
  if (whole)
    sl_tiles_keep (tiles, prediction);
  else if (content == SL_FRAME_LAST_TILE)
    sl_tiles_merge_motion (tiles, prediction, iou, most);
  else {
    sl_tiles_merge (tiles, prediction, iou, most);
    if (meta->motion)
      sl_tiles_keep (tiles, prediction);
  }
  return FALSE;
}
