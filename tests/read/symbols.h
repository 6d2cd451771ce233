/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Codes to be read, drawn into gray pictures: a QR code that qrencode 4.1.1 made, others of
 * zint 2.11.1, and EAN-13 as the standard's tables have it. */
#ifndef SL_TESTS_READ_SYMBOLS_H
#define SL_TESTS_READ_SYMBOLS_H

#include <glib.h>
#include <math.h>

#define TEST_QR_TEXT "https://example.com/q?7"
#define TEST_QR_SIDE 25
#define TEST_EAN_TEXT "4006381333931"
#define TEST_EAN_BARS 95

/** Modules of a code that is no QR code and no EAN-13: hexadecimal digits, whose upper bits are on
 * the left, for each of @n_rows rows, which are
 *  @row_height modules high. */
typedef struct
{
  const char *label, *symbology, *text;
  guint columns, n_rows, row_height;
  const char *rows[20];
} TestModules;

/* From `zint -b 71|92|97|55 -d TEXT --dump`, one with `--binary`, one with `--eci=3`, which is ISO
 * 8859-1. */
static const TestModules test_data_matrix = { "matrix",
                                              "data-matrix",
                                              "matrix-7",
                                              14,
                                              14,
                                              1,
                                              { "AAA8", "B77C", "C5D0", "AA04", "D520", "BB7C",
                                                "88A0", "B94C", "D410", "AADC", "A380", "A0EC",
                                                "9198", "FFFC" } };
static const TestModules test_aztec = { "matrix",
                                        "aztec",
                                        "aztec.7",
                                        15,
                                        15,
                                        1,
                                        { "3A92", "FBB4", "B06E", "3FFC", "301E", "B7D2", "F458",
                                          "5556", "D454", "77D8", "701E", "1FF8", "CC66", "5D6C",
                                          "1B7C" } };
#define TEST_BYTES "a\0\xff\x1bz"
static const TestModules test_bytes = { "matrix",
                                        "data-matrix",
                                        TEST_BYTES,
                                        14,
                                        14,
                                        1,
                                        { "AAA8", "8C5C", "8030", "9644", "9950", "BB04", "99D0",
                                          "8DEC", "B330", "95CC", "B998", "C984", "9160",
                                          "FFFC" } };
static const TestModules test_eci = {
  "matrix",
  "aztec",
  "caf\xc3\xa9!",
  19,
  19,
  1,
  { "1926A", "07400", "6B5EE", "17A78", "2D2B8", "6FFF0", "3C07C", "95F72", "B515C", "F5542",
    "D5158", "0DF6C", "0C060", "87FE4", "30F8A", "07306", "8D05A", "6991E", "7CE0C" }
};
static const TestModules test_micro_qr = { "qr",
                                           "micro-qr-code",
                                           "12345",
                                           11,
                                           11,
                                           1,
                                           { "FEA", "82C", "BA8", "BA0", "BAE", "826", "FE8", "006",
                                             "CE6", "518", "F06" } };
static const TestModules test_pdf417 = {
  "stacked",
  "pdf417",
  "stacked-7",
  103,
  8,
  3,
  { "FF547D5F350C1824CF5787F452", "FF547EA3BCCD1F498F5207F452", "FF54757E3417D3E32EA3F7F452",
    "FF546BCFBB2310C64AF3C7F452", "FF5475C33C86DC9C6F5CE7F452", "FF547AF42C2713906EBE87F452",
    "FF5474EFBB4C18506D3BC7F452", "FF547D2C3D0CD8CF4AFDC7F452" }
};

/** A code on a picture: @module pixels a module, turned by @angle around @x, @y, which is its
 * middle. */
typedef struct
{
  double x, y, module, angle;
  gboolean linear, inverted;
  const TestModules *modules; /* (nullable): instead of the QR code */
} TestSymbol;

/* From `qrencode -t ASCII -m 0 -l M TEST_QR_TEXT`, every second column. */
static const char *const test_qr[TEST_QR_SIDE] = {
  "####### # ### #   #######", "#     #   ## ## # #     #", "# ### # #  ###  # # ### #",
  "# ### #     ###   # ### #", "# ### #  ## # #   # ### #", "#     # #  #  #   #     #",
  "####### # # # # # #######", "         ###  ###        ", "# #   ## ###  # #  #  # #",
  "# # ## #### ## # ### # ##", "   #  ##       # #  ### #", " #       # ## # #  # #   ",
  "# # ### # # #  ## ##    #", "   ###  # # # ### ##   ##", "## ## ### # #######  ## #",
  "     # # # ## # ## ###   ", "###########   # #####  # ", "        ##   ## #   #   #",
  "####### # ##    # # #   #", "#     #  ##   ###   #  ##", "# ### #  # ## #######   #",
  "# ### #   # # #  #  # ## ", "# ### # # # #  ### ### ##", "#     #   ### #######    ",
  "####### # # ### # #  #  #",
};

