/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Batches of real models: what is said where there can be none, that each stream of several gets
 * the bytes that its own session gives, in order and however batches come about, and that no stream
 * waits for one that rests, pauses or ends. Runtimes that fail are in
 * tests/elements/slinfer_batch.c.
 */
#include "models/batch.h"

#include <glib/gstdio.h>
#include <string.h>

#include "models/backend.h"
#include "models/batcher.h"
#include "sightline/error.h"
#include "tests/support/clock.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/testdata.h"
#include "tools/bench/allocations.h"

#define STREAMS 3
#define FRAMES 10
#define LONG_US (60 * G_USEC_PER_SEC)
#define SHORT_US (100 * G_USEC_PER_SEC / 1000)
/* For which another stream is waited for at most. */
#define IDLE_US G_USEC_PER_SEC
#define SMALL "models/person_detect.tflite"

/** A model, a session of it, and inputs with what that session makes of them. */
typedef struct
{
  SlModel *model;
  SlSession *single;
  const SlContract *contract;
  void *inputs[FRAMES], *expected[FRAMES], *output;
} Fixture;

static gboolean
fixture_init (Fixture *fixture, const char *name)
{
  g_autofree char *path = sl_test_data (name);
  g_autoptr (GError) error = NULL;
  *fixture = (Fixture){ 0 };
  if (path == NULL)
    return FALSE;
  fixture->model =
    sl_model_load_with (path, NULL, &(SlModelLoadOptions){ .skip_input_quantize = TRUE }, &error);
  g_assert_no_error (error);
  fixture->single = sl_session_new (sl_model_graph (fixture->model), 1, &error);
  g_assert_no_error (error);
  fixture->contract = sl_model_contract (fixture->model);
  g_assert_cmpuint (fixture->contract->n_inputs, ==, 1);
  fixture->output = sl_tensor_buffer_new (fixture->contract->outputs[0].bytes);
  for (guint i = 0; i < FRAMES; i++) {
    const void *in = fixture->inputs[i] = sl_tensor_buffer_new (fixture->contract->inputs[0].bytes);
    void *out = fixture->expected[i] = sl_tensor_buffer_new (fixture->contract->outputs[0].bytes);
    sl_backend_fill (&fixture->contract->inputs[0], &fixture->contract->image, i,
                     fixture->inputs[i]);
    if (fixture->contract->n_outputs == 1)
      g_assert_cmpint (sl_session_run (fixture->single, &in, &out), ==, SL_STATUS_OK);
  }
  return TRUE;
}

static void
fixture_clear (Fixture *fixture)
{
  for (guint i = 0; i < FRAMES; i++) {
    sl_tensor_buffer_free (fixture->inputs[i]);
    sl_tensor_buffer_free (fixture->expected[i]);
  }
  sl_tensor_buffer_free (fixture->output);
  sl_session_free (fixture->single);
  sl_model_unref (fixture->model);
}

/* (transfer full) (nullable): a batch of 4 of the model at @path. */
static SlBatchSession *
open_batch (const char *path, const SlModelLoadOptions *options, GError **error)
{
  g_autoptr (SlModel) model = sl_model_load_with (path, NULL, options, error);
  g_assert_nonnull (model);
  g_autoptr (SlSession) single = sl_session_new (sl_model_graph (model), 1, error);
  g_assert_nonnull (single);
  return sl_batch_session_new (model, single, 4, error);
}

static void
test_refused (void)
{
  static const struct
  {
    const char *path, *said;
  } cases[] = {
    { "models/ssd_mobilenet_v1.tflite",
      "TFLite_Detection_PostProcess 'TFLite_Detection_PostProcess': boxes uint8[4,1917,4]" },
    { "formats/models/softmax.op13.onnx",
      "input 'x' is float32[2,3,4,5]; expected a first dimension of 1, for a batch of 4" },
    { "formats/models/dynamic_quant.op11.onnx",
      "of single inputs; expected 4 of these one after the other" },
    { "wild/models/quantize0.tflite", "so nothing shows that those of a batch are right" },
    { "formats/models/mobilenetv2_dynq_s8.onnx",
      "of its largest magnitude away from that of a single run; at most 0.001 is allowed" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = sl_test_data (cases[i].path);
    g_autoptr (GError) error = NULL;
    if (path == NULL)
      return;
    g_autoptr (SlBatchSession) batch = open_batch (path, &(SlModelLoadOptions){ 0 }, &error);
    g_assert_null (batch);
    g_assert_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED);
    g_test_message ("%s", error->message);
    g_assert_true (g_str_has_prefix (error->message, "the model cannot be run in batches of 4: "));
    g_assert_nonnull (strstr (error->message, cases[i].said));
  }
}

