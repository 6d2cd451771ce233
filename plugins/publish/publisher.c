/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The queue and the thread behind slpublish.
 *
 * Invariant: a line leaves the queue only after its transport took it, so a lost connection loses
 * none but what the bound of the queue pushes out. The structure is shared by the element and the
 * thread and freed by the later of the two.
 */
#include "config.h"
#include "plugins/publish/publisher.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/base/backoff.h"
#include "core/base/redact.h"
#include "core/base/printable.h"
#include "core/base/fail.h"

/* What a queued line weighs beside its bytes. */
#define LINE_OVERHEAD 64
#define STOP_US (3 * G_USEC_PER_SEC / 2)
#define IDLE_MS 1000
/* Between two notifications of refused lines. */
#define REFUSED_US G_USEC_PER_SEC

struct _SlPublisher
{
  gatomicrefcount refs;
  const SlTransport *transport;
  gpointer state;    /* the thread's */
  gint64 refused_at; /* the thread's: when it last reported refused lines, 0 = never */
  SlPublishNotify notify;
  gpointer user_data;
  GDestroyNotify destroy;
  gsize queue_bytes;
  guint retry_min_ms, retry_max_ms;
  GCancellable *cancellable;
  GThread *thread;
  gint wake[2];
  GMutex lock;
  GCond changed;
  /* Under the lock: */
  GQueue lines; /* of GBytes */
  GBytes *sending;
  GBytes *extras[SL_PUBLISH_N_EXTRAS];
  SlPublishCounts counts;
  gboolean unlocked, stopping, failed, ended, flushed;
  gboolean told; /* why it failed */
};

static const SlTransport *const transports[] = {
  &sl_transport_stdout,  &sl_transport_socket, &sl_transport_command,
#ifdef SL_HAVE_SOUP
  &sl_transport_webhook, &sl_transport_push,
#endif
#ifdef SL_HAVE_MOSQUITTO
  &sl_transport_mqtt,
#endif
#ifdef SL_HAVE_KAFKA
  &sl_transport_kafka,
#endif
  &sl_transport_file,
};

/* What locations name that a build may lack. */
static const struct
{
  const char *scheme, *what, *package;
} optional[] = {
  { "mqtt://", "MQTT", "libmosquitto-dev" },  { "mqtts://", "MQTT", "libmosquitto-dev" },
  { "kafka://", "Kafka", "librdkafka-dev" },  { "kafkas://", "Kafka", "librdkafka-dev" },
  { "http://", "HTTP", "libsoup-3.0-dev" },   { "https://", "HTTP", "libsoup-3.0-dev" },
  { "ntfy://", "HTTP", "libsoup-3.0-dev" },   { "ntfys://", "HTTP", "libsoup-3.0-dev" },
  { "push:", "Web Push", "libsoup-3.0-dev" },
};

/* "mqtt:host/t", "tcp:host:1", and whatever has a password in it: a path like that is a URI that
 * went wrong, and a file of that name would show the password. */
static gboolean
is_mistyped (const char *location, const char *shown)
{
  static const char *const begins[] = { "mqtt:", "mqtts:", "kafka:", "kafkas:", "tcp:",
                                        "http:", "https:", "ntfy:",  "ntfys:" };
  for (guint i = 0; i < G_N_ELEMENTS (begins); i++)
    if (g_ascii_strncasecmp (location, begins[i], strlen (begins[i])) == 0)
      return TRUE;
  return strstr (location, "://") != NULL || strcmp (location, shown) != 0;
}

char *
sl_publisher_shown_location (const char *location)
{
  static const char *const hosts[] = { "http://", "https://", "ntfy://", "ntfys://" };
  if (location != NULL && g_ascii_strncasecmp (location, "exec:", 5) == 0)
    return g_strndup (location, strcspn (location, " \t\r\n"));
  g_autofree char *shown = sl_redact_uri (location, NULL);
  for (guint i = 0; shown != NULL && i < G_N_ELEMENTS (hosts); i++) {
    const gsize scheme = strlen (hosts[i]);
    if (g_ascii_strncasecmp (shown, hosts[i], scheme) != 0)
      continue;
    const char *host = shown + scheme, *end = host + strcspn (host, "/?#\\");
    const char *user = g_strrstr_len (host, end - host, "@");
    return g_strdup_printf ("%s%s%.*s%s", hosts[i], user != NULL ? SL_HIDDEN : "",
                            (int) (end - (user != NULL ? user : host)), user != NULL ? user : host,
                            *end != '\0' ? "/" SL_HIDDEN : "");
  }
  return g_steal_pointer (&shown);
}

