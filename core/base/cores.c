/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/base/cores.h"

#include <sched.h>
#include <string.h>

/* The number in @root/devices/system/cpu/cpu@id/@name; 0 where there is none. */
static guint
read_number (const char *root, guint id, const char *name)
{
  g_autofree char *path = g_strdup_printf ("%s/devices/system/cpu/cpu%u/%s", root, id, name);
  g_autofree char *text = NULL;
  if (!g_file_get_contents (path, &text, NULL, NULL))
    return 0;
  return (guint) MIN (g_ascii_strtoull (text, NULL, 10), G_MAXUINT);
}

static gboolean
is_core (const char *root, guint id)
{
  g_autofree char *path = g_strdup_printf ("%s/devices/system/cpu/cpu%u", root, id);
  return g_file_test (path, G_FILE_TEST_IS_DIR);
}

guint
sl_cores_read (const char *root, SlCore *cores)
{
  cpu_set_t usable;
  guint n = 0;
  memset (&usable, 0xff, sizeof usable);
  if (root == NULL && sched_getaffinity (0, sizeof usable, &usable) != 0)
    return 0;
  root = root != NULL ? root : "/sys";
  for (guint id = 0; id < SL_MAX_CORES; id++)
    if (CPU_ISSET (id, &usable) && is_core (root, id))
      cores[n++] = (SlCore){ id, read_number (root, id, "cpu_capacity"),
                             read_number (root, id, "cpufreq/scaling_cur_freq"),
                             read_number (root, id, "cpufreq/cpuinfo_max_freq") };
  return n;
}

guint
sl_cores_big (const SlCore *cores, guint n)
{
  guint best = 0, big = 0;
  for (guint i = 0; i < n; i++)
    best = MAX (best, cores[i].capacity);
  for (guint i = 0; i < n; i++)
    big += cores[i].capacity >= best - best / 4;
  return big;
}
