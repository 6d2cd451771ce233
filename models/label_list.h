/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Class names while a labels file is read, and the formats of such files: one file and one table
 * row a format. For models/labels.c.
 */
#pragma once

#include <glib.h>

#define SL_MAX_CLASSES 1000000

/** SlLabelList: @names: char *, NULL for a class without a name. */
typedef struct
{
  const char *origin; /* of the text, for messages */
  GPtrArray *names;
} SlLabelList;

/** sl_label_list_fail: sets an error that begins with the file's name; returns FALSE. */
gboolean sl_label_list_fail (const SlLabelList *list, GError **error, const char *format, ...)
  G_GNUC_PRINTF (3, 4);
/** sl_label_list_set: class @number is called @name; "", "???" and NULL = it has no name. FALSE
 * when it has another one already, or with a number over the limit. @line: of the file, 0 =
 * unknown. */
gboolean sl_label_list_set (SlLabelList *list, guint64 number, const char *name, guint line,
                            GError **error);
/** sl_label_list_append: the same of the class behind the last one. */
gboolean sl_label_list_append (SlLabelList *list, const char *name, GError **error);
/** sl_label_number: whether @text is a number of up to 18 digits. */
gboolean sl_label_number (const char *text, guint64 *number);
/** sl_label_list_set_pairs: @pairs are char *: key, value, key, value, ... Either all keys or all
 * values are numbers of classes. @line: where they begin. */
gboolean sl_label_list_set_pairs (SlLabelList *list, GPtrArray *pairs, guint line, GError **error);
/** sl_label_key_rank: how surely member @key of an object or column @key of a table holds names: 1
 * the most; 0 = it holds none. */
guint sl_label_key_rank (const char *key);
/** sl_label_key_is_number: whether member or column @key holds numbers of classes. */
gboolean sl_label_key_is_number (const char *key);
/** sl_label_key_is_list: whether member @key of a larger file is its list of class names. */
gboolean sl_label_key_is_list (const char *key);

/**
 * SlLabelFormat:
 * @name: as a message calls such a file
 * @probe: whether @text is one; @extension: (nullable): of the file's name, in lower case: "csv"
 * @read: fills @list
 */
typedef struct
{
  const char *name;
  gboolean (*probe) (const char *text, const char *extension);
  gboolean (*read) (SlLabelList *list, const char *text, GError **error);
} SlLabelFormat;

extern const SlLabelFormat sl_label_json, sl_label_pbtxt, sl_label_yaml, sl_label_csv;

/** SlLabelLine: a line of a labels file, without blanks around it; @number counts from 1. */
typedef struct
{
  guint number;
  char text[];
} SlLabelLine;

/** sl_label_lines: (transfer full): (element-type SlLabelLine): the lines of @text without
 * comments, which are '#' or "//" with something behind it. Empty lines below a comment that no
 * name stands above, and those at the end, are left out, and so is what lies behind the limit of
 * classes. */
GPtrArray *sl_label_lines (const char *text);
