/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inferences recorded from sessions and run again: the same, with another input, with another
 * model. */
#include "models/replay/replay.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "core/base/xxh64.h"
#include "tests/models/helpers.h"
#include "tests/models/tiny.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

#define RUNS 5

/* What a replay reported. */
typedef struct
{
  guint n, unfinished, failed;
  guint64 number;
  SlReplayDifference last;
} Told;

static void
note (guint64 number, const SlReplayDifference *difference, const char *failure, gpointer data)
{
  Told *told = data;
  told->number = number;
  if (difference == NULL) {
    told->failed += failure != NULL;
    told->unfinished += failure == NULL;
    return;
  }
  told->n++;
  told->last = *difference;
}

static SlModel *
load (SlTfliteWriter *writer)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = sl_tflite_writer_save_temp (writer, "model.tflite", NULL);
  SlModel *model = sl_model_load (path, NULL, &error);
  g_assert_no_error (error);
  sl_tflite_remove_temp (path);
  sl_tflite_writer_free (writer);
  return model;
}

/* Bytes for @tensor: numbers of a float tensor lie in 0..1. */
static void
fill (void *data, const SlTensorInfo *tensor)
{
  for (gsize i = 0; i < tensor->bytes / sl_dtype_size (tensor->dtype); i++)
    if (tensor->dtype == SL_DTYPE_F32)
      ((gfloat *) data)[i] = (gfloat) g_test_rand_double ();
    else
      ((guint8 *) data)[i] = (guint8) g_test_rand_int ();
}

/* (transfer full): a box of RUNS runs of @model. Of run @spoilt the recorded output is changed by
 * @by, the last run had not finished. */
static SlBlackBox *
record (SlModel *model, SlSession *session, guint spoilt, gfloat by, gboolean stored)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlBlackBoxInfo) info = sl_black_box_info_new (model, session, NULL, &error);
  g_assert_no_error (error);
  g_autofree char *folder = g_dir_make_tmp ("replay-XXXXXX", NULL),
                  *path = g_build_filename (folder, "r.slbox", NULL);
  g_autoptr (SlBlackBoxWriter) writer = sl_black_box_writer_new (path, info, &error);
  g_auto (SlReplayBuffers) buffers = { 0 };
  g_assert_true (sl_replay_buffers_init (&buffers, info, &error));
  for (guint run = 1; run <= RUNS; run++) {
    SlBlackBoxInference inference = { .number = run, .pts = G_MAXUINT64, .finished = run < RUNS };
    for (guint i = 0; i < info->n_inputs; i++)
      fill ((void *) (inference.inputs[i] = buffers.inputs[i]), &info->inputs[i]);
    g_assert_cmpint (
      sl_session_run (session, (const void *const *) buffers.inputs, buffers.outputs), ==,
      SL_STATUS_OK);
    if (run == spoilt)
      ((gfloat *) buffers.outputs[0])[1] += by;
    for (guint i = 0; i < info->n_outputs; i++) {
      inference.outputs[i] = stored ? buffers.outputs[i] : NULL;
      inference.hashes[i] = sl_xxh64 (buffers.outputs[i], info->outputs[i].bytes, 0);
    }
    g_assert_true (sl_black_box_writer_add (writer, &inference, &error));
  }
  g_assert_true (sl_black_box_writer_finish (writer, &error));
  SlBlackBox *box = sl_black_box_open (path, &error);
  g_assert_no_error (error);
  g_unlink (path);
  g_rmdir (folder);
  return box;
}

static void
replay (const SlBlackBox *box, SlSession *session, Told *told, SlReplaySum *sum)
{
  GError *error = NULL;
  *told = (Told){ 0 };
  g_assert_true (sl_replay_run (box, session, note, told, sum, &error));
  g_assert_no_error (error);
}

/* Bit for bit, in another session, whatever its threads. */
static void
test_equal (void)
{
  SlTfliteWriter *(*const models[]) (void) = { tiny_classifier, tiny_channels, tiny_float };
  for (guint i = 0; i < G_N_ELEMENTS (models); i++) {
    g_autoptr (SlModel) model = load (models[i]());
    g_autoptr (SlSession) first = sl_session_new (sl_model_graph (model), 1, NULL);
    g_autoptr (SlBlackBox) box = record (model, first, 0, 0, TRUE);
    for (guint threads = 1; threads <= 2; threads++) {
      g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), threads, NULL);
      Told told;
      SlReplaySum sum;
      replay (box, session, &told, &sum);
      g_assert_cmpuint (told.n, ==, 0);
      g_assert_cmpuint (told.unfinished, ==, 1);
      g_assert_cmpuint (told.number, ==, RUNS);
      g_assert_cmpuint (sum.equal, ==, RUNS - 1);
      g_assert_cmpuint (sum.different + sum.unfinished, ==, 1);
    }
  }
}

