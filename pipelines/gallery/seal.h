/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of a gallery, encrypted one by one with AES-256-GCM. Any thread. */
#pragma once

#include <glib.h>

/** Bytes that a sealed row has more: the nonce before it, and the tag behind it. */
#define SL_SEAL_NONCE 12
#define SL_SEAL_TAG 16
#define SL_SEAL_MORE (SL_SEAL_NONCE + SL_SEAL_TAG)

typedef struct _SlSeal SlSeal;

/** sl_seal_new: @key_file: has 64 hexadecimal digits, and only its owner and its group may read
 * it. NULL with @error set. */
SlSeal *sl_seal_new (const char *key_file, GError **error);
/** sl_seal_free: overwrites the key; NULL is legal. */
void sl_seal_free (SlSeal *seal);
/** sl_seal_close: (transfer full): @n bytes at @data, encrypted. @what: what they are, which is
 * authenticated, too. @seal: (nullable): NULL = a copy. NULL with @error set. */
GBytes *sl_seal_close (const SlSeal *seal, const char *what, const void *data, gsize n,
                       GError **error);
/** sl_seal_open: (transfer full) (nullable): the opposite; NULL where the key is another one, or
 * the bytes are not what was written. */
GBytes *sl_seal_open (const SlSeal *seal, const char *what, const void *data, gsize n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlSeal, sl_seal_free)
