/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of black boxes, and deleting the oldest. */
#include "models/replay/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/xxh64.h"
#include "core/base/fail.h"

#define BEGIN "blackbox-"
#define END ".slbox"
#define PART END ".part"
/* Digits that tell models apart. */
#define TAG 8

/* Names of later years say nothing of the time. */
#define LAST_YEAR 9000

static GMutex lock;
static gint64 last; /* under the lock: the time in the last name */

/* Of @model, so that files of one can be told from those of another. */
char *
sl_black_box_path (const char *folder, const char *model, gint64 *created)
{
  const guint32 tag = (guint32) sl_xxh64 (model, strlen (model), 0);
  *created = g_get_real_time ();
  g_mutex_lock (&lock);
  const gint64 at = last = MAX (*created, last + 1);
  g_mutex_unlock (&lock);
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_utc (at / G_USEC_PER_SEC);
  g_autofree char *second = g_date_time_format (time, "%Y%m%dT%H%M%S");
  g_autofree char *name = g_strdup_printf (BEGIN "%s.%06dZ-%d-%08x" END, second,
                                           (int) (at % G_USEC_PER_SEC), (int) getpid (), tag);
  return g_build_filename (folder, name, NULL);
}

/* (nullable): where the model's tag begins in @name, if that is one of ours that ends so: digits,
 * where the pattern has one, and any number of them behind it. Names of older versions have no tag:
 * where it would end. */
static const char *
find_tag (const char *name, const char *end)
{
  for (const char *at = BEGIN "00000000T000000.000000Z-0"; *at != '\0'; at++, name++)
    if (*at == '0' ? !g_ascii_isdigit (*name) : *at != *name)
      return NULL;
  const char *tag = name + strspn (name, "0123456789");
  if (strcmp (tag, end) == 0)
    return tag;
  return tag[0] == '-' && strspn (tag + 1, "0123456789abcdef") == TAG
             && strcmp (tag + 1 + TAG, end) == 0
           ? tag + 1
           : NULL;
}

/* Microseconds since 1970 that the name of one of ours says; 0 for no time. */
static gint64
time_of (const char *name)
{
  g_autofree char *text = g_strndup (name + strlen (BEGIN), strlen ("00000000T000000.000000Z"));
  g_autoptr (GDateTime) time = g_date_time_new_from_iso8601 (text, NULL);
  return time != NULL && g_date_time_get_year (time) < LAST_YEAR
           ? g_date_time_to_unix (time) * G_USEC_PER_SEC + g_date_time_get_microsecond (time)
           : 0;
}

gboolean
sl_black_box_lock (int fd, const char *path, gboolean wait)
{
  struct stat opened, named;
  while (flock (fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB) != 0)
    if (errno != EINTR)
      return FALSE;
  return fstat (fd, &opened) == 0 && lstat (path, &named) == 0 && opened.st_ino == named.st_ino
         && opened.st_dev == named.st_dev;
}

/* What nobody has locked, nobody is writing. */
static void
remove_abandoned (const char *path)
{
  const int fd = open (path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return;
  if (sl_black_box_lock (fd, path, FALSE))
    g_unlink (path);
  close (fd);
}

static gint
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* (transfer full): names of ours in the folder that end so, in their order. */
static GPtrArray *
list (const char *folder, const char *end)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  GDir *dir = g_dir_open (folder, 0, NULL);
  for (const char *name = dir != NULL ? g_dir_read_name (dir) : NULL; name != NULL;
       name = g_dir_read_name (dir))
    if (find_tag (name, end) != NULL)
      g_ptr_array_add (names, g_strdup (name));
  g_clear_pointer (&dir, g_dir_close);
  g_ptr_array_sort (names, by_name);
  return names;
}

void
sl_black_box_look (const char *folder)
{
  g_autoptr (GPtrArray) names = list (folder, END);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&lock);
  for (guint i = 0; i < names->len; i++)
    last = MAX (last, time_of (names->pdata[i]));
}

/* How many of the model of @name are kept with it; names without a tag are as those of one model.
 * @kept: tags to numbers */
static guint
keep_one (GHashTable *kept, const char *name)
{
  const char *tag = find_tag (name, END);
  g_autofree char *model = g_strndup (tag != NULL && *tag != '.' ? tag : "", TAG);
  const guint n = GPOINTER_TO_UINT (g_hash_table_lookup (kept, model)) + 1;
  g_hash_table_replace (kept, g_steal_pointer (&model), GUINT_TO_POINTER (n));
  return n;
}

void
sl_black_box_prune (const char *folder, guint keep, const char *spare)
{
  g_autoptr (GPtrArray) names = list (folder, END), parts = list (folder, PART);
  g_autoptr (GHashTable) kept = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < parts->len; i++) {
    g_autofree char *path = g_build_filename (folder, parts->pdata[i], NULL);
    remove_abandoned (path);
  }
  if (spare != NULL)
    keep_one (kept, strrchr (spare, '/') + 1);
  for (guint i = names->len; i > 0; i--) {
    g_autofree char *path = g_build_filename (folder, names->pdata[i - 1], NULL);
    if (g_strcmp0 (path, spare) != 0 && keep_one (kept, names->pdata[i - 1]) > keep)
      g_unlink (path);
  }
}

gboolean
sl_black_box_check_folder (const char *folder, GError **error)
{
  const int code = g_access (folder, W_OK | X_OK) != 0        ? errno
                   : g_file_test (folder, G_FILE_TEST_IS_DIR) ? 0
                                                              : ENOTDIR;
  if (code != 0)
    sl_fail (error, SL_ERROR_OPEN,
             "black-box=%s: expected a folder that can be written to, got: %s", folder,
             g_strerror (code));
  return code == 0;
}
