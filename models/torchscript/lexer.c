/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See lexer.h. Line ends inside brackets separate nothing, as in Python. */
#include "models/torchscript/lexer.h"

#include <errno.h>
#include <string.h>

#include "sightline/error.h"

#define MAX_NUMBER 64

void
ts_lexer_fail (TsLexer *lexer, const char *format, ...)
{
  va_list args;
  if (lexer->error == NULL) {
    va_start (args, format);
    g_autofree char *text = g_strdup_vprintf (format, args);
    va_end (args);
    g_set_error (&lexer->error, SL_ERROR, SL_ERROR_FORMAT, "%s:%u: %s", lexer->name, lexer->line,
                 text);
  }
  lexer->token = (TsToken){ .kind = TS_TOKEN_END, .line = lexer->line, .text = "" };
}

gboolean
ts_lexer_is (const TsLexer *lexer, TsTokenKind kind, const char *text)
{
  return lexer->token.kind == kind && strcmp (lexer->token.text, text) == 0;
}

static void
set_token (TsLexer *lexer, TsTokenKind kind, const char *from, gsize length)
{
  lexer->token = (TsToken){ .kind = kind,
                            .line = lexer->line,
                            .text = sl_arena_strndup (lexer->arena, from, length) };
}

static gboolean
is_name_byte (char c)
{
  return g_ascii_isalnum (c) || c == '_' || (guchar) c >= 0x80;
}

/* A whole number beyond 64 bits is a float, as no tensor could hold it. */
static void
read_number (TsLexer *lexer)
{
  char text[MAX_NUMBER + 1];
  const char *from = lexer->p;
  gboolean is_float = FALSE;
  while (lexer->p < lexer->end) {
    const char c = *lexer->p;
    const gboolean sign =
      (c == '-' || c == '+') && lexer->p > from && (lexer->p[-1] == 'e' || lexer->p[-1] == 'E');
    if (!g_ascii_isdigit (c) && c != '.' && c != 'e' && c != 'E' && !sign)
      break;
    is_float |= c == '.' || c == 'e' || c == 'E';
    lexer->p++;
  }
  const gsize length = (gsize) (lexer->p - from);
  if (length > MAX_NUMBER || (lexer->p < lexer->end && is_name_byte (*lexer->p))) {
    ts_lexer_fail (lexer, "a number of a kind that is not supported: '%.*s'",
                   (int) MIN (length + 1, MAX_NUMBER), from);
    return;
  }
  memcpy (text, from, length);
  text[length] = '\0';
  char *end = NULL;
  set_token (lexer, is_float ? TS_TOKEN_FLOAT : TS_TOKEN_INT, from, length);
  lexer->token.real = g_ascii_strtod (text, &end);
  if (*end != '\0') {
    ts_lexer_fail (lexer, "'%s' is no number", text);
    return;
  }
  errno = 0;
  lexer->token.whole = is_float ? 0 : g_ascii_strtoll (text, NULL, 10);
  if (errno == ERANGE)
    lexer->token.kind = TS_TOKEN_FLOAT;
}

static guint
read_digits (TsLexer *lexer, guint most, guint base)
{
  guint value = 0;
  for (guint i = 0; i < most && lexer->p < lexer->end; i++) {
    const gint digit = g_ascii_xdigit_value (*lexer->p);
    if (digit < 0 || (guint) digit >= base)
      break;
    value = value * base + (guint) digit;
    lexer->p++;
  }
  return value;
}

static void
append_escape (TsLexer *lexer, GString *out)
{
  static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
  const char c = *lexer->p;
  const char *known = c != '\0' ? strchr (from, c) : NULL;
  if (c >= '0' && c <= '7') {
    g_string_append_c (out, (char) MAX (read_digits (lexer, 3, 8) & 0xff, 1));
    return;
  }
  lexer->p++;
  if (c == 'x')
    g_string_append_c (out, (char) MAX (read_digits (lexer, 2, 16), 1));
  else if (c != '\n')
    g_string_append_c (out, known != NULL ? to[known - from] : c);
}

static void
read_string (TsLexer *lexer)
{
  g_autoptr (GString) out = g_string_new (NULL);
  const char quote = *lexer->p++;
  while (lexer->p < lexer->end && *lexer->p != quote && *lexer->p != '\n') {
    if (*lexer->p == '\\' && lexer->p + 1 < lexer->end) {
      lexer->p++;
      append_escape (lexer, out);
      continue;
    }
    g_string_append_c (out, *lexer->p++);
  }
  if (lexer->p >= lexer->end || *lexer->p != quote) {
    ts_lexer_fail (lexer, "a string without an end");
    return;
  }
  lexer->p++;
  g_autofree char *valid = g_utf8_make_valid (out->str, (gssize) out->len);
  set_token (lexer, TS_TOKEN_STRING, valid, strlen (valid));
}

