/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether the model found objects on its last frame, from slpostprocess upstream to slinfer; and in
 * which zones objects are, from slanalyze. slinfer may have a need in the budget as long as there
 * are some. Sent when that changes.
 */
#pragma once

#include <gst/gst.h>

#include "postprocess/predictions/analysis.h"

/** sl_seen_send: tells upstream of @pad, a sink pad, unless *@told, what was told last, is @seen.
 */
void sl_seen_send (GstPad *pad, gboolean *told, gboolean seen);
/** sl_seen_receive: whether @event is such an event; @seen: (out): what it says. */
gboolean sl_seen_receive (GstEvent *event, gboolean *seen);
/** sl_zones_send: tells upstream of @pad, a sink pad, which zones are occupied or empty now, as far
 * as @told (element-type utf8, interned), the occupied ones that were told, differs. @analysis:
 * (nullable): NULL = all are empty */
void sl_zones_send (GstPad *pad, GPtrArray *told, const SlAnalysis *analysis);
/** sl_zone_receive: whether @event is one of those; @zone, @occupied: (out): what it says, while it
 * lives. */
gboolean sl_zone_receive (GstEvent *event, const char **zone, gboolean *occupied);
