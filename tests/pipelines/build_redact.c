/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The group [redact] and privacy=strict: where an slredact is put, and which launch lines show an
 * open picture. */
#include "pipelines/description/build.h"
#include "plugins/elements.h"
#include "tests/support/program.h"

#include <string.h>

static GstElement *
build (const char *text, GError **error)
{
  g_autoptr (SlDescription) d =
    sl_description_new_from_string (text, -1, "gate.pipeline", NULL, error);
  return d != NULL ? sl_description_build (d, error) : NULL;
}

/* (transfer full): the name of the element before the one made by @factory. */
static char *
name_before (GstElement *pipeline, const char *factory)
{
  g_autoptr (GPtrArray) found = sl_find_elements (pipeline, factory);
  g_assert_cmpuint (found->len, ==, 1);
  g_autoptr (GstPad) sink = gst_element_get_static_pad (found->pdata[0], "sink");
  g_autoptr (GstPad) peer = gst_pad_get_peer (sink);
  g_autoptr (GstElement) before = gst_pad_get_parent_element (peer);
  return gst_object_get_name (GST_OBJECT (before));
}

static void
test_place (void)
{
  static const struct
  {
    const char *launch, *before;
  } places[] = {
    { "fakesrc ! slpredict name=p ! sltrack name=t ! slanalyze name=a ! fakesink", "a" },
    { "fakesrc ! slpredict name=p ! sltrack name=t ! fakesink", "t" },
    { "fakesrc ! slpredict name=p ! fakesink", "p" },
    { "fakesrc ! slpredict ! queue name=q ! slredact ! fakesink", "q" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *text = g_strdup_printf (
      "[pipeline]\nlaunch=%s\n[record]\nlocation=/srv\n[redact]\nmode=fill\nhold=40\n",
      places[i].launch);
    g_autoptr (GstElement) pipeline = build (text, &error);
    g_assert_no_error (error);
    g_autofree char *before = name_before (pipeline, "slredact"),
                    *recorded = name_before (pipeline, "slrecord");
    g_autoptr (GPtrArray) found = sl_find_elements (pipeline, "slredact");
    gint hold = 0;
    g_object_get (found->pdata[0], "hold", &hold, NULL);
    g_assert_cmpint (hold, ==, 40);
    g_assert_cmpstr (before, ==, places[i].before);
    g_assert_true (g_str_has_prefix (recorded, "slredact"));
  }
}

#define STRICT "[pipeline]\nprivacy=strict\nlaunch="

static void
test_strict (void)
{
  static const struct
  {
    const char *text, *error; /* NULL = nothing is open */
  } cases[] = {
    { STRICT "fakesrc ! slpredict ! slredact ! filesink name=f", NULL },
    { STRICT "fakesrc ! slpredict ! filesink name=f\n[redact]\n", NULL },
    { STRICT "fakesrc ! slpredict ! slredact ! fakesink", NULL },
    { STRICT "fakesrc ! slpredict ! progressreport name=p ! slredact name=r ! fakesink",
      "keep objects in their places, got p (progressreport) before r: put it before the model" },
    { STRICT
      "fakesrc ! progressreport ! slpredict ! queue ! videoconvert ! sltrack ! slredact ! fakesink",
      NULL },
    { STRICT "fakesrc ! slpredict ! progressreport ! slredact objects=false invert=true ! fakesink",
      NULL },
    { STRICT "fakesrc ! slredact objects=false zones=\"[zone a] points=0,0 1,0 1,1\" ! filesink",
      NULL },
    { STRICT "fakesrc ! slredact objects=false name=r ! fakesink",
      "expected an slredact that hides something, got objects=false without zones at r: set "
      "objects=true, or zones" },
    { STRICT "fakesrc ! slpredict ! fakesink\n[redact]\nobjects=false\n",
      "objects=false without zones at slredact" },
    { STRICT "funnel name=n ! slredact name=r ! fakesink fakesrc ! n. "
             "fakesrc ! slpredict ! progressreport name=p ! n.",
      "keep objects in their places, got n (funnel) before r" },
    { STRICT "fakesrc ! slpredict ! fakesink",
      "expected an slredact or the group [redact], got none" },
    { STRICT "decodebin ! slredact ! tee name=t ! filesink t. ! queue ! slrecord ! fakesink",
      NULL },
    { STRICT
      "fakesrc ! slpredict ! tee name=t ! capsfilter caps=application/x-json ! filesink t. ! "
      "slredact ! fakesink",
      NULL },
    { STRICT
      "fakesrc ! tee name=t ! queue ! slredact ! filesink name=a t. ! queue ! filesink name=b",
      "gate.pipeline:3: [pipeline] privacy=strict: expected slredact before every element that "
      "shows pictures, but b (filesink) shows the open picture or passes it on: put slredact "
      "before it, or remove it" },
    { STRICT "decodebin ! filesink name=f slredact", "but f (filesink) shows the open picture" },
    { STRICT "fakesrc ! slrecord name=r ! slredact ! filesink",
      "but r (slrecord) records the open picture" },
    { STRICT "fakesrc ! slpredict black-box=/tmp/x ! slredact ! filesink",
      "(slinfer) writes the open picture to black boxes" },
    { STRICT "fakesrc ! bin.( slpredict ! queue ! filesink name=f ) slredact",
      "but f (filesink) shows the open picture" },
    { STRICT "fakesrc ! identity name=i dump=true ! slredact ! fakesink",
      "but i (identity) prints the open picture" },
    { STRICT "fakesrc ! slredact ! fakesink fakesrc ! fakesink name=f dump=true",
      "but f (fakesink) prints the open picture" },
    { STRICT "fakesrc ! identity ! slredact ! fakesink dump=true", NULL },
    { STRICT "fakesrc ! slredact ! fakesink fakesrc ! autovideosink name=a",
      "but a (autovideosink) shows the open picture" },
    { STRICT "fakesrc ! slredact ! tee name=t ! autovideosink t. ! fakevideosink", NULL },
    { "[pipeline]\nprivacy=on\nlaunch=fakesrc ! fakesink",
      "[pipeline] privacy: expected off or strict, got 'on'" },
    { "[pipeline]\nlaunch=fakesrc ! fakesink\n[redact]\n",
      "gate.pipeline:3: [redact]: the launch line has no slredact" },
    { "[pipeline]\nlaunch=fakesrc ! slredact ! slredact ! fakesink\n[redact]\n",
      "has several slredact; expected one" },
    { "[pipeline]\nlaunch=fakesrc ! slredact ! fakesink\n[redact]\nmode=show\n",
      "gate.pipeline:4: [redact] mode: " },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GstElement) pipeline = build (cases[i].text, &error);
    g_test_message ("%s: %s", cases[i].text, error != NULL ? error->message : "good");
    if (cases[i].error == NULL) {
      g_assert_no_error (error);
      continue;
    }
    g_assert_null (pipeline);
    g_assert_nonnull (strstr (error->message, cases[i].error));
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  sl_elements_init (&argc, &argv);
  g_assert_true (sl_elements_register_static ());
  g_test_add_func ("/build-redact/place", test_place);
  g_test_add_func ("/build-redact/strict", test_strict);
  return g_test_run ();
}
