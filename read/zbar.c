/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading by libzbar: QR and linear codes.
 *
 * SQ codes stay off: they are of no use beside the finder. What has no check digits counts from LEAST_LINES lines on, since bars in
 * other pictures are read as such a code now and then.
 */
#include "read/reader.h"

#include <string.h>
#include <zbar.h>

/* Lines that must agree on a code that nothing checks, and its least length. */
#define LEAST_LINES 2
#define LEAST_LENGTH 4
#define GRAY zbar_fourcc ('Y', '8', '0', '0')

/* Symbologies, and what of them is said; add-ons of EAN are none. */
static const struct
{
  zbar_symbol_type_t type;
  const char *name;
  SlReadKind kind;
  gboolean is_checked;
} symbologies[] = {
  { ZBAR_QRCODE, "qr-code", SL_READ_QR, TRUE },
  { ZBAR_EAN13, "ean-13", SL_READ_LINEAR, TRUE },
  { ZBAR_EAN8, "ean-8", SL_READ_LINEAR, TRUE },
  { ZBAR_UPCA, "upc-a", SL_READ_LINEAR, TRUE },
  { ZBAR_UPCE, "upc-e", SL_READ_LINEAR, TRUE },
  { ZBAR_CODE128, "code-128", SL_READ_LINEAR, TRUE },
  { ZBAR_CODE93, "code-93", SL_READ_LINEAR, TRUE },
  { ZBAR_DATABAR, "databar", SL_READ_LINEAR, TRUE },
  { ZBAR_DATABAR_EXP, "databar-expanded", SL_READ_LINEAR, TRUE },
  { ZBAR_CODE39, "code-39", SL_READ_LINEAR, FALSE },
  { ZBAR_I25, "itf", SL_READ_LINEAR, FALSE },
  { ZBAR_CODABAR, "codabar", SL_READ_LINEAR, FALSE },
};

typedef struct
{
  zbar_image_scanner_t *scanner;
  zbar_image_t *image;
  guint kinds; /* that are on */
} Zbar;

static void
close_zbar (gpointer scanner)
{
  Zbar *zbar = scanner;
  if (zbar->image != NULL)
    zbar_image_destroy (zbar->image);
  if (zbar->scanner != NULL)
    zbar_image_scanner_destroy (zbar->scanner);
  g_free (zbar);
}

static gpointer
open_zbar (void)
{
  Zbar *zbar = g_new0 (Zbar, 1);
  zbar->scanner = zbar_image_scanner_create ();
  zbar->image = zbar_image_create ();
  if (zbar->scanner == NULL || zbar->image == NULL) {
    close_zbar (zbar);
    return NULL;
  }
  zbar_image_scanner_set_config (zbar->scanner, ZBAR_NONE, ZBAR_CFG_ENABLE, 0);
  zbar_image_scanner_set_config (zbar->scanner, ZBAR_NONE, ZBAR_CFG_POSITION, 1);
  zbar_image_scanner_set_config (zbar->scanner, ZBAR_QRCODE, ZBAR_CFG_BINARY, 1);
  zbar_image_set_format (zbar->image, GRAY);
  return zbar;
}

static void
turn_on (Zbar *zbar, guint kinds)
{
  if (zbar->kinds == kinds)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (symbologies); i++)
    zbar_image_scanner_set_config (zbar->scanner, symbologies[i].type, ZBAR_CFG_ENABLE, (kinds & symbologies[i].kind) != 0);
  zbar->kinds = kinds;
}

/* A QR code has four corners, counterclockwise from its own upper left; of linear codes each line that was read has points. */
static void
place_corners (const zbar_symbol_t *symbol, double corners[4][2])
{
  const guint n = zbar_symbol_get_loc_size (symbol);
  double left = G_MAXDOUBLE, top = G_MAXDOUBLE, right = 0, bottom = 0;
  for (guint i = 0; i < n; i++) {
    const double x = zbar_symbol_get_loc_x (symbol, i), y = zbar_symbol_get_loc_y (symbol, i);
    if (n == 4 && zbar_symbol_get_type (symbol) == ZBAR_QRCODE) {
      corners[(4 - i) % 4][0] = x;
      corners[(4 - i) % 4][1] = y;
    }
    left = MIN (left, x);
    top = MIN (top, y);
    right = MAX (right, x);
    bottom = MAX (bottom, y);
  }
  if ((n == 4 && zbar_symbol_get_type (symbol) == ZBAR_QRCODE) || n == 0)
    return;
  const double box[4][2] = { { left, top }, { right, top }, { right, bottom }, { left, bottom } };
  memcpy (corners, box, sizeof box);
}

static gboolean
take_symbol (const zbar_symbol_t *symbol, SlReadCode *code)
{
  const zbar_symbol_type_t type = zbar_symbol_get_type (symbol) & ZBAR_SYMBOL;
  const guint n = zbar_symbol_get_data_length (symbol);
  const gint quality = zbar_symbol_get_quality (symbol);
  for (guint i = 0; i < G_N_ELEMENTS (symbologies); i++) {
    if (symbologies[i].type != type || n == 0 || n > SL_READ_MOST_BYTES
        || (!symbologies[i].is_checked && (quality < LEAST_LINES || n < LEAST_LENGTH)))
      continue;
    code->symbology = symbologies[i].name;
    code->is_checked = symbologies[i].is_checked;
    code->quality = MAX (quality, 1);
    code->n_bytes = n;
    memcpy (code->bytes, zbar_symbol_get_data (symbol), n);
    code->bytes[n] = '\0';
    memset (code->corners, 0, sizeof code->corners);
    place_corners (symbol, code->corners);
    return TRUE;
  }
  return FALSE;
}

static gboolean
scan (gpointer scanner, const SlGray *picture, const SlReadHow *how, SlReadCode *code)
{
  Zbar *zbar = scanner;
  const zbar_symbol_t *best = NULL;
  turn_on (zbar, how->kinds);
  zbar_image_scanner_set_config (zbar->scanner, ZBAR_NONE, ZBAR_CFG_X_DENSITY, how->upright ? 0 : how->step);
  zbar_image_scanner_set_config (zbar->scanner, ZBAR_NONE, ZBAR_CFG_Y_DENSITY, how->step);
  zbar_image_set_size (zbar->image, (guint) picture->width, (guint) picture->height);
  zbar_image_set_data (zbar->image, picture->pixels, (gulong) picture->width * (gulong) picture->height, NULL);
  if (zbar_scan_image (zbar->scanner, zbar->image) > 0)
    for (const zbar_symbol_t *symbol = zbar_image_first_symbol (zbar->image); symbol != NULL; symbol = zbar_symbol_next (symbol))
      if (best == NULL || zbar_symbol_get_quality (symbol) > zbar_symbol_get_quality (best))
        best = symbol;
  const gboolean found = best != NULL && take_symbol (best, code);
  zbar_image_set_data (zbar->image, NULL, 0, NULL);
  return found;
}

const SlReader sl_reader_zbar = { "zbar", SL_READ_QR | SL_READ_LINEAR, open_zbar, close_zbar, scan };