/* (transfer full): the path of a sum, hn = h0 + x, beside y = 2 * hn: names say that hn is h0 of
 * the next run. */
static char *
write_sum (const char *folder)
{
  static const gint64 four[] = { 1, 4 };
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
  sl_onnx_writer_input (writer, "x", SL_ONNX_FLOAT, 2, four);
  sl_onnx_writer_input (writer, "h0", SL_ONNX_FLOAT, 2, four);
  sl_onnx_writer_node (writer, "Add", "h0,x", "hn", NULL);
  sl_onnx_writer_node (writer, "Add", "hn,hn", "y", NULL);
  sl_onnx_writer_output (writer, "y", SL_ONNX_FLOAT);
  sl_onnx_writer_output (writer, "hn", SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
  char *path = g_build_filename (folder, "sum.onnx", NULL);
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes), NULL));
  return path;
}

/* What each stream has for itself has no place in a batch, unless it is stated that there is no
 * such thing. */
static void
test_state (void)
{
  static const struct
  {
    const char *state, *handed, *info, *said;
  } cases[] = {
    { NULL, NULL, NULL,
      "the model carries state from frame to frame (h0=hn), and a batch has frames of several "
      "streams" },
    { "none", "h0", NULL, "it has inputs from other branches, which are each stream's own" },
    { "none", NULL, NULL, NULL },
    { NULL, NULL, "[modelinfo]\nversion=1.0\n[sightline]\nstate=none\n", NULL },
  };
  g_autofree char *folder = g_dir_make_tmp ("sightline-batch-XXXXXX", NULL),
                  *path = write_sum (folder);
  g_autofree char *info = g_strconcat (path, ".modelinfo", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    if (cases[i].info != NULL)
      g_assert_true (g_file_set_contents (info, cases[i].info, -1, NULL));
    const SlModelLoadOptions options = { .state = cases[i].state,
                                         .handed_inputs = cases[i].handed };
    g_autoptr (SlBatchSession) batch = open_batch (path, &options, &error);
    g_assert_true ((batch == NULL) == (cases[i].said != NULL));
    if (cases[i].said == NULL)
      g_assert_no_error (error);
    else
      g_assert_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED);
    g_assert_true (cases[i].said == NULL || strstr (error->message, cases[i].said) != NULL);
  }
  g_unlink (info);
  g_unlink (path);
  g_rmdir (folder);
}

/* As precise as single runs, next to batches of the same file that are more so. */
static void
test_precision (void)
{
  static const struct
  {
    const char *name;
    SlPrecision precision;
  } cases[] = { { "bf16", SL_PRECISION_BF16 },
                { NULL, SL_PRECISION_FLOAT },
                { "fp16", SL_PRECISION_FP16 } };
  SlGraph *graphs[G_N_ELEMENTS (cases)];
  g_autofree char *path = sl_test_data ("wild/models/blazeface_front_128.tflite");
  for (guint i = 0; i < G_N_ELEMENTS (cases) && path != NULL; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlModel) model = sl_model_load_with (
      path, NULL, &(SlModelLoadOptions){ .backend.precision = cases[i].name }, &error);
    g_assert_no_error (error);
    graphs[i] = sl_model_batch_graph (model, 4, &error);
    g_assert_no_error (error);
    g_assert_cmpint (sl_graph_precision (graphs[i]), ==, cases[i].precision);
  }
  for (guint i = 0; i < G_N_ELEMENTS (cases) && path != NULL; i++)
    sl_graph_unref (graphs[i]);
}

