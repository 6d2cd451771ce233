/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SlPipeline: one GstPipeline at a time. Its messages become events, and these become signals in
 * the creator's main context, or are pulled.
 *
 * Two locks. @control serialises building, starting and stopping, which wait for the pipeline's
 * threads. @lock guards data that those threads use; it is held briefly, and never while GStreamer
 * is called. The handlers in the pipeline's threads (predictions, bus) are disconnected before the
 * pipeline is released.
 */
#include "sightline/pipeline.h"

#include "core/base/fail.h"
#include "pipelines/embed/engine.h"
#include "pipelines/embed/events.h"
#include "pipelines/embed/rates.h"
#include "pipelines/embed/recipe.h"
#include "pipelines/embed/signals.h"
#include "pipelines/supervise/bus.h"

#define MAX_PREDICTIONS 1000

enum
{
  PROP_STATE = 1,
  PROP_MAX_PREDICTIONS,
  PROP_STATS_INTERVAL,
  N_PROPERTIES
};

static GParamSpec *properties[N_PROPERTIES];

struct _SlPipeline
{
  GObject parent;
  GMainContext *context;
  GMutex control; /* of the next ones */
  SlRecipe *recipe;
  SlEngine *engine; /* (nullable) */
  gboolean used;    /* @engine has been started before */
  GMutex lock;      /* of the rest */
  GCond changed;
  SlFrameSource *source; /* (nullable); pushes hold a count in @pushing */
  guint pushing;
  SlPipelineState state;
  gboolean starting; /* go_to() is at work and reports errors itself */
  GError *error;     /* (nullable): why the state is failed */
  char *element;     /* (nullable): where */
  SlEvents events;
  GSource *dispatch; /* (nullable): attached, to emit signals */
  GSource *timer;    /* (nullable): emits stats */
  SlPipelineStats stats;
  guint64 dropped, events_dropped;
  guint max_predictions, stats_interval;
};

G_DEFINE_FINAL_TYPE (SlPipeline, sl_pipeline, G_TYPE_OBJECT)

/* In the maker's context: everything that there is to tell. */
static gboolean
dispatch (gpointer data)
{
  g_autoptr (SlPipeline) self = g_weak_ref_get (data);
  gboolean more = self != NULL;
  if (self != NULL) {
    g_mutex_lock (&self->lock);
    g_clear_pointer (&self->dispatch, g_source_unref);
    g_mutex_unlock (&self->lock);
  }
  while (more) {
    g_mutex_lock (&self->lock);
    g_autoptr (SlEvent) event =
      sl_events_take (&self->events, sl_pipeline_signals_hears_predictions (self));
    g_mutex_unlock (&self->lock);
    more = event != NULL;
    if (event != NULL)
      sl_pipeline_signals_emit (self, event);
  }
  return G_SOURCE_REMOVE;
}

/* With @lock: wakes who pulls, and the context. */
static void
wake (SlPipeline *self)
{
  g_cond_broadcast (&self->changed);
  if (self->dispatch == NULL) {
    GSource *source = g_idle_source_new ();
    g_source_set_priority (source, G_PRIORITY_DEFAULT);
    self->dispatch = sl_weak_source_attach (source, self->context, self, dispatch);
  }
}

/* With @lock. */
static void
set_state (SlPipeline *self, SlPipelineState state)
{
  if (self->state == state)
    return;
  sl_events_add_state (&self->events, self->state, state);
  self->state = state;
  wake (self);
}

static void
take_predictions (gpointer owner, SlPredictions *predictions)
{
  SlPipeline *self = owner;
  const gint64 now = g_get_monotonic_time ();
  gint64 age;
  sl_predictions_get_latency (predictions, &age, NULL, NULL, NULL);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  sl_pipeline_stats_add (&self->stats, now, age);
  self->dropped += sl_events_add_predictions (&self->events, predictions, self->max_predictions);
  if (sl_pipeline_signals_hears_predictions (self))
    wake (self);
  else
    g_cond_broadcast (&self->changed);
}

