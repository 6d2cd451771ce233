/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Messages of Web Push: encrypted for one browser (RFC 8291, RFC 8188), and signed for its push
 * service (RFC 8292). All of it is libcrypto's. A build without libcrypto has these functions, too,
 * and loads no key. Any thread, one at a time for a key.
 */
#pragma once

#include <glib.h>

/** Bytes of a text at most: a message is 4096 bytes, which every push service takes. */
#define SL_PUSH_TEXT_MOST 3993

typedef struct _SlPushKey SlPushKey;

/** sl_push_key_load: a PEM file with a private key of the curve P-256, which only its owner may
 * read. NULL with SL_ERROR_OPEN, SL_ERROR_FORMAT or SL_ERROR_UNSUPPORTED. */
SlPushKey *sl_push_key_load (const char *path, GError **error);
void sl_push_key_free (SlPushKey *key);
/** sl_push_key_public: (transfer none): the public key as browsers want it: a point as base64url.
 */
const char *sl_push_key_public (const SlPushKey *key);
/** sl_push_key_sign: (transfer full) (nullable): the value of the header Authorization. @audience:
 * https://HOST of the push service; @subject: mailto: or https:; @until: seconds since 1970 */
char *sl_push_key_sign (const SlPushKey *key, const char *audience, const char *subject,
                        gint64 until, GError **error);

/** SlPushSeed: what else is random. @private_key: a number of 32 bytes; @salt: 16 bytes */
typedef struct
{
  const guint8 *private_key, *salt;
} SlPushSeed;

/** sl_push_check_keys: whether @p256dh is a point of the curve and @auth a secret of 16 bytes, as
 * base64url. FALSE with SL_ERROR_ARGUMENT, SL_ERROR_UNSUPPORTED. */
gboolean sl_push_check_keys (const char *p256dh, const char *auth, GError **error);
/** sl_push_encrypt: (transfer full) (nullable): the body of a request; the content coding is
 * aes128gcm. @seed: (nullable): for tests */
GBytes *sl_push_encrypt (const char *p256dh, const char *auth, const char *text, gsize bytes,
                         const SlPushSeed *seed, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlPushKey, sl_push_key_free)
