/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plugin files in one process: each has code for metas of its own, and all must mean the same ones. Criticals are fatal here.
 */
#include <glib/gstdio.h>

#include "tests/elements/support.h"

/* What slpostprocess leaves on a frame, masks too, sloverlay reads, though they come from two files. */
static void
test_both (gconstpointer launch)
{
  g_autofree char *model = test_colour_model (SL_DTYPE_U8);
  g_autofree char *line = g_strdup_printf (launch, model);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (line, &error);
  g_assert_no_error (error);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  test_remove_file (model);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  for (int i = 1; i < argc; i++) {
    g_autoptr (GstPlugin) plugin = gst_plugin_load_file (argv[i], &error);
    g_assert_no_error (error);
    g_assert_nonnull (plugin);
  }
  g_test_add_data_func ("/pluginfiles/labels", "videotestsrc num-buffers=3 ! slpredict model=%s ! sloverlay stats=true ! fakesink",
                        test_both);
  g_test_add_data_func ("/pluginfiles/objects",
                        "videotestsrc num-buffers=3 ! slpredict model=%s inference-region=roi-list ! sloverlay ! fakesink", test_both);
  return g_test_run ();
}
