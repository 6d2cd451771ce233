/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a frame will cost: each model of the pipeline is fed test frames of the predicted format
 * (tools/check/frame_cost.h).
 */
#include <gst/video/video.h>

#include "core/runtime/session.h"
#include "models/backend.h"
#include "models/model.h"
#include "pipelines/description/element_names.h"
#include "plugins/base/report.h"
#include "plugins/video/dmabuf.h"
#include "tools/check/findings.h"
#include "tools/check/frame_cost.h"
#include "tools/check/promises.h"

#define FRAMES 24

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
  return sl_check_fixate (caps, normalize);
}

/* @ms: between two frames that the model runs on, one of @interval of the source. */
static void
report_budget (GstElement *infer, const char *about, gint interval, gdouble ms, gdouble used,
               gboolean promised, GArray *findings)
{
  g_autofree char *part =
    interval > 1 ? g_strdup_printf (", one of %d of the source", interval) : g_strdup ("");
  sl_findings_add (findings, SL_FINDING_FACT, "budget",
                   "%s: %.1f ms between frames at %.4g frames/s%s; %.0f %% of it is used", about,
                   ms, 1000 / ms, part, 100 * used / ms);
  if (used <= ms || promised)
    return;
  /* An slpredict gives live models the newest frame by itself. */
  const char *third = sl_check_predict (infer) != NULL
                        ? "larger inference-interval"
                        : "leaky queue before slnormalize so that those are the newest";
  sl_findings_add (findings, SL_FINDING_ADVICE, "budget",
                   "%s: about %.3g of %.3g frames/s will be predicted; more threads, a smaller "
                   "model, or a %s",
                   about, 1000 / used, 1000 / ms, third);
}

static void
judge (const gdouble *stages, GstCaps *caps, GstElement *normalize, GstElement *infer,
       GArray *promises, GArray *findings)
{
  GstVideoInfo info;
  gint interval = 1;
  g_autofree char *about = sl_model_element_name (infer);
  if (!gst_video_info_from_caps (&info, caps))
    return;
  g_object_get (normalize, "inference-interval", &interval, NULL);
  const double ms = stages[SL_STAGE_AGE];
  const double budget =
    GST_VIDEO_INFO_FPS_N (&info) > 0
      ? 1000.0 * interval * GST_VIDEO_INFO_FPS_D (&info) / GST_VIDEO_INFO_FPS_N (&info)
      : 0;
  sl_findings_add (
    findings, SL_FINDING_FACT, "time",
    "%s: %.2f ms a frame measured: %.2f preprocessing, %.2f inference, %.2f decoding", about, ms,
    stages[SL_STAGE_PREPROCESS], stages[SL_STAGE_INFERENCE], stages[SL_STAGE_DECODE]);
  const gboolean promised = sl_check_promises_add (promises, infer, stages[SL_STAGE_INFERENCE],
                                                   budget > 0 ? 1000 / budget : 0);
  if (budget > 0)
    report_budget (infer, about, interval, budget, ms, promised, findings);
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
measure (GstElement *normalize, GstElement *infer, GstElement *results, GArray *promises,
         GArray *findings)
{
  gboolean assumed = FALSE;
  gdouble ms[SL_N_STAGES];
  g_autofree char *name = sl_model_element_name (infer);
  g_autoptr (GError) error = NULL;
  g_autoptr (GstCaps) caps = predict_frames (normalize, &assumed);
  g_autofree char *text = gst_caps_to_string (caps);
  sl_findings_add (findings, SL_FINDING_FACT, "frames", "measured with %s%s", text,
                   assumed ? " (assumed where the source leaves it open)" : "");
  if (sl_frame_cost (normalize, infer, results, caps, assumed, FRAMES, ms, &error))
    judge (ms, caps, normalize, infer, promises, findings);
  else
    sl_findings_add (findings, SL_FINDING_PROBLEM, name, "%s", error->message);
}

static void
report_model (GstElement *infer, GArray *findings)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *notice = NULL, *name = sl_model_element_name (infer);
  g_autoptr (SlModel) model = sl_check_load (infer, NULL, &error);
  g_autoptr (SlSession) session =
    model != NULL ? sl_model_session_new (model, 1, &notice, &error) : NULL;
  if (session == NULL) {
    sl_findings_add (findings, SL_FINDING_PROBLEM, name, "%s", error->message);
    return;
  }
  SlSessionStats stats;
  sl_session_stats (session, &stats);
  if (sl_session_external (session) == NULL)
    sl_findings_add (findings, SL_FINDING_FACT, "memory",
                     "%s: %.2f MiB of weights, %.2f MiB for tensors between layers", name,
                     (double) stats.weight_bytes / (1 << 20),
                     (double) stats.arena_bytes / (1 << 20));
  sl_check_backends (infer, model, findings);
}

/* Elements that write every frame anew, by their class; those that fetch frames from a device say
 * so by their names. */
static gboolean
copies_frames (GstElement *element)
{
  const GstElementFactory *factory = gst_element_get_factory (element);
  if (!sl_element_has_class (element, "Video") || sl_element_has_class (element, "Tensor"))
    return FALSE;
  return sl_element_has_class (element, "Converter") || sl_element_has_class (element, "Scaler")
         || (factory != NULL && g_str_has_suffix (GST_OBJECT_NAME (factory), "download"));
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
    if (!copies_frames (elements->pdata[i]))
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
sl_check_budget (GstElement *pipeline, const char *name, GArray *all, GArray *findings)
{
  g_autoptr (GPtrArray) elements = sl_check_elements (pipeline);
  g_autoptr (GArray) promises = sl_check_promises_new ();
  count_copies (elements, findings);
  report_mapped (elements, findings);
  for (guint i = 0; i < elements->len; i++) {
    GstElement *infer = elements->pdata[i];
    if (!sl_check_is (infer, "slinfer"))
      continue;
    GstElement *normalize = sl_check_upstream (infer, TRUE);
    report_model (infer, findings);
    if (normalize != NULL && sl_check_is (normalize, "slnormalize"))
      measure (normalize, infer, find_from (elements, i, "slpostprocess"), promises, findings);
    gst_clear_object (&normalize);
  }
  sl_check_promises (promises, findings);
  sl_check_promises_join (all, promises, name);
}
