/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* sl_options_parse() calls this; the program's own file is what runs `get`. */
#include "tools/zoo/allow.h"

#include <string.h>

#include "core/base/zoo_name.h"
#include "models/zoo/cache.h"
#include "tools/command.h"

/* What an argument is the value of: "zoo:NAME" of "--model=zoo:NAME". */
static const char *
value_of (const char *argument)
{
  const char *equals = argument[0] == '-' ? strchr (argument, '=') : NULL;
  return equals != NULL ? equals + 1 : argument;
}

static gboolean
fetch (const char *command, const char *name)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  char *const arguments[] = { program, (char *) "get", (char *) "--", (char *) name, NULL };
  g_autoptr (GError) error = NULL;
  int status = 1;
  if (program == NULL) {
    sl_complain (command, "--" SL_ZOO_ALLOW ": /proc is not mounted; run: sightline get %s", name);
    return FALSE;
  }
  if (!g_spawn_sync (NULL, (char **) arguments, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL, NULL,
                     NULL, &status, &error)) {
    sl_complain (command, "--" SL_ZOO_ALLOW ": %s", error->message);
    return FALSE;
  }
  return g_spawn_check_wait_status (status, NULL); /* it said why not */
}

gboolean
sl_zoo_allow (const char *command, int argc, char **argv)
{
  for (int i = 1; i < argc; i++) {
    const char *model = value_of (argv[i]), *name = sl_zoo_name (model);
    g_autofree char *here = name != NULL ? sl_zoo_find (model, NULL) : NULL;
    if (name != NULL && here == NULL && !fetch (command, name))
      return FALSE;
  }
  return TRUE;
}
