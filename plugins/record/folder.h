/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The folder of clips: whether one can write there, what a killed process left, and which clips go
 * when there are too many. Only regular files with names of names.h and of this source are ever
 * deleted.
 */
#pragma once

#include "plugins/record/names.h"

/**
 * SlFolder:
 * @path: as people wrote it, for messages
 * @source: of sl_clip_source()
 * @keep: microseconds that clips are kept; 0 = for ever
 * @max_bytes: of all clips of this source; 0 = any number
 * @min_free: bytes of the file system that stay free
 * @clips_most: clips that one trimming has in mind, the oldest; more than twice as many are never
 * in memory
 */
typedef struct
{
  gint fd;
  char *path, *source;
  gint64 keep;
  guint64 max_bytes, min_free;
  guint clips_most;
} SlFolder;

/** sl_folder_open: @path and @source are copied; limits are 0. FALSE with @error set
 * (SL_ERROR_ARGUMENT, SL_ERROR_OPEN) where no file can be made there. */
gboolean sl_folder_open (SlFolder *folder, const char *path, const char *source, GError **error);
/** sl_folder_follow: where another folder is at @path now, as one that was removed and made again
 * or a disk that came back, that one is used, and leftovers in it are deleted. No file of the
 * folder may be open. FALSE with @error set, without the path, where there is none. */
gboolean sl_folder_follow (SlFolder *folder, GError **error);
void sl_folder_close (SlFolder *folder);
/** sl_folder_clean: deletes files that are left of clips which a process did not finish. Returns
 * how many. */
guint sl_folder_clean (SlFolder *folder);
/** sl_folder_trim: deletes clips that are too old or too many, oldest first, and more until there
 * is @min_free, if deleting all of them would make it. The newest one never goes because of
 * @max_bytes, and one with a mark SL_CLIP_KEEP never; its bytes do not count. FALSE = there is not
 * @min_free.
 *  @now: microseconds since 1970; @sacrificed: (out): clips that went for @min_free */
gboolean sl_folder_trim (SlFolder *folder, gint64 now, guint *sacrificed);
/** sl_folder_has_room: whether @min_free is free. */
gboolean sl_folder_has_room (SlFolder *folder);
