/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A process of its own for each model: memory that one model took does not slow the next. */
#include "tools/zoo/measure.h"

#include <string.h>

#include "core/base/zoo_name.h"

#define FIGURE "\"min_ms\":"

gdouble
sl_zoo_measure (const SlZooRow *row)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL),
                  *model = g_strconcat (SL_ZOO_PREFIX, row->name, NULL), *out = NULL;
  g_auto (GStrv) options = g_strsplit (row->options != NULL ? row->options : "", " ", -1);
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  const char *const own[] = { program, "bench",     "model", model,   "--runs",
                              "5",     "--warm-up", "1",     "--json" };
  for (guint i = 0; i < G_N_ELEMENTS (own); i++)
    g_ptr_array_add (arguments, (gpointer) own[i]);
  for (guint i = 0; options[i] != NULL; i++)
    if (options[i][0] != '\0')
      g_ptr_array_add (arguments, options[i]);
  g_ptr_array_add (arguments, NULL);
  int status = 1;
  const gboolean ran = program != NULL
                       && g_spawn_sync (NULL, (char **) arguments->pdata, NULL, G_SPAWN_DEFAULT,
                                        NULL, NULL, &out, NULL, &status, NULL)
                       && g_spawn_check_wait_status (status, NULL);
  const char *figure = ran ? strstr (out, FIGURE) : NULL;
  return figure != NULL ? g_ascii_strtod (figure + strlen (FIGURE), NULL) : -1;
}
