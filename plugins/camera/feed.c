/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Three parties share a SlCameraFeed: its thread, which runs the whole life of the camera below;
 * the inner pipeline's threads, which deliver frames and messages; and the element, which starts
 * and stops it. One lock guards what they share, and is held neither while posting a message nor
 * while pushing a frame nor while changing a state. After sl_camera_feed_stop() the feed no longer
 * knows its element.
 */
#include "plugins/camera/feed_private.h"

#include <glib/gstdio.h>

#include "core/base/backoff.h"
#include "plugins/base/report.h"
#include "plugins/camera/format.h"
#include "plugins/camera/messages.h"

GST_DEBUG_CATEGORY_STATIC (sl_camera_feed_debug);
#define GST_CAT_DEFAULT sl_camera_feed_debug

/* Frames for that long, and the next failure begins a new series of attempts. */
#define STEADY_US (5 * G_USEC_PER_SEC)
#define STOP_PATIENCE_US (3 * G_USEC_PER_SEC / 2)
#define DEVICE_POLL_US (G_USEC_PER_SEC / 5)
/* How often the bytes of a connection are counted, and how long an element may take to stop before
 * its connection is cut. */
#define TRAFFIC_POLL_US (G_USEC_PER_SEC / 10)
/* Of RTSP before the first packet, and between two. */
#define HANDSHAKE_BYTES (64 * 1024)
#define END_PATIENCE_US G_USEC_PER_SEC
/* How many of the limits without a frame frames that are left out may take. */
#define KEY_PATIENCE 3
#define REMIND_US (60 * G_USEC_PER_SEC)

typedef enum
{
  STOPPED,
  FAILED,
  ENDED
} Outcome;

static SlCameraFeed *
feed_ref (SlCameraFeed *feed)
{
  g_atomic_ref_count_inc (&feed->refs);
  return feed;
}

static void
feed_unref (gpointer data)
{
  SlCameraFeed *feed = data;
  if (!g_atomic_ref_count_dec (&feed->refs))
    return;
  sl_camera_uri_free (feed->uri);
  g_object_unref (feed->cancel);
  g_clear_pointer (&feed->sockets, sl_camera_sockets_unref);
  sl_intact_unref (feed->intact);
  g_clear_pointer (&feed->quiet, sl_quiet_unref);
  g_clear_error (&feed->fault);
  g_clear_error (&feed->remark);
  g_ptr_array_unref (feed->tried);
  gst_clear_caps (&feed->caps);
  g_free (feed->warned);
  g_mutex_clear (&feed->lock);
  g_cond_clear (&feed->cond);
  g_free (feed);
}

GstElement *
sl_camera_feed_dup_camera (SlCameraFeed *feed)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&feed->lock);
  return feed->camera != NULL ? gst_object_ref (feed->camera) : NULL;
}

GstAppSrc *
sl_camera_feed_dup_output (SlCameraFeed *feed)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&feed->lock);
  return feed->output != NULL ? gst_object_ref (feed->output) : NULL;
}

GstAppSrc *
sl_camera_feed_dup_encoded (SlCameraFeed *feed)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&feed->lock);
  return feed->encoded != NULL ? gst_object_ref (feed->encoded) : NULL;
}

/* With the lock held. */
static gint64
age_of (const SlCameraFeed *feed)
{
  return feed->last_frame > 0 ? (g_get_monotonic_time () - feed->last_frame) / 1000 : -1;
}

void
sl_camera_feed_tell_people (SlCameraFeed *feed, GstMessageType type, const GError *fault,
                            const char *text)
{
  g_autoptr (GstElement) camera = sl_camera_feed_dup_camera (feed);
  g_autofree char *line = g_strdup_printf ("%s: %s", feed->uri->display, text);
  if (camera != NULL)
    sl_camera_post (camera, type, fault, line);
}

/* Messages of the inner pipeline: called by whatever thread posts them. */

