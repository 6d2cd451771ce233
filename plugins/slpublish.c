/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slpublish: predictions as lines to a file, standard output, a socket or an MQTT broker.
 *
 * A GstBaseSink whose render function only queues (publisher.h); a thread of the publisher's does all waiting, so a broker
 * that is away never holds a camera. What the thread has to say becomes element messages "slpublish" and, the first time
 * a connection is lost, a warning.
 */
#include <gst/base/gstbasesink.h>

#include "core/error.h"
#include "plugins/elements.h"
#include "plugins/properties.h"
#include "plugins/publisher.h"
#include "plugins/report.h"

GST_DEBUG_CATEGORY_STATIC (sl_publish_debug);
#define GST_CAT_DEFAULT sl_publish_debug

typedef struct
{
  char *location, *source, *client_id, *username, *password, *ca_file, *certificate, *key, *availability, *discovery;
  gint queue_bytes, retry_min, retry_max, drain_ms, file_bytes, file_seconds, keep_files, qos, keep_alive;
  gboolean retain, counts;
} Settings;

typedef struct
{
  GstBaseSink parent;
  Settings settings;      /* object lock */
  SlPublisher *publisher; /* object lock, as a pointer */
  SlPublishCounts counts; /* object lock: of the publisher that was stopped last */
  gboolean warned;        /* publisher's thread */
  guint64 warned_at;      /* publisher's thread: lines that were published then */
  gboolean loses;         /* streaming thread: it was told that lines are lost */
  guint64 told_published; /* streaming thread: lines that were published then */
  gboolean refused;       /* streaming thread */
} SlPublish;

typedef GstBaseSinkClass SlPublishClass;

G_DEFINE_TYPE (SlPublish, sl_publish, GST_TYPE_BASE_SINK)

static GstStaticPadTemplate sink_template =
  GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-json; text/x-raw, format=(string)utf8"));

#define AT(member) G_STRUCT_OFFSET (SlPublish, settings.member)
#define DAY 86400

static const SlProperty properties[] = {
  { "location", "Location",
    "Where lines go: a path or file:///path (appended to), - (standard output), unix:/path, tcp://host:port, "
    "mqtt[s]://[user[:password]@]host[:port]/topic; {host}, {element} and {source} in a topic stand for names",
    SL_PROPERTY_STRING, AT (location) },
  { "source", "Source", "What {source} in a topic stands for, such as the camera's name; unset = \"unnamed\"", SL_PROPERTY_STRING,
    AT (source) },
  { "max-queue-bytes", "Queue", "Bytes of lines kept while they cannot be sent; beyond it the oldest are lost and counted in \"dropped\"",
    SL_PROPERTY_INT, AT (queue_bytes), 1024, G_MAXINT, 1 << 20 },
  { "retry-min", "First retry", "Milliseconds until the first attempt after a lost connection; doubled after each, with a tenth of jitter",
    SL_PROPERTY_INT, AT (retry_min), 10, DAY * 1000, 500 },
  { "retry-max", "Longest retry", "Most milliseconds between two attempts", SL_PROPERTY_INT, AT (retry_max), 10, DAY * 1000, 30000 },
  { "drain-timeout", "Drain", "Milliseconds that the end of the stream waits for lines that could not be sent yet", SL_PROPERTY_INT,
    AT (drain_ms), 0, 60000, 2000 },
  { "max-file-size", "File size", "Files: bytes after which the file is renamed to FILE.1 and a new one begins; 0 = never", SL_PROPERTY_INT,
    AT (file_bytes), 0, G_MAXINT, 0 },
  { "max-file-age", "File age", "Files: seconds after which the file is renamed to FILE.1 and a new one begins; 0 = never", SL_PROPERTY_INT,
    AT (file_seconds), 0, 366 * DAY, 0 },
  { "keep-files", "Files kept", "Files: renamed files that are kept, FILE.1 the newest", SL_PROPERTY_INT, AT (keep_files), 0, 1000, 5 },
  { "qos", "Quality of service", "MQTT: 0 = at most once, 1 = at least once, 2 = exactly once (with a client-id)", SL_PROPERTY_INT,
    AT (qos), 0, 2, 1 },
  { "retain", "Retain", "MQTT: the broker keeps the last line for whoever subscribes later", SL_PROPERTY_BOOL, AT (retain) },
  { "keep-alive", "Keep alive", "MQTT: seconds after which a silent connection is tested", SL_PROPERTY_INT, AT (keep_alive), 5, 3600, 30 },
  { "client-id", "Client id",
    "MQTT: name of this client, its own on its broker; set, the broker remembers what it confirmed across reconnections; unset = a random one",
    SL_PROPERTY_STRING, AT (client_id) },
  { "username", "User name", "MQTT: user name, in place of the location's", SL_PROPERTY_STRING, AT (username) },
  { "password", "Password", "MQTT: password, in place of the location's; it is in no message", SL_PROPERTY_STRING, AT (password) },
  { "ca-file", "Certificate authorities",
    "MQTT over TLS: PEM file of the authorities that sign the broker's certificate; unset = the system's", SL_PROPERTY_STRING,
    AT (ca_file) },
  { "certificate", "Certificate", "MQTT over TLS: PEM file of this client's certificate", SL_PROPERTY_STRING, AT (certificate) },
  { "private-key", "Private key", "MQTT over TLS: PEM file of this client's key", SL_PROPERTY_STRING, AT (key) },
  { "availability-topic", "Availability topic",
    "MQTT: topic of the retained words online and offline (also the last will); unset = TOPIC/available; \"\" = none", SL_PROPERTY_STRING,
    AT (availability) },
  { "counts", "Counts", "MQTT, JSON lines: also the number of objects of each label, retained, to TOPIC/LABEL whenever it changes",
    SL_PROPERTY_BOOL, AT (counts) },
  { "discovery-prefix", "Discovery prefix",
    "MQTT, JSON lines: announce a sensor to Home Assistant under this prefix, usually \"homeassistant\"; unset = do not",
    SL_PROPERTY_STRING, AT (discovery) },
};

