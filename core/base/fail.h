/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sets an error of the library and returns, so that a check that refuses is one statement. */
#pragma once

#include "sightline/error.h"

/** sl_fail: as g_set_error() in the domain SL_ERROR. Returns FALSE. */
gboolean sl_fail (GError **error, SlError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
/** sl_fail_null: likewise, for functions that return a pointer. Returns NULL. */
gpointer sl_fail_null (GError **error, SlError code, const char *format, ...) G_GNUC_PRINTF (3, 4);
/** sl_fail_prefix: as g_prefix_error(). Returns FALSE. */
gboolean sl_fail_prefix (GError **error, const char *format, ...) G_GNUC_PRINTF (2, 3);
