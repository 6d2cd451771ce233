/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slinfer: runs a model. Input tensors -> output tensors, the model's contract offered upstream and downstream in caps.
 *
 * A GstBaseTransform: one set of tensors gives one. The model is loaded from NULL to READY, so that caps queries are
 * answered by the model before anything flows. Its pools have the alignment and padding that kernels need; tensors from
 * elsewhere are copied once when they lack it. Invariant: model and session exist from READY on.
 *
 * Latency: a synchronous element holds no frame back, but a live sink has to wait for the model all the same. So the
 * running mean of the model's time is added to upstream's latency, announced again when it moves by a quarter; the
 * mean, because one hiccup must not delay the pipeline for good.
 */
#include "plugins/elements.h"

#include <gst/base/gstbasetransform.h>

#include "core/error.h"
#include "core/session.h"
#include "models/model.h"
#include "plugins/framemeta.h"
#include "plugins/properties.h"
#include "plugins/report.h"
#include "plugins/tensorcaps.h"
#include "plugins/tensormap.h"
#include "plugins/tensorpool.h"

GST_DEBUG_CATEGORY_STATIC (sl_infer_debug);
#define GST_CAT_DEFAULT sl_infer_debug

typedef struct
{
  char *model, *labels, *mean, *std, *decoder;
  gint threads, colour, fit, layout;
} Settings;

typedef struct
{
  GstBaseTransform parent;
  Settings settings;    /* object lock */
  gboolean stale;       /* object lock: settings changed since the model was loaded */
  SlContract *contract; /* object lock; a reference of its own, for queries from any thread */
  SlModel *model;
  SlSession *session;
  SlTensorMap inputs;
  gboolean refused;
  gint64 mean_time;       /* us, streaming thread */
  GstClockTime announced; /* object lock: latency last announced */
  gboolean live;          /* object lock: what upstream said in its last answer */
} SlInfer;

typedef GstBaseTransformClass SlInferClass;

G_DEFINE_TYPE (SlInfer, sl_infer, GST_TYPE_BASE_TRANSFORM)

static GstStaticPadTemplate sink_template =
  GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (SL_TENSOR_TEMPLATE_CAPS));
static GstStaticPadTemplate src_template =
  GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (SL_TENSOR_TEMPLATE_CAPS));

#define AT(member) G_STRUCT_OFFSET (SlInfer, settings.member)

static const SlProperty properties[] = {
  { "model", "Model",
    "Path of the model file (.tflite), such as model=ssd.tflite; unset = the finder of codes (QR, barcodes) that comes with Sightline. "
    "What it does not say about its input and output is read from MODEL.modelinfo beside it",
    SL_PROPERTY_STRING, AT (model) },
  { "labels", "Labels", "Path of a text file with one class name a line; unset = the names in the model file", SL_PROPERTY_STRING,
    AT (labels) },
  /* The whole range of int, so that a wrong value is an error with a sentence and not clamped. */
  { "threads", "Threads", "CPU threads that run the model, 1..64", SL_PROPERTY_INT, AT (threads), G_MININT, G_MAXINT, 1 },
  { "mean", "Mean",
    "Overrides the model: real input = (byte - mean) / std, byte in 0..255; one number or one a channel, such as mean=127.5 or "
    "mean=123.7,116.3,103.5",
    SL_PROPERTY_STRING, AT (mean) },
  { "std", "Standard deviation",
    "Overrides the model: real input = (byte - mean) / std; one number above 0 or one a channel, such as std=127.5", SL_PROPERTY_STRING,
    AT (std) },
  { "colour", "Colour", "Overrides the model: channels of its input and their order", SL_PROPERTY_CHOICE, AT (colour), 0, 0, SL_CHOICE_AUTO,
    sl_colour_choice_get_type },
  { "fit", "Fit", "Overrides the model: how a frame is fitted into its input", SL_PROPERTY_CHOICE, AT (fit), 0, 0, SL_CHOICE_AUTO,
    sl_fit_choice_get_type },
  { "layout", "Layout", "Overrides the model: order of its input's dimensions", SL_PROPERTY_CHOICE, AT (layout), 0, 0, SL_CHOICE_AUTO,
    sl_layout_choice_get_type },
  { "decoder", "Decoder",
    "Overrides the model: what its outputs mean (labels, ssd), for the slpostprocess downstream; unset = what the model "
    "says, else told by the outputs' shapes",
    SL_PROPERTY_STRING, AT (decoder) },
};

