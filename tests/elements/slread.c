/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slread on frames with codes and regions around them: what is read, once for each track; frames
 * that are left alone, metas of others, and slpredict with it inside.
 */
#include <math.h>
#include <string.h>

#include "plugins/elements.h"
#include "plugins/meta/regions/code.h"
#include "plugins/meta/predictions.h"
#include "plugins/meta/regions/object.h"
#include "sightline/predictions.h"
#include "postprocess/read/reader.h"
#include "tests/elements/support.h"
#include "tests/read/symbols.h"
#include "tests/support/program.h"

#define CAPS "video/x-raw,format=GRAY8,width=640,height=480,framerate=25/1"

static const TestSymbol linear = { 320, 240, 2.5, 20 * G_PI / 180, TRUE }, qr = { 320, 240, 6, 0 };

static void
teardown (TestLine *fixture)
{
  test_assert_no_error (fixture->bus);
  test_line_close (fixture->harness, fixture->bus);
}

/* @symbol: (nullable): nothing on the frame */
static GstBuffer *
new_frame (guint number, const TestSymbol *symbol)
{
  GstMapInfo map;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 640 * 480, NULL);
  gst_buffer_memset (buffer, 0, 200, 640 * 480);
  if (symbol != NULL) {
    g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
    test_draw_symbol (map.data, 640, 480, 640, symbol);
    gst_buffer_unmap (buffer, &map);
  }
  GST_BUFFER_PTS (buffer) = number * 40 * GST_MSECOND;
  return buffer;
}

/* A region around @symbol. @id: 0 = none */
static GstVideoRegionOfInterestMeta *
add_sure_region (GstBuffer *buffer, const char *label, const TestSymbol *symbol, gint id,
                 double confidence)
{
  SlObjectView object = { .confidence = confidence, .label = label, .object_id = id };
  double box[4];
  test_symbol_box (symbol, box);
  g_assert_true (sl_object_set_box (&object, box, 640, 480));
  return sl_buffer_add_object (buffer, &object, NULL);
}

static GstVideoRegionOfInterestMeta *
add_region (GstBuffer *buffer, const char *label, const TestSymbol *symbol, gint id)
{
  return add_sure_region (buffer, label, symbol, id, 0.5);
}

/* The only object of @out, which is taken, as JSON and text say it. */
static char *
describe (GstBuffer *out, double *confidence)
{
  SlPredictionView view = { .width = 640, .height = 480 };
  SlPredictionReader reader;
  GString *text = g_string_new (NULL);
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, out, &view);
  g_assert_cmpuint (view.n_objects, ==, 1);
  if (confidence != NULL)
    *confidence = view.objects[0].confidence;
  if (view.objects[0].code != NULL) {
    g_string_append_printf (text, "%s ", view.objects[0].code->symbology);
    sl_code_append_text (text, view.objects[0].code, 100);
  }
  sl_prediction_reader_clear (&reader);
  gst_buffer_unref (out);
  return g_string_free (text, FALSE);
}

static char *
run (TestLine *line, guint number, const TestSymbol *symbol, const char *label, gint id,
     double *confidence)
{
  GstBuffer *in = new_frame (number, symbol);
  add_region (in, label, symbol != NULL ? symbol : &linear, id);
  g_assert_cmpint (gst_harness_push (line->harness, in), ==, GST_FLOW_OK);
  return describe (gst_harness_pull (line->harness), confidence);
}

static void
assert_reads (TestLine *line, guint number, const TestSymbol *symbol, const char *label, gint id,
              const char *expected)
{
  g_autofree char *got = run (line, number, symbol, label, id, NULL);
  g_assert_cmpstr (got, ==, expected);
}

static void
test_reads (void)
{
  TestLine line = test_line_open ("slread time-limit=600000", NULL, CAPS);
  assert_reads (&line, 0, &linear, "linear", 0, "ean-13 " TEST_EAN_TEXT);
  assert_reads (&line, 1, &qr, "qr", 0, "qr-code " TEST_QR_TEXT);
  assert_reads (&line, 2, &qr, "something", 0, "qr-code " TEST_QR_TEXT);
  assert_reads (&line, 3, &qr, "linear", 0, "");
  assert_reads (&line, 4, NULL, "linear", 0, "");
  teardown (&line);
}

/* Read once: what it said stays with the id, and with no other; after a reread-interval it is read
 * again. */
