/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Transports to a file and to standard output.
 *
 * Lines are appended to a file. The file is renamed to FILE.1, FILE.2, ... when it is full or old.
 * Invariant: after every failure the file ends with a whole line. A line that a full disk cut short
 * is removed. A symbolic link in place of the file is not followed: any user who may write to the
 * folder could have put it there to choose the target.
 */
#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file_uri.h"
#include "core/base/redact.h"
#include "core/base/fail.h"
#include "plugins/publish/publisher.h"

typedef struct
{
  char *path; /* NULL: standard output */
  guint64 limit;
  gint64 age_us;
  guint keep;
  mode_t mode; /* of files that are made here */
  gint fd;
  gboolean regular;
  off_t size; /* of whole lines, of a regular file */
  gint64 opened;
} Stream;

static void
stream_disconnect (gpointer state)
{
  Stream *self = state;
  if (self->path != NULL && self->fd >= 0)
    close (self->fd);
  self->fd = -1;
}

static void
stream_close (gpointer state)
{
  Stream *self = state;
  stream_disconnect (self);
  g_free (self->path);
  g_free (self);
}

static gboolean
set_io_error (GError **error, const char *path, const char *what, gint code)
{
  g_autofree char *shown = path != NULL ? sl_redact_uri (path, NULL) : g_strdup ("standard output");
  if (code == ELOOP)
    g_set_error (
      error, G_IO_ERROR, G_IO_ERROR_TOO_MANY_LINKS,
      "%s: %s: it is a symbolic link, which is not followed: give the path that it leads to, or "
      "remove it (standard output is location=-)",
      shown, what);
  else
    g_set_error (error, G_IO_ERROR, (gint) g_io_error_from_errno (code), "%s: %s: %s", shown, what,
                 g_strerror (code));
  return FALSE;
}

/* A program that was killed, or a machine without power, may have left half a line: it ends here,
 * and no new one joins it. */
static void
end_last_line (Stream *self)
{
  const gint fd = open (self->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  char last = '\n';
  if (fd < 0)
    return;
  if (pread (fd, &last, 1, self->size - 1) == 1 && last != '\n' && write (self->fd, "\n", 1) == 1)
    self->size++;
  close (fd);
}

/* A file that is there keeps its permissions; a new one gets those asked for, whatever the
 * process's mask. */
static gint
open_file (const Stream *self)
{
  const gint flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
  gint fd = open (self->path, flags | O_CREAT | O_EXCL, self->mode);
  if (fd >= 0) {
    (void) !fchmod (fd, self->mode); /* some file systems have no permissions */
    return fd;
  }
  if (errno != EEXIST)
    return fd;
  fd = open (self->path, flags);
  /* It was moved away in between. */
  return fd < 0 && errno == ENOENT ? open (self->path, flags | O_CREAT, self->mode) : fd;
}

static gboolean
stream_connect (gpointer state, GCancellable *cancellable, GError **error)
{
  Stream *self = state;
  struct stat about;
  self->fd = self->path == NULL ? STDOUT_FILENO : open_file (self);
  if (self->fd < 0)
    return set_io_error (error, self->path, "cannot be opened for writing", errno);
  self->regular = fstat (self->fd, &about) == 0 && S_ISREG (about.st_mode);
  self->size = self->regular ? about.st_size : 0;
  self->opened = g_get_monotonic_time ();
  if (self->size > 0 && self->path != NULL)
    end_last_line (self);
  return TRUE;
}

gboolean
sl_publisher_read_mode (const char *text, guint *mode, GError **error)
{
  guint64 number;
  *mode = 0640;
  if (text == NULL)
    return TRUE;
  if (!g_ascii_string_to_unsigned (text, 8, 0600, 0666, &number, NULL) || (number & 0600) != 0600
      || (number & 0111) != 0)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "file-mode=%s: expected permissions in octal, 0600 to 0666, such as 0640",
                    text);
  *mode = (guint) number;
  return TRUE;
}

/* (transfer full) (nullable) */
static char *
path_of (const SlPublishSettings *settings, GError **error)
{
  if (g_str_has_prefix (settings->location, "file://"))
    return sl_file_uri_path (settings->location, error);
  return g_strdup (settings->location);
}

static gboolean
refuse (const SlPublishSettings *settings, const GError *reason, GError **error)
{
  g_autofree char *shown = sl_redact_uri (settings->location, NULL);
  return sl_fail (error, SL_ERROR_OPEN,
                  "location=%s: %s: expected a file in a folder that exists and may be written to",
                  shown, reason->message);
}

/* Why @path cannot be opened for writing, or 0. Whether a pipe has a reader is not known before it
 * is opened, which the reader would notice. */
