/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A build without libcrypto. */
#include "core/base/fail.h"
#include "pipelines/push/crypt.h"

#define LACKING "this build has no Web Push: install libssl-dev and build again"

SlPushKey *
sl_push_key_load (const char *path, GError **error)
{
  return sl_fail_null (error, SL_ERROR_UNSUPPORTED, LACKING);
}

void
sl_push_key_free (SlPushKey *key)
{
}

const char *
sl_push_key_public (const SlPushKey *key)
{
  return "";
}

char *
sl_push_key_sign (const SlPushKey *key, const char *audience, const char *subject, gint64 until,
                  GError **error)
{
  return sl_fail_null (error, SL_ERROR_UNSUPPORTED, LACKING);
}

gboolean
sl_push_check_keys (const char *p256dh, const char *auth, GError **error)
{
  return sl_fail (error, SL_ERROR_UNSUPPORTED, LACKING);
}

GBytes *
sl_push_encrypt (const char *p256dh, const char *auth, const char *text, gsize bytes,
                 const SlPushSeed *seed, GError **error)
{
  return sl_fail_null (error, SL_ERROR_UNSUPPORTED, LACKING);
}
