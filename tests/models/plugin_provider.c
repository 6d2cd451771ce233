/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * provider-library and device, with the real ONNX Runtime, where its library is, and a provider of
 * our own (tests/support/plugin_provider.c). The runtime registers a library once in a process, so
 * other libraries are copies of that one.
 */
#include <glib/gstdio.h>

#include <string.h>

#include "models/device_choice.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

/* (transfer full): the path of a new file. */
static char *
write_file (const char *name, gconstpointer bytes, gsize size)
{
  g_autofree char *folder = g_dir_make_tmp ("plugin-XXXXXX", NULL);
  char *path = g_build_filename (folder, name, NULL);
  g_assert_true (g_file_set_contents (path, bytes, (gssize) size, NULL));
  return path;
}

/* The path of a model that computes y = @operator (x). */
static char *
write_model (const char *operator)
{
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 4, (gint64[]){ 1, 3, 2, 2 });
  sl_onnx_writer_node (w, operator, "x", "y", NULL);
  sl_onnx_writer_output (w, "y", SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (w);
  return write_file ("model.onnx", g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
}

static void
remove_file (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

/* Whether the runtime is there, and new enough. */
static gboolean
has_runtime (void)
{
  g_autoptr (GError) error = NULL;
  const char *version = sl_external_open ("onnxruntime", NULL, &error);
  if (version != NULL && g_ascii_strtod (version + 2, NULL) >= 23)
    return TRUE;
  g_test_skip (version != NULL ? "ONNX Runtime is older than 1.23" : error->message);
  return FALSE;
}

static SlModel *
load_operator (const char *operator, const SlBackendSettings * settings, GError **error)
{
  g_autofree char *path = write_model (operator);
  const SlModelLoadOptions how = { .backend = *settings, .threads = 1 };
  SlModel *model = sl_model_load_with (path, NULL, &how, error);
  remove_file (path);
  return model;
}

/* y = max (x, 0) */
static SlModel *
load (const SlBackendSettings *settings, GError **error)
{
  return load_operator ("Relu", settings, error);
}

static void
test_runs (gconstpointer device)
{
  if (!has_runtime ())
    return;
  const SlBackendSettings settings = { .backend = "onnxruntime",
                                       .provider_library = PLUGIN_PROVIDER,
                                       .device = device };
  /* 12 values, and the padding of tensors. */
  static const gfloat in[32] = { -1, 2, -3, 4, 5, -6, 7, -8, 9, -10, 11, -12 };
  gfloat out[32] = { 0 };
  g_autoptr (GError) error = NULL;
  g_autofree char *notice = NULL;
  g_autoptr (SlModel) model = load (&settings, &error);
  g_assert_no_error (error);
  g_autoptr (SlSession) session = sl_model_session_new (model, 1, &notice, &error);
  g_assert_no_error (error);
  g_assert_nonnull (
    strstr (sl_external_model_title (sl_session_external (session)), ", TestProvider (cpu)"));
  g_assert_cmpint (sl_session_run (session, (const void *[]){ in }, (void *[]){ out }), ==,
                   SL_STATUS_OK);
  for (guint i = 0; i < 12; i++)
    g_assert_cmpfloat (out[i], ==, MAX (in[i], 0));
}

static void
append_device (const SlExternalDevice *device, gpointer text)
{
  g_assert_nonnull (device->vendor);
  g_string_append_printf (text, "%s %s %s;", device->type, device->provider, device->memory);
}

static void
test_list (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) own = g_string_new (NULL), all = g_string_new (NULL);
  if (!has_runtime ())
    return;
  g_assert_true (
    sl_external_list_devices ("onnxruntime", PLUGIN_PROVIDER, append_device, own, &error));
  g_assert_cmpstr (own->str, ==, "cpu TestProvider 1 GiB;cpu TestProvider 2 GiB;");
  g_assert_true (sl_external_list_devices ("onnxruntime", NULL, append_device, all, &error));
  g_assert_nonnull (strstr (all->str, "cpu CPUExecutionProvider (null);"));
  g_assert_nonnull (strstr (all->str, own->str));
}

static void
expect (const SlBackendSettings *settings, const char *fragment)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (load (settings, &error));
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, fragment));
}

