/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* slrecord with a pad encoded that nothing comes to, at first, for a while, or any more: clips are
 * of the stream that there is. */
#include <string.h>

#include "plugins/camera/encoded.h"
#include "tests/elements/record/support.h"
#include "tests/support/program.h"

#define JPEG "jpegenc"
#define OWN "pre-roll=0 post-roll=0.5 max-width=32 encoder=jpegenc"

/* Frames @from..@to to sink, and to encoded where there is @stream, with an event every half
 * second. */
static void
push (RecordFixture *fixture, const RecordStream *stream, guint from, guint to)
{
  for (guint i = from; i <= to; i++) {
    record_push (fixture, stream, i, i % 12 == 0 ? "entered" : NULL, "person");
    record_pace (fixture);
  }
}

/* Width of the pictures in the next clip: 32 of those that are encoded here, 64 of the camera's. */
static gint
next_width (RecordFixture *fixture)
{
  g_autoptr (GstStructure) done = record_wait (fixture);
  const char *path = gst_structure_get_string (done, "path");
  g_autofree char *notes = g_strndup (path, strlen (path) - 4),
                  *name = g_strconcat (notes, ".json", NULL), *text = NULL;
  g_assert_cmpuint (record_decodes (path), >=, 1);
  g_assert_true (g_file_get_contents (name, &text, NULL, NULL));
  return strstr (text, "\"width\":32,") != NULL   ? 32
         : strstr (text, "\"width\":64,") != NULL ? 64
                                                  : 0;
}

static void
wait_width (RecordFixture *fixture, gint width)
{
  while (next_width (fixture) != width)
    continue;
}

/* After two seconds without anything frames are encoded here. */
static void
test_silent (void)
{
  RecordStream stream;
  if (!record_stream (JPEG, 1, &stream))
    return;
  RecordFixture fixture = record_open (OWN, &stream);
  push (&fixture, NULL, 0, 200);
  gst_harness_push_event (fixture.raw, gst_event_new_eos ());
  g_assert_cmpint (next_width (&fixture), ==, 32);
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* The end says so at once. */
static void
test_ended (void)
{
  RecordStream stream;
  if (!record_stream (JPEG, 1, &stream))
    return;
  RecordFixture fixture = record_open (OWN, &stream);
  gst_harness_push_event (fixture.encoded, gst_event_new_eos ());
  push (&fixture, NULL, 0, 30);
  gst_harness_push_event (fixture.raw, gst_event_new_eos ());
  g_assert_cmpint (next_width (&fixture), ==, 32);
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* A camera that says so does not encode: from the first frame on there are clips. */
static void
test_none (void)
{
  RecordStream stream;
  if (!record_stream (JPEG, 1, &stream))
    return;
  RecordFixture fixture = record_open (OWN, &stream);
  gst_harness_push_event (fixture.encoded,
                          gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_OOB,
                                                gst_structure_new_empty (SL_CAMERA_ENCODED_NONE)));
  push (&fixture, NULL, 0, 30);
  gst_harness_push_event (fixture.raw, gst_event_new_eos ());
  g_assert_cmpint (next_width (&fixture), ==, 32);
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* The camera's stream is taken as soon as it comes, and left when it is silent; with the same caps
 * again, too. */
static void
test_changes (void)
{
  RecordStream stream;
  if (!record_stream (JPEG, 600, &stream))
    return;
  RecordFixture fixture = record_open (OWN, &stream);
  push (&fixture, NULL, 0, 130);
  push (&fixture, &stream, 131, 230);
  push (&fixture, NULL, 231, 360);
  push (&fixture, &stream, 361, 460);
  gst_harness_push_event (fixture.encoded, gst_event_new_eos ());
  gst_harness_push_event (fixture.raw, gst_event_new_eos ());
  wait_width (&fixture, 32);
  wait_width (&fixture, 64);
  wait_width (&fixture, 32);
  wait_width (&fixture, 64);
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* Frames that are looked at late are not alone: what was recorded of the camera's stream stays
 * that, however far it is behind. */
static void
test_late (void)
{
  RecordStream stream;
  if (!record_stream (JPEG, 150, &stream))
    return;
  RecordFixture fixture =
    record_open ("pre-roll=0 post-roll=0.5 max-width=32 encoder=none", &stream);
  for (guint i = 0; i < 150; i++)
    g_assert_cmpint (gst_harness_push (fixture.encoded, gst_buffer_copy (stream.frames->pdata[i])),
                     ==, GST_FLOW_OK);
  push (&fixture, NULL, 0, 149);
  gst_harness_push_event (fixture.encoded, gst_event_new_eos ());
  gst_harness_push_event (fixture.raw, gst_event_new_eos ());
  g_assert_cmpint (next_width (&fixture), ==, 64);
  g_assert_null (gst_bus_pop_filtered (fixture.bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR));
  record_close (&fixture);
  record_stream_clear (&stream);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/slrecord/source/silent", test_silent);
  g_test_add_func ("/slrecord/source/ended", test_ended);
  g_test_add_func ("/slrecord/source/none", test_none);
  g_test_add_func ("/slrecord/source/changes", test_changes);
  g_test_add_func ("/slrecord/source/late", test_late);
  return test_elements_run ();
}
