/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/search/settings.h"

#include <string.h>

#include "core/base/fail.h"
#include "core/base/suggest.h"
#include "models/prompt_list.h"
#include "models/prompts.h"

#define SPACES " \t\r\n\v\f"

/* Those of the picture model first. */
static const struct
{
  const char *name;
  gboolean pictures;
} rows[] = { { "model", TRUE },       { "mean", TRUE },       { "std", TRUE },
             { "colour", TRUE },      { "layout", TRUE },     { "fit", TRUE },
             { "crop-share", TRUE },  { "pad-value", TRUE },  { "input-shape", TRUE },
             { "text-model", FALSE }, { "tokenizer", FALSE }, { "templates", FALSE } };

const SlSetting *
sl_search_setting (guint i, gboolean *pictures)
{
  if (i >= G_N_ELEMENTS (rows))
    return NULL;
  if (pictures != NULL)
    *pictures = rows[i].pictures;
  return sl_setting_find (rows[i].name);
}

const SlSetting *
sl_search_setting_find (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (strcmp (name, rows[i].name) == 0)
      return sl_setting_find (name);
  return NULL;
}

gboolean
sl_search_settings_set (SlModelSettings *settings, const char *name, const char *value,
                        GError **error)
{
  const SlSetting *setting = sl_search_setting_find (name);
  const char *names[G_N_ELEMENTS (rows)];
  if (setting != NULL) {
    if (!sl_setting_check (setting, value, error) || !sl_setting_check_text (setting, value, error))
      return FALSE;
    sl_setting_set (setting, settings, value);
    return TRUE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    names[i] = rows[i].name;
  g_autofree char *hint = sl_suggest_text (name, names, G_N_ELEMENTS (names));
  return sl_fail (error, SL_ERROR_ARGUMENT, "%s: unknown key%s", name, hint);
}

char *
sl_search_settings_write (const SlModelSettings *settings)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const SlSetting *setting = sl_setting_find (rows[i].name);
    const char *value = sl_setting_get (setting, settings);
    if (value == NULL || strchr (value, '\n') != NULL)
      continue;
    g_autofree char *path = setting->kind == SL_SETTING_FILE && !g_str_has_prefix (value, "zoo:")
                              ? g_canonicalize_filename (value, NULL)
                              : g_strdup (value);
    g_string_append_printf (text, "%s=%s\n", rows[i].name, path);
  }
  return g_string_free (text, FALSE);
}

void
sl_search_settings_read (const char *text, SlModelSettings *settings)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++) {
    char *equals = strchr (lines[i], '=');
    if (equals == NULL)
      continue;
    *equals = '\0';
    const SlSetting *setting = sl_search_setting_find (lines[i]);
    if (setting != NULL && sl_setting_get (setting, settings) == NULL)
      sl_search_settings_set (settings, lines[i], equals + 1, NULL);
  }
}

/* Whether @text, cut into @sentences, can be encoded. */
static gboolean
check_words (const char *text, GStrv sentences, GError **error)
{
  const guint n = g_strv_length (sentences);
  if (text[strspn (text, SPACES)] == '\0')
    return sl_fail (error, SL_ERROR_ARGUMENT, "expected words, such as \"a red jacket\"");
  if (!g_utf8_validate (text, -1, NULL))
    return sl_fail (error, SL_ERROR_ARGUMENT, "expected words in UTF-8");
  if (n > SL_MAX_SENTENCES)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "expected at most %d sentences with '|' between, got %u", SL_MAX_SENTENCES, n);
  for (guint i = 0; i < n; i++)
    if (*g_strstrip (sentences[i]) == '\0')
      return sl_fail (error, SL_ERROR_ARGUMENT,
                      "'%.200s': expected words before and after each '|', which sentences have "
                      "between them",
                      text);
  return TRUE;
}

gfloat *
sl_search_words (const SlModelSettings *settings, const char *text, guint *length, GError **error)
{
  const SlModelSettings asked = { .text_model = settings->text_model,
                                  .tokenizer = settings->tokenizer,
                                  .templates = settings->templates };
  SlWordVectors words = { 0 };
  g_auto (GStrv) sentences = g_strsplit (text, "|", 0);
  if (!check_words (text, sentences, error))
    return NULL;
  if (settings->text_model == NULL || settings->tokenizer == NULL)
    return sl_fail_null (error, SL_ERROR_ARGUMENT,
                         "words need a text model: state text-model=FILE and tokenizer=FILE, which "
                         "come with the picture model");
  if (!sl_prompts_encode_sentences (&asked, sentences, &words, error))
    return NULL;
  *length = words.length;
  return (gfloat *) words.numbers;
}
