/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How fast the processor runs at this moment, how hot it is, and whether the system slows it down.
 * Read it before and after a measurement: a figure of a throttled board is no figure of the board.
 */
#pragma once

#include <glib.h>

/**
 * SlHeat:
 * @mhz: of the fastest core of this moment that the process may use; 0 = not stated
 * @max_mhz: the highest frequency of any of them; 0 = not stated
 * @celsius: of the hottest sensor; NaN = none
 * @sensor: its name
 * @throttled: what slows the processor down, for people; "" where nothing is known to
 */
typedef struct
{
  double mhz, max_mhz, celsius;
  char sensor[32];
  char throttled[128];
} SlHeat;

/**
 * sl_heat_read:
 * @root: (nullable): folder in the place of /sys, for tests
 *
 * Reads cpufreq, the thermal zones and cooling devices, and what a Raspberry Pi's firmware states:
 * from its file, else from vcgencmd if PATH has it.
 */
void sl_heat_read (const char *root, SlHeat *heat);
/** sl_heat_line: (transfer full) (nullable): "1500 MHz before, 600 MHz after, of 1800 MHz; 84.2
 * degrees (cpu-thermal)"; NULL where the system tells nothing. */
char *sl_heat_line (const SlHeat *before, const SlHeat *after);
/** sl_heat_warning: (transfer full) (nullable): a sentence where the processor became slower
 * between @before and @after, or is throttled, with what to do. */
char *sl_heat_warning (const SlHeat *before, const SlHeat *after);
