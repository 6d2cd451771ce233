/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GStreamer's own elements beside ours, where they are installed: what onnxinference and
 * ssdobjectdetector find in frames is drawn, followed and published, and objectdetectionoverlay
 * draws what slpredict finds where sloverlay does. Networks are written here, and make their
 * results of the frames' own pixels.
 */
#include "config.h"

#include <gst/app/gstappsrc.h>
#include <stdio.h>
#include <string.h>

#include "plugins/elements.h"
#include "plugins/meta/predictions.h"
#include "tests/elements/publish/support.h"
#include "tests/elements/support.h"
#include "tests/support/onnx_writer.h"
#include "tests/support/program.h"

#define WIDTH 64
#define HEIGHT 48
#define CAPS "video/x-raw,format=RGB,width=64,height=48,framerate=25/1"
#define FRAME (40 * GST_MSECOND)
#define N_FRAMES 12
#define N_BOXES 3

static gboolean
is_missing (const char *const *names)
{
  for (guint i = 0; names[i] != NULL; i++) {
    g_autoptr (GstElementFactory) factory = gst_element_factory_find (names[i]);
    if (factory != NULL)
      continue;
    g_test_skip_printf ("no %s here", names[i]);
    return TRUE;
  }
  return FALSE;
}

/* A new file: uint8[1,48,64,3] -> boxes, scores, classes and their number, by whose names
 * onnxinference knows them. Boxes are 1/4 and 1/2 of the frame wide and high, and begin further
 * right the brighter the frame is: at 0 + b/510 and 1/2 - b/510 of its width. The third is unsure.
 * A black frame has no sure box. */
static char *
ssd_model (void)
{
  static const gint64 image[] = { 1, HEIGHT, WIDTH, 3 }, boxes[] = { 1, N_BOXES, 4 },
                      row[] = { 1, N_BOXES }, one[] = { 1 };
  static const gfloat edges[N_BOXES * 4] = { 0.25f, 0,     0.75f, 0.25f, 0.5f, 0.5f,
                                             1,     0.75f, 0,     0,     0.5f, 0.5f };
  static const gfloat shifts[N_BOXES * 4] = { 0, 1 / 510.0f,  0, 1 / 510.0f,
                                              0, -1 / 510.0f, 0, -1 / 510.0f };
  static const gfloat sureness[N_BOXES] = { 1, 0.9f, 0.1f }, classes[N_BOXES] = { 1, 2, 0 },
                      count[] = { N_BOXES };
  g_autoptr (SlOnnxWriter) w = sl_onnx_writer_new (13);
  sl_onnx_writer_input (w, "image", 2, G_N_ELEMENTS (image), image);
  sl_onnx_writer_floats (w, "edges", G_N_ELEMENTS (boxes), boxes, edges);
  sl_onnx_writer_floats (w, "shifts", G_N_ELEMENTS (boxes), boxes, shifts);
  sl_onnx_writer_floats (w, "sureness", G_N_ELEMENTS (row), row, sureness);
  sl_onnx_writer_floats (w, "kinds", G_N_ELEMENTS (row), row, classes);
  sl_onnx_writer_floats (w, "count", G_N_ELEMENTS (one), one, count);
  sl_onnx_writer_node (w, "Cast", "image", "pixels", "to i 1", NULL);
  sl_onnx_writer_node (w, "ReduceMean", "pixels", "brightness", "axes I 1,2,3", "keepdims i 0",
                       NULL);
  sl_onnx_writer_node (w, "Mul", "shifts,brightness", "moved", NULL);
  sl_onnx_writer_node (w, "Add", "edges,moved", "detection_boxes", NULL);
  sl_onnx_writer_node (w, "Min", "brightness,one", "seen", NULL);
  sl_onnx_writer_floats (w, "one", G_N_ELEMENTS (one), one, (const gfloat[]){ 1 });
  sl_onnx_writer_node (w, "Mul", "sureness,seen", "detection_scores", NULL);
  sl_onnx_writer_node (w, "Identity", "kinds", "detection_classes", NULL);
  sl_onnx_writer_node (w, "Identity", "count", "num_detections", NULL);
  sl_onnx_writer_output (w, "detection_boxes", SL_ONNX_FLOAT);
  sl_onnx_writer_output (w, "detection_scores", SL_ONNX_FLOAT);
  sl_onnx_writer_output (w, "detection_classes", SL_ONNX_FLOAT);
  sl_onnx_writer_output (w, "num_detections", SL_ONNX_FLOAT);
  g_autoptr (GBytes) bytes = sl_onnx_writer_finish (w);
  char *path = test_text_file ("ssd.onnx", "");
  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes), NULL));
  return path;
}