/* A copy of the provider is another library. */
static void
expect_of_copy (const char *asked, const char *fragment)
{
  g_autofree char *folder = g_dir_make_tmp ("plugin-XXXXXX", NULL), *text = NULL;
  g_autofree char *copy = g_build_filename (folder, "copy.so", NULL);
  gsize length = 0;
  g_assert_true (g_file_get_contents (PLUGIN_PROVIDER, &text, &length, NULL));
  g_assert_true (g_file_set_contents (copy, text, (gssize) length, NULL));
  g_setenv ("SIGHTLINE_TEST_PROVIDER", asked, TRUE);
  expect (&(SlBackendSettings){ .backend = "onnxruntime", .provider_library = copy }, fragment);
  g_unsetenv ("SIGHTLINE_TEST_PROVIDER");
  remove_file (copy);
}

static void
test_refused (void)
{
  if (!has_runtime ())
    return;
  expect (&(SlBackendSettings){ .backend = "onnxruntime", .provider_library = "/nowhere/p.so" },
          "provider-library=/nowhere/p.so: cannot be opened: ");
  expect (
    &(SlBackendSettings){ .backend = "onnxruntime", .provider_library = FAKE_RUNTIME_LIBRARY },
    ": it lacks the function CreateEpFactories; expected a plug-in library of an execution "
    "provider, for ONNX Runtime 1.22 or newer");
  expect (&(SlBackendSettings){ .backend = "onnxruntime",
                                .provider_library = PLUGIN_PROVIDER,
                                .device = "npu" },
          "device=npu: the provider's library has no such device; expected one of 0 cpu, 1 cpu");
  expect (&(SlBackendSettings){ .backend = "onnxruntime",
                                .provider_library = PLUGIN_PROVIDER,
                                .device = "2" },
          "device=2: the provider's library has no such device; expected one of 0 cpu, 1 cpu");
  expect_of_copy (
    "none",
    ": it finds no device; check that the device is there, that its driver is installed, and that "
    "this user may open it");
  expect_of_copy ("refuse", "the test provider is for another version of ONNX Runtime");
}

static void
test_settings (void)
{
  static const struct
  {
    SlBackendSettings settings;
    const char *message;
  } cases[] = {
    { { .backend = "onnxruntime", .device = "gpu" },
      "device=gpu goes with provider-library; state that, or leave device away" },
    { { .backend = "onnxruntime", .provider_library = "p.so", .device = "tpu" },
      "device=tpu: expected auto, cpu, gpu or npu, or a number of sightline backends" },
    { { .backend = "onnxruntime", .provider_library = "p.so", .provider = "cuda" },
      "provider and provider-library are both set: expected one of them" },
    { { .backend = "tflite", .provider_library = "p.so" },
      "provider-library=p.so goes with backend=onnxruntime or auto" },
    { { .provider_library = "p.so" },
      "provider-library=p.so goes with backend=onnxruntime or auto" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_false (sl_backend_settings_check (&cases[i].settings, &error));
    g_assert_true (g_str_has_prefix (error->message, cases[i].message));
  }
}

static SlDeviceTrial
trial (const char *title, gdouble ours_ms, gdouble theirs_ms, gdouble difference)
{
  return (SlDeviceTrial){ .title = g_strdup (title),
                          .trial = { .ours_ms = ours_ms,
                                     .theirs_ms = theirs_ms,
                                     .difference = difference,
                                     .agrees = difference <= SL_BACKEND_AGREEMENT } };
}

static void
expect_judgement (SlDeviceTrial *trials, guint n, gint expected, const char *sentence)
{
  g_autofree char *why = NULL;
  g_assert_cmpint (sl_device_judge (trials, n, &why), ==, expected);
  g_assert_cmpstr (why, ==, sentence);
  for (guint i = 0; i < n; i++)
    sl_device_trial_clear (&trials[i]);
}

/* The fastest device whose results agree, if it is faster by 5 %. */
static void
test_judge (void)
{
  SlDeviceTrial better[] = { trial ("device 0 (cpu, A)", 8, 9, 0),
                             trial ("device 1 (gpu, B)", 8, 1, 0.5),
                             trial ("device 2 (gpu, C)", 8, 4, 0.002),
                             trial ("device 3 (npu, D)", 8, 2, 0.0004) },
                worse[] = { trial ("device 0 (cpu, A)", 8, 7.7, 0),
                            trial ("device 1 (gpu, B)", 8, 1, 0.0101),
                            trial ("device 2 (npu, C)", 0, 0, 0) };
  worse[2].failure = g_strdup ("out of memory");
  expect_judgement (better, 4, 3,
                    "device=auto: device 3 (npu, D) runs the model in 2 ms, Sightline in 8 ms; "
                    "results differ by 0.04 %, at most 1 %");
  expect_judgement (
    worse, 3, -1,
    "device=auto: Sightline runs the model: device 0 (cpu, A) takes 7.7 ms, Sightline 8 ms, "
    "expected 5 "
    "% less; device 1 (gpu, B) gives results that differ by 1 %, expected at most 1 %; device 2 "
    "(npu, C) does not run it (out of memory)");
  expect_judgement (NULL, 0, -1,
                    "device=auto: Sightline runs the model: the library has no device");
}

/* @model runs in Sightline, for @reason. */
static void
expect_ours (const SlBackendSettings *settings, const char *reason)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *notice = NULL;
  g_autoptr (SlModel) model = load (settings, &error);
  g_assert_no_error (error);
  g_autoptr (SlSession) session = sl_model_session_new (model, 1, &notice, &error);
  g_assert_no_error (error);
  g_assert_null (sl_session_external (session));
  g_test_message ("%s", notice);
  g_assert_true (g_str_has_prefix (notice, "device=auto: Sightline runs the model: "));
  g_assert_nonnull (strstr (notice, reason));
  g_assert_cmpstr (sl_model_device_choice (model), ==, notice);
}

