/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Door: other folders may include this header. */
/*
 * Names of topics, below a prefix such as "models":
 *   PREFIX/MODEL/contract            retained, of a worker
 *   PREFIX/MODEL/work/HASH/USER      requests of USER; workers share them
 *   PREFIX/MODEL/answers/USER/CLIENT answers for one camera
 *   PREFIX/workers/WORKER            retained, how a worker fares; empty when it is gone
 */
#ifndef SL_REMOTE_TOPICS_H
#define SL_REMOTE_TOPICS_H

#include <glib.h>

G_BEGIN_DECLS

/** sl_remote_name: (transfer full): @text with all but letters, digits, '-', '_' and '.' replaced, as a level of a topic; "unnamed" for "". */
char *sl_remote_name (const char *text);
/** sl_remote_split: "a/b/ssd" -> "a/b" and "ssd"; FALSE with @error set, SL_ERROR_ARGUMENT, when there are no two levels, one is empty, or the model is
 *  called as a topic beside the models is. */
gboolean sl_remote_split (const char *path, char **prefix, char **model, GError **error);
/** sl_remote_check_prefix: whether @path is levels that are not empty. */
gboolean sl_remote_check_prefix (const char *path, GError **error);

/** sl_remote_check_user: whether @user (nullable) can be a level of a topic. Errors: SL_ERROR_ARGUMENT */
gboolean sl_remote_check_user (const char *user, GError **error);

/** sl_remote_topic_*: (transfer full) */
char *sl_remote_topic_contract (const char *prefix, const char *model);
/** @user, here and below: (nullable): who is logged in at the broker; "+": all. @client: names the element */
char *sl_remote_topic_work (const char *prefix, const char *model, const char *hash, const char *user);
char *sl_remote_topic_share (const char *work);
char *sl_remote_topic_answers (const char *prefix, const char *model, const char *user, const char *client);
char *sl_remote_topic_worker (const char *prefix, const char *worker);

/** sl_remote_may_answer: whether @response (nullable), which a request at the topic @work names, is a topic for answers of the model to the user of that
 *  topic, whom the broker lets write there: a worker publishes nowhere else, whatever it is asked. */
gboolean sl_remote_may_answer (const char *prefix, const char *model, const char *work, const char *response);

G_END_DECLS

#endif