static GstBuffer *
gray_frame (guint8 brightness, guint i)
{
  const guint8 colour[3] = { brightness, brightness, brightness };
  return test_frame (CAPS, colour, i * FRAME);
}

/* The rectangle of the pixels of @out that are not @brightness: x0, y0, x1, y1. */
static void
find_drawn (GstBuffer *out, guint8 brightness, gint drawn[4])
{
  GstMapInfo map;
  drawn[0] = WIDTH, drawn[1] = HEIGHT, drawn[2] = drawn[3] = 0;
  g_assert_true (gst_buffer_map (out, &map, GST_MAP_READ));
  g_assert_cmpuint (map.size, ==, WIDTH * HEIGHT * 3);
  for (gint y = 0; y < HEIGHT; y++)
    for (gint x = 0; x < WIDTH; x++) {
      const guint8 *pixel = map.data + (y * WIDTH + x) * 3;
      if (pixel[0] == brightness && pixel[1] == brightness && pixel[2] == brightness)
        continue;
      drawn[0] = MIN (drawn[0], x);
      drawn[1] = MIN (drawn[1], y);
      drawn[2] = MAX (drawn[2], x + 1);
      drawn[3] = MAX (drawn[3], y + 1);
    }
  gst_buffer_unmap (out, &map);
}

/* The boxes that the detector found are drawn: 0.2 to 0.45 and 0.3 to 0.55 of the frame's width,
 * 1/4 to 3/4 and 1/2 to 1 of its height. */
static void
test_drawn (void)
{
  static const char *const elements[] = { "onnxinference", "ssdobjectdetector", "sloverlay", NULL };
  gint drawn[4];
  if (is_missing (elements))
    return;
  g_autofree char *model = ssd_model (),
                  *labels = test_text_file ("labels.txt", "none\ncat\ndog\n");
  g_autofree char *launch = g_strdup_printf (
    "onnxinference model-file=%s ! ssdobjectdetector label-file=%s ! sloverlay labels=false "
    "scores=false",
    model, labels);
  g_autoptr (GstBuffer) out = test_line_run (launch, CAPS, CAPS, gray_frame (102, 0));
  find_drawn (out, 102, drawn);
  g_assert_true (ABS (drawn[0] - 12) <= 1 && ABS (drawn[1] - 12) <= 1 && ABS (drawn[2] - 35) <= 1
                 && ABS (drawn[3] - 48) <= 1);
  g_autoptr (GstBuffer) black = test_line_run (launch, CAPS, CAPS, gray_frame (0, 0));
  find_drawn (black, 0, drawn);
  g_assert_cmpint (drawn[2], ==, 0);
  test_remove_file (model);
  test_remove_file (labels);
}

/* Frames that get brighter: two objects that move, each with the same id in every line; black
 * frames have none, and get a line, too. */
