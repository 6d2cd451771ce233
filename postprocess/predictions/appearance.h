/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How tracked objects look: embeddings, of unit length. A slot has the mean of an object's
 * embeddings and a few views that differ from it. Used by the tracker.
 *
 * Cosines are given relative to those of different objects: 0 is the mean cosine of two objects of
 * one frame, 1 is the same embedding. So one threshold suits models whose cosines have other
 * ranges, and a model that cannot tell objects apart has no say.
 */
#pragma once

#include <glib.h>

/** Views of an object, beside the mean. */
#define SL_APPEARANCE_VIEWS 3
/** No slot. */
#define SL_APPEARANCE_NONE 0

/** SlAppearance: zeroed = no slots, and a length of 0. All fields are private. */
typedef struct
{
  guint length, slots, room;
  gfloat *numbers; /* of each slot: the mean, then the views */
  guint8 *views;   /* of each slot: how many there are, and the next one to be replaced */
  guint *vacant;   /* slots that were given back */
  guint n_vacant;
  double others; /* mean cosine of different objects */
  guint pairs;   /* that it is of */
} SlAppearance;

/** sl_appearance_unit: makes @vector one of length 1. FALSE for zeros, and for numbers that are not
 * finite: such a vector has no direction. */
gboolean sl_appearance_unit (gfloat *vector, guint length);
/** sl_appearance_start: embeddings have @length numbers, 0 = none; forgets all slots. */
void sl_appearance_start (SlAppearance *self, guint length);
/** sl_appearance_forget: forgets all slots, and what the cosines of different objects are. */
void sl_appearance_forget (SlAppearance *self);
void sl_appearance_clear (SlAppearance *self);
/** sl_appearance_take: a slot whose mean is @vector. Allocates only where more slots are in use
 * than ever before. */
guint sl_appearance_take (SlAppearance *self, const gfloat *vector);
/** sl_appearance_give_back: @slot may be SL_APPEARANCE_NONE. */
void sl_appearance_give_back (SlAppearance *self, guint slot);
/** sl_appearance_mean: (transfer none): of @slot, until a slot is taken or learns. */
const gfloat *sl_appearance_mean (const SlAppearance *self, guint slot);
/** sl_appearance_learn: @vector is another embedding of the object of @slot. */
void sl_appearance_learn (SlAppearance *self, guint slot, const gfloat *vector);
/** sl_appearance_tell_apart: @a and @b are embeddings of different objects. */
void sl_appearance_tell_apart (SlAppearance *self, const gfloat *a, const gfloat *b);
/** sl_appearance_is_blind: whether the model does not tell objects apart: all look the same to it.
 */
gboolean sl_appearance_is_blind (const SlAppearance *self);
/** sl_appearance_cosine: of @vector and the object of @slot, at most 1; the highest of its mean and
 * views. 0 without a slot, and from a model that is blind. */
gfloat sl_appearance_cosine (const SlAppearance *self, guint slot, const gfloat *vector);
