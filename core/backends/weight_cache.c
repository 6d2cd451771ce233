/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A table under a lock, which is not held while an entry is made: threads make different entries at
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
  GHashTable *all; /* a set of Entry, by key and how */
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

static guint
entry_hash (gconstpointer data)
{
  const Entry *entry = data;
  return g_direct_hash (entry->key) * 31 + g_direct_hash (entry->how);
}

static gboolean
entry_equal (gconstpointer a, gconstpointer b)
{
  const Entry *x = a, *y = b;
  return x->key == y->key && x->how == y->how;
}

gpointer
sl_weight_cache_new (void)
{
  SlWeightCache *cache = g_new0 (SlWeightCache, 1);
  g_mutex_init (&cache->mutex);
  g_cond_init (&cache->made);
  cache->store = sl_page_store_new ();
  cache->all = g_hash_table_new_full (entry_hash, entry_equal, entry_free, NULL);
  return cache;
}

void
sl_weight_cache_free (gpointer weights)
{
  SlWeightCache *cache = weights;
  g_hash_table_unref (cache->all);
  sl_page_store_free (cache->store);
  g_cond_clear (&cache->made);
  g_mutex_clear (&cache->mutex);
  g_free (cache);
}

static Entry *
add (SlWeightCache *cache, const void *key, const void *how, GDestroyNotify destroy)
{
  Entry *entry = g_new0 (Entry, 1);
  entry->key = key;
  entry->how = how;
  entry->destroy = destroy;
  entry->arena = sl_arena_new_in (cache->store, SMALL_CHUNK);
  g_hash_table_add (cache->all, entry);
  return entry;
}

void *
sl_weight_cache_get (SlWeightCache *cache, const void *key, const void *how, SlWeightFunc make,
                     gpointer data, GDestroyNotify destroy)
{
  g_mutex_lock (&cache->mutex);
  Entry *entry = g_hash_table_lookup (cache->all, &(Entry){ .key = key, .how = how });
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
  GHashTableIter iter;
  gpointer item;
  g_hash_table_iter_init (&iter, cache->all);
  while (g_hash_table_iter_next (&iter, &item, NULL)) {
    const Entry *entry = item;
    bytes += entry->ready ? sl_arena_used (entry->arena) : 0;
  }
  return bytes;
}
