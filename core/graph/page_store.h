/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory for the packed weights of a model, one piece after the other in a few mappings (internal
 * to core). Freeing the store gives all of it back to the system at once. The heap would keep it:
 * a process that replaces its model would grow.
 */
#pragma once

#include <glib.h>

typedef struct _SlPageStore SlPageStore;

SlPageStore *sl_page_store_new (void);
void sl_page_store_free (SlPageStore *store);
/** sl_page_store_take: (transfer none) (nullable): @bytes of zeros, aligned to 64 bytes, until the
 * store is freed; NULL when there is no memory. Any thread. */
void *sl_page_store_take (SlPageStore *store, gsize bytes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlPageStore, sl_page_store_free)
