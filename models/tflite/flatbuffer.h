/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads untrusted FlatBuffers. Every access is checked against the buffer and loaded without any
 * assumption on alignment. Errors are sticky: the first one is remembered, and every later read
 * returns the default. So callers read a whole table and call sl_fb_check() once before they use
 * the values.
 *
 * There is no recursion: callers walk a fixed number of levels, so depth needs no limit. Counts are
 * bounded by the buffer's size.
 */
#pragma once

#include <glib.h>

/** The buffer and the first problem found in it. On the caller's stack; tables and vectors point to
 * it. */
typedef struct
{
  const guint8 *data;
  gsize size;
  const char *problem; /* (nullable) */
  gsize problem_at;
} SlFlatBuffer;

/** A table; all zero = absent, and every field of an absent table has its default. */
typedef struct
{
  SlFlatBuffer *fb;
  gsize at, vtable;
  guint16 vtable_size, size;
} SlFbTable;

/** A vector whose elements all lie inside the buffer; count 0 when absent. */
typedef struct
{
  SlFlatBuffer *fb;
  gsize at; /* of the first element */
  guint32 count;
} SlFbVector;

void sl_fb_init (SlFlatBuffer *fb, const void *data, gsize size);
/** sl_fb_check: FALSE with SL_ERROR_FORMAT and the offset when a problem was found. */
gboolean sl_fb_check (const SlFlatBuffer *fb, GError **error);
/** sl_fb_has_identifier: whether the four characters at offset 4 are @identifier. */
gboolean sl_fb_has_identifier (const void *data, gsize size, const char *identifier);

SlFbTable sl_fb_root (SlFlatBuffer *fb);
gboolean sl_fb_present (const SlFbTable *table);

/* Fields by number; the default when the field, or the table, is absent. */
guint8 sl_fb_u8 (const SlFbTable *table, guint field, guint8 fallback);
gint32 sl_fb_i32 (const SlFbTable *table, guint field, gint32 fallback);
guint32 sl_fb_u32 (const SlFbTable *table, guint field, guint32 fallback);
guint64 sl_fb_u64 (const SlFbTable *table, guint field, guint64 fallback);
gfloat sl_fb_f32 (const SlFbTable *table, guint field, gfloat fallback);
SlFbTable sl_fb_table (const SlFbTable *table, guint field);
/** sl_fb_vector: @element_size is the bytes of one element (4 for tables and strings). */
SlFbVector sl_fb_vector (const SlFbTable *table, guint field, guint element_size);
/** sl_fb_string: the bytes of a string, not NUL-terminated; NULL and 0 when absent. */
const char *sl_fb_string (const SlFbTable *table, guint field, gsize *length);
/** sl_fb_dup_name: (transfer full): the first @limit bytes of a string field, without control
 * characters; empty where there is none. */
char *sl_fb_dup_name (const SlFbTable *table, guint field, gsize limit);

/* Elements; @index must be below @count of a vector read with that element's size. */
gint32 sl_fb_vector_i32 (const SlFbVector *vector, guint32 index);
gint64 sl_fb_vector_i64 (const SlFbVector *vector, guint32 index);
gfloat sl_fb_vector_f32 (const SlFbVector *vector, guint32 index);
SlFbTable sl_fb_vector_table (const SlFbVector *vector, guint32 index);
/** sl_fb_vector_data: the elements as they lie in the buffer, without alignment. */
const guint8 *sl_fb_vector_data (const SlFbVector *vector);
