/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slinfer and models with runtimes of others, played by tests/support/fake_runtime.c: what they
 * answer, what is said where they are not there, too old, or fail at load, at the first run or in
 * the middle, and which backend runs the model then. What is expected is -x of an ONNX model and
 * the mean of each channel of a TensorFlow Lite one.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#include "models/backend.h"
#include "plugins/elements.h"
#include "sightline/error.h"
#include "tests/elements/fake.h"
#include "tests/elements/support.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"
#include "tests/support/tflite_writer.h"

#define VALUES 48
#define BYTES (VALUES * sizeof (gfloat))
#define CAPS \
  "other/tensors,format=static,num_tensors=1,dimensions=4:4:3:1,types=float32,framerate=25/1"

static char *onnx, *unknown, *tflite;

static SlSession *
open_session (const char *path, const SlBackendSettings *backend, SlModel **model, char **notice,
              GError **error)
{
  const SlModelLoadOptions how = { .any_backend = TRUE, .backend = *backend, .threads = 1 };
  *notice = NULL;
  *model = sl_model_load_with (path, NULL, &how, error);
  return *model != NULL ? sl_model_session_new (*model, 1, notice, error) : NULL;
}

static void
expect_refusal (const char *path, const SlBackendSettings *backend, const char *words,
                const char *first, const char *second)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = NULL;
  g_autofree char *notice = NULL;
  set_fake (words);
  g_autoptr (SlSession) session = open_session (path, backend, &model, &notice, &error);
  set_fake (NULL);
  g_assert_null (session);
  g_assert_nonnull (error);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, first));
  g_assert_nonnull (strstr (error->message, second));
}

/* Before the library is opened for good. */
static void
test_library (void)
{
  const SlBackendSettings ort = { .backend = "onnxruntime" }, lite = { .backend = "tflite" };
  g_setenv ("SIGHTLINE_ONNXRUNTIME", "/nowhere/libonnxruntime.so.1", TRUE);
  g_setenv ("SIGHTLINE_TFLITE", "/nowhere/liblite.so", TRUE);
  expect_refusal (
    onnx, &ort, NULL,
    "/nowhere/libonnxruntime.so.1, which the environment variable SIGHTLINE_ONNXRUNTIME names, "
    "cannot be opened",
    "correct or unset SIGHTLINE_ONNXRUNTIME");
  expect_refusal (tflite, &lite, NULL,
                  "/nowhere/liblite.so, which the environment variable SIGHTLINE_TFLITE names",
                  "unset SIGHTLINE_TFLITE");
  expect_refusal (
    unknown, &(SlBackendSettings){ .backend = "auto" }, NULL, "TfIdfVectorizer",
    "; what else might run it: /nowhere/libonnxruntime.so.1, which the environment variable "
    "SIGHTLINE_ONNXRUNTIME names");
  g_unsetenv ("SIGHTLINE_TFLITE");
  g_setenv ("SIGHTLINE_ONNXRUNTIME", "libm.so.6", TRUE);
  expect_refusal (onnx, &ort, NULL, "it lacks the function OrtGetApiBase",
                  "another version of it; correct or unset SIGHTLINE_ONNXRUNTIME");
  g_setenv ("SIGHTLINE_ONNXRUNTIME", FAKE_RUNTIME_LIBRARY, TRUE);
  g_setenv ("SIGHTLINE_TFLITE", FAKE_RUNTIME_LIBRARY, TRUE);
  expect_refusal (onnx, &ort, "old", "ONNX Runtime 1.9.1 does not do: expected 1.14 or newer",
                  FAKE_RUNTIME_LIBRARY);
  expect_refusal (onnx, &ort, "base", "it does not say its version: expected ONNX Runtime 1.14",
                  FAKE_RUNTIME_LIBRARY);
  expect_refusal (onnx, &ort, "mute", "it does not say its version: expected ONNX Runtime 1.14",
                  FAKE_RUNTIME_LIBRARY);
  expect_refusal (onnx, &ort, "holes", "its table lacks function 216: it is another library",
                  FAKE_RUNTIME_LIBRARY);
  expect_refusal (onnx, &ort, "hollow", "it says that all is well, and gives nothing",
                  FAKE_RUNTIME_LIBRARY);
  expect_refusal (tflite, &lite, "mute", "TensorFlow Lite of no version does not do: expected 2.0",
                  FAKE_RUNTIME_LIBRARY);
  expect_refusal (tflite, &lite, "old", "TensorFlow Lite 1.15.0 does not do: expected 2.0 or newer",
                  FAKE_RUNTIME_LIBRARY);
}

