/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Execution providers in libraries of their own, which ONNX Runtime 1.22 and newer load. Such a
 * library has devices: hardware that its provider runs models on. The functions of the runtime do
 * not say which library a device is of, so the devices that a registration adds are kept.
 *
 * A library is registered once and never leaves, since its devices may be in use.
 */
#include "core/external/onnxruntime.h"

#include <dlfcn.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/printable.h"
#include "core/base/shared_object.h"
#include "core/external/runtime.h"

#define AT(position, member)                                 \
  {                                                          \
    NULL, position, G_STRUCT_OFFSET (SlOrtPluginApi, member) \
  }

/* By their places in the table of the library, with the library's names. */
static const SlRuntimeFunction functions[] = {
  AT (298 /* GetKeyValuePairs */, get_pairs),
  AT (301 /* RegisterExecutionProviderLibrary */, register_library),
  AT (303 /* GetEpDevices */, get_devices),
  AT (304 /* SessionOptionsAppendExecutionProvider_V2 */, append),
  AT (307 /* HardwareDevice_Type */, hardware_type),
  AT (309 /* HardwareDevice_Vendor */, hardware_vendor),
  AT (311 /* HardwareDevice_Metadata */, hardware_metadata),
  AT (312 /* EpDevice_EpName */, provider_name),
  AT (314 /* EpDevice_EpMetadata */, provider_metadata),
  AT (316 /* EpDevice_Device */, device_hardware),
};

/* By the number that the library has for a type. */
static const char *const types[] = { "cpu", "gpu", "npu" };

/* A library and its devices. */
typedef struct
{
  char *path;
  GPtrArray *devices; /* of const SlOrtDevice */
} Plugin;

static GMutex lock;
static GPtrArray *plugins; /* (nullable): of Plugin; @lock */

static gboolean
read_api (const SlOrt *ort, SlOrtPluginApi *api, GError **error)
{
  if (ort->newer == NULL)
    return sl_fail (error, SL_ERROR_UNSUPPORTED,
                    "provider-library: ONNX Runtime %s takes no libraries of providers; "
                    "expected " SL_ORT_PLUGIN_OLDEST " or newer: install that",
                    ort->version);
  return sl_runtime_read_table (ort->newer, functions, G_N_ELEMENTS (functions), api, error);
}

static const char *
type_of (const SlOrtPluginApi *api, const SlOrtDevice *device)
{
  const SlOrtHardware *hardware = api->device_hardware (device);
  const int type = hardware != NULL ? api->hardware_type (hardware) : -1;
  return type >= 0 && type < (int) G_N_ELEMENTS (types) ? types[type] : "other";
}

static const char *
name_of (const SlOrtPluginApi *api, const SlOrtDevice *device)
{
  const char *name = api->provider_name (device);
  return name != NULL ? name : "unknown";
}

/* Looked at before the runtime loads it: what that says of such files differs by version. */
static gboolean
check_library (const char *path, GError **error)
{
  static const char *const names[] = { "CreateEpFactories", "ReleaseEpFactory" };
  g_autofree char *said = NULL;
  void *handle = sl_shared_object_open (path, RTLD_LAZY | RTLD_LOCAL, &said);
  if (handle == NULL)
    return sl_fail (error, SL_ERROR_OPEN, "cannot be opened: %s", said);
  const char *missing = NULL;
  for (guint i = 0; missing == NULL && i < G_N_ELEMENTS (names); i++)
    if (dlsym (handle, names[i]) == NULL)
      missing = names[i];
  dlclose (handle);
  return missing == NULL
         || sl_fail (
           error, SL_ERROR_UNSUPPORTED,
           "it lacks the function %s; expected a plug-in library of an execution provider, for "
           "ONNX Runtime " SL_ORT_PLUGIN_OLDEST " or newer",
           missing);
}

/* All devices that the runtime knows. */
static gboolean
get_devices (const SlOrt *ort, const SlOrtPluginApi *api, const SlOrtDevice *const **devices,
             size_t *n, GError **error)
{
  *devices = NULL;
  *n = 0;
  if (!sl_ort_good (ort, api->get_devices (ort->env, devices, n), error))
    return FALSE;
  gboolean whole = *n == 0 || *devices != NULL;
  for (gsize i = 0; whole && i < *n; i++)
    whole = (*devices)[i] != NULL;
  return whole
         || sl_fail (error, SL_ERROR_BACKEND,
                     "it counts %" G_GSIZE_FORMAT
                     " devices and does not give them: it is no complete library",
                     (gsize) *n);
}

/* What is among @devices and not in @before. */
static GPtrArray *
new_devices (const SlOrtDevice *const *devices, gsize n, GHashTable *before)
{
  GPtrArray *added = g_ptr_array_new ();
  for (gsize i = 0; i < n; i++)
    if (!g_hash_table_contains (before, devices[i]))
      g_ptr_array_add (added, (gpointer) devices[i]);
  return added;
}

/* @lock is held. NULL with @error set. */
static Plugin *
register_plugin (const SlOrt *ort, const SlOrtPluginApi *api, const char *path, GError **error)
{
  const SlOrtDevice *const *devices = NULL;
  size_t n = 0;
  g_autoptr (GHashTable) before = g_hash_table_new (NULL, NULL);
  g_autofree char *name = g_strdup_printf ("sightline-%u", plugins->len);
  if (!check_library (path, error) || !get_devices (ort, api, &devices, &n, error))
    return NULL;
  for (gsize i = 0; i < n; i++)
    g_hash_table_add (before, (gpointer) devices[i]);
  if (!sl_ort_good (ort, api->register_library (ort->env, name, path), error)
      || !get_devices (ort, api, &devices, &n, error))
    return NULL;
  Plugin *plugin = g_new0 (Plugin, 1);
  plugin->path = g_strdup (path);
  plugin->devices = new_devices (devices, n, before);
  g_ptr_array_add (plugins, plugin);
  return plugin;
}