typedef enum
{
  RUN_OK,
  RUN_BAD_INPUT,
  RUN_BAD_OUTPUT,
  RUN_FAILED
} RunStatus;

static GstFlowReturn
fail (SlInfer *self, RunStatus status, SlTensorMapStatus map_status, SlStatus run_status, GstBuffer *in)
{
  if (status == RUN_BAD_INPUT) {
    g_autofree char *text = sl_tensor_map_complaint (&self->inputs, in, map_status);
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s: %s", sl_model_path (self->model), text), (NULL));
  } else if (status == RUN_BAD_OUTPUT) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("%s: no memory for the output tensors", sl_model_path (self->model)), (NULL));
  } else {
    GST_ELEMENT_ERROR (self, LIBRARY, FAILED, ("%s: %s", sl_model_path (self->model), sl_status_text (run_status)), (NULL));
  }
  return GST_FLOW_ERROR;
}

/* Announces the time that the model takes when a live pipeline has to know. */
static void
update_latency (SlInfer *self, gint64 elapsed)
{
  self->mean_time = self->mean_time == 0 ? elapsed : self->mean_time + (elapsed - self->mean_time) / 8;
  GstClockTime mean = (GstClockTime) MAX (self->mean_time, 0) * GST_USECOND;
  GST_OBJECT_LOCK (self);
  GstClockTime change = mean > self->announced ? mean - self->announced : self->announced - mean;
  gboolean announce = self->live && change > self->announced / 4 && change > 2 * GST_MSECOND;
  if (announce)
    self->announced = mean;
  GST_OBJECT_UNLOCK (self);
  if (announce)
    gst_element_post_message (GST_ELEMENT (self), gst_message_new_latency (GST_OBJECT (self)));
}

static RunStatus
run_into (SlInfer *self, GstBuffer *out, SlStatus *status)
{
  void *data[SL_MAX_IO];
  GstMapInfo maps[SL_MAX_IO];
  guint n = MIN (gst_buffer_n_memory (out), SL_MAX_IO);
  guint mapped = 0;
  while (mapped < n && gst_memory_map (gst_buffer_peek_memory (out, mapped), &maps[mapped], GST_MAP_WRITE)) {
    data[mapped] = maps[mapped].data;
    mapped++;
  }
  gboolean whole = mapped == self->contract->n_outputs;
  if (whole)
    *status = sl_session_run (self->session, self->inputs.data, data);
  while (mapped > 0) {
    mapped--;
    gst_memory_unmap (maps[mapped].memory, &maps[mapped]);
  }
  if (!whole)
    return RUN_BAD_OUTPUT;
  return *status == SL_STATUS_OK ? RUN_OK : RUN_FAILED;
}

static GstFlowReturn
sl_infer_transform (GstBaseTransform *base, GstBuffer *in, GstBuffer *out)
{
  SlInfer *self = (SlInfer *) base;
  gint64 start = g_get_monotonic_time ();
  SlStatus run_status = SL_STATUS_OK;
  SlTensorMapStatus map_status = sl_tensor_map_read (&self->inputs, in);
  if (map_status != SL_TENSOR_MAP_OK)
    return fail (self, RUN_BAD_INPUT, map_status, run_status, in);
  RunStatus status = run_into (self, out, &run_status);
  sl_tensor_map_done (&self->inputs);
  if (status != RUN_OK)
    return fail (self, status, map_status, run_status, in);
  gint64 end = g_get_monotonic_time ();
  SlFrameMeta *meta = sl_buffer_get_frame_meta (out);
  if (meta != NULL)
    meta->inferred = end;
  update_latency (self, end - start);
  return GST_FLOW_OK;
}

static gboolean
sl_infer_transform_meta (GstBaseTransform *base, GstBuffer *out, GstMeta *meta, GstBuffer *in)
{
  return meta->info->api == sl_frame_meta_api_get_type ()
         || GST_BASE_TRANSFORM_CLASS (sl_infer_parent_class)->transform_meta (base, out, meta, in);
}

