/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The choice of parts. Properties may change between two frames: each frame is chosen from by those
 * that are set when it comes.
 */
#include "plugins/tensor/frame_parts.h"

#include "plugins/meta/landmark_event.h"
#include "plugins/meta/motion_meta.h"
#include "plugins/video/tiles.h"
#include "core/base/fail.h"

void
sl_frame_parts_init (SlFrameParts *parts)
{
  parts->chosen = g_array_new (FALSE, FALSE, sizeof (SlObjectRegion));
  parts->followed = g_array_new (FALSE, FALSE, sizeof (SlFollowed));
  parts->points.points = g_array_new (FALSE, FALSE, sizeof (SlPoint));
  sl_prediction_reader_init (&parts->reader);
}

void
sl_frame_parts_clear (SlFrameParts *parts)
{
  g_array_unref (parts->chosen);
  g_array_unref (parts->followed);
  g_array_unref (parts->points.points);
  sl_prediction_reader_clear (&parts->reader);
  g_free (parts->split);
  g_strfreev (parts->classes);
}

gboolean
sl_frame_parts_start (SlFrameParts *parts, gpointer owner, GError **error)
{
  GST_OBJECT_LOCK (owner);
  g_autofree char *alignment = g_strdup (parts->object_alignment);
  GST_OBJECT_UNLOCK (owner);
  parts->aligns = alignment != NULL && *alignment != '\0';
  return !parts->aligns || sl_alignment_parse (alignment, &parts->alignment, error);
}

gboolean
sl_frame_parts_divide (SlFrameParts *parts, GError **error)
{
  parts->motion = g_strcmp0 (parts->tiles, "motion") == 0;
  g_autoptr (GError) problem = NULL;
  if (!sl_tiles_parse (parts->motion ? NULL : parts->tiles, &parts->columns, &parts->rows,
                       &problem))
    return sl_fail (error, SL_ERROR_ARGUMENT, "%s, or tiles=motion behind slmotion",
                    problem->message);
  if ((parts->columns * parts->rows == 1 && !parts->motion) || !parts->objects)
    return TRUE;
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "tiles=%s and objects=true, as object-class and object-alignment of slpredict set it: expected "
    "one of them: unset the other",
    parts->tiles);
}

void
sl_frame_parts_forget (SlFrameParts *parts, gpointer owner)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (owner));
  g_array_set_size (parts->followed, 0);
  parts->full = GST_CLOCK_TIME_NONE;
  parts->turn = (SlRect){ 0 };
}

/* Whether tensors are made of objects. */
static gboolean
choose_objects (SlFrameParts *parts, gpointer owner, GstBuffer **frame, const GstVideoInfo *video,
                double aspect)
{
  GST_OBJECT_LOCK (owner);
  const gboolean objects = parts->objects;
  if (g_strcmp0 (parts->split, parts->object_class) != 0) {
    g_free (parts->split);
    g_strfreev (parts->classes);
    parts->split = g_strdup (parts->object_class);
    parts->classes = parts->split != NULL ? g_strsplit (parts->split, ",", -1) : NULL;
  }
  const guint most = (guint) parts->max_objects;
  parts->following = parts->follows && parts->aligns;
  g_autoptr (GArray) followed = parts->following ? g_array_copy (parts->followed) : NULL;
  GST_OBJECT_UNLOCK (owner);
  if (!objects)
    return FALSE;
  sl_prediction_reader_adopt (&parts->reader, frame, GST_VIDEO_INFO_WIDTH (video),
                              GST_VIDEO_INFO_HEIGHT (video));
  sl_object_regions_choose (*frame, video, (const char *const *) parts->classes, most,
                            parts->chosen);
  if (parts->aligns)
    sl_object_regions_align (*frame, video, &parts->alignment, aspect, &parts->points,
                             parts->chosen);
  if (followed != NULL)
    sl_followed_choose (followed, frame, video, most, parts->chosen);
  return TRUE;
}

/* The whole part that the chosen tiles lie in comes after them. */
static void
append_whole (SlFrameParts *parts, const SlRect *crop)
{
  const SlObjectRegion whole = { parts->chosen->len, *crop };
  g_array_append_val (parts->chosen, whole);
}

/* Whether tensors are made of tiles. */
static gboolean
choose_tiles (SlFrameParts *parts, const SlRect *crop)
{
  const guint n = parts->columns * parts->rows;
  if (n == 1)
    return FALSE;
  g_array_set_size (parts->chosen, 0);
  for (guint i = 0; i < n; i++) {
    const SlObjectRegion tile = { i, sl_tiles_place (crop, parts->columns, parts->rows, i) };
    g_array_append_val (parts->chosen, tile);
  }
  append_whole (parts, crop);
  return TRUE;
}