/* (transfer none): NULL with @error set, also where it finds no device. */
static const Plugin *
find_plugin (const SlOrt *ort, const SlOrtPluginApi *api, const char *path, GError **error)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  g_autofree char *full = g_canonicalize_filename (path, NULL);
  const Plugin *plugin = NULL;
  if (plugins == NULL)
    plugins = g_ptr_array_new ();
  for (guint i = 0; plugin == NULL && i < plugins->len; i++)
    if (strcmp (((const Plugin *) plugins->pdata[i])->path, full) == 0)
      plugin = plugins->pdata[i];
  if (plugin == NULL)
    plugin = register_plugin (ort, api, full, error);
  if (plugin != NULL && plugin->devices->len == 0) {
    sl_fail (
      error, SL_ERROR_BACKEND,
      "it finds no device; check that the device is there, that its driver is installed, and that "
      "this user may open it");
    plugin = NULL;
  }
  if (plugin == NULL)
    sl_fail_prefix (error, "provider-library=%s: ", path);
  return plugin;
}

/* "0 cpu, 1 gpu" */
static char *
describe_all (const SlOrtPluginApi *api, const Plugin *plugin)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < plugin->devices->len; i++)
    g_string_append_printf (text, "%s%u %s", i > 0 ? ", " : "", i,
                            type_of (api, plugin->devices->pdata[i]));
  return g_string_free (text, FALSE);
}

/* The first one, the first one of a type, or the one of a number. */
static const SlOrtDevice *
choose (const SlOrtPluginApi *api, const Plugin *plugin, const char *stated, GError **error)
{
  guint64 number = 0;
  const gboolean any = stated == NULL || *stated == '\0',
                 numbered =
                   any || g_ascii_string_to_unsigned (stated, 10, 0, G_MAXINT32, &number, NULL);
  for (guint i = 0; i < plugin->devices->len; i++)
    if (numbered ? i == number : strcmp (type_of (api, plugin->devices->pdata[i]), stated) == 0)
      return plugin->devices->pdata[i];
  g_autofree char *all = describe_all (api, plugin);
  return sl_fail_null (error, SL_ERROR_ARGUMENT,
                       "device=%s: the provider's library has no such device; expected one of %s",
                       stated, all);
}

gboolean
sl_ort_append_plugin (const SlOrt *ort, SlOrtOptions *options, const char *const *keys,
                      const char *const *values, gsize n, const SlBackendSettings *settings,
                      char **title, GError **error)
{
  SlOrtPluginApi api;
  if (!read_api (ort, &api, error))
    return FALSE;
  const Plugin *plugin = find_plugin (ort, &api, settings->provider_library, error);
  const SlOrtDevice *device =
    plugin != NULL ? choose (&api, plugin, settings->device, error) : NULL;
  if (device == NULL)
    return FALSE;
  g_autofree char *name = sl_printable (name_of (&api, device), SL_PRINTABLE_NAME);
  if (!sl_ort_good (ort, api.append (options, ort->env, &device, 1, keys, values, n), error))
    return sl_fail_prefix (error, "provider-library=%s: ", settings->provider_library);
  *title = g_strdup_printf ("%s (%s)", name, type_of (&api, device));
  return TRUE;
}

/* (nullable): providers state the memory under names of their own. */
static const char *
find_memory (const SlOrtPluginApi *api, const SlOrtPairs *pairs)
{
  const char *const *keys = NULL, *const *values = NULL;
  size_t n = 0;
  if (pairs != NULL)
    api->get_pairs (pairs, &keys, &values, &n);
  if (keys == NULL || values == NULL)
    n = 0;
  for (gsize i = 0; i < n; i++)
    if (keys[i] != NULL && (strstr (keys[i], "emory") != NULL || strstr (keys[i], "vram") != NULL))
      return values[i];
  return NULL;
}

static void
tell (const SlOrtPluginApi *api, const SlOrtDevice *device, SlExternalDeviceTake take,
      gpointer data)
{
  const SlOrtHardware *hardware = api->device_hardware (device);
  const char *vendor = hardware != NULL ? api->hardware_vendor (hardware) : NULL;
  const char *memory =
    hardware != NULL ? find_memory (api, api->hardware_metadata (hardware)) : NULL;
  const SlExternalDevice told = {
    .type = type_of (api, device),
    .provider = name_of (api, device),
    .vendor = vendor != NULL ? vendor : "unknown",
    .memory = memory != NULL ? memory : find_memory (api, api->provider_metadata (device))
  };
  take (&told, data);
}

gboolean
sl_ort_list_devices (gpointer library, const char *path, SlExternalDeviceTake take, gpointer data,
                     GError **error)
{
  const SlOrt *ort = library;
  SlOrtPluginApi api;
  const SlOrtDevice *const *devices = NULL;
  size_t n = 0;
  if (path == NULL && ort->newer == NULL)
    return TRUE;
  if (!read_api (ort, &api, error))
    return FALSE;
  if (path != NULL) {
    const Plugin *plugin = find_plugin (ort, &api, path, error);
    for (guint i = 0; plugin != NULL && i < plugin->devices->len; i++)
      tell (&api, plugin->devices->pdata[i], take, data);
    return plugin != NULL;
  }
  if (!get_devices (ort, &api, &devices, &n, error))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    tell (&api, devices[i], take, data);
  return TRUE;
}
