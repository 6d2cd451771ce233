/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Interprets the bus messages of a pipeline. Every owner of a pipeline uses it: with a synchronous
 * bus handler, with a main loop, or by polling.
 */
#pragma once

#include <gst/gst.h>

/** Error message for a pipeline, %s, that fails to change its state while no element posts an
 * error. */
#define SL_BUS_REFUSAL_UNSAID \
  "%s does not start, and no element says why; GST_DEBUG=3 in the environment tells more"

/** Callbacks of an owner; NULL = the owner ignores this kind. @element: name of the element that
 * posted the message. */
typedef struct
{
  void (*failed) (gpointer owner, const char *element, const GError *error);
  void (*warned) (gpointer owner, const char *element, const GError *warning);
  void (*informed) (gpointer owner, const char *element, const GError *info);
  void (*posted) (gpointer owner,
                  GstMessage *message); /* an element's or an application's own message */
  void (*reached) (gpointer owner, GstState state); /* the whole pipeline is PAUSED or PLAYING */
  void (*ended) (gpointer owner);
  void (*stays) (gpointer owner); /* before failed: a start with the same settings fails again */
} SlBusEvents;

/** sl_bus_handle: calls the callback for @message (transfer none) of the bus of @pipeline. Changed
 * latency is distributed and a lost clock is replaced, both in another thread. Any thread may call,
 * also the thread that posts. */
void sl_bus_handle (GstElement *pipeline, GstMessage *message, const SlBusEvents *events,
                    gpointer owner);
/** sl_bus_read: handles the next waiting message; FALSE when no message waits. Messages without a
 * callback in @events are dropped. */
gboolean sl_bus_read (GstElement *pipeline, const SlBusEvents *events, gpointer owner);
/** sl_bus_take_error: TRUE when an error message waits or comes within @wait nanoseconds; it is
 * removed from the bus. @error: (out): its error, without GStreamer's hints for programmers.
 * @element: (out) (optional) (transfer full): the name of the posting element. Messages before it
 * are dropped. */
gboolean sl_bus_take_error (GstElement *pipeline, GstClockTime wait, char **element,
                            GError **error);
/** sl_bus_take_refusal: after a failed state change: sets @error and @element as
 * sl_bus_take_error() does. When no element posted an error, @error is SL_ERROR_BACKEND with a
 * message about @what, such as "the pipeline", and @element is NULL. */
void sl_bus_take_refusal (GstElement *pipeline, const char *what, char **element, GError **error);
/** sl_bus_wait_for_end: waits at most @wait nanoseconds. TRUE at the end of the stream. FALSE with
 * @error set when an element fails, and without @error after the time. */
gboolean sl_bus_wait_for_end (GstElement *pipeline, GstClockTime wait, GError **error);
