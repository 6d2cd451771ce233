/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walks over the markers of ITU-T T.81, annex B, as decoders do. Bytes outside segments are
 * skipped. A picture ends at EOI, at the next SOI, or at the end of the data. Nothing is decoded.
 */
#include "plugins/camera/jpeg.h"

#include <string.h>

#include "core/base/byte_order.h"
#include "core/base/fail.h"

#define SOI 0xd8
#define EOI 0xd9
#define SOS 0xda
#define TEM 0x01
/* Length, precision, height, width. */
#define FRAME_HEADER 7

typedef struct
{
  const guint8 *data;
  gsize n;
  gsize at;          /* next byte */
  gsize kept;        /* from here on bytes belong to the picture and are not in @clean yet */
  GByteArray *clean; /* (nullable): made where bytes are left out */
  guint64 pixels;    /* most that a frame header says */
  guint width, height, scans;
} Walk;

static gboolean
is_restart (guint8 code)
{
  return code >= 0xd0 && code <= 0xd7;
}

/* Frame headers: 0xc0..0xcf without DHT, JPG and DAC. */
static gboolean
is_frame (guint8 code)
{
  return code >= 0xc0 && code <= 0xcf && code != 0xc4 && code != 0xc8 && code != 0xcc;
}

static void
leave_out (Walk *walk, gsize from, gsize to)
{
  if (from == to)
    return;
  if (walk->clean == NULL)
    walk->clean = g_byte_array_new ();
  g_byte_array_append (walk->clean, walk->data + walk->kept, (guint) (from - walk->kept));
  walk->kept = to;
}

/* The code of the next marker, @at behind it; 0 where there is none. Fill bytes stay, other bytes
 * before it are left out. */
static guint8
next_marker (Walk *walk)
{
  const gsize from = walk->at;
  gsize i = from;
  while (i < walk->n) {
    const guint8 *ff = memchr (walk->data + i, 0xff, walk->n - i);
    if (ff == NULL)
      break;
    const gsize start = (gsize) (ff - walk->data);
    for (i = start; i < walk->n && walk->data[i] == 0xff; i++)
      continue;
    if (i < walk->n && walk->data[i] != 0) {
      leave_out (walk, from, start);
      walk->at = i + 1;
      return walk->data[i];
    }
  }
  leave_out (walk, from, walk->n);
  walk->at = walk->n;
  return 0;
}

/* To the marker that ends the entropy-coded data. */
static void
pass_entropy (Walk *walk)
{
  while (walk->at < walk->n) {
    const guint8 *ff = memchr (walk->data + walk->at, 0xff, walk->n - walk->at);
    if (ff == NULL || ff + 1 == walk->data + walk->n) {
      walk->at = walk->n;
      return;
    }
    walk->at = (gsize) (ff - walk->data);
    if (ff[1] != 0 && ff[1] != 0xff && !is_restart (ff[1]))
      return;
    walk->at += ff[1] == 0xff ? 1 : 2;
  }
}

static void
note_frame (Walk *walk, const guint8 *header)
{
  const guint height = sl_be16 (header + 3), width = sl_be16 (header + 5);
  if ((guint64) width * height < walk->pixels)
    return;
  walk->width = width;
  walk->height = height;
  walk->pixels = (guint64) width * height;
}

/* FALSE: the bytes end within the segment. */
static gboolean
pass_segment (Walk *walk, guint8 code)
{
  const guint8 *segment = walk->data + walk->at;
  const gsize left = walk->n - walk->at;
  const gsize length = left >= 2 ? sl_be16 (segment) : 0;
  if (length < 2 || length > left)
    return FALSE;
  if (is_frame (code) && length >= FRAME_HEADER)
    note_frame (walk, segment);
  walk->at += length;
  if (code == SOS) {
    walk->scans++;
    pass_entropy (walk);
  }
  return TRUE;
}

/* Where the first picture begins: SOI and the marker behind it. */
static gboolean
find_start (Walk *walk)
{
  static const guint8 start[] = { 0xff, SOI, 0xff };
  const guint8 *found = memmem (walk->data, walk->n, start, sizeof start);
  if (found == NULL)
    return FALSE;
  walk->kept = (gsize) (found - walk->data);
  walk->at = walk->kept + 2;
  return TRUE;
}

/* TRUE when it ended with EOI; else @at is where what is complete ends. */
static gboolean
walk_picture (Walk *walk)
{
  for (;;) {
    const gsize before = walk->at;
    const guint8 code = next_marker (walk);
    if (code == EOI)
      return TRUE;
    if (code == 0)
      return FALSE;
    const gboolean alone = is_restart (code) || code == TEM;
    if (code == SOI || (!alone && !pass_segment (walk, code))) {
      walk->at = MAX (before, walk->kept);
      return FALSE;
    }
  }
}

static gboolean
check_limits (const Walk *walk, guint max_pixels, GError **error)
{
  if (walk->pixels > max_pixels)
    sl_fail (
      error, SL_ERROR_LIMIT,
      "a JPEG picture of %ux%u: expected at most %u pixels (max-pixels), got %" G_GUINT64_FORMAT
      "; where the camera has such pictures, raise max-pixels",
      walk->width, walk->height, max_pixels, walk->pixels);
  else if (walk->scans > SL_CAMERA_JPEG_SCANS)
    sl_fail (
      error, SL_ERROR_LIMIT,
      "a JPEG picture: expected at most %d scans, got %u; no property raises this, no camera makes "
      "so many",
      SL_CAMERA_JPEG_SCANS, walk->scans);
  else
    return TRUE;
  return FALSE;
}

GBytes *
sl_camera_jpeg_take (GBytes *bytes, guint max_pixels, GError **error)
{
  static const guint8 end[] = { 0xff, EOI };
  Walk walk = { 0 };
  walk.data = g_bytes_get_data (bytes, &walk.n);
  if (walk.n == 0 || walk.n > G_MAXUINT / 2 || !find_start (&walk))
    return NULL;
  const gboolean whole = walk_picture (&walk);
  if (!check_limits (&walk, max_pixels, error) || walk.pixels == 0 || walk.scans == 0) {
    g_clear_pointer (&walk.clean, g_byte_array_unref);
    return NULL;
  }
  if (whole && walk.clean == NULL)
    return g_bytes_new_from_bytes (bytes, walk.kept, walk.at - walk.kept);
  if (walk.clean == NULL)
    walk.clean = g_byte_array_new ();
  g_byte_array_append (walk.clean, walk.data + walk.kept, (guint) (walk.at - walk.kept));
  if (!whole)
    g_byte_array_append (walk.clean, end, sizeof end);
  return g_byte_array_free_to_bytes (walk.clean);
}

gboolean
sl_camera_jpeg_size (const guint8 *data, gsize n, guint *width, guint *height)
{
  Walk walk = { .data = data, .n = n };
  guint8 code = 0;
  if (!find_start (&walk))
    return FALSE;
  do
    code = next_marker (&walk);
  while (code != 0 && code != EOI && code != SOI
         && (is_restart (code) || code == TEM || pass_segment (&walk, code)) && walk.pixels == 0
         && walk.scans == 0);
  g_clear_pointer (&walk.clean, g_byte_array_unref);
  *width = walk.width;
  *height = walk.height;
  return walk.pixels > 0;
}
