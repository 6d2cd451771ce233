/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline gallery` of a build without SQLite. */
#include "tools/command.h"
#include "tools/options.h"

static int
run_gallery (int argc, char **argv)
{
  const GOptionEntry entries[] = { { NULL } };
  g_auto (GStrv) rest = NULL;
  const int status =
    sl_options_parse ("gallery", "list|show|merge|forget FILE [PERSON...]",
                      "Says who is in a gallery.", NULL, argc, argv, entries, NULL, &rest);
  return status >= 0
           ? status
           : sl_complain ("gallery", "this build has no galleries: expected SQLite 3 when it was "
                                     "made (Debian: libsqlite3-dev, meson option sqlite)");
}

const SlCommand sl_command_gallery = { "gallery", "people that cameras have seen", run_gallery };
