/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ONNX Runtime. Many threads may run one of its sessions at once, so each model has one session. A
 * runner belongs to one stream and has the OrtValues that refer to its tensors. An OrtValue is made
 * once for each buffer. Pools have few buffers, so frames allocate none, and neither inputs nor
 * outputs are copied.
 */
#include "core/external/onnxruntime.h"

#include <dlfcn.h>
#include <string.h>

#include "core/base/printable.h"
#include "core/external/runtime.h"
#include "core/base/fail.h"

/* Buffers of a tensor that are remembered: more than pools between elements have. */
#define KEPT 16

#define AT(position, member)                           \
  {                                                    \
    NULL, position, G_STRUCT_OFFSET (SlOrtApi, member) \
  }

/* By their places in the table of the library, with the library's names. */
static const SlRuntimeFunction functions[] = {
  AT (2 /* GetErrorMessage */, get_message),
  AT (3 /* CreateEnv */, create_env),
  AT (7 /* CreateSession */, create_session),
  AT (8 /* CreateSessionFromArray */, create_session_from_array),
  AT (9 /* Run */, run),
  AT (10 /* CreateSessionOptions */, create_options),
  AT (24 /* SetIntraOpNumThreads */, set_threads),
  AT (30 /* SessionGetInputCount */, count_inputs),
  AT (31 /* SessionGetOutputCount */, count_outputs),
  AT (33 /* SessionGetInputTypeInfo */, input_type),
  AT (34 /* SessionGetOutputTypeInfo */, output_type),
  AT (36 /* SessionGetInputName */, input_name),
  AT (37 /* SessionGetOutputName */, output_name),
  AT (39 /* CreateRunOptions */, create_run_options),
  AT (46 /* RunOptionsSetTerminate */, set_terminate),
  AT (47 /* RunOptionsUnsetTerminate */, unset_terminate),
  AT (49 /* CreateTensorWithDataAsOrtValue */, create_tensor),
  AT (51 /* GetTensorMutableData */, get_data),
  AT (55 /* CastTypeInfoToTensorInfo */, type_to_shape),
  AT (60 /* GetTensorElementType */, element_type),
  AT (61 /* GetDimensionsCount */, count_dimensions),
  AT (62 /* GetDimensions */, get_dimensions),
  AT (65 /* GetTensorTypeAndShape */, value_shape),
  AT (69 /* CreateCpuMemoryInfo */, create_cpu_memory),
  AT (76 /* AllocatorFree */, allocator_free),
  AT (78 /* GetAllocatorWithDefaultOptions */, default_allocator),
  AT (93 /* ReleaseStatus */, release_status),
  AT (95 /* ReleaseSession */, release_session),
  AT (96 /* ReleaseValue */, release_value),
  AT (97 /* ReleaseRunOptions */, release_run_options),
  AT (98 /* ReleaseTypeInfo */, release_type),
  AT (99 /* ReleaseTensorTypeAndShapeInfo */, release_shape),
  AT (100 /* ReleaseSessionOptions */, release_options),
  AT (125 /* GetAvailableProviders */, available_providers),
  AT (126 /* ReleaseAvailableProviders */, release_providers),
  AT (130 /* AddSessionConfigEntry */, add_config),
  AT (216 /* SessionOptionsAppendExecutionProvider */, append_provider),
};

/* By SlDtype. */
static const int types[SL_DTYPE_COUNT] = {
  [SL_DTYPE_F32] = SL_ORT_FLOAT,  [SL_DTYPE_F16] = SL_ORT_FLOAT16, [SL_DTYPE_F64] = SL_ORT_DOUBLE,
  [SL_DTYPE_I8] = SL_ORT_INT8,    [SL_DTYPE_U8] = SL_ORT_UINT8,    [SL_DTYPE_I16] = SL_ORT_INT16,
  [SL_DTYPE_U16] = SL_ORT_UINT16, [SL_DTYPE_I32] = SL_ORT_INT32,   [SL_DTYPE_U32] = SL_ORT_UINT32,
  [SL_DTYPE_I64] = SL_ORT_INT64,  [SL_DTYPE_U64] = SL_ORT_UINT64,  [SL_DTYPE_BOOL] = SL_ORT_BOOL,
};

