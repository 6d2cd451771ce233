/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A model as its users see it. sl_model_load() completes what is stated by the key file beside the
 * model, has a backend chosen where that is left to Sightline, and loads the model for it.
 * sl_model_session_new() makes the session of that backend.
 */
#include <string.h>
#include <unistd.h>

#include "core/base/printable.h"
#include "core/base/thread_count.h"
#include "core/base/zoo_name.h"
#include "models/backend.h"
#include "models/backend_choice.h"
#include "models/default.h"
#include "models/device_choice.h"
#include "models/file.h"
#include "models/model_private.h"
#include "models/prompts.h"
#include "models/setting_texts.h"
#include "models/zoo/cache.h"
#include "core/base/fail.h"

/* Whether Sightline is to run the model itself. */
static gboolean
is_ours (const SlModelLoadOptions *options)
{
  const char *backend = options->backend.backend;
  return backend == NULL || backend[0] == '\0' || strcmp (backend, SL_BACKEND_OURS) == 0;
}

/* Names the way out for a model with operators that Sightline lacks. */
static void
add_way_out (const char *path, const SlModelLoadOptions *options, GError *error)
{
  const char *format = sl_model_probe_format (path),
             *runtime = format != NULL ? sl_external_for_format (format) : NULL;
  const gboolean chosen = g_strcmp0 (options->backend.backend, SL_BACKEND_AUTO) == 0;
  g_autoptr (GError) missing = NULL;
  if (runtime == NULL || (!is_ours (options) && !chosen)
      || !g_error_matches (error, SL_ERROR, SL_ERROR_UNSUPPORTED))
    return;
  if (chosen && sl_external_open (runtime, NULL, &missing) != NULL)
    return; /* it was asked, and said why not */
  char *message =
    chosen ? g_strdup_printf ("%s; what else might run it: %s", error->message, missing->message)
           : g_strdup_printf ("%s; backend=%s, or auto, runs it where %s can", error->message,
                              runtime, sl_external_title (runtime));
  g_free (error->message);
  error->message = message;
}

/* (transfer full) (nullable): what the key file says where @stated does not. What makes a library
 * be loaded by its path is not for a model's file to say. */
static char *
read_backend (const SlModelLoadOptions *options, const char *stated, const char *info,
              const char *key)
{
  const gboolean given = stated != NULL && stated[0] != '\0';
  return options->any_backend && !given ? sl_modelinfo_early_key (info, key) : NULL;
}

/* 0 = not stated. */
static guint64
number_of (const char *text)
{
  return text != NULL ? g_ascii_strtoull (text, NULL, 10) : 0;
}

SlModelLoadOptions
sl_model_load_options (const SlModelSettings *settings)
{
  SlModelLoadOptions options = {
    .tensor_limit = (gsize) MIN (number_of (settings->tensor_limit) << 20, G_MAXSIZE / 4),
    .work_limit = number_of (settings->work_limit) * 1000000000,
    .sha256 = settings->sha256,
    .input_shape = settings->input_shape,
    .fixed_inputs = settings->fixed_inputs,
    .state = settings->state,
    .backend = { .backend = settings->backend,
                 .provider = settings->provider,
                 .options = settings->provider_options,
                 .delegate = settings->delegate,
                 .provider_library = settings->provider_library,
                 .device = settings->device,
                 .precision = settings->precision,
                 .fallback = g_strcmp0 (settings->fallback, "true") == 0 },
    .threads = 1
  };
  sl_threads_parse (settings->threads != NULL ? settings->threads : "1", &options.threads);
  return options;
}

SlModel *
sl_model_load (const char *path, const SlModelSettings *overrides, GError **error)
{
  return sl_model_load_with (path, overrides, &(SlModelLoadOptions){ 0 }, error);
}

/* What the key file @info says of the backend, where @settled does not. The texts live as long as
 * @request. */
