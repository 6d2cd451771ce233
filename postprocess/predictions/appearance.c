/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Slots are rows of one block of numbers, numbered from 1 on. The mean is the exponential one of
 * BoT-SORT (N. Aharon et al., arXiv:2206.14651), divided by its length after each step.
 */
#include "postprocess/predictions/appearance.h"

#include <math.h>
#include <string.h>

/* What the mean keeps of itself when an embedding is added. */
#define KEEP 0.9f
/* An embedding whose cosine with all that is known is below this is a view of its own. */
#define OTHER_VIEW 0.8f
/* Pairs after which the mean cosine of different objects is an exponential one. */
#define SETTLED 100
/* Cosines of different objects from which a model does not tell objects apart. */
#define BLIND 0.97
#define FIRST_SLOTS 64

gboolean
sl_appearance_unit (gfloat *vector, guint length)
{
  double sums[4] = { 0 };
  gsize i = 0;
  for (; i + 4 <= length; i += 4)
    for (gsize k = 0; k < 4; k++)
      sums[k] += (double) vector[i + k] * vector[i + k];
  for (; i < length; i++)
    sums[0] += (double) vector[i] * vector[i];
  const double squares = sums[0] + sums[1] + sums[2] + sums[3];
  if (!(squares > 0) || !isfinite (squares))
    return FALSE;
  const double scale = 1 / sqrt (squares);
  for (i = 0; i + 4 <= length; i += 4)
    for (gsize k = 0; k < 4; k++)
      vector[i + k] = (gfloat) (vector[i + k] * scale);
  for (; i < length; i++)
    vector[i] = (gfloat) (vector[i] * scale);
  return TRUE;
}

void
sl_appearance_clear (SlAppearance *self)
{
  g_free (self->numbers);
  g_free (self->views);
  g_free (self->vacant);
  memset (self, 0, sizeof *self);
}

void
sl_appearance_start (SlAppearance *self, guint length)
{
  if (self->length != length)
    sl_appearance_clear (self);
  self->length = length;
  sl_appearance_forget (self);
}

void
sl_appearance_forget (SlAppearance *self)
{
  self->slots = self->n_vacant = self->pairs = 0;
  self->others = 0;
}

static gfloat *
slot_at (const SlAppearance *self, guint slot)
{
  return self->numbers + (gsize) (slot - 1) * (1 + SL_APPEARANCE_VIEWS) * self->length;
}

static guint
new_slot (SlAppearance *self)
{
  if (self->n_vacant > 0)
    return self->vacant[--self->n_vacant];
  if (self->slots == self->room) {
    self->room = MAX (FIRST_SLOTS, 2 * self->room);
    self->numbers = g_renew (gfloat, self->numbers,
                             (gsize) self->room * (1 + SL_APPEARANCE_VIEWS) * self->length);
    self->views = g_renew (guint8, self->views, 2 * self->room);
    self->vacant = g_renew (guint, self->vacant, self->room);
  }
  return ++self->slots;
}

const gfloat *
sl_appearance_mean (const SlAppearance *self, guint slot)
{
  return slot_at (self, slot);
}

guint
sl_appearance_take (SlAppearance *self, const gfloat *vector)
{
  const guint slot = new_slot (self);
  memcpy (slot_at (self, slot), vector, self->length * sizeof *vector);
  self->views[2 * (slot - 1)] = self->views[2 * (slot - 1) + 1] = 0;
  return slot;
}

void
sl_appearance_give_back (SlAppearance *self, guint slot)
{
  if (slot != SL_APPEARANCE_NONE)
    self->vacant[self->n_vacant++] = slot;
}

/* An index of 32 bits might wrap, so the compiler would load each number by itself. */
static gfloat
product (const gfloat *a, const gfloat *b, gsize n)
{
  gfloat sums[4] = { 0 };
  gsize i = 0;
  for (; i + 4 <= n; i += 4)
    for (gsize k = 0; k < 4; k++)
      sums[k] += a[i + k] * b[i + k];
  for (; i < n; i++)
    sums[0] += a[i] * b[i];
  return sums[0] + sums[1] + sums[2] + sums[3];
}

/* The highest cosine with the mean and the views. */
static gfloat
highest (const SlAppearance *self, guint slot, const gfloat *vector)
{
  const gfloat *known = slot_at (self, slot);
  gfloat best = product (known, vector, self->length);
  for (guint i = 1; i <= self->views[2 * (slot - 1)]; i++)
    best = MAX (best, product (known + (gsize) i * self->length, vector, self->length));
  return best;
}

void
sl_appearance_learn (SlAppearance *self, guint slot, const gfloat *vector)
{
  guint8 *views = &self->views[2 * (slot - 1)];
  gfloat *mean = slot_at (self, slot);
  if (highest (self, slot, vector) < OTHER_VIEW) {
    memcpy (mean + (gsize) (1 + views[1]) * self->length, vector, self->length * sizeof *vector);
    views[0] = (guint8) MAX (views[0], views[1] + 1);
    views[1] = (guint8) ((views[1] + 1) % SL_APPEARANCE_VIEWS);
  }
  for (gsize i = 0; i < self->length; i++)
    mean[i] = KEEP * mean[i] + (1 - KEEP) * vector[i];
  if (!sl_appearance_unit (mean, self->length))
    memcpy (mean, vector, self->length * sizeof *vector);
}

void
sl_appearance_tell_apart (SlAppearance *self, const gfloat *a, const gfloat *b)
{
  self->pairs = MIN (self->pairs + 1, SETTLED);
  self->others += (product (a, b, self->length) - self->others) / self->pairs;
}

gboolean
sl_appearance_is_blind (const SlAppearance *self)
{
  return self->others > BLIND;
}

gfloat
sl_appearance_cosine (const SlAppearance *self, guint slot, const gfloat *vector)
{
  const double others = MAX (self->others, 0);
  if (slot == SL_APPEARANCE_NONE || sl_appearance_is_blind (self))
    return 0;
  return (gfloat) MIN ((highest (self, slot, vector) - others) / (1 - others), 1);
}
