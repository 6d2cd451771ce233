/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of model formats, and a guess at what other files are, so that a wrong file is named in
 * its message.
 */
#include "models/reader.h"

#include <string.h>

#include "core/base/build_selection.h"
#include "core/base/printable.h"
#include "models/formats.h"

/* NULL: left out of this build. */
static const SlModelReader *const readers[] = {
  SL_KEEPS (reader, tflite) ? &sl_reader_tflite : NULL,
  SL_KEEPS (reader, onnx) ? &sl_reader_onnx : NULL,
  SL_KEEPS (reader, pt2) ? &sl_reader_pt2 : NULL, /* before TorchScript, whose probe takes it */
  SL_KEEPS (reader, torchscript) ? &sl_reader_torchscript : NULL,
};

#define SEARCHED ((gsize) 65536)
#define MAX_STATEMENTS 64
#define MAX_STATEMENT ((gsize) 4096)

#define PROGRAM "a program or library"
#define GIVE_SOURCE "give the ONNX, PyTorch or TensorFlow Lite model that it was made from"
#define SAVED_MODEL                                             \
  "a TensorFlow SavedModel; convert its folder in Python with " \
  "tf.lite.TFLiteConverter.from_saved_model(), or to ONNX with tf2onnx"

/* Bytes @start at @at of files that users take for models. @extra, when set, must occur near the
 * start or the end. */
static const struct
{
  gsize at;
  const char *start;
  gsize length;
  const char *extra;
  const char *what;
} lookalikes[] = {
  { 4, "PTMF", 4, NULL,
    "a TorchScript model in the FlatBuffer form of mobile (.ff); save it with "
    "model._save_for_lite_interpreter('model.ptl'), without _use_flatbuffer" },
  { 4, "ET1", 3, NULL, "an ExecuTorch program (.pte); " SL_EXPORT_TORCH },
  { 0, "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19", 14, NULL,
    "a PyTorch file of torch.save(): a pickled Python module, or weights alone "
    "(state_dict); " SL_EXPORT_TORCH },
  { 257, "ustar", 5, "storages",
    "a PyTorch file of torch.save() in the tar form of 2016; " SL_EXPORT_TORCH },
  { 257, "ustar", 5, NULL, "a tar archive; unpack it first" },
  { 0, "PK\x03\x04", 4, "model.weights.h5",
    "a Keras model (.keras); convert it in Python with tf.lite.TFLiteConverter.from_keras_model(mod"
    "el), or to ONNX with model.export('model.onnx', format='onnx')" },
  { 0, "PK\x03\x04", 4, "data/aotinductor/",
    "a package of AOTInductor, whose compiled code runs in PyTorch alone; " SL_EXPORT_TORCH },
  { 0, "PK\x03\x04", 4, NULL, "a zip archive" },
  { 0, "RKNN", 4, NULL,
    "a model for Rockchip's NPU (.rknn), which runs on that alone; " GIVE_SOURCE },
  { 0, "\x01HEF", 4, NULL,
    "a model for Hailo's accelerators (.hef), which runs on these alone; " GIVE_SOURCE },
  { 8, "{", 1, "\"data_offsets\"",
    "weights alone, without a graph (.safetensors); load them into the model in Python, "
    "then " SL_EXPORT_TORCH },
  { 0, "{", 1, "\"modelTopology\"",
    "a TensorFlow.js model (model.json); convert the Keras model or SavedModel that it was made "
    "from, with tf.lite.TFLiteConverter" },
  { 0, "7767517", 7, NULL, "a model of ncnn (.param); " GIVE_SOURCE },
  { 0, "\x47\x6b\x30\x01", 4, NULL,
    "weights of ncnn (.bin), of which the graph is another file (.param); " GIVE_SOURCE },
  { 0, "\x38\x4b\x0d\x00", 4, NULL,
    "weights of ncnn (.bin), of which the graph is another file (.param); " GIVE_SOURCE },
  { 0, "\n", 1, "Placeholder",
    "a frozen TensorFlow graph (.pb); convert it in Python with "
    "tf.compat.v1.lite.TFLiteConverter.from_frozen_graph(), or to ONNX with tf2onnx" },
  { 0, "ftrt", 4, NULL,
    "a TensorRT engine, which is for one GPU; give the ONNX model that it was built from, with "
    "backend=onnxruntime provider=tensorrt" },
  { 0, "ptrt", 4, NULL,
    "a TensorRT engine, which is for one GPU; give the ONNX model that it was built from, with "
    "backend=onnxruntime provider=tensorrt" },
  { 0, "IMOD", 4, NULL,
    "an offline model of Ascend (.om), which is for one NPU; give the ONNX model that it was built "
    "from, with backend=onnxruntime provider=cann" },
  { 0, "<?xml", 5, "<net ",
    "an OpenVINO model; give the ONNX model that it was made from, with backend=onnxruntime "
    "provider=openvino, or convert the model that it was made from to TensorFlow Lite" },
  { 0, "<", 1, "html", "a web page, perhaps of a failed download" },
  { 0, "<", 1, "HTML", "a web page, perhaps of a failed download" },
  { 0, "version https://git-lfs", 23, NULL,
    "a Git LFS pointer; fetch the real file with 'git lfs pull'" },
  { 0, "\x89HDF", 4, NULL, "an HDF5 file (Keras); convert it to TensorFlow Lite" },
  { 0, "\x1f\x8b", 2, NULL, "a gzip file; unpack it first" },
  { 0, "\x89PNG", 4, NULL, "a PNG picture" },
  { 0, "\xff\xd8\xff", 3, NULL, "a JPEG picture" },
  { 0,
    "\x7f"
    "ELF",
    4, NULL, PROGRAM },
  { 0, "GGUF", 4, NULL, "a GGUF model" },
};

