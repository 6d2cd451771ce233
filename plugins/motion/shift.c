/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The shift with the least sum of absolute differences of two small pictures. It is looked for in
 * coarse pixels first, then in small ones around the result. The sum of differences hardly follows
 * objects that move, as long as most of the picture is background. Tiles vote whether it is, and
 * say what lies between two small pixels.
 */
#include "plugins/motion/shift.h"

#include <math.h>
#include <stdlib.h>

#define SMALL 8 /* pixels of a small pixel's side */
/* Coarse pixels that are searched each way, and small ones around twice the result; small ones from
 * the best shift to those that must be clearly worse. */
#define FAR (SL_SHIFT_FARTHEST / SMALL / 2)
#define NEAR 2
#define BESIDE 2
/* The mean of pictures that are compared. */
#define MIDDLE 128
/* Smaller pictures say nothing. */
#define LEAST 4
#define TILES 4
/* Shares of a tile's differences without a shift that speak for one and against it. */
#define BETTER 0.8
#define WORSE 1.25
/* Differences of a tile beside the best shift, of those of that: less says nothing. */
#define CLEAR 1.15
/* Tiles that say something, at least. */
#define FEW 3
/* Shifts below this are a camera that stands still, in pixels. */
#define STILL 1.0

typedef struct
{
  const guint8 *now, *before;
  gint size[2];     /* of the pictures, x and y, like the next one */
  gint farthest[2]; /* shifts that are looked for */
} Pair;

/* A rectangle of @now: left, top, right, bottom. */
typedef struct
{
  gint left, top, right, bottom;
} Part;

void
sl_shift_clear (SlShift *shift)
{
  for (guint i = 0; i < 2; i++) {
    g_free (shift->small[i]);
    g_free (shift->coarse[i]);
  }
  g_free (shift->sums);
  *shift = (SlShift){ 0 };
}

void
sl_shift_forget (SlShift *shift)
{
  shift->known = FALSE;
}

static void
resize (SlShift *shift, const SlLuma *luma)
{
  const gint width = luma->width / SMALL, height = luma->height / SMALL;
  if (shift->sums != NULL && shift->width == width && shift->height == height)
    return;
  sl_shift_clear (shift);
  shift->width = width;
  shift->height = height;
  for (guint i = 0; i < 2; i++) {
    shift->small[i] = g_malloc0 ((gsize) MAX (width * height, 1));
    shift->coarse[i] = g_malloc0 ((gsize) MAX ((width / 2) * (height / 2), 1));
  }
  shift->sums = g_new (guint16, (gsize) MAX (width * SMALL, 1));
}

static void
add_rows (const guint8 *restrict a, const guint8 *restrict b, gint n, gint step,
          guint16 *restrict sums)
{
  for (gint x = 0; x < n; x++)
    sums[x] = (guint16) (a[x * step] + b[x * step]);
}

/* Two of the eight rows of a small pixel are read: noise is small in the mean of 16 pixels. */
static void
shrink (SlShift *shift, const SlLuma *luma)
{
  const gint n = shift->width * SMALL;
  guint8 *small = shift->small[shift->now];
  for (gint y = 0; y < shift->height; y++) {
    const guint8 *a = luma->data + (gssize) (y * SMALL + 2) * luma->stride,
                 *b = luma->data + (gssize) (y * SMALL + 5) * luma->stride;
    if (luma->step == 1)
      add_rows (a, b, n, 1, shift->sums);
    else
      add_rows (a, b, n, luma->step, shift->sums);
    for (gint x = 0; x < shift->width; x++) {
      const guint16 *sums = shift->sums + x * SMALL;
      *small++ = (guint8) ((sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6]
                            + sums[7] + 8)
                           >> 4);
    }
  }
}

/* The mean becomes the same for all pictures, so that the light does not count. */
static void
level (guint8 *pixels, gint n)
{
  guint64 sum = 0;
  for (gint i = 0; i < n; i++)
    sum += pixels[i];
  const gint more = MIDDLE - (gint) (sum / (guint64) n);
  for (gint i = 0; i < n; i++)
    pixels[i] = (guint8) CLAMP (pixels[i] + more, 0, 255);
}

static void
shrink_again (SlShift *shift)
{
  const gint width = shift->width / 2, height = shift->height / 2;
  guint8 *coarse = shift->coarse[shift->now];
  for (gint y = 0; y < height; y++) {
    const guint8 *a = shift->small[shift->now] + (gsize) (2 * y) * (gsize) shift->width,
                 *b = a + shift->width;
    for (gint x = 0; x < width; x++)
      *coarse++ = (guint8) ((a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1] + 2) >> 2);
  }
}

static guint
differ_row (const guint8 *restrict a, const guint8 *restrict b, gint n)
{
  guint sum = 0;
  for (gint x = 0; x < n; x++)
    sum += (guint) abs (a[x] - b[x]);
  return sum;
}

/* The mean difference in what both pictures show of @part, if the picture moved by @x and @y. */
static gdouble
differ (const Pair *pair, const Part *part, gint x, gint y)
{
  const gint left = MAX (part->left, x), right = MIN (part->right, pair->size[0] + x),
             top = MAX (part->top, y), bottom = MIN (part->bottom, pair->size[1] + y);
  guint64 sum = 0;
  if (left >= right || top >= bottom)
    return 0;
  for (gint row = top; row < bottom; row++)
    sum += differ_row (pair->now + row * pair->size[0] + left,
                       pair->before + (row - y) * pair->size[0] + left - x, right - left);
  return (gdouble) sum / (right - left) / (bottom - top);
}

