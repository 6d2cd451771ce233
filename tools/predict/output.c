/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finished sources are identified by a hash of 64 bits of their names, at most 16 bytes each. The
 * chance of a collision among a million sources is one in forty million.
 *
 * Different URIs look the same once their secrets are removed. So 32 bits of a hash of the whole
 * source are stored beside the name. For a name that was read from the file, these bits are known
 * after the first request for it.
 *
 * Invariant: a picture is one line of JSON, or as many rows of CSV as each of them says. An
 * incomplete picture at the end of the file is removed before the first picture is written, so the
 * file has whole pictures only. Until then the file is unchanged.
 */
#include "tools/predict/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/json.h"
#include "core/base/xxh64.h"
#include "core/base/fail.h"
#include "tools/predict/rows.h"

#define JSON_BEGIN "{\"source\":"
#define FIRST_SLOTS 1024

struct _SlOutput
{
  char *path;
  char *made; /* (nullable): the whole path of the file that was made, where a link may lead to */
  FILE *file;
  SlReportFormat format;
  off_t whole; /* bytes of the pictures that the file had */
  gboolean begun;
  guint64 *slots;  /* hashes, 0 = free; a hash that is 0 is kept as 1 */
  guint32 *owners; /* beside them, of what has the name; 0: the file had it */
  gsize n_slots;
  guint64 n, resumed;
  GString *name;
};

static guint64 *
find_slot (guint64 *slots, gsize n_slots, guint64 hash)
{
  gsize at = hash & (n_slots - 1);
  while (slots[at] != 0 && slots[at] != hash)
    at = (at + 1) & (n_slots - 1);
  return &slots[at];
}

static void
grow (SlOutput *self)
{
  const gsize n_slots = self->n_slots > 0 ? 2 * self->n_slots : FIRST_SLOTS;
  guint64 *slots = g_new0 (guint64, n_slots);
  guint32 *owners = g_new0 (guint32, n_slots);
  for (gsize i = 0; i < self->n_slots; i++) {
    if (self->slots[i] == 0)
      continue;
    guint64 *slot = find_slot (slots, n_slots, self->slots[i]);
    *slot = self->slots[i];
    owners[slot - slots] = self->owners[i];
  }
  g_free (self->slots);
  g_free (self->owners);
  self->slots = slots;
  self->owners = owners;
  self->n_slots = n_slots;
}

static void
remember (SlOutput *self, guint64 hash, guint32 owner)
{
  if (4 * (self->n + 1) > 3 * self->n_slots)
    grow (self);
  guint64 *slot = find_slot (self->slots, self->n_slots, hash);
  self->n += *slot == 0;
  *slot = hash;
  self->owners[slot - self->slots] = owner;
}

static guint64
hash_of (const char *text, gsize bytes)
{
  const guint64 hash = sl_xxh64 (text, bytes, 0);
  return hash != 0 ? hash : 1;
}

static guint32
owner_of (const char *uri)
{
  return (guint32) hash_of (uri, strlen (uri)) | 1;
}

/* As the file has it. */
static guint64
hash_of_name (SlOutput *self, const char *name)
{
  g_string_truncate (self->name, 0);
  if (self->format == SL_REPORT_CSV)
    sl_rows_append_text (self->name, name);
  else
    sl_json_append_string (self->name, name);
  return hash_of (self->name->str, self->name->len);
}

static gboolean
refuse (SlOutput *self, guint64 line, const char *what, GError **error)
{
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "--output %s: line %" G_GUINT64_FORMAT
                  " is none that predict %s writes: it cannot be resumed; name another file",
                  self->path, line, what);
}

/* The string of JSON at @text, with its quotes; 0 where there is none. */
static gsize
json_string (const char *text)
{
  gsize n = 1;
  if (*text != '"')
    return 0;
  for (; text[n] != '"'; n++)
    if (text[n] == '\0' || (text[n] == '\\' && text[++n] == '\0'))
      return 0;
  return n + 1;
}

/* Whether what is left of a torn line, @bytes at @line, may be the start of one that begins with
 * @start. */
static gboolean
may_begin (const char *line, ssize_t bytes, const char *start)
{
  return bytes <= 0 || memcmp (line, start, MIN ((gsize) bytes, strlen (start))) == 0;
}

static gboolean
read_json (SlOutput *self, GError **error)
{
  guint64 number = 1;
  g_autofree char *line = NULL;
  size_t room = 0;
  ssize_t bytes;
  for (; (bytes = getline (&line, &room, self->file)) > 0 && line[bytes - 1] == '\n'; number++) {
    const gsize name =
      g_str_has_prefix (line, JSON_BEGIN) ? json_string (line + strlen (JSON_BEGIN)) : 0;
    if (name == 0 || bytes < 2 || line[bytes - 2] != '}')
      return refuse (self, number, "--json", error);
    remember (self, hash_of (line + strlen (JSON_BEGIN), name), 0);
    self->whole += bytes;
  }
  return may_begin (line, bytes, JSON_BEGIN "\"") || refuse (self, number, "--json", error);
}

