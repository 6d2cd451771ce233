/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measured times as a page for a browser. */
#pragma once

#include <glib.h>

/** SlBenchTimes: times that belong together; @name: of what was measured; @ms: sorted. */
typedef struct
{
  const char *name;
  const double *ms;
} SlBenchTimes;

/** sl_bench_page_new: (transfer full): @what: what is measured. */
GString *sl_bench_page_new (const char *what);
/** sl_bench_page_add: a table and charts of @times, @runs each; the first of @n is what the page is
 * about. */
void sl_bench_page_add (GString *page, const char *title, const SlBenchTimes *times, guint n,
                        guint runs);
/** sl_bench_page_write: ends @page and writes it. */
gboolean sl_bench_page_write (GString *page, const char *path, GError **error);
