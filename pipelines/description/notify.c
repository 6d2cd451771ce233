/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The groups [notify] and [push] as elements. */
#include "pipelines/description/notify.h"

#include <string.h>

#include "core/base/duration.h"
#include "core/base/fail.h"
#include "pipelines/description/find.h"
#include "pipelines/description/property.h"

/* Frames that wait while a picture is made. */
#define WAITING 8

/* (transfer full): https://HOST/TOPIC as slpublish has it. */
static char *
ntfy_location (const char *value)
{
  return g_str_has_prefix (value, "https://")  ? g_strconcat ("ntfys", value + 5, NULL)
         : g_str_has_prefix (value, "http://") ? g_strconcat ("ntfy", value + 4, NULL)
                                               : NULL;
}

/* (transfer full): https://HOST/PATH */
static char *
webhook_location (const char *value)
{
  return g_str_has_prefix (value, "https://") || g_str_has_prefix (value, "http://")
           ? g_strdup (value)
           : NULL;
}

static char *
command_location (const char *value)
{
  return value[0] == '/' ? g_strconcat ("exec:", value, NULL) : NULL;
}

/* (transfer full): what slpublish takes beside these. */
static char *
other_location (const char *value)
{
  return value[0] != '\0' ? g_strdup (value) : NULL;
}

static const struct
{
  const char *key, *expected;
  char *(*location) (const char *value);
} receivers[] = {
  { "webhook", "an address http[s]://HOST/PATH", webhook_location },
  { "ntfy", "an address http[s]://HOST/TOPIC", ntfy_location },
  { "command", "the whole path of a program, then its arguments", command_location },
  { "location", "a location of slpublish, such as mqtt://HOST/TOPIC", other_location },
};

static gboolean
set_every (GstElement *notifier, const char *value, GError **error)
{
  guint ms;
  if (!sl_duration_parse (value, &ms))
    return sl_fail (error, SL_ERROR_ARGUMENT, "expected " SL_DURATION_EXPECTED);
  g_object_set (notifier, "interval", ms / 1000.0, NULL);
  return TRUE;
}

/* Values are not shown: addresses of webhooks are secrets. */
static gboolean
set_notifier (GstElement *notifier, const char *key, const char *value, GError **error)
{
  if (strcmp (key, "every") == 0)
    return set_every (notifier, value, error);
  for (guint i = 0; i < G_N_ELEMENTS (receivers); i++) {
    if (strcmp (key, receivers[i].key) != 0)
      continue;
    g_autofree char *location = receivers[i].location (value), *before = NULL;
    g_object_get (notifier, "location", &before, NULL);
    if (location == NULL)
      return sl_fail (error, SL_ERROR_ARGUMENT, "expected %s", receivers[i].expected);
    if (before != NULL)
      return sl_fail (error, SL_ERROR_ARGUMENT,
                      "expected one of webhook, ntfy, command and location; a second one is an "
                      "slpublish of the launch line");
    g_object_set (notifier, "location", location, NULL);
    return TRUE;
  }
  return sl_property_from_text (G_OBJECT (notifier), key, value, error);
}

/* (transfer none): a new slpublish of @pipeline's events. */
static GstElement *
insert_notifier (GstElement *pipeline, GError **error)
{
  g_autoptr (GPtrArray) found = sl_find_elements (pipeline, "slredact");
  g_autoptr (GPtrArray) analyzers = sl_find_elements (pipeline, "slanalyze");
  GPtrArray *before = found->len > 0 ? found : analyzers;
  if (analyzers->len == 0)
    return sl_fail_null (error, SL_ERROR_ARGUMENT,
                         "the launch line has no slanalyze, which makes the events; expected one "
                         "behind sltrack");
  g_autoptr (GstPad) source =
    gst_element_get_static_pad (g_ptr_array_index (before, before->len - 1), "src");
  g_autoptr (GstPad) next = gst_pad_get_peer (source);
  g_autoptr (GstElement) bin =
    GST_ELEMENT (gst_object_get_parent (GST_OBJECT (g_ptr_array_index (before, before->len - 1))));
  sl_find_installed_elements ("slpublish");
  GstElement *tee = gst_element_factory_make ("tee", NULL),
             *queue = gst_element_factory_make ("queue", NULL),
             *notifier = gst_element_factory_make ("slpublish", NULL);
  if (next == NULL || tee == NULL || queue == NULL || notifier == NULL) {
    gst_clear_object (&tee);
    gst_clear_object (&queue);
    gst_clear_object (&notifier);
    return sl_fail_null (error, SL_ERROR_UNSUPPORTED,
                         "expected something behind slanalyze, and tee, queue and slpublish");
  }
  gst_util_set_object_arg (G_OBJECT (queue), "leaky", "downstream");
  g_object_set (queue, "max-size-buffers", WAITING, "max-size-bytes", 0, "max-size-time",
                (guint64) 0, NULL);
  g_object_set (notifier, "async", FALSE, "events", "all", NULL);
  gst_bin_add_many (GST_BIN (bin), tee, queue, notifier, NULL);
  gst_pad_unlink (source, next);
  g_autoptr (GstPad) in = gst_element_get_static_pad (tee, "sink"),
                     out = gst_element_request_pad_simple (tee, "src_%u");
  if (gst_pad_link (source, in) == GST_PAD_LINK_OK && gst_pad_link (out, next) == GST_PAD_LINK_OK
      && gst_element_link_many (tee, queue, notifier, NULL))
    return notifier;
  return sl_fail_null (error, SL_ERROR_ARGUMENT,
                       "no tee fits behind slanalyze: expected video there");
}

