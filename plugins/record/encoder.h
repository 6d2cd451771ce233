/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Raw frames encoded for clips by the encoder that is there, at a bounded rate and size, in threads of its own. Whoever puts frames in never
 * waits: a frame that comes while others wait is left out.
 */
#ifndef SL_PLUGINS_RECORD_ENCODER_H
#define SL_PLUGINS_RECORD_ENCODER_H

#include <gst/gst.h>

G_BEGIN_DECLS

/** SlEncoderEvents: called from the encoder's thread. @caps: (transfer none); @frame: (transfer full) */
typedef struct
{
  void (*caps) (gpointer data, GstCaps *caps);
  void (*frame) (gpointer data, GstBuffer *frame);
} SlEncoderEvents;

typedef struct _SlEncoder SlEncoder;

/** sl_encoder_choose: (transfer none): the encoder's element: @name, or with NULL the first one that is installed. NULL with @error set when it is
 *  unknown, with the nearest names, or missing. */
const char *sl_encoder_choose (const char *name, GError **error);
/**
 * sl_encoder_new:
 * @name: of sl_encoder_choose()
 * @caps: of raw frames in system memory
 * @rate: frames a second at most; 0 = all
 * @width: pixels at most
 * @key_interval: seconds between key frames
 *
 * Returns: NULL with @error set
 */
SlEncoder *sl_encoder_new (const char *name, GstCaps *caps, gdouble rate, gint width, guint key_interval, const SlEncoderEvents *events,
                           gpointer data, GError **error);
/** sl_encoder_push: refers to @frame, of running time @time, until it is made smaller. FALSE: it is left out, as more frames come than are
 *  encoded; not where @rate leaves it out. */
gboolean sl_encoder_push (SlEncoder *encoder, GstBuffer *frame, GstClockTime time);
/** sl_encoder_drain: waits for what is in it, at most two seconds. */
void sl_encoder_drain (SlEncoder *encoder);
/** sl_encoder_take_error: FALSE when it encodes; TRUE, once, with @error set when it failed. */
gboolean sl_encoder_take_error (SlEncoder *encoder, GError **error);
void sl_encoder_free (SlEncoder *encoder);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlEncoder, sl_encoder_free)

G_END_DECLS

#endif
