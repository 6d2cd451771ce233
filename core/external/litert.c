/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LiteRT, the successor of TensorFlow Lite, by its C library libLiteRt.so: a compiled model runs on
 * an accelerator that is named when it is made, and on the processor where that lacks an operator.
 * It runs one frame at a time, in buffers of the library, so a runner is a compiled model with its
 * buffers, and tensors are copied into and out of them.
 *
 * Buffers are in the order of the model's signature, which may be another than that of the file.
 */
#include <stdint.h>
#include <string.h>

#include "core/base/fail.h"
#include "core/base/printable.h"
#include "core/external/runtime.h"

#define RANK_BITS 0x7f
#define MAX_RANK 8
#define OPTION "accelerator"
#define FOR_READING 0
#define FOR_WRITING 1
#define QUANTIZED_BY_TENSOR 1

typedef struct LrEnvironment LrEnvironment;
typedef struct LrModel LrModel;
typedef struct LrOptions LrOptions;
typedef struct LrCompiled LrCompiled;
typedef struct LrSignature LrSignature;
typedef struct LrSubgraph LrSubgraph;
typedef struct LrTensor LrTensor;
typedef struct LrNeeds LrNeeds;
typedef struct LrBuffer LrBuffer;

/** A tensor's type as the library has it: @rank in the lowest bits of its word. */
typedef struct
{
  int32_t element;
  uint32_t rank;
  int32_t dims[MAX_RANK];
  uint32_t strides[MAX_RANK];
} LrType;

typedef struct
{
  float scale;
  int64_t zero_point;
} LrQuantization;

/* What returns int returns 0, or the number of an error. */
typedef struct
{
  const char *(*status_text) (int status);
  int (*environment_create) (int n, const void *options, LrEnvironment **environment);
  int (*model_create) (const void *data, size_t size, LrModel **model);
  void (*model_destroy) (LrModel *model);
  int (*signature) (LrModel *model, size_t i, LrSignature **signature);
  int (*subgraph) (LrSignature *signature, LrSubgraph **subgraph);
  int (*count_inputs) (LrSubgraph *subgraph, size_t *n);
  int (*count_outputs) (LrSubgraph *subgraph, size_t *n);
  int (*input) (LrSubgraph *subgraph, size_t i, LrTensor **tensor);
  int (*output) (LrSubgraph *subgraph, size_t i, LrTensor **tensor);
  int (*signature_input) (LrSignature *signature, size_t i, LrTensor **tensor);
  int (*signature_output) (LrSignature *signature, size_t i, LrTensor **tensor);
  int (*name) (LrTensor *tensor, const char **name);
  int (*type) (LrTensor *tensor, LrType *type);
  int (*quantization_kind) (LrTensor *tensor, int *kind);
  int (*quantization) (LrTensor *tensor, LrQuantization *quantization);
  int (*options_create) (LrOptions **options);
  void (*options_destroy) (LrOptions *options);
  int (*options_set_accelerators) (LrOptions *options, int accelerators);
  int (*compile) (LrEnvironment *environment, LrModel *model, LrOptions *options,
                  LrCompiled **compiled);
  void (*compiled_destroy) (LrCompiled *compiled);
  int (*resize) (LrCompiled *compiled, size_t signature, size_t i, const int *dims, size_t rank);
  int (*input_needs) (LrCompiled *compiled, size_t signature, size_t i, LrNeeds **needs);
  int (*output_needs) (LrCompiled *compiled, size_t signature, size_t i, LrNeeds **needs);
  int (*run) (LrCompiled *compiled, size_t signature, size_t n_inputs, LrBuffer **inputs,
              size_t n_outputs, LrBuffer **outputs);
  int (*buffer_create) (LrEnvironment *environment, const LrType *type, LrNeeds *needs,
                        LrBuffer **buffer);
  void (*buffer_destroy) (LrBuffer *buffer);
  int (*buffer_bytes) (LrBuffer *buffer, size_t *bytes);
  int (*lock) (LrBuffer *buffer, void **data, int mode);
  int (*unlock) (LrBuffer *buffer);
  LrEnvironment *environment; /* for all models */
} Library;