/* Formats that nothing in the file tells, by what their files are called. */
static const struct
{
  const char *suffix, *what;
} named[] = {
  { ".mnn", "a model of MNN (.mnn); " GIVE_SOURCE },
  { ".caffemodel",
    "weights of Caffe (.caffemodel); convert them to ONNX together with their .prototxt" },
  { ".prototxt",
    "the layers of a Caffe model (.prototxt), without weights; convert them to ONNX together with "
    "their .caffemodel" },
  { ".weights", "weights of Darknet (.weights); convert them to ONNX together with their .cfg" },
  { ".pdmodel", "a PaddlePaddle model (.pdmodel); convert its folder to ONNX with paddle2onnx" },
  { ".pdiparams",
    "weights of PaddlePaddle (.pdiparams); convert their folder to ONNX with paddle2onnx" },
  { ".blob",
    "a model compiled for Intel's Myriad (.blob), which runs on that alone; " GIVE_SOURCE },
};

gboolean
sl_reader_contains (GBytes *bytes, const char *text)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  const gsize length = strlen (text);
  for (gsize at = 0; at + length <= size; at++) {
    if (at == SEARCHED && size > 2 * SEARCHED)
      at = size - SEARCHED;
    if (memcmp (data + at, text, length) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Protocol Buffers that begin as ONNX's do, with a number of the format: the second field is a
 * message where ONNX has the name of its producer. */
static gboolean
is_other_protobuf (GBytes *bytes)
{
  gsize size, at = 2;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  if (size < 16 || data[0] != 0x08 || data[1] >= 0x80 || data[at++] != 0x12)
    return FALSE;
  while (at < 8 && data[at] >= 0x80)
    at++;
  return data[at + 1] == 0x0a;
}

char *
sl_reader_endings (void)
{
  GString *endings = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (readers); i++)
    if (readers[i] != NULL)
      g_string_append_printf (endings, "%s%s", endings->len > 0 ? ", " : "", readers[i]->endings);
  return g_string_free (endings, FALSE);
}

const SlModelReader *
sl_reader_find (GBytes *bytes)
{
  if (is_other_protobuf (bytes))
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (readers); i++)
    if (readers[i] != NULL && readers[i]->probe (bytes))
      return readers[i];
  return NULL;
}

