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
/* An add-on begins so many modules behind the code (7 to 12 by the standard), with light space on
 * both sides. Its rows must fit that well, with that share of the code's contrast, and say the
 * same. */
#define MIN_GAP 5
#define MAX_GAP 15
#define GAP_STEP 0.25
#define QUIET 4
#define MAX_ADD_ON (4 + SL_READ_MAX_ADD_ON * (DIGIT + 2) - 2)
#define ADD_ON_ROWS 15
#define MIN_ADD_ON_ROWS 3
#define MIN_ADD_ON_FIT 0.8
#define MIN_CONTRAST 0.5
/* Room for an add-on, as a share of the code's width, beside long codes and short ones; and the
 * lowest share that a code then has of a row, whose box may hold both. */
#define ROOM 0.7
#define ROOM_SHORT 1.3
#define MIN_SHARE_BESIDE 0.22
#define MIN_SHARE_BESIDE_SHORT 0.12
#define MAX_SHARE_BESIDE 0.5

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
  gint n, n_dark, patterns[DIGITS]; /* of EAN-13 and UPC-A */
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
put_pattern (float *bars, gint pattern, gboolean right)
{
  for (gint i = 0; i < DIGIT; i++)
    bars[i] = module_of (pattern, right, i);
}

static void
put_digit (float *bars, gint digit, gint pattern)
{
  put_pattern (bars + digit_place (digit), pattern, digit >= DIGITS / 2);
}

static void
put_guards (Code *code, gint n, const guint8 *guards, guint n_guards)
{
  *code = (Code){ .n = n };
  for (guint i = 0; i < n_guards; i++)
    code->bars[guards[i]] = 1;
}

static void
count_dark (Code *code)
{
  for (gint i = 0; i < code->n; i++)
    code->n_dark += code->bars[i] > 0;
}

static gboolean
has_digits (const char *text, gsize n)
{
  return strlen (text) == n && strspn (text, "0123456789") == n;
}

static gboolean
make_code (const char *text, Code *code)
{
  static const guint8 guards[] = { 0, 2, 46, 48, 92, 94 };
  const gsize n = strlen (text);
  if (!has_digits (text, DIGITS) && !has_digits (text, DIGITS + 1))
    return FALSE;
  const guint8 parity = n == DIGITS ? 0 : parities[text[0] - '0'];
  put_guards (code, MODULES, guards, G_N_ELEMENTS (guards));
  for (gint i = 0; i < DIGITS; i++) {
    const gboolean even = i < DIGITS / 2 && (parity >> (DIGITS / 2 - 1 - i) & 1) != 0;
    code->patterns[i] = text[n - DIGITS + (gsize) i] - '0' + (even ? 10 : 0);
    put_digit (code->bars, i, code->patterns[i]);
  }
  count_dark (code);
  return TRUE;
}

/* Which of the digits of a UPC-E code are even, by its check digit; those of an add-on of five
 * digits are the lower five bits, by its checksum. */
static guint8
short_parity (gint check)
{
  return check == 0 ? 0x38 : (guint8) (~parities[check] & 0x3f);
}

/* UPC-E has six digits with bars, between the number system and the check digit, of which their
 * parities tell. */
static gboolean
make_upc_e (const char *text, Code *code)
{
  static const guint8 guards[] = { 0, 2, 46, 48, 50 };
  if (!has_digits (text, 8) || text[0] > '1')
    return FALSE;
  const guint8 parity = (guint8) (short_parity (text[7] - '0') ^ (text[0] == '1' ? 0x3f : 0));
  put_guards (code, 51, guards, G_N_ELEMENTS (guards));
  for (gint i = 0; i < 6; i++)
    put_pattern (code->bars + 3 + DIGIT * i,
                 text[i + 1] - '0' + ((parity >> (5 - i) & 1) != 0 ? 10 : 0), FALSE);
  count_dark (code);
  return TRUE;
}

static gboolean
make_ean_8 (const char *text, Code *code)
{
  static const guint8 guards[] = { 0, 2, 32, 34, 64, 66 };
  if (!has_digits (text, 8))
    return FALSE;
  put_guards (code, 67, guards, G_N_ELEMENTS (guards));
  for (gint i = 0; i < 8; i++)
    put_pattern (code->bars + 3 + DIGIT * i + (i >= 4 ? 5 : 0), text[i] - '0', i >= 4);
  count_dark (code);
  return TRUE;
}