/* A location without a scheme is a file's path, so the file's row comes last and takes what no
 * other does. @plain: (out) (transfer full): the location with its scheme as the transports write
 * it, because schemes are not case-sensitive (RFC 3986, 3.1). */
static const SlTransport *
find_transport (const char *location, char **plain, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (transports); i++)
    for (const char *const *scheme = transports[i]->schemes; *scheme != NULL; scheme++)
      if (g_ascii_strncasecmp (location, *scheme, strlen (*scheme)) == 0) {
        *plain = g_strconcat (*scheme, location + strlen (*scheme), NULL);
        return transports[i];
      }
  *plain = g_strdup (location);
  if (strcmp (location, "-") == 0)
    return &sl_transport_stdout;
  g_autofree char *shown = sl_publisher_shown_location (location);
  for (guint i = 0; i < G_N_ELEMENTS (optional); i++)
    if (g_ascii_strncasecmp (location, optional[i].scheme, strlen (optional[i].scheme)) == 0)
      return sl_fail_null (error, SL_ERROR_UNSUPPORTED,
                           "location=%s: this build has no %s: install %s and build again", shown,
                           optional[i].what, optional[i].package);
  if (!is_mistyped (location, shown))
    return &sl_transport_file;
  const char *slashes = strstr (shown, "://");
  return sl_fail_null (
    error, SL_ERROR_ARGUMENT,
    "location=%s: expected a path, \"-\", file://, unix:/path, tcp://host:port, "
    "mqtt[s]://host/topic, kafka[s]://host/topic, "
    "http[s]://host/path, ntfy[s]://host/topic, push:/file or exec:/program, got scheme \"%.*s\"",
    shown, slashes != NULL ? (gint) (slashes - shown) : 0, shown);
}

static void
unref_publisher (SlPublisher *self)
{
  if (!g_atomic_ref_count_dec (&self->refs))
    return;
  g_queue_clear_full (&self->lines, (GDestroyNotify) g_bytes_unref);
  g_clear_pointer (&self->sending, g_bytes_unref);
  for (guint i = 0; i < SL_PUBLISH_N_EXTRAS; i++)
    g_clear_pointer (&self->extras[i], g_bytes_unref);
  g_clear_object (&self->cancellable);
  close (self->wake[0]);
  close (self->wake[1]);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  if (self->destroy != NULL)
    self->destroy (self->user_data);
  g_free (self);
}

static void
wake_thread (SlPublisher *self)
{
  ssize_t written;
  do
    written = write (self->wake[1], "", 1);
  while (written < 0 && errno == EINTR);
}

static void
clear_wake (SlPublisher *self)
{
  char bytes[64];
  while (read (self->wake[0], bytes, sizeof bytes) > 0)
    continue;
}

static gsize
weight (GBytes *line)
{
  return g_bytes_get_size (line) + LINE_OVERHEAD;
}

/* Under the lock: the line that goes next; it stays counted as queued until it is out. */
static GBytes *
next_line (SlPublisher *self)
{
  if (self->sending == NULL)
    self->sending = g_queue_pop_head (&self->lines);
  return self->sending;
}

static guint
unacknowledged (SlPublisher *self)
{
  return self->transport->unacknowledged != NULL ? self->transport->unacknowledged (self->state)
                                                 : 0;
}

/* Lines that were taken, and of which the peer says now that it will not have them. */
static void
count_refused (SlPublisher *self)
{
  const char *reason = NULL;
  const guint refused =
    self->transport->refused != NULL ? self->transport->refused (self->state, &reason) : 0;
  if (refused == 0)
    return;
  g_mutex_lock (&self->lock);
  self->counts.published -= refused;
  self->counts.dropped += refused;
  self->counts.refused += refused;
  g_mutex_unlock (&self->lock);
  const gint64 now = g_get_monotonic_time ();
  if (self->refused_at != 0 && now < self->refused_at + REFUSED_US)
    return;
  self->refused_at = now;
  g_autofree char *shown = sl_printable_message (reason);
  self->notify (self->user_data, SL_PUBLISH_REFUSED, shown, 0);
}

