/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A step finds spans in one piece, and a behaviour makes pieces of the spans and of what lies
 * between them. Steps that rewrite a piece do so first.
 */
#include "models/text/split.h"

#include <string.h>

#include "models/text/characters.h"
#include "models/text/normalize.h"

/* A span of a piece: a match, or what lies between matches. */
typedef struct
{
  gsize start, end;
  gboolean match;
} Part;

typedef gboolean (*IsMatch) (gunichar c);

void
sl_pieces_init (SlPieces *pieces)
{
  pieces->text = g_string_new (NULL);
  pieces->ends = g_array_new (FALSE, FALSE, sizeof (gsize));
}

void
sl_pieces_clear (SlPieces *pieces)
{
  if (pieces->text != NULL)
    g_string_free (pieces->text, TRUE);
  g_clear_pointer (&pieces->ends, g_array_unref);
  pieces->text = NULL;
}

static void
end_piece (SlPieces *pieces)
{
  const guint n = pieces->ends->len;
  const gsize end = pieces->text->len,
              last = n > 0 ? g_array_index (pieces->ends, gsize, n - 1) : 0;
  if (end > last)
    g_array_append_val (pieces->ends, end);
}

static void
add_piece (SlPieces *pieces, const char *text, gsize length)
{
  g_string_append_len (pieces->text, text, (gssize) length);
  end_piece (pieces);
}

void
sl_split_step_clear (SlSplitStep *step)
{
  g_clear_pointer (&step->pattern, sl_pattern_free);
}

