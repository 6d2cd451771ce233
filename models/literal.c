/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See literal.h. */
#include "models/literal.h"

#include <string.h>

#define MAX_DEPTH 16

static void
skip_space (SlLiteral *c)
{
  while (c->p < c->end && g_ascii_isspace (*c->p))
    c->p++;
}

gboolean
sl_literal_accept (SlLiteral *c, char wanted)
{
  skip_space (c);
  if (c->p >= c->end || *c->p != wanted)
    return FALSE;
  c->p++;
  return TRUE;
}

static gboolean
append_escape (SlLiteral *c, GString *out)
{
  static const char from[] = "nrtbf0", to[] = "\n\r\t\b\f ";
  const char kind = *c->p++;
  const char *known = strchr (from, kind);
  const int digits = kind == 'x' ? 2 : kind == 'u' ? 4 : 0;
  gunichar code = 0;
  if (digits == 0) {
    g_string_append_c (out, known != NULL && kind != '\0' ? to[known - from] : kind);
    return TRUE;
  }
  for (int i = 0; i < digits; i++) {
    if (c->p >= c->end || !g_ascii_isxdigit (*c->p))
      return FALSE;
    code = code * 16 + (gunichar) g_ascii_xdigit_value (*c->p++);
  }
  g_string_append_unichar (out, g_unichar_validate (code) && code != 0 ? code : 0xfffd);
  return TRUE;
}

gboolean
sl_literal_scalar (SlLiteral *c, GString *out)
{
  g_string_truncate (out, 0);
  skip_space (c);
  if (c->p >= c->end)
    return FALSE;
  if (*c->p != '"' && *c->p != '\'') {
    while (c->p < c->end && (g_ascii_isalnum (*c->p) || strchr ("+-._", *c->p) != NULL)
           && *c->p != '\0')
      g_string_append_c (out, *c->p++);
    return out->len > 0;
  }
  const char quote = *c->p++;
  while (c->p < c->end && *c->p != quote) {
    if (*c->p != '\\')
      g_string_append_c (out, *c->p++);
    else if (++c->p >= c->end || !append_escape (c, out))
      return FALSE;
  }
  return sl_literal_accept (c, quote);
}

/* Depth is counted, not recursed. */
gboolean
sl_literal_skip (SlLiteral *c, GString *scratch)
{
  char closing[MAX_DEPTH];
  guint depth = 0;
  for (;;) {
    skip_space (c);
    if (c->p >= c->end)
      return FALSE;
    const char *pair = strchr ("{}[]()", *c->p);
    if (pair != NULL && *c->p != '\0' && strchr ("{[(", *c->p) != NULL) {
      if (depth == MAX_DEPTH)
        return FALSE;
      closing[depth++] = pair[1];
      c->p++;
      continue;
    }
    if (depth > 0 && *c->p == closing[depth - 1]) {
      depth--;
      c->p++;
    } else if (depth > 0 && (*c->p == ',' || *c->p == ':')) {
      c->p++;
    } else if (!sl_literal_scalar (c, scratch)) {
      return FALSE;
    }
    if (depth == 0)
      return TRUE;
  }
}

gboolean
sl_literal_dictionary (SlLiteral *c, SlLiteralEntry read, gpointer data)
{
  g_autoptr (GString) key = g_string_new (NULL);
  g_autoptr (GString) scratch = g_string_new (NULL);
  if (!sl_literal_accept (c, '{'))
    return FALSE;
  while (!sl_literal_accept (c, '}')) {
    if (!sl_literal_scalar (c, key) || !sl_literal_accept (c, ':')
        || !read (c, key->str, scratch, data))
      return FALSE;
    if (!sl_literal_accept (c, ',') && (c->p >= c->end || *c->p != '}'))
      return FALSE;
  }
  return TRUE;
}
