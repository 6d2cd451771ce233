/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory that ends while a pipeline starts, predicts frames, and takes another model. GStreamer is
 * initialised in each child: threads that it has in the parent would be missing there.
 */
#include <gst/app/gstappsink.h>

#include "plugins/elements.h"
#include "tests/elements/support.h"
#include "tests/faults/sweep.h"

typedef struct
{
  char *model, *other;
} Models;

/* How often the bus is asked while no frame comes. */
#define GLANCE (20 * GST_MSECOND)

/* The next message of @types, none = GST_MESSAGE_UNKNOWN; its text, of a warning or an error, goes
 * into @text. */
static GstMessageType
take_message (GstBus *bus, GstMessageType types, GstClockTime timeout, GString *text)
{
  g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (bus, timeout, types);
  g_autoptr (GError) error = NULL;
  if (message == NULL)
    return GST_MESSAGE_UNKNOWN;
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING)
    gst_message_parse_warning (message, &error, NULL);
  else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  if (error != NULL)
    g_string_append (text, error->message);
  return GST_MESSAGE_TYPE (message);
}

/* What a frame comes to, a word; FALSE after an error, whose message goes there instead. */
static gboolean
pull (GstElement *pipeline, GstBus *bus, GstMessageType types, GString *text, GstMessageType *heard)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  GstSample *sample = NULL;
  *heard = GST_MESSAGE_UNKNOWN;
  while (sample == NULL && *heard == GST_MESSAGE_UNKNOWN) {
    sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink), GLANCE);
    *heard = take_message (bus, types, 0, text);
  }
  if (sample != NULL && *heard == GST_MESSAGE_UNKNOWN) {
    char word[16] = "";
    gst_buffer_extract (gst_sample_get_buffer (sample), 0, word, sizeof word - 1);
    g_string_append (text, word);
  }
  g_clear_pointer (&sample, gst_sample_unref);
  gst_object_unref (sink);
  return *heard == GST_MESSAGE_UNKNOWN;
}

/* Frames flow until the other model is there, or an error says why not. */
static void
swap (GstElement *pipeline, GstBus *bus, const char *model, GString *text)
{
  GstElement *infer = gst_bin_get_by_name (GST_BIN (pipeline), "it");
  g_autoptr (GString) ignored = g_string_new (NULL);
  GstMessageType heard = GST_MESSAGE_UNKNOWN;
  g_object_set (infer, "model", model, NULL);
  while (pull (pipeline, bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING | GST_MESSAGE_ELEMENT,
               ignored, &heard))
    g_string_truncate (ignored, 0);
  g_string_append (text, heard == GST_MESSAGE_ELEMENT ? "changed" : ignored->str);
  gst_object_unref (infer);
}

static void
start_gstreamer (void)
{
  sl_elements_init (NULL, NULL);
  sl_elements_register_static ();
}

static char *
predict (gpointer data)
{
  const Models *models = data;
  GString *text = g_string_new (NULL);
  g_autofree char *launch = g_strdup_printf (
    "videotestsrc pattern=green ! video/x-raw,format=RGB,width=40,height=30 ! slnormalize ! "
    "slinfer name=it model=%s ! slpostprocess ! text/x-raw ! appsink name=out sync=false "
    "max-buffers=1",
    models->model);
  GstElement *pipeline = gst_parse_launch (launch, NULL);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessageType heard;
  if (gst_element_set_state (pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    take_message (bus, GST_MESSAGE_ERROR, GST_CLOCK_TIME_NONE, text);
  else if (pull (pipeline, bus, GST_MESSAGE_ERROR, text, &heard)
           && pull (pipeline, bus, GST_MESSAGE_ERROR, text, &heard))
    swap (pipeline, bus, models->other, text);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  return g_string_free (text, FALSE);
}

static void
test_pipeline (void)
{
  Models models = { test_sized_colour_model (SL_DTYPE_U8, 4),
                    test_sized_colour_model (SL_DTYPE_U8, 8) };
  sweep (start_gstreamer, predict, &models);
  test_remove_file (models.model);
  test_remove_file (models.other);
  g_free (models.model);
  g_free (models.other);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/elements/pipeline", test_pipeline);
  return g_test_run ();
}
