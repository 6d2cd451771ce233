/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports: figures of the workers, and what properties of their elements say. */
#include "tools/run/http/report.h"

#include <string.h>

#include "pipelines/description/element_names.h"
#include "tools/run/promises.h"

/* Milliseconds after which the main thread, which reports twice a second, counts as hung. */
#define SILENCE 2000

struct _SlReporter
{
  GPtrArray *workers;
  SlFiguresBefore *before; /* one a worker */
  gint64 made, started;
  double cpu;
};

static void
camera_clear (gpointer data)
{
  SlReportCamera *camera = data;
  g_free (camera->name);
  g_free (camera->uri);
  g_free (camera->state);
}

static void
model_clear (gpointer data)
{
  SlReportModel *model = data;
  g_free (model->name);
  g_free (model->model);
}

static void
output_clear (gpointer data)
{
  SlReportOutput *output = data;
  g_free (output->name);
  g_free (output->location);
}

static void
regions_clear (gpointer data)
{
  SlReportRegions *regions = data;
  g_free (regions->name);
  g_clear_pointer (&regions->counts, gst_structure_free);
}

static void
recorder_clear (gpointer data)
{
  g_free (((SlReportRecorder *) data)->name);
}

static void
remote_clear (gpointer data)
{
  SlReportRemote *remote = data;
  g_free (remote->name);
  g_free (remote->location);
}

static GArray *
array_new (guint size, GDestroyNotify clear)
{
  GArray *array = g_array_new (FALSE, TRUE, size);
  g_array_set_clear_func (array, clear);
  return array;
}

static void
pipeline_free (gpointer data)
{
  SlReportPipeline *pipeline = data;
  g_free (pipeline->name);
  g_free (pipeline->description);
  g_array_unref (pipeline->cameras);
  g_array_unref (pipeline->models);
  g_array_unref (pipeline->outputs);
  g_array_unref (pipeline->regions);
  g_array_unref (pipeline->recorders);
  g_array_unref (pipeline->remotes);
  g_free (pipeline);
}

static void
report_clear (gpointer data)
{
  g_ptr_array_unref (((SlReport *) data)->pipelines);
}

SlReport *
sl_report_ref (SlReport *report)
{
  return g_atomic_rc_box_acquire (report);
}

void
sl_report_unref (SlReport *report)
{
  g_atomic_rc_box_release_full (report, report_clear);
}

SlReporter *
sl_reporter_new (GPtrArray *workers)
{
  SlReporter *reporter = g_new0 (SlReporter, 1);
  SlProcessFigures process;
  sl_process_figures_read (&process);
  reporter->workers = workers;
  reporter->before = g_new0 (SlFiguresBefore, workers->len);
  reporter->started = g_get_real_time () / G_USEC_PER_SEC;
  reporter->made = g_get_monotonic_time ();
  reporter->cpu = process.cpu;
  return reporter;
}

void
sl_reporter_free (SlReporter *reporter)
{
  g_free (reporter->before);
  g_free (reporter);
}

/* Frames that zones are counted on come before those of other elements. */
static void
note_size (SlReportPipeline *pipeline, GstElement *element)
{
  const gboolean analyses = strcmp (G_OBJECT_TYPE_NAME (element), "SlAnalyze") == 0;
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  g_autoptr (GstCaps) caps = pad != NULL ? gst_pad_get_current_caps (pad) : NULL;
  const GstStructure *frames = caps != NULL ? gst_caps_get_structure (caps, 0) : NULL;
  int width, height;
  if (frames == NULL || (pipeline->width > 0 && !analyses)
      || !gst_structure_has_name (frames, "video/x-raw")
      || !gst_structure_get (frames, "width", G_TYPE_INT, &width, "height", G_TYPE_INT, &height,
                             NULL))
    return;
  pipeline->width = (guint) width;
  pipeline->height = (guint) height;
}

