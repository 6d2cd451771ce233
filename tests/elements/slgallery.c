/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slgallery behind sltrack appearance=MODEL on drawn frames of two cameras: people in clothes of
 * known colours, and a model that gives the mean colours of a grid. Then all that is refused.
 */
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

#include "plugins/elements.h"
#include "plugins/meta/regions/look.h"
#include "plugins/meta/regions/object.h"
#include "tests/elements/people.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

#define TRACK "sltrack appearance-batch=1 appearance-settings=\"mean=127.5 std=127.5\" appearance="

static const TestClothes wardrobe[] = {
  { { 220, 30, 30 }, { 20, 20, 210 } },   { { 20, 200, 40 }, { 230, 220, 30 } },
  { { 240, 240, 240 }, { 10, 10, 10 } },  { { 10, 10, 10 }, { 240, 240, 240 } },
  { { 230, 220, 20 }, { 230, 20, 220 } }, { { 20, 220, 220 }, { 220, 20, 20 } },
};
#define PEOPLE G_N_ELEMENTS (wardrobe)

/* What is known of the object at @x. */
static SlObjectView
object_at (GstBuffer *buffer, guint x)
{
  gpointer state = NULL;
  GstVideoRegionOfInterestMeta *region;
  SlObjectView object = { 0 };
  while ((region = sl_next_region (buffer, &state)) != NULL) {
    g_assert_null (gst_video_region_of_interest_meta_get_param (region, "look"));
    if (region->x == x)
      g_assert_true (
        sl_region_read_object (region, TEST_PEOPLE_WIDTH, TEST_PEOPLE_HEIGHT, &object));
  }
  return object;
}

static TestLine
open_line (const char *model, const char *gallery, const char *camera)
{
  g_autofree char *launch = g_strdup_printf (
    TRACK "%s ! queue max-size-buffers=1 ! slgallery location=%s keep=7d camera=%s threshold=0.9",
    model, gallery, camera);
  return test_line_open (launch, NULL, TEST_PEOPLE_CAPS);
}

/* @first and @second stand in view for a while, apart. Their identities: @found. */
static void
pass (TestLine *line, guint *frame, guint first, guint second, gint64 found[2], char **cameras)
{
  for (guint i = 0; i < 6; i++) {
    GstBuffer *in = test_people_frame ((*frame)++);
    test_people_add (in, 40, 100, wardrobe[first]);
    test_people_add (in, 200, 100, wardrobe[second]);
    g_assert_cmpint (gst_harness_push (line->harness, in), ==, GST_FLOW_OK);
    GstBuffer *out = gst_harness_pull (line->harness);
    const SlObjectView a = object_at (out, 40), b = object_at (out, 200);
    found[0] = a.identity;
    found[1] = b.identity;
    if (i == 5) {
      g_assert_cmpfloat (a.identity_confidence, >, 0);
      g_assert_cmpfloat (a.identity_confidence, <=, 1);
      g_free (*cameras);
      *cameras = g_strdup (a.identity_cameras);
    }
    gst_buffer_unref (out);
  }
  *frame += 1000; /* longer than sltrack remembers */
}

static void
remove_gallery (char *path)
{
  static const char *const endings[] = { "", "-wal", "-shm" };
  for (guint i = 0; i < G_N_ELEMENTS (endings); i++) {
    g_autofree char *name = g_strconcat (path, endings[i], NULL);
    g_remove (name);
  }
  g_free (path);
}

/* A name without a file. */
static char *
new_gallery (void)
{
  char *path = test_text_file ("gallery", "");
  g_assert_cmpint (g_remove (path), ==, 0);
  return path;
}

