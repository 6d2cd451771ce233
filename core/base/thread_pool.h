/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A thread pool for short work items (internal to core). Threads spin between items that follow
 * each other closely. After some tens of microseconds they sleep, so that waiting for the next
 * frame costs no processor time.
 */
#pragma once

#include <glib.h>

typedef struct _SlPool SlPool;

/** SlPoolFunc: does piece @item; @thread is 0 for the caller of sl_pool_run(), below the number of
 * threads for others. */
typedef void (*SlPoolFunc) (const void *data, guint item, guint thread);

/** sl_pool_new: @threads 2.. including the caller; NULL with @error set when they cannot be
 * started. */
SlPool *sl_pool_new (guint threads, GError **error);
void sl_pool_free (SlPool *pool);
/** sl_pool_threads: 1 for NULL. */
guint sl_pool_threads (const SlPool *pool);
/** sl_pool_run: pieces 0 .. @items - 1 in any order on all threads; returns when all are done.
 * @pool (nullable): the caller does all.
 *  @cost_us: about how long they take one thread; threads that sleep are not woken for little. */
void sl_pool_run (SlPool *pool, SlPoolFunc func, const void *data, guint items, guint cost_us);
/** sl_pool_rest: ends a series of works, such as a model's layers. If series do not follow each
 * other at once, threads sleep now, and the next series wakes them only if this one took long.
 * @pool (nullable). */
void sl_pool_rest (SlPool *pool);
