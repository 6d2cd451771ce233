/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Frames in DMABuf whose rows lie one after another (linear): which caps they have, and what the CPU sees of them. Mapping such a memory is
 * GStreamer's, and synchronises the caches (DMA_BUF_IOCTL_SYNC) as it maps and unmaps.
 */
#ifndef SL_PLUGINS_DMABUF_H
#define SL_PLUGINS_DMABUF_H

#include <gst/gst.h>

G_BEGIN_DECLS

/** sl_dmabuf_offer: @caps (transfer full) of raw video in system memory, and behind them the same frames as linear DMABuf, with the pixel
 *  format in the field format, and in drm-format, as GStreamer 1.24 has it. (transfer full) */
GstCaps *sl_dmabuf_offer (GstCaps *caps);
/** sl_dmabuf_is_wanted: FALSE for a caps query whose @filter (nullable) has raw video in system memory, too. Elements that decode on a GPU list
 *  their own memory first, and what they list first they take: without this they would give frames that are slow to read, or tiled. */
gboolean sl_dmabuf_is_wanted (GstCaps *filter);
/** sl_dmabuf_plain: (transfer full): raw video of @caps as it is once mapped: in system memory, the pixel format in the field format.
 *  Without structures of other memory, of unknown formats and of frames that are not linear; empty when none is left. */
GstCaps *sl_dmabuf_plain (GstCaps *caps);
/** sl_dmabuf_check: FALSE with @error set when the fixed @caps are of raw video neither in system memory nor in linear DMABuf: what to put
 *  before @element. */
gboolean sl_dmabuf_check (GstCaps *caps, const char *element, GError **error);

G_END_DECLS

#endif
