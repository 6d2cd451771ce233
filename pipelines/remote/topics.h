/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Names of topics, below a prefix such as "models":
 *   PREFIX/MODEL/contract            retained: the announcement of a worker
 *   PREFIX/MODEL/work/HASH/USER      requests of USER; workers share them
 *   PREFIX/MODEL/answers/USER/CLIENT answers for one camera
 *   PREFIX/workers/WORKER            retained: the state of a worker; empty when it is gone
 */
#pragma once

#include <glib.h>

/** sl_remote_name: (transfer full): @text as a level of a topic: all characters but letters,
 * digits, '-', '_' and '.' are replaced; "unnamed" for "". */
char *sl_remote_name (const char *text);
/** sl_remote_split: "a/b/ssd" -> "a/b" and "ssd". FALSE with @error set, SL_ERROR_ARGUMENT, when
 * there are fewer than two levels, when a level is empty, or when the model has the name of another
 * topic under the prefix. */
gboolean sl_remote_split (const char *path, char **prefix, char **model, GError **error);
/** sl_remote_check_prefix: whether no level of @path is empty. */
gboolean sl_remote_check_prefix (const char *path, GError **error);

/** sl_remote_check_user: whether @user (nullable) can be a level of a topic. Errors:
 * SL_ERROR_ARGUMENT */
gboolean sl_remote_check_user (const char *user, GError **error);

/** sl_remote_topic_*: (transfer full) */
char *sl_remote_topic_contract (const char *prefix, const char *model);
/** @user, here and below: (nullable): the user name of the login at the broker; "+": all users.
 * @client: name of the element */
char *sl_remote_topic_work (const char *prefix, const char *model, const char *hash,
                            const char *user);
char *sl_remote_topic_share (const char *work);
char *sl_remote_topic_answers (const char *prefix, const char *model, const char *user,
                               const char *client);
char *sl_remote_topic_worker (const char *prefix, const char *worker);

/** sl_remote_may_answer: whether a worker may publish to @response (nullable), the response topic
 * of a request at the topic @work. It must be a topic for answers of the model to the user in
 * @work: the broker lets only this user write to @work. A worker publishes to no other topic,
 * whatever a request names. */
gboolean sl_remote_may_answer (const char *prefix, const char *model, const char *work,
                               const char *response);
