/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The texts of the settings prompts and templates. */
#pragma once

#include <glib.h>

/** Most sentences of a class, and most templates. */
#define SL_MAX_SENTENCES 64
/** What stands for the sentence in a template. */
#define SL_PROMPT_PLACE "{}"

/** sl_prompts_check: FALSE with SL_ERROR_ARGUMENT where @text is no list of prompts: classes with
 * ';' between, each a sentence, or NAME=SENTENCE|SENTENCE. */
gboolean sl_prompts_check (const char *text, GError **error);
/** sl_templates_check: likewise of templates: texts with {} in them and ';' between. */
gboolean sl_templates_check (const char *text, GError **error);
/** sl_prompts_split: (transfer full): the sentences of the class @item; *@name (transfer full)
 * (nullable): its name. */
GStrv sl_prompts_split (const char *item, char **name);
