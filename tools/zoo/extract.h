/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the file that a source names to the model and its labels. */
#pragma once

#include "models/zoo/row.h"

/**
 * SlZooFile: a file that a row states.
 * @paths: (nullable): its parts in the archive, NULL-terminated; NULL = the file at hand is no
 * archive, and the only part
 * @slice: of the only part
 * @size: bytes that it must have, 0 = unknown; @most: that it may have
 * @sha256: of all of it
 */
typedef struct
{
  const char *const *paths;
  SlZooSlice slice;
  guint64 size, most;
  const char *sha256;
} SlZooFile;

/** sl_zoo_extract: @file of what lies at @place becomes @to, which must not be there yet.
 * SL_ERROR_FORMAT for a hash or bytes that are not the row's. */
gboolean sl_zoo_extract (const char *place, const SlZooFile *file, const char *to, GError **error);
/** sl_zoo_hash: (transfer full): of the file @path; NULL with SL_ERROR_OPEN. */
char *sl_zoo_hash (const char *path, GError **error);
