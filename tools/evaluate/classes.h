/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Top-1 and top-5 accuracy of picture classes. */
#pragma once

#include <glib.h>

/** Most predicted classes of a picture that count. */
#define SL_CLASS_SCORE_BEST 5
/** The guess of a model that predicted no class. */
#define SL_CLASS_SCORE_NONE (-1)

/** SlClassFigures: @right, @near: number of pictures whose class was predicted first, or among the
 * first five. */
typedef struct
{
  gint32 label;
  guint pictures, right, near;
} SlClassFigures;

/** SlConfusion: number of @pictures of class @truth for which @guess was predicted. */
typedef struct
{
  gint32 truth, guess;
  guint pictures;
} SlConfusion;

typedef struct _SlClassScore SlClassScore;

SlClassScore *sl_class_score_new (void);
void sl_class_score_free (SlClassScore *score);
/** sl_class_score_add: adds a picture of class @truth, and the @n classes that the model predicted,
 * best first. */
void sl_class_score_add (SlClassScore *score, gint32 truth, const gint32 *best, guint n);
/** sl_class_score_figures: (transfer full) (element-type SlClassFigures): figures of each class
 * that has pictures, the worst first. @all: figures of all pictures, label -1. */
GArray *sl_class_score_figures (SlClassScore *score, SlClassFigures *all);
/** sl_class_score_confusions: (transfer full) (element-type SlConfusion): the most frequent first.
 */
GArray *sl_class_score_confusions (SlClassScore *score);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlClassScore, sl_class_score_free)
