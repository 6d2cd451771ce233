/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Key files with their line numbers: groups, keys and values as text, each knowing where it stands.
 * The syntax is GKeyFile's without escapes in values, and with lines continued by a backslash at
 * their end.
 */
#pragma once

#include <glib.h>

/** Largest file, in bytes. */
#define SL_KEY_TEXT_MAX ((gsize) 1 << 20)

/** One key, or the line of a group, whose @key and @value are "". @file: a GRefString, as messages
 * show it; @line: from 1. */
typedef struct
{
  char *file;
  guint line;
  char *group, *key, *value;
} SlKeyEntry;

/** sl_key_entries_new: (transfer full): an empty array of SlKeyEntry that frees them. */
GArray *sl_key_entries_new (void);
/** sl_key_text_continues: whether a stripped line goes on in the next one: an odd number of
 * backslashes is at its end. */
gboolean sl_key_text_continues (const char *line);
/** sl_key_text_parse: appends the keys of @length bytes of @text to @entries, in order. FALSE with
 * SL_ERROR_FORMAT or SL_ERROR_LIMIT, the message beginning with @file:line. A key twice in one
 * group is an error, but for those named @repeated (nullable). */
gboolean sl_key_text_parse (const char *text, gsize length, const char *file, const char *repeated,
                            GArray *entries, GError **error);
