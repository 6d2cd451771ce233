/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The groups [budget] and [budget NAME] on their way to the models of a launch line. */
#include "pipelines/description/build.h"
#include "pipelines/description/promises.h"
#include "plugins/elements.h"
#include "predict/budget.h"
#include "tests/support/program.h"

#define TWO \
  "fakesrc ! slpredict name=yard ! fakesink fakesrc ! slnormalize ! slinfer name=door ! fakesink"

static SlDescription *
describe (const char *launch, const char *groups, GError **error)
{
  g_autofree char *text = g_strdup_printf ("[pipeline]\nlaunch=%s\n%s", launch, groups);
  return sl_description_new_from_string (text, -1, "gate.pipeline", NULL, error);
}

static GstElement *
build (const char *launch, const char *groups, GError **error)
{
  g_autoptr (SlDescription) d = describe (launch, groups, error);
  return d != NULL ? sl_description_build (d, error) : NULL;
}

static void
check (GstElement *pipeline, const char *name, gdouble rate, gint priority)
{
  g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (pipeline), name);
  gdouble promised;
  gint got;
  g_object_get (element, "promised-rate", &promised, "priority", &got, NULL);
  g_assert_cmpfloat (promised, ==, rate);
  g_assert_cmpint (got, ==, priority);
}

static void
test_promises (void)
{
  static const struct
  {
    const char *groups;
    gdouble yard, door;
    gint first, second;
  } cases[] = {
    { "", 0, 0, 1, 1 },
    { "[budget]\nrate=5\n", 5, 5, 1, 1 },
    { "[budget]\nrate=5\npriority=2\n[budget door]\nrate=0.5\n", 5, 0.5, 2, 2 },
    { "[budget]\nrate=5\n[budget door]\npriority=10\n", 5, 5, 1, 10 },
    { "[budget yard]\nrate=3\n[budget door]\nrate=4\n[budget]\ncores=1.5\n", 3, 4, 1, 1 },
    { "[budget]\nrate=5\npriority=2\n[element door]\npromised-rate=7\npriority=4\n", 5, 7, 2, 4 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GstElement) pipeline = build (TWO, cases[i].groups, &error);
    g_assert_no_error (error);
    check (pipeline, "yard", cases[i].yard, cases[i].first);
    check (pipeline, "door", cases[i].door, cases[i].second);
  }
  g_assert_cmpfloat (sl_budget_cores (), ==, 1.5);
}

static void
check_need (GstElement *pipeline, const char *name, const char *need)
{
  g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (pipeline), name);
  g_autofree char *got = NULL;
  g_object_get (element, "need", &got, NULL);
  g_assert_cmpstr (got, ==, need);
}

#define ZONE "[zone door way]\npoints=0,0 1,0 1,1\n[line step]\npoints=0,0 1,1\n"
#define ZONES                                                                             \
  "fakesrc ! slpredict name=yard ! slanalyze ! fakesink fakesrc ! slnormalize ! slinfer " \
  "name=door ! fakesink"

static void
test_needs (void)
{
  static const struct
  {
    const char *launch, *groups, *yard, *door;
  } cases[] = {
    { TWO, "[budget]\nrate=5\n", NULL, NULL },
    { TWO, "[budget]\nrate=5\nneed=motion\n[budget door]\nneed=any\n", "motion", "any" },
    { TWO, "[budget]\nrate=5\nneed=objects\n[budget door]\npriority=2\n", "objects", "objects" },
    { TWO, "[budget]\nrate=5\nneed=objects\n[element door]\nneed=motion\n", "objects", "motion" },
    { ZONES, "[budget]\nrate=5\n[budget yard]\nneed=zone:door way\n" ZONE, "zone:door way", NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GstElement) pipeline = build (cases[i].launch, cases[i].groups, &error);
    g_assert_no_error (error);
    check_need (pipeline, "yard", cases[i].yard);
    check_need (pipeline, "door", cases[i].door);
  }
}

