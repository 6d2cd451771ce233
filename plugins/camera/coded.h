/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads the first bytes of encoded video: whether decoding can begin there, and which RTP packets
 * begin a picture. The bytes come from a camera, so they are untrusted.
 */
#pragma once

#include <gst/gst.h>

#include "plugins/camera/frame_number.h"

typedef enum
{
  SL_CODED_OTHER, /* GStreamer's flag DELTA_UNIT tells */
  SL_CODED_H264,
  SL_CODED_H265,
  SL_CODED_MPEG4, /* part 2 */
} SlCodec;

/** SlCodedFormat: @length_bytes: of the length in front of each NAL unit, 0 = start codes;
 * @numbers: of H.264, as its sets say. */
typedef struct
{
  SlCodec codec;
  guint length_bytes;
  SlFrameNumbers numbers;
} SlCodedFormat;

typedef enum
{
  SL_CODED_NONE,    /* no picture: parameter sets and the like */
  SL_CODED_DELTA,   /* needs pictures before it */
  SL_CODED_LEADING, /* needs pictures before the last key frame */
  SL_CODED_INTRA,   /* needs none itself; those behind it may need pictures before it */
  SL_CODED_KEY,     /* decoding can begin here */
} SlCodedKind;

/**
 * SlCodedPicture:
 * @recovery: pictures that are referred to from here on until all are whole, where the stream says
 * so; 0 = it says nothing
 * @referred: other pictures may refer to it
 * @reordered: it may be shown before pictures that are decoded earlier
 * @open: a key frame that pictures may follow which need pictures before it
 * @number, @modulus: H.264's frame_num and what it counts up to; @number is -1 where it tells
 * nothing
 */
typedef struct
{
  SlCodedKind kind;
  guint recovery;
  gboolean referred, reordered, open;
  gint number;
  guint modulus;
} SlCodedPicture;

/** sl_coded_format_read: of a decoder's @caps. */
void sl_coded_format_read (const GstCaps *caps, SlCodedFormat *format);
/** sl_coded_picture_read: of one buffer, whose parameter sets @format then knows. SL_CODED_OTHER is
 * always SL_CODED_KEY. */
void sl_coded_picture_read (SlCodedFormat *format, const guint8 *bytes, gsize n,
                            SlCodedPicture *picture);

/**
 * SlCodedPacket: @begins: the first packet of its picture, as far as its bytes tell; @sets:
 * parameter sets; @key: a part of a key frame;
 * @picture: a part of any picture
 */
typedef struct
{
  gboolean begins, sets, key, picture;
} SlCodedPacket;

/** sl_coded_packet_read: of an RTP payload, by the encoding name of its caps (nullable). */
void sl_coded_packet_read (const char *encoding, const guint8 *payload, gsize n,
                           SlCodedPacket *packet);
