/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * LSTM with peepholes: one direction is one operator of the core, which starts from zeros; a direction that goes back reads and writes
 * reversed. Layout 0 is [time,batch,...], layout 1 [batch,time,...]. Without peepholes see ops_recurrent.c.
 */
#include <string.h>

#include "models/onnx/build.h"
#include "models/onnx/ops.h"

/* Operands of the core's operator. */
#define N_OPERANDS 18
#define INPUT_WEIGHTS 1
#define RECURRENT_WEIGHTS 5
#define PEEPHOLES 9
#define BIASES 12

/** @cells: the hidden size; @time: its dimension of the input */
typedef struct
{
  gint32 input, weights, recurrent, biases, peepholes;
  gint32 cells;
  guint directions, time;
} Lstm;

/* The part of direction @d and of @part, [@cells, ...], of a tensor [directions, parts x cells, ...]. */
static gint32
part_of (Onnx *o, const Lstm *l, gint32 tensor, guint d, guint part)
{
  gint32 dims[SL_MAX_RANK];
  const gint32 first = (gint32) part * l->cells;
  tensor = onnx_cut (o, onnx_cut (o, tensor, 0, (gint32) d, (gint32) d + 1), 1, first, first + l->cells);
  memcpy (dims, onnx_t (o, tensor)->dims, sizeof dims);
  const guint rank = onnx_t (o, tensor)->rank;
  return onnx_reshape (o, tensor, dims + 1, MAX (rank, 1) - 1);
}

static gint32
reversed (Onnx *o, gint32 x, guint axis)
{
  const SlTensor t = *onnx_t (o, x);
  gint32 begins[SL_MAX_RANK] = { 0 }, ends[SL_MAX_RANK], steps[SL_MAX_RANK];
  const SlOpParams params = { .slice = { .end_mask = 1u << axis } };
  memcpy (ends, t.dims, sizeof ends);
  for (guint i = 0; i < t.rank; i++)
    steps[i] = i == axis ? -1 : 1;
  begins[axis] = t.dims[axis] - 1;
  const gint32 inputs[4] = { x, onnx_ints_constant (o, begins, t.rank), onnx_ints_constant (o, ends, t.rank),
                             onnx_ints_constant (o, steps, t.rank) };
  return onnx_emit (o, SL_OP_STRIDED_SLICE, inputs, 4, &params, t.dtype);
}

/* Direction @d: three dimensions like the input's. The file's gates are input, output, forget, cell; its peepholes the first three. */
static gint32
one_direction (Onnx *o, const Lstm *l, guint d, gboolean back)
{
  static const guint gates[4] = { 0, 2, 3, 1 }, peepholes[3] = { 0, 2, 1 };
  const SlOpParams params = { .lstm = { .activation_is_tanh = TRUE, .time_major = l->time == 0 } };
  gint32 inputs[N_OPERANDS];
  const gint32 zeros = onnx_emit (
    o, SL_OP_FILL, (const gint32[]){ onnx_ints_constant (o, (const gint32[]){ l->cells }, 1), onnx_float (o, 0) }, 2, NULL, SL_DTYPE_F32);
  for (guint i = 0; i < N_OPERANDS; i++)
    inputs[i] = -1;
  inputs[0] = back ? reversed (o, l->input, l->time) : l->input;
  for (guint i = 0; i < 4; i++) {
    inputs[INPUT_WEIGHTS + i] = part_of (o, l, l->weights, d, gates[i]);
    inputs[RECURRENT_WEIGHTS + i] = part_of (o, l, l->recurrent, d, gates[i]);
    inputs[BIASES + i] = zeros;
    if (l->biases >= 0)
      inputs[BIASES + i] = onnx_binary (o, SL_OP_ADD, part_of (o, l, l->biases, d, gates[i]), part_of (o, l, l->biases, d, gates[i] + 4));
  }
  for (guint i = 0; i < 3 && l->peepholes >= 0; i++)
    inputs[PEEPHOLES + i] = part_of (o, l, l->peepholes, d, peepholes[i]);
  const gint32 y = onnx_emit (o, SL_OP_UNIDIRECTIONAL_SEQUENCE_LSTM, inputs, N_OPERANDS, &params, SL_DTYPE_F32);
  return back ? reversed (o, y, l->time) : y;
}

