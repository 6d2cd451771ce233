/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A scene is remembered as the mean brightness of each part of the picture: noise of a sensor
 * averages out there, and somebody who walks by does not. The picture itself cannot be made of it
 * again.
 */
#include "tools/quantize/scenes.h"

#include <string.h>

#define GRID 16
#define DIFFERENT 10
#define MOST 4096

typedef struct
{
  guint8 parts[GRID * GRID];
} Scene;

struct _SlScenes
{
  SlNormalizeSpec spec;
  GArray *seen; /* of Scene */
  guint next;   /* the one that is forgotten for the next, once there are MOST */
};

SlScenes *
sl_scenes_new (const SlNormalizeSpec *spec)
{
  SlScenes *scenes = g_new0 (SlScenes, 1);
  scenes->spec = *spec;
  scenes->seen = g_array_new (FALSE, FALSE, sizeof (Scene));
  return scenes;
}

void
sl_scenes_free (SlScenes *scenes)
{
  if (scenes == NULL)
    return;
  g_array_unref (scenes->seen);
  g_free (scenes);
}

static void
summarize (const SlNormalizeSpec *spec, const gfloat *tensor, Scene *scene)
{
  const guint width = (guint) spec->width, height = (guint) spec->height,
              channels = spec->colour == SL_COLOUR_GRAY ? 1 : 3;
  gdouble sums[GRID * GRID] = { 0 };
  guint counts[GRID * GRID] = { 0 };
  for (guint y = 0; y < height; y++) {
    for (guint x = 0; x < width; x++) {
      const guint part = y * GRID / height * GRID + x * GRID / width;
      for (guint c = 0; c < channels; c++) {
        const gsize at = spec->layout == SL_LAYOUT_NHWC ? ((gsize) y * width + x) * channels + c
                                                        : ((gsize) c * height + y) * width + x;
        sums[part] += ((gdouble) tensor[at] - spec->offset[c]) / spec->gain[c];
      }
      counts[part] += channels;
    }
  }
  for (guint i = 0; i < GRID * GRID; i++)
    scene->parts[i] = (guint8) CLAMP (sums[i] / MAX (counts[i], 1), 0, 255);
}

static gboolean
is_like (const Scene *a, const Scene *b)
{
  for (guint i = 0; i < GRID * GRID; i++)
    if (ABS ((gint) a->parts[i] - (gint) b->parts[i]) >= DIFFERENT)
      return FALSE;
  return TRUE;
}

gboolean
sl_scenes_add (SlScenes *scenes, const void *tensor)
{
  Scene scene;
  summarize (&scenes->spec, tensor, &scene);
  for (guint i = 0; i < scenes->seen->len; i++)
    if (is_like (&g_array_index (scenes->seen, Scene, i), &scene))
      return FALSE;
  if (scenes->seen->len < MOST)
    g_array_append_val (scenes->seen, scene);
  else
    g_array_index (scenes->seen, Scene, scenes->next++ % MOST) = scene;
  return TRUE;
}
