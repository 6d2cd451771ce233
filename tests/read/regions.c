/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Codes in regions of a picture, at any angle and size, by each of the readers; the brightness of
 * every pixel format; what takes too long; and what is remembered of objects.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "postprocess/read/luma.h"
#include "postprocess/read/memory.h"
#include "postprocess/read/regions.h"
#include "postprocess/read/repeats.h"
#include "postprocess/read/votes.h"
#include "tests/read/symbols.h"
#include "tests/support/program.h"

#define WIDTH 480
#define HEIGHT 400
#define RAD (G_PI / 180)

static gint64
in_time (void)
{
  return g_get_monotonic_time () + 600 * G_TIME_SPAN_SECOND;
}

static gboolean
has_reader (const char *name)
{
  for (guint i = 0; sl_readers[i] != NULL; i++)
    if (strcmp (sl_readers[i]->name, name) == 0)
      return TRUE;
  return FALSE;
}

static SlLuma
gray_luma (const guint8 *pixels, gint width, gint height)
{
  return (SlLuma){ { pixels }, { width }, 1, -1, width, height };
}

static const struct
{
  const char *name;
  TestSymbol symbol;
} cases[] = {
  { "qr", { 240, 200, 4, 0 } },
  { "qr-turned", { 230.3, 190.7, 5, 25 * RAD } },
  { "qr-upside-down", { 240, 200, 4, 180 * RAD } },
  { "qr-small", { 100.5, 90.2, 1.5, 0 } },
  { "qr-inverted", { 240, 200, 5, 0, FALSE, TRUE } },
  { "linear", { 240, 200, 2, 0, TRUE } },
  { "linear-turned", { 240, 200, 2.5, 37 * RAD, TRUE } },
  { "linear-turned-left", { 240, 200, 2.5, -52 * RAD, TRUE } },
  { "linear-upright", { 240, 200, 2, 90 * RAD, TRUE } },
  { "linear-inverted", { 240, 200, 2, 0, TRUE, TRUE } },
  { "linear-inverted-turned", { 240, 200, 2.5, 37 * RAD, TRUE, TRUE } },
  { "linear-small", { 240.4, 200.2, 1.2, 10 * RAD, TRUE } },
  { "data-matrix", { 240, 200, 5, 0, FALSE, FALSE, &test_data_matrix } },
  { "data-matrix-turned", { 240, 200, 5, 33 * RAD, FALSE, FALSE, &test_data_matrix } },
  { "data-matrix-small", { 240.5, 200.2, 2.2, -8 * RAD, FALSE, FALSE, &test_data_matrix } },
  { "data-matrix-inverted", { 240, 200, 5, 12 * RAD, FALSE, TRUE, &test_data_matrix } },
  { "aztec", { 240, 200, 5, 0, FALSE, FALSE, &test_aztec } },
  { "aztec-turned", { 240, 200, 5, 130 * RAD, FALSE, FALSE, &test_aztec } },
  { "bytes", { 240, 200, 5, 0, FALSE, FALSE, &test_bytes } },
  { "character-set", { 240, 200, 5, 0, FALSE, FALSE, &test_eci } },
  { "micro-qr-turned", { 240, 200, 4, 20 * RAD, FALSE, FALSE, &test_micro_qr } },
  { "pdf417", { 240, 200, 2, 0, FALSE, FALSE, &test_pdf417 } },
  { "pdf417-turned", { 240, 200, 2.5, -25 * RAD, FALSE, FALSE, &test_pdf417 } },
  { "pdf417-upright", { 240, 200, 2.5, 90 * RAD, FALSE, FALSE, &test_pdf417 } },
  { "pdf417-upside-down", { 240, 200, 2.5, 180 * RAD, FALSE, FALSE, &test_pdf417 } },
};

