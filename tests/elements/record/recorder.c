/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * When clips begin and end, and what becomes of those that cannot: a recorder and its writer
 * without an element, the writer held wherever a test needs it to wait.
 */
#include "config.h"

#include <string.h>

#include "plugins/record/recorder.h"
#include "tests/elements/record/support.h"
#include "tests/support/program.h"

#define QUEUE_BYTES 1000000

/* What the writer tells, each on a line of its own; while @held its thread waits in the telling. */
typedef struct
{
  char *path;
  SlWriter *writer;
  SlClipRecorder *recorder;
  RecordStream stream;
  GMutex lock;
  GCond changed;
  GString *told;
  guint n_told;
  gboolean held;
} Fixture;

static void
tell (Fixture *fixture, const char *text)
{
  g_mutex_lock (&fixture->lock);
  g_string_append_printf (fixture->told, "%s\n", text);
  fixture->n_told++;
  g_cond_broadcast (&fixture->changed);
  while (fixture->held)
    g_cond_wait (&fixture->changed, &fixture->lock);
  g_mutex_unlock (&fixture->lock);
}

static void
told_warning (gpointer data, const char *text)
{
  const char *reason = strstr (text, ": ");
  g_assert_true (g_str_has_prefix (text, "location="));
  tell (data, reason + 2);
}

static void
told_done (gpointer data, const SlClipDone *done)
{
  g_autofree char *text = g_strdup_printf ("%s: %" G_GUINT64_FORMAT " frames, cut: %s", done->event,
                                           done->frames, done->cut);
  tell (data, text);
}

static void
nothing (gpointer data)
{
}

/* FALSE, and the test is marked as skipped, where no stream can be made. */
static gboolean
open_fixture (Fixture *fixture, const SlClipRecorderSettings *settings)
{
  static const SlWriterEvents events = { .done = told_done, .warn = told_warning };
  SlFolder folder;
  *fixture = (Fixture){ .told = g_string_new (NULL), .path = record_folder () };
  g_mutex_init (&fixture->lock);
  g_cond_init (&fixture->changed);
  if (!record_stream ("jpegenc", 1, &fixture->stream))
    return FALSE;
  g_assert_true (sl_folder_open (&folder, fixture->path, "door", NULL));
  fixture->writer =
    sl_writer_new (&folder, QUEUE_BYTES, (SlPictureLook){ 640, TRUE }, &events, fixture, nothing);
  fixture->recorder = sl_clip_recorder_new (settings, fixture->writer);
  sl_clip_recorder_set_caps (fixture->recorder, fixture->stream.caps);
  return TRUE;
}

static void
hold (Fixture *fixture, gboolean held)
{
  g_mutex_lock (&fixture->lock);
  fixture->held = held;
  g_cond_broadcast (&fixture->changed);
  g_mutex_unlock (&fixture->lock);
}

static void
wait_told (Fixture *fixture, guint n)
{
  g_mutex_lock (&fixture->lock);
  while (fixture->n_told < n)
    g_cond_wait (&fixture->changed, &fixture->lock);
  g_mutex_unlock (&fixture->lock);
}

/* Ends all; what was told is what is @expected then. */
static SlWriterCounts
close_fixture (Fixture *fixture, const char *expected)
{
  SlWriterCounts counts;
  sl_clip_recorder_free (fixture->recorder);
  sl_writer_stop (fixture->writer, &counts);
  if (expected != NULL)
    g_assert_cmpstr (fixture->told->str, ==, expected);
  g_string_free (fixture->told, TRUE);
  g_mutex_clear (&fixture->lock);
  g_cond_clear (&fixture->changed);
  record_stream_clear (&fixture->stream);
  record_remove_folder (fixture->path);
  return counts;
}

/* An encoded frame that is shown @ms after the beginning. */
static void
push (Fixture *fixture, guint ms, gboolean key)
{
  GstBuffer *frame = gst_buffer_copy (fixture->stream.frames->pdata[0]);
  GST_BUFFER_PTS (frame) = ms * GST_MSECOND;
  GST_BUFFER_DTS (frame) = GST_CLOCK_TIME_NONE;
  if (!key)
    GST_BUFFER_FLAG_SET (frame, GST_BUFFER_FLAG_DELTA_UNIT);
  sl_clip_recorder_frame (fixture->recorder, frame);
}

