/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether the model found objects on its last frame, from slpostprocess upstream to slinfer, which
 * has a need in the budget as long as there are some. Sent when that changes.
 */
#pragma once

#include <gst/gst.h>

/** sl_seen_send: tells upstream of @pad, a sink pad, unless *@told, what was told last, is @seen.
 */
void sl_seen_send (GstPad *pad, gboolean *told, gboolean seen);
/** sl_seen_receive: whether @event is such an event; @seen: (out): what it says. */
gboolean sl_seen_receive (GstEvent *event, gboolean *seen);
