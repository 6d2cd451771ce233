/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the registry has of every element, and gst-inspect-1.0 so prints: a description, a line to
 * try that GStreamer's parser takes, and a page that exists.
 */
#include "config.h"
#include "plugins/base/describe.h"

#include <string.h>

#include "plugins/elements.h"
#include "sightline/predictor.h"
#include "tests/elements/publish/support.h"
#include "tests/elements/support.h"
#include "tests/support/program.h"

/* Elements of others in the examples may be missing here; all else must be right. */
static void
check_example (const char *example)
{
  static const char program[] = "gst-launch-1.0 ";
  g_autoptr (GError) error = NULL;
  g_assert_true (g_str_has_prefix (example, program));
  g_autoptr (GstElement) pipeline = gst_parse_launch (example + strlen (program), &error);
  g_test_message ("%s", example);
  g_assert_true (pipeline != NULL || error != NULL);
  if (error != NULL && !g_error_matches (error, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_ELEMENT))
    g_error ("%s: %s", example, error->message);
  if (error != NULL)
    g_assert_null (strstr (error->message, "\"sl"));
}

static void
check_factory (GstElementFactory *factory)
{
  const char *name = GST_OBJECT_NAME (factory);
  const char *text = gst_element_factory_get_metadata (factory, GST_ELEMENT_METADATA_DESCRIPTION);
  const char *example = gst_element_factory_get_metadata (factory, "example");
  const char *page = gst_element_factory_get_metadata (factory, GST_ELEMENT_METADATA_DOC_URI);
  const char *author = gst_element_factory_get_metadata (factory, GST_ELEMENT_METADATA_AUTHOR);
  g_autofree char *word = g_strdup_printf (" %s ", name);
  g_test_message ("%s", name);
  g_assert_true (g_str_has_suffix (text, "."));
  g_assert_null (strstr (text, "Example"));
  g_assert_cmpstr (author, ==, "The Sightline authors");
  g_assert_nonnull (strstr (example, word));
  check_example (example);
  g_assert_true (g_str_has_prefix (page, SL_DOCS_URI "/"));
  g_autofree char *path = g_build_filename (g_getenv ("SIGHTLINE_SOURCE_ROOT"), "docs",
                                            page + strlen (SL_DOCS_URI "/"), NULL);
  g_autofree char *words = NULL;
  g_assert_true (g_file_get_contents (path, &words, NULL, NULL));
  g_assert_nonnull (strstr (words, name));
}

static void
test_elements (void)
{
  GList *features = gst_registry_get_feature_list_by_plugin (gst_registry_get (), "sightline");
  guint n = 0;
  for (GList *link = features; link != NULL; link = link->next) {
    if (!GST_IS_ELEMENT_FACTORY (link->data)) /* a type finder */
      continue;
    check_factory (GST_ELEMENT_FACTORY (link->data));
    n++;
  }
  gst_plugin_feature_list_free (features);
  g_assert_cmpuint (n, >=, 7);
}

/* Those of plugin files of their own. */
static void
test_others (void)
{
  static const char *const names[] = {
    "slpublish",
#ifdef SL_HAVE_OVERLAY
    "sloverlay",
#endif
  };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (GstElementFactory) factory = gst_element_factory_find (names[i]);
    check_factory (factory);
  }
}

