/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The choice of a backend for backend=auto. Both run the model on the same noise, and the faster
 * one is chosen if the results are the same. models/choice_cache.h keeps it.
 */
#include "models/backend_choice.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "core/base/half.h"
#include "core/base/thread_count.h"
#include "core/base/xxh64.h"
#include "models/choice_cache.h"
#include "core/base/fail.h"

#define TRIAL_MS 1000
#define MAX_RUNS 50
/* Microseconds between two looks at the threads, and of all looks. */
#define REST_STEP_US 1000
#define MAX_REST_US 100000
#define MIN_TOP 1e-3
/* Items of a trial differ in how many neighbours are the same: 1, 30, 59 ... */
#define COARSER 29
#define COARSEST 5

typedef struct
{
  void *inputs[SL_MAX_IO], *ours[SL_MAX_IO], *theirs[SL_MAX_IO];
} Buffers;

static void
buffers_clear (Buffers *buffers)
{
  for (guint i = 0; i < SL_MAX_IO; i++) {
    sl_tensor_buffer_free (buffers->inputs[i]);
    sl_tensor_buffer_free (buffers->ours[i]);
    sl_tensor_buffer_free (buffers->theirs[i]);
  }
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Buffers, buffers_clear)

void
sl_backend_fill (const SlTensorInfo *tensor, const SlImageContract *image, guint item, void *data)
{
  const gsize size = sl_dtype_size (tensor->dtype);
  const gdouble gain =
    image != NULL && image->valid && image->range_known ? image->gain[0] : 1.0 / 255;
  const gdouble offset = image != NULL && image->valid && image->range_known ? image->offset[0] : 0;
  for (gsize i = 0; i < tensor->bytes / size; i++) {
    const guint64 number = GUINT64_TO_LE ((guint64) i / ((item % COARSEST) * COARSER + 1));
    const guint8 byte = (guint8) sl_xxh64 (&number, sizeof number, item + 1);
    const gdouble value = byte * gain + offset;
    if (tensor->dtype == SL_DTYPE_F32)
      ((gfloat *) data)[i] = (gfloat) value;
    else if (tensor->dtype == SL_DTYPE_F16)
      ((guint16 *) data)[i] = sl_half_from_float ((gfloat) value);
    else if (tensor->dtype == SL_DTYPE_F64)
      ((gdouble *) data)[i] = value;
    else if (size == 1 && tensor->dtype != SL_DTYPE_BOOL)
      ((guint8 *) data)[i] = byte;
    else
      ((guint8 *) data)[i * size + (G_BYTE_ORDER == G_LITTLE_ENDIAN ? 0 : size - 1)] = byte & 1;
  }
}

/* The largest difference of two values as it is, and as sl_backend_difference(). */
static void
compare (const SlTensorInfo *tensor, const void *a, const void *b, SlBackendTrial *trial)
{
  const gdouble zero = tensor->scale > 0 ? tensor->zero_point : 0;
  gdouble top = sl_dtype_is_float (tensor->dtype) ? MIN_TOP : 0, most = 0,
          largest[] = { -INFINITY, -INFINITY };
  gsize at[] = { 0, 0 };
  for (gsize i = 0; i < tensor->bytes / sl_dtype_size (tensor->dtype); i++) {
    const gdouble x = sl_dtype_value (tensor->dtype, a, i),
                  y = sl_dtype_value (tensor->dtype, b, i);
    if (isfinite (x) != isfinite (y))
      most = INFINITY;
    if (!isfinite (x) || !isfinite (y))
      continue;
    at[0] = x > largest[0] ? i : at[0];
    at[1] = y > largest[1] ? i : at[1];
    largest[0] = fmax (largest[0], x);
    largest[1] = fmax (largest[1], y);
    top = fmax (top, fabs (x - zero));
    most = fmax (most, fabs (x - y));
  }
  trial->apart = fmax (trial->apart, most);
  trial->difference = fmax (trial->difference, most == 0 ? 0 : top == 0 ? INFINITY : most / top);
  trial->same_top &= at[0] == at[1];
}

gdouble
sl_backend_difference (const SlTensorInfo *tensor, const void *a, const void *b)
{
  SlBackendTrial trial = { 0 };
  compare (tensor, a, b, &trial);
  return trial.difference;
}

static gdouble
cpu_ms (void)
{
  struct timespec now;
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (gdouble) now.tv_sec * 1e3 + (gdouble) now.tv_nsec / 1e6;
}

