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

static const WalkScene scenes[] = {
  { "apart", 8, 200, 0, 4, 0.00, 0, 0, FALSE, FALSE },
  { "crossing", 16, 200, 0, 6, 0.00, 0, 0, TRUE, FALSE },
  { "turning", 14, 200, 0, 5, 0.03, 0, 0, FALSE, FALSE },
  { "pillars", 10, 200, 3, 6, 0.00, 0, 0, FALSE, FALSE },
  { "pillars-turning", 12, 200, 3, 5, 0.02, 0, 0, FALSE, FALSE },
  { "come-and-go", 20, 300, 1, 7, 0.01, 0, 0, TRUE, TRUE },
  { "crowd", 36, 200, 2, 4, 0.02, 0, 0, TRUE, FALSE },
  { "pan", 14, 200, 1, 5, 0.01, 14, 0, TRUE, FALSE },
  { "shake", 14, 200, 1, 5, 0.01, 0, 12, TRUE, FALSE },
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

void
walk_init (Walk *walk, const WalkScene *scene, guint32 seed)
{
  memset (walk, 0, sizeof *walk);
  walk->scene = scene;
  walk->random = g_rand_new_with_seed (seed);
  for (guint i = 0; i < scene->people; i++)
    place (walk, i);
  for (guint i = 0; i < scene->pillars; i++)
    walk->pillars[i] = WALKS_WIDTH * (i + 0.5) / scene->pillars - PILLAR_WIDTH / 2.0;
}

void
walk_clear (Walk *walk)
{
  g_rand_free (walk->random);
}

static gboolean
is_there (const Walk *walk, const Walker *self)
{
  return walk->frame >= self->enter && walk->frame < self->leave;
}

/* People turn at random and at the walls; those who come and go pass through walls. */
static void
step (Walk *walk, Walker *self)
{
  if (!is_there (walk, self))
    return;
  self->x += self->dx;
  self->y += self->dy;
  if (g_rand_double (walk->random) < walk->scene->turn) {
    const double angle = between (walk, -1.6, 1.6), dx = self->dx;
    self->dx = dx * cos (angle) - self->dy * sin (angle);
    self->dy = dx * sin (angle) + self->dy * cos (angle);
  }
  if (self->y < 200 || self->y > WALKS_HEIGHT - 120)
    self->dy = self->y < 200 ? fabs (self->dy) : -fabs (self->dy);
  if (!walk->scene->come && (self->x < 60 || self->x > WALKS_WIDTH - 60))
    self->dx = self->x < 60 ? fabs (self->dx) : -fabs (self->dx);
}

/* Whether the point is hidden by a pillar or by one who stands nearer. */
static gboolean
is_hidden (const Walk *walk, const Walker *self, double x, double y)
{
  for (guint i = 0; i < walk->scene->pillars; i++)
    if (x >= walk->pillars[i] && x < walk->pillars[i] + PILLAR_WIDTH)
      return TRUE;
  for (guint i = 0; i < walk->scene->people; i++) {
    const Walker *other = &walk->people[i];
    if (other != self && is_there (walk, other) && other->y + other->h / 2 > self->y + self->h / 2
        && fabs (x - other->x) < other->w / 2 && fabs (y - other->y) < other->h / 2)
      return TRUE;
  }
  return FALSE;
}

/* By 8 x 8 points. */
static double
visible (const Walk *walk, const Walker *self)
{
  guint seen = 0;
  for (guint i = 0; i < 64; i++)
    seen += !is_hidden (walk, self, self->x + self->w * ((i % 8 + 0.5) / 8 - 0.5),
                        self->y + self->h * ((i / 8 + 0.5) / 8 - 0.5));
  return seen / 64.0;
}

static void
add_found (Walk *walk, double x, double y, double w, double h, double confidence)
{
  x += JITTER * w * between (walk, -1, 1);
  y += JITTER * h * between (walk, -1, 1);
  w *= 1 + JITTER * between (walk, -1, 1);
  h *= 1 + JITTER * between (walk, -1, 1);
  walk->found[walk->n_found++] =
    (WalkBox){ 0, { x - w / 2, y - h / 2, x + w / 2, y + h / 2 }, confidence };
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
    (gint32) i + 1, { x - self->w / 2, y - self->h / 2, x + self->w / 2, y + self->h / 2 }, 1
  };
  if (self->visible > HIDDEN && g_rand_double (walk->random) > MISSED)
    add_found (walk, x, y, self->w, self->h,
               CLAMP (1.2 * self->visible - 0.2 + between (walk, -0.1, 0.1), 0.05, 0.95));
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
    step (walk, &walk->people[i]);
  for (guint i = 0; i < scene->people; i++)
    look (walk, i);
  if (g_rand_double (walk->random) < FALSE_BOX)
    add_found (walk, between (walk, 0, WALKS_WIDTH), between (walk, 0, WALKS_HEIGHT), 70, 160,
               between (walk, 0.1, 0.7));
  walk->frame++;
  return TRUE;
}
