/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slanalyze on frames whose regions are written here, behind sltrack where ids are its: what frames
 * carry and messages say, frames without inference, and what is wrong with descriptions.
 */
#include "config.h"

#include <string.h>

#include "plugins/meta/analysis_meta.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/meta/predictions.h"
#include "plugins/meta/regions/object.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define CAPS "video/x-raw,format=I420,width=640,height=480,framerate=25/1"
#define FRAME (40 * GST_MSECOND)
#define LEFT "[zone left] points=0,0 0.5,0 0.5,1 0,1"

static GstBuffer *
new_frame (GstClockTime pts)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 640 * 480 * 3 / 2, NULL);
  gst_buffer_memset (buffer, 0, 7, gst_buffer_get_size (buffer));
  GST_BUFFER_PTS (buffer) = pts;
  return buffer;
}

/* A box of 60x100 with its bottom's middle at @x, @y; @id 0 = none. */
static void
add_object (GstBuffer *buffer, gint id, gdouble x, gdouble y)
{
  const SlObjectView object = { .x = (gint) x - 30,
                                .y = (gint) y - 100,
                                .w = 60,
                                .h = 100,
                                .x_min = (x - 30) / 640,
                                .x_max = (x + 30) / 640,
                                .y_min = (y - 100) / 480,
                                .y_max = y / 480,
                                .confidence = 0.9,
                                .label = "person",
                                .object_id = id };
  sl_buffer_add_object (buffer, &object, NULL);
}

static GstBuffer *
push_pull (TestLine *fixture, GstBuffer *buffer)
{
  g_assert_cmpint (gst_harness_push (fixture->harness, buffer), ==, GST_FLOW_OK);
  return gst_harness_pull (fixture->harness);
}

/* "in way 1;" of each message, and "warning"; errors fail. */
static char *
take_messages (GstBus *bus)
{
  GString *text = g_string_new (NULL);
  GstMessage *message;
  while ((message = gst_bus_pop (bus)) != NULL) {
    const GstStructure *structure = gst_message_get_structure (message);
    g_assert_cmpint (GST_MESSAGE_TYPE (message), !=, GST_MESSAGE_ERROR);
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT
        && gst_structure_has_name (structure, "slanalyze")) {
      gint id = 0;
      gst_structure_get_int (structure, "id", &id);
      g_assert_true (gst_structure_has_field_typed (structure, "timestamp", G_TYPE_UINT64));
      g_assert_cmpint (gst_structure_get_string (structure, "json")[0], ==, '{');
      g_string_append_printf (text, "%s %s %d;", gst_structure_get_string (structure, "event"),
                              gst_structure_has_field (structure, "region")
                                ? gst_structure_get_string (structure, "region")
                                : "-",
                              id);
    }
    gst_message_unref (message);
  }
  return g_string_free (text, FALSE);
}

static char *
json_of (GstBuffer *buffer)
{
  SlPredictionView prediction = { .width = 640, .height = 480, .timestamp = 0 };
  GString *text = g_string_new (NULL);
  SlPredictionReader reader = { 0 };
  sl_prediction_reader_init (&reader);
  sl_prediction_reader_read (&reader, buffer, &prediction);
  sl_prediction_append_json (text, &prediction);
  sl_prediction_reader_clear (&reader);
  return g_string_free (text, FALSE);
}

