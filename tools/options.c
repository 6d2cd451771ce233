/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Command-line parsing shared by the commands. Numbers are taken as text, so that a wrong one is
 * answered with its range instead of being rounded or cut.
 */
#include "tools/options.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "core/base/json.h"
#include "core/base/printable.h"
#include "core/runtime/session.h"
#include "core/base/suggest.h"
#include "postprocess/decoder.h"
#include "tools/command.h"
#include "tools/zoo/allow.h"

void
sl_model_options_clear (SlModelOptions *options)
{
  sl_model_settings_clear (&options->settings);
  memset (options, 0, sizeof *options);
}

GOptionEntry *
sl_model_options_entries (SlModelOptions *options, guint groups)
{
  static const GOptionArg kinds[] = { [SL_SETTING_TEXT] = G_OPTION_ARG_STRING,
                                      [SL_SETTING_FILE] = G_OPTION_ARG_FILENAME,
                                      [SL_SETTING_NUMBER] = G_OPTION_ARG_STRING,
                                      [SL_SETTING_BOOL] = G_OPTION_ARG_NONE,
                                      [SL_SETTING_CHOICE] = G_OPTION_ARG_STRING };
  guint n, found = 0;
  const SlSetting *table = sl_settings_table (&n);
  GOptionEntry *entries = g_new0 (GOptionEntry, n + 2);
  for (guint i = 0; i < n; i++) {
    const SlSetting *row = &table[i];
    gpointer place = G_STRUCT_MEMBER_P (&options->settings, row->offset);
    if ((row->doors & SL_DOOR_OPTION) == 0 || (row->group & groups) == 0)
      continue;
    entries[found++] =
      (GOptionEntry){ .long_name = row->name,
                      .short_name = row->letter,
                      .arg = kinds[row->kind],
                      .arg_data = row->kind == SL_SETTING_BOOL ? &options->flags[i] : place,
                      .description = row->option_help,
                      .arg_description = row->value_name };
  }
  entries[found] = (GOptionEntry) SL_SWITCH_ENTRY (
    SL_ZOO_ALLOW, &options->allow_download, "Fetch models named zoo:NAME that are not here yet");
  return entries;
}

SlModelLoadOptions
sl_model_options_load (const SlModelOptions *options, gboolean skip_input_quantize)
{
  SlModelLoadOptions how = sl_model_load_options (&options->settings);
  how.skip_input_quantize = skip_input_quantize;
  return how;
}

gboolean
sl_model_options_state (const SlModelOptions *options, guint groups)
{
  guint n;
  const SlSetting *table = sl_settings_table (&n);
  for (guint i = 0; i < n; i++)
    if ((table[i].group & groups) != 0 && sl_setting_get (&table[i], &options->settings) != NULL)
      return TRUE;
  return FALSE;
}

/* (transfer full): "; did you mean --threads?" for an option that is nearly one of @lists, which
 * may be NULL; else "". */
static char *
suggest_option (int argc, char **argv, const GOptionEntry *const *lists, guint n_lists)
{
  const char *names[64];
  guint n = 0;
  for (guint i = 0; i < n_lists; i++)
    for (const GOptionEntry *entry = lists[i];
         entry != NULL && entry->long_name != NULL && n < G_N_ELEMENTS (names); entry++)
      names[n++] = entry->long_name;
  for (int i = 1; i < argc && strcmp (argv[i], "--") != 0; i++) {
    if (!g_str_has_prefix (argv[i], "--"))
      continue;
    g_autofree char *name = g_strndup (argv[i] + 2, strcspn (argv[i] + 2, "="));
    const char *near = sl_suggest (name, names, n);
    if (near != NULL && strcmp (near, name) != 0)
      return g_strdup_printf ("; did you mean --%s?", near);
  }
  return g_strdup ("");
}

/* Names of decoders, for the option that takes one. The text of the option has only some. */
static void
append_choices (GString *json, const GOptionEntry *entry)
{
  g_autofree char *all =
    g_str_equal (entry->long_name, "decoder") ? sl_decoder_names () : g_strdup ("");
  g_auto (GStrv) names = g_strsplit (all, ", ", -1);
  g_string_append (json, ",\"choices\":[");
  for (guint i = 0; names[i] != NULL; i++) {
    g_string_append (json, i > 0 ? "," : "");
    sl_json_append_string (json, names[i]);
  }
  g_string_append_c (json, ']');
}

