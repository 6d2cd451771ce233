/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slinfer: runs a model. It takes input tensors and gives output tensors, and offers the model's
 * contract upstream and downstream in caps.
 *
 * The element is a GstBaseTransform: one set of input tensors gives one set of output tensors. The
 * model is loaded from NULL to READY, so that it answers caps queries before data flows. The
 * element's pools have the alignment and padding that kernels need. Tensors from other pools are
 * copied once when they lack it. Invariant: model and session exist from READY on.
 *
 * A model that starts by quantising its input is loaded without that step, and the contract asks
 * for the quantised values. When upstream offers the input that the model declares, the whole model
 * is loaded instead.
 *
 * Latency: the element is synchronous and holds no frame back. A live sink has to wait for the
 * model all the same; see plugins/tensor/stage_latency.h.
 *
 * A model that is set while frames flow is loaded in parallel (plugins/tensor/model_swap.h). It is
 * then offered upstream next to the running model. The CAPS event that accepts the offer is the
 * switch. Frames before that event go to the old model, also those in queues.
 *
 * plugins/tensor/held_inputs.h keeps the model's state, and the inputs that have pads of their own.
 *
 * This is one file: the transform, its caps and the swap of models share one lock and one state.
 */
#include "plugins/elements.h"

#include <gst/base/gstbasetransform.h>

#include "core/base/printable.h"
#include "core/base/fail.h"
#include "core/runtime/session.h"
#include "models/model.h"
#include "plugins/base/describe.h"
#include "plugins/tensor/file_watch.h"
#include "plugins/tensor/held_inputs.h"
#include "plugins/tensor/infer_run.h"
#include "plugins/tensor/infer_settings.h"
#include "plugins/tensor/infer_signals.h"
#include "plugins/meta/frame_meta.h"
#include "plugins/tensor/model_caps.h"
#include "plugins/tensor/model_swap.h"
#include "plugins/tensor/stage_latency.h"
#include "plugins/base/properties.h"
#include "plugins/base/report.h"
#include "plugins/tensor/caps.h"
#include "plugins/tensor/mapping.h"
#include "plugins/tensor/turn.h"
#include "plugins/tensor/buffer_pool.h"
#include "plugins/tensor/caps_probe.h"
#include "plugins/video/caps.h"

GST_DEBUG_CATEGORY_STATIC (sl_infer_debug);
#define GST_CAT_DEFAULT sl_infer_debug

typedef struct
{
  GstBaseTransform parent;
  SlInferSettings settings; /* object lock */
  gboolean stale;           /* object lock: settings changed since the model was loaded */
  gboolean playing;       /* object lock: PAUSED or PLAYING, where new settings are loaded beside */
  SlInferSettings active; /* object lock: those that the model was loaded with */
  SlModelSwap *swap;
  SlFileWatch *watch;   /* (nullable): the model's file */
  SlContract *contract; /* object lock; a reference of its own, for queries from any thread */
  SlModel *model;
  SlSession *session;
  SlBatchStream *batch; /* (nullable): object lock; the streaming thread writes and reads it */
  gboolean cancelled;   /* object lock: no frame waits for those of other streams */
  SlRecorder *recorder; /* (nullable): object lock; the streaming thread writes and reads it */
  SlTensorMapping inputs;
  SlHeldInputs *held;
  gboolean refused;
  SlStageLatency latency;
  SlInferTurn turn;
} SlInfer;

typedef GstBaseTransformClass SlInferClass;

G_DEFINE_TYPE (SlInfer, sl_infer, GST_TYPE_BASE_TRANSFORM)

static GstStaticPadTemplate input_template = GST_STATIC_PAD_TEMPLATE (
  "input_%u", GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS (SL_TENSOR_TEMPLATE_CAPS));

#define AT_SETTINGS G_STRUCT_OFFSET (SlInfer, settings)

