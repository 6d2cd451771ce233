/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Blocks that are filled one after the other. A longer text than a block has a block of its own. */
#include "core/base/text_pool.h"

#include <string.h>

#define BLOCK_BYTES 4096

typedef struct
{
  gsize size, used;
  char *bytes;
} Block;

struct _SlTextPool
{
  GArray *blocks; /* of Block */
  guint current;
};

static void
block_clear (gpointer block)
{
  g_free (((Block *) block)->bytes);
}

SlTextPool *
sl_text_pool_new (void)
{
  SlTextPool *pool = g_new0 (SlTextPool, 1);
  pool->blocks = g_array_new (FALSE, FALSE, sizeof (Block));
  g_array_set_clear_func (pool->blocks, block_clear);
  return pool;
}

void
sl_text_pool_free (SlTextPool *pool)
{
  if (pool == NULL)
    return;
  g_array_unref (pool->blocks);
  g_free (pool);
}

/* A block with @bytes to spare: the current one, one behind it, or a new one. */
static Block *
find_block (SlTextPool *pool, gsize bytes)
{
  for (; pool->current < pool->blocks->len; pool->current++) {
    Block *block = &g_array_index (pool->blocks, Block, pool->current);
    if (block->size - block->used >= bytes)
      return block;
  }
  const Block block = { .size = MAX (bytes, BLOCK_BYTES),
                        .bytes = g_malloc (MAX (bytes, BLOCK_BYTES)) };
  g_array_append_val (pool->blocks, block);
  return &g_array_index (pool->blocks, Block, pool->current);
}

const char *
sl_text_pool_insert (SlTextPool *pool, const char *text)
{
  const gsize bytes = strlen (text) + 1;
  Block *block = find_block (pool, bytes);
  char *copy = block->bytes + block->used;
  memcpy (copy, text, bytes);
  block->used += bytes;
  return copy;
}

void
sl_text_pool_clear (SlTextPool *pool)
{
  for (guint i = 0; i < pool->blocks->len; i++)
    g_array_index (pool->blocks, Block, i).used = 0;
  pool->current = 0;
}