static void
settle_backend (SlLoadRequest *request, const char *info, GPtrArray *texts)
{
  SlModelLoadOptions *settled = &request->options;
  char *backend = read_backend (settled, settled->backend.backend, info, "backend");
  g_ptr_array_add (texts, backend);
  if (backend != NULL)
    settled->backend.backend = backend;
  request->by_file = backend != NULL;
  const gboolean ours = is_ours (settled);
  const gboolean may_be_ours = ours || strcmp (settled->backend.backend, SL_BACKEND_AUTO) == 0;
  char *precision =
    may_be_ours ? read_backend (settled, settled->backend.precision, info, "precision") : NULL;
  char *provider =
    ours ? NULL : read_backend (settled, settled->backend.provider, info, "provider");
  g_ptr_array_add (texts, precision);
  g_ptr_array_add (texts, provider);
  if (precision != NULL)
    settled->backend.precision = precision;
  if (provider != NULL)
    settled->backend.provider = provider;
  g_autofree char *falls_back = ours ? NULL : read_backend (settled, NULL, info, "fallback");
  settled->backend.fallback |= g_strcmp0 (falls_back, "true") == 0;
}

/* @request, whose device is auto, with a device, or in Sightline. */
static SlModel *
load_on_device (const char *path, const SlModelSettings *overrides, SlLoadRequest *request,
                GError **error)
{
  SlBackendSettings *backend = &request->options.backend;
  g_autofree char *why = NULL, *device = sl_device_choose (path, request, &why);
  if (device != NULL)
    backend->backend = sl_external_for_format (sl_model_probe_format (path));
  else
    *backend = (SlBackendSettings){ .backend = SL_BACKEND_OURS, .precision = backend->precision };
  backend->device = device;
  request->by_choice = TRUE;
  g_autoptr (GError) cause = NULL;
  SlModel *model = sl_model_load_settled (path, overrides, request, &cause);
  if (model == NULL && device == NULL && !g_error_matches (cause, SL_ERROR, SL_ERROR_OPEN))
    g_prefix_error (&cause, "device=auto compares devices with Sightline, which refuses the model: "
                            "state the device; ");
  if (cause != NULL)
    g_propagate_error (error, g_steal_pointer (&cause));
  if (model == NULL)
    return NULL;
  if (device == NULL && model->notice == NULL)
    model->notice = g_strdup (why);
  model->device_choice = g_steal_pointer (&why);
  return model;
}

/* @request, whose backend is auto or a name, with a name. */
static SlModel *
load_chosen (const char *path, const SlModelSettings *overrides, const SlLoadRequest *request,
             GError **error)
{
  SlLoadRequest named = *request;
  SlBackendSettings *backend = &named.options.backend;
  if (!sl_backend_settings_check (backend, error)
      || !sl_precision_parse (backend->precision, &named.precision, error))
    return NULL;
  if (g_strcmp0 (backend->device, SL_DEVICE_AUTO) == 0)
    return load_on_device (path, overrides, &named, error);
  if (g_strcmp0 (backend->backend, SL_BACKEND_AUTO) == 0) {
    backend->backend = sl_backend_choose (path, &named);
    named.by_choice = TRUE; /* not before: the trial runs the runtime alone */
  }
  return sl_model_load_settled (path, overrides, &named, error);
}

/* (transfer full) (nullable): the file that @path (nullable) names: the default model's, one of the
 * zoo, or itself. */
static char *
find_file (const char *path, GError **error)
{
  if (path == NULL)
    return sl_default_model_find (error);
  if (sl_zoo_name (path) == NULL)
    return g_strdup (path);
  char *file = sl_zoo_find (path, error);
  if (file == NULL)
    g_prefix_error (error, "%s: ", path);
  return file;
}

/* @request with the inputs that @fixed_inputs (nullable) states, for files beside @beside, and with
 * the classes that the user states. */
static SlModel *
load_with_words (const char *path, const SlModelSettings *overrides, SlLoadRequest *request,
                 const char *fixed_inputs, const char *beside, GError **error)
{
  g_autoptr (SlFixedInputs) fixed = sl_fixed_inputs_read (fixed_inputs, beside, error);
  g_autoptr (SlLabels) labels = NULL;
  g_autoptr (SlPromptTexts) texts = NULL;
  SlWordVectors words = { 0 };
  request->fixed = fixed;
  request->has_fixed = fixed_inputs != NULL && fixed_inputs[0] != '\0';
  if (fixed == NULL || !sl_prompts_encode (overrides, &words, &texts, &labels, error))
    return NULL;
  request->words = words.n > 0 ? &words : NULL;
  request->texts = texts;
  request->word_labels = labels;
  SlModel *model = load_chosen (path, overrides, request, error);
  g_free (words.numbers);
  return model;
}

