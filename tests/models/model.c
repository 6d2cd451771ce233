/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sl_model_load(): what it says about files that are no models, which key file and labels it finds,
 * who owns what, and facts of the real models as other tools print them.
 */
#include "models/model.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/runtime/session.h"
#include "tests/models/helpers.h"
#include "tests/models/tiny.h"
#include "tests/support/program.h"
#include "tests/support/testdata.h"

static void
test_paths (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = write_temp ("empty.tflite", "", 0);
  g_autofree char *dir = g_path_get_dirname (path);
  g_autofree char *missing = g_build_filename (dir, "missing.tflite", NULL),
                  *pipe = g_build_filename (dir, "pipe", NULL);
  g_autofree char *starts = g_strconcat (
    path,
    ": the file is empty; expected a TensorFlow Lite, ONNX, PyTorch (.pt2) or TorchScript model",
    NULL);
  g_assert_null (sl_model_load (path, NULL, &error));
  expect_error (&error, SL_ERROR_OPEN, starts, NULL);
  g_assert_null (sl_model_load (missing, NULL, &error));
  expect_error (
    &error, SL_ERROR_OPEN, missing,
    ": no such file, check the path; expected a TensorFlow Lite, ONNX, PyTorch (.pt2) or "
    "TorchScript model",
    NULL);
  g_assert_null (sl_model_load (dir, NULL, &error));
  expect_error (
    &error, SL_ERROR_OPEN, dir,
    ": is a directory; expected a TensorFlow Lite, ONNX, PyTorch (.pt2) or TorchScript model",
    NULL);
  g_assert_null (sl_model_load ("/dev/zero", NULL, &error));
  expect_error (
    &error, SL_ERROR_OPEN,
    "/dev/zero: is not a regular file; expected a TensorFlow Lite, ONNX, PyTorch (.pt2) or "
    "TorchScript model",
    NULL);
  g_assert_cmpint (mkfifo (pipe, 0600), ==, 0);
  g_assert_null (sl_model_load (pipe, NULL, &error));
  expect_error (&error, SL_ERROR_OPEN, pipe, ": is not a regular file", NULL);
  g_unlink (pipe);
  g_assert_null (sl_model_load ("", NULL, &error));
  expect_error (&error, SL_ERROR_OPEN, ": no such file", NULL);
  sl_tflite_remove_temp (path);
}

