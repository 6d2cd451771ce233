/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of class names: read, compared with a model's classes, and asked for each object. */
#include "postprocess/predictions/class_filter.h"

#include <string.h>

#include "core/base/suggest.h"
#include "core/base/fail.h"

struct _SlClassFilter
{
  GPtrArray *wanted, *unwanted; /* of char * */
};

void
sl_class_filter_free (SlClassFilter *filter)
{
  if (filter == NULL)
    return;
  g_ptr_array_unref (filter->wanted);
  g_ptr_array_unref (filter->unwanted);
  g_free (filter);
}

static gboolean
has_name (const GPtrArray *names, const char *name)
{
  for (guint i = 0; i < names->len; i++)
    if (strcmp (g_ptr_array_index (names, i), name) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
add_name (SlClassFilter *filter, const char *word, const char *text, GError **error)
{
  g_autofree char *stripped = g_strstrip (g_strdup (word));
  const gboolean unwanted = *stripped == '!';
  const char *name = unwanted ? g_strchug (stripped + 1) : stripped;
  if (*name == '\0')
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "classes=%s: a name is empty; expected class names with ',' between, such as person,car or "
      "!dog",
      text);
  if (has_name (unwanted ? filter->wanted : filter->unwanted, name))
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "classes=%s: '%s' is both wanted and not (!%s): remove one of them", text, name,
                    name);
  g_ptr_array_add (unwanted ? filter->unwanted : filter->wanted, g_strdup (name));
  if (filter->wanted->len + filter->unwanted->len <= SL_CLASS_FILTER_MOST)
    return TRUE;
  return sl_fail (error, SL_ERROR_ARGUMENT, "classes: more than %d names", SL_CLASS_FILTER_MOST);
}

gboolean
sl_class_filter_parse (const char *text, SlClassFilter **filter, GError **error)
{
  *filter = NULL;
  if (text == NULL || *text == '\0')
    return TRUE;
  g_autoptr (SlClassFilter) list = g_new0 (SlClassFilter, 1);
  g_autoptr (GString) word = g_string_new (NULL);
  list->wanted = g_ptr_array_new_with_free_func (g_free);
  list->unwanted = g_ptr_array_new_with_free_func (g_free);
  for (const char *at = text;; at++) {
    if (*at == '\\' && at[1] == ',') {
      g_string_append_c (word, *++at);
    } else if (*at == ',' || *at == '\0') {
      if (!add_name (list, word->str, text, error))
        return FALSE;
      g_string_truncate (word, 0);
    } else {
      g_string_append_c (word, *at);
    }
    if (*at == '\0')
      break;
  }
  *filter = g_steal_pointer (&list);
  return TRUE;
}

gboolean
sl_class_filter_passes (const SlClassFilter *filter, const char *label)
{
  return filter == NULL
         || ((filter->wanted->len == 0 || has_name (filter->wanted, label))
             && !has_name (filter->unwanted, label));
}

static gboolean
is_class (const char *name, const char *const *names, guint n)
{
  guint64 number;
  for (guint i = 0; i < n; i++)
    if (names[i] != NULL && strcmp (names[i], name) == 0)
      return TRUE;
  return g_ascii_string_to_unsigned (name, 10, 0, n > 0 ? n - 1 : G_MAXUINT16, &number, NULL)
         && (n == 0 || names[number] == NULL);
}

static gboolean
check_names (const GPtrArray *asked, const char *const *names, guint n, const char *whose,
             GError **error)
{
  for (guint i = 0; i < asked->len; i++) {
    const char *name = g_ptr_array_index (asked, i);
    if (is_class (name, names, n))
      continue;
    g_autofree char *near = sl_suggest_nearest (name, names, n);
    if (*near != '\0')
      sl_fail (error, SL_ERROR_ARGUMENT, "classes: %s has no class '%s'%s", whose, name, near);
    else
      sl_fail (
        error, SL_ERROR_ARGUMENT,
        "classes: %s has no class '%s': its classes have no names; expected numbers from 0 to %u, "
        "or names for them by labels=FILE",
        whose, name, n > 0 ? n - 1 : G_MAXUINT16);
    return FALSE;
  }
  return TRUE;
}

gboolean
sl_class_filter_check (const SlClassFilter *filter, const char *const *names, guint n,
                       const char *whose, GError **error)
{
  return filter == NULL
         || (check_names (filter->wanted, names, n, whose, error)
             && check_names (filter->unwanted, names, n, whose, error));
}
