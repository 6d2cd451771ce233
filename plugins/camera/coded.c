/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Why not the flag DELTA_UNIT of GStreamer's parsers: h264parse unsets it for each picture that has
 * an intra slice, so for every picture of a stream that refreshes itself slice by slice.
 */
#include "plugins/camera/coded.h"

#include <string.h>

#include "core/base/byte_order.h"
#include "plugins/camera/bits.h"

/* The next NAL unit of @bytes from *@at on, which moves behind it. FALSE: there is none. */
static gboolean
next_unit (const SlCodedFormat *format, const guint8 *bytes, gsize n, gsize *at,
           const guint8 **unit, gsize *length)
{
  static const guint8 start[] = { 0, 0, 1 };
  if (format->length_bytes > 0) {
    gsize size = 0;
    if (n - *at < format->length_bytes)
      return FALSE;
    for (guint i = 0; i < format->length_bytes; i++)
      size = size << 8 | bytes[*at + i];
    *at += format->length_bytes;
    *unit = bytes + *at;
    *length = MIN (size, n - *at);
    *at += *length;
    return TRUE;
  }
  const guint8 *found = memmem (bytes + *at, n - *at, start, sizeof start);
  if (found == NULL)
    return FALSE;
  *unit = found + sizeof start;
  const guint8 *next = memmem (*unit, n - (gsize) (*unit - bytes), start, sizeof start);
  *at = next != NULL ? (gsize) (next - bytes) : n;
  *length = *at - (gsize) (*unit - bytes);
  return TRUE;
}

/* The recovery point of an SEI unit's payload: pictures up to it, -1 = none is stated. */
static gint
read_recovery_point (const guint8 *bytes, gsize n)
{
  SlBits bits;
  sl_bits_init (&bits, bytes, n);
  while (bits.at / 8 + 2 < bits.n) {
    guint type = 0, size = 0, byte;
    do
      type += byte = sl_bits_read (&bits, 8);
    while (byte == 0xff);
    do
      size += byte = sl_bits_read (&bits, 8);
    while (byte == 0xff);
    if (type == 6) {
      const guint count = sl_bits_read_ue (&bits);
      return count < G_MAXUINT16 ? (gint) count : -1;
    }
    bits.at += (gsize) size * 8;
  }
  return -1;
}

/* What units of a buffer have told so far. */
typedef struct
{
  SlFrameNumbers *numbers;
  gboolean picture, key, closed, inter, referred, leading, reordered;
  gint recovery, number;
  guint modulus;
} Seen;

static void
see_h264 (Seen *seen, const guint8 *unit, gsize n)
{
  SlBits bits;
  const guint type = unit[0] & 31;
  if (type == 6 && seen->recovery < 0)
    seen->recovery = read_recovery_point (unit + 1, n - 1);
  if (type == 7)
    sl_frame_numbers_sps (seen->numbers, unit + 1, n - 1);
  else if (type == 8)
    sl_frame_numbers_pps (seen->numbers, unit + 1, n - 1);
  if (type != 1 && type != 2 && type != 5)
    return;
  sl_bits_init (&bits, unit + 1, n - 1);
  sl_bits_read_ue (&bits); /* first_mb_in_slice */
  const guint slice = sl_bits_read_ue (&bits) % 5;
  if (!seen->picture)
    seen->number = sl_frame_numbers_slice (seen->numbers, &bits, &seen->modulus);
  seen->picture = TRUE;
  seen->key |= type == 5;
  seen->closed |= type == 5;
  seen->inter |= slice != 2 && slice != 4;
  seen->reordered |= slice == 1; /* B */
  seen->referred |= (unit[0] & 0x60) != 0;
}

static void
see_h265 (Seen *seen, const guint8 *unit, gsize n)
{
  const guint type = unit[0] >> 1 & 63;
  if (type == 39 && n > 2 && seen->recovery < 0) {
    const gint code = read_recovery_point (unit + 2, n - 2);
    seen->recovery = code > 0 ? (code + 1) / 2 : code; /* a signed number */
  }
  if (type > 31)
    return;
  seen->picture = TRUE;
  seen->key |= type >= 16 && type <= 23;
  seen->closed |= type == 19 || type == 20;
  seen->inter |= type < 16;
  seen->reordered |= type < 16; /* its header does not tell without the PPS */
  seen->leading |= type == 8 || type == 9;
  seen->referred |= type >= 16 || (type & 1) != 0;
}

