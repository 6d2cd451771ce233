/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * What a pipeline's messages mean, for everyone who runs one: whether they are read where they are posted, by a main loop, or when
 * somebody has time for them.
 */
#ifndef SL_PIPELINES_SUPERVISE_BUS_H
#define SL_PIPELINES_SUPERVISE_BUS_H

#include <gst/gst.h>

G_BEGIN_DECLS

/** What an error says of a pipeline, %s, that refuses a state when no element does. */
#define SL_BUS_REFUSAL_UNSAID "%s does not start, and no element says why; GST_DEBUG=3 in the environment tells more"

/** What an owner wants to hear; NULL = nothing of that kind. @element: name of the element that posted it. */
typedef struct
{
  void (*failed) (gpointer owner, const char *element, const GError *error);
  void (*warned) (gpointer owner, const char *element, const GError *warning);
  void (*informed) (gpointer owner, const char *element, const GError *info);
  void (*posted) (gpointer owner, GstMessage *message); /* an element's or an application's own message */
  void (*reached) (gpointer owner, GstState state);     /* PAUSED or PLAYING, by the pipeline as a whole */
  void (*ended) (gpointer owner);
} SlBusEvents;

/** sl_bus_handle: tells @owner what @message (transfer none), of the bus of @pipeline, means. Latency that changed is distributed, a clock
 *  that was lost is replaced; both in another thread. Any thread, the one that posts among them. */
void sl_bus_handle (GstElement *pipeline, GstMessage *message, const SlBusEvents *events, gpointer owner);
/** sl_bus_read: handles the next message that waits; FALSE when none does. Messages of kinds that @events leaves out are dropped. */
gboolean sl_bus_read (GstElement *pipeline, const SlBusEvents *events, gpointer owner);
/** sl_bus_take_error: TRUE when an error waits or comes within @wait nanoseconds, which is then taken off. @error: (out): what it says,
 *  without GStreamer's hints for programmers; @element: (out) (optional) (transfer full): the name of who says it. Messages before it are
 *  dropped. */
gboolean sl_bus_take_error (GstElement *pipeline, GstClockTime wait, char **element, GError **error);
/** sl_bus_take_refusal: after an element refused a change of state: why, as sl_bus_take_error() has it; SL_ERROR_BACKEND with a sentence
 *  about @what, such as "the pipeline", and @element NULL, when none said it. */
void sl_bus_take_refusal (GstElement *pipeline, const char *what, char **element, GError **error);
/** sl_bus_wait_for_end: waits at most @wait nanoseconds. TRUE at the end of the stream; FALSE with @error set when an element fails, and
 *  without when the time is over. */
gboolean sl_bus_wait_for_end (GstElement *pipeline, GstClockTime wait, GError **error);

G_END_DECLS

#endif
