/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of runtimes, and their libraries, each opened once in a process. */
#pragma once

#include "core/external/runtime.h"

/** sl_runtime_find: (transfer none) (nullable): the row of @name. */
const SlRuntime *sl_runtime_find (const char *name);
/** sl_runtime_open: (transfer none): what the row's open() gave, now or before. NULL with
 * SL_ERROR_UNSUPPORTED that says what to install; tried again by the next call. @row: (inout): a
 * row of the table, then the one that fits the library: it or its successor. @version, @file: (out)
 * (optional) (transfer none). Any thread. */
gpointer sl_runtime_open (const SlRuntime **row, const char **version, const char **file,
                          GError **error);
