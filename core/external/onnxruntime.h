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
 * @newer: (nullable): the same of SL_ORT_PLUGIN_API, where the library has it
 * @version: of the library
 * @env: of the process
 * @memory: what says that tensors are in the processor's memory
 */
typedef struct
{
  SlOrtApi api;
  void *handle;
  const void *const *table, *const *newer;
  const char *version;
  SlOrtEnv *env;
  SlOrtMemory *memory;
  SlOrtAllocator *allocator;
} SlOrt;

/** sl_ort_good: TRUE for no @status; else SL_ERROR_BACKEND with its message, and it is released. */
gboolean sl_ort_good (const SlOrt *ort, SlOrtStatus *status, GError **error);
/** sl_ort_gave: the same, and the pointer at @thing is set, too. */
gboolean sl_ort_gave (const SlOrt *ort, SlOrtStatus *status, const void *thing, GError **error);
/** sl_ort_append_providers: those of @settings into @options. @device: (out) (transfer full):
 * "CUDA", "TensorRT, CUDA" or "CPU". */
gboolean sl_ort_append_providers (const SlOrt *ort, SlOrtOptions *options,
                                  const SlBackendSettings *settings, char **device, GError **error);
/** sl_ort_append_plugin: a device of the library that @settings state, with its options. @title:
 * (out) (transfer full): "WebGPU (gpu)". The library is registered once in a process and stays. */
gboolean sl_ort_append_plugin (const SlOrt *ort, SlOrtOptions *options, const char *const *keys,
                               const char *const *values, gsize n,
                               const SlBackendSettings *settings, char **title, GError **error);
/** sl_ort_list_devices: as sl_external_list_devices(). */
gboolean sl_ort_list_devices (gpointer library, const char *path, SlExternalDeviceTake take,
                              gpointer data, GError **error);
