/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A list is read as it is needed: one of a million names takes no more memory than its longest
 * line.
 */
#include "tools/predict/listing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/base/xxh64.h"
#include "core/base/fail.h"

#define MAX_SHARDS 1000000
#define MAX_LINE 65536

struct _SlListing
{
  FILE *file;
  char *path;
  GString *line;
  guint64 number;
};

/* Digits alone: no sign, no space. */
static gboolean
read_number (const char **text, guint *number)
{
  guint64 value = 0;
  const char *at = *text;
  for (; g_ascii_isdigit (*at) && value <= MAX_SHARDS; at++)
    value = 10 * value + (guint64) g_ascii_digit_value (*at);
  const gboolean good = at > *text && value <= MAX_SHARDS;
  *text = at;
  *number = (guint) value;
  return good;
}

gboolean
sl_shard_parse (SlShard *shard, const char *text, GError **error)
{
  const char *at = text;
  *shard = (SlShard){ 1, 1 };
  if (text == NULL)
    return TRUE;
  if (read_number (&at, &shard->index) && *at++ == '/' && read_number (&at, &shard->n)
      && *at == '\0' && shard->index >= 1 && shard->index <= shard->n)
    return TRUE;
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "--shard %s: expected I/N, the I-th of N shares, from 1/N to N/N with N up to %d",
                  text, MAX_SHARDS);
}

gboolean
sl_shard_has (const SlShard *shard, const char *name)
{
  return shard->n <= 1 || sl_xxh64 (name, strlen (name), 0) % shard->n == shard->index - 1;
}

SlListing *
sl_listing_open (const char *path, GError **error)
{
  const gboolean standard = strcmp (path, "-") == 0;
  FILE *file = standard ? stdin : fopen (path, "re");
  if (file == NULL)
    return sl_fail_null (
      error, SL_ERROR_OPEN,
      "--list %s: %s: expected a file with a name of a picture a line, or - for standard input",
      path, g_strerror (errno));
  SlListing *self = g_new0 (SlListing, 1);
  self->file = file;
  self->path = g_strdup (standard ? "standard input" : path);
  self->line = g_string_new (NULL);
  return self;
}

void
sl_listing_free (SlListing *self)
{
  if (self == NULL)
    return;
  if (self->file != stdin)
    fclose (self->file);
  g_string_free (self->line, TRUE);
  g_free (self->path);
  g_free (self);
}

static gboolean
refuse (SlListing *self, const char *what, GError **error)
{
  return sl_fail (error, SL_ERROR_ARGUMENT, "--list: line %" G_GUINT64_FORMAT " of %s %s",
                  self->number, self->path, what);
}

/* FALSE: an error. At the end the line is empty and *@more FALSE. */
static gboolean
read_line (SlListing *self, gboolean *more, GError **error)
{
  int c;
  g_string_truncate (self->line, 0);
  self->number++;
  while ((c = getc_unlocked (self->file)) != EOF && c != '\n') {
    if (c == '\0')
      return refuse (self, "has a zero byte: expected a name a line, as find -print writes them",
                     error);
    if (self->line->len == MAX_LINE)
      return refuse (self, "is longer than 65536 bytes: expected a name a line", error);
    g_string_append_c (self->line, (char) c);
  }
  *more = c != EOF;
  return !ferror (self->file) || refuse (self, "cannot be read", error);
}

const char *
sl_listing_next (SlListing *self, GError **error)
{
  gboolean more = TRUE;
  do {
    if (!read_line (self, &more, error))
      return NULL;
  } while (more && self->line->len == 0);
  return self->line->len > 0 ? self->line->str : NULL;
}
