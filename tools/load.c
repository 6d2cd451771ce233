/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The commands that use GStreamer and libsoup are a module, and the one that uses libmosquitto: the
 * libraries that those bring take longer to load, and more memory, than many a model. The modules
 * lie beside the program where that was built, and in a folder of their own where it is installed.
 */
#include <dlfcn.h>
#include <glib.h>
#include <string.h>

#include "config.h"
#include "tools/command.h"

/* (transfer full) (nullable): where @module lies, seen from the program, which may have been
 * installed elsewhere than it was built for. NULL: the place is unknown. */
static char *
find_module (const char *module)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  if (program == NULL)
    return NULL;
  g_autofree char *folder = g_path_get_dirname (program);
  g_autofree char *beside = g_build_filename (folder, module, NULL);
  if (g_file_test (beside, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&beside);
  g_autofree char *installed = g_build_filename (SL_MODULES_DIR, module, NULL);
  return g_path_is_absolute (installed) ? g_steal_pointer (&installed)
                                        : g_canonicalize_filename (installed, folder);
}

const SlCommand *
sl_command_load (const char *name)
{
  static gboolean told;
  static void *modules[2]; /* stay until the program ends: GObject types cannot be unloaded */
  const gboolean serves = strcmp (name, "serve") == 0;
  g_autofree char *path = find_module (serves ? SL_SERVE_MODULE : SL_COMMANDS_MODULE),
                  *symbol = g_strconcat ("sl_command_", name, NULL);
  if (path == NULL && !told)
    sl_complain (
      name,
      "/proc is not mounted, which says where the program and its modules lie: mount it (mount -t "
      "proc proc /proc), as a chroot needs");
  told = told || path == NULL;
  if (path == NULL)
    return NULL;
  if (modules[serves] == NULL) {
    /* C++ libraries that are opened later need the whole of one unwinder; GStreamer brings another,
     * which libstdc++ would get and they would not. */
    dlopen ("libgcc_s.so.1", RTLD_NOW | RTLD_GLOBAL);
    /* The module is linked with -z now, so it is bound at once; most functions of the 70 libraries
     * that it brings are never called. */
    modules[serves] = dlopen (path, RTLD_LAZY | RTLD_LOCAL);
  }
  void *module = modules[serves];
  if (module == NULL) {
    sl_complain (
      name,
      "cannot load the module of this command: %s; install Sightline again, with all its files",
      dlerror ());
    return NULL;
  }
  const SlCommand *command = dlsym (module, symbol);
  if (command == NULL)
    sl_complain (
      name,
      "the module of this command is not of this version: %s; install Sightline again, with all "
      "its files",
      dlerror ());
  return command;
}