/* @start: when the wait for its turn began */
static GstFlowReturn
run_frame (SlInfer *self, gint64 start, GstBuffer *in, GstBuffer *out)
{
  const SlInferRun run = { .element = GST_ELEMENT (self),
                           .model = self->model,
                           .session = self->session,
                           .batch = self->batch,
                           .recorder = self->recorder,
                           .inputs = &self->inputs };
  const GstFlowReturn flow = sl_infer_run (&run, in, out);
  if (flow != GST_FLOW_OK)
    return flow;
  gint64 end = g_get_monotonic_time ();
  if (self->batch != NULL)
    start += sl_batch_stream_waited (self->batch);
  SlFrameMeta *meta = sl_buffer_get_frame_meta (out);
  if (meta != NULL)
    meta->inferred = end;
  if (sl_buffer_is_part (out))
    sl_stage_latency_note_part (&self->latency, end - start);
  else
    sl_stage_latency_note (&self->latency, GST_ELEMENT (self), end - start);
  return GST_FLOW_OK;
}

static GstFlowReturn
sl_infer_transform (GstBaseTransform *base, GstBuffer *in, GstBuffer *out)
{
  SlInfer *self = (SlInfer *) base;
  const gint64 start = g_get_monotonic_time ();
  /* No turn waits for another branch, whose model may wait for its turn. */
  GstFlowReturn flow =
    sl_held_inputs_ready (self->held, self->session, in, (guint) self->active.input_wait);
  if (flow == GST_FLOW_OK)
    flow = sl_infer_turn_take (&self->turn, base->sinkpad, in);
  if (flow == GST_FLOW_OK) {
    flow = run_frame (self, start, in, out);
    sl_infer_turn_done (&self->turn, base->sinkpad, out, flow == GST_FLOW_OK);
  }
  return flow;
}

/* A frame without a tensor passes by. */
static GstFlowReturn
sl_infer_generate_output (GstBaseTransform *base, GstBuffer **out)
{
  if (base->queued_buf == NULL || !sl_buffer_is_empty_frame (base->queued_buf))
    return GST_BASE_TRANSFORM_CLASS (sl_infer_parent_class)->generate_output (base, out);
  sl_infer_turn_end (&((SlInfer *) base)->turn, TRUE);
  *out = g_steal_pointer (&base->queued_buf);
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
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  return self->contract != NULL ? sl_contract_ref (self->contract) : NULL;
}

static GstCaps *
sl_infer_transform_caps (GstBaseTransform *base, GstPadDirection direction, GstCaps *caps,
                         GstCaps *filter)
{
  SlInfer *self = (SlInfer *) base;
  g_autoptr (SlContract) offered = sl_model_swap_offer (self->swap);
  g_autoptr (SlContract) contract = get_contract (self);
  /* Nothing has come yet, so nothing has to suit the old model, and a filter behind an untyped
   * source cannot choose between two. */
  const gboolean anew =
    direction == GST_PAD_SRC && offered != NULL && !gst_pad_has_current_caps (base->sinkpad);
  return sl_model_caps_transform (direction, caps, filter,
                                  (SlContract *[2]){ offered, anew ? NULL : contract });
}

/* Caps of other elements lack the contract's field, so they are no subset of ours; and tensors of
 * any kind are let through to set_caps(), which says what was expected and got; and video, when
 * slnormalize was forgotten. */
static gboolean
sl_infer_accept_caps (GstBaseTransform *base, GstPadDirection direction, GstCaps *caps)
{
  if (direction != GST_PAD_SINK)
    return GST_BASE_TRANSFORM_CLASS (sl_infer_parent_class)->accept_caps (base, direction, caps);
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (GST_BASE_TRANSFORM_SINK_PAD (base));
  return gst_caps_can_intersect (caps, template) || sl_video_caps_is_raw (caps);
}

/* While it is @cancelled no frame waits for those of other streams, or for its turn. */
static void
set_cancelled (SlInfer *self, gboolean cancelled)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  self->cancelled = cancelled;
  sl_budget_stream_cancel (self->turn.stream, cancelled);
  if (self->batch != NULL)
    sl_batch_stream_cancel (self->batch, cancelled);
}

static gboolean
sl_infer_sink_event (GstBaseTransform *base, GstEvent *event)
{
  SlInfer *self = (SlInfer *) base;
  const GstEventType type = GST_EVENT_TYPE (event);
  GError *error = NULL;
  sl_held_inputs_take_event (self->held, event);
  if (type == GST_EVENT_FLUSH_START || type == GST_EVENT_FLUSH_STOP)
    set_cancelled (self, type == GST_EVENT_FLUSH_START);
  if (type == GST_EVENT_EOS || type == GST_EVENT_FLUSH_STOP)
    sl_infer_turn_end (&self->turn, FALSE);
  if (type == GST_EVENT_EOS && self->batch != NULL)
    sl_batch_stream_rest (self->batch);
  if (type != GST_EVENT_CAPS || !sl_model_caps_are_video (event, &error))
    return GST_BASE_TRANSFORM_CLASS (sl_infer_parent_class)->sink_event (base, event);
  gst_event_unref (event);
  return sl_element_refuse (GST_ELEMENT (self), &self->refused, error);
}

