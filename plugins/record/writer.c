/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Commands in a queue. Frames of a clip that could not be begun, or failed, are counted and thrown
 * away until the next one begins. The structure is shared with the thread and freed by the later of
 * the two.
 */
#include "plugins/record/writer.h"

#include "core/base/printable.h"

#define STOP_US (10 * G_USEC_PER_SEC)
/* How often the folder is looked at while nothing is recorded. */
#define IDLE_US (10 * 60 * G_USEC_PER_SEC)
/* Bytes of a clip between two looks at what is free. */
#define LOOK_BYTES (1 << 20)
/* Clips and events that wait for a disk at most. */
#define BEGINS_MOST 100
#define NOTES_MOST 4096
#define TOO_SLOW "the disk is too slow"

typedef enum
{
  BEGIN,
  FRAME,
  NOTE,
  TRAIL,
  END,
  REMARK
} CommandKind;

typedef struct
{
  CommandKind kind;
  SlClipStart *start;
  GstBuffer *frame;
  GstClockTime time;
  char *json; /* of a note; or the text of a remark */
  const char *cut;
  SlTrailPart *trail;
} Command;

struct _SlWriter
{
  gatomicrefcount refs;
  SlFolder folder;
  gsize queue_bytes;
  SlPictureLook look;
  SlWriterEvents events;
  gpointer data;
  GDestroyNotify destroy;
  GThread *thread;
  GMutex lock;
  GCond changed;
  /* Under the lock: */
  GQueue commands;        /* of Command * */
  gsize waiting, moments; /* bytes of encoded frames, and of those of moments */
  guint begins, notes;
  const char *lost; /* (nullable): why a clip did not begin, for the thread to tell */
  SlWriterCounts counts;
  gboolean stopping, ended;
  /* The thread's: */
  SlClip *clip;        /* (nullable) */
  SlClipStart *start;  /* (nullable): of @clip */
  guint64 looked;      /* bytes of the clip when the folder was looked at */
  gboolean troubled;   /* it was told that clips are not written */
  gboolean cut;        /* it was told that clips are cut; none was whole since */
  gboolean sacrifices; /* it was told that clips went for min-free */
};

static void
free_command (gpointer data)
{
  Command *command = data;
  g_clear_pointer (&command->start, sl_clip_start_free);
  gst_clear_buffer (&command->frame);
  g_free (command->json);
  g_clear_pointer (&command->trail, sl_trail_part_free);
  g_free (command);
}

static void
unref_writer (SlWriter *self)
{
  if (!g_atomic_ref_count_dec (&self->refs))
    return;
  g_queue_clear_full (&self->commands, free_command);
  sl_folder_close (&self->folder);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  self->destroy (self->data);
  g_free (self);
}

static void
count (SlWriter *self, guint64 *counter, guint64 n)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  *counter += n;
}

