/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Add-ons of two and five digits, drawn by the tables of ISO 15420 beside codes of each kind: read
 * at any size and angle, and never made of something else that is beside a code.
 */
#include <math.h>
#include <string.h>

#include "postprocess/read/bars.h"
#include "postprocess/read/regions.h"
#include "tests/support/program.h"

#define WIDTH 800
#define HEIGHT 600
#define HALF_HEIGHT 22 /* of the bars, in modules */
#define LOWER 6        /* how much lower the bars of an add-on begin */

static const char *const left_bars[] = { "0001101", "0011001", "0010011", "0111101", "0100011",
                                         "0110001", "0101111", "0111011", "0110111", "0001011" };

static void
append_digit (GString *bars, char digit, char set)
{
  const char *code = left_bars[digit - '0'];
  for (guint k = 0; k < 7; k++) {
    const gboolean dark = code[set == 'G' ? 6 - k : k] == '1';
    g_string_append_c (bars, dark != (set != 'L') ? '1' : '0');
  }
}

static void
append_digits (GString *bars, const char *digits, const char *sets)
{
  for (guint i = 0; sets[i] != '\0'; i++)
    append_digit (bars, digits[i], sets[i]);
}

static void
append_ean_13 (GString *bars, const char *text)
{
  static const char *const sets[] = { "LLLLLL", "LLGLGG", "LLGGLG", "LLGGGL", "LGLLGG",
                                      "LGGLLG", "LGGGLL", "LGLGLG", "LGLGGL", "LGGLGL" };
  g_string_append (bars, "101");
  append_digits (bars, text + 1, sets[text[0] - '0']);
  g_string_append (bars, "01010");
  append_digits (bars, text + 7, "RRRRRR");
  g_string_append (bars, "101");
}

static void
append_upc_a (GString *bars, const char *text)
{
  g_autofree char *long_text = g_strconcat ("0", text, NULL);
  append_ean_13 (bars, long_text);
}

static void
append_ean_8 (GString *bars, const char *text)
{
  g_string_append (bars, "101");
  append_digits (bars, text, "LLLL");
  g_string_append (bars, "01010");
  append_digits (bars, text + 4, "RRRR");
  g_string_append (bars, "101");
}

static void
append_upc_e (GString *bars, const char *text)
{
  static const char *const sets[] = { "GGGLLL", "GGLGLL", "GGLLGL", "GGLLLG", "GLGGLL",
                                      "GLLGGL", "GLLLGG", "GLGLGL", "GLGLLG", "GLLGLG" };
  g_autofree char *own = g_strdup (sets[text[7] - '0']);
  for (guint i = 0; text[0] == '1' && i < 6; i++)
    own[i] = own[i] == 'G' ? 'L' : 'G';
  g_string_append (bars, "101");
  append_digits (bars, text + 1, own);
  g_string_append (bars, "010101");
}

static void
append_add_on (GString *bars, const char *digits, const char *sets)
{
  g_string_append (bars, "1011");
  for (guint i = 0; sets[i] != '\0'; i++) {
    if (i > 0)
      g_string_append (bars, "01");
    append_digit (bars, digits[i], sets[i]);
  }
}

/* The sets that the digits of an add-on call for. */
static const char *
sets_of (const char *digits)
{
  static const char *const two[] = { "LL", "LG", "GL", "GG" }, *const five[] = {
    "GGLLL", "GLGLL", "GLLGL", "GLLLG", "LGGLL", "LLGGL", "LLLGG", "LGLGL", "LGLLG", "LLGLG"
  };
  const int d[] = { digits[0] - '0', digits[1] - '0' };
  if (strlen (digits) == 2)
    return two[(10 * d[0] + d[1]) % 4];
  return five[(3 * (d[0] + digits[2] - '0' + digits[4] - '0') + 9 * (d[1] + digits[3] - '0')) % 10];
}

static const struct
{
  const char *symbology, *text;
  void (*append) (GString *bars, const char *text);
} codes[] = {
  { "ean-13", "9781234567897", append_ean_13 }, { "ean-13", "4006381333931", append_ean_13 },
  { "upc-a", "036000291452", append_upc_a },    { "ean-8", "96385074", append_ean_8 },
  { "upc-e", "04252614", append_upc_e },        { "upc-e", "14252611", append_upc_e },
};

/* How bars are pictured: the middle of the code, pixels a module, blur in modules, radians. */
typedef struct
{
  double x, y, module, blur, angle;
  gboolean inverted;
} View;

