/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that ends while description files are read, good ones and bad ones. */
#include <glib/gstdio.h>

#include "pipelines/description/description.h"
#include "tests/faults/sweep.h"

static char *
describe (gpointer data)
{
  GError *error = NULL;
  g_autoptr (SlDescription) description = sl_description_load (data, NULL, &error);
  if (description != NULL)
    return g_strdup (description->launch);
  char *text = g_strdup (error->message);
  g_error_free (error);
  return text;
}

static void
test_description (gconstpointer data)
{
  g_autofree char *dir = g_dir_make_tmp ("sightline-XXXXXX", NULL),
                  *path = g_build_filename (dir, "a.pipeline", NULL);
  g_assert_true (g_file_set_contents (path, data, -1, NULL));
  sweep (NULL, describe, path);
  g_unlink (path);
  g_rmdir (dir);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func (
    "/description/good",
    "[parameters]\nn=3\n[pipeline]\nlaunch=fakesrc num-buffers=${n} ! fakesink name=s\n"
    "[element s]\nsync=true\n",
    test_description);
  g_test_add_data_func ("/description/bad", "[pipeline]\nlaunch=fakesrc ! ${what}\nwatchdog=soon\n",
                        test_description);
  return g_test_run ();
}
