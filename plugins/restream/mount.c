/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A media has pipeline, clock and base time of its own. Times of frames are moved by one offset for
 * video and metadata, so that they stay together, and by another one when they jump. What a media
 * does not take, as no client plays yet, is dropped up to the next key frame.
 */
#include "plugins/restream/mount.h"

#include <gst/app/gstappsrc.h>

#include <string.h>

#include "plugins/restream/metadata_pay.h"
#include "plugins/restream/onvif.h"

/* A client waits so long for the first frame. */
#define PATIENCE_US (3 * G_USEC_PER_SEC)
/* It is encoded so long for a client that has asked and has no media yet. */
#define WANTED_US (10 * G_USEC_PER_SEC)
/* Data of a client: why it gets no stream. */
#define REFUSAL "sl-refusal"
/* What a media may keep. */
#define QUEUE_TIME GST_SECOND
#define QUEUE_BYTES (8 << 20)
/* Frames of another time than the media's by more than this have jumped. */
#define JUMP (2 * GST_SECOND)

typedef struct
{
  SlRestreamMount *mount;
  GstAppSrc *video, *metadata; /* (nullable): the second */
  gboolean flows;              /* since a key frame */
  gboolean moves;              /* @offset is known */
  GstClockTimeDiff offset;     /* from running times that come to those of the media */
} Outlet;

struct _SlRestreamMount
{
  gatomicrefcount refs;
  gboolean has_metadata;
  void (*reject) (gpointer data);
  gpointer data;
  GDestroyNotify free_data;
  GMutex lock; /* of these */
  GCond changed;
  GstCaps *caps;   /* (nullable) */
  gboolean is_raw; /* none will come */
  GPtrArray *outlets;
  gint64 wanted; /* monotonic time until which it counts as watched */
};

typedef struct
{
  GstRTSPMediaFactory parent;
  SlRestreamMount *mount;
  GstCaps *caps; /* (nullable): while a media is constructed, which is one at a time */
} SlRestreamFactory;

typedef GstRTSPMediaFactoryClass SlRestreamFactoryClass;

GType sl_restream_factory_get_type (void);

G_DEFINE_TYPE (SlRestreamFactory, sl_restream_factory, GST_TYPE_RTSP_MEDIA_FACTORY)

typedef struct
{
  const char *type, *payloader, *settings; /* of the payloader: a structure's fields */
  gint payload;
} Codec;

static const Codec codecs[] = {
  { "video/x-h264", "rtph264pay",
    "s,config-interval=(string)-1,aggregate-mode=(string)zero-latency", 96 },
  { "video/x-h265", "rtph265pay",
    "s,config-interval=(string)-1,aggregate-mode=(string)zero-latency", 96 },
  { "video/x-vp8", "rtpvp8pay", "s", 96 },
  { "image/jpeg", "rtpjpegpay", "s", 26 },
};

#define METADATA_PAYLOAD 97

SlRestreamMount *
sl_restream_mount_new (gboolean has_metadata, void (*reject) (gpointer data), gpointer data,
                       GDestroyNotify free_data)
{
  SlRestreamMount *mount = g_new0 (SlRestreamMount, 1);
  g_atomic_ref_count_init (&mount->refs);
  g_mutex_init (&mount->lock);
  g_cond_init (&mount->changed);
  mount->has_metadata = has_metadata;
  mount->reject = reject;
  mount->data = data;
  mount->free_data = free_data;
  mount->outlets = g_ptr_array_new ();
  return mount;
}

SlRestreamMount *
sl_restream_mount_ref (SlRestreamMount *mount)
{
  g_atomic_ref_count_inc (&mount->refs);
  return mount;
}

void
sl_restream_mount_unref (SlRestreamMount *mount)
{
  if (!g_atomic_ref_count_dec (&mount->refs))
    return;
  if (mount->free_data != NULL)
    mount->free_data (mount->data);
  gst_clear_caps (&mount->caps);
  g_ptr_array_unref (mount->outlets);
  g_cond_clear (&mount->changed);
  g_mutex_clear (&mount->lock);
  g_free (mount);
}

gboolean
sl_restream_mount_is_watched (SlRestreamMount *mount)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&mount->lock);
  return mount->outlets->len > 0 || g_get_monotonic_time () < mount->wanted;
}

gboolean
sl_restream_mount_has_clients (SlRestreamMount *mount)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&mount->lock);
  return mount->outlets->len > 0;
}

