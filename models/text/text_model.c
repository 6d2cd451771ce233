/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the models share, and the two that read from left to right: WordPiece and Unigram. */
#include "models/text/text_model.h"

#include <math.h>
#include <string.h>

void
sl_text_model_clear (SlTextModel *model)
{
  g_clear_pointer (&model->vocabulary, sl_vocabulary_free);
  g_clear_pointer (&model->merges, sl_merges_free);
  g_clear_pointer (&model->kept, sl_vocabulary_free);
  g_clear_pointer (&model->prefix, g_free);
  g_clear_pointer (&model->suffix, g_free);
}

gboolean
sl_text_model_bytes (const SlTextModel *model, const char *text, gsize length, GArray *ids)
{
  const guint before = ids->len;
  for (gsize i = 0; i < length && model->byte_fallback; i++) {
    char name[8];
    g_snprintf (name, sizeof name, "<0x%02X>", (guint8) text[i]);
    const gint32 id = sl_vocabulary_id (model->vocabulary, name);
    if (id < 0) {
      g_array_set_size (ids, before);
      return FALSE;
    }
    g_array_append_val (ids, id);
  }
  return model->byte_fallback;
}

static void
append_unknown (const SlTextModel *model, GArray *ids)
{
  if (model->unknown >= 0)
    g_array_append_val (ids, model->unknown);
}

/* The longest token that @text begins with; 0 = none. */
static gsize
longest_prefix (const SlVocabulary *vocabulary, const char *text, gsize length, gsize least,
                gint32 *id)
{
  gsize longest = 0;
  SlPiece piece;
  SlPrefixes prefixes = sl_prefixes_init (vocabulary, text, length);
  while (sl_prefixes_next (&prefixes, &piece)) {
    if (piece.length <= least)
      continue;
    longest = piece.length;
    *id = piece.id;
  }
  return longest;
}

void
sl_wordpiece_encode (const SlTextModel *model, const char *text, gsize length, GArray *ids)
{
  const gsize n_prefix = model->prefix != NULL ? strlen (model->prefix) : 0;
  const guint before = ids->len;
  gint32 id = 0;
  if ((guint) g_utf8_strlen (text, (gssize) length) > model->most_characters) {
    append_unknown (model, ids);
    return;
  }
  g_autoptr (GString) rest = g_string_new_len (text, (gssize) length);
  while (rest->len > 0) {
    const gboolean first = ids->len == before;
    const gsize least = first ? 0 : n_prefix;
    if (!first)
      g_string_prepend (rest, n_prefix > 0 ? model->prefix : "");
    const gsize found = longest_prefix (model->vocabulary, rest->str, rest->len, least, &id);
    if (found == 0) {
      g_array_set_size (ids, before);
      append_unknown (model, ids);
      return;
    }
    g_array_append_val (ids, id);
    g_string_erase (rest, 0, (gssize) found);
  }
}

/* The best way to reach a place of the text: by token @id from @start. */
typedef struct
{
  double score;
  gsize start;
  gint32 id;
  gboolean reached, unknown;
} Node;

static void
reach (const SlTextModel *model, Node *nodes, gsize start, gsize end, double score, gint32 id,
       gboolean unknown)
{
  const double sum = nodes[start].score + score;
  if (nodes[end].reached && sum <= nodes[end].score)
    return;
  nodes[end] = (Node){ model->single_precision ? (float) sum : sum, start, id, TRUE, unknown };
}

static void
fill (const SlTextModel *model, const char *text, gsize length, Node *nodes)
{
  for (gsize at = 0, next; at < length; at = next) {
    gboolean alone = FALSE;
    SlPiece piece;
    SlPrefixes prefixes = sl_prefixes_init (model->vocabulary, text + at, length - at);
    next = (gsize) (g_utf8_next_char (text + at) - text);
    while (sl_prefixes_next (&prefixes, &piece)) {
      if (isnan (piece.score))
        continue;
      alone |= piece.length == next - at;
      reach (model, nodes, at, at + piece.length, piece.score, piece.id,
             piece.id == model->unknown);
    }
    if (!alone)
      reach (model, nodes, at, next, model->unknown_score, model->unknown, TRUE);
  }
}

void
sl_unigram_encode (const SlTextModel *model, const char *text, gsize length, GArray *ids)
{
  g_autofree Node *nodes = g_new0 (Node, length + 1);
  g_autoptr (GArray) ends = g_array_new (FALSE, FALSE, sizeof (gsize));
  fill (model, text, length, nodes);
  for (gsize end = length; end > 0; end = nodes[end].start)
    g_array_append_val (ends, end);
  for (guint i = ends->len; i-- > 0;) {
    gsize end = g_array_index (ends, gsize, i);
    const gsize start = nodes[end].start;
    if (!nodes[end].unknown) {
      g_array_append_val (ids, nodes[end].id);
      continue;
    }
    while (model->fuse_unknown && i > 0 && nodes[g_array_index (ends, gsize, i - 1)].unknown)
      end = g_array_index (ends, gsize, --i);
    if (!sl_text_model_bytes (model, text + start, end - start, ids))
      append_unknown (model, ids);
  }
}
