/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A shared object with the C interfaces of ONNX Runtime and TensorFlow Lite, and of an external
 * delegate, for tests of what may go wrong. It reads no model. Its ONNX model is x,
 * float32[1,3,4,4], to y, which is -x; its TensorFlow Lite model is float32[1,4,4,3] to the mean of
 * each channel, float32[1,3]. The variable fake_words, or, where that is empty, the environment's
 * FAKE_RUNTIME, has words, space between:
 *
 *   plugless: its version is before plug-in providers
 *   base: it has no tables             mute: it does not say its version
 *   holes: functions are missing in its tables
 *   hollow: they all return NULL, and do nothing else
 *   ghosts: it counts a device and does not give it    nameless: it has a device without names
 *   blank: tensors of TensorFlow Lite have no bytes    noisy: it prints when it is asked for tables
 *   old: its version is too old         load: refuses to load        run: refuses to run
 *                                       lost=N: refuses from run N on, counted from 0
 *   shape: y has another size           wrong: y is off by one       slow=MS: takes so long to load
 *                                           delegate: the delegate refuses
 *   open: the input of the TensorFlow Lite model has no size until it is given one         fixed:
 *   it takes none
 *   sums: the ONNX model is x and before to after, which is their sum, and y, which is -after
 *   batch: dimension 0 of the ONNX model is open         alone: it refuses to run more than one
 *   input at once
 *   late=MS: the ONNX model takes so long to run
 *   spin=MS: a thread takes so much processor time after a run
 *   hint: y is declared with another size than it gets     pass: the output is x itself, which gets
 *   no bytes
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__ ((visibility ("default")))
#define VALUES 48
#define MEANS 3

/* What a test asks for. */
EXPORT int fake_batches, fake_runs, fake_values, fake_loads, fake_paths, fake_delegates;
EXPORT const void *fake_input, *fake_output; /* of the last run */
EXPORT char fake_options[256];
EXPORT char fake_words[64];
EXPORT void (*fake_on_run) (void); /* NULL = none; called by each run of the ONNX model */

/* The number behind @word of the variable, 0 where there is none; -1 where the word is not there.
 */
static int
asked (const char *word)
{
  const char *all = fake_words[0] != '\0' ? fake_words : getenv ("FAKE_RUNTIME"),
             *at = all != NULL ? strstr (all, word) : NULL;
  const char *number = at != NULL ? at + strlen (word) : NULL;
  return number == NULL ? -1 : *number == '=' ? atoi (number + 1) : 0;
}

static int
fails (void)
{
  const int lost = asked ("lost");
  fake_runs++;
  return asked ("run") >= 0 || (lost >= 0 && fake_runs > lost);
}

static void
load (void)
{
  fake_loads++;
  if (asked ("slow") > 0)
    usleep ((useconds_t) asked ("slow") * 1000);
}

/* ONNX Runtime: a status is its text, a value has a shape, and everything else is the address of
 * something. */

typedef struct
{
  float *data;
  int64_t dims[4];
  int own;
} Value;

static char something, declared;
static const int64_t shape_of_x[4] = { 1, 3, 4, 4 };

static const char *
get_message (const char *status)
{
  return status;
}

static const char *
create_thing (void **made)
{
  *made = &something;
  return NULL;
}

static const char *
create_env (int level, const char *name, void **env)
{
  return create_thing (env);
}

static const char *
create_session_from_array (const void *env, const void *data, size_t size, const void *options,
                           void **session)
{
  load ();
  return asked ("load") >= 0 ? "the fake refuses the model" : create_thing (session);
}

static const char *
create_session (const void *env, const char *path, const void *options, void **session)
{
  fake_paths++;
  return create_session_from_array (env, NULL, 0, options, session);
}

static const char *
set_threads (void *options, int n)
{
  return NULL;
}

static const char *
count (const void *session, size_t *n)
{
  *n = asked ("sums") >= 0 ? 2 : 1;
  return NULL;
}

static const char *
edge_type (const void *session, size_t i, void **type)
{
  return create_thing (type);
}

static const char *
output_type (const void *session, size_t i, void **type)
{
  *type = &declared;
  return NULL;
}

static const char *
input_name (const void *session, size_t i, void *allocator, char **name)
{
  *name = strdup (i == 0 ? "x" : "before");
  return NULL;
}

static const char *
output_name (const void *session, size_t i, void *allocator, char **name)
{
  *name = strdup (asked ("pass") >= 0 ? "x" : asked ("sums") >= 0 && i == 0 ? "after" : "y");
  return NULL;
}

static const char *
run_options (void *options)
{
  return NULL;
}

