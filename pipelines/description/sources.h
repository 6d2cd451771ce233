/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files of one description, in order: its includes, the file itself, its drop-ins. */
#pragma once

#include <glib.h>

/** Most levels of nested includes. */
#define SL_DESCRIPTION_MAX_DEPTH 8
/** Most files of one description, with drop-ins. */
#define SL_DESCRIPTION_MAX_FILES 64

#define SL_PIPELINE_GROUP "pipeline"
#define SL_INCLUDE_KEY "include"

/** sl_sources_load: appends the keys of @path, its includes and its drop-ins to @entries
 * (key_text.h), later ones winning, and the files to @files (of char *). @texts: (nullable)
 * (element-type utf8 GBytes): contents by canonical path, which are taken in place of files; those
 * that are read are added. */
gboolean sl_sources_load (const char *path, GHashTable *texts, GArray *entries, GPtrArray *files,
                          GError **error);
/** sl_sources_texts_new: (transfer full): an empty table of contents. */
GHashTable *sl_sources_texts_new (void);
/** sl_sources_parse: the same of text that stands for the file @path, without drop-ins. */
gboolean sl_sources_parse (const char *text, gsize length, const char *path, GArray *entries,
                           GPtrArray *files, GError **error);
