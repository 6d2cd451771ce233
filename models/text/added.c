/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two vocabularies whose ids are places in the list of tokens: of the text, and of what normalisers
 * make of it. At each place the longest token is found. */
#include "models/text/added.h"

#include "models/text/characters.h"
#include "models/text/normalize.h"

struct _SlAdded
{
  GArray *tokens; /* SlAddedToken */
  SlVocabulary *found[2];
};

SlAdded *
sl_added_new (void)
{
  SlAdded *added = g_new0 (SlAdded, 1);
  added->tokens = g_array_new (FALSE, FALSE, sizeof (SlAddedToken));
  for (guint i = 0; i < 2; i++)
    added->found[i] = sl_vocabulary_new ();
  return added;
}

void
sl_added_free (SlAdded *added)
{
  if (added == NULL)
    return;
  for (guint i = 0; i < added->tokens->len; i++)
    g_free (g_array_index (added->tokens, SlAddedToken, i).text);
  g_array_unref (added->tokens);
  for (guint i = 0; i < 2; i++)
    sl_vocabulary_free (added->found[i]);
  g_free (added);
}

gboolean
sl_added_add (SlAdded *added, const SlAddedToken *token, GError **error)
{
  const guint place = added->tokens->len;
  SlAddedToken copy = *token;
  if (!token->normalized
      && !sl_vocabulary_add (added->found[0], token->text, strlen (token->text), place, 0, error))
    return FALSE;
  copy.text = g_strdup (token->text);
  g_array_append_val (added->tokens, copy);
  return TRUE;
}

gboolean
sl_added_finish (SlAdded *added, const GArray *normalizers, const SlVocabulary *vocabulary,
                 GError **error)
{
  for (guint i = 0; i < added->tokens->len; i++) {
    SlAddedToken *token = &g_array_index (added->tokens, SlAddedToken, i);
    g_autoptr (GString) text = g_string_new (token->text);
    const gint32 id = sl_vocabulary_id (vocabulary, token->text);
    if (id >= 0)
      token->id = id;
    if (!token->normalized)
      continue;
    if (!sl_normalize (normalizers, text, error)
        || (text->len > 0
            && !sl_vocabulary_add (added->found[1], text->str, text->len, i, 0, error)))
      return FALSE;
  }
  for (guint i = 0; i < 2; i++)
    sl_vocabulary_finish (added->found[i]);
  return TRUE;
}

/* Whether a word goes on before @start or behind @end. */
static gboolean
is_inside_word (const char *text, gsize length, gsize start, gsize end)
{
  return (start > 0 && sl_is_word (g_utf8_get_char (g_utf8_prev_char (text + start))))
         || (end < length && sl_is_word (g_utf8_get_char (text + end)));
}

static void
append (GArray *segments, gsize start, gsize end, gint32 id)
{
  const SlSegment segment = { start, end, id };
  if (end > start)
    g_array_append_val (segments, segment);
}

static const SlAddedToken *
token_at (const SlAdded *added, const SlVocabulary *found, const char *text, gsize length,
          gsize *size)
{
  const SlAddedToken *token = NULL;
  SlPiece piece;
  SlPrefixes prefixes = sl_prefixes_init (found, text, length);
  while (sl_prefixes_next (&prefixes, &piece)) {
    token = &g_array_index (added->tokens, SlAddedToken, piece.id);
    *size = piece.length;
  }
  return token;
}

void
sl_added_find (const SlAdded *added, const char *text, gsize length, gboolean normalized,
               GArray *segments)
{
  const SlVocabulary *found = added->found[normalized ? 1 : 0];
  gsize done = 0;
  for (gsize at = 0, next; at < length; at = next) {
    gsize size = 0;
    const SlAddedToken *token = token_at (added, found, text + at, length - at, &size);
    next = token != NULL ? at + size : (gsize) (g_utf8_next_char (text + at) - text);
    if (token == NULL || at < done
        || (token->single_word && is_inside_word (text, length, at, next)))
      continue;
    gsize start = at, end = next;
    while (token->left && start > done
           && sl_is_white (g_utf8_get_char (g_utf8_prev_char (text + start))))
      start = (gsize) (g_utf8_prev_char (text + start) - text);
    while (token->right && end < length && sl_is_white (g_utf8_get_char (text + end)))
      end = (gsize) (g_utf8_next_char (text + end) - text);
    append (segments, done, start, -1);
    append (segments, start, end, token->id);
    done = end;
  }
  append (segments, done, length, -1);
}

const char *
sl_added_text (const SlAdded *added, gint32 id)
{
  for (guint i = 0; i < added->tokens->len; i++)
    if (g_array_index (added->tokens, SlAddedToken, i).id == id)
      return g_array_index (added->tokens, SlAddedToken, i).text;
  return NULL;
}

gint32
sl_added_id (const SlAdded *added, const char *text)
{
  for (guint i = 0; i < added->tokens->len; i++)
    if (g_str_equal (g_array_index (added->tokens, SlAddedToken, i).text, text))
      return g_array_index (added->tokens, SlAddedToken, i).id;
  return -1;
}