/* Somebody walks through a line, across a zone's edge, and out of sight; sltrack says who it is. */
static void
test_walk (void)
{
  TestLine fixture = test_line_open (
    "sltrack ! slanalyze regions=\"" LEFT "; [line way] points=0.25,0 0.25,1\"", NULL, CAPS);
  GString *events = g_string_new (NULL);
  for (guint i = 0; i < 200; i++) {
    GstBuffer *in = new_frame (i * FRAME);
    sl_buffer_add_frame_meta (in, NULL, NULL, NULL)->decoded = 1;
    if (i < 120 && i % 17 != 5)
      add_object (in, 0, 500 - 3.5 * i, 300);
    GstBuffer *out = push_pull (&fixture, in);
    const SlAnalysis *analysis = sl_buffer_get_analysis (out);
    g_assert_nonnull (analysis);
    g_assert_cmpuint (analysis->n_regions, ==, 2);
    g_assert_cmpstr (analysis->regions[0].name, ==, "left");
    for (guint k = 0; k < analysis->n_events; k++)
      g_string_append_printf (
        events, "%s %s %d;", sl_analysis_event_name (analysis->events[k].kind),
        analysis->regions[analysis->events[k].region].name, analysis->events[k].object_id);
    if (i == 199) {
      g_assert_cmpuint (analysis->regions[0].entered, ==, 1);
      g_assert_cmpuint (analysis->regions[0].left, ==, 1);
      g_assert_cmpfloat_with_epsilon (analysis->regions[0].mean_dwell, (119 - 180 / 3.5) * 0.04,
                                      0.3);
      g_assert_cmpuint (analysis->regions[1].entered, ==, 1);
    }
    gst_buffer_unref (out);
  }
  g_autofree char *messages = take_messages (fixture.bus);
  /* Who looks down along the line has the left of the picture on the right. */
  g_assert_cmpstr (events->str, ==, "entered left 1;in way 1;left left 1;");
  g_assert_cmpstr (messages, ==, events->str);
  g_string_free (events, TRUE);
  test_line_close (fixture.harness, fixture.bus);
}

/* A frame without inference changes nothing and has no events; it carries what was true before. */
static void
test_skipped (void)
{
  TestLine fixture = test_line_open ("slanalyze confirm=1 regions=\"" LEFT "\"", NULL, CAPS);
  for (guint i = 0; i < 30; i++) {
    GstBuffer *in = new_frame (i * FRAME);
    const GstMemory *memory = gst_buffer_peek_memory (in, 0);
    if (i % 3 == 1)
      add_object (in, 4, 100, 300);
    GstBuffer *out = push_pull (&fixture, in);
    const SlAnalysis *analysis = sl_buffer_get_analysis (out);
    g_assert_true (gst_buffer_peek_memory (out, 0) == memory);
    g_assert_cmpuint (analysis->n_events, ==, i == 1 ? 1 : 0);
    g_assert_cmpuint (analysis->regions[0].inside, ==, i == 0 ? 0 : 1);
    g_assert_cmpuint (analysis->regions[0].left, ==, 0);
    gst_buffer_unref (out);
  }
  test_line_close (fixture.harness, fixture.bus);
}

static void
test_json (void)
{
  TestLine fixture =
    test_line_open ("slanalyze confirm=1 interval=1 heat-map=4 regions=\"" LEFT "\"", NULL, CAPS);
  for (guint i = 0; i <= 25; i++) {
    GstBuffer *in = new_frame (i * FRAME);
    add_object (in, 4, 100, 300);
    g_autoptr (GstBuffer) out = push_pull (&fixture, in);
    g_autoptr (GstBuffer) copy = gst_buffer_copy (out);
    g_autofree char *json = json_of (out), *copied = json_of (copy);
    g_assert_cmpstr (json, ==, copied);
    g_assert_nonnull (strstr (json, "\"labels\":[],\"analysis\":{\"since\":\""));
    g_assert_nonnull (
      strstr (json, "Z\",\"zones\":[{\"name\":\"left\",\"inside\":1,\"entered\":1,\"left\":0,"));
    g_assert_true (
      (strstr (
         json,
         "\"events\":[{\"event\":\"entered\",\"zone\":\"left\",\"id\":4,\"label\":\"person\"}]")
       != NULL)
      == (i == 0));
    g_assert_true ((strstr (json, "\"heat\":{\"width\":4,\"height\":3,") != NULL) == (i == 25));
    g_assert_true (
      (strstr (json, "\"occupancy\":{\"seconds\":1,\"mean\":1,\"most\":1,\"entered\":1,\"left\":0}")
       != NULL)
      == (i == 25));
  }
  g_autofree char *messages = take_messages (fixture.bus);
  g_assert_cmpstr (messages, ==, "entered left 4;interval - 0;");
  test_line_close (fixture.harness, fixture.bus);
}

