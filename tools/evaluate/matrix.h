/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Confusion matrices, and the one of found objects. */
#pragma once

#include "tools/evaluate/objects.h"

/** The truth of a found object that is no true object, and the guess of a true object that was not
 * found. */
#define SL_MATRIX_NOTHING (-1)

/** SlMatrixCell: @n pictures, objects or pixels of class @truth that were taken for class @guess.
 */
typedef struct
{
  gint32 truth, guess;
  guint64 n;
} SlMatrixCell;

/** SlObjectPairs: which true object each found object is, whatever the classes: the most confident
 * first takes the free true object that it overlaps most, by at least 0.5. */
typedef struct _SlObjectPairs SlObjectPairs;

SlObjectPairs *sl_object_pairs_new (void);
void sl_object_pairs_free (SlObjectPairs *pairs);
/** sl_object_pairs_add: adds the objects of a picture; @found: in the order of
 * sl_object_score_best(). A found object that takes an ignored true object does not count. */
void sl_object_pairs_add (SlObjectPairs *pairs, const SlEvalObject *truth, guint n_truth,
                          const SlEvalObject *found, guint n_found, SlOverlap overlap,
                          gconstpointer data);
/** sl_object_pairs_matrix: (transfer full) (element-type SlMatrixCell): of found objects with at
 * least @confidence. */
GArray *sl_object_pairs_matrix (const SlObjectPairs *pairs, gdouble confidence);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlObjectPairs, sl_object_pairs_free)
