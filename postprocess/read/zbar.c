/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading by libzbar: QR and linear codes.
 *
 * SQ codes stay off: they are of no use beside the finder. What has no check digits counts from
 * MIN_LINES lines on, since bars in other pictures are read as such a code now and then.
 */
#include "postprocess/read/reader.h"

#include <string.h>
#include <zbar.h>

/* Lines that must agree on a code that nothing checks, and its least length. */
#define MIN_LINES 2
#define MIN_LENGTH 4
/* A linear code of which less of the picture's width has points was read from one end alone; its
 * middle is as far from there as that, or more. And the share of its lines that must run through
 * the box. */
#define ONE_END 0.05
#define MAX_BESIDE 0.125
#define MIN_INSIDE 0.25
#define GRAY zbar_fourcc ('Y', '8', '0', '0')

/* Symbologies and their names. Add-ons of EAN are not reported as codes. */
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
    zbar_image_scanner_set_config (zbar->scanner, symbologies[i].type, ZBAR_CFG_ENABLE,
                                   (kinds & symbologies[i].kind) != 0);
  zbar->kinds = kinds;
}

/* Around the points of a symbol: left, top, right, bottom. */
static void
find_extent (const zbar_symbol_t *symbol, double extent[4])
{
  const guint n = zbar_symbol_get_loc_size (symbol);
  extent[0] = extent[1] = G_MAXDOUBLE;
  extent[2] = extent[3] = 0;
  for (guint i = 0; i < n; i++) {
    const double x = zbar_symbol_get_loc_x (symbol, i), y = zbar_symbol_get_loc_y (symbol, i);
    extent[0] = MIN (extent[0], x);
    extent[1] = MIN (extent[1], y);
    extent[2] = MAX (extent[2], x);
    extent[3] = MAX (extent[3], y);
  }
}

/* A QR code has four corners, counterclockwise from its own upper left; of linear codes each line
 * that was read has points. */
static void
place_corners (const zbar_symbol_t *symbol, double corners[4][2])
{
  const guint n = zbar_symbol_get_loc_size (symbol);
  double extent[4];
  find_extent (symbol, extent);
  for (guint i = 0; n > 0 && i < 4; i++) {
    corners[i][0] = extent[i == 1 || i == 2 ? 2 : 0];
    corners[i][1] = extent[i >= 2 ? 3 : 1];
  }
  for (guint i = 0; n == 4 && zbar_symbol_get_type (symbol) == ZBAR_QRCODE && i < 4; i++) {
    corners[(4 - i) % 4][0] = zbar_symbol_get_loc_x (symbol, i);
    corners[(4 - i) % 4][1] = zbar_symbol_get_loc_y (symbol, i);
  }
}

/* @at, moved towards @middle by @most at most. */
static double
towards (double at, double middle, double most)
{
  return at + CLAMP (middle - at, -most, most);
}

/* Whether the symbol is the object's, and not one in the margin. A linear one's points are at the
 * ends of its lines, whose rows are known where bars are upright; equal codes are one symbol with
 * the lines of both. */
static gboolean
is_in_box (const zbar_symbol_t *symbol, const SlGray *picture, const SlReadHow *how)
{
  const guint n = zbar_symbol_get_loc_size (symbol);
  const gboolean lines = zbar_symbol_get_type (symbol) != ZBAR_QRCODE;
  double extent[4];
  guint n_inside = 0;
  find_extent (symbol, extent);
  const gboolean one_end = lines && extent[2] - extent[0] < ONE_END * picture->width;
  const gboolean one_line =
    one_end && !how->upright && extent[3] - extent[1] < ONE_END * picture->height;
  double x = (extent[0] + extent[2]) / 2, y = (extent[1] + extent[3]) / 2;
  if (one_line || (one_end && how->upright))
    x = towards (x, picture->width / 2.0, MAX_BESIDE * picture->width);
  if (one_line)
    y = towards (y, picture->height / 2.0, MAX_BESIDE * picture->height);
  if (!lines || !how->upright)
    return n == 0 || sl_read_is_inside (how, x, y);
  for (guint i = 0; i < n; i++)
    n_inside += sl_read_is_inside (how, x, zbar_symbol_get_loc_y (symbol, i));
  return n_inside >= MIN_INSIDE * n;
}

