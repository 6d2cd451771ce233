/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What properties say of the backend, checked. */
#include <string.h>

#include "core/base/build_selection.h"
#include "core/base/printable.h"
#include "core/external/library.h"
#include "core/base/fail.h"

static gboolean
is_set (const char *text)
{
  return text != NULL && text[0] != '\0';
}

static gboolean
is_given (const SlBackendSettings *settings, const char *backend)
{
  return g_strcmp0 (is_set (settings->backend) ? settings->backend : SL_BACKEND_OURS, backend) == 0;
}

gboolean
sl_backend_options_check (const char *options, GError **error)
{
  g_auto (GStrv) pairs = g_strsplit (is_set (options) ? options : "", ",", -1);
  for (guint i = 0; pairs[i] != NULL; i++) {
    const char *equals = strchr (pairs[i], '=');
    if (equals != NULL && equals > pairs[i])
      continue;
    g_autofree char *shown = sl_printable (pairs[i], SL_PRINTABLE_MESSAGE);
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "provider-options: expected KEY=VALUE with ',' between, such as device_id=0, got '%s'",
      shown);
  }
  return TRUE;
}

gboolean
sl_backend_device_check (const char *device, GError **error)
{
  static const char *const types[] = { SL_DEVICE_AUTO, "cpu", "gpu", "npu", NULL };
  if (!is_set (device) || g_strv_contains (types, device)
      || g_ascii_string_to_unsigned (device, 10, 0, G_MAXINT32, NULL, NULL))
    return TRUE;
  g_autofree char *shown = sl_printable (device, SL_PRINTABLE_NAME);
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "device=%s: expected " SL_DEVICE_TYPES ", or a number of sightline backends",
                  shown);
}

/* A device is one of a library's, and that is a provider of its own. */
static gboolean
check_plugin (const SlBackendSettings *settings, GError **error)
{
  if (is_set (settings->device) && !is_set (settings->provider_library))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "device=%s goes with provider-library; state that, or leave device away",
                    settings->device);
  if (is_set (settings->provider) && is_set (settings->provider_library))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "provider and provider-library are both set: expected one of them");
  return sl_backend_device_check (settings->device, error);
}

static gboolean
check_use (const char *option, const char *value, const char *backend, gboolean used,
           GError **error)
{
  if (!is_set (value) || used)
    return TRUE;
  g_autofree char *shown = sl_printable (value, SL_PRINTABLE_MESSAGE);
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "%s=%s goes with backend=%s or auto; state that, or leave %s away", option, shown,
                  backend, option);
}

gboolean
sl_backend_name_check (const char *name, GError **error)
{
  if (!is_set (name) || strcmp (name, SL_BACKEND_OURS) == 0 || strcmp (name, SL_BACKEND_AUTO) == 0
      || sl_runtime_find (name) != NULL)
    return TRUE;
  g_autofree char *shown = sl_printable (name, SL_PRINTABLE_MESSAGE);
  return sl_fail (
    error, SL_ERROR_ARGUMENT, "backend=%s: expected " SL_BACKEND_NAMES "%s", shown,
    SL_KEEPS (runtime, onnxruntime)
      ? ""
      : "; the runtimes of others are left out of this build, by meson's option runtimes");
}

gboolean
sl_backend_settings_check (const SlBackendSettings *settings, GError **error)
{
  const gboolean ours = is_given (settings, SL_BACKEND_OURS),
                 either = is_given (settings, SL_BACKEND_AUTO);
  SlPrecision precision;
  if (!sl_backend_name_check (settings->backend, error)
      || !sl_precision_parse (settings->precision, &precision, error))
    return FALSE;
  if (precision != SL_PRECISION_FLOAT && !ours && !either)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "precision=%s goes with backend=sightline or auto; leave one of them away",
                    settings->precision);
  return sl_backend_options_check (settings->options, error)
         && check_use ("provider", settings->provider, "onnxruntime",
                       either || is_given (settings, "onnxruntime"), error)
         && check_plugin (settings, error)
         && check_use ("provider-library", settings->provider_library, "onnxruntime",
                       either || is_given (settings, "onnxruntime"), error)
         && check_use ("delegate", settings->delegate, "tflite",
                       either || is_given (settings, "tflite"), error)
         && check_use ("provider-options", settings->options, "onnxruntime or tflite", !ours,
                       error);
}

void
sl_runtime_settings_each (const char *options,
                          void (*take) (const char *key, const char *value, gpointer data),
                          gpointer data)
{
  g_auto (GStrv) pairs = g_strsplit (is_set (options) ? options : "", ",", -1);
  for (guint i = 0; pairs[i] != NULL; i++) {
    char *equals = strchr (pairs[i], '=');
    *equals = '\0';
    take (g_strstrip (pairs[i]), g_strstrip (equals + 1), data);
  }
}
