/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pipelines made of descriptions: properties that arrive, errors with their place, and values that
 * stay values whatever GStreamer's own parser makes of them.
 */
#include "pipelines/description/build.h"
#include "tests/support/program.h"

#include <string.h>

static GstElement *
build (const char *text, const char *name, const char *value, GError **error)
{
  g_autoptr (GHashTable) given = g_hash_table_new (g_str_hash, g_str_equal);
  if (name != NULL)
    g_hash_table_insert (given, (gpointer) name, (gpointer) value);
  g_autoptr (SlDescription) d =
    sl_description_new_from_string (text, -1, "t.pipeline", given, error);
  return d != NULL ? sl_description_build (d, error) : NULL;
}

static void
test_overrides (void)
{
  g_autoptr (GError) error = NULL;
  GstElement *pipeline =
    build ("[pipeline]\nname=cam\nlaunch=videotestsrc name=s ! capsfilter name=c ! queue name=q ! "
           "fakesink name=f\n"
           "[element s]\npattern=ball\nnum-buffers=3\n[element c]\ncaps=video/x-raw,width=64\n"
           "[element q]\nmax-size-time=123\nleaky=downstream\n[element f]\nsync=true\n",
           NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (GST_IS_PIPELINE (pipeline));
  g_assert_cmpstr (GST_OBJECT_NAME (pipeline), ==, "cam");
  GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "s"),
             *queue = gst_bin_get_by_name (GST_BIN (pipeline), "q");
  gint buffers = 0, leaky = 0;
  guint64 time = 0;
  g_object_get (source, "num-buffers", &buffers, NULL);
  g_object_get (queue, "max-size-time", &time, "leaky", &leaky, NULL);
  g_assert_cmpint (buffers, ==, 3);
  g_assert_cmpint (leaky, ==, 2);
  g_assert_cmpuint (time, ==, 123);
  gst_object_unref (source);
  gst_object_unref (queue);
  gst_object_unref (pipeline);
}

static void
test_one_element (void)
{
  g_autoptr (GError) error = NULL;
  GstElement *pipeline =
    build ("[pipeline]\nlaunch=fakesrc name=s\n[element s]\nnum-buffers=2\n", NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (GST_IS_PIPELINE (pipeline));
  gst_object_unref (pipeline);
}

/* Automatic names begin at 0 in each pipeline, however many elements the process has had, and take
 * no name that the launch line says. */
static void
test_numbers (void)
{
  static const char *const expected[] = { "fakesrc0",  "identity0", "identity2",
                                          "identity1", "mine7",     "fakesink0" };
  for (guint i = 0; i < 5; i++) /* GStreamer itself makes no name twice only where its own count is
                                   beyond those of the launch line */
    gst_object_unref (gst_object_ref_sink (gst_element_factory_make ("identity", NULL)));
  for (guint round = 0; round < 3; round++) {
    g_autoptr (GError) error = NULL;
    GstElement *pipeline = build (
      "[pipeline]\nlaunch=fakesrc ! identity ! identity ! identity name=identity1 ! identity "
      "name=mine7 ! fakesink\n"
      "[element identity2]\nsleep-time=7\n",
      NULL, NULL, &error);
    g_assert_no_error (error);
    for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
      g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (pipeline), expected[i]);
      g_assert_nonnull (element);
    }
    g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (pipeline), "identity2");
    guint sleep = 0;
    g_object_get (element, "sleep-time", &sleep, NULL);
    g_assert_cmpuint (sleep, ==, 7);
    g_assert_cmpuint (GST_BIN_NUMCHILDREN (pipeline), ==, G_N_ELEMENTS (expected));
    gst_object_unref (pipeline);
  }
}

static gboolean
is_lent (GstElement *decoder)
{
  gboolean lent = FALSE;
  g_object_get (decoder, "direct-rendering", &lent, NULL);
  return lent;
}

/* Libav's decoders have memory of their own, unless an element group says otherwise; so have those
 * that come later, at any depth. */