static gboolean
read_csv (SlOutput *self, GError **error)
{
  guint64 number = 2;
  g_autofree char *line = NULL;
  size_t room = 0;
  ssize_t bytes = getline (&line, &room, self->file);
  if (bytes <= 0 || line[bytes - 1] != '\n')
    return (bytes < (ssize_t) strlen (SL_ROWS_HEADING) && may_begin (line, bytes, SL_ROWS_HEADING))
           || refuse (self, 1, "--format=csv", error);
  if (strcmp (line, SL_ROWS_HEADING) != 0)
    return refuse (self, 1, "--format=csv", error);
  self->whole = bytes;
  off_t pending = 0;
  for (; (bytes = getline (&line, &room, self->file)) > 0 && line[bytes - 1] == '\n'; number++) {
    SlRowPlace place;
    if (!sl_rows_parse (line, &place))
      return refuse (self, number, "--format=csv", error);
    pending += bytes;
    if (place.index + 1 < place.rows)
      continue;
    remember (self, hash_of (line, place.name_bytes), 0);
    self->whole += pending;
    pending = 0;
  }
  return may_begin (line, bytes, "\"") || refuse (self, number, "--format=csv", error);
}

/* What @path has, and where to go on. */
static gboolean
take_up (SlOutput *self, GError **error)
{
  if (!(self->format == SL_REPORT_CSV ? read_csv : read_json) (self, error))
    return FALSE;
  self->resumed = self->n;
  if (ferror (self->file) == 0)
    return TRUE;
  return sl_fail (error, SL_ERROR_OPEN, "--output %s: %s: expected a file that can be read",
                  self->path, g_strerror (errno));
}

static gboolean
open_file (SlOutput *self, gboolean resume, GError **error)
{
  const gint flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY;
  struct stat about;
  gint fd = open (self->path, flags | O_EXCL, 0666);
  gboolean made = fd >= 0;
  if (fd < 0 && errno == EEXIST) {
    made = stat (self->path, &about) != 0 && errno == ENOENT; /* a link to nothing */
    fd = open (self->path, flags, 0666);
  }
  self->file = fd >= 0 ? fdopen (fd, "r+") : NULL;
  if (self->file == NULL) {
    sl_fail (error, SL_ERROR_OPEN,
             "--output %s: %s: expected a file in a folder that exists and may be written to",
             self->path, g_strerror (errno));
    if (fd >= 0)
      close (fd);
    return FALSE;
  }
  if (fstat (fd, &about) != 0 || !S_ISREG (about.st_mode))
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "--output %s: expected a regular file; without --output lines go to standard output",
      self->path);
  if (flock (fd, LOCK_EX | LOCK_NB) != 0)
    return sl_fail (
      error, SL_ERROR_OPEN,
      "--output %s: another process writes to it: expected a file of its own for each process",
      self->path);
  if (fstat (fd, &about) == 0 && about.st_nlink == 0) { /* who made it has just removed it */
    fclose (self->file);
    return open_file (self, resume, error);
  }
  self->made = made ? realpath (self->path, NULL) : NULL;
  if (!resume && about.st_size > 0)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "--output %s: the file has something in it: go on with --resume, or remove it",
                    self->path);
  return TRUE;
}

SlOutput *
sl_output_open (const char *path, SlReportFormat format, gboolean resume, GError **error)
{
  SlOutput *self = g_new0 (SlOutput, 1);
  self->path = g_strdup (path);
  self->format = format;
  self->name = g_string_new (NULL);
  grow (self);
  if (!open_file (self, resume, error) || (resume && !take_up (self, error))) {
    sl_output_close (self, NULL);
    return NULL;
  }
  return self;
}

static gboolean
tell (SlOutput *self, GError **error)
{
  return sl_fail (error, SL_ERROR_OPEN, "--output %s: %s: make room and go on with --resume",
                  self->path, g_strerror (errno));
}

gboolean
sl_output_close (SlOutput *self, GError **error)
{
  if (self == NULL)
    return TRUE;
  if (self->made != NULL && !self->begun)
    unlink (self->made);
  const gboolean good = self->file == NULL || fclose (self->file) == 0 || tell (self, error);
  g_string_free (self->name, TRUE);
  g_free (self->slots);
  g_free (self->owners);
  g_free (self->path);
  free (self->made);
  g_free (self);
  return good;
}

gboolean
sl_output_begin (SlOutput *self, GError **error)
{
  if (self->begun)
    return TRUE;
  if (ftruncate (fileno (self->file), self->whole) != 0
      || fseeko (self->file, self->whole, SEEK_SET) != 0)
    return tell (self, error);
  self->begun = TRUE;
  if (self->format == SL_REPORT_CSV && self->whole == 0)
    fputs (SL_ROWS_HEADING, self->file);
  return TRUE;
}

SlOutputState
sl_output_look_up (SlOutput *self, const char *name, const char *uri)
{
  const guint64 *slot = find_slot (self->slots, self->n_slots, hash_of_name (self, name));
  guint32 *owner = &self->owners[slot - self->slots];
  if (*slot == 0)
    return SL_OUTPUT_DUE;
  if (*owner == 0)
    *owner = owner_of (uri);
  return *owner == owner_of (uri) ? SL_OUTPUT_DONE : SL_OUTPUT_TAKEN;
}

gboolean
sl_output_write (SlOutput *self, const char *name, const char *uri, const char *text, gsize bytes,
                 GError **error)
{
  if (!sl_output_begin (self, error))
    return FALSE;
  if (fwrite (text, 1, bytes, self->file) != bytes || fflush (self->file) != 0)
    return tell (self, error);
  remember (self, hash_of_name (self, name), owner_of (uri));
  return TRUE;
}

guint64
sl_output_resumed (const SlOutput *self)
{
  return self->resumed;
}