static void
test_tracks (void)
{
  TestLine line = test_line_open ("slread time-limit=600000 reread-interval=3", NULL, CAPS);
  assert_reads (&line, 0, NULL, "qr", 5, "");
  assert_reads (&line, 1, &qr, "qr", 5, "qr-code " TEST_QR_TEXT);
  assert_reads (&line, 2, NULL, "qr", 5, "qr-code " TEST_QR_TEXT);
  assert_reads (&line, 3, NULL, "qr", 6, "");
  assert_reads (&line, 4, &linear, "any", 5, "ean-13 " TEST_EAN_TEXT);
  gst_harness_push_event (line.harness, gst_event_new_flush_start ());
  gst_harness_push_event (line.harness, gst_event_new_flush_stop (TRUE));
  GstSegment segment;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (line.harness, gst_event_new_segment (&segment));
  assert_reads (&line, 5, NULL, "any", 5, "");
  teardown (&line);
}

/* What does not read keeps its box, is tried rarely, and is less likely a code; what cannot be read
 * is left as it is. */
static void
test_patience (void)
{
  TestLine line = test_line_open (
    "slread time-limit=600000 max-tries=2 retry-interval=4 unread-weight=0.5", NULL, CAPS);
  const double expected[] = { 0.5, 0.25, 0.25, 0.25, 0.25, 0.5 };
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    double confidence;
    g_autofree char *got = run (&line, i, i >= 2 ? &qr : NULL, "qr", 7, &confidence);
    g_assert_cmpstr (got, ==, i < 5 ? "" : "qr-code " TEST_QR_TEXT);
    g_assert_cmpfloat_with_epsilon (confidence, expected[i], 1e-9);
  }
  teardown (&line);
}

/* Whether the only object of a frame is left on it, which is where @place would be. @symbol:
 * (nullable): what is drawn */
static gboolean
counts_at (TestLine *line, const TestSymbol *symbol, const TestSymbol *place, const char *label,
           gint id, double confidence)
{
  SlPredictionView view = { .width = 640, .height = 480 };
  SlPredictionReader reader;
  GstBuffer *in = new_frame (0, symbol);
  sl_prediction_reader_init (&reader);
  add_sure_region (in, label, place, id, confidence);
  g_assert_cmpint (gst_harness_push (line->harness, in), ==, GST_FLOW_OK);
  GstBuffer *out = gst_harness_pull (line->harness);
  sl_prediction_reader_read (&reader, out, &view);
  g_assert_cmpuint (view.n_objects, <=, 1);
  const gboolean found = view.n_objects == 1;
  g_assert_true (found || !sl_buffer_has_related (out, TRUE));
  sl_prediction_reader_clear (&reader);
  gst_buffer_unref (out);
  return found;
}

static gboolean
counts (TestLine *line, const TestSymbol *symbol, const char *label, gint id, double confidence)
{
  return counts_at (line, symbol, symbol != NULL ? symbol : &qr, label, id, confidence);
}

/* How sure an object has to be depends on whether it reads, where a reader could say and it is
 * large enough to; of others, and of what was not tried, it is one number. */
