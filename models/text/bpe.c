/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Byte-pair encoding: a piece is a list of symbols, at first its characters. The neighbours with
 * the best merge become one symbol, until no merge is left. A heap has the merges of neighbours;
 * one whose symbols have changed since is dropped when it comes out. So the work is n log n.
 */
#include "models/text/text_model.h"

#include <math.h>
#include <string.h>

#include "core/base/fail.h"

/* A row of the table of merges: the tokens of @pair become @made. */
typedef struct
{
  guint64 pair; /* 0 = free; ids plus one */
  guint32 rank;
  gint32 made;
} Merge;

struct _SlMerges
{
  Merge *table;
  gsize n_table; /* a power of two */
  guint n;
};

/* @id: -1 = no token. @size: bytes of the text; 0 = merged into the one before. */
typedef struct
{
  gsize start, size;
  gint32 id, before, next;
  gboolean kept;
} Symbol;

/* Symbol @left and the next one, together @size bytes, become token @made. */
typedef struct
{
  double rank;
  gint32 left, made;
  gsize size;
} Candidate;

typedef struct
{
  const SlTextModel *model;
  const char *text;
  GArray *symbols, *heap;
} Work;

SlMerges *
sl_merges_new (void)
{
  return g_new0 (SlMerges, 1);
}

void
sl_merges_free (SlMerges *merges)
{
  if (merges == NULL)
    return;
  g_free (merges->table);
  g_free (merges);
}

static Merge *
slot_of (const SlMerges *merges, guint64 pair)
{
  gsize slot = (pair * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15)) >> 20 & (merges->n_table - 1);
  while (merges->table[slot].pair != 0 && merges->table[slot].pair != pair)
    slot = (slot + 1) & (merges->n_table - 1);
  return &merges->table[slot];
}

static void
grow (SlMerges *merges)
{
  g_autofree Merge *old = merges->table;
  const gsize n_old = merges->n_table;
  merges->n_table = MAX (n_old * 2, 1024);
  merges->table = g_new0 (Merge, merges->n_table);
  for (gsize i = 0; i < n_old; i++)
    if (old[i].pair != 0)
      *slot_of (merges, old[i].pair) = old[i];
}

static guint64
pair_of (gint32 left, gint32 right)
{
  return ((guint64) left + 1) << 32 | ((guint64) right + 1);
}

gboolean
sl_merges_add (SlMerges *merges, const SlTextModel *model, const char *left, gsize n_left,
               const char *right, gsize n_right, GError **error)
{
  SlPiece a = { 0 }, b = { 0 }, both = { 0 };
  const gsize skipped = model->prefix != NULL ? MIN (strlen (model->prefix), n_right) : 0;
  g_autoptr (GString) whole = g_string_new_len (left, (gssize) n_left);
  g_string_append_len (whole, right + skipped, (gssize) (n_right - skipped));
  if (!sl_vocabulary_find (model->vocabulary, left, n_left, &a)
      || !sl_vocabulary_find (model->vocabulary, right, n_right, &b)
      || !sl_vocabulary_find (model->vocabulary, whole->str, whole->len, &both))
    return sl_fail (error, SL_ERROR_FORMAT,
                    "merge %u, '%.*s' and '%.*s': expected both, and what they make, to be tokens",
                    merges->n, (int) MIN (n_left, 40), left, (int) MIN (n_right, 40), right);
  if (merges->n * (gsize) 2 >= merges->n_table)
    grow (merges);
  const guint64 pair = pair_of (a.id, b.id);
  *slot_of (merges, pair) = (Merge){ pair, merges->n++, both.id };
  return TRUE;
}

static gboolean
is_before (const Candidate *a, const Candidate *b)
{
  return a->rank < b->rank || (a->rank == b->rank && a->left < b->left);
}

