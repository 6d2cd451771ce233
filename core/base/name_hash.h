/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A hash for tables whose keys a file or a network chooses: who knows a hash makes keys that all fall into one place, and looking one of them up
 * takes as long as the table is. This one has a key that is drawn when the process first asks.
 */
#ifndef SL_BASE_NAME_HASH_H
#define SL_BASE_NAME_HASH_H

#include <glib.h>

/** sl_siphash: SipHash-2-4 of @size bytes, as Aumasson and Bernstein describe it. */
guint64 sl_siphash (const void *data, gsize size, const guint64 key[2]);
/** sl_name_hash: of a string, other in each process; in the place of g_str_hash(). */
guint sl_name_hash (gconstpointer name);

#endif