static void
test_no_messages (void)
{
  TestLine fixture =
    test_line_open ("slanalyze confirm=1 post-messages=false regions=\"" LEFT "\"", NULL, CAPS);
  GstBuffer *in = new_frame (0);
  add_object (in, 4, 100, 300);
  gst_buffer_unref (push_pull (&fixture, in));
  g_autofree char *messages = take_messages (fixture.bus);
  g_assert_cmpstr (messages, ==, "");
  test_line_close (fixture.harness, fixture.bus);
}

/* What the property tells, while started and not. */
static void
test_counts (void)
{
  TestLine fixture = test_line_open (
    "slanalyze confirm=1 regions=\"" LEFT "; [line way] points=0,0.5 1,0.5\"", NULL, CAPS);
  g_autoptr (GstElement) element = gst_harness_find_element (fixture.harness, "slanalyze");
  g_autoptr (GstStructure) counts = NULL;
  for (guint i = 0; i < 3; i++) {
    GstBuffer *in = new_frame (i * FRAME);
    add_object (in, 4, 100, i < 2 ? 300 : 200);
    if (i < 2)
      add_object (in, 5, 200, 400);
    gst_buffer_unref (push_pull (&fixture, in));
  }
  g_object_get (element, "counts", &counts, NULL);
  g_autofree char *text = gst_structure_to_string (counts);
  g_assert_nonnull (strstr (text, "zone"));
  const GValue *regions = gst_structure_get_value (counts, "regions");
  g_assert_cmpuint (gst_value_list_get_size (regions), ==, 2);
  const GstStructure *zone = gst_value_get_structure (gst_value_list_get_value (regions, 0));
  const GstStructure *line = gst_value_get_structure (gst_value_list_get_value (regions, 1));
  const GstStructure *person = gst_value_get_structure (
    gst_value_list_get_value (gst_structure_get_value (zone, "classes"), 0));
  const GstStructure *crossed = gst_value_get_structure (
    gst_value_list_get_value (gst_structure_get_value (line, "classes"), 0));
  guint inside = 0;
  guint64 entered = 0, left = 0, in = 0, out = 0;
  gdouble longest = 0;
  g_assert_true (gst_structure_has_name (zone, "zone") && gst_structure_has_name (line, "line"));
  g_assert_cmpstr (gst_structure_get_string (zone, "name"), ==, "left");
  g_assert_true (gst_structure_get (zone, "inside", G_TYPE_UINT, &inside, "entered", G_TYPE_UINT64,
                                    &entered, "left", G_TYPE_UINT64, &left, "longest",
                                    G_TYPE_DOUBLE, &longest, NULL));
  g_assert_cmpuint (inside, ==, 2);
  g_assert_cmpuint (entered, ==, 2);
  g_assert_cmpuint (left, ==, 0);
  g_assert_cmpfloat_with_epsilon (longest, 0.08, 1e-9);
  g_assert_cmpstr (gst_structure_get_string (person, "label"), ==, "person");
  g_assert_true (gst_structure_get (person, "inside", G_TYPE_UINT, &inside, "entered",
                                    G_TYPE_UINT64, &entered, NULL));
  g_assert_cmpuint (inside, ==, 2);
  g_assert_true (
    gst_structure_get (crossed, "entered", G_TYPE_UINT64, &in, "left", G_TYPE_UINT64, &out, NULL));
  g_assert_cmpuint (in + out, ==, 1);
  gst_element_set_state (element, GST_STATE_READY);
  g_autoptr (GstStructure) none = NULL;
  g_object_get (element, "counts", &none, NULL);
  g_assert_cmpuint (gst_value_list_get_size (gst_structure_get_value (none, "regions")), ==, 0);
  test_line_close (fixture.harness, fixture.bus);
}