/* Initial states may be stated, but are zeros in models of pictures; anything else is refused. */
static void
check_state (Onnx *o, guint i)
{
  gsize n = 0;
  OnnxValue *value = onnx_input (o, i);
  const gfloat *data = onnx_data (o, value, &n);
  if (o->error != NULL || value == NULL)
    return;
  gboolean zero = data != NULL && onnx_dtype (o, value) == SL_DTYPE_F32;
  for (gsize k = 0; k < n && zero; k++)
    zero = data[k] == 0;
  if (!zero)
    onnx_fail (o, SL_ERROR_UNSUPPORTED, "its initial state, input %u, is not zero; only sequences that start from zeros are supported", i);
}

static gboolean
read_lstm (Onnx *o, Lstm *l)
{
  OnnxValue *x = onnx_required (o, 0), *weights = onnx_required (o, 1), *recurrent = onnx_required (o, 2);
  if (onnx_attribute (o, "activations") != NULL)
    onnx_fail (o, SL_ERROR_UNSUPPORTED, "attribute activations is not supported with peepholes; expected none, for sigmoid and tanh");
  onnx_check_cells (o);
  check_state (o, 5);
  check_state (o, 6);
  l->time = onnx_attr_int (o, "layout", 0) != 0;
  l->input = onnx_plain (o, x);
  l->weights = onnx_plain (o, weights);
  l->recurrent = onnx_plain (o, recurrent);
  l->biases = onnx_optional (o, 3);
  l->peepholes = onnx_optional (o, 7);
  if (o->error != NULL)
    return FALSE;
  if (x->rank != 3 || weights->rank != 3 || recurrent->rank != 3 || weights->dims[0] != (gint32) l->directions
      || recurrent->dims[0] != (gint32) l->directions || weights->dims[1] % 4 != 0 || recurrent->dims[1] != weights->dims[1]
      || recurrent->dims[2] != weights->dims[1] / 4 || weights->dims[2] != x->dims[2]) {
    onnx_fail (o, SL_ERROR_SHAPE,
               "its input has %u dimensions, its weights %u and %u; expected [time,batch,inputs], [%u,4 hidden,inputs] and "
               "[%u,4 hidden,hidden]",
               x->rank, weights->rank, recurrent->rank, l->directions, l->directions);
    return FALSE;
  }
  l->cells = recurrent->dims[2];
  const OnnxValue *biases = onnx_input (o, 3), *peepholes = onnx_input (o, 7);
  if ((biases != NULL && (biases->rank != 2 || biases->dims[0] != (gint32) l->directions || biases->dims[1] != 8 * l->cells))
      || (peepholes != NULL
          && (peepholes->rank != 2 || peepholes->dims[0] != (gint32) l->directions || peepholes->dims[1] != 3 * l->cells)))
    onnx_fail (o, SL_ERROR_SHAPE, "its biases or peepholes do not fit %d cells", l->cells);
  else
    onnx_check_lengths (o, x->dims[l->time]);
  return o->error == NULL;
}

/* The state at the end is the last step's result, of the direction that goes back the first one's. The cells' has no operator here. */
void
onnx_lstm (Onnx *o)
{
  static const char *const words[] = { "forward", "reverse", "bidirectional", NULL };
  const guint direction = onnx_attr_choice (o, "direction", words);
  Lstm l = { .directions = direction == 2 ? 2 : 1 };
  gint32 all[2] = { -1, -1 }, ends[2] = { -1, -1 };
  if (!onnx_has_input (o, 7)) {
    onnx_recurrent (o);
    return;
  }
  if (!read_lstm (o, &l))
    return;
  for (guint d = 0; d < l.directions; d++) {
    const gboolean back = direction == 1 || d == 1;
    const gint32 y = one_direction (o, &l, d, back), *dims = onnx_t (o, y)->dims;
    const gint32 steps = dims[l.time], batch = dims[1 - l.time], first = back ? 0 : steps - 1;
    const gint32 apart[2][4] = { { steps, 1, batch, l.cells }, { batch, steps, 1, l.cells } },
                 end[2][3] = { { 1, batch, l.cells }, { batch, 1, l.cells } };
    all[d] = onnx_reshape (o, y, apart[l.time], 4);
    ends[d] = onnx_reshape (o, onnx_cut (o, y, l.time, first, first + 1), end[l.time], 3);
  }
  const SlOpParams along[2] = { { .concat = { .axis = l.time == 0 ? 1 : 2 } }, { .concat = { .axis = l.time == 0 ? 0 : 1 } } };
  const gint32 *parts[2] = { all, ends };
  for (guint i = 0; i < 2; i++)
    onnx_set (o, i, l.directions == 1 ? parts[i][0] : onnx_emit (o, SL_OP_CONCATENATION, parts[i], 2, &along[i], SL_DTYPE_F32), FALSE);
}
