/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The newest lines of the log. Any thread. */
#pragma once

#include <glib.h>

#include "tools/run/log.h"

/** Lines that are kept. */
#define SL_MESSAGES_MOST 1000
/** Those that pages show beside other things. */
#define SL_MESSAGES_SHOWN 50

typedef struct _SlMessages SlMessages;

SlMessages *sl_messages_new (void);
void sl_messages_free (SlMessages *messages);
/** sl_messages_add: @pipeline: (nullable) */
void sl_messages_add (SlMessages *messages, SlLogLevel level, const char *pipeline,
                      const char *event, const char *message);
/** sl_messages_append_json: appends an array of the newest, @most of them: objects with time (UTC),
 * level, event, pipeline and message, oldest first. */
void sl_messages_append_json (SlMessages *messages, guint most, GString *out);
