/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Encodes raw frames, for clips and streams, with an installed encoder, at a bounded rate and size,
 * in threads of its own. Putting a frame in never blocks: a frame that comes while others wait is
 * dropped.
 */
#pragma once

#include <gst/gst.h>

/** SlEncoderEvents: called from the encoder's threads. @caps: (transfer none); @frame: (transfer
 * full); @ended: nothing more comes */
typedef struct
{
  void (*caps) (gpointer data, GstCaps *caps);
  void (*frame) (gpointer data, GstBuffer *frame);
  void (*ended) (gpointer data);
} SlEncoderEvents;

typedef struct _SlEncoder SlEncoder;

/** sl_encoder_choose: (transfer none): the encoder's element: @name, or with NULL the first one
 * that is installed. NULL with @error set when it is unknown, with the nearest names, or missing.
 */
const char *sl_encoder_choose (const char *name, GError **error);
/** sl_encoder_next: (transfer none) (nullable): the installed one after @name, where
 * sl_encoder_choose() has the choice. */
const char *sl_encoder_next (const char *name);
/**
 * sl_encoder_new:
 * @name: of sl_encoder_choose()
 * @caps: of raw frames in system memory
 * @rate: frames a second at most; 0 = all
 * @width: pixels at most
 * @key_interval: seconds between key frames
 * @draws: whether predictions on frames are drawn, where sloverlay is installed
 *
 * Returns: at once, while a thread makes it; what that cannot do sl_encoder_take_error() says. NULL
 * with @error set for frames that none encodes.
 */
SlEncoder *sl_encoder_new (const char *name, GstCaps *caps, gdouble rate, gint width,
                           guint key_interval, gboolean draws, const SlEncoderEvents *events,
                           gpointer data, GError **error);
/** sl_encoder_push: refers to @frame, of running time @time, until it is made smaller. FALSE: it is
 * left out, as another one waits; not where @rate leaves it out. */
gboolean sl_encoder_push (SlEncoder *encoder, GstBuffer *frame, GstClockTime time);
/** sl_encoder_end: takes no more frames; what is in it comes out in a thread of its own, within two
 * seconds, and then @ended is called. Once. */
void sl_encoder_end (SlEncoder *encoder);
/** sl_encoder_has_ended: whether it has, after sl_encoder_end(). */
gboolean sl_encoder_has_ended (SlEncoder *encoder);
/** sl_encoder_join: waits until it has, after sl_encoder_end(). */
void sl_encoder_join (SlEncoder *encoder);
/** sl_encoder_take_error: FALSE when it encodes; TRUE, once, with @error set when it failed. */
gboolean sl_encoder_take_error (SlEncoder *encoder, GError **error);
/** sl_encoder_free: what is in it is lost, also while it ends: then @ended may not be called. */
void sl_encoder_free (SlEncoder *encoder);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlEncoder, sl_encoder_free)
