/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The file of users: a line NAME:ROLE:HASH for each, and comments that begin with '#'. It is read
 * again when it changes; the server's thread.
 */
#pragma once

#include "tools/run/http/roles.h"

/** Users of a file, and bytes of a name, at most. */
#define SL_USERS_MOST 1000
#define SL_USER_NAME_MOST 64
/** SL_USER_NAME_REFUSED: a format: of the name, and SL_USER_NAME_MOST. */
#define SL_USER_NAME_REFUSED                                                                    \
  "'%s' is no name of a user: expected letters, digits and . _ - @, %d bytes at most, neither " \
  "password nor nobody"

/** SlUser: immutable. @hash: of the password */
typedef struct
{
  char *name, *hash;
  SlRole role;
} SlUser;

typedef struct _SlUsers SlUsers;

/** sl_users_new: NULL with @error set when the file cannot be used, and in a build without
 * libcrypt, which can check no password. */
SlUsers *sl_users_new (const char *path, GError **error);
void sl_users_free (SlUsers *users);
/** sl_users_refresh: reads a file that has changed. FALSE with @error set, once for a change, when
 * it cannot be used: users stay as they were. */
gboolean sl_users_refresh (SlUsers *users, GError **error);
/** sl_users_serial: another number after each change; never 0. */
guint sl_users_serial (const SlUsers *users);
/** sl_users_find: (transfer none) (nullable): valid until the next refresh. */
const SlUser *sl_users_find (const SlUsers *users, const char *name);
/** sl_users_any: (transfer none) (nullable): some user, for work that takes as long for a name that
 * nobody has. */
const SlUser *sl_users_any (const SlUsers *users);

/** sl_user_parse: (nullable): @line of the file, without its end. NULL with SL_ERROR_FORMAT. */
SlUser *sl_user_parse (const char *line, GError **error);
void sl_user_free (SlUser *user);
/** sl_user_name_is_valid: letters, digits, '.', '_', '-' and '@'; none of the names that the log
 * has for clients without one. */
gboolean sl_user_name_is_valid (const char *name);
/** sl_users_check_mode: FALSE with SL_ERROR_OPEN when others may read or change the file @path. */
gboolean sl_users_check_mode (const char *path, guint mode, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlUser, sl_user_free)
