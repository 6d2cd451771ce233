/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reports in Prometheus's text exposition format, version 0.0.4. Every metric is a row with its
 * help, its type and the function that writes its samples.
 */
#include <string.h>

#include "core/base/json.h"
#include "core/base/printable.h"
#include "tools/run/http/exposition.h"
#include "tools/run/http/texts.h"

/* What a state may be, so that each has a sample, 0 or 1. */
static const char *const camera_states[] = { "stopped", "connecting",   "playing", "waiting",
                                             "stalled", "reconnecting", "ended" };

typedef struct _Writer Writer;

/* A row. @offset, @size: of the count that write_count() and write_each() show; @list: the offset
 * of the pipeline's list whose items write_each() shows; @field: what write_zones() shows. */
typedef struct
{
  const char *name, *type, *help;
  void (*write) (const Writer *);
  gsize offset, size, list;
  const char *field;
} Metric;

struct _Writer
{
  const SlReport *report;
  const SlReportPipeline *pipeline;
  const SlPredictions *newest; /* (nullable) */
  const Metric *metric;
  GString *out;
};

/* What follows the help in a row: a count of the pipeline, and one of each item of a list. */
#define COUNT(member)                                      \
  write_count, G_STRUCT_OFFSET (SlReportPipeline, member), \
    sizeof (((SlReportPipeline *) NULL)->member)
#define EACH(items, Type, member)                                               \
  write_each, G_STRUCT_OFFSET (Type, member), sizeof (((Type *) NULL)->member), \
    G_STRUCT_OFFSET (SlReportPipeline, items)

/* The sample's name and its label for the pipeline, and further ones: names and values, NULL at the
 * end. */
static void G_GNUC_NULL_TERMINATED
begin (const Writer *w, const char *suffix, ...)
{
  va_list labels;
  va_start (labels, suffix);
  sl_exposition_begin (w->out, w->metric->name, suffix, "pipeline", w->pipeline->name, labels);
  va_end (labels);
}

static void
end_count (const Writer *w, guint64 count)
{
  g_string_append_printf (w->out, "%" G_GUINT64_FORMAT "\n", count);
}

static void
end_number (const Writer *w, double number)
{
  sl_json_append_double (w->out, number, 9);
  g_string_append_c (w->out, '\n');
}

/* The row's count in @item, of 64 bits or of 32. */
static void
end_member (const Writer *w, gconstpointer item)
{
  const gsize at = w->metric->offset;
  end_count (w, w->metric->size == sizeof (guint64) ? G_STRUCT_MEMBER (guint64, item, at)
                                                    : G_STRUCT_MEMBER (guint32, item, at));
}

static void
write_count (const Writer *w)
{
  begin (w, "", NULL);
  end_member (w, w->pipeline);
}

/* Each item begins with the name of its element. */
static void
write_each (const Writer *w)
{
  const GArray *items = G_STRUCT_MEMBER (GArray *, w->pipeline, w->metric->list);
  const gsize size = g_array_get_element_size ((GArray *) items);
  for (guint i = 0; i < items->len; i++) {
    const char *item = items->data + i * size;
    begin (w, "", "element", *(char *const *) item, NULL);
    end_member (w, item);
  }
}

static void
write_dropped (const Writer *w)
{
  begin (w, "", "reason", "busy", NULL);
  end_count (w, w->pipeline->busy);
  begin (w, "", "reason", "damaged", NULL);
  end_count (w, w->pipeline->damaged);
  for (guint d = 0; d < SL_N_DROPS; d++) {
    begin (w, "", "reason", sl_drop_name ((SlDrop) d), NULL);
    end_count (w, w->pipeline->drops[d]);
  }
}

static void
write_state (const Writer *w)
{
  for (guint s = SL_WORKER_STARTING; s <= SL_WORKER_FAILED; s++) {
    begin (w, "", "state", sl_worker_state_name ((SlWorkerState) s), NULL);
    end_count (w, w->pipeline->state == (SlWorkerState) s);
  }
}

static void
write_age (const Writer *w)
{
  const gint64 age = sl_report_age (w->report, w->pipeline);
  if (age < 0)
    return;
  begin (w, "", NULL);
  end_number (w, (double) age / 1000);
}

