/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hashes of passwords that cost an attacker memory and time: yescrypt of libxcrypt, which takes
 * some 10 ms and 16 MB. Any thread, but no server's.
 */
#pragma once

#include <glib.h>

/** Bytes of a password. */
#define SL_PASSWORD_LEAST 8
#define SL_PASSWORD_MOST 256

/** sl_hash_new: (transfer full): of @password with a new salt. NULL with SL_ERROR_UNSUPPORTED in a
 * build without libcrypt. */
char *sl_hash_new (const char *password, GError **error);
/** sl_hash_is_there: FALSE with SL_ERROR_UNSUPPORTED in a build without libcrypt. */
gboolean sl_hash_is_there (GError **error);
/** sl_hash_check: whether @hash is @password's; as long for a wrong one as for the right one. */
gboolean sl_hash_check (const char *hash, const char *password);
/** sl_hash_is_valid: whether @text may be a hash of this kind. */
gboolean sl_hash_is_valid (const char *text);
/** sl_same_text: in the same time whatever they are, lengths apart. */
gboolean sl_same_text (const char *one, const char *other);
/** sl_random_text: (transfer full): 256 bits of the kernel's, as 43 letters, digits, - and _. */
char *sl_random_text (void);