/* rtspsrc says so in the thread that connects. */
static void
claim_connection (SlCameraFeed *feed, GstMessage *message)
{
  g_autofree char *code = NULL;
  gst_message_parse_progress (message, NULL, &code, NULL);
  if (feed->sockets != NULL && g_strcmp0 (code, "connect") == 0)
    sl_camera_sockets_claim (feed->sockets);
}

/* Called by whatever thread adds an element. */
static void
note_element (GstBin *pipeline, GstBin *bin, GstElement *element, gpointer data)
{
  SlCameraFeed *feed = data;
  GstElementFactory *factory = gst_element_get_factory (element);
  if (factory == NULL || GST_IS_BIN (element)
      || !(sl_element_has_class (element, "Decoder") || sl_element_has_class (element, "Demuxer")
           || sl_element_has_class (element, "Depayloader")))
    return;
  g_mutex_lock (&feed->lock);
  g_ptr_array_add (feed->tried, gst_object_ref (factory));
  g_mutex_unlock (&feed->lock);
}

static void
unref_feed (gpointer feed, GClosure *closure)
{
  feed_unref (feed);
}

static GstBusSyncReply
take_message (GstBus *bus, GstMessage *message, gpointer data)
{
  SlCameraFeed *feed = data;
  const GstStructure *structure = gst_message_get_structure (message);
  g_mutex_lock (&feed->lock);
  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ERROR:
      if (feed->fault == NULL)
        feed->fault = sl_camera_message_fault (message, feed->uri);
      break;
    case GST_MESSAGE_WARNING:
      g_clear_error (&feed->remark);
      feed->remark = sl_camera_message_fault (message, feed->uri);
      break;
    case GST_MESSAGE_ELEMENT:
      if (feed->fault == NULL && gst_structure_has_name (structure, "missing-plugin"))
        feed->fault = sl_camera_missing_fault (structure, feed->tried);
      break;
    case GST_MESSAGE_EOS:
      feed->ended = TRUE;
      break;
    case GST_MESSAGE_LATENCY:
      feed->latency_changed = TRUE;
      break;
    case GST_MESSAGE_PROGRESS:
      claim_connection (feed, message);
      break;
    default:
      break;
  }
  g_cond_broadcast (&feed->cond);
  g_mutex_unlock (&feed->lock);
  if (structure != NULL && gst_structure_has_name (structure, SL_QUIET_MESSAGE))
    sl_camera_feed_tell_quiet (feed, structure);
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* The thread. */

static void
tell_aged (SlCameraFeed *feed, const char *state, const char *reason, guint next_delay, gint64 age)
{
  g_autoptr (GstElement) camera = sl_camera_feed_dup_camera (feed);
  if (camera == NULL)
    return;
  g_mutex_lock (&feed->lock);
  feed->state = state;
  g_autoptr (GstCaps) caps =
    feed->caps != NULL && g_str_equal (state, "playing") ? gst_caps_ref (feed->caps) : NULL;
  g_mutex_unlock (&feed->lock);
  GST_INFO_OBJECT (camera, "%s: %s %s", feed->uri->display, state, reason != NULL ? reason : "");
  sl_camera_post_status (camera, feed->uri,
                         &(SlCameraStatus){ .state = state,
                                            .reason = reason,
                                            .attempt = feed->attempt,
                                            .next_delay = next_delay,
                                            .age = age,
                                            .caps = caps });
}

static void
tell (SlCameraFeed *feed, const char *state, const char *reason, guint next_delay)
{
  tell_aged (feed, state, reason, next_delay, sl_camera_feed_age (feed));
}

