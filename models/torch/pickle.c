/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The machine of pickles: instructions take values from a stack and put others there. Names of
 * classes and functions are strings on that stack, taken from a closed list; "calling" one is a
 * case in a table here. Nothing recurses; stack, memory and values are bounded.
 */
#include "models/torch/pickle.h"

#include <string.h>

#include "models/torch/packed.h"

/* Values on the stack, and remembered ones. */
#define MAX_VALUES ((guint) 1 << 18)
#define CLASSES "__torch__."
#define JIT "torch.jit._pickle "
#define PER_TENSOR "torch per_tensor_affine"
#define PER_CHANNEL "torch per_channel_affine"

typedef struct
{
  TsHeap *heap;
  TsArchive *archive;
  const char *name;
  const guint8 *data;
  gsize size, at;
  gboolean shapes_only;
  GArray *stack, *memo; /* of TsValue */
  GArray *marks;        /* of guint: heights of the stack */
} Pickle;

static const struct
{
  const char *name;
  TsDtype dtype;
} storages[] = {
  { "torch FloatStorage", TS_FLOAT32 },     { "torch DoubleStorage", TS_FLOAT64 },
  { "torch HalfStorage", TS_FLOAT16 },      { "torch LongStorage", TS_INT64 },
  { "torch IntStorage", TS_INT32 },         { "torch ShortStorage", TS_INT16 },
  { "torch CharStorage", TS_INT8 },         { "torch ByteStorage", TS_UINT8 },
  { "torch BoolStorage", TS_BOOLEAN },      { "torch QInt8Storage", TS_QINT8 },
  { "torch QUInt8Storage", TS_QUINT8 },     { "torch QInt32Storage", TS_QINT32 },
  { "torch BFloat16Storage", TS_BFLOAT16 },
};

static gboolean
damaged (Pickle *p, const char *what)
{
  return ts_fail (p->heap, SL_ERROR_FORMAT, "%s", what);
}

static const guint8 *
take (Pickle *p, gsize bytes)
{
  const guint8 *data = p->data + p->at;
  if (bytes > p->size - p->at) {
    damaged (p, "it ends within an instruction");
    return NULL;
  }
  p->at += bytes;
  return data;
}

/* A whole number of @bytes bytes, lowest first. */
static gboolean
take_whole (Pickle *p, gsize bytes, guint64 *number)
{
  const guint8 *data = take (p, bytes);
  *number = 0;
  for (gsize i = 0; data != NULL && i < bytes; i++)
    *number |= (guint64) data[i] << (8 * i);
  return data != NULL;
}

static gboolean
push (Pickle *p, TsValue value)
{
  if (p->stack->len >= MAX_VALUES)
    return ts_fail (p->heap, SL_ERROR_LIMIT, "more than %u values on its stack", MAX_VALUES);
  g_array_append_val (p->stack, value);
  return p->heap->error == NULL;
}

/* What lies on the stack above the last mark, at most. */
static guint
above_mark (const Pickle *p)
{
  return p->stack->len
         - (p->marks->len > 0 ? g_array_index (p->marks, guint, p->marks->len - 1) : 0);
}

static gboolean
pop (Pickle *p, TsValue *value)
{
  *value = ts_none ();
  if (above_mark (p) == 0)
    return damaged (p, "an instruction needs more values than there are");
  *value = g_array_index (p->stack, TsValue, p->stack->len - 1);
  g_array_set_size (p->stack, p->stack->len - 1);
  return TRUE;
}

static void
drop (Pickle *p, guint n)
{
  g_array_set_size (p->stack, p->stack->len - n);
}

static const TsValue *
last_of (const Pickle *p, guint n)
{
  return &g_array_index (p->stack, TsValue, p->stack->len - n);
}

/* The number of values above the last mark, which goes. */
static gboolean
pop_mark (Pickle *p, guint *n)
{
  if (p->marks->len == 0)
    return damaged (p, "an instruction needs a mark that was not set");
  *n = above_mark (p);
  g_array_set_size (p->marks, p->marks->len - 1);
  return TRUE;
}

