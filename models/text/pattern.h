/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a tokenizer's file searches for: a text, or a regular expression whose work is bounded. */
#pragma once

#include <glib.h>

typedef struct
{
  char *literal;
  GRegex *regex; /* (nullable) */
} SlPattern;

/** SlSpan: bytes @start to @end of a text. */
typedef struct
{
  gsize start, end;
} SlSpan;

SlPattern *sl_pattern_new_literal (const char *text);
/** sl_pattern_new_regex: NULL with SL_ERROR_UNSUPPORTED for an expression that is invalid, too
 * long, or has syntax that means something else here. */
SlPattern *sl_pattern_new_regex (const char *text, GError **error);
void sl_pattern_free (SlPattern *pattern);
/** sl_pattern_find: appends the matches (SlSpan) in @text that are not empty, in order. A zero is
 * behind its @length bytes. FALSE with SL_ERROR_LIMIT where a match takes too much work. */
gboolean sl_pattern_find (const SlPattern *pattern, const char *text, gsize length, GArray *spans,
                          GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (SlPattern, sl_pattern_free)