/* {"long": "json", "short": "j", "value": "N" or null, "file": whether the value is one, "choices":
 * its values, "help": "..."}, after a comma but for the first. */
static void
append_entry (GString *json, const GOptionEntry *entry)
{
  const char short_name[] = { entry->short_name, '\0' };
  const gboolean file =
    entry->arg == G_OPTION_ARG_FILENAME || entry->arg == G_OPTION_ARG_FILENAME_ARRAY;
  const gboolean many =
    entry->arg == G_OPTION_ARG_FILENAME_ARRAY || entry->arg == G_OPTION_ARG_STRING_ARRAY;
  g_string_append (json, json->str[json->len - 1] == '[' ? "{\"long\":" : ",{\"long\":");
  sl_json_append_string (json, entry->long_name);
  sl_json_append_text (json, "short", short_name[0] != '\0' ? short_name : NULL);
  sl_json_append_text (json, "value",
                       entry->arg != G_OPTION_ARG_NONE ? entry->arg_description : NULL);
  sl_json_append_boolean (json, "file", file);
  sl_json_append_boolean (json, "many", many);
  append_choices (json, entry);
  sl_json_append_text (json, "help", entry->description);
  g_string_append_c (json, '}');
}

/* One JSON object, from which manual pages and shell completions are made. */
static void
describe (const char *command, const char *arguments, const char *summary, const char *details,
          const GOptionEntry *const *lists, guint n_lists)
{
  g_autoptr (GString) json = g_string_new ("{\"command\":");
  sl_json_append_string (json, command);
  sl_json_append_text (json, "arguments", arguments);
  sl_json_append_text (json, "summary", summary);
  sl_json_append_text (json, "details", details);
  g_string_append (json, ",\"options\":[");
  for (guint i = 0; i < n_lists; i++)
    for (const GOptionEntry *entry = lists[i]; entry != NULL && entry->long_name != NULL; entry++)
      append_entry (json, entry);
  g_string_append (json, "]}");
  puts (json->str);
}

static gboolean
allows_download (const GOptionEntry *entries)
{
  for (; entries != NULL && entries->long_name != NULL; entries++)
    if (strcmp (entries->long_name, SL_ZOO_ALLOW) == 0)
      return *(gboolean *) entries->arg_data;
  return FALSE;
}

int
sl_options_parse (const char *command, const char *arguments, const char *summary,
                  const char *details, int argc, char **argv, const GOptionEntry *entries,
                  const GOptionEntry *more, GStrv *rest)
{
  g_autoptr (GOptionContext) context = g_option_context_new (arguments);
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) copy = g_new0 (char *, (gsize) argc + 1);
  gboolean help = FALSE;
  const GOptionEntry own[] = { { "help", 'h', 0, G_OPTION_ARG_NONE, &help, "Show this help", NULL },
                               { NULL } };
  const GOptionEntry *const lists[] = { entries, more, own };
  g_autofree char *program = g_strdup_printf ("sightline %s", command);
  if (argc == 2 && strcmp (argv[1], SL_OPTION_DESCRIBE) == 0) {
    describe (command, arguments, summary, details, lists, G_N_ELEMENTS (lists));
    return SL_EXIT_OK;
  }
  for (int i = 0; i < argc; i++)
    copy[i] = g_strdup (i == 0 ? program : argv[i]);
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_set_summary (context, summary);
  g_option_context_set_description (context, details);
  g_option_context_add_main_entries (context, entries, NULL);
  if (more != NULL)
    g_option_context_add_main_entries (context, more, NULL);
  g_option_context_add_main_entries (context, own, NULL);
  g_set_prgname (program);
  if (!g_option_context_parse_strv (context, &copy, &error)) {
    g_autofree char *hint = g_error_matches (error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION)
                              ? suggest_option (argc, argv, lists, G_N_ELEMENTS (lists))
                              : g_strdup ("");
    return sl_options_usage (command, "%s%s", error->message, hint);
  }
  if (help) {
    g_autofree char *text = g_option_context_get_help (context, TRUE, NULL);
    fputs (text, stdout);
    return SL_EXIT_OK;
  }
  if (allows_download (more) && !sl_zoo_allow (command, argc, argv))
    return SL_EXIT_FAILED;
  GPtrArray *left = g_ptr_array_new ();
  for (guint i = 1; copy[0] != NULL && copy[i] != NULL; i++)
    if (i > 1 || strcmp (copy[i], "--") != 0)
      g_ptr_array_add (left, g_strdup (copy[i]));
  g_ptr_array_add (left, NULL);
  *rest = (GStrv) g_ptr_array_free (left, FALSE);
  return -1;
}

