/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Properties that elements refuse when they start. `sightline check` does not start elements,
 * because a start makes files and listens at ports; it calls what their starts call first.
 */
#include "plugins/base/settings.h"

#include "tools/check/findings.h"

gboolean
sl_check_settings (GstElement *element, GArray *findings)
{
  g_autoptr (GError) error = NULL;
  GstElement *predict = sl_check_is (element, "slnormalize") ? sl_check_predict (element) : NULL;
  if (predict != NULL) /* which checks its parts itself, so it is done once, by its first part */
    element = predict;
  if (sl_element_check_settings (element, &error))
    return TRUE;
  sl_findings_add (findings, SL_FINDING_PROBLEM, GST_OBJECT_NAME (element), "%s", error->message);
  return FALSE;
}