/* With the element that has the two sources. */
static void
outlet_free (gpointer data)
{
  Outlet *outlet = data;
  g_mutex_lock (&outlet->mount->lock);
  g_ptr_array_remove_fast (outlet->mount->outlets, outlet);
  g_mutex_unlock (&outlet->mount->lock);
  gst_object_unref (outlet->video);
  gst_clear_object (&outlet->metadata);
  sl_restream_mount_unref (outlet->mount);
  g_free (outlet);
}

/* (transfer full) */
static GstAppSrc *
new_source (GstCaps *caps)
{
  return GST_APP_SRC (gst_object_ref_sink (
    g_object_new (GST_TYPE_APP_SRC, "caps", caps, "is-live", TRUE, "format", GST_FORMAT_TIME,
                  "block", FALSE, "max-bytes", (guint64) QUEUE_BYTES, "max-time",
                  (guint64) QUEUE_TIME, "max-buffers", (guint64) 0, NULL)));
}

/* gst-rtsp-server looks for payloaders by these names. */
static gboolean
add_branch (GstBin *bin, GstAppSrc *source, GstElement *payloader, guint n, gint payload)
{
  g_autofree char *name = g_strdup_printf ("pay%u", n);
  gst_object_set_name (GST_OBJECT (payloader), name);
  g_object_set (payloader, "pt", payload, NULL);
  gst_bin_add_many (bin, GST_ELEMENT (source), payloader, NULL);
  return gst_element_link (GST_ELEMENT (source), payloader);
}

static gboolean
set_field (GQuark field, const GValue *value, gpointer element)
{
  gst_util_set_object_arg (element, g_quark_to_string (field), g_value_get_string (value));
  return TRUE;
}

/* (nullable): the row of @codecs. */
static const Codec *
find_codec (const GstCaps *caps)
{
  for (guint i = 0; i < G_N_ELEMENTS (codecs); i++)
    if (gst_structure_has_name (gst_caps_get_structure (caps, 0), codecs[i].type))
      return &codecs[i];
  return NULL;
}

static gboolean
has_payloader (const GstCaps *caps)
{
  const Codec *codec = find_codec (caps);
  g_autoptr (GstElementFactory) factory =
    codec != NULL ? gst_element_factory_find (codec->payloader) : NULL;
  return factory != NULL;
}

/* (transfer floating) */
static GstElement *
new_payloader (const Codec *codec)
{
  GstElement *payloader = gst_element_factory_make (codec->payloader, NULL);
  g_autoptr (GstStructure) settings = gst_structure_from_string (codec->settings, NULL);
  gst_structure_foreach (settings, set_field, payloader);
  return payloader;
}

static GstBuffer *
document_buffer (GBytes *document, GstClockTime time)
{
  GstBuffer *buffer = gst_buffer_new_wrapped_bytes (document);
  GST_BUFFER_PTS (buffer) = time;
  g_bytes_unref (document);
  return buffer;
}

/* A media begins when all of its streams have. */
static void
begin_metadata (GstAppSrc *source)
{
  GString *text = g_string_new (NULL);
  sl_onvif_append (text, NULL, 0);
  gst_app_src_push_buffer (source, document_buffer (g_string_free_to_bytes (text), 0));
}

typedef struct
{
  GstRTSPStatusCode status;
  char *reason;
} Refusal;

static void
refusal_free (gpointer data)
{
  g_free (((Refusal *) data)->reason);
  g_free (data);
}

/* Takes @reason. A client's thread, which sends the answer next. */
static void
refuse (GstRTSPStatusCode status, char *reason)
{
  const GstRTSPContext *context = gst_rtsp_context_get_current ();
  if (context != NULL && context->client != NULL) {
    Refusal *refusal = g_new0 (Refusal, 1);
    refusal->status = status;
    refusal->reason = g_steal_pointer (&reason);
    g_object_set_data_full (G_OBJECT (context->client), REFUSAL, refusal, refusal_free);
  }
  g_free (reason);
}

char *
sl_restream_mount_take_refusal (GstRTSPClient *client, GstRTSPStatusCode *status)
{
  Refusal *refusal = g_object_steal_data (G_OBJECT (client), REFUSAL);
  char *reason = NULL;
  if (refusal == NULL)
    return NULL;
  *status = refusal->status;
  reason = g_steal_pointer (&refusal->reason);
  refusal_free (refusal);
  return reason;
}

