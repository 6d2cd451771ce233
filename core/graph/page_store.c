/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory that nobody has written to takes no space, so blocks are much larger than what is asked
 * for. The first one has pages of the usual size: a small model does not fill huge ones.
 */
#include "core/graph/page_store.h"

#include "core/base/pages.h"

#define FIRST_BYTES ((gsize) 8 << 20)
#define BLOCK_BYTES ((gsize) 64 << 20)
#define ALIGN ((gsize) 64)

typedef struct
{
  guint8 *memory;
  gsize bytes, used;
} Block;

struct _SlPageStore
{
  GMutex lock;
  GArray *blocks; /* lock: of Block; pieces are of the last one */
};

SlPageStore *
sl_page_store_new (void)
{
  SlPageStore *store = g_new0 (SlPageStore, 1);
  g_mutex_init (&store->lock);
  store->blocks = g_array_new (FALSE, FALSE, sizeof (Block));
  return store;
}

void
sl_page_store_free (SlPageStore *store)
{
  if (store == NULL)
    return;
  for (guint i = 0; i < store->blocks->len; i++) {
    const Block *block = &g_array_index (store->blocks, Block, i);
    sl_pages_free (block->memory, block->bytes);
  }
  g_array_unref (store->blocks);
  g_mutex_clear (&store->lock);
  g_free (store);
}

/* With the lock: (nullable): a block with room for @bytes. A piece that would fill a block has one
 * of its own, before the last, whose rest stays at hand. */
static Block *
add_block (SlPageStore *store, gsize bytes)
{
  const gboolean first = store->blocks->len == 0, alone = bytes > BLOCK_BYTES / 4,
                 small = first && bytes <= FIRST_BYTES;
  Block block = { NULL, sl_pages_round (alone ? bytes : small ? FIRST_BYTES : BLOCK_BYTES), 0 };
  block.memory = small ? sl_pages_new_small (block.bytes) : sl_pages_new (block.bytes);
  if (block.memory == NULL)
    return NULL;
  const guint at = store->blocks->len - (alone && !first ? 1 : 0);
  g_array_insert_val (store->blocks, at, block);
  return &g_array_index (store->blocks, Block, at);
}

void *
sl_page_store_take (SlPageStore *store, gsize bytes)
{
  const gsize need = (bytes + ALIGN - 1) / ALIGN * ALIGN;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&store->lock);
  Block *block =
    store->blocks->len > 0 ? &g_array_index (store->blocks, Block, store->blocks->len - 1) : NULL;
  if (block == NULL || block->bytes - block->used < need)
    block = add_block (store, need);
  if (block == NULL)
    return NULL;
  void *memory = block->memory + block->used;
  block->used += need;
  return memory;
}
