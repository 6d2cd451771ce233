/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The only code that distinguishes kinds of messages and that makes texts for users from
 * GStreamer's errors. */
#include "pipelines/supervise/bus.h"

#include <string.h>

#include "core/base/error_stays.h"
#include "core/base/fail.h"
#include "core/base/printable.h"

static GError *
parse_error (GstMessage *message)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *debug = NULL;
  gst_message_parse_error (message, &error, &debug);
  const char *reason = debug != NULL ? strstr (debug, "reason ") : NULL;
  if (g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED) && reason != NULL)
    return g_error_new (error->domain, error->code, "%s (%s)", error->message,
                        reason + strlen ("reason "));
  /* Where the message itself is general, the details say why. */
  g_autofree char *why = sl_message_detail (debug);
  if (why != NULL && strcmp (why, error->message) != 0)
    return g_error_new (error->domain, error->code, "%s (%s)", error->message, why);
  return g_steal_pointer (&error);
}

static void
tell (void (*listener) (gpointer, const char *, const GError *), gpointer owner,
      GstMessage *message, void (*parse) (GstMessage *, GError **, char **))
{
  g_autoptr (GError) said = NULL;
  if (listener == NULL)
    return;
  if (parse == NULL)
    said = parse_error (message);
  else
    parse (message, &said, NULL);
  listener (owner, GST_MESSAGE_SRC_NAME (message), said);
}

static gboolean
stays (GstMessage *message)
{
  const GstStructure *details = NULL;
  gst_message_parse_error_details (message, &details);
  return details != NULL && gst_structure_has_name (details, SL_ERROR_STAYS);
}

static void
tell_state (GstElement *pipeline, GstMessage *message, const SlBusEvents *events, gpointer owner)
{
  GstState state, pending;
  if (events->reached == NULL || GST_MESSAGE_SRC (message) != GST_OBJECT (pipeline))
    return;
  gst_message_parse_state_changed (message, NULL, &state, &pending);
  if (state == GST_STATE_PLAYING
      || (state == GST_STATE_PAUSED && pending == GST_STATE_VOID_PENDING))
    events->reached (owner, state);
}

static void
recalculate_latency (GstElement *pipeline, gpointer data)
{
  gst_bin_recalculate_latency (GST_BIN (pipeline));
}

/* The clock went away with its element: a new one is chosen on the way from paused to playing. A
 * pipeline that was stopped meanwhile stays stopped. */
static void
renew_clock (GstElement *pipeline, gpointer data)
{
  GST_STATE_LOCK (pipeline);
  if (GST_STATE_TARGET (pipeline) == GST_STATE_PLAYING) {
    gst_element_set_state (pipeline, GST_STATE_PAUSED);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
  }
  GST_STATE_UNLOCK (pipeline);
}

void
sl_bus_handle (GstElement *pipeline, GstMessage *message, const SlBusEvents *events, gpointer owner)
{
  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ERROR:
      if (events->stays != NULL && stays (message))
        events->stays (owner);
      tell (events->failed, owner, message, NULL);
      break;
    case GST_MESSAGE_WARNING:
      tell (events->warned, owner, message, gst_message_parse_warning);
      break;
    case GST_MESSAGE_INFO:
      tell (events->informed, owner, message, gst_message_parse_info);
      break;
    case GST_MESSAGE_ELEMENT:
    case GST_MESSAGE_APPLICATION:
      if (events->posted != NULL && gst_message_get_structure (message) != NULL)
        events->posted (owner, message);
      break;
    case GST_MESSAGE_STATE_CHANGED:
      tell_state (pipeline, message, events, owner);
      break;
    case GST_MESSAGE_EOS:
      if (events->ended != NULL)
        events->ended (owner);
      break;
    case GST_MESSAGE_LATENCY:
      gst_element_call_async (pipeline, recalculate_latency, NULL, NULL);
      break;
    case GST_MESSAGE_CLOCK_LOST:
      gst_element_call_async (pipeline, renew_clock, NULL, NULL);
      break;
    default:
      break;
  }
}

gboolean
sl_bus_read (GstElement *pipeline, const SlBusEvents *events, gpointer owner)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = gst_bus_pop (bus);
  if (message != NULL)
    sl_bus_handle (pipeline, message, events, owner);
  return message != NULL;
}

gboolean
sl_bus_take_error (GstElement *pipeline, GstClockTime wait, char **element, GError **error)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (bus, wait, GST_MESSAGE_ERROR);
  if (message == NULL)
    return FALSE;
  if (element != NULL)
    *element = g_strdup (GST_MESSAGE_SRC_NAME (message));
  g_propagate_error (error, parse_error (message));
  return TRUE;
}

void
sl_bus_take_refusal (GstElement *pipeline, const char *what, char **element, GError **error)
{
  if (sl_bus_take_error (pipeline, 0, element, error))
    return;
  if (element != NULL)
    *element = NULL;
  sl_fail (error, SL_ERROR_BACKEND, SL_BUS_REFUSAL_UNSAID, what);
}

gboolean
sl_bus_wait_for_end (GstElement *pipeline, GstClockTime wait, GError **error)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (bus, wait, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (message == NULL || GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS)
    return message != NULL;
  g_propagate_error (error, parse_error (message));
  return FALSE;
}