void
sl_options_clear (const GOptionEntry *entries)
{
  for (; entries->long_name != NULL; entries++)
    if (entries->arg == G_OPTION_ARG_STRING || entries->arg == G_OPTION_ARG_FILENAME)
      g_clear_pointer ((char **) entries->arg_data, g_free);
    else if (entries->arg == G_OPTION_ARG_STRING_ARRAY
             || entries->arg == G_OPTION_ARG_FILENAME_ARRAY)
      g_clear_pointer ((GStrv *) entries->arg_data, g_strfreev);
}

gboolean
sl_options_integer (const char *command, const char *option, const char *text, guint lo, guint hi,
                    guint *value)
{
  guint64 number;
  if (text == NULL)
    return TRUE;
  if (!g_ascii_string_to_unsigned (text, 10, lo, hi, &number, NULL)) {
    sl_complain (command, "%s: expected %u..%u, got '%s'", option, lo, hi, text);
    return FALSE;
  }
  *value = (guint) number;
  return TRUE;
}

gboolean
sl_options_threads (const char *command, const char *option, const char *text, guint *threads)
{
  if (text == NULL || sl_threads_parse (text, threads))
    return TRUE;
  sl_complain (command, "%s: expected " SL_THREADS_EXPECTED ", got '%s'", option, text);
  return FALSE;
}

gboolean
sl_options_number (const char *command, const char *option, const char *text, double lo, double hi,
                   double *value)
{
  char *end = NULL;
  if (text == NULL)
    return TRUE;
  double number = g_ascii_strtod (text, &end);
  if (end == text || *end != '\0' || !(number >= lo && number <= hi)) {
    sl_complain (command, "%s: expected a number in %g..%g, got '%s'", option, lo, hi, text);
    return FALSE;
  }
  *value = number;
  return TRUE;
}

gboolean
sl_options_time (const char *command, const char *option, const char *text, gint64 *us)
{
  if (text == NULL)
    return TRUE;
  g_autoptr (GTimeZone) local = g_time_zone_new_local ();
  g_autofree char *whole =
    strchr (text, 'T') == NULL ? g_strconcat (text, "T00:00:00", NULL) : g_strdup (text);
  g_autoptr (GDateTime) time = g_date_time_new_from_iso8601 (whole, local);
  if (time == NULL) {
    sl_options_usage (command,
                      "%s: expected a time such as 2026-11-29 or 2026-11-29T15:04:05Z, got '%s'",
                      option, text);
    return FALSE;
  }
  *us = g_date_time_to_unix (time) * G_USEC_PER_SEC + g_date_time_get_microsecond (time);
  return TRUE;
}

gboolean
sl_options_fraction (const char *command, const char *option, const char *text, double *value)
{
  return sl_options_number (command, option, text, 0, 1, value);
}

/* Whether @path is there and holds no file: a pipe or a device, or what another program has open,
 * as /dev/stdout is. */
static gboolean
is_stream (const char *path)
{
  g_autofree char *target = g_file_read_link (path, NULL);
  return (target != NULL && g_str_has_prefix (target, "/proc/"))
         || (g_file_test (path, G_FILE_TEST_EXISTS) && !g_file_test (path, G_FILE_TEST_IS_REGULAR));
}

