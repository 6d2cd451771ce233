/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The commands that use GStreamer and libsoup are a module: the libraries that those bring take longer to load, and more memory, than many a
 * model. The module lies beside the program where that was built, and in a folder of its own where it is installed.
 */
#include <dlfcn.h>
#include <glib.h>

#include "config.h"
#include "tools/command.h"

/* (transfer full): where the module lies, seen from the program, which may have been installed elsewhere than it was built for. */
static char *
find_module (void)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = g_path_get_dirname (program != NULL ? program : "");
  g_autofree char *beside = g_build_filename (folder, SL_COMMANDS_MODULE, NULL);
  if (g_file_test (beside, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&beside);
  g_autofree char *installed = g_build_filename (SL_MODULES_DIR, SL_COMMANDS_MODULE, NULL);
  return g_path_is_absolute (installed) ? g_steal_pointer (&installed) : g_canonicalize_filename (installed, folder);
}

const SlCommand *
sl_command_load (const char *name)
{
  static void *module; /* stays until the program ends: GObject types cannot be unloaded */
  g_autofree char *path = find_module (), *symbol = g_strconcat ("sl_command_", name, NULL);
  if (module == NULL)
    module = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  if (module == NULL) {
    sl_complain (name, "cannot load the module of this command: %s; install Sightline again, with all its files", dlerror ());
    return NULL;
  }
  const SlCommand *command = dlsym (module, symbol);
  if (command == NULL)
    sl_complain (name, "the module of this command is not of this version: %s; install Sightline again, with all its files", dlerror ());
  return command;
}