/* What a frame may wait for those of other streams. */
static GstClockTime
batch_wait (SlInfer *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  return self->batch != NULL ? (GstClockTime) self->active.batch_timeout * GST_MSECOND : 0;
}

static gboolean
sl_infer_query (GstBaseTransform *base, GstPadDirection direction, GstQuery *query)
{
  gboolean answered =
    GST_BASE_TRANSFORM_CLASS (sl_infer_parent_class)->query (base, direction, query);
  if (answered && direction == GST_PAD_SINK && GST_QUERY_TYPE (query) == GST_QUERY_CAPS) {
    g_autoptr (SlContract) offered = sl_model_swap_offer (((SlInfer *) base)->swap);
    g_autoptr (SlContract) contract = get_contract ((SlInfer *) base);
    sl_model_caps_answer (query, (SlContract *[2]){ offered, contract });
  }
  if (answered)
    sl_video_caps_open (base, direction, query);
  if (answered && direction == GST_PAD_SRC && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    sl_stage_latency_add (&((SlInfer *) base)->latency, GST_ELEMENT (base),
                          batch_wait ((SlInfer *) base), query);
  return answered;
}

/* In the watch's thread. While another model is being loaded it may be the new file's. */
static gboolean
file_changed (gpointer user)
{
  SlInfer *self = user;
  if (sl_model_swap_is_pending (self->swap))
    return FALSE;
  g_autoptr (SlContract) contract = get_contract (self);
  if (contract != NULL)
    sl_infer_tell_file_changed (GST_ELEMENT (self), contract->model);
  return TRUE;
}

/* In the recorder's thread. */
static void
told_of_box (const char *path, guint inferences, const GError *error, gpointer user)
{
  g_autoptr (GObject) self = g_weak_ref_get (user);
  if (self != NULL)
    sl_infer_signals_dumped (self, path, inferences, error);
}

/* A reference keeps the element alive until it has reported the black box, also when the pipeline
 * is stopped or freed before. */
static char *
sl_infer_dump (SlInfer *self, const char *reason)
{
  GST_OBJECT_LOCK (self);
  g_autoptr (SlRecorder) recorder =
    self->recorder != NULL ? sl_recorder_ref (self->recorder) : NULL;
  GST_OBJECT_UNLOCK (self);
  if (recorder == NULL)
    return NULL;
  return sl_recorder_dump (recorder, reason != NULL ? reason : "asked for", g_object_ref (self),
                           g_object_unref);
}

/* The model that was loaded becomes the one that runs. */
static void
use_model (SlInfer *self, SlLoadedModel *loaded)
{
  SlContract *contract = sl_model_contract (loaded->model);
  SlLoadedModel old = {
    .model = self->model, .session = self->session, .batch = self->batch, .recorder = self->recorder
  };
  g_clear_pointer (&self->watch, sl_file_watch_free);
  self->model = g_steal_pointer (&loaded->model);
  self->session = g_steal_pointer (&loaded->session);
  sl_tensor_mapping_clear (&self->inputs);
  sl_tensor_mapping_init (&self->inputs, contract->inputs, contract->n_inputs, SL_TENSOR_PADDING);
  sl_held_inputs_use (self->held, self->session);
  self->latency.mean_us = 0;
  GST_OBJECT_LOCK (self);
  SlContract *before = self->contract;
  self->contract = sl_contract_ref (contract);
  self->recorder = g_steal_pointer (&loaded->recorder);
  self->batch = g_steal_pointer (&loaded->batch);
  if (self->batch != NULL)
    sl_batch_stream_cancel (self->batch, self->cancelled);
  GST_OBJECT_UNLOCK (self);
  sl_infer_turn_set (&self->turn, self->active.promised_rate, (guint) self->active.priority,
                     sl_session_threads (self->session), self->batch);
  sl_infer_turn_set_need (&self->turn, self->active.need);
  g_clear_pointer (&before, sl_contract_unref);
  sl_loaded_model_clear (&old);
  self->watch = sl_file_watch_new (sl_model_path (self->model), sl_model_stamp (self->model),
                                   file_changed, self);
  sl_infer_tell_recorder_place (GST_ELEMENT (self), self->recorder);
  sl_infer_tell_notice (GST_ELEMENT (self), sl_model_path (self->model),
                        g_steal_pointer (&loaded->notice));
  g_autofree char *summary = sl_contract_summary (contract);
  GST_INFO_OBJECT (self, "%s: %s", sl_model_path (self->model), summary);
}

/* Takes the model that was loaded beside. Between two frames, in the streaming thread. */
static void
switch_model (SlInfer *self)
{
  SlLoadedModel loaded;
  if (!sl_model_swap_take (self->swap, &loaded))
    return;
  g_autofree char *before = g_strdup (sl_model_path (self->model));
  GST_OBJECT_LOCK (self);
  sl_infer_settings_copy (loaded.settings, &self->active);
  GST_OBJECT_UNLOCK (self);
  sl_model_swap_go_on (self->swap);
  use_model (self, &loaded);
  sl_loaded_model_clear (&loaded);
  sl_infer_tell_model_changed (GST_ELEMENT (self), sl_model_path (self->model), before);
}

/* A model that is read anew and wants the same as before changes no caps, so it is taken here. */
static GstFlowReturn
sl_infer_submit_input_buffer (GstBaseTransform *base, gboolean discont, GstBuffer *in)
{
  SlInfer *self = (SlInfer *) base;
  g_autoptr (SlContract) offered = sl_model_swap_offer (self->swap);
  if (offered != NULL && self->contract != NULL && sl_contracts_equal (offered, self->contract))
    switch_model (self);
  return GST_BASE_TRANSFORM_CLASS (sl_infer_parent_class)->submit_input_buffer (base, discont, in);
}

/* For tensors of the input that the model declares: the model with the QUANTIZE of its input. */
static gboolean
load_whole (SlInfer *self, const SlTensorInfo *tensors, guint n, GError **error)
{
  SlLoadedModel whole = { 0 };
  if (!sl_infer_settings_load (&self->active, FALSE, NULL, told_of_box, self, &whole, error))
    return FALSE;
  /* The file may be another model's by now. */
  const SlContract *contract = sl_model_contract (whole.model);
  if (!sl_tensors_same (contract->inputs, contract->n_inputs, tensors, n)) {
    sl_loaded_model_clear (&whole);
    return sl_model_caps_refuse (self->contract, tensors, n, "slinfer", error);
  }
  use_model (self, &whole);
  return TRUE;
}

/* FALSE for tensors that are neither what the contract asks for nor what the model declares. */
static gboolean
take_tensors (SlInfer *self, const SlTensorInfo *tensors, guint n, GError **error)
{
  const SlContract *contract = self->contract;
  if (sl_tensors_same (contract->inputs, contract->n_inputs, tensors, n))
    return TRUE;
  return sl_contract_suits (contract, tensors, n)
           ? load_whole (self, tensors, n, error)
           : sl_model_caps_refuse (contract, tensors, n, "slinfer", error);
}

static gboolean
take_caps (SlInfer *self, const GstCaps *caps, GError **error)
{
  SlTensorInfo tensors[SL_MAX_IO];
  guint n = sl_tensor_caps_parse (caps, tensors, error);
  if (n == 0)
    return FALSE;
  const gboolean taken = take_tensors (self, tensors, n, error);
  sl_tensor_infos_clear (tensors, n);
  return taken;
}

static gboolean
sl_infer_set_caps (GstBaseTransform *base, GstCaps *incaps, GstCaps *outcaps)
{
  SlInfer *self = (SlInfer *) base;
  GError *error = NULL;
  g_autoptr (SlContract) offered = sl_model_swap_offer (self->swap);
  if (offered != NULL && sl_tensor_caps_contract (outcaps) == offered)
    switch_model (self);
  if (!take_caps (self, incaps, &error))
    return sl_element_refuse (GST_ELEMENT (self), &self->refused, error);
  self->refused = FALSE;
  return TRUE;
}

/* Outputs go into a pool of our own: one aligned and padded memory each, which no other pool
 * promises. */
static gboolean
sl_infer_decide_allocation (GstBaseTransform *base, GstQuery *query)
{
  SlInfer *self = (SlInfer *) base;
  sl_tensor_pool_replace (query, self->contract->outputs, self->contract->n_outputs, 2);
  return GST_BASE_TRANSFORM_CLASS (sl_infer_parent_class)->decide_allocation (base, query);
}

static gboolean
sl_infer_propose_allocation (GstBaseTransform *base, GstQuery *decide_query, GstQuery *query)
{
  /* A query may still be on its way here when the element stops. */
  g_autoptr (SlContract) contract = get_contract ((SlInfer *) base);
  if (contract == NULL)
    return FALSE;
  sl_tensor_pool_offer (query, contract->inputs, contract->n_inputs, 2);
  return TRUE;
}

static void
unload (SlInfer *self)
{
  SlLoadedModel old = { .model = g_steal_pointer (&self->model),
                        .session = g_steal_pointer (&self->session) };
  g_clear_pointer (&self->watch, sl_file_watch_free);
  GST_OBJECT_LOCK (self);
  SlContract *contract = g_steal_pointer (&self->contract);
  old.recorder = g_steal_pointer (&self->recorder);
  old.batch = g_steal_pointer (&self->batch);
  GST_OBJECT_UNLOCK (self);
  g_clear_pointer (&contract, sl_contract_unref);
  sl_infer_turn_set (&self->turn, 0, 1, 1, NULL);
  sl_tensor_mapping_clear (&self->inputs);
  sl_loaded_model_clear (&old);
}

/* Loads the model unless the one that the properties name is loaded already, from the file that is
 * there now. */
static gboolean
ensure_model (SlInfer *self)
{
  const gboolean current = self->session != NULL && !sl_model_file_changed (self->model);
  GST_OBJECT_LOCK (self);
  const gboolean ready = current && !self->stale;
  if (!ready)
    sl_infer_settings_copy (&self->settings, &self->active);
  self->stale = FALSE;
  GST_OBJECT_UNLOCK (self);
  if (ready)
    return TRUE;
  g_autoptr (GError) error = NULL;
  SlLoadedModel loaded = { 0 };
  unload (self);
  if (sl_infer_settings_load (&self->active, TRUE, NULL, told_of_box, self, &loaded, &error)) {
    use_model (self, &loaded);
    return TRUE;
  }
  return sl_element_report (GST_ELEMENT (self), error);
}

/* In the swap's thread: loads what the properties say now, and asks around whether the pipeline can
 * go on with it. */
static gboolean
load_beside (gpointer user, SlLoadedModel *loaded, GError **error)
{
  SlInfer *self = user;
  GstBaseTransform *base = user;
  SlInferSettings *settings = g_new0 (SlInferSettings, 1);
  GST_OBJECT_LOCK (self);
  sl_infer_settings_copy (&self->settings, settings);
  self->stale = FALSE;
  GST_OBJECT_UNLOCK (self);
  loaded->settings = settings;
  loaded->free_settings = sl_infer_settings_free;
  if (!sl_infer_settings_load (settings, TRUE, self->swap, told_of_box, self, loaded, error))
    return FALSE;
  SlContract *contract = sl_model_contract (loaded->model);
  return sl_caps_probe_tensors (base->sinkpad, contract->inputs, contract->n_inputs, contract,
                                error)
         && sl_caps_probe_tensors (base->srcpad, contract->outputs, contract->n_outputs, contract,
                                   error);
}

/* In the swap's thread: offers the new model to upstream, or says what was wrong with it and has
 * the properties say what runs. */
static void
loaded_beside (gpointer user, const GError *error)
{
  SlInfer *self = user;
  if (error == NULL) {
    gst_base_transform_reconfigure_sink (GST_BASE_TRANSFORM (self));
    gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
    return;
  }
  GST_OBJECT_LOCK (self);
  g_autofree char *kept = g_strdup (self->active.model.model);
  if (!self->stale)
    sl_infer_settings_copy (&self->active, &self->settings);
  GST_OBJECT_UNLOCK (self);
  GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
                       ("the model was not changed, %s goes on: %s", kept, error->message), (NULL));
  g_object_notify (G_OBJECT (self), "model");
}

