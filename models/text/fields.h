/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The small objects of tokenizer.json, as texts by key. */
#pragma once

#include "core/base/json_reader.h"

/** SlFieldsEach: reads one value of a list; FALSE with the reader's error, or an error of its own,
 * set. */
typedef gboolean (*SlFieldsEach) (SlJsonReader *reader, gpointer data);

/**
 * sl_fields_read: an object: its strings, numbers and words as texts. A member of an object in it
 * has the key "OUTER.INNER". null is left out.
 * @list: (nullable): the key of a list, whose values @each reads
 *
 * Returns: (transfer full) (nullable): NULL with the reader's error set, or where @each fails
 */
GHashTable *sl_fields_read (SlJsonReader *reader, const char *list, SlFieldsEach each,
                            gpointer data);
/** sl_fields_get: (transfer none) (nullable) */
const char *sl_fields_get (GHashTable *fields, const char *key);
gboolean sl_fields_bool (GHashTable *fields, const char *key, gboolean otherwise);
/** sl_fields_number: a whole number of 0 to @most; @otherwise where there is none. */
guint sl_fields_number (GHashTable *fields, const char *key, guint most, guint otherwise);
