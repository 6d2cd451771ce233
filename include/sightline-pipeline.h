/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The only header that an application needs to run camera pipelines: #include
 * <sightline-pipeline.h>.
 */
#ifndef SL_SIGHTLINE_PIPELINE_H
#define SL_SIGHTLINE_PIPELINE_H

#include "sightline/error.h"
#include "sightline/pipeline.h"

#endif
