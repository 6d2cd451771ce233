/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Topic templates of MQTT locations, Home Assistant's discovery message, counts of labels.
 * Discovery and the shape of a sensor: Home Assistant's documentation of MQTT discovery. Counts a label under the topic:
 * the topics that Frigate's users have.
 */
#include "config.h"
#include "plugins/publish/topic.h"

#include <string.h>
#ifdef SL_HAVE_JSON_GLIB
#include <json-glib/json-glib.h>
#endif

#include "base/redact.h"
#include "base/show.h"
#include "sightline/error.h"

#define MAX_LABELS 256

/* In one level of a topic: no separators or wildcards, and only what MQTT takes, UTF-8 without control characters. */
static gboolean
fits_level (gunichar c)
{
  return c != '/' && c != '+' && c != '#' && sl_is_plain (c);
}

static void
append_name (GString *text, const char *name, gboolean (*fits) (gunichar))
{
  while (*name != '\0') {
    const gunichar c = sl_utf8_next (&name);
    g_string_append_unichar (text, fits (c) ? c : '_');
  }
}

char *
sl_template_expand (const char *template, const SlPublishSettings *settings, gboolean (*fits) (gunichar), const char *refused,
                    const char **bad)
{
  const struct
  {
    const char *placeholder, *value;
  } known[] = {
    { "{host}", g_get_host_name () },
    { "{element}", settings->name },
    { "{source}", settings->source },
  };
  g_autoptr (GString) text = g_string_new (NULL);
  for (const char *c = template; *c != '\0';) {
    guint i = 0;
    while (i < G_N_ELEMENTS (known) && !g_str_has_prefix (c, known[i].placeholder))
      i++;
    if (i < G_N_ELEMENTS (known)) {
      append_name (text, known[i].value != NULL ? known[i].value : "unnamed", fits);
      c += strlen (known[i].placeholder);
    } else if (*c == '{' || strchr (refused, *c) != NULL) {
      *bad = c;
      return NULL;
    } else {
      g_string_append_c (text, *c++);
    }
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

SlMqttAccess
sl_mqtt_access (const SlPublishSettings *settings)
{
  return (
    SlMqttAccess){ settings->location, settings->username, settings->password, settings->ca_file, settings->certificate, settings->key };
}

gboolean
sl_mqtt_topic_target (SlMqttTarget *target, const SlPublishSettings *settings, GError **error)
{
  const SlMqttAccess access = sl_mqtt_access (settings);
  if (!sl_mqtt_target_parse (target, &access, "mqtt://localhost/sightline/door", error))
    return FALSE;
  g_autofree char *template = g_steal_pointer (&target->topic);
  const char *bad;
  target->topic = sl_template_expand (template, settings, fits_level, "+#", &bad);
  if (target->topic != NULL)
    return TRUE;
  /* It has as much of the template as may be told. */
  g_autofree char *shown = sl_redact_uri (settings->location, NULL);
  g_set_error (error, SL_ERROR, SL_ERROR_ARGUMENT,
               "location=%s: in the topic expected levels with {host}, {element} or {source} in them and no wildcards, got \"%.*s\"", shown,
               strstr (shown, SL_HIDDEN) != NULL ? 1 : (gint) strlen (bad), bad);
  return FALSE;
}

static void
append_json_string (GString *json, const char *key, const char *value)
{
  g_string_append_printf (json, "%s\"%s\":\"", json->len > 1 ? "," : "", key);
  for (const char *c = value; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\')
      g_string_append_c (json, '\\');
    g_string_append_c (json, g_ascii_iscntrl (*c) ? ' ' : *c);
  }
  g_string_append_c (json, '"');
}

char *
sl_mqtt_discovery (const char *topic, const char *availability, const char *id, const char *name)
{
  GString *json = g_string_new ("{");
  append_json_string (json, "name", name);
  append_json_string (json, "unique_id", id);
  append_json_string (json, "state_topic", topic);
  append_json_string (json, "value_template", "{{ value_json.objects | count }}");
  append_json_string (json, "json_attributes_topic", topic);
  append_json_string (json, "unit_of_measurement", "objects");
  append_json_string (json, "icon", "mdi:cctv");
  if (availability != NULL)
    append_json_string (json, "availability_topic", availability);
  g_string_append_printf (json, ",\"device\":{\"identifiers\":[\"%s\"],\"name\":\"Sightline\",\"sw_version\":\"" SL_VERSION "\"}}", id);
  return g_string_free (json, FALSE);
}

char *
sl_mqtt_count_discovery (const char *topic, const char *availability, const char *id, const char *label, char **object_id)
{
  GString *json = g_string_new ("{");
  g_autofree char *word = g_strcanon (g_strdup (label), G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-", '_');
  /* Two labels may differ in other characters alone. */
  *object_id = g_strdup_printf ("%s-%s-%08x", id, word, g_str_hash (label));
  g_autofree char *state = g_strdup_printf ("%s/%s", topic, label);
  append_json_string (json, "name", label);
  append_json_string (json, "unique_id", *object_id);
  append_json_string (json, "state_topic", state);
  append_json_string (json, "unit_of_measurement", "objects");
  append_json_string (json, "icon", "mdi:counter");
  if (availability != NULL)
    append_json_string (json, "availability_topic", availability);
  g_string_append_printf (json, ",\"device\":{\"identifiers\":[\"%s\"]}}", id);
  return g_string_free (json, FALSE);
}

struct _SlLabelCounts
{
  GHashTable *seen; /* label -> count */
};

#ifdef SL_HAVE_JSON_GLIB

SlLabelCounts *
sl_label_counts_new (void)
{
  SlLabelCounts *counts = g_new0 (SlLabelCounts, 1);
  counts->seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return counts;
}

/* A string or a number of @object, which may have anything under that name; NULL then. */
static JsonNode *
plain_member (JsonObject *object, const char *name)
{
  JsonNode *node = json_object_get_member (object, name);
  return node != NULL && JSON_NODE_HOLDS_VALUE (node) ? node : NULL;
}

static void
count_object (JsonArray *objects, guint index, JsonNode *node, gpointer user_data)
{
  GHashTable *now = user_data;
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return;
  JsonNode *type = plain_member (json_node_get_object (node), "roi_type");
  const char *label = type != NULL ? json_node_get_string (type) : NULL;
  if (label == NULL || *label == '\0')
    return;
  GString *level = g_string_new (NULL);
  append_name (level, label, fits_level);
  const guint count = GPOINTER_TO_UINT (g_hash_table_lookup (now, level->str));
  g_hash_table_insert (now, g_string_free (level, FALSE), GUINT_TO_POINTER (count + 1));
}

/* @kind/NAME and @more behind it: the number @member of a region. */
static void
count_region (GHashTable *now, JsonObject *region, const char *kind, const char *member, const char *more)
{
  JsonNode *called = plain_member (region, "name"), *number = plain_member (region, member);
  const char *name = called != NULL ? json_node_get_string (called) : NULL;
  const gint64 count = number != NULL ? json_node_get_int (number) : -1;
  if (name == NULL || *name == '\0' || count < 0)
    return;
  GString *level = g_string_new (kind);
  g_string_append_c (level, '/');
  append_name (level, name, fits_level);
  g_string_append (level, more);
  g_hash_table_insert (now, g_string_free (level, FALSE), GUINT_TO_POINTER ((guint) MIN (count, G_MAXINT)));
}

/* Of the array @kind of an analysis, which may be anything. */
static void
count_regions (GHashTable *now, JsonObject *analysis, const char *kind)
{
  JsonNode *node = json_object_get_member (analysis, kind);
  JsonArray *regions = node != NULL && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  for (guint i = 0; regions != NULL && i < json_array_get_length (regions); i++) {
    JsonNode *element = json_array_get_element (regions, i);
    if (!JSON_NODE_HOLDS_OBJECT (element))
      continue;
    if (g_str_equal (kind, "zones")) {
      count_region (now, json_node_get_object (element), kind, "inside", "");
      continue;
    }
    count_region (now, json_node_get_object (element), kind, "in", "/in");
    count_region (now, json_node_get_object (element), kind, "out", "/out");
  }
}

static GHashTable *
count_line (const char *line, gsize bytes)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  if (!json_parser_load_from_data (parser, line, (gssize) bytes, NULL))
    return NULL;
  JsonNode *root = json_parser_get_root (parser);
  JsonNode *objects =
    root != NULL && JSON_NODE_HOLDS_OBJECT (root) ? json_object_get_member (json_node_get_object (root), "objects") : NULL;
  if (objects == NULL || !JSON_NODE_HOLDS_ARRAY (objects))
    return NULL;
  GHashTable *now = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  json_array_foreach_element (json_node_get_array (objects), count_object, now);
  JsonNode *analysis = json_object_get_member (json_node_get_object (root), "analysis");
  if (analysis != NULL && JSON_NODE_HOLDS_OBJECT (analysis)) {
    count_regions (now, json_node_get_object (analysis), "zones");
    count_regions (now, json_node_get_object (analysis), "lines");
  }
  return now;
}

void
sl_label_counts_update (SlLabelCounts *counts, const char *line, gsize bytes, SlLabelChanged changed, gpointer user_data)
{
  g_autoptr (GHashTable) now = count_line (line, bytes);
  GHashTableIter iter;
  gpointer label, count;
  if (now == NULL)
    return;
  g_hash_table_iter_init (&iter, counts->seen);
  while (g_hash_table_iter_next (&iter, &label, &count)) {
    const gpointer current = g_hash_table_lookup (now, label);
    if (current != count) {
      g_hash_table_iter_replace (&iter, current);
      changed (user_data, label, GPOINTER_TO_UINT (current));
    }
    g_hash_table_remove (now, label);
  }
  g_hash_table_iter_init (&iter, now);
  while (g_hash_table_iter_next (&iter, &label, &count) && g_hash_table_size (counts->seen) < MAX_LABELS) {
    g_hash_table_insert (counts->seen, g_strdup (label), count);
    changed (user_data, label, GPOINTER_TO_UINT (count));
  }
}

#else

SlLabelCounts *
sl_label_counts_new (void)
{
  return NULL;
}

void
sl_label_counts_update (SlLabelCounts *counts, const char *line, gsize bytes, SlLabelChanged changed, gpointer user_data)
{
}

#endif

void
sl_label_counts_repeat (SlLabelCounts *counts, SlLabelChanged changed, gpointer user_data)
{
  GHashTableIter iter;
  gpointer label, count;
  g_hash_table_iter_init (&iter, counts->seen);
  while (g_hash_table_iter_next (&iter, &label, &count))
    changed (user_data, label, GPOINTER_TO_UINT (count));
}

void
sl_label_counts_free (SlLabelCounts *counts)
{
  if (counts != NULL)
    g_hash_table_unref (counts->seen);
  g_free (counts);
}
