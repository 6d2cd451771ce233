/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Passwords by crypt_rn(3), and texts that nobody guesses. */
#include "tools/run/http/hash.h"

#include <string.h>
#include <sys/random.h>

#include "config.h"
#include "core/base/fail.h"

#ifdef SL_HAVE_CRYPT
#include <crypt.h>
#include <stdlib.h>
#endif

#define PREFIX "$y$"
#define RANDOM_BYTES 32

#ifdef SL_HAVE_CRYPT
/* (transfer full) (nullable) */
static char *
compute (const char *password, const char *setting)
{
  struct crypt_data *data = g_new0 (struct crypt_data, 1);
  char *hash = g_strdup (crypt_rn (password, setting, data, sizeof *data));
  explicit_bzero (data, sizeof *data);
  g_free (data);
  return hash;
}
#endif

char *
sl_hash_new (const char *password, GError **error)
{
#ifdef SL_HAVE_CRYPT
  char *setting = crypt_gensalt_ra (PREFIX, 0, NULL, 0);
  char *hash = setting != NULL ? compute (password, setting) : NULL;
  free (setting);
  if (hash == NULL)
    sl_fail (error, SL_ERROR_UNSUPPORTED,
             "libcrypt has no yescrypt: expected libxcrypt 4.4 or later");
  return hash;
#else
  sl_hash_is_there (error);
  return NULL;
#endif
}

gboolean
sl_hash_is_there (GError **error)
{
#ifdef SL_HAVE_CRYPT
  return TRUE;
#else
  return sl_fail (
    error, SL_ERROR_UNSUPPORTED,
    "this build has no libcrypt, which checks passwords: expected libxcrypt 4.4 when it "
    "was made (Debian: libcrypt-dev, meson option crypt)");
#endif
}

gboolean
sl_hash_check (const char *hash, const char *password)
{
#ifdef SL_HAVE_CRYPT
  g_autofree char *computed = compute (password, hash);
  return computed != NULL && sl_same_text (computed, hash);
#else
  return FALSE;
#endif
}

gboolean
sl_hash_is_valid (const char *text)
{
  return g_str_has_prefix (text, PREFIX) && strlen (text) < 256
         && strspn (text, "$./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
              == strlen (text);
}

gboolean
sl_same_text (const char *one, const char *other)
{
  const gsize length = strlen (one);
  guint difference = 0;
  if (strlen (other) != length)
    return FALSE;
  for (gsize i = 0; i < length; i++)
    difference |= (guint) one[i] ^ (guint) other[i];
  return difference == 0;
}

char *
sl_random_text (void)
{
  guchar bytes[RANDOM_BYTES];
  if (getrandom (bytes, sizeof bytes, 0) != (gssize) sizeof bytes)
    g_error ("getrandom: the kernel gives no random bytes");
  char *text = g_base64_encode (bytes, sizeof bytes);
  for (char *at = text; *at != '\0'; at++)
    *at = *at == '+' ? '-' : *at == '/' ? '_' : *at == '=' ? '\0' : *at;
  return text;
}
