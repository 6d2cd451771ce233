/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The element chain asks the heap for nothing of its own once it runs: each allocation of 1,000
 * frames is traced to the library that asked for it. Those that GStreamer makes inside its own
 * functions (buffers outside pools, metas and their structures, events) are excepted; they are
 * counted and bounded.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <gst/video/video.h>
#include <string.h>

#include "plugins/elements.h"
#include "plugins/meta/motion_meta.h"
#include "tests/elements/support.h"
#include "tools/bench/allocations.h"

#define WARM_UP 50
#define FRAMES 400
#define MAX_DEPTH 24
/* Backtraces printed on failure. */
#define TRACES 3

/* Allocations of this project, and of other libraries. */
static struct
{
  gint ours, theirs;
} heap;
static __thread gboolean inside;
static __thread gboolean brings_frames; /* this thread does */
static gboolean frames_alone;           /* what other threads ask for does not count */
static void *self;                      /* this file in memory */
static char *models;

static gboolean
starts (const char *path, const char *name)
{
  const char *slash = strrchr (path, '/');
  return g_str_has_prefix (slash != NULL ? slash + 1 : path, name);
}

/* GLib and the C library allocate for their caller. */
static gboolean
is_servant (const char *path)
{
  return starts (path, "libc.") || starts (path, "libglib-") || starts (path, "libgobject-")
         || starts (path, "ld-linux");
}

/* The test's own file holds the elements too; the frames up to the interposed malloc are skipped by
 * the caller. */
static void
trace (void)
{
  void *frames[MAX_DEPTH];
  if (inside || (frames_alone && !brings_frames))
    return;
  inside = TRUE;
  const int depth = backtrace (frames, MAX_DEPTH);
  for (int i = 3; i < depth; i++) {
    Dl_info info;
    if (dladdr (frames[i], &info) == 0 || info.dli_fname == NULL || is_servant (info.dli_fname))
      continue;
    const gboolean ours = info.dli_fbase == self || starts (info.dli_fname, "libsightline");
    g_atomic_int_inc (ours ? &heap.ours : &heap.theirs);
    if (ours && heap.ours <= TRACES)
      backtrace_symbols_fd (frames, depth, 2);
    break;
  }
  inside = FALSE;
}

