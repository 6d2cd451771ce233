/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why not leave it to depayloaders: they pass on what is left of a picture, and decoders paint the
 * rest over, and say nothing. A picture's packets are held until its last one is here, as
 * depayloaders hold them, too, so this costs no time. A gap in the numbers is seen by the
 * depayloader as well, so the next picture has the flag DISCONT. Caps wait, too: up to the first
 * key frame, which shows whether the stream has its parameter sets inside. Where it has, the
 * depayloader is not told those of the session's description, which may be another encoding's.
 */
#include "plugins/camera/whole.h"

#include <gst/video/video.h>

#include "core/base/byte_order.h"
#include "plugins/base/report.h"
#include "plugins/camera/coded.h"
#include "plugins/camera/limits.h"

#define RTP_HEADER 12
/* A packet that is held takes about that much memory beside its bytes, so none counts as less. */
#define PACKET_COST 256
/* How long the first key frame is waited for here. Then the gate at the decoder knows more of the
 * stream. */
#define KEY_PATIENCE_US (12 * G_USEC_PER_SEC)
/* What may wait for a decoder. */
#define WAITING_TIME (5 * GST_SECOND)
#define WAITING_PICTURES 2

/* How parameter sets come, which a key frame cannot do without. */
typedef enum
{
  UNKNOWN,
  APART,  /* in the session's description alone */
  INSIDE, /* in front of each key frame */
} Sets;

struct _SlCameraWhole
{
  GstElement parent;
  GstPad *src;
  SlIntact *intact;
  guint max_part_bytes;
  char *encoding;  /* (nullable): of the caps */
  gboolean passes; /* not a stream of pictures: everything goes through */
  GQueue events;   /* caps and what came behind them, as long as caps wait */
  gint64 asked;    /* for a key frame, 0 = never */
  gint64 since;    /* when caps began to wait, 0 = they do not */

  GstBufferList *held; /* (nullable): packets of the picture that is coming */
  gsize held_bytes;
  gboolean counting; /* a packet came */
  guint16 next;      /* its number and 1 */
  guint32 time;
  gboolean ended;         /* the last packet was the last of its picture */
  gboolean skipping;      /* the picture that is coming lacks packets */
  gboolean sets, key;     /* of what came since the last picture */
  gboolean picture, told; /* of the picture that is coming; it was counted */
  Sets how;
};

G_DEFINE_TYPE (SlCameraWhole, sl_camera_whole, GST_TYPE_ELEMENT)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
  "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-rtp"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
  "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-rtp"));

typedef struct
{
  guint16 number;
  guint32 time;
  gboolean last;
  const guint8 *payload;
  gsize n;
} Packet;

/* FALSE: it is no RTP packet. */
static gboolean
read_packet (const guint8 *bytes, gsize n, Packet *packet)
{
  if (n < RTP_HEADER || bytes[0] >> 6 != 2)
    return FALSE;
  gsize at = RTP_HEADER + 4 * (bytes[0] & 15u);
  if ((bytes[0] & 0x10) != 0) { /* an extension */
    if (n < at + 4)
      return FALSE;
    at += 4 + 4 * sl_be16 (bytes + at + 2);
  }
  const gsize padding = (bytes[0] & 0x20) != 0 ? bytes[n - 1] : 0;
  if (at + padding > n)
    return FALSE;
  *packet = (Packet){ .number = sl_be16 (bytes + 2),
                      .time = sl_be32 (bytes + 4),
                      .last = (bytes[1] & 0x80) != 0,
                      .payload = bytes + at,
                      .n = n - at - padding };
  return TRUE;
}

/* Cameras that take such a wish (RTCP feedback) send a key frame sooner. */
static void
ask_for_key (SlCameraWhole *self)
{
  const gint64 now = g_get_monotonic_time ();
  if (self->asked > 0 && now - self->asked < G_USEC_PER_SEC)
    return;
  g_autoptr (GstPad) sink = gst_element_get_static_pad (GST_ELEMENT (self), "sink");
  self->asked = now;
  gst_pad_push_event (sink,
                      gst_video_event_new_upstream_force_key_unit (GST_CLOCK_TIME_NONE, TRUE, 0));
}

