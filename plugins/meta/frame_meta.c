/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlFrameMeta: registration, and the three things a GstMeta does. It is never pooled: a tensor
 * buffer that goes back to its pool drops the frame it came from. Copying a buffer copies the meta
 * (a reference to the same frame).
 */
#include "plugins/meta/frame_meta.h"

#include "plugins/meta/meta_type.h"
#include "plugins/meta/relations/read.h"

static gboolean
frame_meta_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  SlFrameMeta *self = (SlFrameMeta *) meta;
  sl_meta_zero (meta, params, buffer);
  gst_video_info_init (&self->info);
  sl_affine_identity (&self->affine);
  self->number = SL_NO_NUMBER;
  return TRUE;
}

static void
frame_meta_free (GstMeta *meta, GstBuffer *buffer)
{
  SlFrameMeta *self = (SlFrameMeta *) meta;
  gst_clear_buffer (&self->frame);
  gst_clear_caps (&self->caps);
  g_clear_pointer (&self->worker, g_ref_string_release);
}

void
sl_frame_meta_set_worker (SlFrameMeta *meta, char *worker)
{
  char *before = meta->worker;
  meta->worker = worker != NULL ? g_ref_string_acquire (worker) : NULL;
  g_clear_pointer (&before, g_ref_string_release);
}

void
sl_frame_meta_copy_values (SlFrameMeta *to, const SlFrameMeta *from)
{
  const SlFrameMeta kept = *to;
  *to = *from;
  to->meta = kept.meta;
  to->frame = kept.frame;
  to->caps = kept.caps;
  to->info = kept.info;
  to->worker = kept.worker;
  sl_frame_meta_set_worker (to, from->worker);
}

static gboolean
frame_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type, gpointer data)
{
  const SlFrameMeta *self = (const SlFrameMeta *) meta;
  if (!GST_META_TRANSFORM_IS_COPY (type))
    return FALSE;
  SlFrameMeta *copy = sl_buffer_add_frame_meta (dest, self->frame, self->caps, &self->info);
  if (copy == NULL)
    return FALSE;
  sl_frame_meta_copy_values (copy, self);
  return TRUE;
}

GType
sl_frame_meta_api_get_type (void)
{
  static GType type = 0;
  return sl_meta_api_type (&type, "SlFrameMetaAPI");
}

static const GstMetaInfo *
frame_meta_info (void)
{
  static const GstMetaInfo *info = NULL;
  return sl_meta_info (&info, sl_frame_meta_api_get_type (), "SlFrameMeta", sizeof (SlFrameMeta),
                       frame_meta_init, frame_meta_free, frame_meta_transform);
}

SlFrameMeta *
sl_buffer_add_frame_meta (GstBuffer *buffer, GstBuffer *frame, GstCaps *caps,
                          const GstVideoInfo *info)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  SlFrameMeta *self = (SlFrameMeta *) gst_buffer_add_meta (buffer, frame_meta_info (), NULL);
  if (self == NULL)
    return NULL;
  self->frame = frame != NULL ? gst_buffer_ref (frame) : NULL;
  self->caps = caps != NULL ? gst_caps_ref (caps) : NULL;
  if (info != NULL)
    self->info = *info;
  return self;
}

SlFrameMeta *
sl_buffer_get_frame_meta (GstBuffer *buffer)
{
  return (SlFrameMeta *) gst_buffer_get_meta (buffer, sl_frame_meta_api_get_type ());
}

/* -1 when one of the two is not known. */
static gint64
time_between (gint64 from, gint64 to)
{
  return from > 0 && to > 0 ? to - from : -1;
}

gboolean
sl_frame_meta_latency (const SlFrameMeta *meta, gint64 now, SlLatency *latency)
{
  *latency = (SlLatency){ -1, -1, -1, -1 };
  if (meta == NULL || meta->captured == 0)
    return FALSE;
  latency->age = now - meta->captured;
  latency->preprocess = time_between (MAX (meta->captured, meta->started), meta->preprocessed);
  latency->inference = time_between (meta->preprocessed, meta->inferred);
  latency->decode = time_between (meta->inferred, meta->decoded > 0 ? meta->decoded : now);
  return TRUE;
}

SlFrameMeta *
sl_buffer_ensure_frame_meta (GstBuffer *buffer, const GstVideoInfo *info)
{
  SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  return meta != NULL ? meta : sl_buffer_add_frame_meta (buffer, NULL, NULL, info);
}

gboolean
sl_buffer_is_empty_frame (GstBuffer *buffer)
{
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  return meta != NULL && meta->frame != NULL && meta->content >= SL_FRAME_SKIPPED;
}

gboolean
sl_buffer_is_part (GstBuffer *buffer)
{
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  return meta != NULL && (meta->content == SL_FRAME_OBJECT || meta->content == SL_FRAME_TILE);
}

gboolean
sl_buffer_was_looked_at (GstBuffer *buffer)
{
  const SlFrameMeta *meta = sl_buffer_get_frame_meta (buffer);
  return (meta != NULL && meta->decoded > 0 && meta->content != SL_FRAME_SKIPPED)
         || sl_buffer_has_none_related (buffer);
}

GstBuffer *
sl_buffer_unwrap_frame (GstBuffer *buffer)
{
  GstBuffer *frame = gst_buffer_ref (sl_buffer_get_frame_meta (buffer)->frame);
  gst_buffer_unref (buffer);
  return gst_buffer_make_writable (frame);
}
