/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading files in the order in which they override each other. The stack of open includes finds
 * cycles; depth and count are limited, so that no set of files takes long to refuse.
 */
#include "pipelines/description/sources.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "pipelines/description/key_text.h"

typedef struct
{
  GHashTable *texts; /* (nullable) */
  GArray *entries;
  GPtrArray *files;
  GPtrArray *stack; /* (transfer none) canonical paths being read */
} Reading;

static gboolean
cannot_read (const char *path, const char *why, GError **error)
{
  return sl_fail (error, SL_ERROR_OPEN, "%s: %s", path, why);
}

/* Regular files only: a pipe or a device may never end. */
static gboolean
read_whole (const char *path, GString *text, GError **error)
{
  struct stat info;
  gssize got = 1;
  const int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return cannot_read (path, errno == ENOENT ? "no such file" : g_strerror (errno), error);
  if (fstat (fd, &info) != 0 || !S_ISREG (info.st_mode)) {
    close (fd);
    return cannot_read (path,
                        S_ISDIR (info.st_mode) ? "expected a pipeline description, got a directory"
                                               : "expected a regular file",
                        error);
  }
  while (got > 0 && text->len <= SL_KEY_TEXT_MAX) {
    char block[16384];
    got = read (fd, block, sizeof block);
    if (got > 0)
      g_string_append_len (text, block, got);
  }
  const int problem = errno;
  close (fd);
  return got >= 0 || cannot_read (path, g_strerror (problem), error);
}

static gboolean
enter (Reading *reading, const char *canonical, const char *path, GError **error)
{
  if (g_ptr_array_find_with_equal_func (reading->stack, canonical, g_str_equal, NULL))
    return sl_fail (error, SL_ERROR_FORMAT, "%s: includes itself", path);
  if (reading->stack->len > SL_DESCRIPTION_MAX_DEPTH)
    return sl_fail (error, SL_ERROR_LIMIT, "%s: included more than %d deep", path,
                    SL_DESCRIPTION_MAX_DEPTH);
  if (reading->files->len >= SL_DESCRIPTION_MAX_FILES)
    return sl_fail (error, SL_ERROR_LIMIT, "%s: more than %d files make one description", path,
                    SL_DESCRIPTION_MAX_FILES);
  g_ptr_array_add (reading->files, g_strdup (path));
  return TRUE;
}

static gboolean
is_include (const SlKeyEntry *entry)
{
  return strcmp (entry->group, SL_PIPELINE_GROUP) == 0 && strcmp (entry->key, SL_INCLUDE_KEY) == 0;
}

static gboolean read_file (Reading *reading, const char *path, GError **error);

static gboolean
read_include (Reading *reading, const SlKeyEntry *entry, const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  const gboolean here = strcmp (folder, ".") == 0 || g_path_is_absolute (entry->value);
  g_autofree char *included =
    here ? g_strdup (entry->value) : g_build_filename (folder, entry->value, NULL);
  if (entry->value[0] == '\0')
    return sl_fail (error, SL_ERROR_FORMAT,
                    "%s:%u: [pipeline] include: expected the path of a file, got ''", entry->file,
                    entry->line);
  if (read_file (reading, included, error))
    return TRUE;
  return sl_fail_prefix (error, "%s:%u: [pipeline] include: ", entry->file, entry->line);
}

/* What the text includes goes before its own keys. */
static gboolean
read_text (Reading *reading, const char *text, gsize length, const char *path, GError **error)
{
  g_autoptr (GArray) own = sl_key_entries_new ();
  g_autofree char *canonical = g_canonicalize_filename (path, NULL);
  if (!enter (reading, canonical, path, error)
      || !sl_key_text_parse (text, length, path, SL_INCLUDE_KEY, own, error))
    return FALSE;
  g_ptr_array_add (reading->stack, canonical);
  gboolean good = TRUE;
  for (guint i = 0; good && i < own->len; i++)
    if (is_include (&g_array_index (own, SlKeyEntry, i)))
      good = read_include (reading, &g_array_index (own, SlKeyEntry, i), path, error);
  g_ptr_array_remove_index (reading->stack, reading->stack->len - 1);
  for (guint i = 0; good && i < own->len; i++) {
    const SlKeyEntry *entry = &g_array_index (own, SlKeyEntry, i);
    if (is_include (entry))
      continue;
    SlKeyEntry copy = { g_ref_string_acquire (entry->file), entry->line, g_strdup (entry->group),
                        g_strdup (entry->key), g_strdup (entry->value) };
    g_array_append_val (reading->entries, copy);
  }
  return good;
}

static gboolean
read_file (Reading *reading, const char *path, GError **error)
{
  g_autofree char *canonical = g_canonicalize_filename (path, NULL);
  GBytes *known = reading->texts != NULL ? g_hash_table_lookup (reading->texts, canonical) : NULL;
  if (known != NULL)
    return read_text (reading, g_bytes_get_data (known, NULL), g_bytes_get_size (known), path,
                      error);
  g_autoptr (GString) text = g_string_new (NULL);
  if (!read_whole (path, text, error))
    return FALSE;
  if (reading->texts != NULL)
    g_hash_table_insert (reading->texts, g_steal_pointer (&canonical),
                         g_bytes_new (text->str, text->len));
  return read_text (reading, text->str, text->len, path, error);
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* (transfer full): the names of @folder/\*.conf in byte order, hidden files left out. */
static GPtrArray *
list_drop_ins (const char *folder)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (name[0] != '.' && g_str_has_suffix (name, ".conf"))
      g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, compare_names);
  return names;
}

static gboolean
read_drop_ins (Reading *reading, const char *path, GError **error)
{
  g_autofree char *folder = g_strdup_printf ("%s.d", path);
  g_autoptr (GPtrArray) names = list_drop_ins (folder);
  gboolean good = TRUE;
  g_ptr_array_add (reading->files, g_strdup (folder));
  for (guint i = 0; good && i < names->len; i++) {
    g_autofree char *file = g_build_filename (folder, names->pdata[i], NULL);
    good = read_file (reading, file, error);
  }
  return good;
}

GHashTable *
sl_sources_texts_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_bytes_unref);
}

gboolean
sl_sources_load (const char *path, GHashTable *texts, GArray *entries, GPtrArray *files,
                 GError **error)
{
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();
  Reading reading = { texts, entries, files, stack };
  return read_file (&reading, path, error) && read_drop_ins (&reading, path, error);
}

gboolean
sl_sources_parse (const char *text, gsize length, const char *path, GArray *entries,
                  GPtrArray *files, GError **error)
{
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();
  Reading reading = { NULL, entries, files, stack };
  return read_text (&reading, text, length, path, error);
}
