/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What messages on a pipeline's bus mean: which are told, in which words, and what becomes of a
 * clock that is lost. Messages are posted by this test, in the name of elements of GStreamer's
 * core.
 */
#include "pipelines/supervise/bus.h"

#include <string.h>

#include "plugins/base/report.h"
#include "sightline/error.h"
#include "tests/support/program.h"

typedef struct
{
  GString *told;
  GstState reached;
} Owner;

static void
on_failed (gpointer owner, const char *element, const GError *error)
{
  g_string_append_printf (((Owner *) owner)->told, "%s failed: %s\n", element, error->message);
}

static void
on_warned (gpointer owner, const char *element, const GError *warning)
{
  g_string_append_printf (((Owner *) owner)->told, "%s warned: %s\n", element, warning->message);
}

static void
on_informed (gpointer owner, const char *element, const GError *info)
{
  g_string_append_printf (((Owner *) owner)->told, "%s informed: %s\n", element, info->message);
}

static void
on_posted (gpointer owner, GstMessage *message)
{
  g_string_append_printf (((Owner *) owner)->told, "%s posted: %s\n",
                          GST_MESSAGE_SRC_NAME (message),
                          gst_structure_get_name (gst_message_get_structure (message)));
}

static void
on_reached (gpointer owner, GstState state)
{
  ((Owner *) owner)->reached = state;
}

static void
on_ended (gpointer owner)
{
  g_string_append (((Owner *) owner)->told, "ended\n");
}

static void
on_stays (gpointer owner)
{
  g_string_append (((Owner *) owner)->told, "for good: ");
}

static const SlBusEvents all = { on_failed,  on_warned, on_informed, on_posted,
                                 on_reached, on_ended,  on_stays };

static GstElement *
build (const char *launch)
{
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (launch, &error);
  g_assert_no_error (error);
  return pipeline;
}

static void
drop (GstElement *pipeline)
{
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

static void
post_error (GstElement *element, GQuark domain, gint code, const char *text, const char *debug)
{
  g_autoptr (GError) error = g_error_new_literal (domain, code, text);
  gst_element_post_message (element, gst_message_new_error (GST_OBJECT (element), error, debug));
}

/* A listener gets each kind of message that it names, with the element's name. Other kinds are
 * dropped, as is a message without content. */
static void
test_kinds (void)
{
  g_autoptr (GError) said = g_error_new_literal (GST_CORE_ERROR, GST_CORE_ERROR_FAILED, "so so");
  GstElement *pipeline = build ("fakesrc name=s ! fakesink");
  g_autoptr (GstElement) s = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  GstObject *source = GST_OBJECT (s);
  Owner owner = { .told = g_string_new (NULL) };
  for (guint round = 0; round < 2; round++) {
    gst_element_post_message (s, gst_message_new_warning (source, said, NULL));
    gst_element_post_message (s, gst_message_new_info (source, said, NULL));
    gst_element_post_message (s,
                              gst_message_new_element (source, gst_structure_new_empty ("word")));
    gst_element_post_message (
      s, gst_message_new_application (source, gst_structure_new_empty ("own")));
    gst_element_post_message (s, gst_message_new_custom (GST_MESSAGE_ELEMENT, source, NULL));
    gst_element_post_message (s, gst_message_new_latency (source));
    post_error (s, GST_CORE_ERROR, GST_CORE_ERROR_FAILED, "broken", NULL);
    while (sl_bus_read (pipeline, round == 0 ? &all : &(SlBusEvents){ 0 }, &owner))
      ;
    g_assert_cmpstr (
      owner.told->str, ==,
      "s warned: so so\ns informed: so so\ns posted: word\ns posted: own\ns failed: broken\n");
  }
  g_string_free (owner.told, TRUE);
  drop (pipeline);
}

/* Errors of settings are for good, those of the world are not. */
static void
test_for_good (void)
{
  GstElement *pipeline = build ("fakesrc name=s ! fakesink");
  g_autoptr (GstElement) s = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  Owner owner = { .told = g_string_new (NULL) };
  for (gint code = SL_ERROR_OPEN; code <= SL_ERROR_BACKEND; code++) {
    g_autofree char *text = g_strdup_printf ("%d", code);
    g_autoptr (GError) error = g_error_new_literal (SL_ERROR, code, text);
    g_assert_false (sl_element_report_settings (s, error));
    g_assert_false (sl_element_report (s, error));
  }
  while (sl_bus_read (pipeline, &all, &owner))
    ;
  for (gint code = SL_ERROR_OPEN; code <= SL_ERROR_BACKEND; code++) {
    const gboolean good = code == SL_ERROR_UNSUPPORTED || code == SL_ERROR_CONTRACT
                          || code == SL_ERROR_LABELS || code == SL_ERROR_ARGUMENT;
    g_autofree char *lines =
      g_strdup_printf ("%ss failed: %d\ns failed: %d\n", good ? "for good: " : "", code, code);
    g_assert_nonnull (strstr (owner.told->str, lines));
    g_assert_true (good || strstr (owner.told->str, lines) == owner.told->str
                   || strstr (owner.told->str, lines)[-1] == '\n');
  }
  g_string_free (owner.told, TRUE);
  drop (pipeline);
}

/* States count when the pipeline as a whole has them, and the end when all of it has come. */
static void
test_states (void)
{
  GstElement *pipeline = build ("fakesrc num-buffers=3 ! fakesink");
  Owner owner = { .told = g_string_new (NULL) };
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  g_assert_cmpint (gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE), ==,
                   GST_STATE_CHANGE_SUCCESS);
  while (sl_bus_read (pipeline, &all, &owner))
    ;
  g_assert_cmpint (owner.reached, ==, GST_STATE_PAUSED);
  g_autoptr (GError) error = NULL;
  g_assert_false (sl_bus_wait_for_end (pipeline, 0, &error));
  g_assert_no_error (error);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_assert_true (sl_bus_wait_for_end (pipeline, GST_CLOCK_TIME_NONE, &error));
  g_assert_no_error (error);
  g_string_free (owner.told, TRUE);
  drop (pipeline);
}

