/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a frame in NV12 to the best class of an 8-bit classifier: our elements against what one
 * would write by hand, an appsink, libyuv and ONNX Runtime. Both get the same frame from an appsrc,
 * one at a time and in turn; what counts is the processor time of the whole process.
 *   bench-end-to-end MODEL.tflite MODEL.onnx LIBONNXRUNTIME [FRAMES [WIDTH HEIGHT [FRAME.nv12]]]
 * The models are one network with uint8 pixels in NHWC order and uint8 results.
 */
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/video/video.h>
#include <libyuv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/percentile.h"
#include "tests/bench/onnxruntime.h"
#include "core/runtime/session.h"
#include "models/model.h"
#include "plugins/elements.h"
#include "tools/bench/timing.h"

#define WARM_UP 20
#define TURN 10

typedef struct
{
  GstElement *pipeline, *source, *sink;
  GstBuffer *frame;
} Line;

typedef struct
{
  Line line;
  char text[120]; /* the newest result */
} Ours;

typedef struct
{
  Line line;
  OrtPeer *peer;
  gint width, height, model_width, model_height;
  guint8 *y, *uv, *input, *output;
  gsize classes;
  guint best;
} Theirs;

static double
cpu_ms (void)
{
  struct timespec now;
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double) now.tv_sec * 1e3 + (double) now.tv_nsec / 1e6;
}

static gboolean
line_init (Line *line, gint width, gint height, const char *elements, GstBuffer *frame)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_strdup_printf (
    "appsrc name=in caps=video/x-raw,format=NV12,width=%d,height=%d,framerate=30/1 %s ! "
    "appsink name=out sync=false",
    width, height, elements);
  line->pipeline = gst_parse_launch (text, &error);
  if (error != NULL) {
    fprintf (stderr, "%s\n", error->message);
    return FALSE;
  }
  line->source = gst_bin_get_by_name (GST_BIN (line->pipeline), "in");
  line->sink = gst_bin_get_by_name (GST_BIN (line->pipeline), "out");
  line->frame = frame;
  return gst_element_set_state (line->pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
}

/* (transfer full): what comes out for the frame. */
static GstSample *
line_pass (Line *line)
{
  GstBuffer *frame = gst_buffer_copy (line->frame); /* of the header: the pixels are shared */
  gst_app_src_push_buffer (GST_APP_SRC (line->source), frame);
  return gst_app_sink_pull_sample (GST_APP_SINK (line->sink));
}

/* SlTimedTurn of Ours; the times are of the processor. */
static gboolean
turn_of_ours (gpointer data, guint n, double *ms, GError **error)
{
  Ours *ours = data;
  for (guint i = 0; i < n; i++) {
    const double start = cpu_ms ();
    g_autoptr (GstSample) sample = line_pass (&ours->line);
    ms[i] = cpu_ms () - start;
    const gsize length = sample != NULL ? gst_buffer_extract (gst_sample_get_buffer (sample), 0,
                                                              ours->text, sizeof ours->text - 1)
                                        : 0;
    ours->text[length] = '\0';
    if (length == 0)
      return FALSE;
  }
  return TRUE;
}

static gboolean
classify (Theirs *theirs, GstSample *sample)
{
  GstVideoInfo info;
  GstVideoFrame frame;
  const gint w = theirs->model_width, h = theirs->model_height;
  gst_video_info_from_caps (&info, gst_sample_get_caps (sample));
  if (!gst_video_frame_map (&frame, &info, gst_sample_get_buffer (sample), GST_MAP_READ))
    return FALSE;
  NV12Scale (GST_VIDEO_FRAME_PLANE_DATA (&frame, 0), GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
             GST_VIDEO_FRAME_PLANE_DATA (&frame, 1), GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 1),
             theirs->width, theirs->height, theirs->y, w, theirs->uv, w, w, h, kFilterBox);
  gst_video_frame_unmap (&frame);
  NV12ToRAW (theirs->y, w, theirs->uv, w, theirs->input, 3 * w, w,
             h); /* libyuv's RAW has red first */
  if (!ort_peer_run (theirs->peer))
    return FALSE;
  theirs->best = 0;
  for (guint i = 1; i < theirs->classes; i++)
    theirs->best = theirs->output[i] > theirs->output[theirs->best] ? i : theirs->best;
  return TRUE;
}

/* SlTimedTurn of Theirs. */
static gboolean
turn_of_theirs (gpointer data, guint n, double *ms, GError **error)
{
  Theirs *theirs = data;
  for (guint i = 0; i < n; i++) {
    const double start = cpu_ms ();
    g_autoptr (GstSample) sample = line_pass (&theirs->line);
    const gboolean good = sample != NULL && classify (theirs, sample);
    ms[i] = cpu_ms () - start;
    if (!good)
      return FALSE;
  }
  return TRUE;
}

/* (transfer full): the picture of @path, or a grey ramp when that is NULL; NULL with the reason
 * printed. */
