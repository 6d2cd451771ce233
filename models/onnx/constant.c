/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * TensorProto -> constant. Suitable bytes are used in place in the file; unaligned, packed,
 * narrowed or external ones are copied, and copies are counted: a small file that refers to the
 * same bytes many times cannot make the graph large.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/half.h"
#include "core/graph/constants.h"
#include "models/data_file.h"
#include "models/onnx/ops.h"

/* int64 stands for "as far as it goes" beyond this; what lies between it and 32 bits is refused. */
#define FAR (G_GINT64_CONSTANT (1) << 62)
/* So that their bytes can be counted, whatever the type. */
#define MAX_ELEMENTS (G_MAXSIZE / 16)
/* Bytes of one constant in a file beside the model, and of all together. */
#define MAX_EXTERNAL SL_MAX_TENSOR_BYTES
#define MAX_COPIED (G_GUINT64_CONSTANT (4) << 30)
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
  const char *location;
  guint64 offset, length;
  gboolean has_length;
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
  lower_fail (o, code, "constant '%s': %s", t->name, what);
  return FALSE;
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
    t->location = value;
  else if (strcmp (key, "offset") == 0)
    return g_ascii_string_to_unsigned (value, 10, 0, G_MAXINT64, &t->offset, NULL)
           || bad (o, t, SL_ERROR_FORMAT, "its offset is no number");
  else if (strcmp (key, "length") == 0) {
    t->has_length = TRUE;
    return g_ascii_string_to_unsigned (value, 10, 0, G_MAXINT64, &t->length, NULL)
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

static gboolean
may_copy (Lower *o, const Tensor *t, guint64 bytes)
{
  o->copied += bytes;
  return o->copied <= o->may_copy + o->granted
         || bad (o, t, SL_ERROR_LIMIT,
                 "copies of the constants would be much larger than the files that hold them");
}

/* Opens @relative below @folder without following a link: neither name has one left. */
static int
open_below (const char *folder, const char *relative)
{
  g_auto (GStrv) parts = g_strsplit (relative, "/", -1);
  int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (guint i = 0; parts[i] != NULL && fd >= 0; i++) {
    const int how = parts[i + 1] != NULL ? O_RDONLY | O_DIRECTORY : O_RDONLY | O_NONBLOCK;
    const int next = openat (fd, parts[i], how | O_NOFOLLOW | O_CLOEXEC), failed = errno;
    close (fd);
    fd = next;
    errno = failed;
  }
  return fd;
}

/* Whether the name that a constant gives for its file can be one in the model's folder. */
static gboolean
stays_inside (const char *location)
{
  g_auto (GStrv) parts = g_strsplit (location, "/", -1);
  gboolean inside =
    location[0] != '\0' && !g_path_is_absolute (location) && strchr (location, '\\') == NULL;
  for (guint i = 0; parts[i] != NULL; i++)
    inside = inside && strcmp (parts[i], "..") != 0;
  return inside;
}

/* A file beside the model, or below it: names that lead elsewhere are refused, links that do, too.
 */
static int
open_beside (Lower *o, const Tensor *t)
{
  struct stat status;
  if (!stays_inside (t->location)) {
    lower_fail (
      o, SL_ERROR_FORMAT,
      "constant '%s': its data would lie in '%s'; expected a file inside the model's folder",
      t->name, t->location);
    return -1;
  }
  g_autofree char *path = g_build_filename (onnx_reader (o)->folder, t->location, NULL);
  g_autofree char *folder = realpath (onnx_reader (o)->folder, NULL),
                  *real = folder != NULL ? realpath (path, NULL) : NULL;
  int failed = errno;
  const gsize length = folder != NULL ? strlen (folder) : 0, skipped = length > 1 ? length + 1 : 1;
  if (real != NULL
      && (strncmp (real, folder, length) != 0 || (length > 1 && real[length] != '/'))) {
    lower_fail (
      o, SL_ERROR_FORMAT,
      "constant '%s': '%s' is a link out of the model's folder; put the file itself there", t->name,
      t->location);
    return -1;
  }
  const int fd = real != NULL ? open_below (folder, real + skipped) : -1;
  if (real != NULL)
    failed = errno;
  if (fd >= 0 && fstat (fd, &status) == 0 && S_ISREG (status.st_mode))
    return fd;
  lower_fail (o, SL_ERROR_OPEN,
              "constant '%s': cannot read its data in '%s': %s; put that file beside the model",
              t->name, path, fd >= 0 ? "not a file" : g_strerror (failed));
  if (fd >= 0)
    close (fd);
  return -1;
}

static const guint8 *
read_external_bytes (Lower *o, const Tensor *t, gsize bytes)
{
  struct stat status;
  guint8 *data = NULL;
  const int fd = open_beside (o, t);
  if (fd < 0)
    return NULL;
  if (bytes > MAX_EXTERNAL) {
    bad (o, t, SL_ERROR_LIMIT, "it has more than 1 GiB");
  } else if (fstat (fd, &status) != 0 || t->offset > (guint64) status.st_size
             || bytes > (guint64) status.st_size - t->offset
             || (t->has_length && t->length != bytes)) {
    lower_fail (o, SL_ERROR_FORMAT,
                "constant '%s': %" G_GSIZE_FORMAT " bytes from byte %" G_GUINT64_FORMAT
                " of '%s', which has %" G_GINT64_FORMAT "; the files do not belong together",
                t->name, bytes, t->offset, t->location, (gint64) status.st_size);
  } else {
    const guint64 size = MIN ((guint64) status.st_size, MAX_COPIED / 4);
    o->may_copy = MAX (o->may_copy, 4 * size + 4 * (guint64) onnx_reader (o)->file->pb.size);
    if (may_copy (o, t, bytes)) {
      data = sl_arena_alloc (o->arena, bytes + SL_TENSOR_PADDING);
      gsize got = 0;
      gssize n = 1;
      while (got < bytes && n > 0) {
        n = pread (fd, data + got, bytes - got, (off_t) (t->offset + got));
        got += n > 0 ? (gsize) n : 0;
      }
      if (got < bytes)
        bad (o, t, SL_ERROR_OPEN, "its data cannot be read to the end");
      else
        sl_data_files_note (&onnx_reader (o)->data_files, t->location, t->offset, data, bytes);
    }
  }
  close (fd);
  return o->error == NULL ? data : NULL;
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
  if (t->numbers->len != units) {
    lower_fail (o, SL_ERROR_FORMAT, "constant '%s' has %s%u numbers; expected %" G_GSIZE_FORMAT,
                t->name, t->numbers->len > units ? "more than " : "",
                MIN (t->numbers->len, (guint) units), units);
    return NULL;
  }
  if (!may_copy (o, t, units * size))
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
    return read_external_bytes (o, t, bytes);
  if (!t->has_raw)
    return unpack_numbers (o, t, size);
  if (sl_pb_size (&t->raw) != bytes) {
    lower_fail (o, SL_ERROR_FORMAT,
                "constant '%s' has %" G_GSIZE_FORMAT " bytes; expected %" G_GSIZE_FORMAT, t->name,
                sl_pb_size (&t->raw), bytes);
    return NULL;
  }
  const guint8 *data = sl_pb_data (&t->raw);
  if ((guintptr) data % size == 0)
    return data;
  return may_copy (o, t, bytes) ? sl_graph_copy_constant (o->graph, data, bytes, &o->error) : NULL;
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
  if (!may_copy (o, t, t->elements * sizeof (gint32)))
    return NULL;
  gint32 *copy = sl_arena_alloc (o->arena, t->elements * sizeof copy[0]);
  for (gsize i = 0; i < t->elements; i++) {
    const gint64 value = load_whole (t->type, data, i);
    copy[i] = (gint32) CLAMP (value, G_MININT32, G_MAXINT32);
    if (value == copy[i] || value >= FAR || value <= -FAR)
      continue;
    lower_fail (o, SL_ERROR_UNSUPPORTED,
                "constant '%s' holds %" G_GINT64_FORMAT ", which does not fit 32 bits", t->name,
                value);
    return NULL;
  }
  return copy;
}

static gboolean
widen (void *memory, gpointer data, GError **error)
{
  const Stored *from = data;
  const gsize bytes = from->elements * types[from->type].size;
  gfloat *floats = memory;
  if (!sl_graph_need_constant (from->graph, from->data, bytes, error))
    return FALSE;
  for (gsize i = 0; i < from->elements; i++) {
    if (from->type == ONNX_DOUBLE) {
      floats[i] = (gfloat) ((const gdouble *) (gconstpointer) from->data)[i];
      continue;
    }
    const guint16 half = ((const guint16 *) (gconstpointer) from->data)[i];
    floats[i] =
      from->type == ONNX_BFLOAT16 ? sl_pb_float ((guint64) half << 16) : sl_half_to_float (half);
  }
  if (bytes >= SL_LARGE_CONSTANT)
    sl_graph_spare_constant (from->graph, from->data, bytes);
  return TRUE;
}

/* float64, float16 and bfloat16 as float32. */
static const void *
narrow_floats (Lower *o, const Tensor *t, const guint8 *data)
{
  const Stored from = { o->graph, t->type, t->elements, data };
  if (!may_copy (o, t, t->elements * sizeof (gfloat)))
    return NULL;
  sl_graph_note_source (o->graph, data, t->elements * types[t->type].size);
  return sl_graph_make_constant (o->graph, t->elements * sizeof (gfloat), widen,
                                 g_memdup2 (&from, sizeof from), g_free, &o->error);
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
  if (!may_copy (o, t, t->elements * (whole ? 1 : sizeof (gfloat))))
    return NULL;
  guint8 *codes =
    sl_arena_alloc (o->arena, t->elements * (whole ? 1 : sizeof (gfloat)) + SL_TENSOR_PADDING);
  gfloat *reals = (gfloat *) (gpointer) codes;
  for (gsize i = 0; i < t->elements; i++) {
    const guint8 code = is_packed (t->type) ? data[i / 2] >> (i % 2 * 4) & 15 : data[i];
    if (whole)
      codes[i] = t->type == ONNX_INT4 && code > 7 ? (guint8) (code | 0xf0) : code;
    else
      reals[i] = small_float (t->type, code);
  }
  return codes;
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
      || !sl_graph_need_constant (o->graph, bytes, units_of (t) * types[t->type].size, &o->error))
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
  Tensor t = { .name = name, .location = "" };
  if (o->error != NULL || !read_head (o, &t, message))
    return NULL;
  t.name = name;
  if (t.type >= G_N_ELEMENTS (types) || types[t.type].size == 0) {
    lower_fail (o, SL_ERROR_UNSUPPORTED, "constant '%s' is of %s, which is not supported", name,
                onnx_type_name (t.type));
    return NULL;
  }
  if (t.elements == 0)
    return lower_value_empty (o, t.rank, t.dims);
  t.numbers = g_array_new (FALSE, FALSE, sizeof (guint64));
  if (read_body (o, &t, message))
    value = make_value (o, &t);
  g_array_unref (t.numbers);
  return value;
}