/* Draws @bars, of which the first @own are the code's, and lower ones are beside it. */
static void
draw (guint8 *pixels, gint width, gint height, const char *bars, guint own, const View *view)
{
  const double c = cos (view->angle), s = sin (view->angle);
  const guint n = (guint) strlen (bars);
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++) {
      gint dark = 0;
      for (gint i = 0; i < 16; i++) {
        const double dx = x + 0.5 - view->x, dy = y + 0.5 - view->y;
        const double u = (dx * c + dy * s) / view->module + own / 2.0
                         + ((i + 0.5) / 16 - 0.5) * (view->blur + 1 / view->module);
        const double v = (dy * c - dx * s) / view->module;
        const gint at = u < 0 ? -1 : (gint) u;
        dark += at >= 0 && at < (gint) n && bars[at] == '1' && v < HALF_HEIGHT
                && v > -HALF_HEIGHT + (at >= (gint) own ? LOWER : 0);
      }
      const guint8 gray = (guint8) (215 - 180 * dark / 16);
      pixels[y * width + x] = view->inverted ? (guint8) (250 - gray) : gray;
    }
}

/* (transfer full): the bars of a code, and how many they are. */
static GString *
bars_of (guint code, guint *own)
{
  GString *bars = g_string_new (NULL);
  codes[code].append (bars, codes[code].text);
  *own = (guint) bars->len;
  return bars;
}

static void
append_gap (GString *bars, guint gap)
{
  for (guint i = 0; i < gap; i++)
    g_string_append_c (bars, '0');
}

/* What is read beside a code whose bars are in the middle of a picture. */
static gboolean
read_beside (const GString *bars, guint own, guint code, const View *view, char *add_on)
{
  const double room = 1 + 2 * sl_bars_add_on_room (codes[code].symbology);
  const gint width = (gint) (own * view->module * room), height = (gint) (44 * view->module);
  g_autofree guint8 *pixels = g_malloc ((gsize) width * (gsize) height);
  const View placed = { width / 2.0, height / 2.0, view->module, view->blur, view->angle, FALSE };
  draw (pixels, width, height, bars->str, own, &placed);
  const SlGray gray = { pixels, (gsize) width * (gsize) height, width, height };
  return sl_bars_add_on (&gray, codes[code].symbology, codes[code].text, add_on);
}

static const View views[] = { { .module = 3, .blur = 0.2 },
                              { .module = 1.6, .blur = 0.9 },
                              { .module = 2.2, .blur = 1, .angle = G_PI },
                              { .module = 1.2, .blur = 0.4 } };

/* Each kind of code, gaps by the standard, both lengths; each view of a code beside half of the
 * add-ons, and the next view beside the other half. */
static void
test_read (void)
{
  static const char *const add_ons[] = { "12", "05", "99", "52495", "90000", "00101" };
  for (guint code = 0; code < G_N_ELEMENTS (codes); code++)
    for (guint v = 0; v < G_N_ELEMENTS (views); v++)
      for (guint i = (code + v) % 2; i < G_N_ELEMENTS (add_ons); i += 2) {
        char got[SL_READ_MAX_ADD_ON + 1];
        guint own;
        g_autoptr (GString) bars = bars_of (code, &own);
        append_gap (bars, 7 + (i + v) % 6);
        append_add_on (bars, add_ons[i], sets_of (add_ons[i]));
        g_test_message ("%s + %s, view %u", codes[code].text, add_ons[i], v);
        g_assert_true (read_beside (bars, own, code, &views[v], got));
        g_assert_cmpstr (got, ==, add_ons[i]);
      }
}

/* Every third number of two digits, which has each of the four parities, and some of five, blurred
 * by nearly a module: hardly any stays unread, and none is another one. */
static void
test_numbers (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (5);
  guint n_read = 0;
  for (guint i = 0; i < 120; i += i < 99 ? 3 : 1) {
    char got[SL_READ_MAX_ADD_ON + 1];
    guint own;
    g_autofree char *digits = i < 100
                                ? g_strdup_printf ("%02u", i)
                                : g_strdup_printf ("%05d", g_rand_int_range (random, 0, 100000));
    g_autoptr (GString) bars = bars_of (0, &own);
    append_gap (bars, 9);
    append_add_on (bars, digits, sets_of (digits));
    if (!read_beside (bars, own, 0, &views[1], got))
      continue;
    g_assert_cmpstr (got, ==, digits);
    n_read++;
  }
  g_assert_cmpuint (n_read, >=, 52);
}

/* None of these is an add-on of the code: nothing, digits whose parities are others', bars that are
 * too near or too far, another code, and an add-on of which the end is missing. */