static void
test_unread (void)
{
  static const TestSymbol large = { 320, 240, 140.0 / TEST_QR_SIDE, 0 },
                          medium = { 320, 240, 100.0 / TEST_QR_SIDE, 0 },
                          little = { 320, 240, 60.0 / TEST_QR_SIDE, 0 };
  static const struct
  {
    const char *properties, *label;
    const TestSymbol *symbol, *place;
    double confidence;
    gboolean counts;
  } cases[] = {
    { "", "qr", NULL, &large, 0.1, TRUE },
    { "unread-threshold=0.8", "qr", &qr, &qr, 0.3, TRUE },
    { "unread-threshold=0.8", "qr", NULL, &large, 0.79, FALSE },
    { "unread-threshold=0.8", "qr", NULL, &large, 0.81, TRUE },
    { "unread-threshold=0.9", "qr", NULL, &large, 0.81, FALSE },
    { "unread-threshold=0.9", "qr", NULL, &medium, 0.81, FALSE },
    { "unread-threshold=0.9", "qr", NULL, &little, 0.61, TRUE },
    { "unread-threshold=0.9", "qr", NULL, &little, 0.59, FALSE },
    { "unread-threshold=0.5", "qr", NULL, &large, 0.51, TRUE },
    { "unread-threshold=0.9", "linear", &linear, &linear, 0.3, TRUE },
    { "unread-threshold=0.9", "linear", NULL, &large, 0.69, FALSE },
    { "unread-threshold=0.9", "linear", NULL, &large, 0.71, TRUE },
    { "unread-threshold=0.9", "linear", NULL, &medium, 0.61, TRUE },
    { "unread-threshold=0.9", "linear", NULL, &medium, 0.59, FALSE },
    { "unread-threshold=0.7", "linear", NULL, &large, 0.61, TRUE },
    { "unread-threshold=0.7", "linear", NULL, &large, 0.59, FALSE },
    { "unread-threshold=0.9", "stacked", NULL, &little, 0.59, FALSE },
    { "unread-threshold=0.9", "stacked", NULL, &little, 0.61, TRUE },
    { "unread-threshold=0.9", "stacked", NULL, &medium, 0.76, TRUE },
    { "unread-threshold=0.8", "person", NULL, &large, 0.1, TRUE },
    { "unread-threshold=0.8 classes=linear", "qr", &qr, &qr, 0.59, FALSE },
    { "unread-threshold=0.8 classes=linear", "qr", NULL, &large, 0.61, TRUE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *launch = g_strdup_printf ("slread time-limit=600000 %s", cases[i].properties);
    TestLine line = test_line_open (launch, NULL, CAPS);
    g_test_message ("case %u", i);
    g_assert_cmpint (
      counts_at (&line, cases[i].symbol, cases[i].place, cases[i].label, 0, cases[i].confidence),
      ==, cases[i].counts);
    teardown (&line);
  }
}

/* A chessboard is no code, however sure the finder is, in a track, too; of bars, and where all
 * counts, it says nothing. */
static void
test_unread_repeats (void)
{
  static const TestSymbol board = { 320, 240, 140.0 / TEST_QR_SIDE, 0 };
  static const struct
  {
    const char *properties, *label;
    gint id;
    gboolean counts;
  } cases[] = {
    { "", "qr", 0, TRUE },
    { "unread-threshold=0.9", "qr", 0, FALSE },
    { "unread-threshold=0.9", "qr", 4, FALSE },
    { "unread-threshold=0.9", "linear", 0, TRUE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *launch = g_strdup_printf (
      "slread time-limit=600000 max-tries=1 retry-interval=0 %s", cases[i].properties);
    TestLine line = test_line_open (launch, NULL, CAPS);
    for (guint frame = 0; frame < 3; frame++) {
      SlPredictionView view = { .width = 640, .height = 480 };
      SlPredictionReader reader;
      GstMapInfo map;
      GstBuffer *in = new_frame (frame, NULL);
      g_assert_true (gst_buffer_map (in, &map, GST_MAP_WRITE));
      for (gint y = 160; y < 320; y++)
        for (gint x = 240; x < 400; x++)
          map.data[y * 640 + x] = (x / 20 + y / 20) % 2 == 0 ? 30 : 220;
      gst_buffer_unmap (in, &map);
      sl_prediction_reader_init (&reader);
      add_sure_region (in, cases[i].label, &board, cases[i].id, 0.99);
      g_assert_cmpint (gst_harness_push (line.harness, in), ==, GST_FLOW_OK);
      GstBuffer *out = gst_harness_pull (line.harness);
      sl_prediction_reader_read (&reader, out, &view);
      g_test_message ("case %u, frame %u", i, frame);
      g_assert_cmpuint (view.n_objects, ==, cases[i].counts ? 1 : 0);
      sl_prediction_reader_clear (&reader);
      gst_buffer_unref (out);
    }
    teardown (&line);
  }
}

/* Where a reader reads none of a kind, that one does not says nothing. */
static void
test_unread_unreadable (void)
{
  for (guint i = 0; sl_readers[i] != NULL; i++) {
    g_autofree char *launch = g_strdup_printf (
      "slread time-limit=600000 unread-threshold=0.8 reader=%s", sl_readers[i]->name);
    TestLine line = test_line_open (launch, NULL, CAPS);
    g_assert_cmpint (counts (&line, NULL, "matrix", 0, 0.7), ==,
                     (sl_readers[i]->kinds & SL_READ_MATRIX) == 0);
    g_assert_false (counts (&line, NULL, "matrix", 0, 0.59));
    g_assert_cmpint (counts (&line, NULL, "stacked", 0, 0.64), ==,
                     (sl_readers[i]->kinds & SL_READ_STACKED) == 0);
    g_assert_false (counts (&line, NULL, "stacked", 0, 0.59));
    teardown (&line);
  }
}

/* A track that counted once does so from then on: one that was read, and one that was sure enough.
 */
static void
test_unread_tracks (void)
{
  TestLine line = test_line_open ("slread time-limit=600000 unread-threshold=0.8", NULL, CAPS);
  g_assert_false (counts (&line, NULL, "qr", 5, 0.7));
  g_assert_true (counts (&line, &qr, "qr", 5, 0.4));
  g_assert_true (counts (&line, NULL, "qr", 5, 0.2));
  g_assert_true (counts (&line, NULL, "qr", 6, 0.85));
  g_assert_true (counts (&line, NULL, "qr", 6, 0.2));
  g_assert_false (counts (&line, NULL, "linear", 7, 0.5));
  g_assert_true (counts (&line, NULL, "linear", 7, 0.65));
  g_assert_true (counts (&line, NULL, "linear", 7, 0.2));
  teardown (&line);
}

/* Of objects beyond those that a frame tries nothing is known: they count by the number for all. */
static void
test_unread_untried (void)
{
  const TestSymbol dot = { 40, 40, 66.0 / TEST_QR_SIDE, 0 };
  TestLine line = test_line_open ("slread time-limit=600000 unread-threshold=0.8", NULL, CAPS);
  SlPredictionView view = { .width = 640, .height = 480 };
  SlPredictionReader reader;
  GstBuffer *in = new_frame (0, NULL);
  for (gint i = 1; i <= 300; i++)
    add_sure_region (in, "qr", &dot, i, 0.7);
  g_assert_cmpint (gst_harness_push (line.harness, in), ==, GST_FLOW_OK);
  GstBuffer *out = gst_harness_pull (line.harness);
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, out, &view);
  g_assert_cmpuint (view.n_objects, ==, 300 - 256);
  sl_prediction_reader_clear (&reader);
  gst_buffer_unref (out);
  teardown (&line);
}

/* Of two objects, the one that is a readable QR code; and what comes out is taken. */
static gboolean
is_read (GstBuffer *out, guint n, double *confidence)
{
  SlPredictionView view = { .width = 640, .height = 480 };
  SlPredictionReader reader;
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, out, &view);
  g_assert_cmpuint (view.n_objects, >, n);
  const gboolean found = view.objects[n].code != NULL;
  *confidence = view.objects[n].confidence;
  sl_prediction_reader_clear (&reader);
  gst_buffer_unref (out);
  return found;
}

