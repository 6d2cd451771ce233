/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values, their boxes and the heap that bounds them. */
#include "models/aten/value.h"

#include <string.h>

#include "core/base/name_hash.h"

#define FIRST_ITEMS 8
#define FIRST_SLOTS 16
/* Slots looked at for a key. */
#define MAX_PROBES 128
/* What a heap may take, whatever the file's size. */
#define MOST_BYTES ((gsize) 1 << 30)
/* Bytes that a heap asks for at a time. */
#define CHUNK ((gsize) 64 << 10)

static const struct
{
  const char *name;
  guint8 size;
  SlDtype graph;
} dtypes[TS_N_DTYPES] = {
  [TS_UINT8] = { "uint8", 1, SL_DTYPE_U8 },      [TS_INT8] = { "int8", 1, SL_DTYPE_I8 },
  [TS_INT16] = { "int16", 2, SL_DTYPE_I32 },     [TS_INT32] = { "int32", 4, SL_DTYPE_I32 },
  [TS_INT64] = { "int64", 8, SL_DTYPE_I32 },     [TS_FLOAT16] = { "float16", 2, SL_DTYPE_F32 },
  [TS_FLOAT32] = { "float32", 4, SL_DTYPE_F32 }, [TS_FLOAT64] = { "float64", 8, SL_DTYPE_F32 },
  [TS_COMPLEX32] = { "complex32", 0, 0 },        [TS_COMPLEX64] = { "complex64", 0, 0 },
  [TS_COMPLEX128] = { "complex128", 0, 0 },      [TS_BOOLEAN] = { "bool", 1, SL_DTYPE_BOOL },
  [TS_QINT8] = { "qint8", 1, SL_DTYPE_I8 },      [TS_QUINT8] = { "quint8", 1, SL_DTYPE_U8 },
  [TS_QINT32] = { "qint32", 4, SL_DTYPE_I32 },   [TS_BFLOAT16] = { "bfloat16", 2, SL_DTYPE_F32 },
};

gsize
ts_heap_bytes (gsize file, gsize fixed, gsize each)
{
  return file < (MOST_BYTES - fixed) / each ? fixed + each * file : MOST_BYTES;
}

void
ts_heap_init (TsHeap *heap, gsize most_bytes)
{
  *heap = (TsHeap){ .arena = sl_arena_new_sized (CHUNK), .most_bytes = most_bytes };
}

void
ts_heap_clear (TsHeap *heap)
{
  g_clear_pointer (&heap->arena, sl_arena_free);
  g_clear_error (&heap->error);
}

gboolean
ts_fail (TsHeap *heap, SlError code, const char *format, ...)
{
  va_list args;
  if (heap->error != NULL)
    return FALSE;
  va_start (args, format);
  heap->error = g_error_new_valist (SL_ERROR, (gint) code, format, args);
  va_end (args);
  return FALSE;
}

void *
ts_alloc (TsHeap *heap, gsize bytes)
{
  const gsize used = sl_arena_used (heap->arena);
  if (bytes <= heap->most_bytes && used <= heap->most_bytes - bytes)
    return sl_arena_alloc (heap->arena, bytes);
  ts_fail (heap, SL_ERROR_LIMIT, "the program's values take more than %" G_GSIZE_FORMAT " bytes",
           heap->most_bytes);
  return NULL;
}

const char *
ts_text (TsHeap *heap, const char *text, gsize length)
{
  if (length > TS_MAX_STRING || memchr (text, '\0', length) != NULL) {
    ts_fail (heap, SL_ERROR_FORMAT,
             "a string of %" G_GSIZE_FORMAT " bytes is too long, or has a zero byte inside",
             length);
    return NULL;
  }
  char *copy = ts_alloc (heap, length + 1);
  if (copy != NULL && length > 0)
    memcpy (copy, text, length);
  return copy;
}

TsValue
ts_string (TsHeap *heap, const char *text)
{
  const char *copy = ts_text (heap, text, strlen (text));
  return copy != NULL ? (TsValue){ .kind = TS_STRING, .text = copy } : ts_none ();
}

TsValue
ts_list (TsHeap *heap)
{
  TsList *list = ts_alloc (heap, sizeof *list);
  return list != NULL ? (TsValue){ .kind = TS_LIST, .list = list } : ts_none ();
}