/* State goes through a runtime, too, whose outputs come in its own order; and on from there when
 * the runtime is lost. */
static void
test_state (void)
{
  const gint64 dims[] = { 1, 3, 4, 4 };
  const SlBackendSettings backend = { .backend = "onnxruntime", .fallback = TRUE };
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = NULL;
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  g_autofree char *notice = NULL, *path = test_text_file ("sums.onnx", "");
  sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 4, dims);
  sl_onnx_writer_input (w, "before", SL_ONNX_FLOAT, 4, dims);
  sl_onnx_writer_node (w, "Add", "x,before", "after", NULL);
  sl_onnx_writer_node (w, "Neg", "after", "y", NULL);
  sl_onnx_writer_output (w, "after", SL_ONNX_FLOAT);
  sl_onnx_writer_output (w, "y", SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (w);
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes), NULL));
  g_autofree char *info = g_strconcat (path, ".modelinfo", NULL);
  g_assert_true (g_file_set_contents (
    info, "[modelinfo]\nversion=1.0\n[sightline]\nstate=before=after\n", -1, NULL));
  set_fake ("sums");
  g_autoptr (SlSession) session = open_session (path, &backend, &model, &notice, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (notice, ==, NULL);
  for (guint run = 1; run <= 5; run++) {
    gfloat x[VALUES + SL_TENSOR_PADDING] = { 1, 2 }, y[VALUES + SL_TENSOR_PADDING];
    if (run == 4)
      set_fake ("sums run");
    g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y }), ==,
                     SL_STATUS_OK);
    g_assert_true ((sl_session_external (session) != NULL) == (run < 4));
    g_assert_cmpfloat (y[1], ==, -2.0 * run);
  }
  set_fake (NULL);
  g_unlink (info);
  test_remove_file (path);
}

