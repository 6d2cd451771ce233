/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Edit distance between short names. Called only to word an error; names from files are cut, so
 * that its cost is bounded.
 */
#include "core/base/suggest.h"

#include <string.h>

#define MAX_LENGTH 64
#define MAX_LISTED 12
#define MAX_NEAREST 3

/* Insertions, deletions, changes and swaps of neighbours that make @b out of @a. */
static guint
distance (const char *a, const char *b)
{
  const guint n = (guint) MIN (strlen (a), MAX_LENGTH), m = (guint) MIN (strlen (b), MAX_LENGTH);
  guint rows[3][MAX_LENGTH + 1];
  for (guint j = 0; j <= m; j++)
    rows[0][j] = j;
  for (guint i = 1; i <= n; i++) {
    guint *row = rows[i % 3];
    const guint *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
    row[0] = i;
    for (guint j = 1; j <= m; j++) {
      const guint change =
        above[j - 1] + (g_ascii_tolower (a[i - 1]) != g_ascii_tolower (b[j - 1]));
      row[j] = MIN (change, MIN (above[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = MIN (row[j], before[j - 2] + 1);
    }
  }
  return rows[n % 3][m];
}

const char *
sl_suggest (const char *got, const char *const *names, guint n)
{
  const char *best = NULL;
  guint least = (guint) MIN (strlen (got), MAX_LENGTH) / 3 + 1;
  for (guint i = 0; i < n; i++) {
    const guint d = names[i] != NULL ? distance (got, names[i]) : G_MAXUINT;
    if (d < least || (best == NULL && d == least && least == 1)) {
      least = d;
      best = names[i];
    }
  }
  return best;
}

char *
sl_suggest_text (const char *got, const char *const *names, guint n)
{
  const char *near = sl_suggest (got, names, n);
  if (near != NULL)
    return g_strdup_printf ("; did you mean '%s'?", near);
  GString *list = g_string_new (NULL);
  for (guint i = 0; i < n && n <= MAX_LISTED; i++)
    if (names[i] != NULL)
      g_string_append_printf (list, "%s%s", list->len == 0 ? "; expected one of " : ", ", names[i]);
  return g_string_free (list, FALSE);
}

/* The index of the name with the least distance among those that are not in @taken, @n when there
 * is none. */
static guint
nearest (const char *got, const char *const *names, guint n, const guint *taken, guint n_taken)
{
  guint best = n, least = G_MAXUINT;
  for (guint i = 0; i < n; i++) {
    gboolean known = names[i] == NULL;
    for (guint k = 0; k < n_taken; k++)
      known |= taken[k] == i;
    const guint d = known ? G_MAXUINT : distance (got, names[i]);
    if (d < least) {
      least = d;
      best = i;
    }
  }
  return best;
}

char *
sl_suggest_nearest (const char *got, const char *const *names, guint n)
{
  g_autofree char *text = sl_suggest_text (got, names, n);
  guint taken[MAX_NEAREST], found = 0;
  if (*text != '\0')
    return g_steal_pointer (&text);
  GString *list = g_string_new (NULL);
  for (; found < MAX_NEAREST && (taken[found] = nearest (got, names, n, taken, found)) < n; found++)
    g_string_append_printf (list, "%s'%s'", found == 0 ? "; the nearest are " : ", ",
                            names[taken[found]]);
  return g_string_free (list, FALSE);
}
