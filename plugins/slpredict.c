/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slpredict: one element from frames to predictions. It is a bin of slnormalize ! queue ! slinfer !
 * slpostprocess with the most important properties of these elements. slread follows them where
 * codes are read.
 *
 * Threads: the upstream thread, which captures or decodes, makes the tensor while the frame is in
 * its cache, and puts it into the queue. The queue's thread does the rest; the model may use more
 * threads. The queue holds one frame: its tensor, or the list of tensors of its objects. On live
 * input a newer frame replaces it, so the model's input is at most one frame old, however slow the
 * model is. On other input upstream blocks, and every frame comes out, in order. A dropped frame
 * costs the making of its tensor, a small part of the cost of capturing. In return the model's
 * thread never waits for a tensor. Invariant: serials count the frames that came in. A gap in the
 * serials downstream of the queue is the number of dropped frames.
 */
#include "plugins/elements.h"

#include <string.h>

#include "core/base/fail.h"
#include "models/default.h"
#include "plugins/camera/intact.h"
#include "plugins/base/describe.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/meta/prediction_signal.h"
#include "plugins/base/properties.h"
#include "plugins/base/report.h"
#include "plugins/base/settings.h"
#include "plugins/tensor/turn.h"
#include "plugins/video/part.h"

GST_DEBUG_CATEGORY_STATIC (sl_predict_debug);
#define GST_CAT_DEFAULT sl_predict_debug

typedef enum
{
  DROP_AUTO,
  DROP_ALWAYS,
  DROP_NEVER
} Drop;

/* Values of the queue's property "leaky". */
#define LEAKY_NO 0
#define LEAKY_DOWNSTREAM 2

typedef enum
{
  NORMALIZE,
  INFER,
  POSTPROCESS,
  N_CHILDREN
} Child;

typedef struct
{
  GstBin parent;
  GstPad *sinkpad; /* (nullable) when GStreamer has no queue */
  GstPad *srcpad;
  GstElement *queue;  /* (nullable) */
  GstElement *reader; /* (nullable): where codes are read */
  GstElement *children[N_CHILDREN];
  char *region;        /* object lock */
  gboolean by_reading; /* what reads counts from another threshold than what does not */
  gint drop;           /* object lock */
  gboolean read;       /* object lock */
  gboolean live_known; /* object lock: upstream has said whether it is live */
  guint64 taken;       /* object lock: serial of the last frame that came in */
  guint64 passed; /* object lock: serial of the last frame that left the queue; 0 = none since the
                     start or a flush */
  guint64 processed; /* object lock */
  guint64 dropped;   /* object lock */
  guint spoiled;     /* of sl_intact_is_whole(); streaming thread */
  guint held;        /* object lock: how often notifications of slinfer are held back */
} SlPredict;

typedef GstBinClass SlPredictClass;

G_DEFINE_TYPE (SlPredict, sl_predict, GST_TYPE_BIN)

enum
{
  PROP_REGION = 1,
  PROP_DROP,
  PROP_READ,
  PROP_DROPPED,
  PROP_DAMAGED,
  PROP_BUDGET,
  PROP_FORWARDED /* the first of @forwarded */
};

typedef struct
{
  Child child;
  const char *name;
} Forwarded;

/* Properties of the elements inside that are slpredict's too. Those of slinfer are added: all but
 * these names, and one that is about its pads. */
static const Forwarded named[] = {
  { POSTPROCESS, "threshold" },        { POSTPROCESS, "iou-threshold" },
  { POSTPROCESS, "max-results" },      { POSTPROCESS, "top-k" },
  { POSTPROCESS, "classes" },          { POSTPROCESS, "track" },
  { POSTPROCESS, "source" },           { POSTPROCESS, "post-messages" },
  { NORMALIZE, "inference-interval" }, { NORMALIZE, "object-class" },
  { NORMALIZE, "object-alignment" },   { NORMALIZE, "follow-landmarks" },
  { NORMALIZE, "max-objects" },        { NORMALIZE, "tiles" },
  { NORMALIZE, "full-interval" },      { NORMALIZE, "filter" },
  { NORMALIZE, "video-direction" },    { NORMALIZE, "pad-value" },
  { NORMALIZE, "corrupted" },
};
#define OF_PADS "input-wait"
#define FIGURES "budget"

static GArray *forwarded; /* of Forwarded; made with the class */

