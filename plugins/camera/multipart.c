/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each state takes what it needs from the bytes at hand and keeps in @held what it could not
 * finish: a line, or the body of a part. So every byte is copied once, and looked at twice at most.
 */
#include "plugins/camera/multipart.h"

#include <string.h>

#include "core/base/fail.h"

/* Of a line that may be a boundary: RFC 2046 allows 70. */
#define MAX_BOUNDARY 256
#define UNKNOWN G_MAXUINT64

typedef enum
{
  SEEK,   /* a line that begins with the boundary */
  HEADER, /* lines until an empty one */
  BODY,
  REST /* of the line of a boundary that ended a body */
} State;

struct _SlCameraParts
{
  gsize max_bytes;
  SlCameraPart take;
  gpointer data;
  State state;
  GByteArray *held;
  GByteArray *boundary; /* "\n--" and what follows; empty before the first */
  guint64 length;       /* of the part by its header, or UNKNOWN */
  guint64 passed;       /* bytes in this state, SEEK and HEADER */
  guint64 stamp;
  guint empty;
};

typedef struct
{
  const guint8 *at, *end;
  guint64 stamp;
} Input;

SlCameraParts *
sl_camera_parts_new (gsize max_bytes, SlCameraPart take, gpointer data)
{
  SlCameraParts *parts = g_new0 (SlCameraParts, 1);
  parts->max_bytes = max_bytes;
  parts->take = take;
  parts->data = data;
  parts->held = g_byte_array_new ();
  parts->boundary = g_byte_array_new ();
  parts->length = UNKNOWN;
  return parts;
}

void
sl_camera_parts_free (SlCameraParts *parts)
{
  if (parts == NULL)
    return;
  g_byte_array_unref (parts->held);
  g_byte_array_unref (parts->boundary);
  g_free (parts);
}

static void
enter (SlCameraParts *parts, State state)
{
  parts->state = state;
  parts->passed = 0;
  g_byte_array_set_size (parts->held, 0);
}

/* TRUE when @held is a whole line, of @most bytes at most, without its end; all of it is taken from
 * @input. */
static gboolean
take_line (SlCameraParts *parts, Input *input, gsize most)
{
  const guint8 *newline = memchr (input->at, '\n', (gsize) (input->end - input->at));
  const gsize n = (gsize) ((newline != NULL ? newline : input->end) - input->at);
  g_byte_array_append (parts->held, input->at,
                       (guint) MIN (n, most - MIN (most, parts->held->len)));
  input->at += n + (newline != NULL);
  parts->passed += n + (newline != NULL);
  while (newline != NULL && parts->held->len > 0
         && g_ascii_isspace (parts->held->data[parts->held->len - 1]))
    g_byte_array_set_size (parts->held, parts->held->len - 1);
  return newline != NULL;
}

static gboolean
is_boundary (const SlCameraParts *parts)
{
  const GByteArray *line = parts->held, *known = parts->boundary;
  if (known->len > 0)
    return line->len >= known->len - 1 && memcmp (line->data, known->data + 1, known->len - 1) == 0;
  return line->len > 2 && line->data[0] == '-' && line->data[1] == '-';
}

static gboolean
seek (SlCameraParts *parts, Input *input, GError **error)
{
  const gboolean first = parts->boundary->len == 0;
  if (!take_line (parts, input, MAX_BOUNDARY)) {
    if (parts->passed <= (first ? SL_CAMERA_PART_HEADER : parts->max_bytes))
      return TRUE;
  } else if (is_boundary (parts)) {
    if (first) {
      g_byte_array_append (parts->boundary, (const guint8 *) "\n", 1);
      g_byte_array_append (parts->boundary, parts->held->data, parts->held->len);
    }
    parts->length = UNKNOWN;
    enter (parts, HEADER);
    return TRUE;
  } else if (parts->passed <= (first ? SL_CAMERA_PART_HEADER : parts->max_bytes)) {
    g_byte_array_set_size (parts->held, 0);
    return TRUE;
  }
  return sl_fail (
    error, SL_ERROR_FORMAT,
    "the MJPEG stream: expected a boundary, a line that begins with --, got %" G_GUINT64_FORMAT
    " bytes without one; is this the camera's MJPEG address?",
    parts->passed);
}

static gboolean
take_length (SlCameraParts *parts, const char *text, GError **error)
{
  guint64 length;
  if (!g_ascii_string_to_unsigned (text, 10, 1, G_MAXINT64, &length, NULL))
    return TRUE;
  parts->length = length;
  if (length <= parts->max_bytes)
    return TRUE;
  return sl_fail (error, SL_ERROR_LIMIT,
                  "a part of the MJPEG stream: expected at most %" G_GSIZE_FORMAT
                  " bytes (max-part-bytes), its Content-Length is %" G_GUINT64_FORMAT
                  "; where the camera has such pictures, raise max-part-bytes",
                  parts->max_bytes, length);
}

