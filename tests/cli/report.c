/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The report of `sightline run --http` on a pipeline whose elements change while it is made: each
 * of them is in it, once; and what it says of promises.
 */
#include "tools/run/http/report.h"

#include <string.h>

#include "tools/run/promises.h"

static GstElement *pipeline;
static guint reads; /* of a property of an output */

/* The worker, which has a pipeline and no figures. */
SlFlow *
sl_worker_flow (SlWorker *worker)
{
  return NULL;
}

GstElement *
sl_worker_pipeline (const SlWorker *worker)
{
  return pipeline;
}

const char *
sl_worker_name (const SlWorker *worker)
{
  return "door";
}

const SlDescription *
sl_worker_description (const SlWorker *worker)
{
  static const SlDescription description;
  return &description;
}

SlWorkerState
sl_worker_state (const SlWorker *worker)
{
  return SL_WORKER_RUNNING;
}

guint
sl_worker_restarts (const SlWorker *worker)
{
  return 0;
}

void
sl_worker_totals (const SlWorker *worker, SlWorkerTotals *totals)
{
  memset (totals, 0, sizeof *totals);
}

/* An element joins while the first two outputs are looked at. */
static void
get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  if (strcmp (spec->name, "published") == 0 && reads++ < 2)
    gst_bin_add (GST_BIN (pipeline), gst_element_factory_make ("identity", NULL));
  g_param_value_set_default (spec, value);
}

static void
output_class_init (gpointer klass, gpointer data)
{
  GObjectClass *object = klass;
  object->get_property = get_property;
  g_object_class_install_property (object, 1,
                                   g_param_spec_string ("location", "", "", "", G_PARAM_READABLE));
  g_object_class_install_property (
    object, 2, g_param_spec_uint64 ("published", "", "", 0, 9, 1, G_PARAM_READABLE));
  g_object_class_install_property (
    object, 3, g_param_spec_uint64 ("dropped", "", "", 0, 9, 1, G_PARAM_READABLE));
  g_object_class_install_property (
    object, 4, g_param_spec_boolean ("connected", "", "", TRUE, G_PARAM_READABLE));
}

static void
test_changes (void)
{
  const GTypeInfo info = { .class_size = sizeof (GstElementClass),
                           .class_init = output_class_init,
                           .instance_size = sizeof (GstElement) };
  const GType type = g_type_register_static (GST_TYPE_ELEMENT, "SlPublish", &info, 0);
  g_autoptr (GPtrArray) workers = g_ptr_array_new ();
  gboolean seen[3] = { FALSE };
  pipeline = gst_object_ref_sink (gst_pipeline_new (NULL));
  for (guint i = 0; i < G_N_ELEMENTS (seen); i++) {
    g_autofree char *name = g_strdup_printf ("%u", i);
    gst_bin_add (GST_BIN (pipeline), g_object_new (type, "name", name, NULL));
  }
  g_ptr_array_add (workers, &reads);
  SlReporter *reporter = sl_reporter_new (workers);
  g_autoptr (SlReport) report = sl_reporter_make (reporter);
  const SlReportPipeline *told = report->pipelines->pdata[0];
  g_assert_cmpuint (reads, >, G_N_ELEMENTS (seen));
  g_assert_cmpuint (told->outputs->len, ==, G_N_ELEMENTS (seen));
  for (guint i = 0; i < told->outputs->len; i++)
    seen[g_ascii_digit_value (g_array_index (told->outputs, SlReportOutput, i).name[0])] = TRUE;
  g_assert_true (seen[0] && seen[1] && seen[2]);
  sl_reporter_free (reporter);
  gst_clear_object (&pipeline);
}

/* Who is to blame for a rate below the promised one: the camera only where the model runs on what
 * it sends. */
static void
test_promises (void)
{
  static const struct
  {
    SlTurnFigures figures;
    const char *words;
  } cases[] = {
    { { .promised = 40, .offered = 30, .delivered = 10.5, .frames = 1 },
      "10.5 of 40 frames a second" },
    { { .promised = 40, .offered = 30, .delivered = 28.4, .frames = 1 },
      "28.4 of 40 frames a second" },
    { { .promised = 40, .offered = 30, .delivered = 28.6, .frames = 1 },
      "the camera sends less than is promised, 28.6 of 40 frames a second" },
    { { .promised = 40, .offered = 40, .delivered = 37, .frames = 1 },
      "37.0 of 40 frames a second" },
    { { .promised = 40, .offered = 40, .delivered = 38, .frames = 1 }, NULL },
    { { .promised = 40 }, NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *words = sl_promise_words (&cases[i].figures);
    g_assert_cmpstr (words, ==, cases[i].words);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  gst_init (&argc, &argv);
  g_test_add_func ("/report/changes", test_changes);
  g_test_add_func ("/report/promises", test_promises);
  return g_test_run ();
}