static void
expect_symbol (const TestSymbol *symbol, const char *name)
{
  const TestModules *modules = symbol->modules;
  const char *label = modules != NULL ? modules->label : symbol->linear ? "linear" : "qr";
  const char *text = modules != NULL  ? modules->text
                     : symbol->linear ? TEST_EAN_TEXT
                                      : TEST_QR_TEXT;
  const char *symbology = modules != NULL  ? modules->symbology
                          : symbol->linear ? "ean-13"
                                           : "qr-code";
  g_autofree guint8 *pixels = g_malloc (WIDTH * HEIGHT);
  g_autofree SlReadCode *code = g_new0 (SlReadCode, 1);
  g_autoptr (SlRegionReader) reader = sl_region_reader_new (name);
  const SlLuma luma = gray_luma (pixels, WIDTH, HEIGHT);
  double box[4], across, down;
  test_draw_symbol (pixels, WIDTH, HEIGHT, WIDTH, symbol);
  test_symbol_box (symbol, box);
  test_symbol_half (symbol, &across, &down);
  g_assert_cmpint (sl_region_reader_read (reader, &luma, box,
                                          sl_region_reader_kinds (reader, label), in_time (), code),
                   ==, SL_SCAN_FOUND);
  g_assert_cmpmem (code->bytes, code->n_bytes, text,
                   (modules == &test_bytes ? sizeof TEST_BYTES - 1 : strlen (text)));
  g_assert_cmpint (code->bytes[code->n_bytes], ==, '\0');
  g_assert_cmpstr (code->symbology, ==, symbology);
  g_assert_true (code->is_checked);
  g_assert_cmpint (code->quality, >=, 1);
  for (guint i = 0; i < 4 && strcmp (symbology, "qr-code") == 0; i++) {
    const double u = (i == 1 || i == 2 ? 1 : -1) * across, v = (i >= 2 ? 1 : -1) * down;
    const double c = symbol->module * cos (symbol->angle), s = symbol->module * sin (symbol->angle);
    g_assert_cmpfloat_with_epsilon (code->corners[i][0], symbol->x + u * c - v * s,
                                    1.5 * symbol->module);
    g_assert_cmpfloat_with_epsilon (code->corners[i][1], symbol->y + u * s + v * c,
                                    1.5 * symbol->module);
  }
  for (guint i = 0; i < 4; i++) {
    g_assert_cmpfloat (code->corners[i][0], >, box[0] - 10 * symbol->module);
    g_assert_cmpfloat (code->corners[i][0], <, box[2] + 10 * symbol->module);
    g_assert_cmpfloat (code->corners[i][1], >, box[1] - 10 * symbol->module);
    g_assert_cmpfloat (code->corners[i][1], <, box[3] + 10 * symbol->module);
  }
}

/* By all readers together, and by each alone that can. */
static void
test_read (gconstpointer data)
{
  const TestSymbol *symbol = data;
  if (symbol->modules != NULL && !has_reader ("zxing")) {
    g_test_skip ("built without zxing-cpp");
    return;
  }
  expect_symbol (symbol, NULL);
  for (guint i = 0; sl_readers[i] != NULL; i++)
    if (symbol->modules == NULL || strcmp (sl_readers[i]->name, "zxing") == 0)
      expect_symbol (symbol, sl_readers[i]->name);
}

#define OTHER_EAN "5901234123457"

/* Upright bars from @left, @top on, a third of whose pixels are a module. */
static void
draw_bars (guint8 *pixels, const gboolean *bars, guint n, guint left, guint top, guint height)
{
  for (guint y = top; y < top + height; y++)
    for (guint x = 0; x < 3 * n; x++)
      pixels[y * WIDTH + left + x] = bars[x / 3] ? 30 : 220;
}

static const struct
{
  const char *name, *own, *other; /* own (nullable): what is in the box has no code */
  guint height, gap, other_height;
} neighbours[] = {
  { "taller", TEST_EAN_TEXT, OTHER_EAN, 20, 16, 120 },
  { "near", TEST_EAN_TEXT, OTHER_EAN, 14, 12, 60 },
  { "alone", NULL, OTHER_EAN, 40, 16, 120 },
  { "equal", TEST_EAN_TEXT, TEST_EAN_TEXT, 20, 12, 60 },
};

/* A code in the margin of a box is not what is in the box, on either side of it. */
static void
test_neighbour (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data), top = 160;
  const double box[4] = { 100, top, 100 + 3 * TEST_EAN_BARS, top + neighbours[i].height };
  g_autofree guint8 *pixels = g_malloc (WIDTH * HEIGHT);
  g_autofree SlReadCode *code = g_new0 (SlReadCode, 1);
  g_autoptr (SlRegionReader) reader = sl_region_reader_new (NULL);
  const SlLuma luma = gray_luma (pixels, WIDTH, HEIGHT);
  for (guint below = 0; below < 2; below++) {
    gboolean bars[TEST_EAN_BARS];
    const guint other = below ? top + neighbours[i].height + neighbours[i].gap
                              : top - neighbours[i].gap - neighbours[i].other_height;
    memset (pixels, 220, WIDTH * HEIGHT);
    test_ean_bars (neighbours[i].other, bars);
    draw_bars (pixels, bars, TEST_EAN_BARS, 100, other, neighbours[i].other_height);
    if (neighbours[i].own != NULL) {
      test_ean_bars (neighbours[i].own, bars);
      draw_bars (pixels, bars, TEST_EAN_BARS, 100, top, neighbours[i].height);
    }
    const SlScanResult result =
      sl_region_reader_read (reader, &luma, box, SL_READ_LINEAR, in_time (), code);
    g_assert_cmpint (result, ==, neighbours[i].own != NULL ? SL_SCAN_FOUND : SL_SCAN_NOTHING);
    if (neighbours[i].own != NULL)
      g_assert_cmpstr ((const char *) code->bytes, ==, neighbours[i].own);
  }
}

