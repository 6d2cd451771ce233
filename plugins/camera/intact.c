/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * There is a gate at the input and one at the output of a decoder. The input gate numbers groups of
 * pictures. A key frame begins a group, and a gap in the data ends it. After a gap the gate drops
 * everything up to the next key frame. Each buffer carries the number in a meta, which decoders
 * copy to the decoded frame. So the output gate knows the group of a frame that the decoder marks
 * as corrupted, and drops the rest of that group. A gap is a discontinuity or, in H.264, a missing
 * frame number. The decoder's marks are not enough: avdec_h264 marks frames before the first key
 * frame as corrupted, but not frames after a later loss.
 */
#include "plugins/camera/intact.h"

#include <gst/video/video.h>

#include "plugins/base/report.h"
#include "plugins/camera/coded.h"

/* Frames without any key frame after which GStreamer's flags of a stream count as wrong. */
#define FLAGGED_WRONG 300
/* How long a key frame is waited for where it is not known whether there was one. */
#define DOUBT_US (30 * G_USEC_PER_SEC)
/* Pictures at the recovery point are nearly whole alone, since blocks refer beyond what is
 * refreshed: the next ones are better. */
#define LATE_BY 2
/* In place of a group: all frames that have no mark yet. */
#define DOUBTED G_MAXUINT
/* The most elements between a decoder and the pad that takes its frames. */
#define MAX_STEPS 32

struct _SlIntact
{
  gatomicrefcount refs;
  GMutex lock;
  SlIntactCounts counts;
};

/* Of one decoder. What has no comment is its streaming thread's. */
typedef struct
{
  gatomicrefcount refs;
  SlIntact *intact; /* (nullable): frames are marked, and none is left out */
  SlCodedFormat format;
  gboolean fresh;   /* a stream or a part of it begins */
  gboolean begun;   /* a key frame came */
  gboolean open;    /* pictures go in, and are whole */
  gboolean leads;   /* pictures that need those before the key frame that opened may still come */
  guint recovering; /* pictures that go in and are not whole yet */
  guint intras;     /* intra pictures that came without a key frame ever */
  gint64 until;     /* when it opens without a key frame, monotonic us; 0 = never */
  gint number;      /* of the last picture that others refer to, -1 = not known */
  gint half;        /* of the key frame that was the picture before this one, -1 = none */
  gint untold;      /* atomic: the stream has no key frames, so that the decoder calls all frames
                       corrupted */
  guint group;      /* number of the group; 0 = none */
  guint spoiled;    /* the group that a corrupted frame was of; the thread behind the decoder */
} Gate;

/* On a buffer that goes into a decoder, and on what comes out. */
typedef struct
{
  GstMeta meta;
  SlIntactMark mark;
} GroupMeta;

static GType
group_meta_api (void)
{
  static GType type = 0;
  static const gchar *tags[] = { NULL };
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_meta_api_type_register ("SlIntactGroupAPI", tags));
  return type;
}

static const GstMetaInfo *group_meta_info (void);

static gboolean
group_meta_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  ((GroupMeta *) meta)->mark = (SlIntactMark){ 0 };
  return TRUE;
}

static gboolean
group_meta_transform (GstBuffer *to, GstMeta *meta, GstBuffer *buffer, GQuark type, gpointer data)
{
  GroupMeta *copy = (GroupMeta *) gst_buffer_get_meta (to, group_meta_api ());
  if (copy == NULL)
    copy = (GroupMeta *) gst_buffer_add_meta (to, group_meta_info (), NULL);
  copy->mark = ((GroupMeta *) meta)->mark;
  return TRUE;
}

static const GstMetaInfo *
group_meta_info (void)
{
  static const GstMetaInfo *info = NULL;
  if (g_once_init_enter (&info))
    g_once_init_leave (&info,
                       gst_meta_register (group_meta_api (), "SlIntactGroup", sizeof (GroupMeta),
                                          group_meta_init, NULL, group_meta_transform));
  return info;
}

SlIntact *
sl_intact_new (void)
{
  SlIntact *intact = g_new0 (SlIntact, 1);
  g_atomic_ref_count_init (&intact->refs);
  g_mutex_init (&intact->lock);
  return intact;
}

