/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Users of a file. A file in which one line is wrong is refused as a whole, with that line. */
#include "tools/run/http/users.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "core/base/printable.h"
#include "tools/run/http/hash.h"

/* Its group may read it: so services are given secrets. */
#define TOO_OPEN (S_IWGRP | S_IRWXO)
#define FILE_MOST (1 << 20)

struct _SlUsers
{
  char *path;
  struct stat about;
  GHashTable *all; /* name -> SlUser */
  const SlUser *any;
  guint serial;
};

void
sl_user_free (SlUser *user)
{
  g_free (user->name);
  g_free (user->hash);
  g_free (user);
}

gboolean
sl_user_name_is_valid (const char *name)
{
  if (name[0] == '\0' || strlen (name) > SL_USER_NAME_MOST || !g_utf8_validate (name, -1, NULL)
      || strcmp (name, "password") == 0 || strcmp (name, "nobody") == 0)
    return FALSE;
  for (const char *at = name; *at != '\0'; at = g_utf8_next_char (at))
    if (!g_unichar_isalnum (g_utf8_get_char (at)) && strchr ("._-@", *at) == NULL)
      return FALSE;
  return TRUE;
}

SlUser *
sl_user_parse (const char *line, GError **error)
{
  g_auto (GStrv) fields = g_strsplit (line, ":", 3);
  g_autoptr (SlUser) user = g_new0 (SlUser, 1);
  if (g_strv_length (fields) != 3) {
    sl_fail (error, SL_ERROR_FORMAT, "expected NAME:ROLE:HASH, as 'sightline user add' writes it");
    return NULL;
  }
  g_autofree char *name = sl_printable (fields[0], SL_PRINTABLE_NAME),
                  *role = sl_printable (fields[1], SL_PRINTABLE_NAME);
  user->name = g_strdup (fields[0]);
  user->hash = g_strdup (fields[2]);
  if (!sl_user_name_is_valid (user->name))
    sl_fail (error, SL_ERROR_FORMAT, SL_USER_NAME_REFUSED, name, SL_USER_NAME_MOST);
  else if (!sl_role_parse (fields[1], &user->role))
    sl_fail (error, SL_ERROR_FORMAT, "%s: expected the role look, review or configure, got '%s'",
             name, role);
  else if (!sl_hash_is_valid (user->hash))
    sl_fail (error, SL_ERROR_FORMAT,
             "%s: expected a hash that begins with $y$: set the password with 'sightline user "
             "password'",
             name);
  else
    return g_steal_pointer (&user);
  return NULL;
}

gboolean
sl_users_check_mode (const char *path, guint mode, GError **error)
{
  if ((mode & TOO_OPEN) == 0)
    return TRUE;
  return sl_fail (error, SL_ERROR_OPEN,
                  "%s: other users may read or change this file (mode %04o): chmod 600, or 640 for "
                  "a group of its own",
                  path, mode & 07777);
}

/* FALSE with errno set. @text: FILE_MOST bytes and one more */
static gboolean
read_all (int fd, char *text)
{
  gsize length = 0;
  gssize got;
  while ((got = read (fd, text + length, FILE_MOST - length)) > 0 || (got < 0 && errno == EINTR))
    length += (gsize) MAX (got, 0);
  text[length] = '\0';
  return got == 0;
}

/* (transfer full) (nullable) */
static char *
read_file (const char *path, struct stat *about, GError **error)
{
  const int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  g_autofree char *text = g_malloc (FILE_MOST + 1);
  gboolean whole = FALSE;
  if (fd < 0 || fstat (fd, about) != 0)
    sl_fail (error, SL_ERROR_OPEN, "%s: %s; 'sightline user add' makes one", path,
             g_strerror (errno));
  else if (!S_ISREG (about->st_mode) || about->st_size > FILE_MOST)
    sl_fail (error, SL_ERROR_OPEN, "%s: expected a regular file of at most %d bytes", path,
             FILE_MOST);
  else if (sl_users_check_mode (path, about->st_mode, error) && !(whole = read_all (fd, text)))
    sl_fail (error, SL_ERROR_OPEN, "%s: %s; expected a file that can be read to its end", path,
             g_strerror (errno));
  if (fd >= 0)
    close (fd);
  return whole ? g_steal_pointer (&text) : NULL;
}

/* FALSE with @error set. */
static gboolean
take_line (GHashTable *all, const char *path, guint number, const char *line, GError **error)
{
  SlUser *user = sl_user_parse (line, error);
  if (user == NULL)
    return sl_fail_prefix (error, "%s:%u: ", path, number);
  if (g_hash_table_size (all) < SL_USERS_MOST && !g_hash_table_contains (all, user->name))
    return g_hash_table_insert (all, user->name, user);
  g_autofree char *name = g_strdup (user->name);
  sl_user_free (user);
  return g_hash_table_contains (all, name)
           ? sl_fail (error, SL_ERROR_FORMAT, "%s:%u: %s has a line already", path, number, name)
           : sl_fail (error, SL_ERROR_FORMAT, "%s:%u: expected at most %d users", path, number,
                      SL_USERS_MOST);
}

static gboolean
load (SlUsers *users, GError **error)
{
  g_autofree char *text = read_file (users->path, &users->about, error);
  g_autoptr (GHashTable) all =
    g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) sl_user_free);
  g_auto (GStrv) lines = text != NULL ? g_strsplit (text, "\n", -1) : NULL;
  if (text == NULL)
    return FALSE;
  for (guint i = 0; lines[i] != NULL; i++) {
    const char *line = g_strchomp (lines[i]);
    if (line[0] != '\0' && line[0] != '#' && !take_line (all, users->path, i + 1, line, error))
      return FALSE;
  }
  GHashTableIter iter;
  gpointer any = NULL;
  g_hash_table_iter_init (&iter, all);
  g_hash_table_iter_next (&iter, NULL, &any);
  users->any = any;
  users->serial++;
  g_clear_pointer (&users->all, g_hash_table_unref);
  users->all = g_steal_pointer (&all);
  return TRUE;
}

SlUsers *
sl_users_new (const char *path, GError **error)
{
  SlUsers *users = g_new0 (SlUsers, 1);
  users->path = g_strdup (path);
  if (!sl_hash_is_there (error))
    g_prefix_error (error, "%s: no user can log in: ", path);
  else if (load (users, error))
    return users;
  sl_users_free (users);
  return NULL;
}

void
sl_users_free (SlUsers *users)
{
  g_clear_pointer (&users->all, g_hash_table_unref);
  g_free (users->path);
  g_free (users);
}

gboolean
sl_users_refresh (SlUsers *users, GError **error)
{
  struct stat now;
  if (stat (users->path, &now) != 0)
    memset (&now, 0, sizeof now);
  const struct stat *before = &users->about;
  if (now.st_ino == before->st_ino && now.st_size == before->st_size
      && now.st_mode == before->st_mode && now.st_mtim.tv_sec == before->st_mtim.tv_sec
      && now.st_mtim.tv_nsec == before->st_mtim.tv_nsec)
    return TRUE;
  users->about = now; /* what is wrong with it is said once */
  return load (users, error);
}

guint
sl_users_serial (const SlUsers *users)
{
  return users->serial;
}

const SlUser *
sl_users_find (const SlUsers *users, const char *name)
{
  return g_hash_table_lookup (users->all, name);
}

const SlUser *
sl_users_any (const SlUsers *users)
{
  return users->any;
}