/* What was set together is loaded together. */
static void
sl_infer_dispatch_properties_changed (GObject *object, guint n, GParamSpec **pspecs)
{
  SlInfer *self = (SlInfer *) object;
  GST_OBJECT_LOCK (self);
  const gboolean load = self->playing && self->stale;
  GST_OBJECT_UNLOCK (self);
  if (load)
    sl_model_swap_request (self->swap);
  G_OBJECT_CLASS (sl_infer_parent_class)->dispatch_properties_changed (object, n, pspecs);
}

static void
set_playing (SlInfer *self, gboolean playing)
{
  GST_OBJECT_LOCK (self);
  self->playing = playing;
  GST_OBJECT_UNLOCK (self);
}

/* A model that was loaded, but not taken, is loaded again at the next start. */
static void
forget_swap (SlInfer *self, gboolean given_up)
{
  SlLoadedModel loaded;
  const gboolean any = sl_model_swap_take (self->swap, &loaded);
  sl_infer_turn_end (&self->turn, FALSE);
  sl_loaded_model_clear (&loaded);
  sl_model_swap_go_on (self->swap);
  if (!any && !given_up)
    return;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  self->stale = TRUE;
}

/* The model is loaded anew where its inputs change. */
static void
state_handed_inputs (SlInfer *self)
{
  char *stated = sl_held_inputs_stated (self->held);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (self));
  g_free (self->settings.handed_inputs);
  self->settings.handed_inputs = stated;
  self->stale = TRUE;
}

