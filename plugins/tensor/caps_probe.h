/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A question that slinfer asks the elements around it before it changes its model: could you work
 * with these caps, and if not, why not? A custom query, so that nothing is negotiated yet, and
 * elements that do not know it stand in no one's way.
 */
#pragma once

#include <gst/gst.h>

#include "models/contract.h"

/** sl_caps_probe: whether the peer of @pad accepts @caps (fixed). FALSE with @error set to the
 * peer's reason. TRUE when no element answers. */
gboolean sl_caps_probe (GstPad *pad, GstCaps *caps, GError **error);
/** sl_caps_probe_tensors: whether the peer of @pad, a pad of slinfer, accepts the @n tensors
 * @tensors of a model with @contract. FALSE with
 *  @error set: SL_ERROR_SHAPE or the peer's reason. */
gboolean sl_caps_probe_tensors (GstPad *pad, const SlTensorInfo *tensors, guint n,
                                SlContract *contract, GError **error);
/** sl_caps_probe_asked: (transfer none) (nullable): the caps, when @query is this question. */
GstCaps *sl_caps_probe_asked (GstQuery *query);
/** sl_caps_probe_answer: @error (nullable): why not; NULL = yes. */
void sl_caps_probe_answer (GstQuery *query, const GError *error);
