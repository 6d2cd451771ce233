/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/check/frame_cost.h"

#include <string.h>

#include "core/base/fail.h"
#include "models/model.h"
#include "pipelines/supervise/bus.h"
#include "plugins/video/part.h"
#include "tools/check/findings.h"

#define TIMEOUT (60 * GST_SECOND)

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

/* The part of frames that the slpredict of @normalize looks at, which it sets when it starts. */
static void
crop_frames (GstElement *normalize, GstElement *trial)
{
  GstElement *predict = sl_check_predict (normalize);
  g_autofree char *text = NULL;
  SlRect part;
  gboolean objects;
  if (predict != NULL)
    g_object_get (predict, "inference-region", &text, NULL);
  if (predict != NULL && sl_video_part_parse_region (text, &part, &objects, NULL))
    sl_video_part_set (trial, &part);
}

/* (transfer full): test frames ! normalize ! infer ! slpostprocess ! fakesink */
static GstElement *
make_trial (GstElement *normalize, GstElement *infer, GstElement *results, GstCaps *caps,
            gboolean assumed, guint frames)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *chain[] = {
    gst_element_factory_make ("videotestsrc", NULL),  gst_element_factory_make ("capsfilter", NULL),
    gst_element_factory_make ("slnormalize", NULL),   gst_element_factory_make ("slinfer", NULL),
    gst_element_factory_make ("slpostprocess", NULL), gst_element_factory_make ("fakesink", NULL)
  };
  g_object_set (chain[0], "num-buffers", (gint) frames, NULL);
  g_object_set (chain[1], "caps", caps, NULL);
  copy_properties (normalize, chain[2]);
  if (!assumed) /* else the part may be outside of frames that are assumed too small */
    crop_frames (normalize, chain[2]);
  g_object_set (chain[2], "inference-interval", 1, NULL); /* every test frame is measured */
  copy_properties (infer, chain[3]);
  fix_branches (infer, chain[3]);
  g_object_set (chain[3], "promised-rate", 0.0, NULL); /* it waits for no turn */
  if (results != NULL)
    copy_properties (results, chain[4]);
  for (guint i = 0; i < G_N_ELEMENTS (chain); i++)
    gst_bin_add (GST_BIN (pipeline), chain[i]);
  for (guint i = 0; i + 1 < G_N_ELEMENTS (chain); i++)
    gst_element_link (chain[i], chain[i + 1]);
  return pipeline;
}

static gboolean
play (GstElement *pipeline, guint frames, GError **error)
{
  GError *failed = NULL;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  const gboolean good = sl_bus_wait_for_end (pipeline, TIMEOUT, &failed);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  if (!good && failed == NULL)
    return sl_fail (error, SL_ERROR_BACKEND, "%u frames took more than %d s", frames,
                    (int) (TIMEOUT / GST_SECOND));
  if (failed != NULL)
    g_propagate_error (error, failed);
  return failed == NULL;
}

gboolean
sl_frame_cost (GstElement *normalize, GstElement *infer, GstElement *results, GstCaps *caps,
               gboolean assumed, guint frames, gdouble *ms, GError **error)
{
  GstElement *pipeline = make_trial (normalize, infer, results, caps, assumed, frames);
  SlFlow *flow = sl_flow_new (pipeline);
  gboolean good = play (pipeline, frames, error);
  for (guint s = 0; good && s < SL_N_STAGES; s++) {
    gint64 p50, p95;
    good = sl_flow_latency (flow, (SlStage) s, &p50, &p95)
           || sl_fail (error, SL_ERROR_BACKEND, "no test frame came through");
    ms[s] = good ? (gdouble) p50 / 1000 : 0;
  }
  sl_flow_free (flow);
  gst_object_unref (pipeline);
  return good;
}
