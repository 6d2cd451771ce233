/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a frame will cost: each model of the pipeline is fed test frames of the predicted format
 * through elements with the same properties, and the stages' times are read off them. Nothing of
 * the pipeline itself runs.
 */
#include <gst/video/video.h>
#include <string.h>

#include "core/runtime/session.h"
#include "models/backend.h"
#include "models/model.h"
#include "pipelines/supervise/bus.h"
#include "plugins/video/dmabuf.h"
#include "tools/check/findings.h"
#include "tools/run/flow.h"

#define FRAMES 24
#define TIMEOUT (60 * GST_SECOND)

/* (transfer full): the video that will come to @normalize, made definite. */
static GstCaps *
predict_frames (GstElement *normalize, gboolean *assumed)
{
  GstPad *sink = normalize->sinkpads->data;
  g_autoptr (GstCaps) allowed = gst_pad_get_allowed_caps (sink);
  GstCaps *caps = allowed != NULL && !gst_caps_is_any (allowed) ? sl_dmabuf_plain (allowed)
                                                                : gst_caps_new_empty ();
  if (gst_caps_is_empty (caps)) {
    gst_caps_unref (caps);
    caps = gst_caps_from_string ("video/x-raw,format=NV12");
  }
  caps = gst_caps_truncate (gst_caps_make_writable (caps));
  GstStructure *first = gst_caps_get_structure (caps, 0);
  gst_structure_remove_fields (first, "multiview-mode", "multiview-flags", NULL);
  *assumed = !gst_caps_is_fixed (caps);
  if (!gst_structure_has_field (first, "width"))
    gst_structure_set (first, "width", GST_TYPE_INT_RANGE, 1, G_MAXINT, "height",
                       GST_TYPE_INT_RANGE, 1, G_MAXINT, NULL);
  if (!gst_structure_has_field (first, "framerate"))
    gst_structure_set (first, "framerate", GST_TYPE_FRACTION_RANGE, 1, 1, G_MAXINT, 1, NULL);
  return sl_check_fixate (caps);
}

/* Everything that was set on @from. */
static void
copy_properties (GstElement *from, GstElement *to)
{
  guint n = 0;
  g_autofree GParamSpec **all = g_object_class_list_properties (G_OBJECT_GET_CLASS (from), &n);
  for (guint i = 0; i < n; i++) {
    const gboolean ours = (all[i]->flags & G_PARAM_READWRITE) == G_PARAM_READWRITE
                          && (all[i]->flags & G_PARAM_CONSTRUCT_ONLY) == 0;
    g_auto (GValue) value = G_VALUE_INIT;
    if (!ours || strcmp (all[i]->name, "name") == 0 || strcmp (all[i]->name, "parent") == 0
        || strcmp (all[i]->name, "post-messages") == 0)
      continue;
    g_value_init (&value, G_PARAM_SPEC_VALUE_TYPE (all[i]));
    g_object_get_property (G_OBJECT (from), all[i]->name, &value);
    if (!g_param_value_defaults (all[i], &value))
      g_object_set_property (G_OBJECT (to), all[i]->name, &value);
  }
}

/* In a trial, inputs from other branches are zeros, unless they have a first value. A model that
 * cannot be loaded was reported before. */
static void
fix_branches (GstElement *infer, GstElement *trial)
{
  g_autofree char *fixed = NULL;
  g_autoptr (SlModel) model = sl_check_load (infer, NULL, NULL);
  if (model == NULL)
    return;
  const SlGraph *graph = sl_model_graph (model);
  g_object_get (infer, "fixed-inputs", &fixed, NULL);
  g_autoptr (GString) all = g_string_new (fixed);
  for (guint i = 0; i < sl_graph_n_held (graph); i++)
    if (sl_graph_held (graph, i)->output < 0 && sl_graph_held (graph, i)->first == NULL)
      g_string_append_printf (all, "%s#%u=0", all->len > 0 ? ";" : "",
                              sl_graph_held_place (graph, i));
  if (all->len > 0)
    g_object_set (trial, "fixed-inputs", all->str, NULL);
}

