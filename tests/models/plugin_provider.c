/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * provider-library and device, with the real ONNX Runtime, where its library is, and a provider of
 * our own (tests/support/plugin_provider.c). The runtime registers a library once in a process, so
 * other libraries are copies of that one.
 */
#include <glib/gstdio.h>

#include <string.h>

#include "models/backend.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

/* The path of a model that computes y = max (x, 0). */
static char *
write_model (void)
{
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  sl_onnx_writer_input (w, "x", SL_ONNX_FLOAT, 4, (gint64[]){ 1, 3, 2, 2 });
  sl_onnx_writer_node (w, "Relu", "x", "y", NULL);
  sl_onnx_writer_output (w, "y", SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (w);
  g_autofree char *folder = g_dir_make_tmp ("plugin-XXXXXX", NULL);
  char *path = g_build_filename (folder, "relu.onnx", NULL);
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes), NULL));
  return path;
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
load (const SlBackendSettings *settings, GError **error)
{
  g_autofree char *path = write_model ();
  const SlModelLoadOptions how = { .backend = *settings, .threads = 1 };
  SlModel *model = sl_model_load_with (path, NULL, &how, error);
  remove_file (path);
  return model;
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
    ": it lacks the function CreateEpFactories; expected a plug-in library of an execution provider, for ONNX Runtime 1.22 "
    "or newer");
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
    ": it finds no device; check that the device is there, that its driver is installed, and that this user may "
    "open it");
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
      "device=tpu: expected cpu, gpu or npu, or a number of sightline backends" },
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
  expect (
    &(SlBackendSettings){ .backend = "onnxruntime", .provider_library = PLUGIN_PROVIDER },
    "provider-library: ONNX Runtime 1.21.0 takes no libraries of providers; expected 1.22 or newer: install that");
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
  g_test_add_func ("/plugin-provider/old-runtime", test_old_runtime);
  return g_test_run ();
}
