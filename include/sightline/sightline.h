/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All that an application needs that holds frames in memory and wants predictions: #include
 * <sightline.h>.
 */
#ifndef SL_SIGHTLINE_H
#define SL_SIGHTLINE_H

#include "sightline/custom_decoder.h"
#include "sightline/error.h"
#include "sightline/frame.h"
#include "sightline/object.h"
#include "sightline/output.h"
#include "sightline/predictions.h"
#include "sightline/predictor.h"

#endif
