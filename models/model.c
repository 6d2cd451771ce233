/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * sl_model_load(): file -> prepared graph and contract. The file is mapped, not read, and stays mapped as long as
 * the graph lives, because its constants point into it.
 */
#include "models/model.h"

#include <glib/gstdio.h>
#include <string.h>

#include "core/error.h"
#include "models/contract_build.h"
#include "models/default.h"
#include "models/file.h"
#include "models/reader.h"

#define INFO_SUFFIX ".modelinfo"
#define SHORTEST 16

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlModelMetadata, sl_model_metadata_clear)

struct _SlModel
{
  gatomicrefcount refs;
  char *path;
  const char *format;
  SlGraph *graph;
  SlContract *contract;
};

static GBytes *
open_file (const char *path, GError **error)
{
  g_autoptr (GBytes) bytes = sl_file_map (path, "a TensorFlow Lite model", error);
  if (bytes == NULL)
    return NULL;
  const gsize size = g_bytes_get_size (bytes);
  if (size >= SHORTEST)
    return g_steal_pointer (&bytes);
  if (size == 0)
    g_set_error (error, SL_ERROR, SL_ERROR_OPEN, "the file is empty; expected a TensorFlow Lite model");
  else
    g_set_error (error, SL_ERROR, SL_ERROR_FORMAT, "the file has %" G_GSIZE_FORMAT " bytes, too few for a TensorFlow Lite model", size);
  return NULL;
}

static gboolean
unknown_format (GBytes *bytes, GError **error)
{
  g_autofree char *what = sl_reader_describe_unknown (bytes);
  const guint8 *data = g_bytes_get_data (bytes, NULL);
  char found[5] = { 0 };
  for (guint i = 0; i < 4; i++)
    found[i] = g_ascii_isprint (data[4 + i]) ? (char) data[4 + i] : '.';
  if (what != NULL)
    g_set_error (error, SL_ERROR, SL_ERROR_FORMAT, "looks like %s; expected a TensorFlow Lite model", what);
  else
    g_set_error (error, SL_ERROR, SL_ERROR_FORMAT,
                 "not a known model format; expected a TensorFlow Lite model (bytes 4..7 'TFL3', found '%s')", found);
  return FALSE;
}

/* MODEL.modelinfo beside the model, else the model's name with .modelinfo for its extension; NULL for neither. */
static char *
find_info (const char *path)
{
  g_autofree char *appended = g_strconcat (path, INFO_SUFFIX, NULL);
  if (g_file_test (appended, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&appended);
  const char *slash = strrchr (path, '/'), *dot = strrchr (path, '.');
  if (dot == NULL || (slash != NULL && dot < slash))
    return NULL;
  g_autofree char *stem = g_strndup (path, (gsize) (dot - path));
  g_autofree char *replaced = g_strconcat (stem, INFO_SUFFIX, NULL);
  return g_file_test (replaced, G_FILE_TEST_EXISTS) ? g_steal_pointer (&replaced) : NULL;
}

/* The same text for the same file, unchanged, and the same graph made of it. */
static char *
identity_of (const GStatBuf *file, const SlGraph *graph)
{
  return g_strdup_printf ("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT " %" G_GINT64_FORMAT " bytes, %" G_GINT64_FORMAT
                          ".%09ld, changed %" G_GINT64_FORMAT ".%09ld, %u nodes from %d",
                          (guint64) file->st_dev, (guint64) file->st_ino, (gint64) file->st_size, (gint64) file->st_mtim.tv_sec,
                          file->st_mtim.tv_nsec, (gint64) file->st_ctim.tv_sec, file->st_ctim.tv_nsec, sl_graph_n_nodes (graph),
                          sl_graph_input (graph, 0));
}

static gboolean
load (SlModel *model, const SlContractOverrides *overrides, const SlModelLoadOptions *options, GError **error)
{
  g_auto (SlModelMetadata) metadata = { 0 };
  g_autoptr (SlModelInfo) info = NULL;
  g_autoptr (GBytes) bytes = open_file (model->path, error);
  if (bytes == NULL)
    return FALSE;
  const SlModelReader *reader = sl_reader_find (bytes);
  if (reader == NULL)
    return unknown_format (bytes, error);
  model->format = reader->name;
  model->graph = sl_graph_new (bytes);
  sl_graph_set_mapped (model->graph);
  sl_graph_set_limit (model->graph, options->tensor_limit);
  if (!reader->read (bytes, model->path, model->graph, &metadata, error) || !sl_graph_prepare (model->graph, error))
    return FALSE;
  g_autofree char *info_path = find_info (model->path);
  if (info_path != NULL) {
    info = sl_modelinfo_load (info_path, sl_graph_input_tensor (model->graph, 0)->name, error);
    if (info == NULL)
      return FALSE;
  }
  model->contract = sl_contract_new (model->path, model->graph, &metadata, info, overrides, error);
  if (model->contract == NULL)
    return FALSE;
  const SlTensor *codes = options->direct ? sl_graph_quantized_input (model->graph) : NULL;
  if (codes != NULL && sl_contract_take_codes (model->contract, codes))
    sl_graph_skip_input_quantize (model->graph);
  return TRUE;
}

SlModel *
sl_model_load (const char *path, const SlContractOverrides *overrides, GError **error)
{
  return sl_model_load_with (path, overrides, &(SlModelLoadOptions){ 0 }, error);
}

SlModel *
sl_model_load_with (const char *path, const SlContractOverrides *overrides, const SlModelLoadOptions *options, GError **error)
{
  g_autofree char *found = NULL;
  if (path == NULL) {
    found = sl_default_model_find (error);
    if (found == NULL)
      return NULL;
    path = found;
  }
  g_autoptr (SlModel) model = g_new0 (SlModel, 1);
  g_atomic_ref_count_init (&model->refs);
  model->path = g_strdup (path);
  GStatBuf file;
  const gboolean known = g_stat (path, &file) == 0;
  if (!load (model, overrides, options, error)) {
    g_prefix_error (error, "%s: ", path);
    return NULL;
  }
  if (known) {
    g_autofree char *identity = identity_of (&file, model->graph);
    model->graph = sl_graph_share (model->graph, identity);
  }
  return g_steal_pointer (&model);
}

SlModel *
sl_model_ref (SlModel *model)
{
  g_atomic_ref_count_inc (&model->refs);
  return model;
}

void
sl_model_unref (SlModel *model)
{
  if (model == NULL || !g_atomic_ref_count_dec (&model->refs))
    return;
  g_clear_pointer (&model->contract, sl_contract_unref);
  g_clear_pointer (&model->graph, sl_graph_unref);
  g_free (model->path);
  g_free (model);
}

SlGraph *
sl_model_graph (const SlModel *model)
{
  return model->graph;
}

SlContract *
sl_model_contract (const SlModel *model)
{
  return model->contract;
}

const char *
sl_model_path (const SlModel *model)
{
  return model->path;
}

const char *
sl_model_format (const SlModel *model)
{
  return model->format;
}
