/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Uses the calendar functions of libc. */
#include "core/base/utc.h"

#include <time.h>

#include "core/base/json.h"

void
sl_utc_append (GString *out, gint64 us)
{
  const time_t seconds = (time_t) (us / G_USEC_PER_SEC);
  struct tm parts = { 0 };
  gmtime_r (&seconds, &parts);
  sl_json_append_printf (out, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900,
                         parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                         (int) (us % G_USEC_PER_SEC / 1000));
}
