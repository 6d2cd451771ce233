/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads untrusted JSON value by value, without a tree: a file of any size needs only the memory
 * that its reader keeps.
 *
 *   sl_json_reader_init (&r, text, length);
 *   if (sl_json_reader_enter (&r, SL_JSON_OBJECT))
 *     while (sl_json_reader_next (&r))
 *       if (strcmp (r.key->str, "size") == 0) sl_json_reader_number (&r, &size);
 *       else sl_json_reader_skip (&r);
 *   if (!sl_json_reader_end (&r)) g_propagate_error (error, g_steal_pointer (&r.error));
 *
 * After the first error every call returns FALSE.
 */
#pragma once

#include <glib.h>

/** Objects and lists within each other. */
#define SL_JSON_MAX_DEPTH 60

typedef enum
{
  SL_JSON_NOTHING,
  SL_JSON_OBJECT,
  SL_JSON_LIST,
  SL_JSON_STRING,
  SL_JSON_NUMBER,
  SL_JSON_TRUE,
  SL_JSON_FALSE,
  SL_JSON_NULL
} SlJsonKind;

/**
 * SlJsonReader:
 * @key: name of the member at hand
 * @text: the string that was read last
 * @error: (nullable): G_FILE_ERROR_INVAL; starts with the line
 * @python: set after sl_json_reader_init(): numbers may be NaN, Infinity and -Infinity, which
 * Python writes and JSON does not have
 */
typedef struct
{
  const char *start, *at, *end;
  GString *key, *text;
  GError *error;
  guint depth;
  guint64 objects, begun; /* bits by depth */
  gboolean python;
} SlJsonReader;

/** sl_json_reader_init: @length bytes at @text, behind which is a zero; they must outlive the
 * reader. */
void sl_json_reader_init (SlJsonReader *reader, const char *text, gsize length);
void sl_json_reader_clear (SlJsonReader *reader);
/** sl_json_reader_kind: of the value that comes next. */
SlJsonKind sl_json_reader_kind (SlJsonReader *reader);
/** sl_json_reader_enter: @kind: SL_JSON_OBJECT or SL_JSON_LIST. */
gboolean sl_json_reader_enter (SlJsonReader *reader, SlJsonKind kind);
/** sl_json_reader_enter_if: the same where the value is of @kind; one of another kind is skipped.
 */
gboolean sl_json_reader_enter_if (SlJsonReader *reader, SlJsonKind kind);
/** sl_json_reader_next: whether the object or list that was entered has one more value, which must
 * then be read or skipped; else it is left. */
gboolean sl_json_reader_next (SlJsonReader *reader);
gboolean sl_json_reader_number (SlJsonReader *reader, gdouble *number);
/** sl_json_reader_integer: a whole number from @low to @high. */
gboolean sl_json_reader_integer (SlJsonReader *reader, gint64 low, gint64 high, gint64 *number);
gboolean sl_json_reader_string (SlJsonReader *reader);
gboolean sl_json_reader_skip (SlJsonReader *reader);
/** sl_json_reader_end: whether all was read without an error, and nothing follows. */
gboolean sl_json_reader_end (SlJsonReader *reader);
/** sl_json_reader_fail: sets the error, at the line at hand; returns FALSE. */
gboolean sl_json_reader_fail (SlJsonReader *reader, const char *format, ...) G_GNUC_PRINTF (2, 3);
