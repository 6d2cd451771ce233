/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds models of the zoo that were fetched. sl_model_load() asks; `sightline get` writes what is
 * found here (tools/zoo/). The row in the model's folder counts, so that a cache can be copied to
 * machines that have no table.
 */
#include "models/zoo/cache.h"

#include "core/base/fail.h"
#include "core/base/zoo_name.h"

char *
sl_zoo_cache (void)
{
  return g_build_filename (g_get_user_cache_dir (), "sightline", "zoo", NULL);
}

SlZooRow *
sl_zoo_cached_row (const char *name)
{
  g_autofree char *folder = sl_zoo_cache (),
                  *path = g_build_filename (folder, name, SL_ZOO_CACHED_ROW, NULL), *text = NULL;
  g_autoptr (SlZooRow) row = g_file_get_contents (path, &text, NULL, NULL)
                               ? sl_zoo_row_parse (name, text, path, NULL)
                               : NULL;
  g_autofree char *model = row != NULL ? g_build_filename (folder, name, row->file, NULL) : NULL;
  return model != NULL && g_file_test (model, G_FILE_TEST_IS_REGULAR) ? g_steal_pointer (&row)
                                                                      : NULL;
}

char *
sl_zoo_find (const char *model, GError **error)
{
  const char *name = sl_zoo_name (model);
  const gboolean is_name = name[0] != '\0' && name[0] != '.' && strchr (name, '/') == NULL;
  g_autofree char *folder = sl_zoo_cache ();
  g_autoptr (SlZooRow) cached = is_name ? sl_zoo_cached_row (name) : NULL;
  if (cached != NULL)
    return g_build_filename (folder, name, cached->file, NULL);
  g_autoptr (SlZooRow) row = sl_zoo_row_load (name, error);
  if (row == NULL)
    return NULL;
  return sl_fail_null (error, SL_ERROR_OPEN, "the model is not in %s; run: sightline get %s",
                       folder, name);
}
