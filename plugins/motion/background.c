/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Loops over small pixels. Means and deviations are exponential: what is near the mean moves it
 * with a time constant of two seconds, what is far from it as slowly as "learn" says.
 */
#include "plugins/motion/background.h"

#include <math.h>
#include <string.h>

#define UNIT 128          /* of mean and deviation: one level */
#define GAIN_UNIT 4096    /* an exposure that did not change */
#define RATE_UNIT 32768   /* a mean that becomes the value */
#define FAST_SECONDS 2.0  /* time constant of what did not change */
#define DEVIATIONS 4      /* mean deviations that are noise */
#define FIRST_DEVIATION 2 /* levels, before there is a measurement */
#define MOST_CHANGED 0.6  /* parts of the picture; more is another light */
#define SAMPLED 3         /* each third small pixel each way decides about the exposure */
#define RATIO_UNIT 256    /* bins of the histogram of ratios for 1 */
#define RATIO_BINS 1024
#define DARKEST_SHADOW 0.55 /* of the background's luma */
#define LIGHTEST_SHADOW 0.95
#define SHADOW_TEXTURE 0.06 /* how far ratios of neighbours differ in a shadow */

void
sl_background_clear (SlBackground *background)
{
  g_free (background->changed);
  g_free (background->now);
  g_free (background->mean);
  g_free (background->deviation);
  *background = (SlBackground){ 0 };
}

void
sl_background_forget (SlBackground *background)
{
  background->learnt = FALSE;
}

static void
resize (SlBackground *background, gint width, gint height)
{
  const gsize n = (gsize) width * (gsize) height;
  if (background->changed != NULL && background->width == width && background->height == height)
    return;
  sl_background_clear (background);
  background->width = width;
  background->height = height;
  background->changed = g_malloc0 (MAX (n, 1));
  background->now = g_malloc (MAX (n, 1));
  background->mean = g_new (gint16, MAX (n, 1));
  background->deviation = g_new (gint16, MAX (n, 1));
}

/* Eight of the sixteen pixels of each small one: the first and the third row. */
static void
shrink_row (const guint8 *restrict first, const guint8 *restrict third, gint n, gint step,
            guint8 *restrict small)
{
  for (gint x = 0; x < n; x++, first += 4 * step, third += 4 * step)
    small[x] = (guint8) ((first[0] + first[step] + first[2 * step] + first[3 * step] + third[0]
                          + third[step] + third[2 * step] + third[3 * step] + 4)
                         >> 3);
}

static void
shrink (SlBackground *background, const SlLuma *luma)
{
  for (gint y = 0; y < background->height; y++) {
    const guint8 *row = luma->data + (gssize) y * SL_BACKGROUND_SCALE * luma->stride,
                 *third = row + (gssize) 2 * luma->stride;
    guint8 *small = background->now + (gsize) y * (gsize) background->width;
    if (luma->step == 1)
      shrink_row (row, third, background->width, 1, small);
    else
      shrink_row (row, third, background->width, luma->step, small);
  }
}

static void
learn_whole (SlBackground *background)
{
  const gsize n = (gsize) background->width * (gsize) background->height;
  for (gsize i = 0; i < n; i++) {
    background->mean[i] = (gint16) (background->now[i] * UNIT);
    if (!background->learnt)
      background->deviation[i] = FIRST_DEVIATION * UNIT;
  }
  memset (background->changed, SL_PIXEL_SAME, n);
  background->learnt = TRUE;
}

/* The median ratio of the frame to the background: half of the picture may move. */
static gint
find_gain (const SlBackground *background)
{
  guint bins[RATIO_BINS] = { 0 }, n = 0, below = 0;
  for (gint y = 0; y < background->height; y += SAMPLED)
    for (gint x = 0; x < background->width; x += SAMPLED) {
      const gsize i = (gsize) y * (gsize) background->width + (gsize) x;
      const gint now = background->now[i], mean = background->mean[i] / UNIT;
      if (mean < 8 || now < 4 || now > 250)
        continue; /* clipped, or too dark for a ratio */
      bins[MIN (now * UNIT * RATIO_UNIT / background->mean[i], RATIO_BINS - 1)]++;
      n++;
    }
  if (n < 64)
    return GAIN_UNIT;
  for (gint bin = 0; bin < RATIO_BINS; below += bins[bin++])
    if (2 * (below + bins[bin]) >= n)
      return (gint) (GAIN_UNIT * (bin + (n / 2.0 - below) / bins[bin]) / RATIO_UNIT);
  return GAIN_UNIT;
}

typedef struct
{
  gint gain, limit, fast, slow, slow_deviation;
} Step;