/* Each person has one identity, on both cameras and after both were away. */
static void
test_cameras (void)
{
  g_autofree char *model = test_looks_file (1), *cameras = NULL;
  char *gallery = new_gallery ();
  gint64 known[PEOPLE] = { 0 };
  guint frames[2] = { 0 };
  for (guint start = 0; start < 2; start++) {
    TestLine lines[] = { open_line (model, gallery, "gate"), open_line (model, gallery, "hall") };
    for (guint round = 0; round < 4; round++)
      for (guint p = 0; p < PEOPLE; p += 2) {
        gint64 found[2];
        pass (&lines[round % 2], &frames[round % 2], p, (p + 1 + 2 * (round / 2)) % PEOPLE, found,
              &cameras);
        const guint second = (p + 1 + 2 * (round / 2)) % PEOPLE;
        g_assert_cmpint (found[0], >, 0);
        g_assert_cmpint (found[1], >, 0);
        g_assert_cmpint (found[0], !=, found[1]);
        if (start + round > 0) {
          g_assert_cmpint (found[0], ==, known[p]);
          g_assert_cmpint (found[1], ==, known[second]);
        }
        known[p] = found[0];
        known[second] = found[1];
        g_assert_cmpstr (cameras, ==, start + round == 0 ? "gate" : "gate,hall");
      }
    for (guint i = 0; i < 2; i++) {
      test_assert_no_error (lines[i].bus);
      test_line_close (lines[i].harness, lines[i].bus);
    }
  }
  for (guint i = 0; i < PEOPLE; i++)
    for (guint k = 0; k < i; k++)
      g_assert_cmpint (known[i], !=, known[k]);
  remove_gallery (gallery);
  test_remove_file (model);
}

static guint64
read_stat (GstElement *element, const char *name)
{
  g_autoptr (GstStructure) stats = NULL;
  guint64 value = 0;
  g_object_get (element, "stats", &stats, NULL);
  g_assert_true (gst_structure_get_uint64 (stats, name, &value));
  return value;
}

/* Two in the same clothes in one frame are two. */
static void
test_alike (void)
{
  g_autofree char *model = test_looks_file (1), *cameras = NULL;
  char *gallery = new_gallery ();
  guint frame = 0;
  gint64 found[2];
  TestLine line = open_line (model, gallery, "gate");
  pass (&line, &frame, 0, 1, found, &cameras); /* or the model would not tell people apart */
  pass (&line, &frame, 2, 2, found, &cameras);
  g_assert_cmpint (found[0], >, 0);
  g_assert_cmpint (found[1], >, 0);
  g_assert_cmpint (found[0], !=, found[1]);
  g_autoptr (GstElement) element = gst_harness_find_element (line.harness, "slgallery");
  g_assert_cmpuint (read_stat (element, "people"), ==, 4);
  g_assert_cmpuint (read_stat (element, "lost"), ==, 0);
  test_assert_no_error (line.bus);
  test_line_close (line.harness, line.bus);
  remove_gallery (gallery);
  test_remove_file (model);
}

/* Frames without objects pass as they are, and nothing is asked for where nobody listens. */
static void
test_empty (void)
{
  g_autofree char *model = test_looks_file (1);
  char *gallery = new_gallery ();
  TestLine line = open_line (model, gallery, "gate");
  GstBuffer *in = test_people_frame (0);
  g_assert_cmpint (gst_harness_push (line.harness, gst_buffer_ref (in)), ==, GST_FLOW_OK);
  GstBuffer *out = gst_harness_pull (line.harness);
  g_assert_true (gst_buffer_peek_memory (out, 0) == gst_buffer_peek_memory (in, 0));
  gst_buffer_unref (out);
  gst_buffer_unref (in);
  test_assert_no_error (line.bus);
  test_line_close (line.harness, line.bus);
  g_autofree char *launch = g_strconcat (TRACK, model, NULL);
  line = test_line_open (launch, NULL, TEST_PEOPLE_CAPS);
  in = test_people_frame (0);
  test_people_add (in, 40, 100, wardrobe[0]);
  g_assert_cmpint (gst_harness_push (line.harness, in), ==, GST_FLOW_OK);
  out = gst_harness_pull (line.harness);
  g_assert_cmpint (object_at (out, 40).identity, ==, 0);
  gst_buffer_unref (out);
  test_line_close (line.harness, line.bus);
  remove_gallery (gallery);
  test_remove_file (model);
}

