/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/walks.h"

#include <math.h>
#include <string.h>

/* A detector's errors: jitter as a share of the size, misses of a whole person, false boxes. */
#define JITTER 0.03
#define MISSED 0.04
#define FALSE_BOX 0.25
/* Below this share of visible area nothing is found. */
#define HIDDEN 0.3
#define PILLAR_WIDTH 110
/* Colours: noise of an embedding, and the colour of pillars. */
#define COLOUR_NOISE 0.15
#define PILLAR_COLOUR 0.1
#define NOBODY (-1)
#define PILLAR (-2)

static const WalkScene scenes[] = {
  { "apart", 8, 200, 0, 4, 0.00, 0, 0, FALSE, FALSE, FALSE, 0, 0 },
  { "crossing", 16, 200, 0, 6, 0.00, 0, 0, TRUE, FALSE, FALSE, 0, 0 },
  { "turning", 14, 200, 0, 5, 0.03, 0, 0, FALSE, FALSE, FALSE, 0, 0 },
  { "pillars", 10, 200, 3, 6, 0.00, 0, 0, FALSE, FALSE, FALSE, 0, 0 },
  { "pillars-turning", 12, 200, 3, 5, 0.02, 0, 0, FALSE, FALSE, FALSE, 0, 0 },
  { "come-and-go", 20, 300, 1, 7, 0.01, 0, 0, TRUE, TRUE, FALSE, 0, 0 },
  { "crowd", 36, 200, 2, 4, 0.02, 0, 0, TRUE, FALSE, FALSE, 0, 0 },
  { "pan", 14, 200, 1, 5, 0.01, 14, 0, TRUE, FALSE, FALSE, 0, 0 },
  { "shake", 14, 200, 1, 5, 0.01, 0, 12, TRUE, FALSE, FALSE, 0, 0 },
  { "jerk", 14, 200, 1, 5, 0.01, 0, 30, TRUE, FALSE, FALSE, 0, 0 },
  { "about-turn", 16, 200, 0, 6, 0.00, 0, 0, TRUE, FALSE, TRUE, 0, 0 },
  { "look-alikes", 16, 200, 0, 6, 0.00, 0, 0, TRUE, FALSE, FALSE, 2, 0 },
  { "out-and-back", 12, 300, 0, 7, 0.01, 0, 0, TRUE, FALSE, FALSE, 0, 300 },
};

const WalkScene *
walk_scenes (guint *n)
{
  *n = G_N_ELEMENTS (scenes);
  return scenes;
}

static double
between (Walk *walk, double low, double high)
{
  return low + (high - low) * g_rand_double (walk->random);
}

/* Two of a pair are on one line and walk towards each other; they are of one size. */
static void
place (Walk *walk, guint i)
{
  const WalkScene *scene = walk->scene;
  Walker *self = &walk->people[i];
  const gboolean second = scene->pairs && i % 2;
  const double speed = scene->speed * between (walk, 0.6, 1.4);
  self->h = between (walk, 120, 260);
  self->y = between (walk, 250, WALKS_HEIGHT - 150);
  self->x = between (walk, 100, WALKS_WIDTH - 100);
  self->dx = g_rand_boolean (walk->random) ? speed : -speed;
  self->dy = between (walk, -0.3, 0.3) * speed;
  self->enter = 0;
  self->leave = scene->frames;
  if (scene->come) {
    self->enter = (guint) between (walk, 0, scene->frames * 0.7);
    self->leave = self->enter + (guint) between (walk, 40, 160);
  }
  if (second) {
    const Walker *other = &walk->people[i - 1];
    const double meet = between (walk, 30, 100);
    self->h = other->h * between (walk, 0.95, 1.05);
    self->dx = other->dx > 0 ? -speed : speed;
    self->enter = other->enter;
    self->leave = other->leave;
    self->x = other->x + meet * (other->dx - self->dx);
    self->y = other->y + meet * (other->dy - self->dy) + between (walk, -15, 15);
  }
  self->w = self->h * between (walk, 0.38, 0.45);
}