gboolean
sl_options_target (const char *command, const char *option, const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path),
                  *shown = sl_printable (path, SL_PRINTABLE_MESSAGE);
  if (path[0] == '\0')
    sl_complain (command, "%s: the name is empty; expected the file to write", option);
  else if (!g_file_test (folder, G_FILE_TEST_IS_DIR))
    sl_complain (command, "%s: '%s' cannot be written: there is no such folder; make it first",
                 option, shown);
  else if (g_access (folder, W_OK) != 0)
    sl_complain (command, "%s: '%s' cannot be written: %s", option, shown, g_strerror (errno));
  else if (g_file_test (path, G_FILE_TEST_IS_DIR))
    sl_complain (command, "%s: '%s' is a folder; expected the file to write", option, shown);
  else if (is_stream (path))
    sl_complain (command, "%s: '%s' is a device or a pipe; expected the file to write", option,
                 shown);
  else
    return TRUE;
  return FALSE;
}

gboolean
sl_options_tflite (const char *command, const char *path)
{
  const char *ending = strrchr (path, '.');
  if (ending != NULL && g_ascii_strcasecmp (ending, ".tflite") == 0)
    return sl_options_target (command, "--output", path);
  g_autofree char *shown = sl_printable (path, SL_PRINTABLE_MESSAGE);
  sl_complain (
    command, "--output: '%s' becomes a TensorFlow Lite file; expected a name that ends in .tflite",
    shown);
  return FALSE;
}

static gboolean
write_all (int file, const char *data, gsize size)
{
  while (size > 0) {
    const gssize written = write (file, data, size);
    if (written < 0 && errno != EINTR)
      return FALSE;
    data += MAX (written, 0);
    size -= (gsize) MAX (written, 0);
  }
  return TRUE;
}

/* Names the open @file, which has no name, and puts it in the place of @path at once. */
static gboolean
put_at (int file, const char *path)
{
  g_autofree char *opened = g_strdup_printf ("/proc/self/fd/%d", file),
                  *part = g_strdup_printf ("%s.%08x", path, g_random_int ());
  if (linkat (AT_FDCWD, opened, AT_FDCWD, part, AT_SYMLINK_FOLLOW) != 0)
    return FALSE;
  if (g_rename (part, path) == 0)
    return TRUE;
  g_unlink (part);
  return FALSE;
}

/* A file without a name until it is whole: if the program is killed, nothing is left of it. FALSE
 * where the file system has no such files, and where anything else goes wrong. */
static gboolean
write_nameless (const char *path, const char *data, gsize size)
{
  g_autofree char *folder = g_path_get_dirname (path);
  const int file = open (folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0)
    return FALSE;
  const gboolean written = write_all (file, data, size)
                           && (!g_file_test (path, G_FILE_TEST_EXISTS) || fsync (file) == 0)
                           && put_at (file, path);
  close (file);
  return written;
}

static gboolean
write_whole (const char *option, const char *path, const char *data, gsize size, GError **error)
{
  if (write_nameless (path, data, size) || g_file_set_contents (path, data, (gssize) size, error))
    return TRUE;
  return sl_fail_prefix (
    error,
    "%s: cannot be written, and what was there stays; make room, or state another %s: ", path,
    option);
}

gboolean
sl_options_write (const char *path, GBytes *file, GError **error)
{
  gsize size;
  const char *data = g_bytes_get_data (file, &size);
  return write_whole ("--output", path, data, size, error);
}

gboolean
sl_options_write_text (const char *option, const char *path, const GString *text, GError **error)
{
  return write_whole (option, path, text->str, text->len, error);
}

/* (transfer full) (nullable): @path, which need not be there, in its folder's own name. */
static char *
place_of (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path), *name = g_path_get_basename (path);
  char *real = realpath (folder, NULL);
  char *place = real != NULL ? g_build_filename (real, name, NULL) : NULL;
  free (real);
  return place;
}

gboolean
sl_options_same_file (const char *a, const char *b)
{
  GStatBuf one, other;
  if (g_stat (a, &one) == 0 && g_stat (b, &other) == 0)
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
  g_autofree char *first = place_of (a), *second = place_of (b);
  return first != NULL && g_strcmp0 (first, second) == 0;
}