static void
take_analysis (gpointer owner, GVariant *analysis)
{
  SlPipeline *self = owner;
  const char *event = "";
  g_variant_lookup (analysis, "event", "&s", &event);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (sl_pipeline_signals_hears (self, event)) {
    self->events_dropped += sl_events_add_analysis (&self->events, analysis);
    wake (self);
  }
}

/* Only the first error counts: the others follow from it. */
static void
take_failure (gpointer owner, const GError *error, const char *element)
{
  SlPipeline *self = owner;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (self->error == NULL) {
    self->error = g_error_copy (error);
    self->element = g_strdup (element);
    if (!self->starting)
      sl_events_add_error (&self->events, error, element);
    set_state (self, SL_PIPELINE_STATE_FAILED);
  }
}

static gboolean
is_alive (SlPipelineState state)
{
  return state == SL_PIPELINE_STATE_STARTING || state == SL_PIPELINE_STATE_RUNNING
         || state == SL_PIPELINE_STATE_PAUSED;
}

static void
take_state (gpointer owner, GstState state)
{
  SlPipeline *self = owner;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (is_alive (self->state))
    set_state (self,
               state == GST_STATE_PLAYING ? SL_PIPELINE_STATE_RUNNING : SL_PIPELINE_STATE_PAUSED);
}

static void
take_end (gpointer owner)
{
  SlPipeline *self = owner;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (is_alive (self->state))
    set_state (self, SL_PIPELINE_STATE_ENDED);
}

static const SlEngineEvents engine_events = { .predictions = take_predictions,
                                              .analysed = take_analysis,
                                              .failed = take_failure,
                                              .reached = take_state,
                                              .ended = take_end };

/* With @control: stops and forgets the engine, all its threads with it. */
static void
tear_down (SlPipeline *self)
{
  if (self->engine == NULL)
    return;
  g_mutex_lock (&self->lock);
  GSource *timer = g_steal_pointer (&self->timer);
  self->source = NULL;
  g_mutex_unlock (&self->lock);
  sl_weak_source_detach (&timer);
  sl_engine_stop (self->engine); /* wakes pushes that wait, too */
  g_mutex_lock (&self->lock);
  while (self->pushing > 0)
    g_cond_wait (&self->changed, &self->lock);
  g_mutex_unlock (&self->lock);
  g_clear_pointer (&self->engine, sl_engine_free);
  self->used = FALSE;
}

/* With @control: makes sure that there is an engine that has not run yet. */
static gboolean
ensure_built (SlPipeline *self, GError **error)
{
  if (self->engine != NULL && !self->used)
    return TRUE;
  tear_down (self);
  self->engine = sl_engine_new (sl_recipe_description (self->recipe), &engine_events, self, error);
  if (self->engine == NULL)
    return FALSE;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  self->source = sl_engine_source (self->engine);
  return TRUE;
}

static SlPipeline *
new_pipeline (const char *path, const char *text, GHashTable *parameters, GError **error)
{
  if (!sl_engine_init (error))
    return NULL;
  g_autoptr (SlPipeline) self = g_object_new (SL_TYPE_PIPELINE, NULL);
  self->recipe = sl_recipe_new (path, text, parameters, error);
  if (self->recipe == NULL)
    return NULL;
  g_mutex_lock (&self->control);
  const gboolean built = ensure_built (self, error);
  g_mutex_unlock (&self->control);
  return built ? g_steal_pointer (&self) : NULL;
}

/**
 * sl_pipeline_new_from_file: (constructor)
 * @path: a pipeline description file
 * @parameters: (nullable) (element-type utf8 utf8): values for the file's parameters
 * @error: where an error goes
 *
 * Reads and builds a pipeline; nothing is opened or loaded yet. The file's restart policy is for
 * `sightline run`; an application decides for itself, with sl_pipeline_start(), when
 * #SlPipeline::error comes.
 *
 * Returns: (transfer full): %NULL with @error set, naming file and line, when the description
 * cannot be read or built
 *
 * Since: 0.1
 */
