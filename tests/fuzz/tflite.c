/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libFuzzer target: bytes -> TFLite reader -> checks, shapes, folding and passes -> a session ->
 * one run on the kernels of our own, where that is small enough to be quick. What a load takes from
 * the heap at any one time is at most four times the file, and the tensors that it declares with
 * their descriptions. .ci/run fuzz does this for a minute:
 *   CC=clang meson setup B -Db_sanitize=address,undefined -Db_lundef=false
 * -Dc_args=-fsanitize=fuzzer-no-link
 *   ninja -C B tests/fuzz/fuzz-tflite && B/tests/fuzz/fuzz-tflite CORPUS ../shared/models
 */
#include <sanitizer/allocator_interface.h>
#include <stdlib.h>

#include "core/graph/graph.h"
#include "core/passes/prepare.h"
#include "core/runtime/session.h"
#include "models/reader.h"

/* Larger graphs are read and prepared, but not run. */
#define MAX_RUN_BYTES 65536
#define MAX_RUN_NODES 64

/* Of a load besides the file and the tensors: messages, tables, what GLib and readers keep. */
#define BASE_BYTES 262144
/* A tensor or a node: its description, names, shapes, scales and places in tables. */
#define ENTRY_BYTES 2048

int LLVMFuzzerInitialize (int *argc, char ***argv);
int LLVMFuzzerTestOneInput (const guint8 *data, size_t size);

/* Bytes of the heap in use, less those at the start of a load, and the most so far. */
static gssize in_use, most_in_use;

static void
count_malloc (const volatile void *memory, size_t size)
{
  in_use += (gssize) size;
  most_in_use = MAX (most_in_use, in_use);
}

static void
count_free (const volatile void *memory)
{
  if (memory != NULL)
    in_use -= (gssize) __sanitizer_get_allocated_size (memory);
}

/* Tensors that the file declares; those that it does not get to before it is refused cost nothing.
 */
static gsize
declared_bytes (const SlGraph *graph)
{
  gsize total = 0;
  for (guint i = 0; i < sl_graph_n_tensors (graph); i++) {
    const SlTensor *tensor = sl_graph_tensor (graph, (gint32) i);
    gsize elements = 0;
    if (sl_tensor_elements (tensor, &elements) && elements <= SL_MAX_TENSOR_BYTES)
      total += elements * sl_dtype_size (tensor->dtype);
  }
  return total;
}

static void
check_memory (const SlGraph *graph, gsize file)
{
  const gsize entries = (gsize) (sl_graph_n_tensors (graph) + sl_graph_n_nodes (graph));
  const gsize allowed = 4 * file + declared_bytes (graph) + BASE_BYTES + ENTRY_BYTES * entries;
  if (most_in_use <= 0 || (gsize) most_in_use <= allowed)
    return;
  g_printerr ("loading %" G_GSIZE_FORMAT " bytes took %" G_GSSIZE_FORMAT
              "; expected at most %" G_GSIZE_FORMAT "\n",
              file, most_in_use, allowed);
  abort (); /* which libFuzzer notices, and keeps the file; g_error() traps */
}

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
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  g_setenv ("SIGHTLINE_BACKEND", "plain", TRUE);
  g_assert_true (__sanitizer_install_malloc_and_free_hooks (count_malloc, count_free) > 0);
  return 0;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, size_t size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size); /* a copy: aligned, and its end is guarded */
  in_use = most_in_use = 0;
  g_autoptr (SlGraph) graph = sl_graph_new (bytes);
  SlModelMetadata metadata = { 0 };
  const gboolean loaded =
    sl_reader_tflite.probe (bytes)
    && sl_reader_tflite.read (bytes, &(SlReaderSource){ .path = "fuzz" }, graph, &metadata, NULL)
    && sl_graph_prepare (graph, NULL);
  check_memory (graph, size);
  if (loaded && is_small (graph))
    run_once (graph);
  sl_model_metadata_clear (&metadata);
  return 0;
}
