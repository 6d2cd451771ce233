/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlPipeline through its public interface, with and without a main loop: what comes out, in which
 * thread, in which order, and what is said when something goes wrong. Answers follow from the
 * pictures; GStreamer's own elements make these and the errors.
 */
#include "sightline-pipeline.h"

#include <glib/gstdio.h>

#include "tests/predict/models.h"
#include "tests/support/program.h"

#define SECOND G_USEC_PER_SEC
#define CHAIN "slnormalize ! slinfer model=${model} ! slpostprocess name=results"
#define BLUE                                                                              \
  "videotestsrc pattern=blue num-buffers=%d ! video/x-raw,format=RGB,width=64,height=48," \
  "framerate=100/1 ! "

static GHashTable *
parameters (const char *model)
{
  GHashTable *table = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  g_hash_table_insert (table, (gpointer) "model", tiny_model (model));
  return table;
}

static SlPipeline *
new_pipeline (const char *launch)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) table = parameters ("brightest_channel.tflite");
  SlPipeline *pipeline = sl_pipeline_new_from_string (launch, table, &error);
  g_assert_no_error (error);
  return pipeline;
}

static SlPipeline *
blue_pipeline (gint frames, const char *sink)
{
  g_autofree char *launch = g_strdup_printf (BLUE CHAIN " ! %s", frames, sink);
  return new_pipeline (launch);
}

static void
start (SlPipeline *pipeline)
{
  g_autoptr (GError) error = NULL;
  sl_pipeline_start (pipeline, &error);
  g_assert_no_error (error);
}

static void
wait_for_state (SlPipeline *pipeline, SlPipelineState state)
{
  for (guint i = 0; i < 100000 && sl_pipeline_get_state (pipeline) != state; i++)
    g_usleep (1000);
  g_assert_cmpint (sl_pipeline_get_state (pipeline), ==, state);
}

static void
assert_blue (SlPredictions *p)
{
  g_assert_cmpuint (sl_test_length (sl_predictions_get_labels (p)), ==, 1);
  g_assert_cmpstr (sl_label_get_name (sl_predictions_get_labels (p)[0]), ==, "blue");
  g_assert_cmpfloat_with_epsilon (sl_label_get_confidence (sl_predictions_get_labels (p)[0]), 1,
                                  0.02);
}

/* Every frame, in order, without a main loop; twice, and from a bin that ends in video as well as
 * from one that ends in text. */
static void
test_pull (void)
{
  const char *const sinks[] = { "fakesink", "text/x-raw ! fakesink",
                                "application/x-json ! fakesink" };
  for (guint i = 0; i < G_N_ELEMENTS (sinks); i++) {
    g_autoptr (SlPipeline) pipeline = blue_pipeline (20, sinks[i]);
    g_object_set (pipeline, "max-predictions", 100u, NULL);
    for (guint run = 0; run < 2; run++) {
      guint n = 0;
      g_autoptr (GError) error = NULL;
      SlPredictions *p;
      start (pipeline);
      while ((p = sl_pipeline_pull_predictions (pipeline, 100 * SECOND, &error)) != NULL) {
        assert_blue (p);
        g_assert_cmpuint (sl_predictions_get_frame_number (p), ==, n);
        g_assert_cmpuint (sl_predictions_get_timestamp (p), ==, n * G_GUINT64_CONSTANT (10000000));
        gint64 age;
        g_assert_true (sl_predictions_get_latency (p, &age, NULL, NULL, NULL));
        g_assert_cmpint (age, >=, 0);
        sl_predictions_unref (p);
        n++;
      }
      g_assert_no_error (error);
      g_assert_cmpuint (n, ==, 20);
      g_assert_cmpint (sl_pipeline_get_state (pipeline), ==, SL_PIPELINE_STATE_ENDED);
    }
  }
}

