/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What SlPipeline tells of zones and lines: the signal analysis-event, with and without a detail,
 * and how many wait for slow handlers.
 */
#include "sightline-pipeline.h"

#include "tests/predict/models.h"
#include "tests/support/program.h"

/* What analysis-event told: all events in a line, and those with the detail "left". */
typedef struct
{
  GMainLoop *loop;
  GString *all;
  guint n, left;
} Analysed;

static void
hear_event (SlPipeline *pipeline, const char *event, const char *region, GVariant *details,
            Analysed *heard)
{
  const char *element, *json, *label = "-";
  gint32 id = 0;
  gdouble seconds = -1;
  g_assert_true (g_variant_lookup (details, "element", "&s", &element));
  g_assert_true (g_variant_lookup (details, "json", "&s", &json));
  g_assert_cmpstr (element, ==, "analyze");
  g_assert_cmpint (json[0], ==, '{');
  g_variant_lookup (details, "label", "&s", &label);
  g_variant_lookup (details, "id", "i", &id);
  g_variant_lookup (details, "seconds", "d", &seconds);
  g_assert_true (g_variant_lookup (details, "timestamp", "t", NULL));
  g_string_append_printf (heard->all, "%s %s %s %d %.2f;", event, region != NULL ? region : "-",
                          label, id, seconds);
  heard->n++;
}

static void
hear_left (SlPipeline *pipeline, const char *event, const char *region, GVariant *details,
           Analysed *heard)
{
  g_assert_cmpstr (event, ==, "left");
  heard->left++;
}

static void
hear_end (SlPipeline *pipeline, SlPipelineState before, SlPipelineState state, Analysed *heard)
{
  if (state == SL_PIPELINE_STATE_ENDED)
    g_main_loop_quit (heard->loop);
}

/* Pushes @visits times ten frames with something, and ten without, 40 ms each, through @analyze,
 * and tells what was heard behind the end. */
static void
run_analysis (SlPipeline *pipeline, guint visits, Analysed *heard)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  heard->loop = loop;
  g_signal_connect (pipeline, "state-changed", G_CALLBACK (hear_end), heard);
  g_assert_true (sl_pipeline_start (pipeline, NULL));
  for (guint i = 0; i < 20 * visits; i++) {
    g_autoptr (SlFrame) frame = plain_frame (64, 48, 0, 0, i % 20 < 10 ? 255 : 0);
    sl_frame_set_timestamp (frame, i * G_GUINT64_CONSTANT (40000000));
    g_assert_true (sl_pipeline_push_frame (pipeline, frame, NULL));
  }
  g_assert_true (sl_pipeline_end_frames (pipeline, NULL));
  g_main_loop_run (loop);
}

static SlPipeline *
new_analysis (const char *regions)
{
  g_autoptr (GHashTable) table = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  g_autoptr (GError) error = NULL;
  g_autofree char *launch = g_strdup_printf (
    "appsrc name=source block=true ! slnormalize ! slinfer model=${model} ! slpostprocess ! "
    "sltrack ! slanalyze name=analyze patience=0.1 relink=-1 interval=0.4 regions=\"%s\" ! "
    "fakesink",
    regions);
  g_hash_table_insert (table, (gpointer) "model", tiny_model ("one_box.tflite"));
  SlPipeline *pipeline = sl_pipeline_new_from_string (launch, table, &error);
  g_assert_no_error (error);
  return pipeline;
}

/* Somebody is in a zone from 0 to 0.36 s, which is known two frames later, and stays unseen for 0.1
 * s; the box stands at (0.25, 0.75). */
static void
test_analysis_events (void)
{
  g_autoptr (SlPipeline) pipeline = new_analysis (
    "[zone left] points=0,0.5 0.5,0.5 0.5,1 0,1; dwell-after=200ms; empty-after=200ms; [line way] "
    "points=0,0.5 1,0.5");
  Analysed heard = { .all = g_string_new (NULL) };
  g_signal_connect (pipeline, "analysis-event", G_CALLBACK (hear_event), &heard);
  g_signal_connect (pipeline, "analysis-event::left", G_CALLBACK (hear_left), &heard);
  g_signal_connect (pipeline, "analysis-event::nothing", G_CALLBACK (hear_left), &heard);
  run_analysis (pipeline, 1, &heard);
  g_assert_cmpstr (
    heard.all->str, ==,
    "entered left blue 1 -1.00;dwell left blue 1 0.20;interval - - 0 -1.00;left left blue 1 "
    "0.36;empty left - 0 0.20;");
  g_assert_cmpuint (heard.left, ==, 1);
  g_string_free (heard.all, TRUE);
}

/* Who listens to one event alone hears that; of more events than are kept the newest, and all
 * changes of state. */
static void
test_analysis_events_bounded (void)
{
  GString *regions = g_string_new (NULL);
  Analysed heard = { .all = g_string_new (NULL) };
  guint64 dropped;
  for (guint i = 0; i < 64; i++)
    g_string_append_printf (regions, "[zone %u] points=0,0.5 0.5,0.5 0.5,1 0,1; ", i);
  g_autoptr (SlPipeline) pipeline = new_analysis (regions->str);
  g_signal_connect (pipeline, "analysis-event::left", G_CALLBACK (hear_left), &heard);
  run_analysis (pipeline, 6, &heard);
  g_autoptr (GVariant) stats = sl_pipeline_get_stats (pipeline);
  g_assert_true (g_variant_lookup (stats, "analysis-events-dropped", "t", &dropped));
  g_assert_cmpuint (heard.left, ==, 256);
  g_assert_cmpuint (dropped, ==, 6 * 64 - 256);
  g_string_free (heard.all, TRUE);
  g_string_free (regions, TRUE);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/slpipeline/analysis-events", test_analysis_events);
  g_test_add_func ("/slpipeline/analysis-events-bounded", test_analysis_events_bounded);
  return g_test_run ();
}
