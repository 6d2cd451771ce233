/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options of run and check. */
#include "tools/run_options.h"

#include <string.h>

#include "config.h"
#include "plugins/elements.h"
#include "tools/options.h"

gboolean
sl_run_options_check (const char *command, SlRunOptions *options)
{
  options->parameters = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  for (guint i = 0; options->set != NULL && options->set[i] != NULL; i++) {
    const char *equals = strchr (options->set[i], '=');
    if (equals == NULL || equals == options->set[i]) {
      sl_options_usage (command, "--set: expected NAME=VALUE, got '%s'", options->set[i]);
      return FALSE;
    }
    g_hash_table_replace (options->parameters, g_strndup (options->set[i], (gsize) (equals - options->set[i])), g_strdup (equals + 1));
  }
  return TRUE;
}

void
sl_run_options_clear (SlRunOptions *options)
{
  g_strfreev (options->set);
  g_clear_pointer (&options->parameters, g_hash_table_unref);
  g_free (options->dot);
}

void
sl_run_register_elements (void)
{
  sl_elements_register_static ();
#ifdef SL_HAVE_OVERLAY
  gst_element_register (NULL, "sloverlay", GST_RANK_NONE, sl_overlay_get_type ());
#endif
}
