/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pipelines/remote/topics.h"

#include <string.h>

#include "core/base/printable.h"
#include "core/base/fail.h"

#define WORKERS "workers"
/* All workers of a model are one group, so each request goes to one of them. */
#define GROUP "$share/sightline/"
#define MAX_BYTES 1024

char *
sl_remote_name (const char *text)
{
  return *text == '\0'
           ? g_strdup ("unnamed")
           : g_strcanon (g_strdup (text), G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_.", '_');
}

gboolean
sl_remote_check_prefix (const char *path, GError **error)
{
  const gsize length = strlen (path);
  if (length > 0 && length <= MAX_BYTES && path[0] != '/' && path[0] != '$'
      && path[length - 1] != '/' && strstr (path, "//") == NULL && strpbrk (path, "+#") == NULL)
    return TRUE;
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "topic \"%s\": expected levels with '/' between and no wildcards, at most %d bytes, such as "
    "models",
    path, MAX_BYTES);
}

gboolean
sl_remote_check_user (const char *user, GError **error)
{
  if (user == NULL || strpbrk (user, "+#/") == NULL)
    return TRUE;
  g_autofree char *shown = sl_printable (user, SL_PRINTABLE_NAME);
  return sl_fail (
    error, SL_ERROR_ARGUMENT,
    "user name \"%s\": expected one without +, # and /, because it is a level of the topic that "
    "answers come to",
    shown);
}

gboolean
sl_remote_split (const char *path, char **prefix, char **model, GError **error)
{
  if (!sl_remote_check_prefix (path, error))
    return FALSE;
  const char *slash = strrchr (path, '/');
  if (slash == NULL || strcmp (slash + 1, WORKERS) == 0)
    return sl_fail (
      error, SL_ERROR_ARGUMENT,
      "topic \"%s\": expected the prefix that the workers serve under and a model's name, such as "
      "models/ssd",
      path);
  *prefix = g_strndup (path, (gsize) (slash - path));
  *model = g_strdup (slash + 1);
  return TRUE;
}

char *
sl_remote_topic_contract (const char *prefix, const char *model)
{
  return g_strconcat (prefix, "/", model, "/contract", NULL);
}

static const char *
level_of (const char *user)
{
  return user != NULL && *user != '\0' ? user : "anyone";
}

char *
sl_remote_topic_work (const char *prefix, const char *model, const char *hash, const char *user)
{
  return g_strconcat (prefix, "/", model, "/work/", hash, "/", level_of (user), NULL);
}

char *
sl_remote_topic_share (const char *work)
{
  return g_strconcat (GROUP, work, NULL);
}

char *
sl_remote_topic_answers (const char *prefix, const char *model, const char *user,
                         const char *client)
{
  return g_strconcat (prefix, "/", model, "/answers/", level_of (user), "/", client, NULL);
}

char *
sl_remote_topic_worker (const char *prefix, const char *worker)
{
  return g_strconcat (prefix, "/" WORKERS "/", worker, NULL);
}

gboolean
sl_remote_may_answer (const char *prefix, const char *model, const char *work, const char *response)
{
  const char *slash = strrchr (work, '/');
  g_autofree char *begin =
    g_strconcat (prefix, "/", model, "/answers", slash != NULL ? slash : "/", "/", NULL);
  return response != NULL && g_str_has_prefix (response, begin) && response[strlen (begin)] != '\0'
         && strlen (response) <= MAX_BYTES && strpbrk (response, "+#") == NULL;
}
