/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Very many pictures: their names from a list, a line each, and which of them are this process's
 * share.
 */
#pragma once

#include <glib.h>

/** SlShard: the @index-th, from 1 on, of @n shares; @n 0 or 1: everything. */
typedef struct
{
  guint index, n;
} SlShard;

/** sl_shard_parse: @text: I/N; NULL: everything. */
gboolean sl_shard_parse (SlShard *shard, const char *text, GError **error);
/** sl_shard_has: by a hash of @name alone: what other names there are changes nothing. */
gboolean sl_shard_has (const SlShard *shard, const char *name);

typedef struct _SlListing SlListing;

/** sl_listing_open: @path: a file, or "-" for standard input. */
SlListing *sl_listing_open (const char *path, GError **error);
void sl_listing_free (SlListing *listing);
/** sl_listing_next: (transfer none) (nullable): the next line that is not empty, valid until the
 * next call; NULL at the end, with @error set where it came too early. */
const char *sl_listing_next (SlListing *listing, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlListing, sl_listing_free)
