/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TensorFlow Lite by its C library, with an external delegate where one is stated. An interpreter
 * runs one frame at a time and has its tensors in memory of its own, so a runner is an interpreter,
 * and tensors are copied into and out of it.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/base/printable.h"
#include "core/base/shared_object.h"
#include "core/external/runtime.h"
#include "core/base/fail.h"

typedef struct TfModel TfModel;
typedef struct TfOptions TfOptions;
typedef struct TfInterpreter TfInterpreter;
typedef struct TfTensor TfTensor;
typedef struct TfDelegate TfDelegate;

/** As the library returns it. */
typedef struct
{
  float scale;
  int32_t zero_point;
} TfQuantization;

typedef struct
{
  const char *(*version) (void);
  TfModel *(*model_create) (const void *data, size_t size);
  void (*model_delete) (TfModel *model);
  TfOptions *(*options_create) (void);
  void (*options_delete) (TfOptions *options);
  void (*options_set_threads) (TfOptions *options, int32_t n);
  void (*options_add_delegate) (TfOptions *options, TfDelegate *delegate);
  void (*options_set_reporter) (TfOptions *options,
                                void (*report) (void *data, const char *format, va_list args),
                                void *data);
  TfInterpreter *(*create) (const TfModel *model, const TfOptions *options);
  void (*delete) (TfInterpreter *interpreter);
  int32_t (*count_inputs) (const TfInterpreter *interpreter);
  int32_t (*count_outputs) (const TfInterpreter *interpreter);
  TfTensor *(*input) (const TfInterpreter *interpreter, int32_t i);
  const TfTensor *(*output) (const TfInterpreter *interpreter, int32_t i);
  int (*resize) (TfInterpreter *interpreter, int32_t i, const int *dims, int32_t rank);
  int (*allocate) (TfInterpreter *interpreter);
  int (*invoke) (TfInterpreter *interpreter);
  int (*type) (const TfTensor *tensor);
  int32_t (*rank) (const TfTensor *tensor);
  int32_t (*dim) (const TfTensor *tensor, int32_t i);
  size_t (*bytes) (const TfTensor *tensor);
  void *(*data) (const TfTensor *tensor);
  const char *(*name) (const TfTensor *tensor);
  TfQuantization (*quantization) (const TfTensor *tensor);
} Library;

#define AT(name, member)                                \
  {                                                     \
    "TfLite" name, 0, G_STRUCT_OFFSET (Library, member) \
  }

static const SlRuntimeFunction functions[] = {
  AT ("Version", version),
  AT ("ModelCreate", model_create),
  AT ("ModelDelete", model_delete),
  AT ("InterpreterOptionsCreate", options_create),
  AT ("InterpreterOptionsDelete", options_delete),
  AT ("InterpreterOptionsSetNumThreads", options_set_threads),
  AT ("InterpreterOptionsAddDelegate", options_add_delegate),
  AT ("InterpreterOptionsSetErrorReporter", options_set_reporter),
  AT ("InterpreterCreate", create),
  AT ("InterpreterDelete", delete),
  AT ("InterpreterGetInputTensorCount", count_inputs),
  AT ("InterpreterGetOutputTensorCount", count_outputs),
  AT ("InterpreterGetInputTensor", input),
  AT ("InterpreterGetOutputTensor", output),
  AT ("InterpreterResizeInputTensor", resize),
  AT ("InterpreterAllocateTensors", allocate),
  AT ("InterpreterInvoke", invoke),
  AT ("TensorType", type),
  AT ("TensorNumDims", rank),
  AT ("TensorDim", dim),
  AT ("TensorByteSize", bytes),
  AT ("TensorData", data),
  AT ("TensorName", name),
  AT ("TensorQuantizationParams", quantization),
};

/* What a delegate's library exports. */
typedef struct
{
  TfDelegate *(*create) (char **keys, char **values, size_t n,
                         void (*report) (const char *message));
  void (*destroy) (TfDelegate *delegate);
} Plugin;

