/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inputs of slinfer's model that do not come with each frame: state, which is forgotten where
 * frames do not follow each other, and tensors of other branches of the pipeline, which come
 * through pads of their own and stay until there are newer ones.
 *
 * The pads' threads only copy a tensor, so a branch never waits for the model. The model's thread
 * waits for the first tensor of each pad, for a limited time, and for nothing else.
 */
#pragma once

#include <gst/gst.h>

#include "core/runtime/session.h"

typedef struct _SlHeldInputs SlHeldInputs;

/** sl_held_inputs_new: (transfer full): for @element (transfer none), which owns it. */
SlHeldInputs *sl_held_inputs_new (GstElement *element);
void sl_held_inputs_free (SlHeldInputs *held);

/** sl_held_inputs_forget: any thread: the next frame finds no state of those before. */
void sl_held_inputs_forget (SlHeldInputs *held);
/** sl_held_inputs_take_event: of the pad that frames come through: a stream, a segment, caps or a
 * flush begin anew, and so does the state; a flush ends a wait. */
void sl_held_inputs_take_event (SlHeldInputs *held, GstEvent *event);

/** sl_held_inputs_add_pad: (transfer none) (nullable): a pad of the element for input @name,
 * "input_1"; NULL = the next that is free. NULL where there is such a pad already, or its number is
 * none. */
GstPad *sl_held_inputs_add_pad (SlHeldInputs *held, GstPadTemplate *pads, const char *name);
/** sl_held_inputs_remove_pad: while frames flow the input keeps its last tensor, and stays one that
 * sl_held_inputs_stated() says: FALSE. */
gboolean sl_held_inputs_remove_pad (SlHeldInputs *held, GstPad *pad);
/** sl_held_inputs_drop_released: removes the inputs whose pad was released. Call it when no frame
 * flows. Returns whether there were any. */
gboolean sl_held_inputs_drop_released (SlHeldInputs *held);
/** sl_held_inputs_stated: (transfer full) (nullable): "#1,#2": inputs of the model that come
 * through pads. */
char *sl_held_inputs_stated (SlHeldInputs *held);

/** sl_held_inputs_use: @session runs from here on, of a model that was loaded with what
 * sl_held_inputs_stated() said. In the thread that runs it, or while none does. */
void sl_held_inputs_use (SlHeldInputs *held, SlSession *session);
/** sl_held_inputs_start, sl_held_inputs_stop: before frames flow: what came before is forgotten;
 * and before they are to stop: a wait ends. */
void sl_held_inputs_start (SlHeldInputs *held);
void sl_held_inputs_stop (SlHeldInputs *held);
/** sl_held_inputs_ready: before @session runs on @buffer: everything that it holds is what this
 * frame is to see. Waits up to @seconds for first tensors. Posts errors of the element. */
GstFlowReturn sl_held_inputs_ready (SlHeldInputs *held, SlSession *session, GstBuffer *buffer,
                                    guint seconds);
