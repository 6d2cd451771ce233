/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What makes embeddings for searches: a picture model, and the text model that belongs to it. Only
 * settings that load no other code count, since an index of any origin may state them.
 */
#pragma once

#include "models/settings.h"

/** sl_search_setting: (transfer none) (nullable): setting @i, from 0; NULL after the last one.
 * @pictures: (out): it changes embeddings of pictures */
const SlSetting *sl_search_setting (guint i, gboolean *pictures);
/** sl_search_setting_find: (transfer none) (nullable): the one called @name. */
const SlSetting *sl_search_setting_find (const char *name);
/** sl_search_settings_set: FALSE with SL_ERROR_ARGUMENT for an unknown @name, and for a wrong
 * @value; the message begins with @name. */
gboolean sl_search_settings_set (SlModelSettings *settings, const char *name, const char *value,
                                 GError **error);
/** sl_search_settings_write: (transfer full): lines NAME=VALUE; files by their whole paths. */
char *sl_search_settings_write (const SlModelSettings *settings);
/** sl_search_settings_read: such lines, where @settings state nothing yet; others are passed over.
 */
void sl_search_settings_read (const char *text, SlModelSettings *settings);
/** sl_search_words: (transfer full): the embedding of @text, of length 1: sentences with '|'
 * between are averaged, in all templates. NULL with @error set. Loads the text model, and frees it.
 */
gfloat *sl_search_words (const SlModelSettings *settings, const char *text, guint *length,
                         GError **error);