SlIntact *
sl_intact_ref (SlIntact *intact)
{
  g_atomic_ref_count_inc (&intact->refs);
  return intact;
}

void
sl_intact_unref (gpointer data)
{
  SlIntact *intact = data;
  if (!g_atomic_ref_count_dec (&intact->refs))
    return;
  g_mutex_clear (&intact->lock);
  g_free (intact);
}

void
sl_intact_read (SlIntact *intact, SlIntactCounts *counts)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&intact->lock);
  *counts = intact->counts;
}

void
sl_intact_note (SlIntact *intact, SlIntactReason reason)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&intact->lock);
  intact->counts.early += reason == SL_INTACT_EARLY;
  intact->counts.damaged += reason == SL_INTACT_DAMAGED;
  intact->counts.slow += reason == SL_INTACT_SLOW;
  intact->counts.last = g_get_monotonic_time ();
}

static void
gate_unref (gpointer data)
{
  Gate *gate = data;
  if (!g_atomic_ref_count_dec (&gate->refs))
    return;
  g_clear_pointer (&gate->intact, sl_intact_unref);
  g_free (gate);
}

static void
close_gate (Gate *gate)
{
  gate->open = FALSE;
  gate->recovering = 0;
}

static void
open_gate (Gate *gate, const SlCodedPicture *picture)
{
  gate->leads = !gate->open && picture->open;
  gate->half = picture->number;
  gate->open = gate->begun = TRUE;
  gate->recovering = 0;
  gate->until = 0;
  gate->group++;
}

/* The second field of a key frame whose fields come one by one: it refers to the first one. */
static gboolean
is_second_field (Gate *gate, const SlCodedPicture *picture)
{
  const gint half = gate->half;
  gate->half = -1;
  return half >= 0 && picture->number == half && picture->referred && !picture->reordered;
}

/* It needs pictures before the key frame that opened the gate, which did not go in. The type of
 * H.265 says so; elsewhere these are the B pictures between that key frame and the next picture of
 * another type. Time stamps cannot tell: those of RTP waver by more than the time between two
 * pictures. */
static gboolean
is_leading (Gate *gate, const SlCodedPicture *picture)
{
  if (gate->format.codec == SL_CODED_H265)
    return gate->leads && picture->kind == SL_CODED_LEADING;
  if (is_second_field (gate, picture))
    return FALSE;
  gate->leads &= picture->reordered;
  return gate->leads;
}

/* Streams that refresh themselves piece by piece have no key frames, but say how many pictures that
 * takes. */
static void
recover (Gate *gate, const SlCodedPicture *picture)
{
  if (picture->recovery > 0 && gate->recovering == 0)
    gate->recovering = picture->recovery + 1 + LATE_BY;
  if (gate->recovering > 0 && picture->referred && --gate->recovering == 0) {
    gate->open = gate->begun = TRUE;
    gate->leads = FALSE;
    gate->group++;
  }
}

/* Whether a picture that others refer to is missing before this one. Encoders may begin to count
 * anew within a group. */
static gboolean
has_gap (Gate *gate, const SlCodedPicture *picture)
{
  const gint before = gate->number, now = picture->number;
  if (picture->kind == SL_CODED_KEY || picture->referred)
    gate->number = now;
  return picture->kind != SL_CODED_KEY && before >= 0 && now > 1 && now != before
         && now != (before + 1) % (gint) picture->modulus;
}

/* The number of the group that @buffer is of, 0 = of one that is not whole yet, -1 = it must not go
 * in. */
static gint
admit (Gate *gate, const SlCodedPicture *picture, const GstBuffer *buffer)
{
  const gboolean key = picture->kind == SL_CODED_KEY;
  const gboolean gap = GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT),
                 fresh = gate->fresh;
  if (gap)
    close_gate (gate);
  if (picture->kind == SL_CODED_NONE)
    return (gint) gate->group;
  gate->fresh = FALSE;
  if (has_gap (gate, picture))
    close_gate (gate);
  /* Of whole pictures alone that is known to be whole. */
  if (key && gap && !fresh && gate->intact == NULL && gate->format.codec != SL_CODED_OTHER)
    return -1;
  /* The second intra picture without any key frame: this encoder makes none, and such pictures
   * begin its groups. */
  const gboolean intra = !gate->begun
                         && (picture->kind == SL_CODED_INTRA ? gate->intras++ > 0
                                                             : gate->format.codec == SL_CODED_OTHER
                                                                 && gate->intras++ > FLAGGED_WRONG);
  if (key || intra || (picture->kind == SL_CODED_INTRA && g_atomic_int_get (&gate->untold))) {
    g_atomic_int_set (&gate->untold, !key);
    open_gate (gate, picture);
    return (gint) gate->group;
  }
  recover (gate, picture);
  if (gate->until > 0 && g_get_monotonic_time () > gate->until)
    open_gate (gate, picture);
  if (gate->open)
    return is_leading (gate, picture) ? -1 : (gint) gate->group;
  return gate->recovering > 0 ? 0 : -1;
}