/* (transfer full) */
static SlClipStart *
new_start (gint64 us)
{
  SlClipStart *start = g_new0 (SlClipStart, 1);
  start->event = g_strdup ("in");
  start->us = us;
  return start;
}

/* An event, with a picture of @bytes; 0 = with none. */
static void
happen (Fixture *fixture, guint ms, gsize bytes)
{
  SlClipStart *start = new_start (g_get_real_time ());
  if (bytes > 0) {
    g_autoptr (GstBuffer) frame = gst_buffer_new_allocate (NULL, bytes, NULL);
    gst_buffer_memset (frame, 0, 100, bytes);
    g_autoptr (GstCaps) caps =
      gst_caps_from_string ("video/x-raw,format=GRAY8,width=1000,height=100");
    start->moment = gst_sample_new (frame, caps, NULL, NULL);
  }
  sl_clip_recorder_event (fixture->recorder, ms * GST_MSECOND,
                          g_strdup_printf ("{\"event\":\"in\",\"ms\":%u}", ms), start);
}

/* A clip from @ms on, 100 ms long; both clocks are behind it then. */
static void
record_one (Fixture *fixture, guint ms, gsize bytes)
{
  push (fixture, ms, TRUE);
  happen (fixture, ms, bytes);
  push (fixture, ms + 200, TRUE);
  sl_clip_recorder_seen (fixture->recorder, (ms + 200) * GST_MSECOND);
}

static const SlClipRecorderSettings short_clips = { .post_roll = 100 * GST_MSECOND,
                                                    .ring_bytes = 1000000 };

/* Clips that do not fit between the streams and the disk are counted, and nothing is left of them.
 */
static void
test_refused (void)
{
  Fixture fixture;
  if (!open_fixture (&fixture, &short_clips))
    return;
  hold (&fixture, TRUE);
  record_one (&fixture, 0, 0);
  wait_told (&fixture, 1);
  for (guint i = 1; i <= 110; i++)
    record_one (&fixture, i * 1000, 0);
  hold (&fixture, FALSE);
  for (guint i = 1; i <= 103; i++) /* 101 clips, the trouble, and its end */
    wait_told (&fixture, i);
  const SlWriterCounts counts = close_fixture (&fixture, NULL);
  g_assert_cmpuint (counts.clips, ==, 101);
  g_assert_cmpuint (counts.failed, ==, 10);
}

/* A moment that alone is larger than the queue is let in when nothing waits, and refused, which is
 * told, when something does. */
static void
test_large (void)
{
  Fixture fixture;
  if (!open_fixture (&fixture, &short_clips))
    return;
  hold (&fixture, TRUE);
  record_one (&fixture, 0, QUEUE_BYTES + 1);
  wait_told (&fixture, 1);
  record_one (&fixture, 1000, 100000);
  record_one (&fixture, 2000, QUEUE_BYTES + 1);
  hold (&fixture, FALSE);
  const SlWriterCounts counts = close_fixture (
    &fixture, "in: 1 frames, cut: (null)\n"
              "the disk is too slow: clips are not recorded; tried again at each event\n"
              "in: 1 frames, cut: (null)\n"
              "clips are recorded again\n");
  g_assert_cmpuint (counts.failed, ==, 1);
}

/* No key frame comes: both clocks pass the clip's end, and the patience for one. */
static void
test_no_key (void)
{
  Fixture fixture;
  if (!open_fixture (&fixture, &short_clips))
    return;
  for (guint ms = 0; ms < 20000; ms += 100) {
    push (&fixture, ms, FALSE);
    if (ms == 1000)
      happen (&fixture, ms, 0);
    sl_clip_recorder_seen (fixture.recorder, ms * GST_MSECOND);
  }
  const SlWriterCounts counts = close_fixture (
    &fixture,
    "no key frame came that the clip could begin with: clips are not recorded; tried again at each "
    "event\n");
  g_assert_cmpuint (counts.failed, ==, 1);
  g_assert_cmpuint (counts.clips, ==, 0);
}

