/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The time of a model of the zoo on this machine. */
#pragma once

#include "models/zoo/row.h"

/** sl_zoo_measure: the least of five runs on one thread in milliseconds, of a model that is here,
 * by `sightline bench model`; below 0 where it cannot run, which stderr says. */
gdouble sl_zoo_measure (const SlZooRow *row);
