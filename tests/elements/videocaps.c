/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Video that elements do not take: other memory, other formats, frames where tensors belong. Each
 * ends in one error that says what to put there, in pipelines as people write them; and upstream
 * elements that have a choice are not led into the wrong one.
 */
#include "config.h"
#include "plugins/video/caps.h"

#include <gst/app/gstappsrc.h>
#include <string.h>

#include "plugins/elements.h"
#include "plugins/video/input.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define SIZE ",width=16,height=16,framerate=25/1"

/* (transfer full): what the first error of the pipeline @line says. The appsrc "in", where there is
 * one, sends one buffer of @caps. */
static char *
run_to_error (const char *line, const char *caps)
{
  g_autoptr (GError) error = NULL;
  g_test_message ("%s", line);
  g_autoptr (GstElement) pipeline = gst_parse_launch (line, &error);
  g_assert_no_error (error);
  g_autoptr (GstElement) in = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  if (in != NULL) {
    g_autoptr (GstCaps) parsed = gst_caps_from_string (caps);
    g_object_set (in, "caps", parsed, "format", GST_FORMAT_TIME, NULL);
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  if (in != NULL) {
    gst_app_src_push_buffer (GST_APP_SRC (in), gst_buffer_new_allocate (NULL, 4096, NULL));
    gst_app_src_end_of_stream (GST_APP_SRC (in));
  }
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_ERROR);
  g_autoptr (GError) said = NULL;
  gst_message_parse_error (message, &said, NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_test_message ("%s", said->message);
  return g_strdup (said->message);
}

/* sloverlay draws in place; the others take linear DMABuf. */
static const char *const takers[] = {
  "slnormalize",
  "slpredict",
#ifdef SL_HAVE_LIBYUV
  "slresize",
#endif
#ifdef SL_HAVE_OVERLAY
  "sloverlay",
#endif
};

typedef struct
{
  const char *name, *caps;
  const char *says;    /* %s is the element */
  const char *only;    /* (nullable): the taker that says it */
  const char *all_but; /* (nullable): the taker that says something else */
} Case;

static const Case cases[] = {
  { "gl", "video/x-raw(memory:GLMemory),format=RGBA" SIZE,
    "expected video/x-raw in system memory, got video/x-raw(memory:GLMemory): put gldownload "
    "before %s" },
  { "dmabuf", "video/x-raw(memory:DMABuf),format=NV12" SIZE,
    "expected video/x-raw in system memory, got video/x-raw(memory:DMABuf): have the element "
    "upstream write system memory (v4l2src io-mode=mmap), or put glupload ! gldownload before %s",
    .only = "sloverlay" },
  { "drm", "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12" SIZE,
    "expected video/x-raw in system memory, got video/x-raw(memory:DMABuf): have",
    .only = "sloverlay" },
  { "tiled", "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:0x0100000000000002" SIZE,
    "expected DMABuf frames whose rows lie one after another (linear, such as drm-format=NV12) and "
    "of a known format, got drm-format=NV12:0x0100000000000002, tiled or compressed as hardware of "
    "Intel does: have the element upstream write those, or system memory, or put vapostproc ! "
    "video/x-raw before %s",
    .all_but = "sloverlay" },
  { "implicit", "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:0x00ffffffffffffff" SIZE,
    "got drm-format=NV12:0x00ffffffffffffff, of an unknown layout: have the element upstream write "
    "those, or system memory, or put glupload ! glcolorconvert ! gldownload before %s",
    .all_but = "sloverlay" },
  { "kernel-format", "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=XR30" SIZE,
    "got drm-format=XR30: have the element upstream", .all_but = "sloverlay" },
  { "no-name", "video/x-raw(memory:DMABuf),format=DMA_DRM" SIZE,
    "got drm-format=(none): have the element upstream", .all_but = "sloverlay" },
  { "other-format", "video/x-raw(memory:DMABuf),format=AYUV64" SIZE,
    "pixel format AYUV64 is not supported; expected one of {", .all_but = "sloverlay" },
  { "va", "video/x-raw(memory:VAMemory),format=NV12" SIZE,
    "got video/x-raw(memory:VAMemory): put vapostproc ! video/x-raw before %s" },
  { "other", "video/x-raw(memory:Moon),format=NV12" SIZE,
    "got video/x-raw(memory:Moon): put an element before %s that gives video/x-raw in system "
    "memory" },
  { "palette", "video/x-raw,format=RGB8P" SIZE,
    "pixel format RGB8P is not supported; expected one of {" },
  { "convert", "video/x-raw,format=AYUV64" SIZE, "put videoconvert before %s" },
};

static char *
replaced (const char *text, const char *word, const char *by)
{
  g_auto (GStrv) parts = g_strsplit (text, word, -1);
  return g_strjoinv (by, parts);
}

static void
test_refused (gconstpointer data)
{
  static const char *const lines[] = { "appsrc name=in ! %s ! fakesink",
                                       "appsrc name=in ! queue ! identity ! %s ! fakesink",
                                       "appsrc name=in ! capsfilter caps=CAPS ! %s ! fakesink" };
  const Case *row = data;
  g_autofree char *caps = g_strdup_printf ("\"%s\"", row->caps);
  for (guint t = 0; t < G_N_ELEMENTS (takers); t++) {
    g_autofree char *says = replaced (row->says, "%s", takers[t]);
    if ((row->only != NULL && !g_str_equal (row->only, takers[t]))
        || g_strcmp0 (row->all_but, takers[t]) == 0)
      continue;
    for (guint l = 0; l < G_N_ELEMENTS (lines); l++) {
      g_autofree char *with_caps = replaced (lines[l], "CAPS", caps),
                      *line = replaced (with_caps, "%s", takers[t]);
      g_autofree char *said = run_to_error (line, row->caps);
      g_assert_nonnull (strstr (said, says));
    }
  }
}

/* (transfer full): path of a new file with these bytes. */
static char *
write_file (const char *name, const void *bytes, gsize n)
{
  char *path = test_text_file (name, "");
  g_assert_true (g_file_set_contents (path, bytes, (gssize) n, NULL));
  return path;
}

/* Fields of a BMP lie at odd addresses. */
static void
put_le (guint8 *at, guint value)
{
  for (guint i = 0; i < 4; i++)
    at[i] = (guint8) (value >> 8 * i);
}

/* (transfer full): a BMP of 16x16 pixels: with @bits 8 and a palette, or 24. */
static char *
make_bmp (guint bits)
{
  const guint colours = bits == 8 ? 256 : 0, pixels = 16 * 16 * bits / 8, offset = 54 + 4 * colours;
  g_autofree guint8 *file = g_malloc0 (offset + pixels);
  memcpy (file, "BM", 2);
  put_le (file + 2, offset + pixels);
  put_le (file + 10, offset);
  put_le (file + 14, 40);
  put_le (file + 18, 16);
  put_le (file + 22, 16);
  put_le (file + 26, 1 | bits << 16);
  put_le (file + 34, pixels);
  put_le (file + 46, colours);
  return write_file (bits == 8 ? "palette.bmp" : "colours.bmp", file, offset + pixels);
}

/* libav's decoder keeps palettes; the one that other systems prefer does not. */
static gboolean
has_bmp_decoder (void)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find ("avdec_bmp"),
                                other = gst_element_factory_find ("gdkpixbufdec");
  if (other != NULL)
    gst_plugin_feature_set_rank (GST_PLUGIN_FEATURE (other), GST_RANK_NONE);
  if (factory == NULL)
    g_test_skip ("needs avdec_bmp");
  return factory != NULL;
}