#define AT(name, member)                                \
  {                                                     \
    "LiteRt" name, 0, G_STRUCT_OFFSET (Library, member) \
  }

static const SlRuntimeFunction functions[] = {
  AT ("GetStatusString", status_text),
  AT ("CreateEnvironment", environment_create),
  AT ("CreateModelFromBuffer", model_create),
  AT ("DestroyModel", model_destroy),
  AT ("GetModelSignature", signature),
  AT ("GetSignatureSubgraph", subgraph),
  AT ("GetNumSubgraphInputs", count_inputs),
  AT ("GetNumSubgraphOutputs", count_outputs),
  AT ("GetSubgraphInput", input),
  AT ("GetSubgraphOutput", output),
  AT ("GetSignatureInputTensorByIndex", signature_input),
  AT ("GetSignatureOutputTensorByIndex", signature_output),
  AT ("GetTensorName", name),
  AT ("GetRankedTensorType", type),
  AT ("GetQuantizationTypeId", quantization_kind),
  AT ("GetPerTensorQuantization", quantization),
  AT ("CreateOptions", options_create),
  AT ("DestroyOptions", options_destroy),
  AT ("SetOptionsHardwareAccelerators", options_set_accelerators),
  AT ("CreateCompiledModel", compile),
  AT ("DestroyCompiledModel", compiled_destroy),
  AT ("CompiledModelResizeInputTensor", resize),
  AT ("GetCompiledModelInputBufferRequirements", input_needs),
  AT ("GetCompiledModelOutputBufferRequirements", output_needs),
  AT ("RunCompiledModel", run),
  AT ("CreateManagedTensorBufferFromRequirements", buffer_create),
  AT ("DestroyTensorBuffer", buffer_destroy),
  AT ("GetTensorBufferPackedSize", buffer_bytes),
  AT ("LockTensorBuffer", lock),
  AT ("UnlockTensorBuffer", unlock),
};

/* Bits of the library. The processor takes what the others lack. */
static const struct
{
  const char *name, *title;
  int bits;
} accelerators[] = { { "cpu", "CPU", 1 }, { "gpu", "GPU", 1 | 2 }, { "npu", "NPU", 1 | 4 } };

typedef struct
{
  const Library *library;
  GBytes *bytes; /* the library reads weights in them */
  LrModel *model;
  LrSignature *signature;
  LrSubgraph *subgraph;
  guint accelerator; /* index of @accelerators */
  char *unknown;     /* (nullable): an option that nothing takes */
  guint n[2];        /* inputs, outputs; of each: */
  LrTensor *tensors[2][SL_MAX_IO];
  LrType types[2][SL_MAX_IO];
  guint places[2][SL_MAX_IO]; /* in the signature */
  gfloat scales[2][SL_MAX_IO];
  gint32 zero_points[2][SL_MAX_IO];
} Model;

typedef struct
{
  const Model *model;
  LrCompiled *compiled;
  LrBuffer *buffers[2][SL_MAX_IO]; /* by places in the signature */
  gsize bytes[2][SL_MAX_IO];       /* by places in the file */
} Runner;

static gboolean
good (const Library *library, int status, const char *what, GError **error)
{
  if (status == 0)
    return TRUE;
  const char *said = library->status_text (status);
  g_autofree char *shown =
    sl_printable (said != NULL ? said : "it does not say why", SL_PRINTABLE_MESSAGE);
  return sl_fail (error, SL_ERROR_BACKEND, "%s: %s", what, shown);
}

/* Whether what a good status promises is there. */
static gboolean
gave (const void *thing, const char *what, GError **error)
{
  return thing != NULL
         || sl_fail (error, SL_ERROR_BACKEND,
                     "it says that all is well, and does not give %s: it is no complete library",
                     what);
}