static void
test_settings (void)
{
  static const struct
  {
    SlBackendSettings backend;
    const char *first, *second;
  } cases[] = {
    { { .backend = "cuda" }, "backend=cuda: expected auto, sightline, onnxruntime or tflite", "" },
    { { .provider = "cuda" },
      "provider=cuda goes with backend=onnxruntime or auto",
      "leave provider away" },
    { { .backend = "onnxruntime", .delegate = "a.so" },
      "delegate=a.so goes with backend=tflite or auto",
      "" },
    { { .options = "a=b" }, "provider-options=a=b goes with backend=onnxruntime or tflite", "" },
    { { .precision = "half" }, "precision=half: expected float, bf16 or fp16", "" },
    { { .backend = "onnxruntime", .precision = "bf16" },
      "precision=bf16 goes with backend=sightline or auto; leave one of them away",
      "" },
    { { .backend = "onnxruntime", .options = "a=b,c" },
      "provider-options: expected KEY=VALUE",
      "got 'c'" },
    { { .backend = "tflite" },
      "backend=tflite runs tflite files, and this is one of onnx: use backend=onnxruntime",
      "" },
    { { .backend = "onnxruntime", .provider = "openvino" },
      "provider=openvino: this library was built with CUDA, QNN, VSINPU, CPU; expected one with "
      "OpenVINO",
      "SIGHTLINE_ONNXRUNTIME" },
    { { .backend = "onnxruntime", .options = "device_id=7" },
      "provider-options: nothing takes device_id; expected options of a provider",
      "" },
    { { .backend = "onnxruntime", .provider = "cpu,vsinpu", .options = "session.a=1,b=2" },
      "provider-options: nothing takes b;",
      "session." },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    expect_refusal (onnx, &cases[i].backend, NULL, cases[i].first, cases[i].second);
}

static void
test_options (void)
{
  static const struct
  {
    const char *path;
    SlBackendSettings backend;
    const char *noted, *title;
  } cases[] = {
    { "onnx",
      { .backend = "onnxruntime", .provider = "cuda", .options = "device_id=1, gpu_mem_limit=7" },
      "CUDA device_id=1 gpu_mem_limit=7",
      "ONNX Runtime 1.99.0, CUDA" },
    { "onnx",
      { .backend = "onnxruntime", .provider = "cpu, qnn", .options = "a=b" },
      "QNN a=b",
      "ONNX Runtime 1.99.0, QNN" },
    { "onnx",
      { .backend = "onnxruntime", .provider = "vsinpu" },
      "VSINPU",
      "ONNX Runtime 1.99.0, VSI NPU" },
    { "onnx",
      { .backend = "onnxruntime", .options = "session.x.y=1" },
      "session.x.y session.x.y=1",
      "ONNX Runtime 1.99.0, CPU" },
    { "tflite",
      { .backend = "tflite", .delegate = FAKE_RUNTIME_LIBRARY, .options = "device=usb" },
      "delegate device=usb",
      "TensorFlow Lite 2.99.0, fake-runtime.so" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlModel) model = NULL;
    g_autofree char *notice = NULL;
    g_autoptr (SlSession) session =
      open_session (strcmp (cases[i].path, "onnx") == 0 ? onnx : tflite, &cases[i].backend, &model,
                    &notice, &error);
    g_assert_no_error (error);
    g_assert_null (notice);
    g_assert_cmpstr (fake ("fake_options"), ==, cases[i].noted);
    g_assert_cmpstr (sl_external_model_title (sl_session_external (session)), ==, cases[i].title);
  }
  g_assert_cmpint (*(int *) fake ("fake_delegates"), ==, 0);
}

static void
fill (gfloat x[VALUES])
{
  for (guint i = 0; i < VALUES; i++)
    x[i] = (gfloat) i / 64 - 0.25f;
}

/* What both models give, and that frames make no values once buffers have come by. */
static void
test_results (void)
{
  const SlBackendSettings ort = { .backend = "onnxruntime" }, lite = { .backend = "tflite" };
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) a = NULL, b = NULL;
  g_autofree char *notice = NULL, *other = NULL;
  g_autoptr (SlSession) first = open_session (onnx, &ort, &a, &notice, &error),
                        second = open_session (tflite, &lite, &b, &other, &error);
  gfloat x[VALUES], y[2][VALUES], means[3], sums[3] = { 0 };
  const void *in = x;
  fill (x);
  g_assert_no_error (error);
  for (guint i = 0; i < 6; i++) {
    const int values = *(int *) fake ("fake_values");
    void *out = y[i % 2];
    g_assert_cmpint (sl_session_run (first, &in, &out), ==, SL_STATUS_OK);
    g_assert_true (i < 2 || values == *(int *) fake ("fake_values"));
  }
  void *out = means;
  g_assert_cmpint (sl_session_run (second, &in, &out), ==, SL_STATUS_OK);
  for (guint i = 0; i < VALUES; i++) {
    g_assert_cmpfloat (y[1][i], ==, -x[i]);
    sums[i % 3] += x[i];
  }
  for (guint c = 0; c < 3; c++)
    g_assert_cmpfloat_with_epsilon (means[c], sums[c] / 16, 1e-6f);
  sl_session_cancel (first, TRUE);
  out = y[0];
  g_assert_cmpint (sl_session_run (first, &in, &out), ==, SL_STATUS_CANCELLED);
}

/* What is declared of an output may differ from what a run gives; an output may be an input, of
 * which the runtime gives no bytes; and an input may have no size yet. */
static void
test_odd_outputs (void)
{
  const SlBackendSettings backends[] = { { .backend = "onnxruntime" },
                                         { .backend = "tflite" },
                                         { .backend = "onnxruntime" },
                                         { .backend = "tflite" } };
  static const char *const words[] = { "hint", "hint", "pass", "open" };
  gfloat x[VALUES], y[VALUES];
  const void *in = x;
  void *out = y;
  fill (x);
  for (guint i = 0; i < G_N_ELEMENTS (words); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlModel) model = NULL;
    g_autofree char *notice = NULL;
    set_fake (words[i]);
    g_autoptr (SlSession) session =
      open_session (i % 2 == 1 ? tflite : onnx, &backends[i], &model, &notice, &error);
    g_assert_no_error (error);
    memset (y, 0, sizeof y);
    g_assert_cmpint (sl_session_run (session, &in, &out), ==, SL_STATUS_OK);
    g_assert_cmpfloat (y[0], ==, i == 0 ? -x[0] : i == 2 ? x[0] : y[0]);
    g_assert_cmpfloat (y[2], !=, 0);
    set_fake (NULL);
  }
}