static double
sum_before (const Row *row, double x)
{
  const gint i = MIN ((gint) x, row->n - 1);
  return row->sums[i] + (x - i) * (row->sums[i + 1] - row->sums[i]);
}

/* The darkness of @n modules of one width, all of which are in the row. */
static void
take_even_modules (const Row *row, double left, double module, gint n, float *modules)
{
  double before = sum_before (row, left);
  for (gint i = 0; i < n; i++) {
    const double sum = sum_before (row, left + module * (i + 1));
    modules[i] = (float) (before - sum);
    before = sum;
  }
}

/* The darkness of @n modules from @first on, each divided by how much wider than others it is,
 * nearly. */
static void
take_modules (const Row *row, const Place *place, double first, gint n, float *modules)
{
  const double growth = place->growth / MODULES, end = row->n;
  const double left = place->left + place->module * first;
  double before = 0;
  if (growth == 0 && left >= 0 && left + place->module * n <= end) {
    take_even_modules (row, left, place->module, n, modules);
    return;
  }
  for (gint i = 0; i <= n; i++) {
    const double at = first + i, wider = growth * at - place->growth;
    const double x = place->left + place->module * at * (1 + wider);
    const double sum = sum_before (row, CLAMP (x, 0, end));
    if (i > 0)
      modules[i - 1] = (float) ((before - sum) * (1 - wider - growth * at));
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
  const gint all = code->n;
  take_modules (row, place, 0, all, modules);
  for (gint i = 0; i < all; i++) {
    sum += modules[i];
    squares += modules[i] * modules[i];
    dark += modules[i] * code->bars[i];
  }
  const double variance = all * (double) squares - (double) sum * sum;
  const double n = code->n_dark, bars = n * (all - n);
  return variance > 1e-3 * squares ? (all * (double) dark - sum * n) / sqrt (variance * bars) : 0;
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

/* Where the code, which has a share of the row from @lowest to @highest, lies in it; how well it
 * fits, to 1. */
static double
find_place (const Row *row, const Code *code, double lowest, double highest, Place *place)
{
  double fit = 0;
  for (double module = highest * row->n / code->n;
       module >= MAX (lowest * row->n / code->n, MIN_MODULE); module /= WIDTH_STEP)
    for (double left = 0; left + module * code->n <= row->n; left += module / 2) {
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
    const double fit = find_place (&rows[i], code, MIN_SHARE, 1, &place);
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

/* The digit, of even parity from 10 on, whose bars are between the dark module before them and the
 * light one behind. */
static gint
find_digit (const float modules[DIGIT + 2])
{
  float window[DIGIT + 2] = { 1 };
  double best = -1;
  gint found = 0;
  for (gint pattern = 0; pattern < PATTERNS; pattern++) {
    put_pattern (window + 1, pattern, FALSE);
    const double fit = correlate (modules, window, DIGIT + 2);
    if (fit > best) {
      best = fit;
      found = pattern;
    }
  }
  return found;
}

/* Whether the parities of the digits are those that the digits call for. */
static gboolean
has_parity (const char *digits, guint n, guint8 even)
{
  gint check = 0;
  if (n == 2)
    return ((digits[0] - '0') * 10 + digits[1] - '0') % 4 == even;
  for (guint i = 0; i < n; i++)
    check += (digits[i] - '0') * (i % 2 == 0 ? 3 : 9);
  return even == (short_parity (check % 10) & 0x1f);
}

/* How much darker the modules of bars are than others. */
static double
contrast_of (const float *modules, const float *bars, gint n)
{
  double dark = 0, light = 0;
  gint n_dark = 0;
  for (gint i = 0; i < n; i++) {
    (*(bars[i] > 0 ? &dark : &light)) += (double) modules[i];
    n_dark += bars[i] > 0;
  }
  return dark / MAX (n_dark, 1) - light / MAX (n - n_dark, 1);
}

/* Reads @n digits of an add-on that begins at module @first; how well they fit, to 1. @good: (out):
 * whether their parities and their contrast are those of an add-on. */
static double
read_digits (const Row *row, const Place *place, const Code *code, double first, guint n,
             char *digits, gboolean *good)
{
  const gint all = 4 + (gint) n * (DIGIT + 2) - 2 + 2 * QUIET;
  float modules[MAX_ADD_ON + 2 * QUIET], own[MODULES];
  float bars[MAX_ADD_ON + 2 * QUIET] = { [QUIET] = 1, [QUIET + 2] = 1, [QUIET + 3] = 1 };
  guint8 even = 0;
  take_modules (row, place, first - QUIET, all, modules);
  take_modules (row, place, 0, code->n, own);
  for (guint i = 0; i < n; i++) {
    const gint at = QUIET + 4 + (gint) i * (DIGIT + 2);
    const gint pattern = find_digit (modules + at - 1);
    bars[at - 1] = 1;
    put_pattern (bars + at, pattern, FALSE);
    digits[i] = (char) ('0' + pattern % 10);
    even = (guint8) (even << 1 | (pattern >= 10));
  }
  digits[n] = '\0';
  *good =
    has_parity (digits, n, even)
    && contrast_of (modules, bars, all) >= MIN_CONTRAST * contrast_of (own, code->bars, code->n);
  return correlate (modules, bars, all);
}

/* Reads the add-on of a code in one row. FALSE where there is none: where what fits best is none,
 * nothing else is taken. */
static gboolean
read_row (const Row *row, const Place *place, const Code *code, char *add_on)
{
  static const guint lengths[] = { 2, SL_READ_MAX_ADD_ON };
  double best = 0;
  gboolean is_good = FALSE, good;
  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
    for (double gap = MIN_GAP; gap <= MAX_GAP; gap += GAP_STEP) {
      char digits[SL_READ_MAX_ADD_ON + 1];
      const double fit = read_digits (row, place, code, code->n + gap, lengths[i], digits, &good);
      if (fit > best) {
        best = fit;
        is_good = good;
        memcpy (add_on, digits, sizeof digits);
      }
    }
  return is_good && best >= MIN_ADD_ON_FIT;
}

/* Reads the add-on in all rows that the code runs through. Rows that read otherwise count against
 * it. */
static gboolean
read_rows (const Row rows[ADD_ON_ROWS], const Place *found, double fit, const Code *code,
           char add_on[SL_READ_MAX_ADD_ON + 1])
{
  char texts[ADD_ON_ROWS][SL_READ_MAX_ADD_ON + 1];
  guint n = 0, most = 0;
  for (gint i = 0; i < ADD_ON_ROWS; i++) {
    Place place = *found;
    if (refine (&rows[i], code, &place) >= fit - MAX_WORSE
        && read_row (&rows[i], &place, code, texts[n]))
      n++;
  }
  for (guint i = 0; i < n; i++) {
    guint same = 0;
    for (guint k = 0; k < n; k++)
      same += strcmp (texts[i], texts[k]) == 0;
    if (same > most) {
      most = same;
      memcpy (add_on, texts[i], sizeof texts[i]);
    }
  }
  return most >= MIN_ADD_ON_ROWS && 4 * (n - most) <= most;
}

double
sl_bars_add_on_room (const char *symbology)
{
  const gboolean is_short = strcmp (symbology, "ean-8") == 0 || strcmp (symbology, "upc-e") == 0;
  return is_short ? ROOM_SHORT : ROOM;
}

gboolean
sl_bars_add_on (const SlGray *gray, const char *symbology, const char *text,
                char add_on[SL_READ_MAX_ADD_ON + 1])
{
  const SlRect all = { 0, 0, gray->width, gray->height };
  Code code;
  if (!(strcmp (symbology, "ean-8") == 0   ? make_ean_8 (text, &code)
        : strcmp (symbology, "upc-e") == 0 ? make_upc_e (text, &code)
                                           : make_code (text, &code)))
    return FALSE;
  g_autofree Row *rows = g_new (Row, ADD_ON_ROWS);
  for (gint backwards = 0; backwards < 2; backwards++) {
    Place found = { 0 };
    double best = 0;
    for (gint i = 0; i < ADD_ON_ROWS; i++)
      take_row (gray, &all, gray->height * (i + 1) / (ADD_ON_ROWS + 1), backwards, &rows[i]);
    for (gint i = ADD_ON_ROWS / 3; i < ADD_ON_ROWS; i += ADD_ON_ROWS / 3) {
      Place place = { 0 };
      const double fit =
        find_place (&rows[i], &code, code.n < MODULES ? MIN_SHARE_BESIDE_SHORT : MIN_SHARE_BESIDE,
                    MAX_SHARE_BESIDE, &place);
      if (fit > best) {
        best = fit;
        found = place;
      }
    }
    if (best >= MIN_FIT)
      return read_rows (rows, &found, best, &code, add_on);
  }
  return FALSE;
}