gboolean
sl_options_report (const char *command, const char *option, const char *path, const char *head)
{
  if (path == NULL)
    return TRUE;
  if (!sl_options_target (command, option, path))
    return FALSE;
  const gsize n = strlen (head);
  g_autofree char *found = g_malloc0 (n + 1), *shown = NULL;
  FILE *file = g_fopen (path, "rb");
  if (file == NULL)
    return TRUE;
  const gsize got = fread (found, 1, n, file);
  fclose (file);
  if (got == 0 || strcmp (found, head) == 0)
    return TRUE;
  shown = sl_printable (path, SL_PRINTABLE_MESSAGE);
  sl_options_usage (command,
                    "%s: '%s' is a file of another kind, which would be lost; expected a new name, "
                    "or a file that %s wrote before",
                    option, shown, option);
  return FALSE;
}

gboolean
sl_options_apart (const char *command, const char *option, const char *path, const char *name,
                  const char *other)
{
  if (path == NULL || other == NULL || !sl_options_same_file (path, other))
    return TRUE;
  sl_options_usage (command,
                    "%s and %s are one file, which would be lost; expected another name for %s",
                    option, name, option);
  return FALSE;
}

gboolean
sl_options_choice (const char *command, const char *option, char **text, const char *const *choices)
{
  if (*text == NULL)
    return TRUE;
  for (guint i = 0; choices[i] != NULL; i++)
    if (g_ascii_strcasecmp (*text, choices[i]) == 0) {
      g_free (*text);
      *text = g_strdup (choices[i]);
      return TRUE;
    }
  g_autofree char *all = g_strjoinv (", ", (char **) choices);
  sl_complain (command, "%s: expected one of %s, got '%s'", option, all, *text);
  return FALSE;
}

/* *@text becomes the spelling of one of @row's words. */
static gboolean
check_words (const char *command, const char *option, const SlSetting *row, char **text)
{
  g_autofree const char **names = g_new0 (const char *, row->n_words + 1);
  for (guint i = 0; i < row->n_words; i++)
    names[i] = row->words[i].name;
  return sl_options_choice (command, option, text, names);
}

static gboolean
check_setting (const char *command, const SlSetting *row, SlModelSettings *settings)
{
  g_autofree char *option = g_strconcat ("--", row->name, NULL);
  char **place = (char **) G_STRUCT_MEMBER_P (settings, row->offset);
  guint number;
  g_autoptr (GError) error = NULL;
  if (!sl_setting_check_text (row, *place, &error)) {
    sl_complain (command, "--%s", error->message);
    return FALSE;
  }
  if (row->kind == SL_SETTING_NUMBER)
    return sl_options_integer (command, option, *place, (guint) row->minimum, (guint) row->maximum,
                               &number);
  return row->kind != SL_SETTING_CHOICE || check_words (command, option, row, place);
}

/* Which values of parameters suit the model is found when it is opened. So is a plug-in that cannot
 * be loaded, which is no wrong usage. */
static gboolean
check_decoder (const char *command, const char *text)
{
  g_autoptr (GError) error = NULL;
  if (text == NULL || text[0] == '\0' || sl_decoder_check (text, &error)
      || !g_error_matches (error, SL_ERROR, SL_ERROR_ARGUMENT))
    return TRUE;
  sl_complain (command, "--decoder=%s: %s", text, error->message);
  return FALSE;
}

gboolean
sl_model_options_check (const char *command, SlModelOptions *options)
{
  guint n;
  const SlSetting *table = sl_settings_table (&n);
  options->threads = 1;
  if (!sl_options_threads (command, "--threads", options->settings.threads, &options->threads))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    if (options->flags[i])
      sl_setting_set (&table[i], &options->settings, "true");
    if ((table[i].doors & SL_DOOR_OPTION) != 0
        && !check_setting (command, &table[i], &options->settings))
      return FALSE;
  }
  return check_decoder (command, options->settings.decoder);
}

int
sl_options_usage (const char *command, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  sl_complain (command, "%s (see sightline %s --help)", message, command);
  return SL_EXIT_USAGE;
}
