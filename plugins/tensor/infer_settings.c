/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From slinfer's properties to a model that runs. No state, any thread. */
#include "plugins/tensor/infer_settings.h"

#include "core/base/thread_count.h"
#include "models/backend.h"
#include "plugins/tensor/setting_properties.h"
#include "predict/need.h"
#include "models/replay/golden.h"
#include "core/base/fail.h"

#define AT(member) G_STRUCT_OFFSET (SlInferSettings, member)

/* Those that say how slinfer runs the model. What the model is, models/settings.h says. */
static const SlProperty own[] = {
  { "input-wait", "Input wait",
    "Seconds that the first frame waits for the first tensor of each pad input_N; after that the "
    "newest tensor of each is used",
    SL_PROPERTY_INT, AT (input_wait), 0, 3600, 10, NULL, TRUE },
  { "batch", "Batch",
    "Number of frames that run at once: slinfer elements of one process with the same model and "
    "settings collect their frames; 1 = each element runs its own frames. For devices that gain by "
    "it (sightline bench model --batch)",
    SL_PROPERTY_INT, AT (batch), 1, SL_MAX_BATCH, 1, NULL, TRUE },
  { "batch-timeout", "Batch timeout",
    "Most milliseconds that a frame waits for frames of other streams; added to the latency. No "
    "frame waits for a stream that has ended, or delivered nothing for a second",
    SL_PROPERTY_INT, AT (batch_timeout), 0, 10000, 10, NULL, TRUE },
  { "promised-rate", "Promised rate",
    "Frames a second that the model should run on, as a part of the budget that all slinfer "
    "elements of the process with a "
    "promised rate share (docs/budget.md); 0 = no part in it: the model runs whenever a frame "
    "comes",
    SL_PROPERTY_DOUBLE, AT (promised_rate), 0, 1000, 0, NULL, TRUE },
  { "priority", "Priority",
    "With a promised rate: the weight in the budget when there is not enough for all promises, "
    "and for what is left",
    SL_PROPERTY_INT, AT (priority), 1, 10, 1, NULL, TRUE },
  { "need", "Need",
    "With a promised rate: when the stream gets more of what is left: motion (slmotion found "
    "motion on the newest frame), objects (the model found some on its last frame), zone:NAME "
    "(slanalyze downstream has objects in this zone) or any (motion or objects)",
    SL_PROPERTY_STRING, AT (need), .live = TRUE },
  { "black-box", "Black box",
    "Folder for black boxes with the last inputs and outputs of the model, for sightline replay; "
    "written on the signal dump, and at the next start after a crash; unset = nothing is recorded. "
    "While frames flow, a change of this property or of the black-box properties below reloads the "
    "model and starts a new recording",
    SL_PROPERTY_STRING, AT (black_box), 0, 0, 0, NULL, TRUE },
  { "black-box-seconds", "Black box seconds", "Length of a black box: seconds before it is written",
    SL_PROPERTY_INT, AT (black_box_seconds), 1, 3600, 10, NULL, TRUE },
  { "black-box-limit", "Black box limit",
    "Largest recording in MiB; in $RUNTIME_DIRECTORY or /dev/shm, of which half stays free for "
    "other programs, or in the folder itself if there is not enough memory",
    SL_PROPERTY_INT, AT (black_box_limit), 1, 1024, 256, NULL, TRUE },
  { "black-box-files", "Black box files",
    "Number of newest black boxes of a model that are kept in the folder", SL_PROPERTY_INT,
    AT (black_box_files), 1, 10000, 10, NULL, TRUE },
};

const SlProperty *
sl_infer_settings_properties (gsize offset, guint *n)
{
  static SlProperty properties[SL_MAX_SETTINGS + G_N_ELEMENTS (own)];
  static gsize count = 0;
  if (g_once_init_enter (&count)) {
    guint found = sl_setting_properties (properties, offset + AT (model));
    for (guint i = 0; i < G_N_ELEMENTS (own); i++, found++) {
      properties[found] = own[i];
      properties[found].offset += offset;
    }
    g_once_init_leave (&count, found);
  }
  *n = (guint) count;
  return properties;
}