static GstStateChangeReturn
sl_infer_change_state (GstElement *element, GstStateChange transition)
{
  SlInfer *self = (SlInfer *) element;
  const gboolean starts = transition == GST_STATE_CHANGE_READY_TO_PAUSED,
                 stops = transition == GST_STATE_CHANGE_PAUSED_TO_READY;
  if ((transition == GST_STATE_CHANGE_NULL_TO_READY || starts) && !ensure_model (self))
    return GST_STATE_CHANGE_FAILURE;
  gboolean given_up = FALSE;
  if (starts)
    sl_held_inputs_start (self->held);
  if (stops)
    sl_held_inputs_stop (self->held);
  if (starts || stops) {
    set_playing (self, starts);
    set_cancelled (self, stops);
  }
  if (stops)
    given_up = sl_model_swap_stop (self->swap);
  GstStateChangeReturn result =
    GST_ELEMENT_CLASS (sl_infer_parent_class)->change_state (element, transition);
  const gboolean failed = starts && result == GST_STATE_CHANGE_FAILURE;
  if (failed) {
    set_playing (self, FALSE);
    sl_held_inputs_stop (self->held);
    given_up = sl_model_swap_stop (self->swap);
  }
  if ((stops || failed) && sl_held_inputs_drop_released (self->held))
    state_handed_inputs (self);
  if (stops || given_up)
    forget_swap (self, given_up);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    unload (self);
  return result;
}