static void tell (SlWriter *self, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
tell (SlWriter *self, const char *format, ...)
{
  va_list list;
  va_start (list, format);
  g_autofree char *what = g_strdup_vprintf (format, list);
  va_end (list);
  g_autofree char *text = g_strdup_printf ("location=%s: %s", self->folder.path, what);
  self->events.warn (self->data, text);
}

/* Once, until a clip is whole again. */
static void
complain (SlWriter *self, const char *reason)
{
  if (!self->troubled) {
    g_autofree char *shown = sl_printable_message (reason);
    tell (self, "%s: clips are not recorded; tried again at each event", shown);
  }
  self->troubled = TRUE;
}

/* FALSE: there is no room. */
static gboolean
trim (SlWriter *self)
{
  guint sacrificed;
  const gboolean room = sl_folder_trim (&self->folder, g_get_real_time (), &sacrificed);
  if (sacrificed > 0 && !self->sacrifices)
    tell (
      self,
      "less than min-free (%.1f MB) was free: %u of the oldest clips were deleted, and more will "
      "be as they are in the way",
      (gdouble) self->folder.min_free / 1e6, sacrificed);
  self->sacrifices = self->sacrifices || sacrificed > 0;
  return room;
}

static void
drop_clip (SlWriter *self)
{
  g_clear_pointer (&self->clip, sl_clip_free);
  g_clear_pointer (&self->start, sl_clip_start_free);
}

static void
fail (SlWriter *self, const char *reason)
{
  drop_clip (self);
  count (self, &self->counts.failed, 1);
  complain (self, reason);
}

static void
end (SlWriter *self, const char *cut)
{
  SlClipDone done = { 0 };
  g_autoptr (GError) error = NULL;
  if (self->clip == NULL)
    return;
  if (!sl_clip_finish (self->clip, cut, &done, &error)) {
    fail (self, error->message);
    return;
  }
  drop_clip (self);
  g_mutex_lock (&self->lock);
  self->counts.clips++;
  self->counts.bytes += done.bytes;
  g_mutex_unlock (&self->lock);
  self->events.done (self->data, &done);
  if (self->troubled)
    tell (self, "clips are recorded again");
  self->troubled = FALSE;
  self->cut = self->cut && cut != NULL;
  sl_clip_done_clear (&done);
  trim (self);
}

static char *
no_room (SlWriter *self)
{
  return g_strdup_printf ("less than min-free (%.1f MB) is free",
                          (gdouble) self->folder.min_free / 1e6);
}

static void
begin (SlWriter *self, SlClipStart *start)
{
  g_autoptr (GError) error = NULL;
  drop_clip (self);
  self->start = start;
  self->looked = 0;
  if (!sl_folder_follow (&self->folder, &error)) {
    fail (self, error->message);
    return;
  }
  if (!trim (self)) {
    g_autofree char *reason = no_room (self);
    fail (self, reason);
    return;
  }
  self->clip = sl_clip_new (&self->folder, start, self->look, &error);
  if (self->clip == NULL)
    fail (self, error->message);
}

/* Old clips give way to this one, as far as there are some. */
static void
look (SlWriter *self)
{
  if (sl_clip_bytes (self->clip) < self->looked + LOOK_BYTES)
    return;
  self->looked = sl_clip_bytes (self->clip);
  if (sl_folder_has_room (&self->folder) || trim (self))
    return;
  g_autofree char *reason = no_room (self);
  end (self, "min-free");
  complain (self, reason);
}

/* @cut: (nullable): why it is before its time: told once, until a clip is not cut. */
static void
end_early (SlWriter *self, const char *cut)
{
  if (cut != NULL && self->clip != NULL && !self->cut) {
    tell (self, "%s: the clip is cut", cut);
    self->cut = TRUE;
  }
  end (self, cut);
}

/* Whether the clip alone would be more than what all of them may be. */
static gboolean
is_too_large (const SlWriter *self, GstBuffer *frame)
{
  const guint64 bytes = sl_clip_bytes (self->clip);
  return self->folder.max_bytes > 0 && bytes > 0
         && bytes + gst_buffer_get_size (frame) > self->folder.max_bytes;
}

static void
push (SlWriter *self, GstBuffer *frame)
{
  g_autoptr (GError) error = NULL;
  if (self->clip != NULL && is_too_large (self, frame))
    end_early (self, "it is as large as max-size");
  if (self->clip == NULL) {
    gst_buffer_unref (frame);
    count (self, &self->counts.dropped, 1);
    return;
  }
  if (!sl_clip_push (self->clip, frame, &error))
    fail (self, error->message);
  else
    look (self);
}

static void
obey (SlWriter *self, Command *command)
{
  switch (command->kind) {
    case BEGIN:
      begin (self, g_steal_pointer (&command->start));
      break;
    case FRAME:
      push (self, g_steal_pointer (&command->frame));
      break;
    case NOTE:
      if (self->clip != NULL)
        sl_clip_note (self->clip, command->time, command->json);
      break;
    case TRAIL:
      if (self->clip != NULL)
        sl_clip_trail (self->clip, g_steal_pointer (&command->trail));
      break;
    case END:
      end_early (self, command->cut);
      break;
    case REMARK:
      tell (self, "%s", command->json);
      break;
  }
  free_command (command);
}

static gsize
weight (const SlClipStart *start)
{
  return start->moment != NULL ? gst_buffer_get_size (gst_sample_get_buffer (start->moment)) : 0;
}

/* Under the lock: @command waits no more. */
static void
discount (SlWriter *self, const Command *command)
{
  self->waiting -= command->frame != NULL ? gst_buffer_get_size (command->frame) : 0;
  self->moments -= command->start != NULL ? weight (command->start) : 0;
  self->begins -= command->kind == BEGIN ? 1 : 0;
  self->notes -= command->kind == NOTE ? 1 : 0;
}

/* Under the lock, which it lets go meanwhile. */
static void
tell_lost (SlWriter *self)
{
  const char *reason = g_steal_pointer (&self->lost);
  g_mutex_unlock (&self->lock);
  complain (self, reason);
  g_mutex_lock (&self->lock);
}

/* (nullable): the next command, when there is one; NULL at the end. */
static Command *
next (SlWriter *self)
{
  Command *command = NULL;
  g_mutex_lock (&self->lock);
  while (self->lost != NULL
         || ((command = g_queue_pop_head (&self->commands)) == NULL && !self->stopping))
    if (self->lost != NULL)
      tell_lost (self);
    else if (!g_cond_wait_until (&self->changed, &self->lock, g_get_monotonic_time () + IDLE_US)) {
      g_mutex_unlock (&self->lock);
      trim (self);
      g_mutex_lock (&self->lock);
    }
  if (command != NULL)
    discount (self, command);
  g_mutex_unlock (&self->lock);
  return command;
}

static gpointer
write_thread (gpointer data)
{
  SlWriter *self = data;
  Command *command;
  while ((command = next (self)) != NULL)
    obey (self, command);
  drop_clip (self);
  g_mutex_lock (&self->lock);
  self->ended = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  unref_writer (self);
  return NULL;
}

SlWriter *
sl_writer_new (SlFolder *folder, gsize queue_bytes, SlPictureLook look,
               const SlWriterEvents *events, gpointer data, GDestroyNotify destroy)
{
  SlWriter *self = g_new0 (SlWriter, 1);
  self->folder = *folder;
  *folder = (SlFolder){ .fd = -1 };
  self->queue_bytes = queue_bytes;
  self->look = look;
  self->events = *events;
  self->data = data;
  self->destroy = destroy;
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  g_atomic_ref_count_init (&self->refs);
  g_atomic_ref_count_inc (&self->refs);
  sl_folder_clean (&self->folder);
  trim (self);
  self->thread = g_thread_new ("sl-record", write_thread, self);
  return self;
}

/* Under the lock. */
static void
put (SlWriter *self, Command command)
{
  Command *copy = g_new (Command, 1);
  *copy = command;
  g_queue_push_tail (&self->commands, copy);
  g_cond_broadcast (&self->changed);
}

/* Under the lock. */
static void
lose (SlWriter *self, const char *reason)
{
  self->counts.failed++;
  self->lost = reason;
  g_cond_broadcast (&self->changed);
}

void
sl_writer_lose (SlWriter *self, const char *reason)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  lose (self, reason);
}

