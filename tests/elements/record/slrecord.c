/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slrecord: which frames are in a clip, to the frame, and that they are the bytes that came; what
 * stands beside it; streams that end, jump, change and stop; and what is wrong with properties.
 */
#include "config.h"

#include <glib/gstdio.h>
#include <string.h>

#include "plugins/meta/regions/object.h"
#include "plugins/record/picture.h"
#include "tests/elements/record/support.h"
#include "tests/support/program.h"

#define JPEG "jpegenc"
#define H264 "openh264enc gop-size=10 ! h264parse ! video/x-h264,stream-format=avc,alignment=au"

/* The clip that @done tells of has frames @first..@last of @stream, byte for byte. */
static void
assert_frames (const GstStructure *done, const RecordStream *stream, guint first, guint last)
{
  const char *path = gst_structure_get_string (done, "path");
  g_autoptr (GPtrArray) frames = record_read (path);
  g_assert_cmpuint (frames->len, ==, last - first + 1);
  for (guint i = 0; i < frames->len; i++) {
    GstMapInfo map;
    GstBuffer *expected = stream->frames->pdata[first + i];
    g_assert_true (gst_buffer_map (frames->pdata[i], &map, GST_MAP_READ));
    g_assert_cmpuint (map.size, ==, gst_buffer_get_size (expected));
    g_assert_cmpint (gst_buffer_memcmp (expected, 0, map.data, map.size), ==, 0);
    gst_buffer_unmap (frames->pdata[i], &map);
    g_assert_cmpuint (GST_BUFFER_PTS (frames->pdata[i]), ==, i * RECORD_FRAME);
  }
  g_assert_cmpuint (record_decodes (path), ==, frames->len);
}

/* Two events, the second one before the clip is over: from 2 s before the first to 3 s after the
 * second. */
