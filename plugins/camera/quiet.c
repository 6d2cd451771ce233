/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A gate at the input of a decoder, behind the one of plugins/camera/intact.c. While it is quiet,
 * key frames are looked at, and the frames behind them are held. If something moved, what is held
 * goes in first, as nobody knows since when it moves. Otherwise it is freed. Large encoded frames
 * end a quiet time sooner. Held frames enter the decoder by its chain function, in its streaming
 * thread: they passed all probes before.
 *
 * The picture that was looked at leaves by the decoder's source pad, and its key frame is held with
 * those behind it: the decoder has it only when something moves, and what comes of it then is
 * dropped. The first key frame of a quiet time goes into the decoder, as frames before it are still
 * in there. Decoders that put frames in order give it only when some frames follow it. So frames
 * pass until it has come out. What comes out with a later key frame is dropped.
 */
#include "plugins/camera/quiet.h"

#include <gst/base/gstqueuearray.h>

#include "plugins/camera/coded.h"
#include "plugins/camera/scout.h"
#include "plugins/camera/sizes.h"

/* Decoded frames are looked at that far apart. */
#define LOOK (GST_SECOND / 5)
/* Frames that pass behind a key frame, at most, until it has come out. */
#define MOST_PASSED 16
/* How much later than usual a frame comes that waited behind others. */
#define BEHIND (100 * GST_MSECOND)
#define FEW 64

struct _SlQuiet
{
  gatomicrefcount refs;
  GstClockTime after;
  gboolean paced;
  char *ignore; /* (nullable) */
  GMutex lock;
  SlQuietFigures figures;
};

typedef enum
{
  PASS,
  HOLD,
  GIVE, /* a key frame, whose picture is there */
  LEAVE_OUT,
  BY_PICTURE,
  BY_SIZE,
  BY_LIMIT,
  UNREADABLE
} Verdict;

static const char *const reasons[] = {
  [BY_PICTURE] = "picture", [BY_SIZE] = "size", [BY_LIMIT] = "limit", [UNREADABLE] = "unreadable"
};

/* Of one decoder. */
typedef struct
{
  gatomicrefcount refs;
  SlQuiet *quiet;
  SlScout *scout;
  GstElementFactory *factory;
  /* Of the thread in front of the decoder. */
  gboolean takes; /* the stream is one that can be held */
  GstCaps *caps;  /* (nullable) */
  SlSizes sizes;
  guint group, passed; /* of the frame in hand; frames that passed behind its key frame */
  gboolean skipped;    /* frames before that key frame were not decoded */
  gboolean settled;    /* the first key frame of this quiet time went into the decoder */
  GstBuffer *picture;  /* (nullable): of the key frame in hand */
  gboolean endless;    /* too much was held in this group */
  GstQueueArray *held;
  gsize held_bytes;
  gint64 usual_lag; /* ns from a frame's time to its arrival, the least of the quiet time */
  gboolean behind;  /* frames that waited were decoded, and those behind them are late */
  /* With the lock of @quiet. */
  gboolean asleep;     /* it is quiet */
  gboolean calm, idle; /* the last frame had no motion; nor had those for long enough */
  gboolean moved;      /* something moved since the last quiet time */
  Verdict woken;       /* what ended that */
  GstClockTime busy;   /* time of the last motion */
  GstClockTime looked; /* time of the last frame that was looked at */
  guint came, from;    /* the last group that came out; those before @from are dropped */
} Gate;

SlQuiet *
sl_quiet_new (GstClockTime after, gboolean paced, const char *ignore)
{
  SlQuiet *quiet = g_new0 (SlQuiet, 1);
  g_atomic_ref_count_init (&quiet->refs);
  g_mutex_init (&quiet->lock);
  quiet->after = after;
  quiet->paced = paced;
  quiet->ignore = g_strdup (ignore);
  return quiet;
}

SlQuiet *
sl_quiet_ref (SlQuiet *quiet)
{
  g_atomic_ref_count_inc (&quiet->refs);
  return quiet;
}

void
sl_quiet_unref (gpointer data)
{
  SlQuiet *quiet = data;
  if (!g_atomic_ref_count_dec (&quiet->refs))
    return;
  g_mutex_clear (&quiet->lock);
  g_free (quiet->ignore);
  g_free (quiet);
}