static void
test_palette_file (void)
{
  if (!has_bmp_decoder ())
    return;
  g_autofree char *path = make_bmp (8);
  for (guint t = 0; t < G_N_ELEMENTS (takers); t++) {
    g_autofree char *line =
      g_strdup_printf ("filesrc location=%s ! decodebin ! %s ! fakesink", path, takers[t]);
    g_autofree char *said = run_to_error (line, NULL),
                    *advice = g_strdup_printf ("put videoconvert before %s", takers[t]);
    g_assert_true (
      g_str_has_prefix (said, "pixel format RGB8P is not supported; expected one of {"));
    g_assert_true (g_str_has_suffix (said, advice));
  }
  test_remove_file (path);
}

/* slnormalize was forgotten. */
static void
test_no_tensors (void)
{
  static const char says[] =
    "expected tensors, got video frames: put slnormalize before slinfer, or slpredict in place of "
    "slinfer (and slpostprocess)";
  static const char *const lines[] = {
    "videotestsrc ! slinfer ! fakesink",
    "videotestsrc ! queue ! video/x-raw,format=RGB ! slinfer ! fakesink",
    "videotestsrc ! slinfer ! slpostprocess ! fakesink"
  };
  for (guint l = 0; l < G_N_ELEMENTS (lines); l++) {
    g_autofree char *said = run_to_error (lines[l], NULL);
    g_assert_cmpstr (said, ==, says);
  }
  if (!has_bmp_decoder ())
    return;
  g_autofree char *path = make_bmp (24),
                  *line =
                    g_strdup_printf ("filesrc location=%s ! decodebin ! slinfer ! fakesink", path);
  g_autofree char *said = run_to_error (line, NULL);
  g_assert_cmpstr (said, ==, says);
  test_remove_file (path);
}

static GstStaticPadTemplate chooser_template = GST_STATIC_PAD_TEMPLATE (
  "src", GST_PAD_SRC, GST_PAD_ALWAYS,
  GST_STATIC_CAPS ("video/x-raw(memory:VAMemory), format=NV12; video/x-raw, format=NV12"));

