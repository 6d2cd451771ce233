/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A shared object with the C interface of LiteRT, for tests of what may go wrong. It reads no
 * model: its model is x, float32[1,4,4,3], and k, float32[1,3], to the mean of each channel of x
 * plus k, float32[1,3]. Its signature has k before x, and the library checks that buffers come in
 * that order. The environment's FAKE_LITERT has words, space between:
 *
 *   load, compile, run: it refuses to      lost=N: refuses from run N on, counted from 0
 *   open: x has no size until it is given one      wide: the buffer of x has another size
 *   text: x has texts      vague: y has no size
 *   nothing: a file gives no model, and no error      blank: buffers have no memory
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__ ((visibility ("default")))
#define X_BYTES (4 * 4 * 3 * sizeof (float))
#define Y_BYTES (3 * sizeof (float))

enum
{
  OK = 0,
  BAD_ARGUMENT = 1,
  FAILED = 3,
  REFUSED = 504
};

typedef struct
{
  int32_t element;
  uint32_t rank;
  int32_t dims[8];
  uint32_t strides[8];
} Type;

typedef struct
{
  const Type *type;
  const char *name;
} Tensor;

typedef struct
{
  size_t bytes;
  const void *tensor;
  int locked;
  float *data;
} Buffer;

typedef struct
{
  int resized;
} Compiled;

/* What a test asks for. */
EXPORT int fake_litert_accelerators, fake_litert_alive, fake_litert_runs;

static char something;
/* The highest bit of the word's first byte says that strides follow; here they are not used. */
static Type x_type = { 1, 4, { 1, 4, 4, 3 }, { 0 } };
static const Type k_type = { 1, 2, { 1, 3 }, { 0 } };
static Type y_type = { 1, 2, { 1, 3 }, { 0 } };
static const Tensor x = { &x_type, "x" }, k = { &k_type, "k" }, y = { &y_type, "y" };

#define FUNCTION(type, name, ...)         \
  EXPORT type LiteRt##name (__VA_ARGS__); \
  type LiteRt##name (__VA_ARGS__)

static const char *
asked (const char *word)
{
  const char *all = getenv ("FAKE_LITERT");
  return all != NULL ? strstr (all, word) : NULL;
}

FUNCTION (const char *, GetStatusString, int status)
{
  return status == REFUSED  ? "the fake compiler refuses"
         : status == FAILED ? "the fake device is gone"
                            : "bad argument";
}

FUNCTION (int, CreateEnvironment, int n, const void *options, void **environment)
{
  *environment = &something;
  return n == 0 ? OK : BAD_ARGUMENT;
}

FUNCTION (int, CreateModelFromBuffer, const void *data, size_t size, void **model)
{
  if (asked ("load") != NULL)
    return REFUSED;
  if (asked ("nothing") != NULL)
    return OK;
  *model = &something;
  fake_litert_alive++;
  x_type.dims[0] = asked ("open") != NULL ? -1 : 1;
  y_type.dims[1] = asked ("vague") != NULL ? -1 : 3;
  x_type.element = asked ("text") != NULL ? 5 : 1;
  return OK;
}

FUNCTION (void, DestroyModel, void *model)
{
  fake_litert_alive--;
}

FUNCTION (int, GetModelSignature, void *model, size_t i, void **signature)
{
  *signature = &something;
  return i == 0 ? OK : BAD_ARGUMENT;
}

FUNCTION (int, GetSignatureSubgraph, void *signature, void **subgraph)
{
  *subgraph = &something;
  return OK;
}

FUNCTION (int, GetNumSubgraphInputs, void *subgraph, size_t *n)
{
  *n = 2;
  return OK;
}

FUNCTION (int, GetNumSubgraphOutputs, void *subgraph, size_t *n)
{
  *n = 1;
  return OK;
}

FUNCTION (int, GetSubgraphInput, void *subgraph, size_t i, const Tensor **tensor)
{
  *tensor = i == 0 ? &x : &k;
  return i < 2 ? OK : BAD_ARGUMENT;
}

FUNCTION (int, GetSubgraphOutput, void *subgraph, size_t i, const Tensor **tensor)
{
  *tensor = &y;
  return i == 0 ? OK : BAD_ARGUMENT;
}

FUNCTION (int, GetSignatureInputTensorByIndex, void *signature, size_t i, const Tensor **tensor)
{
  *tensor = i == 0 ? &k : &x;
  return i < 2 ? OK : BAD_ARGUMENT;
}

FUNCTION (int, GetSignatureOutputTensorByIndex, void *signature, size_t i, const Tensor **tensor)
{
  *tensor = &y;
  return i == 0 ? OK : BAD_ARGUMENT;
}