/* The first bytes of files that users take for models. */
static void
test_other_formats (void)
{
  static const struct
  {
    const char *bytes;
    gsize length;
    const char *text;
  } rows[] = {
    { "\x08\x07\x12\x07pytorch:\x01", 13,
      "too few for a TensorFlow Lite, ONNX, PyTorch (.pt2) or TorchScript model" },
    { "\x08\x07\x12\x07pytorch:\x01\x32\x03", 15,
      "the file has 15 bytes, too few for a TensorFlow Lite, ONNX, PyTorch (.pt2) or TorchScript "
      "model" },
    { "\x08\x07\x12\x07pytorch\x1a\x05"
      "1.7.0",
      18, "the model has no graph; the file is damaged or truncated" },
    { "PK\x03\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0model/data.pkl\0\0", 46,
      "the zip archive has no directory at its end: the file is damaged or truncated" },
    { "\x18\0\0\0PTMF\0\0\0\0\0\0\0\0", 16,
      "looks like a TorchScript model in the FlatBuffer form of mobile (.ff); save it with" },
    { "\x18\0\0\0ET12\0\0\0\0\0\0\0\0", 16,
      "looks like an ExecuTorch program (.pte); export the model with torch.export.save(" },
    { "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\x02", 17,
      "looks like a PyTorch file of torch.save(): a pickled Python module" },
    { "<?xml version=\"1.0\"?>\n<net name=\"a\">", 35,
      "looks like an OpenVINO model; give the ONNX model that it was made from" },
    { "ftrtabcdefghijklmnop", 20,
      "looks like a TensorRT engine, which is for one GPU; give the ONNX model that it was built "
      "from" },
    { "IMODabcdefghijklmnop", 20,
      "looks like an offline model of Ascend (.om), which is for one NPU; give the ONNX model" },
    { "PK\x03\x04\0\0\0\0\0\0data/aotinductor/model/a.so", 38,
      "looks like a package of AOTInductor, whose compiled code runs in PyTorch alone; export the "
      "model with torch.export.save(" },
    { "PK\x03\x04\0\0\0\0\0\0model/other.txt", 26, "looks like a zip archive; expected" },
    { "<!DOCTYPE html><html>404", 24,
      "looks like a web page, perhaps of a failed download; expected" },
    { "version https://git-lfs.github.com/spec/v1\n", 43,
      "looks like a Git LFS pointer; fetch the real file with 'git lfs pull'" },
    { "\x89HDF\r\n\x1a\n\0\0\0\0\0\0\0\0", 16,
      "looks like an HDF5 file (Keras); convert it to TensorFlow Lite" },
    { "\x1f\x8b\x08\0\0\0\0\0\0\0\0\0\0\0\0\0", 16, "looks like a gzip file; unpack it first" },
    { "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16, "looks like a PNG picture" },
    { "\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1", 16, "looks like a JPEG picture" },
    { "\x7f"
      "ELF\2\1\1\0\0\0\0\0\0\0\0\0",
      16, "looks like a program or library" },
    { "GGUF\3\0\0\0\0\0\0\0\0\0\0\0", 16, "looks like a GGUF model" },
    { "RKNN\0\0\0\0\6\0\0\0\0\0\0\0", 16,
      "looks like a model for Rockchip's NPU (.rknn), which runs on that alone; give the ONNX, "
      "PyTorch or" },
    { "\1HEF\0\0\0\2\0\0\0\0\0\0\0\0", 16,
      "looks like a model for Hailo's accelerators (.hef), which runs on these alone; give the "
      "ONNX" },
    { "\x48\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 62,
      "looks like weights alone, without a graph (.safetensors); load them into the model in "
      "Python, then export the model with" },
    { "\n\x1c\n\5input\x12\x0bPlaceholder*\6\n\1a", 27,
      "looks like a frozen TensorFlow graph (.pb); convert it in Python with" },
    { "\x08\1\x12\x20\n\x12\x12\x05serve\0\0\0\0\0\0\0\0", 21,
      "looks like a TensorFlow SavedModel; convert its folder in Python with" },
    { "\x08\5\x12\x8b\2\n\x12\n\5image\x1a\x09\0\0\0\0\0", 21,
      "looks like a Core ML model (.mlmodel); give the ONNX" },
    { "{\"format\":\"graph-model\",\"modelTopology\":{\"node\":[]}}", 48,
      "looks like a TensorFlow.js model (model.json); convert the Keras model or SavedModel that "
      "it was made from" },
    { "7767517\n75 83\nInput data 0 1 data", 33,
      "looks like a model of ncnn (.param); give the ONNX" },
    { "\x47\x6b\x30\1\0\0\0\0\0\0\0\0\0\0\0\0", 16,
      "looks like weights of ncnn (.bin), of which the graph is another file (.param); give" },
    { "PK\x03\x04\0\0\0\0\0\0metadata.json config.json model.weights.h5", 52,
      "looks like a Keras model (.keras); convert it in Python with" },
    { "PK\x03\x04\0\0\0\0\0\0serialized_exported_program.json", 42,
      "the zip archive has no directory at its end: the file is damaged or truncated" },
    { "\x1c\0\0\0TFL2\0\0\0\0\0\0\0\0", 16,
      "not a known model format; expected a TensorFlow Lite, ONNX, PyTorch (.pt2) or TorchScript "
      "model (bytes 4..7 'TFL3', found 'TFL2')" },
    { "\x1c\0\0\0\x01\x02\xff~\0\0\0\0\0\0\0\0", 16,
      "not a known model format; expected a TensorFlow Lite, ONNX, PyTorch (.pt2) or TorchScript "
      "model (bytes 4..7 'TFL3', found '...~')" },
    { "\x1c\0\0\0TFL3\0\0\0\0\0\0\0\0", 16,
      "the FlatBuffer is damaged or truncated: at byte 0 of 16 an offset leads outside the file" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = write_temp ("m.tflite", rows[i].bytes, (gssize) rows[i].length);
    g_autofree char *starts = g_strconcat (path, ": ", NULL);
    g_assert_null (sl_model_load (path, NULL, &error));
    g_assert_true (g_str_has_prefix (error->message, starts));
    expect_error (&error, SL_ERROR_FORMAT, rows[i].text, NULL);
    sl_tflite_remove_temp (path);
  }
}

/* Formats that files are called by, and folders. */
static void
test_named (void)
{
  static const struct
  {
    const char *name, *bytes, *text;
  } rows[] = {
    { "model.MNN", "\x1c\0\0\0abcdefghijkl",
      "looks like a model of MNN (.mnn); give the ONNX, PyTorch or TensorFlow Lite model that it "
      "was made from; expected" },
    { "model.blob",
      "\x7f"
      "ELF\1\1\1\0\0\0\0\0\0\0\0\0",
      "looks like a model compiled for Intel's Myriad (.blob), which runs on that alone; give" },
    { "loc_y.caffemodel", "\n\5LeNet\xa2\6\x34\n\4data\x12",
      "looks like weights of Caffe (.caffemodel); convert them to ONNX together with their "
      ".prototxt; expected" },
    { "loc_y.prototxt", "name: \"LeNet\"\nla",
      "looks like the layers of a Caffe model (.prototxt), without weights; convert" },
    { "yolov4.weights", "\0\0\0\0\2\0\0\0\5\0\0\0\0\0\0",
      "looks like weights of Darknet (.weights); convert them to ONNX together with their .cfg" },
    { "inference.pdmodel", "\n\x9b\1\x08\0\x10\xff\xff\xff\xff\xff\1\x1a\0\0",
      "looks like a PaddlePaddle model (.pdmodel); convert its folder to ONNX" },
    { "inference.pdiparams", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
      "looks like weights of PaddlePaddle (.pdiparams); convert their folder to ONNX" },
    { "page.mnn", "<!DOCTYPE html><html>404",
      "looks like a web page, perhaps of a failed download" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = write_temp (rows[i].name, rows[i].bytes, 16);
    g_assert_null (sl_model_load (path, NULL, &error));
    expect_error (&error, SL_ERROR_FORMAT, rows[i].text, NULL);
    sl_tflite_remove_temp (path);
  }
  static const char *const folders[][2] = {
    { "saved_model.pb",
      ": looks like a TensorFlow SavedModel; convert its folder in Python with tf.lite." },
    { "Manifest.json", ": looks like a Core ML model (.mlpackage); give the ONNX" },
    { "readme.txt",
      ": is a directory; expected a TensorFlow Lite, ONNX, PyTorch (.pt2) or TorchScript model" }
  };
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = write_temp (folders[i][0], "x", 1), *folder = g_path_get_dirname (path);
    g_assert_null (sl_model_load (folder, NULL, &error));
    expect_error (&error, SL_ERROR_OPEN, folders[i][1], NULL);
    sl_tflite_remove_temp (path);
  }
}

/* The name of an archive's member near the end of a file larger than what is searched from its
 * start. */
static void
test_large_archive (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *content = g_strnfill (1000000, 'x');
  memcpy (content, "PK\x03\x04", 4);
  memcpy (content + 999000, "model/data.pkl", 14);
  g_autofree char *path = write_temp ("m.pt", content, 1000000);
  g_assert_null (sl_model_load (path, NULL, &error));
  expect_error (&error, SL_ERROR_FORMAT, "the zip archive has no directory at its end", NULL);
  sl_tflite_remove_temp (path);
}

/* By its first bytes: a damaged model is a model, too; a folder or a missing file is not. */
static void
test_probe (void)
{
  static const struct
  {
    const char *bytes;
    gboolean model;
  } rows[] = { { "\x1c\0\0\0TFL3\0\0\0\0\0\0\0\0", TRUE },
               { "\x1c\0\0\0TFL2\0\0\0\0\0\0\0\0", FALSE },
               { "\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1", FALSE } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = write_temp ("picture", rows[i].bytes, 16);
    g_autofree char *folder = g_path_get_dirname (path);
    g_assert_cmpint (sl_model_probe (path), ==, rows[i].model);
    g_assert_false (sl_model_probe (folder));
    sl_tflite_remove_temp (path);
    g_assert_false (sl_model_probe (path));
  }
}

/* Writes @text as @name beside @model. */
static char *
put_beside (const char *model, const char *name, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *dir = g_path_get_dirname (model);
  char *path = g_build_filename (dir, name, NULL);
  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);
  return path;
}

static void
expect_decoder (const char *path, const char *decoder)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) model = sl_model_load (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_model_contract (model)->decoder, ==, decoder);
}