/* The box that an instruction fills with the @n values above it; it must be of @kind. */
static gboolean
find_box (Pickle *p, guint n, TsKind kind, TsValue *box)
{
  if (above_mark (p) <= n)
    return damaged (p, "an instruction needs more values than there are");
  *box = g_array_index (p->stack, TsValue, p->stack->len - 1 - n);
  return box->kind == kind
         || damaged (p, "an instruction fills what is no list, dictionary or object");
}

/* Simple values. */

static gboolean
op_proto (Pickle *p)
{
  guint64 version;
  return take_whole (p, 1, &version)
         && (version == 2
             || ts_fail (p->heap, SL_ERROR_UNSUPPORTED,
                         "pickle protocol %" G_GUINT64_FORMAT
                         "; expected 2, as torch.jit.save() writes",
                         version));
}

static gboolean
op_none (Pickle *p)
{
  return push (p, ts_none ());
}

static gboolean
op_true (Pickle *p)
{
  return push (p, ts_bool (TRUE));
}

static gboolean
op_false (Pickle *p)
{
  return push (p, ts_bool (FALSE));
}

static gboolean
op_int1 (Pickle *p)
{
  guint64 number;
  return take_whole (p, 1, &number) && push (p, ts_int ((gint64) number));
}

static gboolean
op_int2 (Pickle *p)
{
  guint64 number;
  return take_whole (p, 2, &number) && push (p, ts_int ((gint64) number));
}

static gboolean
op_int4 (Pickle *p)
{
  guint64 number;
  return take_whole (p, 4, &number) && push (p, ts_int ((gint32) (guint32) number));
}

/* A number of any length, signed; torch writes eight bytes. */
static gboolean
op_long (Pickle *p)
{
  guint64 bytes, number;
  if (!take_whole (p, 1, &bytes))
    return FALSE;
  if (bytes > 8)
    return ts_fail (p->heap, SL_ERROR_UNSUPPORTED,
                    "a whole number of %" G_GUINT64_FORMAT " bytes; expected at most 8", bytes);
  if (!take_whole (p, (gsize) bytes, &number))
    return FALSE;
  if (bytes > 0 && bytes < 8 && (number >> (8 * bytes - 1) & 1) != 0)
    number |= ~G_GUINT64_CONSTANT (0) << (8 * bytes);
  return push (p, ts_int ((gint64) number));
}

static gboolean
op_float (Pickle *p)
{
  gdouble real;
  const guint8 *data = take (p, sizeof real);
  guint64 bits = 0;
  for (guint i = 0; data != NULL && i < sizeof bits; i++)
    bits = bits << 8 | data[i];
  memcpy (&real, &bits, sizeof real);
  return data != NULL && push (p, ts_float (real));
}

static gboolean
push_text (Pickle *p, const char *text, gsize length)
{
  if (!g_utf8_validate (text, (gssize) length, NULL))
    return damaged (p, "a string is not UTF-8");
  const char *copy = ts_text (p->heap, text, length);
  return copy != NULL && push (p, (TsValue){ .kind = TS_STRING, .text = copy });
}

static gboolean
op_unicode (Pickle *p)
{
  guint64 length;
  const guint8 *text = take_whole (p, 4, &length) ? take (p, (gsize) length) : NULL;
  return text != NULL && push_text (p, (const char *) text, (gsize) length);
}

/* Containers. */

static gboolean
op_mark (Pickle *p)
{
  if (p->marks->len >= MAX_VALUES)
    return ts_fail (p->heap, SL_ERROR_LIMIT, "more than %u marks", MAX_VALUES);
  g_array_append_val (p->marks, p->stack->len);
  return TRUE;
}

static gboolean
op_empty_tuple (Pickle *p)
{
  return push (p, ts_tuple (p->heap, NULL, 0));
}

