/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From slinfer's properties to a model that runs. No state, any thread. */
#include "plugins/tensor/infer_settings.h"

#include "core/base/thread_count.h"
#include "models/backend.h"
#include "plugins/base/properties.h"
#include "models/replay/golden.h"
#include "sightline/error.h"

void
sl_infer_settings_clear (SlInferSettings *settings)
{
  g_clear_pointer (&settings->model, g_free);
  g_clear_pointer (&settings->labels, g_free);
  g_clear_pointer (&settings->threads, g_free);
  g_clear_pointer (&settings->mean, g_free);
  g_clear_pointer (&settings->std, g_free);
  g_clear_pointer (&settings->decoder, g_free);
  g_clear_pointer (&settings->input_shape, g_free);
  g_clear_pointer (&settings->fixed_inputs, g_free);
  g_clear_pointer (&settings->state, g_free);
  g_clear_pointer (&settings->handed_inputs, g_free);
  g_clear_pointer (&settings->black_box, g_free);
  g_clear_pointer (&settings->backend, g_free);
  g_clear_pointer (&settings->provider, g_free);
  g_clear_pointer (&settings->provider_options, g_free);
  g_clear_pointer (&settings->delegate, g_free);
  g_clear_pointer (&settings->precision, g_free);
}

void
sl_infer_settings_copy (const SlInferSettings *from, SlInferSettings *to)
{
  sl_infer_settings_clear (to);
  *to = *from;
  to->model = g_strdup (from->model);
  to->labels = g_strdup (from->labels);
  to->threads = g_strdup (from->threads);
  to->mean = g_strdup (from->mean);
  to->std = g_strdup (from->std);
  to->decoder = g_strdup (from->decoder);
  to->input_shape = g_strdup (from->input_shape);
  to->fixed_inputs = g_strdup (from->fixed_inputs);
  to->state = g_strdup (from->state);
  to->handed_inputs = g_strdup (from->handed_inputs);
  to->black_box = g_strdup (from->black_box);
  to->backend = g_strdup (from->backend);
  to->provider = g_strdup (from->provider);
  to->provider_options = g_strdup (from->provider_options);
  to->delegate = g_strdup (from->delegate);
  to->precision = g_strdup (from->precision);
}

void
sl_infer_settings_free (gpointer settings)
{
  sl_infer_settings_clear (settings);
  g_free (settings);
}

static gboolean
parse_threads (const SlInferSettings *settings, guint *threads, GError **error)
{
  *threads = 1;
  if (settings->threads == NULL || sl_threads_parse (settings->threads, threads))
    return TRUE;
  g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT,
               "threads=%s: expected " SL_THREADS_EXPECTED " (CPU threads that run the model), such as threads=2", settings->threads);
  return FALSE;
}

static gboolean
load_session (const SlInferSettings *settings, const SlModelLoadOptions *options, guint threads, SlLoadedModel *loaded, GError **error)
{
  const SlContractOverrides overrides = {
    .labels = settings->labels,
    .mean = settings->mean,
    .std = settings->std,
    .colour = sl_choice_nick (sl_colour_choice_get_type (), settings->colour),
    .fit = sl_choice_nick (sl_fit_choice_get_type (), settings->fit),
    .layout = sl_choice_nick (sl_layout_choice_get_type (), settings->layout),
    .decoder = settings->decoder,
  };
  loaded->model = sl_model_load_with (settings->model, &overrides, options, error);
  if (loaded->model != NULL)
    loaded->session = sl_model_session_new (loaded->model, threads, &loaded->notice, error);
  if (loaded->session != NULL)
    return TRUE;
  if (loaded->model != NULL)
    g_prefix_error (error, "%s: ", sl_model_path (loaded->model));
  return FALSE;
}

static gboolean
join_batch (const SlInferSettings *settings, SlLoadedModel *loaded, GError **error)
{
  /* What fell back at its first run runs single frames, as its notice has it. */
  const gboolean fell_back = sl_model_external (loaded->model) != NULL && sl_session_external (loaded->session) == NULL;
  if (settings->batch <= 1 || fell_back)
    return TRUE;
  loaded->batch =
    sl_batch_stream_new (loaded->model, loaded->session, (guint) settings->batch, (gint64) settings->batch_timeout * 1000, error);
  if (loaded->batch == NULL)
    g_prefix_error (error, "%s: batch=%d: ", sl_model_path (loaded->model), settings->batch);
  return loaded->batch != NULL;
}

static void
free_weak_ref (gpointer weak)
{
  g_weak_ref_clear (weak);
  g_free (weak);
}

static gboolean
start_recorder (const SlInferSettings *settings, SlRecorderWritten written, gpointer owner, SlLoadedModel *loaded, GError **error)
{
  if (settings->black_box == NULL || settings->black_box[0] == '\0')
    return TRUE;
  GWeakRef *weak = g_new0 (GWeakRef, 1);
  g_weak_ref_init (weak, owner);
  const SlRecorderSettings how = { .folder = settings->black_box,
                                   .seconds = (guint) settings->black_box_seconds,
                                   .limit = (guint64) settings->black_box_limit << 20,
                                   .files = (guint) settings->black_box_files,
                                   .written = written,
                                   .data = weak,
                                   .free_data = free_weak_ref };
  loaded->recorder = sl_recorder_new (loaded->model, loaded->session, settings->input_shape, &how, error);
  return loaded->recorder != NULL;
}

gboolean
sl_infer_settings_load (const SlInferSettings *settings, gboolean skip, SlModelSwap *swap, SlRecorderWritten written, gpointer owner,
                        SlLoadedModel *loaded, GError **error)
{
  const guint64 limit = (guint64) settings->tensor_limit << 20;
  guint threads;
  if (!parse_threads (settings, &threads, error))
    return FALSE;
  const SlModelLoadOptions options = { .skip_input_quantize = skip,
                                       .tensor_limit = (gsize) MIN (limit, G_MAXSIZE / 4),
                                       .work_limit = (guint64) settings->work_limit * 1000000000,
                                       .input_shape = settings->input_shape,
                                       .fixed_inputs = settings->fixed_inputs,
                                       .state = settings->state,
                                       .handed_inputs = settings->handed_inputs,
                                       .any_backend = TRUE,
                                       .backend = { .backend = settings->backend,
                                                    .provider = settings->provider,
                                                    .options = settings->provider_options,
                                                    .delegate = settings->delegate,
                                                    .precision = settings->precision,
                                                    .fallback = settings->fallback },
                                       .threads = threads };
  const gboolean made = load_session (settings, &options, threads, loaded, error);
  if (swap != NULL && made)
    sl_model_swap_note (swap, loaded->session);
  if (made && (!skip || sl_golden_check (loaded->model, loaded->session, error)) && join_batch (settings, loaded, error)
      && start_recorder (settings, written, owner, loaded, error))
    return TRUE;
  if (swap != NULL)
    sl_model_swap_note (swap, NULL);
  sl_loaded_model_clear (loaded);
  return FALSE;
}