/* Sinks downstream have to know how old frames are when they arrive. */
static void
update_latency (SlCameraFeed *feed, GstBin *pipeline, GstElement *sink)
{
  gst_bin_recalculate_latency (pipeline);
  g_autoptr (GstQuery) query = gst_query_new_latency ();
  g_autoptr (GstPad) pad = gst_element_get_static_pad (sink, "sink");
  g_autoptr (GstAppSrc) output = sl_camera_feed_dup_output (feed);
  gboolean live;
  GstClockTime min, max;
  g_autoptr (GstAppSrc) encoded = sl_camera_feed_dup_encoded (feed);
  if (output == NULL || !feed->live || !gst_pad_peer_query (pad, query))
    return;
  gst_query_parse_latency (query, &live, &min, &max);
  gst_app_src_set_latency (output, live ? min : 0, GST_CLOCK_TIME_NONE);
  if (encoded != NULL)
    gst_app_src_set_latency (encoded, live ? min : 0, GST_CLOCK_TIME_NONE);
}

static void
tell_playing (SlCameraFeed *feed)
{
  tell (feed, "playing", NULL, 0);
  if (feed->warned != NULL) {
    g_autofree char *text = g_strdup_printf (
      "back after %.1f s", (gdouble) (g_get_monotonic_time () - feed->down_since) / G_USEC_PER_SEC);
    sl_camera_feed_tell_people (feed, GST_MESSAGE_INFO, NULL, text);
  }
  g_clear_pointer (&feed->warned, g_free);
  feed->down_since = 0;
  sl_camera_feed_check_quiet (feed);
}

/* Frames that were left out are told once they are over, and then once a minute. */
static void
tell_left_out (SlCameraFeed *feed, gboolean now)
{
  SlIntactCounts counts;
  sl_intact_read (feed->intact, &counts);
  g_autofree char *early = sl_camera_early_text (counts.early - feed->told.early);
  g_autofree char *damaged =
    sl_camera_damaged_text (counts.damaged - feed->told.damaged, feed->settings.protocols);
  const gboolean slow = counts.slow > feed->told.slow;
  if (early != NULL)
    sl_camera_feed_tell_people (feed, GST_MESSAGE_INFO, NULL, early);
  feed->told.early = counts.early;
  if ((damaged == NULL && !slow) || (!now && g_get_monotonic_time () - feed->told_at < REMIND_US))
    return;
  if (slow)
    sl_camera_feed_tell_people (
      feed, GST_MESSAGE_WARNING, NULL,
      "this machine decodes slower than the camera sends: frames are left out, each time up to the "
      "next key frame; set a smaller picture or rate in the camera");
  else
    sl_camera_feed_tell_people (feed, GST_MESSAGE_WARNING, NULL, damaged);
  feed->told = counts;
  feed->told_at = g_get_monotonic_time ();
}

/* With the lock held. @since: when a frame came last, or the connection was begun; @ms: the limit
 */
static GError *
no_frames (SlCameraFeed *feed, gboolean playing, gint64 since, gint ms)
{
  const char *remark = feed->remark != NULL ? feed->remark->message : NULL;
  SlIntactCounts counts;
  sl_intact_read (feed->intact, &counts);
  if (counts.last > since)
    return g_error_new (
      GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
      "no whole frame for %.1f s: those that came lack data, or have no key frame before them; set "
      "a shorter key frame interval in the camera",
      (gdouble) (g_get_monotonic_time () - since) / G_USEC_PER_SEC);
  return g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "%s %.1f s%s%s",
                      playing ? "no frame for" : "connected, but no frame within", ms / 1000.0,
                      remark != NULL ? "; the last warning was: " : "",
                      remark != NULL ? remark : "");
}

/* With the lock held. */
static void
check_traffic (SlCameraFeed *feed)
{
  const guint64 held = feed->sockets != NULL ? sl_camera_sockets_held (feed->sockets) : 0;
  const guint64 most = (guint64) feed->settings.max_part_bytes + HANDSHAKE_BYTES;
  if (held <= most || feed->fault != NULL)
    return;
  feed->fault =
    g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                 "the RTSP connection: expected a packet within %" G_GUINT64_FORMAT
                 " bytes (max-part-bytes and %d), got %" G_GUINT64_FORMAT
                 " without one; where the camera has such pictures, raise max-part-bytes",
                 most, HANDSHAKE_BYTES, held);
  sl_camera_sockets_cut (feed->sockets);
}