static const Forwarded *
forwarded_of (guint id)
{
  return id >= PROP_FORWARDED ? &g_array_index (forwarded, Forwarded, id - PROP_FORWARDED) : NULL;
}

static gboolean
is_named (const char *name)
{
  gboolean found = strcmp (name, OF_PADS) == 0 || strcmp (name, FIGURES) == 0;
  for (guint i = 0; i < G_N_ELEMENTS (named) && !found; i++)
    found = strcmp (name, named[i].name) == 0;
  return found;
}

static void
list_forwarded (GObjectClass *infer)
{
  guint n;
  g_autofree GParamSpec **specs = g_object_class_list_properties (infer, &n);
  forwarded = g_array_new (FALSE, FALSE, sizeof (Forwarded));
  for (guint i = 0; i < n; i++)
    if (specs[i]->owner_type == G_OBJECT_CLASS_TYPE (infer) && !is_named (specs[i]->name))
      g_array_append_vals (forwarded, &(Forwarded){ INFER, specs[i]->name }, 1);
  g_array_append_vals (forwarded, named, G_N_ELEMENTS (named));
}

static GType drop_get_type (void);
G_DEFINE_ENUM_TYPE (SlPredictDrop, drop,
                    { DROP_AUTO, "On live sources (cameras, network streams), not on files",
                      "auto" },
                    { DROP_ALWAYS, "Always: the newest frame counts", "always" },
                    { DROP_NEVER, "Never: every frame is looked at, a camera has to wait",
                      "never" })

/* Which part of a frame slnormalize is to look at. @objects: (out): at the objects in it */
static gboolean
read_region (SlPredict *self, SlRect *part, gboolean *objects, GError **error)
{
  g_autofree char *classes = NULL, *alignment = NULL;
  GST_OBJECT_LOCK (self);
  g_autofree char *text = g_strdup (self->region);
  GST_OBJECT_UNLOCK (self);
  g_object_get (self->children[NORMALIZE], "object-class", &classes, "object-alignment", &alignment,
                NULL);
  const gboolean by_class = classes != NULL && *classes != '\0',
                 aligned = alignment != NULL && *alignment != '\0';
  if (!sl_video_part_parse_region (text, part, objects, error))
    return FALSE;
  if ((by_class || aligned) && part->width > 0)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "inference-region=%s and %s=%s: expected one of them, a rectangle or objects: remove the "
      "other",
      text, by_class ? "object-class" : "object-alignment", by_class ? classes : alignment);
  *objects |= by_class || aligned;
  return TRUE;
}

static gboolean
apply_region (SlPredict *self, GError **error)
{
  SlRect part;
  gboolean objects;
  if (!read_region (self, &part, &objects, error))
    return FALSE;
  g_object_set (self->children[NORMALIZE], "objects", objects, NULL);
  sl_video_part_set (self->children[NORMALIZE], &part);
  return TRUE;
}

/* slpredict sets objects of slnormalize at its start. The check sets it, too, and restores it. */
static gboolean
check_settings (GstElement *element, GError **error)
{
  SlPredict *self = (SlPredict *) element;
  GstElement *normalize = self->children[NORMALIZE];
  SlRect part;
  gboolean objects, before;
  if (!read_region (self, &part, &objects, error))
    return FALSE;
  g_object_get (normalize, "objects", &before, NULL);
  g_object_set (normalize, "objects", objects, NULL);
  const gboolean good = sl_element_check_settings (normalize, error);
  g_object_set (normalize, "objects", before, NULL);
  return good;
}

/* Whether upstream is live, when it says. */
static gboolean
query_live (SlPredict *self, gboolean *live)
{
  GstQuery *query = gst_query_new_latency ();
  const gboolean known = gst_pad_peer_query (self->sinkpad, query);
  if (known)
    gst_query_parse_latency (query, live, NULL, NULL);
  gst_query_unref (query);
  return known;
}

static void
choose_queueing (SlPredict *self)
{
  gboolean live = FALSE;
  const gboolean known = query_live (self, &live);
  GST_OBJECT_LOCK (self);
  const gint drop = self->drop;
  self->live_known = known || drop != DROP_AUTO;
  GST_OBJECT_UNLOCK (self);
  const gboolean leaky = drop == DROP_ALWAYS || (drop == DROP_AUTO && live);
  g_object_set (self->queue, "leaky", leaky ? LEAKY_DOWNSTREAM : LEAKY_NO, NULL);
}

