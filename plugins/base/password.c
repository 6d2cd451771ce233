/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/base/password.h"

#include "core/base/secretfile.h"
#include "core/base/fail.h"

gboolean
sl_password_choose (const char *stated, const char *file, char **password, char **warning,
                    GError **error)
{
  g_autoptr (GError) reason = NULL;
  if (file == NULL) {
    *password = g_strdup (stated);
    return TRUE;
  }
  if (stated != NULL)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "password and password-file are both set: expected one of them");
  *password = sl_secret_file_read (file, warning, &reason);
  if (*password == NULL)
    sl_fail (error, SL_ERROR_OPEN, "password-file=%s", reason->message);
  return *password != NULL;
}