/* With the lock held, until something happens, or @deadline, -1 = never. */
static void
wait_until (SlCameraFeed *feed, gint64 deadline)
{
  const gint64 poll = feed->sockets != NULL ? g_get_monotonic_time () + TRAFFIC_POLL_US : -1;
  if (deadline < 0 || (poll > 0 && poll < deadline))
    deadline = poll;
  if (deadline < 0)
    g_cond_wait (&feed->cond, &feed->lock);
  else
    g_cond_wait_until (&feed->cond, &feed->lock, deadline);
  check_traffic (feed);
}

/* With the lock held: when a frame must have come. Those that are left out are a sign of life. */
static gint64
deadline_of (SlCameraFeed *feed, gint64 since, gint ms)
{
  SlIntactCounts counts;
  sl_intact_read (feed->intact, &counts);
  const gint64 limit = ms * G_GINT64_CONSTANT (1000);
  return CLAMP (counts.last, since, since + KEY_PATIENCE * limit) + limit;
}

/* With the lock held, which it gives up. */
static void
tell_waiting (SlCameraFeed *feed, gboolean waiting)
{
  static const char reason[] = "frames come that lack data, up to the next key frame";
  feed->waiting = waiting;
  const gint64 age = age_of (feed);
  g_mutex_unlock (&feed->lock);
  tell_left_out (feed, TRUE);
  tell_aged (feed, waiting ? "waiting" : "playing", waiting ? reason : NULL, 0, age);
  g_mutex_lock (&feed->lock);
}

/* With the lock held: when the camera gave the last sign of life. While it is quiet, and while a
 * frame waits for the elements downstream, few frames leave. */
static gint64
last_sign (const SlCameraFeed *feed)
{
  SlQuietFigures figures = { 0 };
  if (feed->quiet != NULL)
    sl_quiet_read (feed->quiet, &figures);
  return feed->blocked ? g_get_monotonic_time () : MAX (feed->last_frame, figures.last);
}

/* With the lock held, which it gives up: the next thing that may happen. @since: see no_frames();
 * @ms: the limit, 0 = none */
static void
watch_frames (SlCameraFeed *feed, gboolean playing, gint64 since, gint ms)
{
  const gint64 now = g_get_monotonic_time (), due = since + ms * G_GINT64_CONSTANT (1000),
               deadline = deadline_of (feed, since, ms);
  if ((playing && !feed->live) || ms == 0) {
    wait_until (feed, -1);
  } else if (feed->waiting && now < due) {
    tell_waiting (feed, FALSE);
  } else if (now >= deadline) {
    const gint64 age = age_of (feed); /* of now: the next frame may come while this is told */
    feed->fault = no_frames (feed, playing, since, ms);
    g_mutex_unlock (&feed->lock);
    if (playing)
      tell_aged (feed, "stalled", feed->fault->message, 0, age);
    g_mutex_lock (&feed->lock);
  } else if (playing && !feed->waiting && now >= due) {
    tell_waiting (feed, TRUE);
  } else {
    wait_until (feed, feed->waiting || !playing ? deadline : due);
  }
}

