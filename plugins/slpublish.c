/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slpublish: predictions as lines to a file, standard output, a socket, an MQTT broker or Kafka.
 *
 * A GstBaseSink whose render function only queues (publisher.h); a thread of the publisher's does
 * all waiting, so a broker that is away never holds a camera. What the thread has to say becomes
 * element messages "slpublish" and, the first time a connection is lost, a warning.
 *
 * The input is lines, or video frames whose metas become lines here
 * (plugins/publish/frame_lines.h). Invariant: a frame is not kept once render returns: other
 * branches of a tee write into it, and a camera has few.
 *
 * It prerolls, as other sinks do. Without that a decoder would be the only asynchronous element of
 * a pipeline, which then can be PLAYING while the decoder's thread still reports PAUSED, and never
 * tells the end of a short stream.
 */
#include <gst/base/gstbasesink.h>
#include <gst/video/video.h>

#include "core/base/printable.h"
#include "core/base/fail.h"
#include "plugins/elements.h"
#include "plugins/base/describe.h"
#include "plugins/publish/frame_lines.h"
#include "plugins/base/password.h"
#include "plugins/base/properties.h"
#include "plugins/meta/analysis_meta.h"
#include "plugins/publish/control.h"
#include "plugins/publish/detector.h"
#include "plugins/publish/home.h"
#include "plugins/publish/input.h"
#include "plugins/publish/losses.h"
#include "plugins/publish/notice.h"
#include "plugins/publish/pace.h"
#include "plugins/publish/publisher.h"
#include "plugins/publish/values.h"
#include "plugins/record/picture.h"
#include "plugins/base/report.h"
#include "plugins/base/settings.h"

GST_DEBUG_CATEGORY_STATIC (sl_publish_debug);
#define GST_CAT_DEFAULT sl_publish_debug

typedef struct
{
  GstBaseSink parent;
  SlPublishValues settings; /* object lock */
  SlPublisher *publisher;   /* object lock, as a pointer */
  SlPublishCounts counts;   /* object lock: of the publisher that was stopped last */
  gboolean warned;          /* publisher's thread */
  guint64 warned_at;        /* publisher's thread: lines that were published then */
  SlLosses losses;          /* streaming thread */
  gboolean told_refused;    /* publisher's thread: it was told that a line was refused */
  gboolean refused;         /* streaming thread */
  SlFrameLines lines;       /* streaming thread */
  char *line_source;        /* streaming thread: "source" of lines from frames */
  GstElement *detector;     /* object lock (nullable): whose threshold the broker may change */
  gint64 told_command;      /* publisher's thread: when a command was refused last, 0 = never */
  SlPace pace;              /* streaming thread */
  SlNotices notices;        /* streaming thread: kinds 0 = lines are of frames, not of events */
  gboolean attaches;        /* streaming thread: pictures to notices */
  SlPictureMaker *maker;    /* streaming thread (nullable) */
  gint64 pictured;          /* streaming thread: when a picture was made last, 0 = never */
  gint asked;               /* atomic: wishes since the application answered last */
  gboolean told_enabled;    /* atomic: what the broker was told last */
  gboolean told_pictures;   /* streaming thread: it was told that no picture can be made */
  gboolean told_bare;       /* streaming thread: it was told that frames come without predictions */
  gboolean told_eventless;  /* streaming thread: it was told that frames come without events */
} SlPublish;

typedef GstBaseSinkClass SlPublishClass;

G_DEFINE_TYPE (SlPublish, sl_publish, GST_TYPE_BASE_SINK)

#define AT_SETTINGS G_STRUCT_OFFSET (SlPublish, settings)
/* Pixels a row of a picture at most. */
#define PICTURE_WIDTH 640

/* Ids behind those of the table. */
enum
{
  PROP_PUBLISHED = 1,
  PROP_DROPPED,
  PROP_CONNECTED
};

/* Reads the counts of the publisher that runs, else of the last one. */
static SlPublishCounts
read_counts (SlPublish *self)
{
  GST_OBJECT_LOCK (self);
  if (self->publisher != NULL)
    sl_publisher_counts (self->publisher, &self->counts);
  const SlPublishCounts counts = self->counts;
  GST_OBJECT_UNLOCK (self);
  return counts;
}