FUNCTION (int, GetTensorName, const Tensor *tensor, const char **name)
{
  *name = tensor->name;
  return OK;
}

FUNCTION (int, GetRankedTensorType, const Tensor *tensor, Type *type)
{
  *type = *tensor->type;
  return OK;
}

FUNCTION (int, GetQuantizationTypeId, const Tensor *tensor, int *kind)
{
  *kind = 0;
  return OK;
}

FUNCTION (int, GetPerTensorQuantization, const Tensor *tensor, void *quantization)
{
  return BAD_ARGUMENT;
}

FUNCTION (int, CreateOptions, void **options)
{
  *options = &something;
  fake_litert_alive++;
  return OK;
}

FUNCTION (void, DestroyOptions, void *options)
{
  fake_litert_alive--;
}

FUNCTION (int, SetOptionsHardwareAccelerators, void *options, int accelerators)
{
  fake_litert_accelerators = accelerators;
  return OK;
}

FUNCTION (int, CreateCompiledModel, void *environment, void *model, void *options,
          Compiled **compiled)
{
  if (asked ("compile") != NULL || options == NULL)
    return REFUSED;
  *compiled = calloc (1, sizeof **compiled);
  fake_litert_alive++;
  return OK;
}

FUNCTION (void, DestroyCompiledModel, Compiled *compiled)
{
  free (compiled);
  fake_litert_alive--;
}

FUNCTION (int, CompiledModelResizeInputTensor, Compiled *compiled, size_t signature, size_t i,
          const int *dims, size_t rank)
{
  compiled->resized = signature == 0 && i == 1 && rank == 4 && dims[0] == 1;
  return compiled->resized ? OK : BAD_ARGUMENT;
}

FUNCTION (int, GetCompiledModelInputBufferRequirements, Compiled *compiled, size_t signature,
          size_t i, const void **needs)
{
  *needs = i == 0 ? &k : &x;
  return i < 2 ? OK : BAD_ARGUMENT;
}

FUNCTION (int, GetCompiledModelOutputBufferRequirements, Compiled *compiled, size_t signature,
          size_t i, const void **needs)
{
  *needs = &y;
  return i == 0 ? OK : BAD_ARGUMENT;
}

FUNCTION (int, CreateManagedTensorBufferFromRequirements, void *environment, const Type *type,
          const void *needs, Buffer **buffer)
{
  size_t elements = 1;
  for (uint32_t i = 0; i < (type->rank & 0x7f); i++)
    elements *= (size_t) type->dims[i];
  *buffer = calloc (1, sizeof **buffer);
  (*buffer)->bytes = elements * sizeof (float) + (needs == &x && asked ("wide") != NULL ? 4 : 0);
  (*buffer)->tensor = needs;
  (*buffer)->data = malloc ((*buffer)->bytes);
  fake_litert_alive++;
  return OK;
}

FUNCTION (void, DestroyTensorBuffer, Buffer *buffer)
{
  free (buffer->data);
  free (buffer);
  fake_litert_alive--;
}

FUNCTION (int, GetTensorBufferPackedSize, Buffer *buffer, size_t *bytes)
{
  *bytes = buffer->bytes;
  return OK;
}

FUNCTION (int, LockTensorBuffer, Buffer *buffer, void **data, int mode)
{
  *data = asked ("blank") != NULL ? NULL : buffer->data;
  buffer->locked++;
  return mode == (buffer->tensor == &y ? 0 : 1) ? OK : BAD_ARGUMENT;
}

FUNCTION (int, UnlockTensorBuffer, Buffer *buffer)
{
  buffer->locked--;
  return OK;
}

FUNCTION (int, RunCompiledModel, Compiled *compiled, size_t signature, size_t n_inputs,
          Buffer **inputs, size_t n_outputs, Buffer **outputs)
{
  const char *lost = asked ("lost=");
  const int run = fake_litert_runs++;
  if (n_inputs != 2 || n_outputs != 1 || inputs[0]->tensor != &k || inputs[1]->tensor != &x
      || inputs[0]->locked + inputs[1]->locked + outputs[0]->locked != 0)
    return BAD_ARGUMENT;
  if (asked ("run") != NULL || (lost != NULL && run >= atoi (lost + strlen ("lost="))))
    return FAILED;
  for (int c = 0; c < 3; c++) {
    float sum = 0;
    for (int i = 0; i < 16; i++)
      sum += inputs[1]->data[3 * i + c];
    outputs[0]->data[c] = sum / 16 + inputs[0]->data[c];
  }
  return OK;
}
