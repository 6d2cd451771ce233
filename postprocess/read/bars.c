/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compares a picture with the bars that a text would have. Readers measure distances between edges,
 * which blur moves alike on all lines. Here the gray value of each module is compared with a
 * pattern, so errors of one are not those of the other.
 */
#include "postprocess/read/bars.h"

#include <math.h>
#include <string.h>

#define MODULES 95
#define DIGITS 12
#define PATTERNS 20
#define DIGIT 7
/* Modules beside a digit that are compared with it, since blur mixes them. */
#define BESIDE 2
#define WINDOW (DIGIT + 2 * BESIDE)
/* Rows of the part that are looked at, every which of them the code is looked for in, and how much
 * worse than the best one a row may fit. */
#define ROWS 9
#define SEARCHED 3
#define MAX_WORSE 0.1
#define MIN_FIT 0.5
/* The narrowest code, as a share of the row, and the steps in which widths are tried. */
#define MIN_SHARE 0.4
#define WIDTH_STEP 1.02
#define MIN_MODULE 0.8
/* How far a digit may lie beside its place, in steps of a module. */
#define SHIFTS 3
#define SHIFT_STEP 0.2

/* Left patterns of odd parity, a bit a module, the first one the highest. Those of even parity are
 * these inverted and read backwards, those of the right half these inverted. */
static const guint8 left_patterns[10] = {
  0x0d, 0x19, 0x13, 0x3d, 0x23, 0x31, 0x2f, 0x3b, 0x37, 0x0b
};
/* Which of the six digits of the left half are even, the first one the highest bit, by the digit
 * that has no bars. */
static const guint8 parities[10] = { 0x00, 0x0b, 0x0d, 0x0e, 0x13, 0x19, 0x1c, 0x15, 0x16, 0x1a };

/* The places of modules in a row: where the first one begins, how wide one is, and how much wider
 * one is at the end than at the begin. */
typedef struct
{
  double left, module, growth;
} Place;

typedef struct
{
  double sums[4096]; /* of the gray values before a pixel */
  gint n;
} Row;

typedef struct
{
  float bars[MODULES];
  gint n_dark, patterns[DIGITS];
} Code;

static gboolean
module_of (gint pattern, gboolean right, gint at)
{
  const guint8 bits = left_patterns[pattern % 10];
  if (right)
    return (~bits >> (DIGIT - 1 - at) & 1) != 0;
  return pattern < 10 ? (bits >> (DIGIT - 1 - at) & 1) != 0 : (~bits >> at & 1) != 0;
}

static gint
digit_place (gint digit)
{
  return 3 + digit * DIGIT + (digit >= DIGITS / 2 ? 5 : 0);
}

static void
put_digit (float *bars, gint digit, gint pattern)
{
  for (gint i = 0; i < DIGIT; i++)
    bars[digit_place (digit) + i] = module_of (pattern, digit >= DIGITS / 2, i);
}

static gboolean
make_code (const char *text, Code *code)
{
  static const guint8 guards[] = { 0, 2, 46, 48, 92, 94 };
  const gsize n = strlen (text);
  if ((n != DIGITS && n != DIGITS + 1) || strspn (text, "0123456789") != n)
    return FALSE;
  const guint8 parity = n == DIGITS ? 0 : parities[text[0] - '0'];
  memset (code, 0, sizeof *code);
  for (guint i = 0; i < G_N_ELEMENTS (guards); i++)
    code->bars[guards[i]] = 1;
  for (gint i = 0; i < DIGITS; i++) {
    const gboolean even = i < DIGITS / 2 && (parity >> (DIGITS / 2 - 1 - i) & 1) != 0;
    code->patterns[i] = text[n - DIGITS + (gsize) i] - '0' + (even ? 10 : 0);
    put_digit (code->bars, i, code->patterns[i]);
  }
  for (gint i = 0; i < MODULES; i++)
    code->n_dark += code->bars[i] > 0;
  return TRUE;
}

static double
sum_before (const Row *row, double x)
{
  const gint i = MIN ((gint) x, row->n - 1);
  return row->sums[i] + (x - i) * (row->sums[i + 1] - row->sums[i]);
}

/* The darkness of @n modules from @first on, each divided by how much wider than others it is,
 * nearly. */
static void
take_modules (const Row *row, const Place *place, double first, gint n, float *modules)
{
  double before = 0;
  for (gint i = 0; i <= n; i++) {
    const double at = first + i, wider = place->growth * (at / MODULES - 1);
    const double sum =
      sum_before (row, CLAMP (place->left + place->module * at * (1 + wider), 0, row->n));
    if (i > 0)
      modules[i - 1] = (float) ((before - sum) * (1 - wider - place->growth * at / MODULES));
    before = sum;
  }
}

static double
correlate (const float *a, const float *b, gint n)
{
  double sa = 0, sb = 0, aa = 0, bb = 0, ab = 0;
  for (gint i = 0; i < n; i++) {
    sa += a[i];
    sb += b[i];
    aa += (double) a[i] * a[i];
    bb += (double) b[i] * b[i];
    ab += (double) a[i] * b[i];
  }
  const double va = n * aa - sa * sa, vb = n * bb - sb * sb;
  return va > 1e-9 && vb > 1e-9 ? (n * ab - sa * sb) / sqrt (va * vb) : 0;
}

/* How well all bars of a code fit, to 1. It is asked for thousands of places, so it has no loop but
 * one. */