/* Called with the lock held, which it gives up while it works. */
static Outcome
watch (SlCameraFeed *feed, GstBin *pipeline, GstElement *sink)
{
  const gint64 start = g_get_monotonic_time ();
  gboolean playing = FALSE;
  /* What came before a fault or the end is told, too. */
  while (!feed->stop && ((feed->fault == NULL && !feed->ended) || (feed->frames > 0 && !playing))) {
    if ((feed->frames > 0 && !playing) || feed->latency_changed) {
      const gboolean begins = feed->frames > 0 && !playing;
      playing |= begins;
      feed->latency_changed = FALSE;
      g_mutex_unlock (&feed->lock);
      update_latency (feed, pipeline, sink);
      if (begins && (feed->live || feed->state == NULL || !g_str_equal (feed->state, "playing")))
        tell_playing (feed);
      g_mutex_lock (&feed->lock);
      continue;
    }
    watch_frames (feed, playing, playing ? last_sign (feed) : start,
                  playing ? feed->settings.stall_timeout : feed->settings.connect_timeout);
    if (playing && !feed->waiting) {
      g_mutex_unlock (&feed->lock);
      tell_left_out (feed, FALSE);
      g_mutex_lock (&feed->lock);
    }
  }
  feed->waiting = FALSE;
  g_mutex_unlock (&feed->lock);
  tell_left_out (feed, TRUE);
  g_mutex_lock (&feed->lock);
  return feed->stop ? STOPPED : feed->fault != NULL ? FAILED : ENDED;
}

static void
plan_init (SlCameraFeed *feed, GstElement *camera, SlCameraPlan *plan)
{
  g_autoptr (GstPad) src = gst_element_get_static_pad (camera, "src");
  g_autoptr (GstCaps) raw = gst_caps_new_empty_simple ("video/x-raw");
  *plan =
    (SlCameraPlan){ .uri = feed->uri,
                    .settings = &feed->settings,
                    .sockets = feed->sockets,
                    .request = feed->uri->kind == SL_CAMERA_HTTP ? sl_camera_request_new () : NULL,
                    .intact = feed->intact,
                    .quiet = feed->quiet,
                    .downstream = gst_pad_peer_query_caps (src, raw) };
  if (gst_caps_is_empty (plan->downstream)) {
    gst_caps_unref (plan->downstream);
    plan->downstream = g_steal_pointer (&raw);
  }
  sl_camera_model_size (src, &plan->model_width, &plan->model_height);
}

static void
tear_down (GstElement *pipeline, gpointer data)
{
  SlCameraFeed *feed = data;
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&feed->lock);
  feed->torn_down = TRUE;
  g_cond_broadcast (&feed->cond);
}

/* To NULL. rtspsrc says good-bye to the camera, and cannot be stopped while that goes on talking.
 */
static void
end_pipeline (SlCameraFeed *feed, GstElement *pipeline, const SlCameraPlan *plan)
{
  if (plan->request != NULL)
    sl_camera_request_cancel (plan->request);
  if (feed->sockets == NULL) {
    tear_down (pipeline, feed);
    return;
  }
  gint64 deadline = g_get_monotonic_time () + END_PATIENCE_US;
  gst_element_call_async (pipeline, tear_down, feed_ref (feed), feed_unref);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&feed->lock);
  while (!feed->torn_down)
    if (!g_cond_wait_until (&feed->cond, &feed->lock, deadline)) {
      sl_camera_sockets_cut (feed->sockets);
      deadline += END_PATIENCE_US;
    }
}