static void
drop_held (SlCameraWhole *self)
{
  g_clear_pointer (&self->held, gst_buffer_list_unref);
  self->held_bytes = 0;
}

static void
skip (SlCameraWhole *self, SlIntactReason reason)
{
  drop_held (self);
  self->skipping = TRUE;
  if (!self->told)
    sl_intact_note (self->intact, reason);
  self->told = TRUE;
}

/* Takes @event: caps without the parameter sets of the description. */
static GstEvent *
without_sets (GstEvent *event)
{
  GstCaps *caps;
  gst_event_parse_caps (event, &caps);
  g_autoptr (GstCaps) plain = gst_caps_copy (caps);
  gst_structure_remove_fields (gst_caps_get_structure (plain, 0), "sprop-parameter-sets",
                               "sprop-vps", "sprop-sps", "sprop-pps", NULL);
  gst_event_unref (event);
  return gst_event_new_caps (plain);
}

static void
push_event (SlCameraWhole *self, GstEvent *event)
{
  gst_pad_push_event (self->src, GST_EVENT_TYPE (event) == GST_EVENT_CAPS && self->how == INSIDE
                                   ? without_sets (event)
                                   : event);
}

static void
push_events (SlCameraWhole *self)
{
  self->since = 0;
  while (!g_queue_is_empty (&self->events))
    push_event (self, g_queue_pop_head (&self->events));
}

/* Whether what is held is before anything that can be decoded. */
static gboolean
is_early (SlCameraWhole *self)
{
  if (self->since == 0)
    return FALSE;
  if (!self->sets && !self->key && g_get_monotonic_time () - self->since < KEY_PATIENCE_US)
    return TRUE;
  self->how = self->sets ? INSIDE : APART;
  push_events (self);
  return FALSE;
}

static GstFlowReturn
push_held (SlCameraWhole *self)
{
  if (self->held == NULL)
    return GST_FLOW_OK;
  if (is_early (self)) {
    drop_held (self);
    sl_intact_note (self->intact, SL_INTACT_EARLY);
    ask_for_key (self);
    self->picture = FALSE;
    return GST_FLOW_OK;
  }
  GstBufferList *held = g_steal_pointer (&self->held);
  if (self->picture && self->key)
    self->how = self->sets ? INSIDE : APART;
  if (self->picture)
    self->sets = self->key = FALSE;
  self->picture = FALSE;
  self->held_bytes = 0;
  return gst_pad_push_list (self->src, held);
}

/* Packets are missing before this one. */
static void
mind_gap (SlCameraWhole *self, const Packet *packet, const SlCodedPacket *coded, gboolean first)
{
  if (!first)
    ask_for_key (self);
  const gboolean same = !first && !self->ended && packet->time == self->time;
  if (!first && !self->ended)
    skip (self, SL_INTACT_DAMAGED); /* the end of the one before */
  self->told &= same;
  self->skipping = FALSE;
  self->sets = self->key = self->picture = FALSE;
  /* A key frame whose parameter sets may be among what is missing would be decoded with old ones.
   */
  const gboolean bare = !first && coded->key && !coded->sets && self->how != APART;
  if (same || !coded->begins || bare)
    skip (self, first ? SL_INTACT_EARLY : SL_INTACT_DAMAGED);
  else if (!first && self->ended)
    sl_intact_note (self->intact, SL_INTACT_DAMAGED); /* all of a picture is missing */
}