/* (transfer full): test frames ! normalize ! infer ! slpostprocess ! fakesink */
static GstElement *
make_trial (GstElement *normalize, GstElement *infer, GstElement *results, GstCaps *caps)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *chain[] = {
    gst_element_factory_make ("videotestsrc", NULL),  gst_element_factory_make ("capsfilter", NULL),
    gst_element_factory_make ("slnormalize", NULL),   gst_element_factory_make ("slinfer", NULL),
    gst_element_factory_make ("slpostprocess", NULL), gst_element_factory_make ("fakesink", NULL)
  };
  g_object_set (chain[0], "num-buffers", FRAMES, NULL);
  g_object_set (chain[1], "caps", caps, NULL);
  copy_properties (normalize, chain[2]);
  copy_properties (infer, chain[3]);
  fix_branches (infer, chain[3]);
  if (results != NULL)
    copy_properties (results, chain[4]);
  for (guint i = 0; i < G_N_ELEMENTS (chain); i++)
    gst_bin_add (GST_BIN (pipeline), chain[i]);
  for (guint i = 0; i + 1 < G_N_ELEMENTS (chain); i++)
    gst_element_link (chain[i], chain[i + 1]);
  return pipeline;
}

/* FALSE, with a problem found, when the trial fails. */
static gboolean
run_trial (GstElement *pipeline, const char *about, GArray *findings)
{
  g_autoptr (GError) error = NULL;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  const gboolean good = sl_bus_wait_for_end (pipeline, TIMEOUT, &error);
  if (error != NULL)
    sl_findings_add (findings, SL_FINDING_PROBLEM, about, "%s", error->message);
  else if (!good)
    sl_findings_add (findings, SL_FINDING_PROBLEM, about, "%d frames took more than %d s", FRAMES,
                     (int) (TIMEOUT / GST_SECOND));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return good;
}

static void
judge (SlFlow *flow, GstCaps *caps, const char *about, GArray *findings)
{
  gint64 p50[SL_N_STAGES], p95[SL_N_STAGES];
  GstVideoInfo info;
  for (guint s = 0; s < SL_N_STAGES; s++)
    if (!sl_flow_latency (flow, (SlStage) s, &p50[s], &p95[s]))
      return;
  if (!gst_video_info_from_caps (&info, caps))
    return;
  const double ms = (double) p50[SL_STAGE_AGE] / 1000;
  const double budget = GST_VIDEO_INFO_FPS_N (&info) > 0
                          ? 1000.0 * GST_VIDEO_INFO_FPS_D (&info) / GST_VIDEO_INFO_FPS_N (&info)
                          : 0;
  sl_findings_add (
    findings, SL_FINDING_FACT, "time",
    "%s: %.2f ms a frame measured: %.2f preprocessing, %.2f inference, %.2f decoding", about, ms,
    (double) p50[SL_STAGE_PREPROCESS] / 1000, (double) p50[SL_STAGE_INFERENCE] / 1000,
    (double) p50[SL_STAGE_DECODE] / 1000);
  if (budget <= 0)
    return;
  sl_findings_add (findings, SL_FINDING_FACT, "budget",
                   "%s: %.1f ms between frames at %.4g frames/s; %.0f %% of it is used", about,
                   budget, 1000 / budget, 100 * ms / budget);
  if (ms > budget)
    sl_findings_add (
      findings, SL_FINDING_ADVICE, "budget",
      "%s: about %.3g of %.3g frames/s will be predicted; more threads, a smaller model, or a leaky queue before slnormalize "
      "so that those are the newest",
      about, 1000 / ms, 1000 / budget);
}

/* (transfer none) (nullable): the element of @factory at or behind @index. */
static GstElement *
find_from (GPtrArray *elements, guint index, const char *factory)
{
  for (guint i = index; i < elements->len; i++)
    if (sl_check_is (elements->pdata[i], factory))
      return elements->pdata[i];
  return NULL;
}

