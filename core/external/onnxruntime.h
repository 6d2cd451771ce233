/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ONNX Runtime's library, opened, and its execution providers; for the files of
 * core/external/onnxruntime*.c. */
#pragma once

#include "core/external/external.h"
#include "core/external/onnxruntime_api.h"

/**
 * SlOrt: the library.
 * @handle: of dlopen()
 * @table: all functions, for those of providers
 * @env: of the process
 * @memory: what says that tensors are in the processor's memory
 */
typedef struct
{
  SlOrtApi api;
  void *handle;
  const void *const *table;
  SlOrtEnv *env;
  SlOrtMemory *memory;
  SlOrtAllocator *allocator;
} SlOrt;

/** sl_ort_good: TRUE for no @status; else SL_ERROR_BACKEND with its message, and it is released. */
gboolean sl_ort_good (const SlOrt *ort, SlOrtStatus *status, GError **error);
/** sl_ort_append_providers: those of @settings into @options. @device: (out) (transfer full):
 * "CUDA", "TensorRT, CUDA" or "CPU". */
gboolean sl_ort_append_providers (const SlOrt *ort, SlOrtOptions *options,
                                  const SlBackendSettings *settings, char **device, GError **error);