static GstFlowReturn
take_packet (SlCameraWhole *self, GstBuffer *buffer, const Packet *packet)
{
  GstFlowReturn flow = GST_FLOW_OK;
  SlCodedPacket coded;
  sl_coded_packet_read (self->encoding, packet->payload, packet->n, &coded);
  if (!self->counting || packet->number != self->next) {
    mind_gap (self, packet, &coded, !self->counting);
  } else if (self->ended || packet->time != self->time) {
    flow = push_held (self);
    self->skipping = self->told = FALSE;
  }
  self->counting = TRUE;
  self->next = (guint16) (packet->number + 1);
  self->time = packet->time;
  self->ended = packet->last;
  self->sets |= coded.sets;
  self->key |= coded.key;
  self->picture |= coded.picture;
  if (!self->skipping) {
    self->held = self->held != NULL ? self->held : gst_buffer_list_new ();
    gst_buffer_list_add (self->held, gst_buffer_ref (buffer));
    self->held_bytes += MAX (gst_buffer_get_size (buffer), PACKET_COST);
  }
  if (self->held_bytes > self->max_part_bytes) {
    g_autoptr (GError) error = sl_camera_part_error (self->max_part_bytes, self->held_bytes);
    sl_element_report (GST_ELEMENT (self), error);
    drop_held (self);
    self->skipping = TRUE;
  }
  return flow == GST_FLOW_OK && packet->last && !self->skipping ? push_held (self) : flow;
}

static GstFlowReturn
chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  SlCameraWhole *self = SL_CAMERA_WHOLE (parent);
  GstFlowReturn flow = GST_FLOW_OK;
  GstMapInfo map;
  Packet packet;
  if (self->passes)
    return gst_pad_push (self->src, buffer);
  if (gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    if (read_packet (map.data, map.size, &packet))
      flow = take_packet (self, buffer, &packet);
    gst_buffer_unmap (buffer, &map);
  }
  gst_buffer_unref (buffer);
  return flow;
}

static void
begin (SlCameraWhole *self)
{
  drop_held (self);
  self->counting = self->ended = self->skipping = self->told = FALSE;
  self->sets = self->key = self->picture = FALSE;
  self->how = UNKNOWN;
  self->since = 0;
  g_queue_clear_full (&self->events, (GDestroyNotify) gst_event_unref);
}

static void
take_caps (SlCameraWhole *self, GstEvent *event)
{
  GstCaps *caps;
  gst_event_parse_caps (event, &caps);
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  g_free (self->encoding);
  self->encoding = g_strdup (gst_structure_get_string (structure, "encoding-name"));
  /* In transport streams the mark says something else. */
  self->passes = g_strcmp0 (gst_structure_get_string (structure, "media"), "video") != 0
                 || self->encoding == NULL || g_ascii_strcasecmp (self->encoding, "MP2T") == 0
                 || g_ascii_strcasecmp (self->encoding, "MP2P") == 0
                 || g_ascii_strcasecmp (self->encoding, "MP1S") == 0;
  const gboolean sets = !self->passes
                        && (g_ascii_strcasecmp (self->encoding, "H264") == 0
                            || g_ascii_strcasecmp (self->encoding, "H265") == 0);
  if (sets && self->how == UNKNOWN && self->since == 0)
    self->since = g_get_monotonic_time ();
  else if (!sets)
    push_events (self);
}

/* A packet loss is forwarded at once, while buffers are held. Every other serialised event is sent
 * after the held buffers. */
static gboolean
take_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  SlCameraWhole *self = SL_CAMERA_WHOLE (parent);
  const GstEventType type = GST_EVENT_TYPE (event);
  if (type == GST_EVENT_FLUSH_STOP)
    begin (self);
  if (!GST_EVENT_IS_SERIALIZED (event) || type == GST_EVENT_FLUSH_STOP
      || type == GST_EVENT_STREAM_START)
    return gst_pad_event_default (pad, parent, event);
  if (type == GST_EVENT_CUSTOM_DOWNSTREAM || type == GST_EVENT_GAP) {
    if (self->since == 0)
      return gst_pad_event_default (pad, parent, event);
    gst_event_unref (event);
    return TRUE;
  }
  push_held (self);
  if (type == GST_EVENT_CAPS)
    take_caps (self, event);
  if (type == GST_EVENT_EOS)
    push_events (self);
  if (self->since > 0)
    g_queue_push_tail (&self->events, event);
  else
    push_event (self, event);
  return TRUE;
}

