/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Masks of pixels as in COCO: run lengths along columns, alternating outside and inside, beginning
 * with outside.
 */
#pragma once

#include <glib.h>

/** Longest side of a mask, pixels. */
#define SL_RUNS_MAX_SIDE 16384

/** Most polygons of a mask. */
#define SL_RUNS_MAX_POLYGONS 10000
/** Limits of all masks together: positions where they change, 4 bytes each, and steps of work. A
 * step is a column of pixels that an outline passes, or a position that joining two polygons reads.
 */
#define SL_RUNS_MAX_CHANGES (256 << 20)
#define SL_RUNS_MAX_STEPS (512 << 20)

typedef struct _SlRuns SlRuns;

/** SlRunsCost: the cost of masks that are made together. It begins as zero, and each mask adds to
 * it. A mask beyond the limits is refused with SL_ERROR_LIMIT. */
typedef struct
{
  guint64 changes, steps;
} SlRunsCost;

/** sl_runs_new_counts: (transfer full): a mask from @n run lengths, which must fill @width x
 * @height pixels (1..SL_RUNS_MAX_SIDE). Else SL_ERROR_ARGUMENT. */
SlRuns *sl_runs_new_counts (guint width, guint height, const guint32 *counts, gsize n,
                            SlRunsCost *cost, GError **error);
/** sl_runs_new_text: (transfer full): a mask from run lengths in pycocotools' compressed text. */
SlRuns *sl_runs_new_text (guint width, guint height, const char *text, SlRunsCost *cost,
                          GError **error);
/** sl_runs_new_polygons: (transfer full): a mask of the pixels that pycocotools counts as inside @n
 * polygons; @n may be 0. @points are x, y in pixels. The first polygon has the points up to number
 * @ends[0], the second the points up to @ends[1], and so on. Points may lie outside the picture, up
 * to the picture's size; beyond, SL_ERROR_ARGUMENT. SL_ERROR_LIMIT for more than
 * SL_RUNS_MAX_POLYGONS, or for an outline that passes more than 10 million columns of pixels. */
SlRuns *sl_runs_new_polygons (guint width, guint height, const gdouble *points, const guint *ends,
                              guint n, SlRunsCost *cost, GError **error);
/** sl_runs_new_cells: (transfer full): a mask from @w x @h cells, row by row; a cell of @inside or
 * more is inside. The cells cover the pixels from @x, @y on. */
SlRuns *sl_runs_new_cells (guint width, guint height, guint x, guint y, guint w, guint h,
                           const guint8 *cells, guint8 inside);
void sl_runs_free (SlRuns *runs);
guint64 sl_runs_area (const SlRuns *runs);
/** sl_runs_overlap: intersection over union of two masks of the same size. With @crowd,
 * intersection over the area of @found. */
gdouble sl_runs_overlap (const SlRuns *found, const SlRuns *truth, gboolean crowd);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlRuns, sl_runs_free)
