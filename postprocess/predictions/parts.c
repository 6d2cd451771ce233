/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parts of an object by class. The mask is first laid over the object's pixels alone, so turns,
 * crops and borders are done with; its grid then counts as a model's input, in which each class is
 * a box with a mask, and these go the way of any detector's.
 */
#include "postprocess/predictions/parts.h"

#include "postprocess/predictions/class_mask_map.h"
#include "postprocess/predictions/mapper.h"

/* Cells around all cells of a class: [left, right) x [top, bottom). */
typedef struct
{
  guint left, top, right, bottom;
} Extent;

struct _SlPredictionParts
{
  SlClassMaskMap *mask;
  SlPredictionMapper *predictions;
  SlInstanceMask masks[SL_MASK_VOID];
  GByteArray *cells;
  SlResult result;
};

SlPredictionParts *
sl_prediction_parts_new (void)
{
  SlPredictionParts *parts = g_new0 (SlPredictionParts, 1);
  parts->mask = sl_class_mask_map_new ();
  parts->predictions = sl_prediction_mapper_new ();
  parts->cells = g_byte_array_new ();
  return parts;
}

void
sl_prediction_parts_free (SlPredictionParts *parts)
{
  if (parts == NULL)
    return;
  sl_class_mask_map_free (parts->mask);
  sl_prediction_mapper_free (parts->predictions);
  g_byte_array_unref (parts->cells);
  g_free (parts);
}

void
sl_prediction_parts_choose (SlPredictionParts *parts, const SlClassFilter *classes, guint most)
{
  sl_prediction_mapper_choose (parts->predictions, classes, most);
}

static void
find_extents (const SlClassMask *grid, Extent extents[256])
{
  for (guint i = 0; i < 256; i++)
    extents[i] = (Extent){ grid->width, grid->height, 0, 0 };
  for (guint y = 0; y < grid->height; y++) {
    const guint8 *row = grid->classes + (gsize) y * grid->width;
    for (guint x = 0; x < grid->width; x++) {
      Extent *extent = &extents[row[x]];
      extent->left = MIN (extent->left, x);
      extent->right = MAX (extent->right, x + 1);
      extent->top = MIN (extent->top, y);
      extent->bottom = y + 1;
    }
  }
}

/* Classes that are there but @background, those with the most cells first; returns how many. */
static guint
rank_classes (const guint32 counts[256], gint background, guint8 ranked[256])
{
  guint n = 0;
  for (guint class = 0; class < SL_MASK_VOID; class ++) {
    guint at = n;
    if (counts[class] == 0 || (gint) class == background)
      continue;
    for (; at > 0 && counts[ranked[at - 1]] < counts[class]; at--)
      ranked[at] = ranked[at - 1];
    ranked[at] = (guint8) class;
    n++;
  }
  return n;
}

/* Cells of @class inside @extent, as far as there is room for them. */
static void
add_cells (SlPredictionParts *parts, const SlClassMask *grid, guint8 class, const Extent *extent,
           SlInstanceMask *mask)
{
  const guint width = extent->right - extent->left, height = extent->bottom - extent->top;
  const gsize first = parts->cells->len, n = (gsize) width * height;
  if (first + n > SL_MAX_OBJECT_CELLS)
    return;
  g_byte_array_set_size (parts->cells, (guint) (first + n));
  guint8 *to = parts->cells->data + first;
  for (guint y = extent->top; y < extent->bottom; y++)
    for (guint x = extent->left; x < extent->right; x++)
      *to++ = grid->classes[(gsize) y * grid->width + x] == class ? 255 : 0;
  mask->width = width;
  mask->height = height;
}

static void
add_part (SlPredictionParts *parts, const SlClassMask *grid, guint8 class, const Extent *extent)
{
  SlDetection *box = &parts->result.detections[parts->result.n_detections];
  SlInstanceMask *mask = &parts->masks[parts->result.n_detections++];
  *box = (SlDetection){ .x_min = (gfloat) extent->left / (gfloat) grid->width,
                        .y_min = (gfloat) extent->top / (gfloat) grid->height,
                        .x_max = (gfloat) extent->right / (gfloat) grid->width,
                        .y_max = (gfloat) extent->bottom / (gfloat) grid->height,
                        .confidence = 1,
                        .label_id = class };
  *mask = (SlInstanceMask){ box->x_min, box->y_min, box->x_max, box->y_max, 0, 0, NULL };
  add_cells (parts, grid, class, extent, mask);
}

/* Where the cells are, once all have been added and none move any more. */
static void
place_cells (SlPredictionParts *parts)
{
  const guint8 *cells = parts->cells->data;
  for (guint i = 0; i < parts->result.n_detections; i++) {
    parts->masks[i].cells = cells;
    cells += (gsize) parts->masks[i].width * parts->masks[i].height;
  }
  parts->result.masks = parts->masks;
}

void
sl_prediction_parts_run (SlPredictionParts *parts, const SlClassMask *mask,
                         const SlFrameGeometry *geometry, const SlRect *region,
                         const SlLabels *labels, const char *const *names,
                         SlPredictionView *prediction)
{
  SlFrameGeometry part = *geometry, whole = *geometry;
  guint32 counts[256] = { 0 };
  Extent extents[256];
  guint8 ranked[256];
  SlClassMask grid;
  part.affine.x0 -= region->x;
  part.affine.y0 -= region->y;
  part.frame_width = region->width;
  part.frame_height = region->height;
  sl_class_mask_map_run (parts->mask, mask, &part, &grid, counts);
  parts->result.n_detections = 0;
  g_byte_array_set_size (parts->cells, 0);
  if (grid.width > 0) {
    const guint n = rank_classes (counts, mask->background, ranked);
    find_extents (&grid, extents);
    for (guint i = 0; i < n; i++)
      add_part (parts, &grid, ranked[i], &extents[ranked[i]]);
    whole.tensor_width = (gint) grid.width;
    whole.tensor_height = (gint) grid.height;
    whole.affine = (SlAffine){ (double) region->width / grid.width,   0,        region->x, 0,
                               (double) region->height / grid.height, region->y };
  }
  place_cells (parts);
  sl_prediction_mapper_fill (parts->predictions, &parts->result, labels, names, &whole, 0,
                             prediction);
}