typedef struct
{
  const SlOrt *ort;
  SlOrtSession *session;
  guint n_inputs, n_outputs;
  char *names[2 * SL_MAX_IO]; /* of inputs, then of outputs from SL_MAX_IO on; the allocator's */
  gint32 passed[SL_MAX_IO];   /* by output: the input that it is, or -1 */
  gint32 declared[SL_MAX_IO][SL_MAX_RANK]; /* dimensions of outputs as the model has them, which
                                              need not be those that a run gives */
} Model;

/* The values of a tensor, by where its bytes are. @own: the library gives an output in memory of
 * its own, since it refuses ours for a size that is not declared. */
typedef struct
{
  SlTensor tensor;
  gboolean own;
  const void *data[KEPT];
  SlOrtValue *values[KEPT];
  guint next;
} Place;

typedef struct
{
  const Model *model;
  SlOrtRunOptions *options;
  Place *inputs, *outputs;
} Runner;

gboolean
sl_ort_good (const SlOrt *ort, SlOrtStatus *status, GError **error)
{
  if (status == NULL)
    return TRUE;
  const char *said = ort->api.get_message (status);
  g_autofree char *message =
    sl_printable (said != NULL ? said : "it does not say why", SL_PRINTABLE_MESSAGE);
  sl_fail (error, SL_ERROR_BACKEND, "%s", message);
  ort->api.release_status (status);
  return FALSE;
}

gboolean
sl_ort_gave (const SlOrt *ort, SlOrtStatus *status, const void *thing, GError **error)
{
  const void *given;
  if (!sl_ort_good (ort, status, error))
    return FALSE;
  memcpy (&given, thing, sizeof given);
  return given != NULL
         || sl_fail (error, SL_ERROR_BACKEND,
                     "it says that all is well, and gives nothing: it is no complete library");
}

static gpointer
open_library (void *handle, const char **version, GError **error)
{
  static const SlRuntimeFunction exported[] = { { "OrtGetApiBase", 0, 0 } };
  const SlOrtBase *(*get_base) (void) = NULL;
  if (!sl_runtime_find_functions (handle, exported, G_N_ELEMENTS (exported), &get_base, error))
    return NULL;
  const SlOrtBase *base = get_base ();
  const char *stated = base != NULL && base->get_api != NULL && base->get_version != NULL
                         ? base->get_version ()
                         : NULL;
  if (stated == NULL)
    return sl_fail_null (error, SL_ERROR_UNSUPPORTED,
                         "it does not say its version: expected ONNX Runtime " SL_ORT_OLDEST
                         " or newer: install that");
  /* A table of a version that the library lacks is refused by it with a line on the standard error,
   * so its version is looked at before. */
  g_autofree char *number = sl_printable (stated, SL_PRINTABLE_NAME);
  char *end = NULL;
  const guint64 major = g_ascii_strtoull (number, &end, 10),
                minor = *end == '.' ? g_ascii_strtoull (end + 1, NULL, 10) : 0;
  const void *const *table =
    major > 1 || (major == 1 && minor >= SL_ORT_API) ? base->get_api (SL_ORT_API) : NULL;
  if (table == NULL)
    return sl_fail_null (
      error, SL_ERROR_UNSUPPORTED,
      "ONNX Runtime %s does not do: expected " SL_ORT_OLDEST " or newer: install that", number);
  g_autofree SlOrt *ort = g_new0 (SlOrt, 1);
  ort->handle = handle;
  ort->table = table;
  ort->newer = major > 1 || minor >= SL_ORT_PLUGIN_API ? base->get_api (SL_ORT_PLUGIN_API) : NULL;
  if (!sl_runtime_read_table (table, functions, G_N_ELEMENTS (functions), &ort->api, error)
      || !sl_ort_gave (ort, ort->api.create_env (SL_ORT_LOG_FATAL, "sightline", &ort->env),
                       &ort->env, error)
      || !sl_ort_gave (ort,
                       ort->api.create_cpu_memory (SL_ORT_ALLOCATOR, SL_ORT_MEMORY, &ort->memory),
                       &ort->memory, error)
      || !sl_ort_gave (ort, ort->api.default_allocator (&ort->allocator), &ort->allocator, error))
    return NULL;
  *version = ort->version = g_steal_pointer (&number);
  return g_steal_pointer (&ort);
}

