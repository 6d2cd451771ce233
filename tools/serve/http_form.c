/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A part begins behind a line "--BOUNDARY" and ends before the next one; "--BOUNDARY--" ends all.
 */
#include "tools/serve/http_form.h"

#include <string.h>

#include "core/base/fail.h"

#define MAX_BOUNDARY 70

/* (nullable): the first @text in @size bytes at @at. */
static const char *
find (const char *at, gsize size, const char *text)
{
  const gsize length = strlen (text);
  const char *end = at + size;
  while ((gsize) (end - at) >= length
         && (at = memchr (at, text[0], (gsize) (end - at) - length + 1)) != NULL) {
    if (memcmp (at, text, length) == 0)
      return at;
    at++;
  }
  return NULL;
}

/* The value of @key in the header at @line, "; name=\"image\"" or "; name=image". */
static gboolean
read_parameter (const char *line, gsize size, const char *key, char *value, gsize room)
{
  const gsize length = strlen (key);
  gboolean quoted = FALSE;
  for (gsize i = 0; i + length + 1 < size; i++) {
    quoted ^= line[i] == '"';
    if (quoted || (line[i] != ';' && line[i] != ' ')
        || g_ascii_strncasecmp (line + i + 1, key, length) != 0 || line[i + 1 + length] != '=')
      continue;
    const char *from = line + i + length + 2, *end = line + size;
    const gboolean in_quotes = from < end && *from == '"';
    from += in_quotes;
    gsize n = 0;
    while (from + n < end && from[n] != (in_quotes ? '"' : ';'))
      n++;
    if (n < room) {
      memcpy (value, from, n);
      value[n] = '\0';
    }
    return TRUE;
  }
  return FALSE;
}

/* The headers of a part, in @size bytes. */
static void
read_headers (const char *at, gsize size, SlFormPart *part)
{
  static const char header[] = "Content-Disposition:";
  char ignored[SL_FORM_NAME];
  const char *end = at + size;
  while (at < end) {
    const char *next = find (at, (gsize) (end - at), "\r\n");
    const gsize line = (gsize) ((next != NULL ? next : end) - at);
    if (line > strlen (header) && g_ascii_strncasecmp (at, header, strlen (header)) == 0) {
      read_parameter (at, line, "name", part->name, sizeof part->name);
      part->is_file = read_parameter (at, line, "filename", ignored, sizeof ignored)
                      || read_parameter (at, line, "filename*", ignored, sizeof ignored);
    }
    at = next != NULL ? next + 2 : end;
  }
}

/* Reads the part behind a delimiter, and moves @at behind the next one. */
static gboolean
read_part (const char **at, const char *end, const char *delimiter, SlFormPart *part,
           GError **error)
{
  const gsize most = MIN ((gsize) (end - *at), SL_FORM_HEADERS);
  const gboolean bare = most >= 2 && memcmp (*at, "\r\n", 2) == 0;
  const char *headers = bare ? *at : find (*at, most, "\r\n\r\n");
  if (headers == NULL)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "form: expected headers of at most %d bytes and an empty line in each part",
                    SL_FORM_HEADERS);
  read_headers (*at, (gsize) (headers - *at), part);
  part->data = headers + (bare ? 2 : 4);
  const char *next = find (part->data, (gsize) (end - part->data), delimiter);
  if (next == NULL)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "form: expected the boundary behind each part: the body is cut off");
  part->size = (gsize) (next - part->data);
  *at = next + strlen (delimiter);
  return TRUE;
}

gboolean
sl_form_read (const char *boundary, const char *body, gsize size, SlForm *form, GError **error)
{
  memset (form, 0, sizeof *form);
  if (boundary == NULL || boundary[0] == '\0' || strlen (boundary) > MAX_BOUNDARY)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "form: expected a boundary of 1 to %d bytes in Content-Type", MAX_BOUNDARY);
  if (size == 0) /* and @body may be NULL */
    return sl_fail (error, SL_ERROR_FORMAT, "form: expected the boundary, got an empty body");
  const char *end = body + size;
  g_autofree char *delimiter = g_strdup_printf ("\r\n--%s", boundary);
  const char *first = find (body, size, delimiter + 2);
  if (first == NULL || (first != body && (first - body < 2 || memcmp (first - 2, "\r\n", 2) != 0)))
    return sl_fail (error, SL_ERROR_FORMAT, "form: expected the boundary before the first part");
  const char *at = first + strlen (delimiter) - 2;
  while (end - at < 2 || memcmp (at, "--", 2) != 0) {
    while (at < end && (*at == ' ' || *at == '\t'))
      at++;
    if (end - at < 2 || memcmp (at, "\r\n", 2) != 0)
      return sl_fail (error, SL_ERROR_FORMAT, "form: expected a new line behind each boundary");
    at += 2;
    if (form->n == SL_FORM_PARTS)
      return sl_fail (error, SL_ERROR_LIMIT, "form: expected at most %d parts", SL_FORM_PARTS);
    if (!read_part (&at, end, delimiter, &form->parts[form->n], error))
      return FALSE;
    form->n++;
  }
  return TRUE;
}

const SlFormPart *
sl_form_find (const SlForm *form, const char *name)
{
  for (guint i = 0; i < form->n; i++)
    if (strcmp (form->parts[i].name, name) == 0)
      return &form->parts[i];
  return NULL;
}

const SlFormPart *
sl_form_picture (const SlForm *form)
{
  const SlFormPart *image = sl_form_find (form, "image");
  for (guint i = 0; image == NULL && i < form->n; i++)
    if (form->parts[i].is_file)
      image = &form->parts[i];
  return image;
}
