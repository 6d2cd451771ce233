/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why XNNPACK does not start: the library that tells it about the processor reads files of /proc
 * and, on Arm, of /sys; where it cannot, all that XNNPACK returns is that it is out of memory, or
 * later versions that the hardware is not supported.
 */
#include <unistd.h>

#include "core/backends/xnnpack/xnn.h"

#define CPUINFO "/proc/cpuinfo"
#define POSSIBLE "/sys/devices/system/cpu/possible"
#define PRESENT "/sys/devices/system/cpu/present"

static gboolean
readable (const char *root, const char *path)
{
  g_autofree char *whole = g_strconcat (root, path, NULL);
  return access (whole, R_OK) == 0;
}

char *
sl_xnn_start_problem (const char *root, gboolean arm, const char *otherwise)
{
  const gboolean proc = readable (root, CPUINFO);
  const gboolean sys =
    !arm || readable (root, POSSIBLE) || readable (root, PRESENT); /* either list is enough */
  if (proc && sys)
    return g_strdup (otherwise);
  return g_strdup_printf (
    "it cannot read %s%s%s to learn of the processor; mount %s%s%s in this container or chroot",
    proc ? "" : CPUINFO, proc || sys ? "" : ", nor ", sys ? "" : POSSIBLE " or " PRESENT,
    proc ? "" : "/proc", proc || sys ? "" : " and ", sys ? "" : "/sys");
}