static void
add_element (SlReportPipeline *pipeline, GstElement *element)
{
  const char *type = G_OBJECT_TYPE_NAME (element);
  if (strcmp (type, "SlCamera") == 0) {
    SlReportCamera camera = { .name = gst_element_get_name (element) };
    guint64 damaged = 0;
    g_object_get (element, "uri", &camera.uri, "state", &camera.state, "last-frame-age",
                  &camera.age, "damaged", &damaged, NULL);
    g_array_append_val (pipeline->cameras, camera);
    pipeline->damaged += damaged;
  } else if (strcmp (type, "SlInfer") == 0) {
    SlReportModel model = { .name = sl_model_element_name (element) };
    g_object_get (element, "model", &model.model, NULL);
    model.budgeted = sl_promise_read (element, &model.figures);
    g_array_append_val (pipeline->models, model);
  } else if (strcmp (type, "SlNormalize") == 0) {
    guint64 damaged = 0;
    g_object_get (element, "damaged", &damaged, NULL);
    pipeline->damaged += damaged;
  } else if (strcmp (type, "SlPredict") == 0) {
    guint64 dropped = 0;
    g_object_get (element, "dropped", &dropped, NULL);
    pipeline->busy += dropped;
  } else if (strcmp (type, "SlPublish") == 0) {
    SlReportOutput output = { .name = gst_element_get_name (element) };
    g_object_get (element, "location", &output.location, "published", &output.published, "dropped",
                  &output.lost, "connected", &output.connected, NULL);
    g_array_append_val (pipeline->outputs, output);
  } else if (strcmp (type, "SlAnalyze") == 0) {
    SlReportRegions regions = { .name = gst_element_get_name (element) };
    g_object_get (element, "counts", &regions.counts, NULL);
    g_array_append_val (pipeline->regions, regions);
  } else if (strcmp (type, "SlRemote") == 0) {
    SlReportRemote remote = { .name = gst_element_get_name (element) };
    g_object_get (element, "location", &remote.location, "answered", &remote.answered, "lost",
                  &remote.lost, "local", &remote.local, "workers", &remote.workers, "connected",
                  &remote.connected, "silence", &remote.silence, NULL);
    remote.lost -=
      MIN (remote.lost, remote.local); /* they were given up, and have a result all the same */
    g_array_append_val (pipeline->remotes, remote);
  } else if (strcmp (type, "SlRecord") == 0) {
    SlReportRecorder recorder = { .name = gst_element_get_name (element) };
    g_autoptr (GstStructure) stats = NULL;
    g_object_get (element, "stats", &stats, NULL);
    gst_structure_get (stats, "clips", G_TYPE_UINT64, &recorder.clips, "failed", G_TYPE_UINT64,
                       &recorder.failed, "dropped", G_TYPE_UINT64, &recorder.dropped, NULL);
    g_array_append_val (pipeline->recorders, recorder);
  }
}

static void
forget_elements (SlReportPipeline *pipeline)
{
  g_array_set_size (pipeline->cameras, 0);
  g_array_set_size (pipeline->models, 0);
  g_array_set_size (pipeline->outputs, 0);
  g_array_set_size (pipeline->regions, 0);
  g_array_set_size (pipeline->recorders, 0);
  g_array_set_size (pipeline->remotes, 0);
  pipeline->busy = pipeline->damaged = 0;
}

/* Elements come and go meanwhile, with a camera's connection for one: then everything is looked at
 * again. */
static void
add_elements (SlReportPipeline *pipeline, GstBin *bin)
{
  GstIterator *elements = gst_bin_iterate_recurse (bin);
  GstIteratorResult result;
  GValue item = G_VALUE_INIT;
  while ((result = gst_iterator_next (elements, &item)) == GST_ITERATOR_OK
         || result == GST_ITERATOR_RESYNC) {
    if (result == GST_ITERATOR_OK) {
      add_element (pipeline, g_value_get_object (&item));
      note_size (pipeline, g_value_get_object (&item));
      g_value_reset (&item);
    } else {
      forget_elements (pipeline);
      gst_iterator_resync (elements);
    }
  }
  if (G_IS_VALUE (&item))
    g_value_unset (&item);
  gst_iterator_free (elements);
}

static SlReportPipeline *
report_worker (SlWorker *worker, SlFiguresBefore *before, double seconds)
{
  SlReportPipeline *pipeline = g_new0 (SlReportPipeline, 1);
  GstElement *element = sl_worker_pipeline (worker);
  SlFlow *flow = sl_worker_flow (worker);
  pipeline->name = g_strdup (sl_worker_name (worker));
  pipeline->description = g_strdup (sl_worker_description (worker)->description);
  pipeline->state = sl_worker_state (worker);
  pipeline->restarts = sl_worker_restarts (worker);
  pipeline->cameras = array_new (sizeof (SlReportCamera), camera_clear);
  pipeline->models = array_new (sizeof (SlReportModel), model_clear);
  pipeline->outputs = array_new (sizeof (SlReportOutput), output_clear);
  pipeline->regions = array_new (sizeof (SlReportRegions), regions_clear);
  pipeline->recorders = array_new (sizeof (SlReportRecorder), recorder_clear);
  pipeline->remotes = array_new (sizeof (SlReportRemote), remote_clear);
  sl_worker_totals (worker, &pipeline->totals);
  sl_figures_read (worker, before, seconds, &pipeline->figures);
  if (flow != NULL) {
    SlFlowCounts counts;
    sl_flow_counts (flow, &counts);
    pipeline->last = counts.last;
    sl_drops_read (sl_flow_drops (flow), pipeline->drops);
  }
  if (element != NULL)
    add_elements (pipeline, GST_BIN (element));
  return pipeline;
}

