/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The still scene is drawn once with each of a few patterns of noise. A person is a part of a
 * picture with soft edges, made smaller for each walk, and is added as a difference from the still
 * scene, so that the noise stays.
 */
#include "tests/bench/street.h"

#include <math.h>
#include <string.h>

#define PATTERNS 8
#define NOISE 3.0
/* Of the width and height of a person: soft edge. */
#define SOFT 0.12
/* Heights of a person a second. */
#define SPEED 1.2
#define CHROMA_WIDTH (STREET_WIDTH / 2)
#define LUMA (STREET_WIDTH * STREET_HEIGHT)

/* A part of a picture; @planes: Y, U, V, the latter of half the width and height. */
typedef struct
{
  gint width, height;
  guint8 *planes[3];
} Cut;

struct _Street
{
  guint8 *still, *noisy[PATTERNS];
  GArray *cuts; /* of Cut */
};

static guint32
next_random (guint32 *state)
{
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* A random value in -1..1 for each point of a grid, linear in between. */
static double
lattice (gint x, gint y, gint cell)
{
  const gint u = x / cell, v = y / cell;
  const double right = x % cell / (double) cell, down = y % cell / (double) cell;
  double corners[4];
  for (gint i = 0; i < 4; i++) {
    guint32 state = (guint32) ((u + i % 2) * 73856093) ^ (guint32) ((v + i / 2) * 19349663)
                    ^ (guint32) (cell * 83492791);
    next_random (&state);
    corners[i] = next_random (&state) / (double) (1 << 23) - 1;
  }
  return (corners[0] * (1 - right) + corners[1] * right) * (1 - down)
         + (corners[2] * (1 - right) + corners[3] * right) * down;
}

/* A ground with patches of all sizes, brighter nearby, and a lane each 120 rows. */
static guint8
scenery (gint x, gint y)
{
  double value = 100 + 40.0 * y / STREET_HEIGHT + (y % 120 < 3 ? 25 : 0);
  for (gint cell = 2; cell <= 256; cell *= 2)
    value += (1 + cell / 32.0) * lattice (x, y, cell);
  return (guint8) CLAMP (value, 0, 255);
}

/* Noise is the sum of three even random numbers. */
static guint8 *
add_noise (const guint8 *still, guint32 seed)
{
  guint8 *noisy = g_memdup2 (still, STREET_BYTES);
  const gint scale = (gint) (NOISE * 2 * 256 / 3);
  for (gint i = 0; i < LUMA; i++) {
    const guint32 r = next_random (&seed);
    const gint sum = (gint) (r & 255) + (gint) (r >> 8 & 255) + (gint) (r >> 16 & 255) - 382;
    noisy[i] = (guint8) CLAMP (still[i] + sum * scale / 32768, 0, 255);
  }
  return noisy;
}

static guint8 *
copy_part (const guint8 *plane, gint stride, gint x, gint y, gint width, gint height)
{
  guint8 *part = g_malloc ((gsize) (width * height));
  for (gint row = 0; row < height; row++)
    memcpy (part + row * width, plane + (y + row) * stride + x, (gsize) width);
  return part;
}

Street *
street_new (void)
{
  Street *street = g_new0 (Street, 1);
  street->cuts = g_array_new (FALSE, FALSE, sizeof (Cut));
  street->still = g_malloc (STREET_BYTES);
  memset (street->still + LUMA, 128, LUMA / 2);
  for (gint i = 0; i < LUMA; i++)
    street->still[i] = scenery (i % STREET_WIDTH, i / STREET_WIDTH);
  for (guint i = 0; i < PATTERNS; i++)
    street->noisy[i] = add_noise (street->still, i + 1);
  return street;
}

void
street_free (Street *street)
{
  for (guint i = 0; i < 3 * street->cuts->len; i++)
    g_free (g_array_index (street->cuts, Cut, i / 3).planes[i % 3]);
  for (guint i = 0; i < PATTERNS; i++)
    g_free (street->noisy[i]);
  g_array_unref (street->cuts);
  g_free (street->still);
  g_free (street);
}

void
street_add (Street *street, const GstVideoFrame *picture, gint x, gint y, gint width, gint height)
{
  Cut cut = { .width = width & ~1, .height = height & ~1 };
  for (guint p = 0; p < 3; p++) {
    const gint half = p > 0 ? 2 : 1;
    cut.planes[p] =
      copy_part (GST_VIDEO_FRAME_PLANE_DATA (picture, p), GST_VIDEO_FRAME_PLANE_STRIDE (picture, p),
                 (x & ~1) / half, (y & ~1) / half, cut.width / half, cut.height / half);
  }
  g_array_append_val (street->cuts, cut);
}

guint
street_has (const Street *street)
{
  return street->cuts->len;
}

/* Pixels of the way that a person has gone @seconds after the begin, of @way in all. */
static double
gone (const StreetWalk *walk, double seconds, double way)
{
  const double speed = SPEED * walk->height, half = way / 2 / speed;
  if (seconds < half)
    return seconds * speed;
  return seconds < half + walk->stop ? way / 2 : (seconds - walk->stop) * speed;
}

/* The even left edge of the person of @walk on frame @frame. FALSE: not there. */
static gboolean
place (const StreetWalk *walk, gint width, guint frame, gint *left)
{
  const double seconds = frame / (double) STREET_FPS - walk->begin,
               way = fabs (walk->to - walk->from) * STREET_WIDTH,
               so_far = gone (walk, seconds, way);
  if (seconds < 0 || so_far > way)
    return FALSE;
  const double middle = walk->from * STREET_WIDTH + (walk->to > walk->from ? so_far : -so_far);
  *left = 2 * (gint) rint ((middle - width / 2.0) / 2);
  return TRUE;
}

/* The size of the person of walk @i, even. */
static const Cut *
size (const Street *street, const StreetScene *scene, guint i, gint *width, gint *height)
{
  const Cut *cut = &g_array_index (street->cuts, Cut, i % street->cuts->len);
  *height = scene->walks[i].height & ~1;
  *width = MAX (2 * (gint) rint (*height * cut->width / 2.0 / cut->height), 2);
  return cut;
}

static gint
top_of (const StreetWalk *walk, gint height)
{
  return (gint) (walk->feet * STREET_HEIGHT - height) & ~1;
}

guint
street_people (const Street *street, const StreetScene *scene, guint frame,
               StreetPerson people[STREET_MOST])
{
  guint n = 0;
  for (guint i = 0; i < STREET_MOST && scene->walks[i].height > 0; i++) {
    gint width, height, left;
    size (street, scene, i, &width, &height);
    if (!place (&scene->walks[i], width, frame, &left))
      continue;
    const gint top = top_of (&scene->walks[i], height);
    const double from = CLAMP (left, 0, STREET_WIDTH), to = CLAMP (left + width, 0, STREET_WIDTH);
    if (to > from)
      people[n++] = (StreetPerson){ i, from, top, to, top + height, (to - from) / width };
  }
  return n;
}

/* The mean of the pixels of @plane that the pixel @x, @y of @width x @height shows. */
static double
shrunk (const guint8 *plane, gint plane_width, gint plane_height, gint x, gint y, gint width,
        gint height)
{
  const gint left = x * plane_width / width, right = MAX ((x + 1) * plane_width / width, left + 1),
             top = y * plane_height / height,
             bottom = MAX ((y + 1) * plane_height / height, top + 1);
  guint sum = 0;
  for (gint v = top; v < bottom; v++)
    for (gint u = left; u < right; u++)
      sum += plane[v * plane_width + u];
  return (double) sum / ((right - left) * (bottom - top));
}

static double
softness (gint at, gint length)
{
  const double edge = MIN (at + 0.5, length - at - 0.5) / (SOFT * length);
  return MIN (edge, 1);
}

/* Adds the plane @cut to @out at @left, @top, made @width x @height. */
static void
add_plane (const guint8 *cut, gint cut_width, gint cut_height, const guint8 *still, guint8 *out,
           gint stride, gint left, gint top, gint width, gint height)
{
  for (gint y = 0; y < height; y++)
    for (gint x = MAX (-left, 0); x < MIN (width, stride - left); x++) {
      const gint at = (top + y) * stride + left + x;
      const double there = shrunk (cut, cut_width, cut_height, x, y, width, height) - still[at],
                   opaque = softness (x, width) * softness (y, height);
      out[at] = (guint8) CLAMP (out[at] + opaque * there, 0, 255);
    }
}

void
street_draw (const Street *street, const StreetScene *scene, guint frame, guint8 *out)
{
  guint32 state = frame * 7919u + 1;
  next_random (&state);
  memcpy (out, street->noisy[next_random (&state) % PATTERNS], STREET_BYTES);
  for (guint i = 0; i < STREET_MOST && scene->walks[i].height > 0; i++) {
    gint width, height, left;
    const Cut *cut = size (street, scene, i, &width, &height);
    if (!place (&scene->walks[i], width, frame, &left))
      continue;
    const gint top = top_of (&scene->walks[i], height);
    add_plane (cut->planes[0], cut->width, cut->height, street->still, out, STREET_WIDTH, left, top,
               width, height);
    for (guint p = 0; p < 2; p++) {
      const gint plane = LUMA + (gint) p * LUMA / 4;
      add_plane (cut->planes[1 + p], cut->width / 2, cut->height / 2, street->still + plane,
                 out + plane, CHROMA_WIDTH, left / 2, top / 2, width / 2, height / 2);
    }
  }
}