SlPipeline *
sl_pipeline_new_from_file (const char *path, GHashTable *parameters, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);
  return new_pipeline (path, NULL, parameters, error);
}

/**
 * sl_pipeline_new_from_string: (constructor)
 * @text: a launch line, such as "v4l2src ! slnormalize ! slinfer model=${model} ! slpostprocess !
 * fakesink"; or, when it begins with "[", a whole description
 * @parameters: (nullable) (element-type utf8 utf8): values for ${name} in it
 * @error: where an error goes
 *
 * Builds a pipeline; nothing is opened or loaded yet. In a launch line every parameter needs a
 * value.
 *
 * Returns: (transfer full): %NULL with @error set when the text cannot be read or built
 *
 * Since: 0.1
 */
SlPipeline *
sl_pipeline_new_from_string (const char *text, GHashTable *parameters, GError **error)
{
  g_return_val_if_fail (text != NULL, NULL);
  return new_pipeline (NULL, text, parameters, error);
}

/**
 * sl_pipeline_set_parameter:
 * @self: a pipeline that does not run
 * @name: name of a parameter
 * @value: its value
 * @error: where an error goes
 *
 * Elements got with sl_pipeline_dup_element() before belong to no pipeline any more.
 *
 * Returns: %FALSE with @error set, and nothing changed, when the pipeline runs, has no such
 * parameter, or @value does not suit it
 *
 * Since: 0.1
 */
gboolean
sl_pipeline_set_parameter (SlPipeline *self, const char *name, const char *value, GError **error)
{
  g_return_val_if_fail (SL_IS_PIPELINE (self) && name != NULL && value != NULL, FALSE);
  gboolean good = FALSE;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->control);
  if (!is_alive (sl_pipeline_get_state (self)))
    good = sl_recipe_set (self->recipe, name, value, error);
  else
    sl_fail (error, SL_ERROR_ARGUMENT,
             "parameter %s: the pipeline runs; stop it before parameters are set", name);
  if (good)
    tear_down (self);
  return good;
}

/**
 * sl_pipeline_dup_parameter:
 * @self: a pipeline
 * @name: name of a parameter
 *
 * Gets the value that a parameter of the description has.
 *
 * Returns: (transfer full) (nullable): its value, %NULL when there is no such parameter
 *
 * Since: 0.1
 */
char *
sl_pipeline_dup_parameter (SlPipeline *self, const char *name)
{
  g_return_val_if_fail (SL_IS_PIPELINE (self) && name != NULL, NULL);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->control);
  const SlParameter *parameter = sl_description_find (sl_recipe_description (self->recipe), name);
  return parameter != NULL ? g_strdup (parameter->value) : NULL;
}

/**
 * sl_pipeline_list_parameters:
 * @self: a pipeline
 *
 * Lists the parameters of the description.
 *
 * Returns: (transfer full) (array zero-terminated=1): names of its parameters
 *
 * Since: 0.1
 */
char **
sl_pipeline_list_parameters (SlPipeline *self)
{
  g_return_val_if_fail (SL_IS_PIPELINE (self), NULL);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->control);
  const GArray *parameters = sl_recipe_description (self->recipe)->parameters;
  char **names = g_new0 (char *, parameters->len + 1);
  for (guint i = 0; i < parameters->len; i++)
    names[i] = g_strdup (g_array_index (parameters, SlParameter, i).name);
  return names;
}

/**
 * sl_pipeline_dup_element:
 * @self: a pipeline
 * @name: what the launch line calls it with name=
 * @error: where an error goes
 *
 * For setting properties of an element, such as its threshold, also while the pipeline runs. It is
 * a GstElement. A pipeline that is started again is built again: get its elements again, too.
 *
 * Returns: (transfer full): %NULL with @error set when there is no such element
 *
 * Since: 0.1
 */
