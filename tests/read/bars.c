/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bars compared with texts: those of the code fit, at any width and with blur; texts of which a
 * digit or more is wrong do not. */
#include <math.h>
#include <string.h>

#include "postprocess/read/bars.h"
#include "tests/read/symbols.h"
#include "tests/support/program.h"

#define WIDTH 420
#define HEIGHT 40

/* How a code is pictured: pixels a module, how far bars are blurred (modules), how much wider they
 * are at the end than in the middle. */
typedef struct
{
  double module, blur, growth;
  gboolean backwards;
} View;

static const View views[] = {
  { 1.2, 0.6, 0, FALSE },   { 1.7, 1, 0.05, FALSE }, { 2.1, 1, 0, TRUE },
  { 3, 1.2, -0.04, FALSE }, { 4, 0.1, 0.04, TRUE },  { 1.1, 0.3, 0, FALSE },
};

/* Where readers read other texts on photographs: what is printed, and what was read. */
static const struct
{
  const char *text, *wrong;
} confused[] = {
  { "9780596008574", "6780186008574" }, { "9780345348036", "6780515348036" },
  { "5000213002834", "2041813002834" }, { "5000213002834", "1040183002834" },
  { "0023942431015", "9074932437075" }, { "0879957005020", "870957004020" },
  { "5030159003930", "7034759003930" }, { "4000539017100", "01227185" },
};

static void
draw (guint8 *pixels, const char *digits, const View *view)
{
  gboolean bars[TEST_EAN_BARS];
  test_ean_bars (digits, bars);
  for (gint x = 0; x < WIDTH; x++) {
    gint dark = 0;
    for (gint i = 0; i < 32; i++) {
      const double u =
        (x + 0.5 + ((i + 0.5) / 32 - 0.5) * (1 + view->blur * view->module) - WIDTH / 2.0)
        / (view->module * TEST_EAN_BARS);
      const double bar = floor ((u + view->growth * (0.25 - u * u) + 0.5) * TEST_EAN_BARS);
      dark += bar >= 0 && bar < TEST_EAN_BARS && bars[(guint) bar];
    }
    for (gint y = 0; y < HEIGHT; y++)
      pixels[y * WIDTH + (view->backwards ? WIDTH - 1 - x : x)] =
        (guint8) (200 - 130 * dark / 32 - y);
  }
}

/* In the part of the picture that a box around the code has, with a margin. */
static gboolean
fits (guint8 *pixels, const View *view, const char *text)
{
  const SlGray gray = { pixels, WIDTH * HEIGHT, WIDTH, HEIGHT };
  const gint width = MIN ((gint) (view->module * TEST_EAN_BARS * 1.3), WIDTH);
  return sl_bars_fit (&gray, &(SlRect){ (WIDTH - width) / 2, 2, width, HEIGHT - 4 }, text);
}

static void
test_confused (void)
{
  guint8 pixels[WIDTH * HEIGHT];
  for (guint v = 0; v < G_N_ELEMENTS (views); v++)
    for (guint i = 0; i < G_N_ELEMENTS (confused); i++) {
      draw (pixels, confused[i].text, &views[v]);
      g_test_message ("view %u: %s", v, confused[i].text);
      g_assert_true (fits (pixels, &views[v], confused[i].text));
      g_assert_false (fits (pixels, &views[v], confused[i].wrong));
      if (confused[i].text[0] == '0')
        g_assert_true (fits (pixels, &views[v], confused[i].text + 1));
    }
}

/* Every text that has one other digit, and the check digit that goes with it. */
static void
test_one_digit (void)
{
  guint8 pixels[WIDTH * HEIGHT];
  draw (pixels, TEST_EAN_TEXT, &views[1]);
  for (guint i = 0; i < 12; i++)
    for (guint by = 1; by < 10; by++) {
      char text[] = TEST_EAN_TEXT;
      guint sum = 0;
      text[i] = (char) ('0' + (text[i] - '0' + (gint) by) % 10);
      for (guint k = 0; k < 12; k++)
        sum += (guint) (text[k] - '0') * (k % 2 == 0 ? 1 : 3);
      text[12] = (char) ('0' + (10 - sum % 10) % 10);
      g_assert_false (fits (pixels, &views[1], text));
    }
  g_assert_true (fits (pixels, &views[1], TEST_EAN_TEXT));
}

/* Pictures without bars of a code, and texts that are not twelve or thirteen digits. */
static void
test_others (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  guint8 pixels[WIDTH * HEIGHT];
  memset (pixels, 99, sizeof pixels);
  g_assert_false (fits (pixels, &views[1], TEST_EAN_TEXT));
  for (guint i = 0; i < sizeof pixels; i++)
    pixels[i] = i % WIDTH / 3 % 2 == 0 ? 20 : 230;
  g_assert_false (fits (pixels, &views[1], TEST_EAN_TEXT));
  for (guint i = 0; i < sizeof pixels; i++)
    pixels[i] = (guint8) g_rand_int_range (random, 0, 256);
  g_assert_false (fits (pixels, &views[1], TEST_EAN_TEXT));
  draw (pixels, TEST_EAN_TEXT, &views[3]);
  g_assert_false (fits (pixels, &views[3], ""));
  g_assert_false (fits (pixels, &views[3], "40063813"));
  g_assert_false (fits (pixels, &views[3], "400638133393x"));
  g_assert_false (sl_bars_fit (&(SlGray){ pixels, sizeof pixels, WIDTH, HEIGHT },
                               &(SlRect){ 0, 0, 0, 0 }, TEST_EAN_TEXT));
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bars/confused", test_confused);
  g_test_add_func ("/bars/one-digit", test_one_digit);
  g_test_add_func ("/bars/others", test_others);
  return g_test_run ();
}
