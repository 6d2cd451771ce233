/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs a reader on a thread of its own, so that the caller can stop waiting for it: libraries that
 * read codes have no time limit.
 */
#pragma once

#include "postprocess/read/reader.h"

typedef struct _SlScan SlScan;

/** How reading ended; @SL_SCAN_LATE: it began, and time ended before it did; @SL_SCAN_UNTRIED: it
 * did not begin, since no time was left or the reader was still busy with another picture; or those
 * of these kinds rest. */
typedef enum
{
  SL_SCAN_FOUND,
  SL_SCAN_NOTHING,
  SL_SCAN_LATE,
  SL_SCAN_UNTRIED
} SlScanResult;

/** sl_scan_new: with all of sl_readers, or with the one called @name (nullable); NULL where none
 * opens. */
SlScan *sl_scan_new (const char *name);
/** sl_scan_free: waits for nothing: a thread that is still busy ends by itself. NULL is legal. */
void sl_scan_free (SlScan *scan);
/** sl_scan_kinds: what one of its readers or another can read. */
guint sl_scan_kinds (const SlScan *scan);
/** sl_scan_ready: what those of them that do not rest can read. */
guint sl_scan_ready (SlScan *scan);
/** sl_scan_find: which of its readers is number @rank, from 0, of those that read some of @kinds
 * and do not rest; -1 = none. */
gint sl_scan_find (SlScan *scan, guint kinds, guint rank);
/** sl_scan_picture: (transfer none) (nullable): where the next picture is to be put; NULL where the
 * one before is still being looked at at
 *  @deadline, in the microseconds of g_get_monotonic_time(). */
SlGray *sl_scan_picture (SlScan *scan, gint64 deadline);
/** sl_scan_run: looks at the picture. @code is filled where one is found before @deadline. */
SlScanResult sl_scan_run (SlScan *scan, const SlReadHow *how, gint64 deadline, SlReadCode *code);
