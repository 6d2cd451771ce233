/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The choices of backends and devices are stored in ~/.cache/sightline/backends, a key file with a
 * group for each model, machine and runtime. A cache that cannot be written is measured again.
 */
#include "models/choice_cache.h"

#include <string.h>

#include "config.h"
#include "core/base/thread_count.h"
#include "core/base/xxh64.h"

#define MAX_REMEMBERED 256

char *
sl_choice_name (const char *path, const SlModelLoadOptions *options, const char *version,
                const char *library)
{
  SlFileStamp model = { 0 }, file = { 0 }, provider = { 0 };
  sl_file_stamp_read (path, &model);
  sl_file_stamp_read (library, &file);
  if (options->backend.provider_library != NULL)
    sl_file_stamp_read (options->backend.provider_library, &provider);
  g_autofree char *cpu = NULL;
  gsize length = 0;
  g_file_get_contents ("/proc/cpuinfo", &cpu, &length, NULL);
  const char *name = cpu != NULL ? strstr (cpu, "model name") : NULL;
  g_autofree char *cpu_name = name != NULL ? g_strndup (name, strcspn (name, "\n")) : g_strdup ("");
  const SlBackendSettings *backend = &options->backend;
  g_autofree char *text = g_strdup_printf (
    "%s %" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT
    "|%s|%s %" G_GINT64_FORMAT "|%s|%u|%u|%s|%s|%s|%s|%s %" G_GINT64_FORMAT "|%s|%s|%s|%s|%s|%s",
    path, model.device, model.inode, model.size, model.written, library, version, file.written,
    cpu_name, g_get_num_processors (), sl_threads_resolve (options->threads), SL_VERSION,
    backend->provider != NULL ? backend->provider : "",
    backend->options != NULL ? backend->options : "",
    backend->delegate != NULL ? backend->delegate : "",
    backend->provider_library != NULL ? backend->provider_library : "", provider.written,
    backend->device != NULL ? backend->device : "",
    backend->precision != NULL ? backend->precision : "",
    options->input_shape != NULL ? options->input_shape : "",
    options->fixed_inputs != NULL ? options->fixed_inputs : "",
    options->state != NULL ? options->state : "",
    options->handed_inputs != NULL ? options->handed_inputs : "");
  return g_strdup_printf ("%016" G_GINT64_MODIFIER "x", sl_xxh64 (text, strlen (text), 0));
}

static char *
cache_path (void)
{
  return g_build_filename (g_get_user_cache_dir (), "sightline", "backends", NULL);
}

char *
sl_choice_recall (const char *name, const char *key)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree char *path = cache_path ();
  return g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, NULL)
           ? g_key_file_get_string (file, name, key, NULL)
           : NULL;
}

void
sl_choice_remember (const char *name, const SlChoiceText *texts, guint n_texts,
                    const SlChoiceNumber *numbers, guint n_numbers)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree char *path = cache_path (), *folder = g_path_get_dirname (path);
  gsize n = 0;
  if (g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, NULL)) {
    g_auto (GStrv) groups = g_key_file_get_groups (file, &n);
    for (gsize i = 0; n >= MAX_REMEMBERED && i <= n - MAX_REMEMBERED; i++)
      g_key_file_remove_group (file, groups[i], NULL);
  }
  for (guint i = 0; i < n_texts; i++)
    g_key_file_set_string (file, name, texts[i].key, texts[i].text);
  for (guint i = 0; i < n_numbers; i++)
    g_key_file_set_double (file, name, numbers[i].key, numbers[i].number);
  if (g_mkdir_with_parents (folder, 0700) == 0)
    g_key_file_save_to_file (file, path, NULL);
}
