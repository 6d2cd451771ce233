/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What this build contains: everything, or what the models of the meson option operators need
 * (kept_list.h, which meson writes from `sightline inspect --needs`). Tables check each row; the
 * linker drops code that no table refers to.
 */
#pragma once

#include "core/base/kept_list.h"

/* A line of kept_list.h is "#define SL_KEEP_operator_ADD 0,": its comma makes the 1 behind it the
 * second argument. */
#define SL_SECOND_ARGUMENT(first, second, ...) second
#define SL_IS_KEPT(...) SL_SECOND_ARGUMENT (__VA_ARGS__)

/** SL_KEEPS: 1 or 0, constant, also for the preprocessor: whether this build has what is called
 * @name of a @kind: reader, operator, onnx (a row of that reader's table), backend, runtime. */
#define SL_KEEPS(kind, name) \
  (SL_IS_KEPT (SL_KEEP_##kind##_all 1, 0, 0) || SL_IS_KEPT (SL_KEEP_##kind##_##name 1, 0, 0))

/** What to do, in messages. */
#define SL_LEFT_OUT                                                                              \
  "is left out of this build: build it with this model in meson's option operators, or without " \
  "that option"