static void
test_mistakes (void)
{
  static const struct
  {
    const char *launch, *groups, *message;
  } cases[] = {
    { TWO, "[budget]\nrate=0\n",
      "gate.pipeline:4: [budget] rate: expected a number from 0.01 to 1000, got '0'" },
    { TWO, "[budget]\nrate=fast\n",
      "gate.pipeline:4: [budget] rate: expected a number from 0.01 to 1000, got 'fast'" },
    { TWO, "[budget]\nrate=5\npriority=11\n",
      "gate.pipeline:5: [budget] priority: expected a whole number from 1 to 10, got '11'" },
    { TWO, "[budget]\ncores=0\n",
      "gate.pipeline:4: [budget] cores: expected a number from 0.1 to 1024, got '0'" },
    { TWO, "[budget yard]\ncores=1\n",
      "gate.pipeline:4: [budget yard] cores: unknown key; expected one of rate, priority, need" },
    { TWO, "[budget]\nrate=5\nneed=movement\n",
      "gate.pipeline:5: [budget] need: expected any, motion, objects or zone:NAME, got "
      "'movement'" },
    { TWO, "[budget]\nrate=5\nneed=zone:\n",
      "gate.pipeline:5: [budget] need: expected any, motion, objects or zone:NAME, got 'zone:'" },
    { TWO, "[budget]\nrate=5\nneed=\n",
      "gate.pipeline:5: [budget] need: expected any, motion, objects or zone:NAME, got ''" },
    { ZONES, "[budget]\nrate=5\n[budget yard]\nneed=zone:door wya\n" ZONE,
      "gate.pipeline:6: [budget yard] need: the pipeline has no zone 'door wya'; did you mean "
      "'door way'?" },
    { ZONES, "[budget]\nrate=5\nneed=zone:step\n" ZONE,
      "gate.pipeline:5: [budget] need: the pipeline has no zone 'step'; expected one of door way" },
    { TWO, "[budget]\nrate=5\nneed=zone:step\n",
      "gate.pipeline:5: [budget] need: the pipeline has no zone 'step'; expected a group [zone "
      "step], and slanalyze in the launch line" },
    { TWO, "[budget]\nrates=5\n",
      "gate.pipeline:4: [budget] rates: unknown key; did you mean 'rate'?" },
    { TWO, "[budgte]\nrate=5\n",
      "gate.pipeline:4: [budgte] rate: unknown group; did you mean [budget]?" },
    { TWO, "[budgte yard]\nrate=5\n",
      "gate.pipeline:4: [budgte yard] rate: unknown group; did you mean [budget NAME]?" },
    { TWO, "[budget]\nrate=5\n[budget yrad]\nrate=2\n",
      "gate.pipeline:6: [budget yrad]: the launch line has no slpredict or slinfer of that name; "
      "did you mean 'yard'?" },
    { TWO, "[budget]\ncores=1\n[budget yard]\nrate=2\n",
      "gate.pipeline:4: [budget]: nothing is promised to the model of door; expected rate=FRAMES "
      "a second in [budget] or in "
      "[budget door]" },
    { "fakesrc ! fakesink", "[budget]\nrate=5\n",
      "gate.pipeline:4: [budget]: the launch line has no slpredict or slinfer, whose models share "
      "a budget" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_assert_null (build (cases[i].launch, cases[i].groups, &error));
    g_assert_cmpstr (error->message, ==, cases[i].message);
  }
}

/* What a reload compares. */
static void
test_same (void)
{
  static const struct
  {
    const char *a, *b;
    gboolean same;
  } cases[] = {
    { "", "", TRUE },
    { "", "[budget]\nrate=5\n", FALSE },
    { "[budget]\nrate=5\ncores=1\n", "[budget]\ncores=2\nrate=5.0\n", TRUE },
    { "[budget]\nrate=5\n", "[budget]\nrate=6\n", FALSE },
    { "[budget]\nrate=5\n", "[budget]\nrate=5\npriority=2\n", FALSE },
    { "[budget]\nrate=5\n", "[budget yard]\nrate=5\n", FALSE },
    { "[budget]\nrate=5\nneed=any\n", "[budget]\nneed=any\nrate=5\n", TRUE },
    { "[budget]\nrate=5\nneed=any\n", "[budget]\nrate=5\nneed=motion\n", FALSE },
    { "[budget]\nrate=5\n", "[budget]\nrate=5\nneed=any\n", FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (SlDescription) a = describe (TWO, cases[i].a, NULL);
    g_autoptr (SlDescription) b = describe (TWO, cases[i].b, NULL);
    g_assert_cmpint (sl_promises_same (a, b), ==, cases[i].same);
  }
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  sl_elements_init (&argc, &argv);
  g_assert_true (sl_elements_register_static ());
  g_test_add_func ("/pipelines/build-budget/promises", test_promises);
  g_test_add_func ("/pipelines/build-budget/needs", test_needs);
  g_test_add_func ("/pipelines/build-budget/mistakes", test_mistakes);
  g_test_add_func ("/pipelines/build-budget/same", test_same);
  return g_test_run ();
}