void
sl_infer_settings_clear (SlInferSettings *settings)
{
  sl_model_settings_clear (&settings->model);
  g_clear_pointer (&settings->handed_inputs, g_free);
  g_clear_pointer (&settings->black_box, g_free);
  g_clear_pointer (&settings->need, g_free);
}

void
sl_infer_settings_copy (const SlInferSettings *from, SlInferSettings *to)
{
  SlModelSettings model = to->model;
  sl_model_settings_copy (&from->model, &model);
  g_free (to->handed_inputs);
  g_free (to->black_box);
  g_free (to->need);
  *to = *from;
  to->model = model;
  to->handed_inputs = g_strdup (from->handed_inputs);
  to->black_box = g_strdup (from->black_box);
  to->need = g_strdup (from->need);
}

void
sl_infer_settings_free (gpointer settings)
{
  sl_infer_settings_clear (settings);
  g_free (settings);
}

static gboolean
parse_threads (const char *text, guint *threads, GError **error)
{
  *threads = 1;
  if (text == NULL || sl_threads_parse (text, threads))
    return TRUE;
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "threads=%s: expected " SL_THREADS_EXPECTED
                  " (CPU threads that run the model), such as threads=2",
                  text);
}

static gboolean
check_need (const char *need, GError **error)
{
  SlNeedKind kind;
  const char *zone;
  return sl_need_parse (need, &kind, &zone)
         || sl_fail (error, SL_ERROR_ARGUMENT, "need=%s: expected " SL_NEED_EXPECTED, need);
}

static gboolean
load_session (const SlModelSettings *settings, const SlModelLoadOptions *options,
              SlLoadedModel *loaded, GError **error)
{
  loaded->model = sl_model_load_with (settings->model, settings, options, error);
  if (loaded->model != NULL)
    loaded->session =
      sl_model_session_new (loaded->model, options->threads, &loaded->notice, error);
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
  const gboolean fell_back =
    sl_model_external (loaded->model) != NULL && sl_session_external (loaded->session) == NULL;
  if (settings->batch <= 1 || fell_back)
    return TRUE;
  loaded->batch = sl_batch_stream_new (loaded->model, loaded->session, (guint) settings->batch,
                                       (gint64) settings->batch_timeout * 1000, error);
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
start_recorder (const SlInferSettings *settings, SlRecorderWritten written, gpointer owner,
                SlLoadedModel *loaded, GError **error)
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
  loaded->recorder =
    sl_recorder_new (loaded->model, loaded->session, settings->model.input_shape, &how, error);
  return loaded->recorder != NULL;
}

gboolean
sl_infer_settings_load (const SlInferSettings *settings, gboolean skip, SlModelSwap *swap,
                        SlRecorderWritten written, gpointer owner, SlLoadedModel *loaded,
                        GError **error)
{
  guint threads;
  if (!parse_threads (settings->model.threads, &threads, error)
      || !check_need (settings->need, error))
    return FALSE;
  SlModelLoadOptions options = sl_model_load_options (&settings->model);
  options.skip_input_quantize = skip;
  options.handed_inputs = settings->handed_inputs;
  options.any_backend = TRUE;
  options.threads = threads;
  const gboolean made = load_session (&settings->model, &options, loaded, error);
  if (swap != NULL && made)
    sl_model_swap_note (swap, loaded->session);
  if (made && (!skip || sl_golden_check (loaded->model, loaded->session, error))
      && join_batch (settings, loaded, error)
      && start_recorder (settings, written, owner, loaded, error))
    return TRUE;
  if (swap != NULL)
    sl_model_swap_note (swap, NULL);
  sl_loaded_model_clear (loaded);
  return FALSE;
}