static GstPad *
sl_infer_request_new_pad (GstElement *element, GstPadTemplate *pads, const char *name,
                          const GstCaps *caps)
{
  SlInfer *self = (SlInfer *) element;
  GST_OBJECT_LOCK (self);
  const gboolean late = self->playing;
  GST_OBJECT_UNLOCK (self);
  GstPad *pad = late ? NULL : sl_held_inputs_add_pad (self->held, pads, name);
  if (pad != NULL)
    state_handed_inputs (self);
  else
    GST_WARNING_OBJECT (self, "no pad %s: %s", name != NULL ? name : "input_%u",
                        late ? "pads are asked for before the element goes to PAUSED"
                             : "there is one already, or its number is none");
  return pad;
}

static void
sl_infer_release_pad (GstElement *element, GstPad *pad)
{
  SlInfer *self = (SlInfer *) element;
  if (sl_held_inputs_remove_pad (self->held, pad))
    state_handed_inputs (self);
}

static void
sl_infer_reset_state (SlInfer *self)
{
  sl_held_inputs_forget (self->held);
}

static gboolean
sl_infer_start (GstBaseTransform *base)
{
  SlInfer *self = (SlInfer *) base;
  self->refused = FALSE;
  sl_stage_latency_start (&self->latency, GST_ELEMENT (self));
  return TRUE;
}