static void
measure (GstElement *normalize, GstElement *infer, GstElement *results, GArray *findings)
{
  gboolean assumed = FALSE;
  g_autoptr (GstCaps) caps = predict_frames (normalize, &assumed);
  g_autofree char *text = gst_caps_to_string (caps);
  sl_findings_add (findings, SL_FINDING_FACT, "frames", "measured with %s%s", text,
                   assumed ? " (assumed where the source leaves it open)" : "");
  GstElement *pipeline = make_trial (normalize, infer, results, caps);
  SlFlow *flow = sl_flow_new (pipeline);
  if (run_trial (pipeline, GST_OBJECT_NAME (infer), findings))
    judge (flow, caps, GST_OBJECT_NAME (infer), findings);
  sl_flow_free (flow);
  gst_object_unref (pipeline);
}

static void
report_model (GstElement *infer, GArray *findings)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *notice = NULL;
  g_autoptr (SlModel) model = sl_check_load (infer, NULL, &error);
  g_autoptr (SlSession) session =
    model != NULL ? sl_model_session_new (model, 1, &notice, &error) : NULL;
  if (session == NULL) {
    sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (infer), "%s", error->message);
    return;
  }
  SlSessionStats stats;
  sl_session_stats (session, &stats);
  if (sl_session_external (session) == NULL)
    sl_findings_add (findings, SL_FINDING_FACT, "memory",
                     "%s: %.2f MiB of weights, %.2f MiB for tensors between layers",
                     GST_OBJECT_NAME (infer), (double) stats.weight_bytes / (1 << 20),
                     (double) stats.arena_bytes / (1 << 20));
  sl_check_backends (infer, model, findings);
}

/* Elements that write every frame anew, by their class; those that fetch frames from a device say
 * so by their names. */
static gboolean
copies_frames (GstElementFactory *factory)
{
  const char *klass =
    factory != NULL ? gst_element_factory_get_metadata (factory, GST_ELEMENT_METADATA_KLASS) : NULL;
  if (klass == NULL || strstr (klass, "Video") == NULL || strstr (klass, "Tensor") != NULL)
    return FALSE;
  return strstr (klass, "Converter") != NULL || strstr (klass, "Scaler") != NULL
         || g_str_has_suffix (GST_OBJECT_NAME (factory), "download");
}

/* Elements of ours that read frames where a device left them. */
static void
report_mapped (GPtrArray *elements, GArray *findings)
{
  for (guint i = 0; i < elements->len; i++) {
    GstElement *element = elements->pdata[i];
    if (!sl_check_is (element, "slnormalize") && !sl_check_is (element, "slresize"))
      continue;
    g_autoptr (GstCaps) caps = gst_pad_get_allowed_caps (element->sinkpads->data);
    if (caps != NULL && !gst_caps_is_any (caps) && !gst_caps_is_empty (caps)
        && gst_caps_features_contains (gst_caps_get_features (caps, 0), "memory:DMABuf"))
      sl_findings_add (findings, SL_FINDING_FACT, "copies",
                       "%s reads frames of DMABuf where they lie, without a copy",
                       GST_OBJECT_NAME (element));
  }
}

static void
count_copies (GPtrArray *elements, GArray *findings)
{
  g_autoptr (GString) names = g_string_new (NULL);
  guint n = 0;
  for (guint i = 0; i < elements->len; i++) {
    GstElementFactory *factory = gst_element_get_factory (elements->pdata[i]);
    if (!copies_frames (factory))
      continue;
    n++;
    g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "",
                            GST_OBJECT_NAME (elements->pdata[i]));
  }
  if (n == 0)
    sl_findings_add (findings, SL_FINDING_FACT, "copies", "no element copies whole frames");
  else
    sl_findings_add (findings, SL_FINDING_FACT, "copies",
                     "%u of each frame, unless the format fits already: %s", n, names->str);
}

void
sl_check_budget (GstElement *pipeline, GArray *findings)
{
  g_autoptr (GPtrArray) elements = sl_check_elements (pipeline);
  count_copies (elements, findings);
  report_mapped (elements, findings);
  for (guint i = 0; i < elements->len; i++) {
    GstElement *infer = elements->pdata[i];
    if (!sl_check_is (infer, "slinfer"))
      continue;
    GstElement *normalize = sl_check_upstream (infer, TRUE);
    report_model (infer, findings);
    if (normalize != NULL && sl_check_is (normalize, "slnormalize"))
      measure (normalize, infer, find_from (elements, i, "slpostprocess"), findings);
    gst_clear_object (&normalize);
  }
}