static void
test_decoders (void)
{
  static const char *const groups[] = { "", "[element d]\ndirect-rendering=true\n" };
  g_autoptr (GstElementFactory) factory = gst_element_factory_find ("avdec_h264");
  if (factory == NULL) {
    g_test_skip ("needs avdec_h264");
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *text =
      g_strconcat ("[pipeline]\nlaunch=avdec_h264 name=d ! fakesink\n", groups[i], NULL);
    GstElement *pipeline = build (text, NULL, NULL, &error), *bin = gst_bin_new (NULL),
               *later = gst_element_factory_create (factory, NULL);
    g_assert_no_error (error);
    g_autoptr (GstElement) named = gst_bin_get_by_name (GST_BIN (pipeline), "d");
    g_assert_true (is_lent (named) == (i == 1));
    g_assert_true (is_lent (later));
    gst_bin_add (GST_BIN (pipeline), bin);
    gst_bin_add (GST_BIN (bin), later);
    g_assert_false (is_lent (later));
    gst_object_unref (pipeline);
  }
}

#define ELEMENTS "[pipeline]\nlaunch=videotestsrc name=s ! queue name=q ! fakesink name=f\n"

static const struct
{
  const char *text, *message;
} mistakes[] = {
  { "[pipeline]\nname=x\nlaunch=videotestsr ! fakesink\n",
    "t.pipeline:3: [pipeline] launch: no element \"videotestsr\"; did you mean 'videotestsrc'?" },
  { "[pipeline]\nlaunch=qqqqqqqqqqqqqqq ! fakesink\n",
    "t.pipeline:2: [pipeline] launch: no element \"qqqqqqqqqqqqqqq\"; is its GStreamer plugin "
    "installed?" },
  { "[pipeline]\nlaunch=fakesrc nope=1 ! fakesink\n",
    "t.pipeline:2: [pipeline] launch: no property \"nope\" in element \"fakesrc" },
  { "[pipeline]\nlaunch=fakesrc num-bufers=1 ! fakesink\n",
    "t.pipeline:2: [pipeline] launch: no property \"num-bufers\" in element \"fakesrc\"; did you "
    "mean 'num-buffers'?" },
  { "[pipeline]\nlaunch=fakesrc zzzzzzzzz=1 ! fakesink\n",
    "t.pipeline:2: [pipeline] launch: no property \"zzzzzzzzz\" in element \"fakesrc\"; all of "
    "them: gst-inspect-1.0 fakesrc" },
  { "[pipeline]\nlaunch=fakesrc ! ! fakesink\n",
    "t.pipeline:2: [pipeline] launch: syntax error; expected ELEMENT PROPERTY=VALUE ... ! ELEMENT "
    "..., with one '!' between two elements and none at the ends" },
  { "[pipeline]\nlaunch=fakesink ! fakesrc\n",
    "t.pipeline:2: [pipeline] launch: could not link fakesink" },
  { ELEMENTS "[element x]\na=1\n",
    "t.pipeline:4: [element x] a: the launch line has no element with name=x; did you mean" },
  { ELEMENTS "[element q]\nleeky=1\n",
    "t.pipeline:4: [element q] leeky: queue has no such property; did you mean 'leaky'?" },
  { ELEMENTS "[element q]\nleaky=often\n",
    "t.pipeline:4: [element q] leaky: expected one of no, upstream, downstream, got 'often'" },
  { ELEMENTS "[element q]\nmax-size-buffers=12x\n",
    "t.pipeline:4: [element q] max-size-buffers: expected an integer in 0..4294967295, got '12x'" },
  { ELEMENTS "[element q]\nmax-size-buffers=-1\n",
    "t.pipeline:4: [element q] max-size-buffers: expected an integer in 0..4294967295, got '-1'" },
  { ELEMENTS "[element s]\nnum-buffers=-2\n",
    "t.pipeline:4: [element s] num-buffers: expected an integer in -1..2147483647, got '-2'" },
  { ELEMENTS "[element f]\nsync=maybe\n",
    "t.pipeline:4: [element f] sync: expected true or false, got 'maybe'" },
  { ELEMENTS "[element f]\nlast-sample=1\n",
    "t.pipeline:4: [element f] last-sample: the property cannot be set" },
  { ELEMENTS "[element f]\nsync=\n",
    "t.pipeline:4: [element f] sync: expected true or false, got ''" },
};

