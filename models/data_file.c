/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files beside a model. Their bytes are hashed while they are read, since a file may change
 * later. */
#include "models/data_file.h"

#include "core/base/xxh64.h"

void
sl_data_files_note (GHashTable **files, const char *name, guint64 offset, const void *data,
                    gsize size)
{
  const guint64 place[2] = { GUINT64_TO_LE (offset), GUINT64_TO_LE ((guint64) size) };
  if (*files == NULL)
    *files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  SlDataFile *file = g_hash_table_lookup (*files, name);
  if (file == NULL) {
    file = g_new0 (SlDataFile, 1);
    g_hash_table_insert (*files, g_strdup (name), file);
  }
  file->bytes += size;
  file->hash = sl_xxh64 (data, size, sl_xxh64 (place, sizeof place, file->hash));
}
