/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * backend=tflite with LiteRT's library in place of TensorFlow Lite's: one of our own that speaks
 * its interface (tests/support/fake_litert.c). The library computes by itself, so what it answers
 * is what Sightline computes of the same file only if tensors come in the right order.
 */
#include <dlfcn.h>
#include <string.h>

#include <glib/gstdio.h>

#include "models/backend.h"
#include "tests/support/program.h"
#include "tests/support/tflite_writer.h"

static int *accelerators, *alive, *runs;

/* (transfer full): the path of a model: x, float32[1,4,4,3], and k, float32[1,3], to the mean of x
 * plus k; by operators that are @known, or by one that Sightline lacks. */
static char *
write_model (gboolean known)
{
  g_autofree char *folder = g_dir_make_tmp ("litert-XXXXXX", NULL);
  char *path = g_build_filename (folder, "model.tflite", NULL);
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  const SlTfliteTensor tensors[] = {
    { .name = "x", .dtype = SL_DTYPE_F32, .rank = 4, .dims = { 1, 4, 4, 3 } },
    { .name = "k", .dtype = SL_DTYPE_F32, .rank = 2, .dims = { 1, 3 } },
    { .name = "mean", .dtype = SL_DTYPE_F32, .rank = 2, .dims = { 1, 3 } },
    { .name = "y", .dtype = SL_DTYPE_F32, .rank = 2, .dims = { 1, 3 } },
  };
  gint32 at[G_N_ELEMENTS (tensors)];
  for (guint i = 0; i < G_N_ELEMENTS (tensors); i++)
    at[i] = sl_tflite_writer_tensor (writer, &tensors[i]);
  const SlTfliteOp unknown = { .custom = "mean-plus",
                               .n_inputs = 2,
                               .inputs = { at[0], at[1] },
                               .n_outputs = 1,
                               .outputs = { at[3] } };
  if (!known) {
    sl_tflite_writer_op (writer, &unknown);
    sl_tflite_writer_io (writer, 2, at, 1, &at[3]);
    sl_tflite_writer_save (writer, path);
    return path;
  }
  const gint32 axes = sl_tflite_writer_const_i32 (writer, "axes", 2, (const gint32[]){ 1, 2 });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_MEAN,
                                              .n_inputs = 2,
                                              .inputs = { at[0], axes },
                                              .n_outputs = 1,
                                              .outputs = { at[2] } });
  sl_tflite_writer_op (writer, &(SlTfliteOp){ .op = SL_OP_ADD,
                                              .n_inputs = 2,
                                              .inputs = { at[2], at[1] },
                                              .n_outputs = 1,
                                              .outputs = { at[3] } });
  sl_tflite_writer_io (writer, 2, at, 1, &at[3]);
  sl_tflite_writer_save (writer, path);
  return path;
}

/* (transfer full): a session, as @words have the library; NULL with @error set. @notice: (out) */
static SlSession *
open_model (gboolean known, const char *words, const SlBackendSettings *settings, char **notice,
            GError **error)
{
  g_autofree char *path = write_model (known), *folder = g_path_get_dirname (path);
  const SlModelLoadOptions how = { .backend = *settings, .threads = 1 };
  g_setenv ("FAKE_LITERT", words, TRUE);
  *runs = 0;
  g_autoptr (SlModel) model = sl_model_load_with (path, NULL, &how, error);
  SlSession *session = model != NULL ? sl_model_session_new (model, 1, notice, error) : NULL;
  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
  return session;
}

static SlSession *
open_session (const char *words, const SlBackendSettings *settings, char **notice, GError **error)
{
  return open_model (TRUE, words, settings, notice, error);
}

/* What the model of write_model() gives of x = 0, 1, 2 ... 47. */
static void
check_run (SlSession *session)
{
  gfloat x[48 + 16] = { 0 }, k[3 + 16] = { 100, 200, 300 }, y[3 + 16] = { 0 };
  for (guint i = 0; i < 48; i++)
    x[i] = (gfloat) i;
  g_assert_cmpint (sl_session_run (session, (const void *[]){ x, k }, (void *[]){ y }), ==,
                   SL_STATUS_OK);
  for (guint c = 0; c < 3; c++)
    g_assert_cmpfloat (y[c], ==, 22.5 + c + k[c]);
}

/* By each accelerator, which the processor helps; nothing stays. */
static void
test_runs (void)
{
  static const struct
  {
    const char *options, *title;
    int bits;
  } cases[] = { { NULL, "LiteRT 2, CPU", 1 },
                { "accelerator=cpu", "LiteRT 2, CPU", 1 },
                { "accelerator=gpu", "LiteRT 2, GPU", 3 },
                { "accelerator=npu", "LiteRT 2, NPU", 5 } };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint open = 0; open < 2; open++) {
      g_autofree char *notice = NULL;
      g_autoptr (GError) error = NULL;
      const SlBackendSettings settings = { .backend = "tflite", .options = cases[i].options };
      g_autoptr (SlSession) session = open_session (open ? "open" : "", &settings, &notice, &error);
      g_assert_no_error (error);
      g_assert_null (notice);
      g_assert_cmpstr (sl_external_model_title (sl_session_external (session)), ==, cases[i].title);
      g_assert_cmpint (*accelerators, ==, cases[i].bits);
      check_run (session);
      check_run (session);
      g_clear_pointer (&session, sl_session_free);
      g_assert_cmpint (*alive, ==, 0);
    }
  g_assert_cmpstr (sl_external_title ("tflite"), ==, "LiteRT");
}