/* Nobody takes the predictions: the newest are kept, the others counted. */
static void
test_newest_wins (void)
{
  g_autoptr (SlPipeline) pipeline = blue_pipeline (20, "fakesink");
  g_object_set (pipeline, "max-predictions", 3u, NULL);
  start (pipeline);
  wait_for_state (pipeline, SL_PIPELINE_STATE_ENDED);
  for (guint i = 17; i < 20; i++) {
    g_autoptr (SlPredictions) p = sl_pipeline_pull_predictions (pipeline, 0, NULL);
    g_assert_cmpuint (sl_predictions_get_frame_number (p), ==, i);
  }
  g_assert_null (sl_pipeline_pull_predictions (pipeline, 0, NULL));
  g_autoptr (GVariant) stats = sl_pipeline_get_stats (pipeline);
  guint64 predictions, dropped;
  gint64 age;
  const char *state;
  g_assert_true (g_variant_lookup (stats, "predictions", "t", &predictions));
  g_assert_true (g_variant_lookup (stats, "predictions-dropped", "t", &dropped));
  g_assert_true (g_variant_lookup (stats, "age-p95", "x", &age));
  g_assert_true (g_variant_lookup (stats, "state", "&s", &state));
  g_assert_cmpuint (predictions, ==, 20);
  g_assert_cmpuint (dropped, ==, 17);
  g_assert_cmpint (age, >=, 0);
  g_assert_cmpstr (state, ==, "ended");
}

/* What signals said, and in which thread. */
typedef struct
{
  GMainLoop *loop;
  GThread *thread;
  guint predictions, errors, stats;
  GString *states;
  char *element, *message;
} Heard;

static void
hear_predictions (SlPipeline *pipeline, SlPredictions *predictions, Heard *heard)
{
  g_assert_true (g_thread_self () == heard->thread);
  assert_blue (predictions);
  heard->predictions++;
}

static void
hear_state (SlPipeline *pipeline, SlPipelineState before, SlPipelineState state, Heard *heard)
{
  g_autoptr (GEnumClass) names = g_type_class_ref (SL_TYPE_PIPELINE_STATE);
  g_assert_true (g_thread_self () == heard->thread);
  g_string_append_printf (heard->states, "%s>%s ", g_enum_get_value (names, before)->value_nick,
                          g_enum_get_value (names, state)->value_nick);
  if (state == SL_PIPELINE_STATE_ENDED || state == SL_PIPELINE_STATE_FAILED)
    g_main_loop_quit (heard->loop);
}

static void
hear_error (SlPipeline *pipeline, GError *error, const char *element, Heard *heard)
{
  g_assert_true (g_thread_self () == heard->thread);
  heard->errors++;
  heard->message = g_strdup (error->message);
  heard->element = g_strdup (element);
}

static void
hear_stats (SlPipeline *pipeline, GVariant *stats, Heard *heard)
{
  g_assert_true (g_variant_is_of_type (stats, G_VARIANT_TYPE_VARDICT));
  heard->stats++;
}

static void
listen (Heard *heard, SlPipeline *pipeline, GMainContext *context)
{
  *heard = (Heard){ .loop = g_main_loop_new (context, FALSE),
                    .thread = g_thread_self (),
                    .states = g_string_new (NULL) };
  g_signal_connect (pipeline, "predictions", G_CALLBACK (hear_predictions), heard);
  g_signal_connect (pipeline, "state-changed", G_CALLBACK (hear_state), heard);
  g_signal_connect (pipeline, "error", G_CALLBACK (hear_error), heard);
  g_signal_connect (pipeline, "stats", G_CALLBACK (hear_stats), heard);
}

static void
heard_clear (Heard *heard)
{
  g_main_loop_unref (heard->loop);
  g_string_free (heard->states, TRUE);
  g_free (heard->element);
  g_free (heard->message);
}

/* In a thread with a context of its own, which the default context knows nothing of. */
static gpointer
run_with_context (gpointer data)
{
  g_autoptr (GMainContext) context = g_main_context_new ();
  Heard heard;
  g_main_context_push_thread_default (context);
  SlPipeline *pipeline = blue_pipeline (10, "fakesink");
  g_object_set (pipeline, "max-predictions", 100u, "stats-interval", 1u, NULL);
  listen (&heard, pipeline, context);
  start (pipeline);
  g_main_loop_run (heard.loop);
  g_assert_cmpuint (heard.predictions, ==, 10);
  g_assert_cmpuint (heard.errors, ==, 0);
  g_assert_cmpstr (heard.states->str, ==, "stopped>starting starting>running running>ended ");
  for (guint i = 0; i < 100000 && heard.stats == 0; i++)
    g_main_context_iteration (context, TRUE);
  g_assert_cmpuint (heard.stats, >, 0);
  sl_pipeline_stop (pipeline);
  g_object_unref (pipeline);
  heard_clear (&heard);
  g_main_context_pop_thread_default (context);
  return NULL;
}