/* %s is the model's file. */
static const struct
{
  const char *launch, *message;
  gboolean starts; /* it is refused at the first frame */
} refusals[] = {
  { "slgallery keep=7d", "location: missing; expected the file of the gallery", FALSE },
  { "slgallery location=/nowhere/a", "keep: missing, and nothing is stored that no rule erases",
    FALSE },
  { "slgallery location=/nowhere/a keep=ever",
    "keep: expected a time after which people are erased, such as 7d, 12h or 30min, from 1ms to "
    "3650d, got 'ever'",
    FALSE },
  { "slgallery location=/nowhere/a keep=7d",
    "slgallery gets no embeddings; expected sltrack appearance=MODEL before it", TRUE },
  { "sltrack ! slgallery location=/nowhere/a keep=7d", "slgallery gets no embeddings", TRUE },
  { TRACK "%s ! slgallery location=/nowhere/a keep=7d",
    "/nowhere/a: No such file or directory; expected the file of a gallery that can be written",
    TRUE },
  { TRACK "%s ! slgallery location=/nowhere/a keep=7d key-file=/nowhere/key",
    "/nowhere/key: No such file or directory", TRUE },
  { "slgallery location=/nowhere/a keep=7d paths=x",
    "paths: expected FROM>TO:LEAST-MOST with the names of two cameras and times, such as "
    "gate>hall:5-60s, got 'x'",
    FALSE },
  { "slgallery location=/nowhere/a keep=7d camera=a,b",
    "camera: expected a name of 1 to 64 bytes without commas and control characters, got 'a,b'",
    FALSE },
  { "slgallery location=/nowhere/a keep=7d share=mqtt://me:secret@host/people",
    "machine: missing; expected a number from 1 to 999 that no other machine of "
    "mqtt://me:***@host/people has, such as machine=1",
    FALSE },
  { "slgallery location=/nowhere/a keep=7d machine=1 share=mqtt://me:secret@host",
    "share: location=mqtt://me:***@host: expected mqtt://[user[:password]@]host[:port]/topic, such "
    "as mqtt://localhost/people",
    FALSE },
};

static void
test_refusals (void)
{
  g_autofree char *model = test_looks_file (1);
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++) {
    g_autoptr (GString) launch = g_string_new (refusals[i].launch);
    g_string_replace (launch, "%s", model, 0);
    if (refusals[i].starts) {
      TestLine line = test_line_open (launch->str, NULL, TEST_PEOPLE_CAPS);
      g_assert_cmpint (gst_harness_push (line.harness, test_people_frame (0)), ==, GST_FLOW_ERROR);
      test_assert_error (line.bus, refusals[i].message, NULL);
      test_line_close (line.harness, line.bus);
      continue;
    }
    g_autoptr (GstElement) element = gst_parse_launch (launch->str, NULL);
    GstBus *bus = test_watch (element);
    g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==,
                     GST_STATE_CHANGE_FAILURE);
    test_assert_error (bus, refusals[i].message, NULL);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL);
    gst_object_unref (bus);
  }
  test_remove_file (model);
}

/* Answers as an element of others might. */
static gboolean
answer_much (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (!sl_looks_is_asked (query))
    return gst_pad_query_default (pad, parent, query);
  sl_looks_answer (query, "of others", 5000);
  return TRUE;
}

static void
test_too_long (void)
{
  TestLine line = test_line_open ("slgallery location=/nowhere/a keep=7d", NULL, TEST_PEOPLE_CAPS);
  gst_pad_set_query_function (line.harness->srcpad, answer_much);
  g_assert_cmpint (gst_harness_push (line.harness, test_people_frame (0)), ==, GST_FLOW_ERROR);
  test_assert_error (line.bus, "expected embeddings of 1 to 4096 numbers, got 5000", NULL);
  test_line_close (line.harness, line.bus);
}