static void
test_mistakes (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++) {
    g_autoptr (GError) error = NULL;
    GstElement *pipeline = build (mistakes[i].text, NULL, NULL, &error);
    if (error == NULL || strstr (error->message, mistakes[i].message) != error->message)
      g_error ("expected '%s', got '%s'", mistakes[i].message,
               error != NULL ? error->message : "no error");
    g_assert_null (pipeline);
  }
}

static guint
count (GstElement *pipeline)
{
  guint n = 0;
  GstIterator *elements = gst_bin_iterate_recurse (GST_BIN (pipeline));
  GValue item = G_VALUE_INIT;
  while (gst_iterator_next (elements, &item) == GST_ITERATOR_OK) {
    n++;
    g_value_unset (&item);
  }
  gst_iterator_free (elements);
  return n;
}

/* Letters that mean something to gst-launch, and few that do not. */
static char *
random_value (GRand *random)
{
  static const char *const letters[] = { "a", "/", " ", "!", "\\", "\"", "'", "=", "(",
                                         ")", "[", "{", "}", ";",  ":",  ",", ".", "$",
                                         "#", "&", "|", "<", ">",  "~",  "*", "%", "\303\244" };
  GString *value = g_string_new (NULL);
  const gint length = g_rand_int_range (random, 0, 14);
  for (gint i = 0; i < length; i++)
    g_string_append (value, letters[g_rand_int_range (random, 0, G_N_ELEMENTS (letters))]);
  return g_string_free (value, FALSE);
}

/* Any value comes out of GStreamer's parser as it went in, and adds no element, wherever a
 * property's value may stand. */
static void
test_no_injection (void)
{
  static const char *const places[] = { "location=${v} ! identity", "location=\"${v}\" ! identity",
                                        "location= ${v} ! identity" };
  g_autoptr (GRand) random = g_rand_new_with_seed (3);
  for (guint round = 0; round < 4000; round++) {
    g_autofree char *value = random_value (random);
    g_autofree char *launch =
      g_strdup_printf ("[parameters]\nv=\n[pipeline]\nlaunch=filesrc name=f %s ! fakesink\n",
                       places[round % G_N_ELEMENTS (places)]);
    g_autoptr (GError) error = NULL;
    GstElement *pipeline = build (launch, "v", value, &error);
    if (g_str_has_suffix (value, "\\")) {
      g_assert_nonnull (strstr (error->message, "ends with a backslash"));
      continue;
    }
    if (value[0] == '"' && pipeline == NULL)
      continue; /* GStreamer takes a quoted string then, and this is no good one */
    g_assert_no_error (error);
    if (count (pipeline) != 3)
      g_error ("'%s' in '%s' became %u elements", value, places[round % G_N_ELEMENTS (places)],
               count (pipeline));
    GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "f");
    g_autofree char *location = NULL;
    g_object_get (source, "location", &location, NULL);
    /* GStreamer takes quotes around a whole value away, and reads an empty location as none. */
    if (strchr ("\"'", value[0]) == NULL && g_strcmp0 (location, value) != 0)
      g_error ("'%s' in '%s' became '%s'", value, places[round % G_N_ELEMENTS (places)], location);
    gst_object_unref (source);
    gst_object_unref (pipeline);
  }
}

/* In caps and in the place of an element a value may be wrong, but it is never more than one thing.
 */