/* (transfer full): of the only clip. */
static char *
read_notes (Fixture *fixture)
{
  g_autofree char *names = record_list (fixture->path);
  g_auto (GStrv) each = g_strsplit (names, " ", -1);
  char *text = NULL;
  g_assert_true (g_str_has_suffix (each[0], ".json"));
  g_autofree char *path = g_build_filename (fixture->path, each[0], NULL);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  return text;
}

/* A key frame that comes late begins the clip, which knows what happened meanwhile. */
static void
test_late_key (void)
{
  Fixture fixture;
  if (!open_fixture (&fixture, &short_clips))
    return;
  for (guint ms = 0; ms < 9000; ms += 50) {
    push (&fixture, ms, ms == 5000);
    if (ms == 1000 || ms == 2000)
      happen (&fixture, ms, 0);
    sl_clip_recorder_seen (fixture.recorder, ms * GST_MSECOND);
  }
  wait_told (&fixture, 1);
  g_autofree char *notes = read_notes (&fixture);
  g_assert_nonnull (strstr (notes, "\"at\":-4,"));
  g_assert_nonnull (
    strstr (notes, "\"n_events\":2,\"events\":[{\"at\":-4,\"what\":{\"event\":\"in\",\"ms\":1000}},"
                   "{\"at\":-3,\"what\":{\"event\":\"in\",\"ms\":2000}}]"));
  close_fixture (&fixture, "in: 3 frames, cut: (null)\n");
}

/* The camera's stream has ended, and our encoder takes longer to start than the clip lasts. */
static void
test_late_encoder (void)
{
  Fixture fixture;
  if (!open_fixture (&fixture, &short_clips))
    return;
  sl_clip_recorder_end (fixture.recorder, TRUE);
  for (guint ms = 0; ms < 5000; ms += 100) {
    if (ms == 1000)
      happen (&fixture, ms, 0);
    sl_clip_recorder_seen (fixture.recorder, ms * GST_MSECOND);
  }
  push (&fixture, 4000, TRUE);
  push (&fixture, 4200, TRUE);
  wait_told (&fixture, 1);
  close_fixture (&fixture, "in: 1 frames, cut: (null)\n");
}

/* Both streams end while a clip waits for a key frame: nothing can come any more. */
static void
test_both_end (void)
{
  Fixture fixture;
  if (!open_fixture (&fixture, &short_clips))
    return;
  happen (&fixture, 0, 0);
  sl_clip_recorder_seen (fixture.recorder, 200 * GST_MSECOND);
  sl_clip_recorder_end (fixture.recorder, TRUE);
  sl_clip_recorder_end (fixture.recorder, FALSE);
  wait_told (&fixture, 1);
  close_fixture (
    &fixture,
    "no key frame came that the clip could begin with: clips are not recorded; tried again at each "
    "event\n");
}

/* The pre-roll does not count for max-length; clips that follow have the times of their frames. */
static void
test_max_length_times (void)
{
  static const SlClipRecorderSettings settings = { .pre_roll = 5 * GST_SECOND,
                                                   .post_roll = 2500 * GST_MSECOND,
                                                   .max_length = GST_SECOND,
                                                   .ring_bytes = 1000000 };
  Fixture fixture;
  if (!open_fixture (&fixture, &settings))
    return;
  for (guint ms = 0; ms < 20000; ms += 250) {
    push (&fixture, ms, TRUE);
    if (ms == 10000)
      sl_clip_recorder_event (fixture.recorder, ms * GST_MSECOND, g_strdup ("{}"),
                              new_start (1577836800 * (gint64) G_USEC_PER_SEC));
    sl_clip_recorder_seen (fixture.recorder, ms * GST_MSECOND);
  }
  wait_told (&fixture, 3);
  g_autofree char *names = record_list (fixture.path);
  g_assert_cmpstr (names, ==,
                   "door-2020-01-01T00-00-00.000Z-in.json door-2020-01-01T00-00-00.000Z-in.mkv "
                   "door-2020-01-01T00-00-01.000Z-in.json door-2020-01-01T00-00-01.000Z-in.mkv "
                   "door-2020-01-01T00-00-02.000Z-in.json door-2020-01-01T00-00-02.000Z-in.mkv ");
  close_fixture (
    &fixture, "in: 24 frames, cut: (null)\nin: 4 frames, cut: (null)\nin: 3 frames, cut: (null)\n");
}