enum
{
  PROP_PUBLISHED = G_N_ELEMENTS (properties) + 1,
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
  GST_OBJECT_LOCK (self);
  char *location = sl_publish_display_location (self->settings.location);
  GST_OBJECT_UNLOCK (self);
  return location;
}

/* Publisher's thread. */
static void
notify (gpointer user_data, SlPublishState state, const char *reason, guint retry_ms)
{
  static const char *const names[] = {
    [SL_PUBLISH_CONNECTED] = "connected",
    [SL_PUBLISH_DISCONNECTED] = "disconnected",
    [SL_PUBLISH_FAILED] = "failed",
  };
  SlPublish *self = user_data;
  const SlPublishCounts counts = read_counts (self);
  g_autofree char *location = dup_display_location (self);
  GST_INFO_OBJECT (self, "%s: %s %s", location, names[state], reason != NULL ? reason : "");
  GstStructure *structure = gst_structure_new ("slpublish", "state", G_TYPE_STRING, names[state], "location", G_TYPE_STRING, location,
                                               "reason", G_TYPE_STRING, reason, "retry-ms", G_TYPE_UINT, retry_ms, "published",
                                               G_TYPE_UINT64, counts.published, "dropped", G_TYPE_UINT64, counts.dropped, NULL);
  gst_element_post_message (GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), structure));
  if (state == SL_PUBLISH_FAILED) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE, ("%s: nothing can be published any more", reason), (NULL));
  } else if (state == SL_PUBLISH_DISCONNECTED && (!self->warned || counts.published > self->warned_at)) {
    /* A full disk can be opened each time: only a line that got through ends what was warned of. */
    self->warned = TRUE;
    self->warned_at = counts.published;
    GST_ELEMENT_WARNING (self, RESOURCE, WRITE, ("%s; trying again, lines are kept meanwhile up to max-queue-bytes", reason), (NULL));
  }
}

/* The lock is held while settings are read: nothing that opening does waits for a peer. */
static SlPublisher *
open_publisher (SlPublish *self, GError **error)
{
  const Settings *s = &self->settings;
  GST_OBJECT_LOCK (self);
  g_autofree char *name = g_strdup (GST_OBJECT_NAME (self));
  const SlPublishSettings settings = {
    .location = s->location,
    .name = name,
    .source = s->source,
    .queue_bytes = (gsize) s->queue_bytes,
    .retry_min_ms = (guint) s->retry_min,
    .retry_max_ms = (guint) s->retry_max,
    .file_bytes = (guint64) s->file_bytes,
    .file_seconds = (guint) s->file_seconds,
    .keep_files = (guint) s->keep_files,
    .qos = (guint) s->qos,
    .keep_alive = (guint) s->keep_alive,
    .retain = s->retain,
    .counts = s->counts,
    .client_id = s->client_id,
    .username = s->username,
    .password = s->password,
    .ca_file = s->ca_file,
    .certificate = s->certificate,
    .key = s->key,
    .availability = s->availability,
    .discovery = s->discovery,
  };
  SlPublisher *publisher = sl_publisher_new (&settings, notify, gst_object_ref (self), gst_object_unref, error);
  GST_OBJECT_UNLOCK (self);
  if (publisher == NULL)
    gst_object_unref (self);
  return publisher;
}