/* Two models of one file, which was not written just now, are one in the runtime; their sessions
 * run by themselves. */
static void
test_shared (void)
{
  const SlBackendSettings ort = { .backend = "onnxruntime" },
                          other = { .backend = "onnxruntime", .options = "session.a=1" };
  const struct timespec old[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) a = NULL, b = NULL, c = NULL;
  g_autofree char *n = NULL, *m = NULL, *o = NULL;
  g_assert_cmpint (utimensat (AT_FDCWD, onnx, old, 0), ==, 0);
  g_usleep (100000);
  const int loads = *(int *) fake ("fake_loads");
  g_autoptr (SlSession) first = open_session (onnx, &ort, &a, &n, &error),
                        second = open_session (onnx, &ort, &b, &m, &error);
  g_autoptr (SlSession) third = open_session (onnx, &other, &c, &o, &error);
  g_assert_no_error (error);
  g_assert_true (sl_model_external (a) == sl_model_external (b));
  g_assert_true (sl_model_external (a) != sl_model_external (c) && third != NULL);
  g_assert_cmpint (*(int *) fake ("fake_loads"), ==, loads + 2);
  gfloat x[VALUES], y[VALUES];
  const void *in = x;
  void *out = y;
  fill (x);
  g_clear_pointer (&first, sl_session_free);
  g_clear_pointer (&a, sl_model_unref);
  g_assert_cmpint (sl_session_run (second, &in, &out), ==, SL_STATUS_OK);
  g_assert_cmpfloat (y[9], ==, -x[9]);
}

static void
test_failures (void)
{
  const SlBackendSettings ort = { .backend = "onnxruntime" }, lite = { .backend = "tflite" };
  const SlBackendSettings delegate = { .backend = "tflite", .delegate = FAKE_RUNTIME_LIBRARY },
                          missing = { .backend = "tflite", .delegate = "/nowhere/d.so" };
  const SlBackendSettings other = { .backend = "tflite", .delegate = "libm.so.6" };
  expect_refusal (onnx, &ort, "load", "ONNX Runtime 1.99.0: the fake refuses the model", onnx);
  expect_refusal (tflite, &lite, "load", "TensorFlow Lite 2.99.0: the file is refused", tflite);
  expect_refusal (onnx, &ort, "run",
                  "ONNX Runtime 1.99.0, CPU: a first run on zeros failed: the fake device is gone",
                  "");
  expect_refusal (tflite, &lite, "run",
                  "a first run on zeros failed: node 7: the fake device is gone", "");
  expect_refusal (onnx, &ort, "shape",
                  "a first run on zeros failed: the fake's output is float32[1,3,2,2]", "");
  expect_refusal (
    tflite, &lite, "shape", "output 0 ",
    "expected float32[1,3], got float32[1,2]: the two read the model differently; use sightline");
  expect_refusal (tflite, &lite, "blank", "2.99.0, CPU: input 0 has no memory", "");
  expect_refusal (tflite, &lite, "hollow", "TensorFlow Lite 2.99.0: it makes no options", "");
  expect_refusal (tflite, &lite, "open fixed",
                  "TensorFlow Lite 2.99.0, CPU: input 'x' cannot be float32[1,4,4,3]", "");
  expect_refusal (tflite, &delegate, "delegate", "refuses: the fake delegate finds no device",
                  FAKE_RUNTIME_LIBRARY);
  expect_refusal (tflite, &missing, NULL, "the delegate /nowhere/d.so cannot be opened",
                  "install the library of the device's vendor");
  expect_refusal (tflite, &other, NULL,
                  "the delegate libm.so.6: it lacks the function tflite_plugin_create_delegate",
                  "");
  g_assert_cmpint (*(int *) fake ("fake_delegates"), ==, 0);
}

