/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/mp4_range.h"

#include <string.h>

#include "core/base/byte_order.h"

#define HEADER 8
#define LONG_HEADER 16
/* Of stsd: version, flags and the number of entries. Of a video's entry: what is before its boxes.
 */
#define STSD_HEAD 8
#define ENTRY_HEAD 78
/* Of colr: "nclx", three numbers of 16 bits, and the range in the highest bit. */
#define NCLX_SIZE 11
#define FULL 0x80

typedef struct
{
  const guint8 *at;
  gsize size;
} Span;

/* The body of the next box of @in, or the next of @type (nullable); @in moves behind it. */
static gboolean
next_box (Span *in, const char *type, Span *body)
{
  while (in->size >= HEADER) {
    const guint8 *box = in->at;
    guint64 size = sl_be32 (box);
    gsize head = HEADER;
    if (size == 1 && in->size >= LONG_HEADER) {
      size = (guint64) sl_be32 (box + 8) << 32 | sl_be32 (box + 12);
      head = LONG_HEADER;
    } else if (size == 0) {
      size = in->size;
    }
    if (size < head || size > in->size)
      return FALSE;
    in->at += size;
    in->size -= size;
    *body = (Span){ box + head, (gsize) size - head };
    if (type == NULL || memcmp (box + 4, type, 4) == 0)
      return TRUE;
  }
  return FALSE;
}

static gboolean
enter (Span *span, const char *const *path)
{
  for (guint i = 0; path[i] != NULL; i++) {
    Span in = *span;
    if (!next_box (&in, path[i], span))
      return FALSE;
  }
  return TRUE;
}

static gboolean
skip (Span *span, gsize n)
{
  if (span->size < n)
    return FALSE;
  span->at += n;
  span->size -= n;
  return TRUE;
}

static gboolean
track_is_full (Span track)
{
  static const char *const path[] = { "mdia", "minf", "stbl", "stsd", NULL };
  Span entry, colours;
  if (!enter (&track, path) || !skip (&track, STSD_HEAD))
    return FALSE;
  while (next_box (&track, NULL, &entry)) {
    if (!skip (&entry, ENTRY_HEAD))
      continue;
    while (next_box (&entry, "colr", &colours))
      if (colours.size >= NCLX_SIZE && memcmp (colours.at, "nclx", 4) == 0)
        return (colours.at[NCLX_SIZE - 1] & FULL) != 0;
  }
  return FALSE;
}

gboolean
sl_mp4_is_full_range (const guint8 *bytes, gsize size)
{
  Span file = { bytes, size }, movie, track;
  if (size < HEADER || memcmp (bytes + 4, "ftyp", 4) != 0 || !next_box (&file, "moov", &movie))
    return FALSE;
  while (next_box (&movie, "trak", &track))
    if (track_is_full (track))
      return TRUE;
  return FALSE;
}
