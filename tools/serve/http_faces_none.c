/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In place of faces in pictures that were posted, where SQLite was not there. */
#include "core/base/fail.h"
#include "tools/serve/http_faces.h"

gboolean
sl_http_faces_open (SlHttpDoor *door, const SlServeFaces *settings, GError **error)
{
  return sl_fail (error, SL_ERROR_UNSUPPORTED,
                  "--faces: this build knows no people: expected SQLite when it was made");
}

/* Such requests are refused, since the door has no faces. */
void
sl_http_faces_answer (SlHttpDoor *door, SlHttpRequest *request)
{
}

gboolean
sl_http_errand_take (SlHttpRequest *request, const SlWork *work, void *const *outputs,
                     const char *refusal, gint64 duration)
{
  return FALSE;
}
