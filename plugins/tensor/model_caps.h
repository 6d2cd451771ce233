/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The caps of an element that runs a model, or has it run, for slinfer and slremote. No state: what
 * is answered follows from the arguments.
 */
#pragma once

#include <gst/gst.h>

#include "models/contract.h"

/** sl_contracts_equal: whether they say the same, as comparing caps does. */
gboolean sl_contracts_equal (SlContract *a, SlContract *b);
/** sl_contract_suits: whether these are the tensors that the model of @contract is fed with, or
 * those that it declares where these are others. */
gboolean sl_contract_suits (const SlContract *contract, const SlTensorInfo *tensors, guint n);
/** sl_model_caps_transform: (transfer full): what @caps, on the side of @direction, allow on the
 * other side, for a model that is offered and the one that runs, either of which may be NULL; all
 * tensors without both. @filter: (nullable) */
GstCaps *sl_model_caps_transform (GstPadDirection direction, GstCaps *caps, GstCaps *filter,
                                  SlContract *contracts[2]);

/** sl_model_caps_keep_inputs: takes @caps, an answer of the sink pad: what of them is no output of
 * a model of @contracts. GstBaseTransform puts what downstream takes into the answer where that is
 * also taken here, and with it the outputs' contract. */
GstCaps *sl_model_caps_keep_inputs (GstCaps *caps, SlContract *contracts[2]);

/** sl_model_caps_answer: corrects the answer to a CAPS @query of the sink pad, as
 * sl_model_caps_keep_inputs() has it. An upstream that cannot make what the model wants would find
 * no common caps and fail without a word: it may go on to its CAPS event, which is refused with
 * expected and got. */
void sl_model_caps_answer (GstQuery *query, SlContract *contracts[2]);
/** sl_model_caps_are_video: whether @event, of CAPS, has video where tensors are expected; then
 * @error is set. */
gboolean sl_model_caps_are_video (GstEvent *event, GError **error);
/** sl_model_caps_refuse: sets @error to the sentence for tensors that @contract does not ask for;
 * @element: its factory's name. Returns FALSE. */
gboolean sl_model_caps_refuse (const SlContract *contract, const SlTensorInfo *tensors, guint n,
                               const char *element, GError **error);