/* model.tflite.modelinfo, else model.modelinfo; a directory of that name is refused. */
static void
test_key_file (void)
{
  static const char appended[] =
    "[modelinfo]\nversion=1.0\n[sightline]\ndecoder=labels\nlabels=l.txt\n";
  static const char replaced[] = "[modelinfo]\nversion=1.0\n[sightline]\ndecoder=ssd\n";
  g_autoptr (SlTfliteWriter) writer = tiny_float ();
  g_autoptr (GError) error = NULL;
  g_autofree char *path = sl_tflite_writer_save_temp (writer, "model.tflite", NULL);
  expect_decoder (path, NULL);
  g_autofree char *second = put_beside (path, "model.modelinfo", replaced);
  expect_decoder (path, "ssd");
  g_autofree char *labels = put_beside (path, "l.txt", "a\nb\n");
  g_autofree char *first = put_beside (path, "model.tflite.modelinfo", appended);
  expect_decoder (path, "labels");
  g_unlink (labels);
  g_assert_null (sl_model_load (path, NULL, &error));
  expect_error (&error, SL_ERROR_OPEN, path, ": labels ", labels, ": no such file", NULL);
  g_unlink (first);
  g_assert_cmpint (g_mkdir (first, 0700), ==, 0);
  g_assert_null (sl_model_load (path, NULL, &error));
  expect_error (&error, SL_ERROR_OPEN, path, first,
                ": is a directory; expected a modelinfo key file", NULL);
  g_rmdir (first);
  g_unlink (second);
  g_autofree char *third = put_beside (path, "model.modelinfo", "[sightline]\ndecoder=ssd\n");
  g_assert_cmpstr (third, ==, second);
  g_assert_null (sl_model_load (path, NULL, &error));
  expect_error (&error, SL_ERROR_CONTRACT, path, second,
                ": [modelinfo] version: missing; write 'version=1.0' there", NULL);
  g_unlink (second);
  sl_tflite_remove_temp (path);
}

