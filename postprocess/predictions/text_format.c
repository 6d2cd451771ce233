/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Formats read, and texts compared with them. A pattern is a list of places, some of which may stay
 * empty. The fewest corrections up to each place and from it on are found by dynamic programming.
 * Where a best way leads, each character has a result; a format for which one character has two
 * different results is not taken.
 */
#include "postprocess/predictions/text_format.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/prefix.h"

#define MAX_BYTES 65536
#define MAX_PAIRS 128
#define MAX_SET 64
#define LONGEST_NAME 32
#define PAIRS "pairs"
#define NEVER 255

/* What a place takes: @kind 'A', '9' or '*', or '[' for the characters of @set. */
typedef struct
{
  char kind;
  gboolean optional;
  guint n;
  gunichar set[MAX_SET];
} Place;

typedef struct
{
  const char *name; /* interned */
  guint n, least;   /* places; those that are not optional */
  Place places[SL_MAX_FORMAT_LENGTH];
} Format;

struct _SlTextFormats
{
  guint n, n_pairs;
  gunichar pairs[MAX_PAIRS][2]; /* what is read, and what it may be */
  Format *formats;
};

/* The line in hand, for messages. */
typedef struct
{
  const char *path;
  guint number;
  GError **error;
} Line;

static gboolean
refuse (const Line *line, const char *what, const char *got)
{
  return sl_fail (line->error, SL_ERROR_FORMAT, "%s:%u: expected %s, got '%s'", line->path,
                  line->number, what, got);
}

static gboolean
is_separator (gunichar c)
{
  return g_unichar_isspace (c) || c == '-' || c == '.' || c == 0xb7 || c == 0x2022;
}

static gboolean
read_set (const Line *line, const char **at, Place *place)
{
  const char *start = *at - 1;
  while (**at != '\0' && **at != ']' && place->n < MAX_SET) {
    place->set[place->n++] = g_unichar_toupper (g_utf8_get_char (*at));
    *at = g_utf8_next_char (*at);
  }
  if (**at != ']' || place->n == 0)
    return refuse (line, "1 to 64 characters between [ and ]", start);
  (*at)++;
  return TRUE;
}

/* "{2}" or "{1,3}"; 1 and 1 where there is none. */
static gboolean
read_count (const Line *line, const char **at, guint64 *least, guint64 *most)
{
  const char *start = *at;
  char *end;
  *least = *most = 1;
  if (*start != '{')
    return TRUE;
  *least = *most = g_ascii_strtoull (start + 1, &end, 10);
  if (end > start + 1 && *end == ',')
    *most = g_ascii_strtoull (end + 1, &end, 10);
  *at = end + 1;
  if (*end == '}' && *least <= *most && *most >= 1 && *most <= SL_MAX_FORMAT_LENGTH)
    return TRUE;
  return refuse (line, "a count such as {2} or {1,3}, of at most 32", start);
}

static gboolean
add_places (const Line *line, Format *format, const Place *place, guint64 least, guint64 most)
{
  if (format->n + most > SL_MAX_FORMAT_LENGTH)
    return refuse (line, "a pattern of at most 32 characters", format->name);
  for (guint64 i = 0; i < most; i++) {
    format->places[format->n] = *place;
    format->places[format->n++].optional = i >= least;
  }
  format->least += (guint) least;
  return TRUE;
}

static gboolean
read_pattern (const Line *line, const char *at, Format *format)
{
  while (*at != '\0') {
    Place place = { .kind = *at };
    guint64 least, most;
    if (is_separator (g_utf8_get_char (at))) {
      at = g_utf8_next_char (at);
      continue;
    }
    if (strchr ("A9*[", *at) == NULL)
      return refuse (line, "A, 9, *, [...], a space or '-' in a pattern", at);
    at++;
    if ((place.kind == '[' && !read_set (line, &at, &place))
        || !read_count (line, &at, &least, &most)
        || !add_places (line, format, &place, least, most))
      return FALSE;
  }
  return format->n > 0 || refuse (line, "a pattern behind the name", format->name);
}

static void
add_pair (SlTextFormats *formats, gunichar from, gunichar to)
{
  formats->pairs[formats->n_pairs][0] = g_unichar_toupper (from);
  formats->pairs[formats->n_pairs++][1] = g_unichar_toupper (to);
}