static gboolean
tuple_of (Pickle *p, guint n)
{
  if (above_mark (p) < n)
    return damaged (p, "an instruction needs more values than there are");
  const TsValue tuple = ts_tuple (p->heap, last_of (p, n), n);
  drop (p, n);
  return push (p, tuple);
}

static gboolean
op_tuple (Pickle *p)
{
  guint n = 0;
  return pop_mark (p, &n) && tuple_of (p, n);
}

static gboolean
op_tuple1 (Pickle *p)
{
  return tuple_of (p, 1);
}

static gboolean
op_tuple2 (Pickle *p)
{
  return tuple_of (p, 2);
}

static gboolean
op_tuple3 (Pickle *p)
{
  return tuple_of (p, 3);
}

static gboolean
op_empty_list (Pickle *p)
{
  return push (p, ts_list (p->heap));
}

static gboolean
append (Pickle *p, guint n)
{
  TsValue list;
  if (!find_box (p, n, TS_LIST, &list))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!ts_list_append (p->heap, list.list, last_of (p, n)[i]))
      return FALSE;
  drop (p, n);
  return TRUE;
}

static gboolean
op_append (Pickle *p)
{
  return append (p, 1);
}

static gboolean
op_appends (Pickle *p)
{
  guint n = 0;
  return pop_mark (p, &n) && append (p, n);
}

static gboolean
op_empty_dict (Pickle *p)
{
  return push (p, ts_dict (p->heap));
}

static gboolean
set_items (Pickle *p, guint n)
{
  TsValue dict;
  if (!find_box (p, n, TS_DICT, &dict))
    return FALSE;
  if (n % 2 != 0)
    return damaged (p, "a key without a value");
  for (guint i = 0; i < n; i += 2)
    if (!ts_dict_set (p->heap, dict.dict, last_of (p, n)[i], last_of (p, n)[i + 1]))
      return FALSE;
  drop (p, n);
  return TRUE;
}

static gboolean
op_set_item (Pickle *p)
{
  return set_items (p, 2);
}

static gboolean
op_set_items (Pickle *p)
{
  guint n = 0;
  return pop_mark (p, &n) && set_items (p, n);
}

/* The memory. Writers count their places, so the next one is all that may be new. */

static gboolean
remember (Pickle *p, guint64 place)
{
  if (above_mark (p) == 0)
    return damaged (p, "an instruction needs more values than there are");
  const TsValue value = g_array_index (p->stack, TsValue, p->stack->len - 1);
  if (place > p->memo->len || place >= MAX_VALUES)
    return ts_fail (p->heap, SL_ERROR_LIMIT,
                    "a value is remembered at place %" G_GUINT64_FORMAT "; expected at most %u",
                    place, p->memo->len);
  if (place == p->memo->len)
    g_array_append_val (p->memo, value);
  else
    g_array_index (p->memo, TsValue, (guint) place) = value;
  return TRUE;
}

static gboolean
recall (Pickle *p, guint64 place)
{
  if (place >= p->memo->len)
    return damaged (p, "a value is used that was not remembered");
  return push (p, g_array_index (p->memo, TsValue, (guint) place));
}

static gboolean
op_put (Pickle *p)
{
  guint64 place;
  return take_whole (p, 1, &place) && remember (p, place);
}

static gboolean
op_long_put (Pickle *p)
{
  guint64 place;
  return take_whole (p, 4, &place) && remember (p, place);
}

static gboolean
op_get (Pickle *p)
{
  guint64 place;
  return take_whole (p, 1, &place) && recall (p, place);
}

static gboolean
op_long_get (Pickle *p)
{
  guint64 place;
  return take_whole (p, 4, &place) && recall (p, place);
}

/* Tensors. */

/* ("storage", type, key, device, elements) becomes a tensor of all its elements; the device is of
 * no interest. */
