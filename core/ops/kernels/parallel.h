/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Threads of a session for plain kernels (internal to core). */
#pragma once

#include "core/ops/ops.h"

/** A part of a kernel's work: items @first .. @first + @n - 1. */
typedef void (*SlPart) (void *data, gsize first, gsize n);

/** sl_parallel: runs @part over @n items, at least @tile of them at a time, on the threads of the
 * session; returns when all is done. */
void sl_parallel (const SlKernelCall *call, gsize n, gsize tile, SlPart part, void *data);
