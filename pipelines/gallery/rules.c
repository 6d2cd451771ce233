/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pipelines/gallery/rules.h"

#include <string.h>

#include "core/base/duration.h"
#include "core/base/fail.h"
#include "core/base/printable.h"

#define MOST_DAYS 3650
#define DAY (G_GINT64_CONSTANT (86400) * G_USEC_PER_SEC)

gboolean
sl_identity_rules_keep (const char *text, gint64 *keep, GError **error)
{
  const gsize n = strlen (text);
  guint ms = 0;
  guint64 days = 0;
  if (n > 1 && text[n - 1] == 'd') {
    g_autofree char *number = g_strndup (text, n - 1);
    if (!g_ascii_string_to_unsigned (number, 10, 1, MOST_DAYS, &days, NULL))
      days = 0;
  } else if (!sl_duration_parse (text, &ms)) {
    ms = 0;
  }
  *keep = (gint64) days * DAY + (gint64) ms * 1000;
  if (*keep > 0)
    return TRUE;
  g_autofree char *shown = sl_printable (text, SL_PRINTABLE_NAME);
  return sl_fail (error, SL_ERROR_ARGUMENT,
                  "keep: expected a time after which people are erased, such as 7d, 12h or 30min, "
                  "from 1ms to %dd, got '%s'",
                  MOST_DAYS, shown);
}

void
sl_identity_rules_meet (SlIdentityRules *rules, const SlIdentityRules *others)
{
  rules->keep = MIN (rules->keep, others->keep);
  rules->most = MIN (rules->most, others->most);
  rules->threshold = MAX (rules->threshold, others->threshold);
  rules->margin = MAX (rules->margin, others->margin);
}