static void
push (GArray *heap, Candidate candidate)
{
  g_array_append_val (heap, candidate);
  Candidate *items = (Candidate *) (void *) heap->data;
  for (guint i = heap->len - 1; i > 0 && is_before (&items[i], &items[(i - 1) / 2]);
       i = (i - 1) / 2) {
    const Candidate parent = items[(i - 1) / 2];
    items[(i - 1) / 2] = items[i];
    items[i] = parent;
  }
}

static Candidate
pop (GArray *heap)
{
  Candidate *items = (Candidate *) (void *) heap->data;
  const Candidate top = items[0];
  items[0] = items[heap->len - 1];
  g_array_set_size (heap, heap->len - 1);
  for (guint i = 0, child; (child = 2 * i + 1) < heap->len; i = child) {
    if (child + 1 < heap->len && is_before (&items[child + 1], &items[child]))
      child++;
    if (!is_before (&items[child], &items[i]))
      break;
    const Candidate item = items[i];
    items[i] = items[child];
    items[child] = item;
  }
  return top;
}

static Symbol *
symbol_at (const Work *work, gint32 index)
{
  return &g_array_index (work->symbols, Symbol, index);
}

/* What symbol @left and the next one merge to. */
static gboolean
find_merge (const Work *work, gint32 left, Candidate *candidate)
{
  const SlTextModel *model = work->model;
  const Symbol *a = symbol_at (work, left);
  if (a->size == 0 || a->next < 0)
    return FALSE;
  const Symbol *b = symbol_at (work, a->next);
  *candidate = (Candidate){ .left = left, .size = a->size + b->size };
  if (model->merges == NULL) {
    SlPiece piece;
    if (a->kept || b->kept
        || !sl_vocabulary_find (model->vocabulary, work->text + a->start, candidate->size, &piece)
        || isnan (piece.score))
      return FALSE;
    candidate->rank = -piece.score;
    candidate->made = piece.id;
    return TRUE;
  }
  if (a->id < 0 || b->id < 0 || model->merges->n == 0)
    return FALSE;
  const Merge *merge = slot_of (model->merges, pair_of (a->id, b->id));
  candidate->rank = merge->rank;
  candidate->made = merge->made;
  return merge->pair != 0;
}

static void
push_merge (const Work *work, gint32 left)
{
  Candidate candidate;
  if (left >= 0 && find_merge (work, left, &candidate))
    push (work->heap, candidate);
}

static void
add_symbol (const Work *work, gsize start, gsize size, gint32 id, gboolean kept)
{
  const gint32 index = (gint32) work->symbols->len;
  const Symbol symbol = { start, size, id, index - 1, -1, kept };
  g_array_append_val (work->symbols, symbol);
  if (index > 0)
    symbol_at (work, index - 1)->next = index;
}

/* The token of the character at @at, with the prefix and the suffix that it has there; -1 = none.
 */
static gint32
character_id (const Work *work, gsize at, gsize size, gsize length)
{
  const SlTextModel *model = work->model;
  const gboolean prefixed = at > 0 && model->prefix != NULL,
                 suffixed = at + size == length && model->suffix != NULL;
  char name[2 * SL_PIECE_MAX];
  const int n = g_snprintf (name, sizeof name, "%s%.*s%s", prefixed ? model->prefix : "",
                            (int) size, work->text + at, suffixed ? model->suffix : "");
  SlPiece piece;
  return sl_vocabulary_find (model->vocabulary, name, (gsize) n, &piece) ? piece.id : -1;
}

/* Bytes of a character that the vocabulary lacks, a symbol each. */
static gboolean
add_bytes (const Work *work, gsize at, gsize size)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  if (!work->model->byte_fallback || !sl_text_model_bytes (work->model, work->text + at, size, ids))
    return FALSE;
  for (guint i = 0; i < ids->len; i++)
    add_symbol (work, at + i, 1, g_array_index (ids, gint32, i), FALSE);
  return TRUE;
}