static gint
code_of (const char *path)
{
  struct stat about;
  if (lstat (path, &about) == 0) {
    if (S_ISLNK (about.st_mode) || S_ISDIR (about.st_mode))
      return S_ISLNK (about.st_mode) ? ELOOP : EISDIR;
    if (S_ISSOCK (about.st_mode))
      return ENXIO;
    return faccessat (AT_FDCWD, path, W_OK, AT_EACCESS) == 0 ? 0 : errno;
  }
  if (errno != ENOENT)
    return errno;
  g_autofree char *folder = g_path_get_dirname (path);
  return faccessat (AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

static gboolean
stream_check (const SlPublishSettings *settings, GError **error)
{
  g_autoptr (GError) reason = NULL;
  g_autofree char *path = path_of (settings, &reason);
  const gint code = path != NULL ? code_of (path) : 0;
  if (code != 0)
    set_io_error (&reason, path, "cannot be opened for writing", code);
  return reason == NULL || refuse (settings, reason, error);
}

/* The first opening is here, so that a path that cannot work is an error at start and not a file
 * tried again for ever. */
static gpointer
stream_open (const SlPublishSettings *settings, GError **error)
{
  g_autoptr (GError) reason = NULL;
  Stream *self = g_new0 (Stream, 1);
  self->fd = -1;
  self->limit = settings->file_bytes;
  self->age_us = (gint64) settings->file_seconds * G_USEC_PER_SEC;
  self->keep = settings->keep_files;
  self->mode = (mode_t) settings->file_mode;
  self->path = path_of (settings, &reason);
  if (self->path != NULL && stream_connect (self, NULL, &reason))
    return self;
  refuse (settings, reason, error);
  stream_close (self);
  return NULL;
}

static gpointer
stdout_open (const SlPublishSettings *settings, GError **error)
{
  Stream *self = g_new0 (Stream, 1);
  self->fd = -1;
  return self;
}

static gboolean
cannot_rename (const char *from, const char *to, gint code, GError **error)
{
  g_set_error (error, G_IO_ERROR, (gint) g_io_error_from_errno (code),
               "%s: cannot be renamed to %s: %s: %s", from, to, g_strerror (code),
               code == EISDIR || code == ENOTEMPTY || code == EEXIST
                 ? "move that folder away"
                 : "give this user the right to write to the folder");
  return FALSE;
}

/* FILE.2 -> FILE.3, FILE.1 -> FILE.2, FILE -> FILE.1; with no files to keep, FILE begins anew. */
static gboolean
rotate (Stream *self, GError **error)
{
  stream_disconnect (self);
  for (guint i = self->keep; i > 0; i--) {
    g_autofree char *from =
      i > 1 ? g_strdup_printf ("%s.%u", self->path, i - 1) : g_strdup (self->path);
    g_autofree char *to = g_strdup_printf ("%s.%u", self->path, i);
    if (g_rename (from, to) != 0 && errno != ENOENT)
      return cannot_rename (from, to, errno, error);
  }
  if (self->keep == 0 && g_unlink (self->path) != 0 && errno != ENOENT)
    return set_io_error (error, self->path, "cannot be removed", errno);
  return stream_connect (self, NULL, error);
}

static gboolean
is_due (const Stream *self, gsize bytes)
{
  if (!self->regular || self->path == NULL || self->size == 0)
    return FALSE;
  return (self->limit > 0 && (guint64) self->size + bytes > self->limit)
         || (self->age_us > 0 && g_get_monotonic_time () - self->opened >= self->age_us);
}

/* A pipe or terminal that takes nothing more is waited for, a tenth of a second at a time. */
static gboolean
wait_writable (const Stream *self, GCancellable *cancellable, GError **error)
{
  struct pollfd poller = { .fd = self->fd, .events = POLLOUT };
  for (;;) {
    if (g_cancellable_set_error_if_cancelled (cancellable, error))
      return FALSE;
    if (poll (&poller, 1, 100) > 0)
      return TRUE;
  }
}

static gboolean
stream_send (gpointer state, const char *line, gsize bytes, GCancellable *cancellable,
             GError **error)
{
  Stream *self = state;
  if (is_due (self, bytes) && !rotate (self, error))
    return FALSE;
  for (gsize done = 0; done < bytes;) {
    if (!self->regular && !wait_writable (self, cancellable, error))
      return FALSE;
    const ssize_t written = write (self->fd, line + done, bytes - done);
    const gint code = errno;
    if (written >= 0) {
      done += (gsize) written;
    } else if (code != EINTR && code != EAGAIN) {
      if (self->regular && done > 0 && ftruncate (self->fd, self->size) != 0)
        self->size = 0;
      return set_io_error (error, self->path, "cannot be written to", code);
    }
  }
  self->size += (off_t) bytes;
  return TRUE;
}

static gboolean
stream_idle (gpointer state, gint wake_fd, gint timeout_ms, GError **error)
{
  struct pollfd poller = { .fd = wake_fd, .events = POLLIN };
  poll (&poller, 1, timeout_ms);
  return TRUE;
}

/* The reader of standard output is gone, and no other reader can come. */
static gboolean
stdout_final (const GError *error)
{
  return g_error_matches (error, G_IO_ERROR, G_IO_ERROR_BROKEN_PIPE);
}

static const char *const file_schemes[] = { "file://", NULL };
static const char *const stdout_schemes[] = { NULL };

const SlTransport sl_transport_file = {
  .schemes = file_schemes,
  .waits = TRUE,
  .open = stream_open,
  .check = stream_check,
  .connect = stream_connect,
  .send = stream_send,
  .idle = stream_idle,
  .disconnect = stream_disconnect,
  .close = stream_close,
};

const SlTransport sl_transport_stdout = {
  .schemes = stdout_schemes,
  .waits = TRUE,
  .open = stdout_open,
  .connect = stream_connect,
  .send = stream_send,
  .idle = stream_idle,
  .disconnect = stream_disconnect,
  .close = stream_close,
  .final = stdout_final,
};