/* Notes when the frame came, and the how-manieth it is. Metas of a frame that others hold, too, are
 * written to a copy of its buffer, which shares the pixels. */
static GstBuffer *
stamp (SlPredict *self, GstBuffer *frame)
{
  frame = gst_buffer_make_writable (frame);
  SlFrameMeta *meta = sl_buffer_ensure_frame_meta (frame, NULL);
  if (meta->captured == 0)
    meta->captured = g_get_monotonic_time ();
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  meta->serial = ++self->taken;
  return frame;
}

/* Whether slnormalize leaves @frame out, which then has no number. */
static gboolean
is_left_out (SlPredict *self, const GstBuffer *frame)
{
  gint corrupted;
  if (sl_intact_is_whole (frame, &self->spoiled))
    return FALSE;
  g_object_get (self->children[NORMALIZE], "corrupted", &corrupted, NULL);
  return corrupted == 0;
}

static GstPadProbeReturn
frame_in (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  SlPredict *self = data;
  if ((info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) != 0) {
    if (GST_EVENT_TYPE (info->data) == GST_EVENT_SEGMENT)
      choose_queueing (self);
    return GST_PAD_PROBE_OK;
  }
  if (is_left_out (self, info->data))
    return GST_PAD_PROBE_OK;
  GST_OBJECT_LOCK (self);
  const gboolean known = self->live_known;
  GST_OBJECT_UNLOCK (self);
  if (!known)
    choose_queueing (self);
  info->data = stamp (self, info->data);
  return GST_PAD_PROBE_OK;
}

/* @frame is the first behind dropped ones. */
static void
post_qos (SlPredict *self, GstPad *pad, GstBuffer *frame, guint64 processed, guint64 dropped)
{
  GstClockTime running = GST_CLOCK_TIME_NONE, stream = GST_CLOCK_TIME_NONE;
  GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  if (event != NULL) {
    const GstSegment *segment;
    gst_event_parse_segment (event, &segment);
    running = gst_segment_to_running_time (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (frame));
    stream = gst_segment_to_stream_time (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (frame));
    gst_event_unref (event);
  }
  GstMessage *message = gst_message_new_qos (GST_OBJECT (self), TRUE, running, stream,
                                             GST_BUFFER_PTS (frame), GST_BUFFER_DURATION (frame));
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, processed, dropped);
  gst_element_post_message (GST_ELEMENT (self), message);
}

static GstPadProbeReturn
frame_out (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  SlPredict *self = data;
  if ((info->type & GST_PAD_PROBE_TYPE_EVENT_FLUSH) != 0) {
    GST_OBJECT_LOCK (self);
    self->passed = self->taken;
    GST_OBJECT_UNLOCK (self);
    return GST_PAD_PROBE_OK;
  }
  const gboolean list = (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) != 0;
  GstBuffer *buffer = list ? gst_buffer_list_get (info->data, 0) : info->data;
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  if (meta == NULL)
    return GST_PAD_PROBE_OK;
  GST_OBJECT_LOCK (self);
  const guint64 missing = meta->serial > self->passed ? meta->serial - self->passed - 1 : 0;
  self->passed = meta->serial;
  self->dropped += missing;
  const guint64 processed = ++self->processed, dropped = self->dropped;
  GST_OBJECT_UNLOCK (self);
  if (missing > 0)
    post_qos (self, pad, buffer, processed, dropped);
  return GST_PAD_PROBE_OK;
}

/* The time between two frames, 0 when caps do not say. */
static GstClockTime
frame_interval (SlPredict *self)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (self->sinkpad);
  gint n, d;
  if (caps == NULL
      || !gst_structure_get_fraction (gst_caps_get_structure (caps, 0), "framerate", &n, &d)
      || n <= 0)
    return 0;
  return gst_util_uint64_scale (GST_SECOND, (guint64) d, (guint64) n);
}

/* The elements inside add the model's time. When that is longer than a frame's, a frame also waits
 * for it, until the next one takes its place. */