static Outcome
run_pipeline (SlCameraFeed *feed, GstElement *camera, const SlCameraPlan *plan)
{
  GstElement *pipeline = feed->pipeline =
    gst_object_ref_sink (gst_pipeline_new ("slcamera-source"));
  GstElement *sink =
    sl_camera_sink_new (plan->downstream, &sl_camera_feed_sink_calls, feed_ref (feed), feed_unref);
  gst_bin_add (GST_BIN (pipeline), sink);
  GstBus *bus = gst_element_get_bus (pipeline);
  gst_bus_set_sync_handler (bus, take_message, feed_ref (feed), feed_unref);
  g_signal_connect_data (pipeline, "deep-element-added", G_CALLBACK (note_element), feed_ref (feed),
                         unref_feed, 0);
  g_autoptr (GstClock) clock = feed->live ? gst_element_get_clock (camera) : NULL;
  if (clock != NULL)
    gst_pipeline_use_clock (GST_PIPELINE (pipeline), clock);
  GError *error = NULL;
  const gboolean built = sl_camera_build (plan, GST_BIN (pipeline), sink, &error);
  const gboolean started =
    built && gst_element_set_state (pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
  g_mutex_lock (&feed->lock);
  if (!started && feed->fault == NULL)
    feed->fault =
      error != NULL
        ? g_steal_pointer (&error)
        : g_error_new (
          GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
          "no format, size and rate are common to the source, slcamera's width, height and "
          "framerate, and the caps after it");
  const Outcome outcome = watch (feed, GST_BIN (pipeline), sink);
  g_mutex_unlock (&feed->lock);
  g_clear_error (&error);
  end_pipeline (feed, pipeline, plan);
  gst_bus_set_sync_handler (bus, NULL, NULL, NULL);
  gst_object_unref (bus);
  feed->pipeline = NULL;
  gst_object_unref (pipeline);
  return outcome;
}

/* What tells the node of a device from the one that it has after it was plugged in again; 0 = there
 * is none. */
static guint64
find_node (const SlCameraFeed *feed)
{
  GStatBuf info;
  if (feed->uri->kind != SL_CAMERA_V4L2 || g_stat (feed->uri->location, &info) != 0)
    return 0;
  return ((guint64) info.st_ctim.tv_sec * G_USEC_PER_SEC + (guint64) info.st_ctim.tv_nsec / 1000)
         ^ (guint64) info.st_ino << 52;
}

static Outcome
connect_once (SlCameraFeed *feed)
{
  g_autoptr (GstElement) camera = sl_camera_feed_dup_camera (feed);
  if (camera == NULL)
    return STOPPED;
  g_mutex_lock (&feed->lock);
  g_clear_error (&feed->fault);
  g_clear_error (&feed->remark);
  feed->ended = feed->latency_changed = feed->torn_down = feed->blocked = FALSE;
  feed->frames = 0;
  g_ptr_array_set_size (feed->tried, 0);
  g_mutex_unlock (&feed->lock);
  feed->node = find_node (feed);
  if (feed->sockets != NULL)
    sl_camera_sockets_forget (feed->sockets);
  SlCameraPlan plan;
  plan_init (feed, camera, &plan);
  sl_camera_encoded_begin (&feed->taken);
  plan.tap =
    feed->taps ? sl_camera_tap_new (&sl_camera_feed_tap_calls, feed_ref (feed), feed_unref) : NULL;
  GError *error = NULL;
  Outcome outcome = FAILED;
  if (sl_camera_probe (&plan, feed->cancel, &error))
    outcome = run_pipeline (feed, camera, &plan);
  gst_caps_unref (plan.downstream);
  g_clear_pointer (&plan.tap, sl_camera_tap_unref);
  g_clear_pointer (&plan.request, sl_camera_request_free);
  if (error == NULL)
    return outcome;
  g_mutex_lock (&feed->lock);
  outcome = feed->stop ? STOPPED : FAILED;
  g_clear_error (&feed->fault);
  feed->fault = error;
  g_mutex_unlock (&feed->lock);
  return outcome;
}

static guint
next_delay (SlCameraFeed *feed)
{
  const SlCameraSettings *settings = &feed->settings;
  const guint failures = sl_camera_fault_is_login (feed->fault) ? G_MAXUINT : feed->attempt;
  return sl_backoff_delay ((guint) settings->reconnect_min, (guint) settings->reconnect_max,
                           failures);
}

/* A device that was unplugged is opened as soon as it is back; FALSE when stopped. */
static gboolean
wait_for (SlCameraFeed *feed, guint ms)
{
  const gint64 deadline = g_get_monotonic_time () + ms * G_GINT64_CONSTANT (1000);
  const gboolean is_device = feed->uri->kind == SL_CAMERA_V4L2;
  guint64 last = feed->node;
  gboolean back = FALSE;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&feed->lock);
  while (!feed->stop && !back && g_get_monotonic_time () < deadline) {
    const guint64 node = is_device ? find_node (feed) : 0;
    back = node != 0 && node != last;
    last = node;
    if (!back)
      g_cond_wait_until (&feed->cond, &feed->lock,
                         is_device ? MIN (deadline, g_get_monotonic_time () + DEVICE_POLL_US)
                                   : deadline);
  }
  const gboolean stopped = feed->stop;
  return !stopped;
}