/* Shapes that are constants of the file, in each format. */
static void
test_made (void)
{
  static const char *const paths[] = { "wild/models/blazeface_front_128.tflite",
                                       "formats/models/resize_modes.op13.onnx",
                                       "formats/models/yolo_techno.torchscript" };
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++) {
    g_autofree char *path = sl_test_data (paths[i]);
    g_autoptr (GError) error = NULL;
    if (path == NULL)
      return;
    g_autoptr (SlBatchSession) batch = open_batch (path, &(SlModelLoadOptions){ 0 }, &error);
    g_assert_no_error (error);
    g_assert_cmpuint (sl_batch_session_size (batch), ==, 4);
  }
}

/* Every number of items, with a batch and one after the other; nothing is allocated. */
static void
test_session (gconstpointer path)
{
  Fixture fixture;
  g_autoptr (GError) error = NULL;
  if (!fixture_init (&fixture, path))
    return;
  g_assert_null (sl_batch_session_new (fixture.model, fixture.single, 1, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error->message, "a batch of 1; expected 2.."));
  g_clear_error (&error);
  g_autoptr (SlBatchSession) batch =
    sl_batch_session_new (fixture.model, fixture.single, 4, &error);
  g_assert_no_error (error);
  void *outputs[4];
  SlBatchItem items[4];
  gdouble together = 0, alone = 0;
  for (guint i = 0; i < 4; i++) {
    outputs[i] = sl_tensor_buffer_new (fixture.contract->outputs[0].bytes);
    items[i] = (SlBatchItem){ (const void *const *) &fixture.inputs[i], &outputs[i] };
  }
  gint64 own = 0; /* what XNNPACK allocates in a single run on other buffers than those of the run
                     before: some versions do */
  for (guint i = 0; i < 4; i++) {
    const gint64 before = sl_allocations ();
    g_assert_cmpint (sl_session_run (fixture.single, items[i].inputs, items[i].outputs), ==,
                     SL_STATUS_OK);
    own = sl_allocations () - before;
  }
  for (guint k = 8; k >= 1; k--) {
    const guint n = (k + 1) / 2;
    for (guint i = 0; i < n; i++)
      memset (outputs[i], 0, fixture.contract->outputs[0].bytes);
    const gint64 before = sl_allocations ();
    const SlStatus status =
      sl_batch_session_run (batch, k % 2 == 0 ? NULL : fixture.single, items, n);
    const gint64 after = sl_allocations ();
    g_assert_cmpint (status, ==, SL_STATUS_OK);
    g_assert_cmpint (after - before, <=, k == 8 ? G_MAXINT64 : k % 2 == 0 ? 0 : n * own);
    for (guint i = 0; i < n; i++)
      g_assert_cmpmem (outputs[i], fixture.contract->outputs[0].bytes, fixture.expected[i],
                       fixture.contract->outputs[0].bytes);
  }
  const gdouble gain = sl_batch_session_times (batch, &together, &alone);
  g_assert_cmpfloat_with_epsilon (gain, 4 * alone / together, 1e-9 * gain);
  g_assert_true (together > 0 && sl_batch_session_pays (batch, 4)
                 && !sl_batch_session_pays (batch, 1));
  g_autoptr (SlBatchSession) best =
    sl_batch_session_new_best (fixture.model, fixture.single, 4, &error);
  g_assert_true ((best != NULL) != (error != NULL));
  g_assert_true (best != NULL || strstr (error->message, "no batch is faster") != NULL);
  g_assert_true (best == NULL || sl_batch_session_times (best, &together, &alone) >= 1.05);
  for (guint i = 0; i < 4; i++)
    sl_tensor_buffer_free (outputs[i]);
  fixture_clear (&fixture);
}

typedef struct
{
  Fixture fixture;
  SlBatchStream *stream;
  guint first, frames;
} User;

/* Frames from @first on, round and round. */
static gpointer
use (gpointer data)
{
  User *user = data;
  const gsize bytes = user->fixture.contract->outputs[0].bytes;
  for (guint i = 0; i < user->frames; i++) {
    const guint at = (user->first + i) % FRAMES;
    const void *in = user->fixture.inputs[at];
    void *out = user->fixture.output;
    memset (out, 0, bytes);
    g_assert_cmpint (sl_batch_stream_run (user->stream, &in, &out), ==, SL_STATUS_OK);
    g_assert_cmpmem (out, bytes, user->fixture.expected[at], bytes);
  }
  sl_batch_stream_rest (user->stream);
  return NULL;
}