static const SlRuntimeFunction plugin_functions[] = {
  { "tflite_plugin_create_delegate", 0, G_STRUCT_OFFSET (Plugin, create) },
  { "tflite_plugin_destroy_delegate", 0, G_STRUCT_OFFSET (Plugin, destroy) },
};

/* Delegates of files that a compiler made for a device, whose one operator has that name. */
static const struct
{
  const char *op, *library;
} compiled[] = {
  { "edgetpu-custom-op", "libedgetpu.so.1" },
  { "ethos-u", "libethosu_delegate.so" },
};

typedef struct
{
  const Library *library;
  GBytes *bytes; /* the interpreters read weights in them */
  TfModel *model;
  guint threads;
  Plugin plugin;
  char *delegate; /* (nullable): path */
  GPtrArray *keys, *values;
  gfloat scales[2 * SL_MAX_IO]; /* of inputs, then of outputs from SL_MAX_IO on */
  gint32 zero_points[2 * SL_MAX_IO];
} Model;

typedef struct
{
  const Model *model;
  TfOptions *options;
  TfDelegate *delegate;
  TfInterpreter *interpreter;
  guint n_inputs, n_outputs;
  gsize input_bytes[SL_MAX_IO], output_bytes[SL_MAX_IO];
  char said[SL_FAILURE_SIZE]; /* what the library reported last */
} Runner;

/* A delegate says why it cannot be made before there is anything of ours that it could be given. */
static GPrivate last_report = G_PRIVATE_INIT (g_free);

static void
report (void *data, const char *format, va_list args)
{
  Runner *runner = data;
  vsnprintf (runner->said, sizeof runner->said, format, args);
}

static void
report_of_delegate (const char *message)
{
  g_private_replace (&last_report, g_strdup (message));
}

static gpointer
open_library (void *handle, const char **version, GError **error)
{
  g_autofree Library *library = g_new0 (Library, 1);
  if (!sl_runtime_find_functions (handle, functions, G_N_ELEMENTS (functions), library, error))
    return NULL;
  const char *stated = library->version ();
  g_autofree char *number =
    sl_printable (stated != NULL ? stated : "of no version", SL_PRINTABLE_NAME);
  if (g_ascii_strtoull (number, NULL, 10) < 2)
    return sl_fail_null (error, SL_ERROR_UNSUPPORTED,
                         "TensorFlow Lite %s does not do: expected 2.0 or newer: install that",
                         number);
  *version = g_steal_pointer (&number);
  return g_steal_pointer (&library);
}

static void
take_option (const char *key, const char *value, gpointer data)
{
  Model *model = data;
  g_ptr_array_add (model->keys, g_strdup (key));
  g_ptr_array_add (model->values, g_strdup (value));
}

static gboolean
contains (GBytes *bytes, const char *text)
{
  gsize size;
  const void *data = g_bytes_get_data (bytes, &size);
  return memmem (data, size, text, strlen (text)) != NULL;
}

/* (nullable): the delegate that is stated, or the one of a file that was compiled for it. */
static const char *
delegate_of (const SlExternalRequest *request)
{
  const char *stated = request->settings->delegate;
  if (stated != NULL && stated[0] != '\0')
    return stated;
  for (guint i = 0; i < G_N_ELEMENTS (compiled); i++)
    if (contains (request->bytes, compiled[i].op))
      return compiled[i].library;
  return NULL;
}

static gboolean
open_delegate (Model *model, const char *path, GError **error)
{
  g_autofree char *said = NULL;
  void *handle = sl_shared_object_open (path, RTLD_NOW | RTLD_LOCAL, &said);
  if (handle == NULL) {
    g_autofree char *name = sl_printable (path, SL_PRINTABLE_MESSAGE);
    return sl_fail (
      error, SL_ERROR_UNSUPPORTED,
      "the delegate %s cannot be opened: %s: install the library of the device's vendor, or state "
      "delegate=PATH",
      name, said);
  }
  model->delegate = g_strdup (path);
  if (sl_runtime_find_functions (handle, plugin_functions, G_N_ELEMENTS (plugin_functions),
                                 &model->plugin, error))
    return TRUE;
  g_prefix_error (error, "the delegate %s: ", path);
  dlclose (handle);
  return FALSE;
}

