/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Energy that the system has used, if it reports that: counters of processors' packages (RAPL, of
 * Intel and AMD alike), or sensors of boards (INA chips of Jetson and i.MX boards, power meters).
 * It is the energy of the whole package or board, with that of other processes.
 */
#pragma once

#include <glib.h>

typedef struct _SlEnergy SlEnergy;

/**
 * sl_energy_open:
 * @root: (nullable): folder in the place of /sys, for tests
 * @why: (out) (transfer full): a sentence where there is nothing to read
 *
 * Returns: (transfer full): NULL where the system does not tell, or not this user
 */
SlEnergy *sl_energy_open (const char *root, char **why);
/** sl_energy_free: NULL is legal. */
void sl_energy_free (SlEnergy *energy);
/** sl_energy_source: (transfer none): what is read, for people. */
const char *sl_energy_source (const SlEnergy *energy);
/** sl_energy_read: joules since the last call, the first one gives 0. Sensors report only power,
 * which is interpolated linearly between two calls, so frequent calls are more accurate. Allocates
 * nothing. */
gdouble sl_energy_read (SlEnergy *energy);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlEnergy, sl_energy_free)