static void
add_waiting (SlPredict *self, GstQuery *query)
{
  gboolean live, upstream_live;
  GstClockTime min, max, upstream_min;
  GstQuery *upstream = gst_query_new_latency ();
  gst_query_parse_latency (query, &live, &min, &max);
  if (live && gst_pad_peer_query (self->sinkpad, upstream)) {
    gst_query_parse_latency (upstream, &upstream_live, &upstream_min, NULL);
    const GstClockTime interval = frame_interval (self);
    if (min > upstream_min + interval)
      min += interval;
    if (GST_CLOCK_TIME_IS_VALID (max))
      max = MAX (max + interval, min);
    gst_query_set_latency (query, live, min, max);
  }
  gst_query_unref (upstream);
}

/* What slnormalize says of caps, which a ghost pad would cut down to its own template. */
static gboolean
sink_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) != GST_QUERY_CAPS && GST_QUERY_TYPE (query) != GST_QUERY_ACCEPT_CAPS)
    return gst_pad_query_default (pad, parent, query);
  g_autoptr (GstPad) target = gst_ghost_pad_get_target (GST_GHOST_PAD (pad));
  return target != NULL && gst_pad_query (target, query);
}

static gboolean
src_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  const gboolean answered = gst_pad_query_default (pad, parent, query);
  if (answered && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    add_waiting ((SlPredict *) parent, query);
  return answered;
}

static void
set_by_reading (SlPredict *self, gboolean by_reading)
{
  if (by_reading == self->by_reading)
    return;
  self->by_reading = by_reading;
  if (self->reader != NULL)
    g_object_set (self->reader, "unread-threshold", by_reading ? SL_FINDER_UNREAD_THRESHOLD : 0.0,
                  NULL);
  g_object_set (self->children[POSTPROCESS], "threshold",
                by_reading ? SL_FINDER_READ_THRESHOLD : -1.0, NULL);
}

/* Where codes are read that the code finder finds, and nobody states a threshold, reading has a say
 * in which count (docs/codes.md). Messages are posted before codes are read. */
static void
choose_threshold (SlPredict *self)
{
  g_autofree char *model = NULL;
  gboolean messages;
  gdouble threshold;
  g_object_get (self->children[INFER], "model", &model, NULL);
  g_object_get (self->children[POSTPROCESS], "post-messages", &messages, "threshold", &threshold,
                NULL);
  set_by_reading (self, self->reader != NULL && (self->by_reading || threshold < 0) && !messages
                          && sl_default_model_is_finder (model));
}

/* slread is a plugin file of its own: it is in the bin only where it is asked for. Where it is not
 * found, the change to READY tells. */
static void
choose_reading (SlPredict *self, gboolean wanted)
{
  GstElement *last = self->children[POSTPROCESS];
  if (self->queue == NULL || wanted == (self->reader != NULL))
    return;
  if (wanted) {
    self->reader = gst_element_factory_make ("slread", "read");
    if (self->reader == NULL)
      return;
    gst_bin_add (GST_BIN (self), self->reader);
    gst_ghost_pad_set_target (GST_GHOST_PAD (self->srcpad), NULL);
    gst_element_link (last, self->reader);
  } else {
    gst_ghost_pad_set_target (GST_GHOST_PAD (self->srcpad), NULL);
    gst_element_unlink (last, self->reader);
    gst_element_set_locked_state (self->reader, TRUE);
    gst_element_set_state (self->reader, GST_STATE_NULL);
    gst_bin_remove (GST_BIN (self), self->reader);
    self->reader = NULL;
  }
  g_autoptr (GstPad) target = gst_element_get_static_pad (wanted ? self->reader : last, "src");
  gst_ghost_pad_set_target (GST_GHOST_PAD (self->srcpad), target);
  sl_prediction_signal_forward (last, wanted ? NULL : self);
  if (wanted)
    sl_prediction_signal_forward (self->reader, self);
}

static GstStateChangeReturn
sl_predict_change_state (GstElement *element, GstStateChange transition)
{
  SlPredict *self = (SlPredict *) element;
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && self->queue == NULL) {
    GST_ELEMENT_ERROR (
      self, CORE, MISSING_PLUGIN,
      ("there is no queue element; expected GStreamer's coreelements plugin, which has it: "
       "reinstall GStreamer"),
      (NULL));
    return GST_STATE_CHANGE_FAILURE;
  }
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && self->read && self->reader == NULL) {
    GST_ELEMENT_ERROR (
      self, CORE, MISSING_PLUGIN,
      ("read=true: there is no element slread; expected it in a plugin file of Sightline, which is "
       "built where libzbar or zxing-cpp is found (Debian: libzbar-dev, libzxing-dev; meson "
       "options zbar, zxing)"),
      (NULL));
    return GST_STATE_CHANGE_FAILURE;
  }
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    g_autoptr (GError) error = NULL;
    if (!apply_region (self, &error)) {
      sl_element_report (element, error);
      return GST_STATE_CHANGE_FAILURE;
    }
    GST_OBJECT_LOCK (self);
    self->live_known = FALSE;
    self->taken = self->passed = self->processed = self->dropped = 0;
    self->spoiled = 0;
    GST_OBJECT_UNLOCK (self);
  }
  return GST_ELEMENT_CLASS (sl_predict_parent_class)->change_state (element, transition);
}

