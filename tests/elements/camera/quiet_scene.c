/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers are 16 blocks, eight in a row, light or dark, in the middle of the box. */
#include "tests/elements/camera/quiet_scene.h"

#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>
#include <math.h>
#include <string.h>

#include "plugins/meta/late_meta.h"

#define BITS_IN_A_ROW 8
#define READABLE 32

static guint32
next_random (guint32 *state)
{
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

guint
quiet_scene_start (const QuietScene *scene, guint time)
{
  guint32 state = time * 7919u + 1;
  next_random (&state);
  return time * (scene->quiet + scene->walk + (guint) scene->gop) + scene->quiet
         + next_random (&state) % (guint) scene->gop;
}

guint
quiet_scene_frames (const QuietScene *scene)
{
  return scene->times * (scene->quiet + scene->walk + (guint) scene->gop);
}

/* The walk that frame @n is of, -1 = none. */
static gint
walk_of (const QuietScene *scene, guint n)
{
  const guint period = scene->quiet + scene->walk + (guint) scene->gop, time = n / period;
  const guint start = quiet_scene_start (scene, time);
  return time < scene->times && n >= start && n < start + scene->walk ? (gint) time : -1;
}

/* The box of frame @n: its left edge; it is in the middle of the height. */
static gint
box_left (const QuietScene *scene, guint n, gint walk)
{
  const gint steps = (gint) (n - quiet_scene_start (scene, (guint) walk));
  return steps * (scene->width - 2 * scene->box) / (gint) scene->walk / 2 * 2;
}

static guint8
scenery (gint x, gint y)
{
  return (guint8) (120 + 40 * sin (x / 17.0) * cos (y / 23.0) + 20 * ((x / 32 + y / 32) % 2));
}

/* Frames share their scenery. Noise is the sum of three even ones. */
static void
draw (const QuietScene *scene, const guint8 *still, guint n, guint32 *state, guint8 *out)
{
  const gint width = scene->width, height = scene->height, walk = walk_of (scene, n);
  const gint scale = (gint) (scene->noise * 2 * 256 / 3);
  memset (out + width * height, 128, (gsize) (width * height / 2));
  for (gint i = 0; i < width * height; i++) {
    const guint32 r = next_random (state);
    const gint sum = (gint) (r & 255) + (gint) (r >> 8 & 255) + (gint) (r >> 16 & 255) - 382;
    out[i] = (guint8) CLAMP (still[i] + sum * scale / 32768, 0, 255);
  }
  if (walk < 0)
    return;
  const gint left = box_left (scene, n, walk), top = (height - scene->box) / 2 & ~1,
             block = scene->box / 4;
  for (gint y = 0; y < scene->box; y++)
    for (gint x = 0; x < 2 * scene->box; x++) {
      const gint row = y / block - 1, bit = row * BITS_IN_A_ROW + x / block;
      const gboolean inside = row >= 0 && row < 2 && x / block < BITS_IN_A_ROW;
      out[(top + y) * width + left + x] = !inside ? 60 : (n >> bit & 1) != 0 ? 220 : 20;
    }
}

static guint
read_number (const QuietScene *scene, const guint8 *luma, gint stride, guint n, gint walk)
{
  const gint left = box_left (scene, n, walk), top = (scene->height - scene->box) / 2 & ~1,
             block = scene->box / 4;
  guint number = 0;
  for (gint bit = 0; bit < 2 * BITS_IN_A_ROW; bit++) {
    const gint x = left + bit % BITS_IN_A_ROW * block + block / 2,
               y = top + (bit / BITS_IN_A_ROW + 1) * block + block / 2;
    number |= (guint) (luma[y * stride + x] > 120) << bit;
  }
  return number;
}

gboolean
quiet_scene_write (const QuietScene *scene, const char *path)
{
  g_autofree char *launch = g_strdup_printf (
    "appsrc name=source format=time block=true max-bytes=8000000 "
    "caps=video/x-raw,format=I420,width=%d,height=%d,framerate=%d/1 ! %s ! matroskamux ! filesink "
    "location=%s",
    scene->width, scene->height, scene->fps, scene->encoder, path);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (launch, &error);
  if (error != NULL)
    return FALSE;
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  const gsize pixels = (gsize) (scene->width * scene->height);
  g_autofree guint8 *still = g_malloc (pixels);
  guint32 state = 1;
  for (gsize i = 0; i < pixels; i++)
    still[i] = scenery ((gint) i % scene->width, (gint) i / scene->width);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint n = 0; n < quiet_scene_frames (scene); n++) {
    guint8 *data = g_malloc (pixels * 3 / 2);
    draw (scene, still, n, &state, data);
    GstBuffer *buffer = gst_buffer_new_wrapped (data, pixels * 3 / 2);
    GST_BUFFER_PTS (buffer) = gst_util_uint64_scale (n, GST_SECOND, (guint64) scene->fps);
    GST_BUFFER_DURATION (buffer) = GST_SECOND / (guint64) scene->fps;
    gst_app_src_push_buffer (GST_APP_SRC (source), buffer);
  }
  gst_app_src_end_of_stream (GST_APP_SRC (source));
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  return TRUE;
}

static GstPadProbeReturn
see_frame (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  QuietSeen *seen = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  GstVideoInfo video;
  GstVideoFrame frame;
  g_assert_true (gst_video_info_from_caps (&video, caps));
  seen->begin = seen->came == 0 ? GST_BUFFER_PTS (buffer) : seen->begin;
  const guint n = (guint) gst_util_uint64_scale_round (GST_BUFFER_PTS (buffer) - seen->begin,
                                                       (guint64) seen->scene->fps, GST_SECOND);
  const gint walk = walk_of (seen->scene, n);
  g_assert_cmpuint (n, <, seen->n);
  g_assert_true (gst_video_frame_map (&frame, &video, buffer, GST_MAP_READ));
  const gboolean wrong = walk >= 0 && seen->scene->box >= READABLE
                         && read_number (seen->scene, GST_VIDEO_FRAME_PLANE_DATA (&frame, 0),
                                         GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0), n, walk)
                              != (n & 0xffff);
  gst_video_frame_unmap (&frame);
  g_mutex_lock (&seen->lock);
  seen->frames[n]++;
  seen->came++;
  seen->wrong += wrong;
  seen->late += sl_buffer_is_late (buffer);
  g_mutex_unlock (&seen->lock);
  return GST_PAD_PROBE_OK;
}

void
quiet_seen_watch (QuietSeen *seen, const QuietScene *scene, GstPad *pad)
{
  *seen = (QuietSeen){ .scene = scene, .n = quiet_scene_frames (scene) };
  g_mutex_init (&seen->lock);
  seen->frames = g_malloc0 (seen->n);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, see_frame, seen, NULL);
}

void
quiet_seen_clear (QuietSeen *seen)
{
  g_free (seen->frames);
  g_mutex_clear (&seen->lock);
}

guint
quiet_seen_missing (const QuietSeen *seen, guint *walks)
{
  const guint gop = (guint) seen->scene->gop;
  guint missing = 0;
  *walks = 0;
  for (guint time = 0; time < seen->scene->times; time++) {
    const guint start = quiet_scene_start (seen->scene, time), before = missing;
    for (guint n = start / gop * gop; n < start + seen->scene->walk; n++)
      missing += seen->frames[n] == 0;
    *walks += missing > before;
  }
  return missing;
}