/* A VOP says in its first two bits how it is coded. */
static void
see_mpeg4 (Seen *seen, const guint8 *unit, gsize n)
{
  if (n < 2 || unit[0] != 0xb6)
    return;
  seen->picture = TRUE;
  seen->key |= unit[1] >> 6 == 0;
  seen->inter |= unit[1] >> 6 != 0;
  seen->referred |= unit[1] >> 6 != 2;
  seen->reordered |= unit[1] >> 6 == 2;
}

void
sl_coded_picture_read (SlCodedFormat *format, const guint8 *bytes, gsize n, SlCodedPicture *picture)
{
  static void (*const see[]) (Seen *, const guint8 *, gsize) = { NULL, see_h264, see_h265,
                                                                 see_mpeg4 };
  Seen seen = { .numbers = &format->numbers, .recovery = -1, .number = -1 };
  const guint8 *unit;
  gsize at = 0, length;
  *picture = (SlCodedPicture){ .kind = SL_CODED_KEY, .referred = TRUE, .number = -1 };
  if (format->codec == SL_CODED_OTHER)
    return;
  while (at < n && next_unit (format, bytes, n, &at, &unit, &length))
    if (length > 0)
      see[format->codec](&seen, unit, length);
  picture->referred = seen.referred;
  picture->reordered = seen.reordered;
  picture->number = seen.number;
  picture->modulus = seen.modulus;
  picture->recovery = seen.picture && !seen.key && seen.recovery > 0 ? (guint) seen.recovery : 0;
  picture->kind = !seen.picture                                     ? SL_CODED_NONE
                  : seen.key || (!seen.inter && seen.recovery == 0) ? SL_CODED_KEY
                  : seen.leading                                    ? SL_CODED_LEADING
                  : !seen.inter && seen.recovery < 0                ? SL_CODED_INTRA
                                                                    : SL_CODED_DELTA;
  picture->open = picture->kind >= SL_CODED_INTRA && !seen.closed;
}

/* What codec_data says at @at in its last two bits. */
static guint
length_bytes (const GstStructure *structure, gsize at)
{
  const GValue *value = gst_structure_get_value (structure, "codec_data");
  GstBuffer *data =
    value != NULL && GST_VALUE_HOLDS_BUFFER (value) ? gst_value_get_buffer (value) : NULL;
  guint8 byte = 3;
  if (data != NULL)
    gst_buffer_extract (data, at, &byte, 1);
  return (byte & 3u) + 1;
}

/* Parameter sets that are in the caps: two lists, each of a number of units behind their lengths.
 */
static void
read_avc_sets (const GstStructure *structure, SlFrameNumbers *numbers)
{
  const GValue *value = gst_structure_get_value (structure, "codec_data");
  GstMapInfo map;
  if (value == NULL || !GST_VALUE_HOLDS_BUFFER (value)
      || !gst_buffer_map (gst_value_get_buffer (value), &map, GST_MAP_READ))
    return;
  gsize at = 5;
  for (guint list = 0; list < 2 && at < map.size; list++) {
    guint left = map.data[at++] & (list == 0 ? 31u : 255u);
    for (gsize size; left > 0 && at + 2 < map.size; left--, at += size) {
      size = MIN ((gsize) sl_be16 (map.data + at), map.size - at - 2);
      at += 2;
      if (size > 0)
        (list == 0 ? sl_frame_numbers_sps : sl_frame_numbers_pps) (numbers, map.data + at + 1,
                                                                   size - 1);
    }
  }
  gst_buffer_unmap (gst_value_get_buffer (value), &map);
}

void
sl_coded_format_read (const GstCaps *caps, SlCodedFormat *format)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  const char *name = gst_structure_get_name (structure),
             *units = gst_structure_get_string (structure, "stream-format");
  const gboolean codes = units == NULL || strcmp (units, "byte-stream") == 0;
  gint version = 0;
  *format = (SlCodedFormat){ SL_CODED_OTHER };
  if (strcmp (name, "video/x-h264") == 0)
    *format = (SlCodedFormat){ SL_CODED_H264, codes ? 0 : length_bytes (structure, 4) };
  else if (strcmp (name, "video/x-h265") == 0)
    *format = (SlCodedFormat){ SL_CODED_H265, codes ? 0 : length_bytes (structure, 21) };
  else if (strcmp (name, "video/mpeg") == 0
           && gst_structure_get_int (structure, "mpegversion", &version) && version == 4)
    *format = (SlCodedFormat){ SL_CODED_MPEG4 };
  if (format->codec == SL_CODED_H264 && !codes)
    read_avc_sets (structure, &format->numbers);
}