static double
fit_all (const Row *row, const Place *place, const Code *code)
{
  float modules[MODULES];
  float sum = 0, squares = 0, dark = 0;
  take_modules (row, place, 0, MODULES, modules);
  for (gint i = 0; i < MODULES; i++) {
    sum += modules[i];
    squares += modules[i] * modules[i];
    dark += modules[i] * code->bars[i];
  }
  const double variance = MODULES * (double) squares - (double) sum * sum;
  const double n = code->n_dark, bars = n * (MODULES - n);
  return variance > 1e-3 * squares ? (MODULES * (double) dark - sum * n) / sqrt (variance * bars)
                                   : 0;
}

/* Moves each number of a place, as long as that fits better. */
static double
refine (const Row *row, const Code *code, Place *place)
{
  double fit = fit_all (row, place, code);
  for (double step = 0.5; step > 0.02; step /= 2)
    for (gboolean better = TRUE; better;) {
      better = FALSE;
      for (gint i = 0; i < 8; i++) {
        const double by = i % 2 == 0 ? step : -step;
        Place other = *place;
        other.left += i / 2 == 0 || i / 2 == 3 ? by * place->module : 0;
        other.module *= i / 2 == 1 ? 1 + by / MODULES : i / 2 == 3 ? 1 - 2 * by / MODULES : 1;
        other.growth += i / 2 == 2 ? by / MODULES * 4 : 0;
        const double now = fit_all (row, &other, code);
        if (now > fit + 1e-6) {
          *place = other;
          fit = now;
          better = TRUE;
        }
      }
    }
  return fit;
}

/* Where the code lies in a row; how well it fits, to 1. */
static double
find_place (const Row *row, const Code *code, Place *place)
{
  double fit = 0;
  for (double module = (double) row->n / MODULES;
       module >= MAX (MIN_SHARE * row->n / MODULES, MIN_MODULE); module /= WIDTH_STEP)
    for (double left = 0; left + module * MODULES <= row->n; left += module / 2) {
      const Place other = { left, module, 0 };
      const double now = fit_all (row, &other, code);
      if (now > fit) {
        fit = now;
        *place = other;
      }
    }
  return fit > MIN_FIT / 2 ? refine (row, code, place) : 0;
}

static void
take_row (const SlGray *gray, const SlRect *part, gint y, gboolean backwards, Row *row)
{
  const guint8 *pixels = gray->pixels + (gsize) y * (gsize) gray->width + part->x;
  row->n = MIN (part->width, (gint) G_N_ELEMENTS (row->sums) - 1);
  row->sums[0] = 0;
  for (gint x = 0; x < row->n; x++)
    row->sums[x + 1] = row->sums[x] + pixels[backwards ? row->n - 1 - x : x];
}

/* Adds how well each pattern fits in the place of @digit. */
static void
compare_digit (const Row *row, const Place *place, const Code *code, gint digit,
               double scores[PATTERNS])
{
  const gint first = digit_place (digit) - BESIDE;
  Code other = *code;
  for (gint pattern = 0; pattern < (digit < DIGITS / 2 ? PATTERNS : PATTERNS / 2); pattern++) {
    double best = -1;
    put_digit (other.bars, digit, pattern);
    for (gint shift = -SHIFTS; shift <= SHIFTS; shift++) {
      float modules[WINDOW];
      take_modules (row, place, first + shift * SHIFT_STEP, WINDOW, modules);
      best = MAX (best, correlate (modules, other.bars + first, WINDOW));
    }
    scores[pattern] += best;
  }
}

/* Whether no other digit fits better anywhere, in the rows that fit as well as the best one, or
 * nearly. */
static gboolean
digits_fit (const Row rows[ROWS], const Place places[ROWS], const double fits[ROWS], double best,
            const Code *code)
{
  for (gint digit = 0; digit < DIGITS; digit++) {
    double scores[PATTERNS] = { 0 };
    for (gint i = 0; i < ROWS; i++)
      if (fits[i] >= best - MAX_WORSE)
        compare_digit (&rows[i], &places[i], code, digit, scores);
    for (gint pattern = 0; pattern < PATTERNS; pattern++)
      if (scores[pattern] > scores[code->patterns[digit]])
        return FALSE;
  }
  return TRUE;
}

/* Looks for the code in a few rows, and from the best place there in all of them. */
static gboolean
direction_fits (const SlGray *gray, const SlRect *part, gboolean backwards, const Code *code,
                Row rows[ROWS])
{
  Place found = { 0 }, places[ROWS];
  double fits[ROWS], best = 0;
  for (gint i = 0; i < ROWS; i++)
    take_row (gray, part, part->y + part->height * (i + 1) / (ROWS + 1), backwards, &rows[i]);
  for (gint i = SEARCHED / 2; i < ROWS; i += SEARCHED) {
    Place place = { 0 };
    const double fit = find_place (&rows[i], code, &place);
    if (fit > best) {
      best = fit;
      found = place;
    }
  }
  for (gint i = 0; i < ROWS; i++) {
    places[i] = found;
    fits[i] = refine (&rows[i], code, &places[i]);
    best = MAX (best, fits[i]);
  }
  return best >= MIN_FIT && digits_fit (rows, places, fits, best, code);
}

gboolean
sl_bars_fit (const SlGray *gray, const SlRect *part, const char *text)
{
  Code code;
  if (part->width < 1 || part->height < 1 || !make_code (text, &code))
    return FALSE;
  g_autofree Row *rows = g_new (Row, ROWS);
  return direction_fits (gray, part, FALSE, &code, rows)
         || direction_fits (gray, part, TRUE, &code, rows);
}