static GstPadProbeReturn
take_coded (Gate *gate, GstPadProbeInfo *info)
{
  SlCodedPicture picture;
  GstMapInfo map;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  if (gate->format.codec == SL_CODED_OTHER) {
    picture = (SlCodedPicture){ .number = -1,
                                .kind = GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DELTA_UNIT)
                                          ? SL_CODED_DELTA
                                          : SL_CODED_KEY };
  } else if (gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    sl_coded_picture_read (&gate->format, map.data, map.size, &picture);
    gst_buffer_unmap (buffer, &map);
  } else {
    return GST_PAD_PROBE_DROP;
  }
  const gint group = admit (gate, &picture, buffer);
  if (group < 0 && gate->intact != NULL) {
    sl_intact_note (gate->intact, gate->begun ? SL_INTACT_DAMAGED : SL_INTACT_EARLY);
    return GST_PAD_PROBE_DROP;
  }
  buffer = gst_buffer_make_writable (buffer);
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  ((GroupMeta *) gst_buffer_add_meta (buffer, group_meta_info (), NULL))->mark =
    (SlIntactMark){ .group = (guint) MAX (group, 0),
                    .leading = picture.kind == SL_CODED_LEADING,
                    .referred = picture.referred };
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
before_decoder (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Gate *gate = data;
  GstCaps *caps;
  if ((info->type & GST_PAD_PROBE_TYPE_BUFFER) != 0)
    return take_coded (gate, info);
  switch (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info))) {
    case GST_EVENT_CAPS:
      gst_event_parse_caps (GST_PAD_PROBE_INFO_EVENT (info), &caps);
      sl_coded_format_read (caps, &gate->format);
      break;
    case GST_EVENT_STREAM_START:
    case GST_EVENT_SEGMENT:
      gate->fresh = TRUE;
      break;
    case GST_EVENT_FLUSH_STOP:
      gate->fresh = TRUE;
      close_gate (gate);
      break;
    default:
      break;
  }
  return GST_PAD_PROBE_OK;
}

/* Frames without a number are of decoders that copy no metas: each counts alone. */
static GstPadProbeReturn
behind_decoder (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Gate *gate = data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  const GroupMeta *meta = (const GroupMeta *) gst_buffer_get_meta (buffer, group_meta_api ());
  const gboolean corrupted = GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_CORRUPTED);
  if (corrupted && g_atomic_int_get (&gate->untold)) {
    GST_PAD_PROBE_INFO_DATA (info) = buffer = gst_buffer_make_writable (buffer);
    GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_CORRUPTED);
    return GST_PAD_PROBE_OK;
  }
  if (sl_intact_is_whole (buffer, &gate->spoiled))
    return GST_PAD_PROBE_OK;
  sl_intact_note (gate->intact, meta != NULL && meta->mark.group == 0 && !gate->begun
                                  ? SL_INTACT_EARLY
                                  : SL_INTACT_DAMAGED);
  return GST_PAD_PROBE_DROP;
}

gboolean
sl_intact_is_decoder (GstElement *element)
{
  return sl_element_has_class (element, "Decoder") && !sl_element_has_class (element, "Audio")
         && !GST_IS_BIN (element);
}

/* @intact: (nullable): see Gate */
static Gate *
watch_sink (GstPad *sink, SlIntact *intact)
{
  Gate *gate = g_new0 (Gate, 1);
  g_atomic_ref_count_init (&gate->refs);
  gate->intact = intact != NULL ? sl_intact_ref (intact) : NULL;
  gate->number = -1;
  gst_pad_add_probe (sink,
                     GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM
                       | GST_PAD_PROBE_TYPE_EVENT_FLUSH,
                     before_decoder, gate, gate_unref);
  return gate;
}

