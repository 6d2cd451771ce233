/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The FlatBuffer cursor. Offsets in the format are 32 bits relative to where they are stored;
 * positions here are 64 bits until they are proven to lie inside the buffer, so no sum can wrap.
 */
#include "models/tflite/flatbuffer.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/byte_order.h"

static void
fail (SlFlatBuffer *fb, gsize at, const char *problem)
{
  if (fb->problem != NULL)
    return;
  fb->problem = problem;
  fb->problem_at = at;
}

static gboolean
inside (const SlFlatBuffer *fb, guint64 at, guint64 bytes)
{
  return at <= fb->size && bytes <= fb->size - at;
}

/* Follows the offset stored at @at, which is inside the buffer. FALSE when it leads to fewer than
 * @bytes bytes. */
static gboolean
follow (SlFlatBuffer *fb, gsize at, gsize bytes, gsize *target)
{
  const guint64 to = (guint64) at + sl_le32 (fb->data + at);
  if (to == at || !inside (fb, to, bytes)) {
    fail (fb, at, "an offset leads outside the file");
    return FALSE;
  }
  *target = (gsize) to;
  return TRUE;
}

static SlFbTable
open_table (SlFlatBuffer *fb, gsize offset_at)
{
  const SlFbTable absent = { 0 };
  SlFbTable table = { .fb = fb };
  if (!follow (fb, offset_at, 4, &table.at))
    return absent;
  const gint64 vtable = (gint64) table.at - (gint32) sl_le32 (fb->data + table.at);
  if (vtable < 0 || !inside (fb, (guint64) vtable, 4)) {
    fail (fb, table.at, "a table's field list lies outside the file");
    return absent;
  }
  table.vtable = (gsize) vtable;
  table.vtable_size = sl_le16 (fb->data + table.vtable);
  table.size = sl_le16 (fb->data + table.vtable + 2);
  if (table.vtable_size < 4 || table.vtable_size % 2 != 0 || table.size < 4
      || !inside (fb, table.vtable, table.vtable_size) || !inside (fb, table.at, table.size)) {
    fail (fb, table.vtable, "a table is larger than the file or smaller than its header");
    return absent;
  }
  return table;
}

/* Position of @field's @bytes bytes, FALSE when the field is absent. */
static gboolean
find_field (const SlFbTable *table, guint field, guint bytes, gsize *at)
{
  const guint slot = 4 + 2 * field;
  if (!sl_fb_present (table) || slot + 2 > table->vtable_size)
    return FALSE;
  const guint16 offset = sl_le16 (table->fb->data + table->vtable + slot);
  if (offset == 0)
    return FALSE;
  if (offset < 4 || offset + bytes > table->size) {
    fail (table->fb, table->vtable + slot, "a field lies outside its table");
    return FALSE;
  }
  *at = table->at + offset;
  return TRUE;
}

void
sl_fb_init (SlFlatBuffer *fb, const void *data, gsize size)
{
  *fb = (SlFlatBuffer){ .data = data, .size = size };
}

gboolean
sl_fb_check (const SlFlatBuffer *fb, GError **error)
{
  if (fb->problem == NULL)
    return TRUE;
  return sl_fail (error, SL_ERROR_FORMAT,
                  "the FlatBuffer is damaged or truncated: at byte %" G_GSIZE_FORMAT
                  " of %" G_GSIZE_FORMAT " %s; get a new copy of the file",
                  fb->problem_at, fb->size, fb->problem);
}

gboolean
sl_fb_has_identifier (const void *data, gsize size, const char *identifier)
{
  return size >= 8 && memcmp ((const guint8 *) data + 4, identifier, 4) == 0;
}

SlFbTable
sl_fb_root (SlFlatBuffer *fb)
{
  const SlFbTable absent = { 0 };
  if (!inside (fb, 0, 8)) {
    fail (fb, 0, "the file ends before its first table");
    return absent;
  }
  return open_table (fb, 0);
}