/* Whether the thread whose state is at @path runs or could run. */
static gboolean
is_running (const char *path)
{
  g_autofree char *text = NULL;
  /* "12 (name) R ...": the name may have parentheses. */
  const char *name_end = g_file_get_contents (path, &text, NULL, NULL) ? strrchr (text, ')') : NULL;
  return name_end != NULL && g_str_has_prefix (name_end, ") R");
}

static guint
count_running_threads (void)
{
  guint n = 0;
  const char *id;
  g_autoptr (GDir) tasks = g_dir_open ("/proc/self/task", 0, NULL);
  while (tasks != NULL && (id = g_dir_read_name (tasks)) != NULL) {
    g_autofree char *path = g_build_filename ("/proc/self/task", id, "stat", NULL);
    n += is_running (path);
  }
  return n;
}

/* Threads of a runtime spin after a run, and would take processor time from the next one. Waits
 * until only the caller runs, or until time is up. */
static void
wait_for_rest (void)
{
  const gint64 end = g_get_monotonic_time () + MAX_REST_US;
  while (count_running_threads () > 1 && g_get_monotonic_time () < end)
    g_usleep (REST_STEP_US);
}

/* Of one side of a trial. */
typedef struct
{
  SlSession *session;
  void *const *outputs;
  gdouble *least, *cpu, *joules;
} Side;

/* One run. Its time is counted from the second run on. The processor time is also that of threads
 * that spin after it. */
static gboolean
run (const Side *side, const Buffers *buffers, guint count, SlEnergy *energy, GError **error)
{
  if (energy != NULL)
    sl_energy_read (energy);
  const gdouble before = cpu_ms ();
  const gint64 start = g_get_monotonic_time ();
  const SlStatus status =
    sl_session_run (side->session, (const void *const *) buffers->inputs, side->outputs);
  const gdouble ms = (gdouble) (g_get_monotonic_time () - start) / 1e3;
  if (status != SL_STATUS_OK)
    return sl_fail (error, SL_ERROR_BACKEND, "%s", sl_session_status_text (side->session, status));
  const gdouble joules = energy != NULL ? sl_energy_read (energy) : 0;
  wait_for_rest ();
  if (count > 0) {
    *side->least = count == 1 ? ms : fmin (*side->least, ms);
    *side->cpu += cpu_ms () - before;
    *side->joules += joules;
  }
  return TRUE;
}

gboolean
sl_backend_try (SlSession *ours, SlSession *theirs, const SlContract *contract, guint ms,
                SlEnergy *energy, SlBackendTrial *trial, GError **error)
{
  g_auto (Buffers) buffers = { 0 };
  gboolean memory = TRUE;
  *trial = (SlBackendTrial){ .same_top = TRUE };
  for (guint i = 0; i < contract->n_inputs; i++) {
    memory &= (buffers.inputs[i] = sl_tensor_buffer_new (contract->inputs[i].bytes)) != NULL;
    if (memory)
      sl_backend_fill (&contract->inputs[i], i == 0 ? &contract->image : NULL, 0,
                       buffers.inputs[i]);
  }
  for (guint i = 0; i < contract->n_outputs; i++) {
    memory &= (buffers.ours[i] = sl_tensor_buffer_new (contract->outputs[i].bytes)) != NULL;
    memory &= (buffers.theirs[i] = sl_tensor_buffer_new (contract->outputs[i].bytes)) != NULL;
  }
  if (!memory)
    return sl_fail (error, SL_ERROR_LIMIT, "no memory for inputs and outputs");
  const gint64 end = g_get_monotonic_time () + (gint64) ms * 1000;
  const Side first = { ours, buffers.ours, &trial->ours_ms, &trial->ours_cpu_ms,
                       &trial->ours_joules };
  const Side second = { theirs, buffers.theirs, &trial->theirs_ms, &trial->theirs_cpu_ms,
                        &trial->theirs_joules };
  guint n = 0;
  for (; n < 2 || (n <= MAX_RUNS && g_get_monotonic_time () < end); n++)
    if (!run (&first, &buffers, n, energy, error) || !run (&second, &buffers, n, energy, error))
      return FALSE;
  trial->ours_joules /= n - 1;
  trial->theirs_joules /= n - 1;
  trial->ours_cpu_ms /= n - 1;
  trial->theirs_cpu_ms /= n - 1;
  for (guint i = 0; i < contract->n_outputs; i++)
    compare (&contract->outputs[i], buffers.ours[i], buffers.theirs[i], trial);
  trial->agrees = trial->difference <= SL_BACKEND_AGREEMENT;
  return TRUE;
}

