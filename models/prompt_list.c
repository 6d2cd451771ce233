/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/prompt_list.h"

#include <string.h>

#include "core/base/fail.h"

#define MAX_CLASSES 1000

GStrv
sl_prompts_split (const char *item, char **name)
{
  const char *equals = strchr (item, '=');
  GStrv sentences = g_strsplit (equals != NULL ? equals + 1 : item, "|", SL_MAX_SENTENCES);
  for (guint i = 0; sentences[i] != NULL; i++)
    g_strstrip (sentences[i]);
  *name = equals != NULL ? g_strstrip (g_strndup (item, (gsize) (equals - item)))
                         : g_strdup (sentences[0]);
  if (*name != NULL)
    g_strdelimit (*name, "\r\n", ' ');
  return sentences;
}

gboolean
sl_prompts_check (const char *text, GError **error)
{
  g_auto (GStrv) items = g_strsplit (text, ";", 0);
  gboolean good = g_strv_length (items) <= MAX_CLASSES;
  for (guint i = 0; items[i] != NULL && good; i++) {
    g_autofree char *name = NULL;
    g_auto (GStrv) sentences = sl_prompts_split (g_strstrip (items[i]), &name);
    good = name != NULL && name[0] != '\0';
    for (guint k = 0; sentences[k] != NULL; k++)
      good = good && sentences[k][0] != '\0';
  }
  return good
         || sl_fail (error, SL_ERROR_ARGUMENT,
                     "prompts=%s: expected 1 to %d classes with ';' between, each a sentence or "
                     "NAME=SENTENCE|SENTENCE",
                     text, MAX_CLASSES);
}

gboolean
sl_templates_check (const char *text, GError **error)
{
  g_auto (GStrv) items = g_strsplit (text, ";", 0);
  gboolean good = g_strv_length (items) <= SL_MAX_SENTENCES;
  for (guint i = 0; items[i] != NULL; i++)
    good = good && strstr (items[i], SL_PROMPT_PLACE) != NULL;
  return good
         || sl_fail (error, SL_ERROR_ARGUMENT,
                     "templates=%s: expected 1 to %d texts with ';' between, and " SL_PROMPT_PLACE
                     " in each for the sentence",
                     text, SL_MAX_SENTENCES);
}
