/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processor's cores, as Linux describes them: capacity, and frequency now. */
#pragma once

#include <glib.h>

/** SL_CORES_SYS: environment variable with a folder in the place of /sys, for tests. */
#define SL_CORES_SYS "SIGHTLINE_SYS"
/** Most cores that are looked at. */
#define SL_MAX_CORES 256

/**
 * SlCore:
 * @id: N of cpuN
 * @capacity: speed beside the other cores, the fastest has 1024; 0 = not stated, as on most
 * machines whose cores are equal
 * @khz, @max_khz: frequency now, and the highest; 0 = not stated, as in most virtual machines
 */
typedef struct
{
  guint id, capacity, khz, max_khz;
} SlCore;

/**
 * sl_cores_read: the cores that this process may use, by number.
 * @root: (nullable): folder in the place of /sys, for tests: the process may use all cores in it
 * @cores: room for SL_MAX_CORES
 *
 * Returns: how many; 0 where the system does not tell
 */
guint sl_cores_read (const char *root, SlCore *cores);
/** sl_cores_big: how many of @n are about as fast as the fastest: their capacity is at least three
 * quarters of its capacity. All of them where none is stated. */
guint sl_cores_big (const SlCore *cores, guint n);