static gboolean
op_storage (Pickle *p)
{
  TsValue id = ts_none ();
  GError *error = NULL;
  TsStorage *storage = ts_alloc (p->heap, sizeof *storage);
  TsTensor *tensor = ts_alloc (p->heap, sizeof *tensor);
  if (!pop (p, &id) || storage == NULL || tensor == NULL)
    return FALSE;
  const TsValue *items = id.kind == TS_TUPLE && id.list->n == 5 ? id.list->items : NULL;
  if (items == NULL || items[1].kind != TS_STRING || items[2].kind != TS_STRING
      || items[4].kind != TS_INT || items[4].number < 0
      || (guint64) items[4].number > G_MAXSIZE / 16)
    return damaged (p, "a storage is not named as torch does it");
  guint i = 0;
  while (i < G_N_ELEMENTS (storages) && strcmp (storages[i].name, items[1].text) != 0)
    i++;
  if (i == G_N_ELEMENTS (storages))
    return damaged (p, "a storage is of an unknown type");
  const gsize size = ts_dtype_size (storages[i].dtype);
  *storage = (TsStorage){ .dtype = storages[i].dtype, .elements = (gsize) items[4].number };
  gsize length = storage->elements * size;
  if (!p->shapes_only)
    storage->bytes =
      ts_archive_elements (p->archive, p->name, items[2].text, size, &length, &error);
  if (error != NULL) {
    ts_fail (p->heap, (SlError) error->code, "%s", error->message);
    g_error_free (error);
    return FALSE;
  }
  if (length / size < storage->elements)
    return ts_fail (p->heap, SL_ERROR_FORMAT,
                    "storage '%s' has %" G_GSIZE_FORMAT " bytes; expected %" G_GSIZE_FORMAT
                    " elements of %s",
                    items[2].text, length, storage->elements, ts_dtype_name (storage->dtype));
  *tensor = (TsTensor){ .dtype = storage->dtype, .rank = 1, .storage = storage, .strides = { 1 } };
  tensor->dims[0] = (gint32) MIN (storage->elements, G_MAXINT32);
  return push (p, (TsValue){ .kind = TS_TENSOR, .tensor = tensor });
}

/* (storage, offset, sizes, strides, ...) */
static gboolean
rebuild (Pickle *p, const TsValue *args, guint n, TsTensor **made)
{
  if (n < 4 || args[0].kind != TS_TENSOR || args[0].tensor->storage == NULL
      || args[1].kind != TS_INT || args[1].number < 0 || (guint64) args[1].number > G_MAXSIZE / 16
      || args[2].kind != TS_TUPLE || args[3].kind != TS_TUPLE || args[2].list->n != args[3].list->n)
    return damaged (p, "a tensor is not described as torch does it");
  if (args[2].list->n > SL_MAX_RANK)
    return ts_fail (p->heap, SL_ERROR_LIMIT, "a tensor has %u dimensions; expected at most %d",
                    args[2].list->n, SL_MAX_RANK);
  TsTensor *tensor = ts_alloc (p->heap, sizeof *tensor);
  if (tensor == NULL)
    return FALSE;
  *tensor = (TsTensor){ .dtype = args[0].tensor->dtype,
                        .rank = args[2].list->n,
                        .storage = args[0].tensor->storage,
                        .offset = (gsize) args[1].number };
  for (guint i = 0; i < tensor->rank; i++) {
    const TsValue size = args[2].list->items[i], stride = args[3].list->items[i];
    if (size.kind != TS_INT || stride.kind != TS_INT || size.number < 0 || size.number > G_MAXINT32
        || stride.number < 0)
      return damaged (p, "a tensor's sizes and strides are not whole numbers from 0 on");
    tensor->dims[i] = (gint32) size.number;
    tensor->strides[i] = stride.number;
  }
  *made = tensor;
  if (!ts_tensor_fits (tensor))
    return damaged (p, "a tensor has elements outside its storage");
  if (p->shapes_only)
    tensor->storage = NULL;
  return TRUE;
}