/* RTP */

static void
see_unit (SlCodedPacket *packet, gboolean h265, const guint8 *unit, guint type, gsize n,
          gboolean first)
{
  const gsize header = h265 ? 2 : 1;
  const gboolean slice = h265 ? type <= 31 : type >= 1 && type <= 5;
  packet->sets |= h265 ? type == 33 : type == 7;
  packet->picture |= slice;
  packet->key |= h265 ? type >= 16 && type <= 23 : type == 5;
  /* Both begin with a 1 in the first slice of a picture: first_mb_in_slice is 0, or
   * first_slice_segment_in_pic_flag. */
  if (first && slice)
    packet->begins = n > header && (unit[header] & 0x80) != 0;
  else if (first)
    packet->begins = h265 ? type == 35 || type == 32 : type == 9 || type == 7;
}

static void
see_units (SlCodedPacket *packet, gboolean h265, const guint8 *bytes, gsize n)
{
  gboolean first = TRUE;
  for (gsize at = 0; at + 2 < n; first = FALSE) {
    const gsize size = MIN ((gsize) sl_be16 (bytes + at), n - at - 2);
    const guint8 *unit = bytes + at + 2;
    if (size > 0)
      see_unit (packet, h265, unit, h265 ? unit[0] >> 1 & 63u : unit[0] & 31u, size, first);
    at += 2 + size;
  }
}

static void
see_h264_packet (SlCodedPacket *packet, const guint8 *payload, gsize n)
{
  const guint type = payload[0] & 31;
  if (type == 24 && n > 1)
    see_units (packet, FALSE, payload + 1, n - 1);
  else if (type == 28 && n > 1) {
    see_unit (packet, FALSE, payload + 1, payload[1] & 31u, n - 1, (payload[1] & 0x80) != 0);
  } else if (type < 24)
    see_unit (packet, FALSE, payload, type, n, TRUE);
}

static void
see_h265_packet (SlCodedPacket *packet, const guint8 *payload, gsize n)
{
  const guint type = payload[0] >> 1 & 63;
  if (type == 48 && n > 2)
    see_units (packet, TRUE, payload + 2, n - 2);
  else if (type == 49 && n > 2) /* the unit's header has one byte less than the packet's */
    see_unit (packet, TRUE, payload + 1, payload[2] & 63u, n - 1, (payload[2] & 0x80) != 0);
  else if (type < 48 && n > 1)
    see_unit (packet, TRUE, payload, type, n, TRUE);
}

void
sl_coded_packet_read (const char *encoding, const guint8 *payload, gsize n, SlCodedPacket *packet)
{
  static const guint8 start[] = { 0, 0, 1 };
  *packet = (SlCodedPacket){ .picture = TRUE };
  if (n == 0 || encoding == NULL)
    return;
  if (g_ascii_strcasecmp (encoding, "H264") == 0 || g_ascii_strcasecmp (encoding, "H265") == 0) {
    packet->picture = FALSE;
    (encoding[3] == '4' ? see_h264_packet : see_h265_packet) (packet, payload, n);
  } else if (g_ascii_strcasecmp (encoding, "JPEG") == 0) {
    packet->begins =
      n >= 4 && payload[1] == 0 && payload[2] == 0 && payload[3] == 0; /* the fragment's offset */
  } else if (g_ascii_strcasecmp (encoding, "MP4V-ES") == 0) {
    packet->begins = n > 3 && memcmp (payload, start, sizeof start) == 0;
  } else if (g_ascii_strcasecmp (encoding, "VP8") == 0) {
    packet->begins = (payload[0] & 0x1f) == 0x10; /* the start of partition 0 */
  } else if (g_ascii_strcasecmp (encoding, "VP9") == 0) {
    packet->begins = (payload[0] & 0x08) != 0;
  }
}
