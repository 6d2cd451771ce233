/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A row is nonce, ciphertext, tag. Nonces are random: 96 bits suffice for billions of rows. */
#include "pipelines/gallery/seal.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/secretfile.h"

#define KEY_BYTES 32

struct _SlSeal
{
  guint8 key[KEY_BYTES];
};

G_DEFINE_AUTOPTR_CLEANUP_FUNC (EVP_CIPHER_CTX, EVP_CIPHER_CTX_free)

static gboolean
read_key (const char *text, guint8 key[KEY_BYTES])
{
  gboolean good = strlen (text) == 2 * KEY_BYTES;
  for (guint i = 0; good && i < 2 * KEY_BYTES; i++) {
    const gint digit = g_ascii_xdigit_value (text[i]);
    good = digit >= 0;
    key[i / 2] = (guint8) (key[i / 2] << 4 | (digit & 15));
  }
  return good;
}

SlSeal *
sl_seal_new (const char *key_file, GError **error)
{
  g_autofree char *warning = NULL;
  g_autoptr (GError) cause = NULL;
  char *text = sl_secret_file_read (key_file, &warning, &cause);
  if (text == NULL)
    return sl_fail_null (error, SL_ERROR_OPEN,
                         "%s; expected the file of a key, such as `openssl rand -hex %d` prints",
                         cause->message, KEY_BYTES);
  g_autoptr (SlSeal) seal = g_new0 (SlSeal, 1);
  const gboolean good = read_key (text, seal->key);
  OPENSSL_cleanse (text, strlen (text));
  g_free (text);
  if (warning != NULL)
    return sl_fail_null (error, SL_ERROR_ARGUMENT, "%s", warning);
  if (!good)
    return sl_fail_null (error, SL_ERROR_ARGUMENT,
                         "%s: expected a key of %d hexadecimal digits, such as `openssl rand -hex "
                         "%d` prints",
                         key_file, 2 * KEY_BYTES, KEY_BYTES);
  return g_steal_pointer (&seal);
}

void
sl_seal_free (SlSeal *seal)
{
  if (seal == NULL)
    return;
  OPENSSL_cleanse (seal->key, sizeof seal->key);
  g_free (seal);
}

GBytes *
sl_seal_close (const SlSeal *seal, const char *what, const void *data, gsize n, GError **error)
{
  if (seal == NULL)
    return g_bytes_new (data, n);
  g_return_val_if_fail (n <= G_MAXINT, NULL);
  g_autofree guint8 *row = g_malloc (n + SL_SEAL_MORE);
  g_autoptr (EVP_CIPHER_CTX) context = EVP_CIPHER_CTX_new ();
  int written = 0, rest = 0;
  const gboolean good =
    context != NULL && RAND_bytes (row, SL_SEAL_NONCE) == 1
    && EVP_EncryptInit_ex (context, EVP_aes_256_gcm (), NULL, seal->key, row) == 1
    && EVP_EncryptUpdate (context, NULL, &written, (const guint8 *) what, (int) strlen (what)) == 1
    && EVP_EncryptUpdate (context, row + SL_SEAL_NONCE, &written, data, (int) n) == 1
    && EVP_EncryptFinal_ex (context, row + SL_SEAL_NONCE + written, &rest) == 1
    && EVP_CIPHER_CTX_ctrl (context, EVP_CTRL_GCM_GET_TAG, SL_SEAL_TAG, row + SL_SEAL_NONCE + n)
         == 1;
  if (!good)
    return sl_fail_null (error, SL_ERROR_BACKEND, "libcrypto does not encrypt with AES-256-GCM");
  return g_bytes_new_take (g_steal_pointer (&row), n + SL_SEAL_MORE);
}

GBytes *
sl_seal_open (const SlSeal *seal, const char *what, const void *data, gsize n)
{
  if (seal == NULL)
    return g_bytes_new (data, n);
  if (n < SL_SEAL_MORE || n > G_MAXINT)
    return NULL;
  const guint8 *row = data;
  const gsize size = n - SL_SEAL_MORE;
  guint8 tag[SL_SEAL_TAG];
  g_autofree guint8 *plain = g_malloc (size + 1);
  g_autoptr (EVP_CIPHER_CTX) context = EVP_CIPHER_CTX_new ();
  int written = 0, rest = 0;
  memcpy (tag, row + n - SL_SEAL_TAG, SL_SEAL_TAG);
  const gboolean good =
    context != NULL && EVP_DecryptInit_ex (context, EVP_aes_256_gcm (), NULL, seal->key, row) == 1
    && EVP_DecryptUpdate (context, NULL, &written, (const guint8 *) what, (int) strlen (what)) == 1
    && EVP_DecryptUpdate (context, plain, &written, row + SL_SEAL_NONCE, (int) size) == 1
    && EVP_CIPHER_CTX_ctrl (context, EVP_CTRL_GCM_SET_TAG, SL_SEAL_TAG, tag) == 1
    && EVP_DecryptFinal_ex (context, plain + written, &rest) == 1;
  return good ? g_bytes_new_take (g_steal_pointer (&plain), size) : NULL;
}
