/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts of properties, in memory and in a key file that is written whole or not at all. */
#include "tools/run/keep.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/printable.h"
#include "pipelines/description/build.h"
#include "core/base/fail.h"
#include "tools/run/log.h"

#define VERSION 1
#define GROUP "state"
#define LARGEST_FILE (16 << 20)
/* What the end of the power may cost at most. */
#define SAVE_US (10 * G_USEC_PER_SEC)

/* Properties that say what an element knows, and that take it before a start. */
static const char *const properties[] = { "kept", "next-id" };

struct _SlKeep
{
  char *name;
  GHashTable *values;  /* "ELEMENT PROPERTY", the element with the bins that it is in -> text */
  char *folder, *path; /* (nullable) */
  char *saved;         /* (nullable): what was handed to the writer last */
  gint64 collected;
  GThread *writer; /* (nullable) */
  gint written;    /* atomic: the writer is done */
  char *trouble;   /* (nullable): the writer's, until it is joined */
  gboolean told;   /* of trouble, since it was written last */
};

typedef struct
{
  SlKeep *keep;
  char *text;
} Job;

SlKeep *
sl_keep_new (void)
{
  SlKeep *keep = g_new0 (SlKeep, 1);
  keep->values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return keep;
}

/* (transfer full): names of the bins in the pipeline that @element is in, and its own. */
static char *
path_of (GstElement *element, GstElement *pipeline)
{
  char *path = gst_object_get_name (GST_OBJECT (element));
  GstObject *bin = gst_object_get_parent (GST_OBJECT (element));
  while (bin != NULL && bin != GST_OBJECT (pipeline)) {
    char *longer = g_strconcat (GST_OBJECT_NAME (bin), "/", path, NULL);
    GstObject *outer = gst_object_get_parent (bin);
    g_free (path);
    path = longer;
    gst_object_unref (bin);
    bin = outer;
  }
  gst_clear_object (&bin);
  return path;
}

static void
for_each (SlKeep *keep, GstElement *pipeline,
          void (*use) (SlKeep *, GstElement *, const char *property, const char *key))
{
  static const char *const factories[] = { "slanalyze", "sltrack", "slpostprocess", "slpublish" };
  for (guint f = 0; f < G_N_ELEMENTS (factories); f++) {
    g_autoptr (GPtrArray) found = sl_find_elements (pipeline, factories[f]);
    for (guint i = 0; i < found->len; i++)
      for (guint p = 0; p < G_N_ELEMENTS (properties); p++) {
        GstElement *element = g_ptr_array_index (found, i);
        g_autofree char *path = path_of (element, pipeline);
        g_autofree char *key = g_strconcat (path, " ", properties[p], NULL);
        if (g_object_class_find_property (G_OBJECT_GET_CLASS (element), properties[p]) != NULL)
          use (keep, element, properties[p], key);
      }
  }
}

static void
collect (SlKeep *keep, GstElement *element, const char *property, const char *key)
{
  GValue value = G_VALUE_INIT, text = G_VALUE_INIT;
  g_value_init (&text, G_TYPE_STRING);
  g_object_get_property (G_OBJECT (element), property, &value);
  if (g_value_transform (&value, &text) && g_value_get_string (&text) != NULL)
    g_hash_table_replace (keep->values, g_strdup (key), g_value_dup_string (&text));
  g_value_unset (&text);
  g_value_unset (&value);
}

static void
apply (SlKeep *keep, GstElement *element, const char *property, const char *key)
{
  g_autoptr (GError) error = NULL;
  const char *text = g_hash_table_lookup (keep->values, key);
  if (text != NULL && !sl_property_from_text (G_OBJECT (element), property, text, &error))
    sl_run_log (SL_LOG_WARNING, keep->name, "state", "%s: %s: %s; it begins anew",
                GST_OBJECT_NAME (element), property, error->message);
}

void
sl_keep_collect (SlKeep *keep, GstElement *pipeline)
{
  for_each (keep, pipeline, collect);
  keep->collected = g_get_monotonic_time ();
}

void
sl_keep_apply (SlKeep *keep, GstElement *pipeline)
{
  for_each (keep, pipeline, apply);
}