static char *
dup_display_location (SlPublish *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  return sl_publisher_shown_location (self->settings.to.location);
}

/* Publisher's thread. */
static void
notify (gpointer user_data, SlPublishState state, const char *reason, guint retry_ms)
{
  static const char *const names[] = {
    [SL_PUBLISH_CONNECTED] = "connected",
    [SL_PUBLISH_DISCONNECTED] = "disconnected",
    [SL_PUBLISH_REFUSED] = "refused",
    [SL_PUBLISH_FAILED] = "failed",
  };
  SlPublish *self = user_data;
  const SlPublishCounts counts = read_counts (self);
  g_autofree char *location = dup_display_location (self);
  GST_INFO_OBJECT (self, "%s: %s %s", location, names[state], reason != NULL ? reason : "");
  GstStructure *structure = gst_structure_new (
    "slpublish", "state", G_TYPE_STRING, names[state], "location", G_TYPE_STRING, location,
    "reason", G_TYPE_STRING, reason, "retry-ms", G_TYPE_UINT, retry_ms, "published", G_TYPE_UINT64,
    counts.published, "dropped", G_TYPE_UINT64, counts.dropped, NULL);
  sl_element_post (GST_ELEMENT (self), structure);
  if (state == SL_PUBLISH_REFUSED && !self->told_refused) {
    self->told_refused = TRUE;
    GST_ELEMENT_WARNING (self, RESOURCE, WRITE,
                         ("%s; such lines are lost and counted in dropped", reason), (NULL));
  } else if (state == SL_PUBLISH_FAILED) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE, ("%s: nothing can be published any more", reason),
                       (NULL));
  } else if (state == SL_PUBLISH_DISCONNECTED
             && (!self->warned || counts.published > self->warned_at)) {
    /* A full disk can be opened each time: only a line that got through ends what was warned of. */
    self->warned = TRUE;
    self->warned_at = counts.published;
    GST_ELEMENT_WARNING (
      self, RESOURCE, WRITE,
      ("%s; trying again, lines are kept meanwhile up to max-queue-bytes", reason), (NULL));
  }
}

static void
tell_enabled (SlPublish *self, SlPublisher *publisher, gboolean enabled)
{
  g_atomic_int_set (&self->told_enabled, enabled);
  sl_publisher_put_extra (publisher, SL_PUBLISH_ENABLED,
                          g_bytes_new_static (enabled ? "ON" : "OFF", enabled ? 2 : 3));
}

/* -1 means what the decoder takes, of which nothing is known here. */
static void
tell_threshold (SlPublish *self, SlPublisher *publisher, GstElement *detector)
{
  gdouble threshold = -1;
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  if (detector != NULL)
    g_object_get (detector, "threshold", &threshold, NULL);
  if (threshold >= 0)
    sl_publisher_put_extra (
      publisher, SL_PUBLISH_THRESHOLD,
      g_bytes_new (text, strlen (g_ascii_formatd (text, sizeof text, "%.4g", threshold))));
}

/* Publisher's thread: what somebody wishes through the broker. */
static void
obey (gpointer user_data, const char *name, const char *text, gsize bytes)
{
  SlPublish *self = user_data;
  const SlHomeCommand command = strcmp (name, sl_home_command_names[SL_HOME_ENABLED]) == 0
                                  ? SL_HOME_ENABLED
                                  : SL_HOME_THRESHOLD;
  gdouble number = 0;
  const char *expected;
  if (!sl_home_read (command, text, bytes, &number, &expected)) {
    sl_control_refuse (GST_ELEMENT (self), &self->told_command, name, text, bytes, expected);
    return;
  }
  GST_OBJECT_LOCK (self);
  g_autoptr (GstElement) detector = self->detector != NULL ? gst_object_ref (self->detector) : NULL;
  SlPublisher *publisher = self->publisher;
  GST_OBJECT_UNLOCK (self);
  if (command == SL_HOME_ENABLED)
    g_object_set (self, "enabled", number == 1, "kept", number == 1 ? "ON" : "OFF", NULL);
  else if (detector != NULL)
    g_object_set (detector, "threshold", number, NULL);
  if (publisher == NULL) /* being stopped, which waits for this thread */
    return;
  if (command == SL_HOME_ENABLED)
    tell_enabled (self, publisher, number == 1);
  else
    tell_threshold (self, publisher, detector);
}

