/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Expressions are written for Oniguruma with Ruby's syntax: '^' and '$' match at every line. PCRE
 * reads them the same way, but for a few that are refused. PCRE counts the steps of a match, and a
 * clock bounds all matches of a text.
 */
#include "models/text/pattern.h"

#include <string.h>

#include "core/base/fail.h"

#define MAX_LENGTH 4096
#define LIMITS "(*LIMIT_MATCH=1000000)(*LIMIT_DEPTH=5000)(*LIMIT_HEAP=20000)"
/* For one text, in microseconds. Usual patterns take less than a thousandth of it. */
#define MAX_TIME (5 * G_USEC_PER_SEC)

SlPattern *
sl_pattern_new_literal (const char *text)
{
  SlPattern *pattern = g_new0 (SlPattern, 1);
  pattern->literal = g_strdup (text);
  return pattern;
}

SlPattern *
sl_pattern_new_regex (const char *text, GError **error)
{
  static const char *const others[] = { "&&", "\\h", "\\H", "\\G", "(?~", "\\y", "\\Y", "(*" };
  if (strlen (text) > MAX_LENGTH)
    return sl_fail_null (error, SL_ERROR_UNSUPPORTED,
                         "a regular expression of %" G_GSIZE_FORMAT " bytes; expected at most %d",
                         strlen (text), MAX_LENGTH);
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (strstr (text, others[i]) != NULL)
      return sl_fail_null (error, SL_ERROR_UNSUPPORTED,
                           "the regular expression '%s' contains '%s', which means something else "
                           "to PCRE; expected an expression without it",
                           text, others[i]);
  g_autofree char *limited = g_strconcat (LIMITS, text, NULL);
  g_autoptr (GError) problem = NULL;
  GRegex *regex = g_regex_new (limited, G_REGEX_MULTILINE | G_REGEX_NEWLINE_LF, 0, &problem);
  if (regex == NULL)
    return sl_fail_null (error, SL_ERROR_UNSUPPORTED,
                         "the regular expression '%s' is not one that PCRE reads: %s", text,
                         problem->message);
  SlPattern *pattern = g_new0 (SlPattern, 1);
  pattern->literal = g_strdup (text);
  pattern->regex = regex;
  return pattern;
}

void
sl_pattern_free (SlPattern *pattern)
{
  if (pattern == NULL)
    return;
  g_clear_pointer (&pattern->regex, g_regex_unref);
  g_free (pattern->literal);
  g_free (pattern);
}

static void
find_literal (const SlPattern *pattern, const char *text, GArray *spans)
{
  const gsize size = strlen (pattern->literal);
  for (const char *at = text; size > 0 && (at = strstr (at, pattern->literal)) != NULL;
       at += size) {
    const SlSpan span = { (gsize) (at - text), (gsize) (at - text) + size };
    g_array_append_val (spans, span);
  }
}

static gboolean
fail_work (const SlPattern *pattern, const char *why, GError **error)
{
  return sl_fail (error, SL_ERROR_LIMIT,
                  "the regular expression '%s' takes too much work for this text (%s); expected a "
                  "shorter text, or another tokenizer file",
                  pattern->literal, why);
}

gboolean
sl_pattern_find (const SlPattern *pattern, const char *text, gsize length, GArray *spans,
                 GError **error)
{
  if (pattern->regex == NULL) {
    find_literal (pattern, text, spans);
    return TRUE;
  }
  g_autoptr (GMatchInfo) match = NULL;
  g_autoptr (GError) problem = NULL;
  const gint64 deadline = g_get_monotonic_time () + MAX_TIME;
  gboolean found =
    g_regex_match_full (pattern->regex, text, (gssize) length, 0, 0, &match, &problem);
  while (found && problem == NULL) {
    gint start = 0, end = 0;
    g_match_info_fetch_pos (match, 0, &start, &end);
    const SlSpan span = { (gsize) start, (gsize) end };
    if (end > start)
      g_array_append_val (spans, span);
    if (g_get_monotonic_time () > deadline)
      return fail_work (pattern, "5 seconds are over", error);
    found = g_match_info_next (match, &problem);
  }
  return problem == NULL || fail_work (pattern, problem->message, error);
}