static gpointer
open_library (void *handle, const char **version, GError **error)
{
  g_autofree Library *library = g_new0 (Library, 1);
  *version = "2";
  return sl_runtime_find_functions (handle, functions, G_N_ELEMENTS (functions), library, error)
             && good (library, library->environment_create (0, NULL, &library->environment),
                      "its environment cannot be made", error)
             && gave (library->environment, "an environment", error)
           ? g_steal_pointer (&library)
           : NULL;
}

static void
take_option (const char *key, const char *value, gpointer data)
{
  Model *model = data;
  for (guint i = 0; strcmp (key, OPTION) == 0 && i < G_N_ELEMENTS (accelerators); i++)
    if (strcmp (value, accelerators[i].name) == 0) {
      model->accelerator = i;
      return;
    }
  if (model->unknown == NULL)
    model->unknown = g_strdup_printf ("%s=%s", key, value);
}

static gboolean
read_settings (Model *model, const SlBackendSettings *settings, GError **error)
{
  sl_runtime_settings_each (settings->options, take_option, model);
  if (settings->delegate != NULL && settings->delegate[0] != '\0')
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "delegate: it takes none; state provider-options=" OPTION "=gpu or npu, or use "
                    "TensorFlow Lite's library");
  if (model->unknown == NULL)
    return TRUE;
  g_autofree char *shown = sl_printable (model->unknown, SL_PRINTABLE_MESSAGE);
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "provider-options: expected " OPTION "=cpu, gpu or npu, got %s", shown);
}

/* Where @tensor is in the signature. */
static guint
find_place (const Model *model, gboolean output, const LrTensor *tensor, guint otherwise)
{
  const Library *library = model->library;
  for (guint i = 0; i < model->n[output]; i++) {
    LrTensor *there = NULL;
    if ((output ? library->signature_output : library->signature_input) (model->signature, i,
                                                                         &there)
          == 0
        && there == tensor)
      return i;
  }
  return otherwise;
}

static gboolean
read_tensor (Model *model, gboolean output, guint i, SlTensor *into, GError **error)
{
  const Library *library = model->library;
  LrTensor **tensor = &model->tensors[output][i];
  LrType *type = &model->types[output][i];
  LrQuantization quantization = { 0 };
  const char *name = NULL;
  int kind = 0;
  if (!good (library, (output ? library->output : library->input) (model->subgraph, i, tensor),
             "a tensor cannot be read", error)
      || !gave (*tensor, "a tensor", error)
      || !good (library, library->type (*tensor, type), "a tensor's type cannot be read", error))
    return FALSE;
  G_STATIC_ASSERT (MAX_RANK <= SL_MAX_RANK);
  if (!sl_tflite_read_kind (into, type->element, (int) MIN (type->rank & RANK_BITS, G_MAXINT),
                            error))
    return FALSE;
  for (guint k = 0; k < into->rank; k++)
    into->dims[k] = MAX (type->dims[k], -1);
  library->name (*tensor, &name);
  into->name = g_strdup (name != NULL ? name : "");
  model->places[output][i] = find_place (model, output, *tensor, i);
  if (library->quantization_kind (*tensor, &kind) != 0 || kind != QUANTIZED_BY_TENSOR
      || library->quantization (*tensor, &quantization) != 0 || !(quantization.scale > 0))
    return TRUE;
  model->scales[output][i] = quantization.scale;
  model->zero_points[output][i] = (gint32) quantization.zero_point;
  into->quant = (SlQuant){ .count = 1,
                           .scale = &model->scales[output][i],
                           .zero_point = &model->zero_points[output][i] };
  return TRUE;
}

