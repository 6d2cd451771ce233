/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files of clips in a folder, found by names that slrecord gives and by no others, so no request
 * reaches another file. Links are not followed. Any thread.
 */
#pragma once

#include <glib.h>

#include "plugins/record/names.h"

/** SlClipFiles: @has: bits of SlClipFile; @bytes: of all; @source: of the name */
typedef struct
{
  char *source;
  gint64 us;
  guint64 bytes;
  guint has;
} SlClipFiles;

/** sl_clip_files_free: for hash tables. */
void sl_clip_files_free (gpointer files);
/** sl_clip_files_of: (transfer full) (nullable): of the clip @stem; NULL: it is no name of a clip,
 * or there is no video. */
SlClipFiles *sl_clip_files_of (const char *folder, const char *stem);
/** sl_clip_files_list: (transfer full) (element-type utf8 SlClipFiles): the clips of @folder by
 * their names, without bytes, at most @most. NULL with @error set. */
GHashTable *sl_clip_files_list (const char *folder, guint most, GError **error);
/** sl_clip_file_open: a descriptor for reading, below 0 with @error set. @size: (out): bytes */
gint sl_clip_file_open (const char *folder, const char *stem, SlClipFile file, guint64 *size,
                        GError **error);
/** sl_clip_file_read: (transfer full): its first @most bytes, a NUL behind them. */
GBytes *sl_clip_file_read (const char *folder, const char *stem, SlClipFile file, gsize most,
                           GError **error);
/** sl_clip_files_keep: sets or removes the mark. */
gboolean sl_clip_files_keep (const char *folder, const char *stem, gboolean keep, GError **error);
/** sl_clip_files_review: sets the mark that @user has looked at the clip at @us, or removes it.
 * @user: (nullable): NULL removes; "" = unknown */
gboolean sl_clip_files_review (const char *folder, const char *stem, const char *user, gint64 us,
                               GError **error);
/** sl_clip_is_recorded: whether a clip of @source is being written that began at @us or before, so
 * that it has what happened then. */
gboolean sl_clip_is_recorded (const char *folder, const char *source, gint64 us);
/** sl_clip_files_delete: the video first, then what is beside it. */
gboolean sl_clip_files_delete (const char *folder, const char *stem, GError **error);