static void
stop (gpointer data)
{
  Runner *runner = data;
  if (runner->interpreter != NULL)
    runner->model->library->delete (runner->interpreter);
  if (runner->options != NULL)
    runner->model->library->options_delete (runner->options);
  if (runner->delegate != NULL)
    runner->model->plugin.destroy (runner->delegate);
  g_free (runner);
}

static gboolean
fail (const Runner *runner, const char *what, GError **error)
{
  g_autofree char *said = sl_printable (runner->said, SL_PRINTABLE_MESSAGE);
  g_strchomp (said);
  return sl_fail (error, SL_ERROR_BACKEND, "%s%s%s", what, said[0] != '\0' ? ": " : "", said);
}

static gboolean
make_delegate (Runner *runner, GError **error)
{
  const Model *model = runner->model;
  if (model->delegate == NULL)
    return TRUE;
  g_private_replace (&last_report, NULL);
  runner->delegate =
    model->plugin.create ((char **) model->keys->pdata, (char **) model->values->pdata,
                          model->keys->len, report_of_delegate);
  if (runner->delegate != NULL) {
    model->library->options_add_delegate (runner->options, runner->delegate);
    return TRUE;
  }
  const char *said = g_private_get (&last_report);
  g_autofree char *shown =
    sl_printable (said != NULL ? said : "it does not say why", SL_PRINTABLE_MESSAGE);
  return sl_fail (error, SL_ERROR_BACKEND, "the delegate %s refuses: %s", model->delegate, shown);
}

/* (nullable): the memory of input @i, with @error set. */
static void *
input_data (const Runner *runner, guint i, gsize *bytes, GError **error)
{
  const Library *library = runner->model->library;
  const TfTensor *input = library->input (runner->interpreter, (int32_t) i);
  void *data = input != NULL ? library->data (input) : NULL;
  *bytes = input != NULL ? library->bytes (input) : 0;
  return data != NULL ? data : sl_fail_null (error, SL_ERROR_BACKEND, "input %u has no memory", i);
}

/* Inputs that are open in the file, as @edges have them. */
static gboolean
resize_inputs (Runner *runner, const SlRuntimeEdges *edges, GError **error)
{
  const Library *library = runner->model->library;
  for (guint i = 0; i < edges->n_inputs; i++) {
    const SlTensor *wanted = &edges->inputs[i];
    const TfTensor *input = library->input (runner->interpreter, (int32_t) i);
    gboolean same = input != NULL;
    for (guint k = 0; same && k < wanted->rank; k++)
      same &= library->dim (input, (int32_t) k) == wanted->dims[k];
    if (same
        || library->resize (runner->interpreter, (int32_t) i, wanted->dims, (int32_t) wanted->rank)
             == 0)
      continue;
    g_autofree char *text = sl_tensor_describe (wanted),
                    *what = g_strdup_printf ("input '%s' cannot be %s", wanted->name, text);
    return fail (runner, what, error);
  }
  return TRUE;
}

/* (transfer full): an interpreter with its tensors; inputs are as in the file, or as @edges
 * (nullable) have them. */
static Runner *
runner_new (const Model *model, const SlRuntimeEdges *edges, GError **error)
{
  const Library *library = model->library;
  Runner *runner = g_new0 (Runner, 1);
  runner->model = model;
  runner->options = library->options_create ();
  gboolean good = runner->options != NULL || fail (runner, "it makes no options", error);
  if (good) {
    library->options_set_threads (runner->options, (int32_t) model->threads);
    library->options_set_reporter (runner->options, report, runner);
    good = make_delegate (runner, error);
  }
  if (good)
    runner->interpreter = library->create (model->model, runner->options);
  if (good && runner->interpreter == NULL)
    good = fail (runner, "the model is refused", error);
  if (good && edges != NULL)
    good = resize_inputs (runner, edges, error);
  if (good && library->allocate (runner->interpreter) != 0)
    good = fail (runner, "the model's tensors are refused", error);
  if (good)
    return runner;
  stop (runner);
  return NULL;
}

