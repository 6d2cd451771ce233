/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The walk follows a schema of its own, written from onnx.proto. Edits are collected for the
 * unchanged file, then applied at once: the length of each message that holds one is written anew,
 * innermost first.
 */
#include "tests/fuzz/mutate_onnx.h"

#include <string.h>

#include "tests/fuzz/mutate.h"

#define MAX_SITES 400000
/* Constants up to this size are lists of int64, such as shapes, as often as weights. */
#define MAX_LIST 128

typedef enum
{
  END,
  NUMBER,
  REAL,
  TEXT,
  NUMBERS, /* one by one, or packed */
  REALS,
  WEIGHTS,
  MESSAGE
} FieldType;

typedef struct _Schema Schema;
typedef struct
{
  guint number;
  FieldType type;
  const Schema *schema;
} Field;
struct _Schema
{
  Field fields[12];
};

static const Schema entry = { { { 1, TEXT }, { 2, TEXT }, { 0, END } } };
static const Schema opset = { { { 1, TEXT }, { 2, NUMBER }, { 0, END } } };
static const Schema dim = { { { 1, NUMBER }, { 2, TEXT }, { 0, END } } };
static const Schema shape = { { { 1, MESSAGE, &dim }, { 0, END } } };
static const Schema tensor_type = { { { 1, NUMBER }, { 2, MESSAGE, &shape }, { 0, END } } };
static const Schema type = { { { 1, MESSAGE, &tensor_type }, { 0, END } } };
static const Schema edge = { { { 1, TEXT }, { 2, MESSAGE, &type }, { 0, END } } };
static const Schema tensor = { { { 1, NUMBERS },
                                 { 2, NUMBER },
                                 { 4, REALS },
                                 { 5, NUMBERS },
                                 { 7, NUMBERS },
                                 { 8, TEXT },
                                 { 9, WEIGHTS },
                                 { 13, MESSAGE, &entry },
                                 { 14, NUMBER },
                                 { 0, END } } };
static const Schema graph;
static const Schema attribute = { { { 1, TEXT },
                                    { 2, REAL },
                                    { 3, NUMBER },
                                    { 4, TEXT },
                                    { 5, MESSAGE, &tensor },
                                    { 6, MESSAGE, &graph },
                                    { 7, REALS },
                                    { 8, NUMBERS },
                                    { 20, NUMBER },
                                    { 0, END } } };
static const Schema node = { { { 1, TEXT },
                               { 2, TEXT },
                               { 3, TEXT },
                               { 4, TEXT },
                               { 5, MESSAGE, &attribute },
                               { 7, TEXT },
                               { 0, END } } };
static const Schema graph = { { { 1, MESSAGE, &node },
                                { 5, MESSAGE, &tensor },
                                { 11, MESSAGE, &edge },
                                { 12, MESSAGE, &edge },
                                { 0, END } } };
static const Schema model = { { { 1, NUMBER },
                                { 2, TEXT },
                                { 7, MESSAGE, &graph },
                                { 8, MESSAGE, &opset },
                                { 14, MESSAGE, &entry },
                                { 0, END } } };

/** @at, @width: the bytes of a number, of a text without its length, of a whole field. @holder:
 * index of the message or text around. */
typedef struct
{
  FieldType type;
  guint at, width, number;
  gint holder;
} OnnxSite;

/** What has a length: @at, @width: of the varint; behind it come @bytes bytes. */
typedef struct
{
  guint at, width, bytes;
  gint holder;
} Holder;

struct _OnnxSites
{
  GArray *sites, *holders;
};

typedef struct
{
  const guint8 *data;
  OnnxSites *found;
} Walk;

static gboolean
read_varint (const guint8 *data, guint end, guint *at, guint64 *value)
{
  *value = 0;
  for (guint i = 0; i < 10 && *at < end; i++) {
    const guint8 byte = data[(*at)++];
    *value |= (guint64) (byte & 0x7f) << (7 * i);
    if (byte < 0x80)
      return TRUE;
  }
  return FALSE;
}