/* (transfer full) (nullable) */
static GstCaps *
wait_for_caps (SlRestreamMount *mount)
{
  const gint64 now = g_get_monotonic_time ();
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&mount->lock);
  mount->wanted = now + WANTED_US;
  while (mount->caps == NULL && !mount->is_raw)
    if (!g_cond_wait_until (&mount->changed, &mount->lock, now + PATIENCE_US))
      break;
  if (mount->caps != NULL)
    return gst_caps_ref (mount->caps);
  if (mount->is_raw)
    refuse (
      GST_RTSP_STS_NOT_FOUND,
      g_strdup ("Not Found: the camera sends raw frames; the path without /camera has the encoded "
                "picture"));
  else
    refuse (GST_RTSP_STS_SERVICE_UNAVAILABLE,
            g_strdup ("Service Unavailable: no frame has come; try again later"));
  return NULL;
}

static GstElement *
create_element (GstRTSPMediaFactory *factory, const GstRTSPUrl *url)
{
  SlRestreamFactory *self = (SlRestreamFactory *) factory;
  SlRestreamMount *mount = self->mount;
  const Codec *codec = find_codec (self->caps);
  GstElement *bin = gst_bin_new (NULL);
  Outlet *outlet = g_new0 (Outlet, 1);
  outlet->mount = sl_restream_mount_ref (mount);
  outlet->video = new_source (self->caps);
  add_branch (GST_BIN (bin), outlet->video, new_payloader (codec), 0, codec->payload);
  if (mount->has_metadata) {
    g_autoptr (GstCaps) documents = gst_caps_from_string (SL_ONVIF_CAPS);
    outlet->metadata = new_source (documents);
    add_branch (GST_BIN (bin), outlet->metadata, sl_metadata_pay_new (), 1, METADATA_PAYLOAD);
    begin_metadata (outlet->metadata);
  }
  g_object_set_data_full (G_OBJECT (bin), "sl-outlet", outlet, outlet_free);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&mount->lock);
  g_ptr_array_add (mount->outlets, outlet);
  return bin;
}

/* NULL where no frame has come: the client is told that there is no such stream. */
static GstRTSPMedia *
construct (GstRTSPMediaFactory *factory, const GstRTSPUrl *url)
{
  SlRestreamFactory *self = (SlRestreamFactory *) factory;
  GstRTSPMedia *media = NULL;
  self->caps = wait_for_caps (self->mount);
  if (self->caps != NULL && has_payloader (self->caps))
    media =
      GST_RTSP_MEDIA_FACTORY_CLASS (sl_restream_factory_parent_class)->construct (factory, url);
  else if (self->caps != NULL)
    refuse (GST_RTSP_STS_SERVICE_UNAVAILABLE,
            g_strdup_printf ("Service Unavailable: no payloader for %s is here",
                             gst_structure_get_name (gst_caps_get_structure (self->caps, 0))));
  gst_clear_caps (&self->caps);
  return media;
}

static void
factory_finalize (GObject *object)
{
  g_clear_pointer (&((SlRestreamFactory *) object)->mount, sl_restream_mount_unref);
  G_OBJECT_CLASS (sl_restream_factory_parent_class)->finalize (object);
}

static void
sl_restream_factory_class_init (SlRestreamFactoryClass *klass)
{
  klass->create_element = create_element;
  klass->construct = construct;
  G_OBJECT_CLASS (klass)->finalize = factory_finalize;
}

static void
sl_restream_factory_init (SlRestreamFactory *factory)
{
}

GstRTSPMediaFactory *
sl_restream_mount_factory (SlRestreamMount *mount)
{
  GstRTSPMediaFactory *factory = g_object_new (sl_restream_factory_get_type (), NULL);
  ((SlRestreamFactory *) factory)->mount = sl_restream_mount_ref (mount);
  gst_rtsp_media_factory_set_shared (factory, TRUE);
  gst_rtsp_media_factory_set_protocols (factory,
                                        GST_RTSP_LOWER_TRANS_UDP | GST_RTSP_LOWER_TRANS_TCP);
  return factory;
}