/* Values and nicks that applications may have written down: they stay. */
static void
test_words (void)
{
  static const struct
  {
    const char *element, *property, *nicks; /* values from 0 on */
  } rows[] = {
    { "slnormalize", "colour", "auto RGB BGR GRAY" },
    { "slnormalize", "layout", "auto NHWC NCHW" },
    { "slnormalize", "fit", "auto stretch letterbox crop" },
    { "slnormalize", "type", "auto uint8 int8 float32 float16" },
    { "slinfer", "colour", "auto RGB BGR GRAY" },
    { "slinfer", "layout", "auto NHWC NCHW" },
    { "slinfer", "fit", "auto stretch letterbox crop" },
#ifdef SL_HAVE_LIBYUV
    { "slresize", "fit", "stretch letterbox crop" },
#endif
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (GstElement) element =
      gst_object_ref_sink (gst_element_factory_make (rows[i].element, NULL));
    GParamSpec *spec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (element), rows[i].property);
    GEnumClass *klass = G_PARAM_SPEC_ENUM (spec)->enum_class;
    GString *nicks = g_string_new (NULL);
    for (guint k = 0; k < klass->n_values; k++) {
      g_assert_cmpint (klass->values[k].value, ==, k);
      g_string_append_printf (nicks, "%s%s", k > 0 ? " " : "", klass->values[k].value_nick);
    }
    g_assert_cmpstr (nicks->str, ==, rows[i].nicks);
    g_string_free (nicks, TRUE);
  }
}

/* Threads are 0, which is automatic, to 64 wherever they are a number, and the same as a text. */
static void
test_threads (void)
{
  static const char *const texts[] = { "0", "1", "64", "auto" };
  g_autoptr (GstElement) normalize =
    gst_object_ref_sink (gst_element_factory_make ("slnormalize", NULL));
  g_autoptr (GstElement) infer = gst_object_ref_sink (gst_element_factory_make ("slinfer", NULL));
  g_autofree char *path = test_colour_model (SL_DTYPE_U8);
  GObjectClass *predictor = g_type_class_ref (SL_TYPE_PREDICTOR);
  GParamSpec *ours = g_object_class_find_property (G_OBJECT_GET_CLASS (normalize), "threads");
  GParamSpec *theirs = g_object_class_find_property (predictor, "threads");
  g_assert_cmpint (G_PARAM_SPEC_INT (ours)->minimum, ==, 0);
  g_assert_cmpint (G_PARAM_SPEC_INT (ours)->maximum, ==, 64);
  g_assert_cmpuint (G_PARAM_SPEC_UINT (theirs)->minimum, ==, 0);
  g_assert_cmpuint (G_PARAM_SPEC_UINT (theirs)->maximum, ==, 64);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_object_set (infer, "model", path, "threads", texts[i], NULL);
    g_assert_cmpint (gst_element_set_state (infer, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state (infer, GST_STATE_NULL);
  }
  g_type_class_unref (predictor);
  test_remove_file (path);
}

/* (transfer full) (nullable): why @element, or one inside of it, does not start. */
static char *
start_fault (GstElement *element)
{
  g_autoptr (GstBus) bus = test_watch (element);
  g_autoptr (GError) error = NULL;
  const GstStateChangeReturn changed = gst_element_set_state (element, GST_STATE_READY);
  g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  if (message == NULL)
    return NULL;
  g_assert_cmpint (changed, ==, GST_STATE_CHANGE_FAILURE);
  gst_message_parse_error (message, &error, NULL);
  return g_strdup (error->message);
}

static void
set_number (GstElement *element, const char *property, gdouble number)
{
  if (G_IS_PARAM_SPEC_INT (g_object_class_find_property (G_OBJECT_GET_CLASS (element), property)))
    g_object_set (element, property, (gint) number, NULL);
  else
    g_object_set (element, property, number, NULL);
}

/* Every number that an element of ours takes has a range, and what is beyond it is an error of
 * ours, no warning of GObject's. */
static void
check_ranges (const char *name, const char *model)
{
  g_autoptr (GstElement) element = gst_object_ref_sink (gst_element_factory_make (name, NULL));
  guint n = 0;
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (element), "model") != NULL)
    g_object_set (element, "model", model, NULL);
  g_autofree GParamSpec **specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  for (guint i = 0; i < n; i++) {
    if (!g_str_has_prefix (g_type_name (specs[i]->owner_type), "Sl")
        || (specs[i]->flags & G_PARAM_WRITABLE) == 0)
      continue;
    const gboolean whole = G_IS_PARAM_SPEC_INT (specs[i]);
    if (!whole && !G_IS_PARAM_SPEC_DOUBLE (specs[i]))
      continue;
    const gdouble least =
      whole ? G_PARAM_SPEC_INT (specs[i])->minimum : G_PARAM_SPEC_DOUBLE (specs[i])->minimum;
    const gdouble most =
      whole ? G_PARAM_SPEC_INT (specs[i])->maximum : G_PARAM_SPEC_DOUBLE (specs[i])->maximum;
    for (guint k = 0; k < 2; k++) {
      const gdouble number = k == 0 ? least - 1 : most + 1;
      g_autofree char *expected =
        g_strdup_printf ("%s=%.15g: expected %s in %.15g..%.15g", specs[i]->name, number,
                         whole ? "an integer" : "a number", least, most);
      if (number < G_MININT || number > G_MAXINT)
        continue;
      set_number (element, specs[i]->name, number);
      g_autofree char *fault = start_fault (element);
      g_assert_cmpstr (fault, ==, expected);
    }
    set_number (element, specs[i]->name,
                whole ? G_PARAM_SPEC_INT (specs[i])->default_value
                      : G_PARAM_SPEC_DOUBLE (specs[i])->default_value);
  }
  g_autofree char *last = start_fault (element); /* what is right again is forgotten */
  g_assert_true (last == NULL || strstr (last, ": expected a number in ") == NULL);
}