static void
test_signals (void)
{
  g_thread_join (g_thread_new ("application", run_with_context, NULL));
}

/* An element that fails after some frames; then the pipeline is started again. */
static void
test_failure (void)
{
  g_autoptr (SlPipeline) pipeline = new_pipeline (
    "videotestsrc pattern=blue num-buffers=20 ! video/x-raw,format=RGB ! identity name=fragile "
    "error-after=5 ! " CHAIN " ! fakesink");
  GError *error = NULL;
  Heard heard;
  listen (&heard, pipeline, NULL);
  start (pipeline);
  g_main_loop_run (heard.loop);
  g_assert_cmpuint (heard.errors, ==, 1);
  g_assert_cmpstr (heard.element, ==, "fragile");
  g_assert_true (g_str_has_prefix (heard.message, "fragile: "));
  g_assert_true (g_str_has_suffix (heard.states->str, ">failed "));
  g_signal_handlers_disconnect_by_data (pipeline, &heard);
  while (sl_pipeline_pull_predictions (pipeline, SECOND, &error) != NULL)
    ;
  g_assert_nonnull (error);
  g_assert_true (g_str_has_prefix (error->message, "fragile: "));
  g_clear_error (&error);
  start (pipeline);
  g_autoptr (SlPredictions) again = sl_pipeline_pull_predictions (pipeline, 100 * SECOND, &error);
  g_assert_no_error (error);
  assert_blue (again);
  heard_clear (&heard);
}

typedef struct
{
  GMainLoop *loop;
  guint errors;
} Restarter;

static gboolean
start_again (gpointer pipeline)
{
  return sl_pipeline_start (pipeline, NULL) ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE;
}

static void
restart_or_quit (SlPipeline *pipeline, GError *error, const char *element, Restarter *restarter)
{
  if (++restarter->errors == 3)
    g_main_loop_quit (restarter->loop);
  else
    g_timeout_add_full (G_PRIORITY_DEFAULT, 10, start_again, g_object_ref (pipeline),
                        g_object_unref);
}

/* As docs/embedding.md shows it; what the description says of restarts does nothing. */
static void
test_starts_again (void)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) table = parameters ("brightest_channel.tflite");
  g_autoptr (SlPipeline) pipeline = sl_pipeline_new_from_string (
    "[pipeline]\nrestart=always\nbackoff-min=1ms\nlaunch=videotestsrc ! video/x-raw,format=RGB ! "
    "identity error-after=5 ! " CHAIN " ! fakesink\n[parameter model]\ntype=path\n",
    table, &error);
  g_assert_no_error (error);
  Restarter restarter = { loop, 0 };
  g_signal_connect (pipeline, "error", G_CALLBACK (restart_or_quit), &restarter);
  start (pipeline);
  g_main_loop_run (loop);
  g_usleep (100000);
  g_assert_cmpint (sl_pipeline_get_state (pipeline), ==, SL_PIPELINE_STATE_FAILED);
  g_signal_handlers_disconnect_by_data (pipeline, &restarter);
}