static gboolean
read_pairs (const Line *line, const char *text, SlTextFormats *formats)
{
  g_auto (GStrv) words = g_strsplit_set (text, " \t", -1);
  for (guint i = 0; words[i] != NULL; i++) {
    if (*words[i] == '\0')
      continue;
    const char *second = g_utf8_next_char (words[i]);
    const gboolean one_way = *second == '>';
    if (g_utf8_strlen (words[i], -1) != (one_way ? 3 : 2) || formats->n_pairs + 2 > MAX_PAIRS)
      return refuse (line, "at most 64 pairs of two characters, such as O0 I1 D>0", words[i]);
    const gunichar a = g_utf8_get_char (words[i]), b = g_utf8_get_char (second + one_way);
    add_pair (formats, a, b);
    if (!one_way)
      add_pair (formats, b, a);
  }
  return TRUE;
}

static gboolean
read_line (const Line *line, char *text, SlTextFormats *formats)
{
  char *colon = strchr (g_strstrip (text), ':');
  if (*text == '\0' || *text == '#')
    return TRUE;
  if (colon == NULL || colon == text || colon - text > LONGEST_NAME)
    return refuse (line, "NAME: PATTERN, with a name of at most 32 bytes, or a comment with #",
                   text);
  *colon = '\0';
  g_strchomp (text);
  char *rest = g_strstrip (colon + 1);
  if (strcmp (text, PAIRS) == 0)
    return read_pairs (line, rest, formats);
  if (formats->n == SL_MAX_FORMATS)
    return refuse (line, "at most 64 formats", text);
  formats->formats[formats->n].name = g_intern_string (text);
  return read_pattern (line, rest, &formats->formats[formats->n++]);
}

static gboolean
read_lines (const char *path, char *text, SlTextFormats *formats, GError **error)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++) {
    const Line line = { path, i + 1, error };
    if (!read_line (&line, lines[i], formats))
      return FALSE;
  }
  return formats->n > 0
         || sl_fail (error, SL_ERROR_FORMAT, "%s: expected a line NAME: PATTERN, got none", path);
}

SlTextFormats *
sl_text_formats_load (const char *path, GError **error)
{
  g_autoptr (GError) problem = NULL;
  g_autofree char *text = NULL;
  gsize bytes;
  if (!g_file_get_contents (path, &text, &bytes, &problem))
    return sl_fail_null (error, SL_ERROR_OPEN,
                         "%s; expected a file of formats, a line NAME: PATTERN each",
                         problem->message);
  if (bytes > MAX_BYTES || !g_utf8_validate (text, (gssize) bytes, NULL))
    return sl_fail_null (error, SL_ERROR_FORMAT,
                         "%s: expected at most 65536 bytes of UTF-8, got %s", path,
                         bytes > MAX_BYTES ? "more" : "other bytes");
  g_autoptr (SlTextFormats) formats = g_new0 (SlTextFormats, 1);
  formats->formats = g_new0 (Format, SL_MAX_FORMATS);
  return read_lines (path, text, formats, error) ? g_steal_pointer (&formats) : NULL;
}

void
sl_text_formats_free (SlTextFormats *formats)
{
  if (formats == NULL)
    return;
  g_free (formats->formats);
  g_free (formats);
}

static gboolean
takes (const Place *place, gunichar c)
{
  const gboolean letter = c >= 'A' && c <= 'Z', digit = c >= '0' && c <= '9';
  for (guint i = 0; i < place->n; i++)
    if (place->set[i] == c)
      return TRUE;
  return (letter && (place->kind == 'A' || place->kind == '*'))
         || (digit && (place->kind == '9' || place->kind == '*'));
}

/* What @c becomes at @place: itself, or what looks like it. 0: nothing fits; *@unsure: two do. */
static gunichar
fitting (const SlTextFormats *formats, const Place *place, gunichar c, gboolean *unsure)
{
  gunichar found = 0;
  *unsure = FALSE;
  if (takes (place, c))
    return c;
  for (guint i = 0; i < formats->n_pairs; i++) {
    const gunichar other = formats->pairs[i][1];
    if (formats->pairs[i][0] != c || other == found || !takes (place, other))
      continue;
    *unsure |= found != 0;
    found = other;
  }
  return found;
}

/* A text against a format. */
typedef struct
{
  guint n;
  gunichar read[SL_MAX_FORMAT_LENGTH], result[SL_MAX_FORMAT_LENGTH];
  guint8 place[SL_MAX_FORMAT_LENGTH]; /* of each in the view */
  guint8 before[SL_MAX_FORMAT_LENGTH + 1][SL_MAX_FORMAT_LENGTH + 1];
  guint8 after[SL_MAX_FORMAT_LENGTH + 1][SL_MAX_FORMAT_LENGTH + 1];
} Match;

