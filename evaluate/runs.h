/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Masks of pixels as COCO has them: lengths of runs along columns, outside and inside by turns, outside first.
 */
#ifndef SL_EVALUATE_RUNS_H
#define SL_EVALUATE_RUNS_H

#include <glib.h>

G_BEGIN_DECLS

/** Longest side of a mask, pixels. */
#define SL_RUNS_MOST_SIDE 16384

typedef struct _SlRuns SlRuns;

/** sl_runs_new_counts: (transfer full): @n lengths, which must fill @width x @height pixels (1..SL_RUNS_MOST_SIDE); SL_ERROR_ARGUMENT else. */
SlRuns *sl_runs_new_counts (guint width, guint height, const guint32 *counts, gsize n, GError **error);
/** sl_runs_new_text: (transfer full): lengths in pycocotools' compressed text. */
SlRuns *sl_runs_new_text (guint width, guint height, const char *text, GError **error);
/** sl_runs_new_polygon: (transfer full): the pixels that pycocotools puts into a polygon of @n points x, y, in pixels, which may lie up to a
 *  picture's size outside of it; SL_ERROR_ARGUMENT beyond, SL_ERROR_LIMIT for an outline of more than 10 million pixels. */
SlRuns *sl_runs_new_polygon (guint width, guint height, const gdouble *points, gsize n, GError **error);
/** sl_runs_new_cells: (transfer full): @cells: row by row, @inside or more = inside; they cover the pixels from @x, @y on. */
SlRuns *sl_runs_new_cells (guint width, guint height, guint x, guint y, guint w, guint h, const guint8 *cells, guint8 inside);
void sl_runs_free (SlRuns *runs);
/** sl_runs_union: (transfer full): of masks of one size. */
SlRuns *sl_runs_union (const SlRuns *a, const SlRuns *b);
guint64 sl_runs_area (const SlRuns *runs);
/** sl_runs_overlap: intersection over union of masks of one size; with @crowd over the area of @found. */
gdouble sl_runs_overlap (const SlRuns *found, const SlRuns *truth, gboolean crowd);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlRuns, sl_runs_free)

G_END_DECLS

#endif
