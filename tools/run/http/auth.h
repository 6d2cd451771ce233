/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decides which clients may send requests. Immutable. */
#pragma once

#include <libsoup/soup.h>

typedef struct _SlAuth SlAuth;

/** sl_auth_new: @password: (nullable): that clients must know; @local: only this machine reaches
 * the server. */
SlAuth *sl_auth_new (const char *password, gboolean local);
void sl_auth_free (SlAuth *auth);
/** sl_auth_is_guarded: whether a password is asked for. */
gboolean sl_auth_is_guarded (const SlAuth *auth);
/** sl_auth_is_told: whether @message says a password, right or wrong, and one is asked for. */
gboolean sl_auth_is_told (const SlAuth *auth, SoupServerMessage *message);
/** sl_auth_knows: whether @message states the password. */
gboolean sl_auth_knows (const SlAuth *auth, SoupServerMessage *message);
/** sl_auth_challenge: asks programs and browsers for a user's name and a password. */
void sl_auth_challenge (SoupServerMessage *message);
/** SlAuthAllows: what is allowed beside requests that read and state the password. */
typedef enum
{
  SL_AUTH_POSTS = 1,     /* the method POST, unless a page of another origin sends it */
  SL_AUTH_STRANGERS = 2, /* no password, as the site asks for a key of its own */
  SL_AUTH_METHODS = 4,   /* every method, as SL_AUTH_POSTS allows one */
} SlAuthAllows;

/** sl_auth_check: (nullable): NULL when @message may be answered; else why not, with the status and
 * headers for that set. @allows: of SlAuthAllows */
const char *sl_auth_check (const SlAuth *auth, SoupServerMessage *message, guint allows);
/** sl_auth_is_key: whether @text, which need not end with NUL, is the password; in the same time
 * whatever it is. */
gboolean sl_auth_is_key (const SlAuth *auth, const char *text, gsize length);