static GstBuffer *
make_frame (gint width, gint height, const char *path)
{
  g_autoptr (GError) error = NULL;
  const gsize luma = (gsize) width * (gsize) height, size = luma * 3 / 2;
  gsize length = size;
  char *data = NULL;
  if (path != NULL && !g_file_get_contents (path, &data, &length, &error))
    fprintf (stderr, "%s\n", error->message);
  else if (length != size)
    fprintf (stderr, "%s: expected %" G_GSIZE_FORMAT " bytes of NV12, got %" G_GSIZE_FORMAT "\n",
             path, size, length);
  if (error != NULL || length != size) {
    g_free (data);
    return NULL;
  }
  if (path == NULL) {
    data = g_malloc (size);
    memset (data + luma, 128, size - luma);
    for (gsize i = 0; i < luma; i++)
      data[i] = (char) (40 + (i % (gsize) width) * 180 / (gsize) width);
  }
  GstBuffer *buffer = gst_buffer_new_wrapped (data, size);
  gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12,
                             (guint) width, (guint) height);
  return buffer;
}

static gboolean
theirs_init (Theirs *theirs, const char *library, const char *onnx, const SlGraph *graph)
{
  const SlTensor *input = sl_graph_input_tensor (graph, 0);
  theirs->model_height = input->dims[1];
  theirs->model_width = input->dims[2];
  theirs->classes = sl_graph_output_tensor (graph, 0)->bytes;
  theirs->y = g_malloc (input->bytes);
  theirs->uv = g_malloc (input->bytes);
  theirs->input = g_malloc (input->bytes);
  theirs->output = g_malloc (theirs->classes);
  const gint64 shape[] = { 1, theirs->model_height, theirs->model_width, 3 };
  theirs->peer = ort_peer_new (library, onnx, 1, shape, 4, theirs->input, input->bytes,
                               theirs->output, theirs->classes);
  return theirs->peer != NULL;
}

static int
measure (Ours *ours, Theirs *theirs, guint frames)
{
  g_autofree double *a = g_new (double, MAX (frames, WARM_UP)),
                    *b = g_new (double, MAX (frames, WARM_UP));
  const SlTimed rows[] = { { "slnormalize ! slinfer ! slpostprocess", turn_of_ours, ours, a },
                           { "appsink, libyuv, ONNX Runtime", turn_of_theirs, theirs, b } };
  if (!sl_timing_in_turn (rows, 2, WARM_UP, TURN, 0, NULL, NULL)
      || !sl_timing_in_turn (rows, 2, frames, TURN, 0, NULL, NULL)) {
    fprintf (stderr, "a frame gave no result\n");
    return 1;
  }
  printf (
    "%dx%d NV12 to a class, one thread, %u frames each, ms of processor time a frame; ONNX Runtime "
    "%s\n",
    theirs->width, theirs->height, frames, ort_peer_version (theirs->peer));
  const gsize median = sl_percentile_index (frames, 50);
  printf ("%-38s min %6.3f  median %6.3f  %s\n", rows[0].name, a[0], a[median],
          g_strchomp (ours->text));
  printf ("%-38s min %6.3f  median %6.3f  class %u\n", rows[1].name, b[0], b[median], theirs->best);
  printf ("ratio of minima %.3f, of medians %.3f\n", a[0] / b[0], a[median] / b[median]);
  return 0;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  const guint frames = argc > 4 ? (guint) atoi (argv[4]) : 200;
  Ours ours = { 0 };
  Theirs theirs = { .width = argc > 6 ? atoi (argv[5]) : 1920,
                    .height = argc > 6 ? atoi (argv[6]) : 1080 };
  sl_elements_init (&argc, &argv);
  sl_elements_register_static ();
  if (argc < 4 || frames < 1 || theirs.width < 2 || theirs.height < 2) {
    fprintf (
      stderr,
      "usage: %s MODEL.tflite MODEL.onnx LIBONNXRUNTIME [FRAMES [WIDTH HEIGHT [FRAME.nv12]]]\n",
      argv[0]);
    return 2;
  }
  g_autoptr (SlModel) model = sl_model_load (argv[1], NULL, &error);
  if (model == NULL) {
    fprintf (stderr, "%s\n", error->message);
    return 1;
  }
  g_autoptr (GstBuffer) frame = make_frame (theirs.width, theirs.height, argc > 7 ? argv[7] : NULL);
  g_autofree char *elements = g_strdup_printf (
    "! slnormalize ! slinfer model=\"%s\" threads=1 ! slpostprocess ! text/x-raw,format=utf8",
    argv[1]);
  const gboolean ready = frame != NULL
                         && theirs_init (&theirs, argv[3], argv[2], sl_model_graph (model))
                         && line_init (&ours.line, theirs.width, theirs.height, elements, frame)
                         && line_init (&theirs.line, theirs.width, theirs.height, "", frame);
  const int status = ready ? measure (&ours, &theirs, frames) : 1;
  for (guint i = 0; i < 2; i++) {
    Line *line = i == 0 ? &ours.line : &theirs.line;
    if (line->pipeline != NULL)
      gst_element_set_state (line->pipeline, GST_STATE_NULL);
    gst_clear_object (&line->source);
    gst_clear_object (&line->sink);
    gst_clear_object (&line->pipeline);
  }
  g_clear_pointer (&theirs.peer, ort_peer_free);
  g_free (theirs.y);
  g_free (theirs.uv);
  g_free (theirs.input);
  g_free (theirs.output);
  return status;
}
