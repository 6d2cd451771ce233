/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Plates that are drawn in perspective here, read by a reader of half squares whose answers anyone
 * can work out: in the box, between the corners, voted on, corrected; and regions with texts of any
 * origin.
 */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "plugins/meta/predictions.h"
#include "plugins/meta/regions/object.h"
#include "plugins/meta/regions/text.h"
#include "tests/elements/support.h"
#include "tests/support/letters_model.h"
#include "tests/support/perspective.h"
#include "tests/support/program.h"

#define WIDTH 320
#define HEIGHT 240
#define CAPS "video/x-raw,format=RGB,width=320,height=240,framerate=25/1"
#define FRAME (40 * GST_MSECOND)
#define READER \
  "slpredict name=read model=%s std=255 decoder=text,%s,transposed=yes,alphabet=" LETTERS_ALPHABET

/* The lines of this plate meet: its right end is farther away. */
static const double plate[4][2] = { { 60, 50 }, { 250, 100 }, { 240, 130 }, { 50, 120 } };

static char *
save_model (gfloat factor)
{
  return test_bytes_file ("letters.onnx", letters_model (factor));
}

/* Where between the corners the point of the frame is. FALSE outside. */
static gboolean
find_place (double x, double y, double *u, double *v)
{
  static const double ends[4][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } };
  double map[8];
  perspective_solve (plate, ends, map);
  perspective_apply (map, x, y, u, v);
  return *u >= 0 && *u < 1 && *v >= 0 && *v < 1;
}

/* A frame with the letters of @text on the plate. */
static GstBuffer *
draw_frame (const char *text, guint number)
{
  static const guint8 dark[3] = { 0, 0, 0 };
  GstBuffer *buffer = test_frame (CAPS, dark, number * FRAME);
  GstMapInfo info;
  g_assert_true (gst_buffer_map (buffer, &info, GST_MAP_WRITE));
  for (guint y = 50; y < 131; y++)
    for (guint x = 50; x < 251; x++) {
      double u, v;
      if (!find_place (x + 0.5, y + 0.5, &u, &v))
        continue;
      const guint place = (guint) (u * LETTERS_PLACES);
      if (place < strlen (text) && letters_is_white (text[place], u * LETTERS_PLACES - place, v))
        memset (info.data + 3 * (y * WIDTH + x), 255, 3);
    }
  gst_buffer_unmap (buffer, &info);
  return buffer;
}

/* As a detector of plates gives it; the corners begin anywhere. */
static void
add_plate (GstBuffer *buffer, gint32 id, double shift)
{
  SlPoint points[4];
  for (guint i = 0; i < 4; i++)
    points[i] =
      (SlPoint){ (plate[(i + 2) % 4][0] + shift) / WIDTH, plate[(i + 2) % 4][1] / HEIGHT, 0.9 };
  const SlObjectView object = { .x = 50,
                                .y = 50,
                                .w = 200,
                                .h = 80,
                                .x_min = 50.0 / WIDTH,
                                .x_max = 250.0 / WIDTH,
                                .y_min = 50.0 / HEIGHT,
                                .y_max = 130.0 / HEIGHT,
                                .confidence = 0.9,
                                .label = "plate",
                                .object_id = id,
                                .n_points = 4,
                                .points = points };
  const SlPredictionView prediction = { .width = WIDTH,
                                        .height = HEIGHT,
                                        .n_objects = 1,
                                        .objects = &object,
                                        .skeleton = &sl_skeleton_corners };
  sl_buffer_add_prediction (buffer, &prediction, NULL);
}

/* The text of the only object of @buffer, which is taken. FALSE without one. */
static gboolean
take_text (GstBuffer *buffer, SlTextView *text)
{
  SlPredictionReader reader;
  SlPredictionView prediction = { .width = WIDTH, .height = HEIGHT };
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, buffer, &prediction);
  g_assert_cmpuint (prediction.n_objects, ==, 1);
  const gboolean found = prediction.objects[0].text != NULL;
  if (found)
    *text = *prediction.objects[0].text;
  sl_prediction_reader_clear (&reader);
  gst_buffer_unref (buffer);
  return found;
}

static GstBuffer *
push_pull (TestLine *line, GstBuffer *buffer)
{
  g_assert_cmpint (gst_harness_push (line->harness, buffer), ==, GST_FLOW_OK);
  return gst_harness_pull (line->harness);
}