/* Where a failure is started: the error is returned, not told as well. */
static void
test_start_failure (void)
{
  g_autoptr (GHashTable) table = parameters ("missing.tflite");
  GError *error = NULL;
  g_autoptr (SlPipeline) pipeline =
    sl_pipeline_new_from_string ("videotestsrc ! " CHAIN " ! fakesink", table, &error);
  Heard heard;
  g_assert_no_error (error);
  listen (&heard, pipeline, NULL);
  g_assert_false (sl_pipeline_start (pipeline, &error));
  g_assert_nonnull (strstr (error->message, "missing.tflite"));
  g_clear_error (&error);
  g_main_loop_run (heard.loop);
  g_assert_cmpuint (heard.errors, ==, 0);
  g_assert_cmpstr (heard.states->str, ==, "stopped>starting starting>failed ");
  g_autofree char *good = tiny_model ("brightest_channel.tflite");
  g_assert_true (sl_pipeline_set_parameter (pipeline, "model", good, &error));
  start (pipeline);
  wait_for_state (pipeline, SL_PIPELINE_STATE_RUNNING);
  heard_clear (&heard);
  g_signal_handlers_disconnect_by_data (pipeline, &heard);
}

static void
expect_new (const char *text, GHashTable *table, const char *message)
{
  GError *error = NULL;
  g_assert_null (sl_pipeline_new_from_string (text, table, &error));
  g_assert_nonnull (error);
  if (strstr (error->message, message) == NULL)
    g_error ("expected '%s' in '%s'", message, error->message);
  g_clear_error (&error);
}

static void
test_bad_descriptions (void)
{
  g_autoptr (GHashTable) table = parameters ("one_box.tflite");
  GError *error = NULL;
  expect_new ("videotestsrc ! nosuchelement ! fakesink", NULL, "nosuchelement");
  expect_new ("videotestsrc ! " CHAIN " ! fakesink", NULL, "'model'");
  expect_new ("videotestsrc ! fakesink nosuch=1", NULL, "nosuch");
  expect_new ("", NULL, "launch");
  expect_new ("[pipeline]\nlaunch=fakesrc ! fakesink\nlunch=1\n", NULL, "lunch");
  expect_new ("[pipeline]\nlaunch=fakesrc ! fakesink\n", table, "model");
  g_assert_null (sl_pipeline_new_from_file ("/nowhere/x.pipeline", NULL, &error));
  expect_message (&error, SL_ERROR_OPEN, "/nowhere/x.pipeline");
}

static SlFrame *
camera_frame (guint width, guint height, guint8 luma)
{
  const gsize n = sl_frame_packed_size ("NV12", width, height);
  guint8 *bytes = g_malloc (n);
  memset (bytes, 128, n);
  memset (bytes, luma, (gsize) width * height);
  g_autoptr (GBytes) data = g_bytes_new_take (bytes, n);
  return sl_frame_new ("NV12", width, height, data, NULL);
}

static SlPredictions *
pull (SlPipeline *pipeline)
{
  g_autoptr (GError) error = NULL;
  SlPredictions *p = sl_pipeline_pull_predictions (pipeline, 100 * SECOND, &error);
  g_assert_no_error (error);
  g_assert_nonnull (p);
  return p;
}

/* Frames of changing size, in memory of every kind, waited for: what comes back is that of
 * SlPredictor for the same frame. */
static void
test_push (void)
{
  g_autoptr (SlPipeline) pipeline =
    new_pipeline ("appsrc name=source block=true ! " CHAIN " ! fakesink");
  g_autofree char *model = tiny_model ("brightest_channel.tflite");
  g_autoptr (SlPredictor) predictor = sl_predictor_new (model, NULL);
  GError *error = NULL;
  start (pipeline);
  for (guint i = 0; i < 12; i++) {
    g_autoptr (SlFrame) whole = camera_frame (20 + 3 * (i / 2), 11 + i / 2, (guint8) (40 + 15 * i));
    const guint8 *planes[2];
    gssize strides[2];
    gsize sizes[2], bytes;
    guint rows;
    for (guint k = 0; k < 2; k++) {
      planes[k] = sl_frame_get_plane (whole, k, &strides[k], &bytes, &rows);
      sizes[k] = (gsize) strides[k] * rows;
    }
    g_autoptr (SlFrame) parts =
      sl_frame_new_for_planes ("NV12", sl_frame_get_width (whole), sl_frame_get_height (whole),
                               planes, strides, sizes, 2, &error);
    g_assert_no_error (error);
    SlFrame *frame = i % 2 == 0 ? whole : parts;
    sl_frame_set_timestamp (frame, 1000 * i);
    sl_frame_set_colorimetry (frame, SL_FRAME_MATRIX_AUTO, i % 3 == 0);
    g_assert_true (sl_pipeline_push_frame (pipeline, frame, &error));
    g_autoptr (SlPredictions) p = pull (pipeline);
    g_autoptr (SlPredictions) q = sl_predictor_predict (predictor, frame, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_predictions_get_width (p), ==, sl_frame_get_width (frame));
    g_assert_cmpuint (sl_predictions_get_timestamp (p), ==, 1000 * i);
    g_assert_cmpfloat (sl_label_get_confidence (sl_predictions_get_labels (p)[0]), ==,
                       sl_label_get_confidence (sl_predictions_get_labels (q)[0]));
  }
  g_assert_true (sl_pipeline_end_frames (pipeline, &error));
  g_assert_null (sl_pipeline_pull_predictions (pipeline, -1, &error));
  g_assert_no_error (error);
  g_assert_cmpint (sl_pipeline_get_state (pipeline), ==, SL_PIPELINE_STATE_ENDED);
}