void
sl_quiet_read (SlQuiet *quiet, SlQuietFigures *figures)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&quiet->lock);
  *figures = quiet->figures;
}

/* Without the key frame whose picture was given. */
static guint
count_held (Gate *gate)
{
  GstBuffer *first = gst_queue_array_peek_head (gate->held);
  return gst_queue_array_get_length (gate->held)
         - (first != NULL && sl_intact_get_mark (first)->given);
}

/* Returns how many frames were held. */
static guint
free_held (Gate *gate)
{
  const guint n = count_held (gate);
  GstBuffer *buffer;
  while ((buffer = gst_queue_array_pop_head (gate->held)) != NULL)
    gst_buffer_unref (buffer);
  gate->held_bytes = 0;
  return n;
}

static void
hold (Gate *gate, GstBuffer *buffer)
{
  gate->held_bytes += gst_buffer_get_size (buffer);
  gst_queue_array_push_tail (gate->held, buffer);
}

static void
gate_unref (gpointer data)
{
  Gate *gate = data;
  if (!g_atomic_ref_count_dec (&gate->refs))
    return;
  free_held (gate);
  gst_queue_array_free (gate->held);
  gst_clear_caps (&gate->caps);
  gst_object_unref (gate->factory);
  sl_scout_free (gate->scout);
  sl_quiet_unref (gate->quiet);
  g_free (gate);
}

/* @reason: (nullable): it is no longer quiet */
static void
tell (GstPad *pad, const char *reason, guint held)
{
  g_autoptr (GstElement) element = gst_pad_get_parent_element (pad);
  if (element != NULL)
    gst_element_post_message (
      element, gst_message_new_element (
                 GST_OBJECT (element),
                 gst_structure_new (SL_QUIET_MESSAGE, "quiet", G_TYPE_BOOLEAN, reason == NULL,
                                    "reason", G_TYPE_STRING, reason != NULL ? reason : "", "held",
                                    G_TYPE_UINT, held, NULL)));
}

/* All that is held goes into the decoder. */
static GstFlowReturn
release (Gate *gate, GstPad *pad)
{
  const GstPadChainFunction chain = GST_PAD_CHAINFUNC (pad);
  GstObject *parent = GST_OBJECT_PARENT (pad);
  GstFlowReturn flow = GST_FLOW_OK;
  GstBuffer *buffer;
  while (flow == GST_FLOW_OK && (buffer = gst_queue_array_pop_head (gate->held)) != NULL)
    flow = chain (pad, parent, buffer);
  free_held (gate);
  return flow;
}

static void
wake (Gate *gate, GstPad *pad, const GstBuffer *buffer, Verdict why)
{
  const guint held = count_held (gate);
  SlQuietFigures *figures = &gate->quiet->figures;
  g_mutex_lock (&gate->quiet->lock);
  gate->asleep = gate->idle = gate->calm = gate->moved = FALSE;
  gate->woken = why;
  gate->busy = GST_BUFFER_PTS (buffer);
  figures->quiet = FALSE;
  figures->held += held;
  figures->by_picture += why == BY_PICTURE;
  figures->by_size += why == BY_SIZE;
  figures->by_limit += why == BY_LIMIT;
  figures->unreadable |= why == UNREADABLE;
  g_mutex_unlock (&gate->quiet->lock);
  gate->takes &= why != UNREADABLE;
  gate->endless = why == BY_LIMIT;
  gate->behind = gate->quiet->paced && held > 0;
  tell (pad, reasons[why], held);
}

static void
fall_asleep (Gate *gate, GstPad *pad)
{
  SlQuietFigures *figures = &gate->quiet->figures;
  g_mutex_lock (&gate->quiet->lock);
  figures->false_alarms += gate->woken == BY_SIZE && !gate->moved;
  figures->quiet = gate->asleep = TRUE;
  gate->idle = FALSE;
  g_mutex_unlock (&gate->quiet->lock);
  gate->skipped = gate->behind = gate->settled = FALSE;
  gate->usual_lag = G_MAXINT64;
  tell (pad, NULL, 0);
}

