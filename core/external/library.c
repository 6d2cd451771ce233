/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds a runtime's library: the file that an environment variable names, else by its usual names.
 * Libraries stay open, since they have threads and state of their own that no dlclose() ends well.
 */
#include "core/external/library.h"

#include <dlfcn.h>
#include <string.h>

#include "core/base/build_selection.h"
#include "core/base/fail.h"
#include "core/base/shared_object.h"

/* NULL: left out of this build. */
static const SlRuntime *const rows[] = { SL_KEEPS (runtime, onnxruntime) ? &sl_runtime_onnxruntime
                                                                         : NULL,
                                         SL_KEEPS (runtime, tflite) ? &sl_runtime_tflite : NULL };

/* A library that is open. */
typedef struct
{
  const SlRuntime *row;
  gpointer functions;
  const char *version;
  char *file;
} Opened;

static GMutex lock;
static Opened opened[G_N_ELEMENTS (rows)]; /* under lock; what is in it stays */

const SlRuntime *
sl_runtime_find (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i] != NULL && g_strcmp0 (rows[i]->name, name) == 0)
      return rows[i];
  return NULL;
}

/* (transfer full): of the library that @handle is of. */
static char *
file_of (void *handle, const char *name)
{
  char origin[4096];
  return strchr (name, '/') == NULL && dlinfo (handle, RTLD_DI_ORIGIN, origin) == 0
           ? g_build_filename (origin, name, NULL)
           : g_strdup (name);
}

/* NULL with what the loader said of the last name that is there, or of the first. */
static void *
open_first (const SlRuntime *row, const char *stated, const char **name, GError **error)
{
  const char *only[] = { stated, NULL };
  g_autofree char *said = NULL;
  for (const char *const *names = stated != NULL ? only : row->libraries; *names != NULL; names++) {
    g_autofree char *why = NULL;
    void *handle = sl_shared_object_open (*names, RTLD_NOW | RTLD_LOCAL, &why);
    *name = *names;
    if (handle != NULL)
      return handle;
    if (said == NULL)
      said = g_steal_pointer (&why);
  }
  if (stated != NULL)
    sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "%s, which the environment variable %s names, cannot be opened as %s: %s: correct or unset "
      "%s",
      stated, row->variable, row->title, said, row->variable);
  else
    sl_fail (error, SL_ERROR_UNSUPPORTED,
             "%s is not here (%s): %s, or name its library in the environment variable %s",
             row->title, said, row->advice, row->variable);
  return NULL;
}

static gboolean
open_library (const SlRuntime *row, Opened *into, GError **error)
{
  const char *stated = g_getenv (row->variable), *name = NULL;
  void *handle = open_first (row, stated != NULL && *stated != '\0' ? stated : NULL, &name, error);
  if (handle == NULL)
    return FALSE;
  g_autofree char *file = file_of (handle, name);
  g_autoptr (GError) failed = NULL;
  const SlRuntime *next = row->successor;
  into->row = next != NULL && dlsym (handle, next->marker) != NULL ? next : row;
  into->functions = into->row->open (handle, &into->version, &failed);
  if (into->functions != NULL) {
    into->file = g_steal_pointer (&file);
    return TRUE;
  }
  dlclose (handle);
  const gboolean is_stated = stated != NULL && *stated != '\0';
  g_set_error (error, failed->domain, failed->code, "%s: %s%s%s", file, failed->message,
               is_stated ? "; correct or unset " : "", is_stated ? row->variable : "");
  return FALSE;
}

gpointer
sl_runtime_open (const SlRuntime **row, const char **version, const char **file, GError **error)
{
  guint i = 0;
  while (rows[i] != *row)
    i++;
  g_mutex_lock (&lock);
  const gboolean good = opened[i].functions != NULL || open_library (*row, &opened[i], error);
  g_mutex_unlock (&lock);
  if (!good)
    return NULL;
  *row = opened[i].row;
  if (version != NULL)
    *version = opened[i].version;
  if (file != NULL)
    *file = opened[i].file;
  return opened[i].functions;
}

gboolean
sl_runtime_find_functions (void *handle, const SlRuntimeFunction *functions, guint n, gpointer into,
                           GError **error)
{
  for (guint i = 0; i < n; i++) {
    void *function = dlsym (handle, functions[i].name);
    if (function == NULL)
      return sl_fail (error, SL_ERROR_UNSUPPORTED,
                      "it lacks the function %s: it is another library, or another version of it",
                      functions[i].name);
    memcpy ((char *) into + functions[i].offset, &function, sizeof function);
  }
  return TRUE;
}

gboolean
sl_runtime_read_table (const void *const *table, const SlRuntimeFunction *functions, guint n,
                       gpointer into, GError **error)
{
  for (guint i = 0; i < n; i++) {
    const void *function = table[functions[i].position];
    if (function == NULL)
      return sl_fail (
        error, SL_ERROR_UNSUPPORTED,
        "its table lacks function %u: it is another library, or another version of it",
        functions[i].position);
    memcpy ((char *) into + functions[i].offset, &function, sizeof function);
  }
  return TRUE;
}

const char *
sl_external_open (const char *name, const char **library, GError **error)
{
  const SlRuntime *row = sl_runtime_find (name);
  const char *version = NULL;
  return sl_runtime_open (&row, &version, library, error) != NULL ? version : NULL;
}

gboolean
sl_external_list_devices (const char *name, const char *path, SlExternalDeviceTake take,
                          gpointer data, GError **error)
{
  const SlRuntime *row = sl_runtime_find (name);
  const gpointer library = sl_runtime_open (&row, NULL, NULL, error);
  return library != NULL
         && (row->list_devices == NULL || row->list_devices (library, path, take, data, error));
}

const char *
sl_external_format (const char *name)
{
  const SlRuntime *row = sl_runtime_find (name);
  return row != NULL ? row->format : NULL;
}

const char *
sl_external_for_format (const char *format)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i] != NULL && g_strcmp0 (rows[i]->format, format) == 0)
      return rows[i]->name;
  return NULL;
}

const char *
sl_external_title (const char *name)
{
  const SlRuntime *row = sl_runtime_find (name);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i] == row && opened[i].functions != NULL)
      row = opened[i].row;
  return row->title;
}