static void
test_published (void)
{
  static const char *const elements[] = { "onnxinference", "ssdobjectdetector", NULL };
  if (is_missing (elements))
    return;
  g_autoptr (GError) error = NULL;
  g_autofree char *model = ssd_model (),
                  *labels = test_text_file ("labels.txt", "none\ncat\ndog\n"),
                  *path = publish_path ("neighbours");
  g_autofree char *launch = g_strdup_printf ("appsrc name=source format=time caps=" CAPS
                                             " ! onnxinference model-file=%s ! ssdobjectdetector "
                                             "label-file=%s ! sltrack ! slpublish location=%s",
                                             model, labels, path);
  g_autoptr (GstElement) pipeline = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < N_FRAMES; i++)
    g_assert_cmpint (gst_app_src_push_buffer (GST_APP_SRC (source),
                                              gray_frame (i < 10 ? (guint8) (20 + 5 * i) : 0, i)),
                     ==, GST_FLOW_OK);
  gst_app_src_end_of_stream (GST_APP_SRC (source));
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_autofree char *text = NULL;
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, N_FRAMES + 1);
  for (guint i = 0; i < N_FRAMES; i++) {
    const gint shift = (gint) (64 * (20 + 5 * i) / 510);
    gint x, w;
    const char *cat = strstr (lines[i], "\"roi_type\":\"cat\",\"id\":1,"),
               *dog = strstr (lines[i], "\"roi_type\":\"dog\",\"id\":2,");
    g_assert_true ((cat != NULL) == (i < 10) && (dog != NULL) == (i < 10));
    if (i >= 10) {
      g_assert_nonnull (strstr (lines[i], "\"objects\":[]"));
      continue;
    }
    g_assert_cmpint (sscanf (strstr (lines[i], "\"objects\":[") + 11,
                             "{\"x\":%d,\"y\":12,\"w\":%d,\"h\":24,", &x, &w),
                     ==, 2);
    g_assert_true (ABS (x - shift) <= 1 && ABS (w - 16) <= 1);
  }
  test_remove_file (model);
  test_remove_file (labels);
}

/* Where slpredict finds an object, objectdetectionoverlay draws it; sloverlay draws it there, too.
 */
static void
test_overlays (void)
{
  static const char *const elements[] = { "objectdetectionoverlay", "sloverlay", NULL };
  static const guint8 found[2][6] = { { 51, 102, 153, 204, 230, 0 }, { 0, 0, 0, 0, 0, 0 } };
  static const char *const overlays[] = { "sloverlay labels=false scores=false thickness=1",
                                          "objectdetectionoverlay draw-labels=false" };
  gint drawn[2][4];
  if (is_missing (elements))
    return;
  g_autofree char *model = test_boxes_model (),
                  *labels = test_text_file ("labels.txt", "cat\ndog\n");
  for (guint i = 0; i < G_N_ELEMENTS (overlays); i++) {
    g_autofree char *launch = g_strdup_printf ("slpredict model=%s labels=%s " TEST_BOXES_DECODER
                                               " ! videoconvert ! %s ! videoconvert",
                                               model, labels, overlays[i]);
    GstBuffer *frame = gray_frame (0, 0);
    GstMapInfo map;
    g_assert_true (gst_buffer_map (frame, &map, GST_MAP_WRITE));
    for (guint y = 0; y < HEIGHT; y++)
      for (guint x = 0; x < WIDTH; x++)
        memcpy (map.data + (y * WIDTH + x) * 3, found[y / (HEIGHT / 2)] + x / (WIDTH / 2) * 3, 3);
    gst_buffer_unmap (frame, &map);
    g_autoptr (GstBuffer) plain = gst_buffer_copy_deep (frame);
    g_autoptr (GstBuffer) out = test_line_run (launch, CAPS, CAPS, frame);
    GstMapInfo before;
    g_assert_true (gst_buffer_map (plain, &before, GST_MAP_READ)
                   && gst_buffer_map (out, &map, GST_MAP_READWRITE));
    for (gsize k = 0; k < map.size; k++)
      map.data[k] = map.data[k] == before.data[k] ? 0 : 255;
    gst_buffer_unmap (plain, &before);
    gst_buffer_unmap (out, &map);
    find_drawn (out, 0, drawn[i]);
    g_test_message ("%s: %d %d %d %d", overlays[i], drawn[i][0], drawn[i][1], drawn[i][2],
                    drawn[i][3]);
  }
  /* 0.2, 0.4, 0.6 and 0.8 of the frame; lines of theirs are centred on edges. */
  for (guint i = 0; i < G_N_ELEMENTS (overlays); i++)
    g_assert_true (ABS (drawn[i][0] - 13) <= 2 && ABS (drawn[i][1] - 19) <= 2
                   && ABS (drawn[i][2] - 38) <= 2 && ABS (drawn[i][3] - 38) <= 2);
  test_remove_file (model);
  test_remove_file (labels);
}

#ifdef SL_HAVE_TENSOR_META

#define MAX_FOUND 4

