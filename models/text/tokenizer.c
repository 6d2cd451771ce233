/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A text on its way: added tokens, normalisers, pre-tokenizers, the model, the frame, the length.
 */
#include "models/text/tokenizer_private.h"

#include <string.h>

#include "core/base/fail.h"

void
sl_tokens_clear (SlTokens *tokens)
{
  g_clear_pointer (&tokens->ids, g_array_unref);
}

gint64
sl_tokens_value (const SlTokens *tokens, const char *name, guint i)
{
  name = name != NULL ? name : "";
  if (strstr (name, "mask") != NULL)
    return i >= tokens->first && i < tokens->first + tokens->count;
  if (strstr (name, "position") != NULL)
    return i;
  if (strstr (name, "type") != NULL)
    return 0;
  return g_array_index (tokens->ids, gint32, i);
}

void
sl_tokenizer_free (SlTokenizer *t)
{
  if (t == NULL)
    return;
  g_array_unref (t->normalizers);
  g_array_unref (t->splits);
  g_array_unref (t->frame);
  sl_text_model_clear (&t->model);
  sl_added_free (t->added);
  g_free (t);
}

const char *
sl_tokenizer_format (const SlTokenizer *t)
{
  return t->format;
}

guint
sl_tokenizer_most (const SlTokenizer *t)
{
  return t->most;
}

gint32
sl_tokenizer_id (const SlTokenizer *t, const char *text)
{
  const gint32 id = sl_added_id (t->added, text);
  return id >= 0 ? id : sl_vocabulary_id (t->model.vocabulary, text);
}

char *
sl_tokenizer_token (const SlTokenizer *t, gint32 id)
{
  const char *added = sl_added_text (t->added, id);
  return added != NULL ? g_strdup (added) : sl_vocabulary_text (t->model.vocabulary, id);
}

gboolean
sl_tokenizer_add (SlTokenizer *t, const char *text, gint32 id, GError **error)
{
  const SlAddedToken token = { .text = (char *) text, .id = id };
  return sl_added_add (t->added, &token, error);
}

void
sl_tokenizer_frame (SlTokenizer *t, gint32 before, gint32 behind)
{
  const gint32 frame[] = { before, SL_FRAME_TEXT, behind };
  g_array_set_size (t->frame, 0);
  g_array_append_vals (t->frame, frame, G_N_ELEMENTS (frame));
}

static gboolean
encode_text (const SlTokenizer *t, const GString *text, gboolean first, GArray *ids, GError **error)
{
  g_auto (SlPieces) pieces = { NULL, NULL };
  sl_pieces_init (&pieces);
  if (!sl_split (t->splits, text, first, &pieces, error))
    return FALSE;
  for (guint i = 0; i < pieces.ends->len; i++) {
    const gsize start = i > 0 ? g_array_index (pieces.ends, gsize, i - 1) : 0,
                end = g_array_index (pieces.ends, gsize, i);
    g_autofree char *piece = g_strndup (pieces.text->str + start, end - start);
    t->model.encode (&t->model, piece, end - start, ids);
  }
  return TRUE;
}

/* A segment without added tokens of the text as it is. */
static gboolean
encode_segment (const SlTokenizer *t, GString *text, gboolean first, GArray *ids, GError **error)
{
  g_autoptr (GArray) segments = g_array_new (FALSE, FALSE, sizeof (SlSegment));
  if (!sl_normalize (t->normalizers, text, error))
    return FALSE;
  sl_added_find (t->added, text->str, text->len, TRUE, segments);
  for (guint i = 0; i < segments->len; i++) {
    const SlSegment *segment = &g_array_index (segments, SlSegment, i);
    g_autoptr (GString) part =
      g_string_new_len (text->str + segment->start, (gssize) (segment->end - segment->start));
    if (segment->id >= 0)
      g_array_append_val (ids, segment->id);
    else if (!encode_text (t, part, first && segment->start == 0, ids, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
encode_all (const SlTokenizer *t, const char *text, gsize length, GArray *ids, GError **error)
{
  g_autoptr (GArray) segments = g_array_new (FALSE, FALSE, sizeof (SlSegment));
  sl_added_find (t->added, text, length, FALSE, segments);
  for (guint i = 0; i < segments->len; i++) {
    const SlSegment *segment = &g_array_index (segments, SlSegment, i);
    g_autoptr (GString) part =
      g_string_new_len (text + segment->start, (gssize) (segment->end - segment->start));
    if (segment->id >= 0)
      g_array_append_val (ids, segment->id);
    else if (!encode_segment (t, part, segment->start == 0, ids, error))
      return FALSE;
  }
  return TRUE;
}

/* Leaves @most of @ids. */
static void
cut (const SlTokenizer *t, GArray *ids, guint most)
{
  if (ids->len > most && t->cut_left)
    g_array_remove_range (ids, 0, ids->len - most);
  else if (ids->len > most)
    g_array_set_size (ids, most);
}

/* @ids with the frame around them. Where even the frame is longer than @most, it is cut, too. */
static GArray *
put_frame (const SlTokenizer *t, GArray *ids, guint most)
{
  guint n_texts = 0;
  GArray *framed = g_array_new (FALSE, FALSE, sizeof (gint32));
  for (guint i = 0; i < t->frame->len; i++)
    n_texts += g_array_index (t->frame, gint32, i) == SL_FRAME_TEXT;
  const guint n_others = t->frame->len - n_texts;
  if (most > 0)
    cut (t, ids, most > n_others ? (most - n_others) / MAX (n_texts, 1) : 0);
  for (guint i = 0; i < t->frame->len; i++) {
    const gint32 id = g_array_index (t->frame, gint32, i);
    if (id == SL_FRAME_TEXT)
      g_array_append_vals (framed, ids->data, ids->len);
    else
      g_array_append_val (framed, id);
  }
  if (most > 0)
    cut (t, framed, most);
  return framed;
}

static void
pad (const SlTokenizer *t, guint length, SlTokens *tokens)
{
  guint n = length > 0 ? length : MAX (t->pad_to, tokens->count);
  const guint over = length == 0 && t->pad_multiple > 0 ? n % t->pad_multiple : 0;
  n += over > 0 ? t->pad_multiple - over : 0;
  while (tokens->ids->len < n)
    g_array_append_val (tokens->ids, t->pad_id);
  if (!t->pad_left || n <= tokens->count)
    return;
  gint32 *ids = (gint32 *) (void *) tokens->ids->data;
  tokens->first = n - tokens->count;
  memmove (ids + tokens->first, ids, tokens->count * sizeof *ids);
  for (guint i = 0; i < tokens->first; i++)
    ids[i] = t->pad_id;
}

gboolean
sl_tokenizer_encode (const SlTokenizer *t, const char *text, guint length, SlTokens *tokens,
                     GError **error)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  const gsize size = strnlen (text, SL_TEXT_MAX + 1);
  *tokens = (SlTokens){ NULL, 0, 0 };
  if (size > SL_TEXT_MAX)
    return sl_fail (error, SL_ERROR_LIMIT,
                    "the text is longer than %d bytes; expected a shorter text", SL_TEXT_MAX);
  g_autofree char *valid = g_utf8_make_valid (text, (gssize) size);
  if (!encode_all (t, valid, strlen (valid), ids, error))
    return FALSE;
  const guint most = length > 0 && t->most > 0 ? MIN (length, t->most) : MAX (length, t->most);
  tokens->ids = put_frame (t, ids, most);
  tokens->count = tokens->ids->len;
  pad (t, length, tokens);
  return TRUE;
}
