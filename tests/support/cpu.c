/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which instruction set is missing, in TAP's words for a program that is skipped. */
#include "tests/support/cpu.h"

#include "core/base/cpu.h"

gboolean
sl_test_lacks_cpu (void)
{
  const char *wanted = g_getenv ("SIGHTLINE_CPU"), *mask = g_getenv ("SIGHTLINE_CPU_MASK");
  SlCpuChoice choice;
  sl_cpu_resolve (sl_cpu_detect (), mask, NULL, &choice);
  if (wanted == NULL || !sl_cpu_reaches (~0u, wanted) || sl_cpu_reaches (choice.features, wanted))
    return FALSE;
  if (sl_cpu_reaches (sl_cpu_detect (), wanted))
    g_print ("1..0 # SKIP SIGHTLINE_CPU_MASK=%s hides %s\n", mask, wanted);
  else
    g_print ("1..0 # SKIP this processor or this build has no %s\n", wanted);
  return TRUE;
}
