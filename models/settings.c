/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of a model's settings (settings.def). It is the only list of them: a list elsewhere is
 * a loop over this table. Any thread.
 */
#include "models/settings.h"

#include <string.h>

#include "core/external/external.h"
#include "core/graph/graph.h"
#include "models/fixed_inputs.h"
#include "models/formats.h"
#include "models/prompt_list.h"
#include "core/base/fail.h"
#include "models/setting_texts.h"
#include "models/state.h"

#define RANGE(least, most, by_default) \
  .minimum = (least), .maximum = (most), .initial = (by_default)
#define WORDS(list, n) .words = (list), .n_words = (n)
/* In @help: stands for the endings of the model files that are read. */
#define ENDINGS "@endings@"

#define PROPERTIES (SL_DOOR_ELEMENTS | SL_DOOR_PREDICTOR)
#define EVERYWHERE (PROPERTIES | SL_DOOR_OPTION | SL_DOOR_KEY_FILE)
#define BY_USER (PROPERTIES | SL_DOOR_OPTION)

#define SETTING(name, nick, kind, group, doors, member, ...) \
  { name,                                                    \
    nick,                                                    \
    SL_SETTING_##kind,                                       \
    SL_SETTINGS_##group,                                     \
    doors,                                                   \
    G_STRUCT_OFFSET (SlModelSettings, member),               \
    __VA_ARGS__ },

static const SlSetting table[] = {
#include "models/settings.def"
};

G_STATIC_ASSERT (G_N_ELEMENTS (table) <= SL_MAX_SETTINGS);

const SlSetting *
sl_settings_table (guint *n)
{
  *n = G_N_ELEMENTS (table);
  return table;
}

const SlSetting *
sl_setting_find (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (strcmp (table[i].name, name) == 0)
      return &table[i];
  return NULL;
}

const char *
sl_setting_help (const SlSetting *setting, SlSettingDoor door)
{
  g_autoptr (GString) help = g_string_new (setting->help);
  const char *place = strstr (help->str, ENDINGS);
  if (place != NULL) {
    const gssize at = place - help->str;
    g_autofree char *endings = sl_reader_endings ();
    g_string_erase (help, at, strlen (ENDINGS));
    g_string_insert (help, at, endings);
  }
  if (door == SL_DOOR_ELEMENTS && setting->element_help != NULL)
    g_string_append (help, setting->element_help);
  if (door == SL_DOOR_PREDICTOR && setting->kind == SL_SETTING_CHOICE) {
    g_autofree char *expected = sl_setting_expected (setting);
    g_string_append_printf (help, ": %s", expected);
  }
  return g_intern_string (help->str);
}

char *
sl_setting_expected (const SlSetting *setting)
{
  GString *text = g_string_new (setting->kind == SL_SETTING_BOOL ? "true or false" : NULL);
  if (setting->kind == SL_SETTING_NUMBER)
    g_string_printf (text, "%d..%d", setting->minimum, setting->maximum);
  for (guint i = 0; i < setting->n_words; i++)
    g_string_append_printf (text, "%s%s",
                            i == 0                     ? ""
                            : i + 1 < setting->n_words ? ", "
                                                       : " or ",
                            setting->words[i].name);
  return g_string_free (text, FALSE);
}

const char *
sl_setting_get (const SlSetting *setting, const SlModelSettings *settings)
{
  const char *text = G_STRUCT_MEMBER (const char *, settings, setting->offset);
  return text != NULL && text[0] != '\0' ? text : NULL;
}

void
sl_setting_set (const SlSetting *setting, SlModelSettings *settings, const char *text)
{
  char **place = G_STRUCT_MEMBER_P (settings, setting->offset), *copy = g_strdup (text);
  g_free (*place);
  *place = copy;
}

static gboolean
is_word (const SlSetting *setting, const char *text)
{
  for (guint i = 0; i < setting->n_words; i++)
    if (g_ascii_strcasecmp (text, setting->words[i].name) == 0)
      return TRUE;
  return FALSE;
}

gboolean
sl_setting_check (const SlSetting *setting, const char *text, GError **error)
{
  gboolean good = text == NULL || text[0] == '\0';
  if (!good && setting->kind == SL_SETTING_NUMBER)
    good = g_ascii_string_to_signed (text, 10, setting->minimum, setting->maximum, NULL, NULL);
  else if (!good && setting->kind == SL_SETTING_BOOL)
    good = strcmp (text, "true") == 0 || strcmp (text, "false") == 0;
  else if (!good)
    good = setting->kind != SL_SETTING_CHOICE || is_word (setting, text);
  if (good)
    return TRUE;
  g_autofree char *expected = sl_setting_expected (setting);
  return sl_fail (error, SL_ERROR_ARGUMENT, "%s=%s: expected %s", setting->name, text, expected);
}

gboolean
sl_setting_check_text (const SlSetting *setting, const char *text, GError **error)
{
  return text == NULL || text[0] == '\0' || setting->check == NULL || setting->check (text, error);
}

gboolean
sl_model_settings_check (const SlModelSettings *settings, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (!sl_setting_check (&table[i], sl_setting_get (&table[i], settings), error))
      return FALSE;
  return TRUE;
}

void
sl_model_settings_copy (const SlModelSettings *from, SlModelSettings *to)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    sl_setting_set (&table[i], to, G_STRUCT_MEMBER (const char *, from, table[i].offset));
}

void
sl_model_settings_clear (SlModelSettings *settings)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    sl_setting_set (&table[i], settings, NULL);
}
