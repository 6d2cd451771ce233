/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The description of another runtime in core/external/: a row with the names of its library, and
 * functions that adapt its C interface.
 */
#pragma once

#include "core/external/external.h"

/** SL_FAILURE_SIZE: bytes of a runtime's own words that are kept. */
#define SL_FAILURE_SIZE 512

/** SlRuntimeEdges: a model's inputs and outputs; the code that fills it in owns the names and frees
 * them with g_free(). */
typedef struct
{
  guint n_inputs, n_outputs;
  SlTensor inputs[SL_MAX_IO], outputs[SL_MAX_IO];
} SlRuntimeEdges;

/**
 * SlRuntime:
 * @name, @title: "onnxruntime" and "ONNX Runtime"
 * @format: of the files that it takes
 * @variable: of the environment, names its library
 * @libraries: file names that are tried else, up to NULL
 * @advice: where to get the library
 * @successor: (nullable): the row of libraries with another interface, which are found in the same
 * way; @marker: a function that only those of this row, which is a successor, export
 * @resizes: dimensions of inputs that are 1 may be others in a session, since an open one is 1 in
 * files of this format
 * @open: (transfer full): the functions of library @handle, kept as long as the process lives; NULL
 * with @error set, where the version does not do
 * @load: (transfer full): a model, with its @edges and @device, what runs it, g_free() it
 * @settle: runs @model once on zeros of the inputs in @edges, and writes there what the outputs are
 * @list_devices: (nullable): as sl_external_list_devices(); @library of @open
 * @start: (transfer full): what runs @model on tensors of @edges, in which no dimension is open
 * @run: one at a time; FALSE with up to SL_FAILURE_SIZE bytes in @failure
 * @cancel: (nullable): any thread
 */
typedef struct _SlRuntime SlRuntime;
struct _SlRuntime
{
  const char *name, *title, *format, *variable, *advice, *marker;
  const SlRuntime *successor;
  const char *libraries[6];
  gboolean resizes;
  gpointer (*open) (void *handle, const char **version, GError **error);
  gpointer (*load) (gpointer library, const SlExternalRequest *request, SlRuntimeEdges *edges,
                    char **device, GError **error);
  void (*unload) (gpointer model);
  gboolean (*settle) (gpointer model, SlRuntimeEdges *edges, GError **error);
  gboolean (*list_devices) (gpointer library, const char *path, SlExternalDeviceTake take,
                            gpointer data, GError **error);
  gpointer (*start) (gpointer model, const SlRuntimeEdges *edges, GError **error);
  gboolean (*run) (gpointer runner, const void *const *inputs, void *const *outputs, char *failure);
  void (*cancel) (gpointer runner, gboolean cancelled);
  void (*stop) (gpointer runner);
};

extern const SlRuntime sl_runtime_onnxruntime, sl_runtime_tflite, sl_runtime_litert;

/** sl_tflite_read_kind: gives @tensor the data type that has the number @type in TensorFlow Lite
 * and LiteRT, and @rank. FALSE with @error set where there is none. */
gboolean sl_tflite_read_kind (SlTensor *tensor, int type, int rank, GError **error);
/** sl_runtime_check_counts: FALSE with @error set where a model has too many inputs or outputs, or
 * none. */
gboolean sl_runtime_check_counts (gint64 n_inputs, gint64 n_outputs, GError **error);
/** sl_runtime_check_bytes: FALSE with @error set unless a runtime has @bytes for our @tensor. */
gboolean sl_runtime_check_bytes (const SlTensor *tensor, gsize bytes, GError **error);

/**
 * SlRuntimeFunction: a function of a library.
 * @name: that the library exports, or of which a table of functions has it at @position
 * @offset: of the pointer to it in our struct
 */
typedef struct
{
  const char *name;
  guint position;
  gsize offset;
} SlRuntimeFunction;

/** sl_runtime_find_functions: fills in @functions of @into by name. FALSE with SL_ERROR_UNSUPPORTED
 * that names the first that is missing. */
gboolean sl_runtime_find_functions (void *handle, const SlRuntimeFunction *functions, guint n,
                                    gpointer into, GError **error);
/** sl_runtime_read_table: fills in @functions of @into from @table by their positions. FALSE with
 * SL_ERROR_UNSUPPORTED that tells the first position that has none. */
gboolean sl_runtime_read_table (const void *const *table, const SlRuntimeFunction *functions,
                                guint n, gpointer into, GError **error);
/** sl_runtime_settings_each: calls @take with each KEY and VALUE of @options (nullable), which
 * sl_backend_settings_check() has passed. */
void sl_runtime_settings_each (const char *options,
                               void (*take) (const char *key, const char *value, gpointer data),
                               gpointer data);