static void
dress (Walk *walk, guint i)
{
  const guint outfits = walk->scene->outfits;
  for (guint k = 0; k < WALKS_LOOK; k++)
    walk->people[i].outfit[k] = outfits > 0 && i >= outfits
                                  ? walk->people[i % outfits].outfit[k]
                                  : g_rand_double_range (walk->colours, -1, 1);
}

void
walk_init (Walk *walk, const WalkScene *scene, guint32 seed)
{
  memset (walk, 0, sizeof *walk);
  walk->scene = scene;
  walk->random = g_rand_new_with_seed (seed);
  walk->colours = g_rand_new_with_seed (seed + 1000);
  for (guint i = 0; i < scene->people; i++) {
    place (walk, i);
    dress (walk, i);
  }
  for (guint i = 0; i < scene->pillars; i++)
    walk->pillars[i] = WALKS_WIDTH * (i + 0.5) / scene->pillars - PILLAR_WIDTH / 2.0;
}

void
walk_clear (Walk *walk)
{
  g_rand_free (walk->random);
  g_rand_free (walk->colours);
}

static gboolean
is_there (const Walk *walk, const Walker *self)
{
  return walk->frame >= self->enter && walk->frame < self->leave;
}

/* Half of the pairs turn where they meet: both go back. */
static void
meet (Walk *walk, guint i)
{
  Walker *self = &walk->people[i], *other = &walk->people[i ^ 1];
  if (self->met || fabs (self->x - other->x) > 0.4 * self->w)
    return;
  self->met = other->met = TRUE;
  if (i % 4 < 2) {
    self->dx = -self->dx;
    other->dx = -other->dx;
  }
}

/* People turn at random and at the walls; those who come and go pass through walls. */
static void
step (Walk *walk, guint i)
{
  Walker *self = &walk->people[i];
  const double wall = walk->scene->beyond > 0 ? -walk->scene->beyond : 60;
  if (!is_there (walk, self))
    return;
  if (walk->scene->back)
    meet (walk, i);
  self->x += self->dx;
  self->y += self->dy;
  if (g_rand_double (walk->random) < walk->scene->turn) {
    const double angle = between (walk, -1.6, 1.6), dx = self->dx;
    self->dx = dx * cos (angle) - self->dy * sin (angle);
    self->dy = dx * sin (angle) + self->dy * cos (angle);
  }
  if (self->y < 200 || self->y > WALKS_HEIGHT - 120)
    self->dy = self->y < 200 ? fabs (self->dy) : -fabs (self->dy);
  if (!walk->scene->come && (self->x < wall || self->x > WALKS_WIDTH - wall))
    self->dx = self->x < wall ? fabs (self->dx) : -fabs (self->dx);
}

/* Those who stand nearer than @self, and whose boxes overlap; returns how many. */
static guint
find_near (const Walk *walk, const Walker *self, guint near[WALKS_MOST])
{
  guint n = 0;
  for (guint i = 0; i < walk->scene->people; i++) {
    const Walker *other = &walk->people[i];
    if (other != self && is_there (walk, other) && other->y + other->h / 2 > self->y + self->h / 2
        && fabs (self->x - other->x) < (self->w + other->w) / 2
        && fabs (self->y - other->y) < (self->h + other->h) / 2)
      near[n++] = i;
  }
  return n;
}

/* What hides the point: a pillar, one of @n who stand nearer, or nobody. */
static gint
hider (const Walk *walk, const guint *near, guint n, double x, double y)
{
  for (guint i = 0; i < walk->scene->pillars; i++)
    if (x >= walk->pillars[i] && x < walk->pillars[i] + PILLAR_WIDTH)
      return PILLAR;
  for (guint i = 0; i < n; i++) {
    const Walker *other = &walk->people[near[i]];
    if (fabs (x - other->x) < other->w / 2 && fabs (y - other->y) < other->h / 2)
      return (gint) near[i];
  }
  return NOBODY;
}