static void
users_clear (User *users, guint n)
{
  sl_clock_set (SL_CLOCK_RUNS);
  for (guint i = 0; i < n; i++) {
    sl_batch_stream_free (users[i].stream);
    fixture_clear (&users[i].fixture);
  }
}

/* @clock: from then on */
static gboolean
users_init (User *users, guint n, guint batch, gint64 timeout, SlClock clock)
{
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < n; i++) {
    users[i] = (User){ .first = 3 * i, .frames = FRAMES };
    if (!fixture_init (&users[i].fixture, SMALL)) {
      users_clear (users, i);
      return FALSE;
    }
    users[i].stream =
      sl_batch_stream_new (users[i].fixture.model, users[i].fixture.single, batch, timeout, &error);
    g_assert_no_error (error);
    g_assert_true (sl_batch_stream_session (users[i].stream)
                   == sl_batch_stream_session (users[0].stream));
  }
  sl_clock_set (clock);
  return TRUE;
}

/* More streams than a batch has places, one of which ends early; none waits for one that has ended.
 */
static void
test_streams (void)
{
  User users[STREAMS];
  GThread *threads[STREAMS];
  guint64 inputs = 0, given = 0;
  if (!users_init (users, STREAMS, 2, LONG_US, SL_CLOCK_STANDS))
    return;
  users[0].frames = FRAMES / 2;
  users[1].frames = users[2].frames = 5 * FRAMES;
  for (guint i = 0; i < STREAMS; i++)
    sl_batch_stream_expect (users[i].stream);
  for (guint i = 0; i < STREAMS; i++)
    threads[i] = g_thread_new ("user", use, &users[i]);
  for (guint i = 0; i < STREAMS; i++) {
    g_thread_join (threads[i]);
    given += users[i].frames;
  }
  const guint64 runs = sl_batch_stream_count (users[0].stream, &inputs);
  g_test_message ("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " inputs in %" G_GUINT64_FORMAT
                  " batches",
                  inputs, given, runs);
  g_assert_true (runs > 0 && inputs >= runs && inputs <= given);
  users_clear (users, STREAMS);
}

static void
hand_in (User *user)
{
  const void *in = user->fixture.inputs[0];
  void *out = user->fixture.output;
  g_assert_cmpint (sl_batch_stream_run (user->stream, &in, &out), ==, SL_STATUS_OK);
}

/* For how long a frame of the stream waits, us. */
static gint64
wait_of (User *user)
{
  use (user);
  return sl_batch_stream_waited (user->stream);
}

/* Another that has run just now and then hands in nothing is waited for as long as is stated, and
 * not at all when it rests. */
static void
test_timeout (void)
{
  User users[2];
  if (!users_init (users, 2, 2, SHORT_US, SL_CLOCK_JUMPS))
    return;
  users[0].frames = users[1].frames = 1;
  g_assert_cmpint (wait_of (&users[1]), ==, 0);
  hand_in (&users[1]);
  g_assert_cmpint (wait_of (&users[0]), ==, SHORT_US);
  sl_batch_stream_rest (users[1].stream);
  const gint64 before = sl_allocations ();
  g_assert_cmpint (wait_of (&users[0]), ==, 0);
  g_assert_cmpint (sl_allocations (), ==, before);
  sl_batch_stream_expect (users[1].stream);
  g_assert_cmpint (wait_of (&users[0]), ==, SHORT_US);
  users_clear (users, 2);
}

/* One that falls silent is not waited for longer than a second, whatever is stated. */
static void
test_silent (void)
{
  User users[2];
  if (!users_init (users, 2, 2, LONG_US, SL_CLOCK_JUMPS))
    return;
  users[0].frames = 1;
  hand_in (&users[1]);
  g_assert_cmpint (wait_of (&users[0]), ==, IDLE_US);
  users_clear (users, 2);
}

