/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The plugin files in one process, and in a program that carries the elements inside: each has code
 * for types and metas of its own, and all must mean the same ones, whichever came first. Criticals
 * are fatal here.
 *   pluginfiles files|inside-first|types-first|inside-last PLUGIN...
 */
#include <glib/gstdio.h>

#include "plugins/elements.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

static void
check_factory (const GValue *item, gpointer unused)
{
  GstElementFactory *factory = gst_element_get_factory (g_value_get_object (item));
  g_assert_true (GST_IS_ELEMENT_FACTORY (factory));
  g_autoptr (GstElementFactory) known = gst_element_factory_find (GST_OBJECT_NAME (factory));
  g_assert_true (factory == known);
}

/* Each element's class points to the factory that the registry has. */
static void
check_factories (GstElement *pipeline)
{
  g_autoptr (GstIterator) elements = gst_bin_iterate_recurse (GST_BIN (pipeline));
  while (gst_iterator_foreach (elements, check_factory, NULL) == GST_ITERATOR_RESYNC)
    gst_iterator_resync (elements);
}

/* @launch has MODEL where the model's path belongs. */
static void
run (const char *launch)
{
  g_autofree char *model = test_colour_model (SL_DTYPE_U8);
  g_auto (GStrv) parts = g_strsplit (launch, "MODEL", -1);
  g_autofree char *line = g_strjoinv (model, parts);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = gst_parse_launch (line, &error);
  g_assert_no_error (error);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_autoptr (GstMessage) message =
    gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull (message);
  g_assert_cmpint (GST_MESSAGE_TYPE (message), ==, GST_MESSAGE_EOS);
  check_factories (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  test_remove_file (model);
}

/* What slpostprocess leaves on a frame, masks too, sloverlay reads, though they come from two
 * files. */
static void
test_both (gconstpointer launch)
{
  run (launch);
}

/* slremote and slinfer each offer tensors' memory to an slnormalize. Nobody listens at the port:
 * the fallback computes. */
static void
test_pools (void)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find ("slremote");
  if (factory == NULL) {
    g_test_skip ("needs slremote");
    return;
  }
  run ("videotestsrc num-buffers=3 ! slnormalize ! slinfer model=MODEL ! fakesink "
       "videotestsrc num-buffers=3 ! slnormalize ! slremote location=mqtt://127.0.0.1:1/models/toy "
       "contract-timeout=0 fallback=MODEL ! fakesink");
}

static void
load (char *const *files)
{
  for (; *files != NULL; files++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GstPlugin) plugin = gst_plugin_load_file (*files, &error);
    g_assert_no_error (error);
    g_assert_nonnull (plugin);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (argc, >, 2);
  if (g_str_equal (argv[1], "inside-first")) {
    sl_elements_init (NULL, NULL);
    g_assert_true (sl_elements_register_static ());
  } else if (g_str_equal (argv[1], "types-first"))
    sl_elements_init (NULL, NULL);
  else
    gst_init (NULL, NULL);
  load (argv + 2);
  if (!g_str_equal (argv[1], "files"))
    g_assert_true (sl_elements_register_static ());
  g_test_add_data_func (
    "/pluginfiles/labels",
    "videotestsrc num-buffers=3 ! slpredict model=MODEL ! sloverlay stats=true ! fakesink",
    test_both);
  g_test_add_data_func (
    "/pluginfiles/objects",
    "videotestsrc num-buffers=3 ! slpredict model=MODEL inference-region=roi-list ! sloverlay ! "
    "fakesink",
    test_both);
  g_test_add_func ("/pluginfiles/pools", test_pools);
  return g_test_run ();
}