gboolean
sl_writer_begin (SlWriter *self, SlClipStart *start)
{
  const gsize bytes = weight (start);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  /* One moment alone may be larger than the queue. */
  const gboolean full =
    self->begins >= BEGINS_MOST || (self->moments > 0 && self->moments + bytes > self->queue_bytes);
  if (full) {
    lose (self, TOO_SLOW);
    sl_clip_start_free (start);
  } else {
    self->begins++;
    self->moments += bytes;
    put (self, (Command){ .kind = BEGIN, .start = start });
  }
  return !full;
}

gboolean
sl_writer_push (SlWriter *self, GstBuffer *frame)
{
  const gsize bytes = gst_buffer_get_size (frame);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  const gboolean full = self->waiting + bytes > self->queue_bytes;
  if (full) {
    self->counts.dropped++;
    gst_buffer_unref (frame);
    put (self, (Command){ .kind = END, .cut = TOO_SLOW });
  } else {
    self->waiting += bytes;
    put (self, (Command){ .kind = FRAME, .frame = frame });
  }
  return !full;
}

void
sl_writer_note (SlWriter *self, GstClockTime time, char *json)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (self->notes < NOTES_MOST) {
    self->notes++;
    put (self, (Command){ .kind = NOTE, .time = time, .json = json });
  } else {
    g_free (json);
  }
}

void
sl_writer_trail (SlWriter *self, SlTrailPart *part)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  put (self, (Command){ .kind = TRAIL, .trail = part });
}

void
sl_writer_end (SlWriter *self, const char *cut)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  put (self, (Command){ .kind = END, .cut = cut });
}

void
sl_writer_remark (SlWriter *self, char *text)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  put (self, (Command){ .kind = REMARK, .json = text });
}

void
sl_writer_counts (SlWriter *self, SlWriterCounts *counts)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  *counts = self->counts;
}

void
sl_writer_stop (SlWriter *self, SlWriterCounts *counts)
{
  const gint64 until = g_get_monotonic_time () + STOP_US;
  g_mutex_lock (&self->lock);
  self->stopping = TRUE;
  g_cond_broadcast (&self->changed);
  while (!self->ended && g_cond_wait_until (&self->changed, &self->lock, until))
    continue;
  const gboolean ended = self->ended;
  *counts = self->counts;
  g_mutex_unlock (&self->lock);
  if (ended)
    g_thread_join (self->thread);
  else
    g_thread_unref (self->thread);
  unref_writer (self);
}
