/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of black boxes, and deleting the oldest. */
#include "replay/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "sightline/error.h"

#define BEGIN "blackbox-"
#define END ".slbox"
#define PART END ".part"

/* Now, and later than what the call before got. */
static gint64
next_time (void)
{
  static gint64 last;
  static GMutex lock;
  g_mutex_lock (&lock);
  const gint64 now = last = MAX (g_get_real_time (), last + 1);
  g_mutex_unlock (&lock);
  return now;
}

char *
sl_black_box_path (const char *folder, gint64 *created)
{
  *created = next_time ();
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_utc (*created / G_USEC_PER_SEC);
  g_autofree char *second = g_date_time_format (time, "%Y%m%dT%H%M%S");
  g_autofree char *name = g_strdup_printf (BEGIN "%s.%06dZ-%d" END, second, (int) (*created % G_USEC_PER_SEC), (int) getpid ());
  return g_build_filename (folder, name, NULL);
}

/* Whether @name is one of ours that ends so. */
static gboolean
is_ours (const char *name, const char *end)
{
  const gsize length = strlen (name), fixed = strlen (BEGIN) + strlen (end);
  return length > fixed && g_str_has_prefix (name, BEGIN) && g_str_has_suffix (name, end)
         && strspn (name + strlen (BEGIN), "0123456789TZ.-") >= length - fixed;
}

/* What nobody has locked, nobody is writing. */
static void
remove_abandoned (const char *path)
{
  const int fd = open (path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return;
  if (flock (fd, LOCK_EX | LOCK_NB) == 0)
    g_unlink (path);
  close (fd);
}

static gint
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

void
sl_black_box_prune (const char *folder, guint keep)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  GDir *dir = g_dir_open (folder, 0, NULL);
  if (dir == NULL)
    return;
  for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir)) {
    g_autofree char *path = g_build_filename (folder, name, NULL);
    if (is_ours (name, PART))
      remove_abandoned (path);
    else if (is_ours (name, END))
      g_ptr_array_add (names, g_steal_pointer (&path));
  }
  g_dir_close (dir);
  g_ptr_array_sort (names, by_name);
  for (guint i = 0; i + keep < names->len; i++)
    g_unlink (names->pdata[i]);
}

gboolean
sl_black_box_check_folder (const char *folder, GError **error)
{
  const int code = g_access (folder, W_OK | X_OK) != 0 ? errno : g_file_test (folder, G_FILE_TEST_IS_DIR) ? 0 : ENOTDIR;
  if (code != 0)
    g_set_error (error, SL_ERROR, SL_ERROR_OPEN, "black-box=%s: expected a folder that can be written to, got: %s", folder,
                 g_strerror (code));
  return code == 0;
}
