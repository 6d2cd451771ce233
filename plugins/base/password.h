/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The properties password and password-file, of elements that log in somewhere. */
#pragma once

#include <glib.h>

/**
 * sl_password_choose:
 * @stated, @file: (nullable): the properties
 * @password: (out) (transfer full) (nullable): what is in the file where there is one, else what is
 * stated
 * @warning: (out) (transfer full): a sentence where others may read or change the file, else as it
 * was
 *
 * FALSE with @error set when both are set, SL_ERROR_ARGUMENT, or the file cannot be used,
 * SL_ERROR_OPEN.
 */
gboolean sl_password_choose (const char *stated, const char *file, char **password, char **warning,
                             GError **error);
