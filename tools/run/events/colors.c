/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Each pixel votes for a name, by hue, saturation and brightness. */
#include "tools/run/events/colors.h"

enum
{
  BLACK,
  WHITE,
  GRAY,
  RED,
  ORANGE,
  YELLOW,
  GREEN,
  BLUE,
  PURPLE,
  PINK,
  BROWN,
  N_COLORS
};

const char *const sl_color_names[] = { "black", "white", "gray",   "red",  "orange", "yellow",
                                       "green", "blue",  "purple", "pink", "brown",  NULL };

/* Degrees of a saturated colour. */
static guint
hue_of (gint r, gint g, gint b, gint max, gint range)
{
  const gint sixth = max == r   ? 60 * (g - b) / range
                     : max == g ? 60 * (b - r) / range + 120
                                : 60 * (r - g) / range + 240;
  return (guint) (sixth < 0 ? sixth + 360 : sixth);
}

static guint
name_of (const guint8 *pixel)
{
  static const struct
  {
    guint hue, color;
  } ends[] = { { 15, RED },   { 42, ORANGE },  { 68, YELLOW }, { 165, GREEN },
               { 260, BLUE }, { 300, PURPLE }, { 340, PINK },  { 360, RED } };
  const gint r = pixel[0], g = pixel[1], b = pixel[2];
  const gint max = MAX (r, MAX (g, b)), range = max - MIN (r, MIN (g, b));
  guint i = 0;
  if (max < 50)
    return BLACK;
  if (5 * range < max) /* hardly any colour */
    return max > 190 ? WHITE : max < 75 ? BLACK : GRAY;
  const guint hue = hue_of (r, g, b, max, range);
  while (hue > ends[i].hue)
    i++;
  if (ends[i].color == ORANGE && max < 150)
    return BROWN;
  return ends[i].color == RED && max > 180 && 10 * range < 6 * max ? PINK : ends[i].color;
}

/* Of equally many votes the more colourful name counts. */
const char *
sl_color_of_pixels (const guint8 *pixels, gsize n)
{
  gsize votes[N_COLORS] = { 0 };
  guint best = 0;
  for (gsize i = 0; i < n; i++)
    votes[name_of (pixels + 3 * i)]++;
  for (guint i = 1; i < N_COLORS; i++)
    if (votes[i] >= votes[best])
      best = i;
  return sl_color_names[best];
}