static void
write_rate (const Writer *w)
{
  begin (w, "", NULL);
  end_number (w, w->pipeline->figures.fps_out);
}

static void
write_stages (const Writer *w)
{
  for (guint s = 0; s < SL_N_STAGES; s++)
    sl_exposition_histogram (w->out, w->metric->name, "pipeline", w->pipeline->name,
                             sl_stage_name ((SlStage) s), &w->pipeline->totals.histograms[s]);
}

static void
write_camera_states (const Writer *w)
{
  for (guint i = 0; i < w->pipeline->cameras->len; i++) {
    const SlReportCamera *camera = &g_array_index (w->pipeline->cameras, SlReportCamera, i);
    for (guint s = 0; s < G_N_ELEMENTS (camera_states); s++) {
      begin (w, "", "camera", camera->name, "state", camera_states[s], NULL);
      end_count (w, g_strcmp0 (camera->state, camera_states[s]) == 0);
    }
  }
}

static void
write_camera_ages (const Writer *w)
{
  for (guint i = 0; i < w->pipeline->cameras->len; i++) {
    const SlReportCamera *camera = &g_array_index (w->pipeline->cameras, SlReportCamera, i);
    if (camera->age < 0)
      continue;
    begin (w, "", "camera", camera->name, NULL);
    end_number (w, (double) camera->age / 1000);
  }
}

static void
write_models (const Writer *w)
{
  for (guint i = 0; i < w->pipeline->models->len; i++) {
    const SlReportModel *model = &g_array_index (w->pipeline->models, SlReportModel, i);
    begin (w, "", "element", model->name, "model", model->model, NULL);
    end_count (w, 1);
  }
}

static void
write_promises (const Writer *w)
{
  for (guint i = 0; i < w->pipeline->models->len; i++) {
    const SlReportModel *model = &g_array_index (w->pipeline->models, SlReportModel, i);
    if (!model->budgeted)
      continue;
    begin (w, "", "element", model->name, NULL);
    end_number (w, G_STRUCT_MEMBER (gdouble, model, w->metric->offset));
  }
}

static void
write_skipped (const Writer *w)
{
  for (guint i = 0; i < w->pipeline->models->len; i++) {
    const SlReportModel *model = &g_array_index (w->pipeline->models, SlReportModel, i);
    if (!model->budgeted)
      continue;
    begin (w, "", "element", model->name, NULL);
    end_count (w, model->figures.skipped);
  }
}

static void
write_waits (const Writer *w)
{
  for (guint i = 0; i < w->pipeline->models->len; i++) {
    const SlReportModel *model = &g_array_index (w->pipeline->models, SlReportModel, i);
    if (!model->budgeted)
      continue;
    begin (w, "", "element", model->name, "quantile", "0.5", NULL);
    end_number (w, (double) model->figures.waited_p50 / G_USEC_PER_SEC);
    begin (w, "", "element", model->name, "quantile", "0.99", NULL);
    end_number (w, (double) model->figures.waited_p99 / G_USEC_PER_SEC);
  }
}

static void
write_remote_frames (const Writer *w)
{
  for (guint i = 0; i < w->pipeline->remotes->len; i++) {
    const SlReportRemote *remote = &g_array_index (w->pipeline->remotes, SlReportRemote, i);
    const struct
    {
      const char *result;
      guint64 count;
    } counts[] = { { "answered", remote->answered },
                   { "lost", remote->lost },
                   { "local", remote->local } };
    for (guint c = 0; c < G_N_ELEMENTS (counts); c++) {
      begin (w, "", "element", remote->name, "result", counts[c].result, NULL);
      end_count (w, counts[c].count);
    }
  }
}

/* What the field @field counts of each class of each region of @kind. @direction: (nullable): in
 * which lines are crossed */