/* Adds what is seen at height @y of row @row of eight. */
static void
add_colour (const Walk *walk, Walker *self, gint who, double y, guint row)
{
  const Walker *seen = who >= 0 ? &walk->people[who] : self;
  const guint band =
    (guint) CLAMP ((0.5 + (y - seen->y) / seen->h) * WALKS_BANDS, 0, WALKS_BANDS - 1);
  for (guint k = 0; k < 3; k++)
    self->look[3 * (row * WALKS_BANDS / 8) + k] +=
      (who == PILLAR ? PILLAR_COLOUR : seen->outfit[3 * band + k]) / (8 * 8 / WALKS_BANDS);
}

/* By 8 x 8 points. */
static double
visible (const Walk *walk, Walker *self)
{
  guint seen = 0, near[WALKS_MOST];
  const guint n = find_near (walk, self, near);
  memset (self->look, 0, sizeof self->look);
  for (guint i = 0; i < 64; i++) {
    const double y = self->y + self->h * ((i / 8 + 0.5) / 8 - 0.5);
    const gint who = hider (walk, near, n, self->x + self->w * ((i % 8 + 0.5) / 8 - 0.5), y);
    seen += who == NOBODY;
    add_colour (walk, self, who, y, i / 8);
  }
  return seen / 64.0;
}

/* @look: (nullable): colours in the box; NULL = any */
static void
add_found (Walk *walk, double x, double y, double w, double h, double confidence,
           const double *look)
{
  x += JITTER * w * between (walk, -1, 1);
  y += JITTER * h * between (walk, -1, 1);
  w *= 1 + JITTER * between (walk, -1, 1);
  h *= 1 + JITTER * between (walk, -1, 1);
  WalkBox *found = &walk->found[walk->n_found++];
  *found = (WalkBox){ 0, { x - w / 2, y - h / 2, x + w / 2, y + h / 2 }, confidence, { 0 } };
  for (guint k = 0; k < WALKS_LOOK; k++)
    found->look[k] = (gfloat) ((look != NULL ? look[k] : g_rand_double_range (walk->colours, -1, 1))
                               + g_rand_double_range (walk->colours, -COLOUR_NOISE, COLOUR_NOISE));
}

static void
look (Walk *walk, guint i)
{
  Walker *self = &walk->people[i];
  const double x = self->x + walk->camera[0], y = self->y + walk->camera[1];
  if (!is_there (walk, self) || x < 0 || x > WALKS_WIDTH)
    return;
  self->visible = visible (walk, self);
  walk->truth[walk->n_truth++] = (WalkBox){
    (gint32) i + 1, { x - self->w / 2, y - self->h / 2, x + self->w / 2, y + self->h / 2 }, 1, { 0 }
  };
  if (self->visible > HIDDEN && g_rand_double (walk->random) > MISSED)
    add_found (walk, x, y, self->w, self->h,
               CLAMP (1.2 * self->visible - 0.2 + between (walk, -0.1, 0.1), 0.05, 0.95),
               self->look);
}

/* The truth has what is hidden, too: a tracker that finds it again should know it. */
gboolean
walk_next (Walk *walk)
{
  const WalkScene *scene = walk->scene;
  if (walk->frame >= scene->frames)
    return FALSE;
  walk->n_truth = walk->n_found = 0;
  walk->camera[0] =
    scene->pan * 25 * sin (walk->frame / 25.0) + scene->shake * between (walk, -1, 1);
  walk->camera[1] = scene->shake * between (walk, -1, 1);
  for (guint i = 0; i < scene->people; i++)
    step (walk, i);
  for (guint i = 0; i < scene->people; i++)
    look (walk, i);
  if (g_rand_double (walk->random) < FALSE_BOX)
    add_found (walk, between (walk, 0, WALKS_WIDTH), between (walk, 0, WALKS_HEIGHT), 70, 160,
               between (walk, 0.1, 0.7), NULL);
  walk->frame++;
  return TRUE;
}