GObject *
sl_pipeline_dup_element (SlPipeline *self, const char *name, GError **error)
{
  g_return_val_if_fail (SL_IS_PIPELINE (self) && name != NULL, NULL);
  GstElement *element = NULL;
  g_mutex_lock (&self->control);
  if (is_alive (sl_pipeline_get_state (self)) || ensure_built (self, error)) {
    element = sl_engine_find (self->engine, name);
    if (element == NULL)
      sl_fail (error, SL_ERROR_ARGUMENT, "the pipeline has no element with name=%s", name);
  }
  g_mutex_unlock (&self->control);
  return (GObject *) element;
}

static gboolean
emit_stats (gpointer data)
{
  g_autoptr (SlPipeline) self = g_weak_ref_get (data);
  if (self == NULL)
    return G_SOURCE_REMOVE;
  g_autoptr (GVariant) stats = sl_pipeline_get_stats (self);
  sl_pipeline_signals_emit_stats (self, stats);
  return G_SOURCE_CONTINUE;
}

/* With @control: what belongs to the run before is forgotten. */
static void
begin_run (SlPipeline *self)
{
  self->used = TRUE;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  while (self->events.n_predictions > 0)
    sl_predictions_unref (sl_events_take_predictions (&self->events));
  g_clear_error (&self->error);
  g_clear_pointer (&self->element, g_free);
  sl_pipeline_stats_reset (&self->stats, g_get_monotonic_time ());
  self->dropped = self->events_dropped = 0;
  set_state (self, SL_PIPELINE_STATE_STARTING);
  if (self->stats_interval > 0)
    self->timer = sl_weak_source_attach (g_timeout_source_new (self->stats_interval), self->context,
                                         self, emit_stats);
}

/* With @control: takes the pipeline to @target; errors come back to the caller, not as a signal. */
static gboolean
go_to (SlPipeline *self, GstState target, GError **error)
{
  g_mutex_lock (&self->lock);
  self->starting = TRUE;
  g_mutex_unlock (&self->lock);
  const gboolean failed = !sl_engine_go_to (self->engine, target);
  g_mutex_lock (&self->lock);
  self->starting = FALSE;
  if (failed && self->error == NULL)
    self->error = g_error_new (SL_ERROR, SL_ERROR_BACKEND, SL_BUS_REFUSAL_UNSAID, "the pipeline");
  if (failed)
    set_state (self, SL_PIPELINE_STATE_FAILED);
  else if (self->error != NULL) /* came in between, from one of the pipeline's threads */
    sl_events_add_error (&self->events, self->error, self->element);
  if (failed && error != NULL)
    *error = g_error_copy (self->error);
  wake (self);
  g_mutex_unlock (&self->lock);
  if (failed)
    tear_down (self);
  return !failed;
}

static gboolean
run (SlPipeline *self, GstState target, GError **error)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->control);
  const gboolean fresh = !is_alive (sl_pipeline_get_state (self));
  gboolean good = !fresh || ensure_built (self, error);
  if (good && fresh)
    begin_run (self);
  good = good && go_to (self, target, error);
  return good;
}

/**
 * sl_pipeline_start:
 * @self: a pipeline
 * @error: where an error goes
 *
 * Opens, loads and runs what the pipeline consists of; also after it was paused, stopped, ended or
 * failed. Comes back when all models are loaded, before the first frame has come.
 *
 * Returns: %FALSE with @error set when an element does not start. Errors after that are
 * #SlPipeline::error, and come from sl_pipeline_pull_predictions().
 *
 * Since: 0.1
 */
gboolean
sl_pipeline_start (SlPipeline *self, GError **error)
{
  g_return_val_if_fail (SL_IS_PIPELINE (self), FALSE);
  return run (self, GST_STATE_PLAYING, error);
}

/**
 * sl_pipeline_pause:
 * @self: a pipeline
 * @error: where an error goes
 *
 * Makes frames wait; from stopped, loads everything first. sl_pipeline_start() goes on.
 *
 * Returns: %FALSE with @error set as sl_pipeline_start()
 *
 * Since: 0.1
 */