static TestLine
open_chain (const char *model, const char *how, const char *alignment, const char *rest)
{
  g_autofree char *launch = g_strdup_printf (READER " object-class=plate %s drop=never ! sltext %s",
                                             model, how, alignment, rest);
  return test_line_open (launch, NULL, CAPS);
}

static void
close_chain (TestLine *line)
{
  test_assert_no_error (line->bus);
  test_line_close (line->harness, line->bus);
}

/* The text that the chain reads of one frame, "" for none. */
static char *
read_once (const char *model, const char *how, const char *alignment, const char *drawn)
{
  TestLine line = open_chain (model, how, alignment, "");
  SlTextView text;
  GstBuffer *frame = draw_frame (drawn, 0);
  add_plate (frame, 0, 0);
  const gboolean found = take_text (push_pull (&line, frame), &text);
  close_chain (&line);
  return g_strdup (found ? text.text : "");
}

static void
test_chain (void)
{
  static const char *const drawn[] = { "ACBD", "DABCAD", "B", "ABABAB", "CDCDC" };
  g_autofree char *model = save_model (1);
  for (guint i = 0; i < G_N_ELEMENTS (drawn); i++) {
    g_autofree char *flat = read_once (model, "blank=0", "object-alignment=corners", drawn[i]),
                    *steps = read_once (model, "end=0", "object-alignment=corners", drawn[i]);
    g_assert_cmpstr (flat, ==, drawn[i]);
    g_assert_cmpstr (steps, ==, drawn[i]);
  }
  /* In the box the plate is not read; equal neighbours are two letters with an end alone. */
  g_autofree char *box = read_once (model, "blank=0", "", "DABCAD"),
                  *pair = read_once (model, "end=0", "object-alignment=corners", "AABB"),
                  *one = read_once (model, "blank=0", "object-alignment=corners", "AABB");
  g_assert_cmpstr (box, !=, "DABCAD");
  g_assert_cmpstr (pair, ==, "AABB");
  g_assert_cmpstr (one, ==, "AB");
  test_remove_file (model);
}

/* Confidences are softmax of the model's logits, which are 5 and -5 for clear letters. */
static void
test_confidences (void)
{
  g_autofree char *model = save_model (1);
  TestLine line = open_chain (model, "blank=0", "object-alignment=corners", "");
  SlTextView text;
  GstBuffer *frame = draw_frame ("ACBD", 0);
  add_plate (frame, 0, 0);
  g_assert_true (take_text (push_pull (&line, frame), &text));
  g_assert_cmpuint (text.votes, ==, 1);
  g_assert_null (text.format);
  for (guint i = 0; i < 4; i++) {
    g_assert_cmpuint (text.characters[i].character, ==, (guint) "ACBD"[i]);
    g_assert_cmpfloat (text.characters[i].confidence, >, 0.6);
    g_assert_cmpfloat (text.characters[i].confidence, <=,
                       1 / (1 + exp (-5) + 3 * exp (-10)) + 1e-6);
  }
  close_chain (&line);
  test_remove_file (model);
}

/* The second and the fourth of nine frames are read wrong: with an id the others outvote them. */
static void
test_votes (void)
{
  static const char *const drawn[] = { "ABCD", "ABCC",  "ABCD", "BCD", "ABCD",
                                       "ABCD", "ABCDA", "ABCD", "ABCD" };
  g_autofree char *model = save_model (1),
                  *formats = test_text_file ("letters.formats", "x: A{4}\n");
  g_autofree char *rest = g_strdup_printf ("min-votes=3 formats=%s", formats);
  TestLine line = open_chain (model, "blank=0", "object-alignment=corners", rest);
  for (guint i = 0; i < G_N_ELEMENTS (drawn); i++) {
    SlTextView text;
    GstBuffer *frame = draw_frame (drawn[i], i);
    add_plate (frame, 7, 0);
    const gboolean found = take_text (push_pull (&line, frame), &text);
    g_assert_cmpint (found, ==, i >= 2);
    if (!found)
      continue;
    g_assert_cmpstr (text.text, ==, "ABCD");
    g_assert_cmpstr (text.format, ==, "x");
    g_assert_cmpuint (text.votes, ==, i + 1);
  }
  close_chain (&line);
  test_remove_file (model);
  test_remove_file (formats);
}

