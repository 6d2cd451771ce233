/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * The settings of a model, as one table: what users may say of a model, and where they may say it.
 * The properties of elements and of SlPredictor, the options of the program, the keys of
 * MODEL.modelinfo and docs/settings.md follow from the table.
 *
 * A new setting is a row in settings.def. What the setting does lies where the model is loaded.
 */
#pragma once

#include <glib.h>

#include "core/base/picture.h"

/**
 * SlModelSettings: what one author states: the user, or a key file. Every value is text; NULL or ""
 * = not stated, so 0 and false can be stated. Zeroed, nothing is stated. Functions that set a value
 * copy it, and sl_model_settings_clear() frees the copies. A struct that is filled by hand borrows
 * its texts instead, and is not cleared.
 */
typedef struct
{
#define SETTING(name, nick, kind, group, doors, member, ...) const char *member;
#include "models/settings.def"
#undef SETTING
} SlModelSettings;

typedef enum
{
  SL_SETTING_TEXT,
  SL_SETTING_FILE,   /* a path */
  SL_SETTING_NUMBER, /* an integer in @minimum..@maximum */
  SL_SETTING_BOOL,   /* "true" or "false" */
  SL_SETTING_CHOICE, /* the name of one of @words */
} SlSettingKind;

/** SlSettingGroup: commands have the options of whole groups. */
typedef enum
{
  SL_SETTINGS_FILES =
    1 << 0, /* which model, and with how many threads: each command has options of its own */
  SL_SETTINGS_CONTRACT = 1 << 1, /* what the input and the outputs mean */
  SL_SETTINGS_LIMITS = 1 << 2,   /* sizes, other inputs, limits */
  SL_SETTINGS_BACKEND = 1 << 3,  /* what runs the model */
  SL_SETTINGS_WORDS = 1 << 4,    /* classes that sentences describe */
} SlSettingGroup;

/** SlSettingDoor: where a setting can be stated. */
typedef enum
{
  SL_DOOR_ELEMENTS = 1 << 0,  /* a property of slinfer and slpredict */
  SL_DOOR_OPTION = 1 << 1,    /* an option of the commands that have its group */
  SL_DOOR_PREDICTOR = 1 << 2, /* a property of SlPredictor */
  SL_DOOR_KEY_FILE = 1 << 3,  /* a key of MODEL.modelinfo */
} SlSettingDoor;

/**
 * SlSetting:
 * @offset: of its text in SlModelSettings
 * @minimum, @maximum: of numbers
 * @initial: of numbers: what holds where nobody states the setting; below @minimum, that is for the
 * model to say
 * @check: (nullable): of texts: FALSE with SL_ERROR_ARGUMENT for one that suits no model;
 * sl_setting_check_text()
 * @words: the names of choices; the default is what the model wants
 * @help: meaning, unit, meaning of the default, an example; use sl_setting_help()
 * @element_help: (nullable): what holds for elements alone, follows @help there
 * @letter, @option_help, @value_name: of the option
 */
typedef struct
{
  const char *name, *nick;
  SlSettingKind kind;
  SlSettingGroup group;
  guint doors;
  gsize offset;
  gint minimum, maximum, initial;
  gboolean (*check) (const char *text, GError **error);
  const SlPictureWord *words;
  guint n_words;
  const char *help, *element_help;
  char letter;
  const char *option_help, *value_name;
} SlSetting;

/** SL_MAX_SETTINGS: most rows that the table may have. */
#define SL_MAX_SETTINGS 64

/** sl_settings_table: (transfer none): the rows. Their order is that of properties and options. */
const SlSetting *sl_settings_table (guint *n);
/** sl_setting_find: (transfer none) (nullable): the row @name. */
const SlSetting *sl_setting_find (const char *name);
/** sl_setting_help: (transfer none): the help of a property; @door is SL_DOOR_ELEMENTS or
 * SL_DOOR_PREDICTOR. */
const char *sl_setting_help (const SlSetting *setting, SlSettingDoor door);
/** sl_setting_expected: (transfer full): the values that a number, a choice or a bool takes, for
 * messages: "1..64", "NHWC or NCHW". */
char *sl_setting_expected (const SlSetting *setting);
/** sl_setting_get: (transfer none) (nullable): what is stated; never "". */
const char *sl_setting_get (const SlSetting *setting, const SlModelSettings *settings);
/** sl_setting_set: copies @text (nullable) in place of what was stated. */
void sl_setting_set (const SlSetting *setting, SlModelSettings *settings, const char *text);
/** sl_setting_check: FALSE with SL_ERROR_ARGUMENT, "NAME=TEXT: expected ...", when @text (nullable)
 * is not such a value. */
gboolean sl_setting_check (const SlSetting *setting, const char *text, GError **error);
/** sl_setting_check_text: FALSE with SL_ERROR_ARGUMENT, NAME and what was expected, when @text
 * (nullable) suits no model. Loading a model finds that, too. */
gboolean sl_setting_check_text (const SlSetting *setting, const char *text, GError **error);

/** sl_model_settings_check: sl_setting_check() of everything that is stated. */
gboolean sl_model_settings_check (const SlModelSettings *settings, GError **error);
/** sl_model_settings_copy: what @to was is freed. */
void sl_model_settings_copy (const SlModelSettings *from, SlModelSettings *to);
void sl_model_settings_clear (SlModelSettings *settings);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SlModelSettings, sl_model_settings_clear)