/* Room for another of the @n elements of @size bytes at *@data: twice as much as there is. */
static gboolean
grow (TsHeap *heap, void *data, guint n, guint *allocated, gsize size)
{
  void *old, *larger;
  memcpy (&old, data, sizeof old);
  if (n < *allocated)
    return TRUE;
  if (n >= TS_MAX_ELEMENTS)
    return ts_fail (heap, SL_ERROR_LIMIT,
                    "a list or dictionary has more than %" G_GSIZE_FORMAT " elements",
                    TS_MAX_ELEMENTS);
  const guint more = MAX (2 * n, FIRST_ITEMS);
  larger = ts_alloc (heap, more * size);
  if (larger == NULL)
    return FALSE;
  if (n > 0)
    memcpy (larger, old, n * size);
  memcpy (data, &larger, sizeof larger);
  *allocated = more;
  return TRUE;
}

gboolean
ts_list_append (TsHeap *heap, TsList *list, TsValue item)
{
  if (!grow (heap, &list->items, list->n, &list->allocated, sizeof list->items[0]))
    return FALSE;
  list->items[list->n++] = item;
  return TRUE;
}

TsValue
ts_tuple (TsHeap *heap, const TsValue *items, guint n)
{
  TsList *tuple = ts_alloc (heap, sizeof *tuple);
  TsValue *copies = ts_alloc (heap, MAX (n, 1) * sizeof copies[0]);
  if (tuple == NULL || copies == NULL)
    return ts_none ();
  if (n > 0)
    memcpy (copies, items, n * sizeof copies[0]);
  *tuple = (TsList){ .n = n, .allocated = n, .items = copies };
  return (TsValue){ .kind = TS_TUPLE, .list = tuple };
}

TsValue
ts_int_list (TsHeap *heap, const gint64 *numbers, guint n)
{
  TsValue list = ts_list (heap);
  for (guint i = 0; i < n && list.kind == TS_LIST; i++)
    ts_list_append (heap, list.list, ts_int (numbers[i]));
  return list;
}

TsValue
ts_dict (TsHeap *heap)
{
  TsDict *dict = ts_alloc (heap, sizeof *dict);
  return dict != NULL ? (TsValue){ .kind = TS_DICT, .dict = dict } : ts_none ();
}

TsValue
ts_object (TsHeap *heap, const char *class_name)
{
  TsObject *object = ts_alloc (heap, sizeof *object);
  const TsValue attributes = ts_dict (heap);
  if (object == NULL || attributes.kind != TS_DICT)
    return ts_none ();
  *object = (TsObject){ .class_name = ts_text (heap, class_name, strlen (class_name)),
                        .attributes = attributes.dict };
  return object->class_name != NULL ? (TsValue){ .kind = TS_OBJECT, .object = object } : ts_none ();
}

TsValue
ts_tensor (TsHeap *heap, LowerValue *value, TsDtype dtype)
{
  TsTensor *tensor = value != NULL ? ts_alloc (heap, sizeof *tensor) : NULL;
  if (tensor == NULL)
    return ts_none ();
  *tensor = (TsTensor){ .dtype = dtype, .rank = value->rank, .value = value };
  memcpy (tensor->dims, value->dims, sizeof tensor->dims);
  return (TsValue){ .kind = TS_TENSOR, .tensor = tensor };
}

/* Mixed, so that neighbouring keys do not crowd neighbouring slots. */
static guint
hash_key (TsValue key)
{
  guint hash = key.kind == TS_STRING  ? sl_name_hash (key.text)
               : key.kind == TS_FLOAT ? g_double_hash (&key.real)
               : key.kind == TS_BOOL  ? (guint) key.truth
                                      : (guint) key.number ^ (guint) (key.number >> 32);
  hash = (hash ^ hash >> 16) * 0x9e3779b1u;
  return hash ^ hash >> 15;
}

static gboolean
same_key (TsValue a, TsValue b)
{
  if (a.kind != b.kind)
    return FALSE;
  switch (a.kind) {
    case TS_STRING:
      return strcmp (a.text, b.text) == 0;
    case TS_FLOAT:
      return a.real == b.real;
    case TS_BOOL:
      return a.truth == b.truth;
    default:
      return a.number == b.number;
  }
}