/* What is set together is passed on together: slinfer sees one change, not a model with the labels
 * of another. */
static void
sl_predict_dispatch_properties_changed (GObject *object, guint n, GParamSpec **pspecs)
{
  SlPredict *self = (SlPredict *) object;
  GST_OBJECT_LOCK (self);
  guint held = self->held;
  self->held = 0;
  GST_OBJECT_UNLOCK (self);
  for (; held > 0; held--)
    g_object_thaw_notify (G_OBJECT (self->children[INFER]));
  G_OBJECT_CLASS (sl_predict_parent_class)->dispatch_properties_changed (object, n, pspecs);
}

static void
set_forwarded (SlPredict *self, const Forwarded *row, const GValue *value)
{
  GObject *child = G_OBJECT (self->children[row->child]);
  if (row->child == INFER) {
    g_object_freeze_notify (child);
    GST_OBJECT_LOCK (self);
    self->held++;
    GST_OBJECT_UNLOCK (self);
  }
  g_object_set_property (child, row->name, value);
}

static gboolean
is_threshold (const Forwarded *row)
{
  return g_str_equal (row->name, "threshold");
}

static void
sl_predict_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  SlPredict *self = (SlPredict *) object;
  const Forwarded *row = forwarded_of (id);
  if (row != NULL) {
    if (is_threshold (row))
      set_by_reading (self, FALSE);
    set_forwarded (self, row, value);
    choose_threshold (self);
    return;
  }
  GST_OBJECT_LOCK (self);
  if (id == PROP_REGION) {
    g_free (self->region);
    self->region = g_value_dup_string (value);
  } else if (id == PROP_READ) {
    self->read = g_value_get_boolean (value);
  } else {
    self->drop = g_value_get_enum (value);
    self->live_known = FALSE;
  }
  GST_OBJECT_UNLOCK (self);
  if (id == PROP_READ) {
    choose_reading (self, g_value_get_boolean (value));
    choose_threshold (self);
  }
}

static void
sl_predict_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  SlPredict *self = (SlPredict *) object;
  const Forwarded *row = forwarded_of (id);
  if (row != NULL) {
    g_object_get_property (G_OBJECT (self->children[row->child]), row->name, value);
    if (is_threshold (row) && self->by_reading)
      g_value_set_double (value, -1);
    return;
  }
  if (id == PROP_DAMAGED || id == PROP_BUDGET) {
    const gboolean damaged = id == PROP_DAMAGED;
    g_object_get_property (G_OBJECT (self->children[damaged ? NORMALIZE : INFER]),
                           damaged ? "damaged" : FIGURES, value);
    return;
  }
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  if (id == PROP_REGION)
    g_value_set_string (value, self->region);
  else if (id == PROP_DROP)
    g_value_set_enum (value, self->drop);
  else if (id == PROP_READ)
    g_value_set_boolean (value, self->read);
  else
    g_value_set_uint64 (value, self->dropped);
}

static void
sl_predict_finalize (GObject *object)
{
  g_free (((SlPredict *) object)->region);
  G_OBJECT_CLASS (sl_predict_parent_class)->finalize (object);
}