static gboolean
read_edges (Model *model, SlRuntimeEdges *edges, GError **error)
{
  const Library *library = model->library;
  size_t n[2] = { 0 };
  if (!good (library, library->signature (model->model, 0, &model->signature),
             "it has no signature", error)
      || !gave (model->signature, "a signature", error)
      || !good (library, library->subgraph (model->signature, &model->subgraph),
                "its signature has no graph", error)
      || !gave (model->subgraph, "a graph", error)
      || !good (library, library->count_inputs (model->subgraph, &n[0]), "it has no inputs", error)
      || !good (library, library->count_outputs (model->subgraph, &n[1]), "it has no outputs",
                error))
    return FALSE;
  if (!sl_runtime_check_counts ((gint64) MIN (n[0], G_MAXINT), (gint64) MIN (n[1], G_MAXINT),
                                error))
    return FALSE;
  model->n[0] = (guint) n[0];
  model->n[1] = (guint) n[1];
  for (guint i = 0; i < model->n[0]; i++, edges->n_inputs++)
    if (!read_tensor (model, FALSE, i, &edges->inputs[i], error))
      return FALSE;
  for (guint i = 0; i < model->n[1]; i++, edges->n_outputs++)
    if (!read_tensor (model, TRUE, i, &edges->outputs[i], error))
      return FALSE;
  return TRUE;
}

static void
unload (gpointer data)
{
  Model *model = data;
  if (model->model != NULL)
    model->library->model_destroy (model->model);
  g_bytes_unref (model->bytes);
  g_free (model->unknown);
  g_free (model);
}

static gpointer
load (gpointer library, const SlExternalRequest *request, SlRuntimeEdges *edges, char **device,
      GError **error)
{
  Model *model = g_new0 (Model, 1);
  gsize size;
  model->library = library;
  model->bytes = g_bytes_ref (request->bytes);
  const void *data = g_bytes_get_data (model->bytes, &size);
  if (read_settings (model, request->settings, error)
      && good (library, model->library->model_create (data, size, &model->model),
               "the file is refused", error)
      && gave (model->model, "a model", error) && read_edges (model, edges, error)) {
    *device = g_strdup (accelerators[model->accelerator].title);
    return model;
  }
  unload (model);
  return NULL;
}

static void
stop (gpointer data)
{
  Runner *runner = data;
  const Library *library = runner->model->library;
  for (guint side = 0; side < 2; side++)
    for (guint i = 0; i < SL_MAX_IO; i++)
      if (runner->buffers[side][i] != NULL)
        library->buffer_destroy (runner->buffers[side][i]);
  if (runner->compiled != NULL)
    library->compiled_destroy (runner->compiled);
  g_free (runner);
}

static gboolean
compile (Runner *runner, GError **error)
{
  const Model *model = runner->model;
  const Library *library = model->library;
  LrOptions *options = NULL;
  if (!good (library, library->options_create (&options), "no options can be made", error)
      || !gave (options, "options", error))
    return FALSE;
  const gboolean compiled =
    good (library,
          library->options_set_accelerators (options, accelerators[model->accelerator].bits),
          "the accelerator is refused", error)
    && good (library,
             library->compile (library->environment, model->model, options, &runner->compiled),
             "the model is refused", error)
    && gave (runner->compiled, "a compiled model", error);
  library->options_destroy (options);
  return compiled;
}

/* A buffer for tensor @i, which is as @ours has it. */
static gboolean
make_buffer (Runner *runner, gboolean output, guint i, const SlTensor *ours, GError **error)
{
  const Model *model = runner->model;
  const Library *library = model->library;
  const guint place = model->places[output][i];
  LrType type = model->types[output][i];
  LrNeeds *needs = NULL;
  size_t bytes = 0;
  gboolean same = TRUE;
  for (guint k = 0; k < ours->rank; k++) {
    same &= type.dims[k] == ours->dims[k];
    type.dims[k] = ours->dims[k];
  }
  if (!output && !same
      && !good (library, library->resize (runner->compiled, 0, place, ours->dims, ours->rank),
                "an input cannot have the stated size", error))
    return FALSE;
  if (!good (library,
             (output ? library->output_needs : library->input_needs) (runner->compiled, 0, place,
                                                                      &needs),
             "a tensor's memory is not described", error)
      || !good (library,
                library->buffer_create (library->environment, &type, needs,
                                        &runner->buffers[output][place]),
                "there is no memory for a tensor", error)
      || !gave (runner->buffers[output][place], "a tensor's memory", error)
      || !good (library, library->buffer_bytes (runner->buffers[output][place], &bytes),
                "a tensor's size cannot be read", error))
    return FALSE;
  runner->bytes[output][i] = ours->bytes;
  return sl_runtime_check_bytes (ours, bytes, error);
}

