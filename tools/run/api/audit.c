/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lines are written whole, each by one write(), into a file that is opened for each. */
#include "tools/run/api/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/fail.h"
#include "core/base/json.h"
#include "core/base/json_reader.h"
#include "core/base/printable.h"
#include "core/base/utc.h"

struct _SlAudit
{
  char *path, *before;
  GMutex lock;
};

static int
open_path (const char *path, int flags, struct stat *about, GError **error)
{
  const int fd = open (path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd >= 0 && fstat (fd, about) == 0 && S_ISREG (about->st_mode))
    return fd;
  sl_fail (error, SL_ERROR_OPEN, "audit log %s: %s", path,
           fd < 0 ? g_strerror (errno) : "expected a regular file");
  if (fd >= 0)
    close (fd);
  return -1;
}

static int
open_file (const SlAudit *audit, int flags, struct stat *about, GError **error)
{
  return open_path (audit->path, flags, about, error);
}

gboolean
sl_audit_check (const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  struct stat about;
  if (lstat (path, &about) != 0 && errno == ENOENT)
    return access (folder, W_OK | X_OK) == 0
           || sl_fail (error, SL_ERROR_OPEN, "audit log %s: %s", path, g_strerror (errno));
  const int fd = open_path (path, O_WRONLY | O_APPEND, &about, error);
  if (fd >= 0)
    close (fd);
  return fd >= 0;
}

SlAudit *
sl_audit_new (const char *path, GError **error)
{
  SlAudit *audit = g_new0 (SlAudit, 1);
  struct stat about;
  audit->path = g_strdup (path);
  audit->before = g_strconcat (path, ".1", NULL);
  g_mutex_init (&audit->lock);
  const int fd = open_file (audit, O_WRONLY | O_CREAT | O_APPEND, &about, error);
  if (fd < 0) {
    sl_audit_free (audit);
    return NULL;
  }
  close (fd);
  return audit;
}

void
sl_audit_free (SlAudit *audit)
{
  g_mutex_clear (&audit->lock);
  g_free (audit->path);
  g_free (audit->before);
  g_free (audit);
}

static GString *
line_new (const char *user, const char *address, const char *message)
{
  GString *line = g_string_new ("{\"time\":\"");
  g_autofree char *shown = sl_printable_message (message);
  sl_utc_append (line, g_get_real_time ());
  g_string_append_c (line, '"');
  sl_json_append_text (line, "user", user);
  sl_json_append_text (line, "address", address);
  sl_json_append_text (line, "message", shown);
  g_string_append (line, "}\n");
  return line;
}

gboolean
sl_audit_add (SlAudit *audit, const char *user, const char *address, const char *message,
              GError **error)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&audit->lock);
  g_autofree char *text = NULL;
  struct stat about;
  GString *line = line_new (user, address, message);
  const gsize length = line->len;
  text = g_string_free (line, FALSE);
  int fd = open_file (audit, O_WRONLY | O_CREAT | O_APPEND, &about, error);
  if (fd >= 0 && (gsize) about.st_size + length > SL_AUDIT_MOST
      && rename (audit->path, audit->before) == 0) {
    close (fd);
    fd = open_file (audit, O_WRONLY | O_CREAT | O_APPEND, &about, error);
  }
  if (fd < 0)
    return FALSE;
  const gssize written = write (fd, text, length);
  const int why = errno;
  /* half a line would spoil the next one, too */
  const gboolean torn =
    written > 0 && written < (gssize) length && ftruncate (fd, about.st_size) != 0;
  close (fd);
  return written == (gssize) length
         || sl_fail (error, SL_ERROR_OPEN, "audit log %s: %s%s", audit->path,
                     written < 0 ? g_strerror (why) : "the disk is full",
                     torn ? ", and half a line stays" : "");
}

/* (transfer full): whole lines of the end, at most @most bytes. */
static char *
read_end (SlAudit *audit, gsize most)
{
  struct stat about;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&audit->lock);
  const int fd = open_file (audit, O_RDONLY, &about, NULL);
  if (fd < 0)
    return g_strdup ("");
  const off_t from = about.st_size > (off_t) most ? about.st_size - (off_t) most : 0;
  g_autofree char *text = g_malloc (most + 1);
  const gssize got = pread (fd, text, most, from);
  close (fd);
  text[MAX (got, 0)] = '\0';
  const char *begin = from > 0 ? strchr (text, '\n') : text;
  return g_strdup (begin != NULL ? begin : "");
}

static gboolean
is_json (const char *line)
{
  SlJsonReader reader;
  sl_json_reader_init (&reader, line, strlen (line));
  sl_json_reader_skip (&reader);
  const gboolean whole = sl_json_reader_end (&reader);
  sl_json_reader_clear (&reader);
  return whole && line[0] == '{' && g_utf8_validate (line, -1, NULL);
}

/* Lines that others spoilt, and what a machine without power left, are skipped: the answer is JSON.
 */
void
sl_audit_read (SlAudit *audit, guint most, GString *out)
{
  g_autofree char *text = read_end (audit, (gsize) most * SL_AUDIT_LINE_MOST);
  g_auto (GStrv) lines = g_strsplit (g_strstrip (text), "\n", -1);
  const guint n = g_strv_length (lines);
  g_string_append_c (out, '[');
  for (guint i = n > most ? n - most : 0; i < n; i++)
    if (is_json (lines[i]))
      g_string_append_printf (out, "%s%s", out->str[out->len - 1] == '[' ? "" : ",", lines[i]);
  g_string_append_c (out, ']');
}
