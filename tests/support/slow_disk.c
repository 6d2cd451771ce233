/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* To be preloaded: a disk that takes $SLOW_DISK seconds until it has a file. */
#include <gmodule.h>
#include <stdlib.h>
#include <unistd.h>

G_MODULE_EXPORT int
fsync (int fd)
{
  const char *seconds = getenv ("SLOW_DISK");
  sleep (seconds != NULL ? (unsigned int) atoi (seconds) : 0);
  return fdatasync (fd);
}
