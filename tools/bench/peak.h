/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What one core reaches with all operands in registers: the ceiling of matrix products, measured
 * beside what is compared with it, since clocks differ from machine to machine and from minute to
 * minute.
 */
#pragma once

#include <glib.h>

typedef enum
{
  SL_PEAK_FLOAT,
  SL_PEAK_INT8
} SlPeakKind;

/**
 * sl_peak_measure:
 * @instruction: (out): the instruction that was timed; static; "" where there is none
 *
 * Times the multiplying instruction of the best kernels that this processor and SIGHTLINE_CPU
 * leave; takes some 20 ms.
 *
 * Returns: thousand million operations a second, a multiplication and an addition counting as two;
 * 0 where no instruction is known
 */
double sl_peak_measure (SlPeakKind kind, const char **instruction);
