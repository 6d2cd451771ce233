/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plugins/camera/unused.h"

gboolean
sl_camera_has_choice (const SlCameraUri *uri)
{
  return uri->kind != SL_CAMERA_RTSP && uri->kind != SL_CAMERA_HTTP && uri->kind != SL_CAMERA_FILE;
}

static void
add_names (GString *names, const char *name, gboolean is_set)
{
  if (is_set)
    g_string_append_printf (names, "%s%s", names->len > 0 ? ", " : "", name);
}

char *
sl_camera_unused (GObject *camera, const SlCameraUri *uri)
{
  gint width, height;
  gdouble framerate;
  gboolean loop, realtime;
  g_autoptr (GString) sizes = g_string_new (NULL), files = g_string_new (NULL);
  GString *text = g_string_new (NULL);
  g_object_get (camera, "width", &width, "height", &height, "framerate", &framerate, "loop", &loop,
                "realtime", &realtime, NULL);
  add_names (sizes, "width", width > 0);
  add_names (sizes, "height", height > 0);
  add_names (sizes, "framerate", framerate > 0);
  add_names (files, "loop", loop);
  add_names (files, "realtime", realtime);
  if (sizes->len > 0 && !sl_camera_has_choice (uri))
    g_string_append_printf (text, "%s: ignored, since %s has its own size and rate%s", sizes->str,
                            uri->display,
                            uri->kind == SL_CAMERA_FILE ? "" : ": change them in the camera");
  if (files->len > 0 && uri->kind != SL_CAMERA_FILE)
    g_string_append_printf (text, "%s%s: ignored, since %s is no file://",
                            text->len > 0 ? "; " : "", files->str, uri->display);
  return g_string_free (text, text->len == 0);
}