static void
sl_infer_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (object));
  guint n;
  sl_property_set (object, &sl_infer_settings_properties (AT_SETTINGS, &n)[id - 1], value);
  ((SlInfer *) object)->stale = TRUE;
}

static void
sl_infer_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  guint n;
  const SlProperty *properties = sl_infer_settings_properties (AT_SETTINGS, &n);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (GST_OBJECT_GET_LOCK (object));
  if (id > n)
    g_value_take_boxed (value, sl_infer_turn_figures (&((SlInfer *) object)->turn));
  else
    sl_property_get (object, &properties[id - 1], value);
}

static void
sl_infer_finalize (GObject *object)
{
  SlInfer *self = (SlInfer *) object;
  unload (self);
  sl_model_swap_stop (self->swap);
  sl_model_swap_free (self->swap);
  sl_infer_settings_clear (&self->active);
  sl_infer_settings_clear (&self->settings);
  sl_held_inputs_free (self->held);
  sl_infer_turn_clear (&self->turn);
  G_OBJECT_CLASS (sl_infer_parent_class)->finalize (object);
}

static void
sl_infer_class_init (SlInferClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base_class = GST_BASE_TRANSFORM_CLASS (klass);
  guint n;
  const SlProperty *properties = sl_infer_settings_properties (AT_SETTINGS, &n);
  GST_DEBUG_CATEGORY_INIT (sl_infer_debug, "slinfer", 0, "runs a model");
  object_class->dispatch_properties_changed = sl_infer_dispatch_properties_changed;
  object_class->finalize = sl_infer_finalize;
  sl_properties_install (object_class, properties, n);
  sl_infer_turn_install (object_class, n + 1);
  object_class->set_property = sl_infer_set_property;
  object_class->get_property = sl_infer_get_property;
  sl_infer_signals_add (G_TYPE_FROM_CLASS (klass), G_CALLBACK (sl_infer_dump),
                        G_CALLBACK (sl_infer_reset_state));
  gst_element_class_add_static_pad_template (element_class, &input_template);
  sl_element_class_pads (element_class, SL_TENSOR_TEMPLATE_CAPS, SL_TENSOR_TEMPLATE_CAPS);
  sl_element_class_describe (
    element_class, "Sightline inference", "Filter/Analyzer/Tensor",
    "Runs a model on the CPU with XNNPACK, or with a vendor's runtime (backend). Tensors come from "
    "slnormalize, which learns what the model wants through the caps, or from any element that "
    "speaks other/tensors. On live sources set qos=true to skip frames that would be late.",
    "gst-launch-1.0 filesrc location=picture.jpg ! decodebin ! slnormalize ! slinfer "
    "model=mobilenet.tflite threads=2 ! slpostprocess ! text/x-raw ! fdsink",
    "slpredict.md");
  element_class->change_state = sl_infer_change_state;
  element_class->request_new_pad = sl_infer_request_new_pad;
  element_class->release_pad = sl_infer_release_pad;
  base_class->transform_caps = sl_infer_transform_caps;
  base_class->accept_caps = sl_infer_accept_caps;
  base_class->query = sl_infer_query;
  base_class->sink_event = sl_infer_sink_event;
  base_class->set_caps = sl_infer_set_caps;
  base_class->decide_allocation = sl_infer_decide_allocation;
  base_class->propose_allocation = sl_infer_propose_allocation;
  base_class->copy_metadata = sl_infer_copy_metadata;
  base_class->transform_meta = sl_infer_transform_meta;
  base_class->submit_input_buffer = sl_infer_submit_input_buffer;
  base_class->generate_output = sl_infer_generate_output;
  base_class->transform = sl_infer_transform;
  base_class->start = sl_infer_start;
}

static void
sl_infer_init (SlInfer *self)
{
  guint n;
  const SlProperty *properties = sl_infer_settings_properties (AT_SETTINGS, &n);
  sl_properties_init (self, properties, n);
  sl_infer_turn_init (&self->turn, GST_BASE_TRANSFORM_SRC_PAD (self));
  self->held = sl_held_inputs_new (GST_ELEMENT (self));
  self->swap = sl_model_swap_new (load_beside, loaded_beside, self);
}
