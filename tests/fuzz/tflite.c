/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libFuzzer target: bytes -> TFLite reader -> checks, shapes, folding and passes -> a session -> one run on the kernels
 * of our own, where that is small enough to be quick.
 *   CC=clang meson setup B -Db_sanitize=address,undefined -Db_lundef=false -Dc_args=-fsanitize=fuzzer-no-link
 *   ninja -C B tests/fuzz/fuzz-tflite && B/tests/fuzz/fuzz-tflite CORPUS ../shared/models
 */
#include <stdlib.h>

#include "core/session.h"
#include "models/reader.h"

/* Larger graphs are read and prepared, but not run. */
#define MAX_RUN_BYTES 65536
#define MAX_RUN_NODES 64

int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

static void
run_once (SlGraph *graph)
{
  g_autoptr (SlSession) session = sl_session_new (graph, 1, NULL);
  void *inputs[SL_MAX_IO], *outputs[SL_MAX_IO];
  if (session == NULL)
    return;
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++)
    inputs[i] = sl_tensor_buffer_new (sl_graph_input_tensor (graph, i)->bytes);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes);
  sl_session_run (session, (const void *const *) inputs, outputs);
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++)
    sl_tensor_buffer_free (inputs[i]);
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    sl_tensor_buffer_free (outputs[i]);
}

static gboolean
is_small (const SlGraph *graph)
{
  gsize bytes = 0;
  for (guint i = 0; i < sl_graph_n_tensors (graph); i++)
    bytes += sl_graph_tensor (graph, (gint32) i)->bytes;
  return bytes <= MAX_RUN_BYTES && sl_graph_n_nodes (graph) <= MAX_RUN_NODES;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size); /* a copy: aligned, and its end is guarded */
  g_autoptr (SlGraph) graph = sl_graph_new (bytes);
  SlModelMetadata metadata = { 0 };
  g_setenv ("SIGHTLINE_BACKEND", "reference", TRUE);
  if (sl_reader_tflite.probe (bytes) && sl_reader_tflite.read (bytes, "fuzz", graph, &metadata, NULL) && sl_graph_prepare (graph, NULL)
      && is_small (graph))
    run_once (graph);
  sl_model_metadata_clear (&metadata);
  return 0;
}
