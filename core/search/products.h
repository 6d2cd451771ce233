/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loop of a search, for each instruction set. */
#pragma once

#include <glib.h>

/** SlSearchLoop: @products: the sums of products of @query and each of @n rows of @stride bytes at
 * @rows, all aligned to 64 bytes. */
typedef struct
{
  const char *name;
  void (*products) (const gint8 *rows, gsize n, gsize stride, const gint8 *query, gint32 *sums);
} SlSearchLoop;

extern const SlSearchLoop sl_search_loop_base, sl_search_loop_avx2, sl_search_loop_avx512;

/** sl_search_loops: every loop that runs here. Returns how many. */
guint sl_search_loops (const SlSearchLoop *loops[3]);
