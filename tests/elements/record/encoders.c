/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slrecord without a camera's stream: frames of sink are encoded. Each encoder that can be chosen
 * makes clips whose frames are at their times, whatever it does to timestamps; what fails is told
 * and counted.
 */
#include <gst/video/gstvideoencoder.h>

#include <string.h>

#include "plugins/record/encoder.h"
#include "tests/elements/record/support.h"
#include "tests/support/program.h"

/* Frame @i of these tests is grey, and its brightness tells which one it is among two hundred.
 * Every fifth is encoded. */
#define NUMBERS 200
#define EVERY 5

static guint8
brightness (guint i)
{
  return (guint8) (16 + i % NUMBERS);
}

/* The number of the frame that has become @decoded. */
static guint
number_of (GstBuffer *decoded)
{
  guint8 luma = 0;
  g_assert_cmpuint (gst_buffer_extract (decoded, 0, &luma, 1), ==, 1);
  return (guint) (luma - 16 + EVERY / 2) / EVERY * EVERY;
}

/* Every picture of the clip is at its frame's time, and the moment of frame 100 is where the notes
 * say. */
static void
assert_times (const GstStructure *done)
{
  const char *path = gst_structure_get_string (done, "path");
  g_autoptr (GPtrArray) pictures =
    record_read_with (path, "decodebin ! videoconvert ! video/x-raw,format=I420");
  g_autofree char *notes = record_notes (done);
  const char *at = strstr (notes, "\"at\":");
  g_assert_cmpuint (pictures->len, <=, 16);
  g_assert_cmpuint (pictures->len, >=, 10);
  const guint first = number_of (pictures->pdata[0]);
  g_assert_cmpuint (first, >=, 40);
  g_assert_cmpuint (first, <=, 75);
  for (guint i = 0; i < pictures->len; i++) {
    const guint number = number_of (pictures->pdata[i]);
    g_assert_cmpuint (number, <=, 125);
    g_assert_cmpuint (GST_BUFFER_PTS (pictures->pdata[i]), ==, (number - first) * RECORD_FRAME);
  }
  g_assert_nonnull (at);
  g_assert_cmpfloat_with_epsilon (g_ascii_strtod (at + strlen ("\"at\":"), NULL),
                                  (100 - first) * 0.04, 1e-6);
  record_assert_contains (notes, "\"width\":32,\"height\":24");
}

static void
push_number (RecordFixture *fixture, guint i)
{
  const guint8 grey[3] = { brightness (i), 128, 128 };
  g_assert_cmpint (
    gst_harness_push (fixture->raw, test_frame (RECORD_CAPS, grey, i * RECORD_FRAME)), ==,
    GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (fixture->raw));
}

/* Does @change to each encoder that is made. */
static gulong
hook_encoders (GSignalEmissionHook change, gpointer data)
{
  return g_signal_add_emission_hook (g_signal_lookup ("element-added", GST_TYPE_BIN), 0, change,
                                     data, NULL);
}

static void
unhook_encoders (gulong hook)
{
  g_signal_remove_emission_hook (g_signal_lookup ("element-added", GST_TYPE_BIN), hook);
}

/* Frames that the first encoder has; the one of the event's picture comes later. */
typedef struct
{
  gint n; /* atomic */
  gboolean found;
} Entered;

static GstPadProbeReturn
count_frame (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_atomic_int_inc (&((Entered *) data)->n);
  return GST_PAD_PROBE_OK;
}

static gboolean
count_frames (GSignalInvocationHint *hint, guint n, const GValue *values, gpointer data)
{
  Entered *entered = data;
  GObject *element = g_value_get_object (&values[1]);
  if (GST_IS_VIDEO_ENCODER (element) && !entered->found) {
    entered->found = TRUE;
    gst_pad_add_probe (GST_VIDEO_ENCODER_SINK_PAD (element), GST_PAD_PROBE_TYPE_BUFFER, count_frame,
                       entered, NULL);
  }
  return TRUE;
}

