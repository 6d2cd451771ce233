/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A stream that clients may ask for: frames of one encoded video, and documents about them where
 * it has metadata. All clients of a stream share one media of gst-rtsp-server, so packets are made
 * once. Putting frames in never blocks.
 */
#pragma once

#include <gst/rtsp-server/rtsp-server.h>

/** SlRestreamMount: counted references, any thread. */
typedef struct _SlRestreamMount SlRestreamMount;

/** sl_restream_mount_new: @reject is called with @data, in the thread that set the caps, when
 * clients cannot go on, as the codec is another one. */
SlRestreamMount *sl_restream_mount_new (gboolean has_metadata, void (*reject) (gpointer data),
                                        gpointer data, GDestroyNotify free_data);
SlRestreamMount *sl_restream_mount_ref (SlRestreamMount *mount);
void sl_restream_mount_unref (SlRestreamMount *mount);
/** sl_restream_mount_factory: (transfer full): what serves @mount. */
GstRTSPMediaFactory *sl_restream_mount_factory (SlRestreamMount *mount);
/** sl_restream_mount_is_watched: whether a client has asked for it, and may still want frames. */
gboolean sl_restream_mount_is_watched (SlRestreamMount *mount);
/** sl_restream_mount_has_clients: whether a client has it now. */
gboolean sl_restream_mount_has_clients (SlRestreamMount *mount);
/** sl_restream_mount_set_caps: of the frames that follow; NULL: none are known. */
void sl_restream_mount_set_caps (SlRestreamMount *mount, GstCaps *caps);
/** sl_restream_mount_set_raw: none will come, as the camera's frames are not encoded. */
void sl_restream_mount_set_raw (SlRestreamMount *mount);
/** sl_restream_mount_take_refusal: (transfer full) (nullable): the status and the reason for
 * @client, of whose last request no stream was made; once. Its thread. */
char *sl_restream_mount_take_refusal (GstRTSPClient *client, GstRTSPStatusCode *status);
/** sl_restream_mount_frame: refers to @frame, whose timestamps are running time of the caller's
 * pipeline. */
void sl_restream_mount_frame (SlRestreamMount *mount, GstBuffer *frame);
/** sl_restream_mount_document: takes @document, about the frame of running time @time. */
void sl_restream_mount_document (SlRestreamMount *mount, GBytes *document, GstClockTime time);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlRestreamMount, sl_restream_mount_unref)