/* A frame with what keeps the reader busy for long, and behind that @small. @id: 0 = none of both
 * has one */
static GstBuffer *
new_busy_frame (guint number, const TestSymbol *small, gint id)
{
  static const TestSymbol busy = { 356, 256, 112.0 / TEST_QR_SIDE, 0 };
  GstMapInfo map;
  GstBuffer *in = new_frame (number, small);
  g_assert_true (gst_buffer_map (in, &map, GST_MAP_WRITE));
  test_draw_corners (map.data, 640, 300, 200, 112);
  gst_buffer_unmap (in, &map);
  add_region (in, "qr", &busy, id);
  add_region (in, "qr", small, id > 0 ? id + 1 : 0);
  return in;
}

/* An object that takes all of every frame's time does not keep another one from being read, which
 * is not doubted meanwhile either. What a frame takes is added to the latency. */
static void
test_busy (gconstpointer data)
{
  const gint id = GPOINTER_TO_INT (data);
  const TestSymbol small = { 70, 70, 5, 0 };
  TestLine line = test_line_open ("slread time-limit=600000", NULL, CAPS);
  g_autofree char *got = NULL;
  double confidence;
  gint64 took = g_get_monotonic_time ();
  got = run (&line, 0, &small, "qr", 100, NULL);
  took = g_get_monotonic_time () - took;
  g_assert_cmpstr (got, ==, "qr-code " TEST_QR_TEXT);
  test_line_close (line.harness, line.bus);
  g_autofree char *launch =
    g_strdup_printf ("slread time-limit=%d max-tries=3", 100 + (gint) (4 * took / 1000));
  line = test_line_open (launch, NULL, CAPS);
  gst_harness_set_live (line.harness, TRUE);
  gst_harness_set_upstream_latency (line.harness, 30 * GST_MSECOND);
  g_assert_cmpuint (gst_harness_query_latency (line.harness), ==, 30 * GST_MSECOND);
  gboolean found = FALSE;
  for (guint i = 1; i < 400 && !found; i++) {
    g_assert_cmpint (gst_harness_push (line.harness, new_busy_frame (i, &small, id)), ==,
                     GST_FLOW_OK);
    found = is_read (gst_harness_pull (line.harness), 1, &confidence);
    g_assert_cmpfloat_with_epsilon (confidence, 0.5, 1e-9);
    g_assert_cmpuint (gst_harness_query_latency (line.harness), >, 30 * GST_MSECOND);
  }
  g_assert_true (found);
  teardown (&line);
}

/* However many objects there are, what was read of one is told. */
static void
test_many (void)
{
  static const TestSymbol dot = { 600, 400, 0.1, 0 };
  TestLine line =
    test_line_open ("slread time-limit=600000 max-tries=1 retry-interval=0", NULL, CAPS);
  double confidence;
  assert_reads (&line, 0, &qr, "qr", 1000, "qr-code " TEST_QR_TEXT);
  GstBuffer *in = new_frame (1, NULL);
  for (gint i = 1; i <= 300; i++)
    add_region (in, "qr", &dot, i);
  add_region (in, "qr", &qr, 1000);
  g_assert_cmpint (gst_harness_push (line.harness, in), ==, GST_FLOW_OK);
  g_assert_true (is_read (gst_harness_pull (line.harness), 300, &confidence));
  teardown (&line);
}

