/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The group [publish] on its way to slrestream: where one is put, whose encoded stream it gets, and
 * what privacy=strict says of it. */
#include "pipelines/description/build.h"
#include "plugins/elements.h"
#include "tests/support/program.h"

#include <string.h>

#define PUBLISH "[publish]\nrtsp=127.0.0.1:8554/door\nclients=3\n"

static GstElement *
build (const char *launch, const char *groups, GError **error)
{
  g_autofree char *text = g_strdup_printf ("[pipeline]\nlaunch=%s\n%s", launch, groups);
  g_autoptr (SlDescription) d =
    sl_description_new_from_string (text, -1, "gate.pipeline", NULL, error);
  return d != NULL ? sl_description_build (d, error) : NULL;
}

/* (transfer full): the one element of @pipeline that @factory made. */
static GstElement *
find (GstElement *pipeline, const char *factory)
{
  g_autoptr (GPtrArray) found = sl_find_elements (pipeline, factory);
  g_assert_cmpuint (found->len, ==, 1);
  return g_object_ref (found->pdata[0]);
}

/* (transfer full) (nullable): the element that is linked to @pad of @element. */
static GstElement *
before (GstElement *element, const char *name)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, name);
  g_autoptr (GstPad) peer = pad != NULL ? gst_pad_get_peer (pad) : NULL;
  return peer != NULL ? gst_pad_get_parent_element (peer) : NULL;
}

typedef struct
{
  const char *name, *launch, *groups; /* beside [publish] */
  const char *frames, *encoded;       /* factories of the elements before the pads; NULL: none */
} Place;

static const Place places[] = {
  { "camera", "slcamera uri=test:// ! slpredict ! sltrack ! fakesink", "", "sltrack", "slcamera" },
  { "recorded", "slcamera uri=test:// ! slpredict ! sltrack ! fakesink",
    "[record]\nlocation=/srv/clips\n", "sltrack", "tee" },
  { "record-encodes", "slcamera uri=test:// ! slpredict ! sltrack ! fakesink",
    "[record]\nlocation=/srv/clips\nencoder=jpegenc\n", "sltrack", "slcamera" },
  { "redacted", "slcamera uri=test:// ! slpredict ! fakesink", "[redact]\nhold=1\n", "slredact",
    NULL },
  { "stated", "slcamera uri=test:// ! slpredict ! queue ! slrestream ! fakesink", "", "queue",
    "slcamera" },
  { "other-source", "videotestsrc ! slpredict ! slanalyze ! identity ! fakesink", "", "slanalyze",
    NULL },
  { "used", "slcamera name=c uri=test:// c.src ! sltrack ! fakesink c.encoded ! fakesink", "",
    "sltrack", NULL },
};

static const char *
factory_of (GstElement *element)
{
  return element != NULL ? GST_OBJECT_NAME (gst_element_get_factory (element)) : NULL;
}

static void
test_place (gconstpointer data)
{
  const Place *place = data;
  g_autoptr (GError) error = NULL;
  g_autofree char *groups = g_strconcat (PUBLISH, place->groups, NULL), *rtsp = NULL;
  gint clients = 0;
  g_autoptr (GstElement) pipeline = build (place->launch, groups, &error);
  g_assert_no_error (error);
  g_autoptr (GstElement) restreamer = find (pipeline, "slrestream");
  g_autoptr (GstElement) frames = before (restreamer, "sink"),
                         encoded = before (restreamer, "encoded");
  g_object_get (restreamer, "rtsp", &rtsp, "clients", &clients, NULL);
  g_assert_cmpstr (rtsp, ==, "127.0.0.1:8554/door");
  g_assert_cmpint (clients, ==, 3);
  if (strcmp (place->name, "recorded") == 0) {
    g_autoptr (GstElement) recorder = find (pipeline, "slrecord");
    g_autoptr (GstElement) tee = before (recorder, "encoded");
    g_autoptr (GstElement) camera = before (tee, "sink");
    g_assert_true (tee == encoded);
    g_assert_cmpstr (factory_of (camera), ==, "slcamera");
  }
  g_assert_cmpstr (factory_of (frames), ==, place->frames);
  g_assert_cmpstr (factory_of (encoded), ==, place->encoded);
}

static void
test_mistakes (void)
{
  static const struct
  {
    const char *launch, *groups, *message;
  } cases[] = {
    { "fakesrc ! fakesink", PUBLISH,
      "gate.pipeline:3: [publish]: the launch line has no slrestream, and no slanalyze, "
      "sltext, sltrack, slread or slpredict with something behind that one could stand in "
      "between" },
    { "fakesrc ! sltrack ! fakesink", "[publish]\nrstp=:1/x\n",
      "gate.pipeline:4: [publish] rstp: slrestream has no such property; did you mean 'rtsp'?" },
    { "fakesrc ! sltrack ! fakesink", "[publsih]\nrtsp=:1/x\n",
      "gate.pipeline:4: [publsih] rtsp: unknown group; did you mean [publish]?" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (build (cases[i].launch, cases[i].groups, &error));
    g_assert_cmpstr (error->message, ==, cases[i].message);
  }
}

/* Both streams: the annotated picture is redacted, the camera's own cannot be. */
static void
test_strict (void)
{
  static const struct
  {
    const char *launch, *groups, *message; /* NULL: it is good */
  } cases[] = {
    { "slcamera uri=test:// ! slpredict ! fakesink",
      "privacy=strict\n" PUBLISH "[redact]\nhold=1\n", NULL },
    { "slcamera uri=test:// ! slpredict ! tee name=t ! slrestream name=out ! fakesink t. ! "
      "slredact ! fakesink",
      "privacy=strict\n" PUBLISH,
      "gate.pipeline:2: [pipeline] privacy=strict: expected slredact before every element that "
      "shows pictures, but out (slrestream) streams the open picture, or the camera's own at its "
      "pad encoded: put slredact before it, or remove it" },
    { "slcamera name=c uri=test:// c.src ! slpredict ! slredact ! slrestream name=out ! fakesink "
      "c.encoded ! out.encoded",
      "privacy=strict\n" PUBLISH,
      "gate.pipeline:2: [pipeline] privacy=strict: expected slredact before every element that "
      "shows pictures, but out (slrestream) streams the open picture, or the camera's own at its "
      "pad encoded: put slredact before it, or remove it" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GstElement) pipeline G_GNUC_UNUSED =
      build (cases[i].launch, cases[i].groups, &error);
    if (cases[i].message == NULL)
      g_assert_no_error (error);
    else
      g_assert_cmpstr (error->message, ==, cases[i].message);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  sl_elements_init (&argc, &argv);
  g_assert_true (sl_elements_register_static ());
  sl_plugin_register_element (NULL, "slrestream", "SlRestream", GST_RANK_NONE,
                              sl_restream_get_type);
  for (guint i = 0; i < G_N_ELEMENTS (places); i++) {
    g_autofree char *name = g_strconcat ("/build-publish/place/", places[i].name, NULL);
    g_test_add_data_func (name, &places[i], test_place);
  }
  g_test_add_func ("/build-publish/mistakes", test_mistakes);
  g_test_add_func ("/build-publish/strict", test_strict);
  return g_test_run ();
}