static void
put_varint (GByteArray *out, guint64 value)
{
  guint8 byte;
  do {
    byte = (guint8) ((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
    g_byte_array_append (out, &byte, 1);
    value >>= 7;
  } while (value > 0);
}

static void
add_site (Walk *walk, FieldType kind, guint at, guint width, guint number, gint holder)
{
  if (walk->found->sites->len < MAX_SITES)
    g_array_append_val (walk->found->sites, ((OnnxSite){ kind, at, width, number, holder }));
}

static void walk_message (Walk *walk, guint at, guint end, gint holder, const Schema *schema);

static FieldType
type_of (const Schema *schema, guint number, const Schema **inner)
{
  for (const Field *field = schema->fields; field->type != END; field++)
    if (field->number == number) {
      *inner = field->schema;
      return field->type;
    }
  return END;
}

static void
walk_packed (Walk *walk, FieldType kind, guint at, guint end, gint holder)
{
  guint64 value;
  for (guint start = at; start < end; start = at) {
    if (kind == REALS && end - at < sizeof (gfloat))
      return;
    if (kind == REALS)
      at += sizeof (gfloat);
    else if (!read_varint (walk->data, end, &at, &value))
      return;
    add_site (walk, kind == REALS ? REAL : NUMBER, start, at - start, 0, holder);
  }
}

/* walk_bytes: a field with a length: @from is where its key is, @at where its bytes are. */
static void
walk_bytes (Walk *walk, FieldType kind, const Schema *inner, guint number, guint from,
            guint length_at, guint at, guint bytes, gint holder)
{
  const gint own = (gint) walk->found->holders->len;
  g_array_append_val (walk->found->holders, ((Holder){ length_at, at - length_at, bytes, holder }));
  if (kind == MESSAGE) {
    add_site (walk, MESSAGE, from, at + bytes - from, number, holder);
    walk_message (walk, at, at + bytes, own, inner);
  } else if (kind == NUMBERS || kind == REALS) {
    walk_packed (walk, kind, at, at + bytes, own);
  } else if (kind == WEIGHTS && bytes <= MAX_LIST && bytes % sizeof (gint64) == 0) {
    for (guint i = 0; i < bytes; i += sizeof (gint64))
      add_site (walk, WEIGHTS, at + i, sizeof (gint64), number, own);
  } else if (kind == TEXT || kind == WEIGHTS) {
    add_site (walk, kind, at, bytes, number, own);
  }
}

static void
walk_message (Walk *walk, guint at, guint end, gint holder, const Schema *schema)
{
  guint64 key, value;
  while (at < end && walk->found->sites->len < MAX_SITES) {
    const guint from = at;
    const Schema *inner = NULL;
    if (!read_varint (walk->data, end, &at, &key))
      return;
    const FieldType kind = type_of (schema, (guint) (key >> 3), &inner);
    const guint start = at, fixed = (key & 7) == 5 ? 4 : (key & 7) == 1 ? 8 : 0;
    if (fixed > 0) {
      if (end - at < fixed)
        return;
      at += fixed;
      if (fixed == 4)
        add_site (walk, REAL, start, fixed, 0, holder);
      continue;
    }
    if (!read_varint (walk->data, end, &at, &value))
      return;
    if ((key & 7) == 0) {
      add_site (walk, NUMBER, start, at - start, 0, holder);
    } else if ((key & 7) == 2 && value <= end - at) {
      walk_bytes (walk, kind, inner, (guint) (key >> 3), from, start, at, (guint) value, holder);
      at += (guint) value;
    } else {
      return;
    }
  }
}

OnnxSites *
mutate_onnx_find_sites (const guint8 *data, gsize size)
{
  if (size < 16 || size > G_MAXINT32 || data[0] != 0x08 || data[1] > 32)
    return NULL;
  OnnxSites *found = g_new0 (OnnxSites, 1);
  found->sites = g_array_new (FALSE, FALSE, sizeof (OnnxSite));
  found->holders = g_array_new (FALSE, FALSE, sizeof (Holder));
  Walk walk = { data, found };
  walk_message (&walk, 0, (guint) size, -1, &model);
  return found;
}

void
mutate_onnx_sites_free (OnnxSites *sites)
{
  if (sites == NULL)
    return;
  g_array_unref (sites->sites);
  g_array_unref (sites->holders);
  g_free (sites);
}

/** An edit of the unchanged file: @width bytes at @at become @bytes. */
typedef struct
{
  guint at, width;
  gint holder;
  GByteArray *bytes;
} Edit;

static const OnnxSite *
any_site (const OnnxSites *sites, GRand *random)
{
  return &g_array_index (sites->sites, OnnxSite,
                         g_rand_int_range (random, 0, (gint32) sites->sites->len));
}

/* same_kind: another site of @site's kind and field, or @site when chance finds none. */
static const OnnxSite *
same_kind (const OnnxSites *sites, const OnnxSite *site, GRand *random)
{
  for (guint i = 0; i < 64; i++) {
    const OnnxSite *other = any_site (sites, random);
    if (other->type == site->type && other->number == site->number)
      return other;
  }
  return site;
}

static void
edit_text (const guint8 *data, const OnnxSite *site, const OnnxSite *other, GByteArray *bytes,
           GRand *random)
{
  static const char *const operators[] = { "Abs",
                                           "Add",
                                           "ArgMax",
                                           "AveragePool",
                                           "BatchNormalization",
                                           "Cast",
                                           "Clip",
                                           "Concat",
                                           "ConstantOfShape",
                                           "Conv",
                                           "ConvInteger",
                                           "ConvTranspose",
                                           "DepthToSpace",
                                           "DequantizeLinear",
                                           "DynamicQuantizeLinear",
                                           "Einsum",
                                           "Expand",
                                           "Flatten",
                                           "Gather",
                                           "GatherND",
                                           "Gemm",
                                           "GlobalAveragePool",
                                           "If",
                                           "InstanceNormalization",
                                           "LRN",
                                           "LayerNormalization",
                                           "Loop",
                                           "LpPool",
                                           "MatMul",
                                           "Max",
                                           "MaxPool",
                                           "NonZero",
                                           "PRelu",
                                           "Pad",
                                           "Pow",
                                           "QLinearConv",
                                           "QLinearMatMul",
                                           "QuantizeLinear",
                                           "Range",
                                           "ReduceMean",
                                           "Relu",
                                           "Reshape",
                                           "Resize",
                                           "Shape",
                                           "Slice",
                                           "Softmax",
                                           "SpaceToDepth",
                                           "Split",
                                           "Squeeze",
                                           "Tile",
                                           "TopK",
                                           "Transpose",
                                           "Unsqueeze",
                                           "Where" };
  switch (g_rand_int_range (random, 0, 8)) {
    case 0:
      return; /* nothing */
    case 1:
      g_byte_array_append (bytes, data + site->at, site->width);
      for (gint n = g_rand_int_range (random, 1, 4); n > 0 && bytes->len > 0; n--)
        bytes->data[g_rand_int (random) % bytes->len] = (guint8) g_rand_int (random);
      return;
    case 2: {
      const char *op = operators[g_rand_int_range (random, 0, G_N_ELEMENTS (operators))];
      g_byte_array_append (bytes, (const guint8 *) op, (guint) strlen (op));
      return;
    }
    default:
      g_byte_array_append (bytes, data + other->at, other->width);
      return;
  }
}

static void
edit_weights (const guint8 *data, const OnnxSite *site, GByteArray *bytes, GRand *random)
{
  guint64 value = 0;
  g_byte_array_append (bytes, data + site->at, site->width);
  if (site->width == sizeof value) {
    memcpy (&value, bytes->data, sizeof value);
    value = mutate_int (random, value);
    memcpy (bytes->data, &value, sizeof value);
    return;
  }
  if (g_rand_int_range (random, 0, 10) == 0)
    g_byte_array_set_size (bytes, g_rand_int (random) % (site->width + 1));
  for (gint n = g_rand_int_range (random, 1, 10); n > 0 && bytes->len > 0; n--)
    bytes->data[g_rand_int (random) % bytes->len] = (guint8) g_rand_int (random);
}

static Edit
make_edit (const guint8 *data, const OnnxSites *sites, GRand *random)
{
  const OnnxSite *site = any_site (sites, random);
  for (guint i = 0; i < 2 && site->type == TEXT; i++) /* most sites are names */
    site = any_site (sites, random);
  const OnnxSite *other = same_kind (sites, site, random);
  Edit edit = { site->at, site->width, site->holder, g_byte_array_new () };
  guint64 value = 0;
  guint32 real = 0;
  guint at = site->at;
  switch (site->type) {
    case NUMBER:
      read_varint (data, site->at + site->width, &at, &value);
      put_varint (edit.bytes, mutate_int (random, value));
      break;
    case REAL:
      memcpy (&real, data + site->at, sizeof real);
      real = mutate_float (random, real);
      g_byte_array_append (edit.bytes, (const guint8 *) &real, sizeof real);
      break;
    case TEXT:
      edit_text (data, site, other, edit.bytes, random);
      break;
    case WEIGHTS:
      edit_weights (data, site, edit.bytes, random);
      break;
    default: /* a whole field: gone, there twice, or another one of its kind */
      for (gint n = g_rand_int_range (random, 0, 3); n > 0; n--) {
        g_byte_array_append (edit.bytes, data + other->at, other->width);
        other = site;
      }
      break;
  }
  return edit;
}

static gint
by_place (gconstpointer a, gconstpointer b)
{
  const Edit *x = a, *y = b;
  return x->at < y->at ? -1 : x->at > y->at;
}

/* add_edit: adds @edit unless it touches another one, or the length around it is one. */
static void
add_edit (GArray *edits, Edit edit)
{
  gboolean apart = TRUE;
  for (guint i = 0; i < edits->len; i++) {
    const Edit *other = &g_array_index (edits, Edit, i);
    apart = apart && (edit.at + edit.width <= other->at || other->at + other->width <= edit.at)
            && edit.at != other->at;
  }
  if (apart)
    g_array_append_val (edits, edit);
  else
    g_byte_array_unref (edit.bytes);
}

/* add_lengths: for each message around an edit one more edit, of its length. Messages come before
 * those inside them. */
static void
add_lengths (GArray *edits, const OnnxSites *sites)
{
  g_autoptr (GArray) grown = g_array_new (FALSE, TRUE, sizeof (gint64));
  g_autoptr (GArray) held = g_array_new (FALSE, TRUE, sizeof (gboolean));
  g_array_set_size (grown, sites->holders->len);
  g_array_set_size (held, sites->holders->len);
  for (guint i = 0; i < edits->len; i++) {
    const Edit *edit = &g_array_index (edits, Edit, i);
    if (edit->holder < 0)
      continue;
    g_array_index (grown, gint64, edit->holder) += (gint64) edit->bytes->len - edit->width;
    g_array_index (held, gboolean, edit->holder) = TRUE;
  }
  for (gint h = (gint) sites->holders->len - 1; h >= 0; h--) {
    const Holder *holder = &g_array_index (sites->holders, Holder, h);
    Edit edit = { holder->at, holder->width, holder->holder, NULL };
    if (!g_array_index (held, gboolean, h))
      continue;
    edit.bytes = g_byte_array_new ();
    put_varint (edit.bytes, (guint64) (holder->bytes + g_array_index (grown, gint64, h)));
    if (holder->holder >= 0) {
      g_array_index (grown, gint64, holder->holder) +=
        g_array_index (grown, gint64, h) + (gint64) edit.bytes->len - edit.width;
      g_array_index (held, gboolean, holder->holder) = TRUE;
    }
    g_array_append_val (edits, edit);
  }
}

guint8 *
mutate_onnx (const guint8 *data, gsize *size, const OnnxSites *sites, GRand *random)
{
  g_autoptr (GArray) edits = g_array_new (FALSE, FALSE, sizeof (Edit));
  GByteArray *out = g_byte_array_new ();
  guint at = 0;
  for (gint n = g_rand_int_range (random, 1, 5); n > 0 && sites->sites->len > 0; n--)
    add_edit (edits, make_edit (data, sites, random));
  add_lengths (edits, sites);
  g_array_sort (edits, by_place);
  for (guint i = 0; i < edits->len; i++) {
    const Edit *edit = &g_array_index (edits, Edit, i);
    if (edit->at >= at) { /* else inside a field that went */
      g_byte_array_append (out, data + at, edit->at - at);
      g_byte_array_append (out, edit->bytes->data, edit->bytes->len);
      at = edit->at + edit->width;
    }
    g_byte_array_unref (edit->bytes);
  }
  g_byte_array_append (out, data + at, (guint) *size - at);
  if (g_rand_int_range (random, 0, 20) == 0)
    out->data[g_rand_int (random) % out->len] = (guint8) g_rand_int (random);
  if (g_rand_int_range (random, 0, 100) == 0)
    g_byte_array_set_size (out, g_rand_int (random) % out->len);
  *size = out->len;
  return g_byte_array_free (out, FALSE);
}