static guint8
cost_at (const SlTextFormats *formats, const Place *place, gunichar c)
{
  gboolean unsure;
  const gunichar found = fitting (formats, place, c, &unsure);
  return found == 0 ? NEVER : found != c;
}

static guint8
plus (guint8 a, guint8 b)
{
  return a == NEVER || b == NEVER ? NEVER : (guint8) (a + b);
}

/* Fills @before and @after: the fewest corrections with so many places and characters done, and
 * still to do. */
static void
count_corrections (const SlTextFormats *formats, const Format *format, Match *match)
{
  memset (match->before, NEVER, sizeof match->before);
  memset (match->after, NEVER, sizeof match->after);
  match->before[0][0] = match->after[format->n][match->n] = 0;
  for (guint p = 0; p < format->n; p++)
    for (guint i = 0; i <= match->n; i++) {
      const guint8 here = match->before[p][i];
      if (format->places[p].optional)
        match->before[p + 1][i] = MIN (match->before[p + 1][i], here);
      if (here != NEVER && i < match->n)
        match->before[p + 1][i + 1] =
          MIN (match->before[p + 1][i + 1],
               plus (here, cost_at (formats, &format->places[p], match->read[i])));
    }
  for (guint p = format->n; p-- > 0;)
    for (guint i = match->n + 1; i-- > 0;) {
      const guint8 skip = format->places[p].optional ? match->after[p + 1][i] : NEVER;
      const guint8 take =
        i < match->n && match->after[p + 1][i + 1] != NEVER
          ? plus (match->after[p + 1][i + 1], cost_at (formats, &format->places[p], match->read[i]))
          : NEVER;
      match->after[p][i] = MIN (skip, take);
    }
}

/* What each character becomes on all best ways; FALSE where that is not certain. */
static gboolean
find_results (const SlTextFormats *formats, const Format *format, Match *match)
{
  const guint8 best = match->after[0][0];
  memset (match->result, 0, sizeof match->result);
  for (guint p = 0; p < format->n; p++)
    for (guint i = 0; i < match->n; i++) {
      gboolean unsure;
      if (match->before[p][i] == NEVER || match->after[p + 1][i + 1] == NEVER)
        continue;
      const gunichar found = fitting (formats, &format->places[p], match->read[i], &unsure);
      if (found == 0
          || match->before[p][i] + (found != match->read[i]) + match->after[p + 1][i + 1] != best)
        continue;
      if (unsure || (match->result[i] != 0 && match->result[i] != found))
        return FALSE;
      match->result[i] = found;
    }
  return TRUE;
}

/* The characters that count; FALSE where they are more than any format has. */
static gboolean
take_characters (const SlTextView *text, Match *match)
{
  match->n = 0;
  for (guint i = 0; i < text->n; i++) {
    if (is_separator (text->characters[i].character))
      continue;
    if (match->n == SL_MAX_FORMAT_LENGTH)
      return FALSE;
    match->place[match->n] = (guint8) i;
    match->read[match->n++] = g_unichar_toupper (text->characters[i].character);
  }
  return match->n > 0;
}

static void
set_format (const Match *match, const char *name, SlTextView *text)
{
  gsize bytes = 0;
  double sum = 0;
  for (guint i = 0; i < match->n; i++) {
    const SlTextCharacter from = text->characters[match->place[i]];
    const gboolean corrected = match->result[i] != match->read[i];
    text->characters[i] =
      (SlTextCharacter){ match->result[i], corrected ? from.character : 0, from.confidence };
    bytes += (gsize) g_unichar_to_utf8 (match->result[i], text->text + bytes);
    sum += (double) from.confidence;
  }
  text->text[bytes] = '\0';
  text->n = match->n;
  text->confidence = sum / match->n;
  text->format = name;
}

void
sl_text_formats_apply (const SlTextFormats *formats, guint most, SlTextView *text)
{
  Match match, best = { 0 };
  const char *name = NULL;
  guint fewest = most + 1;
  if (!take_characters (text, &match))
    return;
  for (guint i = 0; i < formats->n && fewest > 0; i++) {
    const Format *format = &formats->formats[i];
    if (match.n < format->least || match.n > format->n)
      continue;
    count_corrections (formats, format, &match);
    if (match.after[0][0] >= fewest || !find_results (formats, format, &match))
      continue;
    fewest = match.after[0][0];
    name = format->name;
    best = match;
  }
  if (name != NULL)
    set_format (&best, name, text);
}
