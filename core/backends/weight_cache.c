/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A list under a lock, which is not held while an entry is made: threads make different entries at
 * the same time. */
#include "core/backends/weight_cache.h"

/* Beside their weights, entries hold little. */
#define SMALL_CHUNK 512

typedef struct
{
  const void *key, *how;
  SlArena *arena;
  void *result;
  GDestroyNotify destroy;
  gboolean ready;
} Entry;

struct _SlWeightCache
{
  GMutex mutex;
  GCond made;
  GPtrArray *all; /* of Entry */
  SlPageStore *store;
  gsize outside; /* bytes that entries hold outside of their arenas */
};

static void
entry_free (gpointer data)
{
  Entry *entry = data;
  if (entry->destroy != NULL && entry->result != NULL)
    entry->destroy (entry->result);
  sl_arena_free (entry->arena);
  g_free (entry);
}

gpointer
sl_weight_cache_new (void)
{
  SlWeightCache *cache = g_new0 (SlWeightCache, 1);
  g_mutex_init (&cache->mutex);
  g_cond_init (&cache->made);
  cache->store = sl_page_store_new ();
  cache->all = g_ptr_array_new_with_free_func (entry_free);
  return cache;
}

void
sl_weight_cache_free (gpointer weights)
{
  SlWeightCache *cache = weights;
  g_ptr_array_unref (cache->all);
  sl_page_store_free (cache->store);
  g_cond_clear (&cache->made);
  g_mutex_clear (&cache->mutex);
  g_free (cache);
}

static Entry *
find (const SlWeightCache *cache, const void *key, const void *how)
{
  for (guint i = 0; i < cache->all->len; i++) {
    Entry *entry = g_ptr_array_index (cache->all, i);
    if (entry->key == key && entry->how == how)
      return entry;
  }
  return NULL;
}

static Entry *
add (SlWeightCache *cache, const void *key, const void *how, GDestroyNotify destroy)
{
  Entry *entry = g_new0 (Entry, 1);
  entry->key = key;
  entry->how = how;
  entry->destroy = destroy;
  entry->arena = sl_arena_new_in (cache->store, SMALL_CHUNK);
  g_ptr_array_add (cache->all, entry);
  return entry;
}

void *
sl_weight_cache_get (SlWeightCache *cache, const void *key, const void *how, SlWeightFunc make,
                     gpointer data, GDestroyNotify destroy)
{
  g_mutex_lock (&cache->mutex);
  Entry *entry = find (cache, key, how);
  if (entry == NULL) {
    entry = add (cache, key, how, destroy);
    g_mutex_unlock (&cache->mutex);
    void *result = make (entry->arena, data);
    g_mutex_lock (&cache->mutex);
    entry->result = result;
    entry->ready = TRUE;
    g_cond_broadcast (&cache->made);
  }
  while (!entry->ready)
    g_cond_wait (&cache->made, &cache->mutex);
  g_mutex_unlock (&cache->mutex);
  return entry->result;
}

void
sl_weight_cache_count (SlWeightCache *cache, gsize bytes)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&cache->mutex);
  cache->outside += bytes;
}

gsize
sl_weight_cache_bytes (SlWeightCache *cache)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&cache->mutex);
  gsize bytes = cache->outside;
  for (guint i = 0; i < cache->all->len; i++) {
    const Entry *entry = g_ptr_array_index (cache->all, i);
    bytes += entry->ready ? sl_arena_used (entry->arena) : 0;
  }
  return bytes;
}
