/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All that an application needs that holds frames in memory and wants predictions: #include
 * <sightline.h>.
 */
#include "sightline/sightline.h"