/* What @launch finds in a gray frame: label and edges, in the order of the metas. */
static guint
find_objects (const char *launch, SlObjectView found[MAX_FOUND])
{
  SlPredictionReader reader;
  SlPredictionView prediction = { .width = WIDTH, .height = HEIGHT };
  g_autoptr (GstBuffer) out = test_line_run (launch, CAPS, CAPS, gray_frame (102, 0));
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, out, &prediction);
  g_assert_cmpuint (prediction.n_objects, <=, MAX_FOUND);
  for (guint i = 0; i < prediction.n_objects; i++)
    found[i] = prediction.objects[i]; /* labels are static strings */
  sl_prediction_reader_clear (&reader);
  return prediction.n_objects;
}

/* Inference and decoder may be ours or theirs, in every pair: the same objects, with edges at most
 * a pixel apart. */
static void
test_tensors (void)
{
  static const char *const elements[] = { "onnxinference", "ssdobjectdetector", NULL };
  static const char *const chains[] = {
    "slnormalize ! slinfer model=MODEL ! slpostprocess threshold=0.3 labels=LABELS",
    "slnormalize ! slinfer model=MODEL ! sltensorconvert ! ssdobjectdetector label-file=LABELS",
    "onnxinference model-file=MODEL ! sltensorconvert model=MODEL ! slpostprocess threshold=0.3 "
    "labels=LABELS",
    "onnxinference model-file=MODEL ! ssdobjectdetector label-file=LABELS",
  };
  if (is_missing (elements))
    return;
  g_autofree char *model = ssd_model (),
                  *labels = test_text_file ("labels.txt", "none\ncat\ndog\n");
  g_autofree char *description = g_strconcat (model, ".modelinfo", NULL);
  g_assert_true (g_file_set_contents (
    description,
    "[modelinfo]\nversion=1.0\n[sightline]\ndecoder=ssd\ndecoder-order=boxes,scores,classes,"
    "count\n",
    -1, NULL));
  SlObjectView first[MAX_FOUND];
  for (guint c = 0; c < G_N_ELEMENTS (chains); c++) {
    SlObjectView found[MAX_FOUND];
    GString *launch = g_string_new (chains[c]);
    g_string_replace (launch, "MODEL", model, 0);
    g_string_replace (launch, "LABELS", labels, 0);
    const guint n = find_objects (launch->str, c == 0 ? first : found);
    g_test_message ("%s: %u objects", launch->str, n);
    g_assert_cmpuint (n, ==, 2);
    for (guint i = 0; c > 0 && i < n; i++) {
      g_test_message ("%s: %s %d,%d %dx%d %g", launch->str, found[i].label, found[i].x, found[i].y,
                      found[i].w, found[i].h, found[i].confidence);
      g_assert_cmpstr (found[i].label, ==, first[i].label);
      g_assert_cmpfloat_with_epsilon (found[i].confidence, first[i].confidence, 1e-4);
      g_assert_cmpfloat_with_epsilon (found[i].x_min, first[i].x_min, 1.0 / WIDTH);
      g_assert_cmpfloat_with_epsilon (found[i].y_min, first[i].y_min, 1.0 / HEIGHT);
      g_assert_cmpfloat_with_epsilon (found[i].x_max, first[i].x_max, 1.0 / WIDTH);
      g_assert_cmpfloat_with_epsilon (found[i].y_max, first[i].y_max, 1.0 / HEIGHT);
    }
    g_string_free (launch, TRUE);
  }
  test_remove_file (description);
  test_remove_file (model);
  test_remove_file (labels);
}

#endif

TEST_MAIN (int argc, char **argv)
{
  publish_init (&argc, &argv);
#ifdef SL_HAVE_OVERLAY
  g_assert_true (gst_element_register (NULL, "sloverlay", GST_RANK_NONE, sl_overlay_get_type ()));
#endif
  g_test_add_func ("/neighbours/drawn", test_drawn);
  g_test_add_func ("/neighbours/published", test_published);
  g_test_add_func ("/neighbours/overlays", test_overlays);
#ifdef SL_HAVE_TENSOR_META
  g_test_add_func ("/neighbours/tensors", test_tensors);
#endif
  return publish_run ();
}
