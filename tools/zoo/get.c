/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `sightline get`: models of the zoo into the cache, where model=zoo:NAME finds them, or into a
 * folder as well. It prints the path of each model.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "core/base/zoo_name.h"
#include "models/zoo/cache.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/zoo/fetch.h"

#define NAME "get"
#define PATIENCE_MS 1000

typedef struct
{
  char *to, *sha256;
} Options;

/* @name of the folder @from becomes that of the folder @to, in one step. */
static gboolean
copy_file (const char *from, const char *to, const char *name, GError **error)
{
  g_autofree char *source = g_build_filename (from, name, NULL),
                  *target = g_build_filename (to, name, NULL);
  g_autoptr (GError) cause = NULL;
  g_autoptr (GMappedFile) file = g_mapped_file_new (source, FALSE, &cause);
  if (file == NULL)
    return g_error_matches (cause, G_FILE_ERROR, G_FILE_ERROR_NOENT)
           || sl_fail (error, SL_ERROR_OPEN, "%s", cause->message);
  g_autoptr (GBytes) bytes = g_mapped_file_get_bytes (file);
  return sl_options_write (target, bytes, error);
}

/* The model comes last, so that it never stands there without its key file. Returns the path of the
 * copy. */
static char *
copy_model (const SlZooRow *row, const char *path, const char *to, GError **error)
{
  g_autofree char *from = g_path_get_dirname (path),
                  *labels = g_strconcat (row->name, ".txt", NULL),
                  *info = g_strconcat (row->file, ".modelinfo", NULL);
  if (g_mkdir_with_parents (to, 0755) != 0)
    return sl_fail_null (error, SL_ERROR_OPEN, "--to %s: cannot be made: %s", to,
                         g_strerror (errno));
  if ((row->labels_source != NULL && !copy_file (from, to, labels, error))
      || !copy_file (from, to, info, error) || !copy_file (from, to, row->file, error))
    return NULL;
  return g_build_filename (to, row->file, NULL);
}

/* Whether a later one of @rows that is not here is in the same package as number @i. */
static gboolean
is_needed_again (const GPtrArray *rows, guint i)
{
  const SlZooRow *row = g_ptr_array_index (rows, i);
  const char *at = strrchr (row->source, '@'), *end = at != NULL ? strchr (at, '/') : NULL;
  const gsize length = end != NULL ? (gsize) (end - row->source) + 1 : strlen (row->source) + 1;
  for (guint j = i + 1; j < rows->len; j++) {
    const SlZooRow *later = g_ptr_array_index (rows, j);
    g_autoptr (SlZooRow) here = sl_zoo_cached_row (later->name);
    if (here == NULL && strncmp (later->source, row->source, length) == 0)
      return TRUE;
  }
  return FALSE;
}

static void
print_result (const SlZooRow *row, const char *path, gboolean moved)
{
  if (!isatty (STDOUT_FILENO)) {
    puts (path);
    return;
  }
  printf ("%s  %s, licence %s (%s)\n", path, moved ? "fetched and checked" : "is here, checked",
          row->licence, row->page);
  printf ("  try: sightline predict --model " SL_ZOO_PREFIX "%s%s%s PICTURE\n", row->name,
          row->options != NULL ? " " : "", row->options != NULL ? row->options : "");
}

static gboolean
get (const GPtrArray *rows, const Options *options, GError **error)
{
  for (guint i = 0; i < rows->len; i++) {
    const SlZooRow *row = g_ptr_array_index (rows, i);
    gboolean moved;
    g_autofree char *path =
      sl_zoo_fetch (row, options->sha256, is_needed_again (rows, i), &moved, error);
    g_autofree char *copy =
      path != NULL && options->to != NULL ? copy_model (row, path, options->to, error) : NULL;
    if (path == NULL || (options->to != NULL && copy == NULL))
      return sl_fail_prefix (error, "%s: ", row->name);
    print_result (row, copy != NULL ? copy : path, moved);
  }
  return TRUE;
}

/* All names before the first download. */
static int
get_names (const char *const *names, const Options *options)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) sl_zoo_row_free);
  g_autoptr (GError) error = NULL;
  for (guint i = 0; names[i] != NULL; i++) {
    const char *name = sl_zoo_name (names[i]) != NULL ? sl_zoo_name (names[i]) : names[i];
    SlZooRow *row = sl_zoo_row_load (name, &error);
    if (row == NULL)
      return sl_complain (NAME, "%s", error->message);
    g_ptr_array_add (rows, row);
  }
  if (get (rows, options, &error))
    return SL_EXIT_OK;
  sl_complain (NAME, "%s", error->message);
  return sl_interrupted () ? SL_EXIT_INTERRUPTED : SL_EXIT_FAILED;
}

static int
run_get (int argc, char **argv)
{
  Options options = { NULL };
  const GOptionEntry entries[] = {
    { "to", 0, 0, G_OPTION_ARG_FILENAME, &options.to,
      "Also write the model, its key file and its labels to this folder", "FOLDER" },
    SL_TEXT_ENTRY ("sha256", &options.sha256,
                   "The model's hash, where its row states none: of rows that were not tried",
                   "HEX"),
    { NULL }
  };
  g_auto (GStrv) names = NULL;
  int status =
    sl_options_parse (NAME, "NAME...", "Fetches models of others by their names.",
                      "sightline zoo lists the names. The models are of others, under their own "
                      "licences, and go to sightline/zoo in the user's cache. --model zoo:NAME and "
                      "model=zoo:NAME find them there.",
                      argc, argv, entries, NULL, &names);
  if (status < 0 && (names == NULL || names[0] == NULL))
    status = sl_options_usage (NAME, "expected the name of a model; sightline zoo lists them");
  else if (status < 0 && options.sha256 != NULL && names[1] != NULL)
    status = sl_options_usage (NAME, "--sha256 is of one model: expected one name");
  else if (status < 0 && options.sha256 != NULL && !sl_zoo_is_hash (options.sha256))
    status = sl_options_usage (NAME, "--sha256 %s: expected 64 digits 0-9 and a-f", options.sha256);
  else if (status < 0) {
    sl_interrupt_catch (PATIENCE_MS);
    status = get_names ((const char *const *) names, &options);
  }
  sl_options_clear (entries);
  return status;
}

const SlCommand sl_command_get = { NAME, "fetch models of others by their names", run_get };
