/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cores, frequencies, temperatures and throttling, of folders made like sysfs. */
#include "core/base/heat.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "core/base/cores.h"
#include "tests/base/sysfs.h"
#include "tests/support/program.h"

#define PI "devices/platform/soc/soc:firmware/get_throttled"

static void
test_cores (void)
{
  char *root = sysfs_begin ();
  SlCore cores[SL_MAX_CORES];
  g_assert_cmpuint (sl_cores_read (root, cores), ==, 0);
  sysfs_put_core (root, 0, 430, 408000, 1800000);
  sysfs_put_core (root, 3, 1024, 2208000, 2400000); /* numbers may have gaps */
  sysfs_put_core (root, 4, 1020, 0, 0);
  g_assert_cmpuint (sl_cores_read (root, cores), ==, 3);
  g_assert_cmpuint (cores[0].capacity, ==, 430);
  g_assert_cmpuint (cores[1].id, ==, 3);
  g_assert_cmpuint (cores[1].khz, ==, 2208000);
  g_assert_cmpuint (cores[1].max_khz, ==, 2400000);
  g_assert_cmpuint (cores[2].khz, ==, 0);
  g_assert_cmpuint (sl_cores_big (cores, 3), ==, 2);
  sysfs_end (root);
}

static void
expect_line (const SlHeat *before, const SlHeat *after, const char *line, const char *warning)
{
  g_autofree char *told = sl_heat_line (before, after), *warned = sl_heat_warning (before, after);
  g_assert_cmpstr (told, ==, line);
  if (warning == NULL)
    g_assert_null (warned);
  else if (warned == NULL || strstr (warned, warning) == NULL)
    g_error ("expected '%s', got '%s'", warning, warned);
}

/* The hottest sensor counts, but for values that no chip can have. */
static void
test_cool (void)
{
  char *root = sysfs_begin ();
  SlHeat heat;
  sysfs_put_core (root, 0, 0, 1500000, 1800000);
  sysfs_put (root, "class/thermal/thermal_zone0/type", "cpu-thermal\n");
  sysfs_put (root, "class/thermal/thermal_zone0/temp", "61234\n");
  sysfs_put (root, "class/thermal/thermal_zone1/type", "gpu-thermal\n");
  sysfs_put (root, "class/thermal/thermal_zone1/temp", "48000\n");
  sysfs_put (root, "class/thermal/thermal_zone2/type", "unused\n");
  sysfs_put (root, "class/thermal/thermal_zone2/temp", "-273200\n");
  sysfs_put (root, "class/thermal/cooling_device0/type", "cpufreq-cpu0\n");
  sysfs_put (root, "class/thermal/cooling_device0/cur_state", "0\n");
  sysfs_put (root, "class/thermal/cooling_device1/type", "pwm-fan\n");
  sysfs_put (root, "class/thermal/cooling_device1/cur_state", "3\n");
  sysfs_put (root, PI, "50000\n"); /* has happened, does not happen */
  sl_heat_read (root, &heat);
  g_assert_cmpfloat_with_epsilon (heat.celsius, 61.234, 1e-9);
  expect_line (&heat, &heat,
               "1500 MHz before, 1500 MHz after, of 1800 MHz; 61.2 degrees (cpu-thermal)", NULL);
  sysfs_end (root);
}

static void
test_throttled (void)
{
  char *root = sysfs_begin ();
  SlHeat before, after;
  sysfs_put_core (root, 0, 0, 1800000, 1800000);
  sl_heat_read (root, &before);
  g_assert_true (isnan (before.celsius));
  sysfs_put_core (root, 0, 0, 600000, 1800000);
  sl_heat_read (root, &after);
  expect_line (&before, &after, "1800 MHz before, 600 MHz after, of 1800 MHz",
               "the processor became slower, from 1800 to 600 MHz");
  sysfs_put (root, "class/thermal/cooling_device0/type", "thermal-cpufreq-0\n");
  sysfs_put (root, "class/thermal/cooling_device0/cur_state", "2\n");
  sysfs_put (root, "class/thermal/cooling_device1/type", "thermal-cpufreq-1\n");
  sysfs_put (root, "class/thermal/cooling_device1/cur_state", "1\n");
  sysfs_put (root, PI, "50005\n");
  sl_heat_read (root, &after);
  expect_line (
    &before, &after,
    "1800 MHz before, 600 MHz after, of 1800 MHz; slowed down by heat, under-voltage, throttled by "
    "the firmware",
    "is throttled (slowed down by heat, under-voltage, throttled by the firmware)");
  sysfs_end (root);
}

/* Where the kernel has no file, the firmware's program is asked. */
static void
test_vcgencmd (void)
{
  char *root = sysfs_begin ();
  g_autofree char *program = g_build_filename (root, "vcgencmd", NULL),
                  *path = g_strdup (g_getenv ("PATH"));
  SlHeat heat;
  sysfs_put (root, "vcgencmd", "#!/bin/sh\n[ \"$1\" = get_throttled ] && echo throttled=0x8\n");
  g_assert_cmpint (g_chmod (program, 0700), ==, 0);
  g_setenv ("PATH", root, TRUE);
  sl_heat_read (root, &heat);
  g_setenv ("PATH", path, TRUE);
  expect_line (&heat, &heat, "soft temperature limit", "is throttled (soft temperature limit)");
  sysfs_end (root);
}

/* A virtual machine tells nothing. */
static void
test_untold (void)
{
  char *root = sysfs_begin ();
  SlHeat heat;
  sl_heat_read (root, &heat);
  expect_line (&heat, &heat, NULL, NULL);
  sysfs_end (root);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/heat/cores", test_cores);
  g_test_add_func ("/heat/cool", test_cool);
  g_test_add_func ("/heat/throttled", test_throttled);
  g_test_add_func ("/heat/vcgencmd", test_vcgencmd);
  g_test_add_func ("/heat/untold", test_untold);
  return g_test_run ();
}
