/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * run_pipeline FILE.pipeline [NAME=VALUE...]: a pipeline from a description file, its predictions
 * as signals of a main loop, until it ends or fails.
 *
 *   cc run_pipeline.c -o run_pipeline $(pkg-config --cflags --libs sightline-pipeline-1.0)
 */
#include <sightline-pipeline.h>
#include <stdio.h>
#include <string.h>

typedef struct
{
  GMainLoop *loop;
  int status;
} App;

static void
on_predictions (SlPipeline *pipeline, SlPredictions *predictions, gpointer data)
{
  g_autofree char *json = sl_predictions_to_json (predictions);
  puts (json);
}

static void
on_error (SlPipeline *pipeline, GError *error, const char *element, App *app)
{
  fprintf (stderr, "run_pipeline: %s\n", error->message);
  app->status = 1;
}

static void
on_state_changed (SlPipeline *pipeline, SlPipelineState before, SlPipelineState state, App *app)
{
  if (state == SL_PIPELINE_STATE_ENDED || state == SL_PIPELINE_STATE_FAILED)
    g_main_loop_quit (app->loop);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) parameters = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if (argc < 2) {
    fprintf (stderr, "usage: run_pipeline FILE.pipeline [NAME=VALUE...]\n");
    return 2;
  }
  for (int i = 2; i < argc; i++) {
    const char *equals = strchr (argv[i], '=');
    if (equals != NULL)
      g_hash_table_insert (parameters, g_strndup (argv[i], (gsize) (equals - argv[i])),
                           (gpointer) (equals + 1));
  }
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  App app = { loop, 0 };
  g_autoptr (SlPipeline) pipeline = sl_pipeline_new_from_file (argv[1], parameters, &error);
  if (pipeline != NULL) {
    g_signal_connect (pipeline, "predictions", G_CALLBACK (on_predictions), NULL);
    g_signal_connect (pipeline, "error", G_CALLBACK (on_error), &app);
    g_signal_connect (pipeline, "state-changed", G_CALLBACK (on_state_changed), &app);
  }
  if (pipeline == NULL || !sl_pipeline_start (pipeline, &error)) {
    fprintf (stderr, "run_pipeline: %s\n", error->message);
    return 1;
  }
  g_main_loop_run (loop);
  sl_pipeline_stop (pipeline);
  return app.status;
}