/* Without pictures any format passes. */
static void
test_formats (void)
{
  static const char launch[] = "slgallery location=/nowhere/a keep=7d pictures=";
  for (guint pictures = 0; pictures < 2; pictures++) {
    g_autofree char *text = g_strconcat (launch, pictures ? "true" : "false", NULL);
    TestLine line =
      test_line_open (text, NULL, "video/x-raw,format=v210,width=320,height=240,framerate=25/1");
    GstBuffer *frame = gst_buffer_new_allocate (NULL, 300000, NULL);
    g_assert_cmpint (gst_harness_push (line.harness, frame), ==,
                     pictures ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_ERROR);
    test_assert_error (line.bus,
                       pictures ? "pixel format v210 is not supported; expected one of "
                                : "slgallery gets no embeddings",
                       pictures ? ": put videoconvert before slgallery with pictures=true" : NULL,
                       NULL);
    test_line_close (line.harness, line.bus);
  }
}

/* The file of one model is not that of another one. */
static void
test_other_model (void)
{
  g_autofree char *model = test_looks_file (1), *other = test_looks_file (2);
  char *gallery = new_gallery ();
  TestLine line = open_line (model, gallery, "gate");
  g_assert_cmpint (gst_harness_push (line.harness, test_people_frame (0)), ==, GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (line.harness));
  test_line_close (line.harness, line.bus);
  g_autofree char *launch =
    g_strdup_printf (TRACK "%s ! slgallery location=%s keep=7d", other, gallery);
  line = test_line_open (launch, NULL, TEST_PEOPLE_CAPS);
  g_assert_cmpint (gst_harness_push (line.harness, test_people_frame (0)), ==, GST_FLOW_ERROR);
  test_assert_error (line.bus, "its embeddings are of another model (",
                     ": take that model, or another file", NULL);
  test_line_close (line.harness, line.bus);
  remove_gallery (gallery);
  test_remove_file (model);
  test_remove_file (other);
}

/* The password of a broker is not shown. */
static void
test_password (void)
{
  g_autoptr (GstElement) element = gst_parse_launch (
    "slgallery location=/nowhere/a keep=7d machine=1 share=mqtt://me:secret@host/people", NULL);
  g_autofree char *shown = NULL;
  g_object_get (element, "share", &shown, NULL);
  g_assert_cmpstr (shown, ==, "mqtt://me:***@host/people");
  gst_object_ref_sink (element);
}

/* While the file cannot be written, people are recognised. A warning says why, once. */
static void
test_trouble (void)
{
  g_autofree char *model = test_looks_file (1);
  char *gallery = new_gallery ();
  TestLine line = open_line (model, gallery, "gate");
  g_autoptr (GstElement) element = gst_harness_find_element (line.harness, "slgallery");
  GstMessage *message = NULL;
  guint frame = 0;
  sqlite3 *db;
  gst_harness_push (line.harness, test_people_frame (frame++));
  gst_buffer_unref (gst_harness_pull (line.harness));
  g_assert_cmpint (sqlite3_open (gallery, &db), ==, SQLITE_OK);
  g_assert_cmpint (sqlite3_exec (db,
                                 "CREATE TRIGGER t BEFORE INSERT ON person BEGIN SELECT "
                                 "RAISE(ABORT, 'the disk is slow'); END",
                                 NULL, NULL, NULL),
                   ==, SQLITE_OK);
  while (message == NULL) {
    GstBuffer *in = test_people_frame (frame++);
    test_people_add (in, 40, 100, wardrobe[0]);
    g_assert_cmpint (gst_harness_push (line.harness, in), ==, GST_FLOW_OK);
    GstBuffer *out = gst_harness_pull (line.harness);
    g_assert_true (frame < 5 || object_at (out, 40).identity > 0);
    gst_buffer_unref (out);
    message = gst_bus_pop_filtered (line.bus, GST_MESSAGE_WARNING);
  }
  g_autoptr (GError) warning = NULL;
  gst_message_parse_warning (message, &warning, NULL);
  g_assert_true (g_str_has_suffix (
    warning->message, "the disk is slow; people are still recognised, and changes wait"));
  gst_message_unref (message);
  g_assert_cmpuint (read_stat (element, "failed"), >, 0);
  g_assert_cmpuint (read_stat (element, "written"), ==, 0);
  g_assert_cmpint (sqlite3_exec (db, "DROP TRIGGER t", NULL, NULL, NULL), ==, SQLITE_OK);
  while (read_stat (element, "written") == 0)
    g_thread_yield ();
  g_assert_cmpuint (read_stat (element, "lost"), ==, 0);
  sqlite3_close (db);
  test_line_close (line.harness, line.bus);
  remove_gallery (gallery);
  test_remove_file (model);
}

