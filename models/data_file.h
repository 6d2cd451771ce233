/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Separate files with a model's weights, which the model file names. */
#pragma once

#include <glib.h>

/** What stands among a model's files for the values of its fixed inputs. */
#define SL_DATA_FIXED_INPUTS "fixed-inputs"

/**
 * SlDataFile:
 * @bytes: that the model has of it
 * @hash: XXH64 of these, and of where they lie in the file, chained in the order in which they were
 * read
 */
typedef struct
{
  guint64 bytes, hash;
} SlDataFile;

/** sl_data_files_note: that @size bytes at @data were read at @offset of the file @name. @files:
 * names, as the model has them, to SlDataFile; made where it is NULL. */
void sl_data_files_note (GHashTable **files, const char *name, guint64 offset, const void *data,
                         gsize size);
