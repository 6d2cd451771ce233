/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values of a TorchScript program: the contents of its pickles, and the values of its code while a
 * model is loaded. A value is a kind and a word; lists, dictionaries, objects and tensors are boxes
 * that several values may point to, as in Python.
 *
 * All memory is from one heap of limited size, which is freed when the model is loaded. Errors are
 * sticky: the first one is kept, and later calls do as little as possible.
 */
#pragma once

#include "core/graph/arena.h"
#include "core/graph/tensor.h"
#include "models/lower/build.h"
#include "sightline/error.h"

/** Most elements of one list, tuple or dictionary, and most bytes of a string. */
#define TS_MAX_ELEMENTS ((gsize) 1 << 20)
#define TS_MAX_STRING ((gsize) 1 << 24)

/** TsHeap: where values live. @error: (nullable): the first problem. */
typedef struct
{
  SlArena *arena;
  gsize most_bytes;
  GError *error;
} TsHeap;

typedef enum
{
  TS_NONE,
  TS_BOOL,
  TS_INT, /* element types and memory formats, too: torch's numbers for them */
  TS_FLOAT,
  TS_STRING,
  TS_DEVICE,
  TS_LIST,
  TS_TUPLE,
  TS_DICT,
  TS_OBJECT,
  TS_TENSOR,
  TS_PACKED,
  TS_FUNCTION
} TsKind;

/** TsDtype: torch's numbers of element types, as programs write them. */
typedef enum
{
  TS_UINT8 = 0,
  TS_INT8 = 1,
  TS_INT16 = 2,
  TS_INT32 = 3,
  TS_INT64 = 4,
  TS_FLOAT16 = 5,
  TS_FLOAT32 = 6,
  TS_FLOAT64 = 7,
  TS_COMPLEX32 = 8,
  TS_COMPLEX64 = 9,
  TS_COMPLEX128 = 10,
  TS_BOOLEAN = 11,
  TS_QINT8 = 12,
  TS_QUINT8 = 13,
  TS_QINT32 = 14,
  TS_BFLOAT16 = 15,
  TS_N_DTYPES
} TsDtype;

typedef struct _TsList TsList;
typedef struct _TsDict TsDict;
typedef struct _TsObject TsObject;
typedef struct _TsTensor TsTensor;
typedef struct _TsPacked TsPacked;
typedef struct _TsFunction TsFunction; /* the interpreter's */

typedef struct
{
  TsKind kind;
  union
  {
    gboolean truth;
    gint64 number;
    gdouble real;
    const char *text; /* a string, or a device's name */
    TsList *list;     /* of a list or tuple */
    TsDict *dict;
    TsObject *object;
    TsTensor *tensor;
    TsPacked *packed;
    TsFunction *function;
  };
} TsValue;

/** TsList: also the elements of a tuple, which nothing changes. */
struct _TsList
{
  guint n, allocated;
  TsValue *items;
};

typedef struct
{
  TsValue key, value;
} TsEntry;

/** TsDict: entries in the order of insertion, found by hash. Keys are strings, whole numbers, truth
 * values and floats. */
struct _TsDict
{
  guint n, allocated;
  TsEntry *entries;
  guint n_slots; /* a power of two, or 0 */
  guint *slots;  /* number of an entry plus 1; 0 = free */
};

/**
 * TsObject: a module or another instance of a class.
 * @class_name: qualified, "__torch__.torch.nn.modules.conv.Conv2d"
 * @attributes: by name
 * @state: what its class's __setstate__ is to be called with, where @has_state; the file then has
 * no attributes
 */
struct _TsObject
{
  const char *class_name;
  TsDict *attributes;
  gboolean has_state;
  TsValue state;
};

/** TsQuant: affine; of one pair of @scale and @zero_point, or of @n pairs along @axis. @n: 0 = not
 * quantised. */
typedef struct
{
  guint n;
  gint axis;
  const gdouble *scales;
  const gint64 *zero_points;
} TsQuant;

/** TsStorage: elements of a tensor in the file, valid as long as the graph. */
typedef struct
{
  TsDtype dtype;
  gsize elements;
  const void *bytes;
} TsStorage;

/**
 * TsTensor: a box. Operations in place put another value into it.
 * @dtype: as the program sees it: int64 stays that, though the graph holds int32
 * @rank, @dims: in torch's order; 0 is possible
 * @value: (nullable): in the graph; made by ts_tensor_value() where the file has it
 * @storage: (nullable): of a tensor in the file
 * @offset, @strides: of that, in elements
 * @quant: of quantised tensors
 * @valid: (nullable): which rows count, where their number depends on the picture (dynamic_rows.h)
 * @valid_each: rows that came of one, neighbours of which all or none count; 0 and 1 = each for
 * itself
 */
struct _TsTensor
{
  TsDtype dtype;
  guint rank;
  gint32 dims[SL_MAX_RANK];
  LowerValue *value;
  const TsStorage *storage;
  gsize offset;
  gint64 strides[SL_MAX_RANK];
  TsQuant quant;
  LowerValue *valid;
  gint32 valid_each;
};

typedef enum
{
  TS_PACKED_QUANTIZED_CONV,
  TS_PACKED_QUANTIZED_LINEAR,
  TS_PACKED_CONV,          /* of xnnpack: float, clamped */
  TS_PACKED_LINEAR,        /* of xnnpack */
  TS_PACKED_TRANSPOSE_CONV /* of xnnpack */
} TsPackedKind;

