/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the tests of slpublish share. Every wait has an end.
 */
#include "tests/elements/publish/support.h"

#include <glib/gstdio.h>
#include <string.h>

#include "plugins/elements.h"
#include "tests/elements/support.h"

#define JSON "application/x-json"

static char *folder;

void
publish_init (int *argc, char ***argv)
{
  test_elements_init (argc, argv);
  g_assert_true (gst_element_register (NULL, "slpublish", GST_RANK_NONE, sl_publish_get_type ()));
  folder = g_dir_make_tmp ("sightline-XXXXXX", NULL);
}

int
publish_run (void)
{
  const int status = test_elements_run ();
  GDir *dir = g_dir_open (folder, 0, NULL);
  const char *name;
  while ((name = g_dir_read_name (dir)) != NULL) {
    g_autofree char *path = publish_path (name);
    g_remove (path);
  }
  g_dir_close (dir);
  g_rmdir (folder);
  g_free (folder);
  return status;
}

char *
publish_path (const char *name)
{
  return g_build_filename (folder, name, NULL);
}

char *
publish_line (guint i)
{
  return g_strdup_printf ("{\"frame\":%u,\"objects\":[{\"roi_type\":\"cat\"}]}", i);
}

GstHarness *
publish_start_with (const char *location, const char *more, const char *caps, GstBus **bus)
{
  GstHarness *harness;
  g_autofree char *launch = g_strdup_printf (
    "slpublish retry-min=20 retry-max=200 drain-timeout=60000 location=%s %s", location, more);
  *bus = gst_bus_new ();
  g_autoptr (GstElement) element = gst_parse_launch (launch, NULL);
  g_assert_nonnull (element);
  gst_element_set_bus (element, *bus);
  harness = gst_harness_new_with_element (element, "sink", NULL);
  gst_harness_set_src_caps_str (harness, caps);
  return harness;
}

GstHarness *
publish_start (const char *location, const char *more, GstBus **bus)
{
  return publish_start_with (location, more, JSON, bus);
}

void
publish_finish (GstHarness *harness, GstBus *bus)
{
  /* Messages on the bus hold the element that holds the bus. */
  gst_element_set_bus (harness->element, NULL);
  gst_harness_teardown (harness);
  gst_object_unref (bus);
}

GstFlowReturn
publish_push_text (GstHarness *harness, const char *text)
{
  return gst_harness_push (harness, gst_buffer_new_wrapped (g_strdup (text), strlen (text)));
}

void
publish_push_lines (GstHarness *harness, guint from, guint to)
{
  for (guint i = from; i < to; i++) {
    g_autofree char *line = publish_line (i);
    g_assert_cmpint (publish_push_text (harness, line), ==, GST_FLOW_OK);
  }
}

guint64
publish_count (GstHarness *harness, const char *property)
{
  guint64 count = 0;
  g_object_get (harness->element, property, &count, NULL);
  return count;
}

/* Waits until @element said that it is in @state, and returns what it said. */
GstStructure *
publish_wait_for_state (GstBus *bus, const char *state)
{
  for (;;) {
    g_autoptr (GstMessage) message =
      gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ELEMENT);
    const GstStructure *structure = gst_message_get_structure (message);
    if (strcmp (gst_structure_get_string (structure, "state"), state) == 0)
      return gst_structure_copy (structure);
  }
}

/* (transfer full): what the next error or warning says. */
char *
publish_wait_for_text (GstBus *bus, GstMessageType type)
{
  g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, type);
  g_autoptr (GError) error = NULL;
  g_assert_nonnull (message);
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  else
    gst_message_parse_warning (message, &error, NULL);
  return g_strdup (error->message);
}
