/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A decoder may not know the length of its video. Whenever there are twice as many frames as
 * wanted, every other one is dropped, and the distance between frames to keep doubles.
 */
#include "tools/quantize/recording.h"

#include "core/base/fail.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/progress.h"
#include "tools/predict/decoder_client.h"

/* Seconds that a source may be without progress. */
#define TIMEOUT 10
#define CAMERA_INTERVAL (GST_SECOND / 2)
/* A camera whose timestamps stand still, or go back, gives a frame so often all the same; us. */
#define CAMERA_PATIENCE (2 * G_USEC_PER_SEC)
/* How long a camera, a pipe or a network may send nothing; a camera that starts anew takes less.
 * Seconds. */
#define MAX_SILENCE 60
/* The most frames and microseconds of a video. A day at 25 frames a second has fewer frames. */
#define MAX_FRAMES 2500000
#define MAX_TIME (3600 * (gint64) G_USEC_PER_SEC)
/* What all frames together may take. */
#define MAX_BYTES (G_GUINT64_CONSTANT (1) << 30)

typedef struct
{
  GPtrArray *frames; /* (element-type GstSample) */
  guint wanted;
  guint64 step, seen, bytes;
  gboolean camera;
  GstClockTime last,
    next; /* of a camera: timestamp of the frame that was kept last, and of the one to keep */
  gint64 started, kept; /* when it began, and kept the last frame; us */
} Recording;

static void
sample_free (gpointer sample)
{
  gst_sample_unref (sample);
}

static void
tell_note (const char *name, const char *text)
{
  sl_complain ("quantize", "%s: %s", name, text);
}

/* Whether the frame at hand is one to keep. */
static gboolean
is_due (Recording *r, GstSample *sample)
{
  const GstClockTime at = GST_BUFFER_PTS (gst_sample_get_buffer (sample));
  const gint64 now = g_get_monotonic_time ();
  if (!r->camera)
    return r->seen++ % r->step == 0;
  const gboolean early = GST_CLOCK_TIME_IS_VALID (at)
                           ? at >= r->last && at < r->next && now - r->kept < CAMERA_PATIENCE
                           : now - r->kept < (gint64) GST_TIME_AS_USECONDS (CAMERA_INTERVAL);
  if (early && r->frames->len > 0)
    return FALSE;
  r->last = GST_CLOCK_TIME_IS_VALID (at) ? at : 0;
  r->next = GST_CLOCK_TIME_IS_VALID (at) ? at + CAMERA_INTERVAL : 0;
  r->kept = now;
  return TRUE;
}

/* Lets every other frame go. */
static void
thin_out (Recording *r)
{
  for (guint i = 1; i < r->frames->len; i++) {
    r->bytes -= gst_buffer_get_size (gst_sample_get_buffer (r->frames->pdata[i]));
    g_ptr_array_remove_index (r->frames, i);
  }
  r->step *= 2;
}

/* The memory of a frame belongs to the decoding process and comes back for the next. */
static void
keep (Recording *r, GstSample *sample)
{
  GstBuffer *copy = gst_buffer_copy_deep (gst_sample_get_buffer (sample));
  g_ptr_array_add (r->frames, gst_sample_new (copy, gst_sample_get_caps (sample), NULL, NULL));
  r->bytes += gst_buffer_get_size (copy);
  gst_buffer_unref (copy);
  if (!r->camera && r->frames->len > 1 && (r->frames->len >= 2 * r->wanted || r->bytes > MAX_BYTES))
    thin_out (r);
}

/* Whether no more of a video is read, although there is more. */
static gboolean
is_enough (const Recording *r)
{
  return !r->camera && (r->seen == MAX_FRAMES || g_get_monotonic_time () - r->started > MAX_TIME);
}

/* (transfer full) (nullable): as sl_decoder_client_next(), with a time limit. That function waits
 * without a limit where the input is not a file. */
static GstSample *
next_frame (const Recording *r, SlDecoderClient *source, GError **error)
{
  const gint64 deadline =
    r->camera ? g_get_monotonic_time () + MAX_SILENCE * (gint64) G_USEC_PER_SEC : G_MAXINT64;
  GstSample *sample = sl_decoder_client_until (source, deadline, error);
  if (sample == NULL && *error == NULL && !sl_interrupted () && g_get_monotonic_time () >= deadline)
    sl_fail (error, SL_ERROR_OPEN,
             "no frame came for %d s, after %u of %u; check that it is switched on, and sends",
             MAX_SILENCE, r->frames->len, r->wanted);
  return sample;
}

/* Looks at all frames of an open source, or as many as there may be. */
static void
look (Recording *r, SlDecoderClient *source, const SlInput *input, GError **error)
{
  SlProgress progress;
  GstSample *sample;
  guint64 looked_at = 0;
  sl_progress_start (&progress, input->name, "frames", 0);
  while (!(r->camera && (r->frames->len >= r->wanted || r->bytes > MAX_BYTES)) && !is_enough (r)
         && (sample = next_frame (r, source, error)) != NULL) {
    const GstClockTime at = GST_BUFFER_PTS (gst_sample_get_buffer (sample));
    if (is_due (r, sample))
      keep (r, sample);
    sl_progress_show_share (&progress, ++looked_at,
                            sl_progress_share (GST_CLOCK_TIME_IS_VALID (at) ? at : 0,
                                               sl_decoder_client_duration (source)));
    gst_sample_unref (sample);
  }
  sl_progress_hide ();
  if (is_enough (r))
    sl_complain ("quantize",
                 "%s: only its first %" G_GUINT64_FORMAT
                 " frames are looked at: it has more than %d, or takes more than an hour",
                 input->name, r->seen, MAX_FRAMES);
}

/* (transfer full): @n of @frames at most, evenly: up to twice as many are left of a video. */
static GPtrArray *
spread (const GPtrArray *frames, guint n)
{
  GPtrArray *some = g_ptr_array_new_with_free_func (sample_free);
  n = MIN (n, frames->len);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (some, gst_sample_ref (frames->pdata[(guint64) i * frames->len / n]));
  return some;
}

GPtrArray *
sl_recording_new (SlSpawner *spawner, const SlInput *input, guint n, GError **error)
{
  g_autoptr (GPtrArray) frames = g_ptr_array_new_with_free_func (sample_free);
  g_autoptr (SlDecoderClient) source = sl_decoder_client_new (spawner, TIMEOUT, "", tell_note);
  g_autoptr (GError) reason = NULL;
  Recording r = {
    .frames = frames, .wanted = n, .step = 1, .camera = input->kind != SL_INPUT_FILE
  };
  r.started = g_get_monotonic_time ();
  if (!sl_decoder_client_open (source, input, error)) {
    g_prefix_error (error, "%s: ", input->name);
    return NULL;
  }
  look (&r, source, input, &reason);
  sl_decoder_client_close (source);
  if (sl_interrupted ())
    return NULL;
  if (reason != NULL || frames->len == 0)
    return sl_fail_null (error, SL_ERROR_OPEN, "%s: %s", input->name,
                         reason != NULL ? reason->message : "has no frame in it");
  return spread (frames, n);
}