static gpointer
run_one (gpointer data)
{
  User *user = data;
  const void *in = user->fixture.inputs[0];
  void *out = user->fixture.output;
  return GINT_TO_POINTER (sl_batch_stream_run (user->stream, &in, &out));
}

/* A stream that waits is given up by itself, and does not hold up the other. */
static void
test_cancel (void)
{
  User users[2];
  if (!users_init (users, 2, 2, LONG_US, SL_CLOCK_STANDS))
    return;
  const void *in = users[1].fixture.inputs[0];
  void *out = users[1].fixture.output;
  g_assert_cmpint (sl_batch_stream_run (users[1].stream, &in, &out), ==, SL_STATUS_OK);
  GThread *waiting = g_thread_new ("waiting", run_one, &users[0]);
  sl_clock_await (waiting);
  sl_batch_stream_cancel (users[0].stream, TRUE);
  g_assert_cmpint (GPOINTER_TO_INT (g_thread_join (waiting)), ==, SL_STATUS_CANCELLED);
  g_assert_cmpint (GPOINTER_TO_INT (run_one (&users[0])), ==, SL_STATUS_CANCELLED);
  users[1].frames = 1;
  g_assert_cmpint (wait_of (&users[1]), ==, 0);
  sl_batch_stream_cancel (users[0].stream, FALSE);
  users[0].frames = 1;
  g_assert_cmpint (wait_of (&users[0]), ==, 0);
  users_clear (users, 2);
}

/* To cancel the session that is to join ends the proof, and leaves no batch of it. */
static void
test_give_up (void)
{
  Fixture fixture;
  g_autoptr (GError) error = NULL;
  if (!fixture_init (&fixture, SMALL))
    return;
  sl_session_cancel (fixture.single, TRUE);
  g_assert_null (sl_batch_stream_new (fixture.model, fixture.single, 2, SHORT_US, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED);
  g_assert_cmpstr (error->message, ==,
                   "the model cannot be run in batches of 2: the run was cancelled");
  g_clear_error (&error);
  sl_session_cancel (fixture.single, FALSE);
  SlBatchStream *stream = sl_batch_stream_new (fixture.model, fixture.single, 2, SHORT_US, &error);
  g_assert_no_error (error);
  sl_batch_stream_free (stream);
  fixture_clear (&fixture);
}

static gpointer
start (gpointer data)
{
  User *user = data;
  g_autoptr (GError) error = NULL;
  user->stream =
    sl_batch_stream_new (user->fixture.model, user->fixture.single, 4, SHORT_US, &error);
  g_assert_no_error (error);
  return NULL;
}

/* Streams that start at once prove one batch between them. */
static void
test_start (void)
{
  User users[STREAMS] = { 0 };
  GThread *threads[STREAMS];
  for (guint i = 0; i < STREAMS; i++)
    if (!fixture_init (&users[i].fixture, SMALL))
      return; /* the first */
  for (guint i = 0; i < STREAMS; i++)
    threads[i] = g_thread_new ("start", start, &users[i]);
  for (guint i = 0; i < STREAMS; i++)
    g_thread_join (threads[i]);
  for (guint i = 1; i < STREAMS; i++)
    g_assert_true (sl_batch_stream_session (users[i].stream)
                   == sl_batch_stream_session (users[0].stream));
  users_clear (users, STREAMS);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/batch/refused", test_refused);
  g_test_add_func ("/batch/state", test_state);
  g_test_add_func ("/batch/precision", test_precision);
  g_test_add_func ("/batch/made", test_made);
  g_test_add_data_func ("/batch/session/mobilenet-v1", "models/mobilenet_v1_0.25_128_quant.tflite",
                        test_session);
  g_test_add_data_func ("/batch/session/lstm", "wild/models/keras_lstm_mnist_ptq.tflite",
                        test_session);
  g_test_add_func ("/batch/streams", test_streams);
  g_test_add_func ("/batch/timeout", test_timeout);
  g_test_add_func ("/batch/silent", test_silent);
  g_test_add_func ("/batch/cancel", test_cancel);
  g_test_add_func ("/batch/give-up", test_give_up);
  g_test_add_func ("/batch/start", test_start);
  return g_test_run ();
}