static const char *
create_tensor (const void *memory, void *data, size_t size, const int64_t *shape, size_t rank,
               int type, void **made)
{
  Value *value = calloc (1, sizeof *value);
  value->data = data;
  memcpy (value->dims, shape, sizeof value->dims);
  fake_values++;
  *made = value;
  return NULL;
}

static void *
spin (void *ms)
{
  struct timespec now;
  do
    clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < (intptr_t) ms);
  return NULL;
}

static const char *
run (void *session, const void *options, const char *const *input_names, Value **inputs,
     size_t n_inputs, const char *const *output_names, size_t n_outputs, Value **outputs)
{
  if (fails ())
    return "the fake device is gone";
  if (fake_on_run != NULL)
    fake_on_run ();
  if (asked ("late") > 0)
    usleep ((useconds_t) asked ("late") * 1000);
  pthread_t thread;
  if (asked ("spin") > 0
      && pthread_create (&thread, NULL, spin, (void *) (intptr_t) asked ("spin")) == 0)
    pthread_detach (thread);
  const int n = asked ("batch") >= 0 ? (int) inputs[0]->dims[0] : 1;
  fake_batches += n > 1;
  fake_input = inputs[0]->data;
  fake_output = outputs[0] != NULL ? outputs[0]->data : NULL;
  if (n > 1 && asked ("alone") >= 0)
    return "the fake runs no batches";
  if (outputs[0] != NULL && asked ("shape") >= 0)
    return "the fake's output is float32[1,3,2,2]";
  if (outputs[0] != NULL && asked ("hint") >= 0)
    return "the fake's output is declared as float32[1,3,4,3]";
  if (outputs[0] == NULL) {
    outputs[0] = calloc (1, sizeof *outputs[0]);
    outputs[0]->data = calloc ((size_t) n * VALUES, sizeof (float));
    outputs[0]->own = 1;
    memcpy (outputs[0]->dims, shape_of_x, sizeof shape_of_x);
    outputs[0]->dims[0] = n;
  }
  for (int i = 0; i < VALUES && asked ("sums") >= 0; i++) {
    outputs[0]->data[i] = inputs[0]->data[i] + inputs[1]->data[i];
    outputs[1]->data[i] = -outputs[0]->data[i];
  }
  for (int i = 0; i < n * VALUES && asked ("pass") < 0 && asked ("sums") < 0; i++)
    outputs[0]->data[i] = -inputs[0]->data[i] + (asked ("wrong") >= 0 ? 1.0f : 0.0f);
  return NULL;
}

static const char *
get_data (Value *value, void **data)
{
  *data = value->data;
  return NULL;
}

static const char *
type_to_shape (const void *type, const void **shape)
{
  *shape = type;
  return NULL;
}

static const char *
element_type (const void *shape, int *type)
{
  *type = 1;
  return NULL;
}

static const char *
count_dimensions (const void *shape, size_t *n)
{
  *n = 4;
  return NULL;
}

static const char *
get_dimensions (const void *shape, int64_t *dims, size_t n)
{
  const int of_value = shape != &something && shape != &declared;
  memcpy (dims, of_value ? ((const Value *) shape)->dims : shape_of_x, n * sizeof dims[0]);
  if (asked ("batch") >= 0 && !of_value)
    dims[0] = -1;
  if (shape == &declared && asked ("hint") >= 0)
    dims[3]--;
  return NULL;
}

static const char *
value_shape (const void *value, const void **shape)
{
  *shape = value;
  return NULL;
}

static const char *
create_cpu_memory (int allocator, int memory, void **info)
{
  return create_thing (info);
}

static const char *
allocator_free (void *allocator, void *memory)
{
  free (memory);
  return NULL;
}

static void
release (void *thing)
{
}

static void
release_value (Value *value)
{
  if (value->own)
    free (value->data);
  free (value);
}

static const char *
available_providers (char ***names, int *n)
{
  static const char *all[] = { "CUDAExecutionProvider", "QNNExecutionProvider",
                               "VSINPUExecutionProvider", "CPUExecutionProvider" };
  *names = (char **) all;
  *n = 4;
  return NULL;
}

static const char *
release_providers (char **names, int n)
{
  return NULL;
}

static void
note_options (const char *name, const char *const *keys, const char *const *values, size_t n)
{
  int at = snprintf (fake_options, sizeof fake_options, "%s", name);
  for (size_t i = 0; i < n; i++)
    at +=
      snprintf (fake_options + at, sizeof fake_options - (size_t) at, " %s=%s", keys[i], values[i]);
}

static const char *
append_provider (void *options, const char *name, const char *const *keys,
                 const char *const *values, size_t n)
{
  note_options (name, keys, values, n);
  return NULL;
}