gboolean
sl_pipeline_pause (SlPipeline *self, GError **error)
{
  g_return_val_if_fail (SL_IS_PIPELINE (self), FALSE);
  return run (self, GST_STATE_PAUSED, error);
}

/**
 * sl_pipeline_stop:
 * @self: a pipeline
 *
 * Ends all threads of the pipeline, releases its cameras and models, and waits until that is done.
 * Predictions that were not taken yet can still be pulled.
 *
 * Since: 0.1
 */
void
sl_pipeline_stop (SlPipeline *self)
{
  g_return_if_fail (SL_IS_PIPELINE (self));
  g_mutex_lock (&self->lock);
  if (self->starting) /* in another thread, which has @control */
    sl_engine_interrupt (self->engine);
  g_mutex_unlock (&self->lock);
  g_mutex_lock (&self->control);
  if (self->used)
    tear_down (self);
  g_mutex_lock (&self->lock);
  set_state (self, SL_PIPELINE_STATE_STOPPED);
  g_mutex_unlock (&self->lock);
  g_mutex_unlock (&self->control);
}

/**
 * sl_pipeline_get_state:
 * @self: a pipeline
 *
 * Gets the pipeline's state; the signal SlPipeline::state-changed says when it becomes another.
 *
 * Returns: what it is doing
 *
 * Since: 0.1
 */
SlPipelineState
sl_pipeline_get_state (SlPipeline *self)
{
  g_return_val_if_fail (SL_IS_PIPELINE (self), SL_PIPELINE_STATE_STOPPED);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  return self->state;
}

/* (nullable): the frame source, which stays until release_source(). */
static SlFrameSource *
borrow_source (SlPipeline *self, GError **error)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  const SlPipelineState state = self->state;
  const gboolean alive = is_alive (state);
  SlFrameSource *source = alive ? self->source : NULL;
  if (source != NULL)
    self->pushing++;
  else if (!alive)
    sl_fail (error, SL_ERROR_ARGUMENT, "frames can be pushed while a pipeline runs; this one is %s",
             sl_pipeline_state_name (state));
  else
    sl_fail (error, SL_ERROR_ARGUMENT,
             "the pipeline takes no frames from the application: expected an appsrc in it, such as "
             "'appsrc name=source ! ...'");
  return source;
}

static void
release_source (SlPipeline *self)
{
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  self->pushing--;
  g_cond_broadcast (&self->changed);
}

/**
 * sl_pipeline_push_frame:
 * @self: a pipeline with an appsrc: the one called "source", else the first
 * @frame: the frame; its memory is referenced, and must not change, until its predictions are there
 * @error: where an error goes
 *
 * Gives a frame of the application's to the pipeline and comes back at once: of frames that wait
 * for the model the newest two are kept. With block=true on the appsrc it waits instead, and no
 * frame is lost. A frame without timestamp gets the time since the pipeline runs.
 *
 * Returns: %FALSE with @error set when the pipeline does not run or takes no frames
 *
 * Since: 0.1
 */
gboolean
sl_pipeline_push_frame (SlPipeline *self, SlFrame *frame, GError **error)
{
  g_return_val_if_fail (SL_IS_PIPELINE (self) && frame != NULL, FALSE);
  SlFrameSource *source = borrow_source (self, error);
  if (source == NULL)
    return FALSE;
  const GstFlowReturn flow = sl_frame_source_push (source, frame);
  release_source (self);
  if (flow != GST_FLOW_OK)
    sl_fail (error, SL_ERROR_ARGUMENT,
             "the frame was not taken: the pipeline has been stopped or its frames ended (%s)",
             gst_flow_get_name (flow));
  return flow == GST_FLOW_OK;
}

/**
 * sl_pipeline_end_frames:
 * @self: a pipeline with an appsrc
 * @error: where an error goes
 *
 * Says that no more frames come. When those pushed are done, the state becomes
 * %SL_PIPELINE_STATE_ENDED.
 *
 * Returns: %FALSE with @error set as sl_pipeline_push_frame()
 *
 * Since: 0.1
 */
