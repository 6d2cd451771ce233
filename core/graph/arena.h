/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* Bump allocator: everything a graph owns is allocated here and freed at once. */
#pragma once

#include "core/graph/page_store.h"

typedef struct _SlArena SlArena;

SlArena *sl_arena_new (void);
/** sl_arena_new_sized: one that asks the heap for @chunk bytes at a time; for few and small or for
 * large requests. */
SlArena *sl_arena_new_sized (gsize chunk);
/** sl_arena_new_in: the same, whose large requests are pieces of @store, which outlives it. */
SlArena *sl_arena_new_in (SlPageStore *store, gsize chunk);
void sl_arena_free (SlArena *arena);
/** sl_arena_clear: what was handed out is free again. From the second time on, as much as before
 * needs no memory of the heap. */
void sl_arena_clear (SlArena *arena);
/** sl_arena_alloc: zeroed memory, aligned to 16 bytes, valid until the arena is freed. Never NULL.
 */
void *sl_arena_alloc (SlArena *arena, gsize bytes);
/** sl_arena_memdup: a copy of @bytes bytes at @data. */
void *sl_arena_memdup (SlArena *arena, const void *data, gsize bytes);
/** sl_arena_strdup: a copy of @text; "" for NULL. */
const char *sl_arena_strdup (SlArena *arena, const char *text);
/** sl_arena_strndup: a NUL-terminated copy of at most @length bytes. */
const char *sl_arena_strndup (SlArena *arena, const char *text, gsize length);
/** sl_arena_holds: whether @data is a byte that was handed out. */
gboolean sl_arena_holds (const SlArena *arena, const void *data);
/** sl_arena_used: bytes handed out so far. */
gsize sl_arena_used (const SlArena *arena);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlArena, sl_arena_free)