/* The row of symbologies; -1 of what does not count. */
static gint
find_symbology (const zbar_symbol_t *symbol)
{
  const zbar_symbol_type_t type = zbar_symbol_get_type (symbol) & ZBAR_SYMBOL;
  const guint n = zbar_symbol_get_data_length (symbol);
  for (guint i = 0; i < G_N_ELEMENTS (symbologies); i++)
    if (symbologies[i].type == type && n > 0 && n <= SL_READ_MAX_BYTES
        && (symbologies[i].is_checked
            || (zbar_symbol_get_quality (symbol) >= MIN_LINES && n >= MIN_LENGTH)))
      return (gint) i;
  return -1;
}

static void
take_symbol (const zbar_symbol_t *symbol, SlReadCode *code)
{
  const gint row = find_symbology (symbol);
  code->symbology = symbologies[row].name;
  code->is_checked = symbologies[row].is_checked;
  code->quality = MAX (zbar_symbol_get_quality (symbol), 1);
  code->n_bytes = zbar_symbol_get_data_length (symbol);
  memcpy (code->bytes, zbar_symbol_get_data (symbol), code->n_bytes);
  code->bytes[code->n_bytes] = '\0';
  memset (code->corners, 0, sizeof code->corners);
  place_corners (symbol, code->corners);
}

static gboolean
is_better (const zbar_symbol_t *symbol, const zbar_symbol_t *best)
{
  const gboolean is_checked = symbologies[find_symbology (symbol)].is_checked,
                 was_checked = symbologies[find_symbology (best)].is_checked;
  return is_checked != was_checked
           ? is_checked
           : zbar_symbol_get_quality (symbol) > zbar_symbol_get_quality (best);
}

/* (nullable): of what the scanner has read. */
static const zbar_symbol_t *
choose_symbol (const Zbar *zbar, const SlGray *picture, const SlReadHow *how)
{
  const zbar_symbol_t *best = NULL;
  for (const zbar_symbol_t *symbol = zbar_image_first_symbol (zbar->image); symbol != NULL;
       symbol = zbar_symbol_next (symbol))
    if (find_symbology (symbol) >= 0 && is_in_box (symbol, picture, how)
        && (best == NULL || is_better (symbol, best)))
      best = symbol;
  return best;
}

static gboolean
scan (gpointer scanner, const SlGray *picture, const SlReadHow *how, SlReadCode *code)
{
  Zbar *zbar = scanner;
  const zbar_symbol_t *best = NULL;
  turn_on (zbar, how->kinds);
  zbar_image_scanner_set_config (zbar->scanner, ZBAR_NONE, ZBAR_CFG_X_DENSITY,
                                 how->upright ? 0 : how->step);
  zbar_image_scanner_set_config (zbar->scanner, ZBAR_NONE, ZBAR_CFG_Y_DENSITY, how->step);
  zbar_image_set_size (zbar->image, (guint) picture->width, (guint) picture->height);
  zbar_image_set_data (zbar->image, picture->pixels,
                       (gulong) picture->width * (gulong) picture->height, NULL);
  if (zbar_scan_image (zbar->scanner, zbar->image) > 0)
    best = choose_symbol (zbar, picture, how);
  if (best != NULL)
    take_symbol (best, code);
  zbar_image_set_data (zbar->image, NULL, 0, NULL);
  return best != NULL;
}

const SlReader sl_reader_zbar = { "zbar", SL_READ_QR | SL_READ_LINEAR, open_zbar, close_zbar,
                                  scan };