static gboolean
check_header (const SlCameraParts *parts, GError **error)
{
  if (parts->passed <= SL_CAMERA_PART_HEADER)
    return TRUE;
  return sl_fail (
    error, SL_ERROR_LIMIT,
    "a part of the MJPEG stream: expected a header of at most %d bytes, got %" G_GUINT64_FORMAT
    " and no end; no property raises this, no camera sends so much",
    SL_CAMERA_PART_HEADER, parts->passed);
}

static gboolean
read_header (SlCameraParts *parts, Input *input, GError **error)
{
  static const char name[] = "content-length:";
  const gboolean whole = take_line (parts, input, SL_CAMERA_PART_HEADER);
  if (!check_header (parts, error))
    return FALSE;
  if (!whole)
    return TRUE;
  if (parts->held->len == 0) {
    parts->stamp = input->stamp;
    enter (parts, BODY);
    return TRUE;
  }
  g_byte_array_append (parts->held, (const guint8 *) "", 1);
  char *line = (char *) parts->held->data;
  const gboolean good = g_ascii_strncasecmp (line, name, strlen (name)) != 0
                        || take_length (parts, g_strchug (line + strlen (name)), error);
  g_byte_array_set_size (parts->held, 0);
  return good;
}

/* The first @n bytes held are a part. */
static gboolean
finish_part (SlCameraParts *parts, gsize n, State next, GError **error)
{
  static const guint8 start[] = { 0xff, 0xd8, 0xff }; /* SOI and another marker */
  if (memmem (parts->held->data, n, start, sizeof start) != NULL) {
    g_autoptr (GBytes) all = g_byte_array_free_to_bytes (parts->held);
    g_autoptr (GBytes) part = g_bytes_new_from_bytes (all, 0, n);
    parts->held = g_byte_array_new ();
    parts->empty = 0;
    parts->take (part, parts->stamp, parts->data);
  } else if (++parts->empty > SL_CAMERA_EMPTY_PARTS) {
    return sl_fail (
      error, SL_ERROR_FORMAT,
      "the MJPEG stream: expected JPEG pictures, got %u parts in a row without one; is this the "
      "camera's MJPEG address?",
      parts->empty);
  }
  parts->length = UNKNOWN;
  enter (parts, next);
  return TRUE;
}

static gboolean
read_body (SlCameraParts *parts, Input *input, GError **error)
{
  const GByteArray *mark = parts->boundary;
  const gsize before = parts->held->len;
  const guint64 most =
    parts->length != UNKNOWN ? parts->length : (guint64) parts->max_bytes + mark->len + 1;
  gsize n = (gsize) MIN ((guint64) (input->end - input->at), most - before);
  const guint8 *near = memmem (input->at, n, mark->data, mark->len);
  if (near != NULL)
    n = (gsize) (near - input->at) + mark->len;
  g_byte_array_append (parts->held, input->at, (guint) n);
  input->at += n;
  /* The boundary's first bytes may have come before. */
  const gsize from = before - MIN (before, mark->len - 1);
  const guint8 *found =
    memmem (parts->held->data + from, parts->held->len - from, mark->data, mark->len);
  if (found != NULL) {
    gsize end = (gsize) (found - parts->held->data);
    input->at -= parts->held->len - (end + mark->len);
    return finish_part (parts, end > 0 && found[-1] == '\r' ? end - 1 : end, REST, error);
  }
  if (parts->length != UNKNOWN && parts->held->len == parts->length)
    return finish_part (parts, parts->held->len, SEEK, error);
  if (parts->held->len < most || parts->length != UNKNOWN)
    return TRUE;
  return sl_fail (error, SL_ERROR_LIMIT,
                  "a part of the MJPEG stream: expected at most %" G_GSIZE_FORMAT
                  " bytes (max-part-bytes), got %u and no end; where the camera has "
                  "such pictures, raise max-part-bytes",
                  parts->max_bytes, parts->held->len);
}

static gboolean
step (SlCameraParts *parts, Input *input, GError **error)
{
  switch (parts->state) {
    case SEEK:
      return seek (parts, input, error);
    case HEADER:
      return read_header (parts, input, error);
    case BODY:
      return read_body (parts, input, error);
    case REST:
      if (take_line (parts, input, 0))
        enter (parts, HEADER);
      return check_header (parts, error);
  }
  g_return_val_if_reached (FALSE);
}

gboolean
sl_camera_parts_push (SlCameraParts *parts, const guint8 *bytes, gsize n, guint64 stamp,
                      GError **error)
{
  Input input = { bytes, bytes + n, stamp };
  while (input.at < input.end)
    if (!step (parts, &input, error))
      return FALSE;
  return TRUE;
}