/* With fallback Sightline runs what the runtime cannot, and says so. */
static void
test_fallback (void)
{
  static const struct
  {
    const char *words, *said;
  } cases[] = {
    { "load",
      "Sightline runs the model on the CPU instead: ONNX Runtime 1.99.0: the fake refuses the "
      "model" },
    { "run",
      "Sightline runs the model on the CPU instead: ONNX Runtime 1.99.0, CPU: a first run on zeros "
      "failed: the fake device is gone" }
  };
  const SlBackendSettings ort = { .backend = "onnxruntime", .fallback = TRUE };
  gfloat x[VALUES], y[VALUES];
  const void *in = x;
  void *out = y;
  fill (x);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlModel) model = NULL;
    g_autofree char *notice = NULL;
    set_fake (cases[i].words);
    g_autoptr (SlSession) session = open_session (onnx, &ort, &model, &notice, &error);
    g_assert_no_error (error);
    g_assert_cmpstr (notice, ==, cases[i].said);
    g_assert_null (sl_session_external (session));
    g_assert_cmpint (sl_session_run (session, &in, &out), ==, SL_STATUS_OK);
    g_assert_cmpfloat (y[5], ==, -x[5]);
    set_fake (NULL);
  }
}

/* In the middle: from there on it is Sightline that is named. */
static void
test_lost (void)
{
  const SlBackendSettings ort = { .backend = "onnxruntime", .fallback = TRUE };
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = NULL;
  g_autofree char *notice = NULL, *said = NULL;
  g_autoptr (SlSession) session = open_session (onnx, &ort, &model, &notice, &error);
  SlBackendUse use;
  gfloat x[VALUES], y[VALUES];
  const void *in = x;
  void *out = y;
  fill (x);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_session_backend (session, 0), ==, "onnxruntime");
  g_assert_true (sl_session_backend_use (session, 0, &use)
                 && strcmp (use.title, "ONNX Runtime 1.99.0, CPU") == 0);
  set_fake ("run");
  g_assert_cmpint (sl_session_run (session, &in, &out), ==, SL_STATUS_OK);
  set_fake (NULL);
  g_assert_cmpfloat (y[5], ==, -x[5]);
  said = sl_session_take_notice (session);
  g_assert_nonnull (strstr (said, "so Sightline runs the model on the CPU from here on"));
  g_assert_cmpstr (sl_session_backend (session, 0), !=, "onnxruntime");
  g_assert_true (sl_session_backend_use (session, 0, &use)
                 && strstr (use.title, "ONNX Runtime") == NULL);
}

/* A model with an operator that Sightline lacks: the refusal names the way out, and the runtime
 * runs it. */
static void
test_unknown_operator (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) ours = sl_model_load (unknown, NULL, &error), model = NULL;
  g_autofree char *notice = NULL;
  g_assert_null (ours);
  g_assert_error (error, SL_ERROR, SL_ERROR_UNSUPPORTED);
  g_assert_nonnull (
    strstr (error->message, "; backend=onnxruntime, or auto, runs it where ONNX Runtime can"));
  g_clear_error (&error);
  const SlBackendSettings backend = { .backend = "auto", .fallback = TRUE },
                          ort = { .backend = "onnxruntime" };
  const int paths = *(int *) fake ("fake_paths");
  g_autoptr (SlSession) session = open_session (unknown, &backend, &model, &notice, &error);
  g_assert_no_error (error);
  g_assert_cmpint (*(int *) fake ("fake_paths"), ==,
                   paths + 1); /* else the runtime looks for weights in the current directory */
  const SlContract *contract = sl_model_contract (model);
  g_assert_cmpstr (contract->inputs[0].name, ==, "x");
  g_assert_true (contract->image.valid && contract->image.range_known
                 && contract->image.layout == SL_LAYOUT_NCHW);
  g_assert_cmpfloat_with_epsilon (contract->image.gain[0], 1.0 / 255, 1e-9);
  g_assert_cmpuint (contract->outputs[0].bytes, ==, BYTES);
  gfloat x[VALUES], y[VALUES];
  const void *in = x;
  void *out = y;
  fill (x);
  g_assert_cmpint (sl_session_run (session, &in, &out), ==, SL_STATUS_OK);
  g_assert_cmpfloat (y[7], ==, -x[7]);
  set_fake ("run");
  g_assert_cmpint (sl_session_run (session, &in, &out), ==, SL_STATUS_BACKEND_FAILED);
  g_assert_cmpstr (sl_session_status_text (session, SL_STATUS_BACKEND_FAILED), ==,
                   "the fake device is gone");
  set_fake (NULL);
  g_clear_pointer (&session, sl_session_free);
  g_clear_pointer (&model,
                   sl_model_unref); /* else the next one would share what the runtime has of it */
  expect_refusal (unknown, &ort, "load", "Sightline refuses it (",
                  "and so does the backend: ONNX Runtime 1.99.0: the fake refuses the model");
}