gboolean
sl_fb_present (const SlFbTable *table)
{
  return table->fb != NULL;
}

guint8
sl_fb_u8 (const SlFbTable *table, guint field, guint8 fallback)
{
  gsize at;
  return find_field (table, field, 1, &at) ? table->fb->data[at] : fallback;
}

gint32
sl_fb_i32 (const SlFbTable *table, guint field, gint32 fallback)
{
  return (gint32) sl_fb_u32 (table, field, (guint32) fallback);
}

guint32
sl_fb_u32 (const SlFbTable *table, guint field, guint32 fallback)
{
  gsize at;
  return find_field (table, field, 4, &at) ? sl_le32 (table->fb->data + at) : fallback;
}

guint64
sl_fb_u64 (const SlFbTable *table, guint field, guint64 fallback)
{
  gsize at;
  return find_field (table, field, 8, &at) ? sl_le64 (table->fb->data + at) : fallback;
}

gfloat
sl_fb_f32 (const SlFbTable *table, guint field, gfloat fallback)
{
  gsize at;
  if (!find_field (table, field, 4, &at))
    return fallback;
  const guint32 bits = sl_le32 (table->fb->data + at);
  gfloat value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

SlFbTable
sl_fb_table (const SlFbTable *table, guint field)
{
  const SlFbTable absent = { 0 };
  gsize at;
  return find_field (table, field, 4, &at) ? open_table (table->fb, at) : absent;
}

SlFbVector
sl_fb_vector (const SlFbTable *table, guint field, guint element_size)
{
  const SlFbVector absent = { 0 };
  SlFbVector vector = { .fb = table->fb };
  gsize at, start;
  if (!find_field (table, field, 4, &at) || !follow (table->fb, at, 4, &start))
    return absent;
  vector.at = start + 4;
  vector.count = sl_le32 (table->fb->data + start);
  if (!inside (table->fb, vector.at, (guint64) vector.count * element_size)) {
    fail (table->fb, start, "a list is longer than the file");
    return absent;
  }
  return vector;
}

const char *
sl_fb_string (const SlFbTable *table, guint field, gsize *length)
{
  const SlFbVector bytes = sl_fb_vector (table, field, 1);
  *length = bytes.count;
  return bytes.fb != NULL ? (const char *) bytes.fb->data + bytes.at : NULL;
}

gint32
sl_fb_vector_i32 (const SlFbVector *vector, guint32 index)
{
  g_return_val_if_fail (index < vector->count, 0);
  return (gint32) sl_le32 (vector->fb->data + vector->at + (gsize) index * 4);
}

gint64
sl_fb_vector_i64 (const SlFbVector *vector, guint32 index)
{
  g_return_val_if_fail (index < vector->count, 0);
  return (gint64) sl_le64 (vector->fb->data + vector->at + (gsize) index * 8);
}

gfloat
sl_fb_vector_f32 (const SlFbVector *vector, guint32 index)
{
  const gint32 bits = sl_fb_vector_i32 (vector, index);
  gfloat value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

SlFbTable
sl_fb_vector_table (const SlFbVector *vector, guint32 index)
{
  const SlFbTable absent = { 0 };
  g_return_val_if_fail (index < vector->count, absent);
  return open_table (vector->fb, vector->at + (gsize) index * 4);
}

const guint8 *
sl_fb_vector_data (const SlFbVector *vector)
{
  return vector->fb != NULL ? vector->fb->data + vector->at : NULL;
}

char *
sl_fb_dup_name (const SlFbTable *table, guint field, gsize limit)
{
  gsize length;
  const char *text = sl_fb_string (table, field, &length);
  char *name =
    text != NULL ? g_utf8_make_valid (text, (gssize) MIN (length, limit)) : g_strdup ("");
  for (char *p = name; *p != '\0'; p++)
    if (g_ascii_iscntrl (*p))
      *p = '?';
  return name;
}