/* A property like @from: what is documented there is documented here. */
static GParamSpec *
like (GParamSpec *from)
{
  const char *name = from->name, *nick = g_param_spec_get_nick (from),
             *help = g_param_spec_get_blurb (from);
  if (G_IS_PARAM_SPEC_INT (
        from)) { /* of the same type: what is out of range is for the child to refuse */
    GParamSpecInt *spec =
      g_param_spec_internal (G_PARAM_SPEC_TYPE (from), name, nick, help, from->flags);
    spec->minimum = G_PARAM_SPEC_INT (from)->minimum;
    spec->maximum = G_PARAM_SPEC_INT (from)->maximum;
    spec->default_value = G_PARAM_SPEC_INT (from)->default_value;
    return G_PARAM_SPEC (spec);
  }
  if (G_IS_PARAM_SPEC_DOUBLE (from)) {
    GParamSpecDouble *spec =
      g_param_spec_internal (G_PARAM_SPEC_TYPE (from), name, nick, help, from->flags);
    spec->minimum = G_PARAM_SPEC_DOUBLE (from)->minimum;
    spec->maximum = G_PARAM_SPEC_DOUBLE (from)->maximum;
    spec->default_value = G_PARAM_SPEC_DOUBLE (from)->default_value;
    return G_PARAM_SPEC (spec);
  }
  if (G_IS_PARAM_SPEC_ENUM (from))
    return g_param_spec_enum (name, nick, help, from->value_type,
                              G_PARAM_SPEC_ENUM (from)->default_value, from->flags);
  if (G_IS_PARAM_SPEC_BOOLEAN (from))
    return g_param_spec_boolean (name, nick, help, G_PARAM_SPEC_BOOLEAN (from)->default_value,
                                 from->flags);
  g_assert (G_IS_PARAM_SPEC_STRING (from));
  return g_param_spec_string (name, nick, help, G_PARAM_SPEC_STRING (from)->default_value,
                              from->flags);
}

