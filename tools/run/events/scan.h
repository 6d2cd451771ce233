/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From clips to rows of the index: one by one as they are recorded, or all of a folder. The
 * calling thread is the only one that writes rows of clips, and it waits for the disk.
 */
#pragma once

#include "tools/run/events/store.h"

/** Clips of a folder that are looked at. */
#define SL_SCAN_MOST 1000000

/** SlScan: @pipelines: (element-type utf8 utf8): names of pipelines by the sources of their clips;
 * @stop: atomic: ends a scan */
typedef struct
{
  GHashTable *pipelines;
  gint *stop;
} SlScan;

/** sl_scan_clip: a clip that was recorded, with its colour. */
gboolean sl_scan_clip (const SlScan *scan, SlStore *store, const char *stem, GError **error);
/** sl_scan_folder: rows of files that are gone leave, and clips without a row get one; colours are
 * left to sl_scan_colors(). @added, @removed: (out) */
gboolean sl_scan_folder (const SlScan *scan, SlStore *store, guint *added, guint *removed,
                         GError **error);
/** sl_scan_colors: of at most @most objects. Returns how many. */
guint sl_scan_colors (SlStore *store, guint most);
