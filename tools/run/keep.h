/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What elements of a pipeline know that goes on in the next one, by their names: slanalyze's
 * counts, the next id of those that track, what the broker switched off. Over restarts and reloads
 * in memory; over the end of the process in a file, where there is a folder for it. On the main
 * thread; a thread of its own writes the file.
 */
#pragma once

#include <gst/gst.h>

typedef struct _SlKeep SlKeep;

SlKeep *sl_keep_new (void);
/** sl_keep_free: saves what has changed, and waits until it is written. */
void sl_keep_free (SlKeep *keep);
/**
 * sl_keep_check: whether @folder is one that files can be written in.
 * @make: a missing folder is made; otherwise nothing is written, and the rights of its nearest
 * parent decide
 *
 * FALSE with SL_ERROR_OPEN.
 */
gboolean sl_keep_check (const char *folder, gboolean make, GError **error);
/** sl_keep_file: (transfer full): FOLDER/NAMESUFFIX, with '/' and '%' of the name escaped. */
char *sl_keep_file (const char *folder, const char *name, const char *suffix);
/** sl_keep_open: from now on in FOLDER/NAME.state, '/' and '%' of the name as "%2F" and "%25",
 * whose contents it takes; what is wrong with them is logged. @name: of the pipeline */
void sl_keep_open (SlKeep *keep, const char *name, const char *folder);
/** sl_keep_collect: takes what elements of @pipeline know. */
void sl_keep_collect (SlKeep *keep, GstElement *pipeline);
/** sl_keep_apply: gives it to elements of @pipeline, which has not started. */
void sl_keep_apply (SlKeep *keep, GstElement *pipeline);
/** sl_keep_tick: collects and saves now and then; to be called while frames come. */
void sl_keep_tick (SlKeep *keep, GstElement *pipeline);
/** sl_keep_note: keeps @text under @key, which is no element's, or nothing (NULL). */
void sl_keep_note (SlKeep *keep, const char *key, const char *text);
/** sl_keep_noted: (transfer none) (nullable) */
const char *sl_keep_noted (const SlKeep *keep, const char *key);
/** sl_keep_save: begins to write what has changed. */
void sl_keep_save (SlKeep *keep);