static const char *
describe_by_bytes (GBytes *bytes)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  if (is_other_protobuf (bytes))
    return sl_reader_contains (bytes, "serve") || sl_reader_contains (bytes, "VarHandleOp")
             ? SAVED_MODEL
             : "a Core ML model (.mlmodel); " GIVE_SOURCE;
  for (guint i = 0; i < G_N_ELEMENTS (lookalikes); i++) {
    if (size < lookalikes[i].at + lookalikes[i].length
        || memcmp (data + lookalikes[i].at, lookalikes[i].start, lookalikes[i].length) != 0)
      continue;
    if (lookalikes[i].extra == NULL || sl_reader_contains (bytes, lookalikes[i].extra))
      return lookalikes[i].what;
  }
  return NULL;
}

const char *
sl_reader_describe_unknown (GBytes *bytes, const char *path)
{
  const char *what = describe_by_bytes (bytes);
  g_autofree char *lower = g_ascii_strdown (path, -1);
  for (guint i = 0; (what == NULL || strcmp (what, PROGRAM) == 0) && i < G_N_ELEMENTS (named); i++)
    if (g_str_has_suffix (lower, named[i].suffix))
      return named[i].what;
  return what;
}

const char *
sl_reader_describe_folder (const char *path)
{
  static const struct
  {
    const char *file, *what;
  } folders[] = { { "saved_model.pb", SAVED_MODEL },
                  { "Manifest.json", "a Core ML model (.mlpackage); " GIVE_SOURCE } };
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++) {
    g_autofree char *file = g_build_filename (path, folders[i].file, NULL);
    if (g_file_test (file, G_FILE_TEST_EXISTS))
      return folders[i].what;
  }
  return NULL;
}

void
sl_model_metadata_set_param (SlModelMetadata *metadata, const char *key, const char *value)
{
  if (metadata->params == NULL)
    metadata->params = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_replace (metadata->params, g_strdup (key), g_strdup (value));
}

/* @value: (transfer full). */
static void
add_pair (GPtrArray **pairs, char *name, char *value)
{
  if (*pairs == NULL)
    *pairs = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (*pairs, name);
  g_ptr_array_add (*pairs, value);
}

void
sl_model_metadata_add_fact (SlModelMetadata *metadata, const char *name, char *value)
{
  if (value != NULL)
    add_pair (&metadata->facts, g_strdup (name), value);
}

void
sl_model_metadata_state (SlModelMetadata *metadata, const char *name, const char *text,
                         gsize length)
{
  if (length == 0
      || (metadata->statements != NULL && metadata->statements->len >= 2 * MAX_STATEMENTS))
    return;
  add_pair (&metadata->statements,
            g_utf8_make_valid (name, (gssize) MIN (strlen (name), (gsize) SL_PRINTABLE_NAME)),
            g_utf8_make_valid (text, (gssize) MIN (length, MAX_STATEMENT)));
}

void
sl_model_metadata_forget_input (SlModelMetadata *metadata)
{
  metadata->n_mean = 0;
  metadata->has_colour = metadata->fit_letterbox = metadata->fit_crop = FALSE;
  metadata->crop_share = 0;
  g_clear_pointer (&metadata->range_hint, g_free);
}

void
sl_model_metadata_clear (SlModelMetadata *metadata)
{
  g_clear_pointer (&metadata->decoder, g_free);
  g_clear_pointer (&metadata->params, g_hash_table_unref);
  g_clear_pointer (&metadata->labels, sl_labels_unref);
  g_clear_pointer (&metadata->info, sl_modelinfo_free);
  g_clear_pointer (&metadata->missing_labels, g_free);
  g_clear_pointer (&metadata->state, g_free);
  g_clear_pointer (&metadata->range_hint, g_free);
  g_clear_pointer (&metadata->data_files, g_hash_table_unref);
  g_clear_pointer (&metadata->facts, g_ptr_array_unref);
  g_clear_pointer (&metadata->statements, g_ptr_array_unref);
  g_clear_pointer (&metadata->description, g_free);
}
