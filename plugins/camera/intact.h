/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Which decoded frames show what the camera saw. A frame is damaged when it, or one that it is made of, lacks data: those before the
 * first key frame, those that a network lost a part of, and all that follow up to the next key frame. They are left out and counted.
 */
#ifndef SL_PLUGINS_CAMERA_INTACT_H
#define SL_PLUGINS_CAMERA_INTACT_H

#include <gst/gst.h>

G_BEGIN_DECLS

/** SlIntact: counted references, any thread. */
typedef struct _SlIntact SlIntact;

typedef enum
{
  SL_INTACT_EARLY,
  SL_INTACT_DAMAGED,
  SL_INTACT_SLOW
} SlIntactReason;

/**
 * SlIntactCounts:
 * @early: frames that came before the first key frame
 * @damaged: frames that lacked data, and those after them up to the next key frame
 * @slow: frames that the decoder did not get to
 * @last: when the last of these came, monotonic us; 0 = none did
 */
typedef struct
{
  guint64 early, damaged, slow;
  gint64 last;
} SlIntactCounts;

SlIntact *sl_intact_new (void);
SlIntact *sl_intact_ref (SlIntact *intact);
void sl_intact_unref (gpointer intact);
void sl_intact_read (SlIntact *intact, SlIntactCounts *counts);
/** sl_intact_note: one more, for whoever leaves out a frame before it is decoded. */
void sl_intact_note (SlIntact *intact, SlIntactReason reason);
/** sl_intact_watch: decoders that @bin gets from now on, at any depth, take no damaged frame and give none. */
void sl_intact_watch (SlIntact *intact, GstBin *bin);

/** sl_intact_mark: the decoder that frames come from to @sink, a sink pad, notes on each frame whether it is damaged, and leaves none out: others may
 *  want them. Once for each decoder, whoever asks. @spoiled: see sl_intact_is_whole() */
void sl_intact_mark (GstPad *sink, guint *spoiled);
/** sl_intact_is_whole: whether @frame is not damaged, as its decoder and sl_intact_mark() say. @spoiled: 0 at first, kept between frames of a stream. */
gboolean sl_intact_is_whole (const GstBuffer *frame, guint *spoiled);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlIntact, sl_intact_unref)

G_END_DECLS

#endif
