/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * How often the class of a picture is the first, or among the first five, that a model names.
 */
#ifndef SL_EVALUATE_CLASSES_H
#define SL_EVALUATE_CLASSES_H

#include <glib.h>

G_BEGIN_DECLS

/** Classes of a picture that count. */
#define SL_CLASS_SCORE_BEST 5
/** What a model said that named no class. */
#define SL_CLASS_SCORE_NONE (-1)

/** SlClassFigures: @right, @near: pictures whose class came first, or among the first five. */
typedef struct
{
  gint32 label;
  guint pictures, right, near;
} SlClassFigures;

/** SlConfusion: @pictures of class @truth that were taken for @guess. */
typedef struct
{
  gint32 truth, guess;
  guint pictures;
} SlConfusion;

typedef struct _SlClassScore SlClassScore;

SlClassScore *sl_class_score_new (void);
void sl_class_score_free (SlClassScore *score);
/** sl_class_score_add: a picture of class @truth, and the @n classes that the model named, best first. */
void sl_class_score_add (SlClassScore *score, gint32 truth, const gint32 *best, guint n);
/** sl_class_score_figures: (transfer full) (element-type SlClassFigures): of each class that has pictures, the worst first; @all: of all
 *  pictures, its label -1. */
GArray *sl_class_score_figures (SlClassScore *score, SlClassFigures *all);
/** sl_class_score_confusions: (transfer full) (element-type SlConfusion): the most frequent first. */
GArray *sl_class_score_confusions (SlClassScore *score);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlClassScore, sl_class_score_free)

G_END_DECLS

#endif
