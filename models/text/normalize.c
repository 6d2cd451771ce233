/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each kind of step is a function from a text to a new one; a table has them by kind. A text is
 * valid UTF-8 before and after each step.
 */
#include "models/text/normalize.h"

#include <string.h>

#include "core/base/fail.h"
#include "models/text/characters.h"

/* U+2581, which SentencePiece writes for a space. */
#define SPACE_SYMBOL "\xe2\x96\x81"
/* Groups of a character and its marks below this size are looked up as a whole. */
#define SMALL_GROUP 6

void
sl_normalize_step_clear (SlNormalizeStep *step)
{
  g_clear_pointer (&step->pattern, sl_pattern_free);
  g_clear_pointer (&step->charsmap, sl_charsmap_free);
  g_clear_pointer (&step->text, g_free);
}

void
sl_append_byte_characters (GString *out, const char *bytes, gsize length)
{
  static gsize once;
  static gunichar characters[256];
  if (g_once_init_enter (&once)) {
    guint others = 0;
    for (guint b = 0; b < 256; b++) {
      const gboolean shown = (b > 0x20 && b < 0x7f) || (b > 0xa0 && b != 0xad);
      characters[b] = shown ? b : 256 + others++;
    }
    g_once_init_leave (&once, 1);
  }
  for (gsize i = 0; i < length; i++)
    g_string_append_unichar (out, characters[(guint8) bytes[i]]);
}

static void
append_form (GString *out, const char *text, gsize length, GNormalizeMode mode)
{
  g_autofree char *form = g_utf8_normalize (text, (gssize) length, mode);
  g_string_append (out, form);
}

static void
run_form (const SlNormalizeStep *step, const GString *text, GString *out)
{
  static const GNormalizeMode modes[] = { [SL_NORMALIZE_NFC] = G_NORMALIZE_NFC,
                                          [SL_NORMALIZE_NFD] = G_NORMALIZE_NFD,
                                          [SL_NORMALIZE_NFKC] = G_NORMALIZE_NFKC,
                                          [SL_NORMALIZE_NFKD] = G_NORMALIZE_NFKD };
  append_form (out, text->str, text->len, modes[step->kind]);
}

/* By characters, without the rules of a language. GLib leaves Roman numerals and circled letters,
 * which are no letters to it. */
static void
append_lower (GString *out, gunichar c)
{
  if (c == 0x130)
    g_string_append (out, "i\xcc\x87");
  else if (c >= 0x2160 && c <= 0x216f)
    g_string_append_unichar (out, c + 0x10);
  else if (c >= 0x24b6 && c <= 0x24cf)
    g_string_append_unichar (out, c + 0x1a);
  else
    g_string_append_unichar (out, g_unichar_tolower (c));
}

static void
run_lower (const SlNormalizeStep *step, const GString *text, GString *out)
{
  (void) step;
  for (const char *p = text->str; *p != '\0'; p = g_utf8_next_char (p))
    append_lower (out, g_utf8_get_char (p));
}

static void
run_strip (const SlNormalizeStep *step, const GString *text, GString *out)
{
  const char *start = text->str, *end = text->str + text->len;
  while (step->left && start < end && sl_is_white (g_utf8_get_char (start)))
    start = g_utf8_next_char (start);
  while (step->right && end > start && sl_is_white (g_utf8_get_char (g_utf8_prev_char (end))))
    end = g_utf8_prev_char (end);
  g_string_append_len (out, start, end - start);
}

static void
run_strip_accents (const SlNormalizeStep *step, const GString *text, GString *out)
{
  (void) step;
  for (const char *p = text->str; *p != '\0'; p = g_utf8_next_char (p))
    if (!sl_is_mark (g_utf8_get_char (p)))
      g_string_append_unichar (out, g_utf8_get_char (p));
}

static void
run_prepend (const SlNormalizeStep *step, const GString *text, GString *out)
{
  if (text->len > 0)
    g_string_append (out, step->text);
  g_string_append_len (out, text->str, (gssize) text->len);
}

static void
run_bytes (const SlNormalizeStep *step, const GString *text, GString *out)
{
  (void) step;
  sl_append_byte_characters (out, text->str, text->len);
}

