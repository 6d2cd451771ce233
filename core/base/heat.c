/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/base/heat.h"

#include <math.h>
#include <string.h>

#include "core/base/cores.h"
#include "core/base/sysfs.h"

/* A frequency below this share of an earlier one is a change. */
#define SAME 0.93
#define PI_FILE "devices/platform/soc/soc:firmware/get_throttled"

/* What the firmware of a Raspberry Pi says of this moment. */
static const struct
{
  guint bit;
  const char *text;
} pi_bits[] = { { 0, "under-voltage" },
                { 1, "frequency capped" },
                { 2, "throttled by the firmware" },
                { 3, "soft temperature limit" } };

static void
add_reason (SlHeat *heat, const char *text)
{
  if (strstr (heat->throttled, text) != NULL)
    return;
  g_strlcat (heat->throttled, heat->throttled[0] != '\0' ? ", " : "", sizeof heat->throttled);
  g_strlcat (heat->throttled, text, sizeof heat->throttled);
}

/* Sensors that are out of use give impossible values. */
static void
read_zone (const char *folder, SlHeat *heat)
{
  g_autofree char *type = sl_sysfs_line (folder, "type"), *text = sl_sysfs_line (folder, "temp");
  const double celsius = g_ascii_strtod (text, NULL) / 1000;
  if (text[0] == '\0' || celsius <= -40 || celsius >= 200
      || (isfinite (heat->celsius) && celsius <= heat->celsius))
    return;
  heat->celsius = celsius;
  g_strlcpy (heat->sensor, type, sizeof heat->sensor);
}

/* The state of a cooling device of the processor counts how far it is slowed down. */
static void
read_cooling (const char *folder, SlHeat *heat)
{
  g_autofree char *type = sl_sysfs_line (folder, "type"),
                  *state = sl_sysfs_line (folder, "cur_state");
  if ((strstr (type, "cpufreq") != NULL || strcmp (type, "Processor") == 0)
      && g_ascii_strtoull (state, NULL, 10) > 0)
    add_reason (heat, "slowed down by heat");
}

static void
read_thermal (const char *root, SlHeat *heat)
{
  g_autofree char *thermal = g_build_filename (root, "class", "thermal", NULL);
  g_autoptr (GDir) dir = g_dir_open (thermal, 0, NULL);
  const char *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *folder = g_build_filename (thermal, name, NULL);
    if (g_str_has_prefix (name, "thermal_zone"))
      read_zone (folder, heat);
    else if (g_str_has_prefix (name, "cooling_device"))
      read_cooling (folder, heat);
  }
}

/* (transfer full): what vcgencmd says, "throttled=0x50005"; "" without it. */
static char *
ask_vcgencmd (void)
{
  g_autofree char *program = g_find_program_in_path ("vcgencmd");
  char *arguments[] = { program, (char *) "get_throttled", NULL };
  char *text = NULL;
  gint status = 0;
  if (program == NULL
      || !g_spawn_sync (NULL, arguments, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &text, NULL,
                        &status, NULL))
    return g_strdup ("");
  return text;
}

static void
read_pi (const char *root, SlHeat *heat)
{
  g_autofree char *text = sl_sysfs_line (root, PI_FILE);
  if (text[0] == '\0') {
    g_free (text);
    text = ask_vcgencmd ();
  }
  const char *number = strchr (text, '=') != NULL ? strchr (text, '=') + 1 : text;
  const guint64 bits = g_ascii_strtoull (number, NULL, 16);
  for (guint i = 0; i < G_N_ELEMENTS (pi_bits); i++)
    if ((bits >> pi_bits[i].bit & 1) != 0)
      add_reason (heat, pi_bits[i].text);
}

void
sl_heat_read (const char *root, SlHeat *heat)
{
  g_autofree SlCore *cores = g_new (SlCore, SL_MAX_CORES);
  const guint n = sl_cores_read (root, cores);
  *heat = (SlHeat){ .celsius = NAN };
  for (guint i = 0; i < n; i++) {
    heat->mhz = MAX (heat->mhz, cores[i].khz / 1e3);
    heat->max_mhz = MAX (heat->max_mhz, cores[i].max_khz / 1e3);
  }
  root = root != NULL ? root : "/sys";
  read_thermal (root, heat);
  read_pi (root, heat);
}

char *
sl_heat_line (const SlHeat *before, const SlHeat *after)
{
  g_autoptr (GString) line = g_string_new (NULL);
  if (before->mhz > 0 && after->mhz > 0)
    g_string_append_printf (line, "%.0f MHz before, %.0f MHz after", before->mhz, after->mhz);
  if (line->len > 0 && after->max_mhz > 0)
    g_string_append_printf (line, ", of %.0f MHz", after->max_mhz);
  if (isfinite (after->celsius))
    g_string_append_printf (line, "%s%.1f degrees (%s)", line->len > 0 ? "; " : "", after->celsius,
                            after->sensor);
  if (after->throttled[0] != '\0')
    g_string_append_printf (line, "%s%s", line->len > 0 ? "; " : "", after->throttled);
  return line->len > 0 ? g_strdup (line->str) : NULL;
}

char *
sl_heat_warning (const SlHeat *before, const SlHeat *after)
{
  const char *reason = after->throttled[0] != '\0' ? after->throttled : before->throttled;
  if (reason[0] != '\0')
    return g_strdup_printf (
      "the processor is throttled (%s), so times are too long: cool the board "
      "and use its own power supply, then measure again",
      reason);
  if (before->mhz > 0 && after->mhz > 0 && after->mhz < SAME * before->mhz)
    return g_strdup_printf (
      "the processor became slower, from %.0f to %.0f MHz, so times differ: "
      "let it cool down, or set the governor \"performance\", then measure again",
      before->mhz, after->mhz);
  return NULL;
}