static GstStateChangeReturn
sl_camera_whole_change_state (GstElement *element, GstStateChange transition)
{
  const GstStateChangeReturn result =
    GST_ELEMENT_CLASS (sl_camera_whole_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    begin (SL_CAMERA_WHOLE (element));
  return result;
}

static void
sl_camera_whole_finalize (GObject *object)
{
  SlCameraWhole *self = SL_CAMERA_WHOLE (object);
  begin (self);
  g_free (self->encoding);
  g_clear_pointer (&self->intact, sl_intact_unref);
  G_OBJECT_CLASS (sl_camera_whole_parent_class)->finalize (object);
}

static void
sl_camera_whole_class_init (SlCameraWholeClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  G_OBJECT_CLASS (klass)->finalize = sl_camera_whole_finalize;
  element_class->change_state = sl_camera_whole_change_state;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Whole pictures", "Filter/Network/RTP",
                                         "Packets of whole pictures, inside slcamera",
                                         "The Sightline authors");
}

static void
sl_camera_whole_init (SlCameraWhole *self)
{
  GstPad *sink = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (sink, chain);
  gst_pad_set_event_function (sink, take_event);
  gst_element_add_pad (GST_ELEMENT (self), sink);
  self->src = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_use_fixed_caps (self->src);
  gst_element_add_pad (GST_ELEMENT (self), self->src);
}

GstElement *
sl_camera_whole_new (SlIntact *intact, guint max_part_bytes)
{
  SlCameraWhole *self = g_object_new (SL_TYPE_CAMERA_WHOLE, NULL);
  self->intact = sl_intact_ref (intact);
  self->max_part_bytes = max_part_bytes;
  return GST_ELEMENT (self);
}

static void
decoder_behind (GstElement *queue, gpointer intact)
{
  sl_intact_note (intact, SL_INTACT_SLOW);
}

static void
unref_intact (gpointer intact, GClosure *closure)
{
  sl_intact_unref (intact);
}

/* A queue measures from what left it last, and before that from the start of the segment, when the
 * camera was joined. The first key frame may come later than the limit, and it must not be removed
 * while decodebin looks for a decoder. So the limit begins with the first picture that leaves. */
static GstPadProbeReturn
limit_waiting (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  g_object_set (GST_PAD_PARENT (pad), "max-size-time", WAITING_TIME, NULL);
  return GST_PAD_PROBE_REMOVE;
}

GstElement *
sl_camera_whole_add (GstBin *bin, SlIntact *intact, guint max_part_bytes, GstElement *decoder)
{
  GstElement *whole = sl_camera_whole_new (intact, max_part_bytes),
             *queue = gst_element_factory_make ("queue", NULL);
  g_return_val_if_fail (queue != NULL, NULL); /* sl_camera_check() found its factory */
  g_autoptr (GstPad) src = gst_element_get_static_pad (queue, "src");
  gst_bin_add_many (bin, whole, queue, NULL);
  g_object_set (queue, "max-size-buffers", 0, "max-size-time", G_GUINT64_CONSTANT (0),
                "max-size-bytes",
                MIN (max_part_bytes, G_MAXUINT / WAITING_PICTURES) * WAITING_PICTURES, NULL);
  gst_util_set_object_arg (G_OBJECT (queue), "leaky", "downstream");
  gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, limit_waiting,
                     NULL, NULL);
  g_signal_connect_data (queue, "overrun", G_CALLBACK (decoder_behind), sl_intact_ref (intact),
                         unref_intact, 0);
  gst_element_link_many (whole, queue, decoder, NULL);
  return whole;
}