/* Labels named by a property, from the model's point of view. */
static void
test_labels (void)
{
  static const struct
  {
    const char *text;
    guint count, index;
    const char *name;
  } rows[] = { { "a\nb\nc\nd\n", 4, 3, "d" },
               { "a\r\nb\r\nc\r\nd\r\n", 4, 1, "b" },
               { "0  person\n1  bicycle\n3  car\n", 4, 3, "car" },
               { "\xef\xbb\xbf"
                 "a\nb\n\n\n",
                 2, 0, "a" },
               { "a\nb", 2, 1, "b" } };
  g_autoptr (SlTfliteWriter) writer = tiny_classifier ();
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *labels = write_temp ("labels.txt", rows[i].text, -1);
    const SlModelSettings overrides = { .labels = labels };
    g_autoptr (SlModel) model = load_with_info (writer, NULL, &overrides, &error);
    g_assert_no_error (error);
    const SlContract *contract = sl_model_contract (model);
    g_assert_cmpuint (sl_labels_count (contract->labels), ==, rows[i].count);
    g_assert_cmpstr (sl_labels_get (contract->labels, rows[i].index), ==, rows[i].name);
    sl_tflite_remove_temp (labels);
  }
}

static void
test_bad_labels (void)
{
  g_autoptr (SlTfliteWriter) writer = tiny_classifier ();
  g_autoptr (GError) error = NULL;
  g_autofree char *labels = write_temp ("labels.txt", "\n\n", -1);
  g_autofree char *dir = g_path_get_dirname (labels);
  SlModelSettings overrides = { .labels = labels };
  g_assert_null (load_with_info (writer, NULL, &overrides, &error));
  expect_error (&error, SL_ERROR_LABELS, "model.tflite: labels ", labels,
                ": the file is empty; expected one class name a line", NULL);
  overrides.labels = dir;
  g_assert_null (load_with_info (writer, NULL, &overrides, &error));
  expect_error (&error, SL_ERROR_OPEN, "model.tflite: labels ", dir,
                ": is a directory; expected a text file", NULL);
  sl_tflite_remove_temp (labels);
  overrides.labels = labels;
  g_assert_null (load_with_info (writer, NULL, &overrides, &error));
  expect_error (&error, SL_ERROR_OPEN, "model.tflite: labels ", labels,
                ": no such file, check the path", NULL);
  /* A property that says nothing leaves the model's own labels alone. */
  overrides.labels = "";
  g_autoptr (SlModel) model = load_with_info (writer, NULL, &overrides, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (sl_labels_get (sl_model_contract (model)->labels, 2), ==, "cat");
}

/* Graph and contract outlive the model, and the file may be gone. */
static void
test_ownership (void)
{
  g_autoptr (SlTfliteWriter) writer = tiny_channels ();
  g_autoptr (GError) error = NULL;
  g_autofree char *path = sl_tflite_writer_save_temp (writer, "model.tflite", NULL);
  SlModel *model = sl_model_load (path, NULL, &error);
  g_assert_no_error (error);
  sl_tflite_remove_temp (path);
  g_assert_cmpstr (sl_model_path (model), ==, path);
  g_assert_cmpstr (sl_model_format (model), ==, "tflite");
  SlModel *second = sl_model_ref (model);
  g_assert_true (second == model);
  sl_model_unref (model);
  g_autoptr (SlGraph) graph = sl_graph_ref (sl_model_graph (second));
  g_autoptr (SlContract) contract = sl_contract_ref (sl_model_contract (second));
  sl_model_unref (second);
  sl_model_unref (NULL);
  g_assert_cmpstr (contract->model, ==, path);
  g_assert_cmpstr (contract->inputs[0].name, ==, "image");
  guint constants = 0, sum = 0;
  for (guint i = 0; i < sl_graph_n_tensors (graph); i++) {
    const SlTensor *tensor = sl_graph_tensor (graph, (gint32) i);
    for (gsize k = 0; tensor->data != NULL && k < tensor->bytes; k++)
      sum += ((const guint8 *) tensor->data)[k];
    constants += tensor->data != NULL;
  }
  g_assert_cmpuint (constants, >=, 3);
  g_assert_cmpuint (sum, >, 0);
}

static void
test_real (void)
{
  static const struct
  {
    const char *file;
    SlDtype dtype;
    gint32 width, height, channels;
    guint n_outputs, outputs, n_labels, index;
    const char *label, *decoder;
    gdouble offset;
  } rows[] = {
    { "models/mobilenet_v2_1.0_224_quant.tflite", SL_DTYPE_U8, 224, 224, 3, 1, 1001, 1001, 653,
      "military uniform", NULL, 0 },
    { "models/mobilenet_v1_0.25_128_quant.tflite", SL_DTYPE_U8, 128, 128, 3, 1, 1001, 1001, 0,
      "background", NULL, 0 },
    { "models/tf2_mobilenet_v2_1.0_224_ptq.tflite", SL_DTYPE_U8, 224, 224, 3, 1, 1001, 1001, 654,
      "milk can", NULL, 0 },
    { "models/person_detect.tflite", SL_DTYPE_I8, 96, 96, 1, 1, 2, 0, 0, NULL, NULL, -128 },
    { "models/ssd_mobilenet_v1.tflite", SL_DTYPE_U8, 300, 300, 3, 4, 40, 90, 0, "person", "ssd",
      0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = sl_test_data (rows[i].file);
    g_autoptr (GError) error = NULL;
    if (path == NULL)
      return;
    g_autoptr (SlModel) model = sl_model_load (path, NULL, &error);
    g_assert_no_error (error);
    const SlContract *contract = sl_model_contract (model);
    const SlImageContract *image = &contract->image;
    g_assert_cmpint (contract->inputs[0].dtype, ==, rows[i].dtype);
    g_assert_true (image->valid);
    g_assert_true (image->range_known);
    g_assert_cmpint (image->width, ==, rows[i].width);
    g_assert_cmpint (image->height, ==, rows[i].height);
    g_assert_cmpint (image->channels, ==, rows[i].channels);
    g_assert_cmpint (image->colour, ==, rows[i].channels == 1 ? SL_COLOUR_GRAY : SL_COLOUR_RGB);
    g_assert_cmpint (image->fit, ==, SL_FIT_STRETCH);
    g_assert_cmpfloat (image->gain[0], ==, 1);
    g_assert_cmpfloat (image->offset[0], ==, rows[i].offset);
    g_assert_cmpuint (contract->n_inputs, ==, 1);
    g_assert_cmpuint (contract->n_outputs, ==, rows[i].n_outputs);
    const SlTensorInfo *output = &contract->outputs[0];
    g_assert_cmpuint (output->bytes / (output->dtype == SL_DTYPE_F32 ? 4 : 1), ==, rows[i].outputs);
    g_assert_cmpstr (contract->decoder, ==, rows[i].decoder);
    if (rows[i].label == NULL) {
      g_assert_null (contract->labels);
      continue;
    }
    g_assert_cmpuint (sl_labels_count (contract->labels), ==, rows[i].n_labels);
    g_assert_cmpstr (sl_labels_get (contract->labels, rows[i].index), ==, rows[i].label);
  }
}

/* Real files of other formats, and the label file of another model. */
static void
test_real_others (void)
{
  static const struct
  {
    const char *file, *text;
  } rows[] = { { "formats/models/mobilenet_v2_035.qnnpack.ff",
                 "looks like a TorchScript model in the FlatBuffer form of mobile" },
               { "models/imagenet_labels.txt", "not a known model format" } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *path = sl_test_data (rows[i].file);
    g_autoptr (GError) error = NULL;
    if (path == NULL)
      return;
    g_assert_null (sl_model_load (path, NULL, &error));
    expect_error (&error, SL_ERROR_FORMAT, path, rows[i].text,
                  "expected a TensorFlow Lite, ONNX, PyTorch (.pt2) or TorchScript model", NULL);
  }
}

/* Models of one file share a graph until the file changes. */
static void
test_shared (void)
{
  static const gint32 dims[] = { 1, 4, 4, 3 };
  g_autoptr (GError) error = NULL;
  g_autoptr (SlTfliteWriter) writer = picture_model (SL_DTYPE_U8, 4, dims, 1, 0);
  g_autofree char *path = sl_tflite_writer_save_temp (writer, "model.tflite", NULL),
                  *copy = sl_tflite_writer_save_temp (writer, "copy.tflite", NULL);
  sl_tflite_make_old (path);
  sl_tflite_make_old (copy);
  g_autofree char *content = NULL;
  gsize bytes = 0;
  g_autoptr (SlModel) a = sl_model_load (path, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (SlModel) b = sl_model_load (path, &(SlModelSettings){ .fit = "crop" }, &error);
  g_assert_no_error (error);
  g_autoptr (SlModel) other = sl_model_load (copy, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sl_model_graph (a) == sl_model_graph (b));
  g_assert_true (sl_model_graph (a) != sl_model_graph (other));
  g_assert_true (sl_model_contract (a) != sl_model_contract (b));
  g_assert_cmpint (sl_model_contract (b)->image.fit, ==, SL_FIT_CROP);
  g_clear_pointer (&a, sl_model_unref);
  a = sl_model_load (path, NULL, &error);
  g_assert_true (sl_model_graph (a) == sl_model_graph (b));
  g_assert_true (g_file_get_contents (path, &content, &bytes, NULL));
  g_assert_true (g_file_set_contents (path, content, (gssize) bytes, NULL));
  g_autoptr (SlModel) changed = sl_model_load (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (sl_model_graph (changed) != sl_model_graph (b));
  sl_tflite_remove_temp (path);
  sl_tflite_remove_temp (copy);
}

/* Bytes that this process has read from files; -1 where the system does not count them. */
static gint64
bytes_read (void)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents ("/proc/self/io", &text, NULL, NULL)
      || !g_str_has_prefix (text, "rchar: "))
    return -1;
  return g_ascii_strtoll (text + strlen ("rchar: "), NULL, 10);
}

/* A model with a constant of 4 MiB, which is added to its input. */
static char *
save_large_model (void)
{
  g_autoptr (SlTfliteWriter) writer = sl_tflite_writer_new ();
  g_autofree gfloat *values = g_new (gfloat, 1 << 20);
  SlTfliteTensor row = { .name = "x", .dtype = SL_DTYPE_F32, .rank = 2, .dims = { 1, 1 << 20 } },
                 constant = row;
  for (guint i = 0; i < 1 << 20; i++)
    values[i] = (gfloat) i;
  constant.data = values;
  const gint32 x = sl_tflite_writer_tensor (writer, &row),
               c = sl_tflite_writer_tensor (writer, &constant);
  const gint32 y = sl_tflite_writer_tensor (writer, &row);
  sl_tflite_writer_op (
    writer,
    &(SlTfliteOp){
      .op = SL_OP_ADD, .n_inputs = 2, .inputs = { x, c }, .n_outputs = 1, .outputs = { y } });
  sl_tflite_writer_io (writer, 1, &x, 1, &y);
  return sl_tflite_writer_save_temp (writer, "large.tflite", NULL);
}

/* What a second model of a file costs: not reading the file once more. */
static void
test_shared_unread (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = save_large_model ();
  sl_tflite_make_old (path);
  g_autoptr (SlModel) a = sl_model_load (path, NULL, &error);
  g_assert_no_error (error);
  const gint64 before = bytes_read ();
  if (before < 0) {
    g_test_skip ("the system does not count the bytes that are read");
  } else {
    g_autoptr (SlModel) b = sl_model_load (path, NULL, &error),
                        direct = sl_model_load_with (
                          path, NULL, &(SlModelLoadOptions){ .skip_input_quantize = TRUE }, &error);
    g_assert_no_error (error);
    g_assert_cmpint (bytes_read () - before, <, 100000);
    g_assert_true (sl_model_graph (a) == sl_model_graph (b)
                   && sl_model_graph (a) == sl_model_graph (direct));
    /* Another limit may refuse the model. */
    g_assert_null (
      sl_model_load_with (path, NULL, &(SlModelLoadOptions){ .tensor_limit = 1000 }, &error));
    expect_error (&error, SL_ERROR_LIMIT, path, "over the limit of 1000 bytes", NULL);
  }
  sl_tflite_remove_temp (path);
}

/* The file is cut short while its model runs. */
static void
test_cut_short (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = save_large_model ();
  g_autoptr (SlModel) model = sl_model_load (path, NULL, &error);
  g_autoptr (SlSession) session = sl_session_new (sl_model_graph (model), 1, &error);
  g_assert_no_error (error);
  g_assert_false (sl_model_file_changed (model));
  g_assert_cmpint (truncate (path, 0), ==, 0);
  g_assert_true (sl_model_file_changed (model));
  gfloat *x = sl_tensor_buffer_new (4 << 20), *y = sl_tensor_buffer_new (4 << 20);
  g_assert_cmpint (sl_session_run (session, (const void *[]){ x }, (void *[]){ y }), ==,
                   SL_STATUS_OK);
  for (guint i = 0; i < 1 << 20; i++)
    g_assert_cmpfloat (y[i], ==, i);
  sl_tensor_buffer_free (x);
  sl_tensor_buffer_free (y);
  g_unlink (path);
  g_assert_false (sl_model_file_changed (model));
  sl_tflite_remove_temp (path);
}

/* Written and loaded so fast that the time of the last change is the same: each model is of what
 * the file was when it was loaded. */
static void
test_rewritten_at_once (void)
{
  static const gint32 dims[] = { 1, 4, 4, 3 };
  g_autoptr (GError) error = NULL;
  g_autoptr (SlModel) before = NULL;
  g_autofree char *path = write_temp ("model.tflite", "", 0);
  for (guint i = 0; i < 50; i++) {
    g_autoptr (SlTfliteWriter) writer = picture_model (SL_DTYPE_U8, 4, dims, (gfloat) (i + 1), 0);
    g_autoptr (GBytes) bytes = sl_tflite_writer_finish (writer);
    FILE *file = fopen (path, "w");
    g_assert_cmpuint (fwrite (g_bytes_get_data (bytes, NULL), 1, g_bytes_get_size (bytes), file),
                      ==, g_bytes_get_size (bytes));
    fclose (file);
    g_autoptr (SlModel) model = sl_model_load (path, NULL, &error);
    g_assert_no_error (error);
    g_assert_cmpfloat (sl_model_contract (model)->inputs[0].scale, ==, i + 1);
    g_clear_pointer (&before, sl_model_unref);
    before = g_steal_pointer (&model);
  }
  sl_tflite_remove_temp (path);
}

static void
test_too_large (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = write_temp ("huge.tflite", "    TFL3        ", 16);
  if (truncate (path, G_GINT64_CONSTANT (5) << 30) == 0) {
    g_assert_null (sl_model_load (path, NULL, &error));
    expect_error (&error, SL_ERROR_LIMIT, path,
                  "the file has 5368709120 bytes; at most 4294967296 are read", NULL);
  } else {
    g_test_skip ("no file of 5 GiB can be made");
  }
  sl_tflite_remove_temp (path);
}

typedef struct
{
  int fd;
  gint stop; /* atomic */
} Writer;

static gpointer
write_on (gpointer data)
{
  Writer *writer = data;
  while (!g_atomic_int_get (&writer->stop))
    g_assert_cmpint (pwrite (writer->fd, "\0", 1, 0), ==, 1);
  return NULL;
}

/* A file that is written to without pause: tried again, then refused. */
static void
test_torn (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = save_large_model ();
  g_assert_cmpint (truncate (path, 32 << 20), ==, 0);
  Writer writer = { .fd = open (path, O_WRONLY | O_CLOEXEC) };
  GThread *thread = g_thread_new ("writer", write_on, &writer);
  for (gint64 deadline = g_get_monotonic_time () + 100 * G_USEC_PER_SEC;
       g_get_monotonic_time () < deadline;) {
    g_clear_error (&error);
    sl_model_unref (sl_model_load (path, NULL, &error));
    if (error != NULL && error->code == SL_ERROR_OPEN)
      break;
  }
  g_atomic_int_set (&writer.stop, 1);
  g_thread_join (thread);
  close (writer.fd);
  expect_error (
    &error, SL_ERROR_OPEN, path,
    ": the file was written to while it was read; write a new file beside it and rename that",
    NULL);
  sl_tflite_remove_temp (path);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/model/shared-unread", test_shared_unread);
  g_test_add_func ("/model/cut-short", test_cut_short);
  g_test_add_func ("/model/rewritten-at-once", test_rewritten_at_once);
  g_test_add_func ("/model/too-large", test_too_large);
  g_test_add_func ("/model/torn", test_torn);
  g_test_add_func ("/model/paths", test_paths);
  g_test_add_func ("/model/other-formats", test_other_formats);
  g_test_add_func ("/model/named", test_named);
  g_test_add_func ("/model/large-archive", test_large_archive);
  g_test_add_func ("/model/probe", test_probe);
  g_test_add_func ("/model/key-file", test_key_file);
  g_test_add_func ("/model/labels", test_labels);
  g_test_add_func ("/model/bad-labels", test_bad_labels);
  g_test_add_func ("/model/ownership", test_ownership);
  g_test_add_func ("/model/shared", test_shared);
  g_test_add_func ("/model/real", test_real);
  g_test_add_func ("/model/real-others", test_real_others);
  return g_test_run ();
}
