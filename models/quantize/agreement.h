/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The agreement of two models: the first class of each picture, the average precision of boxes, or
 * the cells of a mask.
 */
#pragma once

#include "models/contract.h"

/** Least confidence of the first model's boxes, which are the ground truth, and of the second
 * model's boxes. */
#define SL_AGREEMENT_TRUE 0.3
#define SL_AGREEMENT_COUNTED 0.05

typedef struct _SlAgreement SlAgreement;

/** sl_agreement_new: (nullable): NULL where no decoder takes the outputs that @contract states, or
 * takes them for an embedding or stated values: nothing can be compared then but numbers. */
SlAgreement *sl_agreement_new (SlContract *contract);
void sl_agreement_free (SlAgreement *agreement);
/** sl_agreement_add: both models' outputs for one picture, a pointer for each output. */
void sl_agreement_add (SlAgreement *agreement, const void *const *first, const void *const *second);
/** sl_agreement_is_of_classes: whether the outputs are classes of the whole picture. */
gboolean sl_agreement_is_of_classes (const SlAgreement *agreement);
/** sl_agreement_measure: (transfer none): "top-1", "AP50" or "cells". */
const char *sl_agreement_measure (const SlAgreement *agreement);
/** sl_agreement_value: 0..1: the share of pictures with the same first class; the mean over classes
 * of the average precision at an overlap of 0.5, the first model's boxes above SL_AGREEMENT_TRUE
 * being true; or the share of cells with the same class. Not a number where there was nothing to
 * compare. */
gdouble sl_agreement_value (const SlAgreement *agreement);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlAgreement, sl_agreement_free)
