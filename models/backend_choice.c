/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The choice of a backend for backend=auto. Both run the model on the same noise, and the faster
 * one is chosen if the results are the same. The choice is stored in ~/.cache/sightline/backends, a
 * key file with a group for each model, machine and runtime.
 */
#include "models/backend_choice.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/base/half.h"
#include "core/base/thread_count.h"
#include "core/base/xxh64.h"
#include "config.h"
#include "models/backend.h"
#include "core/base/fail.h"

#define TRIAL_MS 1000
#define MAX_RUNS 50
/* The runtime has to be faster by this factor: what is measured varies by as much. */
#define GAIN 1.05
#define MAX_REMEMBERED 256
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

/* Of one side of a trial. */
typedef struct
{
  SlSession *session;
  void *const *outputs;
  gdouble *least, *cpu, *joules;
} Side;

/* One run; its time is counted from the second on. */
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
  if (count > 0) {
    *side->least = count == 1 ? ms : fmin (*side->least, ms);
    *side->cpu += cpu_ms () - before;
    *side->joules += energy != NULL ? sl_energy_read (energy) : 0;
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

/* (transfer full): a name for what was measured: any of it changed is another name. */
static char *
name_of (const char *path, const SlModelLoadOptions *options, const char *version,
         const char *library)
{
  SlFileStamp model = { 0 }, file = { 0 };
  sl_file_stamp_read (path, &model);
  sl_file_stamp_read (library, &file);
  g_autofree char *cpu = NULL;
  gsize length = 0;
  g_file_get_contents ("/proc/cpuinfo", &cpu, &length, NULL);
  const char *name = cpu != NULL ? strstr (cpu, "model name") : NULL;
  g_autofree char *cpu_name = name != NULL ? g_strndup (name, strcspn (name, "\n")) : g_strdup ("");
  const SlBackendSettings *backend = &options->backend;
  g_autofree char *text = g_strdup_printf (
    "%s %" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT
    "|%s|%s %" G_GINT64_FORMAT "|%s|%u|%u|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s",
    path, model.device, model.inode, model.size, model.written, library, version, file.written,
    cpu_name, g_get_num_processors (), sl_threads_resolve (options->threads), SL_VERSION,
    backend->provider != NULL ? backend->provider : "",
    backend->options != NULL ? backend->options : "",
    backend->delegate != NULL ? backend->delegate : "",
    backend->provider_library != NULL ? backend->provider_library : "",
    backend->device != NULL ? backend->device : "",
    backend->precision != NULL ? backend->precision : "",
    options->input_shape != NULL ? options->input_shape : "",
    options->fixed_inputs != NULL ? options->fixed_inputs : "",
    options->state != NULL ? options->state : "",
    options->handed_inputs != NULL ? options->handed_inputs : "");
  return g_strdup_printf ("%016" G_GINT64_MODIFIER "x", sl_xxh64 (text, strlen (text), 0));
}

static char *
cache_path (void)
{
  return g_build_filename (g_get_user_cache_dir (), "sightline", "backends", NULL);
}

/* (nullable): the backend that was measured before. */
static const char *
recall (const char *name, const char *runtime)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree char *path = cache_path (), *backend = NULL;
  if (!g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, NULL))
    return NULL;
  backend = g_key_file_get_string (file, name, "backend", NULL);
  return g_strcmp0 (backend, runtime) == 0           ? runtime
         : g_strcmp0 (backend, SL_BACKEND_OURS) == 0 ? SL_BACKEND_OURS
                                                     : NULL;
}

/* A cache that cannot be written is measured again. */
static void
remember (const char *name, const char *model, const char *backend, const SlBackendTrial *trial)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree char *path = cache_path (), *folder = g_path_get_dirname (path);
  gsize n = 0;
  if (g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, NULL)) {
    g_auto (GStrv) groups = g_key_file_get_groups (file, &n);
    for (gsize i = 0; n >= MAX_REMEMBERED && i <= n - MAX_REMEMBERED; i++)
      g_key_file_remove_group (file, groups[i], NULL);
  }
  g_key_file_set_string (file, name, "model", model);
  g_key_file_set_string (file, name, "backend", backend);
  g_key_file_set_double (file, name, "sightline-ms", trial->ours_ms);
  g_key_file_set_double (file, name, "runtime-ms", trial->theirs_ms);
  g_key_file_set_double (file, name, "difference", trial->difference);
  if (g_mkdir_with_parents (folder, 0700) == 0)
    g_key_file_save_to_file (file, path, NULL);
}

/* What is faster, of results that agree. */
static const char *
measure (SlModel *ours, const char *runtime, const SlLoadRequest *request, SlBackendTrial *trial)
{
  SlLoadRequest whole = *request;
  SlBackendSettings *backend = &whole.options.backend;
  g_autofree char *notice = NULL;
  const guint threads = sl_threads_resolve (request->options.threads);
  whole.options.skip_input_quantize = FALSE;
  whole.by_file = FALSE;
  whole.precision = SL_PRECISION_FLOAT;
  backend->backend = runtime;
  backend->fallback = FALSE;
  backend->precision = NULL;
  g_autoptr (SlModel) theirs = sl_backend_settings_check (backend, NULL)
                                 ? sl_model_load_settled (sl_model_path (ours), NULL, &whole, NULL)
                                 : NULL;
  g_autoptr (SlSession) first =
    theirs != NULL ? sl_session_new (sl_model_graph (ours), threads, NULL) : NULL;
  g_autoptr (SlSession) second =
    first != NULL ? sl_model_session_new (theirs, threads, &notice, NULL) : NULL;
  if (second == NULL
      || !sl_backend_try (first, second, sl_model_contract (ours), TRIAL_MS, NULL, trial, NULL))
    return SL_BACKEND_OURS;
  return trial->agrees && trial->theirs_ms * GAIN < trial->ours_ms ? runtime : SL_BACKEND_OURS;
}

const char *
sl_backend_choose (const char *path, const SlLoadRequest *request)
{
  const char *format = sl_model_probe_format (path),
             *runtime = format != NULL ? sl_external_for_format (format) : NULL, *library = NULL;
  const char *version = runtime != NULL ? sl_external_open (runtime, &library, NULL) : NULL;
  SlLoadRequest plain = *request;
  g_autoptr (GError) error = NULL;
  SlBackendTrial trial = { 0 };
  plain.options.skip_input_quantize = FALSE;
  plain.options.backend = (SlBackendSettings){ .backend = SL_BACKEND_OURS,
                                               .precision = request->options.backend.precision };
  plain.by_file = FALSE;
  if (version == NULL)
    return SL_BACKEND_OURS;
  g_autofree char *name = name_of (path, &request->options, version, library);
  const char *known = recall (name, runtime);
  if (known != NULL)
    return known;
  g_autoptr (SlModel) ours = sl_model_load_settled (path, NULL, &plain, &error);
  if (ours == NULL)
    return g_error_matches (error, SL_ERROR, SL_ERROR_UNSUPPORTED) ? runtime : SL_BACKEND_OURS;
  const char *backend = measure (ours, runtime, request, &trial);
  remember (name, path, backend, &trial);
  return backend;
}