/* What the model fails on is the answer, or none; what follows is run all the same. */
static void
test_fails (void)
{
  g_autoptr (SlModel) model = load (tiny_float ());
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, NULL);
  g_autoptr (SlBlackBox) box = record (model, session, 0, 0, TRUE);
  Told told;
  SlReplaySum sum;
  sl_session_cancel (session, TRUE);
  replay (box, session, &told, &sum);
  g_assert_cmpuint (told.failed, ==, RUNS);
  g_assert_cmpuint (sum.failed, ==, RUNS);
  g_assert_cmpuint (sum.equal + sum.different + sum.unfinished, ==, 0);
}

static void
test_different (void)
{
  g_autoptr (SlModel) model = load (tiny_float ());
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, NULL);
  for (gint stored = 0; stored < 2; stored++) {
    g_autoptr (SlBlackBox) box = record (model, session, 3, 0.5f, stored);
    Told told;
    SlReplaySum sum;
    replay (box, session, &told, &sum);
    g_assert_cmpuint (sum.different, ==, 1);
    g_assert_cmpuint (sum.equal, ==, RUNS - 2);
    g_assert_cmpuint (told.n, ==, 1);
    g_assert_cmpuint (told.last.number, ==, 3);
    g_assert_cmpuint (told.last.output, ==, 0);
    g_assert_cmpint (told.last.stored, ==, stored);
    g_assert_cmpuint (told.last.differing, ==, stored);
    g_assert_cmpuint (told.last.place, ==, stored);
    g_assert_cmpfloat_with_epsilon (told.last.largest, stored * 0.5, 1e-6);
  }
}

static void
test_other_model (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = load (tiny_float ()), other = load (tiny_channels ());
  SlTfliteWriter *writer = tiny_float ();
  sl_tflite_writer_member (writer, "more.txt", "more", -1, FALSE);
  g_autoptr (SlModel) likewise = load (writer);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, NULL);
  g_autoptr (SlBlackBoxInfo) info = sl_black_box_info_new (model, session, "1,4", NULL);
  g_assert_cmpstr (info->input_shape, ==, "1,4");
  g_assert_null (info->precision);
  info->precision = g_strdup ("bf16");
  g_autofree char *text = sl_black_box_info_to_text (info);
  g_autoptr (SlBlackBoxInfo) read = sl_black_box_info_from_text (text, strlen (text), &error);
  g_assert_no_error (error);
  g_assert_cmpstr (read->precision, ==, "bf16");
  g_assert_true (sl_black_box_check_model (info, model, FALSE, &error));
  g_assert_false (sl_black_box_check_model (info, likewise, FALSE, &error));
  expect_error (&error, SL_ERROR_CONTRACT, "model.tflite: expected the model that was recorded, ",
                info->sha256, ", got ", NULL);
  g_assert_true (sl_black_box_check_model (info, likewise, TRUE, &error));
  g_assert_no_error (error);
  g_assert_false (sl_black_box_check_model (info, other, TRUE, &error));
  expect_error (
    &error, SL_ERROR_SHAPE,
    "model.tflite: expected inputs float32[1,4], float32[1,4], as they were recorded, got "
    "int8[1,5,5,4]",
    NULL);
}

/* (transfer full): x + w1 + w2 + ..., each of @n weights in a file of its own in @folder, all of
 * them @value. */
static SlModel *
load_split (const char *folder, guint n, gfloat value)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
  g_autofree char *path = g_build_filename (folder, "split.onnx", NULL);
  const gint64 dims[] = { 1, 4 };
  const gfloat weights[4] = { value, value, value, value };
  sl_onnx_writer_input (writer, "sum0", SL_ONNX_FLOAT, 2, dims);
  for (guint i = 0; i < n; i++) {
    g_autofree char *name = g_strdup_printf ("w%02u.bin", i),
                    *file = g_build_filename (folder, name, NULL);
    g_autofree char *inputs = g_strdup_printf ("sum%u,%s", i, name),
                    *output = g_strdup_printf ("sum%u", i + 1);
    g_assert_true (g_file_set_contents (file, (const char *) weights, sizeof weights, NULL));
    sl_onnx_message (writer->graph, 5,
                     sl_onnx_external_tensor (name, SL_ONNX_FLOAT, 2, dims, name, NULL, NULL));
    sl_onnx_writer_node (writer, "Add", inputs, output, NULL);
  }
  g_autofree char *last = g_strdup_printf ("sum%u", n);
  sl_onnx_writer_output (writer, last, SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes), NULL));
  SlModel *model = sl_model_load (path, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < n; i++) {
    g_autofree char *name = g_strdup_printf ("w%02u.bin", i),
                    *file = g_build_filename (folder, name, NULL);
    g_unlink (file);
  }
  g_unlink (path);
  return model;
}