gboolean
sl_backend_measure (SlModel *ours, const SlBackendSettings *backend, const SlLoadRequest *request,
                    SlBackendTrial *trial, GError **error)
{
  SlLoadRequest whole = *request;
  g_autofree char *notice = NULL;
  const guint threads = sl_threads_resolve (request->options.threads);
  whole.options.skip_input_quantize = FALSE;
  whole.by_file = FALSE;
  whole.precision = SL_PRECISION_FLOAT;
  whole.options.backend = *backend;
  whole.options.backend.fallback = FALSE;
  whole.options.backend.precision = NULL;
  g_autoptr (SlModel) theirs = sl_backend_settings_check (&whole.options.backend, error)
                                 ? sl_model_load_settled (sl_model_path (ours), NULL, &whole, error)
                                 : NULL;
  g_autoptr (SlSession) first =
    theirs != NULL ? sl_session_new (sl_model_graph (ours), threads, error) : NULL;
  g_autoptr (SlSession) second =
    first != NULL ? sl_model_session_new (theirs, threads, &notice, error) : NULL;
  return second != NULL
         && sl_backend_try (first, second, sl_model_contract (ours), TRIAL_MS, NULL, trial, error);
}

SlModel *
sl_backend_load_ours (const char *path, const SlLoadRequest *request, GError **error)
{
  SlLoadRequest plain = *request;
  plain.options.skip_input_quantize = FALSE;
  plain.options.backend = (SlBackendSettings){ .backend = SL_BACKEND_OURS,
                                               .precision = request->options.backend.precision };
  plain.by_file = FALSE;
  return sl_model_load_settled (path, NULL, &plain, error);
}

/* A cache that cannot be written is measured again. */
static void
remember (const char *name, const char *model, const char *backend, const SlBackendTrial *trial)
{
  const SlChoiceNumber numbers[] = { { "sightline-ms", trial->ours_ms },
                                     { "runtime-ms", trial->theirs_ms },
                                     { "difference", trial->difference } };
  const SlChoiceText texts[] = { { "model", model }, { "backend", backend } };
  sl_choice_remember (name, texts, G_N_ELEMENTS (texts), numbers, G_N_ELEMENTS (numbers));
}

/* What is faster, of results that agree. */
static const char *
measure (SlModel *ours, const char *runtime, const SlLoadRequest *request, SlBackendTrial *trial)
{
  SlBackendSettings backend = request->options.backend;
  backend.backend = runtime;
  return sl_backend_measure (ours, &backend, request, trial, NULL) && trial->agrees
             && trial->theirs_ms * SL_BACKEND_GAIN < trial->ours_ms
           ? runtime
           : SL_BACKEND_OURS;
}

/* (nullable): the backend that was measured before. */
static const char *
recall (const char *name, const char *runtime)
{
  g_autofree char *backend = sl_choice_recall (name, "backend");
  return g_strcmp0 (backend, runtime) == 0           ? runtime
         : g_strcmp0 (backend, SL_BACKEND_OURS) == 0 ? SL_BACKEND_OURS
                                                     : NULL;
}

const char *
sl_backend_choose (const char *path, const SlLoadRequest *request)
{
  const char *format = sl_model_probe_format (path),
             *runtime = format != NULL ? sl_external_for_format (format) : NULL, *library = NULL;
  const char *version = runtime != NULL ? sl_external_open (runtime, &library, NULL) : NULL;
  g_autoptr (GError) error = NULL;
  SlBackendTrial trial = { 0 };
  if (version == NULL)
    return SL_BACKEND_OURS;
  g_autofree char *name = sl_choice_name (path, &request->options, version, library);
  const char *known = recall (name, runtime);
  if (known != NULL)
    return known;
  g_autoptr (SlModel) ours = sl_backend_load_ours (path, request, &error);
  if (ours == NULL)
    return g_error_matches (error, SL_ERROR, SL_ERROR_UNSUPPORTED) ? runtime : SL_BACKEND_OURS;
  const char *backend = measure (ours, runtime, request, &trial);
  remember (name, path, backend, &trial);
  return backend;
}
