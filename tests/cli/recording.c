/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames that `sightline quantize` keeps of a video or a camera, whatever their timestamps, and of
 * a source without end: the source is one of this test's, and so is the clock.
 */
#include "tools/quantize/recording.h"

#include "sightline/error.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/predict/decoder_client.h"

#define UNTIMED G_MININT64

/** A source: the timestamp of frame i is @start + i * @step, ns, or none where @start is UNTIMED;
 * one comes each @every us; @n of them, 0 = without end. Behind the last one a camera sends nothing
 * any more. */
typedef struct
{
  gint64 start, step, every;
  guint n;
} Source;

static const Source *source;
static guint given, complaints;
static gint64 now;

gint64
g_get_monotonic_time (void)
{
  return now;
}

int
sl_complain (const char *command, const char *format, ...)
{
  complaints++;
  return SL_EXIT_FAILED;
}

gboolean
sl_interrupted (void)
{
  return FALSE;
}

SlDecoderClient *
sl_decoder_client_new (SlSpawner *spawner, guint timeout, const char *option, SlRemoteNote note)
{
  given = complaints = 0;
  now = G_USEC_PER_SEC;
  return g_malloc (1);
}

void
sl_decoder_client_free (SlDecoderClient *frames)
{
  g_free (frames);
}

gboolean
sl_decoder_client_open (SlDecoderClient *frames, const SlInput *input, GError **error)
{
  return TRUE;
}

void
sl_decoder_client_close (SlDecoderClient *frames)
{
}

guint64
sl_decoder_client_duration (const SlDecoderClient *frames)
{
  return 0;
}

GstSample *
sl_decoder_client_until (SlDecoderClient *frames, gint64 deadline, GError **error)
{
  if (source->n > 0 && given == source->n) {
    now = deadline < G_MAXINT64 ? deadline : now;
    return NULL;
  }
  GstBuffer *buffer = gst_buffer_new ();
  if (source->start != UNTIMED)
    GST_BUFFER_PTS (buffer) = (GstClockTime) (source->start + given * source->step);
  GST_BUFFER_OFFSET (buffer) = given++;
  now += source->every;
  GstSample *sample = gst_sample_new (buffer, NULL, NULL, NULL);
  gst_buffer_unref (buffer);
  return sample;
}

/* (transfer full): four frames of @from. */
static GPtrArray *
record (const Source *from, SlInputKind kind)
{
  char name[] = "it";
  const SlInput input = { .kind = kind, .name = name };
  g_autoptr (GError) error = NULL;
  source = from;
  GPtrArray *frames = sl_recording_new (NULL, &input, 4, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (frames->len, ==, 4);
  return frames;
}

/* The frames that are kept have these numbers. */
static void
check (const Source *from, SlInputKind kind, const guint64 *numbers)
{
  g_autoptr (GPtrArray) frames = record (from, kind);
  for (guint i = 0; i < frames->len; i++)
    g_assert_cmpuint (GST_BUFFER_OFFSET (gst_sample_get_buffer (frames->pdata[i])), ==, numbers[i]);
  g_assert_cmpuint (complaints, ==, 0);
}

static void
test_camera (void)
{
  /* At 25 frames a second each half second has 12.5 of them. */
  check (&(Source){ .step = 40 * GST_MSECOND, .every = 40000 }, SL_INPUT_CAMERA,
         (const guint64[]){ 0, 13, 26, 39 });
  /* Timestamps that go back are new each time. */
  check (
    &(Source){ .start = 3600 * GST_SECOND, .step = -40 * (gint64) GST_MSECOND, .every = 40000 },
    SL_INPUT_CAMERA, (const guint64[]){ 0, 1, 2, 3 });
  /* Without timestamps it is half a second of this machine's. */
  check (&(Source){ .start = UNTIMED, .every = 40000 }, SL_INPUT_CAMERA,
         (const guint64[]){ 0, 13, 26, 39 });
  /* Where time stands still, a frame comes each two seconds. */
  check (&(Source){ .start = 5, .every = 40000 }, SL_INPUT_STREAM,
         (const guint64[]){ 0, 50, 100, 150 });
}

static void
test_video (void)
{
  check (&(Source){ .n = 8 }, SL_INPUT_FILE, (const guint64[]){ 0, 2, 4, 6 });
}

/* A video without end is looked at for an hour, or for 2.5 million frames. */
static void
test_endless (void)
{
  g_autoptr (GPtrArray) frames = record (&(Source){ .every = 1 }, SL_INPUT_FILE);
  g_assert_nonnull (frames);
  g_assert_cmpuint (given, ==, 2500000);
  g_assert_cmpuint (complaints, ==, 1);
  g_autoptr (GPtrArray) slow = record (&(Source){ .every = 100000 }, SL_INPUT_FILE);
  g_assert_nonnull (slow);
  g_assert_cmpuint (given, ==, 36001);
  g_assert_cmpuint (complaints, ==, 1);
}

/* One that goes away, and does not come back, is waited for a minute. */
static void
test_silence (void)
{
  char name[] = "it";
  const SlInput input = { .kind = SL_INPUT_CAMERA, .name = name };
  g_autoptr (GError) error = NULL;
  source = &(Source){ .step = 40 * GST_MSECOND, .every = 40000, .n = 20 };
  g_assert_null (sl_recording_new (NULL, &input, 4, &error));
  g_assert_error (error, SL_ERROR, SL_ERROR_OPEN);
  g_assert_cmpstr (
    error->message, ==,
    "it: no frame came for 60 s, after 2 of 4; check that it is switched on, and sends");
  g_assert_cmpint (now, ==, G_USEC_PER_SEC + 20 * 40000 + 60 * G_USEC_PER_SEC);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize/recording/camera", test_camera);
  g_test_add_func ("/quantize/recording/video", test_video);
  g_test_add_func ("/quantize/recording/endless", test_endless);
  g_test_add_func ("/quantize/recording/silence", test_silence);
  return g_test_run ();
}
