/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slbmpparse: cuts a stream of bytes into whole BMP pictures. GStreamer has a BMP decoder (libav's) that wants a
 * picture a buffer, and no parser that makes them, so "filesrc ! decodebin" fails on every BMP file larger than one
 * block; with this parser ranked as the other picture parsers are, it decodes. The header's length is believed only
 * as far as it can be; without one a picture ends where the stream does.
 * Layout: BITMAPFILEHEADER and BITMAPINFOHEADER of the Windows SDK.
 */
#include <gst/base/gstbaseparse.h>
#include <string.h>

#include "plugins/elements.h"
#include "plugins/describe.h"

/* Signature, length of file, two reserved words, offset of pixels; the bytes of all headers up to the height. */
#define LENGTH_AT 2
#define PIXELS_AT 10
#define INFO_SIZE_AT 14
#define WIDTH_AT 18
#define HEADER_BYTES 26
#define CORE_INFO_SIZE 12
#define MAX_BYTES (G_MAXINT / 2)

struct _SlBmpParse
{
  GstBaseParse parent;
  gint width, height; /* of the caps set, 0 before */
};

#define SL_TYPE_BMP_PARSE (sl_bmp_parse_get_type ())
G_DECLARE_FINAL_TYPE (SlBmpParse, sl_bmp_parse, SL, BMP_PARSE, GstBaseParse)
G_DEFINE_TYPE (SlBmpParse, sl_bmp_parse, GST_TYPE_BASE_PARSE)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("image/bmp"));
static GstStaticPadTemplate src_template =
  GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("image/bmp, parsed = (boolean) true"));

/* Fields lie at odd addresses, where GST_READ_UINT32_LE would read a whole word. */
static guint32
read_le (const guint8 *bytes, guint n)
{
  guint32 value = 0;
  for (guint i = n; i-- > 0;)
    value = value << 8 | bytes[i];
  return value;
}

static gboolean
sl_bmp_parse_start (GstBaseParse *parse)
{
  SlBmpParse *self = SL_BMP_PARSE (parse);
  self->width = self->height = 0;
  gst_base_parse_set_min_frame_size (parse, HEADER_BYTES);
  return TRUE;
}

static void
set_caps (SlBmpParse *self, const guint8 *header)
{
  gint width, height;
  if (read_le (header + INFO_SIZE_AT, 4) == CORE_INFO_SIZE) {
    width = (gint) read_le (header + WIDTH_AT, 2);
    height = (gint) read_le (header + WIDTH_AT + 2, 2);
  } else {
    width = (gint) read_le (header + WIDTH_AT, 4);
    height = (gint) read_le (header + WIDTH_AT + 4, 4); /* negative: rows from the top */
    height = height == G_MININT ? 0 : ABS (height);
  }
  if (width == self->width && height == self->height)
    return;
  self->width = width;
  self->height = height;
  g_autoptr (GstCaps) caps = gst_caps_new_simple ("image/bmp", "parsed", G_TYPE_BOOLEAN, TRUE, "framerate", GST_TYPE_FRACTION, 0, 1, NULL);
  if (width > 0 && height > 0)
    gst_caps_set_simple (caps, "width", G_TYPE_INT, width, "height", G_TYPE_INT, height, NULL);
  gst_pad_set_caps (GST_BASE_PARSE_SRC_PAD (self), caps);
}

static GstFlowReturn
sl_bmp_parse_handle_frame (GstBaseParse *parse, GstBaseParseFrame *frame, gint *skip)
{
  guint8 header[HEADER_BYTES];
  const gsize available = gst_buffer_get_size (frame->buffer);
  if (gst_buffer_extract (frame->buffer, 0, header, sizeof header) < sizeof header)
    return GST_FLOW_OK;
  if (memcmp (header, "BM", 2) != 0) {
    *skip = 1;
    return GST_FLOW_OK;
  }
  gsize bytes = read_le (header + LENGTH_AT, 4);
  if (bytes <= read_le (header + PIXELS_AT, 4) || bytes < sizeof header || bytes > MAX_BYTES)
    bytes = G_MAXSIZE;
  if (bytes > available) {
    if (!GST_BASE_PARSE_DRAINING (parse)) {
      gst_base_parse_set_min_frame_size (parse, bytes != G_MAXSIZE ? (guint) bytes : (guint) MIN (available * 2, MAX_BYTES));
      return GST_FLOW_OK;
    }
    bytes = available;
  }
  gst_base_parse_set_min_frame_size (parse, sizeof header);
  set_caps (SL_BMP_PARSE (parse), header);
  return gst_base_parse_finish_frame (parse, frame, (gint) bytes);
}

static void
sl_bmp_parse_class_init (SlBmpParseClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseParseClass *parse_class = GST_BASE_PARSE_CLASS (klass);
  parse_class->start = sl_bmp_parse_start;
  parse_class->handle_frame = sl_bmp_parse_handle_frame;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  sl_element_class_describe (
    element_class, "BMP parser", "Codec/Parser/Image",
    "Cuts a stream of bytes into whole BMP pictures, as decoders want them; decodebin uses it by itself.",
    "gst-launch-1.0 filesrc location=picture.bmp ! slbmpparse ! avdec_bmp ! videoconvert ! slpredict model=ssd.tflite ! "
    "text/x-raw ! fdsink",
    "architecture.md");
}

static void
sl_bmp_parse_init (SlBmpParse *self)
{
}
