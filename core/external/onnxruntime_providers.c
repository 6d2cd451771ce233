/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Execution providers of ONNX Runtime. Most take their options as texts through one function; some
 * have a type of their own for them, and some are appended by a function that the library exports
 * beside its table.
 */
#include "core/external/onnxruntime.h"

#include <dlfcn.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/printable.h"
#include "core/external/runtime.h"

/**
 * Provider:
 * @name: what users write
 * @own: what the library calls it
 * @listed: what it is among the providers that a library was built with
 * @append: position of its append function in OrtApi, ONNX Runtime's table of functions, 0 = the
 * one for all
 * @create, @update, @release: positions of the functions for the type of its options, 0 = none
 * @exported: (nullable): the function that the library exports for it, with flags as second
 * argument
 */
typedef struct
{
  const char *name, *own, *listed;
  guint append, create, update, release;
  const char *exported;
} Provider;

static const Provider providers[] = {
  { "cuda", "CUDA", "CUDAExecutionProvider", 204, 205, 206, 208, NULL },
  { "tensorrt", "TensorRT", "TensorrtExecutionProvider", 170, 171, 172, 174, NULL },
  { "cann", "CANN", "CANNExecutionProvider", 220, 221, 222, 224, NULL },
  { "openvino", "OpenVINO", "OpenVINOExecutionProvider", 0, 0, 0, 0, NULL },
  { "qnn", "QNN", "QNNExecutionProvider", 0, 0, 0, 0, NULL },
  { "migraphx", "MIGraphX", "MIGraphXExecutionProvider", 0, 0, 0, 0, NULL },
  { "vitisai", "VitisAI", "VitisAIExecutionProvider", 0, 0, 0, 0, NULL },
  { "webgpu", "WebGPU", "WebGpuExecutionProvider", 0, 0, 0, 0, NULL },
  { "xnnpack", "XNNPACK", "XnnpackExecutionProvider", 0, 0, 0, 0, NULL },
  { "coreml", "CoreML", "CoreMLExecutionProvider", 0, 0, 0, 0, NULL },
  { "nnapi", "NNAPI", "NnapiExecutionProvider", 0, 0, 0, 0,
    "OrtSessionOptionsAppendExecutionProvider_Nnapi" },
  { "vsinpu", "VSI NPU", "VSINPUExecutionProvider", 0, 0, 0, 0,
    "OrtSessionOptionsAppendExecutionProvider_VSINPU" },
};

/** Options as a provider takes them. */
typedef struct
{
  GPtrArray *keys, *values;
  const SlOrt *ort;
  SlOrtOptions *options;
  GError *error;
} Options;

static void
options_clear (Options *options)
{
  g_ptr_array_unref (options->keys);
  g_ptr_array_unref (options->values);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* What begins with session. is the session's. */
static void
take_option (const char *key, const char *value, gpointer data)
{
  Options *options = data;
  if (g_str_has_prefix (key, "session.")) {
    if (options->error == NULL)
      sl_ort_good (options->ort, options->ort->api.add_config (options->options, key, value),
                   &options->error);
    return;
  }
  g_ptr_array_add (options->keys, g_strdup (key));
  g_ptr_array_add (options->values, g_strdup (value));
}

static const Provider *
find_provider (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (providers); i++)
    if (g_ascii_strcasecmp (providers[i].name, name) == 0)
      return &providers[i];
  return NULL;
}

/* Whether the library was built with it; else what it was built with. */
static gboolean
check_listed (const SlOrt *ort, const Provider *provider, GError **error)
{
  char **names = NULL;
  int n = 0;
  gboolean listed = FALSE;
  if (!sl_ort_good (ort, ort->api.available_providers (&names, &n), error))
    return FALSE;
  g_autoptr (GString) text = g_string_new (NULL);
  for (int i = 0; i < n; i++) {
    g_autofree char *shown = sl_printable (names[i], SL_PRINTABLE_NAME);
    char *end = strstr (shown, "ExecutionProvider");
    if (end != NULL)
      *end = '\0';
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", shown);
    listed |= strcmp (names[i], provider->listed) == 0;
  }
  sl_ort_good (ort, ort->api.release_providers (names, n), NULL);
  if (!listed)
    sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "provider=%s: this library was built with %s; expected one with %s: install its vendor's "
      "build of ONNX Runtime and name its library in SIGHTLINE_ONNXRUNTIME",
      provider->name, text->str, provider->own);
  return listed;
}