SlPattern *
sl_split_bytes_pattern (void)
{
  return sl_pattern_new_regex (
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", NULL);
}

static void
add_part (GArray *parts, gsize start, gsize end, gboolean match)
{
  const Part part = { start, end, match };
  if (end > start)
    g_array_append_val (parts, part);
}

/* Every character that matches is a part. */
static GArray *
parts_of_characters (const char *text, gsize length, IsMatch is_match)
{
  GArray *parts = g_array_new (FALSE, FALSE, sizeof (Part));
  gsize start = 0;
  for (gsize at = 0, next; at < length; at = next) {
    next = (gsize) (g_utf8_next_char (text + at) - text);
    if (!is_match (g_utf8_get_char (text + at)))
      continue;
    add_part (parts, start, at, FALSE);
    add_part (parts, at, next, TRUE);
    start = next;
  }
  add_part (parts, start, length, FALSE);
  return parts;
}

static GArray *
parts_of_pattern (const SlPattern *pattern, const char *text, gsize length, gboolean invert,
                  GError **error)
{
  g_autoptr (GArray) spans = g_array_new (FALSE, FALSE, sizeof (SlSpan));
  if (!sl_pattern_find (pattern, text, length, spans, error))
    return NULL;
  GArray *parts = g_array_new (FALSE, FALSE, sizeof (Part));
  gsize at = 0;
  for (guint i = 0; i < spans->len; i++) {
    const SlSpan *span = &g_array_index (spans, SlSpan, i);
    add_part (parts, at, span->start, invert);
    add_part (parts, span->start, span->end, !invert);
    at = span->end;
  }
  add_part (parts, at, length, invert);
  return parts;
}

/* Where a part that matches joins the one that comes next in the order of the walk, these are one.
 * A second match in a row does not join. */
static void
merge_with_previous (GArray *parts)
{
  guint n = 0;
  gboolean after_match = FALSE;
  for (guint i = 0; i < parts->len; i++) {
    const Part part = g_array_index (parts, Part, i);
    if (part.match && !after_match && n > 0)
      g_array_index (parts, Part, n - 1).end = part.end;
    else
      g_array_index (parts, Part, n++) = part;
    after_match = part.match;
  }
  g_array_set_size (parts, n);
}

static void
merge_with_next (GArray *parts)
{
  guint n = parts->len;
  gboolean after_match = FALSE;
  for (guint i = parts->len; i-- > 0;) {
    const Part part = g_array_index (parts, Part, i);
    if (part.match && !after_match && n < parts->len)
      g_array_index (parts, Part, n).start = part.start;
    else
      g_array_index (parts, Part, --n) = part;
    after_match = part.match;
  }
  g_array_remove_range (parts, 0, n);
}

/* Makes pieces of @parts, which it takes. */
static void
add_parts (SlPieces *pieces, const char *text, GArray *parts, SlSplitBehaviour behaviour)
{
  if (behaviour == SL_MERGED_WITH_PREVIOUS)
    merge_with_previous (parts);
  else if (behaviour == SL_MERGED_WITH_NEXT)
    merge_with_next (parts);
  for (guint i = 0; i < parts->len; i++) {
    Part part = g_array_index (parts, Part, i);
    while (behaviour == SL_CONTIGUOUS && i + 1 < parts->len
           && g_array_index (parts, Part, i + 1).match == part.match)
      part.end = g_array_index (parts, Part, ++i).end;
    if (behaviour != SL_REMOVED || !part.match)
      add_piece (pieces, text + part.start, part.end - part.start);
  }
  g_array_unref (parts);
}

static gboolean
split_pattern (const SlPattern *pattern, const char *text, gsize length, SlSplitBehaviour behaviour,
               gboolean invert, SlPieces *out, GError **error)
{
  GArray *parts = parts_of_pattern (pattern, text, length, invert, error);
  if (parts != NULL)
    add_parts (out, text, parts, behaviour);
  return parts != NULL;
}

static void
split_bert (const char *text, gsize length, SlPieces *out)
{
  g_auto (SlPieces) words = { NULL, NULL };
  sl_pieces_init (&words);
  add_parts (&words, text, parts_of_characters (text, length, sl_is_white), SL_REMOVED);
  for (guint i = 0; i < words.ends->len; i++) {
    const gsize start = i > 0 ? g_array_index (words.ends, gsize, i - 1) : 0,
                end = g_array_index (words.ends, gsize, i);
    const char *word = words.text->str + start;
    add_parts (out, word, parts_of_characters (word, end - start, sl_is_punctuation), SL_ISOLATED);
  }
}

/* Runs of word characters, and runs of others that are no spaces. */
static void
split_words (const char *text, gsize length, SlPieces *out)
{
  gint before = 0;
  for (const char *p = text; p < text + length; p = g_utf8_next_char (p)) {
    const gunichar c = g_utf8_get_char (p);
    const gint kind = sl_is_word (c) ? 1 : sl_is_white (c) ? 0 : 2;
    if (kind != before)
      end_piece (out);
    if (kind != 0)
      g_string_append_len (out->text, p, g_utf8_next_char (p) - p);
    before = kind;
  }
  end_piece (out);
}

static gboolean
split_bytes (const SlSplitStep *step, const char *text, gsize length, SlPieces *out, GError **error)
{
  g_autoptr (GString) whole = g_string_new (NULL);
  g_auto (SlPieces) parts = { NULL, NULL };
  sl_pieces_init (&parts);
  if (step->prefix == SL_PREFIX_ALWAYS && *text != ' ')
    g_string_append_c (whole, ' ');
  g_string_append_len (whole, text, (gssize) length);
  if (step->pattern == NULL)
    add_piece (&parts, whole->str, whole->len);
  else if (!split_pattern (step->pattern, whole->str, whole->len, SL_ISOLATED, FALSE, &parts,
                           error))
    return FALSE;
  for (guint i = 0; i < parts.ends->len; i++) {
    const gsize start = i > 0 ? g_array_index (parts.ends, gsize, i - 1) : 0,
                end = g_array_index (parts.ends, gsize, i);
    sl_append_byte_characters (out->text, parts.text->str + start, end - start);
    end_piece (out);
  }
  return TRUE;
}

static gboolean
split_metaspace (const SlSplitStep *step, const char *text, gsize length, gboolean first,
                 SlPieces *out, GError **error)
{
  const char *space = step->pattern->literal;
  const gboolean begins = (*text == ' ' || strncmp (text, space, strlen (space)) == 0);
  g_autoptr (GString) whole = g_string_new (NULL);
  if (!begins && (step->prefix == SL_PREFIX_ALWAYS || (step->prefix == SL_PREFIX_FIRST && first)))
    g_string_append (whole, space);
  for (gsize i = 0; i < length; i++)
    if (text[i] == ' ')
      g_string_append (whole, space);
    else
      g_string_append_c (whole, text[i]);
  if (!step->no_split)
    return split_pattern (step->pattern, whole->str, whole->len, SL_MERGED_WITH_NEXT, FALSE, out,
                          error);
  add_piece (out, whole->str, whole->len);
  return TRUE;
}

static gboolean
run_step (const SlSplitStep *step, const char *text, gsize length, gboolean first, SlPieces *out,
          GError **error)
{
  switch (step->kind) {
    case SL_SPLIT_BERT:
      split_bert (text, length, out);
      return TRUE;
    case SL_SPLIT_WORDS:
      split_words (text, length, out);
      return TRUE;
    case SL_SPLIT_BYTES:
      return split_bytes (step, text, length, out, error);
    case SL_SPLIT_PATTERN:
      return split_pattern (step->pattern, text, length, step->behaviour, step->invert, out, error);
    case SL_SPLIT_METASPACE:
      return split_metaspace (step, text, length, first, out, error);
    default:
      break;
  }
  const IsMatch is_match = step->kind == SL_SPLIT_DIGITS        ? sl_is_number
                           : step->kind == SL_SPLIT_PUNCTUATION ? sl_is_punctuation
                                                                : sl_is_white;
  const SlSplitBehaviour behaviour =
    step->kind == SL_SPLIT_WHITESPACE ? SL_REMOVED : step->behaviour;
  add_parts (out, text, parts_of_characters (text, length, is_match), behaviour);
  return TRUE;
}

gboolean
sl_split (const GArray *steps, const GString *text, gboolean first, SlPieces *pieces,
          GError **error)
{
  g_string_truncate (pieces->text, 0);
  g_array_set_size (pieces->ends, 0);
  add_piece (pieces, text->str, text->len);
  for (guint i = 0; i < steps->len; i++) {
    const SlSplitStep *step = &g_array_index (steps, SlSplitStep, i);
    g_auto (SlPieces) out = { NULL, NULL };
    sl_pieces_init (&out);
    for (guint k = 0; k < pieces->ends->len; k++) {
      const gsize start = k > 0 ? g_array_index (pieces->ends, gsize, k - 1) : 0,
                  end = g_array_index (pieces->ends, gsize, k);
      /* A copy with an end of its own, so that expressions see no neighbour. */
      g_autofree char *piece = g_strndup (pieces->text->str + start, end - start);
      if (!run_step (step, piece, end - start, first && k == 0, &out, error))
        return FALSE;
    }
    SlPieces before = *pieces;
    *pieces = out;
    out = before;
  }
  return TRUE;
}