/* Weights beside the model's file are of the model: other ones, fewer and more of them are another
 * model. */
static void
test_data_files (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("split-XXXXXX", NULL);
  g_autoptr (SlModel) model = load_split (folder, 2, 1), same = load_split (folder, 2, 1),
                      other = load_split (folder, 2, 2);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, NULL);
  g_autoptr (SlBlackBoxInfo) made = sl_black_box_info_new (model, session, NULL, &error);
  g_autofree char *text = sl_black_box_info_to_text (made);
  g_autoptr (SlBlackBoxInfo) info = sl_black_box_info_from_text (text, strlen (text), &error);
  g_assert_no_error (error);
  g_rmdir (folder);
  g_assert_cmpuint (info->n_data, ==, 2);
  g_assert_cmpstr (info->data[1].name, ==, "w01.bin");
  g_assert_cmpuint (info->data[1].bytes, ==, 16);
  g_assert_true (sl_black_box_check_model (info, same, FALSE, &error));
  g_assert_false (sl_black_box_check_model (info, other, FALSE, &error));
  expect_error (
    &error, SL_ERROR_CONTRACT,
    "split.onnx: weights in 'w00.bin': expected those that were recorded, 16 bytes with XXH64 ",
    ", got 16 bytes with XXH64 ", NULL);
  g_assert_true (sl_black_box_check_model (info, other, TRUE, &error));
  info->data[1].name[2] = '2';
  g_assert_false (sl_black_box_check_model (info, same, FALSE, &error));
  expect_error (&error, SL_ERROR_CONTRACT,
                "weights in 'w01.bin': expected those that were recorded, none, got 16 bytes with ",
                NULL);
  info->data[1].name[2] = '0';
  info->data[0].name[0] = 'v';
  g_assert_false (sl_black_box_check_model (info, same, FALSE, &error));
  expect_error (&error, SL_ERROR_CONTRACT,
                "weights in 'v00.bin': expected those that were recorded, 16 bytes with ",
                ", got none", NULL);
}

/* The sum of two inputs, of which the first always is what @stated says. */
static SlModel *
load_fixed (const char *folder, const char *stated)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlOnnxWriter) writer = sl_onnx_writer_new (13);
  g_autofree char *path = g_build_filename (folder, "fixed.onnx", NULL);
  const gint64 dims[] = { 1, 4 };
  sl_onnx_writer_input (writer, "a", SL_ONNX_FLOAT, 2, dims);
  sl_onnx_writer_input (writer, "b", SL_ONNX_FLOAT, 2, dims);
  sl_onnx_writer_node (writer, "Add", "a,b", "sum", NULL);
  sl_onnx_writer_output (writer, "sum", SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (writer);
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes), NULL));
  SlModel *model =
    sl_model_load_with (path, NULL, &(SlModelLoadOptions){ .fixed_inputs = stated }, &error);
  g_assert_no_error (error);
  g_unlink (path);
  return model;
}

/* Values of fixed inputs are of the model, however they are stated. */
static void
test_fixed_inputs (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("fixed-XXXXXX", NULL);
  g_autoptr (SlModel) model = load_fixed (folder, "0=0.5"), same = load_fixed (folder, "a=0.50"),
                      other = load_fixed (folder, "0=0.25");
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, NULL);
  g_autoptr (SlBlackBoxInfo) made = sl_black_box_info_new (model, session, NULL, &error);
  g_assert_no_error (error);
  g_rmdir (folder);
  g_assert_true (sl_black_box_check_model (made, same, FALSE, &error));
  g_assert_false (sl_black_box_check_model (made, other, FALSE, &error));
  expect_error (
    &error, SL_ERROR_CONTRACT,
    "fixed.onnx: fixed-inputs: expected the values that were recorded, 16 bytes with XXH64 ",
    ", got 16 bytes with ", NULL);
}

