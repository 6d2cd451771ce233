/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slexifparse: says how JPEG, PNG and WebP pictures are to be turned, as the image-orientation tag
 * that other elements obey. GStreamer's decoders do not read EXIF, and its parser that does is not
 * what decodebin chooses (Debian 12) or not installed, so pictures of phones would lie on their
 * side; ranked as other picture parsers are, this one is put before the decoder. Bytes pass
 * untouched. The tag is sent before the first bytes of a JPEG picture's pixels, and before the last
 * ones of others, behind which WebP has its EXIF: so it is there before the decoder makes a frame
 * of them.
 */
#include <gst/base/gstbasetransform.h>

#include "plugins/base/describe.h"
#include "plugins/elements.h"
#include "plugins/video/exif.h"
#include "plugins/video/exif_chunks.h"

#define MEDIA "image/jpeg; image/png; image/webp"

struct _SlExifParse
{
  GstBaseTransform parent;
  gboolean in_chunks; /* of PNG and WebP */
  SlExifScanner scanner;
  SlExifChunks chunks;
  guint told; /* orientation last sent */
};

#define SL_TYPE_EXIF_PARSE (sl_exif_parse_get_type ())
G_DECLARE_FINAL_TYPE (SlExifParse, sl_exif_parse, SL, EXIF_PARSE, GstBaseTransform)
G_DEFINE_TYPE (SlExifParse, sl_exif_parse, GST_TYPE_BASE_TRANSFORM)

/* How a picture of each orientation is turned upright. */
static const char *const tags[SL_EXIF_LAST + 1] = {
  [SL_EXIF_UPRIGHT] = "rotate-0",
  "flip-rotate-0",
  "rotate-180",
  "flip-rotate-180",
  "flip-rotate-270",
  "rotate-90",
  "flip-rotate-90",
  "rotate-270",
};

static void
begin (SlExifParse *self)
{
  sl_exif_scanner_clear (&self->scanner);
  sl_exif_chunks_clear (&self->chunks);
  self->told = SL_EXIF_UPRIGHT;
}

static GstFlowReturn
sl_exif_parse_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  SlExifParse *self = SL_EXIF_PARSE (base);
  GstMapInfo map;
  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return GST_FLOW_OK; /* the element that needs the bytes reports the error */
  const guint stated = self->in_chunks ? sl_exif_chunks_read (&self->chunks, map.data, map.size)
                                       : sl_exif_scanner_read (&self->scanner, map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  if (stated == 0 || stated == self->told)
    return GST_FLOW_OK;
  self->told = stated;
  GST_INFO_OBJECT (self, "%s", tags[stated]);
  gst_pad_push_event (
    GST_BASE_TRANSFORM_SRC_PAD (base),
    gst_event_new_tag (gst_tag_list_new (GST_TAG_IMAGE_ORIENTATION, tags[stated], NULL)));
  return GST_FLOW_OK;
}

static gboolean
sl_exif_parse_sink_event (GstBaseTransform *base, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START
      || GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    begin (SL_EXIF_PARSE (base));
  return GST_BASE_TRANSFORM_CLASS (sl_exif_parse_parent_class)->sink_event (base, event);
}

static gboolean
sl_exif_parse_set_caps (GstBaseTransform *base, GstCaps *caps, GstCaps *outcaps)
{
  SlExifParse *self = SL_EXIF_PARSE (base);
  const GstStructure *media = gst_caps_get_structure (caps, 0);
  self->in_chunks = !gst_structure_has_name (media, "image/jpeg");
  sl_exif_chunks_clear (&self->chunks);
  self->chunks.file = gst_structure_has_name (media, "image/png") ? SL_EXIF_PNG : SL_EXIF_WEBP;
  return TRUE;
}

static gboolean
sl_exif_parse_stop (GstBaseTransform *base)
{
  begin (SL_EXIF_PARSE (base));
  return TRUE;
}

static void
sl_exif_parse_class_init (SlExifParseClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base_class = GST_BASE_TRANSFORM_CLASS (klass);
  sl_element_class_pads (element_class, MEDIA, MEDIA);
  sl_element_class_describe (
    element_class, "EXIF orientation parser", "Codec/Parser/Image",
    "Reads the orientation of JPEG, PNG and WebP pictures from their EXIF and sends it as "
    "image-orientation tag, which slnormalize, slresize and videoflip use; bytes pass unchanged. "
    "decodebin uses it automatically.",
    "gst-launch-1.0 filesrc location=phone.jpg ! slexifparse ! jpegdec ! slresize ! videoconvert ! "
    "autovideosink",
    "architecture.md");
  base_class->passthrough_on_same_caps = TRUE;
  base_class->transform_ip_on_passthrough = TRUE;
  base_class->transform_ip = sl_exif_parse_transform_ip;
  base_class->sink_event = sl_exif_parse_sink_event;
  base_class->set_caps = sl_exif_parse_set_caps;
  base_class->stop = sl_exif_parse_stop;
}

static void
sl_exif_parse_init (SlExifParse *self)
{
  self->told = SL_EXIF_UPRIGHT;
}
