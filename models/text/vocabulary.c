/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pieces in one block of bytes, an open hash table over them, and their order by bytes. In that
 * order all pieces with a common beginning are neighbours, so a walk over prefixes narrows a range.
 * The hash has a random seed, so that a file cannot choose pieces that collide.
 */
#include "models/text/vocabulary.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/xxh64.h"

#define NONE G_MAXUINT32

typedef struct
{
  gsize offset;
  guint32 length;
  gint32 id;
  double score;
} Entry;

struct _SlVocabulary
{
  GByteArray *bytes;
  GArray *entries;
  guint32 *table; /* indices of entries, NONE = free */
  gsize n_table;  /* a power of two */
  guint64 seed;
  guint32 *sorted, *by_id;
  guint n_ids;
};

SlVocabulary *
sl_vocabulary_new (void)
{
  SlVocabulary *v = g_new0 (SlVocabulary, 1);
  v->bytes = g_byte_array_new ();
  v->entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  v->seed = (guint64) g_random_int () << 32 | g_random_int ();
  return v;
}

void
sl_vocabulary_free (SlVocabulary *v)
{
  if (v == NULL)
    return;
  g_byte_array_unref (v->bytes);
  g_array_unref (v->entries);
  g_free (v->table);
  g_free (v->sorted);
  g_free (v->by_id);
  g_free (v);
}

static const Entry *
entry_at (const SlVocabulary *v, guint32 index)
{
  return &g_array_index (v->entries, Entry, index);
}

/* The slot of the table that has the piece, or where it belongs. */
static gsize
slot_of (const SlVocabulary *v, const char *text, gsize length)
{
  gsize slot = sl_xxh64 (text, length, v->seed) & (v->n_table - 1);
  for (; v->table[slot] != NONE; slot = (slot + 1) & (v->n_table - 1)) {
    const Entry *entry = entry_at (v, v->table[slot]);
    if (entry->length == length && memcmp (v->bytes->data + entry->offset, text, length) == 0)
      break;
  }
  return slot;
}

static void
grow (SlVocabulary *v)
{
  g_free (v->table);
  v->n_table = MAX (v->n_table * 2, 1024);
  v->table = g_new (guint32, v->n_table);
  memset (v->table, 0xff, v->n_table * sizeof *v->table);
  for (guint i = 0; i < v->entries->len; i++) {
    const Entry *entry = entry_at (v, i);
    v->table[slot_of (v, (const char *) v->bytes->data + entry->offset, entry->length)] = i;
  }
}

gboolean
sl_vocabulary_add (SlVocabulary *v, const char *text, gsize length, gint64 id, double score,
                   GError **error)
{
  if (length == 0 || length > SL_PIECE_MAX)
    return sl_fail (error, SL_ERROR_FORMAT,
                    "a token of %" G_GSIZE_FORMAT " bytes; expected 1 to %d", length, SL_PIECE_MAX);
  if (id < 0 || id >= SL_VOCABULARY_MAX || v->entries->len >= SL_VOCABULARY_MAX)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "token %u has the id %" G_GINT64_FORMAT "; expected ids and a number of tokens "
                    "below %d",
                    v->entries->len, id, SL_VOCABULARY_MAX);
  if (v->entries->len * (gsize) 2 >= v->n_table)
    grow (v);
  const gsize slot = slot_of (v, text, length);
  if (v->table[slot] != NONE) {
    Entry *entry = &g_array_index (v->entries, Entry, v->table[slot]);
    entry->id = (gint32) id;
    entry->score = score;
    return TRUE;
  }
  const Entry entry = { v->bytes->len, (guint32) length, (gint32) id, score };
  g_byte_array_append (v->bytes, (const guint8 *) text, (guint) length);
  v->table[slot] = v->entries->len;
  g_array_append_val (v->entries, entry);
  return TRUE;
}

SlPiece
sl_vocabulary_get (const SlVocabulary *v, guint index)
{
  const Entry *entry = entry_at (v, index);
  return (SlPiece){ (const char *) v->bytes->data + entry->offset, entry->length, entry->id,
                    entry->score };
}