/* Frames are encoded, at most max-framerate a second and max-width wide. The next one comes when
 * the encoder has the last one, so that it leaves none out. */
static void
test_raw (gconstpointer data)
{
  Entered entered = { 0 };
  const gulong hook = hook_encoders (count_frames, &entered);
  g_autofree char *properties = g_strdup_printf (
    "pre-roll=1 post-roll=1 max-width=32 max-framerate=5 encoder=%s", (const char *) data);
  RecordFixture fixture = record_open (properties, NULL);
  for (guint i = 0; i < 200; i++) {
    if (i == 100)
      g_signal_emit_by_name (fixture.element, "record", "now");
    push_number (&fixture, i);
    while ((guint) g_atomic_int_get (&entered.n) <= i / EVERY)
      g_usleep (1000);
  }
  gst_harness_push_event (fixture.raw, gst_event_new_eos ());
  g_autoptr (GstStructure) done = record_wait (&fixture);
  assert_times (done);
  g_assert_cmpuint (record_count (fixture.element, "dropped"), ==, 0);
  g_assert_cmpuint (record_count (fixture.element, "failed"), ==, 0);
  record_close (&fixture);
  unhook_encoders (hook);
}

static gboolean
shift_segment (GSignalInvocationHint *hint, guint n, const GValue *values, gpointer data)
{
  GObject *element = g_value_get_object (&values[1]);
  if (GST_IS_VIDEO_ENCODER (element))
    gst_video_encoder_set_min_pts (GST_VIDEO_ENCODER (element), 1000 * 3600 * GST_SECOND);
  return TRUE;
}

/* An encoder that shifts timestamps by 1000 hours, as x264enc does, and its segment with them. */
static void
test_shifted (gconstpointer data)
{
  const gulong hook = hook_encoders (shift_segment, NULL);
  test_raw (data);
  unhook_encoders (hook);
}

static GstPadProbeReturn
shift_frame (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *frame = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  GST_BUFFER_PTS (frame) += 1000 * 3600 * GST_SECOND;
  GST_PAD_PROBE_INFO_DATA (info) = frame;
  return GST_PAD_PROBE_OK;
}

static gboolean
shift_frames (GSignalInvocationHint *hint, guint n, const GValue *values, gpointer data)
{
  GObject *element = g_value_get_object (&values[1]);
  if (GST_IS_VIDEO_ENCODER (element))
    gst_pad_add_probe (GST_VIDEO_ENCODER_SRC_PAD (element), GST_PAD_PROBE_TYPE_BUFFER, shift_frame,
                       NULL, NULL);
  return TRUE;
}

/* One that shifts frames alone: no clip can be made of these. It is told, and counted, and no clip
 * is there. */
static void
test_wrong_times (void)
{
  RecordFixture fixture = record_open ("pre-roll=0 post-roll=0 encoder=jpegenc", NULL);
  const gulong hook = hook_encoders (shift_frames, NULL);
  GstMessage *told = NULL;
  for (guint i = 0; told == NULL; i++) {
    g_assert_cmpuint (i, <, 10000);
    push_number (&fixture, i);
    g_usleep (1000);
    told = gst_bus_pop_filtered (fixture.bus, GST_MESSAGE_WARNING);
  }
  g_autoptr (GError) warning = NULL;
  gst_message_parse_warning (told, &warning, NULL);
  gst_message_unref (told);
  record_assert_contains (warning->message, " cannot be encoded by jpegenc: a frame of 360");
  record_assert_contains (warning->message, " s came out, expected ");
  record_assert_contains (warning->message,
                          " s, as went in; choose another encoder; nothing is recorded");
  g_signal_emit_by_name (fixture.element, "record", "now");
  push_number (&fixture, 10001);
  gst_harness_push_event (fixture.raw, gst_event_new_eos ());
  g_autofree char *lost = record_wait_warning (&fixture);
  record_assert_contains (
    lost,
    ": no key frame came that the clip could begin with: clips are not recorded; tried again at "
    "each event");
  g_assert_cmpuint (record_count (fixture.element, "failed"), >=, 1);
  g_assert_cmpuint (record_count (fixture.element, "clips"), ==, 0);
  g_autofree char *files = record_list (fixture.folder);
  g_assert_cmpstr (files, ==, "");
  unhook_encoders (hook);
  record_close (&fixture);
}