static gboolean
push_tensor (Pickle *p, TsTensor *tensor)
{
  return push (p, (TsValue){ .kind = TS_TENSOR, .tensor = tensor });
}

static gboolean
call_rebuild_tensor (Pickle *p, const TsValue *args, guint n)
{
  TsTensor *tensor = NULL;
  return rebuild (p, args, n, &tensor)
         && (!ts_is_quantized (tensor->dtype)
             || damaged (p, "a tensor of a quantised type without a scale"))
         && push_tensor (p, tensor);
}

/* Scales and zero points: (scheme, scale, zero point), or (scheme, scales, zero points, axis) with
 * tensors. */
static gboolean
read_quant (Pickle *p, TsTensor *tensor, TsValue scheme)
{
  const TsValue *items = scheme.kind == TS_TUPLE && scheme.list->n >= 3 ? scheme.list->items : NULL;
  TsQuant *quant = &tensor->quant;
  if (items == NULL || items[0].kind != TS_STRING || !ts_is_quantized (tensor->dtype))
    return damaged (p, "a quantised tensor has no scale and zero point");
  if (strcmp (items[0].text, PER_TENSOR) == 0 && items[1].kind == TS_FLOAT
      && items[2].kind == TS_INT) {
    gdouble *scale = ts_alloc (p->heap, sizeof *scale);
    gint64 *zero_point = ts_alloc (p->heap, sizeof *zero_point);
    if (scale == NULL || zero_point == NULL)
      return FALSE;
    *scale = items[1].real;
    *zero_point = items[2].number;
    *quant = (TsQuant){ .n = 1, .scales = scale, .zero_points = zero_point };
    return TRUE;
  }
  if (strcmp (items[0].text, PER_CHANNEL) != 0 || scheme.list->n < 4 || items[1].kind != TS_TENSOR
      || items[2].kind != TS_TENSOR || items[3].kind != TS_INT || items[3].number < 0
      || items[3].number >= tensor->rank)
    return ts_fail (
      p->heap, SL_ERROR_UNSUPPORTED,
      "a tensor is quantised in a way that is not supported; expected one scale, or one for each "
      "channel (%s)",
      items[0].text);
  const gsize n = (gsize) tensor->dims[items[3].number];
  if (ts_tensor_elements (items[1].tensor) != n || ts_tensor_elements (items[2].tensor) != n)
    return damaged (p,
                    "a quantised tensor has another number of scales or zero points than channels");
  *quant = (TsQuant){ .n = (guint) n,
                      .axis = (gint) items[3].number,
                      .scales = ts_tensor_floats (p->heap, items[1].tensor, n),
                      .zero_points = ts_tensor_ints (p->heap, items[2].tensor, n) };
  return quant->scales != NULL && quant->zero_points != NULL;
}

static gboolean
call_rebuild_qtensor (Pickle *p, const TsValue *args, guint n)
{
  TsTensor *tensor = NULL;
  if (!rebuild (p, args, n, &tensor))
    return FALSE;
  return read_quant (p, tensor, n > 4 ? args[4] : ts_none ()) && push_tensor (p, tensor);
}

/* The other functions. */

static gboolean
call_ordered_dict (Pickle *p, const TsValue *args, guint n)
{
  return push (p, ts_dict (p->heap));
}

/* Lists of one type of elements, which their values tell, too; (value, type); a parameter, which is
 * a tensor with a flag and hooks. */
static gboolean
call_first (Pickle *p, const TsValue *args, guint n)
{
  return n > 0 ? push (p, args[0]) : damaged (p, "a function of torch's lacks its argument");
}

static gboolean
call_device (Pickle *p, const TsValue *args, guint n)
{
  if (n == 0 || args[0].kind != TS_STRING)
    return damaged (p, "a device has no name");
  return push (p, (TsValue){ .kind = TS_DEVICE, .text = args[0].text });
}

