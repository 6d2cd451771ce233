/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Average precision of boxes, as COCO's evaluation (pycocotools) computes it for areas of all sizes.
 */
#ifndef SL_EVALUATE_BOXES_H
#define SL_EVALUATE_BOXES_H

#include <glib.h>

G_BEGIN_DECLS

/** Boxes of a class that count in a picture, the most confident. */
#define SL_BOX_SCORE_MOST 100
/** Overlaps that a found box must reach: 0.50, 0.55, ... 0.95. */
#define SL_BOX_SCORE_OVERLAPS 10

/**
 * SlEvalBox: a true or a found box.
 * @x_min, @y_min, @x_max, @y_max: in any unit that true and found boxes of a picture share; finite
 * @confidence: of a found box; finite
 * @label: its class
 * @ignored: of a true box: it need not be found, and who finds it is neither right nor wrong
 */
typedef struct
{
  gdouble x_min, y_min, x_max, y_max;
  gdouble confidence;
  gint32 label;
  gboolean ignored;
} SlEvalBox;

/** SlBoxFigures: @truths: true boxes that count; @ap: mean over the ten overlaps; @ap50, @ap75: at 0.5 and 0.75; 0..1, not a number
 *  without true boxes. */
typedef struct
{
  gint32 label;
  guint truths, found;
  gdouble ap, ap50, ap75;
} SlBoxFigures;

typedef struct _SlBoxScore SlBoxScore;

SlBoxScore *sl_box_score_new (void);
void sl_box_score_free (SlBoxScore *score);
/** sl_box_score_add: a picture's boxes. Of equal confidences the earlier comes first, within a picture and among pictures. */
void sl_box_score_add (SlBoxScore *score, const SlEvalBox *truth, guint n_truth, const SlEvalBox *found, guint n_found);
/** sl_box_score_figures: (transfer full) (element-type SlBoxFigures): of each class that was true or found, by number; @mean: over those
 *  with true boxes, its label -1. */
GArray *sl_box_score_figures (SlBoxScore *score, SlBoxFigures *mean);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlBoxScore, sl_box_score_free)

G_END_DECLS

#endif