static gboolean
sl_infer_copy_metadata (GstBaseTransform *base, GstBuffer *in, GstBuffer *out)
{
  if (!GST_BASE_TRANSFORM_CLASS (sl_infer_parent_class)->copy_metadata (base, in, out))
    return FALSE;
  GST_BUFFER_OFFSET (out) = GST_BUFFER_OFFSET (in);
  GST_BUFFER_OFFSET_END (out) = GST_BUFFER_OFFSET_END (in);
  return TRUE;
}

static SlContract *
get_contract (SlInfer *self)
{
  GST_OBJECT_LOCK (self);
  SlContract *contract = self->contract != NULL ? sl_contract_ref (self->contract) : NULL;
  GST_OBJECT_UNLOCK (self);
  return contract;
}

static GstCaps *
sl_infer_transform_caps (GstBaseTransform *base, GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  g_autoptr (SlContract) contract = get_contract ((SlInfer *) base);
  GstCaps *all = gst_caps_new_empty ();
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    const GValue *rate = gst_structure_get_value (gst_caps_get_structure (caps, i), "framerate");
    GstCaps *other;
    if (contract == NULL)
      other = gst_caps_make_writable (gst_static_pad_template_get_caps (&sink_template));
    else if (direction == GST_PAD_SINK)
      other = sl_tensor_caps_new (contract->outputs, contract->n_outputs, contract);
    else
      other = sl_tensor_caps_new (contract->inputs, contract->n_inputs, contract);
    if (rate != NULL)
      gst_caps_set_value (other, "framerate", rate);
    all = gst_caps_merge (all, other);
  }
  if (filter != NULL) {
    GstCaps *filtered = gst_caps_intersect_full (filter, all, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (all);
    return filtered;
  }
  return all;
}

/* Caps of other elements lack the contract's field, so they are no subset of ours; and tensors of any kind are let
 * through to set_caps(), which says what was expected and got. */
static gboolean
sl_infer_accept_caps (GstBaseTransform *base, GstPadDirection direction, GstCaps *caps)
{
  if (direction != GST_PAD_SINK)
    return GST_BASE_TRANSFORM_CLASS (sl_infer_parent_class)->accept_caps (base, direction, caps);
  GstCaps *template = gst_static_pad_template_get_caps (&sink_template);
  gboolean accepted = gst_caps_can_intersect (caps, template);
  gst_caps_unref (template);
  return accepted;
}

/* An upstream that cannot make what the model wants would find no common caps and fail without a word. Let it go on
 * to its CAPS event: set_caps() refuses that one with expected and got. */
static void
soften_empty_answer (GstQuery *query)
{
  GstCaps *filter = NULL, *result = NULL;
  gst_query_parse_caps (query, &filter);
  gst_query_parse_caps_result (query, &result);
  if (filter == NULL || result == NULL || !gst_caps_is_empty (result))
    return;
  GstCaps *template = gst_static_pad_template_get_caps (&sink_template);
  GstCaps *open = gst_caps_intersect_full (filter, template, GST_CAPS_INTERSECT_FIRST);
  gst_query_set_caps_result (query, open);
  gst_caps_unref (open);
  gst_caps_unref (template);
}

static void
add_latency (SlInfer *self, GstQuery *query)
{
  gboolean live;
  GstClockTime min, max;
  gst_query_parse_latency (query, &live, &min, &max);
  GST_OBJECT_LOCK (self);
  self->live = live;
  GstClockTime own = live ? self->announced : 0;
  GST_OBJECT_UNLOCK (self);
  if (GST_CLOCK_TIME_IS_VALID (max))
    max += own;
  gst_query_set_latency (query, live, min + own, max);
}