/* An event on the very first frame, of which nothing is encoded yet. */
static void
test_raw_first (void)
{
  RecordFixture fixture = record_open ("post-roll=1 encoder=jpegenc", NULL);
  for (guint i = 0; i < 20; i++)
    record_push (&fixture, NULL, i, i == 0 ? "entered" : NULL, "person");
  gst_harness_push_event (fixture.raw, gst_event_new_eos ());
  g_autoptr (GstStructure) done = record_wait (&fixture);
  g_autofree char *notes = record_notes (done);
  g_assert_cmpuint (record_decodes (gst_structure_get_string (done, "path")), >=, 1);
  record_assert_contains (notes, "\"at\":0,");
  record_assert_contains (notes, "\"n_events\":1,");
  record_close (&fixture);
}

/* Blocks the threads that make an encoder. */
typedef struct
{
  GMutex lock;
  GCond changed;
  gboolean open;
} Gate;

static gboolean
hold_maker (GSignalInvocationHint *hint, guint n, const GValue *values, gpointer data)
{
  Gate *gate = data;
  GstElementFactory *factory = gst_element_get_factory (g_value_get_object (&values[1]));
  g_mutex_lock (&gate->lock);
  while (!gate->open && factory != NULL && g_str_equal (GST_OBJECT_NAME (factory), "jpegenc"))
    g_cond_wait (&gate->changed, &gate->lock);
  g_mutex_unlock (&gate->lock);
  return TRUE;
}

/* Frames pass while the encoder is made; the first of them waits for it and is in the clip. */
static void
test_encoder_made_meanwhile (void)
{
  Gate gate = { .open = FALSE };
  RecordFixture fixture =
    record_open ("pre-roll=0 post-roll=0 encoder=jpegenc max-framerate=0", NULL);
  g_mutex_init (&gate.lock);
  g_cond_init (&gate.changed);
  const gulong hook = hook_encoders (hold_maker, &gate);
  for (guint i = 0; i < 5; i++)
    record_push (&fixture, NULL, i, i == 0 ? "entered" : NULL, "person");
  g_assert_cmpuint (record_count (fixture.element, "dropped"), ==, 4);
  g_mutex_lock (&gate.lock);
  gate.open = TRUE;
  g_cond_broadcast (&gate.changed);
  g_mutex_unlock (&gate.lock);
  gst_harness_push_event (fixture.raw, gst_event_new_eos ());
  g_autoptr (GstStructure) done = record_wait (&fixture);
  g_assert_cmpuint (record_decodes (gst_structure_get_string (done, "path")), ==, 1);
  unhook_encoders (hook);
  record_close (&fixture);
  g_mutex_clear (&gate.lock);
  g_cond_clear (&gate.changed);
}

/* Frames that come more rarely than their caps say: key frames are a second apart still. */
static void
test_rare_frames (void)
{
  static const guint8 grey[3] = { 100, 128, 128 };
  g_autoptr (GstElementFactory) factory = gst_element_factory_find ("vp8enc");
  if (factory == NULL) {
    g_test_skip ("vp8enc is not installed");
    return;
  }
  RecordFixture fixture =
    record_open ("pre-roll=0 post-roll=60 encoder=vp8enc max-framerate=0", NULL);
  /* The encoder leaves out those that it has no time for. */
  for (guint i = 0; i < record_count (fixture.element, "dropped") + 10; i++) {
    g_signal_emit_by_name (fixture.element, "record", "again");
    g_assert_cmpint (gst_harness_push (fixture.raw, test_frame (RECORD_CAPS, grey, i * GST_SECOND)),
                     ==, GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (fixture.raw));
    record_pace (&fixture);
  }
  gst_harness_push_event (fixture.raw, gst_event_new_eos ());
  g_autoptr (GstStructure) done = record_wait (&fixture);
  g_autoptr (GPtrArray) frames = record_read (gst_structure_get_string (done, "path"));
  guint keys = 0;
  for (guint i = 0; i < frames->len; i++)
    keys += GST_BUFFER_FLAG_IS_SET (frames->pdata[i], GST_BUFFER_FLAG_DELTA_UNIT) ? 0 : 1;
  g_assert_cmpuint (frames->len, >=, 4);
  g_assert_cmpuint (keys, >=, frames->len / 2);
  record_close (&fixture);
}