/* A picture stored upside down goes through a pipeline, too: the box model does not care, the
 * numbers must not change. */
static void
test_push_upside_down (void)
{
  g_autoptr (SlPipeline) pipeline = new_pipeline ("appsrc ! " CHAIN " ! fakesink");
  guint8 rows[4 * 16];
  memset (rows, 99, sizeof rows);
  for (guint y = 0; y < 4; y++)
    for (guint x = 0; x < 12; x++)
      rows[16 * y + x] = x % 3 == 0 ? 204 : 0;
  g_autoptr (GBytes) data = g_bytes_new (rows, sizeof rows);
  g_autoptr (SlFrame) frame = sl_frame_new_with_layout ("BGR", 4, 4, data, (const gsize[]){ 48 },
                                                        (const gssize[]){ -16 }, 1, NULL);
  start (pipeline);
  g_assert_true (sl_pipeline_push_frame (pipeline, frame, NULL));
  g_autoptr (SlPredictions) p = pull (pipeline);
  g_assert_cmpstr (sl_label_get_name (sl_predictions_get_labels (p)[0]), ==, "blue");
  g_assert_cmpfloat_with_epsilon (sl_label_get_confidence (sl_predictions_get_labels (p)[0]), 0.8,
                                  0.005);
}

#define GATE "identity name=gate signal-handoffs=true"

static void
wait_at_gate (GObject *element, gpointer buffer, GMutex *gate)
{
  g_mutex_lock (gate);
  g_mutex_unlock (gate);
}

/* Frames wait at the GATE of @pipeline, which has not been started yet, until @gate is unlocked. */
static void
close_gate (SlPipeline *pipeline, GMutex *gate)
{
  g_autoptr (GObject) element = sl_pipeline_dup_element (pipeline, "gate", NULL);
  g_mutex_init (gate);
  g_mutex_lock (gate);
  g_signal_connect (element, "handoff", G_CALLBACK (wait_at_gate), gate);
}

/* Faster than the pipeline: every frame is either predicted on or counted. */
static void
test_push_displaces (void)
{
  g_autoptr (SlPipeline) pipeline =
    new_pipeline ("appsrc name=source ! " GATE " ! " CHAIN " ! fakesink");
  g_autoptr (SlFrame) frame = camera_frame (16, 16, 100);
  guint64 pushed, displaced, predictions;
  GMutex gate;
  close_gate (pipeline, &gate);
  start (pipeline);
  for (guint i = 0; i < 30; i++)
    g_assert_true (sl_pipeline_push_frame (pipeline, frame, NULL));
  g_assert_true (sl_pipeline_end_frames (pipeline, NULL));
  g_mutex_unlock (&gate);
  wait_for_state (pipeline, SL_PIPELINE_STATE_ENDED);
  g_autoptr (GVariant) stats = sl_pipeline_get_stats (pipeline);
  g_assert_true (g_variant_lookup (stats, "frames-pushed", "t", &pushed));
  g_assert_true (g_variant_lookup (stats, "frames-displaced", "t", &displaced));
  g_assert_true (g_variant_lookup (stats, "predictions", "t", &predictions));
  g_assert_cmpuint (pushed, ==, 30);
  g_assert_cmpuint (displaced, >, 20);
  g_assert_cmpuint (predictions + displaced, ==, 30);
  sl_pipeline_stop (pipeline);
  g_mutex_clear (&gate);
}