/** test_ean_bars: 95 modules, dark ones TRUE. */
static inline void
test_ean_bars (const char *digits, gboolean bars[TEST_EAN_BARS])
{
  static const char *const left[] = { "0001101", "0011001", "0010011", "0111101", "0100011",
                                      "0110001", "0101111", "0111011", "0110111", "0001011" };
  static const char *const parity[] = { "LLLLLL", "LLGLGG", "LLGGLG", "LLGGGL", "LGLLGG",
                                        "LGGLLG", "LGGGLL", "LGLGLG", "LGLGGL", "LGGLGL" };
  guint at = 0;
  bars[at++] = TRUE;
  bars[at++] = FALSE;
  bars[at++] = TRUE;
  for (guint i = 1; i <= 12; i++) {
    const char *code = left[digits[i] - '0'];
    const gboolean reversed = i <= 6 && parity[digits[0] - '0'][i - 1] == 'G';
    for (guint k = 0; k < 7; k++)
      bars[at++] = (code[reversed ? 6 - k : k] == '1') != (i > 6 || reversed);
    for (guint k = 0; k < 5 && i == 6; k++)
      bars[at++] = k % 2 == 1;
  }
  bars[at++] = TRUE;
  bars[at++] = FALSE;
  bars[at] = TRUE;
}

/** test_symbol_half: half the sizes of @symbol in modules. */
static inline void
test_symbol_half (const TestSymbol *symbol, double *across, double *down)
{
  *across = (symbol->modules != NULL ? symbol->modules->columns
             : symbol->linear        ? TEST_EAN_BARS
                                     : TEST_QR_SIDE)
            / 2.0;
  *down = symbol->modules != NULL ? symbol->modules->n_rows * symbol->modules->row_height / 2.0
          : symbol->linear        ? 20
                                  : TEST_QR_SIDE / 2.0;
}

static inline gboolean
test_modules_ink (const TestModules *modules, double u, double v)
{
  const double column = floor (u + modules->columns / 2.0);
  const double row =
    floor ((v + modules->n_rows * modules->row_height / 2.0) / modules->row_height);
  if (column < 0 || row < 0 || column >= modules->columns || row >= modules->n_rows)
    return FALSE;
  return g_ascii_xdigit_value (modules->rows[(guint) row][(guint) column / 4])
           >> (3 - (guint) column % 4)
         & 1;
}

/* Whether there is ink at @u, @v, modules from the middle of @symbol. */
static inline gboolean
test_symbol_ink (const TestSymbol *symbol, const gboolean bars[TEST_EAN_BARS], double u, double v)
{
  if (symbol->modules != NULL)
    return test_modules_ink (symbol->modules, u, v);
  if (symbol->linear) {
    const double bar = floor (u + TEST_EAN_BARS / 2.0);
    return bar >= 0 && bar < TEST_EAN_BARS && fabs (v) < 20 && bars[(guint) bar];
  }
  const double column = floor (u + TEST_QR_SIDE / 2.0), row = floor (v + TEST_QR_SIDE / 2.0);
  return column >= 0 && row >= 0 && column < TEST_QR_SIDE && row < TEST_QR_SIDE
         && test_qr[(guint) row][(guint) column] == '#';
}

/** test_draw_symbol: onto @pixels, which are @width x @height of @stride bytes a row; light is 220,
 * dark 30. */
static inline void
test_draw_symbol (guint8 *pixels, gint width, gint height, gsize stride, const TestSymbol *symbol)
{
  gboolean bars[TEST_EAN_BARS];
  const double c = cos (symbol->angle) / symbol->module, s = sin (symbol->angle) / symbol->module;
  double across, down;
  test_symbol_half (symbol, &across, &down);
  const double reach = hypot (across, down) * symbol->module + 1; /* no ink farther away */
  test_ean_bars (TEST_EAN_TEXT, bars);
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++) {
      const double right = x + 0.5 - symbol->x, below = y + 0.5 - symbol->y;
      const gboolean far = right * right + below * below > reach * reach;
      guint dark = far && symbol->inverted ? 16 : 0;
      for (guint i = 0; i < 16 && !far; i++) {
        const double dx = x + (i % 4 + 0.5) / 4 - symbol->x, dy = y + (i / 4 + 0.5) / 4 - symbol->y;
        dark +=
          test_symbol_ink (symbol, bars, dx * c + dy * s, dy * c - dx * s) != symbol->inverted;
      }
      pixels[(gsize) y * stride + (gsize) x] = (guint8) (220 - 190 * dark / 16);
    }
}

/** test_draw_corners: onto @side x @side pixels from @x, @y on: corners of QR codes and nothing
 * else, which keep zbar busy. */
static inline void
test_draw_corners (guint8 *pixels, gsize stride, guint x, guint y, guint side)
{
  for (guint row = 0; row < side; row++)
    for (guint column = 0; column < side; column++) {
      const gint u = (gint) (column / 3 % 8) - 3, v = (gint) (row / 3 % 8) - 3,
                 ring = MAX (ABS (u), ABS (v));
      pixels[(y + row) * stride + x + column] = ring == 2 || ring == 4 ? 255 : 0;
    }
}

/** test_symbol_box: x0, y0, x1, y1 around @symbol. */
static inline void
test_symbol_box (const TestSymbol *symbol, double box[4])
{
  double across, down;
  test_symbol_half (symbol, &across, &down);
  across *= symbol->module;
  down *= symbol->module;
  const double c = fabs (cos (symbol->angle)), s = fabs (sin (symbol->angle));
  box[0] = symbol->x - across * c - down * s;
  box[1] = symbol->y - across * s - down * c;
  box[2] = symbol->x + across * c + down * s;
  box[3] = symbol->y + across * s + down * c;
}

#endif
