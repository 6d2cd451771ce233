/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options of run and check. */
#include "tools/run/settings.h"

#include <string.h>

#include "config.h"
#include "pipelines/description/build.h"
#include "pipelines/description/description.h"
#include "plugins/elements.h"
#include "tools/command.h"
#include "tools/options.h"

gboolean
sl_run_options_check (const char *command, SlRunOptions *options)
{
  options->parameters = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  options->used = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; options->set != NULL && options->set[i] != NULL; i++) {
    const char *equals = strchr (options->set[i], '=');
    if (equals == NULL || equals == options->set[i]) {
      sl_options_usage (command, "--set: expected NAME=VALUE, got '%s'", options->set[i]);
      return FALSE;
    }
    g_hash_table_replace (options->parameters,
                          g_strndup (options->set[i], (gsize) (equals - options->set[i])),
                          g_strdup (equals + 1));
  }
  return TRUE;
}

/* (nullable): SIGHTLINE_SET_NAME in the environment, which other users do not see as they see
 * arguments; '-' of a name is '_' there. */
static const char *
from_environment (const char *parameter)
{
  g_autofree char *variable = g_strconcat ("SIGHTLINE_SET_", parameter, NULL);
  return g_getenv (g_strdelimit (variable, "-", '_'));
}

GHashTable *
sl_run_options_parameters_for (SlRunOptions *options, const char *path, gboolean only,
                               GError **error)
{
  g_autoptr (GHashTable) declared = sl_description_declared (path, error);
  GHashTable *taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  GHashTableIter iter;
  gpointer name, value;
  if (declared == NULL) {
    g_hash_table_unref (taken);
    return NULL;
  }
  g_hash_table_iter_init (&iter, declared);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    if (from_environment (name) != NULL)
      g_hash_table_insert (taken, g_strdup (name), g_strdup (from_environment (name)));
  g_hash_table_iter_init (&iter, options->parameters);
  while (g_hash_table_iter_next (&iter, &name, &value))
    if (only || g_hash_table_contains (declared, name)) {
      g_hash_table_add (options->used, name);
      g_hash_table_insert (taken, g_strdup (name), g_strdup (value));
    }
  return taken;
}

gboolean
sl_run_options_all_used (const char *command, SlRunOptions *options)
{
  GHashTableIter iter;
  gpointer name;
  g_hash_table_iter_init (&iter, options->parameters);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    if (!g_hash_table_contains (options->used, name)) {
      sl_complain (command, "--set %s: none of the descriptions has a parameter of that name",
                   (const char *) name);
      return FALSE;
    }
  return TRUE;
}

void
sl_run_options_clear (SlRunOptions *options)
{
  g_strfreev (options->set);
  g_clear_pointer (&options->used, g_hash_table_unref);
  g_clear_pointer (&options->parameters, g_hash_table_unref);
  g_free (options->dot);
  g_free (options->black_box);
  g_free (options->state);
  g_free (options->dbus);
  g_free (options->stop_timeout);
}

void
sl_run_register_elements (void)
{
  sl_find_installed_elements ("slpublish"); /* a plugin file of its own */
  sl_elements_register_static ();
#ifdef SL_HAVE_OVERLAY
  sl_plugin_register_element (NULL, "sloverlay", "SlOverlay", GST_RANK_NONE, sl_overlay_get_type);
#endif
}