static void
test_classes (void)
{
  TestLine line = test_line_open ("slread time-limit=600000 classes=qr", NULL, CAPS);
  assert_reads (&line, 0, &linear, "linear", 0, "");
  assert_reads (&line, 1, &qr, "qr", 0, "qr-code " TEST_QR_TEXT);
  teardown (&line);
}

/* A frame without objects is not touched, and a shared one not written to. */
static void
test_untouched (void)
{
  TestLine line = test_line_open ("slread time-limit=600000", NULL, CAPS);
  GstBuffer *in = new_frame (0, &qr);
  g_assert_cmpint (gst_harness_push (line.harness, gst_buffer_ref (in)), ==, GST_FLOW_OK);
  GstBuffer *out = gst_harness_pull (line.harness);
  g_assert_true (out == in);
  gst_buffer_unref (out);
  GstVideoRegionOfInterestMeta *region = add_region (in, "qr", &qr, 0);
  g_assert_cmpint (gst_harness_push (line.harness, gst_buffer_ref (in)), ==, GST_FLOW_OK);
  g_autofree char *got = describe (gst_harness_pull (line.harness), NULL);
  g_assert_cmpstr (got, ==, "qr-code " TEST_QR_TEXT);
  g_assert_null (gst_video_region_of_interest_meta_get_param (region, "code"));
  gst_buffer_unref (in);
  teardown (&line);
}

/* Structures of others that claim to be codes. */
static void
test_foreign_codes (void)
{
  static const char *const texts[] = {
    "code, symbology=qr-code;",
    "code, payload=3;",
    "code, symbology=(int)4, payload=5;",
    "code, symbology=x, payload=(string)abc;",
  };
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    GstBuffer *buffer = new_frame (0, NULL);
    gst_video_region_of_interest_meta_add_param (add_region (buffer, "qr", &qr, 0),
                                                 gst_structure_from_string (texts[i], NULL));
    g_autofree char *got = describe (buffer, NULL);
    g_assert_cmpstr (got, ==, "");
  }
  GstBuffer *buffer = new_frame (0, NULL);
  GVariant *bytes = g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, "\xff\0z", 3, 1);
  gst_video_region_of_interest_meta_add_param (
    add_region (buffer, "qr", &qr, 0),
    gst_structure_new ("code", "symbology", G_TYPE_STRING, "x", "payload", G_TYPE_VARIANT, bytes,
                       "quality", G_TYPE_INT, -5, "corners", G_TYPE_DOUBLE, 1.5, NULL));
  g_autofree char *got = describe (buffer, NULL);
  g_assert_cmpstr (got, ==, "x \\xff\\x00z");
}

/* An ITF code, which nothing checks: wide bars are three modules, "90817264". */
static const TestModules itf = {
  "linear", "itf", "90817264", 81, 1, 40, { "ABA38B8AE8A2EE2EE28E8" }
};

/* Texts that nothing checks are left out where that is asked for, and only those: in tracked
 * objects and in others. */
static void
test_checked_only (void)
{
  static const TestSymbol unchecked = { 320, 240, 4, 0, TRUE, FALSE, &itf };
  for (gint only = 0; only < 2; only++)
    for (gint id = 0; id < 2; id++) {
      g_autofree char *launch =
        g_strdup_printf ("slread time-limit=600000 checked-only=%s", only ? "true" : "false");
      TestLine line = test_line_open (launch, NULL, CAPS);
      g_autofree char *first = run (&line, 0, &unchecked, "linear", id, NULL);
      g_assert_cmpstr (first, ==, only ? "" : "itf 90817264");
      g_autofree char *second = run (&line, 1, &linear, "linear", 2 * id, NULL);
      g_assert_cmpstr (second, ==, "ean-13 " TEST_EAN_TEXT);
      teardown (&line);
    }
}

/* The add-on of a code in its structure: digits, two or five; else there is none. */
static void
test_add_ons (void)
{
  static const char *const kept[] = { "12", "52495" }, *const dropped[] = {
    "", "1", "123", "1x", "123456", "\n12"
  };
  for (guint i = 0; i < G_N_ELEMENTS (kept) + G_N_ELEMENTS (dropped); i++) {
    const gboolean is_kept = i < G_N_ELEMENTS (kept);
    const char *digits = is_kept ? kept[i] : dropped[i - G_N_ELEMENTS (kept)];
    const SlCodeView code = { "ean-8", "9", (const guint8 *) "9", 1, TRUE, 1, { { 0 } }, digits };
    SlCodeView got;
    GstBuffer *buffer = new_frame (0, NULL);
    GstVideoRegionOfInterestMeta *region = add_region (buffer, "linear", &qr, 0);
    sl_region_set_code (region, &code);
    g_assert_true (sl_region_read_code (region, &got));
    g_assert_cmpstr (got.add_on, ==, is_kept ? digits : NULL);
    gst_buffer_unref (buffer);
  }
}

