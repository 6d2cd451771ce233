/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Suggestions for errors about unknown names. */
#pragma once

#include <glib.h>

/** sl_suggest: (transfer none) (nullable): the one of @names (@n, NULL entries skipped) for which
 * @got is a probable typo: at most a third of its letters differ. */
const char *sl_suggest (const char *got, const char *const *names, guint n);
/** sl_suggest_text: (transfer full): "; did you mean 'X'?", or the whole list "; expected one of A,
 * B" when nothing is near and there are at most 12, or "". */
char *sl_suggest_text (const char *got, const char *const *names, guint n);
/** sl_suggest_nearest: (transfer full): the same of names that may be many: where nothing is near,
 * "; the nearest are 'X', 'Y', 'Z'", of more than 12. */
char *sl_suggest_nearest (const char *got, const char *const *names, guint n);
