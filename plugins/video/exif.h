/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The orientation in the EXIF segment of JPEG pictures, read from bytes as they pass, in pieces of
 * any size.
 */
#pragma once

#include <glib.h>

/** What EXIF's orientation may be, 1..8; 1 = upright, which pictures without one are. */
#define SL_EXIF_UPRIGHT 1
#define SL_EXIF_LAST 8

/**
 * SlExifScanner: where in a stream of JPEG pictures the next byte lies; all zero at its beginning,
 * sl_exif_scanner_clear() at its end.
 */
typedef struct
{
  guint step;          /* what the next byte is */
  guint8 marker;       /* of the segment at hand */
  guint left;          /* bytes of the segment still to come */
  GByteArray *segment; /* (nullable): the EXIF segment as far as it came */
  guint orientation;   /* of the picture at hand, 0 = not stated so far */
} SlExifScanner;

/** sl_exif_orientation: of a TIFF file in @n bytes, which may begin with the name of JPEG's
 * segment; 0 where it states none. */
guint sl_exif_orientation (const guint8 *bytes, gsize n);
/** sl_exif_scanner_read: takes the next @n bytes. Returns the orientation of a picture whose header
 * ended in them, the last one's where there are several; 0 where none did. */
guint sl_exif_scanner_read (SlExifScanner *scanner, const guint8 *bytes, gsize n);
void sl_exif_scanner_clear (SlExifScanner *scanner);