static const struct
{
  const char *name;
  gboolean (*call) (Pickle *p, const TsValue *args, guint n);
} functions[] = {
  { "collections OrderedDict", call_ordered_dict },
  { "torch device", call_device },
  { "torch._utils _rebuild_parameter", call_first },
  { "torch._utils _rebuild_parameter_with_state", call_first },
  { "torch._utils _rebuild_tensor_v2", call_rebuild_tensor },
  { "torch._utils _rebuild_qtensor", call_rebuild_qtensor },
  { JIT "build_boollist", call_first },
  { JIT "build_doublelist", call_first },
  { JIT "build_intlist", call_first },
  { JIT "build_tensorlist", call_first },
  { JIT "restore_type_tag", call_first },
};

/* Whether a pickle may name this: nothing else is known, so nothing else could be done. */
static gboolean
is_known (const char *name)
{
  gboolean known = g_str_has_prefix (name, CLASSES) || strcmp (name, PER_TENSOR) == 0
                   || strcmp (name, PER_CHANNEL) == 0;
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    known |= strcmp (name, functions[i].name) == 0;
  for (guint i = 0; i < G_N_ELEMENTS (storages); i++)
    known |= strcmp (name, storages[i].name) == 0;
  return known;
}

/* Two lines: a module and a name in it. */
static gboolean
op_global (Pickle *p)
{
  const char *text = (const char *) p->data + p->at;
  const char *first = memchr (text, '\n', p->size - p->at);
  const char *second =
    first != NULL ? memchr (first + 1, '\n', (gsize) ((const char *) p->data + p->size - first - 1))
                  : NULL;
  if (second == NULL || !g_utf8_validate (text, second - text, NULL))
    return damaged (p, "it ends within a name");
  g_autofree char *name = g_strndup (text, (gsize) (second - text));
  /* A class by its qualified name, whose module may be "__torch__" alone; any other name with its
   * module before it. */
  name[first - text] = '.';
  if (!g_str_has_prefix (name, CLASSES))
    name[first - text] = ' ';
  if (!is_known (name))
    return ts_fail (
      p->heap, SL_ERROR_UNSUPPORTED,
      "it names '%s', which no model of PyTorch's needs; expected a file of torch.jit.save() or "
      "torch.export.save(), and nothing of this one is run",
      name);
  p->at += (gsize) (second + 1 - text);
  return push_text (p, name, strlen (name));
}

static gboolean
op_reduce (Pickle *p)
{
  TsValue args = ts_none (), function = ts_none ();
  if (!pop (p, &args) || !pop (p, &function))
    return FALSE;
  if (function.kind == TS_STRING && g_str_has_prefix (function.text, CLASSES)
      && args.kind != TS_TUPLE)
    return push (p, args); /* a member of an enumeration is its value */
  if (function.kind != TS_STRING || args.kind != TS_TUPLE)
    return damaged (p, "a function is called that is none");
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    if (strcmp (function.text, functions[i].name) == 0)
      return functions[i].call (p, args.list->items, args.list->n);
  return ts_fail (p->heap, SL_ERROR_UNSUPPORTED, "it calls '%s', which is not supported",
                  function.text);
}

static gboolean
op_new_object (Pickle *p)
{
  TsValue args = ts_none (), name = ts_none (), value;
  if (!pop (p, &args) || !pop (p, &name))
    return FALSE;
  if (name.kind != TS_STRING || !g_str_has_prefix (name.text, CLASSES))
    return damaged (p, "an object is made of what is no class");
  if (!ts_packed_new (p->heap, name.text, &value))
    value = ts_object (p->heap, name.text);
  return push (p, value);
}

/* Of modules the state is a dictionary of attributes, of others whatever their __getstate__ gave.
 */
