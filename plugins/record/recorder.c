/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A clip takes frames from the ring as far as its end is known: frames beyond it wait there, in
 * case an event moves the end. It is over when both clocks have passed the end, or one of them by
 * PATIENCE.
 */
#include "plugins/record/recorder.h"

#include "plugins/record/ring.h"

/* How far one clock may be behind the other. */
#define PATIENCE (10 * GST_SECOND)
/* Steps back in time that are still the same stream. */
#define STEP_BACK GST_SECOND

#define NOTES_MOST SL_CLIP_EVENTS_MOST

/* An event of a clip that waits for its first frame. */
typedef struct
{
  GstClockTime time;
  char *json;
} Note;

struct _SlRecorder
{
  GMutex lock;
  SlClipRecorderSettings settings;
  SlWriter *writer;
  SlRing ring;
  SlTrail trail;
  GstCaps *caps;             /* (nullable) */
  GstClockTime newest, seen; /* the two clocks; NONE at first */
  gboolean frames_end, seen_end;
  GstClockTime last_key, gop; /* of the newest key frame; from the one before to it */
  guint64 gop_bytes;          /* since the newest key frame, with it */
  gboolean told_small;        /* that the ring is smaller than that */
  /* Of the clip: */
  gboolean on;
  SlClipStart *start; /* (nullable): as long as no frame was there to begin with */
  char *event;        /* its word, for the clip that follows at max-length */
  GQueue notes;       /* of Note *: while there is @start */
  guint64 written;    /* serial of the last frame that it took */
  GstClockTime begin, end, moment;
  GstClockTime counted; /* from where max-length counts: the first moment, or the beginning of a
                           clip that follows */
  gint64 moment_us;
};

SlClipRecorder *
sl_clip_recorder_new (const SlClipRecorderSettings *settings, SlWriter *writer)
{
  SlClipRecorder *self = g_new0 (SlClipRecorder, 1);
  self->settings = *settings;
  self->writer = writer;
  self->newest = self->seen = self->last_key = GST_CLOCK_TIME_NONE;
  g_mutex_init (&self->lock);
  sl_ring_init (&self->ring);
  sl_trail_init (&self->trail);
  return self;
}

static void
free_note (gpointer data)
{
  Note *note = data;
  g_free (note->json);
  g_free (note);
}

static gboolean
goes_back (GstClockTime clock, GstClockTime time)
{
  return GST_CLOCK_TIME_IS_VALID (clock) && time + STEP_BACK < clock;
}

/* The rest under the lock. */

/* No clip goes on. */
static void
forget (SlClipRecorder *self)
{
  self->on = FALSE;
  g_clear_pointer (&self->start, sl_clip_start_free);
  g_clear_pointer (&self->event, g_free);
  g_queue_clear_full (&self->notes, free_note);
}

/* The clip ends at @time: no frame behind it is in it. */
static void
end_clip (SlClipRecorder *self, GstClockTime time, const char *cut)
{
  sl_writer_trail (self->writer, sl_trail_part (&self->trail, self->begin, time));
  sl_writer_end (self->writer, cut);
}

static void
stop (SlClipRecorder *self, const char *cut)
{
  if (self->on && self->start == NULL)
    end_clip (self, self->end, cut);
  else if (self->on)
    sl_writer_lose (self->writer, "no key frame came that the clip could begin with");
  forget (self);
}

static void
reset (SlClipRecorder *self)
{
  stop (self, NULL);
  sl_ring_clear (&self->ring);
  sl_trail_forget (&self->trail);
  self->newest = self->seen = self->last_key = GST_CLOCK_TIME_NONE;
  self->gop = self->gop_bytes = 0;
  self->frames_end = self->seen_end = FALSE;
}

/* What happened while the clip waited. */
static void
give_notes (SlClipRecorder *self)
{
  Note *note;
  while ((note = g_queue_pop_head (&self->notes)) != NULL) {
    sl_writer_note (self->writer, note->time, g_steal_pointer (&note->json));
    free_note (note);
  }
}

/* The clip that waits for @first, its first frame, begins. It shows post-roll even if that frame
 * came late. */
