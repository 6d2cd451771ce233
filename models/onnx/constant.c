/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TensorProto -> constant. Suitable bytes are used in place in the file; unaligned, packed,
 * narrowed or external ones are copied, and copies are counted: a small file that refers to the
 * same bytes many times cannot make the graph large.
 */
#include <math.h>
#include <string.h>

#include "core/base/half.h"
#include "core/graph/constants.h"
#include "core/ops/kernels/simd/loops.h"
#include "models/onnx/external_data.h"
#include "models/onnx/ops.h"

/* int64 stands for "as far as it goes" beyond this; what lies between it and 32 bits is refused. */
#define FAR (G_GINT64_CONSTANT (1) << 62)
/* So that their bytes can be counted, whatever the type. */
#define MAX_ELEMENTS (G_MAXSIZE / 16)
/* Keys and values of where such a constant lies. */
#define MAX_WORD 4096

static const struct
{
  SlDtype graph, file;
  guint8 size;
} types[] = {
  [ONNX_FLOAT] = { SL_DTYPE_F32, SL_DTYPE_F32, 4 },
  [ONNX_UINT8] = { SL_DTYPE_U8, SL_DTYPE_U8, 1 },
  [ONNX_INT8] = { SL_DTYPE_I8, SL_DTYPE_I8, 1 },
  [ONNX_UINT16] = { SL_DTYPE_I32, SL_DTYPE_U16, 2 },
  [ONNX_INT16] = { SL_DTYPE_I32, SL_DTYPE_I16, 2 },
  [ONNX_INT32] = { SL_DTYPE_I32, SL_DTYPE_I32, 4 },
  [ONNX_INT64] = { SL_DTYPE_I32, SL_DTYPE_I64, 8 },
  [ONNX_BOOL] = { SL_DTYPE_BOOL, SL_DTYPE_BOOL, 1 },
  [ONNX_FLOAT16] = { SL_DTYPE_F32, SL_DTYPE_F16, 2 },
  [ONNX_DOUBLE] = { SL_DTYPE_F32, SL_DTYPE_F64, 8 },
  [ONNX_UINT32] = { SL_DTYPE_I32, SL_DTYPE_U32, 4 },
  [ONNX_UINT64] = { SL_DTYPE_I32, SL_DTYPE_U64, 8 },
  [ONNX_BFLOAT16] = { SL_DTYPE_F32, SL_DTYPE_INVALID, 2 },
  [ONNX_FLOAT8E4M3FN] = { SL_DTYPE_F32, SL_DTYPE_INVALID, 1 },
  [ONNX_FLOAT8E4M3FNUZ] = { SL_DTYPE_F32, SL_DTYPE_INVALID, 1 },
  [ONNX_FLOAT8E5M2] = { SL_DTYPE_F32, SL_DTYPE_INVALID, 1 },
  [ONNX_FLOAT8E5M2FNUZ] = { SL_DTYPE_F32, SL_DTYPE_INVALID, 1 },
  [ONNX_UINT4] = { SL_DTYPE_U8, SL_DTYPE_INVALID, 1 },
  [ONNX_INT4] = { SL_DTYPE_I8, SL_DTYPE_INVALID, 1 },
  [ONNX_FLOAT4E2M1] = { SL_DTYPE_F32, SL_DTYPE_INVALID, 1 },
};

/** A tensor as the file has it. */
typedef struct
{
  const char *name;
  guint type;
  guint rank;
  gint32 dims[SL_MAX_RANK];
  gsize elements;
  gboolean has_raw, is_external;
  SlPbMessage raw;
  GArray *numbers; /* of guint64: varints and fixed numbers of the typed lists, bits as they are */
  OnnxExternal external;
} Tensor;

SlDtype
onnx_ir_type (guint type)
{
  return type < G_N_ELEMENTS (types) ? types[type].graph : SL_DTYPE_INVALID;
}

SlDtype
onnx_file_type (guint type)
{
  return type < G_N_ELEMENTS (types) ? types[type].file : SL_DTYPE_INVALID;
}