gboolean
sl_vocabulary_find (const SlVocabulary *v, const char *text, gsize length, SlPiece *piece)
{
  if (v->n_table == 0 || length == 0 || length > SL_PIECE_MAX)
    return FALSE;
  const guint32 index = v->table[slot_of (v, text, length)];
  if (index != NONE)
    *piece = sl_vocabulary_get (v, index);
  return index != NONE;
}

gint32
sl_vocabulary_id (const SlVocabulary *v, const char *text)
{
  SlPiece piece;
  return sl_vocabulary_find (v, text, strlen (text), &piece) ? piece.id : -1;
}

guint
sl_vocabulary_count (const SlVocabulary *v)
{
  return v->entries->len;
}

static gint
compare (gconstpointer a, gconstpointer b, gpointer data)
{
  const SlVocabulary *v = data;
  const Entry *x = entry_at (v, *(const guint32 *) a), *y = entry_at (v, *(const guint32 *) b);
  const int order =
    memcmp (v->bytes->data + x->offset, v->bytes->data + y->offset, MIN (x->length, y->length));
  return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

void
sl_vocabulary_finish (SlVocabulary *v)
{
  const guint n = v->entries->len;
  g_free (v->sorted);
  g_free (v->by_id);
  v->sorted = g_new (guint32, MAX (n, 1));
  v->n_ids = 0;
  for (guint i = 0; i < n; i++) {
    v->sorted[i] = i;
    v->n_ids = MAX (v->n_ids, (guint) entry_at (v, i)->id + 1);
  }
#if GLIB_CHECK_VERSION(2, 82, 0)
  g_sort_array (v->sorted, n, sizeof *v->sorted, compare, v);
#else
  g_qsort_with_data (v->sorted, (gint) n, sizeof *v->sorted, compare, v);
#endif
  v->by_id = g_new (guint32, MAX (v->n_ids, 1));
  memset (v->by_id, 0xff, MAX (v->n_ids, 1) * sizeof *v->by_id);
  for (guint i = 0; i < n; i++)
    v->by_id[entry_at (v, i)->id] = i;
}

char *
sl_vocabulary_text (const SlVocabulary *v, gint32 id)
{
  if (id < 0 || (guint) id >= v->n_ids || v->by_id[id] == NONE)
    return NULL;
  const SlPiece piece = sl_vocabulary_get (v, v->by_id[id]);
  return g_strndup (piece.text, piece.length);
}

SlPrefixes
sl_prefixes_init (const SlVocabulary *v, const char *text, gsize length)
{
  return (SlPrefixes){ v, text, length, 0, v->entries->len, 0 };
}

/* The byte behind the common beginning, -1 where the piece ends. */
static gint
byte_of (const SlPrefixes *p, guint position)
{
  const SlVocabulary *v = p->vocabulary;
  const Entry *entry = entry_at (v, v->sorted[position]);
  return entry->length > p->depth ? v->bytes->data[entry->offset + p->depth] : -1;
}

/* The first position of @low to @high whose byte is at least @least. */
static guint
bound (const SlPrefixes *p, guint low, guint high, gint least)
{
  while (low < high) {
    const guint middle = low + (high - low) / 2;
    if (byte_of (p, middle) < least)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

gboolean
sl_prefixes_next (SlPrefixes *p, SlPiece *piece)
{
  while (p->low < p->high && p->depth < p->length) {
    const gint byte = (guint8) p->text[p->depth];
    if (byte_of (p, p->low) < byte)
      p->low = bound (p, p->low + 1, p->high, byte);
    if (p->low < p->high && byte_of (p, p->high - 1) > byte)
      p->high = bound (p, p->low, p->high - 1, byte + 1);
    if (p->low >= p->high)
      return FALSE;
    p->depth++;
    *piece = sl_vocabulary_get (p->vocabulary, p->vocabulary->sorted[p->low]);
    if (piece->length == p->depth)
      return TRUE;
  }
  return FALSE;
}
