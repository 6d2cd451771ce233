/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Packets refer to the document's memory. */
#include "plugins/restream/metadata_pay.h"

#include <gst/rtp/rtp.h>

#include "plugins/restream/onvif.h"

#define CLOCK_RATE 90000

typedef GstRTPBasePayload SlMetadataPay;
typedef GstRTPBasePayloadClass SlMetadataPayClass;

GType sl_metadata_pay_get_type (void);

G_DEFINE_TYPE (SlMetadataPay, sl_metadata_pay, GST_TYPE_RTP_BASE_PAYLOAD)

static GstStaticPadTemplate sink_template =
  GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (SL_ONVIF_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
  "src", GST_PAD_SRC, GST_PAD_ALWAYS,
  GST_STATIC_CAPS ("application/x-rtp, media=(string)application, payload=(int)[ 96, 127 ], "
                   "clock-rate=(int)90000, encoding-name=(string)VND.ONVIF.METADATA"));

static gboolean
set_caps (GstRTPBasePayload *pay, GstCaps *caps)
{
  gst_rtp_base_payload_set_options (pay, "application", TRUE, "VND.ONVIF.METADATA", CLOCK_RATE);
  return gst_rtp_base_payload_set_outcaps (pay, NULL);
}

static GstBuffer *
new_packet (GstRTPBasePayload *pay, GstBuffer *document, gsize offset, gsize size, gboolean is_last)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstBuffer *packet = gst_rtp_base_payload_allocate_output_buffer (pay, 0, 0, 0);
  GST_BUFFER_PTS (packet) = GST_BUFFER_PTS (document);
  if (gst_rtp_buffer_map (packet, GST_MAP_WRITE, &rtp)) {
    gst_rtp_buffer_set_marker (&rtp, is_last);
    gst_rtp_buffer_unmap (&rtp);
  }
  return gst_buffer_append (
    packet, gst_buffer_copy_region (document, GST_BUFFER_COPY_MEMORY, offset, size));
}

static GstFlowReturn
handle_buffer (GstRTPBasePayload *pay, GstBuffer *document)
{
  const gsize size = gst_buffer_get_size (document),
              most = gst_rtp_buffer_calc_payload_len (GST_RTP_BASE_PAYLOAD_MTU (pay), 0, 0);
  GstBufferList *packets = gst_buffer_list_new ();
  for (gsize offset = 0; offset < size; offset += most)
    gst_buffer_list_add (packets, new_packet (pay, document, offset, MIN (most, size - offset),
                                              size - offset <= most));
  gst_buffer_unref (document);
  return gst_rtp_base_payload_push_list (pay, packets);
}

static void
sl_metadata_pay_class_init (SlMetadataPayClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  klass->set_caps = set_caps;
  klass->handle_buffer = handle_buffer;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "ONVIF metadata payloader",
                                         "Codec/Payloader/Network/RTP",
                                         "Splits ONVIF metadata into RTP packets", "Sightline");
}

static void
sl_metadata_pay_init (SlMetadataPay *pay)
{
}

GstElement *
sl_metadata_pay_new (void)
{
  return g_object_new (sl_metadata_pay_get_type (), NULL);
}