/* Publisher's thread. More than the application has answered are lost: a broker may send any
 * number. */
static void
ask (gpointer user_data, const char *topic, const char *text, gsize bytes)
{
  SlPublish *self = user_data;
  if (g_atomic_int_add (&self->asked, 1) < SL_CONTROL_WAITING_MOST)
    sl_control_post (GST_ELEMENT (self), topic, text, bytes);
}

/* The application's answer to what it was asked for until then. */
static void
publish_states (GstElement *element, const char *states)
{
  SlPublish *self = (SlPublish *) element;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  g_atomic_int_set (&self->asked, 0);
  if (self->publisher == NULL || states == NULL)
    return;
  sl_publisher_put_extra (self->publisher, SL_PUBLISH_STATES,
                          g_bytes_new (states, strlen (states)));
  tell_threshold (self, self->publisher, self->detector);
}

static gboolean
is_set (const char *text)
{
  return text != NULL && *text != '\0';
}

/* (transfer full): what upstream may give, of what the element takes with some settings. */
static GstCaps *
offered_caps (SlPublish *self)
{
  GstPad *pad = GST_BASE_SINK_PAD (self);
  g_autoptr (GstCaps) all = gst_pad_get_pad_template_caps (pad);
  return gst_pad_peer_query_caps (pad, all);
}

/* What a publisher is opened with. Object lock held, as long as @to is used. @offered: of
 * offered_caps(); @password, @warning: (out) (transfer full) (nullable) */
static gboolean
read_settings (SlPublish *self, GstCaps *offered, SlPublishSettings *to, char **password,
               char **warning, GError **error)
{
  const SlPublishValues *s = &self->settings;
  *to = s->to;
  if (!sl_publish_input_check (s, offered, error)
      || !sl_publisher_read_mode (s->file_mode, &to->file_mode, error)
      || !sl_password_choose (s->to.password, s->password_file, password, warning, error))
    return FALSE;
  to->name = GST_OBJECT_NAME (self);
  to->password = *password;
  to->pictures = s->picture_interval > 0;
  to->has_threshold = self->detector != NULL;
  to->command = obey;
  to->command_data = self;
  to->control = s->control ? ask : NULL;
  return TRUE;
}

static gboolean
check_settings (GstElement *element, GError **error)
{
  SlPublish *self = (SlPublish *) element;
  SlPublishSettings settings;
  g_autofree char *password = NULL, *warning = NULL;
  g_autoptr (GstCaps) offered = offered_caps (self);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  return read_settings (self, offered, &settings, &password, &warning, error)
         && sl_publisher_check (&settings, error);
}

/* The lock is held meanwhile: nothing that opening does waits for a peer. @warning: (out) (transfer
 * full) (nullable) */
static SlPublisher *
open_publisher (SlPublish *self, char **warning, GError **error)
{
  SlPublishSettings settings;
  g_autofree char *password = NULL;
  g_autoptr (GstCaps) offered = offered_caps (self);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  if (!read_settings (self, offered, &settings, &password, warning, error))
    return NULL;
  SlPublisher *publisher =
    sl_publisher_new (&settings, notify, gst_object_ref (self), gst_object_unref, error);
  if (publisher == NULL)
    gst_object_unref (self);
  return publisher;
}

static gboolean
sl_publish_start (GstBaseSink *sink)
{
  SlPublish *self = (SlPublish *) sink;
  g_autoptr (GError) error = NULL;
  g_autofree char *warning = NULL;
  GstElement *detector = sl_detector_find (GST_BASE_SINK_PAD (self));
  GST_OBJECT_LOCK (self);
  gst_object_replace ((GstObject **) &self->detector, GST_OBJECT (detector));
  GST_OBJECT_UNLOCK (self);
  SlPublisher *publisher = open_publisher (self, &warning, &error);
  if (publisher == NULL) {
    sl_element_report (GST_ELEMENT (self), error);
    gst_clear_object (&detector);
    return FALSE;
  }
  if (warning != NULL)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("password-file=%s", warning), (NULL));
  GST_OBJECT_LOCK (self);
  self->publisher = publisher;
  self->losses = (SlLosses){ FALSE };
  self->refused = self->warned = self->told_bare = self->told_refused = FALSE;
  self->told_eventless = FALSE;
  g_free (self->line_source);
  self->line_source = g_strdup (self->settings.to.source);
  self->lines.frames = 0;
  if (self->settings.kept != NULL)
    self->settings.enabled = strcmp (self->settings.kept, "OFF") != 0;
  self->pictured = 0;
  self->told_pictures = FALSE;
  const gboolean enabled = self->settings.enabled;
  GST_OBJECT_UNLOCK (self);
  tell_enabled (self, publisher, enabled);
  tell_threshold (self, publisher, detector);
  gst_clear_object (&detector);
  return TRUE;
}