gboolean
sl_pipeline_end_frames (SlPipeline *self, GError **error)
{
  g_return_val_if_fail (SL_IS_PIPELINE (self), FALSE);
  SlFrameSource *source = borrow_source (self, error);
  if (source == NULL)
    return FALSE;
  sl_frame_source_end (source);
  release_source (self);
  return TRUE;
}

/**
 * sl_pipeline_pull_predictions:
 * @self: a pipeline
 * @timeout: microseconds to wait for, 0 = not at all, below 0 = for ever
 * @error: where an error goes
 *
 * The oldest predictions not taken yet. At most #SlPipeline:max-predictions wait to be taken; newer
 * ones displace older ones, which are counted. Each prediction goes either to this function or to
 * the handlers of #SlPipeline::predictions, to the one that takes it first. Use only one of the
 * two.
 *
 * Returns: (transfer full) (nullable): %NULL with @error set when the pipeline failed; %NULL
 * without when the time is over, or when nothing more will come: then sl_pipeline_get_state() is
 * %SL_PIPELINE_STATE_ENDED or %SL_PIPELINE_STATE_STOPPED
 *
 * Since: 0.1
 */
SlPredictions *
sl_pipeline_pull_predictions (SlPipeline *self, gint64 timeout, GError **error)
{
  g_return_val_if_fail (SL_IS_PIPELINE (self), NULL);
  const gint64 end = timeout >= 0 ? g_get_monotonic_time () + timeout : 0;
  gboolean waiting = timeout != 0;
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  while (waiting && self->events.n_predictions == 0 && is_alive (self->state)) {
    if (timeout < 0)
      g_cond_wait (&self->changed, &self->lock);
    else
      waiting = g_cond_wait_until (&self->changed, &self->lock, end);
  }
  SlPredictions *predictions = sl_events_take_predictions (&self->events);
  if (predictions == NULL && self->state == SL_PIPELINE_STATE_FAILED && error != NULL)
    *error = g_error_copy (self->error);
  return predictions;
}

/**
 * sl_pipeline_get_stats:
 * @self: a pipeline
 *
 * Since the last start: "state" (s), "seconds" (d), "frames-pushed" (t) by the application and
 * "frames-displaced" (t) of them, "predictions" (t) and "predictions-dropped" (t) of them because
 * nobody took them in time, "analysis-events-dropped" (t) for the same reason, "rate" (d) in
 * predictions a second over the last two seconds, "age-p50" and "age-p95" (x): microseconds from a
 * frame's arrival to its predictions, for the last 512; -1 = unknown.
 *
 * Returns: (transfer full): a dictionary of type a{sv}
 *
 * Since: 0.1
 */
GVariant *
sl_pipeline_get_stats (SlPipeline *self)
{
  g_return_val_if_fail (SL_IS_PIPELINE (self), NULL);
  guint64 pushed = 0, displaced = 0;
  GVariantBuilder builder;
  g_variant_builder_init (&builder, G_VARIANT_TYPE_VARDICT);
  g_mutex_lock (&self->lock);
  if (self->source != NULL)
    sl_frame_source_counts (self->source, &pushed, &displaced);
  g_variant_builder_add (&builder, "{sv}", "state",
                         g_variant_new_string (sl_pipeline_state_name (self->state)));
  g_variant_builder_add (&builder, "{sv}", "frames-pushed", g_variant_new_uint64 (pushed));
  g_variant_builder_add (&builder, "{sv}", "frames-displaced", g_variant_new_uint64 (displaced));
  g_variant_builder_add (&builder, "{sv}", "predictions-dropped",
                         g_variant_new_uint64 (self->dropped));
  g_variant_builder_add (&builder, "{sv}", "analysis-events-dropped",
                         g_variant_new_uint64 (self->events_dropped));
  sl_pipeline_stats_write (&self->stats, g_get_monotonic_time (), &builder);
  g_mutex_unlock (&self->lock);
  return g_variant_ref_sink (g_variant_builder_end (&builder));
}