/* FALSE when that was the end. */
static gboolean
recover (SlCameraFeed *feed)
{
  const GError *fault = feed->fault;
  const gint limit = feed->settings.max_attempts;
  const gboolean missing = g_error_matches (fault, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN);
  if (sl_camera_may_end (feed->uri) || missing || (limit > 0 && feed->attempt >= (guint) limit)) {
    g_autofree char *text = limit > 0 && !missing && !sl_camera_may_end (feed->uri)
                              ? g_strdup_printf ("%s; gave up after %u attempts (max-attempts)",
                                                 fault->message, feed->attempt)
                              : g_strdup (fault->message);
    sl_camera_feed_tell_people (feed, GST_MESSAGE_ERROR, fault, text);
    return FALSE;
  }
  const guint delay = next_delay (feed);
  if (feed->down_since == 0) {
    g_mutex_lock (&feed->lock);
    feed->down_since = feed->last_frame > 0 ? feed->last_frame : g_get_monotonic_time ();
    g_mutex_unlock (&feed->lock);
  }
  if (g_strcmp0 (feed->warned, fault->message) != 0) {
    g_autofree char *text = g_strdup_printf ("%s; trying again in %.1f s, and so on until it works",
                                             fault->message, delay / 1000.0);
    sl_camera_feed_tell_people (feed, GST_MESSAGE_WARNING, fault, text);
    g_free (feed->warned);
    feed->warned = g_strdup (fault->message);
  }
  tell (feed, "reconnecting", fault->message, delay);
  return wait_for (feed, delay);
}

/* TRUE to go round again. */
static gboolean
finish_stream (SlCameraFeed *feed)
{
  g_mutex_lock (&feed->lock);
  const gboolean empty = feed->frames == 0;
  if (empty || !sl_camera_may_end (feed->uri))
    feed->fault = g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                               empty ? "the stream ended without a picture that could be decoded"
                                     : "the camera ended the stream");
  g_mutex_unlock (&feed->lock);
  if (feed->fault != NULL)
    return recover (feed);
  if (feed->settings.loop && feed->uri->kind == SL_CAMERA_FILE) {
    sl_camera_stamper_pass (&feed->stamper);
    return TRUE;
  }
  tell (feed, "ended", NULL, 0);
  g_autoptr (GstAppSrc) output = sl_camera_feed_dup_output (feed),
                        encoded = sl_camera_feed_dup_encoded (feed);
  if (encoded != NULL)
    gst_app_src_end_of_stream (encoded);
  if (output != NULL)
    gst_app_src_end_of_stream (output);
  return FALSE;
}

static gpointer
run (gpointer data)
{
  SlCameraFeed *feed = data;
  gboolean again = TRUE;
  while (again) {
    if (feed->frames == 0 || feed->live) {
      feed->attempt++;
      tell (feed, "connecting", NULL, 0);
    }
    const Outcome outcome = connect_once (feed);
    if (feed->frames > 0 && feed->last_frame - feed->steady_since >= STEADY_US)
      feed->attempt = 0;
    again = outcome == FAILED ? recover (feed) : outcome == ENDED && finish_stream (feed);
  }
  g_mutex_lock (&feed->lock);
  feed->finished = TRUE;
  g_cond_broadcast (&feed->cond);
  g_mutex_unlock (&feed->lock);
  feed_unref (feed);
  return NULL;
}