static gboolean
read_shape (const SlOrt *ort, const SlOrtShape *shape, SlTensor *tensor, GError **error)
{
  int64_t dims[SL_MAX_RANK];
  size_t rank = 0;
  int type = 0;
  if (!sl_ort_good (ort, ort->api.element_type (shape, &type), error)
      || !sl_ort_good (ort, ort->api.count_dimensions (shape, &rank), error))
    return FALSE;
  for (guint i = 0; i < SL_DTYPE_COUNT; i++)
    if (types[i] != 0 && types[i] == type)
      tensor->dtype = (SlDtype) i;
  if (tensor->dtype == SL_DTYPE_INVALID || rank > SL_MAX_RANK)
    return sl_fail (error, SL_ERROR_UNSUPPORTED,
                    "tensor '%s' has elements of type %d and %" G_GSIZE_FORMAT
                    " dimensions, which is not supported",
                    tensor->name, type, (gsize) rank);
  if (!sl_ort_good (ort, ort->api.get_dimensions (shape, dims, rank), error))
    return FALSE;
  tensor->rank = (guint) rank;
  for (guint i = 0; i < rank; i++)
    tensor->dims[i] = dims[i] >= 0 && dims[i] <= G_MAXINT32 ? (gint32) dims[i] : -1;
  return TRUE;
}

static gboolean
read_edge (Model *model, gboolean output, guint i, SlTensor *tensor, GError **error)
{
  const SlOrtApi *api = &model->ort->api;
  char **name = &model->names[(output ? SL_MAX_IO : 0) + i];
  SlOrtType *type = NULL;
  const SlOrtShape *shape = NULL;
  if (!sl_ort_gave (model->ort,
                    (output ? api->output_name : api->input_name) (model->session, i,
                                                                   model->ort->allocator, name),
                    name, error)
      || !sl_ort_gave (model->ort,
                       (output ? api->output_type : api->input_type) (model->session, i, &type),
                       &type, error))
    return FALSE;
  tensor->name = g_strdup (*name);
  gboolean good = sl_ort_good (model->ort, api->type_to_shape (type, &shape), error);
  if (good && shape == NULL) {
    sl_fail (error, SL_ERROR_UNSUPPORTED, "'%s' is no tensor", tensor->name);
    good = FALSE;
  }
  good = good && read_shape (model->ort, shape, tensor, error);
  api->release_type (type);
  for (guint k = 0; good && output && k < SL_MAX_RANK; k++) {
    model->declared[i][k] = k < tensor->rank ? tensor->dims[k] : -1;
    tensor->dims[k] = -1; /* a run tells */
  }
  if (!good)
    g_clear_pointer ((char **) &tensor->name, g_free);
  return good;
}

static gboolean
read_edges (Model *model, SlRuntimeEdges *edges, GError **error)
{
  size_t n_inputs = 0, n_outputs = 0;
  const SlOrtApi *api = &model->ort->api;
  if (!sl_ort_good (model->ort, api->count_inputs (model->session, &n_inputs), error)
      || !sl_ort_good (model->ort, api->count_outputs (model->session, &n_outputs), error))
    return FALSE;
  if (!sl_runtime_check_counts ((gint64) n_inputs, (gint64) n_outputs, error))
    return FALSE;
  for (; edges->n_inputs < n_inputs; edges->n_inputs++, model->n_inputs++)
    if (!read_edge (model, FALSE, edges->n_inputs, &edges->inputs[edges->n_inputs], error))
      return FALSE;
  for (; edges->n_outputs < n_outputs; edges->n_outputs++, model->n_outputs++)
    if (!read_edge (model, TRUE, edges->n_outputs, &edges->outputs[edges->n_outputs], error))
      return FALSE;
  return TRUE;
}