/* auto measures once, and takes no runtime whose results differ or that fails. */
static void
test_auto (void)
{
  const SlBackendSettings backend = { .backend = "auto", .options = "session.test=1" };
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (SlModel) model = NULL;
    g_autofree char *notice = NULL;
    const int runs = *(int *) fake ("fake_runs");
    set_fake ("wrong");
    g_autoptr (SlSession) session = open_session (onnx, &backend, &model, &notice, &error);
    set_fake (NULL);
    g_assert_no_error (error);
    g_assert_null (sl_session_external (session));
    g_assert_true ((*(int *) fake ("fake_runs") > runs) == (i == 0));
  }
  g_autofree char *path = g_build_filename (g_get_user_cache_dir (), "sightline", "backends", NULL),
                  *text = NULL;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_nonnull (strstr (text, "backend=sightline"));
}

/* A runtime that fails is not measured, although the key file beside the model states a fallback.
 */
static void
test_auto_fails (void)
{
  const SlBackendSettings backend = { .backend = "auto", .options = "session.test=2" };
  g_autofree char *info = g_strconcat (onnx, ".modelinfo", NULL), *notice = NULL, *text = NULL;
  g_autofree char *path = g_build_filename (g_get_user_cache_dir (), "sightline", "backends", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = NULL;
  g_unlink (path);
  g_assert_true (g_file_set_contents (
    info, "[modelinfo]\nversion=1.0\ngroup-id=x\n[sightline]\nfallback=true\n", -1, NULL));
  set_fake ("run");
  g_autoptr (SlSession) session = open_session (onnx, &backend, &model, &notice, &error);
  set_fake (NULL);
  g_unlink (info);
  g_assert_no_error (error);
  g_assert_null (sl_session_external (session));
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_nonnull (strstr (text, "runtime-ms=0\n"));
}

/* A runtime that was measured before and fails now is not an error: nobody asked for it. */
static void
test_auto_falls_back (void)
{
  const SlBackendSettings backend = { .backend = "auto", .options = "session.test=2" };
  g_autofree char *path = g_build_filename (g_get_user_cache_dir (), "sightline", "backends", NULL),
                  *text = NULL, *notice = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = NULL;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_autoptr (GString) changed = g_string_new (text);
  g_assert_cmpuint (g_string_replace (changed, "backend=sightline", "backend=onnxruntime", 0), ==,
                    1);
  g_assert_true (g_file_set_contents (path, changed->str, -1, NULL));
  set_fake ("run");
  g_autoptr (SlSession) session = open_session (onnx, &backend, &model, &notice, &error);
  set_fake (NULL);
  g_assert_no_error (error);
  g_assert_null (sl_session_external (session));
  g_assert_nonnull (strstr (
    notice,
    "Sightline runs the model on the CPU instead: ONNX Runtime 1.99.0, CPU: a first run on zeros "
    "failed"));
}

/* What MODEL.modelinfo states counts where nothing else does. */
static void
test_key_file (void)
{
  g_autofree char *info = g_strconcat (onnx, ".modelinfo", NULL), *notice = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = NULL, plain = NULL;
  g_assert_true (g_file_set_contents (
    info,
    "[modelinfo]\nversion=1.0\ngroup-id=x\n[sightline]\nbackend=onnxruntime\nprovider=qnn\n"
    "precision=fp16\n",
    -1, NULL));
  g_autoptr (SlSession) session =
    open_session (onnx, &(SlBackendSettings){ 0 }, &model, &notice, &error);
  plain = sl_model_load (onnx, NULL, &error);
  g_assert_no_error (error);
  const SlModelLoadOptions ours = { .any_backend = TRUE, .backend = { .backend = "sightline" } };
  g_autoptr (SlModel) rounded = sl_model_load_with (onnx, NULL, &ours, &error);
  g_unlink (info);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_external_model_title (sl_session_external (session)), ==,
                   "ONNX Runtime 1.99.0, QNN");
  g_assert_null (sl_model_external (plain));
  g_assert_cmpint (sl_graph_precision (sl_model_graph (plain)), ==, SL_PRECISION_FLOAT);
  g_assert_cmpint (sl_graph_precision (sl_model_graph (rounded)), ==, SL_PRECISION_FP16);
  g_assert_cmpstr (
    sl_model_notice (rounded), ==,
    "precision=fp16 changes nothing: none of its convolutions and fully connected layers computes "
    "in floats");
}