/* Objects that nobody follows: one warning. */
static void
test_no_ids (void)
{
  TestLine fixture = test_line_open ("slanalyze regions=\"" LEFT "\"", NULL, CAPS);
  guint warnings = 0;
  for (guint i = 0; i < 120; i++) {
    GstBuffer *in = new_frame (i * FRAME);
    add_object (in, 0, 100, 300);
    gst_buffer_unref (push_pull (&fixture, in));
    g_autoptr (GstMessage) message = gst_bus_pop_filtered (fixture.bus, GST_MESSAGE_WARNING);
    if (message == NULL)
      continue;
    g_autoptr (GError) warning = NULL;
    gst_message_parse_warning (message, &warning, NULL);
    g_assert_cmpstr (
      warning->message, ==,
      "50 frames had objects without an id, which are not counted: expected sltrack (or slpredict "
      "track=true) before slanalyze");
    g_assert_cmpuint (i, ==, 49);
    warnings++;
  }
  g_assert_cmpuint (warnings, ==, 1);
  test_line_close (fixture.harness, fixture.bus);
}

/* Frames without times are a frame's duration apart; a flush lets everybody leave. */
static void
test_times (void)
{
  TestLine fixture = test_line_open ("slanalyze confirm=1 regions=\"" LEFT "\"", NULL, CAPS);
  GstBuffer *out = NULL;
  for (guint i = 0; i <= 25; i++) {
    GstBuffer *in = new_frame (GST_CLOCK_TIME_NONE);
    add_object (in, 4, 100, 300);
    gst_clear_buffer (&out);
    out = push_pull (&fixture, in);
  }
  g_assert_cmpfloat_with_epsilon (sl_buffer_get_analysis (out)->regions[0].longest, 1, 1e-9);
  gst_clear_buffer (&out);
  g_assert_true (gst_harness_push_event (fixture.harness, gst_event_new_flush_start ()));
  g_assert_true (gst_harness_push_event (fixture.harness, gst_event_new_flush_stop (TRUE)));
  GstSegment segment;
  gst_segment_init (&segment, GST_FORMAT_TIME);
  g_assert_true (gst_harness_push_event (fixture.harness, gst_event_new_segment (&segment)));
  GstBuffer *in = new_frame (0);
  add_object (in, 4, 500, 300);
  out = push_pull (&fixture, in);
  g_assert_cmpuint (sl_buffer_get_analysis (out)->regions[0].left, ==, 1);
  g_assert_cmpuint (sl_buffer_get_analysis (out)->regions[0].inside, ==, 0);
  gst_buffer_unref (out);
  test_line_close (fixture.harness, fixture.bus);
}

static void
test_errors (void)
{
  static const struct
  {
    const char *regions, *message;
  } cases[] = {
    { "[zone a] points=0,0 1,1",
      "regions: [zone a] points: expected at least 3 corners x,y of 0..1, got 2" },
    { "[zon a]",
      "regions: [zon a]: unknown group; expected [zone NAME], [line NAME] or [mask NAME]" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *element = gst_object_ref_sink (gst_element_factory_make ("slanalyze", NULL));
    GstBus *bus = gst_bus_new ();
    gst_element_set_bus (element, bus);
    g_object_set (element, "regions", cases[i].regions, NULL);
    g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==,
                     GST_STATE_CHANGE_FAILURE);
    test_assert_error (bus, cases[i].message, NULL);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL);
    gst_object_unref (bus);
    gst_object_unref (element);
  }
}

/* A line with an object that stands in the zone; what @kept says goes on. Returns: (transfer full):
 * what is kept of it then */