static void
write_classes (const Writer *w, const char *kind, const char *field, const char *direction)
{
  for (guint i = 0; i < w->pipeline->regions->len; i++) {
    const SlReportRegions *regions = &g_array_index (w->pipeline->regions, SlReportRegions, i);
    for (guint r = 0; r < sl_report_list_length (regions->counts, "regions"); r++) {
      const GstStructure *region = sl_report_list_item (regions->counts, "regions", r);
      const char *name = gst_structure_get_string (region, "name");
      for (guint c = 0;
           gst_structure_has_name (region, kind) && c < sl_report_list_length (region, "classes");
           c++) {
        const GstStructure *class = sl_report_list_item (region, "classes", c);
        const char *label = gst_structure_get_string (class, "label");
        guint64 count = 0;
        guint small = 0;
        if (direction != NULL)
          begin (w, "", "element", regions->name, kind, name, "direction", direction, "label",
                 label, NULL);
        else
          begin (w, "", "element", regions->name, kind, name, "label", label, NULL);
        end_count (w, gst_structure_get_uint (class, field, &small)     ? small
                      : gst_structure_get_uint64 (class, field, &count) ? count
                                                                        : 0);
      }
    }
  }
}

static void
write_zones (const Writer *w)
{
  write_classes (w, "zone", w->metric->field, NULL);
}

static void
write_lines (const Writer *w)
{
  write_classes (w, "line", "entered", "in");
  write_classes (w, "line", "left", "out");
}

/* The longest stay of those inside, 0 where nobody is. */
static void
write_longest (const Writer *w)
{
  for (guint i = 0; i < w->pipeline->regions->len; i++) {
    const SlReportRegions *regions = &g_array_index (w->pipeline->regions, SlReportRegions, i);
    for (guint r = 0; r < sl_report_list_length (regions->counts, "regions"); r++) {
      const GstStructure *region = sl_report_list_item (regions->counts, "regions", r);
      gdouble seconds = 0;
      if (!gst_structure_has_name (region, "zone")
          || !gst_structure_get_double (region, "longest", &seconds))
        continue;
      begin (w, "", "element", regions->name, "zone", gst_structure_get_string (region, "name"),
             NULL);
      end_number (w, seconds);
    }
  }
}

static void
write_since (const Writer *w)
{
  for (guint i = 0; i < w->pipeline->regions->len; i++) {
    const SlReportRegions *regions = &g_array_index (w->pipeline->regions, SlReportRegions, i);
    gint64 since = 0;
    if (!gst_structure_get_int64 (regions->counts, "since", &since) || since == 0)
      continue;
    begin (w, "", "element", regions->name, NULL);
    sl_json_append_double (w->out, (double) since / 1e6, 13);
    g_string_append_c (w->out, '\n');
  }
}

/* Labels come from models and may be as many as classes: those of one frame, which are bounded. */
static void
write_objects (const Writer *w)
{
  g_autoptr (GHashTable) counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GHashTableIter iter;
  gpointer label, count;
  for (guint i = 0; w->newest != NULL && i < sl_predictions_get_n_objects (w->newest); i++) {
    char *shown = sl_printable (sl_object_get_label (sl_predictions_get_object (w->newest, i)),
                                SL_PRINTABLE_LABEL);
    const guint before = GPOINTER_TO_UINT (g_hash_table_lookup (counts, shown));
    g_hash_table_replace (counts, shown, GUINT_TO_POINTER (before + 1));
  }
  g_hash_table_iter_init (&iter, counts);
  while (g_hash_table_iter_next (&iter, &label, &count)) {
    begin (w, "", "label", label, NULL);
    end_count (w, GPOINTER_TO_UINT (count));
  }
}