void
sl_keep_note (SlKeep *keep, const char *key, const char *text)
{
  if (text != NULL)
    g_hash_table_replace (keep->values, g_strdup (key), g_strdup (text));
  else
    g_hash_table_remove (keep->values, key);
}

const char *
sl_keep_noted (const SlKeep *keep, const char *key)
{
  return g_hash_table_lookup (keep->values, key);
}

static char *
to_text (SlKeep *keep)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GList) keys =
    g_list_sort (g_hash_table_get_keys (keep->values), (GCompareFunc) strcmp);
  guint n = 0;
  g_key_file_set_integer (file, GROUP, "version", VERSION);
  g_key_file_set_string (file, GROUP, "pipeline", keep->name);
  for (const GList *key = keys; key != NULL; key = key->next) {
    g_autofree char *group = g_strdup_printf ("value %u", n++);
    g_key_file_set_string (file, group, "of", key->data);
    g_key_file_set_string (file, group, "text", g_hash_table_lookup (keep->values, key->data));
  }
  return g_key_file_to_data (file, NULL, NULL);
}

/* FALSE with @error set; a file that is not there is none. */
static gboolean
read_file (SlKeep *keep, GKeyFile *file, GError **error)
{
  g_autofree char *text = NULL, *pipeline = NULL;
  GStatBuf info;
  gsize length;
  if (g_stat (keep->path, &info) != 0 && errno == ENOENT)
    return TRUE;
  if (g_stat (keep->path, &info) == 0 && (!S_ISREG (info.st_mode) || info.st_size > LARGEST_FILE)) {
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "expected a file of at most %d MiB",
                 LARGEST_FILE >> 20);
    return FALSE;
  }
  if (!g_file_get_contents (keep->path, &text, &length, error))
    return FALSE;
  if (!g_key_file_load_from_data (file, text, length, G_KEY_FILE_NONE, NULL)
      || g_key_file_get_integer (file, GROUP, "version", NULL) != VERSION) {
    g_set_error_literal (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                         "expected what an earlier run saved, got something else or a part of it");
    return FALSE;
  }
  pipeline = g_key_file_get_string (file, GROUP, "pipeline", NULL);
  if (g_strcmp0 (pipeline, keep->name) == 0)
    return TRUE;
  g_autofree char *shown = sl_printable (pipeline != NULL ? pipeline : "", SL_PRINTABLE_NAME);
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
               "expected the state of pipeline %s, got that of '%s'", keep->name, shown);
  return FALSE;
}

static void
load (SlKeep *keep)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (GError) error = NULL;
  if (!read_file (keep, file, &error)) {
    sl_run_log (SL_LOG_WARNING, keep->name, "state", "%s: %s: not used; counts begin at 0",
                keep->path, error->message);
    return;
  }
  for (guint n = 0;; n++) {
    g_autofree char *group = g_strdup_printf ("value %u", n);
    char *key = g_key_file_get_string (file, group, "of", NULL),
         *text = g_key_file_get_string (file, group, "text", NULL);
    if (key == NULL || text == NULL) {
      g_free (key);
      g_free (text);
      return;
    }
    g_hash_table_replace (keep->values, key, text);
  }
}

/* Once, until it was written again. */
static void
tell_trouble (SlKeep *keep)
{
  if (keep->trouble != NULL && !keep->told)
    sl_run_log (SL_LOG_WARNING, keep->name, "state",
                "%s: counts are not kept over the end of the program; trying again", keep->trouble);
  keep->told = keep->trouble != NULL;
  g_clear_pointer (&keep->trouble, g_free);
}

/* Makes @folder and a file in it for a moment; NULL = both can be. */
static const char *
try_folder (const char *folder)
{
  g_autofree char *probe = g_build_filename (folder, ".state-XXXXXX", NULL);
  const int fd = g_mkdir_with_parents (folder, 0700) == 0 ? g_mkstemp (probe) : -1;
  if (fd < 0)
    return g_strerror (errno);
  close (fd);
  g_unlink (probe);
  return NULL;
}