static void
unload (gpointer data)
{
  Model *model = data;
  if (model->model != NULL)
    model->library->model_delete (model->model);
  g_bytes_unref (model->bytes);
  g_ptr_array_unref (model->keys);
  g_ptr_array_unref (model->values);
  g_free (model->delegate);
  g_free (model);
}

static gboolean
read_tensor (Model *model, guint place, const TfTensor *from, SlTensor *tensor, GError **error)
{
  const Library *library = model->library;
  const int type = from != NULL ? library->type (from) : 0;
  const int32_t rank = from != NULL ? library->rank (from) : 0;
  if (!sl_tflite_read_kind (tensor, type, rank, error))
    return FALSE;
  const TfQuantization quantization = library->quantization (from);
  for (int32_t i = 0; i < rank; i++)
    tensor->dims[i] = library->dim (from, i);
  if (quantization.scale > 0) {
    model->scales[place] = quantization.scale;
    model->zero_points[place] = quantization.zero_point;
    tensor->quant = (SlQuant){ .count = 1,
                               .scale = &model->scales[place],
                               .zero_point = &model->zero_points[place] };
  }
  return TRUE;
}

static gboolean
read_edges (Model *model, const Runner *runner, SlRuntimeEdges *edges, GError **error)
{
  const Library *library = model->library;
  const int32_t n_inputs = library->count_inputs (runner->interpreter),
                n_outputs = library->count_outputs (runner->interpreter);
  if (!sl_runtime_check_counts (n_inputs, n_outputs, error))
    return FALSE;
  for (guint i = 0; i < (guint) (n_inputs + n_outputs); i++) {
    const gboolean output = i >= (guint) n_inputs;
    const guint k = output ? i - (guint) n_inputs : i;
    const TfTensor *from = output ? library->output (runner->interpreter, (int32_t) k)
                                  : library->input (runner->interpreter, (int32_t) k);
    SlTensor *to = output ? &edges->outputs[k] : &edges->inputs[k];
    if (!read_tensor (model, (output ? SL_MAX_IO : 0) + k, from, to, error))
      return FALSE;
    for (guint d = 0; output && library->data (from) == NULL && d < to->rank; d++)
      to->dims[d] = -1; /* a hint, until a run tells */
    if (to->name == NULL)
      to->name = g_strdup (library->name (from) != NULL ? library->name (from) : "");
    edges->n_inputs = MAX (edges->n_inputs, output ? 0 : k + 1);
    edges->n_outputs = MAX (edges->n_outputs, output ? k + 1 : 0);
  }
  return TRUE;
}

static gpointer
load (gpointer library, const SlExternalRequest *request, SlRuntimeEdges *edges, char **device,
      GError **error)
{
  Model *model = g_new0 (Model, 1);
  const char *delegate = delegate_of (request);
  gsize size;
  model->library = library;
  model->bytes = g_bytes_ref (request->bytes);
  model->threads = request->threads;
  model->keys = g_ptr_array_new_with_free_func (g_free);
  model->values = g_ptr_array_new_with_free_func (g_free);
  sl_runtime_settings_each (request->settings->options, take_option, model);
  const void *data = g_bytes_get_data (model->bytes, &size);
  gboolean good = delegate == NULL || open_delegate (model, delegate, error);
  if (good)
    model->model = model->library->model_create (data, size);
  if (good && model->model == NULL) {
    sl_fail (error, SL_ERROR_BACKEND, "the file is refused");
    good = FALSE;
  }
  /* What is at the edges, an interpreter knows. */
  Runner *runner = good ? runner_new (model, NULL, error) : NULL;
  good = runner != NULL && read_edges (model, runner, edges, error);
  if (runner != NULL)
    stop (runner);
  if (good) {
    *device = model->delegate != NULL ? g_path_get_basename (model->delegate) : g_strdup ("CPU");
    return model;
  }
  unload (model);
  return NULL;
}

