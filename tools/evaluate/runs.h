/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Masks of pixels as COCO has them: lengths of runs along columns, outside and inside by turns, outside first.
 */
#ifndef SL_EVALUATE_RUNS_H
#define SL_EVALUATE_RUNS_H

#include <glib.h>

G_BEGIN_DECLS

/** Longest side of a mask, pixels. */
#define SL_RUNS_MAX_SIDE 16384

/** Polygons of a mask. */
#define SL_RUNS_MAX_POLYGONS 10000
/** What masks may cost together: positions where they change, 4 bytes each; and steps of work: a step is a column of pixels that an
 *  outline passes, or a position that joining two polygons looks at. */
#define SL_RUNS_MAX_CHANGES (256 << 20)
#define SL_RUNS_MAX_STEPS (512 << 20)

typedef struct _SlRuns SlRuns;

/** SlRunsCost: of masks that are made together: begins as zero and is added to. SL_ERROR_LIMIT refuses a mask that goes beyond the
 *  limits. */
typedef struct
{
  guint64 changes, steps;
} SlRunsCost;

/** sl_runs_new_counts: (transfer full): @n lengths, which must fill @width x @height pixels (1..SL_RUNS_MAX_SIDE); SL_ERROR_ARGUMENT else. */
SlRuns *sl_runs_new_counts (guint width, guint height, const guint32 *counts, gsize n, SlRunsCost *cost, GError **error);
/** sl_runs_new_text: (transfer full): lengths in pycocotools' compressed text. */
SlRuns *sl_runs_new_text (guint width, guint height, const char *text, SlRunsCost *cost, GError **error);
/** sl_runs_new_polygons: (transfer full): the pixels that pycocotools puts into @n polygons, none or more: points x, y, in pixels, up to
 *  number @ends[0] the first one's, up to @ends[1] the second one's, ... They may lie up to a picture's size outside of it;
 *  SL_ERROR_ARGUMENT beyond, SL_ERROR_LIMIT for more than SL_RUNS_MAX_POLYGONS, or an outline that passes more than 10 million columns of pixels. */
SlRuns *sl_runs_new_polygons (guint width, guint height, const gdouble *points, const guint *ends, guint n, SlRunsCost *cost,
                              GError **error);
/** sl_runs_new_cells: (transfer full): @cells: row by row, @inside or more = inside; they cover the pixels from @x, @y on. */
SlRuns *sl_runs_new_cells (guint width, guint height, guint x, guint y, guint w, guint h, const guint8 *cells, guint8 inside);
void sl_runs_free (SlRuns *runs);
guint64 sl_runs_area (const SlRuns *runs);
/** sl_runs_overlap: intersection over union of masks of one size; with @crowd over the area of @found. */
gdouble sl_runs_overlap (const SlRuns *found, const SlRuns *truth, gboolean crowd);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlRuns, sl_runs_free)

G_END_DECLS

#endif
