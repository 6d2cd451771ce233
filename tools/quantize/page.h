/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The report as a page for a browser: one file that loads nothing, with pictures on which both
 * models' predictions are drawn.
 */
#pragma once

#include "models/quantize/quantize.h"
#include "tools/options.h"

/** Pictures that a page shows. */
#define SL_PAGE_PICTURES 6

/** SlPage: @source: the float model's path; @floats: a file with it that needs no options but
 * @limits; @output: the file that was made;
 *  @compared: (element-type SlSource): what pictures are taken from; all (transfer none). */
typedef struct
{
  const SlQuantizeReport *report;
  const char *source, *output;
  GBytes *floats;
  SlModelSettings limits;
  const GPtrArray *compared;
  guint calibrated, threads;
} SlPage;

/** sl_page_write: to @path, whole or not at all; of pictures that cannot be drawn it says why.
 * FALSE with @error set, and without when the program was interrupted. */
gboolean sl_page_write (const SlPage *page, const char *path, GError **error);