static gboolean
may_be_key (TsKind kind)
{
  return kind == TS_STRING || kind == TS_INT || kind == TS_FLOAT || kind == TS_BOOL;
}

/* Slot @*at of @key: where its entry is, or would be. FALSE when too many keys crowd there, as only
 * made ones do. */
static gboolean
find_slot (const TsDict *dict, TsValue key, guint *at)
{
  *at = hash_key (key) & (dict->n_slots - 1);
  for (guint i = 0; i < MAX_PROBES; i++) {
    if (dict->slots[*at] == 0 || same_key (dict->entries[dict->slots[*at] - 1].key, key))
      return TRUE;
    *at = (*at + 1) & (dict->n_slots - 1);
  }
  return FALSE;
}

static gboolean
fill_slots (TsHeap *heap, TsDict *dict)
{
  for (guint i = 0, at; i < dict->n; i++) {
    if (!find_slot (dict, dict->entries[i].key, &at))
      return ts_fail (heap, SL_ERROR_LIMIT, "the keys of a dictionary collide");
    dict->slots[at] = i + 1;
  }
  return TRUE;
}

TsValue *
ts_dict_get (const TsDict *dict, TsValue key)
{
  guint at = 0;
  if (dict->n == 0 || !may_be_key (key.kind) || !find_slot (dict, key, &at) || dict->slots[at] == 0)
    return NULL;
  return &dict->entries[dict->slots[at] - 1].value;
}

gboolean
ts_dict_set (TsHeap *heap, TsDict *dict, TsValue key, TsValue value)
{
  TsValue *old = ts_dict_get (dict, key);
  if (old != NULL) {
    *old = value;
    return TRUE;
  }
  if (!may_be_key (key.kind))
    return ts_fail (heap, SL_ERROR_UNSUPPORTED,
                    "a dictionary has a key of type %s; expected strings or numbers",
                    ts_kind_name (key.kind));
  if (!grow (heap, &dict->entries, dict->n, &dict->allocated, sizeof dict->entries[0]))
    return FALSE;
  if (2 * (dict->n + 1) > dict->n_slots) {
    const guint more = MAX (2 * dict->n_slots, FIRST_SLOTS);
    guint *slots = ts_alloc (heap, more * sizeof slots[0]);
    if (slots == NULL)
      return FALSE;
    dict->slots = slots;
    dict->n_slots = more;
    if (!fill_slots (heap, dict))
      return FALSE;
  }
  guint at = 0;
  if (!find_slot (dict, key, &at))
    return ts_fail (heap, SL_ERROR_LIMIT, "the keys of a dictionary collide");
  dict->entries[dict->n] = (TsEntry){ .key = key, .value = value };
  dict->slots[at] = ++dict->n;
  return TRUE;
}

TsValue *
ts_attribute (const TsObject *object, const char *name)
{
  return ts_dict_get (object->attributes, (TsValue){ .kind = TS_STRING, .text = name });
}

gboolean
ts_set_attribute (TsHeap *heap, TsObject *object, const char *name, TsValue value)
{
  TsValue *old = ts_attribute (object, name);
  if (old != NULL) {
    *old = value;
    return TRUE;
  }
  const TsValue key = ts_string (heap, name);
  return key.kind == TS_STRING && ts_dict_set (heap, object->attributes, key, value);
}

const char *
ts_kind_name (TsKind kind)
{
  static const char *const names[] = { "None",    "bool",   "int",    "float",
                                       "str",     "Device", "List",   "Tuple",
                                       "Dict",    "object", "Tensor", "packed parameters",
                                       "function" };
  return kind < G_N_ELEMENTS (names) ? names[kind] : "unknown";
}

const char *
ts_dtype_name (TsDtype dtype)
{
  return dtype < TS_N_DTYPES ? dtypes[dtype].name : "unknown";
}

gsize
ts_dtype_size (TsDtype dtype)
{
  return dtype < TS_N_DTYPES ? dtypes[dtype].size : 0;
}

SlDtype
ts_dtype_graph (TsDtype dtype)
{
  return dtype < TS_N_DTYPES ? dtypes[dtype].graph : SL_DTYPE_INVALID;
}

gboolean
ts_is_quantized (TsDtype dtype)
{
  return dtype == TS_QINT8 || dtype == TS_QUINT8 || dtype == TS_QINT32;
}
