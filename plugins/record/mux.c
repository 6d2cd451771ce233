/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* appsrc ! matroskamux ! fdsink. The sink's thread waits for the disk. The caller waits only if the
 * bounded queue between them is full. */
#include "plugins/record/mux.h"

#include <gst/app/gstappsrc.h>

#include "plugins/record/make.h"
#include "core/base/fail.h"

/* Bytes between who pushes and the disk. */
#define WAITING (2 << 20)
/* A disk that takes nothing for so long is taken for broken. */
#define PATIENCE (20 * GST_SECOND)
#define STEP (10 * GST_MSECOND)

struct _SlMux
{
  GstElement *pipeline, *source;
  GstBus *bus;
};

/* FALSE with @error set when an error message waits. */
static gboolean
check (SlMux *mux, GstMessage *message, GError **error)
{
  if (message == NULL || GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR)
    return TRUE;
  gst_message_parse_error (message, error, NULL);
  return FALSE;
}

static gboolean
check_bus (SlMux *mux, GError **error)
{
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (mux->bus, GST_MESSAGE_ERROR);
  return check (mux, message, error);
}

SlMux *
sl_mux_new (gint fd, GstCaps *caps, GError **error)
{
  g_autoptr (SlMux) mux = g_new0 (SlMux, 1);
  mux->pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  mux->bus = gst_element_get_bus (mux->pipeline);
  GstBin *bin = GST_BIN (mux->pipeline);
  GstElement *last = NULL;
  mux->source = sl_record_add (bin, "appsrc", &last, error);
  if (mux->source == NULL)
    return NULL;
  /* Before it is linked: the muxer chooses a kind of track by them. */
  g_object_set (mux->source, "caps", caps, "format", GST_FORMAT_TIME, "max-bytes",
                (guint64) WAITING, "block", FALSE, NULL);
  GstElement *muxer = sl_record_add (bin, "matroskamux", &last, error);
  GstElement *sink = muxer != NULL ? sl_record_add (bin, "fdsink", &last, error) : NULL;
  if (sink == NULL)
    return NULL;
  g_object_set (muxer, "writing-app", "Sightline", NULL);
  g_object_set (sink, "fd", fd, "sync", FALSE, "async", FALSE, NULL);
  if (gst_element_set_state (mux->pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
    return g_steal_pointer (&mux);
  if (check_bus (mux, error))
    sl_fail (error, SL_ERROR_BACKEND, "matroskamux does not start");
  return NULL;
}

gboolean
sl_mux_push (SlMux *mux, GstBuffer *frame, GError **error)
{
  GstClockTime waited = 0;
  while (check_bus (mux, error)) {
    if (gst_app_src_get_current_level_bytes (GST_APP_SRC (mux->source)) < WAITING) {
      gst_app_src_push_buffer (GST_APP_SRC (mux->source), frame);
      return TRUE;
    }
    if (waited >= PATIENCE) {
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_IO, "the disk took nothing for %u s",
                   (guint) (PATIENCE / GST_SECOND));
      break;
    }
    g_usleep (STEP / 1000);
    waited += STEP;
  }
  gst_buffer_unref (frame);
  return FALSE;
}

gboolean
sl_mux_finish (SlMux *mux, GError **error)
{
  gst_app_src_end_of_stream (GST_APP_SRC (mux->source));
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (mux->bus, PATIENCE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  if (message == NULL)
    g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_IO, "the disk took nothing for %u s",
                 (guint) (PATIENCE / GST_SECOND));
  return message != NULL && check (mux, message, error);
}

void
sl_mux_free (SlMux *mux)
{
  gst_element_set_state (mux->pipeline, GST_STATE_NULL);
  gst_object_unref (mux->bus);
  gst_object_unref (mux->pipeline);
  g_free (mux);
}