/* A name that any file of a clip has is no other clip's, whatever that clip has itself. */
static void
test_taken (void)
{
  Fixture fixture;
  if (!open_fixture (&fixture, &short_clips))
    return;
  static const char *const taken[] = { "door-2020-01-01T00-00-00.000Z-in.json",
                                       "door-2020-01-01T00-00-00.001Z-in.jpg",
                                       ".door-2020-01-01T00-00-00.002Z-in.json.part" };
  for (guint i = 0; i < G_N_ELEMENTS (taken); i++) {
    g_autofree char *path = g_build_filename (fixture.path, taken[i], NULL);
    g_assert_true (g_file_set_contents (path, "old", 3, NULL));
  }
  push (&fixture, 0, TRUE);
  sl_clip_recorder_event (fixture.recorder, 0, g_strdup ("{}"),
                          new_start (1577836800 * (gint64) G_USEC_PER_SEC));
  push (&fixture, 200, TRUE);
  sl_clip_recorder_seen (fixture.recorder, 200 * GST_MSECOND);
  wait_told (&fixture, 1);
  g_autofree char *names = record_list (fixture.path);
  g_assert_cmpstr (
    names, ==,
    ".door-2020-01-01T00-00-00.002Z-in.json.part door-2020-01-01T00-00-00.000Z-in.json "
    "door-2020-01-01T00-00-00.001Z-in.jpg door-2020-01-01T00-00-00.003Z-in.json "
    "door-2020-01-01T00-00-00.003Z-in.mkv ");
  close_fixture (&fixture, "in: 1 frames, cut: (null)\n");
}

/* Of a ring that holds less than from one key frame to the next it is told once, with what would be
 * enough. */
static void
test_small_ring (void)
{
  Fixture fixture;
  SlClipRecorderSettings settings = short_clips;
  settings.pre_roll = 3 * GST_SECOND;
  if (!open_fixture (&fixture, &settings))
    return;
  const gsize bytes = gst_buffer_get_size (fixture.stream.frames->pdata[0]);
  sl_clip_recorder_free (fixture.recorder);
  settings.ring_bytes = 4 * bytes;
  fixture.recorder = sl_clip_recorder_new (&settings, fixture.writer);
  sl_clip_recorder_set_caps (fixture.recorder, fixture.stream.caps);
  for (guint i = 0; i < 12; i++)
    push (&fixture, i * 500, i % 4 == 0); /* as many as it holds */
  for (guint i = 12; i < 30; i++)
    push (&fixture, i * 500, (i - 12) % 5 == 0);
  g_autofree char *expected = g_strdup_printf (
    "ring-size (%.1f MB) is less than a key frame with all before the next one (%.1f MB): clips "
    "begin late; set ring-size=%.0f, or have the camera send key frames more often than every 2.5 "
    "s\n",
    (gdouble) (4 * bytes) / 1e6, (gdouble) (5 * bytes) / 1e6,
    (gdouble) (5 * bytes) * (1 + 3 / 2.5) / 1e6 + 1);
  close_fixture (&fixture, expected);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  g_test_add_func ("/slrecord/recorder/refused", test_refused);
  g_test_add_func ("/slrecord/recorder/taken", test_taken);
  g_test_add_func ("/slrecord/recorder/large", test_large);
  g_test_add_func ("/slrecord/recorder/no-key", test_no_key);
  g_test_add_func ("/slrecord/recorder/late-key", test_late_key);
  g_test_add_func ("/slrecord/recorder/late-encoder", test_late_encoder);
  g_test_add_func ("/slrecord/recorder/both-end", test_both_end);
  g_test_add_func ("/slrecord/recorder/max-length-times", test_max_length_times);
  g_test_add_func ("/slrecord/recorder/small-ring", test_small_ring);
  return test_elements_run ();
}
