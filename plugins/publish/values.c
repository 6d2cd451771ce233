/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/publish/values.h"

#include "plugins/publish/frame_lines.h"

#define AT(member) G_STRUCT_OFFSET (SlPublishValues, member)
#define DAY 86400

static const SlProperty rows[] = {
  { "location", "Location",
    "Where lines go: a path or file:///path (appended to), - (standard output), unix:/path, "
    "tcp://host:port, "
    "mqtt[s]://[user[:password]@]host[:port]/topic, "
    "kafka[s]://[user[:password]@]host[:port][,host[:port]...]/topic, http[s]://host/path (POST), "
    "ntfy[s]://host/topic, "
    "push:/file of subscriptions, exec:/program arguments; {host}, {element} and {source} in a "
    "topic stand for names. Reads back without the password",
    SL_PROPERTY_STRING, AT (to.location) },
  { "source", "Source",
    "Value of {source} in a topic, such as the camera's name; unset = \"unnamed\". For video also "
    "\"source\" of the lines; unset = null",
    SL_PROPERTY_STRING, AT (to.source) },
  { "format", "Format",
    "Video: format of lines. Lines of application/x-json or text/x-raw are published unchanged",
    SL_PROPERTY_CHOICE, AT (format), 0, 0, SL_LINE_JSON, sl_line_format_get_type },
  { "classes", "Classes",
    "Video: classes in the lines, such as person,car, or excluded ones, such as !dog; unset = all",
    SL_PROPERTY_STRING, AT (classes) },
  { "max-queue-bytes", "Queue",
    "Most bytes of lines that wait to be sent; beyond it the oldest are lost and counted in "
    "\"dropped\"",
    SL_PROPERTY_INT, AT (to.queue_bytes), 1024, G_MAXINT, 1 << 20 },
  { "retry-min", "First retry",
    "Milliseconds until the first attempt after a lost connection; doubled after each; a random "
    "part of up to a quarter is subtracted",
    SL_PROPERTY_INT, AT (to.retry_min_ms), 10, DAY * 1000, 500 },
  { "retry-max", "Longest retry", "Most milliseconds between two attempts", SL_PROPERTY_INT,
    AT (to.retry_max_ms), 10, DAY * 1000, 30000 },
  { "drain-timeout", "Drain", "Milliseconds that EOS waits for lines that could not be sent yet",
    SL_PROPERTY_INT, AT (drain_ms), 0, 60000, 2000 },
  { "max-file-size", "File size",
    "Files: bytes after which the file is renamed to FILE.1 and a new one begins; 0 = never",
    SL_PROPERTY_INT, AT (to.file_bytes), 0, G_MAXINT, 0 },
  { "max-file-age", "File age",
    "Files: seconds after which the file is renamed to FILE.1 and a new one begins; 0 = never",
    SL_PROPERTY_INT, AT (to.file_seconds), 0, 366 * DAY, 0 },
  { "keep-files", "Files kept",
    "Files: number of rotated files that are kept, FILE.1 is the newest", SL_PROPERTY_INT,
    AT (to.keep_files), 0, 1000, 5 },
  { "file-mode", "File mode",
    "Files: permissions of files that are made, in octal, 0600 to 0666; unset = 0640",
    SL_PROPERTY_STRING, AT (file_mode) },
  { "qos", "Quality of service",
    "MQTT: 0 = at most once, 1 = at least once, 2 = exactly once (with a client-id)",
    SL_PROPERTY_INT, AT (to.qos), 0, 2, 1 },
  { "retain", "Retain", "MQTT: the broker keeps the last line for later subscribers",
    SL_PROPERTY_BOOL, AT (to.retain) },
  { "keep-alive", "Keep alive", "MQTT: seconds after which a silent connection is tested",
    SL_PROPERTY_INT, AT (to.keep_alive), 5, 3600, 30 },
  { "client-id", "Client id",
    "MQTT, Kafka: name of this client. MQTT: unique at the broker; if set, the broker keeps the "
    "session across reconnections; unset = a random one",
    SL_PROPERTY_STRING, AT (to.client_id) },
  { "username", "User name", "MQTT, Kafka: user name; replaces the location's", SL_PROPERTY_STRING,
    AT (to.username) },
  { "password", "Password",
    "MQTT, Kafka: password; replaces the location's. Never shown: reads back as unset",
    SL_PROPERTY_STRING, AT (to.password) },
  { "password-file", "Password file",
    "MQTT, Kafka: file with the password, read at each start; replaces password and the location's",
    SL_PROPERTY_STRING, AT (password_file) },
  { "ca-file", "Certificate authorities",
    "mqtts, kafkas: PEM file of authorities of the broker's certificate; unset = the system's",
    SL_PROPERTY_STRING, AT (to.ca_file) },
  { "certificate", "Certificate", "mqtts://, kafkas://: PEM file of this client's certificate",
    SL_PROPERTY_STRING, AT (to.certificate) },
  { "private-key", "Private key", "mqtts://, kafkas://: PEM file of this client's key",
    SL_PROPERTY_STRING, AT (to.key) },
  { "availability-topic", "Availability topic",
    "MQTT: topic of the retained words online and offline (also the last will); unset = "
    "TOPIC/available; \"\" = none",
    SL_PROPERTY_STRING, AT (to.availability) },
  { "counts", "Counts",
    "MQTT, JSON lines: also publish the number of objects a label, retained, to TOPIC/LABEL when "
    "it changes; counts of zones and lines to TOPIC/zones/NAME, TOPIC/lines/NAME/in and out",
    SL_PROPERTY_BOOL, AT (to.counts) },
  { "discovery-prefix", "Discovery prefix",
    "MQTT, JSON lines: announce the camera to Home Assistant under this prefix, usually "
    "\"homeassistant\", and accept its switch and its threshold; unset = off",
    SL_PROPERTY_STRING, AT (to.discovery) },
  { "interval", "Interval",
    "Least seconds between two lines; a line with an event is sent at once; 0 = a line a frame",
    SL_PROPERTY_DOUBLE, AT (interval), 0, DAY, 0 },
  { "on-change", "On change",
    "JSON lines: publish only lines whose counts of labels, zones or lines differ from those of "
    "the last published one, and lines with events",
    SL_PROPERTY_BOOL, AT (on_change) },
  { "picture-interval", "Picture interval",
    "MQTT, video: least seconds between two drawn pictures, as JPEG to TOPIC/picture; 0 = none",
    SL_PROPERTY_DOUBLE, AT (picture_interval), 0, DAY, 0 },
  { "control", "Control",
    "MQTT: settings of the pipeline may be changed at TOPIC/set/NAME, and TOPIC/state/NAME has "
    "their values; who may write there is up to the broker",
    SL_PROPERTY_BOOL, AT (control) },
  { "enabled", "Enabled",
    "Whether lines are published; false = nothing is published, and no line counts as lost",
    SL_PROPERTY_BOOL, AT (enabled), 0, 0, TRUE, NULL, TRUE },
  { "kept", "Kept",
    "Last state of the broker's switch, ON or OFF; if set before the start, it overrides enabled",
    SL_PROPERTY_STRING, AT (kept) },
  { "events", "Events",
    "Video: a message for each event of slanalyze of these kinds, such as entered,dwell, or all, "
    "in place of a line for each frame; unset = off",
    SL_PROPERTY_STRING, AT (events) },
  { "zones", "Zones",
    "With events: names of zones and lines whose events count, such as door,yard; unset = all",
    SL_PROPERTY_STRING, AT (zones) },
  { "attach-picture", "Attach picture",
    "With events: each message has the frame with drawn predictions, \"picture\": JPEG in base64",
    SL_PROPERTY_BOOL, AT (attach_picture) },
  { "signing-key-file", "Signing key",
    "http[s]://: file with the key that signs each body: X-Sightline-Signature has its HMAC-SHA256",
    SL_PROPERTY_STRING, AT (to.signing_key) },
  { "title", "Title", "ntfy: title of messages", SL_PROPERTY_STRING, AT (to.title) },
  { "priority", "Priority", "ntfy: 1 to 5, or min, low, default, high, max", SL_PROPERTY_STRING,
    AT (to.priority) },
  { "tags", "Tags", "ntfy: tags with ',' between, such as warning,camera", SL_PROPERTY_STRING,
    AT (to.tags) },
  { "push-key-file", "Push key",
    "push: PEM file with the private key of Web Push, a key of the curve P-256", SL_PROPERTY_STRING,
    AT (to.push_key) },
  { "push-subject", "Push subject",
    "push: whom a push service may ask about the messages: mailto:NAME@HOST or https://HOST",
    SL_PROPERTY_STRING, AT (to.push_subject) },
  { "push-hosts", "Push hosts",
    "push: HOST or HOST:PORT of own push services, with ',' between: addresses may be private",
    SL_PROPERTY_STRING, AT (to.push_hosts) },
  { "timeout", "Timeout", "HTTP, exec: seconds that a request or a program may take",
    SL_PROPERTY_INT, AT (to.timeout_s), 1, 300, 10 },
  { "message-key", "Message key",
    "Kafka: key of each message; messages of one key stay in order, in one partition. {host}, "
    "{element} and {source} stand for names; unset = {source}, or {host}/{element} without source",
    SL_PROPERTY_STRING, AT (to.message_key) },
  { "sasl-mechanism", "SASL mechanism",
    "Kafka, with a user name: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; unset = PLAIN",
    SL_PROPERTY_STRING, AT (to.sasl_mechanism) },
};

const SlProperty *
sl_publish_properties (gsize offset, guint *n)
{
  static SlProperty properties[G_N_ELEMENTS (rows)];
  static gsize count = 0;
  if (g_once_init_enter (&count)) {
    for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
      properties[i] = rows[i];
      properties[i].offset += offset;
    }
    g_once_init_leave (&count, G_N_ELEMENTS (rows));
  }
  *n = (guint) count;
  return properties;
}
