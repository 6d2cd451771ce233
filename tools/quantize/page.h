/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The report as a page for a browser: one file that loads nothing, with pictures on which both models' predictions are drawn.
 */
#ifndef SL_TOOLS_QUANTIZE_PAGE_H
#define SL_TOOLS_QUANTIZE_PAGE_H

#include "quantize/quantize.h"

G_BEGIN_DECLS

/** Pictures that a page shows. */
#define SL_PAGE_PICTURES 6

/** SlPage: @source: the float model's path; @floats: a file with it that needs no options; @output: the file that was made; @pictures:
 *  (element-type filename): to show, at most SL_PAGE_PICTURES of them; all (transfer none). */
typedef struct
{
  const SlQuantizeReport *report;
  const char *source, *output;
  GBytes *floats;
  const GPtrArray *pictures;
  guint calibrated, threads;
} SlPage;

/** sl_page_write: to @path, whole or not at all. Pictures that cannot be drawn are left out. */
gboolean sl_page_write (const SlPage *page, const char *path, GError **error);

G_END_DECLS

#endif