static gboolean
sl_publish_stop (GstBaseSink *sink)
{
  SlPublish *self = (SlPublish *) sink;
  SlPublishCounts counts = { 0 };
  GST_OBJECT_LOCK (self);
  SlPublisher *publisher = g_steal_pointer (&self->publisher);
  gst_clear_object (&self->detector);
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&self->maker, sl_picture_maker_free);
  if (publisher == NULL)
    return TRUE;
  sl_publisher_stop (publisher, &counts);
  GST_OBJECT_LOCK (self);
  self->counts = counts;
  GST_OBJECT_UNLOCK (self);
  if (counts.dropped > 0)
    GST_WARNING_OBJECT (self, "%" G_GUINT64_FORMAT " lines published, %" G_GUINT64_FORMAT " lost",
                        counts.published, counts.dropped);
  return TRUE;
}

static gboolean
sl_publish_unlock (GstBaseSink *sink)
{
  sl_publisher_unlock (((SlPublish *) sink)->publisher, TRUE);
  return TRUE;
}

static gboolean
sl_publish_unlock_stop (GstBaseSink *sink)
{
  sl_publisher_unlock (((SlPublish *) sink)->publisher, FALSE);
  return TRUE;
}

/* Lines as they come, or frames that lines are made of. */
static gboolean
open_input (SlPublish *self, GstCaps *caps, GError **error)
{
  const SlPublishInput input = sl_publish_input_of (gst_caps_get_structure (caps, 0));
  GST_OBJECT_LOCK (self);
  const gboolean home = is_set (self->settings.to.discovery);
  const gboolean on_change = self->settings.on_change,
                 fits = sl_publish_input_fits (&self->settings, input, error);
  const gint64 interval = (gint64) (self->settings.interval * G_USEC_PER_SEC);
  const SlLineFormat format = (SlLineFormat) self->settings.format;
  g_autofree char *classes = g_strdup (self->settings.classes),
                  *events = g_strdup (self->settings.events),
                  *zones = g_strdup (self->settings.zones);
  self->attaches = self->settings.attach_picture;
  GST_OBJECT_UNLOCK (self);
  self->lines.width = self->lines.height = 0;
  sl_notices_clear (&self->notices);
  if (!fits)
    return FALSE;
  if (is_set (events) && !sl_notices_open (&self->notices, events, zones, interval, error))
    return FALSE;
  if (!sl_class_choice_set (&self->lines.choice, classes, GST_BASE_SINK_PAD (self), error))
    return FALSE;
  if (input == SL_INPUT_FRAMES && !sl_frame_lines_open (&self->lines, caps, format, error))
    return FALSE;
  sl_pace_init (&self->pace, interval, on_change, on_change || home);
  if (on_change && self->pace.counts == NULL)
    return sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "on-change: this build has no JSON-GLib: install libjson-glib-dev and build again");
  return TRUE;
}

static gboolean
sl_publish_set_caps (GstBaseSink *sink, GstCaps *caps)
{
  SlPublish *self = (SlPublish *) sink;
  GError *error = NULL;
  return open_input (self, caps, &error)
         || sl_element_refuse (GST_ELEMENT (self), &self->refused, error);
}

/* What the settings leave of the template, so that upstream chooses among that. A pad that is not
 * linked takes all: the start refuses with a sentence what a link would only fail on. */
