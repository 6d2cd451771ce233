/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames of one source after the other, decoded by a process of its own: a decoder that hangs or
 * crashes costs its source and no more.
 */
#pragma once

#include <gst/gst.h>

#include "tools/predict/inputs.h"
#include "tools/predict/spawner.h"

/** SlRemoteNote: what the camera @name, whose frames go on, has to say. */
typedef void (*SlRemoteNote) (const char *name, const char *text);

typedef struct _SlDecoderClient SlDecoderClient;

/** sl_decoder_client_new: after gst_init(); @timeout: seconds that a source may be without
 * progress, 0 = for ever, and @option: what sets it, for messages: " (--timeout)" or "". @spawner
 * must outlive it. @note: (nullable). */
SlDecoderClient *sl_decoder_client_new (SlSpawner *spawner, guint timeout, const char *option,
                                        SlRemoteNote note);
void sl_decoder_client_free (SlDecoderClient *frames);
/** sl_decoder_client_prepare: has the process get ready meanwhile. */
void sl_decoder_client_prepare (SlDecoderClient *frames);
/** sl_decoder_client_open: begins with @input, which must outlive the last frame of it. FALSE with
 * @error set, and without when the program was interrupted. */
gboolean sl_decoder_client_open (SlDecoderClient *frames, const SlInput *input, GError **error);
/** sl_decoder_client_close: done with the source, which may have more frames. */
void sl_decoder_client_close (SlDecoderClient *frames);
/** sl_decoder_client_next: (transfer full) (nullable): the next frame, upright, its PTS the stream
 * time; NULL at the end, with @error set when it came too early, and NULL without one when the
 * program was interrupted. */
GstSample *sl_decoder_client_next (SlDecoderClient *frames, GError **error);
/** sl_decoder_client_until: the same, but NULL without @error, too, when @deadline, of
 * g_get_monotonic_time(), comes before the frame; nothing but sl_decoder_client_close() may follow
 * then. */
GstSample *sl_decoder_client_until (SlDecoderClient *frames, gint64 deadline, GError **error);
/** sl_decoder_client_duration: of the source, nanoseconds, 0 while unknown. */
guint64 sl_decoder_client_duration (const SlDecoderClient *frames);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlDecoderClient, sl_decoder_client_free)
