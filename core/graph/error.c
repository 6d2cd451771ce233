/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The library's GError domain. */
#include "sightline/error.h"

/**
 * sl_error_quark:
 *
 * The domain behind %SL_ERROR.
 *
 * Returns: the domain of the library's errors, whose codes are #SlError
 *
 * Since: 0.1
 */
GQuark
sl_error_quark (void)
{
  return g_quark_from_static_string ("sl-error-quark");
}