static void
on_predictions (GstElement *element, SlPredictions *predictions, gpointer data)
{
  SlObject *object = sl_predictions_get_n_objects (predictions) > 0
                       ? sl_predictions_get_object (predictions, 0)
                       : NULL;
  g_string_append_printf (data, "%s;", object != NULL ? sl_object_get_text (object) : "nothing");
}

/* A frame that has only labels is told, too. */
static void
test_labels (void)
{
  TestLine line = test_line_open ("slread", NULL, CAPS);
  GString *told = g_string_new (NULL);
  const SlLabelled label = { .label = "shelf", .confidence = 0.5 };
  const SlPredictionView view = { .width = 640, .height = 480, .n_labels = 1, .labels = &label };
  GstElement *read = gst_harness_find_element (line.harness, "slread");
  g_signal_connect (read, "predictions", G_CALLBACK (on_predictions), told);
  GstBuffer *in = new_frame (0, NULL);
  sl_buffer_add_prediction (in, &view, NULL);
  g_assert_cmpint (gst_harness_push (line.harness, in), ==, GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (line.harness));
  g_assert_cmpstr (told->str, ==, "nothing;");
  g_assert_cmpint (gst_harness_push (line.harness, new_frame (1, NULL)), ==, GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (line.harness));
  g_assert_cmpstr (told->str, ==, "nothing;");
  g_string_free (told, TRUE);
  gst_object_unref (read);
  teardown (&line);
}

static void
assert_thresholds (GstElement *predict, double shown, double found, double unread)
{
  g_autoptr (GstElement) postprocess = gst_bin_get_by_name (GST_BIN (predict), "postprocess");
  g_autoptr (GstElement) read = gst_bin_get_by_name (GST_BIN (predict), "read");
  gdouble threshold;
  g_object_get (predict, "threshold", &threshold, NULL);
  g_assert_cmpfloat (threshold, ==, shown);
  g_object_get (postprocess, "threshold", &threshold, NULL);
  g_assert_cmpfloat (threshold, ==, found);
  g_assert_true ((read != NULL) == (unread >= 0));
  if (read != NULL) {
    g_object_get (read, "unread-threshold", &threshold, NULL);
    g_assert_cmpfloat (threshold, ==, unread);
  }
}

/* Reading has a say where it reads what the code finder finds, and nobody states a threshold; what
 * is stated holds, in any order. */
static void
test_thresholds (void)
{
  GstElement *predict = gst_object_ref_sink (gst_element_factory_make ("slpredict", NULL));
  assert_thresholds (predict, -1, -1, -1);
  g_object_set (predict, "read", TRUE, NULL);
  assert_thresholds (predict, -1, 0.4, 0.9);
  g_object_set (predict, "threshold", 0.5, NULL);
  assert_thresholds (predict, 0.5, 0.5, 0);
  g_object_set (predict, "threshold", -1.0, NULL);
  assert_thresholds (predict, -1, 0.4, 0.9);
  g_object_set (predict, "post-messages", TRUE, NULL);
  assert_thresholds (predict, -1, -1, 0);
  g_object_set (predict, "post-messages", FALSE, "model", "ssd.tflite", NULL);
  assert_thresholds (predict, -1, -1, 0);
  g_object_set (predict, "model", NULL, NULL);
  assert_thresholds (predict, -1, 0.4, 0.9);
  g_object_set (predict, "read", FALSE, NULL);
  assert_thresholds (predict, -1, -1, -1);
  g_object_set (predict, "threshold", 0.7, "read", TRUE, NULL);
  assert_thresholds (predict, 0.7, 0.7, 0);
  gst_object_unref (predict);
}

/* The code finder in the box finds it, and slread inside reads it; the signal tells it once a
 * frame. */