static void
test_no_injection_elsewhere (void)
{
  static const char *const places[] = { "fakesrc ! text/x-raw,a=${v} ! fakesink",
                                        "fakesrc ! ${v} ! fakesink",
                                        "fakesrc ! queue ${v} ! fakesink",
                                        "fakesrc ! ${v}queue ! fakesink" };
  g_autoptr (GRand) random = g_rand_new_with_seed (5);
  g_log_set_always_fatal (G_LOG_FATAL_MASK); /* GStreamer warns about odd caps, from 1.26 on as of a
                                                programmer's mistake */
  for (guint round = 0; round < 4000; round++) {
    g_autofree char *value = round % 2 == 0 ? random_value (random) : NULL;
    g_autofree char *tail = value == NULL ? random_value (random) : NULL;
    g_autofree char *both = value == NULL ? g_strconcat ("identity ! identity", tail, NULL) : NULL;
    g_autofree char *launch = g_strdup_printf ("[parameters]\nv=\n[pipeline]\nlaunch=%s\n",
                                               places[round % G_N_ELEMENTS (places)]);
    g_autoptr (GError) error = NULL;
    GstElement *pipeline = build (launch, "v", value != NULL ? value : both, &error);
    g_assert_true (pipeline == NULL || count (pipeline) <= 3);
    gst_clear_object (&pipeline);
  }
}

/* (transfer full): @pairs times two branches that meet again. */
static char *
branches (guint pairs)
{
  GString *launch = g_string_new ("[pipeline]\nlaunch=fakesrc ! tee name=t0 ");
  for (guint i = 0; i < pairs; i++)
    g_string_append_printf (
      launch, "t%u. ! queue ! funnel name=f%u t%u. ! queue ! f%u. f%u. ! tee name=t%u ", i, i, i, i,
      i, i + 1);
  g_string_append_printf (launch, "t%u. ! fakesink", pairs);
  return g_string_free (launch, FALSE);
}

/* Loops, also through bins, and more paths than caps queries can follow are refused; a pipeline
 * that feeds a bin from itself without a loop is not. */
static void
test_graph (void)
{
  static const struct
  {
    const char *launch, *refused;
  } cases[] = {
    { "fakesrc ! funnel name=f ! tee name=t t. ! queue name=q ! f. t. ! fakesink",
      "t.pipeline:2: [pipeline] launch: the elements form a loop, " },
    { "identity name=a ! ( queue name=b ) ! identity name=c ! a.", "form a loop, " },
    { "fakesrc ! tee name=t t. ! queue ! funnel name=f ! fakesink t. ! queue ! f.", NULL },
    { "( fakesrc ! identity ) ! identity ! fakesink", NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *text = g_strconcat ("[pipeline]\nlaunch=", cases[i].launch, NULL);
    GstElement *pipeline = build (text, NULL, NULL, &error);
    if (cases[i].refused == NULL)
      g_assert_no_error (error);
    else
      g_assert_nonnull (strstr (error->message, cases[i].refused));
    gst_clear_object (&pipeline);
  }
  for (guint pairs = 16; pairs <= 40; pairs += 8) {
    g_autoptr (GError) error = NULL;
    g_autofree char *text = branches (pairs);
    GstElement *pipeline = build (text, NULL, NULL, &error);
    g_assert_true ((pipeline != NULL) == (pairs == 16));
    g_assert_true (pairs == 16
                   || strstr (error->message, "branches part and meet again on ") != NULL);
    gst_clear_object (&pipeline);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  gst_init (NULL, NULL);
  g_test_add_func ("/build/overrides", test_overrides);
  g_test_add_func ("/build/numbers", test_numbers);
  g_test_add_func ("/build/one-element", test_one_element);
  g_test_add_func ("/build/graph", test_graph);
  g_test_add_func ("/build/decoders", test_decoders);
  g_test_add_func ("/build/mistakes", test_mistakes);
  g_test_add_func ("/build/no-injection", test_no_injection);
  g_test_add_func ("/build/no-injection-elsewhere", test_no_injection_elsewhere);
  return g_test_run ();
}