/* Compares small pixels with their means, and moves those. Returns how many changed. */
static guint
compare (SlBackground *background, const Step *step)
{
  const gsize n = (gsize) background->width * (gsize) background->height;
  const guint8 *restrict now = background->now;
  gint16 *restrict mean = background->mean, *restrict deviation = background->deviation;
  guint8 *restrict changed = background->changed;
  const gint gain = step->gain, limit = step->limit, fast = step->fast, slow = step->slow,
             slow_deviation = step->slow_deviation;
  guint count = 0;
  for (gsize i = 0; i < n; i++) {
    const gint was = MIN (mean[i] * gain / GAIN_UNIT, 255 * UNIT), difference = now[i] * UNIT - was,
               distance = ABS (difference), far = distance > MAX (limit, DEVIATIONS * deviation[i]);
    const gint rate = far ? slow : fast, deviation_rate = far ? slow_deviation : fast,
               towards = MIN (distance, 64 * UNIT);
    mean[i] = (gint16) (was + difference * rate / RATE_UNIT);
    deviation[i] = (gint16) (deviation[i] + (towards - deviation[i]) * deviation_rate / RATE_UNIT);
    changed[i] = (guint8) far;
    count += (guint) far;
  }
  return count;
}

/* Whether the small pixel @i is as much darker than the background as its neighbour @other. */
static gboolean
has_texture_of (const SlBackground *background, gsize i, gsize other, gdouble tolerance)
{
  const gdouble expected =
    background->now[other] * (gdouble) background->mean[i] / MAX (background->mean[other], UNIT);
  return fabs (background->now[i] - expected)
         <= MAX (SHADOW_TEXTURE * background->now[i], tolerance);
}

/* Marks changed pixels that are darker in the way of a shadow. */
static void
mark_shadows (SlBackground *background, gdouble tolerance)
{
  const gsize width = (gsize) background->width, n = width * (gsize) background->height;
  for (gsize i = 0; i < n; i++) {
    const gdouble now = background->now[i] * (gdouble) UNIT, mean = background->mean[i];
    if (!background->changed[i] || now < DARKEST_SHADOW * mean || now > LIGHTEST_SHADOW * mean)
      continue;
    const gsize x = i % width, left = x > 0 ? i - 1 : i + (width > 1),
                right = x + 1 < width ? i + 1 : left, above = i >= width ? i - width : i,
                below = i + width < n ? i + width : i;
    if ((has_texture_of (background, i, left, tolerance)
         || has_texture_of (background, i, right, tolerance))
        && (has_texture_of (background, i, above, tolerance)
            || has_texture_of (background, i, below, tolerance)))
      background->changed[i] = SL_PIXEL_SHADOW;
  }
}

/* Whether one of the eight neighbours of the small pixel at @x, @y is @what. */
static gboolean
touches (const SlBackground *background, gint x, gint y, guint8 what)
{
  for (gint v = MAX (y - 1, 0); v <= MIN (y + 1, background->height - 1); v++)
    for (gint u = MAX (x - 1, 0); u <= MIN (x + 1, background->width - 1); u++)
      if (background->changed[v * background->width + u] == what)
        return TRUE;
  return FALSE;
}

/* Marks the edges of shadows: darker pixels between a shadow and what did not change. */
static void
mark_edges (SlBackground *background)
{
  for (gint y = 0; y < background->height; y++)
    for (gint x = 0; x < background->width; x++) {
      const gsize i = (gsize) y * (gsize) background->width + (gsize) x;
      if (background->changed[i] == SL_PIXEL_CHANGED
          && background->now[i] * UNIT < background->mean[i]
          && touches (background, x, y, SL_PIXEL_SHADOW)
          && touches (background, x, y, SL_PIXEL_SAME))
        background->changed[i] = SL_PIXEL_EDGE;
    }
}

/* The part of RATE_UNIT that a mean moves in @seconds. */
static gint
rate_of (gdouble seconds, gdouble constant)
{
  return (gint) CLAMP (RATE_UNIT * -expm1 (-seconds / constant) + 0.5, 1, RATE_UNIT);
}

SlBackgroundResult
sl_background_see (SlBackground *background, const SlLuma *luma,
                   const SlBackgroundSettings *settings, gdouble seconds)
{
  resize (background, luma->width / SL_BACKGROUND_SCALE, luma->height / SL_BACKGROUND_SCALE);
  shrink (background, luma);
  if (!background->learnt) {
    learn_whole (background);
    return SL_BACKGROUND_LEARNT;
  }
  const Step step = { find_gain (background), (gint) (settings->threshold * UNIT),
                      rate_of (seconds, FAST_SECONDS), rate_of (seconds, settings->learn),
                      rate_of (seconds, 4 * settings->learn) };
  const guint changed = compare (background, &step);
  if (changed > MOST_CHANGED * background->width * background->height) {
    learn_whole (background);
    return SL_BACKGROUND_RELEARNT;
  }
  if (!settings->shadows && changed > 0) {
    mark_shadows (background, settings->threshold / 2);
    mark_edges (background);
  }
  return SL_BACKGROUND_COMPARED;
}