static const Metric metrics[] = {
  { "sightline_pipeline_state", "gauge", "1 for the state that the pipeline is in.", write_state },
  { "sightline_frames_in_total", "counter", "Frames that sources or decoders gave.",
    COUNT (totals.counts.in) },
  { "sightline_frames_out_total", "counter", "Frames that reached a sink.",
    COUNT (totals.counts.out) },
  { "sightline_predictions_total", "counter", "Frames that a model looked at.",
    COUNT (totals.counts.predictions) },
  { "sightline_frames_dropped_total", "counter",
    "Frames that were dropped since the last start, by the reason.", write_dropped },
  { "sightline_frames_without_prediction", "gauge",
    "Frames in that gave no prediction, frames on their way among them.",
    COUNT (totals.counts.dropped) },
  { "sightline_frames_per_second", "gauge", "Frames a second that reach a sink.", write_rate },
  { "sightline_last_frame_age_seconds", "gauge", "Time since a frame reached a sink.", write_age },
  { "sightline_stage_seconds", "histogram",
    "Time that frames spend in a stage; age is from capture to prediction.", write_stages },
  { "sightline_objects", "gauge", "Objects on the newest frame; none while frames do not come.",
    write_objects },
  { "sightline_zone_objects", "gauge", "Objects in the zone.", write_zones, .field = "inside" },
  { "sightline_zone_entered_total", "counter",
    "Objects that entered the zone since the counts begin.", write_zones, .field = "entered" },
  { "sightline_zone_left_total", "counter", "Objects that left the zone since the counts begin.",
    write_zones, .field = "left" },
  { "sightline_zone_longest_seconds", "gauge",
    "How long the one has been in the zone that is longest of those inside.", write_longest },
  { "sightline_line_crossings_total", "counter",
    "Objects that crossed the line since the counts begin; in is to its right.", write_lines },
  { "sightline_counts_since_seconds", "gauge",
    "Since when zones and lines count, in seconds since 1970.", write_since },
  { "sightline_restarts_total", "counter",
    "Starts by the restart policy, after a failure or an end; reloads are none.",
    COUNT (restarts) },
  { "sightline_recoveries_total", "counter",
    "Returns of the pipeline or its camera after a failure.", COUNT (totals.recoveries) },
  { "sightline_camera_state", "gauge", "1 for the state that the camera is in.",
    write_camera_states },
  { "sightline_camera_last_frame_age_seconds", "gauge", "Time since the camera's last frame.",
    write_camera_ages },
  { "sightline_model_info", "gauge",
    "1; the model in use is a label, empty for the one in the box.", write_models },
  { "sightline_promised_frames_per_second", "gauge",
    "Frames a second that the model is promised of the budget.", write_promises,
    G_STRUCT_OFFSET (SlReportModel, figures.promised) },
  { "sightline_delivered_frames_per_second", "gauge",
    "Frames a second that the model ran on, over the last ten seconds; of models with a promise.",
    write_promises, G_STRUCT_OFFSET (SlReportModel, figures.delivered) },
  { "sightline_turn_skipped_frames_total", "counter",
    "Frames that newer ones replaced before they had their turn, since the last start.",
    write_skipped },
  { "sightline_turn_wait_seconds", "gauge",
    "Time that frames waited for their turn, of the last 256.", write_waits },
  { "sightline_published_lines_total", "counter", "Lines that are out since the last start.",
    EACH (outputs, SlReportOutput, published) },
  { "sightline_lost_lines_total", "counter", "Lines lost since the last start.",
    EACH (outputs, SlReportOutput, lost) },
  { "sightline_output_connected", "gauge", "Whether lines can be sent.",
    EACH (outputs, SlReportOutput, connected) },
  { "sightline_remote_frames_total", "counter",
    "Frames of an slremote since the last start, by the result: answered by a worker; lost, as "
    "none did; local, computed here.",
    write_remote_frames },
  { "sightline_remote_workers", "gauge", "Workers that report to the broker.",
    EACH (remotes, SlReportRemote, workers) },
  { "sightline_remote_connected", "gauge", "Whether there is a connection to the broker.",
    EACH (remotes, SlReportRemote, connected) },
  { "sightline_clips_total", "counter", "Clips that are whole, since the last start.",
    EACH (recorders, SlReportRecorder, clips) },
  { "sightline_clips_failed_total", "counter",
    "Clips of which nothing is left, since the last start.",
    EACH (recorders, SlReportRecorder, failed) },
  { "sightline_clip_frames_dropped_total", "counter",
    "Frames that are in no clip because encoder or disk were too slow, since the last start.",
    EACH (recorders, SlReportRecorder, dropped) },
};

void
sl_text_metrics (GString *out, const SlReport *report, const GPtrArray *newest)
{
  for (guint m = 0; m < G_N_ELEMENTS (metrics); m++) {
    sl_exposition_head (out, metrics[m].name, metrics[m].type, metrics[m].help);
    for (guint i = 0; i < report->pipelines->len; i++) {
      const Writer writer = { report, report->pipelines->pdata[i], newest->pdata[i], &metrics[m],
                              out };
      metrics[m].write (&writer);
    }
  }
  sl_exposition_process (out, &report->process, report->started);
}
