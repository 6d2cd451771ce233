/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The group [gallery] on its way to slgallery: where one is put, what it is called there, and what
 * is refused. */
#include <string.h>

#include "pipelines/description/build.h"
#include "plugins/elements.h"
#include "tests/support/program.h"

static GstElement *
build (const char *text, GError **error)
{
  g_autoptr (SlDescription) d =
    sl_description_new_from_string (text, -1, "gate.pipeline", NULL, error);
  return d != NULL ? sl_description_build (d, error) : NULL;
}

/* (transfer full): the factory of the element before the slgallery. */
static char *
find_before (GstElement *gallery)
{
  g_autoptr (GstPad) sink = gst_element_get_static_pad (gallery, "sink");
  g_autoptr (GstPad) peer = gst_pad_get_peer (sink);
  g_autoptr (GstElement) before = gst_pad_get_parent_element (peer);
  return g_strdup (GST_OBJECT_NAME (gst_element_get_factory (before)));
}

static void
test_place (void)
{
  static const struct
  {
    const char *launch, *group, *before, *camera;
  } places[] = {
    { "fakesrc ! slpredict ! sltrack ! slanalyze ! fakesink", "", "sltrack", "gate" },
    { "fakesrc ! slpredict ! sltrack ! fakesink", "camera=hall\n", "sltrack", "hall" },
    { "fakesrc ! sltrack ! queue ! slgallery ! fakesink", "", "queue", "gate" },
    { "fakesrc ! sltrack ! slgallery camera=door ! fakesink", "", "sltrack", "door" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *text = g_strdup_printf (
      "[pipeline]\nlaunch=%s\n[gallery]\nlocation=people.gallery\nkeep=3d\nmost=50\n%s[redact]\n",
      places[i].launch, places[i].group);
    g_autoptr (GstElement) pipeline = build (text, &error);
    g_assert_no_error (error);
    g_autoptr (GPtrArray) found = sl_find_elements (pipeline, "slgallery");
    g_assert_cmpuint (found->len, ==, 1);
    g_autofree char *before = find_before (found->pdata[0]), *camera = NULL, *keep = NULL;
    gint most = 0;
    g_object_get (found->pdata[0], "camera", &camera, "keep", &keep, "most", &most, NULL);
    g_assert_cmpstr (before, ==, places[i].before);
    g_assert_cmpstr (camera, ==, places[i].camera);
    g_assert_cmpstr (keep, ==, "3d");
    g_assert_cmpint (most, ==, 50);
  }
}

static void
test_refused (void)
{
  static const struct
  {
    const char *text, *message;
  } cases[] = {
    { "launch=fakesrc ! sltrack ! fakesink\n[gallery]\nlocation=a\n",
      "gate.pipeline:3: [gallery] keep: missing; nothing is stored that no rule erases; expected a "
      "time such as keep=7d" },
    { "launch=fakesrc ! sltrack ! fakesink\n[gallery]\n",
      "gate.pipeline:3: [gallery] keep: missing; nothing is stored" },
    { "launch=fakesrc ! sltrack ! fakesink\n[gallery]\nkeep=7d\n",
      "gate.pipeline:3: [gallery] location: missing; expected the file of the gallery" },
    { "launch=fakesrc ! sltrack ! fakesink\n[gallery]\nkeep=7d\nlocation=a\nkept=3\n",
      "gate.pipeline:6: [gallery] kept: " },
    { "launch=fakesrc ! sltrack ! fakesink\n[gallery]\nkeep=7d\nlocation=a\nmost=0\n",
      "gate.pipeline:6: [gallery] most: " },
    { "privacy=strict\nlaunch=fakesrc ! slpredict ! sltrack ! slgallery name=g ! slredact ! "
      "fakesink\n[gallery]\nkeep=7d\nlocation=a\nshare=mqtt://b/c\nmachine=1\n",
      "gate.pipeline:3: [pipeline] privacy=strict: expected embeddings of people that leave the "
      "machine encrypted, got share= without key-file= at g (slgallery): state key-file=, or "
      "remove share=" },
    { "privacy=strict\nlaunch=fakesrc ! slpredict ! sltrack ! slgallery name=g ! slredact ! "
      "fakesink\n[gallery]\nkeep=7d\nlocation=a\npictures=true\n",
      "gate.pipeline:3: [pipeline] privacy=strict: expected slredact before every element that "
      "shows pictures, but g (slgallery) keeps open pictures of people: put slredact before it, or "
      "remove it" },
    { "launch=fakesrc ! fakesink\n[gallery]\nkeep=7d\nlocation=a\n",
      "[gallery]: the launch line has no slgallery, and no slanalyze" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *text = g_strconcat ("[pipeline]\n", cases[i].text, NULL);
    g_autoptr (GstElement) pipeline = build (text, &error);
    g_assert_null (pipeline);
    if (error == NULL || strstr (error->message, cases[i].message) == NULL)
      g_error ("%u: expected '%s', got '%s'", i, cases[i].message,
               error != NULL ? error->message : "no error");
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  sl_elements_init (&argc, &argv);
  g_assert_true (sl_elements_register_static ());
  g_assert_true (sl_plugin_register_element (NULL, "slgallery", "SlGallery", GST_RANK_NONE,
                                             sl_gallery_element_get_type));
  g_test_add_func ("/build-gallery/place", test_place);
  g_test_add_func ("/build-gallery/refused", test_refused);
  return g_test_run ();
}
