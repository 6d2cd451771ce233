/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inner loops worth more than the instruction set every processor has (internal to core): one source compiled once for
 * each set, and a table of functions chosen when first asked for. All of them compute in integers, so every set gives
 * the same bytes.
 */
#ifndef SL_CORE_WIDE_H
#define SL_CORE_WIDE_H

#include <glib.h>

G_BEGIN_DECLS

/** Fractional bits of a weight between two pixels. */
#define SL_BLEND_BITS 11
/** Pixels that SlWide's @search reads at a time. */
#define SL_SEARCH_VECTOR 32
#define SL_SEARCHED 64
/** Most rows at a time. */
#define SL_SEARCH_ROWS 8

/**
 * SlWide:
 * @look_up: @out[i] = @table[@in[i]]
 * @across: @out[c] = @left[c] blended with @right[c], SL_BLEND_BITS fractional bits; unsigned or signed codes
 * @arg_max: for each of @rows rows of @n bytes the first of the largest, by the order of (byte ^ @flip)
 * @search: for each of @n pixels of @rows rows, which lie between @top and @bottom by @weights, the first channel whose code,
 *          blended like @down's, is the largest; each channel is a row of its own, @stride elements from the next, of whole
 *          SL_SEARCH_VECTORs; @found has SL_SEARCHED for each row, the most that @n may be
 * @down: @out[i] = @top[i] blended with @bottom[i], both with SL_BLEND_BITS fractional bits, rounded half up to a byte
 */
typedef struct
{
  const char *name;
  void (*look_up) (const guint8 *table, const guint8 *in, guint8 *out, gsize n);
  void (*across_u8) (const guint8 *left, const guint8 *right, gint32 weight, gint32 *out, gsize n);
  void (*across_i8) (const gint8 *left, const gint8 *right, gint32 weight, gint32 *out, gsize n);
  void (*arg_max) (const guint8 *in, gsize n, gsize rows, guint8 flip, gint32 *out);
  void (*down) (const gint32 *top, const gint32 *bottom, gint32 weight, guint8 *out, gsize n);
  void (*search) (const gint32 *top, const gint32 *bottom, gsize stride, gsize channels, const gint32 *weights, gsize rows, gint32 *found,
                  gsize n);
} SlWide;

extern const SlWide sl_wide_base, sl_wide_avx2, sl_wide_avx512;

/** sl_wide: the best this processor has. */
const SlWide *sl_wide (void);
/** sl_wide_all: every set this build and this processor have; returns how many, at most 3. */
guint sl_wide_all (const SlWide *sets[3]);

G_END_DECLS

#endif
