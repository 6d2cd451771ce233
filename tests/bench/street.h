/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drawn frames of a fixed camera, I420: a textured scene with noise, through which people of real
 * pictures walk far away. Where they are on each frame is known.
 */
#pragma once

#include <gst/video/video.h>

#define STREET_WIDTH 1920
#define STREET_HEIGHT 1080
#define STREET_FPS 15
#define STREET_BYTES (STREET_WIDTH * STREET_HEIGHT * 3 / 2)
#define STREET_MOST 16

/** A walk. @begin: seconds; @height: of the person, in pixels; @feet: row of the feet, 0..1 of the
 * frame; @from, @to: middle of the person, 0..1 of the frame, outside = not in the picture;
 * @stop: seconds that the person stands still in the middle of the way */
typedef struct
{
  double begin;
  gint height;
  double feet, from, to, stop;
} StreetWalk;

/** @walks: up to one without a height */
typedef struct
{
  const char *name;
  StreetWalk walks[STREET_MOST];
} StreetScene;

/** In pixels of the frame. @walk: which; @whole: what is in the picture, 0..1 */
typedef struct
{
  guint walk;
  double x_min, y_min, x_max, y_max, whole;
} StreetPerson;

typedef struct _Street Street;

Street *street_new (void);
void street_free (Street *street);
/** street_add: people of walks are the parts @x, @y, @width, @height of mapped I420 pictures, in
 * turn. */
void street_add (Street *street, const GstVideoFrame *picture, gint x, gint y, gint width,
                 gint height);
/** street_has: how many were added. Those below need one. */
guint street_has (const Street *street);
/** street_people: who is on frame @frame. Returns how many. */
guint street_people (const Street *street, const StreetScene *scene, guint frame,
                     StreetPerson people[STREET_MOST]);
/** street_draw: writes frame @frame to @out, of STREET_BYTES bytes. The same frame has the same
 * pixels each time. */
void street_draw (const Street *street, const StreetScene *scene, guint frame, guint8 *out);