/* Whether the frames that wait are as many as may. */
static gboolean
is_full (const Gate *gate, const GstBuffer *buffer)
{
  const GstBuffer *first = gst_queue_array_peek_head (gate->held);
  const GstClockTime from = first != NULL ? GST_BUFFER_PTS (first) : GST_CLOCK_TIME_NONE,
                     to = GST_BUFFER_PTS (buffer);
  return gate->held_bytes + gst_buffer_get_size ((GstBuffer *) buffer) > SL_QUIET_BYTES
         || (GST_CLOCK_TIME_IS_VALID (from) && GST_CLOCK_TIME_IS_VALID (to) && to > from
             && to - from > SL_QUIET_TIME);
}

/* Of the decoder with the sink pad @pad. */
static GstPad *
get_src (GstPad *pad)
{
  g_autoptr (GstElement) decoder = gst_pad_get_parent_element (pad);
  return decoder != NULL ? gst_element_get_static_pad (decoder, "src") : NULL;
}

/* Of a key frame while it is quiet. */
static Verdict
judge_key (Gate *gate, GstPad *pad, GstBuffer *buffer)
{
  const SlSight sight = sl_scout_decode (gate->scout, gate->factory, buffer, gate->caps);
  if (sight != SL_SIGHT_SAME)
    return sight == SL_SIGHT_MOTION ? BY_PICTURE : UNREADABLE;
  gate->skipped |= !gst_queue_array_is_empty (gate->held);
  const guint freed = free_held (gate);
  g_autoptr (GstPad) src = gate->settled ? get_src (pad) : NULL;
  g_autoptr (GstCaps) caps = src != NULL ? gst_pad_get_current_caps (src) : NULL;
  gate->picture = sl_scout_take (gate->scout, caps);
  gate->settled = TRUE;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&gate->quiet->lock);
  gate->from = gate->group;
  gate->quiet->figures.keys++;
  gate->quiet->figures.skipped += freed;
  return gate->picture != NULL ? GIVE : PASS;
}

/* Of a frame behind a key frame while it is quiet. @came: the key frame came out of the decoder */
static Verdict
judge_delta (Gate *gate, const GstBuffer *buffer, const SlIntactMark *mark, gboolean large,
             gboolean came)
{
  if (mark->leading && gate->skipped)
    return LEAVE_OUT;
  if (large)
    return BY_SIZE;
  if (!came && gate->passed < MOST_PASSED && gst_queue_array_is_empty (gate->held)) {
    gate->passed++;
    return PASS;
  }
  return is_full (gate, buffer) ? BY_LIMIT : HOLD;
}

/* Frames that come later than usual waited behind those that were decoded. */
static void
mark_behind (Gate *gate, const GstBuffer *buffer, SlIntactMark *mark, gboolean asleep)
{
  if (!GST_BUFFER_PTS_IS_VALID (buffer) || (!asleep && !gate->behind))
    return;
  const gint64 lag = g_get_monotonic_time () * 1000 - (gint64) GST_BUFFER_PTS (buffer);
  if (asleep)
    gate->usual_lag = MIN (gate->usual_lag, lag);
  else
    mark->held = gate->behind = lag - (gint64) BEHIND > gate->usual_lag;
}

static Verdict
judge (Gate *gate, GstPad *pad, GstBuffer *buffer, SlIntactMark *mark)
{
  const gboolean key = mark->group != gate->group;
  g_mutex_lock (&gate->quiet->lock);
  const gboolean calm = gate->calm, idle = gate->idle, came = gate->came >= mark->group;
  gboolean asleep = gate->asleep;
  gate->quiet->figures.last = g_get_monotonic_time ();
  g_mutex_unlock (&gate->quiet->lock);
  gate->group = mark->group;
  if (key) {
    sl_sizes_key (&gate->sizes);
    gate->endless = FALSE;
    gate->passed = 0;
  }
  const gboolean large =
    !key
    && sl_sizes_see (&gate->sizes, gst_buffer_get_size (buffer), mark->referred, calm || asleep);
  if (!asleep && idle && !gate->endless && !large) {
    fall_asleep (gate, pad);
    asleep = TRUE;
  }
  mark_behind (gate, buffer, mark, asleep);
  if (!asleep)
    return PASS;
  return key ? judge_key (gate, pad, buffer) : judge_delta (gate, buffer, mark, large, came);
}