static void
open_clip (SlClipRecorder *self, const SlRingFrame *first)
{
  SlClipStart *start = g_steal_pointer (&self->start);
  gst_caps_replace (&start->caps, self->caps);
  self->begin = first->time;
  self->counted = MAX (first->time, self->moment);
  if (first->time > self->end)
    self->end = first->time + self->settings.post_roll;
  self->written = first->serial - 1;
  if (sl_writer_begin (self->writer, start))
    give_notes (self);
  else
    forget (self);
}

/* The next clip begins with a key frame, with no moment of its own. */
static void
split (SlClipRecorder *self, const SlRingFrame *first)
{
  SlClipStart *start = g_new0 (SlClipStart, 1);
  end_clip (self, first->time, NULL);
  start->event = g_strdup (self->event);
  start->time = first->time;
  start->us = self->moment_us + GST_CLOCK_DIFF (self->moment, first->time) / GST_USECOND;
  self->start = start;
  open_clip (self, first);
}

/* The disk is too slow, or key frames too rare. */
static gboolean
give (SlClipRecorder *self, const SlRingFrame *frame)
{
  if (self->settings.max_length > 0 && frame->time > self->counted
      && frame->time - self->counted >= 2 * self->settings.max_length) {
    stop (self, "no key frame comes within max-length");
    return FALSE;
  }
  self->written = frame->serial;
  if (sl_writer_push (self->writer, gst_buffer_ref (frame->buffer)))
    return TRUE;
  forget (self);
  return FALSE;
}

static void
take_frames (SlClipRecorder *self)
{
  for (GList *link = sl_ring_after (&self->ring, self->written); link != NULL && self->on;
       link = link->next) {
    const SlRingFrame *frame = link->data;
    if (frame->time > self->end)
      return;
    /* it would be too long if it went on to the next key frame */
    if (self->settings.max_length > 0 && frame->key && frame->time > self->counted
        && frame->time - self->counted + self->gop > self->settings.max_length)
      split (self, frame);
    if (self->on && !give (self, frame))
      return;
  }
}

static gboolean
is_past (GstClockTime clock, GstClockTime time)
{
  return GST_CLOCK_TIME_IS_VALID (clock) && clock > time;
}

/* One that waits for a key frame waits as long as they usually take, also after the end of the
 * encoded frames: where frames are still looked at, those of another encoder may come. */
static gboolean
is_over (const SlClipRecorder *self)
{
  const GstClockTime late = self->end + PATIENCE + (self->start != NULL ? self->gop : 0);
  const gboolean frames = self->frames_end || is_past (self->newest, self->end);
  const gboolean seen = self->seen_end || is_past (self->seen, self->end);
  const gboolean waits = self->start != NULL && !(self->frames_end && self->seen_end);
  return (frames && seen && !waits) || is_past (self->newest, late) || is_past (self->seen, late);
}

/* What a clip may still contain stays: of the one that goes on, or of one that begins with the next
 * event. */
static void
trim_trail (SlClipRecorder *self)
{
  const GstClockTime before = self->settings.pre_roll + self->gop + PATIENCE;
  GstClockTime since = self->seen > before ? self->seen - before : 0;
  if (self->on && self->start == NULL)
    since = MIN (since, self->begin);
  sl_trail_trim (&self->trail, since);
}

static void
trim (SlClipRecorder *self)
{
  GstClockTime now = self->newest;
  if (GST_CLOCK_TIME_IS_VALID (self->seen) && self->seen < now)
    now = MAX (self->seen, now > PATIENCE ? now - PATIENCE : 0);
  sl_ring_trim (&self->ring, now > self->settings.pre_roll ? now - self->settings.pre_roll : 0,
                self->settings.ring_bytes);
}

/* At a key frame: the ring was empty before it, if what came since the last one was more than it
 * holds. */
static void
check_ring (SlClipRecorder *self)
{
  const gsize ring = self->settings.ring_bytes;
  if (self->told_small || self->gop == 0 || self->gop_bytes <= ring)
    return;
  const gdouble needed =
    (gdouble) self->gop_bytes * (1 + (gdouble) self->settings.pre_roll / (gdouble) self->gop);
  self->told_small = TRUE;
  sl_writer_remark (
    self->writer,
    g_strdup_printf (
      "ring-size (%.1f MB) is less than a key frame with all before the next one (%.1f MB): clips "
      "begin late; set ring-size=%.0f, or have the camera send key frames more often than every "
      "%.1f s",
      (gdouble) ring / 1e6, (gdouble) self->gop_bytes / 1e6, needed / 1e6 + 1,
      (gdouble) self->gop / GST_SECOND));
}