void
sl_restream_mount_set_caps (SlRestreamMount *mount, GstCaps *caps)
{
  gboolean other = FALSE;
  g_mutex_lock (&mount->lock);
  if (caps != NULL && mount->caps != NULL && gst_caps_is_equal (caps, mount->caps)) {
    g_mutex_unlock (&mount->lock);
    return;
  }
  for (guint i = 0; caps != NULL && i < mount->outlets->len; i++) {
    Outlet *outlet = mount->outlets->pdata[i];
    g_autoptr (GstCaps) before = gst_app_src_get_caps (outlet->video);
    other = other
            || !gst_structure_has_name (gst_caps_get_structure (before, 0),
                                        gst_structure_get_name (gst_caps_get_structure (caps, 0)));
    if (!other)
      gst_app_src_set_caps (outlet->video, caps);
    outlet->flows = FALSE;
  }
  gst_caps_replace (&mount->caps, caps);
  mount->is_raw = FALSE;
  g_cond_broadcast (&mount->changed);
  g_mutex_unlock (&mount->lock);
  if (other)
    mount->reject (mount->data);
}

void
sl_restream_mount_set_raw (SlRestreamMount *mount)
{
  sl_restream_mount_set_caps (mount, NULL);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&mount->lock);
  mount->is_raw = TRUE;
  g_cond_broadcast (&mount->changed);
}

/* FALSE while the media does not play. */
static gboolean
media_time (const Outlet *outlet, GstClockTime *now)
{
  GstElement *element = GST_ELEMENT (outlet->video);
  g_autoptr (GstClock) clock =
    GST_STATE (element) == GST_STATE_PLAYING ? gst_element_get_clock (element) : NULL;
  if (clock == NULL)
    return FALSE;
  const GstClockTime time = gst_clock_get_time (clock), base = gst_element_get_base_time (element);
  *now = time > base ? time - base : 0;
  return TRUE;
}

static GstClockTime
moved (const Outlet *outlet, GstClockTime time)
{
  if (!GST_CLOCK_TIME_IS_VALID (time))
    return GST_CLOCK_TIME_NONE;
  return (GstClockTime) MAX (0, (GstClockTimeDiff) time + outlet->offset);
}

/* Whether something of running time @time can go out now. */
static gboolean
find_offset (Outlet *outlet, GstClockTime time)
{
  GstClockTime now = 0;
  if (!GST_CLOCK_TIME_IS_VALID (time) || !media_time (outlet, &now))
    return FALSE;
  const GstClockTimeDiff away = GST_CLOCK_DIFF (now, moved (outlet, time));
  if (!outlet->moves || ABS (away) > (GstClockTimeDiff) JUMP)
    outlet->offset = GST_CLOCK_DIFF (time, now);
  outlet->moves = TRUE;
  return TRUE;
}

static gboolean
has_room (GstAppSrc *source)
{
  return gst_app_src_get_current_level_time (source) < QUEUE_TIME
         && gst_app_src_get_current_level_bytes (source) < QUEUE_BYTES;
}

static void
send_frame (Outlet *outlet, GstBuffer *frame)
{
  const gboolean is_key = !GST_BUFFER_FLAG_IS_SET (frame, GST_BUFFER_FLAG_DELTA_UNIT);
  if (!find_offset (outlet, GST_BUFFER_PTS (frame)) || !has_room (outlet->video)) {
    outlet->flows = FALSE;
    return;
  }
  if (!outlet->flows && !is_key)
    return;
  GstBuffer *sent = gst_buffer_copy (frame);
  GST_BUFFER_PTS (sent) = moved (outlet, GST_BUFFER_PTS (frame));
  GST_BUFFER_DTS (sent) = moved (outlet, GST_BUFFER_DTS (frame));
  if (!outlet->flows)
    GST_BUFFER_FLAG_SET (sent, GST_BUFFER_FLAG_DISCONT);
  outlet->flows = TRUE;
  gst_app_src_push_buffer (outlet->video, sent);
}

void
sl_restream_mount_frame (SlRestreamMount *mount, GstBuffer *frame)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&mount->lock);
  for (guint i = 0; i < mount->outlets->len; i++)
    send_frame (mount->outlets->pdata[i], frame);
}

void
sl_restream_mount_document (SlRestreamMount *mount, GBytes *document, GstClockTime time)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&mount->lock);
  for (guint i = 0; i < mount->outlets->len; i++) {
    Outlet *outlet = mount->outlets->pdata[i];
    if (outlet->metadata != NULL && find_offset (outlet, time) && has_room (outlet->metadata))
      gst_app_src_push_buffer (outlet->metadata,
                               document_buffer (g_bytes_ref (document), moved (outlet, time)));
  }
  g_bytes_unref (document);
}