static void
test_ranges (void)
{
  g_autofree char *model = test_colour_model (SL_DTYPE_U8);
  GList *features = gst_registry_get_feature_list_by_plugin (gst_registry_get (), "sightline");
  for (GList *link = features; link != NULL; link = link->next)
    if (GST_IS_ELEMENT_FACTORY (link->data))
      check_ranges (GST_OBJECT_NAME (link->data), model);
  gst_plugin_feature_list_free (features);
  check_ranges ("slpublish", model);
#ifdef SL_HAVE_OVERLAY
  check_ranges ("sloverlay", model);
#endif
  g_autoptr (GError) error = NULL;
  g_autofree char *launch = g_strdup_printf ("slpredict threshold=50 model=%s", model);
  g_autoptr (GstElement) line = gst_object_ref_sink (gst_parse_launch (launch, &error));
  g_assert_no_error (error);
  g_autofree char *fault = start_fault (line);
  g_assert_cmpstr (fault, ==, "threshold=50: expected a number in -1..1");
  test_remove_file (model);
}

/* Of several wrong numbers each is said until it is right, whatever becomes of the others. */
static void
test_several_faults (void)
{
  g_autoptr (GstElement) element =
    gst_object_ref_sink (gst_element_factory_make ("slnormalize", NULL));
  g_object_set (element, "width", -5, "height", -7, "width", -6, NULL);
  g_autofree char *both = start_fault (element);
  g_assert_cmpstr (
    both, ==,
    "height=-7: expected an integer in 0..32768; width=-6: expected an integer in 0..32768");
  g_object_set (element, "height", 48, NULL);
  g_autofree char *first = start_fault (element);
  g_assert_cmpstr (first, ==, "width=-6: expected an integer in 0..32768");
  g_object_set (element, "width", 64, NULL);
  g_assert_null (start_fault (element));
}

TEST_MAIN (int argc, char **argv)
{
  publish_init (&argc, &argv);
#ifdef SL_HAVE_OVERLAY
  g_assert_true (gst_element_register (NULL, "sloverlay", GST_RANK_NONE, sl_overlay_get_type ()));
#endif
  g_test_add_func ("/describe/elements", test_elements);
  g_test_add_func ("/describe/others", test_others);
  g_test_add_func ("/describe/words", test_words);
  g_test_add_func ("/describe/threads", test_threads);
  g_test_add_func ("/describe/ranges", test_ranges);
  g_test_add_func ("/describe/several-faults", test_several_faults);
  return publish_run ();
}
