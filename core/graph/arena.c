/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bump allocator in chunks; large requests get a chunk of their own. */
#include "core/graph/arena.h"

#include <string.h>

#include "core/base/pages.h"

#define CHUNK_BYTES 16384
/* Chunks from this size on are whole pages of the system; those of a store are from the other on.
 */
#define PAGES_BYTES ((gsize) 2 << 20)
#define STORED_BYTES ((gsize) 32 << 10)
#define ALIGN 16

typedef struct _Chunk Chunk;
struct _Chunk
{
  Chunk *next;
  gsize size, used;
  guint8 *data;
  enum
  {
    OF_HEAP,
    OF_PAGES,
    OF_STORE,
  } place;
};

struct _SlArena
{
  Chunk *head;
  SlPageStore *store; /* (nullable) */
  gsize chunk_bytes, used;
};

SlArena *
sl_arena_new (void)
{
  return sl_arena_new_sized (CHUNK_BYTES);
}

SlArena *
sl_arena_new_sized (gsize chunk)
{
  SlArena *arena = g_new0 (SlArena, 1);
  arena->chunk_bytes = chunk;
  return arena;
}

SlArena *
sl_arena_new_in (SlPageStore *store, gsize chunk)
{
  SlArena *arena = sl_arena_new_sized (chunk);
  arena->store = store;
  return arena;
}

static void
free_chunks (SlArena *arena)
{
  for (Chunk *chunk = arena->head; chunk != NULL;) {
    Chunk *next = chunk->next;
    if (chunk->place == OF_PAGES)
      sl_pages_free (chunk->data, chunk->size);
    else if (chunk->place == OF_HEAP)
      g_free (chunk->data);
    g_free (chunk);
    chunk = next;
  }
  arena->head = NULL;
}

void
sl_arena_free (SlArena *arena)
{
  if (arena == NULL)
    return;
  free_chunks (arena);
  g_free (arena);
}

void
sl_arena_clear (SlArena *arena)
{
  Chunk *chunk = arena->head;
  if (chunk != NULL && chunk->next == NULL) {
    memset (chunk->data, 0, chunk->used);
    chunk->used = 0;
  } else if (chunk != NULL) {
    arena->chunk_bytes = MAX (arena->chunk_bytes, 2 * arena->used);
    free_chunks (arena);
  }
  arena->used = 0;
}

/* Zeroed memory of at least @bytes. */
static Chunk *
chunk_new (const SlArena *arena, gsize bytes)
{
  Chunk *chunk = g_new0 (Chunk, 1);
  chunk->size = bytes;
  if (arena->store != NULL && bytes >= STORED_BYTES) {
    chunk->data = sl_page_store_take (arena->store, bytes);
    chunk->place = OF_STORE;
  } else if (bytes >= PAGES_BYTES) {
    chunk->size = sl_pages_round (bytes);
    chunk->data = sl_pages_new (chunk->size);
    chunk->place = OF_PAGES;
  }
  if (chunk->data == NULL) {
    chunk->data = g_malloc0 (chunk->size);
    chunk->place = OF_HEAP;
  }
  return chunk;
}

void *
sl_arena_alloc (SlArena *arena, gsize bytes)
{
  g_assert (bytes < G_MAXSIZE / 2);
  const gsize need = (MAX (bytes, 1) + ALIGN - 1) / ALIGN * ALIGN;
  Chunk *chunk = arena->head;
  if (chunk == NULL || chunk->size - chunk->used < need) {
    chunk = chunk_new (arena, MAX (need, arena->chunk_bytes));
    /* A large request leaves the rest of the chunk at hand to those after it. */
    const gboolean behind = need > arena->chunk_bytes && arena->head != NULL;
    chunk->next = behind ? arena->head->next : arena->head;
    *(behind ? &arena->head->next : &arena->head) = chunk;
  }
  void *memory = chunk->data + chunk->used;
  chunk->used += need;
  arena->used += need;
  return memory;
}

void *
sl_arena_memdup (SlArena *arena, const void *data, gsize bytes)
{
  void *copy = sl_arena_alloc (arena, bytes);
  if (bytes > 0)
    memcpy (copy, data, bytes);
  return copy;
}

const char *
sl_arena_strndup (SlArena *arena, const char *text, gsize length)
{
  char *copy = sl_arena_alloc (arena, length + 1);
  if (length > 0)
    memcpy (copy, text, length);
  return copy;
}

const char *
sl_arena_strdup (SlArena *arena, const char *text)
{
  return text == NULL ? "" : sl_arena_strndup (arena, text, strlen (text));
}

gboolean
sl_arena_holds (const SlArena *arena, const void *data)
{
  for (const Chunk *chunk = arena->head; chunk != NULL; chunk = chunk->next)
    if ((guintptr) data - (guintptr) chunk->data < chunk->used)
      return TRUE;
  return FALSE;
}

gsize
sl_arena_used (const SlArena *arena)
{
  return arena->used;
}