static void
test_times (void)
{
  RecordStream stream;
  guint64 frames = 0;
  if (!record_stream (JPEG, 400, &stream))
    return;
  RecordFixture fixture = record_open ("pre-roll=2 post-roll=3", &stream);
  for (guint i = 0; i < 400; i++)
    record_push (&fixture, &stream, i, i == 200 ? "entered" : i == 230 ? "dwell" : NULL, "person");
  g_autoptr (GstStructure) done = record_wait (&fixture);
  assert_frames (done, &stream, 150, 305);
  g_assert_true (gst_structure_get_uint64 (done, "frames", &frames));
  g_assert_cmpuint (frames, ==, 156);
  g_assert_cmpstr (gst_structure_get_string (done, "event"), ==, "entered");
  g_assert_cmpuint (record_decodes (gst_structure_get_string (done, "picture")), ==, 1);
  g_autofree char *notes = record_notes (done);
  record_assert_contains (notes, "\"event\":\"entered\"");
  record_assert_contains (
    notes,
    "\"at\":2,\"seconds\":6.24,\"frames\":156,\"format\":\"image/jpeg\",\"width\":64,\"height\":48,"
    "\"cut\":null");
  record_assert_contains (notes,
                          "\"n_events\":2,\"events\":[{\"at\":2,\"what\":{\"event\":\"entered\"");
  record_assert_contains (notes, "{\"at\":3.2,\"what\":{\"event\":\"dwell\"");
  record_assert_contains (notes, "\"predictions\":{");
  record_assert_contains (notes, "\"trail\":{\"labels\":[],\"cut\":false,\"frames\":[]}}");
  g_assert_cmpuint (record_count (fixture.element, "clips"), ==, 1);
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* Frames that are looked at come later than those that are encoded: the event is of the moment at
 * which it was seen. */
static void
test_late_model (void)
{
  RecordStream stream;
  if (!record_stream (JPEG, 200, &stream))
    return;
  RecordFixture fixture = record_open ("pre-roll=1 post-roll=1", &stream);
  for (guint i = 0; i < 220; i++) {
    if (i < 200)
      g_assert_cmpint (
        gst_harness_push (fixture.encoded, gst_buffer_copy (stream.frames->pdata[i])), ==,
        GST_FLOW_OK);
    if (i >= 20)
      record_push (&fixture, NULL, i - 20, i == 120 ? "in" : i == 130 ? "out" : NULL, "person");
  }
  g_autoptr (GstStructure) done = record_wait (&fixture);
  assert_frames (done, &stream, 75, 135);
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* A clip begins with the key frame before, and its bytes are the camera's. */
static void
test_h264 (void)
{
  RecordStream stream;
  if (!record_stream (H264, 200, &stream))
    return;
  RecordFixture fixture = record_open ("pre-roll=1 post-roll=1", &stream);
  for (guint i = 0; i < 200; i++)
    record_push (&fixture, &stream, i, i == 108 ? "entered" : NULL, "person");
  g_autoptr (GstStructure) done = record_wait (&fixture);
  assert_frames (done, &stream, 80, 133);
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* While recording is off, events begin no clip and lengthen none. */
static void
test_switched_off (void)
{
  RecordStream stream;
  if (!record_stream (JPEG, 400, &stream))
    return;
  RecordFixture fixture = record_open ("pre-roll=0 post-roll=1", &stream);
  for (guint i = 0; i < 400; i++) {
    if (i == 110 || i == 300)
      g_object_set (fixture.element, "recording", i == 300, NULL);
    record_push (&fixture, &stream, i, i % 100 == 0 || i == 120 || i == 320 ? "entered" : NULL,
                 "person");
  }
  g_autoptr (GstStructure) first = record_wait (&fixture), second = record_wait (&fixture),
                           third = record_wait (&fixture);
  assert_frames (first, &stream, 0, 25);
  assert_frames (second, &stream, 100, 125);
  assert_frames (third, &stream, 300, 345);
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* Clips one after the other without a gap, none longer than max-length. */
static void
test_max_length (void)
{
  RecordStream stream;
  if (!record_stream (H264, 400, &stream))
    return;
  RecordFixture fixture = record_open ("pre-roll=0 post-roll=1 max-length=4", &stream);
  for (guint i = 0; i < 400; i++)
    record_push (&fixture, &stream, i, i >= 10 && i < 300 && i % 20 == 10 ? "entered" : NULL,
                 "person");
  g_autoptr (GstStructure) first = record_wait (&fixture), second = record_wait (&fixture),
                           third = record_wait (&fixture), fourth = record_wait (&fixture);
  assert_frames (first, &stream, 10, 109);
  assert_frames (second, &stream, 110, 209);
  assert_frames (third, &stream, 210, 309);
  assert_frames (fourth, &stream, 310, 315);
  g_assert_null (gst_structure_get_string (second, "picture"));
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* What ring-size holds is what a clip begins with, at a key frame still. */
static void
test_ring_size (void)
{
  RecordStream stream;
  if (!record_stream (H264, 200, &stream))
    return;
  gsize bytes = 0;
  for (guint i = 100; i <= 150; i++)
    bytes += gst_buffer_get_size (stream.frames->pdata[i]);
  g_autofree char *properties =
    g_strdup_printf ("pre-roll=60 post-roll=0 ring-size=%.6f", (gdouble) (bytes + 10) / 1e6);
  RecordFixture fixture = record_open (properties, &stream);
  for (guint i = 0; i < 200; i++)
    record_push (&fixture, &stream, i, i == 150 ? "entered" : NULL, "person");
  g_autoptr (GstStructure) done = record_wait (&fixture);
  g_autoptr (GPtrArray) frames = record_read (gst_structure_get_string (done, "path"));
  g_assert_cmpuint (frames->len, >=, 1);
  g_assert_cmpuint (frames->len, <=, 61);
  g_assert_cmpuint (frames->len % 10, ==, 1);
  g_assert_cmpuint (record_decodes (gst_structure_get_string (done, "path")), ==, frames->len);
  record_close (&fixture);
  record_stream_clear (&stream);
}

static void
release_encoded (RecordFixture *fixture)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (fixture->element, "encoded");
  gst_element_release_request_pad (fixture->element, pad);
}

/* Without the camera's stream, which goes while frames come, they are encoded here. */
static void
test_released (void)
{
  RecordStream stream;
  if (!record_stream (JPEG, 40, &stream))
    return;
  RecordFixture fixture =
    record_open ("pre-roll=0 post-roll=0 max-width=32 encoder=jpegenc", &stream);
  for (guint i = 0; i < 20; i++)
    record_push (&fixture, &stream, i, NULL, NULL);
  release_encoded (&fixture);
  for (guint i = 20; i < 120; i++) {
    record_push (&fixture, NULL, i, i % 10 == 0 ? "entered" : NULL, "person");
    record_pace (&fixture);
  }
  gst_harness_push_event (fixture.raw, gst_event_new_eos ());
  for (gboolean encoded = FALSE; !encoded;) {
    g_autoptr (GstStructure) done = record_wait (&fixture);
    g_autofree char *notes = record_notes (done);
    encoded = strstr (notes, "\"width\":32,\"height\":24") != NULL;
  }
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* An encoder that cannot be had matters only then. */
static void
test_released_alone (void)
{
  RecordStream stream;
  if (!record_stream (JPEG, 10, &stream))
    return;
  RecordFixture fixture = record_open ("encoder=none", &stream);
  release_encoded (&fixture);
  for (guint i = 0; i < 10; i++)
    record_push (&fixture, NULL, i, NULL, NULL);
  g_autofree char *warning = record_wait_warning (&fixture);
  record_assert_contains (warning, "encoder=none: unknown");
  record_assert_contains (warning, "; nothing is recorded");
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* Frames that no encoder here reads pass, and one warning says what to do. */
static void
test_raw_memory (void)
{
  static const guint8 grey[3] = { 100, 128, 128 };
  RecordFixture fixture = record_open ("encoder=jpegenc", NULL);
  gst_harness_set_src_caps_str (
    fixture.raw, "video/x-raw(memory:GLMemory),format=I420,width=64,height=48,framerate=25/1");
  for (guint i = 0; i < 20; i++) {
    g_assert_cmpint (
      gst_harness_push (fixture.raw, test_frame (RECORD_CAPS, grey, i * RECORD_FRAME)), ==,
      GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (fixture.raw));
  }
  g_autofree char *warning = record_wait_warning (&fixture);
  record_assert_contains (warning, "video/x-raw(memory:GLMemory)");
  record_assert_contains (
    warning,
    " cannot be encoded by jpegenc: expected raw video of whole frames in system memory, or the "
    "camera's own stream at the pad encoded; nothing is recorded");
  g_assert_null (gst_bus_pop_filtered (fixture.bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR));
  record_close (&fixture);
}

/* Without a key frame there is nowhere for the next clip to begin: this one is cut. */
static void
test_no_key (void)
{
  RecordStream stream;
  if (!record_stream (JPEG, 100, &stream))
    return;
  for (guint i = 10; i < 100; i++)
    GST_BUFFER_FLAG_SET (stream.frames->pdata[i], GST_BUFFER_FLAG_DELTA_UNIT);
  RecordFixture fixture = record_open ("pre-roll=0 post-roll=60 max-length=1", &stream);
  for (guint i = 0; i < 100; i++)
    record_push (&fixture, &stream, i, i == 9 ? "entered" : NULL, "person");
  g_autofree char *warning = record_wait_warning (&fixture);
  record_assert_contains (warning, ": no key frame comes within max-length: the clip is cut");
  g_autoptr (GstStructure) done = record_wait (&fixture);
  assert_frames (done, &stream, 9, 58);
  g_assert_cmpstr (gst_structure_get_string (done, "cut"), ==,
                   "no key frame comes within max-length");
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* The end of the stream, and of the element, end the clip, which is whole. */
static void
test_end (gconstpointer data)
{
  RecordStream stream;
  const gboolean eos = GPOINTER_TO_INT (data);
  if (!record_stream (JPEG, 60, &stream))
    return;
  RecordFixture fixture = record_open ("pre-roll=1 post-roll=60", &stream);
  for (guint i = 0; i < 60; i++)
    record_push (&fixture, &stream, i, i == 40 ? "entered" : NULL, "person");
  if (eos) {
    gst_harness_push_event (fixture.encoded, gst_event_new_eos ());
    gst_harness_push_event (fixture.raw, gst_event_new_eos ());
  } else {
    gst_element_set_state (fixture.element, GST_STATE_NULL);
  }
  g_autoptr (GstStructure) done = record_wait (&fixture);
  assert_frames (done, &stream, 15, 59);
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* A flush, other caps, and time that jumps back end a clip; the next event begins another. */
static void
test_breaks (gconstpointer data)
{
  RecordStream stream, other;
  const char *what = data;
  if (!record_stream (JPEG, 100, &stream) || !record_stream ("jpegenc quality=20", 100, &other))
    return;
  gst_caps_set_simple (other.caps, "quality", G_TYPE_INT, 20, NULL);
  RecordFixture fixture = record_open ("pre-roll=1 post-roll=60", &stream);
  for (guint i = 0; i < 60; i++)
    record_push (&fixture, &stream, i, i == 40 ? "entered" : NULL, "person");
  if (g_str_equal (what, "caps"))
    gst_harness_set_src_caps (fixture.encoded, gst_caps_ref (other.caps));
  for (GstHarness *harness = fixture.encoded; g_str_equal (what, "flush"); harness = fixture.raw) {
    GstSegment segment;
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_harness_push_event (harness, gst_event_new_flush_start ());
    gst_harness_push_event (harness, gst_event_new_flush_stop (TRUE));
    gst_harness_push_event (harness, gst_event_new_segment (&segment));
    if (harness == fixture.raw)
      break;
  }
  g_autoptr (GstStructure) first = NULL, second = NULL;
  const RecordStream *rest = g_str_equal (what, "caps") ? &other : &stream;
  const guint from = g_str_equal (what, "caps") ? 60 : 0;
  for (guint i = from; i < from + 40; i++)
    record_push (&fixture, rest, i, i == from + 30 ? "left" : NULL, "person");
  first = record_wait (&fixture);
  assert_frames (first, &stream, 15, 59);
  gst_element_set_state (fixture.element, GST_STATE_NULL);
  second = record_wait (&fixture);
  assert_frames (second, rest, from + 5, from + 39);
  record_close (&fixture);
  record_stream_clear (&stream);
  record_stream_clear (&other);
}

/* What caps say of metas is not of the memory. */
static void
test_raw_features (void)
{
  static const guint8 grey[3] = { 100, 128, 128 };
  RecordFixture fixture = record_open ("post-roll=1 encoder=jpegenc", NULL);
  gst_harness_set_src_caps_str (
    fixture.raw,
    "video/x-raw(memory:SystemMemory,meta:GstVideoOverlayComposition),format=I420,width=64,"
    "height=48,framerate=25/1");
  g_signal_emit_by_name (fixture.element, "record", "now");
  for (guint i = 0; i < 20; i++) {
    g_assert_cmpint (
      gst_harness_push (fixture.raw, test_frame (RECORD_CAPS, grey, i * RECORD_FRAME)), ==,
      GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (fixture.raw));
  }
  gst_harness_push_event (fixture.raw, gst_event_new_eos ());
  g_autoptr (GstStructure) done = record_wait (&fixture);
  g_assert_cmpuint (record_decodes (gst_structure_get_string (done, "picture")), ==, 1);
  record_close (&fixture);
}

/* Other caps end a clip, which has what was in the encoder; the next one has the other size. */
static void
test_raw_caps (void)
{
  static const char other[] = "video/x-raw,format=I420,width=32,height=24,framerate=25/1";
  static const guint8 grey[3] = { 100, 128, 128 };
  gboolean large = FALSE, small = FALSE;
  RecordFixture fixture =
    record_open ("pre-roll=0 post-roll=60 encoder=jpegenc max-framerate=0", NULL);
  for (guint i = 0; i < 50; i++) {
    record_push (&fixture, NULL, i, i == 10 ? "entered" : NULL, "person");
    record_pace (&fixture);
  }
  gst_harness_set_src_caps_str (fixture.raw, other);
  for (guint i = 50; i < 500; i++) {
    g_signal_emit_by_name (fixture.element, "record", "again");
    g_assert_cmpint (gst_harness_push (fixture.raw, test_frame (other, grey, i * RECORD_FRAME)), ==,
                     GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (fixture.raw));
    record_pace (&fixture);
  }
  gst_harness_push_event (fixture.raw, gst_event_new_eos ());
  while (!small) {
    g_autoptr (GstStructure) done = record_wait (&fixture);
    g_autofree char *notes = record_notes (done);
    large = large || strstr (notes, "\"width\":64,\"height\":48") != NULL;
    small = strstr (notes, "\"width\":32,\"height\":24") != NULL;
  }
  g_assert_true (large);
  record_close (&fixture);
}

/* Frames without timestamps, with none of them, of no bytes, and before the first key frame. */
static void
test_odd_frames (void)
{
  RecordStream stream;
  if (!record_stream (JPEG, 100, &stream))
    return;
  RecordFixture fixture = record_open ("pre-roll=1 post-roll=0.5", &stream);
  for (guint i = 0; i < 100; i++) {
    GstBuffer *frame = gst_buffer_copy (stream.frames->pdata[i]);
    if (i % 3 == 1)
      GST_BUFFER_PTS (frame) = GST_BUFFER_DTS (frame) = GST_CLOCK_TIME_NONE;
    if (i < 5)
      GST_BUFFER_FLAG_SET (frame, GST_BUFFER_FLAG_DELTA_UNIT);
    g_assert_cmpint (gst_harness_push (fixture.encoded, frame), ==, GST_FLOW_OK);
    g_assert_cmpint (gst_harness_push (fixture.encoded, gst_buffer_new ()), ==, GST_FLOW_OK);
    record_push (&fixture, NULL, i, i == 10 ? "entered" : NULL, "person");
  }
  g_autoptr (GstStructure) done = record_wait (&fixture);
  assert_frames (done, &stream, 5, 22);
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* Only events of "on", about "classes". */
static void
test_choice (void)
{
  RecordStream stream;
  if (!record_stream (JPEG, 100, &stream))
    return;
  RecordFixture fixture =
    record_open ("on=\"in, dwell\" classes=person pre-roll=0 post-roll=0", &stream);
  for (guint i = 0; i < 100; i++)
    record_push (&fixture, &stream, i,
                 i == 10   ? "entered"
                 : i == 20 ? "in"
                 : i == 40 ? "dwell"
                           : NULL,
                 i == 20 ? "dog" : "person");
  g_autoptr (GstStructure) done = record_wait (&fixture);
  g_assert_cmpstr (gst_structure_get_string (done, "event"), ==, "dwell");
  gst_element_set_state (fixture.element, GST_STATE_NULL);
  g_assert_cmpuint (record_count (fixture.element, "clips"), ==, 1);
  record_close (&fixture);
  record_stream_clear (&stream);
}

static void
push_object (RecordFixture *fixture, const RecordStream *stream, guint i, gint id)
{
  static const guint8 grey[3] = { 100, 128, 128 };
  const SlObjectView object = { .x = 10,
                                .y = 10,
                                .w = 20,
                                .h = 20,
                                .x_min = 10 / 64.,
                                .x_max = 30 / 64.,
                                .y_min = 10 / 48.,
                                .y_max = 30 / 48.,
                                .confidence = 0.9,
                                .label = "cup",
                                .object_id = id };
  GstBuffer *frame = test_frame (RECORD_CAPS, grey, i * RECORD_FRAME);
  gst_harness_push (fixture->encoded, gst_buffer_copy (stream->frames->pdata[i]));
  sl_buffer_add_object (frame, &object, NULL);
  gst_harness_push (fixture->raw, frame);
  gst_buffer_unref (gst_harness_pull (fixture->raw));
}

/* Each id begins one clip. */
static void
test_object (void)
{
  RecordStream stream;
  if (!record_stream (JPEG, 100, &stream))
    return;
  RecordFixture fixture = record_open ("on=object pre-roll=0 post-roll=0.4", &stream);
  for (guint i = 0; i < 100; i++)
    push_object (&fixture, &stream, i, i < 50 ? 3 : 4);
  g_autoptr (GstStructure) first = record_wait (&fixture), second = record_wait (&fixture);
  assert_frames (first, &stream, 0, 10);
  assert_frames (second, &stream, 50, 60);
  g_autofree char *notes = record_notes (second);
  record_assert_contains (notes,
                          "{\"event\":\"object\",\"label\":\"cup\",\"id\":4,\"confidence\":0.9}");
  record_assert_contains (notes, "\"objects\":[{");
  record_close (&fixture);
  record_stream_clear (&stream);
}

/* A picture of a frame in a format that is converted first, with an object of @confidence. */
static GBytes *
picture_of (gdouble confidence, gboolean draws)
{
  static const char caps_text[] = "video/x-raw,format=RGB16,width=320,height=240,framerate=25/1";
  const SlObjectView object = { .x = 80,
                                .y = 80,
                                .w = 160,
                                .h = 120,
                                .x_min = 0.25,
                                .x_max = 0.75,
                                .y_min = 1 / 3.,
                                .y_max = 5 / 6.,
                                .confidence = confidence,
                                .label = "cup",
                                .object_id = 3 };
  g_autoptr (GstCaps) caps = gst_caps_from_string (caps_text);
  g_autoptr (GError) error = NULL;
  GstVideoInfo info;
  g_assert_true (gst_video_info_from_caps (&info, caps));
  g_autoptr (GstBuffer) frame = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_memset (frame, 0, 100, info.size);
  sl_buffer_add_object (frame, &object, NULL);
  g_autoptr (SlPictureMaker) maker = sl_picture_maker_new ((SlPictureLook){ 1280, draws }, &error);
  g_assert_no_error (error);
  GBytes *picture = sl_picture_maker_make (maker, frame, caps, &error);
  g_assert_no_error (error);
  return picture;
}

/* What is drawn says what the model said, whatever the frame's format. */
static void
test_picture (void)
{
#ifdef SL_HAVE_OVERLAY
  g_autoptr (GBytes) one = picture_of (0.25, TRUE), same = picture_of (0.25, TRUE),
                     other = picture_of (0.75, TRUE), plain = picture_of (0.25, FALSE),
                     alike = picture_of (0.75, FALSE);
  g_assert_true (g_bytes_equal (one, same));
  g_assert_false (g_bytes_equal (one, other));
  g_assert_false (g_bytes_equal (one, plain));
  g_assert_true (g_bytes_equal (plain, alike));
#else
  g_test_skip ("this build draws nothing");
#endif
}

/* (transfer full): the picture of an object's clip. */
static char *
picture_of_clip (const char *settings, const RecordStream *stream, gsize *size)
{
  char *picture;
  g_autofree char *all = g_strconcat ("on=object pre-roll=0 post-roll=0.4 ", settings, NULL);
  RecordFixture fixture = record_open (all, stream);
  for (guint i = 0; i < 20; i++)
    push_object (&fixture, stream, i, 3);
  g_autoptr (GstStructure) done = record_wait (&fixture);
  g_assert_true (
    g_file_get_contents (gst_structure_get_string (done, "picture"), &picture, size, NULL));
  record_close (&fixture);
  return picture;
}

/* Pictures of clips have no drawings if that is asked for. */
static void
test_picture_boxes (void)
{
  RecordStream stream;
  gsize drawn_size, plain_size, again_size;
  if (!record_stream (JPEG, 20, &stream))
    return;
  g_autofree char *drawn = picture_of_clip ("", &stream, &drawn_size),
                  *plain = picture_of_clip ("picture-boxes=false", &stream, &plain_size),
                  *again = picture_of_clip ("picture-boxes=false", &stream, &again_size);
  g_assert_cmpmem (plain, plain_size, again, again_size);
#ifdef SL_HAVE_OVERLAY
  g_assert_false (drawn_size == plain_size && memcmp (drawn, plain, plain_size) == 0);
#endif
  record_stream_clear (&stream);
}

/* The signal asks for a clip. */
static void
test_signal (void)
{
  RecordStream stream;
  if (!record_stream (JPEG, 100, &stream))
    return;
  RecordFixture fixture = record_open ("on=\"\" pre-roll=1 post-roll=1", &stream);
  for (guint i = 0; i < 100; i++) {
    if (i == 50) {
      g_signal_emit_by_name (fixture.element, "record", "somebody \"rang\"");
      g_signal_emit_by_name (fixture.element, "record", "and knocked");
    }
    record_push (&fixture, &stream, i, i == 10 ? "entered" : NULL, "person");
  }
  g_autoptr (GstStructure) done = record_wait (&fixture);
  assert_frames (done, &stream, 25, 75);
  g_autofree char *notes = record_notes (done);
  record_assert_contains (notes, "{\"event\":\"record\",\"reason\":\"somebody \\\"rang\\\"\"}");
  record_assert_contains (notes, "{\"event\":\"record\",\"reason\":\"and knocked\"}");
  record_close (&fixture);
  record_stream_clear (&stream);
}

typedef struct
{
  const char *name, *properties, *expected, *more;
} WrongCase;

static const WrongCase wrong_cases[] = {
  { "event", "on=entred location=/tmp", "on=entred: unknown event; did you mean 'entered'?", "" },
  { "events", "on=xyz location=/tmp", "on=xyz: unknown event",
    "expected one of entered, left, in, out, dwell, left-behind, empty, object" },
  { "encoder", "encoder=openh264 location=/tmp",
    "encoder=openh264: unknown; expected one of x264enc, openh264enc, vp8enc, jpegenc", "" },
  { "unset", "on=in", "location is not set: expected the folder that clips are written into", "" },
  { "missing", "location=/nonexistent/clips", "location=/nonexistent/clips",
    ": No such file or directory; expected a folder that this process may write into: make it, or "
    "change its owner" },
  { "file", "location=/dev/null", "location=/dev/null: Not a directory", "expected a folder" },
  { "read-only", "location=/proc/self",
    "location=/proc/self: ", "expected a folder that this process may write into" },
};

static void
test_wrong (gconstpointer data)
{
  const WrongCase *row = data;
  g_autofree char *launch = g_strdup_printf ("slrecord %s", row->properties);
  g_autoptr (GstElement) element = gst_object_ref_sink (gst_parse_launch (launch, NULL));
  g_autoptr (GstBus) bus = test_watch (element);
  g_assert_cmpint (gst_element_set_state (element, GST_STATE_PAUSED), ==, GST_STATE_CHANGE_FAILURE);
  test_assert_error (bus, row->expected, row->more, NULL);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/slrecord/times", test_times);
  g_test_add_func ("/slrecord/late-model", test_late_model);
  g_test_add_func ("/slrecord/h264", test_h264);
  g_test_add_func ("/slrecord/switched-off", test_switched_off);
  g_test_add_func ("/slrecord/max-length", test_max_length);
  g_test_add_func ("/slrecord/ring-size", test_ring_size);
  g_test_add_func ("/slrecord/raw/memory", test_raw_memory);
  g_test_add_func ("/slrecord/released/encodes", test_released);
  g_test_add_func ("/slrecord/released/alone", test_released_alone);
  g_test_add_func ("/slrecord/no-key", test_no_key);
  g_test_add_data_func ("/slrecord/end/eos", GINT_TO_POINTER (TRUE), test_end);
  g_test_add_data_func ("/slrecord/end/null", GINT_TO_POINTER (FALSE), test_end);
  g_test_add_data_func ("/slrecord/breaks/flush", "flush", test_breaks);
  g_test_add_data_func ("/slrecord/breaks/caps", "caps", test_breaks);
  g_test_add_data_func ("/slrecord/breaks/back", "back", test_breaks);
  g_test_add_func ("/slrecord/raw/features", test_raw_features);
  g_test_add_func ("/slrecord/raw/caps", test_raw_caps);
  g_test_add_func ("/slrecord/odd-frames", test_odd_frames);
  g_test_add_func ("/slrecord/choice", test_choice);
  g_test_add_func ("/slrecord/object", test_object);
  g_test_add_func ("/slrecord/picture", test_picture);
  g_test_add_func ("/slrecord/picture-boxes", test_picture_boxes);
  g_test_add_func ("/slrecord/signal", test_signal);
  TEST_ADD_CASES ("/slrecord/wrong", wrong_cases, test_wrong);
  return test_elements_run ();
}
