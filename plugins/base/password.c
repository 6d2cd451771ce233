/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/base/password.h"

#include "core/base/secretfile.h"
#include "sightline/error.h"

gboolean
sl_password_choose (const char *stated, const char *file, char **password, char **warning,
                    GError **error)
{
  g_autoptr (GError) reason = NULL;
  if (file == NULL) {
    *password = g_strdup (stated);
    return TRUE;
  }
  if (stated != NULL) {
    g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT,
                 "password and password-file are both set: expected one of them");
    return FALSE;
  }
  *password = sl_secret_file_read (file, warning, &reason);
  if (*password == NULL)
    g_set_error (error, SL_ERROR, SL_ERROR_OPEN, "password-file=%s", reason->message);
  return *password != NULL;
}
