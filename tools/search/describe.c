/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/search/describe.h"

#include <string.h>

#include "core/base/fail.h"
#include "tools/search/settings.h"

gboolean
sl_search_describe (const SlDescription *description, SlModelSettings *settings, GError **error)
{
  const SlElementOverride *last = NULL;
  for (guint i = 0; i < description->overrides->len; i++) {
    const SlElementOverride *override =
      &g_array_index (description->overrides, SlElementOverride, i);
    if (strcmp (override->element, SL_SEARCHER) != 0)
      continue;
    last = override;
    if (*override->property != '\0'
        && !sl_search_settings_set (settings, override->property, override->value, error))
      return sl_fail_prefix (error, "%s:%u: [search] ", override->file, override->line);
  }
  return last == NULL || settings->model != NULL
         || sl_fail (error, SL_ERROR_ARGUMENT,
                     "%s:%u: [search]: expected model=FILE, a picture model", last->file,
                     last->line);
}

gboolean
sl_search_choose (const GPtrArray *descriptions, SlModelSettings *settings, GError **error)
{
  const SlDescription *first = NULL;
  for (guint i = 0; i < descriptions->len; i++) {
    const SlDescription *description = descriptions->pdata[i];
    g_auto (SlModelSettings) stated = { NULL };
    if (!sl_search_describe (description, &stated, error))
      return FALSE;
    if (stated.model == NULL)
      continue;
    if (first == NULL) {
      first = description;
      sl_model_settings_copy (&stated, settings);
      continue;
    }
    g_autofree char *before = sl_search_settings_write (settings),
                    *now = sl_search_settings_write (&stated);
    if (strcmp (before, now) != 0)
      return sl_fail (error, SL_ERROR_ARGUMENT,
                      "%s: [search] states something else than that of %s; expected the same for "
                      "all that run together",
                      description->path, first->path);
  }
  return TRUE;
}