typedef struct
{
  const char *text, *debug, *expected;
} ErrorCase;

static const ErrorCase error_cases[] = {
  { "Internal data stream error.",
    "gstbasesrc.c(3177): gst_base_src_loop (): /x:\nstreaming stopped, reason not-linked (-1)",
    "Internal data stream error. (not-linked (-1))" },
  { "Could not open.", "file.c(1): f (): /x:\nNo such\r\nfile  ",
    "Could not open. (No such  file)" },
  { "Could not open.", "file.c(1): f (): /x:\nCould not open.", "Could not open." },
  { "Could not open.", "file.c(1): f (): /x", "Could not open." },
  { "Could not open.", NULL, "Could not open." },
};

/* An error says why where only its details do. */
static void
test_errors (void)
{
  GstElement *pipeline = build ("fakesrc name=s ! fakesink");
  g_autoptr (GstElement) s = gst_bin_get_by_name (GST_BIN (pipeline), "s");
  for (guint i = 0; i < G_N_ELEMENTS (error_cases); i++) {
    const ErrorCase *c = &error_cases[i];
    g_autoptr (GError) error = NULL, again = NULL;
    g_autofree char *element = NULL;
    post_error (s, GST_STREAM_ERROR, i == 0 ? GST_STREAM_ERROR_FAILED : GST_STREAM_ERROR_DECODE,
                c->text, c->debug);
    g_assert_true (sl_bus_take_error (pipeline, 0, &element, &error));
    g_assert_cmpstr (error->message, ==, c->expected);
    g_assert_cmpstr (element, ==, "s");
    post_error (s, GST_STREAM_ERROR, i == 0 ? GST_STREAM_ERROR_FAILED : GST_STREAM_ERROR_DECODE,
                c->text, c->debug);
    g_assert_false (sl_bus_wait_for_end (pipeline, 0, &again));
    g_assert_cmpstr (again->message, ==, c->expected);
  }
  drop (pipeline);
}

/* Why a pipeline does not start: what an element says, else that none does. */
static void
test_refusal (void)
{
  GstElement *pipeline = build ("filesrc name=f location=/nowhere/a ! fakesink");
  g_autoptr (GError) said = NULL, unsaid = NULL;
  g_autofree char *element = NULL, *nobody = NULL;
  g_assert_cmpint (gst_element_set_state (pipeline, GST_STATE_PAUSED), ==,
                   GST_STATE_CHANGE_FAILURE);
  sl_bus_take_refusal (pipeline, "it", &element, &said);
  g_assert_cmpstr (element, ==, "f");
  g_assert_nonnull (strstr (said->message, "/nowhere/a"));
  while (sl_bus_read (pipeline, &(SlBusEvents){ 0 }, NULL))
    ;
  sl_bus_take_refusal (pipeline, "the trial", &nobody, &unsaid);
  g_assert_null (nobody);
  g_assert_error (unsaid, SL_ERROR, SL_ERROR_BACKEND);
  g_assert_true (
    g_str_has_prefix (unsaid->message, "the trial does not start, and no element says why; "));
  drop (pipeline);
}

static void
count_paused (gpointer owner, GstState state)
{
  *(guint *) owner += state == GST_STATE_PAUSED;
}

/* A lost clock is replaced on the way through PAUSED, and a pipeline that has been stopped since
 * stays stopped. */
static void
test_clock (void)
{
  static const SlBusEvents states = { .reached = count_paused };
  GstElement *pipeline = build ("fakesrc is-live=true do-timestamp=true ! fakesink sync=true");
  g_autoptr (GstClock) clock = gst_system_clock_obtain ();
  g_autoptr (GstMessage) lost = gst_message_new_clock_lost (GST_OBJECT (pipeline), clock);
  guint paused = 0;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  while (sl_bus_read (pipeline, &states, &paused))
    ;
  paused = 0;
  sl_bus_handle (pipeline, lost, &states, &paused);
  for (; paused == 0; g_usleep (1000))
    sl_bus_read (pipeline, &states, &paused);
  g_assert_cmpuint (paused, ==, 1);
  g_assert_cmpint (gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE), !=,
                   GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  sl_bus_handle (pipeline, lost, &states, &paused);
  g_usleep (200000); /* for the other thread, which is to do nothing */
  g_assert_cmpint (GST_STATE (pipeline), ==, GST_STATE_NULL);
  g_assert_cmpint (GST_STATE_TARGET (pipeline), ==, GST_STATE_NULL);
  drop (pipeline);
}

TEST_MAIN (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bus/kinds", test_kinds);
  g_test_add_func ("/bus/for-good", test_for_good);
  g_test_add_func ("/bus/states", test_states);
  g_test_add_func ("/bus/errors", test_errors);
  g_test_add_func ("/bus/refusal", test_refusal);
  g_test_add_func ("/bus/clock", test_clock);
  return g_test_run ();
}