static void
test_slpredict (void)
{
  TestLine line = test_line_open ("slpredict read=true", NULL, CAPS);
  GString *told = g_string_new (NULL);
  g_autoptr (GstElement) predict = gst_harness_find_element (line.harness, "slpredict");
  g_autoptr (GstElement) inside = gst_bin_get_by_name (GST_BIN (predict), "read");
  gboolean read;
  g_object_set (inside, "time-limit", 600000, NULL);
  g_signal_connect (predict, "predictions", G_CALLBACK (on_predictions), told);
  g_object_get (predict, "read", &read, NULL);
  g_assert_true (read);
  g_assert_cmpint (gst_harness_push (line.harness, new_frame (0, &qr)), ==, GST_FLOW_OK);
  g_autofree char *got = describe (gst_harness_pull (line.harness), NULL);
  g_assert_cmpstr (got, ==, "qr-code " TEST_QR_TEXT);
  g_assert_cmpstr (told->str, ==, TEST_QR_TEXT ";");
  g_string_free (told, TRUE);
  teardown (&line);
}

static void
test_not_registered (void)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find ("slread");
  if (factory != NULL) {
    g_test_skip ("an installed slread is there");
    return;
  }
  GstElement *predict = gst_object_ref_sink (gst_element_factory_make ("slpredict", NULL));
  GstBus *bus = test_watch (predict);
  g_object_set (predict, "read", TRUE, NULL);
  g_assert_cmpint (gst_element_set_state (predict, GST_STATE_READY), ==, GST_STATE_CHANGE_FAILURE);
  test_assert_error (
    bus,
    "read=true: there is no element slread; expected it in a plugin file of Sightline, which is "
    "built where libzbar or zxing-cpp is found (Debian: libzbar-dev, libzxing-dev; meson options "
    "zbar, zxing)",
    NULL);
  gst_element_set_state (predict, GST_STATE_NULL);
  gst_element_set_bus (predict, NULL);
  gst_object_unref (bus);
  gst_object_unref (predict);
}

/* From here on it is there. */
static void
test_registered (void)
{
  g_assert_true (
    sl_plugin_register_element (NULL, "slread", "SlRead", GST_RANK_NONE, sl_read_get_type));
}

/* On and off again: what is behind it stays linked, also where the bin is READY. */
static void
test_switched (gconstpointer state)
{
  GstElement *predict = gst_object_ref_sink (gst_element_factory_make ("slpredict", NULL));
  g_object_set (predict, "read", TRUE, NULL);
  g_assert_cmpint (gst_element_set_state (predict, GPOINTER_TO_INT (state)), ==,
                   GST_STATE_CHANGE_SUCCESS);
  g_object_set (predict, "read", FALSE, NULL);
  for (guint i = 0; i < 4; i++) {
    g_object_set (predict, "read", i % 2 == 0, NULL);
    g_autoptr (GstElement) inside = gst_bin_get_by_name (GST_BIN (predict), "read");
    g_autoptr (GstPad) pad = gst_element_get_static_pad (predict, "src");
    g_autoptr (GstPad) target = gst_ghost_pad_get_target (GST_GHOST_PAD (pad));
    g_autoptr (GstObject) last = gst_pad_get_parent (target);
    g_assert_true ((inside != NULL) == (i % 2 == 0));
    g_assert_cmpstr (GST_OBJECT_NAME (last), ==, i % 2 == 0 ? "read" : "postprocess");
  }
  gst_element_set_state (predict, GST_STATE_NULL);
  gst_object_unref (predict);
}