/* The picture goes on, and its key frame waits. */
static GstFlowReturn
give (Gate *gate, GstPad *pad, GstBuffer *key)
{
  g_autoptr (GstPad) src = get_src (pad);
  sl_intact_get_mark (key)->given = TRUE;
  hold (gate, key);
  return gst_pad_push (src, g_steal_pointer (&gate->picture));
}

static GstPadProbeReturn
take (Gate *gate, GstPad *pad, GstPadProbeInfo *info)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  SlIntactMark *mark = sl_intact_get_mark (buffer);
  if (!gate->takes || mark == NULL || mark->group == 0)
    return GST_PAD_PROBE_OK;
  const Verdict verdict = judge (gate, pad, buffer, mark);
  if (verdict == PASS)
    return GST_PAD_PROBE_OK;
  if (verdict == LEAVE_OUT) {
    g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&gate->quiet->lock);
    gate->quiet->figures.skipped++;
    return GST_PAD_PROBE_DROP;
  }
  if (verdict == HOLD) {
    mark->held = TRUE;
    hold (gate, buffer);
    return GST_PAD_PROBE_HANDLED;
  }
  if (verdict == GIVE) {
    GST_PAD_PROBE_INFO_FLOW_RETURN (info) = give (gate, pad, buffer);
    return GST_PAD_PROBE_HANDLED;
  }
  wake (gate, pad, buffer, verdict);
  mark->held = gate->behind;
  const GstFlowReturn flow = release (gate, pad);
  if (flow == GST_FLOW_OK)
    return GST_PAD_PROBE_OK;
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = flow;
  gst_buffer_unref (buffer);
  return GST_PAD_PROBE_HANDLED;
}

/*
 * Before the decoder opens. Frames are missing in front of a key frame, and in H.265 that one may
 * refer to them, for its leading pictures. FFmpeg 7 draws such references, and avdec_h265 counts
 * their buffers as those of the key frame. With several frames in work it then loses up to a third
 * of the frames behind it (GStreamer 1.26; not 1.22). So its threads share the slices of one frame.
 */
static void
decode_one_by_one (GstPad *pad)
{
  guint major, minor, micro, nano;
  g_autoptr (GstElement) decoder = gst_pad_get_parent_element (pad);
  gst_version (&major, &minor, &micro, &nano);
  if (decoder != NULL && (major > 1 || minor >= 24)
      && g_object_class_find_property (G_OBJECT_GET_CLASS (decoder), "thread-type") != NULL)
    gst_util_set_object_arg (G_OBJECT (decoder), "thread-type", "slice");
}

/* Another stream or a part of it begins: it is not quiet, and nothing is known of it. */
static void
begin (Gate *gate)
{
  gate->sizes = (SlSizes){ 0 };
  gate->skipped = gate->endless = gate->behind = FALSE;
  sl_scout_forget (gate->scout);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&gate->quiet->lock);
  gate->asleep = gate->calm = gate->idle = gate->quiet->figures.quiet = FALSE;
  gate->woken = PASS;
  gate->busy = gate->looked = GST_CLOCK_TIME_NONE;
}

static void
take_caps (Gate *gate, GstPad *pad, GstCaps *caps)
{
  SlCodedFormat format;
  sl_coded_format_read (caps, &format);
  if (format.codec == SL_CODED_H265)
    decode_one_by_one (pad);
  gst_caps_replace (&gate->caps, caps);
  gate->takes = format.codec == SL_CODED_H264 || format.codec == SL_CODED_H265;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&gate->quiet->lock);
  gate->quiet->figures.gated |= gate->takes;
}

/* Frames that are held are of what was before the event: they are decoded, as what comes behind it
 * does not tell whether something moved. Decoders begin anew at these events. */
static GstPadProbeReturn
take_event (Gate *gate, GstPad *pad, GstEvent *event)
{
  GstCaps *caps = NULL;
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      gst_event_parse_caps (event, &caps);
      if (gate->caps != NULL && gst_caps_is_equal (caps, gate->caps))
        break;
      release (gate, pad);
      begin (gate);
      take_caps (gate, pad, caps);
      break;
    case GST_EVENT_STREAM_START:
    case GST_EVENT_SEGMENT:
    case GST_EVENT_SEGMENT_DONE:
    case GST_EVENT_EOS:
      release (gate, pad);
      begin (gate);
      break;
    case GST_EVENT_FLUSH_STOP:
      free_held (gate);
      begin (gate);
      break;
    default:
      break;
  }
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
before_decoder (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  return (info->type & GST_PAD_PROBE_TYPE_BUFFER) != 0
           ? take (data, pad, info)
           : take_event (data, pad, GST_PAD_PROBE_INFO_EVENT (info));
}