static gboolean
bad (Lower *o, const Tensor *t, SlError code, const char *what)
{
  return lower_refuse (o, code, "constant '%s': %s", t->name, what);
}

static gboolean
add_dim (Lower *o, Tensor *t, guint64 dim)
{
  if (t->rank >= SL_MAX_RANK)
    return bad (o, t, SL_ERROR_LIMIT, "more than 8 dimensions");
  if (dim > G_MAXINT32 || !g_size_checked_mul (&t->elements, t->elements, (gsize) dim)
      || t->elements > MAX_ELEMENTS)
    return bad (o, t, SL_ERROR_LIMIT, "its dimensions overflow");
  t->dims[t->rank++] = (gint32) dim;
  return TRUE;
}

static gboolean
add_dims (Lower *o, Tensor *t, const SlPbField *field)
{
  SlPbMessage packed = field->bytes;
  guint64 value;
  if (field->wire == SL_PB_VARINT)
    return add_dim (o, t, field->value);
  while (field->wire == SL_PB_BYTES && sl_pb_varint (&packed, &value))
    if (!add_dim (o, t, value))
      return FALSE;
  return TRUE;
}

/* Typed lists: varints, or numbers of @size bytes. As many as there are elements are kept. */
static void
add_numbers (Tensor *t, const SlPbField *field, gsize size)
{
  SlPbMessage packed = field->bytes;
  guint64 value = 0;
  if (field->wire != SL_PB_BYTES) {
    if (t->numbers->len <= t->elements)
      g_array_append_val (t->numbers, field->value);
    return;
  }
  while (t->numbers->len <= t->elements && packed.at < packed.end) {
    if (size == 0) {
      if (!sl_pb_varint (&packed, &value))
        return;
    } else {
      if (sl_pb_size (&packed) < size)
        return;
      value = 0;
      memcpy (&value, sl_pb_data (&packed), size);
      packed.at += size;
    }
    g_array_append_val (t->numbers, value);
  }
}

static gboolean
read_external (Lower *o, Tensor *t, SlPbMessage entry)
{
  const char *key = "", *value = "";
  SlPbField field;
  while (sl_pb_next (&entry, &field)) {
    if (field.wire == SL_PB_BYTES && sl_pb_size (&field.bytes) > MAX_WORD)
      return bad (o, t, SL_ERROR_LIMIT, "the name of the file with its data is too long");
    if (sl_pb_is (&field, 1, SL_PB_BYTES))
      key = onnx_text (onnx_reader (o)->file, &field.bytes);
    else if (sl_pb_is (&field, 2, SL_PB_BYTES))
      value = onnx_text (onnx_reader (o)->file, &field.bytes);
  }
  if (strcmp (key, "location") == 0)
    t->external.location = value;
  else if (strcmp (key, "offset") == 0)
    return g_ascii_string_to_unsigned (value, 10, 0, G_MAXINT64, &t->external.offset, NULL)
           || bad (o, t, SL_ERROR_FORMAT, "its offset is no number");
  else if (strcmp (key, "length") == 0) {
    t->external.has_length = TRUE;
    return g_ascii_string_to_unsigned (value, 10, 0, G_MAXINT64, &t->external.length, NULL)
           || bad (o, t, SL_ERROR_FORMAT, "its length is no number");
  }
  return TRUE;
}

/* Dimensions and type first, since the lists are cut at what they need. */
static gboolean
read_head (Lower *o, Tensor *t, SlPbMessage message)
{
  SlPbField field;
  t->elements = 1;
  while (sl_pb_next (&message, &field)) {
    if (field.number == 1 && !add_dims (o, t, &field))
      return FALSE;
    if (sl_pb_is (&field, 2, SL_PB_VARINT))
      t->type = (guint) MIN (field.value, G_MAXINT16);
    else if (sl_pb_is (&field, 8, SL_PB_BYTES))
      t->name = onnx_text (onnx_reader (o)->file, &field.bytes);
  }
  return TRUE;
}