/* A code belongs to the object that holds most of it, whichever of the two is read, and to the only
 * one. */
static void
test_share (void)
{
  const double boxes[2][4] = { { 100, 60, 100 + 3 * TEST_EAN_BARS, 190 },
                               { 100, 186, 100 + 3 * TEST_EAN_BARS, 290 } };
  gboolean bars[TEST_EAN_BARS];
  g_autofree guint8 *pixels = g_malloc (WIDTH * HEIGHT);
  g_autofree SlReadCode *code = g_new0 (SlReadCode, 1);
  const SlLuma luma = gray_luma (pixels, WIDTH, HEIGHT);
  memset (pixels, 220, WIDTH * HEIGHT);
  test_ean_bars (TEST_EAN_TEXT, bars);
  draw_bars (pixels, bars, TEST_EAN_BARS, 100, 160, 120);
  for (guint i = 0; sl_readers[i] != NULL; i++) {
    g_autoptr (SlRegionReader) reader = sl_region_reader_new (sl_readers[i]->name);
    sl_region_reader_set_objects (reader, boxes, 2);
    g_assert_cmpint (
      sl_region_reader_read (reader, &luma, boxes[0], SL_READ_LINEAR, in_time (), code), ==,
      SL_SCAN_NOTHING);
    g_assert_cmpint (
      sl_region_reader_read (reader, &luma, boxes[1], SL_READ_LINEAR, in_time (), code), ==,
      SL_SCAN_FOUND);
    sl_region_reader_set_objects (reader, boxes, 1);
    g_assert_cmpint (
      sl_region_reader_read (reader, &luma, boxes[0], SL_READ_LINEAR, in_time (), code), ==,
      SL_SCAN_FOUND);
  }
}

static SlReadCode *
vote (const char *symbology, const char *text, gint quality)
{
  SlReadCode *code = g_new0 (SlReadCode, 1);
  code->symbology = symbology;
  code->n_bytes = (guint) g_strlcpy ((char *) code->bytes, text, sizeof code->bytes);
  code->quality = quality;
  return code;
}

#define A "4006381333931"
#define B "4006381383936"

/* What was read in turn, reader/text/lines and /fits where the bars are those of the text, by the
 * first of which a code is known; what is said then, and whether it is checked. */
static const struct
{
  const char *symbology, *readings, *text;
  gboolean is_checked;
} ballots[] = {
  { "ean-13", "0/" A "/3 1/" A "/2", A, TRUE },
  { "ean-13", "0/" A "/3", A, FALSE },
  { "ean-13", "0/" A "/90", A, FALSE },
  { "ean-13", "0/" A "/90 0/" A "/90 0/" A "/90", A, FALSE },
  { "ean-13", "0/" A "/3/fits", A, TRUE },
  { "ean-13", "0/" A "/90 1/" B "/2/fits", B, TRUE },
  { "ean-13", "0/" A "/90/fits 1/" B "/2/fits", A, FALSE },
  { "ean-13", "0/" A "/3 1/" A "/3 0/" B "/2/fits", B, TRUE },
  { "ean-13", "0/" A "/90 1/" B "/2 0/" A "/90", A, FALSE },
  { "ean-13", "0/" A "/5 0/" A "/6 1/" B "/4 0/" B "/4", B, FALSE },
  { "ean-13", "0/" A "/5 0/" B "/31", B, FALSE },
  { "ean-8", "0/96385074/90 0/96385074/90", "96385074", FALSE },
  { "ean-8", "0/96385074/2 1/96385074/2", "96385074", TRUE },
  { "upc-e", "1/09892105/90 1/09892105/90", "09892105", FALSE },
  { "upc-a", "0/036000291452/2 1/0036000291452/2", "036000291452", TRUE },
};

