/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Finds damaged frames, drops and counts them. A frame is damaged when data is missing from it or
 * from a frame that it refers to. Frames before the first key frame are damaged. So are frames with
 * packet loss, and all following frames up to the next key frame.
 */
#pragma once

#include <gst/gst.h>

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
 * @damaged: frames with missing data, and the frames after them up to the next key frame
 * @slow: frames that were dropped because the decoder was too slow
 * @last: when the last of these frames came, monotonic us; 0 = never
 */
typedef struct
{
  guint64 early, damaged, slow;
  gint64 last;
} SlIntactCounts;

/**
 * SlIntactMark: what is known of a frame, encoded or decoded
 * @group: number of its group of pictures, from 1 on; 0 = it is not whole, or has no group
 * @leading: it needs pictures before the key frame of its group
 * @referred: other pictures may refer to it
 * @held: it waited before it was decoded, or behind such frames (plugins/camera/quiet.h)
 * @given: its picture has been given already, so it is decoded for those behind it alone
 */
typedef struct
{
  guint group;
  gboolean leading, referred, held, given;
} SlIntactMark;

SlIntact *sl_intact_new (void);
SlIntact *sl_intact_ref (SlIntact *intact);
void sl_intact_unref (gpointer intact);
void sl_intact_read (SlIntact *intact, SlIntactCounts *counts);
/** sl_intact_note: counts one more frame, which the caller dropped before it was decoded. */
void sl_intact_note (SlIntact *intact, SlIntactReason reason);
/** sl_intact_watch: from now on, decoders that are added to @bin, at any depth, get no damaged
 * frames and output none. */
void sl_intact_watch (SlIntact *intact, GstBin *bin);

/** sl_intact_get_mark: (transfer none) (nullable): of an encoded frame in a probe that was added
 * after those of sl_intact_watch(), or of a decoded one. */
SlIntactMark *sl_intact_get_mark (GstBuffer *buffer);
/** sl_intact_is_decoder: whether sl_intact_watch() looks after @element. */
gboolean sl_intact_is_decoder (GstElement *element);

/** sl_intact_mark: finds the decoder upstream of @sink, a sink pad. From now on it marks each
 * damaged frame, but drops none, since other branches may need them. A decoder is set up only once,
 * also with several calls. @spoiled: see sl_intact_is_whole() */
void sl_intact_mark (GstPad *sink, guint *spoiled);
/** sl_intact_is_whole: whether @frame is not damaged, by the marks of sl_intact_mark(). @spoiled: 0
 * at first, kept between the frames of a stream. */
gboolean sl_intact_is_whole (const GstBuffer *frame, guint *spoiled);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlIntact, sl_intact_unref)