/* A decoder that prefers a memory of its own and asks first whether it may, in the ways decoders
 * do. */
static void
test_choice (gconstpointer data)
{
  g_autoptr (GstElement) pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  GstElement *decoder = gst_bin_new (NULL);
  g_autofree char *launch = g_strdup_printf ("%s ! fakesink", (const char *) data);
  GstElement *rest = gst_parse_bin_from_description (launch, TRUE, NULL);
  GstPad *pad = gst_pad_new_from_static_template (&chooser_template, "src");
  gst_element_add_pad (decoder, pad);
  gst_bin_add_many (GST_BIN (pipeline), decoder, rest, NULL);
  g_autoptr (GstPad) sink = gst_element_get_static_pad (rest, "sink");
  g_assert_cmpint (gst_pad_link (pad, sink), ==, GST_PAD_LINK_OK);
  gst_element_set_state (pipeline, GST_STATE_READY);
  g_autoptr (GstCaps) preferred =
    gst_caps_from_string ("video/x-raw(memory:VAMemory), format=NV12");
  g_autoptr (GstCaps) plain = gst_caps_from_string ("video/x-raw, format=NV12");
  g_autoptr (GstCaps) allowed = gst_pad_get_allowed_caps (pad);
  g_autoptr (GstCaps) filtered = gst_pad_peer_query_caps (pad, preferred);
  g_assert_false (gst_caps_can_intersect (allowed, preferred));
  g_assert_true (gst_caps_can_intersect (allowed, plain));
  g_assert_true (gst_caps_is_empty (filtered));
  /* Titles may be attached to frames only where somebody draws them: no feature but memory is let
   * through. */
  g_autoptr (GstCaps) titled = gst_caps_from_string (
    "video/x-raw(memory:SystemMemory, meta:GstVideoOverlayComposition), format=NV12, width=16, "
    "height=16, framerate=25/1");
  g_assert_false (gst_pad_peer_query_accept_caps (pad, titled));
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

/* A range without a matrix counts, and a matrix without a range is of 16 to 235. */
static const struct
{
  const char *colorimetry;
  gint height;
  SlMatrix matrix;
  gboolean full_range;
} colours[] = {
  { "1:0:0:0", 240, SL_MATRIX_BT601, TRUE },   { "1:0:0:0", 720, SL_MATRIX_BT709, TRUE },
  { "2:0:0:0", 240, SL_MATRIX_BT601, FALSE },  { "0:3:5:1", 240, SL_MATRIX_BT709, FALSE },
  { "1:3:5:1", 240, SL_MATRIX_BT709, TRUE },   { "1:4:0:1", 1080, SL_MATRIX_BT601, TRUE },
  { "bt709", 240, SL_MATRIX_BT709, FALSE },    { "1:1:5:1", 240, SL_MATRIX_BT601, TRUE },
  { "1:6:0:0", 2160, SL_MATRIX_BT2020, TRUE }, { "nonsense", 240, SL_MATRIX_BT601, FALSE },
  { NULL, 240, SL_MATRIX_BT601, FALSE },
};

static void
test_colours (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (colours); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GstCaps) caps =
      gst_caps_from_string ("video/x-raw,format=I420,width=320,framerate=25/1");
    GstVideoInfo video;
    SlImageInfo image;
    gst_caps_set_simple (caps, "height", G_TYPE_INT, colours[i].height, NULL);
    if (colours[i].colorimetry != NULL)
      gst_caps_set_simple (caps, "colorimetry", G_TYPE_STRING, colours[i].colorimetry, NULL);
    g_test_message ("%s at %d", colours[i].colorimetry, colours[i].height);
    g_assert_true (
      sl_video_input_read (caps, "slpredict", SL_VIDEO_INPUT_FORMATS, &video, &image, &error));
    g_assert_no_error (error);
    g_assert_cmpint (image.matrix, ==, colours[i].matrix);
    g_assert_cmpint (image.full_range, ==, colours[i].full_range);
  }
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
#ifdef SL_HAVE_OVERLAY
  g_assert_true (gst_element_register (NULL, "sloverlay", GST_RANK_NONE, sl_overlay_get_type ()));
#endif
  TEST_ADD_CASES ("/videocaps/refused", cases, test_refused);
  g_test_add_func ("/videocaps/palette-file", test_palette_file);
  g_test_add_func ("/videocaps/no-tensors", test_no_tensors);
  g_test_add_func ("/videocaps/colours", test_colours);
  for (guint t = 0; t < G_N_ELEMENTS (takers); t++) {
    g_autofree char *name = g_strconcat ("/videocaps/choice/", takers[t], NULL),
                    *queued = g_strconcat (name, "-queued", NULL);
    g_test_add_data_func (name, takers[t], test_choice);
    g_test_add_data_func_full (queued, g_strconcat ("queue ! ", takers[t], NULL), test_choice,
                               g_free);
  }
  return test_elements_run ();
}