/* Whether the file @path, of *@stamp, is the one that the user states. Files beside it are not
 * looked at. */
static gboolean
check_hash (const char *path, const char *stated, SlFileStamp *stamp, GError **error)
{
  guint8 block[16384];
  gssize got;
  if (stated == NULL || stated[0] == '\0')
    return TRUE;
  if (!sl_sha256_check (stated, error))
    return FALSE;
  const int fd = sl_file_open (path, "a model file", stamp, error);
  if (fd < 0)
    return FALSE;
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  while ((got = read (fd, block, sizeof block)) > 0)
    g_checksum_update (sum, block, got);
  close (fd);
  return (got == 0 && strcmp (g_checksum_get_string (sum), stated) == 0)
         || sl_fail (error, SL_ERROR_OPEN,
                     "its SHA-256 is %s; expected %s: it is another file than sha256 states",
                     g_checksum_get_string (sum), stated);
}

/* (nullable): @model, where it was read from the file of @stamp: another one may have its path by
 * now. */
static SlModel *
check_same (SlModel *model, const char *stated, const SlFileStamp *stamp, GError **error)
{
  if (model == NULL || stated == NULL || stated[0] == '\0'
      || sl_file_stamp_same_content (stamp, &model->stamp))
    return model;
  sl_model_unref (model);
  return sl_fail_null (error, SL_ERROR_OPEN,
                       "it was replaced or written after its SHA-256 was compared; expected a file "
                       "that stays: try again");
}

SlModel *
sl_model_load_with (const char *path, const SlModelSettings *overrides,
                    const SlModelLoadOptions *options, GError **error)
{
  g_autofree char *found = find_file (path, error);
  if (found == NULL)
    return NULL;
  path = found;
  SlLoadRequest request = { .options = *options };
  SlModelLoadOptions *settled = &request.options;
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *info = sl_modelinfo_find_file (path), *shape = NULL, *state = NULL;
  if (settled->input_shape == NULL || settled->input_shape[0] == '\0')
    settled->input_shape = shape = sl_modelinfo_early_key (info, "input-shape");
  if (settled->state == NULL || settled->state[0] == '\0')
    state = sl_modelinfo_early_key (info, "state");
  if (state != NULL)
    settled->state = state;
  settle_backend (&request, info, texts);
  const gboolean by_user = settled->fixed_inputs != NULL && settled->fixed_inputs[0] != '\0';
  g_autofree char *stated =
    by_user ? g_strdup (settled->fixed_inputs) : sl_modelinfo_early_key (info, "fixed-inputs");
  GError *failed = NULL;
  SlFileStamp stamp;
  SlModel *model =
    check_hash (path, settled->sha256, &stamp, &failed)
      ? load_with_words (path, overrides, &request, stated, by_user ? NULL : info, &failed)
      : NULL;
  model = check_same (model, settled->sha256, &stamp, &failed);
  if (model == NULL) {
    add_way_out (path, settled, failed);
    g_propagate_prefixed_error (error, failed, "%s: ", path);
    sl_printable_error (error);
  }
  return model;
}

GStrv
sl_model_files (const char *path)
{
  g_autoptr (GStrvBuilder) files = g_strv_builder_new ();
  g_autofree char *model = find_file (path, NULL);
  g_autofree char *info = model != NULL ? sl_modelinfo_find_file (model) : NULL;
  if (model != NULL)
    g_strv_builder_add (files, model);
  if (info != NULL)
    g_strv_builder_add (files, info);
  return g_strv_builder_end (files);
}

SlModel *
sl_model_ref (SlModel *model)
{
  g_atomic_ref_count_inc (&model->refs);
  return model;
}

void
sl_model_unref (SlModel *model)
{
  if (model == NULL || !g_atomic_ref_count_dec (&model->refs))
    return;
  g_clear_pointer (&model->contract, sl_contract_unref);
  g_clear_pointer (&model->graph, sl_graph_unref);
  g_clear_pointer (&model->external, sl_external_model_unref);
  g_free (model->notice);
  g_free (model->device_choice);
  g_free (model->input_shape);
  g_free (model->state);
  g_free (model->path);
  g_free (model);
}

SlGraph *
sl_model_graph (const SlModel *model)
{
  return model->graph;
}

SlContract *
sl_model_contract (const SlModel *model)
{
  return model->contract;
}