static gboolean
sl_infer_query (GstBaseTransform *base, GstPadDirection direction, GstQuery *query)
{
  gboolean answered = GST_BASE_TRANSFORM_CLASS (sl_infer_parent_class)->query (base, direction, query);
  if (answered && direction == GST_PAD_SINK && GST_QUERY_TYPE (query) == GST_QUERY_CAPS)
    soften_empty_answer (query);
  if (answered && direction == GST_PAD_SRC && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    add_latency ((SlInfer *) base, query);
  return answered;
}

static gboolean
check_caps (SlInfer *self, const GstCaps *caps, GError **error)
{
  const SlContract *contract = self->contract;
  SlTensorContract tensors[SL_MAX_IO];
  guint n = sl_tensor_caps_parse (caps, tensors, error);
  if (n == 0)
    return FALSE;
  gboolean same = sl_tensors_same (contract->inputs, contract->n_inputs, tensors, n);
  if (!same) {
    g_autofree char *expected = sl_tensors_describe (contract->inputs, contract->n_inputs);
    g_autofree char *got = sl_tensors_describe (tensors, n);
    g_set_error (error, SL_ERROR, SL_ERROR_SHAPE,
                 "%s: expected %s (innermost dimension first), got %s: let slnormalize make the tensor, or correct the caps before slinfer",
                 contract->model, expected, got);
  }
  sl_tensor_contracts_clear (tensors, n);
  return same;
}

static gboolean
sl_infer_set_caps (GstBaseTransform *base, GstCaps *incaps, GstCaps *outcaps)
{
  SlInfer *self = (SlInfer *) base;
  GError *error = NULL;
  if (!check_caps (self, incaps, &error))
    return sl_element_refuse (GST_ELEMENT (self), &self->refused, error);
  self->refused = FALSE;
  return TRUE;
}

/* Outputs go into a pool of our own: one aligned and padded memory each, which no other pool promises. */
static gboolean
sl_infer_decide_allocation (GstBaseTransform *base, GstQuery *query)
{
  SlInfer *self = (SlInfer *) base;
  while (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_remove_nth_allocation_pool (query, 0);
  while (gst_query_get_n_allocation_params (query) > 0)
    gst_query_remove_nth_allocation_param (query, 0);
  sl_tensor_pool_offer (query, self->contract->outputs, self->contract->n_outputs, 2);
  return GST_BASE_TRANSFORM_CLASS (sl_infer_parent_class)->decide_allocation (base, query);
}

static gboolean
sl_infer_propose_allocation (GstBaseTransform *base, GstQuery *decide_query, GstQuery *query)
{
  SlInfer *self = (SlInfer *) base;
  sl_tensor_pool_offer (query, self->contract->inputs, self->contract->n_inputs, 2);
  return TRUE;
}

static void
unload (SlInfer *self)
{
  GST_OBJECT_LOCK (self);
  SlContract *contract = g_steal_pointer (&self->contract);
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&contract, sl_contract_unref);
  sl_tensor_map_clear (&self->inputs);
  g_clear_pointer (&self->session, sl_session_free);
  g_clear_pointer (&self->model, sl_model_unref);
}

static void
copy_settings (SlInfer *self, Settings *copy)
{
  GST_OBJECT_LOCK (self);
  *copy = self->settings;
  copy->model = g_strdup (copy->model);
  copy->labels = g_strdup (copy->labels);
  copy->mean = g_strdup (copy->mean);
  copy->std = g_strdup (copy->std);
  copy->decoder = g_strdup (copy->decoder);
  self->stale = FALSE;
  GST_OBJECT_UNLOCK (self);
}

static void
settings_clear (Settings *settings)
{
  g_free (settings->model);
  g_free (settings->labels);
  g_free (settings->mean);
  g_free (settings->std);
  g_free (settings->decoder);
}

static gboolean
load_with (SlInfer *self, const Settings *settings, GError **error)
{
  if (settings->threads < 1 || settings->threads > SL_MAX_THREADS) {
    g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT, "threads=%d: expected 1..%d (CPU threads that run the model), such as threads=2",
                 settings->threads, SL_MAX_THREADS);
    return FALSE;
  }
  SlContractOverrides overrides = {
    .labels = settings->labels,
    .mean = settings->mean,
    .std = settings->std,
    .colour = sl_choice_nick (sl_colour_choice_get_type (), settings->colour),
    .fit = sl_choice_nick (sl_fit_choice_get_type (), settings->fit),
    .layout = sl_choice_nick (sl_layout_choice_get_type (), settings->layout),
    .decoder = settings->decoder,
  };
  self->model = sl_model_load (settings->model, &overrides, error);
  if (self->model == NULL)
    return FALSE;
  self->session = sl_session_new (sl_model_graph (self->model), (guint) settings->threads, error);
  return self->session != NULL;
}