static gboolean
op_build (Pickle *p)
{
  TsValue state, box;
  if (!pop (p, &state) || above_mark (p) == 0)
    return damaged (p, "an instruction needs more values than there are");
  box = *last_of (p, 1);
  if (box.kind == TS_PACKED)
    return ts_packed_fill (p->heap, box.packed, state);
  if (box.kind != TS_OBJECT)
    return damaged (p, "an instruction fills what is no list, dictionary or object");
  if (state.kind != TS_DICT) {
    box.object->has_state = TRUE;
    box.object->state = state;
    return TRUE;
  }
  for (guint i = 0; i < state.dict->n; i++)
    if (state.dict->entries[i].key.kind != TS_STRING)
      return damaged (p, "an attribute has no name");
  box.object->attributes = state.dict;
  return TRUE;
}

static gboolean (*const instructions[256]) (Pickle *p) = {
  [0x80] = op_proto,     ['('] = op_mark,        ['N'] = op_none,    [0x88] = op_true,
  [0x89] = op_false,     ['J'] = op_int4,        ['K'] = op_int1,    ['M'] = op_int2,
  [0x8a] = op_long,      ['G'] = op_float,       ['X'] = op_unicode, [')'] = op_empty_tuple,
  ['t'] = op_tuple,      [0x85] = op_tuple1,     [0x86] = op_tuple2, [0x87] = op_tuple3,
  [']'] = op_empty_list, ['a'] = op_append,      ['e'] = op_appends, ['}'] = op_empty_dict,
  ['s'] = op_set_item,   ['u'] = op_set_items,   ['q'] = op_put,     ['r'] = op_long_put,
  ['h'] = op_get,        ['j'] = op_long_get,    ['Q'] = op_storage, ['c'] = op_global,
  ['R'] = op_reduce,     [0x81] = op_new_object, ['b'] = op_build,
};

#define STOP '.'

static gboolean
run (Pickle *p, TsValue *value)
{
  while (p->heap->error == NULL) {
    const guint8 *instruction = take (p, 1);
    if (instruction == NULL)
      return FALSE;
    if (*instruction == STOP)
      return pop (p, value);
    if (instructions[*instruction] == NULL)
      return ts_fail (p->heap, SL_ERROR_UNSUPPORTED,
                      "instruction 0x%02x, which torch.jit.save() does not write", *instruction);
    if (!instructions[*instruction](p))
      return FALSE;
  }
  return FALSE;
}

static gboolean
read_pickle (TsHeap *heap, TsArchive *archive, const char *name, gboolean shapes_only,
             TsValue *value)
{
  g_autofree char *member = g_strconcat (name, ".pkl", NULL);
  GError *error = NULL;
  g_autoptr (GBytes) bytes = ts_archive_read (archive, member, &error);
  *value = ts_none ();
  if (bytes == NULL) {
    ts_fail (heap, (SlError) error->code, "%s", error->message);
    g_error_free (error);
    return FALSE;
  }
  Pickle p = { .heap = heap,
               .archive = archive,
               .name = name,
               .size = g_bytes_get_size (bytes),
               .shapes_only = shapes_only };
  p.data = g_bytes_get_data (bytes, NULL);
  p.stack = g_array_new (FALSE, FALSE, sizeof (TsValue));
  p.memo = g_array_new (FALSE, FALSE, sizeof (TsValue));
  p.marks = g_array_new (FALSE, FALSE, sizeof (guint));
  const gboolean good = run (&p, value);
  if (!good && heap->error != NULL)
    g_prefix_error (&heap->error, "%s, byte %" G_GSIZE_FORMAT ": ", member, p.at);
  g_array_unref (p.stack);
  g_array_unref (p.memo);
  g_array_unref (p.marks);
  return good;
}

gboolean
ts_pickle_read (TsHeap *heap, TsArchive *archive, const char *name, TsValue *value)
{
  return read_pickle (heap, archive, name, FALSE, value);
}

gboolean
ts_pickle_read_shapes (TsHeap *heap, TsArchive *archive, const char *name, TsValue *value)
{
  return read_pickle (heap, archive, name, TRUE, value);
}
