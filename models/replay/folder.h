/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The folder of black boxes: file names, which sort by time, and the number of files that are kept.
 */
#pragma once

#include <glib.h>

/** sl_black_box_path: (transfer full):
 * "FOLDER/blackbox-20261123T200501.123456Z-4711-1a2b3c4d.slbox" of the time now, which is put into
 * @created (microseconds since 1970), this process and the path @model, whose hash is the last;
 * each call gives a later one. Where the clock is behind what is in the folder, the name goes on
 * from there; @created does not. */
char *sl_black_box_path (const char *folder, const char *model, gint64 *created);
/** sl_black_box_look: names to come will be later than those that are in @folder. */
void sl_black_box_look (const char *folder);
/** sl_black_box_prune: deletes the oldest files of such names until @keep of each model are left,
 * but never @spare (nullable), and what writers left unfinished that are no more. Names of older
 * versions have no hash, and count as those of one model. Other files are none of its business. */
void sl_black_box_prune (const char *folder, guint keep, const char *spare);
/** sl_black_box_lock: the file @fd, which was opened as @path, until it is closed; FALSE when
 * somebody else has it, for whom @wait waits, or when another file has the name by now, or none. */
gboolean sl_black_box_lock (int fd, const char *path, gboolean wait);
/** sl_black_box_check_folder: FALSE with SL_ERROR_OPEN when @folder is no folder that can be
 * written to. */
gboolean sl_black_box_check_folder (const char *folder, GError **error);