/* Both devices are measured; twelve numbers take Sightline less time than a call of the runtime. */
static void
test_auto (void)
{
  static const SlBackendSettings settings = { .backend = "onnxruntime",
                                              .provider_library = PLUGIN_PROVIDER,
                                              .device = "auto" };
  if (!has_runtime ())
    return;
  expect_ours (&settings, "; device 1 (cpu, TestProvider) takes ");
  expect_ours (&settings, " device 0 (cpu, TestProvider) takes ");
  expect_ours (&(SlBackendSettings){ .backend = "auto",
                                     .provider_library = "/nowhere/p.so",
                                     .device = "auto" },
               "provider-library=/nowhere/p.so: cannot be opened: ");
  static const guint8 lite[64] = "\x1c\0\0\0TFL3";
  const SlLoadRequest request = { .options = { .backend = settings } };
  g_autofree char *path = write_file ("model.tflite", lite, sizeof lite), *why = NULL;
  g_assert_null (sl_device_choose (path, &request, &why));
  g_assert_cmpstr (why, ==,
                   "device=auto: Sightline runs the model: providers take onnx files, and this is "
                   "one of tflite");
  remove_file (path);
}

/* Without a runtime, and a model that Sightline refuses. */
static void
test_auto_alone (void)
{
  const SlBackendSettings settings = { .backend = "auto",
                                       .provider_library = PLUGIN_PROVIDER,
                                       .device = "auto" };
  if (!g_test_subprocess ()) {
    g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
    g_test_trap_assert_passed ();
    return;
  }
  g_setenv ("SIGHTLINE_ONNXRUNTIME", "/nowhere/o.so", TRUE);
  g_autoptr (GError) error = NULL;
  expect_ours (&settings, "/nowhere/o.so, which the environment variable SIGHTLINE_ONNXRUNTIME");
  g_assert_null (load_operator ("Frobnicate", &settings, &error));
  g_assert_nonnull (strstr (error->message, ": device=auto compares devices with Sightline, which "
                                            "refuses the model: state the device; "));
}

/* The runtime that tests play is of an older version. */
static void
test_old_runtime (void)
{
  if (!g_test_subprocess ()) {
    g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
    g_test_trap_assert_passed ();
    return;
  }
  g_setenv ("FAKE_RUNTIME", "plugless", TRUE);
  g_setenv ("SIGHTLINE_ONNXRUNTIME", FAKE_RUNTIME_LIBRARY, TRUE);
  expect (&(SlBackendSettings){ .backend = "onnxruntime", .provider_library = PLUGIN_PROVIDER },
          "provider-library: ONNX Runtime 1.21.0 takes no libraries of providers; expected 1.22 or "
          "newer: install that");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/plugin-provider/runs/first", NULL, test_runs);
  g_test_add_data_func ("/plugin-provider/runs/type", "cpu", test_runs);
  g_test_add_data_func ("/plugin-provider/runs/number", "1", test_runs);
  g_test_add_func ("/plugin-provider/list", test_list);
  g_test_add_func ("/plugin-provider/refused", test_refused);
  g_test_add_func ("/plugin-provider/settings", test_settings);
  g_test_add_func ("/plugin-provider/judge", test_judge);
  g_test_add_func ("/plugin-provider/auto", test_auto);
  g_test_add_func ("/plugin-provider/auto-alone", test_auto_alone);
  g_test_add_func ("/plugin-provider/old-runtime", test_old_runtime);
  return g_test_run ();
}