static gboolean
sl_publish_start (GstBaseSink *sink)
{
  SlPublish *self = (SlPublish *) sink;
  g_autoptr (GError) error = NULL;
  SlPublisher *publisher = open_publisher (self, &error);
  if (publisher == NULL) {
    sl_element_report (GST_ELEMENT (self), error);
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  self->publisher = publisher;
  self->refused = self->warned = self->loses = FALSE;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
sl_publish_stop (GstBaseSink *sink)
{
  SlPublish *self = (SlPublish *) sink;
  SlPublishCounts counts = { 0 };
  GST_OBJECT_LOCK (self);
  SlPublisher *publisher = g_steal_pointer (&self->publisher);
  GST_OBJECT_UNLOCK (self);
  if (publisher == NULL)
    return TRUE;
  sl_publisher_stop (publisher, &counts);
  GST_OBJECT_LOCK (self);
  self->counts = counts;
  GST_OBJECT_UNLOCK (self);
  if (counts.dropped > 0)
    GST_WARNING_OBJECT (self, "%" G_GUINT64_FORMAT " lines published, %" G_GUINT64_FORMAT " lost", counts.published, counts.dropped);
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

static gboolean
sl_publish_set_caps (GstBaseSink *sink, GstCaps *caps)
{
  SlPublish *self = (SlPublish *) sink;
  GST_OBJECT_LOCK (self);
  const gboolean reads = self->settings.counts || (self->settings.discovery != NULL && *self->settings.discovery != '\0');
  GST_OBJECT_UNLOCK (self);
  if (!reads || gst_structure_has_name (gst_caps_get_structure (caps, 0), "application/x-json"))
    return TRUE;
  return sl_element_refuse (
    GST_ELEMENT (self), &self->refused,
    g_error_new_literal (
      SL_ERROR, SL_ERROR_ARGUMENT,
      "counts and discovery-prefix need predictions as JSON, and the input is text: ask for application/x-json before slpublish"));
}

/* Says once that lines are lost, and once how many it were when lines go out again. */
static void
tell_losses (SlPublish *self, guint64 dropped_before)
{
  const SlPublishCounts counts = read_counts (self);
  if (self->loses ? counts.published == self->told_published : counts.dropped == dropped_before)
    return;
  g_autofree char *location = dup_display_location (self);
  if (self->loses)
    GST_ELEMENT_WARNING (self, RESOURCE, WRITE,
                         ("%s: lines go out again; %" G_GUINT64_FORMAT " were lost so far", location, counts.dropped), (NULL));
  else
    GST_ELEMENT_WARNING (
      self, RESOURCE, WRITE,
      ("%s: the queue (max-queue-bytes) is full, from now on the oldest lines are lost and counted in dropped", location), (NULL));
  self->loses = !self->loses;
  self->told_published = counts.published;
}

static GstFlowReturn
sl_publish_render (GstBaseSink *sink, GstBuffer *buffer)
{
  SlPublish *self = (SlPublish *) sink;
  const guint64 dropped = read_counts (self).dropped;
  GstMapInfo map;
  if (!gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    GST_ELEMENT_ERROR (self, RESOURCE, READ, ("a buffer of %" G_GSIZE_FORMAT " bytes cannot be read", gst_buffer_get_size (buffer)),
                       (NULL));
    return GST_FLOW_ERROR;
  }
  /* Text of several lines is one message; nothing found is no line. */
  SlPut put = SL_PUT_TAKEN;
  GstFlowReturn flow = GST_FLOW_OK;
  while (map.size > 0 && flow == GST_FLOW_OK
         && (put = sl_publisher_put (self->publisher, (const char *) map.data, map.size)) == SL_PUT_UNLOCKED)
    flow = gst_base_sink_wait_preroll (sink);
  gst_buffer_unmap (buffer, &map);
  tell_losses (self, dropped);
  return put == SL_PUT_FAILED ? GST_FLOW_ERROR : flow;
}

/* At the end of the stream: what did not get through. */
static void
tell_end (SlPublish *self, gint64 timeout)
{
  const gboolean drained = sl_publisher_drain (self->publisher, timeout);
  const SlPublishCounts counts = read_counts (self);
  const guint64 lost = counts.dropped + (drained ? 0 : counts.waiting);
  if (lost == 0)
    return;
  g_autofree char *location = dup_display_location (self);
  GST_ELEMENT_WARNING (self, RESOURCE, WRITE,
                       ("%s: at the end of the stream %" G_GUINT64_FORMAT " lines are published and %" G_GUINT64_FORMAT
                        " are lost, %" G_GUINT64_FORMAT " of them because they could not be sent within drain-timeout",
                        location, counts.published, lost, lost - counts.dropped),
                       (NULL));
}

static gboolean
sl_publish_event (GstBaseSink *sink, GstEvent *event)
{
  SlPublish *self = (SlPublish *) sink;
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    GST_OBJECT_LOCK (self);
    const gint64 timeout = (gint64) self->settings.drain_ms * G_TIME_SPAN_MILLISECOND;
    GST_OBJECT_UNLOCK (self);
    tell_end (self, timeout);
  }
  return GST_BASE_SINK_CLASS (sl_publish_parent_class)->event (sink, event);
}

static void
sl_publish_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  SlPublish *self = (SlPublish *) object;
  if (id == PROP_PUBLISHED)
    g_value_set_uint64 (value, read_counts (self).published);
  else if (id == PROP_DROPPED)
    g_value_set_uint64 (value, read_counts (self).dropped);
  else if (id == PROP_CONNECTED)
    g_value_set_boolean (value, read_counts (self).connected);
  else {
    GST_OBJECT_LOCK (object);
    sl_property_get (object, &properties[id - 1], value);
    GST_OBJECT_UNLOCK (object);
  }
}

static void
sl_publish_finalize (GObject *object)
{
  sl_properties_clear (object, properties, G_N_ELEMENTS (properties));
  G_OBJECT_CLASS (sl_publish_parent_class)->finalize (object);
}

static void
install_counts (GObjectClass *klass)
{
  const GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  g_object_class_install_property (
    klass, PROP_PUBLISHED,
    g_param_spec_uint64 ("published", "Published", "Lines that are out since the last start", 0, G_MAXUINT64, 0, flags));
  g_object_class_install_property (klass, PROP_DROPPED,
                                   g_param_spec_uint64 ("dropped", "Dropped",
                                                        "Lines lost since the last start because the queue was full or the end came first",
                                                        0, G_MAXUINT64, 0, flags));
  g_object_class_install_property (klass, PROP_CONNECTED,
                                   g_param_spec_boolean ("connected", "Connected", "Whether lines can be sent right now", FALSE, flags));
}

static void
sl_publish_class_init (SlPublishClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *sink_class = GST_BASE_SINK_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (sl_publish_debug, "slpublish", 0, "predictions published");
  object_class->finalize = sl_publish_finalize;
  sl_properties_install (object_class, properties, G_N_ELEMENTS (properties));
  object_class->get_property = sl_publish_get_property;
  install_counts (object_class);
  sink_class->start = sl_publish_start;
  sink_class->stop = sl_publish_stop;
  sink_class->unlock = sl_publish_unlock;
  sink_class->unlock_stop = sl_publish_unlock_stop;
  sink_class->set_caps = sl_publish_set_caps;
  sink_class->render = sl_publish_render;
  sink_class->event = sl_publish_event;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_set_static_metadata (
    element_class, "Prediction publisher", "Sink/Network",
    "Writes predictions (JSON or text, a line a frame) to a file with rotation, standard output, a UNIX or TCP socket or an MQTT broker: "
    "... ! slpostprocess ! application/x-json ! slpublish location=mqtt://localhost/sightline/door",
    "The Sightline authors");
}

static void
sl_publish_init (SlPublish *self)
{
  sl_properties_init (self, properties, G_N_ELEMENTS (properties));
  gst_base_sink_set_sync (GST_BASE_SINK (self), FALSE);
  gst_base_sink_set_async_enabled (GST_BASE_SINK (self), FALSE);
}
