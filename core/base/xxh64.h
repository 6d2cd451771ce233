/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * XXH64, a hash of 64 bits for finding damage and differences, several times as fast as a
 * cryptographic one. It protects from no attacker.
 * https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
 */
#pragma once

#include <glib.h>

/** sl_xxh64: of @size bytes, the same on every machine. The hash of one piece as the @seed of the
 * next chains pieces. @data is nullable where @size is 0. */
guint64 sl_xxh64 (const void *data, gsize size, guint64 seed);