/* What one encoder cannot do the next one may. */
static void
test_next_encoder (void)
{
  RecordFixture fixture = record_open ("pre-roll=0 post-roll=60", NULL);
  static const guint8 grey[3] = { 100, 128, 128 };
  gst_harness_set_src_caps_str (fixture.raw,
                                "video/x-raw,format=I420,width=64,height=2,framerate=25/1");
  for (guint i = 0; !record_is_writing (&fixture); i++) {
    g_assert_cmpuint (i, <, 20000);
    g_signal_emit_by_name (fixture.element, "record", "again");
    gst_harness_push (fixture.raw,
                      test_frame ("video/x-raw,format=I420,width=64,height=2,framerate=25/1", grey,
                                  i * RECORD_FRAME));
    gst_buffer_unref (gst_harness_pull (fixture.raw));
    g_usleep (5000);
  }
  gst_harness_push_event (fixture.raw, gst_event_new_eos ());
  g_autoptr (GstStructure) done = record_wait (&fixture);
  g_assert_cmpuint (record_decodes (gst_structure_get_string (done, "path")), >=, 1);
  record_close (&fixture);
}

/* An event on the first frame after time has jumped back begins a clip, whatever encodes. */
static void
test_back_first (gconstpointer data)
{
  g_autofree char *properties =
    g_strdup_printf ("pre-roll=0 post-roll=0.2 encoder=%s", (const char *) data);
  RecordFixture fixture = record_open (properties, NULL);
  for (guint i = 100; i < 150; i++)
    record_push (&fixture, NULL, i, NULL, NULL);
  for (guint i = 0; i < 50; i++) {
    record_push (&fixture, NULL, i, i == 0 ? "entered" : NULL, "person");
    record_pace (&fixture);
  }
  gst_harness_push_event (fixture.raw, gst_event_new_eos ());
  g_autoptr (GstStructure) done = record_wait (&fixture);
  g_assert_cmpuint (record_decodes (gst_structure_get_string (done, "path")), >=, 1);
  g_assert_cmpuint (record_count (fixture.element, "failed"), ==, 0);
  record_close (&fixture);
}

static void
add_for_encoder (const char *test, const char *encoder, GTestDataFunc function)
{
  g_autofree char *path = g_strdup_printf ("/slrecord/raw/%s/%s", test, encoder);
  g_test_add_data_func (path, encoder, function);
}

TEST_MAIN (int argc, char **argv)
{
  test_elements_init (&argc, &argv);
  for (const char *name = sl_encoder_choose (NULL, NULL); name != NULL;
       name = sl_encoder_next (name)) {
    add_for_encoder ("times", name, test_raw);
    add_for_encoder ("shifted", name, test_shifted);
    add_for_encoder ("back-first", name, test_back_first);
  }
  g_test_add_func ("/slrecord/raw/wrong-times", test_wrong_times);
  g_test_add_func ("/slrecord/raw/first", test_raw_first);
  g_test_add_func ("/slrecord/raw/made-meanwhile", test_encoder_made_meanwhile);
  g_test_add_func ("/slrecord/raw/rare", test_rare_frames);
  g_test_add_func ("/slrecord/raw/next", test_next_encoder);
  return test_elements_run ();
}