/* An output that is an input is given no bytes by the library where it is told the memory. */
static void
find_passed (Model *model)
{
  for (guint i = 0; i < model->n_outputs; i++) {
    model->passed[i] = -1;
    for (guint k = 0; k < model->n_inputs; k++)
      if (strcmp (model->names[SL_MAX_IO + i], model->names[k]) == 0)
        model->passed[i] = (gint32) k;
  }
}

static void
unload (gpointer data)
{
  Model *model = data;
  for (guint i = 0; i < G_N_ELEMENTS (model->names); i++)
    if (model->names[i] != NULL)
      sl_ort_good (model->ort,
                   model->ort->api.allocator_free (model->ort->allocator, model->names[i]), NULL);
  if (model->session != NULL)
    model->ort->api.release_session (model->session);
  g_free (model);
}

static gboolean
create_session (Model *model, const SlExternalRequest *request, char **device, GError **error)
{
  const SlOrt *ort = model->ort;
  SlOrtOptions *options = NULL;
  gsize size;
  const void *bytes = g_bytes_get_data (request->bytes, &size);
  if (!sl_ort_gave (ort, ort->api.create_options (&options), &options, error))
    return FALSE;
  const gboolean good =
    sl_ort_good (ort, ort->api.set_threads (options, (int) request->threads), error)
    && sl_ort_append_providers (ort, options, request->settings, device, error)
    && sl_ort_gave (
      ort,
      request->has_files
        ? ort->api.create_session (ort->env, request->path, options, &model->session)
        : ort->api.create_session_from_array (ort->env, bytes, size, options, &model->session),
      &model->session, error);
  ort->api.release_options (options);
  return good;
}

static gpointer
load (gpointer library, const SlExternalRequest *request, SlRuntimeEdges *edges, char **device,
      GError **error)
{
  Model *model = g_new0 (Model, 1);
  model->ort = library;
  if (create_session (model, request, device, error) && read_edges (model, edges, error)) {
    find_passed (model);
    return model;
  }
  unload (model);
  return NULL;
}

static SlOrtStatus *
make_value (const SlOrt *ort, const SlTensor *tensor, const void *data, SlOrtValue **value)
{
  int64_t dims[SL_MAX_RANK];
  for (guint i = 0; i < tensor->rank; i++)
    dims[i] = tensor->dims[i];
  return ort->api.create_tensor (ort->memory, (void *) data, tensor->bytes, dims, tensor->rank,
                                 types[tensor->dtype], value);
}

static gboolean
read_value (const SlOrt *ort, const SlOrtValue *value, SlTensor *tensor, GError **error)
{
  SlOrtShape *shape = NULL;
  if (!sl_ort_gave (ort, ort->api.value_shape (value, &shape), &shape, error))
    return FALSE;
  const gboolean good = read_shape (ort, shape, tensor, error);
  ort->api.release_shape (shape);
  return good;
}

/* Runs on @inputs, with outputs wherever the library wants them. */
static gboolean
run_once (const Model *model, SlOrtValue *const *inputs, SlRuntimeEdges *edges, GError **error)
{
  SlOrtValue *outputs[SL_MAX_IO] = { NULL };
  const SlOrtApi *api = &model->ort->api;
  gboolean good = sl_ort_good (model->ort,
                               api->run (model->session, NULL, (const char *const *) model->names,
                                         (const SlOrtValue *const *) inputs, model->n_inputs,
                                         (const char *const *) model->names + SL_MAX_IO,
                                         model->n_outputs, outputs),
                               error);
  for (guint i = 0; i < model->n_outputs; i++) {
    good = good && sl_ort_gave (model->ort, NULL, &outputs[i], error)
           && read_value (model->ort, outputs[i], &edges->outputs[i], error);
    if (outputs[i] != NULL)
      api->release_value (outputs[i]);
  }
  return good;
}