static GstCaps *
sl_publish_get_caps (GstBaseSink *sink, GstCaps *filter)
{
  SlPublish *self = (SlPublish *) sink;
  g_autoptr (GstCaps) all = gst_pad_get_pad_template_caps (GST_BASE_SINK_PAD (sink));
  if (gst_pad_is_linked (GST_BASE_SINK_PAD (sink))) {
    GST_OBJECT_LOCK (self);
    GstCaps *some = sl_publish_input_caps (&self->settings, all);
    GST_OBJECT_UNLOCK (self);
    gst_caps_take (&all, some);
  }
  return filter != NULL ? gst_caps_intersect_full (filter, all, GST_CAPS_INTERSECT_FIRST)
                        : g_steal_pointer (&all);
}

/* Lines that the settings refuse, and other video than raw, are let through as far as their caps,
 * which are refused with a sentence. */
static gboolean
sl_publish_query (GstBaseSink *sink, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS) {
    GstCaps *caps;
    gst_query_parse_accept_caps (query, &caps);
    g_autoptr (GstCaps) all = gst_pad_get_pad_template_caps (GST_BASE_SINK_PAD (sink));
    const char *name =
      gst_caps_is_fixed (caps) ? gst_structure_get_name (gst_caps_get_structure (caps, 0)) : "";
    gst_query_set_accept_caps_result (query, g_str_has_prefix (name, "video/")
                                               || g_str_has_prefix (name, "image/")
                                               || gst_caps_is_subset (caps, all));
    return TRUE;
  }
  return GST_BASE_SINK_CLASS (sl_publish_parent_class)->query (sink, query);
}

/* Frames of any layout: without this answer a tee would have upstream copy frames into the plain
 * one. */
static gboolean
sl_publish_propose_allocation (GstBaseSink *sink, GstQuery *query)
{
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

static gboolean
is_enabled (SlPublish *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  return self->settings.enabled;
}

/* (transfer full) (nullable): @frame as JPEG, with what is found drawn. It takes some milliseconds.
 * @property: what asks for it. */
static GBytes *
make_picture (SlPublish *self, GstBuffer *frame, const char *property)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (GST_BASE_SINK_PAD (self));
  if (self->maker == NULL)
    self->maker = sl_picture_maker_new ((SlPictureLook){ PICTURE_WIDTH, TRUE }, &error);
  GBytes *picture = self->maker != NULL && caps != NULL
                      ? sl_picture_maker_make (self->maker, frame, caps, &error)
                      : NULL;
  if (picture != NULL)
    return picture;
  g_clear_pointer (&self->maker, sl_picture_maker_free);
  if (error != NULL && !self->told_pictures) {
    self->told_pictures = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
                         ("%s: %s; lines go on without pictures", property, error->message),
                         (NULL));
  }
  return NULL;
}

/* Now and then. */
static void
publish_picture (SlPublish *self, GstBuffer *frame)
{
  const gint64 now = g_get_monotonic_time ();
  GST_OBJECT_LOCK (self);
  const gint64 interval = (gint64) (self->settings.picture_interval * G_USEC_PER_SEC);
  GST_OBJECT_UNLOCK (self);
  if (interval == 0 || !sl_publisher_takes_extras (self->publisher)
      || (self->pictured != 0 && now - self->pictured < interval) || !is_enabled (self))
    return;
  self->pictured = now;
  GBytes *picture = make_picture (self, frame, "picture-interval");
  if (picture != NULL)
    sl_publisher_put_extra (self->publisher, SL_PUBLISH_PICTURE, picture);
}

/* Waits for room only where the transport says so. */
static GstFlowReturn
put (SlPublish *self, const char *line, gsize bytes)
{
  const SlPublishCounts before = read_counts (self);
  SlPut done = SL_PUT_TAKEN;
  GstFlowReturn flow = GST_FLOW_OK;
  while (bytes > 0 && flow == GST_FLOW_OK
         && (done = sl_publisher_put (self->publisher, line, bytes)) == SL_PUT_UNLOCKED)
    flow = gst_base_sink_wait_preroll (GST_BASE_SINK (self));
  const SlPublishCounts now = read_counts (self);
  if (sl_losses_are_news (&self->losses, &before, &now)) {
    g_autofree char *location = dup_display_location (self);
    sl_losses_tell (&self->losses, GST_ELEMENT (self), location, &now);
  }
  return done == SL_PUT_FAILED ? GST_FLOW_ERROR : flow;
}

