/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "models/prompt_list.h"

#include <string.h>

#include "core/base/fail.h"

static void
prompt_clear (gpointer data)
{
  SlPrompt *prompt = data;
  g_free (prompt->name);
  g_strfreev (prompt->sentences);
}

static SlPrompt
read_prompt (char *item, guint place)
{
  SlPrompt prompt = { .place = place, .negative = item[0] == SL_PROMPT_NEGATIVE };
  item = g_strstrip (item + (prompt.negative ? 1 : 0));
  const char *equals = strchr (item, '=');
  prompt.sentences = g_strsplit (equals != NULL ? equals + 1 : item, "|", SL_MAX_SENTENCES + 1);
  for (guint i = 0; prompt.sentences[i] != NULL; i++)
    g_strstrip (prompt.sentences[i]);
  prompt.name = equals != NULL ? g_strstrip (g_strndup (item, (gsize) (equals - item)))
                               : g_strdup (prompt.sentences[0]);
  if (prompt.name != NULL)
    g_strdelimit (prompt.name, "\r\n", ' ');
  return prompt;
}

static gboolean
is_complete (const SlPrompt *prompt)
{
  const guint n = g_strv_length (prompt->sentences);
  gboolean good = prompt->name != NULL && prompt->name[0] != '\0' && n > 0 && n <= SL_MAX_SENTENCES;
  for (guint i = 0; i < n; i++)
    good = good && prompt->sentences[i][0] != '\0';
  return good;
}

GArray *
sl_prompts_parse (const char *text, GError **error)
{
  g_auto (GStrv) items = g_strsplit (text, ";", 0);
  g_autoptr (GArray) prompts = g_array_new (FALSE, FALSE, sizeof (SlPrompt));
  gboolean good = g_strv_length (items) <= SL_MAX_CLASSES;
  guint shown = 0;
  g_array_set_clear_func (prompts, prompt_clear);
  for (guint i = 0; items[i] != NULL && good; i++) {
    const SlPrompt prompt = read_prompt (g_strstrip (items[i]), i);
    if (prompt.negative)
      g_array_append_val (prompts, prompt);
    else
      g_array_insert_val (prompts, shown++, prompt);
    good = is_complete (&prompt);
  }
  if (good && shown > 0)
    return g_steal_pointer (&prompts);
  return sl_fail_null (error, SL_ERROR_ARGUMENT,
                       "prompts=%.200s: expected 1 to %d classes with ';' between, each a sentence "
                       "or NAME=SENTENCE|SENTENCE of at most %d sentences, and '!' before a class "
                       "that is not reported; at least one without '!'",
                       text, SL_MAX_CLASSES, SL_MAX_SENTENCES);
}

gboolean
sl_prompts_check (const char *text, GError **error)
{
  g_autoptr (GArray) prompts = sl_prompts_parse (text, error);
  return prompts != NULL;
}

gboolean
sl_templates_check (const char *text, GError **error)
{
  g_auto (GStrv) items = g_strsplit (text, ";", 0);
  gboolean good = g_strv_length (items) <= SL_MAX_SENTENCES;
  for (guint i = 0; items[i] != NULL; i++)
    good = good && strstr (items[i], SL_PROMPT_PLACE) != NULL;
  return good
         || sl_fail (
           error, SL_ERROR_ARGUMENT,
           "templates=%.200s: expected 1 to %d texts with ';' between, and " SL_PROMPT_PLACE
           " in each for the sentence",
           text, SL_MAX_SENTENCES);
}
