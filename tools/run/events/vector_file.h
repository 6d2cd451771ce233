/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Embeddings of one model in a file beside the clips: places of 8-bit numbers with a scale and a
 * checksum each. A database would take most of a second to read a million of them. The file is read
 * and never mapped, so one that gets shorter is no signal. Which place is whose is in the index.
 */
#pragma once

#include <glib.h>

#include "core/search/search.h"

#define SL_VECTOR_FILE ".sightline-search.vectors"
/** Numbers of an embedding. */
#define SL_VECTOR_LENGTH 8192

/** SlVectorFile: @fd: below 0 = closed */
typedef struct
{
  gint fd;
  guint length;
  gsize stride;
} SlVectorFile;

/**
 * sl_vector_file_open:
 * @hash: of what made the embeddings, which have @length numbers each
 *
 * FALSE with SL_ERROR_FORMAT where there is no such file, or one of something else. Links are not
 * followed.
 */
gboolean sl_vector_file_open (SlVectorFile *file, const char *folder, const char *hash,
                              guint length, GError **error);
/** sl_vector_file_exists: whether @folder has such a file, of whatever model. */
gboolean sl_vector_file_exists (const char *folder);
/** sl_vector_file_create: an empty file replaces the one that is there. */
gboolean sl_vector_file_create (SlVectorFile *file, const char *folder, const char *hash,
                                guint length, GError **error);
void sl_vector_file_close (SlVectorFile *file);
/** sl_vector_file_write: @vector at @place. @id: what the checksum is of, too; FALSE with @error
 * set. */
gboolean sl_vector_file_write (SlVectorFile *file, gint64 place, gint64 id, const gfloat *vector,
                               GError **error);
/** sl_vector_file_wipe: nothing is at @place any more. */
gboolean sl_vector_file_wipe (SlVectorFile *file, gint64 place, GError **error);
/** sl_vector_file_sync: what was written is on the disk. */
gboolean sl_vector_file_sync (SlVectorFile *file, GError **error);
/** sl_vector_file_read: the numbers at @place, unscaled; FALSE where they are not those of @id. */
gboolean sl_vector_file_read (const SlVectorFile *file, gint64 place, gint64 id, gfloat *vector);
/**
 * sl_vector_file_search: places with the highest cosines with @vector, as sl_search() has it.
 * @places: how many there are
 * @mask: (nullable): a byte for each; 0 = it does not count
 */
gboolean sl_vector_file_search (const SlVectorFile *file, gint64 places, const guint8 *mask,
                                const gfloat *vector, guint most, SlSearchHit *hits, guint *n,
                                GError **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlVectorFile, sl_vector_file_close)