/* Blank lines and comments count for nothing; otherwise a line's indentation opens or closes
 * blocks. FALSE when a token came of it. */
static gboolean
start_line (TsLexer *lexer)
{
  guint width = 0;
  for (; lexer->p < lexer->end; lexer->p++) {
    if (*lexer->p == '\n') {
      lexer->line++;
      width = 0;
    } else if (*lexer->p == '#') {
      while (lexer->p + 1 < lexer->end && lexer->p[1] != '\n')
        lexer->p++;
    } else if (*lexer->p == ' ' || *lexer->p == '\t' || *lexer->p == '\r') {
      width++;
    } else {
      break;
    }
  }
  if (lexer->p >= lexer->end)
    width = 0;
  lexer->at_line_start = FALSE;
  if (width > lexer->indents[lexer->n_indents - 1]) {
    if (lexer->n_indents == TS_MAX_INDENTS) {
      ts_lexer_fail (lexer, "more than %d blocks inside each other", TS_MAX_INDENTS - 1);
      return FALSE;
    }
    lexer->indents[lexer->n_indents++] = width;
    set_token (lexer, TS_TOKEN_INDENT, "", 0);
    return FALSE;
  }
  while (width < lexer->indents[lexer->n_indents - 1]) {
    lexer->n_indents--;
    lexer->closing++;
  }
  if (width == lexer->indents[lexer->n_indents - 1])
    return TRUE;
  ts_lexer_fail (lexer, "its indentation fits no block");
  return FALSE;
}

static void
skip_space (TsLexer *lexer)
{
  while (lexer->p < lexer->end) {
    if (*lexer->p == '\n' && lexer->depth == 0)
      return;
    if (*lexer->p == '#') {
      while (lexer->p < lexer->end && *lexer->p != '\n')
        lexer->p++;
      continue;
    }
    if (!g_ascii_isspace (*lexer->p))
      return;
    lexer->line += *lexer->p++ == '\n';
  }
}

static void
read_mark (TsLexer *lexer)
{
  const char c = *lexer->p;
  const gsize left = (gsize) (lexer->end - lexer->p);
  const gsize length = left >= 2 && memcmp (lexer->p, "->", 2) == 0    ? 2
                       : left >= 3 && memcmp (lexer->p, "...", 3) == 0 ? 3
                                                                       : 1;
  if (length == 1 && (c == '\0' || strchr ("()[]{},:=.-*", c) == NULL)) {
    ts_lexer_fail (lexer, "the character '%c' is not of the Python that torch.jit writes",
                   g_ascii_isprint (c) ? c : '?');
    return;
  }
  if (strchr ("([{", c) != NULL)
    lexer->depth++;
  else if (strchr (")]}", c) != NULL && lexer->depth > 0)
    lexer->depth--;
  set_token (lexer, TS_TOKEN_MARK, lexer->p, length);
  lexer->p += length;
}

void
ts_lexer_next (TsLexer *lexer)
{
  if (lexer->error != NULL || (lexer->at_line_start && lexer->closing == 0 && !start_line (lexer)))
    return;
  if (lexer->closing > 0) {
    lexer->closing--;
    set_token (lexer, TS_TOKEN_DEDENT, "", 0);
    return;
  }
  skip_space (lexer);
  if (lexer->p >= lexer->end || *lexer->p == '\n') {
    const gboolean ends_line = lexer->in_line;
    set_token (lexer, ends_line ? TS_TOKEN_NEWLINE : TS_TOKEN_END, "", 0);
    lexer->in_line = FALSE;
    lexer->at_line_start = ends_line;
    return;
  }
  lexer->in_line = TRUE;
  const char c = *lexer->p;
  if (g_ascii_isdigit (c)
      || (c == '.' && lexer->p + 1 < lexer->end && g_ascii_isdigit (lexer->p[1]))) {
    read_number (lexer);
  } else if (c == '"' || c == '\'') {
    read_string (lexer);
  } else if (is_name_byte (c)) {
    const char *from = lexer->p;
    while (lexer->p < lexer->end && is_name_byte (*lexer->p))
      lexer->p++;
    set_token (lexer, TS_TOKEN_NAME, from, (gsize) (lexer->p - from));
  } else {
    read_mark (lexer);
  }
}

void
ts_lexer_init (TsLexer *lexer, const char *name, const char *text, gsize length, SlArena *arena)
{
  *lexer = (TsLexer){ .name = name,
                      .p = text,
                      .end = text + length,
                      .arena = arena,
                      .line = 1,
                      .n_indents = 1,
                      .at_line_start = TRUE };
  ts_lexer_next (lexer);
}
