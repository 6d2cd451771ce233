/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "postprocess/read/gray.h"

/** sl_gray_repeats: the highest correlation, to 1, of a @part of @gray of 48 pixels a side or more
 * with itself moved aside; 0 of smaller ones. Its middle has to repeat, too: around a turned code
 * on a lighter ground, the corners of the part are alike. Of codes it is about 0.2, and below 0.6.
 */
double sl_gray_repeats (const SlGray *gray, const SlRect *part);
