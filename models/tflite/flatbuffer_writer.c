/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * FlatBuffer serialisation, breadth first, so that every offset points forward as the format wants.
 * Little-endian hosts only, like the models themselves.
 */
#include "models/tflite/flatbuffer_writer.h"

#include <string.h>

typedef enum
{
  TABLE,
  VECTOR,
  REFS,
} Kind;

typedef struct
{
  guint field;
  guint size; /* 1, 4 or 8 */
  guint8 value[8];
  FbNode *child; /* a 4-byte offset when set */
} Field;

struct _FbNode
{
  Kind kind;
  GArray *fields;      /* TABLE: Field */
  GPtrArray *children; /* REFS */
  GByteArray *data;    /* VECTOR */
  guint n, align, shift;
  gboolean terminated; /* a string: NUL behind the data */
  guint32 position;
};

struct _FbWriter
{
  GPtrArray *nodes;
};

typedef struct
{
  guint32 at;
  FbNode *target;
} Fixup;

static void
node_free (gpointer data)
{
  FbNode *node = data;
  g_clear_pointer (&node->fields, g_array_unref);
  g_clear_pointer (&node->children, g_ptr_array_unref);
  g_clear_pointer (&node->data, g_byte_array_unref);
  g_free (node);
}

static FbNode *
node_new (FbWriter *writer, Kind kind)
{
  FbNode *node = g_new0 (FbNode, 1);
  node->kind = kind;
  g_ptr_array_add (writer->nodes, node);
  return node;
}

static void
pad_to (GByteArray *out, guint align, guint phase)
{
  static const guint8 zero = 0;
  while (out->len % align != phase % align)
    g_byte_array_append (out, &zero, 1);
}

static void
put (GByteArray *out, gsize at, const void *value, gsize bytes)
{
  g_assert_cmpuint (at + bytes, <=, out->len);
  memcpy (out->data + at, value, bytes);
}

static void
put_new (GByteArray *out, const void *value, gsize bytes)
{
  g_byte_array_append (out, value, (guint) bytes);
}

static void
add_fixup (GArray *fixups, guint32 at, FbNode *target)
{
  Fixup fixup = { at, target };
  g_array_append_val (fixups, fixup);
}

static void
set_field (FbNode *table, guint field, const void *value, guint size, FbNode *child)
{
  Field f = { .field = field, .size = size, .child = child };
  g_assert_true (table->kind == TABLE);
  if (value != NULL)
    memcpy (f.value, value, size);
  g_array_append_val (table->fields, f);
}

/* Places the fields of a table, widest first. Returns the table's size; *vtable gets one offset a
 * field number. */
static guint16
lay_out (const FbNode *node, GArray *vtable)
{
  guint16 offset = 4;
  for (guint size = 8; size >= 1; size /= 2) {
    for (guint i = 0; i < node->fields->len; i++) {
      const Field *f = &g_array_index (node->fields, Field, i);
      if (f->size != size)
        continue;
      offset = (guint16) ((offset + size - 1) / size * size);
      if (vtable->len <= f->field)
        g_array_set_size (vtable, f->field + 1);
      g_array_index (vtable, guint16, f->field) = offset;
      offset = (guint16) (offset + size);
    }
  }
  return offset;
}

static void
emit_table (FbNode *node, GByteArray *out, GArray *fixups)
{
  g_autoptr (GArray) vtable = g_array_new (FALSE, TRUE, sizeof (guint16));
  guint16 size = lay_out (node, vtable);
  guint16 vtable_bytes = (guint16) (4 + 2 * vtable->len);

  pad_to (out, 8, 8 - vtable_bytes % 8);
  put_new (out, &vtable_bytes, 2);
  put_new (out, &size, 2);
  put_new (out, vtable->data, vtable->len * 2);
  g_assert_cmpuint (out->len % 8, ==, 0);
  node->position = out->len;
  gint32 soffset = vtable_bytes;
  g_byte_array_set_size (out, out->len + size);
  memset (out->data + node->position, 0, size);
  put (out, node->position, &soffset, 4);
  for (guint i = 0; i < node->fields->len; i++) {
    const Field *f = &g_array_index (node->fields, Field, i);
    guint32 at = node->position + g_array_index (vtable, guint16, f->field);
    if (f->child != NULL)
      add_fixup (fixups, at, f->child);
    else
      put (out, at, f->value, f->size);
  }
}