/* It hands no model that Sightline refuses to a runtime, which has no bounds. */
static void
test_key_file_refused (void)
{
  g_autofree char *info = g_strconcat (unknown, ".modelinfo", NULL);
  g_assert_true (g_file_set_contents (
    info, "[modelinfo]\nversion=1.0\ngroup-id=x\n[sightline]\nbackend=onnxruntime\n", -1, NULL));
  expect_refusal (
    unknown, &(SlBackendSettings){ 0 }, NULL, "Sightline refuses it (",
    "and only the key file beside it names a backend: state backend=onnxruntime yourself");
  g_unlink (info);
}

typedef struct
{
  TestLine line;
  gfloat x[VALUES];
} Fixture;

static Fixture
setup (const char *more)
{
  Fixture fixture = { 0 };
  g_autofree char *launch =
    g_strdup_printf ("slinfer name=i model=%s backend=onnxruntime %s", onnx, more);
  fill (fixture.x);
  fixture.line = test_line_open (launch, NULL, CAPS);
  return fixture;
}

static GstFlowReturn
push (Fixture *fixture)
{
  return gst_harness_push (fixture->line.harness, test_tensor_buffer (fixture->x, BYTES));
}

static void
expect_negative (Fixture *fixture)
{
  g_autoptr (GstBuffer) out = gst_harness_pull (fixture->line.harness);
  gfloat y[VALUES];
  g_assert_cmpuint (gst_buffer_extract (out, 0, y, BYTES), ==, BYTES);
  for (guint i = 0; i < VALUES; i++)
    g_assert_cmpfloat (y[i], ==, -fixture->x[i]);
}

/* The device goes away in the middle: every frame comes out, and a warning says which backend runs
 * the model from then on. */
static void
test_element_falls_back (void)
{
  Fixture fixture = setup ("fallback=true");
  for (guint i = 0; i < 6; i++) {
    set_fake (i == 3 ? "run" : NULL);
    g_assert_cmpint (push (&fixture), ==, GST_FLOW_OK);
    expect_negative (&fixture);
  }
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (fixture.line.bus, GST_MESSAGE_WARNING);
  g_autoptr (GError) warning = NULL;
  g_assert_nonnull (message);
  gst_message_parse_warning (message, &warning, NULL);
  g_assert_nonnull (strstr (
    warning->message,
    "ONNX Runtime 1.99.0, CPU failed, so Sightline runs the model on the CPU from here on: the "
    "fake device is gone"));
  g_assert_null (gst_bus_pop_filtered (fixture.line.bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR));
  test_line_close (fixture.line.harness, fixture.line.bus);
}

static void
test_element_errors (void)
{
  Fixture fixture = setup ("");
  g_assert_cmpint (push (&fixture), ==, GST_FLOW_OK);
  expect_negative (&fixture);
  set_fake ("run");
  g_assert_cmpint (push (&fixture), ==, GST_FLOW_ERROR);
  set_fake (NULL);
  test_assert_error (fixture.line.bus, onnx, "the fake device is gone", NULL);
  test_line_close (fixture.line.harness, fixture.line.bus);
}

/* A device that takes long to start, and does so before the first frame. */
static void
test_element_slow (void)
{
  const int loads = *(int *) fake ("fake_loads");
  set_fake ("slow=50");
  Fixture fixture = setup ("");
  set_fake (NULL);
  g_assert_cmpint (*(int *) fake ("fake_loads"), ==, loads + 1);
  g_assert_cmpint (push (&fixture), ==, GST_FLOW_OK);
  expect_negative (&fixture);
  test_line_close (fixture.line.harness, fixture.line.bus);
}

