/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The part of ONNX Runtime's C interface that is used. Its library exports OrtGetApiBase() alone,
 * which gives a table of functions for a version; a function keeps its position in all later
 * versions. Strings are UTF-8, and functions that return a status return NULL where all is well.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

/** Version of the table: that of ONNX Runtime 1.14, the first whose functions below are all there.
 */
#define SL_ORT_API 14
#define SL_ORT_OLDEST "1.14"
/** The version whose table has the functions of SlOrtPluginApi. */
#define SL_ORT_PLUGIN_API 22
#define SL_ORT_PLUGIN_OLDEST "1.22"
/** Log level, of messages for which the process ends. */
#define SL_ORT_LOG_FATAL 4
/** Of CreateCpuMemoryInfo: an allocator of the device, and memory as it is by default. */
#define SL_ORT_ALLOCATOR 0
#define SL_ORT_MEMORY 0

typedef struct SlOrtStatus SlOrtStatus;
typedef struct SlOrtEnv SlOrtEnv;
typedef struct SlOrtSession SlOrtSession;
typedef struct SlOrtOptions SlOrtOptions;
typedef struct SlOrtRunOptions SlOrtRunOptions;
typedef struct SlOrtValue SlOrtValue;
typedef struct SlOrtType SlOrtType;
typedef struct SlOrtShape SlOrtShape;
typedef struct SlOrtMemory SlOrtMemory;
typedef struct SlOrtAllocator SlOrtAllocator;
typedef struct SlOrtProviderOptions SlOrtProviderOptions;
typedef struct SlOrtDevice SlOrtDevice;
typedef struct SlOrtHardware SlOrtHardware;
typedef struct SlOrtPairs SlOrtPairs;

/** What OrtGetApiBase() gives. */
typedef struct
{
  const void *(*get_api) (uint32_t version);
  const char *(*get_version) (void);
} SlOrtBase;

/** The functions by what they are called in C, in words of ours. */
typedef struct
{
  const char *(*get_message) (const SlOrtStatus *status);
  SlOrtStatus *(*create_env) (int level, const char *name, SlOrtEnv **env);
  SlOrtStatus *(*create_session) (const SlOrtEnv *env, const char *path,
                                  const SlOrtOptions *options, SlOrtSession **session);
  SlOrtStatus *(*create_session_from_array) (const SlOrtEnv *env, const void *data, size_t size,
                                             const SlOrtOptions *options, SlOrtSession **session);
  SlOrtStatus *(*run) (SlOrtSession *session, const SlOrtRunOptions *options,
                       const char *const *input_names, const SlOrtValue *const *inputs,
                       size_t n_inputs, const char *const *output_names, size_t n_outputs,
                       SlOrtValue **outputs);
  SlOrtStatus *(*create_options) (SlOrtOptions **options);
  SlOrtStatus *(*set_threads) (SlOrtOptions *options, int n);
  SlOrtStatus *(*count_inputs) (const SlOrtSession *session, size_t *n);
  SlOrtStatus *(*count_outputs) (const SlOrtSession *session, size_t *n);
  SlOrtStatus *(*input_type) (const SlOrtSession *session, size_t i, SlOrtType **type);
  SlOrtStatus *(*output_type) (const SlOrtSession *session, size_t i, SlOrtType **type);
  SlOrtStatus *(*input_name) (const SlOrtSession *session, size_t i, SlOrtAllocator *allocator,
                              char **name);
  SlOrtStatus *(*output_name) (const SlOrtSession *session, size_t i, SlOrtAllocator *allocator,
                               char **name);
  SlOrtStatus *(*create_run_options) (SlOrtRunOptions **options);
  SlOrtStatus *(*set_terminate) (SlOrtRunOptions *options);
  SlOrtStatus *(*unset_terminate) (SlOrtRunOptions *options);
  SlOrtStatus *(*create_tensor) (const SlOrtMemory *memory, void *data, size_t size,
                                 const int64_t *shape, size_t rank, int type, SlOrtValue **value);
  SlOrtStatus *(*get_data) (SlOrtValue *value, void **data);
  SlOrtStatus *(*type_to_shape) (const SlOrtType *type, const SlOrtShape **shape);
  SlOrtStatus *(*element_type) (const SlOrtShape *shape, int *type);
  SlOrtStatus *(*count_dimensions) (const SlOrtShape *shape, size_t *n);
  SlOrtStatus *(*get_dimensions) (const SlOrtShape *shape, int64_t *dimensions, size_t n);
  SlOrtStatus *(*value_shape) (const SlOrtValue *value, SlOrtShape **shape);
  SlOrtStatus *(*create_cpu_memory) (int allocator, int memory, SlOrtMemory **info);
  SlOrtStatus *(*allocator_free) (SlOrtAllocator *allocator, void *memory);
  SlOrtStatus *(*default_allocator) (SlOrtAllocator **allocator);
  void (*release_status) (SlOrtStatus *status);
  void (*release_session) (SlOrtSession *session);
  void (*release_value) (SlOrtValue *value);
  void (*release_run_options) (SlOrtRunOptions *options);
  void (*release_type) (SlOrtType *type);
  void (*release_shape) (SlOrtShape *shape);
  void (*release_options) (SlOrtOptions *options);
  SlOrtStatus *(*available_providers) (char ***names, int *n);
  SlOrtStatus *(*release_providers) (char **names, int n);
  SlOrtStatus *(*add_config) (SlOrtOptions *options, const char *key, const char *value);
  SlOrtStatus *(*append_provider) (SlOrtOptions *options, const char *name, const char *const *keys,
                                   const char *const *values, size_t n);
} SlOrtApi;