/**
 * TsPacked: weights and what goes with them, as quantisation and torch.utils.mobile_optimizer pack
 * them.
 * @weight: OIHW or [out, in]; @bias: (nullable): float32
 * @low, @high: of the clamp where @has_low, @has_high
 * @stride to @output_padding: height, width; of convolutions, as @groups and @transposed
 */
struct _TsPacked
{
  TsPackedKind kind;
  TsTensor *weight, *bias;
  gint64 stride[2], padding[2], dilation[2], output_padding[2], groups;
  gboolean transposed, has_low, has_high;
  gdouble low, high;
};

/* The heap. */

/** ts_heap_bytes: @fixed and @each for each byte of a file of @file bytes, 1 GiB at most. */
gsize ts_heap_bytes (gsize file, gsize fixed, gsize each);
void ts_heap_init (TsHeap *heap, gsize most_bytes);
void ts_heap_clear (TsHeap *heap);
/** ts_fail: keeps the first error; returns FALSE. */
gboolean ts_fail (TsHeap *heap, SlError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
/** ts_alloc: (nullable): zeroed memory; NULL with the error set over the heap's bound. */
void *ts_alloc (TsHeap *heap, gsize bytes);
/** ts_text: (nullable): a NUL-terminated copy; NULL with the error set for text with NUL inside, or
 * too long. */
const char *ts_text (TsHeap *heap, const char *text, gsize length);

/* Values of one word. */

static inline TsValue
ts_none (void)
{
  return (TsValue){ .kind = TS_NONE };
}

static inline TsValue
ts_bool (gboolean truth)
{
  return (TsValue){ .kind = TS_BOOL, .truth = truth };
}

static inline TsValue
ts_int (gint64 number)
{
  return (TsValue){ .kind = TS_INT, .number = number };
}

static inline TsValue
ts_float (gdouble real)
{
  return (TsValue){ .kind = TS_FLOAT, .real = real };
}

/* Boxes: values with TS_NONE inside, and the error set, over the heap's bound. */

/** ts_string: a value with a copy of NUL-terminated @text. */
TsValue ts_string (TsHeap *heap, const char *text);
TsValue ts_list (TsHeap *heap);
/** ts_int_list: of @n @numbers. */
TsValue ts_int_list (TsHeap *heap, const gint64 *numbers, guint n);
/** ts_tuple: of @n copied @items; also the way to make a tuple from a list's. */
TsValue ts_tuple (TsHeap *heap, const TsValue *items, guint n);
TsValue ts_dict (TsHeap *heap);
TsValue ts_object (TsHeap *heap, const char *class_name);
/** ts_tensor: a box for @value of the graph, which @dtype tells the program's view of. */
TsValue ts_tensor (TsHeap *heap, LowerValue *value, TsDtype dtype);

gboolean ts_list_append (TsHeap *heap, TsList *list, TsValue item);
/** ts_dict_get: (nullable): the value of @key, to be read or changed until the dictionary grows. */
TsValue *ts_dict_get (const TsDict *dict, TsValue key);
/** ts_dict_set: FALSE with the error set for a @key of another kind than keys have, or over the
 * bounds. */
gboolean ts_dict_set (TsHeap *heap, TsDict *dict, TsValue key, TsValue value);
/** ts_attribute: (nullable): attribute @name of @object. */
TsValue *ts_attribute (const TsObject *object, const char *name);
gboolean ts_set_attribute (TsHeap *heap, TsObject *object, const char *name, TsValue value);

/** ts_kind_name: "int", "Tensor", "List", for messages. */
const char *ts_kind_name (TsKind kind);
/** ts_dtype_name: "float32"; "type 40" has none and is "unknown". */
const char *ts_dtype_name (TsDtype dtype);
/** ts_dtype_size: bytes of an element; 0 for a type that is not supported. */
gsize ts_dtype_size (TsDtype dtype);
/** ts_dtype_graph: the type that the graph computes in: int64 becomes int32, float64 and float16
 * float32. SL_DTYPE_INVALID: none. */
SlDtype ts_dtype_graph (TsDtype dtype);
/** ts_is_quantized: of qint8, quint8 and qint32. */
gboolean ts_is_quantized (TsDtype dtype);

/* Tensors of the file (tensor.c). */

gsize ts_tensor_elements (const TsTensor *tensor);
/** ts_tensor_fits: whether all elements lie in the storage, and their number is one that can be
 * counted. */
gboolean ts_tensor_fits (const TsTensor *tensor);
/** ts_tensor_value: (nullable): @tensor in the graph: its bytes stay in the file where their order
 * allows it. A quantised one is its codes, with scales and zero points. */
LowerValue *ts_tensor_value (Lower *lower, TsHeap *heap, TsTensor *tensor);
/** ts_tensor_ints, ts_tensor_floats: (nullable): the elements of a tensor of the file in torch's
 * order; NULL of another type, with an error, and over @most elements. */
const gint64 *ts_tensor_ints (TsHeap *heap, const TsTensor *tensor, gsize most);
const gdouble *ts_tensor_floats (TsHeap *heap, const TsTensor *tensor, gsize most);