SlReport *
sl_reporter_make (SlReporter *reporter)
{
  SlReport *report = g_atomic_rc_box_new0 (SlReport);
  report->made = g_get_monotonic_time ();
  report->started = reporter->started;
  const double seconds = (double) MAX (report->made - reporter->made, 1) / G_USEC_PER_SEC;
  report->pipelines = g_ptr_array_new_with_free_func (pipeline_free);
  for (guint i = 0; i < reporter->workers->len; i++)
    g_ptr_array_add (report->pipelines,
                     report_worker (reporter->workers->pdata[i], &reporter->before[i], seconds));
  sl_process_figures_read (&report->process);
  report->cpu_percent = 100 * (report->process.cpu - reporter->cpu) / seconds;
  reporter->made = report->made;
  reporter->cpu = report->process.cpu;
  return report;
}

guint
sl_report_list_length (const GstStructure *structure, const char *name)
{
  const GValue *list = structure != NULL ? gst_structure_get_value (structure, name) : NULL;
  return list != NULL ? gst_value_list_get_size (list) : 0;
}

const GstStructure *
sl_report_list_item (const GstStructure *structure, const char *name, guint i)
{
  return gst_value_get_structure (
    gst_value_list_get_value (gst_structure_get_value (structure, name), i));
}

gint64
sl_report_age (const SlReport *report, const SlReportPipeline *pipeline)
{
  return pipeline->last > 0 ? (report->made - pipeline->last) / 1000 : -1;
}

static void G_GNUC_PRINTF (2, 3) add_reason (GPtrArray *reasons, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_ptr_array_add (reasons, g_strdup_vprintf (format, args));
  va_end (args);
}

/* Frames may pass it all the while. */
static void
check_remote (const SlReportPipeline *pipeline, const SlReportRemote *remote, guint stall,
              GPtrArray *reasons)
{
  if (remote->silence <= stall)
    return;
  const double seconds = (double) remote->silence / 1000;
  if (!remote->connected)
    add_reason (reasons, "%s: %s has no connection to the broker, and no prediction for %.1f s",
                pipeline->name, remote->name, seconds);
  else
    add_reason (reasons, "%s: no worker has answered %s for %.1f s, of %u that report",
                pipeline->name, remote->name, seconds, remote->workers);
}

/* Starting and failed pipelines are not well; one that ended as its stream did is done. */
static void
check_pipeline (const SlReport *report, const SlReportPipeline *pipeline, gint64 silent,
                guint stall, GPtrArray *reasons)
{
  const gint64 age = sl_report_age (report, pipeline) + silent;
  if (pipeline->state == SL_WORKER_STARTING)
    add_reason (reasons, "%s: starting, no frame yet", pipeline->name);
  else if (pipeline->state == SL_WORKER_WAITING)
    add_reason (reasons, "%s: waiting for its next start", pipeline->name);
  else if (pipeline->state == SL_WORKER_FAILED)
    add_reason (reasons, "%s: failed, and is not started again", pipeline->name);
  else if (pipeline->state == SL_WORKER_STOPPING)
    add_reason (reasons, "%s: stopping", pipeline->name);
  else if (pipeline->state == SL_WORKER_RUNNING && age > (gint64) stall)
    add_reason (reasons, "%s: no frame for %.1f s", pipeline->name, (double) age / 1000);
  const gboolean alive =
    pipeline->state == SL_WORKER_RUNNING || pipeline->state == SL_WORKER_STARTING;
  for (guint i = 0; alive && i < pipeline->cameras->len; i++) {
    const SlReportCamera *camera = &g_array_index (pipeline->cameras, SlReportCamera, i);
    if (g_strcmp0 (camera->state, "playing") != 0 && g_strcmp0 (camera->state, "ended") != 0)
      add_reason (reasons, "%s: camera %s is %s", pipeline->name, camera->name, camera->state);
  }
  for (guint i = 0; alive && i < pipeline->remotes->len; i++)
    check_remote (pipeline, &g_array_index (pipeline->remotes, SlReportRemote, i), stall, reasons);
}

char *
sl_report_broken_promise (const SlReportPipeline *pipeline, gboolean *any)
{
  char *broken = NULL;
  *any = FALSE;
  for (guint i = 0; i < pipeline->models->len && broken == NULL; i++) {
    const SlReportModel *model = &g_array_index (pipeline->models, SlReportModel, i);
    g_autofree char *words = model->budgeted ? sl_promise_words (&model->figures) : NULL;
    *any = *any || model->budgeted;
    if (words != NULL)
      broken = pipeline->models->len > 1 ? g_strdup_printf ("%s: %s", model->name, words)
                                         : g_steal_pointer (&words);
  }
  return broken;
}

GPtrArray *
sl_report_health (const SlReport *report, gint64 now, guint stall)
{
  GPtrArray *reasons = g_ptr_array_new_with_free_func (g_free);
  const gint64 age = (now - report->made) / 1000;
  const gint64 silent = age > SILENCE ? age : 0;
  if (silent > 0)
    add_reason (reasons, "the supervisor has not reported for %.1f s", (double) silent / 1000);
  for (guint i = 0; i < report->pipelines->len; i++)
    check_pipeline (report, report->pipelines->pdata[i], silent, stall, reasons);
  return reasons;
}
