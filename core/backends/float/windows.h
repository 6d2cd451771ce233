/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The activations that windows of packed layers cover (internal to core/backends/float). */
#pragma once

#include "core/backends/float/layer.h"

/** SlFloatRun: a layer and this run's memory. @first: the row of the output that @y begins with */
typedef struct
{
  const SlFloatLayer *layer;
  const gfloat *x, *second;
  gfloat *y;
  gint32 first;
} SlFloatRun;

/** SlFloatOutput: an output pixel. */
typedef struct
{
  gint32 image, y, x;
} SlFloatOutput;

/** SL_FLOAT_COPIES: room for copies of sl_float_find_runs(): SL_FLOAT_MAX_COPIED activations of
 * each row, and a register more, which is read past the last. */
#define SL_FLOAT_COPIES \
  (SL_FLOAT_MAX_COPIED * SL_FLOAT_MAX_ROWS + SL_TENSOR_PADDING / sizeof (gfloat))

/** sl_float_after: element @n behind @x, of @size bytes each: floats or binary16. */
static inline const gfloat *
sl_float_after (const gfloat *x, gssize n, gsize size)
{
  return (const gfloat *) ((guintptr) x + (guintptr) (n * (gssize) size));
}

/** sl_float_behind: the same of memory that is written to. */
static inline gfloat *
sl_float_behind (gfloat *y, gsize n, gsize size)
{
  return (gfloat *) (gpointer) ((guint8 *) y + n * size);
}

/** sl_float_output: of row @row of the product. */
SlFloatOutput sl_float_output (const SlWindowShape *w, gint32 row);
/** sl_float_next: the pixel @n after @at. */
SlFloatOutput sl_float_next (const SlWindowShape *w, SlFloatOutput at, gint32 n);
/** sl_float_image: the input of @image. */
const gfloat *sl_float_image (const SlFloatRun *run, gint32 image);
/** sl_float_find_runs: those of @rows windows from @at on, to @runs. @copies: SL_FLOAT_COPIES */
SlFloatRows sl_float_find_runs (const SlFloatRun *run, SlFloatOutput at, gint32 rows,
                                const gfloat **runs, gfloat *copies);
/** sl_float_move_runs: whether the windows of @found, from @before on, and those from @at on cross
 * no border of one line, so that their runs are all as far apart. Moves the runs if so. */
gboolean sl_float_move_runs (const SlFloatRun *run, const SlFloatRows *found, const gfloat **runs,
                             SlFloatOutput before, SlFloatOutput at, gint32 rows);