static void
emit_vector (FbNode *node, GByteArray *out)
{
  static const guint8 zero = 0;
  guint align = MAX (node->align, 4);
  /* Only the data can be off alignment; the length before it then is too, as a sloppy writer would
   * leave it. */
  pad_to (out, align, align - 4 + node->shift);
  node->position = out->len;
  guint32 n = node->n;
  put_new (out, &n, 4);
  put_new (out, node->data->data, node->data->len);
  if (node->terminated)
    put_new (out, &zero, 1);
}

static void
emit_refs (FbNode *node, GByteArray *out, GArray *fixups)
{
  static const guint8 zeros[4] = { 0 };
  pad_to (out, 4, 0);
  node->position = out->len;
  guint32 n = node->children->len;
  put_new (out, &n, 4);
  for (guint i = 0; i < n; i++) {
    add_fixup (fixups, out->len, g_ptr_array_index (node->children, i));
    put_new (out, zeros, 4);
  }
}

FbWriter *
fb_writer_new (void)
{
  FbWriter *writer = g_new0 (FbWriter, 1);
  writer->nodes = g_ptr_array_new_with_free_func (node_free);
  return writer;
}

void
fb_writer_free (FbWriter *writer)
{
  if (writer == NULL)
    return;
  g_ptr_array_unref (writer->nodes);
  g_free (writer);
}

FbNode *
fb_table (FbWriter *writer)
{
  FbNode *node = node_new (writer, TABLE);
  node->fields = g_array_new (FALSE, TRUE, sizeof (Field));
  return node;
}

FbNode *
fb_vector (FbWriter *writer, const void *data, gsize n, guint size, guint align, guint shift)
{
  FbNode *node = node_new (writer, VECTOR);
  node->data = g_byte_array_new ();
  node->n = (guint) n;
  node->align = align;
  node->shift = shift;
  put_new (node->data, data, n * size);
  return node;
}

FbNode *
fb_string (FbWriter *writer, const char *text)
{
  if (text == NULL)
    return NULL;
  FbNode *node = fb_vector (writer, text, strlen (text), 1, 4, 0);
  node->terminated = TRUE;
  return node;
}

FbNode *
fb_refs (FbWriter *writer)
{
  FbNode *node = node_new (writer, REFS);
  node->children = g_ptr_array_new ();
  return node;
}

void
fb_push (FbNode *refs, FbNode *child)
{
  g_assert_nonnull (child);
  g_ptr_array_add (refs->children, child);
}

void
fb_u8 (FbNode *table, guint field, guint8 value)
{
  set_field (table, field, &value, sizeof value, NULL);
}

void
fb_i32 (FbNode *table, guint field, gint32 value)
{
  set_field (table, field, &value, sizeof value, NULL);
}

void
fb_f32 (FbNode *table, guint field, gfloat value)
{
  set_field (table, field, &value, sizeof value, NULL);
}

void
fb_u64 (FbNode *table, guint field, guint64 value)
{
  set_field (table, field, &value, sizeof value, NULL);
}

void
fb_ref (FbNode *table, guint field, FbNode *child)
{
  if (child != NULL)
    set_field (table, field, NULL, 4, child);
}

GByteArray *
fb_finish (FbWriter *writer, FbNode *root, const char *identifier)
{
  static const guint8 zeros[4] = { 0 };
  GByteArray *out = g_byte_array_new ();
  g_autoptr (GArray) fixups = g_array_new (FALSE, FALSE, sizeof (Fixup));

  put_new (out, zeros, 4);
  put_new (out, identifier, 4);
  add_fixup (fixups, 0, root);
  /* The list grows while it is walked: each entry's target is written when the entry is reached. */
  for (guint i = 0; i < fixups->len; i++) {
    Fixup fixup = g_array_index (fixups, Fixup, i);
    g_assert_cmpuint (fixup.target->position, ==, 0);
    if (fixup.target->kind == TABLE)
      emit_table (fixup.target, out, fixups);
    else if (fixup.target->kind == REFS)
      emit_refs (fixup.target, out, fixups);
    else
      emit_vector (fixup.target, out);
    guint32 offset = fixup.target->position - fixup.at;
    put (out, fixup.at, &offset, 4);
  }
  return out;
}