static void
on_element_added (GstBin *bin, GstBin *sub, GstElement *element, gpointer intact)
{
  g_autoptr (GstPad) sink = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstPad) src = gst_element_get_static_pad (element, "src");
  if (!sl_intact_is_decoder (element) || sink == NULL || src == NULL)
    return;
  Gate *gate = watch_sink (sink, intact);
  g_atomic_ref_count_inc (&gate->refs);
  gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BUFFER, behind_decoder, gate, gate_unref);
}

static void
unref_intact (gpointer intact, GClosure *closure)
{
  sl_intact_unref (intact);
}

void
sl_intact_watch (SlIntact *intact, GstBin *bin)
{
  g_signal_connect_data (bin, "deep-element-added", G_CALLBACK (on_element_added),
                         sl_intact_ref (intact), unref_intact, 0);
}

static gboolean
is_marked (GstPad *sink)
{
  static const char key[] = "sl-intact-marked";
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (sink));
  const gboolean marked = g_object_get_data (G_OBJECT (sink), key) != NULL;
  g_object_set_data (G_OBJECT (sink), key, GINT_TO_POINTER (TRUE));
  return marked;
}

static gboolean
is_live (GstPad *sink)
{
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  gboolean live = FALSE;
  if (gst_pad_peer_query (sink, query))
    gst_query_parse_latency (query, &live, NULL, NULL);
  return live;
}

/* One that has begun: files begin with a key frame. A live stream may not, which decoders of H.264
 * tell by their flag, and those of H.265 do not: it is asked for a key frame, and is in doubt up to
 * that. */
static void
mark_decoder (GstPad *sink, guint *spoiled)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (sink);
  if (is_marked (sink))
    return;
  Gate *gate = watch_sink (sink, NULL);
  if (caps == NULL)
    return;
  sl_coded_format_read (caps, &gate->format);
  gate->open = gate->format.codec != SL_CODED_H265 || !GST_IS_VIDEO_DECODER (GST_PAD_PARENT (sink))
               || !is_live (sink);
  gate->begun = TRUE;
  gate->group = 1;
  if (gate->open)
    return;
  *spoiled = DOUBTED;
  gate->until = g_get_monotonic_time () + DOUBT_US;
  gst_pad_push_event (sink,
                      gst_video_event_new_upstream_force_key_unit (GST_CLOCK_TIME_NONE, TRUE, 0));
}

void
sl_intact_mark (GstPad *pad, guint *spoiled)
{
  g_autoptr (GstPad) sink = gst_object_ref (pad);
  for (guint step = 0; step < MAX_STEPS && sink != NULL; step++) {
    g_autoptr (GstPad) source = sl_pad_get_source (sink);
    g_autoptr (GstElement) element = source != NULL ? gst_pad_get_parent_element (source) : NULL;
    gst_clear_object (&sink);
    if (element == NULL)
      return;
    sink = sl_element_get_only_sink (element);
    if (sink != NULL && sl_intact_is_decoder (element)) {
      mark_decoder (sink, spoiled);
      return;
    }
  }
}

gboolean
sl_intact_is_whole (const GstBuffer *frame, guint *spoiled)
{
  const GroupMeta *meta =
    (const GroupMeta *) gst_buffer_get_meta ((GstBuffer *) frame, group_meta_api ());
  const gboolean corrupted = GST_BUFFER_FLAG_IS_SET (frame, GST_BUFFER_FLAG_CORRUPTED);
  if (meta == NULL)
    return !corrupted && *spoiled != DOUBTED;
  if (*spoiled == DOUBTED)
    *spoiled = 0;
  if (corrupted)
    *spoiled = meta->mark.group;
  return meta->mark.group > 0 && meta->mark.group != *spoiled;
}

SlIntactMark *
sl_intact_get_mark (GstBuffer *buffer)
{
  GroupMeta *meta = (GroupMeta *) gst_buffer_get_meta (buffer, group_meta_api ());
  return meta != NULL ? &meta->mark : NULL;
}