/* Whether slgallery knows who they are. */
static gboolean
knows_people (GstBuffer *frame)
{
  gpointer state = NULL;
  GstMeta *meta =
    gst_buffer_iterate_meta_filtered (frame, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  return meta != NULL
         && gst_video_region_of_interest_meta_get_param ((GstVideoRegionOfInterestMeta *) meta,
                                                         "identity")
              != NULL;
}

static GstPadProbeReturn
count_frame (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  gint *frames = data;
  brings_frames = TRUE;
  if (++*frames == WARM_UP)
    sl_allocations_watch (trace);
  else if (*frames == WARM_UP + FRAMES)
    sl_allocations_watch (NULL);
  else if (*frames > WARM_UP + FRAMES && frames_alone)
    g_assert_true (knows_people (GST_PAD_PROBE_INFO_BUFFER (info)));
  return GST_PAD_PROBE_OK;
}

/* Two regions, of another place and size on each frame: what a second model looks at. They count
 * for nobody. */
static GstPadProbeReturn
add_regions (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const gint *frames = data;
  const guint turn = (guint) *frames;
  inside = TRUE;
  GstBuffer *frame = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  gst_buffer_add_video_region_of_interest_meta (frame, "green", turn * 7 % 31, turn * 5 % 23,
                                                1 + turn * 3 % 30, 1 + turn % 24);
  gst_buffer_add_video_region_of_interest_meta (frame, "blue", turn % 17, turn % 13, 40 - turn % 17,
                                                30 - turn % 13);
  GST_PAD_PROBE_INFO_DATA (info) = frame;
  inside = FALSE;
  return GST_PAD_PROBE_OK;
}

/* Two people who stand before differently coloured bars. */
static GstPadProbeReturn
add_people (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  inside = TRUE;
  GstBuffer *frame = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  gst_buffer_add_video_region_of_interest_meta (frame, "green", 2, 4, 8, 24);
  gst_buffer_add_video_region_of_interest_meta (frame, "blue", 46, 4, 8, 24);
  GST_PAD_PROBE_INFO_DATA (info) = frame;
  inside = FALSE;
  return GST_PAD_PROBE_OK;
}

/* A region that moves, at another place of each frame: the tile around it is half of the frame. */
static GstPadProbeReturn
add_motion (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  const gint *frames = data;
  const gfloat x = (gfloat) (*frames % 30) / 64, y = (gfloat) (*frames % 20) / 48;
  const SlMotionBox box = { x, y, x + 0.1f, y + 0.1f };
  inside = TRUE;
  GstBuffer *frame = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  sl_buffer_set_motion (frame, &box, 1);
  GST_PAD_PROBE_INFO_DATA (info) = frame;
  inside = FALSE;
  return GST_PAD_PROBE_OK;
}

/* @add: (nullable): puts something on the frames that the model gets */
static void
run_chain (const char *launch, GstPadProbeCallback add, gint *frames)
{
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_frame, frames, NULL);
  if (add != NULL) {
    g_autoptr (GstElement) in = gst_bin_get_by_name (GST_BIN (pipeline), "in");
    g_autoptr (GstPad) frames_in = gst_element_get_static_pad (in, "sink");
    gst_pad_add_probe (frames_in, GST_PAD_PROBE_TYPE_BUFFER, add, frames, NULL);
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

typedef struct
{
  const char *name, *model, *output;
  gint most;           /* allocations of GStreamer for a frame */
  const char *objects; /* (nullable): properties of slnormalize that choose objects */
  const char *pattern; /* (nullable): of the pictures; NULL = green */
  const char *tiles;   /* (nullable): properties of slnormalize that divide the frame */
  gboolean people;     /* the same objects on each frame; a thread writes what is known of them */
} Case;

#define SEGMENTATION "brightest_quarter.tflite decoder=segmentation"

/* What a frame costs GStreamer: the source's buffer comes from a pool; the tensors' metas, the
 * picture's metas with their structures of six or three fields. */
static const Case cases[] = {
  { "labels/text", "brightest_channel.tflite", "text/x-raw", 8 },
  { "labels/json", "brightest_channel.tflite", "application/x-json", 8 },
  { "labels/video", "brightest_channel.tflite", "video/x-raw", 16 },
  { "boxes/text", "one_box.tflite", "text/x-raw", 8 },
  { "boxes/json", "one_box.tflite", "application/x-json", 8 },
  { "boxes/video", "one_box.tflite", "video/x-raw", 16 },
  { "boxes/redact", "one_box.tflite", "video/x-raw ! slredact", 16 },
  { "boxes/redact-blur", "one_box.tflite", "video/x-raw ! slredact mode=blur hold=1000", 16 },
  { "mask/redact", SEGMENTATION, "video/x-raw ! slredact", 16 },
  { "mask/json", SEGMENTATION, "application/x-json", 8 },
  { "mask/video", SEGMENTATION, "video/x-raw", 16 },
  { "picture", "brightest_quarter.tflite decoder=image,range=0,255", "video/x-raw", 16 },
  { "budget", "brightest_channel.tflite promised-rate=1000", "text/x-raw", 8 },
  { "objects/text", "brightest_channel.tflite", "text/x-raw", 24, "objects=true" },
  { "objects/json", "brightest_channel.tflite", "application/x-json", 24,
    "objects=true object-class=\"green, blue\"" },
  { "objects/video", "brightest_channel.tflite", "video/x-raw", 24,
    "objects=true object-class=blue" },
  { "objects/track", "brightest_channel.tflite", "video/x-raw ! sltrack max-age=5", 24,
    "objects=true" },
  { "objects/appearance", "brightest_channel.tflite",
    "video/x-raw ! sltrack max-age=5 appearance-memory=10 appearance=@models@/looks.onnx "
    "appearance-settings=\"mean=127.5 std=127.5\" observation-centred=true",
    24, "objects=true" },
  { "objects/camera", "brightest_channel.tflite",
    "video/x-raw ! sltrack max-age=5 camera-motion=true", 24, "objects=true", "snow" },
  /* The class that wins everywhere is a letter here. */
  { "objects/letters", "letters.onnx std=255 decoder=text,end=1,transposed=yes,alphabet=XBCD",
    "video/x-raw ! sltrack max-age=5 ! sltext formats=@models@/letters.formats", 64,
    "objects=true object-alignment=corners" },
  { "objects/boxes", "one_box.tflite", "application/x-json", 24, "objects=true" },
  { "motion/none", "brightest_channel.tflite", "video/x-raw ! slmotion", 16 },
  { "motion/some", "brightest_channel.tflite", "video/x-raw ! slmotion min-area=0", 32, NULL,
    "ball" },
#ifdef TEST_READ
  { "objects/read", "brightest_channel.tflite", "video/x-raw ! slread reader=zbar time-limit=1000",
    64, "objects=true", "snow" },
#endif
#ifdef TEST_GALLERY
  { "people/gallery", "brightest_channel.tflite",
    "video/x-raw ! sltrack max-age=5 appearance=@models@/looks.onnx "
    "appearance-settings=\"mean=127.5 std=127.5\" ! slgallery keep=7d camera=gate "
    "location=@models@/people.gallery",
    48, "objects=true", "smpte", .people = TRUE },
#endif
  { "tiles/some", "one_box.tflite", "video/x-raw", 32, NULL, NULL, "tiles=2x2" },
  { "tiles/motion", "one_box.tflite", "video/x-raw", 32, NULL, NULL,
    "tiles=motion full-interval=1" },
};

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  gint frames = 0;
  if (sl_allocations () < 0) {
    g_test_skip ("allocations cannot be counted in this build");
    return;
  }
  memset (&heap, 0, sizeof heap);
  frames_alone = c->people;
  g_autoptr (GString) launch = g_string_new (NULL);
  g_string_printf (
    launch,
    "videotestsrc pattern=%s num-buffers=%d ! video/x-raw,format=RGB,width=64,height=48 ! "
    "slnormalize name=in %s ! slinfer "
    "model=%s/%s ! slpostprocess ! %s ! fakesink name=sink sync=false enable-last-sample=false",
    c->pattern != NULL ? c->pattern : "green", WARM_UP + FRAMES + 1,
    c->objects != NULL ? c->objects
    : c->tiles != NULL ? c->tiles
                       : "",
    models, c->model, c->output);
  g_string_replace (launch, "@models@", models, 0);
  run_chain (launch->str,
             c->people            ? add_people
             : c->objects != NULL ? add_regions
             : c->tiles != NULL   ? add_motion
                                  : NULL,
             &frames);
  g_test_message ("GStreamer: %.2f allocations a frame", heap.theirs / (double) FRAMES);
  g_assert_cmpint (frames, ==, WARM_UP + FRAMES + 1);
  g_assert_cmpint (heap.ours, ==, 0);
  g_assert_cmpint (heap.theirs, <=, c->most * FRAMES);
}

/* Files of make_models, which is argument 1. */
static void
make_models (char **argv)
{
  g_autoptr (GError) error = NULL;
  int status = 0;
  models = g_dir_make_tmp ("sightline-XXXXXX", &error);
  g_assert_no_error (error);
  char *command[] = { argv[1], models, NULL };
  g_spawn_sync (NULL, command, NULL, G_SPAWN_DEFAULT, NULL, NULL, NULL, NULL, &status, &error);
  g_assert_no_error (error);
  g_assert_cmpint (status, ==, 0);
}

static void
remove_models (void)
{
  const char *name;
  GDir *dir = g_dir_open (models, 0, NULL);
  while ((name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *path = g_build_filename (models, name, NULL);
    g_remove (path);
  }
  g_dir_close (dir);
  g_rmdir (models);
  g_free (models);
}

int
main (int argc, char **argv)
{
  void *frames[MAX_DEPTH];
  Dl_info info;
  test_elements_init (&argc, &argv);
#ifdef TEST_READ
  g_assert_true (
    sl_plugin_register_element (NULL, "slread", "SlRead", GST_RANK_NONE, sl_read_get_type));
#endif
#ifdef TEST_GALLERY
  g_assert_true (sl_plugin_register_element (NULL, "slgallery", "SlGallery", GST_RANK_NONE,
                                             sl_gallery_element_get_type));
#endif
  g_assert_cmpint (argc, ==, 2);
  make_models (argv);
  backtrace (frames, MAX_DEPTH); /* loads the unwinder */
  g_assert_true (dladdr ((void *) (gsize) main, &info) != 0);
  self = info.dli_fbase;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = g_strdup_printf ("/steady/%s", cases[i].name);
    g_test_add_data_func (path, &cases[i], test_case);
  }
  const int result = g_test_run ();
  remove_models ();
  return result;
}