static gboolean
read_body (Lower *o, Tensor *t, SlPbMessage message)
{
  SlPbField field;
  while (sl_pb_next (&message, &field)) {
    if (field.number == 4)
      add_numbers (t, &field, sizeof (gfloat));
    else if (field.number == 5 || field.number == 7 || field.number == 11)
      add_numbers (t, &field, 0);
    else if (field.number == 10)
      add_numbers (t, &field, sizeof (gdouble));
    else if (sl_pb_is (&field, 9, SL_PB_BYTES)) {
      t->raw = field.bytes;
      t->has_raw = TRUE;
    } else if (sl_pb_is (&field, 13, SL_PB_BYTES)) {
      if (!read_external (o, t, field.bytes))
        return FALSE;
    } else if (sl_pb_is (&field, 14, SL_PB_VARINT)) {
      t->is_external = field.value == 1;
    }
  }
  return sl_pb_check (&onnx_reader (o)->file->pb, &o->error);
}

/* Two elements of 4 bits share a byte. */
static gboolean
is_packed (guint type)
{
  return type == ONNX_UINT4 || type == ONNX_INT4 || type == ONNX_FLOAT4E2M1;
}

/* Numbers that the file has for @t. */
static gsize
units_of (const Tensor *t)
{
  return is_packed (t->type) ? t->elements / 2 + t->elements % 2 : t->elements;
}

/* Elements of the typed lists, as bytes of the file's type. */
static const guint8 *
unpack_numbers (Lower *o, const Tensor *t, gsize size)
{
  const gsize units = units_of (t);
  if (t->numbers->len != units)
    return lower_fail_null (
      o, SL_ERROR_FORMAT, "constant '%s' has %s%u numbers; expected %" G_GSIZE_FORMAT, t->name,
      t->numbers->len > units ? "more than " : "", MIN (t->numbers->len, (guint) units), units);
  if (!onnx_may_copy (o, t->name, units * size))
    return NULL;
  guint8 *data = sl_arena_alloc (o->arena, units * size + SL_TENSOR_PADDING);
  for (gsize i = 0; i < units; i++)
    memcpy (data + i * size, &g_array_index (t->numbers, guint64, i), size);
  return data;
}

static const guint8 *
find_bytes (Lower *o, const Tensor *t, gsize size)
{
  const gsize bytes = units_of (t) * size;
  if (t->is_external)
    return onnx_read_external (o, &t->external, bytes);
  if (!t->has_raw)
    return unpack_numbers (o, t, size);
  if (sl_pb_size (&t->raw) != bytes)
    return lower_fail_null (
      o, SL_ERROR_FORMAT, "constant '%s' has %" G_GSIZE_FORMAT " bytes; expected %" G_GSIZE_FORMAT,
      t->name, sl_pb_size (&t->raw), bytes);
  const guint8 *data = sl_pb_data (&t->raw);
  if ((guintptr) data % size == 0)
    return data;
  if (!onnx_may_copy (o, t->name, bytes))
    return NULL;
  return t->type == ONNX_FLOAT ? sl_graph_copy_later (o->graph, data, bytes, &o->error)
                               : sl_graph_copy_constant (o->graph, data, bytes, &o->error);
}

/* What a constant of another type is made of. */
typedef struct
{
  SlGraph *graph;
  guint type;
  gsize elements;
  const guint8 *data;
} Stored;

static gint64
load_whole (guint type, const guint8 *data, gsize i)
{
  switch (type) {
    case ONNX_UINT16:
      return ((const guint16 *) (gconstpointer) data)[i];
    case ONNX_INT16:
      return ((const gint16 *) (gconstpointer) data)[i];
    case ONNX_UINT32:
      return ((const guint32 *) (gconstpointer) data)[i];
    case ONNX_UINT64:
      return (gint64) MIN (((const guint64 *) (gconstpointer) data)[i], (guint64) G_MAXINT64);
    default:
      return ((const gint64 *) (gconstpointer) data)[i];
  }
}