/* A provider with options of a type of its own. */
static SlOrtStatus *
append_typed (const SlOrt *ort, const Provider *provider, const Options *options)
{
  SlOrtProviderApi api;
  SlOrtProviderOptions *made = NULL;
  const struct
  {
    guint position;
    gsize offset;
  } functions[] = { { provider->append, G_STRUCT_OFFSET (SlOrtProviderApi, append) },
                    { provider->create, G_STRUCT_OFFSET (SlOrtProviderApi, create) },
                    { provider->update, G_STRUCT_OFFSET (SlOrtProviderApi, update) },
                    { provider->release, G_STRUCT_OFFSET (SlOrtProviderApi, release) } };
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++) {
    void *function = (void *) ort->table[functions[i].position];
    memcpy ((char *) &api + functions[i].offset, &function, sizeof function);
  }
  SlOrtStatus *status = api.create (&made);
  if (status == NULL && options->keys->len > 0)
    status = api.update (made, (const char *const *) options->keys->pdata,
                         (const char *const *) options->values->pdata, options->keys->len);
  if (status == NULL)
    status = api.append (options->options, made);
  if (made != NULL)
    api.release (made);
  return status;
}

static gboolean
append_exported (const SlOrt *ort, const Provider *provider, SlOrtOptions *options, GError **error)
{
  SlOrtStatus *(*append) (SlOrtOptions * options, uint32_t flags);
  void *function = dlsym (ort->handle, provider->exported);
  if (function == NULL)
    return sl_fail (error, SL_ERROR_UNSUPPORTED, "it lacks the function %s", provider->exported);
  memcpy (&append, &function, sizeof function);
  return sl_ort_good (ort, append (options, 0), error);
}

static gboolean
append (const SlOrt *ort, const char *name, const Options *options, GError **error)
{
  const Provider *provider = find_provider (name);
  if (provider != NULL && !check_listed (ort, provider, error))
    return FALSE;
  gboolean good;
  if (provider != NULL && provider->exported != NULL)
    good = append_exported (ort, provider, options->options, error);
  else if (provider != NULL && provider->append != 0)
    good = sl_ort_good (ort, append_typed (ort, provider, options), error);
  else
    good = sl_ort_good (
      ort,
      ort->api.append_provider (options->options, provider != NULL ? provider->own : name,
                                (const char *const *) options->keys->pdata,
                                (const char *const *) options->values->pdata, options->keys->len),
      error);
  if (!good)
    g_prefix_error (error, "provider=%s: ", name);
  return good;
}

gboolean
sl_ort_append_providers (const SlOrt *ort, SlOrtOptions *options, const SlBackendSettings *settings,
                         char **device, GError **error)
{
  g_auto (Options) stated = { g_ptr_array_new_with_free_func (g_free),
                              g_ptr_array_new_with_free_func (g_free), ort, options, NULL };
  g_auto (GStrv) names = g_strsplit (settings->provider != NULL ? settings->provider : "", ",", -1);
  g_autoptr (GString) title = g_string_new (NULL);
  sl_runtime_settings_each (settings->options, take_option, &stated);
  if (stated.error != NULL) {
    g_propagate_error (error, stated.error);
    return FALSE;
  }
  if (settings->provider_library != NULL && *settings->provider_library != '\0')
    return sl_ort_append_plugin (ort, options, (const char *const *) stated.keys->pdata,
                                 (const char *const *) stated.values->pdata, stated.keys->len,
                                 settings, device, error);
  for (guint i = 0; names[i] != NULL; i++) {
    const char *name = g_strstrip (names[i]);
    if (name[0] == '\0' || g_ascii_strcasecmp (name, "cpu") == 0)
      continue;
    g_autofree char *shown = sl_printable (name, SL_PRINTABLE_NAME);
    if (!append (ort, shown, &stated, error))
      return FALSE;
    g_string_append_printf (title, "%s%s", title->len > 0 ? ", " : "",
                            find_provider (name) != NULL ? find_provider (name)->own : shown);
    if (find_provider (name) != NULL && find_provider (name)->exported != NULL)
      continue; /* takes no options */
    g_ptr_array_set_size (stated.keys, 0);
    g_ptr_array_set_size (stated.values, 0);
  }
  if (stated.keys->len > 0) {
    g_autofree char *key = sl_printable (stated.keys->pdata[0], SL_PRINTABLE_NAME);
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "provider-options: nothing takes %s; expected options of a provider that is stated and has "
      "some, or such as begin with session.",
      key);
  }
  *device = title->len > 0 ? g_strdup (title->str) : g_strdup ("CPU");
  return TRUE;
}