/* A frame with a region of @label, @id and @text (nullable), read with the confidence 0.8. */
static GstBuffer *
said_frame (const char *label, gint32 id, const char *text, guint number)
{
  static const guint8 dark[3] = { 0, 0, 0 };
  GstBuffer *buffer = test_frame (CAPS, dark, number * FRAME);
  GstVideoRegionOfInterestMeta *region =
    gst_buffer_add_video_region_of_interest_meta (buffer, label, 10, 10, 50, 20);
  gst_video_region_of_interest_meta_add_param (
    region, gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, 0.9, NULL));
  if (id > 0)
    sl_region_set_object_id (region, id);
  if (text != NULL)
    sl_region_add_label (region, &(SlLabelled){ SL_TEXT_ID, 0.8, text, NULL });
  return buffer;
}

static char *
say (TestLine *line, const char *label, gint32 id, const char *said, guint number)
{
  SlTextView text;
  const gboolean found = take_text (push_pull (line, said_frame (label, id, said, number)), &text);
  return found ? g_strdup_printf ("%s %u %.2f", text.text, text.votes, text.confidence) : NULL;
}

/* Texts of other elements, without confidences of characters; tracks that end; a flush. */
static void
test_said (void)
{
  TestLine line = test_line_open ("sltext classes=plate threshold=0.5", NULL, CAPS);
  static const struct
  {
    const char *label;
    gint32 id;
    const char *said, *text;
  } rows[] = {
    { "plate", 0, "AB 12", "AB 12 1 0.80" },
    { "plate", 0, NULL, NULL },
    { "plate", 3, NULL, NULL },
    { "plate", 3, "AB12", "AB12 1 0.80" },
    { "plate", 3, NULL, "AB12 1 0.80" },
    { "plate", 3, "AB12", "AB12 2 0.80" },
    { "plate", 4, "XY", "XY 1 0.80" },
    { "person", 3, "AB12", NULL },
    { "plate", 3, "\n\t", "AB12 2 0.80" },
    { "plate", 0, "", NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autofree char *text = say (&line, rows[i].label, rows[i].id, rows[i].said, i);
    g_assert_cmpstr (text, ==, rows[i].text);
  }
  gst_harness_push_event (line.harness, gst_event_new_flush_start ());
  gst_harness_push_event (line.harness, gst_event_new_flush_stop (TRUE));
  GstSegment segment;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (line.harness, gst_event_new_segment (&segment));
  g_autofree char *fresh = say (&line, "plate", 3, "AB12", 20);
  g_assert_cmpstr (fresh, ==, "AB12 1 0.80");
  close_chain (&line);
}

/* Readings below the threshold do not count. */
static void
test_threshold (void)
{
  TestLine line = test_line_open ("sltext threshold=0.9", NULL, CAPS);
  g_assert_null (say (&line, "plate", 1, "AB12", 0));
  close_chain (&line);
}

/* Far more tracks than are remembered, and far more objects than get a text. */
static void
test_many (void)
{
  static const guint8 dark[3] = { 0, 0, 0 };
  TestLine line = test_line_open ("sltext", NULL, CAPS);
  guint texts = 0;
  for (guint n = 0; n < 3; n++) {
    GstBuffer *frame = test_frame (CAPS, dark, n * FRAME);
    for (guint i = 0; i < 2000; i++) {
      GstVideoRegionOfInterestMeta *region =
        gst_buffer_add_video_region_of_interest_meta (frame, "plate", i % 300, i % 200, 1, 1);
      sl_region_set_object_id (region, (gint32) (n * 2000 + i + 1));
      sl_region_add_label (region, &(SlLabelled){ SL_TEXT_ID, 0.8, "AB12", NULL });
    }
    GstBuffer *out = push_pull (&line, frame);
    gpointer state = NULL;
    GstVideoRegionOfInterestMeta *region;
    while ((region = sl_next_region (out, &state)) != NULL)
      texts += gst_video_region_of_interest_meta_get_param (region, "text") != NULL;
    gst_buffer_unref (out);
  }
  g_assert_cmpuint (texts, ==, 3 * 256);
  close_chain (&line);
}

/* Structures "text" and readings with fields of other types, lengths and numbers. */
static void
test_foreign (void)
{
  static const char *const params[] = {
    "text, text=(int)3;",
    "text, text=(string)\"\";",
    "text, confidence=(double)0.5;",
    "text, text=(string)\"AB\", confidence=(string)high, votes=(int)-3, format=(int)1, "
    "shares=(int)7, read=(string)no;",
    "text, text=(string)\"AB\", shares=<(float)9, (float)-1, (float)0.5>, read=<(uint)4294967295, "
    "(uint)10>, votes=(uint)0;",
    "classification, label=(string)\"AB\", label_id=(int)-1, shares=(string)x, "
    "confidence=(double)7;",
  };
  for (guint i = 0; i < G_N_ELEMENTS (params); i++) {
    GstBuffer *frame = said_frame ("plate", 0, NULL, 0);
    GstVideoRegionOfInterestMeta *region =
      gst_buffer_get_video_region_of_interest_meta_id (frame, 0);
    GstStructure *param = gst_structure_from_string (params[i], NULL);
    SlTextView text;
    SlReading reading;
    g_assert_nonnull (param);
    gst_video_region_of_interest_meta_add_param (region, param);
    g_assert_cmpint (sl_region_read_text (region, &text), ==, i == 3 || i == 4);
    g_assert_cmpint (sl_region_get_reading (region, &reading), ==, i == 5);
    if (i == 5)
      g_assert_cmpfloat (reading.shares[1], ==, 1);
    if (i == 3 || i == 4) {
      g_assert_cmpstr (text.text, ==, "AB");
      g_assert_cmpuint (text.votes, ==, 1);
      g_assert_cmpuint (text.characters[0].read, ==, 0);
      g_assert_cmpuint (text.characters[1].read, ==, 0);
      g_assert_cmpfloat (text.characters[0].confidence, <=, 1);
      g_assert_cmpfloat (text.characters[1].confidence, ==, 0);
    }
    gst_buffer_unref (frame);
  }
}

/* What a broken model gives, and corners that are not corners: no crash, whatever the text. */
static void
test_hostile (void)
{
  static const double shifts[] = { NAN, 1e9, -5000, 300 };
  g_autofree char *model = save_model (1), *broken = save_model (NAN);
  for (guint i = 0; i < G_N_ELEMENTS (shifts); i++) {
    TestLine line = open_chain (model, "blank=0", "object-alignment=corners,scale=1.2", "");
    SlTextView text;
    GstBuffer *frame = draw_frame ("ABCD", 0);
    add_plate (frame, 1, shifts[i]);
    take_text (push_pull (&line, frame), &text);
    close_chain (&line);
  }
  g_autofree char *none = read_once (broken, "blank=0", "object-alignment=corners", "ABCD");
  g_assert_cmpstr (none, ==, "");
  test_remove_file (model);
  test_remove_file (broken);
}

static void
test_refused (void)
{
  g_autofree char *formats = test_text_file ("bad.formats", "gb: A9\nfr AA\n");
  const struct
  {
    const char *path, *message;
  } rows[] = { { "/nonexistent/x.formats", "expected a file of formats" },
               { formats, ":2: expected NAME: PATTERN" } };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstElement *element = gst_element_factory_make ("sltext", NULL);
    GstBus *bus = test_watch (element);
    g_object_set (element, "formats", rows[i].path, NULL);
    g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==,
                     GST_STATE_CHANGE_FAILURE);
    test_assert_error (bus, "formats: ", rows[i].message, NULL);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_bus_set_flushing (bus, TRUE); /* messages that nobody took hold the element */
    gst_object_unref (bus);
    gst_object_unref (element);
  }
  test_remove_file (formats);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/sltext/chain", test_chain);
  g_test_add_func ("/sltext/confidences", test_confidences);
  g_test_add_func ("/sltext/votes", test_votes);
  g_test_add_func ("/sltext/said", test_said);
  g_test_add_func ("/sltext/threshold", test_threshold);
  g_test_add_func ("/sltext/many", test_many);
  g_test_add_func ("/sltext/foreign", test_foreign);
  g_test_add_func ("/sltext/hostile", test_hostile);
  g_test_add_func ("/sltext/refused", test_refused);
  return test_elements_run ();
}
