/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Passes a model file to another runtime. */
#include "models/external_file.h"

#include <math.h>

#include "core/base/thread_count.h"
#include "models/file.h"
#include "models/numbers.h"
#include "core/base/fail.h"

#define MAX_BYTES ((gsize) 1 << 31)

/* (transfer full): the bytes as they are in the file: those of the graph may have been multiplied,
 * or given back. */
static GBytes *
read_bytes (const char *path, const SlFileStamp *stamp, GError **error)
{
  SlFileStamp now;
  g_autoptr (GBytes) bytes = sl_file_read (path, "a model", MAX_BYTES, error);
  if (bytes == NULL)
    return NULL;
  if (g_bytes_get_size (bytes) > MAX_BYTES)
    sl_fail (error, SL_ERROR_LIMIT,
             "the file has more than %" G_GSIZE_FORMAT " bytes, which other runtimes do not take",
             MAX_BYTES);
  else if (!sl_file_stamp_read (path, &now) || !sl_file_stamp_same_content (&now, stamp))
    sl_fail (error, SL_ERROR_OPEN, "the file was written to while it was loaded; load it again");
  else
    return g_steal_pointer (&bytes);
  return NULL;
}

/* (transfer full): the same text for the same file, unchanged, on the same device. */
static char *
identity_of (const SlExternalRequest *request, const SlFileStamp *stamp)
{
  const SlBackendSettings *settings = request->settings;
  return g_strdup_printf ("%s %" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT " %" G_GINT64_FORMAT
                          " %" G_GINT64_FORMAT " %u|%s|%s|%s|%s|%s",
                          request->runtime, stamp->device, stamp->inode, stamp->size,
                          stamp->written, request->threads,
                          settings->provider != NULL ? settings->provider : "",
                          settings->options != NULL ? settings->options : "",
                          settings->delegate != NULL ? settings->delegate : "",
                          settings->provider_library != NULL ? settings->provider_library : "",
                          settings->device != NULL ? settings->device : "");
}

SlExternalModel *
sl_external_file_open (const char *runtime, const char *path, const SlFileStamp *stamp,
                       gboolean by_path, gboolean has_files, const SlModelLoadOptions *options,
                       GError **error)
{
  SlExternalRequest request = { .runtime = runtime,
                                .path = path,
                                .has_files = by_path || has_files,
                                .threads = sl_threads_resolve (options->threads),
                                .settings = &options->backend };
  SlFileStamp now;
  const gboolean shares = !has_files && !sl_file_stamp_is_fresh (stamp);
  g_autofree char *identity = identity_of (&request, stamp);
  SlExternalModel *model = shares ? sl_external_model_find_shared (identity) : NULL;
  if (model != NULL || sl_external_open (runtime, NULL, error) == NULL)
    return model;
  g_autoptr (GBytes) bytes = read_bytes (path, stamp, error);
  request.bytes = bytes;
  model = bytes != NULL ? sl_external_model_new (&request, error) : NULL;
  const gboolean same = model != NULL && shares && sl_file_stamp_read (path, &now)
                        && sl_file_stamp_same_content (&now, stamp);
  return same ? sl_external_model_share (model, identity) : model;
}

/* The dimensions of @tensor that are open, as @stated (nullable) has them. */
static gboolean
settle_dims (SlTensor *tensor, const char *stated, GError **error)
{
  gdouble numbers[SL_MAX_RANK];
  const guint n =
    stated != NULL && stated[0] != '\0' ? sl_numbers_parse (stated, numbers, SL_MAX_RANK) : 0;
  g_autofree char *text = sl_tensor_describe (tensor);
  for (guint i = 0; i < tensor->rank; i++) {
    const gboolean fits = n == tensor->rank && numbers[i] >= 1 && numbers[i] <= G_MAXINT32
                          && numbers[i] == floor (numbers[i]);
    if (stated != NULL && stated[0] != '\0'
        && (!fits || (tensor->dims[i] > 0 && numbers[i] != (gdouble) tensor->dims[i])))
      return sl_fail (
        error, SL_ERROR_ARGUMENT,
        "input-shape is '%s', but input '%s' is %s: expected as many whole numbers that fit",
        stated, tensor->name, text);
    if (tensor->dims[i] > 0)
      continue;
    if (!fits && i > 0)
      return sl_fail (
        error, SL_ERROR_SHAPE,
        "input '%s' is %s: its size is not fixed; state it, for example as input-shape=1,3,224,224",
        tensor->name, text);
    tensor->dims[i] = fits ? (gint32) numbers[i] : 1;
  }
  return TRUE;
}

gboolean
sl_external_file_skeleton (SlExternalModel *external, const char *input_shape, SlGraph *graph,
                           GError **error)
{
  guint n;
  const SlTensor *edges = sl_external_model_edges (external, FALSE, &n);
  g_auto (GStrv) stated = g_strsplit (input_shape != NULL ? input_shape : "", ";", SL_MAX_IO + 1);
  const guint n_stated = g_strv_length (stated);
  g_autofree SlTensor *inputs = g_memdup2 (edges, n * sizeof edges[0]);
  for (guint i = 0; i < n; i++)
    if (!settle_dims (&inputs[i], i < n_stated ? stated[i] : NULL, error)
        || !sl_graph_batch_input (graph, &inputs[i], error))
      return FALSE;
  return sl_external_model_skeleton (external, inputs, graph, error);
}