static void
append_clean (const SlNormalizeStep *step, GString *out, gunichar c)
{
  if (step->clean && sl_is_dropped (c))
    return;
  const gboolean separate = step->chinese && sl_is_chinese (c);
  if (separate)
    g_string_append_c (out, ' ');
  g_string_append_unichar (out, step->clean && sl_is_white (c) ? ' ' : c);
  if (separate)
    g_string_append_c (out, ' ');
}

static void
run_bert (const SlNormalizeStep *step, const GString *text, GString *out)
{
  g_autoptr (GString) clean = g_string_new (NULL), plain = g_string_new (NULL);
  for (const char *p = text->str; *p != '\0'; p = g_utf8_next_char (p))
    append_clean (step, clean, g_utf8_get_char (p));
  if (step->accents)
    append_form (plain, clean->str, clean->len, G_NORMALIZE_NFD);
  else
    g_string_append (plain, clean->str);
  for (const char *p = plain->str; *p != '\0'; p = g_utf8_next_char (p)) {
    const gunichar c = g_utf8_get_char (p);
    if (step->accents && g_unichar_type (c) == G_UNICODE_NON_SPACING_MARK)
      continue;
    if (step->lower)
      append_lower (out, c);
    else
      g_string_append_unichar (out, c);
  }
}

/* The rules of the toolkit for neural machine translation, NMT. */
static void
run_nmt (const SlNormalizeStep *step, const GString *text, GString *out)
{
  (void) step;
  for (const char *p = text->str; *p != '\0'; p = g_utf8_next_char (p)) {
    const gunichar c = g_utf8_get_char (p);
    const gboolean dropped = (c >= 1 && c <= 8) || c == 0x0b || (c >= 0x0e && c <= 0x1f)
                             || c == 0x7f || c == 0x8f || c == 0x9f;
    const gboolean space = c == '\t' || c == '\n' || c == 0x0c || c == '\r' || c == 0x1680
                           || (c >= 0x200b && c <= 0x200f) || c == 0x2028 || c == 0x2029
                           || c == 0x2581 || c == 0xfeff || c == 0xfffd;
    if (!dropped)
      g_string_append_unichar (out, space ? ' ' : c);
  }
}

/* The end of the character at @p with the marks behind it; line ends of two characters are one. */
static const char *
group_end (const char *p)
{
  const gunichar base = g_utf8_get_char (p);
  const GUnicodeType type = g_unichar_type (base);
  const char *end = g_utf8_next_char (p);
  if (base == '\r' && *end == '\n')
    return end + 1;
  if (type == G_UNICODE_CONTROL || type == G_UNICODE_LINE_SEPARATOR
      || type == G_UNICODE_PARAGRAPH_SEPARATOR
      || (type == G_UNICODE_FORMAT && base != 0x200c && base != 0x200d))
    return end;
  while (*end != '\0') {
    const gunichar c = g_utf8_get_char (end);
    if (!sl_is_extending (c))
      break;
    end = g_utf8_next_char (end);
  }
  return end;
}

/* As tokenizer.json means it: a small group is replaced as a whole by its shortest entry, else each
 * character. */
static void
run_charsmap (const SlNormalizeStep *step, const GString *text, GString *out)
{
  gsize matched;
  for (const char *p = text->str, *end; *p != '\0'; p = end) {
    end = group_end (p);
    const char *whole = end - p < SMALL_GROUP
                          ? sl_charsmap_find (step->charsmap, p, (gsize) (end - p), FALSE, &matched)
                          : NULL;
    if (whole != NULL) {
      g_string_append (out, whole);
      continue;
    }
    for (const char *c = p, *next; c < end; c = next) {
      next = g_utf8_next_char (c);
      const char *one = sl_charsmap_find (step->charsmap, c, (gsize) (next - c), FALSE, &matched);
      g_string_append_len (out, one != NULL ? one : c,
                           one != NULL ? (gssize) strlen (one) : next - c);
    }
  }
}

/* What SentencePiece makes of the beginning of @p: a kept piece, an entry of the map, a character.
 */
static gsize
take_prefix (const SlNormalizeStep *step, const char *p, gsize length, const char **made,
             gsize *n_made)
{
  gsize matched = (gsize) (g_utf8_next_char (p) - p);
  const char *entry = NULL;
  gboolean kept = FALSE;
  if (step->kept != NULL) {
    SlPiece piece;
    SlPrefixes prefixes = sl_prefixes_init (step->kept, p, length);
    while (sl_prefixes_next (&prefixes, &piece)) {
      matched = piece.length;
      kept = TRUE;
    }
  }
  if (!kept && step->charsmap != NULL)
    entry = sl_charsmap_find (step->charsmap, p, length, TRUE, &matched);
  *made = entry != NULL ? entry : p;
  *n_made = entry != NULL ? strlen (entry) : matched;
  return matched;
}