static void
test_votes (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (ballots); i++) {
    g_auto (GStrv) readings = g_strsplit (ballots[i].readings, " ", -1);
    g_autofree SlReadCode *code = NULL;
    SlVotes votes = { 0 };
    for (guint k = 0; readings[k] != NULL; k++) {
      g_auto (GStrv) parts = g_strsplit (readings[k], "/", -1);
      SlReadCode *read = vote (ballots[i].symbology, parts[1], atoi (parts[2]));
      g_assert_true (sl_votes_takes (read));
      sl_votes_add (&votes, (guint) atoi (parts[0]), read);
      votes.votes[votes.n - 1].bars_fit = parts[3] != NULL;
      if (k == 0)
        code = read;
      else
        g_free (read);
    }
    g_test_message ("%s", ballots[i].readings);
    sl_votes_choose (&votes, code);
    g_assert_cmpstr ((const char *) code->bytes, ==, ballots[i].text);
    g_assert_cmpuint (code->n_bytes, ==, strlen (ballots[i].text));
    g_assert_cmpint (code->is_checked, ==, ballots[i].is_checked);
  }
  g_autofree SlReadCode *other = vote ("code-128", "A", 1);
  g_assert_false (sl_votes_takes (other));
}

/* Shift JIS of Kanji mode alone: U+70B9 U+8317, the example of ISO 18004; what may be another
 * character set stays as it is. */