static void
test_push_errors (void)
{
  g_autoptr (SlPipeline) none = blue_pipeline (-1, "fakesink");
  g_autoptr (SlPipeline) some = new_pipeline ("appsrc ! " GATE " ! " CHAIN " ! fakesink");
  g_autoptr (SlFrame) frame = camera_frame (4, 4, 100);
  GError *error = NULL;
  GMutex gate;
  close_gate (some, &gate);
  g_assert_false (sl_pipeline_push_frame (some, frame, &error));
  expect_message (&error, SL_ERROR_ARGUMENT,
                  "frames can be pushed while a pipeline runs; this one is stopped");
  start (none);
  g_assert_false (sl_pipeline_push_frame (none, frame, &error));
  expect_message (&error, SL_ERROR_ARGUMENT, "takes no frames from the application");
  g_assert_false (sl_pipeline_end_frames (none, &error));
  expect_message (&error, SL_ERROR_ARGUMENT, "takes no frames from the application");
  g_assert_false (sl_pipeline_set_parameter (none, "model", "x", &error));
  expect_message (&error, SL_ERROR_ARGUMENT, "parameter model: the pipeline runs; stop it before");
  start (some);
  g_assert_true (
    sl_pipeline_push_frame (some, frame, &error)); /* on its way when the next ones come */
  g_assert_true (sl_pipeline_end_frames (some, &error));
  g_assert_false (sl_pipeline_push_frame (some, frame, &error));
  expect_message (&error, SL_ERROR_ARGUMENT, "the frame was not taken");
  g_mutex_unlock (&gate);
  wait_for_state (some, SL_PIPELINE_STATE_ENDED);
  g_assert_false (sl_pipeline_push_frame (some, frame, &error));
  expect_message (&error, SL_ERROR_ARGUMENT, "this one is ended");
  sl_pipeline_stop (some);
  g_mutex_clear (&gate);
}

typedef struct
{
  SlPipeline *pipeline;
  guint taken;
} Pusher;

static gpointer
push_for_ever (gpointer data)
{
  Pusher *pusher = data;
  g_autoptr (SlFrame) frame = camera_frame (16, 16, 100);
  while (sl_pipeline_push_frame (pusher->pipeline, frame, NULL))
    pusher->taken++;
  return NULL;
}

/* A push that waits for room is let go when the pipeline stops. */
static void
test_stop_while_pushing (void)
{
  g_autoptr (SlPipeline) pipeline =
    new_pipeline ("appsrc block=true ! identity sleep-time=50000 ! " CHAIN " ! fakesink");
  Pusher pusher = { pipeline, 0 };
  start (pipeline);
  GThread *thread = g_thread_new ("pusher", push_for_ever, &pusher);
  sl_predictions_unref (pull (pipeline));
  sl_pipeline_stop (pipeline);
  g_thread_join (thread);
  g_assert_cmpuint (pusher.taken, >=, 1);
  g_assert_cmpint (sl_pipeline_get_state (pipeline), ==, SL_PIPELINE_STATE_STOPPED);
}

static gpointer
stop_soon (gpointer pipeline)
{
  g_usleep (50000);
  sl_pipeline_stop (pipeline);
  return NULL;
}

/* Who waits for ever for predictions wakes up when there will be none. */
static void
test_pull_ends (void)
{
  g_autoptr (SlPipeline) pipeline = new_pipeline ("appsrc ! " CHAIN " ! fakesink");
  GError *error = NULL;
  g_assert_null (sl_pipeline_pull_predictions (pipeline, -1, &error));
  start (pipeline);
  g_assert_null (sl_pipeline_pull_predictions (pipeline, 1000, &error));
  GThread *thread = g_thread_new ("stopper", stop_soon, pipeline);
  g_assert_null (sl_pipeline_pull_predictions (pipeline, -1, &error));
  g_thread_join (thread);
  g_assert_no_error (error);
}