static void
note_flushed (SlPublisher *self)
{
  const gboolean acknowledged = unacknowledged (self) == 0;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  self->flushed = acknowledged && self->sending == NULL && g_queue_is_empty (&self->lines);
  g_cond_broadcast (&self->changed);
}

static void
line_done (SlPublisher *self)
{
  g_mutex_lock (&self->lock);
  self->counts.queued_bytes -= weight (self->sending);
  self->counts.published++;
  g_clear_pointer (&self->sending, g_bytes_unref);
  g_mutex_unlock (&self->lock);
  count_refused (self);
  note_flushed (self);
}

static void
set_connected (SlPublisher *self, gboolean connected)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  self->counts.connected = connected;
  g_cond_broadcast (&self->changed);
}

/* Sleeps between attempts, unless the publisher stops. */
static void
back_off (SlPublisher *self, guint delay_ms)
{
  const gint64 until = g_get_monotonic_time () + delay_ms * G_TIME_SPAN_MILLISECOND;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  while (!self->stopping && g_cond_wait_until (&self->changed, &self->lock, until))
    continue;
}

/* Nothing more can be sent. A line is refused from now on, but not before the reason is told. */
static void
fail (SlPublisher *self, const char *reason)
{
  g_mutex_lock (&self->lock);
  self->failed = TRUE;
  g_mutex_unlock (&self->lock);
  self->notify (self->user_data, SL_PUBLISH_FAILED, reason, 0);
  g_mutex_lock (&self->lock);
  self->told = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
}

/* The connection is gone or was not to be had, the @failures-th time in a row: says so and waits.
 */
static void
lose (SlPublisher *self, guint failures, GError *error)
{
  const guint delay = sl_backoff_delay (self->retry_min_ms, self->retry_max_ms, failures);
  self->transport->disconnect (self->state);
  set_connected (self, FALSE);
  g_mutex_lock (&self->lock);
  const gboolean stopping = self->stopping;
  g_mutex_unlock (&self->lock);
  const gboolean failed = self->transport->final != NULL && self->transport->final (error);
  if (!stopping) {
    g_autofree char *reason = sl_printable_message (error->message);
    if (failed) {
      fail (self, reason);
    } else {
      self->notify (self->user_data, SL_PUBLISH_DISCONNECTED, reason, delay);
      back_off (self, delay);
    }
  }
  g_error_free (error);
}

static gboolean
send_extras (SlPublisher *self, GError **error)
{
  gboolean alive = TRUE;
  for (guint i = 0; alive && i < SL_PUBLISH_N_EXTRAS; i++) {
    g_mutex_lock (&self->lock);
    g_autoptr (GBytes) extra = g_steal_pointer (&self->extras[i]);
    g_mutex_unlock (&self->lock);
    alive = extra == NULL || self->transport->extra == NULL
            || self->transport->extra (self->state, (SlPublishExtra) i, extra, error);
  }
  return alive;
}

/* One step while connected. FALSE: the connection is gone. */
static gboolean
serve (SlPublisher *self, GError **error)
{
  if (!send_extras (self, error))
    return FALSE;
  g_mutex_lock (&self->lock);
  GBytes *line = next_line (self);
  g_mutex_unlock (&self->lock);
  if (line == NULL) {
    const gboolean alive = self->transport->idle (self->state, self->wake[0], IDLE_MS, error);
    clear_wake (self);
    count_refused (self);
    note_flushed (self);
    return alive;
  }
  gsize bytes;
  const char *text = g_bytes_get_data (line, &bytes);
  if (!self->transport->send (self->state, text, bytes, self->cancellable, error))
    return FALSE;
  line_done (self);
  return TRUE;
}

static gboolean
goes_on (SlPublisher *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  return !self->stopping && !self->failed;
}

