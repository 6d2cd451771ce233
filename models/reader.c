/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of model formats, and a guess at what other files are, so that a wrong file is named in its message.
 */
#include "models/reader.h"

#include <string.h>

#include "base/kept.h"

/* NULL: left out of this build. */
static const SlModelReader *const readers[] = {
  SL_KEEPS (reader, tflite) ? &sl_reader_tflite : NULL,
  SL_KEEPS (reader, onnx) ? &sl_reader_onnx : NULL,
  SL_KEEPS (reader, torchscript) ? &sl_reader_torchscript : NULL,
};

#define SEARCHED ((gsize) 65536)

#define EXPORT_TORCH "export the model with torch.jit.script(model.eval()).save('model.pt'), or to ONNX with torch.onnx.export()"

/* Bytes @start at @at of files that users take for models. @extra, when set, must occur near the start or the end. */
static const struct
{
  gsize at;
  const char *start;
  gsize length;
  const char *extra;
  const char *what;
} lookalikes[] = {
  { 4, "PTMF", 4, NULL,
    "a TorchScript model in the FlatBuffer form of mobile (.ff); save it with model._save_for_lite_interpreter('model.ptl'), "
    "without _use_flatbuffer" },
  { 4, "ET1", 3, NULL, "an ExecuTorch program (.pte); " EXPORT_TORCH },
  { 0, "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19", 14, NULL,
    "a PyTorch file of torch.save(): a pickled Python module, or weights alone (state_dict); " EXPORT_TORCH },
  { 257, "ustar", 5, "storages", "a PyTorch file of torch.save() in the tar form of 2016; " EXPORT_TORCH },
  { 257, "ustar", 5, NULL, "a tar archive; unpack it first" },
  { 0, "PK\x03\x04", 4, NULL, "a zip archive" },
  { 0, "ftrt", 4, NULL,
    "a TensorRT engine, which is for one GPU; give the ONNX model that it was built from, with backend=onnxruntime provider=tensorrt" },
  { 0, "ptrt", 4, NULL,
    "a TensorRT engine, which is for one GPU; give the ONNX model that it was built from, with backend=onnxruntime provider=tensorrt" },
  { 0, "IMOD", 4, NULL,
    "an offline model of Ascend (.om), which is for one NPU; give the ONNX model that it was built from, with backend=onnxruntime provider=cann" },
  { 0, "<?xml", 5, "<net ",
    "an OpenVINO model; give the ONNX model that it was made from, with backend=onnxruntime provider=openvino, or convert the model that it was made from to TensorFlow Lite" },
  { 0, "<", 1, "html", "a web page, perhaps of a failed download" },
  { 0, "<", 1, "HTML", "a web page, perhaps of a failed download" },
  { 0, "version https://git-lfs", 23, NULL, "a Git LFS pointer; fetch the real file with 'git lfs pull'" },
  { 0, "\x89HDF", 4, NULL, "an HDF5 file (Keras); convert it to TensorFlow Lite" },
  { 0, "\x1f\x8b", 2, NULL, "a gzip file; unpack it first" },
  { 0, "\x89PNG", 4, NULL, "a PNG picture" },
  { 0, "\xff\xd8\xff", 3, NULL, "a JPEG picture" },
  { 0,
    "\x7f"
    "ELF",
    4, NULL, "a program or library" },
  { 0, "GGUF", 4, NULL, "a GGUF model" },
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

const SlModelReader *
sl_reader_find (GBytes *bytes)
{
  for (guint i = 0; i < G_N_ELEMENTS (readers); i++)
    if (readers[i] != NULL && readers[i]->probe (bytes))
      return readers[i];
  return NULL;
}

char *
sl_reader_describe_unknown (GBytes *bytes)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  for (guint i = 0; i < G_N_ELEMENTS (lookalikes); i++) {
    if (size < lookalikes[i].at + lookalikes[i].length || memcmp (data + lookalikes[i].at, lookalikes[i].start, lookalikes[i].length) != 0)
      continue;
    if (lookalikes[i].extra == NULL || sl_reader_contains (bytes, lookalikes[i].extra))
      return g_strdup (lookalikes[i].what);
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

void
sl_model_metadata_forget_input (SlModelMetadata *metadata)
{
  metadata->n_mean = 0;
  metadata->has_colour = metadata->fit_letterbox = metadata->fit_crop = FALSE;
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
  g_clear_pointer (&metadata->description, g_free);
}