static gboolean
settle (gpointer data, SlRuntimeEdges *edges, GError **error)
{
  const Model *model = data;
  SlOrtValue *values[SL_MAX_IO] = { NULL };
  void *zeros[SL_MAX_IO] = { NULL };
  gboolean good = TRUE;
  for (guint i = 0; good && i < model->n_inputs; i++) {
    SlTensor *tensor = &edges->inputs[i];
    const gsize elements = sl_tensor_count (tensor);
    tensor->bytes = elements * sl_dtype_size (tensor->dtype);
    zeros[i] = sl_tensor_buffer_new (tensor->bytes);
    if (zeros[i] == NULL)
      sl_fail (error, SL_ERROR_LIMIT, "no memory for %" G_GSIZE_FORMAT " bytes of input '%s'",
               tensor->bytes, tensor->name);
    good = zeros[i] != NULL
           && sl_ort_gave (model->ort, make_value (model->ort, tensor, zeros[i], &values[i]),
                           &values[i], error);
  }
  good = good && run_once (model, values, edges, error);
  for (guint i = 0; i < model->n_inputs; i++) {
    if (values[i] != NULL)
      model->ort->api.release_value (values[i]);
    sl_tensor_buffer_free (zeros[i]);
  }
  return good;
}

static void
stop (gpointer data)
{
  Runner *runner = data;
  const SlOrtApi *api = &runner->model->ort->api;
  for (guint i = 0; i < runner->model->n_inputs + runner->model->n_outputs; i++) {
    const Place *place = i < runner->model->n_inputs
                           ? &runner->inputs[i]
                           : &runner->outputs[i - runner->model->n_inputs];
    for (guint k = 0; k < KEPT; k++)
      if (place->values[k] != NULL)
        api->release_value (place->values[k]);
  }
  if (runner->options != NULL)
    api->release_run_options (runner->options);
  g_free (runner->inputs);
  g_free (runner->outputs);
  g_free (runner);
}

static gpointer
start (gpointer data, const SlRuntimeEdges *edges, GError **error)
{
  const Model *model = data;
  Runner *runner = g_new0 (Runner, 1);
  runner->model = model;
  runner->inputs = g_new0 (Place, model->n_inputs);
  runner->outputs = g_new0 (Place, model->n_outputs);
  for (guint i = 0; i < model->n_inputs; i++)
    runner->inputs[i].tensor = edges->inputs[i];
  for (guint i = 0; i < model->n_outputs; i++) {
    Place *place = &runner->outputs[i];
    place->tensor = edges->outputs[i];
    for (guint k = 0; k < place->tensor.rank; k++)
      place->own |= model->declared[i][k] >= 0 && model->declared[i][k] != place->tensor.dims[k];
  }
  if (sl_ort_gave (model->ort, model->ort->api.create_run_options (&runner->options),
                   &runner->options, error))
    return runner;
  stop (runner);
  return NULL;
}

/* The value of a tensor whose bytes are at @data. */
static SlOrtStatus *
find_value (const SlOrt *ort, Place *place, const void *data, SlOrtValue **value)
{
  for (guint i = 0; i < KEPT; i++)
    if (place->values[i] != NULL && place->data[i] == data) {
      *value = place->values[i];
      return NULL;
    }
  const guint i = place->next++ % KEPT;
  if (place->values[i] != NULL)
    ort->api.release_value (g_steal_pointer (&place->values[i]));
  SlOrtStatus *status = make_value (ort, &place->tensor, data, &place->values[i]);
  place->data[i] = data;
  *value = place->values[i];
  return status;
}

