/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copies of texts that live until the next frame. Unlike a GStringChunk it keeps its memory when it
 * is cleared, so that a stream of similar frames allocates none. One thread at a time.
 */
#pragma once

#include <glib.h>

typedef struct _SlTextPool SlTextPool;

SlTextPool *sl_text_pool_new (void);
/** sl_text_pool_free: NULL is legal. */
void sl_text_pool_free (SlTextPool *pool);
/** sl_text_pool_insert: (transfer none): a copy of @text, valid until the pool is cleared. */
const char *sl_text_pool_insert (SlTextPool *pool, const char *text);
/** sl_text_pool_clear: all copies are gone. */
void sl_text_pool_clear (SlTextPool *pool);