static void
test_kanji (void)
{
  static const struct
  {
    const char *symbology, *bytes, *text;
  } texts[] = {
    { "qr-code", "\x93\x5f\xe4\xaa", "\xe7\x82\xb9\xe8\x8c\x97" },
    { "micro-qr-code", "\x93\x5f", "\xe7\x82\xb9" },
    { "data-matrix", "\x93\x5f", "\x93\x5f" },
    { "qr-code", "caf\xe9 !", "caf\xe9 !" },
    { "qr-code", "\x93\x5f\xe4", "\x93\x5f\xe4" },
    { "qr-code", "\xe7\x82\xb9", "\xe7\x82\xb9" },
    { "qr-code", "plain", "plain" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autofree SlReadCode *code = vote (texts[i].symbology, texts[i].bytes, 1);
    sl_read_decode_kanji (code);
    g_assert_cmpmem (code->bytes, code->n_bytes, texts[i].text, strlen (texts[i].text));
    g_assert_cmpint (code->bytes[code->n_bytes], ==, '\0');
  }
}

/* Twelve digits, by each reader: the bars are those of the EAN-13 with a zero before them. */
static void
test_upc_a (void)
{
  const double box[4] = { 100, 120, 100 + 3 * TEST_EAN_BARS, 220 };
  gboolean bars[TEST_EAN_BARS];
  g_autofree guint8 *pixels = g_malloc (WIDTH * HEIGHT);
  g_autofree SlReadCode *code = g_new0 (SlReadCode, 1);
  const SlLuma luma = gray_luma (pixels, WIDTH, HEIGHT);
  memset (pixels, 220, WIDTH * HEIGHT);
  test_ean_bars ("0036000291452", bars);
  draw_bars (pixels, bars, TEST_EAN_BARS, 100, 120, 100);
  for (guint i = 0; sl_readers[i] != NULL; i++) {
    g_autoptr (SlRegionReader) reader = sl_region_reader_new (sl_readers[i]->name);
    g_assert_cmpint (sl_region_reader_read (reader, &luma, box, SL_READ_LINEAR, in_time (), code),
                     ==, SL_SCAN_FOUND);
    g_assert_cmpstr ((const char *) code->bytes, ==, "036000291452");
    g_assert_cmpstr (code->symbology, ==, "upc-a");
  }
}

/* A Code 39 of one character, which does not count, hides no code beside it that does, however many
 * lines it has. */
static void
test_refused (void)
{
  static const char modules[] = "100101101101011010100101101001011011010"; /* * A * */
  const double box[4] = { 100, 120, 100 + 3 * TEST_EAN_BARS, 300 };
  gboolean ean[TEST_EAN_BARS], bars[sizeof modules - 1];
  g_autofree guint8 *pixels = g_malloc (WIDTH * HEIGHT);
  g_autofree SlReadCode *code = g_new0 (SlReadCode, 1);
  g_autoptr (SlRegionReader) reader = sl_region_reader_new (NULL);
  const SlLuma luma = gray_luma (pixels, WIDTH, HEIGHT);
  for (guint i = 0; i < G_N_ELEMENTS (bars); i++)
    bars[i] = modules[i] == '1';
  memset (pixels, 220, WIDTH * HEIGHT);
  draw_bars (pixels, bars, G_N_ELEMENTS (bars), 160, 120, 120);
  g_assert_cmpint (sl_region_reader_read (reader, &luma, box, SL_READ_LINEAR, in_time (), code), ==,
                   SL_SCAN_NOTHING);
  test_ean_bars (TEST_EAN_TEXT, ean);
  draw_bars (pixels, ean, TEST_EAN_BARS, 100, 260, 40);
  g_assert_cmpint (sl_region_reader_read (reader, &luma, box, SL_READ_LINEAR, in_time (), code), ==,
                   SL_SCAN_FOUND);
  g_assert_cmpstr ((const char *) code->bytes, ==, TEST_EAN_TEXT);
}

/* Larger than what a reader is given, so it is reduced. */
static void
test_large (void)
{
  const TestSymbol symbol = { 700, 330, 13, 3 * RAD, TRUE };
  g_autofree guint8 *pixels = g_malloc (1400 * 660);
  g_autofree SlReadCode *code = g_new0 (SlReadCode, 1);
  g_autoptr (SlRegionReader) reader = sl_region_reader_new (NULL);
  const SlLuma luma = gray_luma (pixels, 1400, 660);
  double box[4];
  test_draw_symbol (pixels, 1400, 660, 1400, &symbol);
  test_symbol_box (&symbol, box);
  g_assert_cmpint (sl_region_reader_read (reader, &luma, box, SL_READ_LINEAR, in_time (), code), ==,
                   SL_SCAN_FOUND);
  g_assert_cmpstr ((const char *) code->bytes, ==, TEST_EAN_TEXT);
}

/* Boxes without a code, of any shape. */
static void
test_nothing (void)
{
  static const double boxes[][4] = { { 0, 0, 480, 400 },     { -50, -50, 3, 3 },
                                     { 479, 399, 480, 400 }, { 10, 10, 11, 390 },
                                     { 500, 500, 600, 600 }, { 300, 300, 100, 100 },
                                     { NAN, 0, 10, 10 } };
  g_autofree guint8 *pixels = g_malloc (WIDTH * HEIGHT);
  g_autofree SlReadCode *code = g_new0 (SlReadCode, 1);
  g_autoptr (SlRegionReader) reader = sl_region_reader_new (NULL);
  const SlLuma luma = gray_luma (pixels, WIDTH, HEIGHT);
  for (guint i = 0; i < WIDTH * HEIGHT; i++)
    pixels[i] = (guint8) (i * 2654435761u >> 24);
  for (guint i = 0; i < G_N_ELEMENTS (boxes); i++)
    g_assert_cmpint (sl_region_reader_read (reader, &luma, boxes[i], SL_READ_QR | SL_READ_LINEAR,
                                            in_time (), code),
                     ==, SL_SCAN_NOTHING);
}

/* Many corners of QR codes keep zbar busy for seconds: the caller stops waiting, and reads on when
 * zbar is done. */
static void
test_time_limit (void)
{
  const TestSymbol symbol = { 100, 100, 4, 0 };
  const double whole[4] = { 0, 0, 160, 160 }, box[4] = { 50, 50, 150, 150 };
  g_autofree guint8 *pixels = g_malloc (160 * 160);
  g_autofree SlReadCode *code = g_new0 (SlReadCode, 1);
  g_autoptr (SlRegionReader) reader = sl_region_reader_new (NULL);
  const SlLuma luma = gray_luma (pixels, 160, 160);
  test_draw_corners (pixels, 160, 0, 0, 160);
  g_assert_cmpint (sl_region_reader_read (reader, &luma, whole, SL_READ_QR, 0, code), ==,
                   SL_SCAN_UNTRIED);
  do
    while (sl_region_reader_wait (reader, 0))
      sl_region_reader_read (reader, &luma, whole, SL_READ_QR, g_get_monotonic_time () + 5000,
                             code);
  while (
    sl_region_reader_read (reader, &luma, box, SL_READ_QR, g_get_monotonic_time () + 1000, code)
    != SL_SCAN_UNTRIED);
  test_draw_symbol (pixels, 160, 160, 160, &symbol);
  g_assert_cmpint (sl_region_reader_read (reader, &luma, box, SL_READ_QR, in_time (), code), ==,
                   SL_SCAN_FOUND);
  g_assert_cmpstr ((const char *) code->bytes, ==, TEST_QR_TEXT);
}

static void
test_kinds (void)
{
  for (guint i = 0; sl_readers[i] != NULL; i++) {
    g_autoptr (SlRegionReader) reader = sl_region_reader_new (sl_readers[i]->name);
    const guint kinds =
      strcmp (sl_readers[i]->name, "zxing") == 0 ? SL_READ_ANY : SL_READ_QR | SL_READ_LINEAR;
    g_assert_cmpuint (sl_region_reader_kinds (reader, "qr"), ==,
                      kinds & (SL_READ_QR | SL_READ_MATRIX));
    g_assert_cmpuint (sl_region_reader_kinds (reader, "matrix"), ==,
                      kinds & (SL_READ_QR | SL_READ_MATRIX));
    g_assert_cmpuint (sl_region_reader_kinds (reader, "linear"), ==, SL_READ_LINEAR);
    g_assert_cmpuint (sl_region_reader_kinds (reader, "stacked"), ==,
                      kinds & (SL_READ_LINEAR | SL_READ_STACKED));
    g_assert_cmpuint (sl_region_reader_kinds (reader, "label"), ==, kinds);
    g_assert_cmpuint (sl_region_reader_kinds (reader, NULL), ==, kinds);
    g_assert_cmpint (sl_region_reader_proof (reader, "qr"), ==, SL_READ_PROOF_READS);
    g_assert_cmpint (sl_region_reader_proof (reader, "matrix"), ==,
                     (kinds & SL_READ_MATRIX) != 0 ? SL_READ_PROOF_READS : SL_READ_PROOF_NONE);
    g_assert_cmpint (sl_region_reader_proof (reader, "linear"), ==, SL_READ_PROOF_READS);
    g_assert_cmpint (sl_region_reader_proof (reader, "stacked"), ==,
                     (kinds & SL_READ_STACKED) != 0 ? SL_READ_PROOF_READS : SL_READ_PROOF_NONE);
    g_assert_cmpint (sl_region_reader_proof (reader, "label"), ==, SL_READ_PROOF_FOREIGN);
    g_assert_cmpint (sl_region_reader_proof (reader, NULL), ==, SL_READ_PROOF_FOREIGN);
  }
  g_assert_true (sl_region_should_read ("qr", 64, 80));
  g_assert_false (sl_region_should_read ("qr", 63, 80));
  g_assert_true (sl_region_should_read ("linear", 30, 128));
  g_assert_false (sl_region_should_read ("linear", 127, 127));
  g_assert_false (sl_region_should_read ("label", 1000, 1000));
  g_assert_null (sl_region_reader_new ("nobody"));
  sl_region_reader_free (NULL);
}

/* A square label with @code, all of which is dark, as on red, on a lighter ground: @side pixels a
 * side. */
static void
draw_label (guint8 *pixels, gint side, const TestSymbol *code)
{
  const double c = cos (code->angle), s = sin (code->angle);
  double across, down;
  test_draw_symbol (pixels, side, side, (gsize) side, code);
  test_symbol_half (code, &across, &down);
  for (gint y = 0; y < side; y++)
    for (gint x = 0; x < side; x++) {
      const double u = c * (x - code->x) + s * (y - code->y),
                   v = c * (y - code->y) - s * (x - code->x);
      guint8 *pixel = &pixels[y * side + x];
      *pixel =
        MAX (fabs (u), fabs (v)) > code->module * (across + 1) ? 205 : (guint8) (*pixel * 0.4);
    }
}

/* The corners of a turned label's box are alike, and the code is not. */
static void
test_repeats_turned (void)
{
  enum
  {
    SIDE = 200
  };
  const SlRect boxes[] = { { 37, 37, 126, 126 }, { 30, 30, 140, 140 } };
  g_autofree guint8 *pixels = g_malloc (SIDE * SIDE);
  const SlGray gray = { pixels, SIDE * SIDE, SIDE, SIDE };
  for (gint turn = 30; turn <= 60; turn += 5) {
    draw_label (pixels, SIDE, &(TestSymbol){ 100, 100, 3.6, turn * RAD });
    for (guint i = 0; i < G_N_ELEMENTS (boxes); i++)
      g_assert_cmpfloat (sl_gray_repeats (&gray, &boxes[i]), <, 0.5);
  }
}

/* A label is read, though the light space of its code is darker than what is beside it. */
static void
test_label (void)
{
  enum
  {
    SIDE = 240
  };
  static const TestSymbol codes[] = { { 120, 120, 5, 0 },
                                      { 120, 120, 8, 0, FALSE, FALSE, &test_data_matrix } };
  g_autofree guint8 *pixels = g_malloc (SIDE * SIDE);
  g_autofree SlReadCode *code = g_new0 (SlReadCode, 1);
  g_autoptr (SlRegionReader) reader = sl_region_reader_new (NULL);
  const SlLuma luma = gray_luma (pixels, SIDE, SIDE);
  for (guint i = 0; i < (has_reader ("zxing") ? G_N_ELEMENTS (codes) : 1); i++) {
    double box[4];
    draw_label (pixels, SIDE, &codes[i]);
    test_symbol_box (&codes[i], box);
    g_assert_cmpint (
      sl_region_reader_read (reader, &luma, box, SL_READ_QR | SL_READ_MATRIX, in_time (), code), ==,
      SL_SCAN_FOUND);
    g_assert_cmpstr ((const char *) code->bytes, ==,
                     i == 0 ? TEST_QR_TEXT : codes[i].modules->text);
  }
}

/* Boards that cameras are calibrated with, turned and in noise, look like themselves moved aside;
 * codes, noise and plain pictures do not. */
static void
test_repeats (void)
{
  enum
  {
    SIDE = 200
  };
  static const TestSymbol code = { 100, 100, 180.0 / TEST_QR_SIDE, 10 * RAD };
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  g_autofree guint8 *pixels = g_malloc (SIDE * SIDE);
  const SlGray gray = { pixels, SIDE * SIDE, SIDE, SIDE };
  const SlRect all = { 0, 0, SIDE, SIDE }, part = { 11, 7, 150, 170 };
  for (gint turn = 0; turn <= 45; turn += 9)
    for (gint kind = 0; kind < 5; kind++) {
      const double c = cos (turn * RAD), s = sin (turn * RAD), step = 24;
      memset (pixels, 220, SIDE * SIDE);
      for (gint y = 0; y < SIDE; y++)
        for (gint x = 0; x < SIDE; x++) {
          const double u = (c * x + s * y) / step + 20, v = (c * y - s * x) / step + 20,
                       du = u - floor (u) - 0.5, dv = v - floor (v) - 0.5;
          const gboolean dark = kind == 0   ? ((gint) u + (gint) v) % 2 == 0
                                : kind == 1 ? du * du + dv * dv < 0.09
                                : kind == 2 ? g_rand_boolean (rand)
                                            : FALSE;
          pixels[y * SIDE + x] = (guint8) ((dark ? 40 : 210) + g_rand_int_range (rand, -15, 16));
        }
      if (kind == 3)
        memset (pixels, 99, SIDE * SIDE);
      if (kind == 4)
        test_draw_symbol (pixels, SIDE, SIDE, SIDE, &code);
      g_test_message ("kind %d turned by %d: %g, %g", kind, turn, sl_gray_repeats (&gray, &all),
                      sl_gray_repeats (&gray, &part));
      if (kind < 2) {
        g_assert_cmpfloat (sl_gray_repeats (&gray, &all), >, 0.75);
        g_assert_cmpfloat (sl_gray_repeats (&gray, &part), >, 0.75);
      } else
        g_assert_cmpfloat (sl_gray_repeats (&gray, &all), <, 0.5);
    }
  g_assert_cmpfloat (sl_gray_repeats (&gray, &(SlRect){ 0, 0, 47, 200 }), ==, 0);
  g_assert_cmpfloat (sl_gray_repeats (&gray, &(SlRect){ -1, 0, 100, 100 }), ==, 0);
  g_assert_cmpfloat (sl_gray_repeats (&gray, &(SlRect){ 101, 0, 100, 100 }), ==, 0);
}

/* Luma 100 + 10 * column in every format; RGB of equal values is that, too. */
static void
test_formats (void)
{
  for (guint format = 0; format < SL_PIXEL_COUNT; format++) {
    const SlImageInfo info = { .format = (SlPixelFormat) format, .width = 4, .height = 2 };
    const SlPixelLayout *layout = sl_pixel_layout (info.format);
    const SlRect part = { 1, 1, 3, 1 };
    guint8 planes[3][2 * 32];
    SlImage image = { { planes[0], planes[1], planes[2] }, { 32, 32, 32 } };
    SlGray gray = { 0 };
    memset (planes, 7, sizeof planes);
    for (guint c = 0; c < (layout->components == SL_COMPONENTS_RGB ? 3 : 1); c++)
      for (guint x = 0; x < 4; x++) {
        static const guint groups[] = { 1, 2, 3, 4, 2 };
        guint8 *row = planes[layout->component[c].plane] + 32;
        const guint at = x * groups[layout->packing[0]] + layout->component[c].lane,
                    value = 100 + 10 * x;
        if (layout->bits == 8) {
          row[at] = (guint8) value;
        } else {
          const guint word = (value << 2 | 3) << (layout->shift == 0 ? 6 : 0);
          row[2 * at] = (guint8) word;
          row[2 * at + 1] = (guint8) (word >> 8);
        }
      }
    const SlLuma luma = sl_luma_of (&info, &image);
    sl_gray_cut (&gray, &luma, &part, 1);
    g_assert_cmpint (gray.width, ==, 3);
    g_assert_cmpint (gray.height, ==, 1);
    for (guint x = 0; x < 3; x++)
      g_assert_cmpuint (gray.pixels[x], ==, 110 + 10 * x);
    sl_gray_clear (&gray);
  }
}

static void
test_memory (void)
{
  const SlReadPatience patience = { 3, 5, 4 };
  g_autofree SlReadCode *code = g_new0 (SlReadCode, 1);
  SlReadMemory *memory = sl_read_memory_new ();
  GString *tried = g_string_new (NULL);
  g_strlcpy ((char *) code->bytes, "x", sizeof code->bytes);
  for (guint frame = 0; frame < 20; frame++) {
    sl_read_memory_next (memory);
    SlReadTrack *track = sl_read_memory_track (memory, 7);
    const gboolean due = sl_read_memory_is_due (memory, track);
    g_string_append_c (tried, due ? '1' : '0');
    if (due)
      sl_read_memory_note (memory, track, frame == 12 ? code : NULL, &patience);
    g_assert_true ((track->code != NULL) == (frame >= 12));
  }
  g_assert_cmpstr (tried->str, ==, "11100001000010001110");
  g_string_free (tried, TRUE);
  g_assert_null (sl_read_memory_track (memory, 8)->code);
  for (guint frame = 0; frame < 700; frame++)
    sl_read_memory_next (memory);
  g_assert_null (sl_read_memory_track (memory, 7)->code);
  sl_read_memory_reset (memory);
  sl_read_memory_free (memory);
  sl_read_memory_free (NULL);
}

/* In which of 12 frames a track is tried that is read in the first one. */
static char *
frames_tried (const SlReadPatience *patience, gboolean late)
{
  g_autofree SlReadCode *code = g_new0 (SlReadCode, 1);
  SlReadMemory *memory = sl_read_memory_new ();
  GString *tried = g_string_new (NULL);
  for (guint frame = 0; frame < 12; frame++) {
    sl_read_memory_next (memory);
    SlReadTrack *track = sl_read_memory_track (memory, 7);
    const gboolean due = sl_read_memory_is_due (memory, track);
    g_string_append_c (tried, due ? '1' : '0');
    if (due && late)
      sl_read_memory_note_late (memory, track, patience);
    else if (due)
      sl_read_memory_note (memory, track, frame == 0 ? code : NULL, patience);
  }
  sl_read_memory_free (memory);
  return g_string_free (tried, FALSE);
}

/* Without further tries a code that was read is read again all the same; what takes all of a
 * frame's time is tried rarely at once. */
static void
test_intervals (void)
{
  const SlReadPatience again = { 2, 0, 4 }, late = { 5, 5, 0 }, no_interval = { 2, 0, 0 };
  g_autofree char *rereads = frames_tried (&again, FALSE), *rarely = frames_tried (&late, TRUE),
                  *twice = frames_tried (&no_interval, TRUE);
  g_assert_cmpstr (rereads, ==, "100011000100");
  g_assert_cmpstr (rarely, ==, "100001000010");
  g_assert_cmpstr (twice, ==, "110000000000");
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = g_strdup_printf ("/read/%s", cases[i].name);
    g_test_add_data_func (path, &cases[i].symbol, test_read);
  }
  for (guint i = 0; i < G_N_ELEMENTS (neighbours); i++) {
    g_autofree char *path = g_strdup_printf ("/read/neighbour/%s", neighbours[i].name);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_neighbour);
  }
  g_test_add_func ("/read/share", test_share);
  g_test_add_func ("/read/votes", test_votes);
  g_test_add_func ("/read/kanji", test_kanji);
  g_test_add_func ("/read/upc-a", test_upc_a);
  g_test_add_func ("/read/refused", test_refused);
  g_test_add_func ("/read/large", test_large);
  g_test_add_func ("/read/nothing", test_nothing);
  g_test_add_func ("/read/time-limit", test_time_limit);
  g_test_add_func ("/read/kinds", test_kinds);
  g_test_add_func ("/read/repeats", test_repeats);
  g_test_add_func ("/read/repeats-turned", test_repeats_turned);
  g_test_add_func ("/read/label", test_label);
  g_test_add_func ("/read/formats", test_formats);
  g_test_add_func ("/read/memory", test_memory);
  g_test_add_func ("/read/intervals", test_intervals);
  return g_test_run ();
}
