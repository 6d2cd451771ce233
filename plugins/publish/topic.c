/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Topic templates of MQTT locations, counts of labels. Counts a label under the topic: the topics that Frigate's users have.
 */
#include "config.h"
#include "plugins/publish/topic.h"

#include <string.h>
#ifdef SL_HAVE_JSON_GLIB
#include <json-glib/json-glib.h>
#endif

#include "core/base/redact.h"
#include "core/base/printable.h"
#include "plugins/publish/home.h"
#include "sightline/error.h"

#define MAX_LABELS 256
/* Lines in a row after which a class is no false alarm. */
#define CONFIRM_LINES 5

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

/* @count: of the last line; @run: lines in a row that surely have it */
typedef struct
{
  guint count, run;
  gboolean confirmed;
} Seen;

struct _SlLabelCounts
{
  GHashTable *seen;   /* label -> Seen */
  gboolean ids;       /* some object had an id: those without are not sure */
  gboolean confirmed; /* one more than was asked about */
};

/* Of what one line says. */
typedef struct
{
  GHashTable *counts;  /* label -> count */
  GHashTable *tracked; /* labels of objects with an id */
} Line;

#ifdef SL_HAVE_JSON_GLIB

SlLabelCounts *
sl_label_counts_new (void)
{
  SlLabelCounts *counts = g_new0 (SlLabelCounts, 1);
  counts->seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
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
  const Line *now = user_data;
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return;
  JsonNode *type = plain_member (json_node_get_object (node), "roi_type");
  const char *label = type != NULL ? json_node_get_string (type) : NULL;
  if (label == NULL || *label == '\0')
    return;
  GString *level = g_string_new (NULL);
  append_name (level, label, fits_level);
  const guint count = GPOINTER_TO_UINT (g_hash_table_lookup (now->counts, level->str));
  JsonNode *id = plain_member (json_node_get_object (node), "id");
  if (id != NULL && json_node_get_int (id) > 0)
    g_hash_table_add (now->tracked, g_strdup (level->str));
  g_hash_table_insert (now->counts, g_string_free (level, FALSE), GUINT_TO_POINTER (count + 1));
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
      count_region (now, json_node_get_object (element), kind, "entered", "/entered");
      continue;
    }
    count_region (now, json_node_get_object (element), kind, "in", "/in");
    count_region (now, json_node_get_object (element), kind, "out", "/out");
  }
}

/* FALSE where @line is no prediction. */
static gboolean
count_line (const char *line, gsize bytes, Line *now)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  if (!json_parser_load_from_data (parser, line, (gssize) bytes, NULL))
    return FALSE;
  JsonNode *root = json_parser_get_root (parser);
  JsonNode *objects =
    root != NULL && JSON_NODE_HOLDS_OBJECT (root) ? json_object_get_member (json_node_get_object (root), "objects") : NULL;
  if (objects == NULL || !JSON_NODE_HOLDS_ARRAY (objects))
    return FALSE;
  json_array_foreach_element (json_node_get_array (objects), count_object, now);
  JsonNode *analysis = json_object_get_member (json_node_get_object (root), "analysis");
  if (analysis != NULL && JSON_NODE_HOLDS_OBJECT (analysis)) {
    count_regions (now->counts, json_node_get_object (analysis), "zones");
    count_regions (now->counts, json_node_get_object (analysis), "lines");
  }
  return TRUE;
}

/* Zones and lines are there by themselves; a class is after some lines in a row with an object that is followed, where any is. */
static void
confirm (SlLabelCounts *counts, const Line *now, const char *label, Seen *seen)
{
  const gboolean there = seen->count > 0 && (!counts->ids || g_hash_table_contains (now->tracked, label));
  seen->run = there ? seen->run + 1 : 0;
  if (seen->confirmed || (seen->run < CONFIRM_LINES && strchr (label, '/') == NULL))
    return;
  seen->confirmed = counts->confirmed = TRUE;
}

void
sl_label_counts_update (SlLabelCounts *counts, const char *line, gsize bytes, SlLabelChanged changed, gpointer user_data)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) tracked = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Line now = { numbers, tracked };
  GHashTableIter iter;
  gpointer label, value;
  if (!count_line (line, bytes, &now))
    return;
  counts->ids = counts->ids || g_hash_table_size (tracked) > 0;
  g_hash_table_iter_init (&iter, numbers);
  while (g_hash_table_iter_next (&iter, &label, &value) && g_hash_table_size (counts->seen) < MAX_LABELS)
    if (!g_hash_table_contains (counts->seen, label)) {
      Seen *fresh = g_new0 (Seen, 1);
      fresh->count = G_MAXUINT; /* that of no line: it has changed */
      g_hash_table_insert (counts->seen, g_strdup (label), fresh);
    }
  g_hash_table_iter_init (&iter, counts->seen);
  while (g_hash_table_iter_next (&iter, &label, &value)) {
    Seen *seen = value;
    const guint current = GPOINTER_TO_UINT (g_hash_table_lookup (numbers, label));
    const gboolean differs = current != seen->count;
    seen->count = current;
    confirm (counts, &now, label, seen);
    if (differs)
      changed (user_data, label, current);
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
  gpointer label, seen;
  g_hash_table_iter_init (&iter, counts->seen);
  while (g_hash_table_iter_next (&iter, &label, &seen))
    changed (user_data, label, ((Seen *) seen)->count);
}

void
sl_label_counts_leave (SlLabelCounts *counts, SlLabelChanged changed, gpointer user_data)
{
  GHashTableIter iter;
  gpointer label, value;
  g_hash_table_iter_init (&iter, counts->seen);
  while (g_hash_table_iter_next (&iter, &label, &value)) {
    Seen *seen = value;
    if (seen->count == 0 || sl_home_is_sum (label))
      continue;
    seen->count = 0;
    changed (user_data, label, 0);
  }
}

char *
sl_label_counts_take_confirmed (SlLabelCounts *counts)
{
  GHashTableIter iter;
  gpointer label, seen;
  if (!counts->confirmed)
    return NULL;
  GString *list = g_string_new (NULL);
  counts->confirmed = FALSE;
  g_hash_table_iter_init (&iter, counts->seen);
  while (g_hash_table_iter_next (&iter, &label, &seen))
    if (((Seen *) seen)->confirmed)
      g_string_append_printf (list, "%s\n", (const char *) label);
  return g_string_free (list, FALSE);
}

void
sl_label_counts_free (SlLabelCounts *counts)
{
  if (counts != NULL)
    g_hash_table_unref (counts->seen);
  g_free (counts);
}
