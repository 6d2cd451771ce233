/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Buffers of slremote's source pad: with outputs, or without where nobody computed them.
 */
#ifndef SL_PLUGINS_REMOTE_RESULT_H
#define SL_PLUGINS_REMOTE_RESULT_H

#include <gst/gst.h>

#include "models/contract.h"

/** sl_remote_append_outputs: appends memory for the output tensors of @contract to @buffer, aligned and padded, and maps it: @outputs. The caller
 *  unmaps @maps. FALSE: there is no memory. */
gboolean sl_remote_append_outputs (GstBuffer *buffer, const SlContract *contract, GstMapInfo maps[SL_MAX_IO], void **outputs);
/** sl_remote_make_empty: (transfer full) (nullable): what goes on of @buffer (transfer full), without memory, of a frame that nobody computed. */
GstBuffer *sl_remote_make_empty (GstBuffer *buffer);

#endif