static const char *
update_cuda (void *provider, const char *const *keys, const char *const *values, size_t n)
{
  note_options ("CUDA", keys, values, n);
  return NULL;
}

static const char *
append_cuda (void *options, const void *provider)
{
  return NULL;
}

static const char *
add_config (void *options, const char *key, const char *value)
{
  note_options (key, &key, &value, 1);
  return NULL;
}

static const char *
get_devices (const void *env, const void *const **devices, size_t *n)
{
  static const void *const one[] = { &something };
  *n = asked ("ghosts") >= 0 || asked ("nameless") >= 0 ? 1 : 0;
  *devices = asked ("ghosts") >= 0 ? NULL : one;
  return NULL;
}

static const char *
get_nothing (void)
{
  return NULL;
}

static const void *
get_api (uint32_t version)
{
  static void *table[512];
  static const struct
  {
    int position;
    void *function;
  } functions[] = {
    { 2, get_message },
    { 3, create_env },
    { 7, create_session },
    { 8, create_session_from_array },
    { 9, run },
    { 10, create_thing },
    { 24, set_threads },
    { 30, count },
    { 31, count },
    { 33, edge_type },
    { 34, output_type },
    { 36, input_name },
    { 37, output_name },
    { 39, create_thing },
    { 46, run_options },
    { 47, run_options },
    { 49, create_tensor },
    { 51, get_data },
    { 55, type_to_shape },
    { 60, element_type },
    { 61, count_dimensions },
    { 62, get_dimensions },
    { 65, value_shape },
    { 69, create_cpu_memory },
    { 76, allocator_free },
    { 78, create_thing },
    { 93, release },
    { 95, release },
    { 96, release_value },
    { 97, release },
    { 98, release },
    { 99, release },
    { 100, release },
    { 125, available_providers },
    { 126, release_providers },
    { 130, add_config },
    { 204, append_cuda },
    { 205, create_thing },
    { 206, update_cuda },
    { 208, release },
    { 216, append_provider },
    { 298, get_nothing },
    { 301, get_nothing },
    { 303, get_devices },
    { 304, get_nothing },
    { 307, get_nothing },
    { 309, get_nothing },
    { 311, get_nothing },
    { 312, get_nothing },
    { 314, get_nothing },
    { 316, get_nothing },
  };
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    table[i] = asked ("hollow") >= 0 ? (void *) get_nothing : (void *) abort;
  for (size_t i = 0; i < sizeof functions / sizeof functions[0] && asked ("hollow") < 0; i++)
    table[functions[i].position] = functions[i].function;
  if (asked ("holes") >= 0)
    table[216] = table[316] = NULL;
  if (asked ("noisy") >= 0) {
    printf ("the fake says hello\n");
    fflush (stdout);
  }
  return table;
}

static const char *
get_version (void)
{
  if (asked ("mute") >= 0)
    return NULL;
  if (asked ("plugless") >= 0)
    return "1.21.0";
  return asked ("old") >= 0 ? "1.9.1" : "1.99.0";
}

EXPORT const void *OrtGetApiBase (void);
const void *
OrtGetApiBase (void)
{
  static struct
  {
    const void *(*get_api) (uint32_t version);
    const char *(*get_version) (void);
  } base = { get_api, get_version };
  return asked ("base") >= 0 ? NULL : &base;
}

EXPORT const char *OrtSessionOptionsAppendExecutionProvider_VSINPU (void *options, uint32_t flags);
const char *
OrtSessionOptionsAppendExecutionProvider_VSINPU (void *options, uint32_t flags)
{
  note_options ("VSINPU", NULL, NULL, 0);
  return NULL;
}

/* TensorFlow Lite. */

typedef struct
{
  float scale;
  int32_t zero_point;
} Quantization;

typedef struct
{
  int rank;
  int32_t dims[4];
  const char *name;
  int hinted; /* has no bytes until a run */
  float data[VALUES];
} Tensor;

typedef struct
{
  void (*report) (void *data, const char *format, va_list args);
  void *data;
} Options;

typedef struct
{
  Options options;
  Tensor input, output;
} Interpreter;

static void
report (const Options *options, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  if (options->report != NULL)
    options->report (options->data, format, args);
  va_end (args);
}

#define TF(type, name, ...)               \
  EXPORT type TfLite##name (__VA_ARGS__); \
  type TfLite##name (__VA_ARGS__)

TF (const char *, Version, void)
{
  if (asked ("mute") >= 0)
    return NULL;
  return asked ("old") >= 0 ? "1.15.0" : "2.99.0";
}

TF (void *, ModelCreate, const void *data, size_t size)
{
  load ();
  return asked ("load") >= 0 ? NULL : &something;
}

