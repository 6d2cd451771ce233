/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory that ends: while a model is loaded, while its first frames run, in the predictor, and
 * where something was wrong already.
 */
#include <string.h>

#include "core/runtime/session.h"
#include "models/model.h"
#include "sightline/sightline.h"
#include "tests/faults/sweep.h"
#include "tests/models/tiny.h"

typedef struct
{
  SlTfliteWriter *(*make) (void);
  guint threads;
} ModelCase;

static SlTfliteWriter *
two_classes (void)
{
  return tiny_detector (2);
}

static const ModelCase models[] = { { tiny_classifier, 1 },
                                    { tiny_channels, 1 },
                                    { tiny_float, 1 },
                                    { two_classes, 1 },
                                    { tiny_classifier, 2 } };

static char *
take_message (GError *error)
{
  char *text = g_strdup (error->message);
  g_error_free (error);
  return text;
}

/* The bytes of every output for inputs that count, as text. */
static char *
run_frames (SlGraph *graph, SlSession *session)
{
  GString *text = g_string_new (NULL);
  void *inputs[SL_MAX_IO] = { NULL }, *outputs[SL_MAX_IO] = { NULL };
  gboolean good = TRUE;
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++)
    good =
      (inputs[i] = sl_tensor_buffer_new (sl_graph_input_tensor (graph, i)->bytes)) != NULL && good;
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    good = (outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes)) != NULL
           && good;
  if (!good)
    g_string_append (text, "no memory for tensors");
  for (guint frame = 0; good && frame < 2; frame++) {
    for (guint i = 0; i < sl_graph_n_inputs (graph); i++)
      memset (inputs[i], (gint) (frame + i), sl_graph_input_tensor (graph, i)->bytes);
    const SlStatus status = sl_session_run (session, (const void *const *) inputs, outputs);
    g_string_append_printf (text, "%s:", sl_session_status_text (session, status));
    for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
      for (gsize k = 0; k < sl_graph_output_tensor (graph, i)->bytes; k++)
        g_string_append_printf (text, "%02x", ((const guint8 *) outputs[i])[k]);
  }
  for (guint i = 0; i < SL_MAX_IO; i++) {
    sl_tensor_buffer_free (inputs[i]);
    sl_tensor_buffer_free (outputs[i]);
  }
  return g_string_free (text, FALSE);
}

typedef struct
{
  const char *path;
  guint threads;
} Load;

static char *
load_and_run (gpointer data)
{
  const Load *load = data;
  GError *error = NULL;
  g_autoptr (SlModel) model = sl_model_load_with (
    load->path, NULL, &(SlModelLoadOptions){ .skip_input_quantize = TRUE }, &error);
  g_autoptr (SlSession) session =
    model != NULL ? sl_session_new (sl_model_graph (model), load->threads, &error) : NULL;
  if (session == NULL)
    return take_message (error);
  g_autofree char *summary = sl_contract_summary (sl_model_contract (model));
  g_autofree char *frames = run_frames (sl_model_graph (model), session);
  /* A second model and session of the same file, which share what they can. */
  g_autoptr (SlModel) again = sl_model_load_with (
    load->path, NULL, &(SlModelLoadOptions){ .skip_input_quantize = TRUE }, &error);
  g_autoptr (SlSession) second =
    again != NULL ? sl_session_new (sl_model_graph (again), load->threads, &error) : NULL;
  if (second == NULL)
    return take_message (error);
  g_autofree char *more = run_frames (sl_model_graph (again), second);
  return g_strconcat (summary, "\n", frames, "\n", more, NULL);
}

static void
test_model (gconstpointer data)
{
  const ModelCase *test = data;
  g_autoptr (SlTfliteWriter) writer = test->make ();
  g_autofree char *path = sl_tflite_writer_save_temp (writer, "model.tflite", NULL);
  sl_tflite_make_old (path);
  Load load = { path, test->threads };
  sweep (NULL, load_and_run, &load);
  sl_tflite_remove_temp (path);
}

/* Errors whose messages are put together from many parts. */
static void
test_bad_model (gconstpointer data)
{
  g_autoptr (SlTfliteWriter) writer = tiny_classifier ();
  g_autoptr (GBytes) bytes = sl_tflite_writer_finish (writer);
  g_autofree char *dir = g_dir_make_tmp ("sightline-XXXXXX", NULL),
                  *path = g_build_filename (dir, "bad.tflite", NULL);
  const gsize size = g_bytes_get_size (bytes);
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                      (gssize) (size * (gsize) GPOINTER_TO_INT (data) / 100),
                                      NULL));
  Load load = { path, 1 };
  sweep (NULL, load_and_run, &load);
  sl_tflite_remove_temp (path);
}

static char *
predict (gpointer data)
{
  GError *error = NULL;
  guint8 pixels[12 * 8 * 3];
  for (guint i = 0; i < sizeof pixels; i++)
    pixels[i] = (guint8) (i % 3 == 1 ? 200 : 20);
  g_autoptr (SlPredictor) predictor = sl_predictor_new (data, &error);
  if (predictor == NULL)
    return take_message (error);
  g_autoptr (GBytes) bytes = g_bytes_new (pixels, sizeof pixels);
  g_autoptr (SlPredictions) predictions =
    sl_predictor_predict_bytes (predictor, "RGB", 12, 8, bytes, &error);
  return predictions != NULL ? sl_predictions_to_text (predictions) : take_message (error);
}

static void
test_predictor (void)
{
  g_autofree char *path =
    g_build_filename (g_getenv ("SIGHTLINE_TEST_MODELS"), "brightest_channel.tflite", NULL);
  sweep (NULL, predict, path);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (models); i++) {
    g_autofree char *name = g_strdup_printf ("/library/model/%u", i);
    g_test_add_data_func (name, &models[i], test_model);
  }
  g_test_add_data_func ("/library/bad-model/half", GINT_TO_POINTER (50), test_bad_model);
  g_test_add_data_func ("/library/bad-model/most", GINT_TO_POINTER (90), test_bad_model);
  g_test_add_func ("/library/predictor", test_predictor);
  return g_test_run ();
}
