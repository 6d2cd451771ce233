/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The library's GError domain. */
#include "sightline/error.h"

GQuark
sl_error_quark (void)
{
  return g_quark_from_static_string ("sl-error-quark");
}
