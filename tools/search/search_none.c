/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `sightline search` of a build without SQLite, which keeps no index. */
#include "tools/command.h"
#include "tools/options.h"

static int
run_search (int argc, char **argv)
{
  const GOptionEntry entries[] = { { NULL } };
  g_auto (GStrv) rest = NULL;
  const int status =
    sl_options_parse ("search", "WORDS|PICTURE FOLDER...", "Finds clips by words, or by a picture.",
                      NULL, argc, argv, entries, NULL, &rest);
  if (status >= 0)
    return status;
  return sl_complain ("search",
                      "this build keeps no index of clips: expected SQLite 3 when it was made "
                      "(Debian: libsqlite3-dev, meson option sqlite)");
}

const SlCommand sl_command_search = { "search", "find clips by words or by a picture", run_search };
