/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A build without libcrypto. */
#include "core/base/fail.h"
#include "pipelines/gallery/seal.h"

SlSeal *
sl_seal_new (const char *key_file, GError **error)
{
  return sl_fail_null (error, SL_ERROR_UNSUPPORTED,
                       "%s: this build encrypts no galleries: install libssl-dev and build again, "
                       "or leave the key file out",
                       key_file);
}

void
sl_seal_free (SlSeal *seal)
{
}

GBytes *
sl_seal_close (const SlSeal *seal, const char *what, const void *data, gsize n, GError **error)
{
  return g_bytes_new (data, n);
}

GBytes *
sl_seal_open (const SlSeal *seal, const char *what, const void *data, gsize n)
{
  return g_bytes_new (data, n);
}
