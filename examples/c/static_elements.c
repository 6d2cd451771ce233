/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * static_elements MODEL: a program that has Sightline's elements and its library inside, so no
 * plugin file is looked for. Needs a Sightline that was built with -Dstatic-plugin=true; of what
 * the program does not use, the linker takes nothing.
 *
 *   cc static_elements.c -o static_elements $(pkg-config --cflags --libs gstsightline)
 *
 * gstsightline.pc lies where GStreamer's plugins have theirs:
 * PKG_CONFIG_PATH=LIBDIR/gstreamer-1.0/pkgconfig.
 */
#include <gst/gst.h>
#include <stdio.h>

/* sloverlay is in sightlineoverlay, slpublish in sightlinepublish, slread in sightlineread,
 * slremote in sightlineremote, slrestream in sightlinerestream. */
GST_PLUGIN_STATIC_DECLARE (sightline);

#define LAUNCH                                                                             \
  "videotestsrc pattern=blue num-buffers=3 ! video/x-raw,format=RGB,width=64,height=64 ! " \
  "slnormalize ! slinfer name=infer ! slpostprocess ! text/x-raw ! fdsink"

/* TRUE at the pipeline's end. */
static gboolean
run (GstElement *pipeline)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS)
    return TRUE;
  g_autoptr (GError) error = NULL;
  gst_message_parse_error (message, &error, NULL);
  fprintf (stderr, "static_elements: %s\n", error->message);
  return FALSE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  gst_init (&argc, &argv);
  if (argc != 2) {
    fprintf (stderr, "usage: static_elements MODEL\n");
    return 2;
  }
  GST_PLUGIN_STATIC_REGISTER (sightline);
  g_autoptr (GstElement) pipeline = gst_parse_launch (LAUNCH, &error);
  if (pipeline == NULL) {
    fprintf (stderr, "static_elements: %s\n", error->message);
    return 1;
  }
  g_autoptr (GstElement) infer = gst_bin_get_by_name (GST_BIN (pipeline), "infer");
  g_object_set (infer, "model", argv[1], NULL);
  const gboolean ended = run (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return ended ? 0 : 1;
}
