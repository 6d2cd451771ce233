/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Serialises a tree of FlatBuffer objects: build nodes, refer to each from exactly one place,
 * finish. Parents lie before their children, each vtable right before its table, scalars on their
 * natural alignment.
 */
#pragma once

#include <glib.h>

typedef struct _FbWriter FbWriter;
typedef struct _FbNode FbNode;

FbWriter *fb_writer_new (void);
void fb_writer_free (FbWriter *writer);

/* Nodes belong to the writer. */
FbNode *fb_table (FbWriter *writer);
/** fb_vector: @n elements of @size bytes; the first lies on a multiple of @align (>= @size) plus
 * @shift bytes. */
FbNode *fb_vector (FbWriter *writer, const void *data, gsize n, guint size, guint align,
                   guint shift);
/** fb_string: (nullable) @text: NULL gives NULL, which fb_ref() ignores. */
FbNode *fb_string (FbWriter *writer, const char *text);
/** fb_refs: an empty vector of tables or strings; fill it with fb_push(). */
FbNode *fb_refs (FbWriter *writer);
void fb_push (FbNode *refs, FbNode *child);

/* Fields of a table by number. */
void fb_u8 (FbNode *table, guint field, guint8 value);
void fb_i32 (FbNode *table, guint field, gint32 value);
void fb_f32 (FbNode *table, guint field, gfloat value);
void fb_u64 (FbNode *table, guint field, guint64 value);
void fb_ref (FbNode *table, guint field, FbNode *child);

/** fb_finish: (transfer full): the buffer with @root and the four characters of @identifier at
 * offset 4. */
GByteArray *fb_finish (FbWriter *writer, FbNode *root, const char *identifier);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (FbWriter, fb_writer_free)
