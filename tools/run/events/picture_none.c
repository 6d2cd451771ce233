/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A build without libjpeg: objects have no colours, and lists no small pictures. */
#include "core/base/fail.h"
#include "tools/run/events/colors.h"

#define LACKS "this build reads no JPEG: expected libjpeg when it was made (Debian: libjpeg-dev)"

const char *
sl_color_of (GBytes *jpeg, const gdouble box[4], GError **error)
{
  return sl_fail_null (error, SL_ERROR_UNSUPPORTED, LACKS);
}

GBytes *
sl_thumbnail (GBytes *jpeg, GError **error)
{
  return sl_fail_null (error, SL_ERROR_UNSUPPORTED, LACKS);
}
