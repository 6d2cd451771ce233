/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drawn sequences of walking people whose truth is known, and what a detector would find of them:
 * boxes that jitter, fade and vanish behind others and behind pillars, misses and false boxes. A
 * box has the mean colours that are seen in it, as a small embedding.
 */
#pragma once

#include <glib.h>

#define WALKS_WIDTH 1920
#define WALKS_HEIGHT 1080
#define WALKS_MOST 40
/** Numbers of an embedding: three colours of each of four bands, less their middle. */
#define WALKS_BANDS 4
#define WALKS_LOOK (3 * WALKS_BANDS)

/** A kind of sequence. @turn: chance that a person turns in a frame; @pillars: number of things
 * that hide; @pan: the camera's speed in pixels a frame, sideways and back; @shake: its jitter;
 * @outfits: 0 = everyone has one of their own; @beyond: pixels outside of the picture at which
 * people turn, 0 = inside. */
typedef struct
{
  const char *name;
  guint people, frames, pillars;
  double speed, turn, pan, shake;
  gboolean pairs; /* two and two walk towards each other */
  gboolean come;  /* they enter and leave */
  gboolean back;  /* half of the pairs turn where they meet */
  guint outfits;
  double beyond;
} WalkScene;

/** A person: where its box is in the scene, and since when. */
typedef struct
{
  double x, y, dx, dy, w, h;
  guint enter, leave;
  double visible; /* of the frame in hand: the share of the box that nothing hides */
  double outfit[WALKS_LOOK], look[WALKS_LOOK]; /* colours; those that are seen in its box */
  gboolean met;
} Walker;

/** A box of the truth has the number of its person, from 1 on; one that is found has none. */
typedef struct
{
  gint32 id;
  double corners[4], confidence;
  gfloat look[WALKS_LOOK];
} WalkBox;

/** A sequence while it is drawn, and its frame in hand. */
typedef struct
{
  const WalkScene *scene;
  GRand *random, *colours;
  Walker people[WALKS_MOST];
  double pillars[4];
  double camera[2];
  guint frame;
  WalkBox truth[WALKS_MOST], found[2 * WALKS_MOST];
  guint n_truth, n_found;
} Walk;

/** walk_scenes: @n: (out): how many there are. */
const WalkScene *walk_scenes (guint *n);
void walk_init (Walk *walk, const WalkScene *scene, guint32 seed);
void walk_clear (Walk *walk);
/** walk_next: draws the next frame; FALSE behind the last. */
gboolean walk_next (Walk *walk);