static void
test_others (void)
{
  static const struct
  {
    guint gap;
    const char *digits, *sets;
  } wrong[] = { { 9, "12", "LG" },        { 9, "12", "GG" },     { 9, "52495", "LLLLL" },
                { 9, "52495", "GGGGG" },  { 25, "12", "LL" },    { 2, "12", "LL" },
                { 40, "52495", "GLGLL" }, { 9, "5249", "GLGL" }, { 9, "524", "GLG" },
                { 9, "1", "L" } };
  char got[SL_READ_MAX_ADD_ON + 1];
  guint own;
  for (guint v = 0; v < G_N_ELEMENTS (views); v++) {
    g_autoptr (GString) alone = bars_of (0, &own);
    g_assert_false (read_beside (alone, own, 0, &views[v], got));
    for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
      g_autoptr (GString) bars = bars_of (0, &own);
      append_gap (bars, wrong[i].gap);
      append_add_on (bars, wrong[i].digits, wrong[i].sets);
      g_test_message ("%s as %s, view %u", wrong[i].digits, wrong[i].sets, v);
      g_assert_false (read_beside (bars, own, 0, &views[v], got));
    }
    for (guint other = 0; other < G_N_ELEMENTS (codes); other++) {
      g_autoptr (GString) bars = bars_of (0, &own);
      append_gap (bars, 9);
      codes[other].append (bars, codes[other].text);
      g_assert_false (read_beside (bars, own, 0, &views[v], got));
    }
  }
  g_autoptr (GString) bars = bars_of (0, &own);
  append_gap (bars, 9);
  append_add_on (bars, "12", "LL");
  g_assert_false (read_beside (bars, own, 1, &views[0], got)); /* of another code */
  g_assert_false (sl_bars_add_on (&(SlGray){ 0 }, "ean-8", "1234567", got));
  g_assert_false (sl_bars_add_on (&(SlGray){ 0 }, "upc-e", "24252614", got));
  g_assert_false (sl_bars_add_on (&(SlGray){ 0 }, "ean-13", "", got));
}

/* Noise beside a code is never an add-on. */
static void
test_noise (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (11);
  for (guint i = 0; i < 50; i++) {
    char got[SL_READ_MAX_ADD_ON + 1];
    guint own;
    g_autoptr (GString) bars = bars_of (0, &own);
    append_gap (bars, 9);
    for (guint k = 0; k < 60; k++)
      g_string_append_c (bars, g_rand_boolean (random) ? '1' : '0');
    g_assert_false (read_beside (bars, own, 0, &views[i % 2], got));
  }
}

static const View placed[] = { { 330, 300, 3, 0.2, 0, FALSE },
                               { 330, 300, 2.5, 0.3, 0.6, FALSE },
                               { 460, 300, 2.5, 0.3, G_PI, FALSE },
                               { 400, 250, 2.2, 0.3, G_PI / 2, FALSE },
                               { 330, 300, 3, 0.2, 0, TRUE } };

/* Through the readers: a box around the code alone, and one around both. Without an add-on there is
 * none, and the text is the code's alone. */
static void
test_regions (void)
{
  static const char *const add_ons[] = { "", "12", "52495" };
  g_autofree guint8 *pixels = g_malloc (WIDTH * HEIGHT);
  g_autofree SlReadCode *read = g_new0 (SlReadCode, 1);
  g_autoptr (SlRegionReader) reader = sl_region_reader_new (NULL);
  const SlLuma luma = { { pixels }, { WIDTH }, 1, -1, WIDTH, HEIGHT };
  for (guint v = 0; v < G_N_ELEMENTS (placed); v++)
    for (guint i = 0; i < G_N_ELEMENTS (add_ons); i++)
      for (guint both = 0; both < 2; both++) {
        const View *view = &placed[v];
        guint own;
        g_autoptr (GString) bars = bars_of (0, &own);
        append_gap (bars, 9);
        if (add_ons[i][0] != '\0')
          append_add_on (bars, add_ons[i], sets_of (add_ons[i]));
        draw (pixels, WIDTH, HEIGHT, bars->str, own, view);
        const double end = (both ? (double) bars->len : own) - own / 2.0, begin = -(own / 2.0);
        const double c = cos (view->angle) * view->module, s = sin (view->angle) * view->module;
        double box[4] = { WIDTH, HEIGHT, 0, 0 };
        for (guint k = 0; k < 4; k++) {
          const double along = k % 2 == 0 ? begin : end, down = k < 2 ? -22 : 22;
          const double x = view->x + along * c - down * s, y = view->y + along * s + down * c;
          box[0] = MIN (box[0], x);
          box[1] = MIN (box[1], y);
          box[2] = MAX (box[2], x);
          box[3] = MAX (box[3], y);
        }
        g_test_message ("view %u, '%s', both %u", v, add_ons[i], both);
        g_strlcpy (read->add_on, "77777", sizeof read->add_on);
        g_assert_cmpint (sl_region_reader_read (reader, &luma, box, SL_READ_LINEAR,
                                                g_get_monotonic_time () + 600 * G_TIME_SPAN_SECOND,
                                                read),
                         ==, SL_SCAN_FOUND);
        g_assert_cmpstr ((const char *) read->bytes, ==, codes[0].text);
        /* Half of a turned box around both is beside them: there it may stay unread. */
        if (!both || v != 1) {
          g_assert_true (read->is_checked);
          g_assert_cmpstr (read->add_on, ==, add_ons[i]);
        } else if (read->add_on[0] != '\0') {
          g_assert_cmpstr (read->add_on, ==, add_ons[i]);
        }
      }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/add-on/read", test_read);
  g_test_add_func ("/add-on/numbers", test_numbers);
  g_test_add_func ("/add-on/others", test_others);
  g_test_add_func ("/add-on/noise", test_noise);
  g_test_add_func ("/add-on/regions", test_regions);
  return g_test_run ();
}
