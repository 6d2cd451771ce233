/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Lets a stop interrupt a start. GStreamer changes the state of a pipeline step by step. So an element that blocks in a change up also
 * delays the change down.
 */
#ifndef SL_PIPELINES_SUPERVISE_INTERRUPT_H
#define SL_PIPELINES_SUPERVISE_INTERRUPT_H

#include <gst/gst.h>

/** sl_pipeline_interrupt: emits the action signal "interrupt" of each element that has it, so that a blocking state change fails at once.
 *  The owner of the pipeline must be setting it to NULL. Any thread. */
void sl_pipeline_interrupt (GstBin *pipeline);

#endif
