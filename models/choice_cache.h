/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was measured for backend=auto and device=auto, in the user's cache. */
#pragma once

#include "models/model.h"

typedef struct
{
  const char *key, *text;
} SlChoiceText;

typedef struct
{
  const char *key;
  gdouble number;
} SlChoiceNumber;

/** sl_choice_name: (transfer full): a name for what is measured: any of it changed is another name.
 * @version, @library: of the runtime. */
char *sl_choice_name (const char *path, const SlModelLoadOptions *options, const char *version,
                      const char *library);
/** sl_choice_recall: (transfer full) (nullable): what is under @name and @key. */
char *sl_choice_recall (const char *name, const char *key);
/** sl_choice_remember: writes what was measured under @name. */
void sl_choice_remember (const char *name, const SlChoiceText *texts, guint n_texts,
                         const SlChoiceNumber *numbers, guint n_numbers);
