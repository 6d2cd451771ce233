/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slbmpparse: cuts a stream of bytes into whole BMP pictures. GStreamer has a BMP decoder (libav's)
 * that wants a picture a buffer, and no parser that makes them, so "filesrc ! decodebin" fails on
 * every BMP file larger than one block; with this parser ranked as the other picture parsers are,
 * it decodes. The header's length is believed only as far as it can be; without one a picture ends
 * where the stream does. Layout: BITMAPFILEHEADER and BITMAPINFOHEADER of the Windows SDK.
 */
#include <gst/base/gstbaseparse.h>
#include <string.h>

#include "plugins/elements.h"
#include "plugins/base/describe.h"

/* Signature, length of file, two reserved words, offset of pixels; the bytes of all headers up to
 * the height. */
#define LENGTH_AT 2
#define PIXELS_AT 10
#define INFO_SIZE_AT 14
#define WIDTH_AT 18
#define HEADER_BYTES 26
#define PLANES_AT 26
#define CORE_INFO_SIZE 12
#define MIN_INFO_SIZE 40 /* of those whose height has a sign */
#define MAX_SIDE 32768   /* of the preprocessor */
#define MAX_BYTES (G_MAXINT / 2)

struct _SlBmpParse
{
  GstBaseParse parent;
  gint width, height; /* of the caps set, 0 before */
};

#define SL_TYPE_BMP_PARSE (sl_bmp_parse_get_type ())
G_DECLARE_FINAL_TYPE (SlBmpParse, sl_bmp_parse, SL, BMP_PARSE, GstBaseParse)
G_DEFINE_TYPE (SlBmpParse, sl_bmp_parse, GST_TYPE_BASE_PARSE)

/* Fields lie at odd addresses, where GST_READ_UINT32_LE would read a whole word. */
static guint32
read_le (const guint8 *bytes, guint n)
{
  guint32 value = 0;
  for (guint i = n; i-- > 0;)
    value = value << 8 | bytes[i];
  return value;
}

/* Bytes are pushed here, never pulled: a thread of its own would run while decodebin sets the
 * element up, and decodebin drops the errors that come meanwhile. */
static gboolean
activate_sink (GstPad *pad, GstObject *parent)
{
  return gst_pad_activate_mode (pad, GST_PAD_MODE_PUSH, TRUE);
}

static gboolean
sl_bmp_parse_start (GstBaseParse *parse)
{
  SlBmpParse *self = SL_BMP_PARSE (parse);
  self->width = self->height = 0;
  gst_base_parse_set_min_frame_size (parse, HEADER_BYTES);
  return TRUE;
}

/* @height: negative where rows come from the top. */
static void
read_size (const guint8 *header, gint64 *width, gint64 *height)
{
  const guint n = read_le (header + INFO_SIZE_AT, 4) == CORE_INFO_SIZE ? 2 : 4;
  *width = read_le (header + WIDTH_AT, n);
  *height = read_le (header + WIDTH_AT + n, n);
  if (n == 4) {
    *width = (gint32) *width;
    *height = (gint32) *height;
  }
}

/* GStreamer's own type finder knows no pictures whose rows come from the top. */
static void
find_top_down (GstTypeFind *find, gpointer data)
{
  gint64 width, height;
  const guint8 *header = gst_type_find_peek (find, 0, PLANES_AT + 2);
  if (header == NULL || memcmp (header, "BM", 2) != 0
      || read_le (header + INFO_SIZE_AT, 4) < MIN_INFO_SIZE || read_le (header + PLANES_AT, 2) != 1)
    return;
  read_size (header, &width, &height);
  g_autoptr (GstCaps) caps = gst_caps_new_empty_simple ("image/bmp");
  if (width > 0 && height < 0)
    gst_type_find_suggest (find, GST_TYPE_FIND_LIKELY, caps);
}

gboolean
sl_bmp_register_type_finder (GstPlugin *plugin)
{
  g_autoptr (GstCaps) caps = gst_caps_new_empty_simple ("image/bmp");
  return gst_type_find_register (plugin, "slbmp", GST_RANK_MARGINAL, find_top_down, "bmp", caps,
                                 NULL, NULL);
}

/* FALSE, and said, for a size that nothing behind could take. */
static gboolean
set_caps (SlBmpParse *self, const guint8 *header)
{
  gint64 width, height;
  read_size (header, &width, &height);
  height = ABS (height);
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE) {
    GST_ELEMENT_ERROR (self, STREAM, DECODE,
                       ("the BMP header says %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                        " pixels, expected sides of 1 to %d",
                        width, height, MAX_SIDE),
                       (NULL));
    return FALSE;
  }
  if (width == self->width && height == self->height)
    return TRUE;
  self->width = (gint) width;
  self->height = (gint) height;
  g_autoptr (GstCaps) caps = gst_caps_new_simple (
    "image/bmp", "parsed", G_TYPE_BOOLEAN, TRUE, "framerate", GST_TYPE_FRACTION, 0, 1, "width",
    G_TYPE_INT, self->width, "height", G_TYPE_INT, self->height, NULL);
  gst_pad_set_caps (GST_BASE_PARSE_SRC_PAD (self), caps);
  return TRUE;
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
      gst_base_parse_set_min_frame_size (
        parse, bytes != G_MAXSIZE ? (guint) bytes : (guint) MIN (available * 2, MAX_BYTES));
      return GST_FLOW_OK;
    }
    bytes = available;
  }
  gst_base_parse_set_min_frame_size (parse, sizeof header);
  if (!set_caps (SL_BMP_PARSE (parse), header))
    return GST_FLOW_ERROR;
  return gst_base_parse_finish_frame (parse, frame, (gint) bytes);
}

static void
sl_bmp_parse_class_init (SlBmpParseClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseParseClass *parse_class = GST_BASE_PARSE_CLASS (klass);
  parse_class->start = sl_bmp_parse_start;
  parse_class->handle_frame = sl_bmp_parse_handle_frame;
  sl_element_class_pads (element_class, "image/bmp", "image/bmp, parsed = (boolean) true");
  sl_element_class_describe (
    element_class, "BMP parser", "Codec/Parser/Image",
    "Splits a stream of bytes into complete BMP pictures for decoders; decodebin uses it "
    "automatically.",
    "gst-launch-1.0 filesrc location=picture.bmp ! slbmpparse ! avdec_bmp ! videoconvert ! "
    "slpredict model=ssd.tflite ! text/x-raw ! fdsink",
    "architecture.md");
}

static void
sl_bmp_parse_init (SlBmpParse *self)
{
  gst_pad_set_activate_function (GST_BASE_PARSE_SINK_PAD (self), activate_sink);
}