static void
advance (SlClipRecorder *self)
{
  if (self->on && self->start != NULL) {
    const GstClockTime pre = self->settings.pre_roll;
    const GList *first = sl_ring_start (&self->ring, self->moment > pre ? self->moment - pre : 0);
    if (first != NULL)
      open_clip (self, first->data);
  }
  if (self->on && self->start == NULL)
    take_frames (self);
  if (self->on && is_over (self))
    stop (self, NULL);
}

void
sl_clip_recorder_free (SlClipRecorder *self)
{
  reset (self);
  sl_trail_clear (&self->trail);
  gst_clear_caps (&self->caps);
  g_mutex_clear (&self->lock);
  g_free (self);
}

void
sl_clip_recorder_set_caps (SlClipRecorder *self, GstCaps *caps)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (self->caps == NULL || !gst_caps_is_equal (self->caps, caps)) {
    if (self->start == NULL) /* a clip that waits for its first frame waits on */
      stop (self, NULL);
    sl_ring_clear (&self->ring);
    gst_caps_replace (&self->caps, caps);
  }
}

void
sl_clip_recorder_frame (SlClipRecorder *self, GstBuffer *frame)
{
  const gboolean key = !GST_BUFFER_FLAG_IS_SET (frame, GST_BUFFER_FLAG_DELTA_UNIT);
  const GstClockTime time = GST_BUFFER_DTS_OR_PTS (frame);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (goes_back (self->newest, time))
    reset (self);
  if (key && GST_CLOCK_TIME_IS_VALID (self->last_key) && time > self->last_key)
    self->gop = time - self->last_key;
  if (key) {
    check_ring (self);
    self->last_key = time;
    self->gop_bytes = 0;
  }
  self->gop_bytes += gst_buffer_get_size (frame);
  self->newest = time;
  self->frames_end = FALSE;
  sl_ring_put (&self->ring, frame, time, key);
  advance (self);
  trim (self);
}

gboolean
sl_clip_recorder_look (SlClipRecorder *self, GstClockTime time)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  const gboolean back = goes_back (self->seen, time);
  if (back)
    reset (self);
  return back;
}

void
sl_clip_recorder_seen (SlClipRecorder *self, GstClockTime time)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (goes_back (self->seen, time))
    reset (self);
  self->seen = time;
  self->seen_end = FALSE;
  advance (self);
}

void
sl_clip_recorder_trail (SlClipRecorder *self, GstClockTime time, const SlPredictionView *prediction)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (GST_CLOCK_TIME_IS_VALID (self->seen))
    trim_trail (self);
  sl_trail_put (&self->trail, time, prediction);
}

gboolean
sl_clip_recorder_wants_start (SlClipRecorder *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  return !self->on;
}

/* Takes @json. */
static void
note (SlClipRecorder *self, GstClockTime time, char *json)
{
  if (self->start == NULL) {
    sl_writer_note (self->writer, time, json);
  } else if (self->notes.length < NOTES_MOST) {
    Note *kept = g_new (Note, 1);
    *kept = (Note){ time, json };
    g_queue_push_tail (&self->notes, kept);
  } else {
    g_free (json);
  }
}

void
sl_clip_recorder_event (SlClipRecorder *self, GstClockTime time, char *json, SlClipStart *start)
{
  g_mutex_lock (&self->lock);
  if (!self->on && start != NULL) {
    self->on = TRUE;
    self->event = g_strdup (start->event);
    self->start = g_steal_pointer (&start);
    self->start->time = self->moment = self->end = time;
    self->moment_us = self->start->us;
    self->start->note = g_steal_pointer (&json);
  }
  if (self->on) {
    self->end = MAX (self->end, time + self->settings.post_roll);
    advance (self);
  }
  if (self->on && json != NULL)
    note (self, time, g_steal_pointer (&json));
  g_mutex_unlock (&self->lock);
  g_clear_pointer (&start, sl_clip_start_free);
  g_free (json);
}

void
sl_clip_recorder_reset (SlClipRecorder *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  reset (self);
}

void
sl_clip_recorder_end (SlClipRecorder *self, gboolean encoded)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (encoded)
    self->frames_end = TRUE;
  else
    self->seen_end = TRUE;
  advance (self);
}
