/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a job answers: a document, or why there is none. */
#pragma once

#include "tools/run/api/api.h"

/** SlApiReply: @json: (nullable): sent with @status; NULL = an error of @status says @why */
typedef struct
{
  guint status;
  GString *json;
  char *why; /* (nullable) */
} SlApiReply;

/** sl_api_reply_refuse: sets @status and why. Always FALSE. */
gboolean sl_api_reply_refuse (SlApiReply *reply, guint status, const char *format, ...)
  G_GNUC_PRINTF (3, 4);
/** sl_api_reply_send: answers @request. */
void sl_api_reply_send (SlApiRequest *request, SlApiReply *reply);
void sl_api_reply_clear (SlApiReply *reply);
