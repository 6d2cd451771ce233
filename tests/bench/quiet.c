/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-quiet [WALKS] [FOLDER] [NAME] [SCENE]: slcamera quiet=keyframes on drawn videos, a row for
 * each: walks of a box, those with a missing frame, frames whose number is wrong, how quiet times
 * ended, those that ended for nothing an hour, and the processor time in parts of that of
 * quiet=all. FOLDER
 * (/tmp) keeps the videos; NAME and SCENE, from 0, choose.
 */
#include <gst/gst.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "plugins/elements.h"
#include "tests/elements/camera/quiet_scene.h"

#define X264 "x264enc key-int-max=60 speed-preset=veryfast option-string=scenecut=0 "
#define X265                                       \
  "x265enc key-int-max=60 speed-preset=ultrafast " \
  "option-string=scenecut=0:frame-threads=1:pools=none:log-level=none "

static const struct
{
  const char *name, *encoder;
} encoders[] = {
  { "h264 crf", X264 "tune=zerolatency pass=qual quantizer=24 ! h264parse" },
  { "h264 cbr", X264 "tune=zerolatency pass=cbr bitrate=2000 ! h264parse" },
  { "h264 B", X264 "bframes=2 pass=qual quantizer=24 ! h264parse" },
  { "h265 crf", X265 "tune=zerolatency qp=28 ! h265parse" },
};

static const struct
{
  double noise;
  gint box;
  guint walk; /* frames; a group has 60. 0 = nothing ever moves, in 1080p */
} scenes[] = { { 3, 32, 30 }, { 3, 12, 30 }, { 6, 32, 30 },
               { 3, 32, 90 }, { 6, 32, 90 }, { 3, 32, 0 } };

typedef struct
{
  QuietSeen seen;
  double seconds;
  guint64 by_size, by_picture, by_limit, false_alarms, held, skipped;
} Run;

static double
cpu_seconds (void)
{
  struct rusage usage;
  getrusage (RUSAGE_SELF, &usage);
  return (double) usage.ru_utime.tv_sec + (double) usage.ru_utime.tv_usec / 1e6
         + (double) usage.ru_stime.tv_sec + (double) usage.ru_stime.tv_usec / 1e6;
}

static void
run (const QuietScene *scene, const char *path, const char *quiet, gboolean look, Run *result)
{
  g_autofree char *launch = g_strdup_printf (
    "slcamera name=camera uri=%s quiet=%s quiet-after=%u ! video/x-raw,format=I420 ! fakesink "
    "name=sink sync=false",
    path, quiet, scene->walk > 0 ? 3000 : 500);
  g_autoptr (GstElement) pipeline = gst_parse_launch (launch, NULL);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autoptr (GstElement) camera = gst_bin_get_by_name (GST_BIN (pipeline), "camera");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstStructure) stats = NULL;
  *result = (Run){ 0 };
  if (look)
    quiet_seen_watch (&result->seen, scene, pad);
  const double before = cpu_seconds ();
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  result->seconds = cpu_seconds () - before;
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    g_printerr ("%s: an error\n", path);
  g_object_get (camera, "quiet-stats", &stats, NULL);
  gst_structure_get (stats, "by-size", G_TYPE_UINT64, &result->by_size, "by-picture", G_TYPE_UINT64,
                     &result->by_picture, "by-limit", G_TYPE_UINT64, &result->by_limit,
                     "false-alarms", G_TYPE_UINT64, &result->false_alarms, "held", G_TYPE_UINT64,
                     &result->held, "skipped", G_TYPE_UINT64, &result->skipped, NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

static void
measure (const char *name, const QuietScene *scene, const char *folder)
{
  g_autofree char *path = g_strdup_printf ("%s/quiet-%s-%g-%d-%u-%u.mkv", folder, name,
                                           scene->noise, scene->box, scene->walk, scene->times);
  g_strdelimit (path, " ", '-');
  if (!g_file_test (path, G_FILE_TEST_EXISTS) && !quiet_scene_write (scene, path)) {
    g_print ("%-9s not installed\n", name);
    return;
  }
  Run all, few;
  guint walks;
  run (scene, path, "all", FALSE, &all);
  run (scene, path, "keyframes", TRUE, &few);
  const guint missing = quiet_seen_missing (&few.seen, &walks);
  const double hours = few.seen.n / 3600.0 / scene->fps;
  g_print ("%-9s %5.0f %4d %5u %6u %6u %8u %6u %6u %5" G_GUINT64_FORMAT " %8" G_GUINT64_FORMAT
           " %6" G_GUINT64_FORMAT " %8.1f %6.1f %% %6.2f\n",
           name, scene->noise, scene->box, scene->walk, scene->times, walks, missing,
           few.seen.wrong, few.seen.late, few.by_size, few.by_picture, few.by_limit,
           (double) few.false_alarms / hours, 100.0 * few.seen.came / few.seen.n,
           few.seconds / all.seconds);
  quiet_seen_clear (&few.seen);
}

int
main (int argc, char **argv)
{
  const guint walks = argc > 1 ? (guint) MAX (atoi (argv[1]), 1) : 20;
  const char *folder = argc > 2 ? argv[2] : "/tmp";
  gst_init (&argc, &argv);
  sl_elements_register_static ();
  g_print ("%-9s %5s %4s %5s %6s %6s %8s %6s %6s %5s %8s %6s %8s %8s %6s\n", "", "noise", "box",
           "walk", "walks", "broken", "missing", "wrong", "late", "size", "picture", "limit",
           "false/h", "frames", "time");
  for (guint e = 0; e < G_N_ELEMENTS (encoders); e++)
    for (guint s = 0; s < G_N_ELEMENTS (scenes); s++) {
      const gboolean still = scenes[s].walk == 0;
      const QuietScene scene = { encoders[e].encoder,
                                 still ? 1920 : 640,
                                 still ? 1080 : 360,
                                 15,
                                 60,
                                 scenes[s].noise,
                                 scenes[s].box,
                                 still ? 1 : walks,
                                 still ? 1141 : 150, /* its last frame is a key frame */
                                 scenes[s].walk };
      if ((argc < 4 || g_str_equal (argv[3], encoders[e].name))
          && (argc < 5 || (guint) atoi (argv[4]) == s))
        measure (encoders[e].name, &scene, folder);
    }
  return 0;
}