static gboolean
ends_with (const GString *text, const char *end)
{
  const gsize length = strlen (end);
  return text->len >= length && memcmp (text->str + text->len - length, end, length) == 0;
}

static void
run_sentencepiece (const SlNormalizeStep *step, const GString *text, GString *out)
{
  const char *space = step->escape ? SPACE_SYMBOL : " ", *p = text->str, *end = p + text->len;
  const char *made;
  gsize n_made;
  gboolean after_space = step->trim;
  while (step->trim && p < end) {
    const gsize taken = take_prefix (step, p, (gsize) (end - p), &made, &n_made);
    if (n_made != 1 || *made != ' ')
      break;
    p += taken;
  }
  if (p == end)
    return;
  if (step->dummy_prefix && !step->suffix)
    g_string_append (out, space);
  while (p < end) {
    p += take_prefix (step, p, (gsize) (end - p), &made, &n_made);
    for (; after_space && n_made > 0 && *made == ' '; made++)
      n_made--;
    for (gsize i = 0; i < n_made; i++)
      if (made[i] == ' ')
        g_string_append (out, space);
      else
        g_string_append_c (out, made[i]);
    if (n_made > 0)
      after_space = step->trim && made[n_made - 1] == ' ';
  }
  while (step->trim && ends_with (out, space))
    g_string_truncate (out, out->len - strlen (space));
  if (step->dummy_prefix && step->suffix)
    g_string_append (out, space);
}

static gboolean
fail_length (GError **error)
{
  return sl_fail (error, SL_ERROR_LIMIT,
                  "the text is longer than %d bytes, or the tokenizer's normaliser makes it so; "
                  "expected a shorter text",
                  SL_TEXT_MAX);
}

static gboolean
run_replace (const SlNormalizeStep *step, const GString *text, GString *out, GError **error)
{
  g_autoptr (GArray) spans = g_array_new (FALSE, FALSE, sizeof (SlSpan));
  if (!sl_pattern_find (step->pattern, text->str, text->len, spans, error))
    return FALSE;
  gsize at = 0;
  for (guint i = 0; i < spans->len && out->len <= SL_TEXT_MAX; i++) {
    const SlSpan *span = &g_array_index (spans, SlSpan, i);
    g_string_append_len (out, text->str + at, (gssize) (span->start - at));
    g_string_append (out, step->text);
    at = span->end;
  }
  g_string_append_len (out, text->str + at, (gssize) (text->len - at));
  return TRUE;
}

static void (*const runs[]) (const SlNormalizeStep *step, const GString *text, GString *out) = {
  [SL_NORMALIZE_NFC] = run_form,
  [SL_NORMALIZE_NFD] = run_form,
  [SL_NORMALIZE_NFKC] = run_form,
  [SL_NORMALIZE_NFKD] = run_form,
  [SL_NORMALIZE_LOWER] = run_lower,
  [SL_NORMALIZE_STRIP] = run_strip,
  [SL_NORMALIZE_STRIP_ACCENTS] = run_strip_accents,
  [SL_NORMALIZE_PREPEND] = run_prepend,
  [SL_NORMALIZE_BERT] = run_bert,
  [SL_NORMALIZE_BYTES] = run_bytes,
  [SL_NORMALIZE_NMT] = run_nmt,
  [SL_NORMALIZE_CHARSMAP] = run_charsmap,
  [SL_NORMALIZE_SENTENCEPIECE] = run_sentencepiece,
};

gboolean
sl_normalize (const GArray *steps, GString *text, GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);
  if (text->len > SL_TEXT_MAX)
    return fail_length (error);
  for (guint i = 0; i < steps->len; i++) {
    const SlNormalizeStep *step = &g_array_index (steps, SlNormalizeStep, i);
    g_string_truncate (out, 0);
    if (step->kind != SL_NORMALIZE_REPLACE)
      runs[step->kind](step, text, out);
    else if (!run_replace (step, text, out, error))
      return FALSE;
    if (out->len > SL_TEXT_MAX)
      return fail_length (error);
    g_string_assign (text, out->str);
  }
  return TRUE;
}