/* The same by the rights of the nearest folder that is there; nothing is written. */
static const char *
judge_folder (const char *folder)
{
  g_autofree char *path = g_strdup (folder);
  while (!g_file_test (path, G_FILE_TEST_EXISTS)) {
    char *parent = g_path_get_dirname (path);
    g_free (path);
    path = parent;
  }
  if (!g_file_test (path, G_FILE_TEST_IS_DIR))
    return g_strerror (ENOTDIR);
  return g_access (path, W_OK | X_OK) != 0 ? g_strerror (errno) : NULL;
}

gboolean
sl_keep_check (const char *folder, gboolean make, GError **error)
{
  const char *why = NULL;
  if (folder[0] == '\0')
    why = "the name is empty";
  else if (g_file_test (folder, G_FILE_TEST_IS_REGULAR))
    why = "it is a file";
  else if (g_file_test (folder, G_FILE_TEST_IS_SYMLINK)
           && !g_file_test (folder, G_FILE_TEST_EXISTS))
    why = "it is a link to nothing";
  else
    why = make ? try_folder (folder) : judge_folder (folder);
  if (why != NULL)
    sl_fail (
      error, SL_ERROR_OPEN,
      "state %s: %s; expected a folder that this user can write to: make it, or name another one, "
      "or counts do not go on",
      folder, why);
  return why == NULL;
}

/* Names that differ have files that differ. */
char *
sl_keep_file (const char *folder, const char *name, const char *suffix)
{
  g_autoptr (GString) file = g_string_new (name);
  g_string_replace (file, "%", "%25", 0);
  g_string_replace (file, "/", "%2F", 0);
  g_string_append (file, suffix);
  return g_build_filename (folder, file->str, NULL);
}

void
sl_keep_open (SlKeep *keep, const char *name, const char *folder)
{
  g_free (keep->name);
  keep->name = g_strdup (name);
  if (folder == NULL || keep->path != NULL)
    return;
  keep->folder = g_strdup (folder);
  keep->path = sl_keep_file (folder, name, ".state");
  if (g_mkdir_with_parents (folder, 0700) != 0) {
    keep->trouble = g_strdup_printf ("%s: %s", folder, g_strerror (errno));
    tell_trouble (keep);
  } else {
    load (keep);
  }
  keep->saved = to_text (keep);
}

static gpointer
write_file (gpointer data)
{
  Job *job = data;
  g_autoptr (GError) error = NULL;
  if (g_mkdir_with_parents (job->keep->folder, 0700) != 0)
    job->keep->trouble = g_strdup_printf ("%s: %s", job->keep->folder, g_strerror (errno));
  else if (!g_file_set_contents_full (job->keep->path, job->text, -1,
                                      G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE,
                                      0600, &error))
    job->keep->trouble = g_strdup (error->message);
  g_atomic_int_set (&job->keep->written, TRUE);
  g_free (job->text);
  g_free (job);
  return NULL;
}

static void
join_writer (SlKeep *keep)
{
  if (keep->writer == NULL)
    return;
  g_thread_join (keep->writer);
  keep->writer = NULL;
  if (keep->trouble != NULL)
    g_clear_pointer (&keep->saved, g_free); /* tried again */
  tell_trouble (keep);
}

void
sl_keep_save (SlKeep *keep)
{
  if (keep->path == NULL || (keep->writer != NULL && !g_atomic_int_get (&keep->written)))
    return;
  join_writer (keep);
  g_autofree char *text = to_text (keep);
  if (g_strcmp0 (text, keep->saved) == 0)
    return;
  Job *job = g_new0 (Job, 1);
  job->keep = keep;
  job->text = g_strdup (text);
  g_free (keep->saved);
  keep->saved = g_steal_pointer (&text);
  g_atomic_int_set (&keep->written, FALSE);
  keep->writer = g_thread_new ("state", write_file, job);
}

void
sl_keep_tick (SlKeep *keep, GstElement *pipeline)
{
  if (keep->path == NULL || g_get_monotonic_time () - keep->collected < SAVE_US)
    return;
  sl_keep_collect (keep, pipeline);
  sl_keep_save (keep);
}

void
sl_keep_free (SlKeep *keep)
{
  join_writer (keep);
  sl_keep_save (keep);
  join_writer (keep);
  g_hash_table_unref (keep->values);
  g_free (keep->name);
  g_free (keep->folder);
  g_free (keep->path);
  g_free (keep->saved);
  g_free (keep);
}