static Part
whole (const Pair *pair)
{
  return (Part){ 0, 0, pair->size[0], pair->size[1] };
}

/* The best shift within @reach of @best, which it becomes; of equal ones the one that @best was. */
static void
search (const Pair *pair, gint reach, gint best[2])
{
  const Part all = whole (pair);
  const gint from[2] = { best[0], best[1] };
  gdouble least = differ (pair, &all, from[0], from[1]);
  for (gint y = from[1] - reach; y <= from[1] + reach; y++)
    for (gint x = from[0] - reach; x <= from[0] + reach; x++) {
      if (ABS (x) > pair->farthest[0] || ABS (y) > pair->farthest[1])
        continue;
      const gdouble mean = differ (pair, &all, x, y);
      if (mean < least) {
        least = mean;
        best[0] = x;
        best[1] = y;
      }
    }
}

/* Where two lines of one slope meet: -0.5..0.5 from the middle one of three. */
static gdouble
between (gdouble before, gdouble middle, gdouble after)
{
  const gdouble rise = MAX (before, after) - middle;
  return rise > 0 ? (before - after) / (2 * rise) : 0;
}

static Part
tile_at (const Pair *pair, gint i)
{
  const gint width = pair->size[0] / TILES, height = pair->size[1] / TILES,
             left = i % TILES * width, top = i / TILES * height;
  return (Part){ left, top, left + width, top + height };
}

/* Whether the picture before has all of @tile, if the picture moved by @by. */
static gboolean
is_shown (const Pair *pair, const Part *tile, const gint by[2])
{
  return tile->left >= by[0] && tile->right <= pair->size[0] + by[0] && tile->top >= by[1]
         && tile->bottom <= pair->size[1] + by[1];
}

/* Whether most tiles that say something agree with the shift. In noise alone one or two do by
 * chance. The nearest shifts differ too little from none for that. */
static gboolean
agrees (const Pair *pair, const gint best[2])
{
  guint better = 0, worse = 0;
  if (ABS (best[0]) <= 1 && ABS (best[1]) <= 1)
    return TRUE;
  for (gint i = 0; i < TILES * TILES; i++) {
    const Part tile = tile_at (pair, i);
    if (!is_shown (pair, &tile, best))
      continue;
    const gdouble still = differ (pair, &tile, 0, 0),
                  moved = differ (pair, &tile, best[0], best[1]);
    better += moved < BETTER * still;
    worse += moved > WORSE * still;
  }
  return better >= FEW && better > 2 * worse;
}

static Pair
pair_of (guint8 *const pictures[2], guint now, gint width, gint height, gint farthest)
{
  return (Pair){ pictures[now],
                 pictures[1 - now],
                 { width, height },
                 { MIN (farthest, width / 4), MIN (farthest, height / 4) } };
}

/* Adds the place between the small pixels around @best, by one axis, that tile @i tells. A tile
 * that would fit as well elsewhere has no texture, or is of another picture, and tells none. */
static void
add_place (const Pair *pair, const gint best[2], guint axis, gint i, gdouble *places, guint *n)
{
  const Part tile = tile_at (pair, i);
  const gint x = axis == 0, y = axis == 1;
  gdouble means[2 * BESIDE + 1];
  for (gint k = -BESIDE; k <= BESIDE; k++)
    means[k + BESIDE] = differ (pair, &tile, best[0] + k * x, best[1] + k * y);
  const gdouble *middle = &means[BESIDE],
                place = best[axis] + between (middle[-1], middle[0], middle[1]);
  if (MIN (middle[-BESIDE], middle[BESIDE]) <= CLEAR * middle[0])
    return;
  guint k = (*n)++;
  for (; k > 0 && places[k - 1] > place; k--)
    places[k] = places[k - 1];
  places[k] = place;
}

/* The median of the tiles' places: things that move are in a few tiles. */
static gboolean
refine (const Pair *pair, const gint best[2], guint axis, gdouble *place)
{
  gdouble places[TILES * TILES] = { 0 };
  guint n = 0;
  for (gint i = 0; i < TILES * TILES; i++)
    add_place (pair, best, axis, i, places, &n);
  *place = places[n / 2];
  return n >= FEW;
}

/* With a picture before. */
static gboolean
compare (const SlShift *shift, gdouble moved[2])
{
  const Pair coarse = pair_of (shift->coarse, shift->now, shift->width / 2, shift->height / 2, FAR),
             small = pair_of (shift->small, shift->now, shift->width, shift->height, 2 * FAR);
  gint best[2] = { 0, 0 };
  search (&coarse, FAR, best);
  best[0] *= 2;
  best[1] *= 2;
  search (&small, NEAR, best);
  for (guint k = 0; k < 2; k++) {
    gdouble place;
    if (!refine (&small, best, k, &place))
      return FALSE;
    moved[k] = SMALL * place;
  }
  return hypot (moved[0], moved[1]) >= STILL && agrees (&small, best);
}

gboolean
sl_shift_see (SlShift *shift, const SlLuma *luma, gdouble moved[2])
{
  resize (shift, luma);
  shift->now = 1 - shift->now;
  const gboolean first = !shift->known;
  shift->known = MIN (shift->width, shift->height) >= 2 * LEAST;
  moved[0] = moved[1] = 0;
  if (!shift->known)
    return FALSE;
  shrink (shift, luma);
  level (shift->small[shift->now], shift->width * shift->height);
  shrink_again (shift);
  if (!first && compare (shift, moved))
    return TRUE;
  moved[0] = moved[1] = 0;
  return FALSE;
}