/* @name: (nullable) */
static void
assert_no_reader (const char *name, const char *what, const char *expected, const char *remedy)
{
  GstElement *read = gst_object_ref_sink (gst_element_factory_make ("slread", NULL));
  GstBus *bus = test_watch (read);
  g_object_set (read, "reader", name, NULL);
  g_assert_cmpint (gst_element_set_state (read, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  test_assert_error (bus, what, expected, remedy, NULL);
  gst_element_set_state (read, GST_STATE_NULL);
  gst_element_set_bus (read, NULL);
  gst_object_unref (bus);
  gst_object_unref (read);
}

/* One reader alone, and one that nobody has. */
static void
test_reader (void)
{
  for (guint i = 0; sl_readers[i] != NULL; i++) {
    g_autofree char *launch =
      g_strdup_printf ("slread time-limit=600000 reader=%s", sl_readers[i]->name);
    TestLine line = test_line_open (launch, NULL, CAPS);
    assert_reads (&line, 0, &qr, "qr", 0, "qr-code " TEST_QR_TEXT);
    if (strcmp (sl_readers[i]->name, "zxing") == 0) {
      const TestSymbol aztec = { 320, 240, 6, 0, FALSE, FALSE, &test_aztec };
      assert_reads (&line, 1, &aztec, "matrix", 0, "aztec aztec.7");
    }
    teardown (&line);
  }
  g_autofree char *names = g_strdup_printf ("expected %s", sl_readers[0]->name);
  assert_no_reader ("nobody", "reader=nobody: there is no such reader of codes here", names,
                    "or nothing for all that are there");
}

/* zxing's program is @path from now on. Returns what it was: (nullable). */
static char *
set_program (const char *path)
{
  char *before = g_strdup (g_getenv ("SIGHTLINE_ZXING"));
  if (path != NULL)
    g_setenv ("SIGHTLINE_ZXING", path, TRUE);
  else
    g_unsetenv ("SIGHTLINE_ZXING");
  return before;
}

/* zxing, whose program is not there, or is a folder. */
static void
test_program_missing (void)
{
  const gboolean alone = sl_readers[1] == NULL;
  g_autofree char *before = set_program ("/nonexistent/zxing");
  assert_no_reader ("zxing",
                    "reader=zxing: its program /nonexistent/zxing is not there or cannot be run",
                    "expected sightline-zxing", "SIGHTLINE_ZXING");
  if (alone)
    assert_no_reader (NULL, "reader=zxing: its program /nonexistent/zxing",
                      "expected sightline-zxing", "SIGHTLINE_ZXING");
  g_free (set_program (g_get_tmp_dir ()));
  assert_no_reader ("zxing", g_get_tmp_dir (), "expected sightline-zxing", "SIGHTLINE_ZXING");
  g_free (set_program (before));
}

/* A code of which nothing is known since zxing's program ends each time is no less likely one. */
static void
test_program_ends (void)
{
  g_autofree char *program = g_find_program_in_path ("false"), *before = set_program (program);
  TestLine line =
    test_line_open ("slread time-limit=600000 max-tries=10 unread-weight=0.5", NULL, CAPS);
  g_test_expect_message (
    NULL, G_LOG_LEVEL_WARNING,
    "codes: */false ends, or does not start, again and again without an answer*");
  for (guint i = 0; i < 14; i++) {
    double confidence;
    g_autofree char *got = run (&line, i, NULL, "matrix", 7, &confidence);
    g_assert_cmpstr (got, ==, "");
    g_assert_cmpfloat_with_epsilon (confidence, 0.5, 1e-9);
  }
  g_test_assert_expected_messages ();
  teardown (&line);
  g_free (set_program (before));
}

static void
test_refused (void)
{
  TestLine line = test_line_open (
    "slread", NULL,
    "video/x-raw,format=I420,width=64,height=48,framerate=25/1,interlace-mode=interleaved");
  GstBuffer *in = gst_buffer_new_allocate (NULL, 64 * 48 * 3 / 2, NULL);
  g_assert_cmpint (gst_harness_push (line.harness, in), !=, GST_FLOW_OK);
  test_assert_error (line.bus, "interlace-mode=interleaved", "put deinterlace before slread", NULL);
  test_line_close (line.harness, line.bus);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/slread/not-registered", test_not_registered);
  g_test_add_func ("/slread/registered", test_registered);
  g_test_add_func ("/slread/reads", test_reads);
  g_test_add_func ("/slread/tracks", test_tracks);
  g_test_add_func ("/slread/patience", test_patience);
  g_test_add_data_func ("/slread/busy/tracked", GINT_TO_POINTER (1), test_busy);
  g_test_add_data_func ("/slread/busy/not-tracked", NULL, test_busy);
  g_test_add_func ("/slread/many", test_many);
  g_test_add_func ("/slread/classes", test_classes);
  g_test_add_func ("/slread/reader", test_reader);
  if (g_strcmp0 (sl_readers[0]->name, "zxing") == 0) {
    g_test_add_func ("/slread/program/missing", test_program_missing);
    g_test_add_func ("/slread/program/ends", test_program_ends);
  }
  g_test_add_func ("/slread/untouched", test_untouched);
  g_test_add_func ("/slread/foreign-codes", test_foreign_codes);
  g_test_add_func ("/slread/add-ons", test_add_ons);
  g_test_add_func ("/slread/checked-only", test_checked_only);
  g_test_add_func ("/slread/labels", test_labels);
  g_test_add_func ("/slread/slpredict", test_slpredict);
  g_test_add_func ("/slread/thresholds", test_thresholds);
  g_test_add_func ("/slread/unread", test_unread);
  g_test_add_func ("/slread/unread/repeats", test_unread_repeats);
  g_test_add_func ("/slread/unread/unreadable", test_unread_unreadable);
  g_test_add_func ("/slread/unread/tracks", test_unread_tracks);
  g_test_add_func ("/slread/unread/untried", test_unread_untried);
  g_test_add_data_func ("/slread/switched/null", GINT_TO_POINTER (GST_STATE_NULL), test_switched);
  g_test_add_data_func ("/slread/switched/ready", GINT_TO_POINTER (GST_STATE_READY), test_switched);
  g_test_add_func ("/slread/refused", test_refused);
  return test_elements_run ();
}
