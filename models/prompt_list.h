/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/* The texts of the settings prompts and templates. */
#pragma once

#include <glib.h>

/** Most classes. */
#define SL_MAX_CLASSES 1000
/** Most sentences of a class, and most templates. */
#define SL_MAX_SENTENCES 64
/** Most sentences of all classes in all templates. */
#define SL_MAX_TEXTS 16384
/** What stands for the sentence in a template. */
#define SL_PROMPT_PLACE "{}"
/** What a negative class begins with. */
#define SL_PROMPT_NEGATIVE '!'

/** SlPrompt: a class: its name, its sentences, its place in the text, and whether it only competes
 * with others. */
typedef struct
{
  char *name;
  GStrv sentences;
  guint place;
  gboolean negative;
} SlPrompt;

/** sl_prompts_check: FALSE with SL_ERROR_ARGUMENT where @text is no list of prompts: classes with
 * ';' between, each a sentence, or NAME=SENTENCE|SENTENCE, some but not all with '!' before. */
gboolean sl_prompts_check (const char *text, GError **error);
/** sl_templates_check: likewise of templates: texts with {} in them and ';' between. */
gboolean sl_templates_check (const char *text, GError **error);
/** sl_prompts_parse: (transfer full) (element-type SlPrompt): the classes of @text, the negative
 * ones last. NULL as sl_prompts_check() has it. */
GArray *sl_prompts_parse (const char *text, GError **error);
