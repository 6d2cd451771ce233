/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The structure of a program's result: tuples, lists and dictionaries of outputs inside each other.
 */
#pragma once

#include "models/pt2/program.h"

/** pt_build_result: the @n @outputs in the structure that the program's calls state; a tuple where
 * they state none. */
TsValue pt_build_result (PtProgram *program, const TsValue *outputs, guint n);
