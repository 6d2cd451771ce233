/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Browsers that are told about events: what the groups [push] of the descriptions say, and whose
 * browsers stay in the file.
 */
#pragma once

#include "tools/run/http/users.h"

/**
 * SlApiPush: immutable but for the last two.
 * @path: (nullable): the file of subscriptions; NULL = there is no [push]
 * @hosts: (nullable)
 * @key: (nullable): the public key, for browsers
 * @why: (nullable): why there is none, in a sentence
 * @serial: of the users that the file was compared with, at @looked, monotonic time; the server's
 * thread
 */
typedef struct
{
  char *path, *hosts, *key, *why;
  guint serial;
  gint64 looked;
} SlApiPush;

/** sl_api_push_new: @workers: (element-type SlWorker). NULL with SL_ERROR_ARGUMENT where two
 * descriptions differ: a browser has one subscription of a page. Main thread. */
SlApiPush *sl_api_push_new (GPtrArray *workers, GError **error);
void sl_api_push_free (SlApiPush *push);
/** sl_api_push_login: (transfer full): what of the password of the user @name is in the file: it
 * does not lead back. "" where nobody logs in. */
char *sl_api_push_login (const SlUsers *users, const char *name);
/** sl_api_push_tick: when @users (nullable) have changed, and each minute, browsers of those who
 * are gone, or whose password has changed, are removed. The server's thread. */
void sl_api_push_tick (SlApiPush *push, const SlUsers *users);
