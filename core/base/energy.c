/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/base/energy.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/sysfs.h"

#define MOST 16

/** A counter of microjoules that wraps around at @range, or a sensor. */
typedef struct
{
  int fd, times; /* (-1: none): of a sensor of milliamperes, its millivolts */
  guint64 last, range;
} Place;

struct _SlEnergy
{
  Place places[MOST];
  guint n;
  gboolean counters;
  gboolean started;
  gint64 at;
  gdouble watts;
  char *source;
};

/* The number in a file of sysfs, which is read anew each time. */
static gboolean
read_number (int fd, guint64 *number)
{
  char text[32];
  const ssize_t n = pread (fd, text, sizeof text - 1, 0);
  if (n <= 0 || !g_ascii_isdigit (text[0]))
    return FALSE;
  text[n] = '\0';
  *number = g_ascii_strtoull (text, NULL, 10);
  return TRUE;
}

/* -1 where @name of @folder cannot be read, with *@denied where it is there. */
static int
open_number (const char *folder, const char *name, gboolean *denied)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  guint64 number;
  const int fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0 && read_number (fd, &number))
    return fd;
  if (fd >= 0)
    close (fd);
  else
    *denied |= g_file_test (path, G_FILE_TEST_EXISTS);
  return -1;
}

static void
add_place (SlEnergy *energy, int fd, int times, guint64 range)
{
  if (fd >= 0 && energy->n < MOST) {
    energy->places[energy->n++] = (Place){ fd, times, 0, range };
    return;
  }
  if (fd >= 0)
    close (fd);
  if (times >= 0)
    close (times);
}

/* Packages, and not their parts: "intel-rapl:0" and not "intel-rapl:0:1", nor the whole system's
 * "psys", which has the packages in it. */
static void
find_packages (SlEnergy *energy, const char *folder, GDir *dir, gboolean *denied)
{
  const char *name;
  while ((name = g_dir_read_name (dir)) != NULL) {
    const char *number =
      g_str_has_prefix (name, "intel-rapl:") ? name + strlen ("intel-rapl:") : NULL;
    if (number == NULL || strchr (number, ':') != NULL)
      continue;
    g_autofree char *path = g_build_filename (folder, name, NULL),
                    *what = sl_sysfs_line (path, "name");
    guint64 range = 0;
    if (!g_str_has_prefix (what, "package"))
      continue;
    const int most = open_number (path, "max_energy_range_uj", denied);
    if (most >= 0 && read_number (most, &range))
      add_place (energy, open_number (path, "energy_uj", denied), -1, range);
    if (most >= 0)
      close (most);
  }
  energy->counters = energy->n > 0;
}

static void
forget_places (SlEnergy *energy)
{
  for (guint i = 0; i < energy->n; i++) {
    close (energy->places[i].fd);
    if (energy->places[i].times >= 0)
      close (energy->places[i].times);
  }
  energy->n = 0;
}

/* Sensors of one chip. TRUE where one is of the whole board, which alone counts then. */
static gboolean
find_sensors (SlEnergy *energy, const char *chip, gboolean *denied)
{
  static const char *const totals[] = { "VDD_IN", "POM_5V_IN", NULL };
  const int power = open_number (chip, "power1_input", denied);
  add_place (energy, power >= 0 ? power : open_number (chip, "power1_average", denied), -1, 0);
  for (guint i = 1; i <= 8; i++) {
    g_autofree char *label = g_strdup_printf ("in%u_label", i),
                    *volts = g_strdup_printf ("in%u_input", i),
                    *amperes = g_strdup_printf ("curr%u_input", i),
                    *what = sl_sysfs_line (chip, label);
    if (!g_strv_contains (totals, what))
      continue;
    const int times = open_number (chip, volts, denied),
              fd = times >= 0 ? open_number (chip, amperes, denied) : -1;
    if (fd < 0) {
      if (times >= 0)
        close (times);
      continue;
    }
    forget_places (energy);
    add_place (energy, fd, times, 0);
    return TRUE;
  }
  return FALSE;
}

static void
find_chips (SlEnergy *energy, const char *folder, GDir *dir, gboolean *denied)
{
  const char *name;
  gboolean whole = FALSE;
  while (!whole && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *path = g_build_filename (folder, name, NULL),
                    *chip = sl_sysfs_line (path, "name");
    if (!g_str_has_prefix (chip, "ina") && !g_str_has_prefix (chip, "power_meter"))
      continue;
    whole = find_sensors (energy, path, denied);
    g_free (energy->source);
    energy->source = g_strdup (chip);
  }
}

SlEnergy *
sl_energy_open (const char *root, char **why)
{
  g_autoptr (SlEnergy) energy = g_new0 (SlEnergy, 1);
  g_autofree char *powercap =
    g_build_filename (root != NULL ? root : "/sys", "class", "powercap", NULL);
  g_autofree char *hwmon = g_build_filename (root != NULL ? root : "/sys", "class", "hwmon", NULL);
  g_autoptr (GDir) packages = g_dir_open (powercap, 0, NULL), chips = g_dir_open (hwmon, 0, NULL);
  gboolean denied = FALSE;
  *why = NULL;
  if (packages != NULL)
    find_packages (energy, powercap, packages, &denied);
  if (energy->n > 0)
    energy->source = g_strdup_printf ("RAPL, %u package%s", energy->n, energy->n == 1 ? "" : "s");
  else if (chips != NULL)
    find_chips (energy, hwmon, chips, &denied);
  if (energy->n > 0)
    return g_steal_pointer (&energy);
  *why = g_strdup (denied ? "the system tells it to root alone" : "not told by this system");
  return NULL;
}

void
sl_energy_free (SlEnergy *energy)
{
  if (energy == NULL)
    return;
  forget_places (energy);
  g_free (energy->source);
  g_free (energy);
}

const char *
sl_energy_source (const SlEnergy *energy)
{
  return energy->source;
}

static gdouble
read_counter (Place *place)
{
  guint64 now, last = place->last;
  if (!read_number (place->fd, &now))
    return 0;
  place->last = now;
  return (gdouble) (now >= last ? now - last : now + place->range - last) / 1e6;
}

static gdouble
read_watts (const Place *place)
{
  guint64 value = 0, volts = 0;
  if (!read_number (place->fd, &value)
      || (place->times >= 0 && !read_number (place->times, &volts)))
    return 0;
  return place->times >= 0 ? (gdouble) value * (gdouble) volts / 1e6 : (gdouble) value / 1e6;
}

gdouble
sl_energy_read (SlEnergy *energy)
{
  const gint64 now = g_get_monotonic_time ();
  gdouble sum = 0;
  for (guint i = 0; i < energy->n; i++)
    sum += energy->counters ? read_counter (&energy->places[i]) : read_watts (&energy->places[i]);
  const gdouble between =
    energy->counters ? sum : (energy->watts + sum) / 2 * (gdouble) (now - energy->at) / 1e6;
  const gboolean first = !energy->started;
  energy->started = TRUE;
  energy->watts = sum;
  energy->at = now;
  return first ? 0 : between;
}
