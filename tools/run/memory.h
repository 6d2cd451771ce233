/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Keeping a process small that starts and stops pipelines, and with them threads, for years. */
#pragma once

#include <glib.h>

/** sl_memory_few_arenas: before the first thread: glibc's heaps, of which every new thread may get
 * one of its own, become at most 2. */
void sl_memory_few_arenas (void);
/** sl_memory_trim: gives what a stopped pipeline freed back to the system. Takes milliseconds. */
void sl_memory_trim (void);
