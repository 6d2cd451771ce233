/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* States of cameras, as slcamera's property "state" has them. */
#include "pipelines/supervise/cameras.h"

#include "pipelines/description/build.h"

gboolean
sl_camera_is_away (GstElement *pipeline)
{
  static const char *const away[] = { "connecting", "stalled", "reconnecting", NULL };
  g_autoptr (GPtrArray) cameras = sl_find_elements (pipeline, "slcamera");
  for (guint i = 0; i < cameras->len; i++) {
    g_autofree char *state = NULL;
    g_object_get (g_ptr_array_index (cameras, i), "state", &state, NULL);
    if (state != NULL && g_strv_contains (away, state))
      return TRUE;
  }
  return FALSE;
}
