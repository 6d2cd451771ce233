/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Stops that do not wait for a start: a pipeline's state changes one after the other, so an element that waits for somebody on its way up keeps
 * the way down waiting.
 */
#ifndef SL_PIPELINES_SUPERVISE_INTERRUPT_H
#define SL_PIPELINES_SUPERVISE_INTERRUPT_H

#include <gst/gst.h>

G_BEGIN_DECLS

/** sl_pipeline_interrupt: emits the action signal "interrupt" of each element that has it, so that what waits there fails at once. The pipeline must be
 *  on its way to NULL then. Any thread. */
void sl_pipeline_interrupt (GstBin *pipeline);

G_END_DECLS

#endif