/* A peer that closed its end must not end the process: this thread gets no SIGPIPE. */
static gpointer
publish_thread (gpointer data)
{
  SlPublisher *self = data;
  guint failures = 0;
  gboolean connected = FALSE;
  sigset_t pipe_signal;
  sigemptyset (&pipe_signal);
  sigaddset (&pipe_signal, SIGPIPE);
  pthread_sigmask (SIG_BLOCK, &pipe_signal, NULL);
  while (goes_on (self)) {
    GError *error = NULL;
    if (!connected && self->transport->connect (self->state, self->cancellable, &error)) {
      connected = TRUE;
      set_connected (self, TRUE);
      self->notify (self->user_data, SL_PUBLISH_CONNECTED, NULL, 0);
    }
    if (connected && serve (self, &error)) {
      failures = 0;
      continue;
    }
    connected = FALSE;
    lose (self, ++failures, error);
  }
  if (connected)
    self->transport->disconnect (self->state);
  count_refused (self);
  const guint unheard = unacknowledged (self);
  self->transport->close (self->state);
  g_mutex_lock (&self->lock);
  self->counts.published -= unheard;
  self->counts.dropped += unheard;
  self->counts.connected = FALSE;
  self->ended = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  unref_publisher (self);
  return NULL;
}

/* Of a location that is set. @plain: as of find_transport(). */
static const SlTransport *
choose_transport (const SlPublishSettings *settings, char **plain, GError **error)
{
  const char *location = settings->location;
  if (location == NULL || *location == '\0')
    return sl_fail_null (
      error, SL_ERROR_ARGUMENT,
      "location is not set: expected a path, \"-\" for standard output, unix:/path, "
      "tcp://host:port, mqtt://host/topic or kafka://host/topic");
  const SlTransport *transport = find_transport (location, plain, error);
  if (transport != NULL && settings->control != NULL && transport->extra == NULL)
    return sl_fail_null (error, SL_ERROR_ARGUMENT,
                         "control=true: expected location=mqtt[s]://HOST/TOPIC, whose broker may "
                         "change settings");
  return transport;
}

gboolean
sl_publisher_check (const SlPublishSettings *settings, GError **error)
{
  g_autofree char *plain = NULL;
  const SlTransport *transport = choose_transport (settings, &plain, error);
  if (transport == NULL)
    return FALSE;
  SlPublishSettings own = *settings;
  own.location = plain;
  if (transport->check != NULL)
    return transport->check (&own, error);
  gpointer state = transport->open (&own, error);
  if (state != NULL)
    transport->close (state);
  return state != NULL;
}

SlPublisher *
sl_publisher_new (const SlPublishSettings *settings, SlPublishNotify notify, gpointer user_data,
                  GDestroyNotify destroy, GError **error)
{
  g_autofree char *plain = NULL;
  const SlTransport *transport = choose_transport (settings, &plain, error);
  SlPublishSettings own = *settings;
  own.location = plain;
  gpointer state = transport != NULL ? transport->open (&own, error) : NULL;
  if (state == NULL)
    return NULL;
  SlPublisher *self = g_new0 (SlPublisher, 1);
  if (!g_unix_open_pipe (self->wake, FD_CLOEXEC, error)) {
    transport->close (state);
    g_free (self);
    return NULL;
  }
  g_unix_set_fd_nonblocking (self->wake[0], TRUE, NULL);
  g_unix_set_fd_nonblocking (self->wake[1], TRUE, NULL);
  g_atomic_ref_count_init (&self->refs);
  self->transport = transport;
  self->state = state;
  self->notify = notify;
  self->user_data = user_data;
  self->destroy = destroy;
  self->queue_bytes = settings->queue_bytes;
  self->retry_min_ms = MAX (settings->retry_min_ms, 1);
  self->retry_max_ms = MAX (settings->retry_max_ms, self->retry_min_ms);
  self->cancellable = g_cancellable_new ();
  self->flushed = TRUE;
  self->counts.connected = transport->waits;
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  g_atomic_ref_count_inc (&self->refs);
  self->thread = g_thread_new ("sl-publish", publish_thread, self);
  return self;
}

