/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All that an application needs that holds frames in memory and wants predictions: #include <sightline.h>.
 */
#ifndef SL_SIGHTLINE_H
#define SL_SIGHTLINE_H

#include "core/error.h"
#include "predict/frame.h"
#include "predict/predictions.h"
#include "predict/predictor.h"

#endif
