/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * bench-motion PROPERTIES PICTURE [SECONDS] [SCENE]: what slpredict with PROPERTIES, such as
 * "model=ssd.tflite threshold=0.3", finds of small people in front of a drawn fixed camera of
 * 1920x1080 at 15 frames a second, and what it costs: on whole frames, with tiles=motion, and with
 * tiles=motion and half of slmotion's min-area. The model is a detector with a class "person".
 * People are cut out of PICTURE, where it finds them. A row has the boxes of people on all frames,
 * those that a found box overlaps by 0.3 and more, people who were found at all, found boxes that
 * are on nobody or of another class, and the processor seconds for a minute of video. Drawing is
 * left out of the time: the main thread does it.
 */
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "plugins/elements.h"
#include "plugins/meta/predictions.h"
#include "tests/bench/street.h"

#define SAME 0.3
/* Less of a person in the picture neither counts nor is a mistake. */
#define ENOUGH 0.5
/* Of the picture: a person nearer to its edge is cut by it. */
#define EDGE 0.02

static const StreetScene scenes[] = {
  { "quiet", { { 0, 0, 0, 0, 0, 0 } } },
  { "one", { { 5, 48, 0.4, 0.30, 0.55, 5 } } },
  { "some",
    { { 5, 40, 0.3, 0.30, 0.60, 0 },
      { 9, 60, 0.7, 0.90, 0.50, 0 },
      { 30, 32, 0.25, 0.50, 0.65, 8 },
      { 33, 54, 0.5, -0.02, 0.30, 0 } } },
  { "near", { { 5, 200, 0.6, 0.30, 0.80, 3 }, { 25, 260, 0.8, 0.90, 0.20, 0 } } },
  { "busy",
    { { 0, 40, 0.3, 0.30, 0.95, 0 },
      { 0, 60, 0.7, 0.90, 0.05, 10 },
      { 1, 36, 0.25, 0.05, 0.80, 0 },
      { 2, 54, 0.5, -0.02, 1.02, 5 },
      { 3, 50, 0.55, 0.60, 0.02, 0 },
      { 4, 44, 0.85, 0.10, 0.90, 0 } } },
};

static const struct
{
  const char *name, *elements;
} ways[] = { { "whole frames", "slpredict" },
             { "tiles=motion", "slmotion ! slpredict tiles=motion" },
             { "min-area", "slmotion min-area=0.0001 ! slpredict tiles=motion" } };

/* What came out of one run; the streaming thread's until it has ended. */
typedef struct
{
  const Street *street;
  const StreetScene *scene;
  SlPredictionReader reader;
  guint boxes, right, wrong;
  gboolean found[STREET_MOST], seen[STREET_MOST];
} Result;

static double
overlap (const StreetPerson *person, const SlObjectView *object)
{
  const double left = object->x_min * STREET_WIDTH, right = object->x_max * STREET_WIDTH,
               top = object->y_min * STREET_HEIGHT, bottom = object->y_max * STREET_HEIGHT;
  const double width = MIN (person->x_max, right) - MAX (person->x_min, left),
               height = MIN (person->y_max, bottom) - MAX (person->y_min, top);
  const double both = width > 0 && height > 0 ? width * height : 0;
  return both
         / ((person->x_max - person->x_min) * (person->y_max - person->y_min)
            + (right - left) * (bottom - top) - both);
}

/* The person nobody has found yet whom @object overlaps most, or @n. */
static guint
match (const StreetPerson *people, const gboolean *taken, guint n, const SlObjectView *object)
{
  guint best = n;
  double most = SAME;
  for (guint i = 0; i < n; i++) {
    const double same = taken[i] ? 0 : overlap (&people[i], object);
    if (same >= most) {
      most = same;
      best = i;
    }
  }
  return best;
}

static GstPadProbeReturn
count_frame (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Result *result = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  SlPredictionView found = { .width = STREET_WIDTH, .height = STREET_HEIGHT };
  StreetPerson people[STREET_MOST];
  gboolean taken[STREET_MOST] = { FALSE };
  const guint frame =
    (guint) gst_util_uint64_scale_round (GST_BUFFER_PTS (buffer), STREET_FPS, GST_SECOND);
  const guint n = street_people (result->street, result->scene, frame, people);
  sl_prediction_reader_read (&result->reader, buffer, &found);
  for (guint i = 0; i < found.n_objects; i++) {
    const guint who = match (people, taken, n, &found.objects[i]);
    const gboolean person = g_str_equal (found.objects[i].label, "person");
    if (who < n && person)
      taken[who] = TRUE;
    result->wrong += who == n || (!person && people[who].whole >= ENOUGH);
  }
  for (guint i = 0; i < n; i++)
    if (people[i].whole >= ENOUGH) {
      result->boxes++;
      result->right += taken[i];
      result->seen[people[i].walk] = TRUE;
      result->found[people[i].walk] |= taken[i];
    }
  return GST_PAD_PROBE_OK;
}

/* Processor seconds of all threads but this one. */
static double
others_seconds (void)
{
  struct rusage all, mine;
  getrusage (RUSAGE_SELF, &all);
  getrusage (RUSAGE_THREAD, &mine);
  return (double) (all.ru_utime.tv_sec - mine.ru_utime.tv_sec + all.ru_stime.tv_sec
                   - mine.ru_stime.tv_sec)
         + (double) (all.ru_utime.tv_usec - mine.ru_utime.tv_usec + all.ru_stime.tv_usec
                     - mine.ru_stime.tv_usec)
             / 1e6;
}