/* Each refusal has a sentence, nothing stays, and with a fallback Sightline runs the model. */
static void
test_refused (void)
{
  static const struct
  {
    const char *words;
    SlBackendSettings settings;
    const char *fragment;
  } cases[] = {
    { "load", { .backend = "tflite" }, "LiteRT 2: the file is refused: the fake compiler refuses" },
    { "compile",
      { .backend = "tflite" },
      "LiteRT 2, CPU: the model is refused: the fake compiler refuses" },
    { "run",
      { .backend = "tflite" },
      "a first run on zeros failed: the run failed: the fake device is gone" },
    { "nothing",
      { .backend = "tflite" },
      "LiteRT 2: it says that all is well, and does not give a model: it is no complete library" },
    { "blank", { .backend = "tflite" }, "a first run on zeros failed: a tensor has no memory" },
    { "wide", { .backend = "tflite" }, "tensor 'x': expected 192 bytes, got 196" },
    { "text",
      { .backend = "tflite" },
      "a tensor has elements of type 5 and 4 dimensions, which is not supported" },
    { "",
      { .backend = "tflite", .options = "accelerator=tpu" },
      "LiteRT 2: provider-options: expected accelerator=cpu, gpu or npu, got accelerator=tpu" },
    { "",
      { .backend = "tflite", .options = "device=usb" },
      "LiteRT 2: provider-options: expected accelerator=cpu, gpu or npu, got device=usb" },
    { "",
      { .backend = "tflite", .delegate = "/none.so" },
      "LiteRT 2: delegate: it takes none; state provider-options=accelerator=gpu or npu, or use "
      "TensorFlow Lite's library" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *notice = NULL;
    g_autoptr (GError) error = NULL;
    SlBackendSettings settings = cases[i].settings;
    g_assert_null (open_session (cases[i].words, &settings, &notice, &error));
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, cases[i].fragment));
    g_assert_cmpint (*alive, ==, 0);
    g_clear_error (&error);
    g_clear_pointer (&notice, g_free);
    settings.fallback = TRUE;
    g_autoptr (SlSession) session = open_session (cases[i].words, &settings, &notice, &error);
    g_assert_no_error (error);
    g_assert_nonnull (strstr (notice, cases[i].fragment));
    check_run (session);
  }
}

/* A model that Sightline refuses: inputs and outputs are those that the library names. */
static void
test_whole (void)
{
  static const SlBackendSettings settings = { .backend = "tflite" };
  g_autofree char *notice = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (SlSession) session = open_model (FALSE, "", &settings, &notice, &error);
  g_assert_no_error (error);
  check_run (session);
  g_assert_null (open_model (FALSE, "vague", &settings, &notice, &error));
  g_test_message ("%s", error->message);
  g_assert_nonnull (
    strstr (error->message, "LiteRT 2, CPU: tensor 'y' has no fixed size: state input-shape"));
  g_clear_error (&error);
  g_assert_null (open_model (FALSE, "run", &settings, &notice, &error));
  g_assert_nonnull (strstr (error->message, "the run failed: the fake device is gone"));
}

/* A device that is lost while frames flow: an error, or Sightline takes over. */
static void
test_lost (void)
{
  for (guint fallback = 0; fallback < 2; fallback++) {
    g_autofree char *notice = NULL;
    g_autoptr (GError) error = NULL;
    const SlBackendSettings settings = { .backend = "tflite", .fallback = (gboolean) fallback };
    g_autoptr (SlSession) session = open_session ("lost=2", &settings, &notice, &error);
    g_assert_no_error (error);
    check_run (session);
    if (fallback) {
      check_run (session);
      continue;
    }
    gfloat x[48 + 16] = { 0 }, k[3 + 16] = { 0 }, y[3 + 16];
    const SlStatus status = sl_session_run (session, (const void *[]){ x, k }, (void *[]){ y });
    g_assert_cmpint (status, !=, SL_STATUS_OK);
    g_assert_nonnull (
      strstr (sl_session_status_text (session, status), "the run failed: the fake device is gone"));
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_setenv ("SIGHTLINE_TFLITE", FAKE_LITERT_LIBRARY, TRUE);
  void *library = dlopen (FAKE_LITERT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  g_assert_nonnull (library);
  accelerators = dlsym (library, "fake_litert_accelerators");
  alive = dlsym (library, "fake_litert_alive");
  runs = dlsym (library, "fake_litert_runs");
  g_test_add_func ("/litert/runs", test_runs);
  g_test_add_func ("/litert/refused", test_refused);
  g_test_add_func ("/litert/whole", test_whole);
  g_test_add_func ("/litert/lost", test_lost);
  return g_test_run ();
}