/* With the lock held. TRUE: it is the first frame that cannot be looked at. */
static gboolean
note_sight (Gate *gate, SlSight sight, GstClockTime time)
{
  const gboolean timed = GST_CLOCK_TIME_IS_VALID (gate->busy) && gate->busy <= time;
  const gboolean first = sight == SL_SIGHT_NONE && !gate->quiet->figures.unreadable;
  gate->calm = sight == SL_SIGHT_SAME;
  gate->moved |= sight == SL_SIGHT_MOTION;
  gate->quiet->figures.unreadable |= sight == SL_SIGHT_NONE;
  if (sight != SL_SIGHT_SAME || !GST_CLOCK_TIME_IS_VALID (gate->busy))
    gate->busy = time;
  gate->idle = timed && gate->calm && time - gate->busy >= gate->quiet->after;
  return first;
}

/* FALSE: the frame is dropped. */
static gboolean
arrive (Gate *gate, const SlIntactMark *mark, GstClockTime time, gboolean *look)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&gate->quiet->lock);
  gate->came = MAX (gate->came, mark->group);
  if (mark->given)
    return FALSE;
  if (mark->group < gate->from) {
    gate->quiet->figures.skipped++;
    return FALSE;
  }
  *look = !gate->asleep && GST_CLOCK_TIME_IS_VALID (time)
          && (!GST_CLOCK_TIME_IS_VALID (gate->looked) || time < gate->looked
              || time - gate->looked >= LOOK);
  if (*look)
    gate->looked = time;
  return TRUE;
}

static GstPadProbeReturn
behind_decoder (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Gate *gate = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  const SlIntactMark *mark = sl_intact_get_mark (buffer);
  gboolean look = FALSE;
  if (mark == NULL || mark->group == 0)
    return GST_PAD_PROBE_OK;
  if (!arrive (gate, mark, GST_BUFFER_PTS (buffer), &look))
    return GST_PAD_PROBE_DROP;
  g_autoptr (GstCaps) caps = look ? gst_pad_get_current_caps (pad) : NULL;
  if (caps == NULL)
    return GST_PAD_PROBE_OK;
  const SlSight sight = sl_scout_look (gate->scout, buffer, caps);
  g_mutex_lock (&gate->quiet->lock);
  const gboolean unreadable = note_sight (gate, sight, GST_BUFFER_PTS (buffer));
  g_mutex_unlock (&gate->quiet->lock);
  if (unreadable)
    tell (pad, reasons[UNREADABLE], 0);
  return GST_PAD_PROBE_OK;
}

static void
on_element_added (GstBin *bin, GstBin *sub, GstElement *element, gpointer quiet)
{
  g_autoptr (GstPad) sink = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstPad) src = gst_element_get_static_pad (element, "src");
  GstElementFactory *factory = gst_element_get_factory (element);
  if (!sl_intact_is_decoder (element) || sink == NULL || src == NULL || factory == NULL)
    return;
  Gate *gate = g_new0 (Gate, 1);
  g_atomic_ref_count_init (&gate->refs);
  g_atomic_ref_count_inc (&gate->refs);
  gate->quiet = sl_quiet_ref (quiet);
  gate->scout = sl_scout_new (gate->quiet->ignore);
  gate->factory = gst_object_ref (factory);
  gate->held = gst_queue_array_new (FEW);
  begin (gate);
  gst_pad_add_probe (sink,
                     GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM
                       | GST_PAD_PROBE_TYPE_EVENT_FLUSH,
                     before_decoder, gate, gate_unref);
  gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BUFFER, behind_decoder, gate, gate_unref);
}

static void
unref_quiet (gpointer quiet, GClosure *closure)
{
  sl_quiet_unref (quiet);
}

void
sl_quiet_watch (SlQuiet *quiet, GstBin *bin)
{
  g_signal_connect_data (bin, "deep-element-added", G_CALLBACK (on_element_added),
                         sl_quiet_ref (quiet), unref_quiet, 0);
}