SlCameraFeed *
sl_camera_feed_start (GstElement *camera, GstAppSrc *output, GstAppSrc *encoded, SlCameraUri *uri,
                      const SlCameraSettings *settings)
{
  static gsize once = 0;
  if (g_once_init_enter (&once)) {
    GST_DEBUG_CATEGORY_INIT (sl_camera_feed_debug, "slcamera", 0, "camera source");
    g_once_init_leave (&once, 1);
  }
  SlCameraFeed *feed = g_new0 (SlCameraFeed, 1);
  g_atomic_ref_count_init (&feed->refs);
  g_mutex_init (&feed->lock);
  g_cond_init (&feed->cond);
  feed->uri = uri;
  feed->settings = *settings;
  feed->settings.uri = feed->settings.user = feed->settings.password =
    feed->settings.password_file = feed->settings.quiet_ignore = NULL;
  feed->live = sl_camera_is_live (uri, settings);
  feed->cancel = g_cancellable_new ();
  feed->sockets = uri->kind == SL_CAMERA_RTSP ? sl_camera_sockets_new () : NULL;
  feed->intact = sl_intact_new ();
  feed->tried = g_ptr_array_new_with_free_func (gst_object_unref);
  if (settings->quiet == SL_CAMERA_QUIET_KEY_FRAMES)
    feed->quiet = sl_quiet_new ((GstClockTime) settings->quiet_after * GST_MSECOND,
                                !sl_camera_may_end (uri), settings->quiet_ignore);
  feed->camera = gst_object_ref (camera);
  feed->output = gst_object_ref (output);
  feed->encoded = encoded != NULL ? gst_object_ref (encoded) : NULL;
  feed->taps = encoded != NULL;
  feed->state = "stopped";
  sl_camera_stamper_init (&feed->stamper);
  sl_camera_stamper_init (&feed->encoded_stamper);
  feed->thread = g_thread_new ("slcamera", run, feed_ref (feed));
  return feed;
}

void
sl_camera_feed_stop (SlCameraFeed *feed)
{
  const gint64 deadline = g_get_monotonic_time () + STOP_PATIENCE_US;
  GThread *thread = feed->thread;
  g_mutex_lock (&feed->lock);
  feed->stop = TRUE;
  GstElement *camera = g_steal_pointer (&feed->camera);
  GstAppSrc *output = g_steal_pointer (&feed->output), *encoded = g_steal_pointer (&feed->encoded);
  g_cond_broadcast (&feed->cond);
  g_mutex_unlock (&feed->lock);
  g_cancellable_cancel (feed->cancel);
  g_mutex_lock (&feed->lock);
  while (thread != g_thread_self () && !feed->finished
         && g_cond_wait_until (&feed->cond, &feed->lock, deadline))
    continue;
  const gboolean finished = feed->finished;
  g_mutex_unlock (&feed->lock);
  if (finished)
    g_thread_join (thread);
  else
    g_thread_unref (thread);
  if (!finished)
    GST_WARNING_OBJECT (camera, "%s: does not stop; left to end by itself", feed->uri->display);
  gst_object_unref (camera);
  gst_object_unref (output);
  gst_clear_object (&encoded);
  feed_unref (feed);
}

gint64
sl_camera_feed_age (SlCameraFeed *feed)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&feed->lock);
  return age_of (feed);
}

const char *
sl_camera_feed_state (SlCameraFeed *feed)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&feed->lock);
  return feed->state;
}

guint64
sl_camera_feed_damaged (SlCameraFeed *feed)
{
  SlIntactCounts counts;
  sl_intact_read (feed->intact, &counts);
  return counts.early + counts.damaged + counts.slow;
}

gboolean
sl_camera_feed_quiet (SlCameraFeed *feed, SlQuietFigures *figures)
{
  if (feed->quiet != NULL)
    sl_quiet_read (feed->quiet, figures);
  return feed->quiet != NULL;
}
