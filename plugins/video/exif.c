/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A JPEG picture is a start of image, segments of a marker, a length and that many bytes, and the
 * pixels behind the last one, in which a marker ends what came before (ITU-T T.81, B.1.1). The
 * first APP1 segment named "Exif" holds a TIFF file, whose first directory may state the
 * orientation (Exif 2.32, 4.5.4 and 4.6.5). Every length is checked against what is there; what
 * makes no sense states nothing.
 */
#include "plugins/video/exif.h"

#include <string.h>

#define START_OF_IMAGE 0xd8
#define END_OF_IMAGE 0xd9
#define START_OF_SCAN 0xda
#define APP1 0xe1

#define EXIF_NAME "Exif\0"
#define EXIF_NAME_BYTES 6 /* and the padding byte */
#define TIFF_HEADER_BYTES 8
#define ENTRY_BYTES 12
#define TAG_ORIENTATION 0x0112
#define TYPE_SHORT 3

enum
{
  OUTSIDE,     /* no picture yet, or in its pixels: markers are looked for */
  OUTSIDE_FF,  /* the same, behind 0xff */
  MARKER,      /* 0xff is expected */
  MARKER_CODE, /* behind it */
  LENGTH_HIGH,
  LENGTH_LOW,
  SEGMENT
};

static guint
read_number (const guint8 *bytes, guint n, gboolean big)
{
  guint value = 0;
  for (guint i = 0; i < n; i++)
    value = value << 8 | bytes[big ? i : n - 1 - i];
  return value;
}

guint
sl_exif_orientation (const guint8 *bytes, gsize n)
{
  if (n >= EXIF_NAME_BYTES && memcmp (bytes, EXIF_NAME, EXIF_NAME_BYTES - 1) == 0) {
    bytes += EXIF_NAME_BYTES;
    n -= EXIF_NAME_BYTES;
  }
  if (n < TIFF_HEADER_BYTES || (memcmp (bytes, "II*\0", 4) != 0 && memcmp (bytes, "MM\0*", 4) != 0))
    return 0;
  const gboolean big = bytes[0] == 'M';
  const gsize directory = read_number (bytes + 4, 4, big);
  if (directory > n || n - directory < 2)
    return 0;
  const guint8 *entry = bytes + directory + 2;
  const gsize fits = (n - directory - 2) / ENTRY_BYTES,
              entries = MIN (read_number (bytes + directory, 2, big), fits);
  for (gsize i = 0; i < entries; i++, entry += ENTRY_BYTES) {
    const guint value = read_number (entry + 8, 2, big);
    if (read_number (entry, 2, big) == TAG_ORIENTATION)
      return read_number (entry + 2, 2, big) == TYPE_SHORT && value <= SL_EXIF_LAST ? value : 0;
  }
  return 0;
}

static void
end_segment (SlExifScanner *scanner)
{
  const GByteArray *segment = scanner->segment;
  if (scanner->marker == APP1 && scanner->orientation == 0 && segment->len >= EXIF_NAME_BYTES
      && memcmp (segment->data, EXIF_NAME, EXIF_NAME_BYTES - 1) == 0)
    scanner->orientation = sl_exif_orientation (segment->data, segment->len);
  scanner->step = MARKER;
}

static void
begin_segment (SlExifScanner *scanner)
{
  scanner->left = scanner->left > 2 ? scanner->left - 2 : 0;
  if (scanner->segment == NULL)
    scanner->segment = g_byte_array_new ();
  g_byte_array_set_size (scanner->segment, 0);
  scanner->step = SEGMENT;
  if (scanner->left == 0)
    end_segment (scanner);
}

/* The orientation when @code begins the pixels, else 0. */
static guint
read_marker (SlExifScanner *scanner, guint8 code)
{
  scanner->marker = code;
  scanner->step = LENGTH_HIGH;
  if (code == 0xff)
    scanner->step = MARKER_CODE; /* fill bytes */
  if (code == START_OF_IMAGE)
    scanner->step = MARKER;
  if (code == END_OF_IMAGE || code == 0)
    scanner->step = OUTSIDE;
  if (code != START_OF_SCAN)
    return 0;
  scanner->step = OUTSIDE;
  return scanner->orientation != 0 ? scanner->orientation : SL_EXIF_UPRIGHT;
}

static guint
read_byte (SlExifScanner *scanner, guint8 byte)
{
  switch (scanner->step) {
    case OUTSIDE_FF:
      scanner->step = byte == 0xff ? OUTSIDE_FF : OUTSIDE;
      if (byte == START_OF_IMAGE) {
        scanner->step = MARKER;
        scanner->orientation = 0;
      }
      break;
    case MARKER:
      scanner->step = byte == 0xff ? MARKER_CODE : OUTSIDE;
      break;
    case MARKER_CODE:
      return read_marker (scanner, byte);
    case LENGTH_HIGH:
      scanner->left = (guint) byte << 8;
      scanner->step = LENGTH_LOW;
      break;
    case LENGTH_LOW:
      scanner->left |= byte;
      begin_segment (scanner);
      break;
    default:
      break;
  }
  return 0;
}

guint
sl_exif_scanner_read (SlExifScanner *scanner, const guint8 *bytes, gsize n)
{
  guint stated = 0;
  for (gsize i = 0; i < n;) {
    if (scanner->step == OUTSIDE) {
      const guint8 *found = memchr (bytes + i, 0xff, n - i);
      if (found == NULL)
        return stated;
      i = (gsize) (found - bytes) + 1;
      scanner->step = OUTSIDE_FF;
    } else if (scanner->step == SEGMENT) {
      const guint take = (guint) MIN (scanner->left, n - i);
      if (scanner->marker == APP1)
        g_byte_array_append (scanner->segment, bytes + i, take);
      scanner->left -= take;
      i += take;
      if (scanner->left == 0)
        end_segment (scanner);
    } else {
      const guint orientation = read_byte (scanner, bytes[i++]);
      stated = orientation != 0 ? orientation : stated;
    }
  }
  return stated;
}

void
sl_exif_scanner_clear (SlExifScanner *scanner)
{
  if (scanner->segment != NULL)
    g_byte_array_unref (scanner->segment);
  *scanner = (SlExifScanner){ 0 };
}
