/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The browsers that are told about events: a private file with a JSON object a line. Each call
 * reads the file, and a change replaces it as a whole under the lock of FILE.lock, so that several
 * threads and processes may use one. Any thread; a call may block.
 */
#pragma once

#include <glib.h>

/** Browsers of a file, and of one user, at most. */
#define SL_PHONES_MOST 64
#define SL_PHONES_OF_USER_MOST 16
/** Bytes of a name at most. */
#define SL_PHONE_NAME_MOST 64

/**
 * SlPhone: a browser's subscription.
 * @id: 16 hexadecimal digits, the first of the SHA-256 of @endpoint
 * @user: whose it is
 * @login: what says whether the user has the same password still, "" = nothing
 * @name: for people
 * @added: UTC
 * @endpoint: a secret, since its knowledge is the right to call it
 * @p256dh, @auth: base64url
 */
typedef struct
{
  char *id, *user, *login, *name, *added, *endpoint, *p256dh, *auth;
} SlPhone;

void sl_phone_free (SlPhone *phone);
/** sl_phone_id: (transfer full) */
char *sl_phone_id (const char *endpoint);

/** sl_phones_read: (transfer full) (element-type SlPhone): none where there is no file. NULL with
 * SL_ERROR_OPEN or SL_ERROR_FORMAT. */
GPtrArray *sl_phones_read (const char *path, GError **error);
/** sl_phones_add: @phone, of which @id and @added are set here; in the place of one with the same
 * endpoint. FALSE with SL_ERROR_LIMIT where there are too many. */
gboolean sl_phones_add (const char *path, const SlPhone *phone, GError **error);
/** SlPhoneFilter: whether @phone stays. */
typedef gboolean (*SlPhoneFilter) (const SlPhone *phone, gpointer data);
/** sl_phones_keep: those that @stays says. @removed: (out): how many others there were */
gboolean sl_phones_keep (const char *path, SlPhoneFilter stays, gpointer data, guint *removed,
                         GError **error);
/** sl_phones_remove: the one of that @id, if it is of @user; NULL = of anybody. */
gboolean sl_phones_remove (const char *path, const char *id, const char *user, guint *removed,
                           GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlPhone, sl_phone_free)