/* Loads the model unless the one that the properties name is loaded already. */
static gboolean
ensure_model (SlInfer *self)
{
  GST_OBJECT_LOCK (self);
  gboolean ready = self->session != NULL && !self->stale;
  GST_OBJECT_UNLOCK (self);
  if (ready)
    return TRUE;
  unload (self);
  Settings settings;
  g_autoptr (GError) error = NULL;
  copy_settings (self, &settings);
  gboolean loaded = load_with (self, &settings, &error);
  settings_clear (&settings);
  if (!loaded) {
    sl_element_report (GST_ELEMENT (self), error);
    unload (self);
    return FALSE;
  }
  SlContract *contract = sl_model_contract (self->model);
  sl_tensor_map_init (&self->inputs, contract->inputs, contract->n_inputs, SL_TENSOR_PADDING);
  GST_OBJECT_LOCK (self);
  self->contract = sl_contract_ref (contract);
  GST_OBJECT_UNLOCK (self);
  g_autofree char *summary = sl_contract_summary (contract);
  GST_INFO_OBJECT (self, "%s: %s", sl_model_path (self->model), summary);
  return TRUE;
}

static GstStateChangeReturn
sl_infer_change_state (GstElement *element, GstStateChange transition)
{
  SlInfer *self = (SlInfer *) element;
  if ((transition == GST_STATE_CHANGE_NULL_TO_READY || transition == GST_STATE_CHANGE_READY_TO_PAUSED) && !ensure_model (self))
    return GST_STATE_CHANGE_FAILURE;
  GstStateChangeReturn result = GST_ELEMENT_CLASS (sl_infer_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    unload (self);
  return result;
}

static gboolean
sl_infer_start (GstBaseTransform *base)
{
  SlInfer *self = (SlInfer *) base;
  self->refused = FALSE;
  self->mean_time = 0;
  GST_OBJECT_LOCK (self);
  self->announced = 0;
  self->live = FALSE;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static void
sl_infer_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GST_OBJECT_LOCK (object);
  sl_property_set (object, &properties[id - 1], value);
  ((SlInfer *) object)->stale = TRUE;
  GST_OBJECT_UNLOCK (object);
}

static void
sl_infer_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GST_OBJECT_LOCK (object);
  sl_property_get (object, &properties[id - 1], value);
  GST_OBJECT_UNLOCK (object);
}

static void
sl_infer_finalize (GObject *object)
{
  unload ((SlInfer *) object);
  sl_properties_clear (object, properties, G_N_ELEMENTS (properties));
  G_OBJECT_CLASS (sl_infer_parent_class)->finalize (object);
}

static void
sl_infer_class_init (SlInferClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base_class = GST_BASE_TRANSFORM_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (sl_infer_debug, "slinfer", 0, "runs a model");
  object_class->set_property = sl_infer_set_property;
  object_class->get_property = sl_infer_get_property;
  object_class->finalize = sl_infer_finalize;
  sl_properties_install (object_class, properties, G_N_ELEMENTS (properties));
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (
    element_class, "Sightline inference", "Filter/Analyzer/Tensor",
    "Runs a model on the CPU with XNNPACK. Tensors come from slnormalize, which learns what the model wants through the caps, or from any "
    "element that speaks other/tensors. On live sources set qos=true to skip frames that would be late. "
    "Example: slnormalize ! slinfer model=mobilenet.tflite threads=2 ! slpostprocess ! text/x-raw ! fdsink",
    "The Sightline authors");
  element_class->change_state = sl_infer_change_state;
  base_class->transform_caps = sl_infer_transform_caps;
  base_class->accept_caps = sl_infer_accept_caps;
  base_class->query = sl_infer_query;
  base_class->set_caps = sl_infer_set_caps;
  base_class->decide_allocation = sl_infer_decide_allocation;
  base_class->propose_allocation = sl_infer_propose_allocation;
  base_class->copy_metadata = sl_infer_copy_metadata;
  base_class->transform_meta = sl_infer_transform_meta;
  base_class->transform = sl_infer_transform;
  base_class->start = sl_infer_start;
}

static void
sl_infer_init (SlInfer *self)
{
  sl_properties_init (self, properties, G_N_ELEMENTS (properties));
}
