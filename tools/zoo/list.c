/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline zoo`: the table of models, by task, or everything of one row. */
#include <stdio.h>
#include <string.h>

#include "core/base/json.h"
#include "core/base/zoo_name.h"
#include "models/zoo/cache.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/terminal.h"
#include "tools/zoo/measure.h"

#define NAME "zoo"

typedef struct
{
  char *task;
  gboolean json, measure;
} Options;

static const char *
text_of (const char *text)
{
  return text != NULL ? text : "-";
}

static gboolean
is_here (const SlZooRow *row)
{
  g_autoptr (SlZooRow) here = sl_zoo_cached_row (row->name);
  return here != NULL;
}

/* "10.0 MB"; "-" = unknown. */
static char *
size_text (guint64 size)
{
  return size == 0 ? g_strdup ("-") : g_strdup_printf ("%.1f", (gdouble) size / 1e6);
}

/* (transfer full): milliseconds of the row, or measured here; "-" = unknown. */
static char *
time_text (const SlZooRow *row, const Options *options)
{
  const gdouble ms = options->measure && is_here (row) ? sl_zoo_measure (row) : -1;
  if (ms >= 0)
    return g_strdup_printf ("%.*f", ms < 10 ? 2 : 1, ms);
  return g_strdup (options->measure ? "-" : text_of (row->ms));
}

static void
append_count (GString *json, const char *key, guint64 count)
{
  if (count > 0)
    sl_json_append_count (json, key, count);
}

static void
append_text (GString *json, const char *key, const char *text)
{
  if (text != NULL)
    sl_json_append_text (json, key, text);
}

static void
print_json (const SlZooRow *row, const Options *options)
{
  const gdouble measured = options->measure && is_here (row) ? sl_zoo_measure (row) : -1;
  g_autoptr (GString) json = g_string_new ("{");
  append_text (json, "name", row->name);
  append_text (json, "task", row->task);
  append_text (json, "file", row->file);
  append_count (json, "size", row->size);
  append_count (json, "download", row->download);
  append_text (json, "input", row->input);
  append_text (json, "licence", row->licence);
  append_text (json, "page", row->page);
  append_text (json, "source", row->source);
  append_text (json, "sha256", row->sha256);
  append_text (json, "options", row->options);
  append_text (json, "gives", row->gives);
  if (row->ms != NULL)
    sl_json_append_number (json, "ms", g_ascii_strtod (row->ms, NULL), 6);
  if (measured >= 0)
    sl_json_append_number (json, "measured_ms", measured, 6);
  if (row->memory != NULL)
    sl_json_append_number (json, "memory", g_ascii_strtod (row->memory, NULL), 6);
  append_text (json, "agreement", row->agreement);
  append_text (json, "int8", row->int8);
  append_text (json, "quantize", row->quantize);
  sl_json_append_boolean (json, "tried", row->tried);
  sl_json_append_boolean (json, "decoded", sl_zoo_row_decodes (row));
  sl_json_append_boolean (json, "here", is_here (row));
  g_string_append_c (json, '}');
  puts (json->str);
}

static void
print_line (const char *name, const char *value)
{
  if (value != NULL)
    printf ("%-9s  %s\n", name, value);
}

/* Everything of one row, with the key file that is written beside the model. */
static void
print_row (const SlZooRow *row, const Options *options)
{
  g_autofree char *size = size_text (row->size), *download = size_text (row->download),
                  *ms = time_text (row, options),
                  *sizes = g_strdup_printf ("%s MB, in a download of %s MB", size, download);
  g_autoptr (GError) error = NULL;
  g_autofree char *model = g_strconcat (SL_ZOO_PREFIX, row->name, NULL),
                  *path = sl_zoo_find (model, &error);
  print_line ("name", row->name);
  print_line ("task", row->task);
  print_line ("size", sizes);
  print_line ("input", row->input);
  print_line ("ms", ms);
  print_line ("memory", row->memory);
  print_line ("agreement", row->agreement);
  print_line ("int8", row->int8);
  print_line ("quantize", row->quantize);
  print_line ("licence", row->licence);
  print_line ("page", row->page);
  print_line ("source", row->source);
  print_line ("sha256", text_of (row->sha256));
  print_line ("options", row->options);
  print_line ("tried", row->tried ? "yes" : "no");
  print_line ("gives", row->gives);
  print_line ("here", path != NULL ? path : "no; sightline get fetches it");
  if (row->info != NULL)
    printf ("\n%s", row->info);
}

static int
compare_rows (gconstpointer a, gconstpointer b)
{
  const SlZooRow *first = *(const SlZooRow *const *) a, *second = *(const SlZooRow *const *) b;
  const int order = strcmp (first->task, second->task);
  return order != 0 ? order : strcmp (first->name, second->name);
}

/* (transfer full) (nullable): the rows by task and name, those of @task (nullable) only. */
static GPtrArray *
load_rows (const char *task, GError **error)
{
  g_auto (GStrv) names = sl_zoo_rows_names (error);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) sl_zoo_row_free);
  for (guint i = 0; names != NULL && names[i] != NULL; i++) {
    SlZooRow *row = sl_zoo_row_load (names[i], error);
    if (row == NULL)
      return NULL;
    g_ptr_array_add (rows, row);
  }
  g_ptr_array_sort (rows, compare_rows);
  for (guint i = rows->len; task != NULL && i-- > 0;)
    if (strcmp (((SlZooRow *) g_ptr_array_index (rows, i))->task, task) != 0)
      g_ptr_array_remove_index (rows, i);
  return names != NULL ? g_steal_pointer (&rows) : NULL;
}

static int
refuse_task (const char *task)
{
  g_autoptr (GPtrArray) rows = load_rows (NULL, NULL);
  g_autoptr (GString) tasks = g_string_new (NULL);
  const char *before = "";
  for (guint i = 0; rows != NULL && i < rows->len; i++) {
    const SlZooRow *row = g_ptr_array_index (rows, i);
    if (strcmp (row->task, before) != 0)
      g_string_append_printf (tasks, "%s'%s'", tasks->len > 0 ? ", " : "", row->task);
    before = row->task;
  }
  return sl_options_usage (NAME, "--task %s: expected one of: %s", task, tasks->str);
}

static void
print_table (const GPtrArray *rows, const Options *options)
{
  guint name = 4, task = 4;
  for (guint i = 0; i < rows->len; i++) {
    const SlZooRow *row = g_ptr_array_index (rows, i);
    name = MAX (name, (guint) strlen (row->name));
    task = MAX (task, (guint) strlen (row->task));
  }
  printf ("%s%-*s  %-*s  %6s  %-9s  %5s  %-12s  %-4s  %s%s\n",
          sl_terminal_style (stdout, SL_STYLE_HEADING), (int) name, "name", (int) task, "task",
          "MB", "input", "ms", "licence", "here", "gives",
          sl_terminal_style (stdout, SL_STYLE_PLAIN));
  for (guint i = 0; i < rows->len; i++) {
    const SlZooRow *row = g_ptr_array_index (rows, i);
    g_autofree char *size = size_text (row->size), *ms = time_text (row, options);
    printf ("%-*s  %-*s  %6s  %-9s  %5s  %-12s  %-4s  %s\n", (int) name, row->name, (int) task,
            row->task, size, text_of (row->input), ms, row->licence, is_here (row) ? "yes" : "",
            row->tried ? text_of (row->gives) : "not tried");
  }
}

static int
list (const Options *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) rows = load_rows (options->task, &error);
  if (rows == NULL)
    return sl_complain (NAME, "%s", error->message);
  if (rows->len == 0 && options->task != NULL)
    return refuse_task (options->task);
  for (guint i = 0; options->json && i < rows->len; i++)
    print_json (g_ptr_array_index (rows, i), options);
  if (!options->json)
    print_table (rows, options);
  return SL_EXIT_OK;
}

static int
show (const char *given, const Options *options)
{
  g_autoptr (GError) error = NULL;
  const char *name = sl_zoo_name (given) != NULL ? sl_zoo_name (given) : given;
  g_autoptr (SlZooRow) row = sl_zoo_row_load (name, &error);
  if (row == NULL)
    return sl_complain (NAME, "%s", error->message);
  if (options->json)
    print_json (row, options);
  else
    print_row (row, options);
  return SL_EXIT_OK;
}

static int
run_zoo (int argc, char **argv)
{
  Options options = { NULL };
  const GOptionEntry entries[] = {
    SL_TEXT_ENTRY ("task", &options.task, "Only models of this task, such as 'face detection'",
                   "TASK"),
    SL_SWITCH_ENTRY ("measure", &options.measure,
                     "Time the models that are here, on one thread of this machine"),
    SL_SWITCH_ENTRY ("json", &options.json, "A JSON object a line instead of a table"),
    { NULL }
  };
  g_auto (GStrv) names = NULL;
  int status = sl_options_parse (NAME, "[NAME]", "Lists the models that sightline get fetches.",
                                 NULL, argc, argv, entries, NULL, &names);
  if (status < 0 && names != NULL && names[0] != NULL && (names[1] != NULL || options.task != NULL))
    status = sl_options_usage (NAME, "expected one name, or --task without a name");
  else if (status < 0)
    status = names != NULL && names[0] != NULL ? show (names[0], &options) : list (&options);
  sl_options_clear (entries);
  return status;
}

const SlCommand sl_command_zoo = { NAME, "list models of others that get fetches", run_zoo };