static void
sl_pipeline_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  SlPipeline *self = SL_PIPELINE (object);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (id == PROP_MAX_PREDICTIONS)
    self->max_predictions = g_value_get_uint (value);
  else
    self->stats_interval = g_value_get_uint (value);
}

static void
sl_pipeline_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  SlPipeline *self = SL_PIPELINE (object);
  g_autoptr (GMutexLocker) locker G_GNUC_UNUSED = g_mutex_locker_new (&self->lock);
  if (id == PROP_STATE)
    g_value_set_enum (value, (gint) self->state);
  else
    g_value_set_uint (value,
                      id == PROP_MAX_PREDICTIONS ? self->max_predictions : self->stats_interval);
}

static void
sl_pipeline_dispose (GObject *object)
{
  SlPipeline *self = SL_PIPELINE (object);
  g_mutex_lock (&self->control);
  tear_down (self);
  g_mutex_unlock (&self->control);
  g_mutex_lock (&self->lock);
  GSource *source = g_steal_pointer (&self->dispatch);
  g_mutex_unlock (&self->lock);
  sl_weak_source_detach (&source);
  G_OBJECT_CLASS (sl_pipeline_parent_class)->dispose (object);
}

static void
sl_pipeline_finalize (GObject *object)
{
  SlPipeline *self = SL_PIPELINE (object);
  sl_events_clear (&self->events);
  g_clear_error (&self->error);
  sl_recipe_free (self->recipe);
  g_main_context_unref (self->context);
  g_mutex_clear (&self->control);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->changed);
  g_free (self->element);
  G_OBJECT_CLASS (sl_pipeline_parent_class)->finalize (object);
}

static void
sl_pipeline_class_init (SlPipelineClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  object_class->set_property = sl_pipeline_set_property;
  object_class->get_property = sl_pipeline_get_property;
  object_class->dispose = sl_pipeline_dispose;
  object_class->finalize = sl_pipeline_finalize;
  /**
   * SlPipeline:state:
   *
   * What the pipeline is doing. Notified with #SlPipeline::state-changed.
   *
   * Since: 0.1
   */
  properties[PROP_STATE] = g_param_spec_enum (
    "state", "State", "What the pipeline is doing; notified with ::state-changed",
    SL_TYPE_PIPELINE_STATE, SL_PIPELINE_STATE_STOPPED, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  /**
   * SlPipeline:max-predictions:
   *
   * Most frames whose predictions wait to be taken. Newer ones displace older ones, which are
   * counted.
   *
   * Since: 0.1
   */
  properties[PROP_MAX_PREDICTIONS] = g_param_spec_uint (
    "max-predictions", "Most predictions",
    "Most frames whose predictions wait to be taken; newer ones displace older ones", 1,
    MAX_PREDICTIONS, 4, G_PARAM_READWRITE | G_PARAM_CONSTRUCT | G_PARAM_STATIC_STRINGS);
  /**
   * SlPipeline:stats-interval:
   *
   * Milliseconds between emissions of #SlPipeline::stats, 0 = none. Counts from the next start on.
   *
   * Since: 0.1
   */
  properties[PROP_STATS_INTERVAL] = g_param_spec_uint (
    "stats-interval", "Interval of statistics",
    "Milliseconds between emissions of ::stats, 0 = none; counts from the next start on", 0,
    G_MAXUINT, 0, G_PARAM_READWRITE | G_PARAM_CONSTRUCT | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPERTIES, properties);
  sl_pipeline_signals_add (object_class);
}

static void
sl_pipeline_init (SlPipeline *self)
{
  g_mutex_init (&self->control);
  g_mutex_init (&self->lock);
  g_cond_init (&self->changed);
  sl_events_init (&self->events);
  self->context = g_main_context_ref_thread_default ();
}