/* Under the lock: room for @bytes more by losing the oldest lines; the one being sent stays. */
static void
make_room (SlPublisher *self, gsize bytes)
{
  GBytes *oldest;
  while (self->counts.queued_bytes + bytes > self->queue_bytes
         && (oldest = g_queue_pop_head (&self->lines)) != NULL) {
    self->counts.queued_bytes -= weight (oldest);
    self->counts.dropped++;
    g_bytes_unref (oldest);
  }
}

/* Under the lock. */
static gboolean
must_wait (const SlPublisher *self, gsize bytes)
{
  return self->transport->waits && self->counts.connected && !self->failed
         && self->counts.queued_bytes > 0 && self->counts.queued_bytes + bytes > self->queue_bytes;
}

static GBytes *
copy_line (const char *line, gsize bytes)
{
  const gsize total = bytes + (bytes == 0 || line[bytes - 1] != '\n');
  char *copy = g_malloc (total);
  memcpy (copy, line, bytes);
  copy[total - 1] = '\n';
  return g_bytes_new_take (copy, total);
}

SlPut
sl_publisher_put (SlPublisher *self, const char *line, gsize bytes)
{
  GBytes *queued = copy_line (line, bytes);
  SlPut put = SL_PUT_TAKEN;
  g_mutex_lock (&self->lock);
  while ((must_wait (self, weight (queued)) || (self->failed && !self->told)) && !self->unlocked)
    g_cond_wait (&self->changed, &self->lock);
  if (self->failed)
    put = SL_PUT_FAILED;
  else if (must_wait (self, weight (queued)))
    put = SL_PUT_UNLOCKED;
  if (put == SL_PUT_TAKEN) {
    make_room (self, weight (queued));
    self->counts.queued_bytes += weight (queued);
    self->flushed = FALSE;
    g_queue_push_tail (&self->lines, g_steal_pointer (&queued));
  }
  g_mutex_unlock (&self->lock);
  g_clear_pointer (&queued, g_bytes_unref);
  wake_thread (self);
  return put;
}

gboolean
sl_publisher_takes_extras (const SlPublisher *self)
{
  return self->transport->extra != NULL;
}

void
sl_publisher_put_extra (SlPublisher *self, SlPublishExtra extra, GBytes *what)
{
  g_mutex_lock (&self->lock);
  g_clear_pointer (&self->extras[extra], g_bytes_unref);
  self->extras[extra] = what;
  g_mutex_unlock (&self->lock);
  wake_thread (self);
}

void
sl_publisher_unlock (SlPublisher *self, gboolean unlocked)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  self->unlocked = unlocked;
  g_cond_broadcast (&self->changed);
}

gboolean
sl_publisher_drain (SlPublisher *self, gint64 timeout_us)
{
  const gint64 until = g_get_monotonic_time () + timeout_us;
  gboolean in_time = TRUE;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  while (!self->flushed && !self->failed && !self->unlocked && in_time) {
    if (self->transport->waits && self->counts.connected)
      g_cond_wait (&self->changed, &self->lock);
    else
      in_time = g_cond_wait_until (&self->changed, &self->lock, until);
  }
  return self->flushed;
}

void
sl_publisher_counts (SlPublisher *self, SlPublishCounts *counts)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  *counts = self->counts;
  counts->waiting = g_queue_get_length (&self->lines) + (self->sending != NULL);
}

void
sl_publisher_stop (SlPublisher *self, SlPublishCounts *counts)
{
  const gint64 until = g_get_monotonic_time () + STOP_US;
  g_cancellable_cancel (self->cancellable);
  g_mutex_lock (&self->lock);
  self->stopping = TRUE;
  g_cond_broadcast (&self->changed);
  g_mutex_unlock (&self->lock);
  wake_thread (self);
  g_mutex_lock (&self->lock);
  while (!self->ended && g_cond_wait_until (&self->changed, &self->lock, until))
    continue;
  const gboolean ended = self->ended;
  self->counts.dropped += g_queue_get_length (&self->lines) + (self->sending != NULL);
  *counts = self->counts;
  g_mutex_unlock (&self->lock);
  if (ended)
    g_thread_join (self->thread);
  else
    g_thread_unref (self->thread);
  unref_publisher (self);
}
