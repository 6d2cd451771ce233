/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files replaced whole or not at all: written beside the old one, synced, and renamed over it, with
 * its owner, mode, extended attributes and access list. The old one stays as FILE.bak-TIME, the
 * last five of them.
 */
#pragma once

#include <glib.h>

/** Copies of a file before its last changes. */
#define SL_EDIT_BACKUPS 5

/** @path: canonical; a link is followed. @before, @after: contents */
typedef struct
{
  char *path;
  GBytes *before, *after;
} SlEditFile;

/** sl_edit_file_clear: of an SlEditFile in a GArray. */
void sl_edit_file_clear (gpointer file);
/** sl_edit_check_writable_file: whether @path can be replaced. FALSE with SL_ERROR_OPEN. */
gboolean sl_edit_check_writable_file (const char *path, GError **error);
/** sl_edit_write: @files of SlEditFile, in order. Nothing is changed where it fails, but for a
 * later file that cannot be renamed: those before it are then restored, or the error says which are
 * not. @conflict: (out): the
 * reason is that a file has other contents than @before by now */
gboolean sl_edit_write (const GArray *files, gboolean *conflict, GError **error);