static void
play (const Street *street, const StreetScene *scene, guint frames, GstElement *source)
{
  for (guint n = 0; n < frames; n++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, STREET_BYTES, NULL);
    GstMapInfo map;
    gst_buffer_map (buffer, &map, GST_MAP_WRITE);
    street_draw (street, scene, n, map.data);
    gst_buffer_unmap (buffer, &map);
    GST_BUFFER_PTS (buffer) = gst_util_uint64_scale (n, GST_SECOND, STREET_FPS);
    GST_BUFFER_DURATION (buffer) = GST_SECOND / STREET_FPS;
    gst_app_src_push_buffer (GST_APP_SRC (source), buffer);
  }
  gst_app_src_end_of_stream (GST_APP_SRC (source));
}

static void G_GNUC_NORETURN
give_up (const char *what, const char *message)
{
  g_printerr ("bench-motion: %s%s\n", what, message);
  exit (1);
}

static GstElement *
launch (const char *description)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (description, &error);
  if (error != NULL)
    give_up ("", error->message);
  return pipeline;
}

/* Until all frames went through. */
static void
finish (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    g_autoptr (GError) error = NULL;
    gst_message_parse_error (message, &error, NULL);
    give_up ("", error->message);
  }
}

static void
measure (const Street *street, const StreetScene *scene, guint way, const char *properties,
         guint frames)
{
  g_autofree char *description = g_strdup_printf (
    "appsrc name=source format=time block=true max-buffers=4 max-bytes=0 caps=video/x-raw,"
    "format=I420,width=%d,height=%d,framerate=%d/1 ! %s threads=1 %s ! "
    "video/x-raw ! fakesink name=sink sync=false",
    STREET_WIDTH, STREET_HEIGHT, STREET_FPS, ways[way].elements, properties);
  g_autoptr (GstElement) pipeline = launch (description);
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  Result result = { .street = street, .scene = scene };
  guint people = 0, found = 0;
  sl_prediction_reader_init (&result.reader);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_frame, &result, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  const double before = others_seconds ();
  play (street, scene, frames, source);
  finish (pipeline);
  const double seconds = (others_seconds () - before) * 60 * STREET_FPS / frames;
  gst_element_set_state (pipeline, GST_STATE_NULL);
  for (guint i = 0; i < STREET_MOST; i++) {
    people += result.seen[i];
    found += result.found[i];
  }
  g_autofree char *share =
    result.boxes > 0 ? g_strdup_printf ("%.1f %%", 100.0 * result.right / result.boxes) : NULL;
  g_print ("%-6s  %-12s  %6u  %6u  %7s  %2u of %2u  %6u  %10.2f  %6.2f %%\n", scene->name,
           ways[way].name, result.boxes, result.right, share != NULL ? share : "-", found, people,
           result.wrong, seconds, seconds / 0.6);
  sl_prediction_reader_clear (&result.reader);
}

/* Cuts people out of the picture who are there as a whole. */
static GstPadProbeReturn
cut_people (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  SlPredictionReader reader;
  GstVideoInfo video;
  GstVideoFrame frame;
  g_assert_true (gst_video_info_from_caps (&video, caps)
                 && gst_video_frame_map (&frame, &video, info->data, GST_MAP_READ));
  SlPredictionView found = { .width = video.width, .height = video.height };
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, info->data, &found);
  for (guint i = 0; i < found.n_objects; i++) {
    const SlObjectView *object = &found.objects[i];
    if (g_str_equal (object->label, "person") && object->x_min > EDGE && object->x_max < 1 - EDGE)
      street_add (data, &frame, object->x, object->y, object->w, object->h);
  }
  sl_prediction_reader_clear (&reader);
  gst_video_frame_unmap (&frame);
  return GST_PAD_PROBE_OK;
}

static Street *
open_street (const char *properties, const char *picture)
{
  g_autofree char *description =
    g_strdup_printf ("filesrc location=\"%s\" ! decodebin ! videoconvert ! "
                     "video/x-raw,format=I420 ! slpredict %s ! video/x-raw ! fakesink "
                     "name=sink",
                     picture, properties);
  g_autoptr (GstElement) pipeline = launch (description);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  Street *street = street_new ();
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, cut_people, street, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  finish (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  if (street_has (street) == 0)
    give_up (picture, ": the model finds no whole person on it; expected one or more");
  return street;
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  sl_elements_register_static ();
  if (argc < 3) {
    g_printerr ("usage: bench-motion PROPERTIES PICTURE [SECONDS] [SCENE]\n");
    return 1;
  }
  const guint frames = STREET_FPS * (guint) (argc > 3 ? MAX (atoi (argv[3]), 1) : 60);
  Street *street = open_street (argv[1], argv[2]);
  g_print ("%u people of %s\n", street_has (street), argv[2]);
  g_print ("%-6s  %-12s  %6s  %6s  %7s  %-8s  %6s  %10s  %8s\n", "scene", "way", "boxes", "found",
           "", "people", "wrong", "seconds", "of a core");
  for (guint i = 0; i < G_N_ELEMENTS (scenes); i++)
    for (guint way = 0; way < G_N_ELEMENTS (ways); way++)
      if (argc < 5 || g_str_equal (argv[4], scenes[i].name))
        measure (street, &scenes[i], way, argv[1], frames);
  street_free (street);
  return 0;
}