static GstPadProbeReturn
note_memory (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstMapInfo map;
  if (gst_buffer_map (info->data, &map, GST_MAP_READ)) {
    *(const void **) data = map.data;
    gst_buffer_unmap (info->data, &map);
  }
  return GST_PAD_PROBE_OK;
}

/* The runtime reads what slnormalize has written where that is, and writes where the next element
 * reads. */
static void
test_in_place (void)
{
  g_autofree char *launch =
    g_strdup_printf ("slnormalize ! slinfer name=i model=%s backend=onnxruntime", onnx);
  static const char frames[] = "video/x-raw,format=RGB,width=4,height=4,framerate=25/1";
  TestLine line = test_line_open (launch, NULL, frames);
  GstElement *infer = gst_harness_find_element (line.harness, "slinfer");
  GstPad *sink = gst_element_get_static_pad (infer, "sink");
  const void *in = NULL;
  gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_BUFFER, note_memory, &in, NULL);
  for (guint i = 0; i < 4; i++) {
    GstMapInfo map;
    g_assert_cmpint (
      gst_harness_push (line.harness,
                        test_frame (frames, (const guint8[3]){ 10, 20, 30 }, i * GST_MSECOND)),
      ==, GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (line.harness);
    g_assert_true (gst_buffer_map (out, &map, GST_MAP_READ));
    g_assert_true (in != NULL && in == *(const void **) fake ("fake_input"));
    g_assert_true (map.data == *(const void **) fake ("fake_output"));
    g_assert_cmpfloat_with_epsilon (*(gfloat *) (gpointer) map.data, -10 / 255.0f, 1e-6f);
    gst_buffer_unmap (out, &map);
  }
  gst_object_unref (sink);
  gst_object_unref (infer);
  test_line_close (line.harness, line.bus);
}

TEST_MAIN (int argc, char **argv)
{
  g_autofree char *cache = g_dir_make_tmp ("sightline-XXXXXX", NULL);
  g_setenv ("XDG_CACHE_HOME", cache, TRUE);
  test_elements_init (&argc, &argv);
  onnx = fake_model ("neg.onnx", "Neg");
  unknown = fake_model ("unknown.onnx", "TfIdfVectorizer");
  tflite = test_colour_model (SL_DTYPE_F32);
  g_test_add_func ("/slinfer-backend/library", test_library);
  g_test_add_func ("/slinfer-backend/state", test_state);
  g_test_add_func ("/slinfer-backend/settings", test_settings);
  g_test_add_func ("/slinfer-backend/options", test_options);
  g_test_add_func ("/slinfer-backend/results", test_results);
  g_test_add_func ("/slinfer-backend/odd-outputs", test_odd_outputs);
  g_test_add_func ("/slinfer-backend/shared", test_shared);
  g_test_add_func ("/slinfer-backend/failures", test_failures);
  g_test_add_func ("/slinfer-backend/fallback", test_fallback);
  g_test_add_func ("/slinfer-backend/lost", test_lost);
  g_test_add_func ("/slinfer-backend/unknown-operator", test_unknown_operator);
  g_test_add_func ("/slinfer-backend/auto", test_auto);
  g_test_add_func ("/slinfer-backend/auto-fails", test_auto_fails);
  g_test_add_func ("/slinfer-backend/auto-falls-back", test_auto_falls_back);
  g_test_add_func ("/slinfer-backend/key-file", test_key_file);
  g_test_add_func ("/slinfer-backend/key-file-refused", test_key_file_refused);
  g_test_add_func ("/slinfer-backend/element-falls-back", test_element_falls_back);
  g_test_add_func ("/slinfer-backend/element-errors", test_element_errors);
  g_test_add_func ("/slinfer-backend/element-slow", test_element_slow);
  g_test_add_func ("/slinfer-backend/in-place", test_in_place);
  const int result = test_elements_run ();
  g_autofree char *folder = g_build_filename (cache, "sightline", NULL),
                  *file = g_build_filename (folder, "backends", NULL);
  g_unlink (file);
  g_rmdir (folder);
  g_rmdir (cache);
  test_remove_file (onnx);
  test_remove_file (unknown);
  test_remove_file (tflite);
  g_free (onnx);
  g_free (unknown);
  g_free (tflite);
  return result;
}
