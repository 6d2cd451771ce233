/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Caps of slremote: what may come in where downstream takes only some of the outputs, and what goes out.
 */
#ifndef SL_PLUGINS_REMOTE_CAPS_H
#define SL_PLUGINS_REMOTE_CAPS_H

#include <gst/gst.h>

#include "models/contract.h"

/** sl_remote_query_sink_caps: (transfer full): of the sink pad. @srcpad: the source pad, whose peer is asked; @contracts: as
 *  sl_model_caps_transform() has them */
GstCaps *sl_remote_query_sink_caps (GstPad *srcpad, GstCaps *filter, SlContract *contracts[2]);
/** sl_remote_choose_output: (transfer full) (nullable): the source pad's caps for what comes in with @caps. NULL with @error set, SL_ERROR_SHAPE: the
 *  element behind takes none. */
GstCaps *sl_remote_choose_output (GstPad *srcpad, GstCaps *caps, SlContract *contract, GError **error);

#endif