TF (void, ModelDelete, void *model)
{
}

TF (void *, InterpreterOptionsCreate, void)
{
  return asked ("hollow") >= 0 ? NULL : calloc (1, sizeof (Options));
}

TF (void, InterpreterOptionsDelete, void *options)
{
  free (options);
}

TF (void, InterpreterOptionsSetNumThreads, void *options, int32_t n)
{
}

TF (void, InterpreterOptionsAddDelegate, void *options, void *delegate)
{
}

TF (void, InterpreterOptionsSetErrorReporter, Options *options,
    void (*reporter) (void *data, const char *format, va_list args), void *data)
{
  options->report = reporter;
  options->data = data;
}

TF (void *, InterpreterCreate, const void *model, const Options *options)
{
  Interpreter *interpreter = calloc (1, sizeof *interpreter);
  interpreter->options = *options;
  interpreter->input = (Tensor){ 4, { 1, 4, 4, 3 }, "x", 0, { 0 } };
  interpreter->output =
    (Tensor){ 2, { 1, asked ("shape") >= 0 ? 2 : MEANS }, "y", asked ("hint") >= 0, { 0 } };
  if (asked ("open") >= 0)
    interpreter->input.dims[1] = interpreter->input.dims[2] = 1;
  if (interpreter->output.hinted || asked ("open") >= 0)
    interpreter->output.dims[1] = MEANS - 1;
  return interpreter;
}

TF (void, InterpreterDelete, void *interpreter)
{
  free (interpreter);
}

TF (int32_t, InterpreterGetInputTensorCount, const void *interpreter)
{
  return 1;
}

TF (int32_t, InterpreterGetOutputTensorCount, const void *interpreter)
{
  return 1;
}

TF (void *, InterpreterGetInputTensor, Interpreter *interpreter, int32_t i)
{
  return &interpreter->input;
}

TF (void *, InterpreterGetOutputTensor, Interpreter *interpreter, int32_t i)
{
  return &interpreter->output;
}

TF (int, InterpreterResizeInputTensor, Interpreter *interpreter, int32_t i, const int *dims,
    int32_t rank)
{
  if (asked ("fixed") >= 0)
    return 1;
  for (int k = 0; k < rank; k++)
    interpreter->input.dims[k] = dims[k];
  interpreter->output.dims[1] = MEANS;
  return 0;
}

TF (int, InterpreterAllocateTensors, void *interpreter)
{
  return 0;
}

TF (int, InterpreterInvoke, Interpreter *interpreter)
{
  if (fails ()) {
    report (&interpreter->options, "node %d: the fake device is gone", 7);
    return 1;
  }
  if (interpreter->output.hinted)
    interpreter->output.dims[1] = MEANS;
  interpreter->output.hinted = 0;
  for (int c = 0; c < MEANS; c++) {
    interpreter->output.data[c] = asked ("wrong") >= 0 ? 1.0f : 0.0f;
    for (int i = c; i < VALUES; i += MEANS)
      interpreter->output.data[c] += interpreter->input.data[i] / (VALUES / MEANS);
  }
  return 0;
}

TF (int, TensorType, const Tensor *tensor)
{
  return 1;
}

TF (int32_t, TensorNumDims, const Tensor *tensor)
{
  return tensor->rank;
}

TF (int32_t, TensorDim, const Tensor *tensor, int32_t i)
{
  return tensor->dims[i];
}

TF (size_t, TensorByteSize, const Tensor *tensor)
{
  size_t n = sizeof (float);
  for (int i = 0; i < tensor->rank; i++)
    n *= (size_t) tensor->dims[i];
  return n;
}

TF (void *, TensorData, Tensor *tensor)
{
  return tensor->hinted || asked ("blank") >= 0 ? NULL : tensor->data;
}

TF (const char *, TensorName, const Tensor *tensor)
{
  return tensor->name;
}

TF (Quantization, TensorQuantizationParams, const Tensor *tensor)
{
  return (Quantization){ 0, 0 };
}

EXPORT void *tflite_plugin_create_delegate (char **keys, char **values, size_t n,
                                            void (*reporter) (const char *message));
void *
tflite_plugin_create_delegate (char **keys, char **values, size_t n,
                               void (*reporter) (const char *message))
{
  if (asked ("delegate") >= 0) {
    reporter ("the fake delegate finds no device");
    return NULL;
  }
  note_options ("delegate", (const char *const *) keys, (const char *const *) values, n);
  fake_delegates++;
  return &something;
}

EXPORT void tflite_plugin_destroy_delegate (void *delegate);
void
tflite_plugin_destroy_delegate (void *delegate)
{
  fake_delegates--;
}