/* Text of several lines is one message; nothing found is no line. */
static GstFlowReturn
publish (SlPublish *self, const char *line, gsize bytes)
{
  const gboolean enabled = is_enabled (self);
  if (enabled != g_atomic_int_get (&self->told_enabled))
    tell_enabled (self, self->publisher, enabled);
  if (bytes == 0 || !enabled)
    return GST_FLOW_OK;
  const gboolean takes = sl_pace_takes (&self->pace, line, bytes, g_get_monotonic_time ());
  char *confirmed =
    self->pace.counts != NULL ? sl_label_counts_take_confirmed (self->pace.counts) : NULL;
  if (confirmed != NULL)
    sl_publisher_put_extra (self->publisher, SL_PUBLISH_CONFIRMED,
                            g_bytes_new_take (confirmed, strlen (confirmed)));
  return takes ? put (self, line, bytes) : GST_FLOW_OK;
}

/* slanalyze writes to every frame. */
static void
warn_eventless (SlPublish *self)
{
  self->told_eventless = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
                       ("events: frames come without events; expected slanalyze upstream: nothing "
                        "is published"),
                       (NULL));
}

/* A message for each event of @frame that counts. */
static GstFlowReturn
publish_events (SlPublish *self, GstBuffer *frame)
{
  SlPredictionView prediction;
  GBytes *picture = NULL;
  GstFlowReturn flow = GST_FLOW_OK;
  if (!self->told_eventless && sl_buffer_get_analysis (frame) == NULL)
    warn_eventless (self);
  if (!sl_frame_lines_read (&self->lines, frame, &GST_BASE_SINK (self)->segment, self->line_source,
                            &prediction)
      || prediction.analysis == NULL || !is_enabled (self))
    return GST_FLOW_OK;
  for (guint i = 0; i < prediction.analysis->n_events && flow == GST_FLOW_OK; i++) {
    if (!sl_notices_take (&self->notices, &prediction, i, self->lines.choice.filter,
                          g_get_monotonic_time ()))
      continue;
    if (self->attaches && picture == NULL)
      picture = make_picture (self, frame, "attach-picture");
    g_autoptr (GString) notice = sl_notices_write (&self->notices, &prediction, i, picture);
    flow = put (self, notice->str, notice->len);
  }
  g_clear_pointer (&picture, g_bytes_unref);
  return flow;
}

static GstFlowReturn
publish_frame (SlPublish *self, GstBuffer *frame)
{
  if (self->notices.kinds != 0)
    return publish_events (self, frame);
  const GString *line =
    sl_frame_lines_write (&self->lines, frame, &GST_BASE_SINK (self)->segment, self->line_source);
  if (line->len == 0 && !self->told_bare && sl_buffer_get_frame_meta (frame) == NULL
      && !sl_buffer_has_predictions (frame)) {
    self->told_bare = TRUE;
    GST_ELEMENT_WARNING (
      self, STREAM, FORMAT,
      ("a frame came that no model has looked at: nothing is published for such frames; expected "
       "slpredict (or slpostprocess) before slpublish"),
      (NULL));
  }
  publish_picture (self, frame);
  return publish (self, line->str, line->len);
}

static GstFlowReturn
sl_publish_render (GstBaseSink *sink, GstBuffer *buffer)
{
  SlPublish *self = (SlPublish *) sink;
  GstMapInfo map;
  if (self->lines.width > 0)
    return publish_frame (self, buffer);
  if (!gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (
      self, RESOURCE, READ,
      ("a buffer of %" G_GSIZE_FORMAT " bytes cannot be read", gst_buffer_get_size (buffer)),
      (NULL));
    return GST_FLOW_ERROR;
  }
  const GstFlowReturn flow = publish (self, (const char *) map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  return flow;
}

/* At the end of the stream: what did not get through. */
static void
tell_end (SlPublish *self, gint64 timeout)
{
  const gboolean drained = sl_publisher_drain (self->publisher, timeout);
  const SlPublishCounts counts = read_counts (self);
  g_autofree char *location = dup_display_location (self);
  sl_losses_tell_end (GST_ELEMENT (self), location, &counts, drained);
}

static gboolean
sl_publish_event (GstBaseSink *sink, GstEvent *event)
{
  SlPublish *self = (SlPublish *) sink;
  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    self->lines.frames = 0;
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    GST_OBJECT_LOCK (self);
    const gint64 timeout = (gint64) self->settings.drain_ms * G_TIME_SPAN_MILLISECOND;
    GST_OBJECT_UNLOCK (self);
    tell_end (self, timeout);
  }
  return GST_BASE_SINK_CLASS (sl_publish_parent_class)->event (sink, event);
}

