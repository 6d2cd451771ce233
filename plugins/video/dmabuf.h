/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Caps of frames in linear DMABuf (rows one after another), and the caps of these frames once the
 * CPU has mapped them. GStreamer maps the memory. It synchronises the caches (DMA_BUF_IOCTL_SYNC)
 * when it maps and unmaps.
 */
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

/** sl_dmabuf_offer: (transfer full): @caps (transfer full), raw video in system memory, followed by
 * caps of the same frames as linear DMABuf. The DMABuf caps have the pixel format in the field
 * format, and again in the field drm-format, as in GStreamer 1.24. */
GstCaps *sl_dmabuf_offer (GstCaps *caps);
/** sl_dmabuf_is_wanted: whether to offer DMABuf. FALSE for a caps query whose @filter (nullable)
 * also has raw video in system memory. Decoders on a GPU list their own memory first, and choose it
 * when it is accepted. Such frames are slow to read, or tiled. */
gboolean sl_dmabuf_is_wanted (GstCaps *filter);
/** sl_dmabuf_plain: (transfer full): the raw video of @caps once it is mapped: in system memory,
 * with the pixel format in the field format. Structures of other memory, of unknown formats and of
 * frames that are not linear are left out. The result may be empty. */
GstCaps *sl_dmabuf_plain (GstCaps *caps);
/** sl_dmabuf_check: FALSE with @error set when the fixed @caps are raw video neither in system
 * memory nor in linear DMABuf. The message says which element to put upstream of @element. */
gboolean sl_dmabuf_check (GstCaps *caps, const char *element, GError **error);
/** sl_dmabuf_propose: propose_allocation of frames in either memory: upstream may use any strides,
 * and should have a frame to spare, because one is held while its tensor is in the model. */
gboolean sl_dmabuf_propose (GstBaseTransform *base, GstQuery *decide_query, GstQuery *query);
