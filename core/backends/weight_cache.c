/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A list under a lock, which is not held while a pack is made: threads make different packs at the same time. */
#include "core/backends/weight_cache.h"

/* Beside their weights, packs hold little. */
#define SMALL_CHUNK 512

typedef struct
{
  const void *node, *how;
  SlArena *arena;
  void *result;
  gboolean ready;
} Pack;

struct _SlPacks
{
  GMutex mutex;
  GCond made;
  GPtrArray *all; /* of Pack */
};

static void
pack_free (gpointer data)
{
  Pack *pack = data;
  sl_arena_free (pack->arena);
  g_free (pack);
}

SlPacks *
sl_packs_new (void)
{
  SlPacks *packs = g_new0 (SlPacks, 1);
  g_mutex_init (&packs->mutex);
  g_cond_init (&packs->made);
  packs->all = g_ptr_array_new_with_free_func (pack_free);
  return packs;
}

void
sl_packs_free (SlPacks *packs)
{
  g_ptr_array_unref (packs->all);
  g_cond_clear (&packs->made);
  g_mutex_clear (&packs->mutex);
  g_free (packs);
}

static Pack *
find (const SlPacks *packs, const void *node, const void *how)
{
  for (guint i = 0; i < packs->all->len; i++) {
    Pack *pack = g_ptr_array_index (packs->all, i);
    if (pack->node == node && pack->how == how)
      return pack;
  }
  return NULL;
}

void *
sl_packs_get (SlPacks *packs, const void *node, const void *how, SlPackFunc make, gpointer data)
{
  g_mutex_lock (&packs->mutex);
  Pack *pack = find (packs, node, how);
  if (pack == NULL) {
    pack = g_new0 (Pack, 1);
    pack->node = node;
    pack->how = how;
    pack->arena = sl_arena_new_sized (SMALL_CHUNK);
    g_ptr_array_add (packs->all, pack);
    g_mutex_unlock (&packs->mutex);
    void *result = make (pack->arena, data);
    g_mutex_lock (&packs->mutex);
    pack->result = result;
    pack->ready = TRUE;
    g_cond_broadcast (&packs->made);
  }
  while (!pack->ready)
    g_cond_wait (&packs->made, &packs->mutex);
  g_mutex_unlock (&packs->mutex);
  return pack->result;
}

gsize
sl_packs_bytes (SlPacks *packs)
{
  gsize bytes = 0;
  g_mutex_lock (&packs->mutex);
  for (guint i = 0; i < packs->all->len; i++) {
    const Pack *pack = g_ptr_array_index (packs->all, i);
    bytes += pack->ready ? sl_arena_used (pack->arena) : 0;
  }
  g_mutex_unlock (&packs->mutex);
  return bytes;
}