static const void *
narrow_ints (Lower *o, const Tensor *t, const guint8 *data)
{
  if (!onnx_may_copy (o, t->name, t->elements * sizeof (gint32)))
    return NULL;
  gint32 *copy = sl_arena_alloc (o->arena, t->elements * sizeof copy[0]);
  for (gsize i = 0; i < t->elements; i++) {
    const gint64 value = load_whole (t->type, data, i);
    copy[i] = (gint32) CLAMP (value, G_MININT32, G_MAXINT32);
    if (value == copy[i] || value >= FAR || value <= -FAR)
      continue;
    return lower_fail_null (o, SL_ERROR_UNSUPPORTED,
                            "constant '%s' holds %" G_GINT64_FORMAT ", which does not fit 32 bits",
                            t->name, value);
  }
  return copy;
}

static gboolean
widen (void *memory, gpointer data, GError **error)
{
  const Stored *from = data;
  const gsize bytes = from->elements * types[from->type].size;
  gfloat *floats = memory;
  gboolean came;
  if (!sl_graph_take_source (from->graph, from->data, bytes, &came, error))
    return FALSE;
  const guint16 *halves = (const guint16 *) (gconstpointer) from->data;
  if (from->type == ONNX_FLOAT16)
    sl_simd_loops ()->from_halves (halves, floats, from->elements);
  for (gsize i = 0; from->type == ONNX_BFLOAT16 && i < from->elements; i++)
    floats[i] = sl_bfloat_to_float (halves[i]);
  for (gsize i = 0; from->type == ONNX_DOUBLE && i < from->elements; i++)
    floats[i] = (gfloat) ((const gdouble *) (gconstpointer) from->data)[i];
  sl_graph_return_source (from->graph, from->data, bytes, came);
  return TRUE;
}

/* float64, float16 and bfloat16 as float32. Layers pack float16 as it is in the file. */
static const void *
narrow_floats (Lower *o, const Tensor *t, const guint8 *data)
{
  const Stored from = { o->graph, t->type, t->elements, data };
  const gsize bytes = t->elements * sizeof (gfloat), stored = t->elements * types[t->type].size;
  if (!onnx_may_copy (o, t->name, bytes))
    return NULL;
  Stored *kept = g_memdup2 (&from, sizeof from);
  if (t->type == ONNX_FLOAT16) {
    const SlMadeOf of = { .data = data, .bytes = stored, .halves = TRUE };
    return sl_graph_make_later (o->graph, bytes, &of, widen, kept, g_free, &o->error);
  }
  const void *floats = sl_graph_make_constant (o->graph, bytes, widen, kept, g_free, &o->error);
  if (floats != NULL)
    sl_graph_used_source (o->graph, floats, bytes, data, stored);
  return floats;
}

/* Numbers of 8 and 4 bits with a sign, an exponent and a mantissa. Of those called "uz" and of 4
 * bits none is infinite. */
static gfloat
small_float (guint type, guint code)
{
  static const struct
  {
    guint mantissa, exponent;
    gint bias;
  } forms[] = { [ONNX_FLOAT8E4M3FN] = { 3, 4, 7 },
                [ONNX_FLOAT8E4M3FNUZ] = { 3, 4, 8 },
                [ONNX_FLOAT8E5M2] = { 2, 5, 15 },
                [ONNX_FLOAT8E5M2FNUZ] = { 2, 5, 16 },
                [ONNX_FLOAT4E2M1] = { 1, 2, 1 } };
  const guint m = forms[type].mantissa, e = forms[type].exponent, sign = code >> (m + e) & 1;
  const guint mantissa = code & ((1u << m) - 1), exponent = code >> m & ((1u << e) - 1),
              magnitude = code & ((1u << (m + e)) - 1);
  const gboolean zero_only = type == ONNX_FLOAT8E4M3FNUZ || type == ONNX_FLOAT8E5M2FNUZ;
  if (zero_only ? code == 0x80 : type == ONNX_FLOAT8E4M3FN && magnitude == 0x7f)
    return NAN;
  if (type == ONNX_FLOAT8E5M2 && exponent == 31)
    return mantissa != 0 ? NAN : sign ? -INFINITY : INFINITY;
  const gfloat value = exponent == 0 ? ldexpf ((gfloat) mantissa, 1 - forms[type].bias - (gint) m)
                                     : ldexpf ((gfloat) (mantissa | 1u << m),
                                               (gint) exponent - forms[type].bias - (gint) m);
  return sign ? -value : value;
}

