/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The normaliser's specification in double precision, one pixel at a time from component arrays:
 * what its tests compare with. Shares no code with the library.
 */
#ifndef SL_TESTS_REFERENCE_H
#define SL_TESTS_REFERENCE_H

#include "preprocess/normalize.h"
#include "tests/preprocess/frame.h"

/** reference_pixel: the values of tensor pixel (x, y) after gain and offset, before rounding and
 * the clamp to a type; one per output channel in the order stored. */
void reference_pixel (const TestFrame *frame, const SlNormalizeSpec *spec, int x, int y,
                      double value[3]);

#endif
