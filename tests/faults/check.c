/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory that ends in `sightline check`: what it could not find out is a problem, and not left out.
 */
#include "pipelines/description/build.h"
#include "plugins/elements.h"
#include "tests/faults/sweep.h"
#include "tools/check/findings.h"
#include "tools/check/promises.h"
#include "tools/command.h"

/* A stub for the program's parsing of options, which this test does not use. */
int
sl_complain (const char *command, const char *format, ...)
{
  g_error ("%s: a complaint about options", command);
  return SL_EXIT_FAILED;
}

static void
start_gstreamer (void)
{
  sl_elements_init (NULL, NULL);
  sl_elements_register_static ();
}

/* All findings, without the times that were measured, and without the word that errors are to have.
 */
static char *
check (gpointer data)
{
  g_autoptr (GArray) findings = sl_findings_new ();
  g_autoptr (GArray) promises = sl_check_promises_new ();
  GString *text = g_string_new (NULL);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (data, &error);
  g_assert_no_error (error);
  sl_check_advise (pipeline, findings);
  if (!sl_findings_have_problems (findings) && sl_check_ready (pipeline, findings)) {
    sl_check_caps (pipeline, findings);
    sl_check_budget (pipeline, "pipeline", promises, findings);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  for (guint i = 0; i < findings->len; i++) {
    const SlFinding *finding = &g_array_index (findings, SlFinding, i);
    const char *about = g_strcmp0 (finding->about, "memory") == 0 ? "sizes" : finding->about;
    const gboolean timed =
      g_strcmp0 (finding->about, "time") == 0 || g_strcmp0 (finding->about, "budget") == 0;
    g_string_append_printf (text, "%d %s %s\n", finding->kind, about, timed ? "" : finding->text);
  }
  return g_string_free (text, FALSE);
}

static void
test_check (void)
{
  g_autofree char *model =
    g_build_filename (g_getenv ("SIGHTLINE_TEST_MODELS"), "large_tensor.tflite", NULL);
  g_autofree char *launch = g_strdup_printf (
    "videotestsrc ! video/x-raw,format=RGB,width=64,height=48,framerate=1/10 ! slnormalize ! "
    "slinfer name=m model=%s ! slpostprocess ! application/x-json ! fakesink",
    model);
  sweep (start_gstreamer, check, launch);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/check", test_check);
  return g_test_run ();
}