static char *
stand (const char *kept, guint64 *entered, gint64 *since, char **said)
{
  TestLine fixture =
    test_line_open ("slanalyze confirm=1 name=look regions=\"" LEFT "\"", NULL, NULL);
  g_autoptr (GstElement) element = gst_harness_find_element (fixture.harness, "slanalyze");
  char *text = NULL;
  gst_element_set_state (element, GST_STATE_NULL);
  g_object_set (element, "kept", kept, NULL);
  gst_element_set_state (element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (fixture.harness, CAPS);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *in = new_frame (i * FRAME);
    add_object (in, 1, 100, 300);
    gst_buffer_unref (push_pull (&fixture, in));
  }
  g_autoptr (GstStructure) counts = NULL;
  g_object_get (element, "counts", &counts, NULL);
  gst_structure_get_int64 (counts, "since", since);
  gst_structure_get_uint64 (gst_value_get_structure (gst_value_list_get_value (
                              gst_structure_get_value (counts, "regions"), 0)),
                            "entered", entered);
  gst_element_set_state (element, GST_STATE_READY);
  g_object_get (element, "kept", &text, NULL);
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (fixture.bus, GST_MESSAGE_WARNING);
  g_autoptr (GError) warning = NULL;
  if (message != NULL)
    gst_message_parse_warning (message, &warning, NULL);
  *said = warning != NULL ? g_strdup (warning->message) : NULL;
  test_line_close (fixture.harness, fixture.bus);
  return text;
}

static void
test_kept (void)
{
  guint64 entered = 0;
  gint64 since = 0, first = 0;
  g_autofree char *none = NULL, *still_none = NULL, *damage = NULL;
  g_autofree char *kept = stand (NULL, &entered, &first, &none);
  g_assert_cmpuint (entered, ==, 1);
  g_assert_cmpint (ABS (g_get_real_time () - first), <, 60 * G_USEC_PER_SEC);
  g_autofree char *again = stand (kept, &entered, &since, &still_none);
  g_assert_null (none);
  g_assert_null (still_none);
  g_assert_nonnull (again);
  g_assert_cmpuint (entered, ==, 1);
  g_assert_cmpint (since, ==, first);
  g_autofree char *anew = stand ("[analysis]\nversion=1\n[region 0]\n", &entered, &since, &damage);
  g_assert_nonnull (anew);
  g_assert_cmpstr (
    damage, ==, "kept: [region 0] kind: missing, or not what an analyzer saved: counts begin at 0");
  g_assert_cmpuint (entered, ==, 1);
  g_assert_cmpint (since, >, first);
}

/* "3 2 1": entered, left and inside of the first region in @counts. */
static char *
first_of (const GstStructure *counts)
{
  guint64 entered = 0, left = 0;
  guint inside = 0;
  const GValue *regions = gst_structure_get_value (counts, "regions");
  const GstStructure *first = g_value_get_boxed (gst_value_list_get_value (regions, 0));
  gst_structure_get (first, "entered", G_TYPE_UINT64, &entered, "left", G_TYPE_UINT64, &left,
                     "inside", G_TYPE_UINT, &inside, NULL);
  return g_strdup_printf ("%u %u %u", (guint) entered, (guint) left, inside);
}

static char *
first_counts (GstElement *element)
{
  g_autoptr (GstStructure) counts = NULL;
  g_object_get (element, "counts", &counts, NULL);
  return first_of (counts);
}

/* A hundred saves while somebody walks to and fro: each frame comes out, and each way counts once.
 */
static void
test_live (void)
{
  TestLine fixture = test_line_open ("slanalyze confirm=1 regions=\"" LEFT "\"", NULL, CAPS);
  g_autoptr (GstElement) element = gst_harness_find_element (fixture.harness, "slanalyze");
  for (guint i = 0; i < 200; i++) {
    GstBuffer *in = new_frame (i * FRAME);
    add_object (in, 4, i / 10 % 2 == 0 ? 500 : 100, 300);
    g_autofree char *regions =
      g_strdup_printf ("%s%s; [zone extra %u] points=0,0 1,0 1,0.%u",
                       i % 4 == 0 ? "[line way] points=0,0 0,1; " : "", LEFT, i % 7, 1 + i % 9);
    if (i % 2 == 0)
      g_object_set (element, "regions", regions, NULL);
    gst_buffer_unref (push_pull (&fixture, in));
  }
  g_object_set (element, "regions", LEFT, NULL);
  GstBuffer *in = new_frame (200 * FRAME);
  add_object (in, 4, 100, 300);
  gst_buffer_unref (push_pull (&fixture, in));
  g_autofree char *counts = first_counts (element);
  g_assert_cmpstr (counts, ==, "10 9 1");
  test_line_close (fixture.harness, fixture.bus);
}

