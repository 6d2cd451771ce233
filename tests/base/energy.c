/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Folders made like sysfs: counters of packages that begin anew, sensors of boards, and systems
 * that tell nothing. */
#include "core/base/energy.h"
#include "tests/base/sysfs.h"
#include "tests/support/program.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static char *root;

static void
put (const char *path, const char *text)
{
  g_autofree char *in_class = g_build_filename ("class", path, NULL);
  sysfs_put (root, in_class, text);
}

/* The same file with other bytes, as sysfs has it. */
static void
write_over (const char *path, const char *text)
{
  g_autofree char *whole = g_build_filename (root, "class", path, NULL);
  FILE *file = g_fopen (whole, "r+");
  g_assert_true (file != NULL && fputs (text, file) >= 0 && fclose (file) == 0);
}

static void
begin (void)
{
  root = sysfs_begin ();
}

static void
end (void)
{
  sysfs_end (g_steal_pointer (&root));
}

static SlEnergy *
opened (const char *source)
{
  g_autofree char *why = NULL;
  SlEnergy *energy = sl_energy_open (root, &why);
  g_assert_nonnull (energy);
  g_assert_null (why);
  g_assert_cmpstr (sl_energy_source (energy), ==, source);
  g_assert_cmpfloat (sl_energy_read (energy), ==, 0);
  return energy;
}

/* Two packages, one of which begins anew; parts of them and the whole system's counter do not count
 * again. */
static void
test_packages (void)
{
  begin ();
  put ("powercap/intel-rapl:0/name", "package-0\n");
  put ("powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n");
  put ("powercap/intel-rapl:0/energy_uj", "262143000000\n");
  put ("powercap/intel-rapl:1/name", "package-1\n");
  put ("powercap/intel-rapl:1/max_energy_range_uj", "65532610987\n");
  put ("powercap/intel-rapl:1/energy_uj", "1000000\n");
  put ("powercap/intel-rapl:2/name", "psys\n");
  put ("powercap/intel-rapl:2/max_energy_range_uj", "65532610987\n");
  put ("powercap/intel-rapl:2/energy_uj", "5\n");
  put ("powercap/intel-rapl:0:0/name", "core\n");
  put ("powercap/intel-rapl:0:0/energy_uj", "7\n");
  put ("powercap/intel-rapl/enabled", "1\n");
  SlEnergy *energy = opened ("RAPL, 2 packages");
  write_over ("powercap/intel-rapl:1/energy_uj", "3500000\n");
  g_assert_cmpfloat_with_epsilon (sl_energy_read (energy), 2.5, 1e-9);
  g_assert_cmpfloat (sl_energy_read (energy), ==, 0);
  write_over ("powercap/intel-rapl:0/energy_uj", "000000171150\n");
  g_assert_cmpfloat_with_epsilon (sl_energy_read (energy), 0.5, 1e-9);
  sl_energy_free (energy);
  end ();
}

/* A Jetson's three channels, of which VDD_IN is all of the board; and chips that tell power. */
static void
test_sensors (void)
{
  begin ();
  put ("hwmon/hwmon0/name", "coretemp\n");
  put ("hwmon/hwmon0/power1_input", "99000000\n");
  put ("hwmon/hwmon1/name", "ina226\n");
  put ("hwmon/hwmon1/power1_input", "2500000\n");
  put ("hwmon/hwmon2/name", "ina226\n");
  put ("hwmon/hwmon2/power1_input", "500000\n");
  const gint64 start = g_get_monotonic_time ();
  SlEnergy *energy = opened ("ina226");
  g_usleep (20000);
  const gdouble joules = sl_energy_read (energy),
                most = 3.0 * (gdouble) (g_get_monotonic_time () - start + 2000) / 1e6;
  g_assert_cmpfloat (joules, >=, 3.0 * 0.02);
  g_assert_cmpfloat (joules, <=, most);
  sl_energy_free (energy);
  put ("hwmon/hwmon3/name", "ina3221\n");
  put ("hwmon/hwmon3/in1_label", "VDD_IN\n");
  put ("hwmon/hwmon3/in1_input", "5000\n");
  put ("hwmon/hwmon3/curr1_input", "2000\n");
  put ("hwmon/hwmon3/in2_label", "VDD_CPU_GPU_CV\n");
  put ("hwmon/hwmon3/in2_input", "5000\n");
  put ("hwmon/hwmon3/curr2_input", "1500\n");
  put ("hwmon/hwmon1/name", "other\n");
  put ("hwmon/hwmon2/name", "other\n");
  energy = opened ("ina3221");
  g_usleep (20000);
  g_assert_cmpfloat (sl_energy_read (energy), >=, 10 * 0.02);
  sl_energy_free (energy);
  end ();
}

static void
test_nothing (void)
{
  g_autofree char *why = NULL, *denied = NULL;
  begin ();
  g_assert_null (sl_energy_open (root, &why));
  g_assert_cmpstr (why, ==, "not told by this system");
  put ("powercap/intel-rapl:0/name", "package-0\n");
  put ("powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n");
  put ("powercap/intel-rapl:0/energy_uj", "1\n");
  g_autofree char *path =
    g_build_filename (root, "class", "powercap", "intel-rapl:0", "energy_uj", NULL);
  g_assert_cmpint (g_chmod (path, 0), ==, 0);
  if (geteuid () == 0) {
    g_test_message ("root reads all");
  } else {
    g_assert_null (sl_energy_open (root, &denied));
    g_assert_cmpstr (denied, ==, "the system tells it to root alone");
  }
  end ();
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/energy/packages", test_packages);
  g_test_add_func ("/energy/sensors", test_sensors);
  g_test_add_func ("/energy/nothing", test_nothing);
  return g_test_run ();
}
