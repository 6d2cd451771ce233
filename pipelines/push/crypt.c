/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Points are uncompressed, 65 bytes. Names of steps are those of RFC 8291. */
#include "pipelines/push/crypt.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "core/base/json.h"

#define CURVE "prime256v1"
#define KEY_FILE_MOST 16384
#define POINT 65
#define NUMBER 32
#define SALT 16
#define TAG 16
#define NONCE 12
#define RECORD 4096
#define HEAD (SALT + 4 + 1 + POINT)
/* Of a text in base64url. */
#define CODED_MOST 128

struct _SlPushKey
{
  EVP_PKEY *pair;
  char *shown;
};

G_DEFINE_AUTOPTR_CLEANUP_FUNC (EVP_PKEY, EVP_PKEY_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (EVP_PKEY_CTX, EVP_PKEY_CTX_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (EVP_MD_CTX, EVP_MD_CTX_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (EVP_CIPHER_CTX, EVP_CIPHER_CTX_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (EVP_KDF, EVP_KDF_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (EVP_KDF_CTX, EVP_KDF_CTX_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ECDSA_SIG, ECDSA_SIG_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (OSSL_PARAM, OSSL_PARAM_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (OSSL_PARAM_BLD, OSSL_PARAM_BLD_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (BIO, BIO_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (BIGNUM, BN_clear_free)

static gboolean
fail (GError **error, const char *what)
{
  char reason[256];
  ERR_error_string_n (ERR_get_error (), reason, sizeof reason);
  ERR_clear_error ();
  return sl_fail (error, SL_ERROR_FORMAT, "%s: libcrypto: %s", what, reason);
}

static char *
to_base64url (const guint8 *bytes, gsize n)
{
  char *text = g_strdelimit (g_base64_encode (bytes, n), "+", '-');
  g_strdelimit (text, "/", '_');
  text[strcspn (text, "=")] = '\0';
  return text;
}

/* FALSE unless @text has @n bytes. */
static gboolean
from_base64url (const char *text, guint8 *bytes, gsize n)
{
  const gsize length = strcspn (text, "=");
  gsize got = 0;
  if (length > CODED_MOST || strspn (text, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_") != length
      || strspn (text + length, "=") != strlen (text + length))
    return FALSE;
  g_autoptr (GString) plain = g_string_new_len (text, (gssize) length);
  g_strdelimit (plain->str, "-", '+');
  g_strdelimit (plain->str, "_", '/');
  while (plain->len % 4 != 0)
    g_string_append_c (plain, '=');
  g_autofree guchar *decoded = g_base64_decode (plain->str, &got);
  if (got != n)
    return FALSE;
  memcpy (bytes, decoded, n);
  return TRUE;
}

/* A key file is never asked for a passphrase at the terminal. */
static int
no_passphrase (char *buffer, int size, int writing, void *data)
{
  return 0;
}

static gboolean
read_file (const char *path, char *text, gssize *length, GError **error)
{
  struct stat about;
  const int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const gboolean opened = fd >= 0 && fstat (fd, &about) == 0;
  const int why = errno;
  gboolean good = FALSE;
  if (!opened)
    sl_fail (error, SL_ERROR_OPEN, "%s", g_strerror (why));
  else if (!S_ISREG (about.st_mode) || about.st_size > KEY_FILE_MOST)
    sl_fail (error, SL_ERROR_OPEN, "expected a regular file of at most %d bytes", KEY_FILE_MOST);
  else if ((about.st_mode & 027) != 0)
    sl_fail (error, SL_ERROR_OPEN,
             "other users may read or change this secret (mode %04o): chmod 600",
             about.st_mode & 07777);
  else
    good = (*length = pread (fd, text, KEY_FILE_MOST, 0)) >= 0
           || sl_fail (error, SL_ERROR_OPEN, "%s", g_strerror (errno));
  if (fd >= 0)
    close (fd);
  return good;
}

/* Also of a key whose file has a compressed point. */
static gboolean
point_of (EVP_PKEY *pair, guint8 point[POINT])
{
  gsize length = 0;
  return EVP_PKEY_set_utf8_string_param (pair, OSSL_PKEY_PARAM_EC_POINT_CONVERSION_FORMAT,
                                         OSSL_PKEY_EC_POINT_CONVERSION_FORMAT_UNCOMPRESSED)
           == 1
         && EVP_PKEY_get_octet_string_param (pair, OSSL_PKEY_PARAM_PUB_KEY, point, POINT, &length)
              == 1
         && length == POINT;
}

static gboolean
is_of_curve (EVP_PKEY *pair)
{
  char name[64];
  gsize length = 0;
  return EVP_PKEY_get_base_id (pair) == EVP_PKEY_EC
         && EVP_PKEY_get_group_name (pair, name, sizeof name, &length) == 1
         && strcmp (name, CURVE) == 0;
}

SlPushKey *
sl_push_key_load (const char *path, GError **error)
{
  g_autofree char *text = g_malloc (KEY_FILE_MOST);
  guint8 point[POINT];
  gssize length = 0;
  if (!read_file (path, text, &length, error)) {
    g_prefix_error (error, "key=%s: ", path);
    return NULL;
  }
  g_autoptr (BIO) bio = BIO_new_mem_buf (text, (int) length);
  g_autoptr (EVP_PKEY) pair =
    bio != NULL ? PEM_read_bio_PrivateKey (bio, NULL, no_passphrase, NULL) : NULL;
  explicit_bzero (text, (gsize) length);
  ERR_clear_error ();
  if (pair == NULL || !is_of_curve (pair) || !point_of (pair, point))
    return sl_fail_null (error, SL_ERROR_FORMAT,
                         "key=%s: expected a private key of the curve P-256 as PEM, without a "
                         "passphrase",
                         path);
  SlPushKey *key = g_new0 (SlPushKey, 1);
  key->pair = g_steal_pointer (&pair);
  key->shown = to_base64url (point, POINT);
  return key;
}

void
sl_push_key_free (SlPushKey *key)
{
  EVP_PKEY_free (key->pair);
  g_free (key->shown);
  g_free (key);
}

const char *
sl_push_key_public (const SlPushKey *key)
{
  return key->shown;
}

/* @signature: two numbers, as JWS has them. */
static gboolean
sign (EVP_PKEY *pair, const char *text, guint8 signature[2 * NUMBER])
{
  guint8 der[128];
  gsize length = sizeof der;
  const guint8 *at = der;
  g_autoptr (EVP_MD_CTX) context = EVP_MD_CTX_new ();
  if (context == NULL
      || EVP_DigestSignInit_ex (context, NULL, "SHA256", NULL, NULL, pair, NULL) != 1
      || EVP_DigestSign (context, der, &length, (const guint8 *) text, strlen (text)) != 1)
    return FALSE;
  g_autoptr (ECDSA_SIG) both = d2i_ECDSA_SIG (NULL, &at, (long) length);
  return both != NULL && BN_bn2binpad (ECDSA_SIG_get0_r (both), signature, NUMBER) == NUMBER
         && BN_bn2binpad (ECDSA_SIG_get0_s (both), signature + NUMBER, NUMBER) == NUMBER;
}

char *
sl_push_key_sign (const SlPushKey *key, const char *audience, const char *subject, gint64 until,
                  GError **error)
{
  static const char head[] = "{\"typ\":\"JWT\",\"alg\":\"ES256\"}";
  g_autoptr (GString) claims = g_string_new ("{");
  guint8 signature[2 * NUMBER];
  sl_json_append_text (claims, "aud", audience);
  sl_json_append_count (claims, "exp", (guint64) until);
  sl_json_append_text (claims, "sub", subject);
  g_string_append_c (claims, '}');
  g_autofree char *first = to_base64url ((const guint8 *) head, strlen (head)),
                  *second = to_base64url ((const guint8 *) claims->str, claims->len);
  g_autofree char *both = g_strconcat (first, ".", second, NULL);
  if (!sign (key->pair, both, signature)) {
    fail (error, "the signature for the push service");
    return NULL;
  }
  g_autofree char *third = to_base64url (signature, sizeof signature);
  return g_strdup_printf ("vapid t=%s.%s, k=%s", both, third, key->shown);
}

/* @number: (nullable): the private key of @point */
static EVP_PKEY *
make_key (const guint8 point[POINT], const BIGNUM *number)
{
  EVP_PKEY *pair = NULL;
  g_autoptr (OSSL_PARAM_BLD) builder = OSSL_PARAM_BLD_new ();
  g_autoptr (EVP_PKEY_CTX) context = EVP_PKEY_CTX_new_from_name (NULL, "EC", NULL);
  if (builder == NULL || context == NULL
      || OSSL_PARAM_BLD_push_utf8_string (builder, OSSL_PKEY_PARAM_GROUP_NAME, CURVE, 0) != 1
      || OSSL_PARAM_BLD_push_octet_string (builder, OSSL_PKEY_PARAM_PUB_KEY, point, POINT) != 1
      || (number != NULL
          && OSSL_PARAM_BLD_push_BN (builder, OSSL_PKEY_PARAM_PRIV_KEY, number) != 1))
    return NULL;
  g_autoptr (OSSL_PARAM) parameters = OSSL_PARAM_BLD_to_param (builder);
  const int what = number != NULL ? EVP_PKEY_KEYPAIR : EVP_PKEY_PUBLIC_KEY;
  if (parameters == NULL || EVP_PKEY_fromdata_init (context) != 1
      || EVP_PKEY_fromdata (context, &pair, what, parameters) != 1)
    return NULL;
  return pair;
}

/* (nullable): the pair of a private number that is known. */
static EVP_PKEY *
pair_of_number (const guint8 bytes[NUMBER])
{
  g_autoptr (BIGNUM) number = BN_bin2bn (bytes, NUMBER, NULL);
  EC_GROUP *group = EC_GROUP_new_by_curve_name (NID_X9_62_prime256v1);
  EC_POINT *product = group != NULL ? EC_POINT_new (group) : NULL;
  guint8 point[POINT];
  const gboolean good =
    number != NULL && product != NULL
    && EC_POINT_mul (group, product, number, NULL, NULL, NULL) == 1
    && EC_POINT_point2oct (group, product, POINT_CONVERSION_UNCOMPRESSED, point, POINT, NULL)
         == POINT;
  EC_POINT_free (product);
  EC_GROUP_free (group);
  return good ? make_key (point, number) : NULL;
}

/* (nullable): NULL unless @point is a point of the curve. */
static EVP_PKEY *
read_point (const guint8 point[POINT])
{
  g_autoptr (EVP_PKEY) peer = make_key (point, NULL);
  g_autoptr (EVP_PKEY_CTX) context =
    peer != NULL ? EVP_PKEY_CTX_new_from_pkey (NULL, peer, NULL) : NULL;
  const gboolean good = context != NULL && EVP_PKEY_public_check (context) == 1;
  ERR_clear_error ();
  return good ? g_steal_pointer (&peer) : NULL;
}

/* @point, @secret: of the browser. (transfer full) (nullable) */
static EVP_PKEY *
read_keys (const char *p256dh, const char *auth, guint8 point[POINT], guint8 secret[SALT],
           GError **error)
{
  EVP_PKEY *peer = from_base64url (p256dh, point, POINT) ? read_point (point) : NULL;
  if (peer == NULL)
    return sl_fail_null (error, SL_ERROR_ARGUMENT,
                         "p256dh: expected a point of the curve P-256, 65 bytes as base64url");
  if (from_base64url (auth, secret, SALT))
    return peer;
  EVP_PKEY_free (peer);
  return sl_fail_null (error, SL_ERROR_ARGUMENT, "auth: expected 16 bytes as base64url");
}

gboolean
sl_push_check_keys (const char *p256dh, const char *auth, GError **error)
{
  guint8 point[POINT], secret[SALT];
  g_autoptr (EVP_PKEY) peer = read_keys (p256dh, auth, point, secret, error);
  return peer != NULL;
}

static gboolean
agree (EVP_PKEY *own, EVP_PKEY *peer, guint8 secret[NUMBER])
{
  gsize length = NUMBER;
  g_autoptr (EVP_PKEY_CTX) context = EVP_PKEY_CTX_new_from_pkey (NULL, own, NULL);
  return context != NULL && EVP_PKEY_derive_init (context) == 1
         && EVP_PKEY_derive_set_peer (context, peer) == 1
         && EVP_PKEY_derive (context, secret, &length) == 1 && length == NUMBER;
}

static gboolean
derive (const guint8 salt[SALT], const guint8 key[NUMBER], const void *info, gsize info_bytes,
        guint8 *out, gsize bytes)
{
  g_autoptr (EVP_KDF) kdf = EVP_KDF_fetch (NULL, "HKDF", NULL);
  g_autoptr (EVP_KDF_CTX) context = kdf != NULL ? EVP_KDF_CTX_new (kdf) : NULL;
  const OSSL_PARAM parameters[] = {
    OSSL_PARAM_construct_utf8_string (OSSL_KDF_PARAM_DIGEST, (char *) "SHA256", 0),
    OSSL_PARAM_construct_octet_string (OSSL_KDF_PARAM_KEY, (void *) key, NUMBER),
    OSSL_PARAM_construct_octet_string (OSSL_KDF_PARAM_SALT, (void *) salt, SALT),
    OSSL_PARAM_construct_octet_string (OSSL_KDF_PARAM_INFO, (void *) info, info_bytes),
    OSSL_PARAM_construct_end (),
  };
  return context != NULL && EVP_KDF_derive (context, out, bytes, parameters) == 1;
}

/* Two points behind a text with its zero. */
static gboolean
derive_key (const guint8 secret[NUMBER], const guint8 auth[SALT], const guint8 browser[POINT],
            const guint8 own[POINT], guint8 key[NUMBER])
{
  static const char begin[] = "WebPush: info";
  guint8 info[sizeof begin + 2 * POINT];
  memcpy (info, begin, sizeof begin);
  memcpy (info + sizeof begin, browser, POINT);
  memcpy (info + sizeof begin + POINT, own, POINT);
  return derive (auth, secret, info, sizeof info, key, NUMBER);
}

/* One record: the text, the mark of the last record, and the tag. */
static gboolean
seal (const guint8 key[NUMBER], const guint8 salt[SALT], const char *text, gsize bytes, guint8 *out)
{
  static const char for_key[] = "Content-Encoding: aes128gcm",
                    for_nonce[] = "Content-Encoding: nonce";
  static const guint8 last = 2;
  guint8 content_key[16], nonce[NONCE];
  int n = 0, more = 0, end = 0;
  g_autoptr (EVP_CIPHER_CTX) context = EVP_CIPHER_CTX_new ();
  return context != NULL
         && derive (salt, key, for_key, sizeof for_key, content_key, sizeof content_key)
         && derive (salt, key, for_nonce, sizeof for_nonce, nonce, sizeof nonce)
         && EVP_EncryptInit_ex2 (context, EVP_aes_128_gcm (), content_key, nonce, NULL) == 1
         && EVP_EncryptUpdate (context, out, &n, (const guint8 *) text, (int) bytes) == 1
         && EVP_EncryptUpdate (context, out + n, &more, &last, 1) == 1
         && EVP_EncryptFinal_ex (context, out + n + more, &end) == 1
         && EVP_CIPHER_CTX_ctrl (context, EVP_CTRL_AEAD_GET_TAG, TAG, out + n + more + end) == 1;
}

GBytes *
sl_push_encrypt (const char *p256dh, const char *auth, const char *text, gsize bytes,
                 const SlPushSeed *seed, GError **error)
{
  guint8 browser[POINT], secret[SALT], own_point[POINT], salt[SALT], shared[NUMBER], key[NUMBER];
  const guint32 record = GUINT32_TO_BE (RECORD);
  if (bytes > SL_PUSH_TEXT_MOST)
    return sl_fail_null (error, SL_ERROR_LIMIT, "a push message: expected at most %d bytes",
                         SL_PUSH_TEXT_MOST);
  g_autoptr (EVP_PKEY) peer = read_keys (p256dh, auth, browser, secret, error);
  if (peer == NULL)
    return NULL;
  g_autoptr (EVP_PKEY) own = seed != NULL ? pair_of_number (seed->private_key) : EVP_EC_gen (CURVE);
  if (seed != NULL)
    memcpy (salt, seed->salt, SALT);
  const gsize size = HEAD + bytes + 1 + TAG;
  g_autofree guint8 *body = g_malloc (size);
  const gboolean good = own != NULL && (seed != NULL || RAND_bytes (salt, SALT) == 1)
                        && point_of (own, own_point) && agree (own, peer, shared)
                        && derive_key (shared, secret, browser, own_point, key)
                        && seal (key, salt, text, bytes, body + HEAD);
  OPENSSL_cleanse (shared, sizeof shared);
  OPENSSL_cleanse (key, sizeof key);
  if (!good) {
    fail (error, "a push message");
    return NULL;
  }
  memcpy (body, salt, SALT);
  memcpy (body + SALT, &record, sizeof record);
  body[SALT + 4] = POINT;
  memcpy (body + SALT + 5, own_point, POINT);
  return g_bytes_new_take (g_steal_pointer (&body), size);
}