/* Wrong regions are a warning, and those before count on. */
static void
test_live_mistake (void)
{
  TestLine fixture = test_line_open ("slanalyze confirm=1 regions=\"" LEFT "\"", NULL, CAPS);
  g_autoptr (GstElement) element = gst_harness_find_element (fixture.harness, "slanalyze");
  for (guint i = 0; i < 2; i++) {
    GstBuffer *in = new_frame (i * FRAME);
    add_object (in, 4, 100, 300);
    gst_buffer_unref (push_pull (&fixture, in));
    g_object_set (element, "regions", "[zone left] points=0,0 1,1", NULL);
  }
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (fixture.bus, GST_MESSAGE_WARNING);
  g_autoptr (GError) warning = NULL;
  g_assert_nonnull (message);
  gst_message_parse_warning (message, &warning, NULL);
  g_assert_cmpstr (
    warning->message, ==,
    "regions: [zone left] points: expected at least 3 corners x,y of 0..1, got 2: the regions "
    "before go on counting");
  g_autofree char *counts = first_counts (element);
  g_assert_cmpstr (counts, ==, "1 0 1");
  test_line_close (fixture.harness, fixture.bus);
}

/* What other regions would have counted is what they count. */
static void
test_preview (void)
{
  TestLine fixture = test_line_open ("slanalyze keep-tracks=600 regions=\"" LEFT "\"", NULL, CAPS);
  g_autoptr (GstElement) element = gst_harness_find_element (fixture.harness, "slanalyze");
  for (guint i = 0; i < 100; i++) {
    GstBuffer *in = new_frame (i * 5 * FRAME);
    add_object (in, 4, i / 10 % 2 == 0 ? 500 : 100, 300);
    gst_buffer_unref (push_pull (&fixture, in));
  }
  g_autoptr (GstStructure) preview = NULL;
  g_autoptr (GstStructure) wrong = NULL;
  gdouble seconds = 0;
  g_autofree char *counts = first_counts (element);
  g_signal_emit_by_name (element, "preview", LEFT "; [line way] points=0.5,0 0.5,1", &preview);
  gst_structure_get (preview, "seconds", G_TYPE_DOUBLE, &seconds, NULL);
  g_assert_cmpfloat_with_epsilon (seconds, 99 * 0.2, 1e-6);
  g_autofree char *previewed = first_of (preview);
  g_assert_cmpstr (counts, ==, "5 4 1");
  g_assert_cmpstr (previewed, ==, counts);
  g_signal_emit_by_name (element, "preview", "[zone a] points=0,0", &wrong);
  g_assert_cmpstr (gst_structure_get_string (wrong, "error"), ==,
                   "[zone a] points: expected at least 3 corners x,y of 0..1, got 1");
  test_line_close (fixture.harness, fixture.bus);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/slanalyze/walk", test_walk);
  g_test_add_func ("/slanalyze/skipped", test_skipped);
  g_test_add_func ("/slanalyze/json", test_json);
  g_test_add_func ("/slanalyze/no-messages", test_no_messages);
  g_test_add_func ("/slanalyze/counts", test_counts);
  g_test_add_func ("/slanalyze/no-ids", test_no_ids);
  g_test_add_func ("/slanalyze/times", test_times);
  g_test_add_func ("/slanalyze/errors", test_errors);
  g_test_add_func ("/slanalyze/kept", test_kept);
  g_test_add_func ("/slanalyze/live", test_live);
  g_test_add_func ("/slanalyze/live-mistake", test_live_mistake);
  g_test_add_func ("/slanalyze/preview", test_preview);
  return test_elements_run ();
}
