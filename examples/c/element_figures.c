/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * element_figures FILE.pipeline [NAME=VALUE...] ELEMENT.PROPERTY...: runs a description file, and
 * prints what its elements count, such as motion.stats, redact.stats or model.budget: each second,
 * and at the end.
 *
 *   cc element_figures.c -o element_figures $(pkg-config --cflags --libs sightline-pipeline-1.0)
 */
#include <sightline-pipeline.h>
#include <stdio.h>
#include <string.h>

typedef struct
{
  GMainLoop *loop;
  GHashTable *parameters;
  GPtrArray *names;    /* ELEMENT.PROPERTY */
  GPtrArray *elements; /* of each name */
  int status;
} App;

static const char *
property_of (const char *name)
{
  return strchr (name, '.') + 1;
}

/* A structure of GStreamer becomes text without its headers. */
static void
print_figures (App *app)
{
  for (guint i = 0; i < app->names->len; i++) {
    const char *name = g_ptr_array_index (app->names, i);
    g_auto (GValue) value = G_VALUE_INIT;
    g_object_get_property (g_ptr_array_index (app->elements, i), property_of (name), &value);
    g_autofree char *text = g_strdup_value_contents (&value);
    printf ("%s: %s\n", name, text);
  }
  fflush (stdout);
}

static void
on_stats (SlPipeline *pipeline, GVariant *stats, App *app)
{
  print_figures (app);
}

static void
on_error (SlPipeline *pipeline, GError *error, const char *element, App *app)
{
  fprintf (stderr, "element_figures: %s\n", error->message);
  app->status = 1;
}

static void
on_state_changed (SlPipeline *pipeline, SlPipelineState before, SlPipelineState state, App *app)
{
  if (state != SL_PIPELINE_STATE_ENDED && state != SL_PIPELINE_STATE_FAILED)
    return;
  print_figures (app);
  g_main_loop_quit (app->loop);
}

/* FALSE: an argument is neither. */
static gboolean
read_arguments (App *app, int argc, char **argv)
{
  for (int i = 2; i < argc; i++) {
    const char *equals = strchr (argv[i], '=');
    if (equals != NULL)
      g_hash_table_insert (app->parameters, g_strndup (argv[i], (gsize) (equals - argv[i])),
                           (gpointer) (equals + 1));
    else if (strchr (argv[i], '.') != NULL)
      g_ptr_array_add (app->names, argv[i]);
    else
      return FALSE;
  }
  return argc > 2 && app->names->len > 0;
}

static gboolean
find_elements (App *app, SlPipeline *pipeline, GError **error)
{
  for (guint i = 0; i < app->names->len; i++) {
    const char *name = g_ptr_array_index (app->names, i), *property = property_of (name);
    g_autofree char *own = g_strndup (name, (gsize) (property - name) - 1);
    GObject *element = sl_pipeline_dup_element (pipeline, own, error);
    if (element == NULL)
      return FALSE;
    g_ptr_array_add (app->elements, element);
    if (g_object_class_find_property (G_OBJECT_GET_CLASS (element), property) == NULL) {
      g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT, "%s: %s has no such property", name,
                   G_OBJECT_TYPE_NAME (element));
      return FALSE;
    }
  }
  return TRUE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (GHashTable) parameters = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (GPtrArray) elements = g_ptr_array_new_with_free_func (g_object_unref);
  App app = { loop, parameters, names, elements, 0 };
  if (!read_arguments (&app, argc, argv)) {
    fprintf (stderr, "usage: element_figures FILE.pipeline [NAME=VALUE...] ELEMENT.PROPERTY...\n");
    return 2;
  }
  g_autoptr (SlPipeline) pipeline = sl_pipeline_new_from_file (argv[1], parameters, &error);
  if (pipeline != NULL && find_elements (&app, pipeline, &error)) {
    g_object_set (pipeline, "stats-interval", 1000, NULL);
    g_signal_connect (pipeline, "stats", G_CALLBACK (on_stats), &app);
    g_signal_connect (pipeline, "error", G_CALLBACK (on_error), &app);
    g_signal_connect (pipeline, "state-changed", G_CALLBACK (on_state_changed), &app);
  }
  if (error != NULL || !sl_pipeline_start (pipeline, &error)) {
    fprintf (stderr, "element_figures: %s\n", error->message);
    return 1;
  }
  g_main_loop_run (loop);
  sl_pipeline_stop (pipeline);
  return app.status;
}