static void
install_properties (GObjectClass *object_class, GstElementClass *const children[N_CHILDREN])
{
  list_forwarded (G_OBJECT_CLASS (children[INFER]));
  for (guint id = PROP_FORWARDED; id < PROP_FORWARDED + forwarded->len; id++) {
    const Forwarded *row = forwarded_of (id);
    g_object_class_install_property (
      object_class, id,
      like (g_object_class_find_property (G_OBJECT_CLASS (children[row->child]), row->name)));
  }
  g_object_class_install_property (
    object_class, PROP_REGION,
    g_param_spec_string (
      "inference-region", "Inference region",
      "Input of the model: full-frame; roi-list = each region of interest on the frame, from an "
      "upstream slpredict or any other element; or a rectangle X,Y,WIDTH,HEIGHT in pixels of the "
      "frame, such as 0,120,640,360. Results are always in pixels of the whole frame",
      "full-frame", G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (
    object_class, PROP_DROP,
    g_param_spec_enum ("drop", "Drop frames",
                       "When newer frames replace frames that wait for the model", drop_get_type (),
                       DROP_AUTO,
                       G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (
    object_class, PROP_READ,
    g_param_spec_boolean (
      "read", "Read codes",
      "Read the text of the codes that the model finds, with an internal slread called \"read\"; "
      "the output is then frames, not lines. With track=true each code is read once. If neither "
      "model nor threshold is set and post-messages is off, codes that were read pass from a "
      "confidence of 0.4 on, large unread ones from 0.9 on (linear 0.7, stacked 0.75), others from "
      "0.6 on. The signal predictions and slpublish have the texts, messages of post-messages do "
      "not",
      FALSE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (
    object_class, PROP_DROPPED,
    sl_property_count (
      "dropped", "Dropped frames",
      "Frames since the start that newer ones replaced before the model ran on them; a QoS message "
      "reports each of them"));
  g_object_class_install_property (
    object_class, PROP_DAMAGED,
    sl_property_count ("damaged", "Damaged frames",
                       "Frames since the start that corrupted=drop left out"));
  sl_infer_turn_install (object_class, PROP_BUDGET);
  gst_type_mark_as_plugin_api (drop_get_type (), 0);
}

static void
add_template (GstElementClass *element_class, GstElementClass *child, const char *name)
{
  GstPadTemplate *like_it = gst_element_class_get_pad_template (child, name);
  gst_element_class_add_pad_template (
    element_class, gst_pad_template_new (name, GST_PAD_TEMPLATE_DIRECTION (like_it), GST_PAD_ALWAYS,
                                         GST_PAD_TEMPLATE_CAPS (like_it)));
}

static GType
child_type (Child child)
{
  GType (*const types[N_CHILDREN]) (void) = { sl_normalize_get_type, sl_infer_get_type,
                                              sl_postprocess_get_type };
  return types[child]();
}

static void
sl_predict_reset_state (SlPredict *self)
{
  g_signal_emit_by_name (self->children[INFER], "reset-state");
}

static void
sl_predict_class_init (SlPredictClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstElementClass *children[N_CHILDREN];
  GST_DEBUG_CATEGORY_INIT (sl_predict_debug, "slpredict", 0, "frames to predictions");
  object_class->set_property = sl_predict_set_property;
  object_class->get_property = sl_predict_get_property;
  object_class->dispatch_properties_changed = sl_predict_dispatch_properties_changed;
  object_class->finalize = sl_predict_finalize;
  for (guint i = 0; i < N_CHILDREN; i++)
    children[i] = g_type_class_ref (child_type (i));
  install_properties (object_class, children);
  sl_prediction_signal_add (object_class);
  /**
   * SlPredict::reset-state:
   *
   * Has a model that carries state from frame to frame begin anew with the next frame that it is
   * given, as after a seek. Any thread.
   */
  g_signal_new_class_handler (
    "reset-state", G_TYPE_FROM_CLASS (klass), (GSignalFlags) (G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION),
    G_CALLBACK (sl_predict_reset_state), NULL, NULL, NULL, G_TYPE_NONE, 0);
  add_template (element_class, children[NORMALIZE], "sink");
  add_template (element_class, children[POSTPROCESS], "src");
  for (guint i = 0; i < N_CHILDREN; i++)
    g_type_class_unref (children[i]);
  sl_element_class_describe (
    element_class, "Sightline predictor", "Filter/Analyzer/Video",
    "Runs a model on video frames. The caps downstream choose the output: video/x-raw is the frame "
    "with its predictions as metas, text/x-raw a line for each object or the best label, "
    "application/x-json a line for each frame. On live sources the model gets the newest frame and "
    "never falls behind; on files it gets every frame. A second slpredict with object-class=LABEL "
    "runs its model on each such object. The signal \"predictions\" tells applications what was "
    "found on each frame, in the streaming thread.",
    "gst-launch-1.0 v4l2src ! slpredict model=ssd.tflite ! sloverlay ! videoconvert ! "
    "autovideosink",
    "slpredict.md");
  element_class->change_state = sl_predict_change_state;
  sl_element_class_set_check (element_class, check_settings);
}

static void
add_pad (SlPredict *self, GstElement *inner, const char *name)
{
  g_autoptr (GstPad) target = gst_element_get_static_pad (inner, name);
  GstPadTemplate *template =
    gst_element_class_get_pad_template (GST_ELEMENT_GET_CLASS (self), name);
  GstPad *pad = gst_ghost_pad_new_from_template (name, target, template);
  gst_pad_set_query_function (pad, GST_PAD_IS_SRC (pad) ? src_query : sink_query);
  if (GST_PAD_IS_SINK (pad))
    self->sinkpad = pad;
  else
    self->srcpad = pad;
  gst_element_add_pad (GST_ELEMENT (self), pad);
}

static void
watch (SlPredict *self, GstElement *inner, const char *name, GstPadProbeType what,
       GstPadProbeCallback callback)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (inner, name);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER | what, callback, self, NULL);
}

static void
sl_predict_init (SlPredict *self)
{
  static const char *const names[N_CHILDREN] = { "normalize", "infer", "postprocess" };
  self->region = g_strdup ("full-frame");
  for (guint i = 0; i < N_CHILDREN; i++) {
    self->children[i] = g_object_new (child_type (i), "name", names[i], NULL);
    gst_bin_add (GST_BIN (self), self->children[i]);
  }
  sl_prediction_signal_forward (self->children[POSTPROCESS], self);
  self->queue = gst_element_factory_make ("queue", "queue");
  if (self->queue == NULL)
    return;
  g_object_set (self->queue, "max-size-buffers", 1, "max-size-bytes", 0, "max-size-time",
                (guint64) 0, "silent", TRUE, NULL);
  gst_bin_add (GST_BIN (self), self->queue);
  gst_element_link_many (self->children[NORMALIZE], self->queue, self->children[INFER],
                         self->children[POSTPROCESS], NULL);
  watch (self, self->children[NORMALIZE], "sink", GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, frame_in);
  watch (self, self->queue, "src", GST_PAD_PROBE_TYPE_BUFFER_LIST | GST_PAD_PROBE_TYPE_EVENT_FLUSH,
         frame_out);
  add_pad (self, self->children[NORMALIZE], "sink");
  add_pad (self, self->children[POSTPROCESS], "src");
}