/* Keys of [push] that are properties of another name. */
static const struct
{
  const char *key, *property;
} push_keys[] = {
  { SL_PUSH_KEY, "push-key-file" },
  { SL_PUSH_SUBJECT, "push-subject" },
  { SL_PUSH_HOSTS, "push-hosts" },
};

static gboolean
set_pusher (GstElement *pusher, const char *key, const char *value, GError **error)
{
  if (strcmp (key, "every") == 0)
    return set_every (pusher, value, error);
  if (strcmp (key, "attach-picture") == 0)
    return sl_fail (error, SL_ERROR_ARGUMENT, "no picture goes to a push service: remove it");
  if (strcmp (key, "location") == 0)
    return sl_fail (error, SL_ERROR_ARGUMENT,
                    "messages go to the phones of subscriptions=FILE: remove it; other "
                    "destinations are slpublish of the launch line");
  if (strcmp (key, SL_PUSH_SUBSCRIPTIONS) == 0) {
    g_autofree char *whole = g_canonicalize_filename (value, NULL),
                    *location = g_strconcat ("push:", whole, NULL);
    g_object_set (pusher, "location", location, NULL);
    return TRUE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (push_keys); i++)
    if (strcmp (key, push_keys[i].key) == 0)
      key = push_keys[i].property;
  return sl_property_from_text (G_OBJECT (pusher), key, value, error);
}

/* A group whose keys are for an slpublish of its own. */
typedef struct
{
  const char *owner, *expected;
  gboolean (*set) (GstElement *publisher, const char *key, const char *value, GError **error);
} Group;

static const Group groups[] = {
  { SL_NOTIFIER, "webhook, ntfy, command or location, got none of them", set_notifier },
  { SL_PUSHER, "subscriptions=FILE", set_pusher },
};

/* Its slpublish stands behind a tee and a leaky queue, so a branch that makes pictures holds no
 * camera. Frames that the queue loses are counted as those of other queues. */
static gboolean
apply_group (GstElement *pipeline, const SlDescription *description, const Group *group,
             GError **error)
{
  GstElement *publisher = NULL;
  const SlElementOverride *last = NULL;
  for (guint i = 0; i < description->overrides->len; i++) {
    const SlElementOverride *override =
      &g_array_index (description->overrides, SlElementOverride, i);
    if (strcmp (override->element, group->owner) != 0)
      continue;
    last = override;
    if (publisher == NULL && (publisher = insert_notifier (pipeline, error)) == NULL)
      return sl_fail_prefix (error, "%s:%u: %s: ", override->file, override->line, group->owner);
    if (*override->property != '\0'
        && !group->set (publisher, override->property, override->value, error))
      return sl_fail_prefix (error, "%s:%u: %s %s: ", override->file, override->line, group->owner,
                             override->property);
  }
  if (publisher == NULL)
    return TRUE;
  g_autofree char *location = NULL, *source = NULL;
  g_object_get (publisher, "location", &location, "source", &source, NULL);
  if (source == NULL)
    g_object_set (publisher, "source", description->name, NULL);
  return location != NULL
         || sl_fail (error, SL_ERROR_ARGUMENT, "%s:%u: %s: expected %s", last->file, last->line,
                     group->owner, group->expected);
}

gboolean
sl_notify_groups_apply (GstElement *pipeline, const SlDescription *description, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    if (!apply_group (pipeline, description, &groups[i], error))
      return FALSE;
  return TRUE;
}
