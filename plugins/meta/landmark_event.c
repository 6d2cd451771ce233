/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Landmarks of one frame as the places of the next one's objects. The event stays inside the
 * process, so it carries the structs themselves.
 */
#include "plugins/meta/landmark_event.h"

#include <math.h>
#include <string.h>

#include "plugins/meta/regions/choose.h"
#include "plugins/meta/regions/keep.h"
#include "plugins/meta/regions/object.h"

#define NAME "sightline-followed"

/* Whether two squares are about the same object: the centre of each lies well inside the other. */
static gboolean
is_same (const SlTurnedRect *a, const SlTurnedRect *b)
{
  return hypot (a->x - b->x, a->y - b->y)
         < 0.4 * fmin (fmin (a->width, a->height), fmin (b->width, b->height));
}

static gboolean
is_known (const GArray *followed, const SlTurnedRect *part)
{
  for (guint i = 0; i < followed->len; i++)
    if (is_same (&g_array_index (followed, SlFollowed, i).part, part))
      return TRUE;
  return FALSE;
}

void
sl_followed_send (GstPad *pad, const SlPredictionView *prediction, double aspect)
{
  g_autoptr (GArray) followed = g_array_new (FALSE, FALSE, sizeof (SlFollowed));
  for (guint i = 0; i < prediction->n_objects; i++) {
    const SlObjectView *landmarks = &prediction->objects[i];
    SlFollowed next;
    if (landmarks->parent == 0
        || !sl_alignment_follow (landmarks, prediction->width, prediction->height, aspect,
                                 &next.part)
        || is_known (followed, &next.part))
      continue;
    const SlObjectView *object = &prediction->objects[landmarks->parent - 1];
    next.object = (SlObjectView){ .confidence = landmarks->confidence,
                                  .label_id = object->label_id,
                                  .label = g_intern_string (object->label) };
    g_array_append_val (followed, next);
  }
  GBytes *objects = g_bytes_new (followed->data, followed->len * sizeof (SlFollowed));
  GstStructure *structure = gst_structure_new (NAME, "objects", G_TYPE_BYTES, objects, NULL);
  g_bytes_unref (objects);
  gst_pad_push_event (pad, gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM, structure));
}

gboolean
sl_followed_receive (GstEvent *event, GArray *followed)
{
  const GstStructure *structure =
    GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_UPSTREAM ? gst_event_get_structure (event) : NULL;
  const GValue *value = structure != NULL && gst_structure_has_name (structure, NAME)
                          ? gst_structure_get_value (structure, "objects")
                          : NULL;
  gsize bytes = 0;
  if (value == NULL || !G_VALUE_HOLDS (value, G_TYPE_BYTES))
    return FALSE;
  const SlFollowed *objects = g_bytes_get_data (g_value_get_boxed (value), &bytes);
  g_array_set_size (followed, 0);
  if (bytes >= sizeof *objects)
    g_array_append_vals (followed, objects, (guint) (bytes / sizeof *objects));
  return TRUE;
}

static guint
count_regions (GstBuffer *frame)
{
  gpointer state = NULL;
  guint n = 0;
  while (sl_next_region (frame, &state) != NULL)
    n++;
  return n;
}

/* A region of *@frame for an object that nobody found in it: the box around its square. FALSE where
 * that lies outside. */
static gboolean
add_region (GstBuffer **frame, const GstVideoInfo *video, const SlFollowed *followed,
            SlObjectRegion *region)
{
  const gint width = GST_VIDEO_INFO_WIDTH (video), height = GST_VIDEO_INFO_HEIGHT (video);
  SlObjectView object = followed->object;
  SlAffine square;
  double corners[4];
  sl_affine_turned (&square, &followed->part, 1, 1);
  sl_affine_box (&square, (const double[4]){ 0, 0, 1, 1 }, corners);
  if (!sl_object_set_box (&object, corners, width, height))
    return FALSE;
  *frame = gst_buffer_make_writable (*frame);
  *region = (SlObjectRegion){ .index = count_regions (*frame),
                              .part = { object.x, object.y, object.w, object.h },
                              .turned = followed->part };
  sl_buffer_add_object (*frame, &object, NULL);
  sl_buffer_keep_regions (*frame);
  return TRUE;
}

void
sl_followed_choose (const GArray *followed, GstBuffer **frame, const GstVideoInfo *video,
                    guint most, GArray *chosen)
{
  for (guint i = 0; i < followed->len; i++) {
    const SlFollowed *next = &g_array_index (followed, SlFollowed, i);
    guint at = 0;
    while (at < chosen->len
           && !is_same (&g_array_index (chosen, SlObjectRegion, at).turned, &next->part))
      at++;
    SlObjectRegion region;
    if (at < chosen->len)
      g_array_index (chosen, SlObjectRegion, at).turned = next->part;
    else if (chosen->len < most && add_region (frame, video, next, &region))
      g_array_append_val (chosen, region);
  }
}
