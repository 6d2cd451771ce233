/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pads of slremote: caps, where downstream takes only some of the outputs, live sources, and
 * buffers, with outputs or without a result.
 */
#pragma once

#include <gst/gst.h>

#include "models/contract.h"

/** sl_remote_query_sink_caps: (transfer full): of the sink pad. @srcpad: the source pad, whose peer
 * is asked; @contracts: as sl_model_caps_transform() has them */
GstCaps *sl_remote_query_sink_caps (GstPad *srcpad, GstCaps *filter, SlContract *contracts[2]);
/** sl_remote_accept_tensors: answers @query, ACCEPT_CAPS of the sink pad: tensors of any kind. Caps
 * of other elements lack the contract, so they are no subset of those of the pad. Returns TRUE. */
gboolean sl_remote_accept_tensors (GstPad *sinkpad, GstQuery *query);
/** sl_remote_peer_is_live: whether frames come at their own pace. */
gboolean sl_remote_peer_is_live (GstPad *sinkpad);
/** sl_remote_keep_event: stores @object on the source pad if it is a sticky event, and a flush may
 * not drop it. */
void sl_remote_keep_event (GstPad *srcpad, gpointer object);
/** sl_remote_choose_output: (transfer full) (nullable): the source pad's caps for what comes in
 * with @caps. NULL with @error set, SL_ERROR_SHAPE: the element behind takes none. */
GstCaps *sl_remote_choose_output (GstPad *srcpad, GstCaps *caps, SlContract *contract,
                                  GError **error);
/** sl_remote_append_outputs: appends memory for the output tensors of @contract to @buffer, aligned
 * and padded, and maps it: @outputs. The caller unmaps @maps. FALSE: there is no memory. */
gboolean sl_remote_append_outputs (GstBuffer *buffer, const SlContract *contract,
                                   GstMapInfo maps[SL_MAX_IO], void **outputs);
/** sl_remote_make_empty: (transfer full) (nullable): what goes on of @buffer (transfer full),
 * without memory, of a frame that nobody computed. */
GstBuffer *sl_remote_make_empty (GstBuffer *buffer);
