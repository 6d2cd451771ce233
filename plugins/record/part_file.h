/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * A file that nobody sees before it is whole: written under a hidden name, on the disk before it
 * gets the one it is to have. Its writer holds a lock on it, so that a hidden file without one was
 * left behind by a process that is gone.
 */
#pragma once

#include "plugins/record/names.h"

/** SlPartFile: @fd: below 0 = none; @folder: descriptor of its folder, the caller's. */
typedef struct
{
  gint fd, folder;
  char *hidden, *name;
} SlPartFile;

#define SL_PART_FILE_NONE  \
  {                        \
    .fd = -1, .folder = -1 \
  }

/** sl_part_file_open: a new file. FALSE with @error set (G_FILE_ERROR; the message begins with the
 * file's name). */
gboolean sl_part_file_open (SlPartFile *file, gint folder, const char *stem, SlClipFile kind,
                            GError **error);
/** sl_part_file_write: all @bytes. */
gboolean sl_part_file_write (SlPartFile *file, gconstpointer data, gsize bytes, GError **error);
/** sl_part_file_sync: what was written is on the disk. */
gboolean sl_part_file_sync (SlPartFile *file, GError **error);
/** sl_part_file_commit: it gets its name, in place of a file that has it, and is closed; on failure
 * it is still open. */
gboolean sl_part_file_commit (SlPartFile *file, GError **error);
/** sl_part_file_abandon: deletes and closes what was not committed; also of none. */
void sl_part_file_abandon (SlPartFile *file);
/** sl_part_file_claim: the descriptor of the regular file @hidden of @folder if it has no writer
 * any more; below 0 = it has, or is none. Nobody writes or renames it before the caller has closed
 * it; who deletes it does so before that. Links are not followed. */
gint sl_part_file_claim (gint folder, const char *hidden);
