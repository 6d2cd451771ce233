/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Words of the Python subset that TorchScript archives hold in code/: names, numbers, strings,
 * punctuation, and the lines' indentation as tokens of its own. The text is untrusted: anything
 * outside of the subset is an error that names its line.
 */
#pragma once

#include <glib.h>

#include "core/graph/arena.h"

/** Deepest indentation, in blocks. */
#define TS_MAX_INDENTS 64

typedef enum
{
  TS_TOKEN_END,
  TS_TOKEN_NEWLINE,
  TS_TOKEN_INDENT,
  TS_TOKEN_DEDENT,
  TS_TOKEN_NAME,
  TS_TOKEN_INT,
  TS_TOKEN_FLOAT,
  TS_TOKEN_STRING,
  TS_TOKEN_MARK /* punctuation: @text is the character, "->" or "..." */
} TsTokenKind;

/** @text: of names, strings (unescaped) and marks, in the arena. */
typedef struct
{
  TsTokenKind kind;
  guint line;
  const char *text;
  gint64 whole;
  gdouble real;
} TsToken;

typedef struct
{
  const char *name; /* of the file, for messages */
  const char *p, *end;
  SlArena *arena;
  guint line, depth; /* @depth: of open brackets */
  guint indents[TS_MAX_INDENTS], n_indents, closing;
  gboolean at_line_start, in_line;
  TsToken token; /* the current one */
  GError *error; /* (nullable): the first problem */
} TsLexer;

/** ts_lexer_init: @text of @length bytes must live as long as the lexer. The first token is
 * current. */
void ts_lexer_init (TsLexer *lexer, const char *name, const char *text, gsize length,
                    SlArena *arena);
/** ts_lexer_next: makes the next token current; TS_TOKEN_END after an error, and for ever at the
 * end. */
void ts_lexer_next (TsLexer *lexer);
/** ts_lexer_fail: "file.py:12: ..."; the first error counts. */
void ts_lexer_fail (TsLexer *lexer, const char *format, ...) G_GNUC_PRINTF (2, 3);
/** ts_lexer_is: whether the current token is the mark or the name @text. */
gboolean ts_lexer_is (const TsLexer *lexer, TsTokenKind kind, const char *text);