/* A table of merges works on tokens, so what is none becomes bytes or the unknown token first. */
static void
split_for_table (const Work *work, gsize length)
{
  const SlTextModel *model = work->model;
  gsize unknown = 0, unknown_at = 0;
  for (gsize at = 0, size; at < length; at += size) {
    size = (gsize) (g_utf8_next_char (work->text + at) - (work->text + at));
    const gint32 id = character_id (work, at, size, length);
    if (id < 0 && add_bytes (work, at, size))
      continue;
    if (unknown > 0 && (id >= 0 || !model->fuse_unknown)) {
      add_symbol (work, unknown_at, unknown, model->unknown, FALSE);
      unknown = 0;
    }
    if (id >= 0) {
      add_symbol (work, at, size, id, FALSE);
    } else if (model->unknown >= 0) {
      unknown_at = unknown == 0 ? at : unknown_at;
      unknown += size;
    }
  }
  if (unknown > 0)
    add_symbol (work, unknown_at, unknown, model->unknown, FALSE);
}

/* Without a table symbols are texts, which need not be tokens before they merge. */
static void
split_for_scores (const Work *work, gsize length)
{
  const SlTextModel *model = work->model;
  for (gsize at = 0, size; at < length; at += size) {
    SlPiece piece = { 0 };
    gboolean kept = FALSE;
    size = (gsize) (g_utf8_next_char (work->text + at) - (work->text + at));
    if (model->kept != NULL) {
      SlPrefixes prefixes = sl_prefixes_init (model->kept, work->text + at, length - at);
      while (sl_prefixes_next (&prefixes, &piece)) {
        size = piece.length;
        kept = TRUE;
      }
    }
    const gboolean known = sl_vocabulary_find (model->vocabulary, work->text + at, size, &piece);
    add_symbol (work, at, size, known ? piece.id : -1, kept);
  }
}

static void
merge_all (const Work *work)
{
  for (gint32 i = 0; i + 1 < (gint32) work->symbols->len; i++)
    push_merge (work, i);
  while (work->heap->len > 0) {
    const Candidate top = pop (work->heap);
    Candidate now;
    if (!find_merge (work, top.left, &now) || now.size != top.size || now.made != top.made)
      continue;
    Symbol *left = symbol_at (work, top.left), *right = symbol_at (work, left->next);
    left->size += right->size;
    left->id = top.made;
    right->size = 0;
    left->next = right->next;
    if (left->next >= 0)
      symbol_at (work, left->next)->before = top.left;
    push_merge (work, left->before);
    push_merge (work, top.left);
  }
}

static void
append_ids (const Work *work, GArray *ids)
{
  const SlTextModel *model = work->model;
  gboolean after_unknown = FALSE;
  for (gint32 i = work->symbols->len > 0 ? 0 : -1; i >= 0; i = symbol_at (work, i)->next) {
    const Symbol *symbol = symbol_at (work, i);
    const gboolean unknown = symbol->id < 0;
    if (!unknown)
      g_array_append_val (ids, symbol->id);
    else if (!sl_text_model_bytes (model, work->text + symbol->start, symbol->size, ids)
             && model->unknown >= 0 && !(model->fuse_unknown && after_unknown))
      g_array_append_val (ids, model->unknown);
    after_unknown = unknown;
  }
}

void
sl_bpe_encode (const SlTextModel *model, const char *text, gsize length, GArray *ids)
{
  SlPiece piece;
  if (model->whole_first && sl_vocabulary_find (model->vocabulary, text, length, &piece)) {
    g_array_append_val (ids, piece.id);
    return;
  }
  g_autoptr (GArray) symbols = g_array_new (FALSE, FALSE, sizeof (Symbol)),
                     heap = g_array_new (FALSE, FALSE, sizeof (Candidate));
  const Work work = { model, text, symbols, heap };
  if (model->merges != NULL)
    split_for_table (&work, length);
  else
    split_for_scores (&work, length);
  merge_all (&work);
  append_ids (&work, ids);
}