/* Copies what @value has, if it is what @tensor says. */
static gboolean
take_own (const SlOrt *ort, const SlTensor *tensor, SlOrtValue *value, void *into, char *failure)
{
  g_autoptr (GError) error = NULL;
  SlTensor given = { .name = tensor->name };
  void *bytes = NULL;
  gboolean good = sl_ort_gave (ort, NULL, &value, &error) && read_value (ort, value, &given, &error)
                  && sl_ort_gave (ort, ort->api.get_data (value, &bytes), &bytes, &error);
  if (good && given.dtype == tensor->dtype && given.rank == tensor->rank
      && memcmp (given.dims, tensor->dims, given.rank * sizeof given.dims[0]) == 0) {
    memcpy (into, bytes, tensor->bytes);
    return TRUE;
  }
  g_autofree char *expected = sl_tensor_describe (tensor),
                  *got = good ? sl_tensor_describe (&given) : NULL;
  if (good)
    g_snprintf (failure, SL_FAILURE_SIZE, "output '%s': expected %s, got %s", tensor->name,
                expected, got);
  else
    g_strlcpy (failure, error->message, SL_FAILURE_SIZE);
  return FALSE;
}

/* After a run that was @good: outputs that are not where they belong are brought there. */
static gboolean
finish (const Runner *runner, const void *const *inputs, SlOrtValue *const *values,
        void *const *outputs, gboolean good, char *failure)
{
  const Model *model = runner->model;
  for (guint i = 0; i < model->n_outputs; i++) {
    const Place *place = &runner->outputs[i];
    const gint32 passed = model->passed[i];
    if (good && passed >= 0)
      memcpy (outputs[i], inputs[passed],
              MIN (place->tensor.bytes, runner->inputs[passed].tensor.bytes));
    else if (good && place->own)
      good = take_own (model->ort, &place->tensor, values[i], outputs[i], failure);
    if (place->own && values[i] != NULL)
      model->ort->api.release_value (values[i]);
  }
  return good;
}

static gboolean
run (gpointer data, const void *const *inputs, void *const *outputs, char *failure)
{
  Runner *runner = data;
  const Model *model = runner->model;
  const SlOrtApi *api = &model->ort->api;
  SlOrtValue *in[SL_MAX_IO], *out[SL_MAX_IO] = { NULL };
  SlOrtStatus *status = NULL;
  for (guint i = 0; status == NULL && i < model->n_inputs; i++)
    status = find_value (model->ort, &runner->inputs[i], inputs[i], &in[i]);
  for (guint i = 0; status == NULL && i < model->n_outputs; i++)
    if (!runner->outputs[i].own)
      status = find_value (model->ort, &runner->outputs[i], outputs[i], &out[i]);
  if (status == NULL)
    status = api->run (model->session, runner->options, (const char *const *) model->names,
                       (const SlOrtValue *const *) in, model->n_inputs,
                       (const char *const *) model->names + SL_MAX_IO, model->n_outputs, out);
  const gboolean good = finish (runner, inputs, out, outputs, status == NULL, failure);
  if (status == NULL)
    return good;
  const char *said = api->get_message (status);
  g_strlcpy (failure, said != NULL ? said : "it does not say why", SL_FAILURE_SIZE);
  api->release_status (status);
  return FALSE;
}

static void
cancel (gpointer data, gboolean cancelled)
{
  const Runner *runner = data;
  const SlOrtApi *api = &runner->model->ort->api;
  sl_ort_good (runner->model->ort,
               (cancelled ? api->set_terminate : api->unset_terminate) (runner->options), NULL);
}

const SlRuntime sl_runtime_onnxruntime = {
  .name = "onnxruntime",
  .title = "ONNX Runtime",
  .format = "onnx",
  .variable = "SIGHTLINE_ONNXRUNTIME",
  .libraries = { "libonnxruntime.so.1", "libonnxruntime.so", NULL },
  .advice = "install libonnxruntime (Debian 13 has libonnxruntime1.21; else "
            "github.com/microsoft/onnxruntime's releases, or npm's onnxruntime-node)",
  .open = open_library,
  .load = load,
  .unload = unload,
  .settle = settle,
  .list_devices = sl_ort_list_devices,
  .start = start,
  .run = run,
  .cancel = cancel,
  .stop = stop,
};
