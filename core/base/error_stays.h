/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The details of error messages that no second start mends: elements in plugins/ write them,
 * pipelines/supervise/ reads them. */
#pragma once

#define SL_ERROR_STAYS "sightline-error-stays"
