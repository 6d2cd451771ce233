/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tools/run/api/reply.h"

gboolean
sl_api_reply_refuse (SlApiReply *reply, guint status, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  reply->status = status;
  reply->why = g_strdup_vprintf (format, args);
  va_end (args);
  return FALSE;
}

void
sl_api_reply_send (SlApiRequest *request, SlApiReply *reply)
{
  if (reply->json != NULL)
    sl_api_json (request, reply->status, g_steal_pointer (&reply->json));
  else
    sl_api_error (request, reply->status, "%s", reply->why);
}

void
sl_api_reply_clear (SlApiReply *reply)
{
  if (reply->json != NULL)
    g_string_free (reply->json, TRUE);
  reply->json = NULL;
  g_clear_pointer (&reply->why, g_free);
}