/* Anybody's structures on regions. */
static void
test_hostile (void)
{
  GstBuffer *buffer = test_people_frame (0);
  test_people_add (buffer, 40, 100, wardrobe[0]);
  gpointer state = NULL;
  GstVideoRegionOfInterestMeta *region = sl_next_region (buffer, &state);
  const gfloat numbers[] = { 1, 2, 3 };
  SlObjectView object;
  sl_region_set_look (region, NULL, numbers, 3);
  g_assert_null (sl_region_take_look (region, 4));
  g_assert_null (sl_region_take_look (region, 3));
  sl_region_set_look (region, NULL, numbers, 3);
  g_autoptr (GstBuffer) look = sl_region_take_look (region, 3);
  g_assert_cmpint (gst_buffer_memcmp (look, 0, numbers, sizeof numbers), ==, 0);
  gst_video_region_of_interest_meta_add_param (
    region, gst_structure_new ("look", "numbers", G_TYPE_STRING, "no numbers", NULL));
  g_assert_null (sl_region_take_look (region, 3));
  gst_video_region_of_interest_meta_add_param (
    region, gst_structure_new ("identity", "id", G_TYPE_INT64, (gint64) -5, "confidence",
                               G_TYPE_STRING, "much", NULL));
  g_assert_true (sl_region_read_object (region, TEST_PEOPLE_WIDTH, TEST_PEOPLE_HEIGHT, &object));
  g_assert_cmpint (object.identity, ==, 0);
  g_assert_null (object.identity_cameras);
  const SlObjectView stated = { .identity = 7, .identity_confidence = 0.5 };
  sl_region_set_identity (region, &stated);
  g_assert_true (sl_region_read_object (region, TEST_PEOPLE_WIDTH, TEST_PEOPLE_HEIGHT, &object));
  g_assert_cmpint (object.identity, ==, 7);
  g_assert_cmpfloat (object.identity_confidence, ==, 0.5);
  g_assert_cmpstr (object.identity_cameras, ==, "");
  gst_buffer_unref (buffer);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_assert_true (sl_plugin_register_element (NULL, "slgallery", "SlGallery", GST_RANK_NONE,
                                             sl_gallery_element_get_type));
  g_test_add_func ("/slgallery/cameras", test_cameras);
  g_test_add_func ("/slgallery/alike", test_alike);
  g_test_add_func ("/slgallery/empty", test_empty);
  g_test_add_func ("/slgallery/refusals", test_refusals);
  g_test_add_func ("/slgallery/too-long", test_too_long);
  g_test_add_func ("/slgallery/formats", test_formats);
  g_test_add_func ("/slgallery/other-model", test_other_model);
  g_test_add_func ("/slgallery/password", test_password);
  g_test_add_func ("/slgallery/trouble", test_trouble);
  g_test_add_func ("/slgallery/hostile", test_hostile);
  return test_elements_run ();
}