/* Whether the whole of @frame is looked at, whatever moves. */
static gboolean
is_full_due (const SlFrameParts *parts, gpointer owner, GstBuffer *frame)
{
  GST_OBJECT_LOCK (owner);
  const GstClockTime interval = (GstClockTime) (parts->full_interval * GST_SECOND),
                     time = GST_BUFFER_PTS (frame);
  GST_OBJECT_UNLOCK (owner);
  return time == GST_CLOCK_TIME_NONE || parts->full == GST_CLOCK_TIME_NONE || time < parts->full
         || time - parts->full >= interval;
}

/* Tiles of *@frame around what moves on it. */
static SlFramePartsKind
choose_motion (SlFrameParts *parts, const SlMotionMeta *motion, const GstVideoInfo *video,
               const SlNormalizeSpec *spec)
{
  SlRect regions[SL_MOTION_MOST], tiles[SL_MAX_MOTION_TILES];
  const gint width = GST_VIDEO_INFO_WIDTH (video), height = GST_VIDEO_INFO_HEIGHT (video);
  const gboolean turned = sl_affine_turn (spec->orientation).transpose;
  gboolean none;
  for (guint i = 0; i < motion->n; i++) {
    const gint x = (gint) (motion->boxes[i].x_min * (gfloat) width),
               y = (gint) (motion->boxes[i].y_min * (gfloat) height);
    regions[i] = (SlRect){ x, y, (gint) (motion->boxes[i].x_max * (gfloat) width) - x,
                           (gint) (motion->boxes[i].y_max * (gfloat) height) - y };
  }
  const guint n =
    sl_tiles_around (&spec->crop, regions, motion->n, turned ? spec->height : spec->width,
                     turned ? spec->width : spec->height, &parts->turn, tiles, &none);
  g_array_set_size (parts->chosen, 0);
  for (guint i = 0; i < n; i++) {
    const SlObjectRegion tile = { i, tiles[i] };
    g_array_append_val (parts->chosen, tile);
  }
  return none ? SL_FRAME_PARTS_STILL : n > 0 ? SL_FRAME_PARTS_MOTION : SL_FRAME_PARTS_NONE;
}

/* What to look at with tiles=motion. A whole frame that is due does not replace the tiles: objects
 * that are too small on it would vanish for that frame. */
static SlFramePartsKind
choose_seen (SlFrameParts *parts, gpointer owner, GstBuffer *frame, const GstVideoInfo *video,
             const SlNormalizeSpec *spec)
{
  const SlMotionMeta *motion = sl_buffer_get_motion (frame);
  const gboolean due = is_full_due (parts, owner, frame);
  parts->unseen = motion == NULL;
  SlFramePartsKind kind =
    motion == NULL ? SL_FRAME_PARTS_NONE : choose_motion (parts, motion, video, spec);
  if (due && kind == SL_FRAME_PARTS_STILL)
    kind = SL_FRAME_PARTS_NONE;
  if (due && kind == SL_FRAME_PARTS_MOTION) {
    append_whole (parts, &spec->crop);
    kind = SL_FRAME_PARTS_TILES;
  }
  if (due || kind == SL_FRAME_PARTS_NONE)
    parts->full = GST_BUFFER_PTS (frame);
  return kind;
}

SlFramePartsKind
sl_frame_parts_choose (SlFrameParts *parts, gpointer owner, GstBuffer **frame,
                       const GstVideoInfo *video, const SlNormalizeSpec *spec)
{
  if (parts->motion)
    return choose_seen (parts, owner, *frame, video, spec);
  if (choose_tiles (parts, &spec->crop))
    return SL_FRAME_PARTS_TILES;
  return choose_objects (parts, owner, frame, video, (double) spec->width / spec->height)
           ? SL_FRAME_PARTS_OBJECTS
           : SL_FRAME_PARTS_NONE;
}

SlFrameContent
sl_frame_parts_content (const SlFrameParts *parts, SlFramePartsKind kind, guint i)
{
  const gboolean last = i + 1 == parts->chosen->len;
  switch (kind) {
    case SL_FRAME_PARTS_TILES:
      return last ? SL_FRAME_AFTER_TILES : SL_FRAME_TILE;
    case SL_FRAME_PARTS_MOTION:
      return last ? SL_FRAME_LAST_TILE : SL_FRAME_TILE;
    default:
      return last ? SL_FRAME_LAST_OBJECT : SL_FRAME_OBJECT;
  }
}