/* The properties do not contain the password: graphs of pipelines and logs print properties. */
static void
sl_publish_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  SlPublish *self = (SlPublish *) object;
  guint n;
  const SlProperty *properties = sl_publish_properties (AT_SETTINGS, &n);
  if (id == n + PROP_PUBLISHED)
    g_value_set_uint64 (value, read_counts (self).published);
  else if (id == n + PROP_DROPPED)
    g_value_set_uint64 (value, read_counts (self).dropped);
  else if (id == n + PROP_CONNECTED)
    g_value_set_boolean (value, read_counts (self).connected);
  else {
    const SlProperty *property = &properties[id - 1];
    GST_OBJECT_LOCK (object);
    if (property->offset == G_STRUCT_OFFSET (SlPublish, settings.to.location)
        && self->settings.to.location != NULL)
      g_value_take_string (value, sl_publisher_shown_location (self->settings.to.location));
    else if (property->offset != G_STRUCT_OFFSET (SlPublish, settings.to.password))
      sl_property_get (object, property, value);
    GST_OBJECT_UNLOCK (object);
  }
}

static void
sl_publish_finalize (GObject *object)
{
  guint n;
  const SlProperty *properties = sl_publish_properties (AT_SETTINGS, &n);
  sl_frame_lines_clear (&((SlPublish *) object)->lines);
  g_free (((SlPublish *) object)->line_source);
  gst_clear_object (&((SlPublish *) object)->detector);
  sl_pace_clear (&((SlPublish *) object)->pace);
  sl_notices_clear (&((SlPublish *) object)->notices);
  sl_properties_clear (object, properties, n);
  G_OBJECT_CLASS (sl_publish_parent_class)->finalize (object);
}

static void
sl_publish_class_init (SlPublishClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);
  guint n;
  const SlProperty *properties = sl_publish_properties (AT_SETTINGS, &n);
  GST_DEBUG_CATEGORY_INIT (sl_publish_debug, "slpublish", 0, "predictions published");
  object_class->finalize = sl_publish_finalize;
  sl_properties_install (object_class, properties, n);
  object_class->get_property = sl_publish_get_property;
  sl_losses_install (object_class, n + PROP_PUBLISHED);
  sl_control_install (object_class, publish_states);
  sink_class->start = sl_publish_start;
  sl_element_class_set_check (element_class, check_settings);
  sink_class->stop = sl_publish_stop;
  sink_class->unlock = sl_publish_unlock;
  sink_class->unlock_stop = sl_publish_unlock_stop;
  sink_class->set_caps = sl_publish_set_caps;
  sink_class->query = sl_publish_query;
  sink_class->get_caps = sl_publish_get_caps;
  sink_class->propose_allocation = sl_publish_propose_allocation;
  sink_class->render = sl_publish_render;
  sink_class->event = sl_publish_event;
  sl_element_class_pads (
    element_class, "application/x-json; text/x-raw, format=(string)utf8; video/x-raw(ANY)", NULL);
  sl_element_class_describe (
    element_class, "Prediction publisher", "Sink/Network",
    "Writes predictions (JSON or text, a line for each frame) to a file with rotation, standard "
    "output, a UNIX or TCP socket, an MQTT broker or Kafka. It makes such lines from video frames "
    "with predictions, too; pixels are not read.",
    "gst-launch-1.0 v4l2src ! slpredict model=ssd.tflite ! application/x-json ! slpublish "
    "location=mqtt://localhost/sightline/door",
    "publishing.md");
}

static void
sl_publish_init (SlPublish *self)
{
  guint n;
  const SlProperty *properties = sl_publish_properties (AT_SETTINGS, &n);
  sl_properties_init (self, properties, n);
  sl_frame_lines_init (&self->lines);
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
  gst_base_sink_set_last_sample_enabled (GST_BASE_SINK (self), FALSE);
}
