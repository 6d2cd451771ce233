/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the model that is used when none is named. sl_model_load() asks; build folders state theirs
 * in the environment
 * (`meson devenv`), so that nothing here knows of build folders.
 */
#include "models/default.h"

#include "config.h"
#include "core/base/fail.h"

#define VARIABLE "SIGHTLINE_MODEL"
#define FINDER "codes.tflite"
#define INSTALLED SL_MODEL_DIR G_DIR_SEPARATOR_S FINDER

char *
sl_default_model_find (GError **error)
{
  const char *stated = g_getenv (VARIABLE);
  if (stated != NULL && *stated != '\0') {
    if (g_file_test (stated, G_FILE_TEST_EXISTS))
      return g_strdup (stated);
    return sl_fail_null (
      error, SL_ERROR_OPEN,
      "no model is named, and %s, which the environment variable " VARIABLE
      " names for that case, does not exist; name a model "
      "(model=FILE.tflite of the element, --model FILE of the program), or correct or "
      "unset " VARIABLE,
      stated);
  }
  if (g_file_test (INSTALLED, G_FILE_TEST_EXISTS))
    return g_strdup (INSTALLED);
  return sl_fail_null (
    error, SL_ERROR_OPEN,
    "no model is named, and the one that comes with Sightline is neither in the environment "
    "variable " VARIABLE " (not set) nor at " INSTALLED
    "; name a model (model=FILE.tflite of the element, --model FILE of the program), or install "
    "Sightline");
}

gboolean
sl_default_model_is_finder (const char *model)
{
  const char *stated = g_getenv (VARIABLE);
  if (model != NULL && *model != '\0')
    return FALSE;
  g_autofree char *name = stated != NULL && *stated != '\0' ? g_path_get_basename (stated) : NULL;
  return name == NULL || g_str_equal (name, FINDER);
}