static void
test_pause (void)
{
  g_autoptr (SlPipeline) pipeline = blue_pipeline (-1, "fakesink sync=true");
  g_autoptr (GError) error = NULL;
  g_assert_true (sl_pipeline_pause (pipeline, &error));
  wait_for_state (pipeline, SL_PIPELINE_STATE_PAUSED);
  start (pipeline);
  wait_for_state (pipeline, SL_PIPELINE_STATE_RUNNING);
  start (pipeline);
  g_assert_true (sl_pipeline_pause (pipeline, &error));
  wait_for_state (pipeline, SL_PIPELINE_STATE_PAUSED);
  sl_pipeline_stop (pipeline);
  sl_pipeline_stop (pipeline);
  g_assert_cmpint (sl_pipeline_get_state (pipeline), ==, SL_PIPELINE_STATE_STOPPED);
}

/* Two models in a row: the last one tells what was found, once a frame. */
static void
test_last_emits (void)
{
  g_autofree char *box = tiny_model ("one_box.tflite");
  g_autofree char *launch = g_strdup_printf (
    BLUE "slnormalize ! slinfer model=%s ! slpostprocess ! video/x-raw ! queue ! " CHAIN
         " ! fakesink",
    5, box);
  g_autoptr (SlPipeline) pipeline = new_pipeline (launch);
  g_object_set (pipeline, "max-predictions", 100u, NULL);
  start (pipeline);
  for (guint i = 0; i < 5; i++) {
    g_autoptr (SlPredictions) p = pull (pipeline);
    assert_blue (p);
  }
  g_assert_null (sl_pipeline_pull_predictions (pipeline, 100 * SECOND, NULL));
}

/* A tracker behind the model: its predictions, which have ids, are the ones told. */
static void
test_tracker_emits (void)
{
  g_autoptr (GHashTable) table = parameters ("one_box.tflite");
  g_autoptr (GError) error = NULL;
  g_autofree char *launch = g_strdup_printf (BLUE CHAIN " ! sltrack ! fakesink", 5);
  g_autoptr (SlPipeline) pipeline = sl_pipeline_new_from_string (launch, table, &error);
  g_assert_no_error (error);
  g_object_set (pipeline, "max-predictions", 100u, NULL);
  start (pipeline);
  for (guint i = 0; i < 5; i++) {
    g_autoptr (SlPredictions) p = pull (pipeline);
    gint64 age;
    g_assert_cmpuint (sl_predictions_get_frame_number (p), ==, i);
    g_assert_cmpuint (sl_predictions_get_timestamp (p), ==, i * G_GUINT64_CONSTANT (10000000));
    g_assert_cmpuint (sl_predictions_get_n_objects (p), ==, 1);
    g_assert_cmpint (sl_object_get_track_id (sl_predictions_get_object (p, 0)), ==, 1);
    g_assert_true (sl_predictions_get_latency (p, &age, NULL, NULL, NULL));
  }
  g_assert_null (sl_pipeline_pull_predictions (pipeline, 100 * SECOND, NULL));
}

static void
test_file (void)
{
  const char *text =
    "[pipeline]\n"
    "launch=videotestsrc pattern=blue num-buffers=3 ! video/x-raw,format=RGB ! slnormalize ! "
    "slinfer model=${model} !\\\n"
    "  slpostprocess name=results ! fakesink\n"
    "[parameters]\n"
    "model=\n"
    "top=1\n"
    "[element results]\n"
    "top-k=${top}\n";
  g_autofree char *folder = g_dir_make_tmp ("pipelineXXXXXX", NULL),
                  *path = g_build_filename (folder, "blue.pipeline", NULL);
  g_autoptr (GHashTable) table = parameters ("brightest_channel.tflite");
  GError *error = NULL;
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_autoptr (SlPipeline) pipeline = sl_pipeline_new_from_file (path, table, &error);
  g_assert_no_error (error);
  g_auto (GStrv) names = sl_pipeline_list_parameters (pipeline);
  g_assert_cmpstrv (names, ((const char *const[]){ "model", "top", NULL }));
  g_assert_false (sl_pipeline_set_parameter (pipeline, "botom", "2", &error));
  g_assert_nonnull (strstr (error->message, "botom"));
  g_clear_error (&error);
  g_assert_true (sl_pipeline_set_parameter (pipeline, "top", "2", &error));
  g_autofree char *top = sl_pipeline_dup_parameter (pipeline, "top");
  g_assert_cmpstr (top, ==, "2");
  g_assert_null (sl_pipeline_dup_parameter (pipeline, "botom"));
  start (pipeline);
  g_autoptr (SlPredictions) p = pull (pipeline);
  g_assert_cmpuint (sl_test_length (sl_predictions_get_labels (p)), ==, 2);
  g_assert_cmpstr (sl_label_get_name (sl_predictions_get_labels (p)[0]), ==, "blue");
  g_remove (path);
  g_rmdir (folder);
}