const char *
sl_model_path (const SlModel *model)
{
  return model->path;
}

static const char *
pair_at (const GPtrArray *pairs, guint i, const char **value)
{
  if (pairs == NULL || 2 * i >= pairs->len)
    return NULL;
  *value = g_ptr_array_index (pairs, 2 * i + 1);
  return g_ptr_array_index (pairs, 2 * i);
}

const char *
sl_model_fact (const SlModel *model, guint i, const char **value)
{
  const SlModelSource *source = sl_graph_source (model->graph);
  return pair_at (source->metadata.facts, i, value);
}

const char *
sl_model_statement (const SlModel *model, guint i, const char **value)
{
  const SlModelSource *source = sl_graph_source (model->graph);
  return pair_at (source->metadata.statements, i, value);
}

const char *
sl_model_format (const SlModel *model)
{
  const SlModelSource *source = sl_graph_source (model->graph);
  return source->format;
}

GHashTable *
sl_model_data_files (const SlModel *model)
{
  const SlModelSource *source = sl_graph_source (model->graph);
  return source->metadata.data_files;
}

SlExternalModel *
sl_model_external (const SlModel *model)
{
  return model->external;
}

gboolean
sl_model_falls_back (const SlModel *model)
{
  return model->falls_back;
}

const char *
sl_model_notice (const SlModel *model)
{
  return model->notice;
}

const char *
sl_model_device_choice (const SlModel *model)
{
  return model->device_choice;
}

const SlFileStamp *
sl_model_stamp (const SlModel *model)
{
  return &model->stamp;
}

gboolean
sl_model_file_changed (const SlModel *model)
{
  SlFileStamp now;
  return sl_file_stamp_read (model->path, &now)
         && !sl_file_stamp_same_content (&now, &model->stamp);
}

/* Runs @session once on zeros. */
static gboolean
warm_up (SlSession *session, const SlGraph *graph, GError **error)
{
  void *inputs[SL_MAX_IO] = { NULL }, *outputs[SL_MAX_IO] = { NULL };
  gboolean memory = TRUE;
  for (guint i = 0; i < sl_graph_n_inputs (graph); i++)
    memory &=
      (inputs[i] = sl_tensor_buffer_new (sl_graph_declared_input_tensor (graph, i)->bytes)) != NULL;
  for (guint i = 0; i < sl_graph_n_outputs (graph); i++)
    memory &=
      (outputs[i] = sl_tensor_buffer_new (sl_graph_output_tensor (graph, i)->bytes)) != NULL;
  const SlStatus status = memory ? sl_session_run (session, (const void *const *) inputs, outputs)
                                 : SL_STATUS_BACKEND_FAILED;
  for (guint i = 0; i < SL_MAX_IO; i++) {
    sl_tensor_buffer_free (inputs[i]);
    sl_tensor_buffer_free (outputs[i]);
  }
  if (!memory)
    sl_fail (error, SL_ERROR_LIMIT, "no memory for inputs and outputs");
  else if (status != SL_STATUS_OK)
    sl_fail (error, SL_ERROR_BACKEND, "%s: a first run on zeros failed: %s",
             sl_external_model_title (sl_session_external (session)),
             sl_session_status_text (session, status));
  sl_session_reset (session);
  return status == SL_STATUS_OK;
}

SlSession *
sl_model_session_new (SlModel *model, guint threads, char **notice, GError **error)
{
  g_autoptr (GError) failed = NULL;
  SlGraph *graph = sl_model_graph (model);
  SlExternalModel *external = sl_model_external (model);
  const gboolean fallback = sl_model_falls_back (model);
  *notice = g_strdup (sl_model_notice (model));
  if (external == NULL)
    return sl_session_new (graph, threads, error);
  /* Without a fallback, so that what the first run says is seen here. */
  g_autoptr (SlSession) session = sl_session_new_external (graph, external, threads, &failed);
  if (session != NULL && warm_up (session, graph, &failed)) {
    sl_session_set_fallback (session, fallback);
    return g_steal_pointer (&session);
  }
  if (!fallback || sl_graph_whole (graph) != NULL) {
    g_propagate_error (error, g_steal_pointer (&failed));
    return NULL;
  }
  g_free (*notice);
  *notice = g_strdup_printf (SL_BACKEND_FELL_BACK, failed->message);
  return sl_session_new (graph, threads, error);
}
