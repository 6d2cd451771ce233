/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A row for each file of each slinfer. Setting the property model makes the element load the model
 * again in the background, also if the value is the same. */
#include "tools/run/model_files.h"

#include <string.h>

#include "core/graph/file_image.h"
#include "models/model.h"
#include "pipelines/description/build.h"

typedef struct
{
  GstElement *infer;
  char *path;
  SlFileStamp stamp;
} File;

struct _SlRunModels
{
  GstElement *pipeline;
  GArray *files; /* of File: those that are there, or were */
};

static void
file_clear (gpointer data)
{
  File *file = data;
  gst_object_unref (file->infer);
  g_free (file->path);
}

static void
add_file (GArray *files, GstElement *infer, const char *path)
{
  File file;
  if (!sl_file_stamp_read (path, &file.stamp))
    return;
  file.infer = gst_object_ref (infer);
  file.path = g_strdup (path);
  g_array_append_val (files, file);
}

static void
add_infer (GArray *files, GstElement *infer)
{
  g_autofree char *model = NULL, *labels = NULL;
  g_object_get (infer, "model", &model, "labels", &labels, NULL);
  g_auto (GStrv) paths = sl_model_files (model);
  for (guint i = 0; paths[i] != NULL; i++)
    add_file (files, infer, paths[i]);
  if (labels != NULL)
    add_file (files, infer, labels);
}

static GArray *
find_files (GstElement *pipeline)
{
  GArray *files = g_array_new (FALSE, FALSE, sizeof (File));
  g_array_set_clear_func (files, file_clear);
  g_autoptr (GPtrArray) infers = sl_find_elements (pipeline, "slinfer");
  for (guint i = 0; i < infers->len; i++)
    add_infer (files, g_ptr_array_index (infers, i));
  return files;
}

SlRunModels *
sl_run_models_new (GstElement *pipeline)
{
  SlRunModels *models = g_new0 (SlRunModels, 1);
  models->pipeline = pipeline;
  models->files = find_files (pipeline);
  return models;
}

void
sl_run_models_free (SlRunModels *models)
{
  if (models == NULL)
    return;
  g_array_unref (models->files);
  g_free (models);
}

/* (nullable): the row of @files for the element and the path of @file. */
static const File *
find (const GArray *files, const File *file)
{
  for (guint i = 0; i < files->len; i++) {
    const File *listed = &g_array_index (files, File, i);
    if (listed->infer == file->infer && strcmp (listed->path, file->path) == 0)
      return listed;
  }
  return NULL;
}

/* Adds the files of @before that are gone to @files, as they were, and names them. */
static char *
keep_missing (const GArray *before, GArray *files)
{
  GString *names = g_string_new (NULL);
  for (guint i = 0; i < before->len; i++) {
    File file = g_array_index (before, File, i);
    if (find (files, &file) != NULL)
      continue;
    g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", file.path);
    gst_object_ref (file.infer);
    file.path = g_strdup (file.path);
    g_array_append_val (files, file);
  }
  return g_string_free (names, FALSE);
}

char *
sl_run_models_reload (SlRunModels *models, char **missing)
{
  g_autoptr (GArray) before = g_steal_pointer (&models->files);
  g_autoptr (GPtrArray) elements = g_ptr_array_new ();
  GString *names = g_string_new (NULL);
  models->files = find_files (models->pipeline);
  for (guint i = 0; i < models->files->len; i++) {
    const File *file = &g_array_index (models->files, File, i);
    const File *known = find (before, file);
    if (known != NULL && sl_file_stamp_same_content (&known->stamp, &file->stamp))
      continue;
    g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", file->path);
    if (!g_ptr_array_find (elements, file->infer, NULL))
      g_ptr_array_add (elements, file->infer);
  }
  for (guint i = 0; i < elements->len; i++) {
    g_autofree char *model = NULL;
    g_object_get (elements->pdata[i], "model", &model, NULL);
    g_object_set (elements->pdata[i], "model", model, NULL);
  }
  *missing = keep_missing (before, models->files);
  return g_string_free (names, FALSE);
}
