/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A hash for tables with keys from files or networks. An attacker who knows a hash function can
 * choose keys that all collide, so that each lookup takes as long as the table. This hash has a
 * random key, drawn at its first use in the process.
 */
#pragma once

#include <glib.h>

/** sl_siphash: SipHash-2-4 of @size bytes, as Aumasson and Bernstein describe it. */
guint64 sl_siphash (const void *data, gsize size, const guint64 key[2]);
/** sl_name_hash: of a string, other in each process; in the place of g_str_hash(). */
guint sl_name_hash (gconstpointer name);