static gpointer
start (gpointer data, const SlRuntimeEdges *edges, GError **error)
{
  Runner *runner = g_new0 (Runner, 1);
  runner->model = data;
  gboolean made = compile (runner, error);
  for (guint i = 0; made && i < edges->n_inputs; i++)
    made = make_buffer (runner, FALSE, i, &edges->inputs[i], error);
  for (guint i = 0; made && i < edges->n_outputs; i++)
    made = make_buffer (runner, TRUE, i, &edges->outputs[i], error);
  if (made)
    return runner;
  stop (runner);
  return NULL;
}

/* Copies tensor @i into its buffer (nullable: zeros) or out of it. */
static gboolean
copy (const Runner *runner, gboolean output, guint i, const void *from, void *to, GError **error)
{
  const Library *library = runner->model->library;
  LrBuffer *buffer = runner->buffers[output][runner->model->places[output][i]];
  const gsize bytes = runner->bytes[output][i];
  void *data = NULL;
  if (!good (library, library->lock (buffer, &data, output ? FOR_READING : FOR_WRITING),
             "a tensor cannot be mapped", error))
    return FALSE;
  if (data == NULL) {
    library->unlock (buffer);
    return sl_fail (error, SL_ERROR_BACKEND, "a tensor has no memory");
  }
  if (to != NULL)
    memcpy (to, data, bytes);
  else if (from != NULL)
    memcpy (data, from, bytes);
  else if (!output)
    memset (data, 0, bytes);
  return good (library, library->unlock (buffer), "a tensor cannot be unmapped", error);
}

/* @inputs, @outputs: (nullable): zeros, and nothing. */
static gboolean
run_once (Runner *runner, const void *const *inputs, void *const *outputs, GError **error)
{
  const Model *model = runner->model;
  for (guint i = 0; i < model->n[0]; i++)
    if (!copy (runner, FALSE, i, inputs != NULL ? inputs[i] : NULL, NULL, error))
      return FALSE;
  if (!good (model->library,
             model->library->run (runner->compiled, 0, model->n[0], runner->buffers[0], model->n[1],
                                  runner->buffers[1]),
             "the run failed", error))
    return FALSE;
  for (guint i = 0; outputs != NULL && i < model->n[1]; i++)
    if (!copy (runner, TRUE, i, NULL, outputs[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
settle (gpointer data, SlRuntimeEdges *edges, GError **error)
{
  for (guint i = 0; i < edges->n_inputs + edges->n_outputs; i++) {
    SlTensor *tensor =
      i < edges->n_inputs ? &edges->inputs[i] : &edges->outputs[i - edges->n_inputs];
    gsize elements;
    if (!sl_tensor_elements (tensor, &elements)
        || !g_size_checked_mul (&tensor->bytes, elements, sl_dtype_size (tensor->dtype)))
      return sl_fail (error, SL_ERROR_SHAPE, "tensor '%s' has no fixed size: state input-shape",
                      tensor->name);
  }
  Runner *runner = start (data, edges, error);
  const gboolean ran = runner != NULL && run_once (runner, NULL, NULL, error);
  if (runner != NULL)
    stop (runner);
  return ran;
}

static gboolean
run (gpointer data, const void *const *inputs, void *const *outputs, char *failure)
{
  g_autoptr (GError) error = NULL;
  if (run_once (data, inputs, outputs, &error))
    return TRUE;
  g_strlcpy (failure, error->message, SL_FAILURE_SIZE);
  return FALSE;
}

const SlRuntime sl_runtime_litert = {
  .name = "tflite",
  .title = "LiteRT",
  .format = "tflite",
  .marker = "LiteRtCreateCompiledModel",
  .resizes = TRUE,
  .open = open_library,
  .load = load,
  .unload = unload,
  .settle = settle,
  .start = start,
  .run = run,
  .stop = stop,
};