static gboolean
settle (gpointer data, SlRuntimeEdges *edges, GError **error)
{
  Model *model = data;
  Runner *runner = runner_new (model, edges, error);
  if (runner == NULL)
    return FALSE;
  gboolean good = TRUE;
  for (guint i = 0; good && i < edges->n_inputs; i++) {
    gsize bytes;
    void *place = input_data (runner, i, &bytes, error);
    good = place != NULL;
    if (good)
      memset (place, 0, bytes);
  }
  if (good && model->library->invoke (runner->interpreter) != 0)
    good = fail (runner, "a first run on nothing failed", error);
  good = good && read_edges (model, runner, edges, error);
  stop (runner);
  return good;
}

static gpointer
start (gpointer data, const SlRuntimeEdges *edges, GError **error)
{
  const Model *model = data;
  Runner *runner = runner_new (model, edges, error);
  gboolean good = runner != NULL;
  for (guint i = 0; good && i < edges->n_inputs; i++) {
    gsize bytes;
    runner->input_bytes[i] = edges->inputs[i].bytes;
    good = input_data (runner, i, &bytes, error) != NULL
           && sl_runtime_check_bytes (&edges->inputs[i], bytes, error);
  }
  for (guint i = 0; good && i < edges->n_outputs; i++)
    runner->output_bytes[i] = edges->outputs[i].bytes;
  if (good) {
    runner->n_inputs = edges->n_inputs;
    runner->n_outputs = edges->n_outputs;
    return runner;
  }
  if (runner != NULL)
    stop (runner);
  return NULL;
}

static gboolean
run (gpointer data, const void *const *inputs, void *const *outputs, char *failure)
{
  Runner *runner = data;
  const Library *library = runner->model->library;
  runner->said[0] = '\0';
  for (guint i = 0; i < runner->n_inputs; i++)
    memcpy (library->data (library->input (runner->interpreter, (int32_t) i)), inputs[i],
            runner->input_bytes[i]);
  if (library->invoke (runner->interpreter) != 0) {
    g_strlcpy (failure, runner->said[0] != '\0' ? runner->said : "the run failed", SL_FAILURE_SIZE);
    return FALSE;
  }
  for (guint i = 0; i < runner->n_outputs; i++) {
    const TfTensor *output = library->output (runner->interpreter, (int32_t) i);
    const void *place = output != NULL ? library->data (output) : NULL;
    const gsize bytes = place != NULL ? library->bytes (output) : 0;
    if (bytes != runner->output_bytes[i]) {
      g_snprintf (failure, SL_FAILURE_SIZE,
                  "output %u: expected %" G_GSIZE_FORMAT " bytes, got %" G_GSIZE_FORMAT, i,
                  runner->output_bytes[i], bytes);
      return FALSE;
    }
    memcpy (outputs[i], place, bytes);
  }
  return TRUE;
}

const SlRuntime sl_runtime_tflite = {
  .name = "tflite",
  .title = "TensorFlow Lite",
  .format = "tflite",
  .variable = "SIGHTLINE_TFLITE",
  .libraries = { "libtensorflowlite_c.so", "libtensorflowlite_c.so.2", "libLiteRt.so", NULL },
  .advice =
    "build its C library (tensorflow/lite/c, target tensorflowlite_c), take the one of npm's "
    "tfjs-tflite-node, or LiteRT's libLiteRt.so",
  .successor = &sl_runtime_litert,
  .resizes = TRUE,
  .open = open_library,
  .load = load,
  .unload = unload,
  .settle = settle,
  .start = start,
  .run = run,
  .stop = stop,
};