/* Elements of 8 bits and fewer: floats, or whole numbers of a byte each. What they become counts
 * beside what files may be copied to. */
static const void *
widen_small (Lower *o, const Tensor *t, const guint8 *data)
{
  const gboolean whole = t->type == ONNX_UINT4 || t->type == ONNX_INT4;
  lower_grant (o, 2 * sizeof (gfloat) * (guint64) t->elements);
  if (!onnx_may_copy (o, t->name, t->elements * (whole ? 1 : sizeof (gfloat))))
    return NULL;
  if (whole) {
    const SlFewBits codes = { .rows = 1,
                              .columns = t->elements,
                              .bits = 4,
                              .is_signed = t->type == ONNX_INT4,
                              .values = data,
                              .value_step = { 0, 1 },
                              .value_bytes = units_of (t) };
    return sl_graph_widen_later (o->graph, &codes, &o->error);
  }
  gfloat *reals = sl_arena_alloc (o->arena, t->elements * sizeof (gfloat) + SL_TENSOR_PADDING);
  for (gsize i = 0; i < t->elements; i++)
    reals[i] =
      small_float (t->type, is_packed (t->type) ? data[i / 2] >> (i % 2 * 4) & 15 : data[i]);
  return reals;
}

static LowerValue *
make_value (Lower *o, const Tensor *t)
{
  const SlDtype dtype = types[t->type].graph;
  const guint8 *bytes = find_bytes (o, t, types[t->type].size);
  SlTensor tensor = { .name = t->name,
                      .dtype = dtype,
                      .rank = t->rank,
                      .data = bytes,
                      .bytes = t->elements * sl_dtype_size (dtype) };
  if (bytes == NULL
      || (t->type != ONNX_FLOAT
          && !sl_graph_need_constant (o->graph, bytes, units_of (t) * types[t->type].size,
                                      &o->error)))
    return NULL;
  if (t->type > ONNX_BFLOAT16)
    tensor.data = widen_small (o, t, bytes);
  else if (types[t->type].file != dtype)
    tensor.data = dtype == SL_DTYPE_I32 ? narrow_ints (o, t, bytes) : narrow_floats (o, t, bytes);
  if (tensor.data == NULL)
    return NULL;
  memcpy (tensor.dims, t->dims, sizeof tensor.dims);
  g_autofree char *name = g_utf8_make_valid (t->name, -1);
  tensor.name = name;
  LowerValue *value = lower_value_new (o, lower_new_tensor (o, &tensor), FALSE);
  if (value != NULL)
    value->type = t->type;
  return value;
}

LowerValue *
onnx_read_constant (Lower *o, SlPbMessage message, const char *name)
{
  LowerValue *value = NULL;
  Tensor t = { .name = name, .external = { .constant = name, .location = "" } };
  if (o->error != NULL || !read_head (o, &t, message))
    return NULL;
  t.name = name;
  if (t.type >= G_N_ELEMENTS (types) || types[t.type].size == 0)
    return lower_fail_null (o, SL_ERROR_UNSUPPORTED,
                            "constant '%s' is of %s, which is not supported", name,
                            onnx_type_name (t.type));
  if (t.elements == 0)
    return lower_value_empty (o, t.rank, t.dims);
  t.numbers = g_array_new (FALSE, FALSE, sizeof (guint64));
  if (read_body (o, &t, message))
    value = make_value (o, &t);
  g_array_unref (t.numbers);
  return value;
}
