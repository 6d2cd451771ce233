/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a reader of codes is: a row with functions that find what a gray picture says. zbar.c is
 * one, zxing/process.c another; a third library is a third row, in the table of scan.c.
 */
#pragma once

#include <glib.h>

#include "postprocess/read/gray.h"

/** Kinds of codes, as the finder in the box tells them apart; bits. */
typedef enum
{
  SL_READ_QR = 1 << 0,
  SL_READ_MATRIX = 1 << 1,
  SL_READ_LINEAR = 1 << 2,
  SL_READ_STACKED = 1 << 3,
} SlReadKind;
#define SL_READ_ANY (SL_READ_QR | SL_READ_MATRIX | SL_READ_LINEAR | SL_READ_STACKED)

/** Most bytes that a code says: a QR code has up to 7,089 digits. */
#define SL_READ_MAX_BYTES 8192
/** SL_READ_MAX_ADD_ON: most digits of an add-on. */
#define SL_READ_MAX_ADD_ON 5

/**
 * SlReadCode: what one code says.
 * @symbology: static string, such as "qr-code" or "ean-13"
 * @bytes: what it says, @n_bytes of them and a NUL behind
 * @is_checked: digits of the symbology's own, or its error correction, said that it was read right
 * @quality: how many lines across it were read alike, 1 and more; 1 for a QR code
 * @corners: x and y of four corners of the code, in pixels
 * @add_on: the two or five digits beside an EAN or UPC code, "" = none. Readers leave it alone;
 * sl_region_reader_read() sets it
 */
typedef struct
{
  const char *symbology;
  guint8 bytes[SL_READ_MAX_BYTES + 1];
  guint n_bytes;
  gboolean is_checked;
  gint quality;
  double corners[4][2];
  char add_on[SL_READ_MAX_ADD_ON + 1];
} SlReadCode;

/** How a picture is looked at: by which @reader, of those that are open; for which @kinds; whether
 * bars are known to be @upright, or may lie either way; and every how many rows and columns, @step,
 * at least 1. Codes count that lie in @box (x0, y0, x1, y1), which is where @map takes the picture;
 * beside it are others'. */
typedef struct
{
  guint reader, kinds;
  gboolean upright;
  gint step;
  SlAffine map;
  double box[4];
} SlReadHow;

/**
 * SlReader: a library that reads codes.
 * @name: of the library
 * @kinds: that it can read, of SlReadKind
 * @open: a scanner, for one thread at a time; NULL where memory is out, or what it needs is not
 * there
 * @close: its end
 * @scan: the best code in @picture that is of @how, its corners in that picture's pixels: a checked
 * one before others, then that of most lines; FALSE where there is none. It may take seconds on
 * pictures made to that end.
 * @resumes: (nullable): when the scanner can be asked again, in the microseconds of
 * g_get_monotonic_time()
 * @missing: (nullable): (transfer none) (nullable): the file that @open needs and that is not there
 */
typedef struct
{
  const char *name;
  guint kinds;
  gpointer (*open) (void);
  void (*close) (gpointer scanner);
  gboolean (*scan) (gpointer scanner, const SlGray *picture, const SlReadHow *how,
                    SlReadCode *code);
  gint64 (*resumes) (gconstpointer scanner);
  const char *(*missing) (void);
} SlReader;

#define SL_READ_MAX_READERS 2
/** sl_readers: those of this build, NULL behind the last; of two that can read a kind, the quicker
 * one first. */
extern const SlReader *const sl_readers[];
extern const SlReader sl_reader_zbar, sl_reader_zxing;

/** sl_read_is_inside: whether the point @x, @y of the picture lies in the object's box. */
gboolean sl_read_is_inside (const SlReadHow *how, double x, double y);
/** sl_read_decode_kanji: makes UTF-8 of what a QR code of any size says in Kanji mode alone, which
 * is Shift JIS; other codes stay as they are. */
void sl_read_decode_kanji (SlReadCode *code);