/** Functions of a provider that has options of a type of its own. */
typedef struct
{
  SlOrtStatus *(*append) (SlOrtOptions *options, const SlOrtProviderOptions *provider);
  SlOrtStatus *(*create) (SlOrtProviderOptions **provider);
  SlOrtStatus *(*update) (SlOrtProviderOptions *provider, const char *const *keys,
                          const char *const *values, size_t n);
  void (*release) (SlOrtProviderOptions *provider);
} SlOrtProviderApi;

/** Functions for libraries of providers, of SL_ORT_PLUGIN_API and newer. A device belongs to a
 * provider and has hardware; what these functions return is the library's. */
typedef struct
{
  SlOrtStatus *(*register_library) (SlOrtEnv *env, const char *name, const char *path);
  SlOrtStatus *(*get_devices) (const SlOrtEnv *env, const SlOrtDevice *const **devices, size_t *n);
  SlOrtStatus *(*append) (SlOrtOptions *options, SlOrtEnv *env, const SlOrtDevice *const *devices,
                          size_t n_devices, const char *const *keys, const char *const *values,
                          size_t n);
  void (*get_pairs) (const SlOrtPairs *pairs, const char *const **keys, const char *const **values,
                     size_t *n);
  int (*hardware_type) (const SlOrtHardware *hardware);
  const char *(*hardware_vendor) (const SlOrtHardware *hardware);
  const SlOrtPairs *(*hardware_metadata) (const SlOrtHardware *hardware);
  const char *(*provider_name) (const SlOrtDevice *device);
  const SlOrtPairs *(*provider_metadata) (const SlOrtDevice *device);
  const SlOrtHardware *(*device_hardware) (const SlOrtDevice *device);
} SlOrtPluginApi;

/** Element types. */
enum
{
  SL_ORT_FLOAT = 1,
  SL_ORT_UINT8 = 2,
  SL_ORT_INT8 = 3,
  SL_ORT_UINT16 = 4,
  SL_ORT_INT16 = 5,
  SL_ORT_INT32 = 6,
  SL_ORT_INT64 = 7,
  SL_ORT_BOOL = 9,
  SL_ORT_FLOAT16 = 10,
  SL_ORT_DOUBLE = 11,
  SL_ORT_UINT32 = 12,
  SL_ORT_UINT64 = 13
};