/* A black box of before does not say of which files a model's weights are; a current one says so,
 * too, where the model has none. */
static void
test_unknown_data_files (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("split-XXXXXX", NULL);
  g_autoptr (SlModel) model = load_split (folder, 1, 1);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, NULL);
  g_autoptr (SlBlackBoxInfo) made = sl_black_box_info_new (model, session, NULL, &error);
  g_autofree char *text = sl_black_box_info_to_text (made);
  char *key = strstr (text, "data-files=");
  g_rmdir (folder);
  g_assert_nonnull (key);
  key[0] = 'x';
  g_autoptr (SlBlackBoxInfo) before = sl_black_box_info_from_text (text, strlen (text), &error);
  g_assert_no_error (error);
  g_assert_true (sl_black_box_check_model (before, model, FALSE, &error));
  g_free (made->data[0].name);
  made->n_data = 0;
  g_autofree char *none = sl_black_box_info_to_text (made);
  g_autoptr (SlBlackBoxInfo) info = sl_black_box_info_from_text (none, strlen (none), &error);
  g_assert_no_error (error);
  g_assert_false (sl_black_box_check_model (info, model, FALSE, &error));
  expect_error (&error, SL_ERROR_CONTRACT,
                "weights in 'w00.bin': expected those that were recorded, none, got 16 bytes with ",
                NULL);
}

/* Of more files than have rows the last row stands for the rest. */
static void
test_many_data_files (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *folder = g_dir_make_tmp ("split-XXXXXX", NULL);
  g_autoptr (SlModel) model = load_split (folder, 20, 1), other = load_split (folder, 20, 2);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, NULL);
  g_autoptr (SlBlackBoxInfo) info = sl_black_box_info_new (model, session, NULL, &error);
  g_autoptr (SlBlackBoxInfo) likewise = sl_black_box_info_new (other, session, NULL, &error);
  g_assert_no_error (error);
  g_rmdir (folder);
  g_assert_cmpuint (info->n_data, ==, SL_BLACK_BOX_DATA_FILES);
  g_assert_true (sl_black_box_check_model (info, model, FALSE, &error));
  for (guint i = 0; i + 1 < SL_BLACK_BOX_DATA_FILES; i++)
    info->data[i].hash = likewise->data[i].hash;
  g_assert_false (sl_black_box_check_model (info, other, FALSE, &error));
  expect_error (&error, SL_ERROR_CONTRACT,
                "weights in '5 other files': expected those that were recorded, 80 bytes with ",
                NULL);
}

static void
test_compare (void)
{
  const gfloat expected[4] = { 1, -8, 2, 3 }, got[4] = { 1, -8.5f, 2.25f, 3 },
               none[4] = { 1, -9, NAN, 5 };
  const guint16 halves[2] = { 0x3C00, 0xC000 },
                other[2] = { 0x3C00, 0x4000 }; /* 1 and -2, 1 and 2 */
  SlTensorInfo floats = { .dtype = SL_DTYPE_F32, .bytes = sizeof expected },
               small = { .dtype = SL_DTYPE_F16, .bytes = sizeof halves };
  SlReplayDifference difference;
  sl_replay_compare (&floats, expected, got, NULL, &difference);
  g_assert_cmpuint (difference.differing, ==, 2);
  g_assert_cmpuint (difference.place, ==, 1);
  g_assert_cmpfloat (difference.largest, ==, 0.5);
  g_assert_cmpfloat (difference.range, ==, 8);
  g_assert_cmpfloat (difference.got, ==, -8.5);
  sl_replay_compare (&floats, expected, none, NULL, &difference);
  g_assert_cmpuint (difference.differing, ==, 3);
  g_assert_cmpuint (difference.place, ==, 2);
  g_assert_true (isnan (difference.largest));
  sl_replay_compare (&small, halves, other, NULL, &difference);
  g_assert_cmpuint (difference.elements, ==, 2);
  g_assert_cmpfloat (difference.largest, ==, 4);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/replay/equal", test_equal);
  g_test_add_func ("/replay/fails", test_fails);
  g_test_add_func ("/replay/different", test_different);
  g_test_add_func ("/replay/other-model", test_other_model);
  g_test_add_func ("/replay/data-files", test_data_files);
  g_test_add_func ("/replay/fixed-inputs", test_fixed_inputs);
  g_test_add_func ("/replay/unknown-data-files", test_unknown_data_files);
  g_test_add_func ("/replay/many-data-files", test_many_data_files);
  g_test_add_func ("/replay/compare", test_compare);
  return g_test_run ();
}