static void
test_element (void)
{
  g_autoptr (SlPipeline) pipeline = blue_pipeline (3, "fakesink");
  GError *error = NULL;
  g_autoptr (GObject) results = sl_pipeline_dup_element (pipeline, "results", &error);
  g_assert_no_error (error);
  g_object_set (results, "top-k", 3, NULL);
  g_assert_null (sl_pipeline_dup_element (pipeline, "nobody", &error));
  expect_message (&error, SL_ERROR_ARGUMENT, "the pipeline has no element with name=nobody");
  start (pipeline);
  g_autoptr (SlPredictions) p = pull (pipeline);
  g_assert_cmpuint (sl_test_length (sl_predictions_get_labels (p)), ==, 3);
}

static void
unref_in_handler (SlPipeline *pipeline, SlPredictions *predictions, gpointer loop)
{
  g_signal_handlers_disconnect_by_func (pipeline, G_CALLBACK (unref_in_handler), loop);
  g_object_unref (pipeline);
  g_main_loop_quit (loop);
}

/* Let go while it runs: in a handler, with signals under way, before it was started, and again and
 * again. */
static void
test_let_go (void)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  SlPipeline *pipeline = blue_pipeline (-1, "fakesink");
  g_signal_connect (pipeline, "predictions", G_CALLBACK (unref_in_handler), loop);
  start (pipeline);
  g_main_loop_run (loop);
  g_object_unref (blue_pipeline (-1, "fakesink"));
  for (guint i = 0; i < 5; i++) {
    SlPipeline *other = blue_pipeline (-1, "fakesink");
    Heard heard;
    listen (&heard, other, NULL);
    start (other);
    wait_for_state (other, SL_PIPELINE_STATE_RUNNING);
    g_object_unref (other);
    while (g_main_context_iteration (NULL, FALSE))
      ;
    heard_clear (&heard);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/slpipeline/pull", test_pull);
  g_test_add_func ("/slpipeline/newest-wins", test_newest_wins);
  g_test_add_func ("/slpipeline/signals", test_signals);
  g_test_add_func ("/slpipeline/failure", test_failure);
  g_test_add_func ("/slpipeline/starts-again", test_starts_again);
  g_test_add_func ("/slpipeline/start-failure", test_start_failure);
  g_test_add_func ("/slpipeline/bad-descriptions", test_bad_descriptions);
  g_test_add_func ("/slpipeline/push", test_push);
  g_test_add_func ("/slpipeline/push-upside-down", test_push_upside_down);
  g_test_add_func ("/slpipeline/push-displaces", test_push_displaces);
  g_test_add_func ("/slpipeline/push-errors", test_push_errors);
  g_test_add_func ("/slpipeline/stop-while-pushing", test_stop_while_pushing);
  g_test_add_func ("/slpipeline/pull-ends", test_pull_ends);
  g_test_add_func ("/slpipeline/pause", test_pause);
  g_test_add_func ("/slpipeline/last-emits", test_last_emits);
  g_test_add_func ("/slpipeline/tracker-emits", test_tracker_emits);
  g_test_add_func ("/slpipeline/file", test_file);
  g_test_add_func ("/slpipeline/element", test_element);
  g_test_add_func ("/slpipeline/let-go", test_let_go);
  return g_test_run ();
}
