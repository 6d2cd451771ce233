/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Views as factors: see the header. Neighbours that one step would do for are joined whenever
 * dimensions are formed anew. */
#include "core/graph/strided.h"

#include <string.h>

static guint
first_factor (const SlStrided *view, guint dim)
{
  return dim > 0 ? view->ends[dim - 1] : 0;
}

static guint
count_factors (const SlStrided *view)
{
  return view->rank > 0 ? view->ends[view->rank - 1] : 0;
}

/* Factors of dimension after dimension are added to @view, which begins without any. */
static gboolean
add_factor (SlStrided *view, guint *n, gint32 size, gint64 step)
{
  if (size == 1)
    return TRUE;
  if (*n == SL_MAX_FACTORS)
    return FALSE;
  view->factors[(*n)++] = (SlFactor){ size, step };
  return TRUE;
}

gboolean
sl_strided_whole (SlStrided *view, guint rank, const gint32 *dims)
{
  gint64 step = 1;
  guint n = 0;
  *view = (SlStrided){ .rank = rank };
  for (guint i = 0; i < rank; i++) {
    if (dims[i] < 1)
      return FALSE;
    step *= dims[i];
  }
  for (guint i = 0; i < rank; i++) {
    step /= dims[i];
    view->dims[i] = dims[i];
    add_factor (view, &n, dims[i], step);
    view->ends[i] = n;
  }
  return TRUE;
}

/* All factors, those joined that one step does for; returns how many. */
static guint
joined (const SlStrided *view, SlFactor factors[SL_MAX_FACTORS])
{
  guint n = 0;
  for (guint i = 0; i < count_factors (view); i++) {
    const SlFactor *f = &view->factors[i];
    if (n > 0 && factors[n - 1].step == f->step * f->size)
      factors[n - 1] = (SlFactor){ factors[n - 1].size * f->size, f->step };
    else
      factors[n++] = *f;
  }
  return n;
}

gboolean
sl_strided_reshape (SlStrided *view, guint rank, const gint32 *dims)
{
  SlFactor left[SL_MAX_FACTORS];
  const guint n_left = joined (view, left);
  SlStrided made = { .offset = view->offset, .rank = rank };
  guint at = 0, n = 0;
  for (guint i = 0; i < rank; i++) {
    made.dims[i] = dims[i];
    for (gint32 need = dims[i]; need > 1;) {
      if (at == n_left)
        return FALSE;
      SlFactor *f = &left[at];
      const gint32 take = MIN (need, f->size), rest = f->size / take;
      if (need % take != 0 || f->size % take != 0 || !add_factor (&made, &n, take, f->step * rest))
        return FALSE;
      need /= take;
      f->size = rest;
      at += rest == 1;
    }
    made.ends[i] = n;
  }
  *view = made;
  return at == n_left;
}

gboolean
sl_strided_transpose (SlStrided *view, guint rank, const gint32 *order)
{
  SlStrided made = { .offset = view->offset, .rank = rank };
  guint n = 0;
  if (rank != view->rank)
    return FALSE;
  for (guint i = 0; i < rank; i++) {
    const gint32 from = order[i] + (order[i] < 0 ? (gint32) rank : 0);
    if (from < 0 || from >= (gint32) rank)
      return FALSE;
    for (guint k = first_factor (view, (guint) from); k < view->ends[from]; k++)
      if (!add_factor (&made, &n, view->factors[k].size, view->factors[k].step))
        return FALSE;
    made.dims[i] = view->dims[from];
    made.ends[i] = n;
  }
  *view = made;
  return TRUE;
}

gboolean
sl_strided_cut (SlStrided *view, guint dim, gint64 start, gint64 step, gint32 size)
{
  const guint first = first_factor (view, dim), has = view->ends[dim] - first;
  if (start == 0 && step == 1 && size == view->dims[dim])
    return TRUE;
  if (has != 1 || size < 1)
    return FALSE;
  SlFactor *f = &view->factors[first];
  view->offset += start * f->step;
  view->dims[dim] = size;
  *f = (SlFactor){ size, f->step * step };
  if (size > 1)
    return TRUE;
  memmove (f, f + 1, (SL_MAX_FACTORS - first - 1) * sizeof *f);
  for (guint i = dim; i < view->rank; i++)
    view->ends[i]--;
  return TRUE;
}

gboolean
sl_strided_broadcast (SlStrided *view, guint rank, const gint32 *dims)
{
  SlStrided made = { .offset = view->offset, .rank = rank };
  guint n = 0;
  if (view->rank > rank)
    return FALSE;
  for (guint i = 0; i < rank; i++) {
    const gboolean has = i + view->rank >= rank;
    const guint from = has ? i + view->rank - rank : 0;
    made.dims[i] = dims[i];
    if (!has || view->dims[from] == 1) {
      if (!add_factor (&made, &n, dims[i], 0))
        return FALSE;
    } else if (view->dims[from] != dims[i]) {
      return FALSE;
    }
    for (guint k = has ? first_factor (view, from) : 0; has && k < view->ends[from]; k++)
      if (!add_factor (&made, &n, view->factors[k].size, view->factors[k].step))
        return FALSE;
    made.ends[i] = n;
  }
  *view = made;
  return TRUE;
}

gint64
sl_strided_at (const SlStrided *view, guint dim, gsize i)
{
  gint64 at = 0;
  for (guint k = view->ends[dim]; k-- > first_factor (view, dim);) {
    at += (gint64) (i % (gsize) view->factors[k].size) * view->factors[k].step;
    i /= (gsize) view->factors[k].size;
  }
  return at;
}

gboolean
sl_strided_step (const SlStrided *view, guint dim, gint64 *step)
{
  const guint first = first_factor (view, dim), n = view->ends[dim] - first;
  *step = n > 0 ? view->factors[first + n - 1].step : 1;
  for (guint k = first; k + 1 < first + n; k++)
    if (view->factors[k].step != view->factors[k + 1].step * view->factors[k + 1].size)
      return FALSE;
  return TRUE;
}
