/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Entities as rows: their kind, name, unit and what else Home Assistant wants to know of each. */
#include "config.h"
#include "plugins/publish/home.h"

#include <math.h>
#include <string.h>

#include "core/base/json.h"

#define MAX_COMMAND_BYTES 16

const char *const sl_home_command_names[SL_HOME_N_COMMANDS] = {
  [SL_HOME_ENABLED] = "enabled", [SL_HOME_THRESHOLD] = "threshold"
};

#define IS_THERE                                                                                  \
  "\"device_class\":\"occupancy\",\"value_template\":\"{{ 'ON' if value | int(0) > 0 else 'OFF' " \
  "}}\""
#define PRESENT \
  "\"state_class\":\"measurement\",\"unit_of_measurement\":\"objects\",\"icon\":\"mdi:counter\""

/* @component: of the announcement's topic; @word: in ids; @name: printf's, with the label, zone
 * or line in it; @more: further keys */
typedef struct
{
  const char *component, *word, *name, *more;
} Entity;

static const Entity objects = {
  "sensor", "objects", "Objects", "\"value_template\":\"{{ value_json.objects | count }}\"," PRESENT
};
static const Entity picture_entity = { "camera", "picture", "Picture", "\"icon\":\"mdi:cctv\"" };
static const Entity commands[SL_HOME_N_COMMANDS] = {
  [SL_HOME_ENABLED] = { "switch", "enabled", "Publishing",
                        "\"entity_category\":\"config\",\"icon\":\"mdi:broadcast\"" },
  [SL_HOME_THRESHOLD] = { "number", "threshold", "Threshold",
                          "\"min\":0,\"max\":1,\"step\":0.01,\"mode\":\"slider\","
                          "\"entity_category\":\"config\",\"icon\":\"mdi:tune\"" },
};

/* Of the count at a level with this beginning and end. */
static const struct
{
  const char *begin, *end;
  gboolean sum;
  Entity entities[2];
} counts[] = {
  { "zones/",
    "/entered",
    TRUE,
    { { "sensor", "entered", "%s entered",
        "\"state_class\":\"total_increasing\",\"icon\":\"mdi:location-enter\"" } } },
  { "lines/",
    "/in",
    TRUE,
    { { "sensor", "in", "%s in",
        "\"state_class\":\"total_increasing\",\"unit_of_measurement\":\"crossings\","
        "\"icon\":\"mdi:arrow-right\"" } } },
  { "lines/",
    "/out",
    TRUE,
    { { "sensor", "out", "%s out",
        "\"state_class\":\"total_increasing\",\"unit_of_measurement\":\"crossings\","
        "\"icon\":\"mdi:arrow-left\"" } } },
  { "zones/",
    "",
    FALSE,
    { { "sensor", "inside", "%s inside", PRESENT },
      { "binary_sensor", "occupied", "%s occupied", IS_THERE } } },
  { "",
    "",
    FALSE,
    { { "sensor", "count", "%s", PRESENT },
      { "binary_sensor", "present", "%s present", IS_THERE } } },
};

/* (transfer full): letters, digits and '_' alone: what entity ids are of. */
static char *
slug (const char *text)
{
  g_autofree char *small = g_utf8_strdown (text, -1);
  return g_strdup (g_strcanon (small, "abcdefghijklmnopqrstuvwxyz" G_CSET_DIGITS, '_'));
}

/* Other topics may have the same letters and digits. */
static char *
id_of (const char *topic)
{
  g_autofree char *word = slug (topic);
  return g_strdup_printf ("%s%s_%08x", g_str_has_prefix (word, "sightline") ? "" : "sightline_",
                          word, g_str_hash (topic));
}

static void
add (GString *json, const char *key, const char *value)
{
  if (value == NULL)
    return;
  g_string_append_printf (json, "%s\"%s\":", json->len > 1 ? "," : "", key);
  sl_json_append_string (json, value);
}

static void
add_device (GString *json, const SlHome *home, const char *id)
{
  g_string_append_printf (json, ",\"device\":{\"identifiers\":[\"%s\"],\"name\":", id);
  sl_json_append_string (json, home->device);
  g_string_append (
    json,
    ",\"manufacturer\":\"Sightline\",\"model\":\"Camera\",\"sw_version\":\"" SL_VERSION "\"}");
  g_string_append (json, ",\"origin\":{\"name\":\"Sightline\",\"sw_version\":\"" SL_VERSION "\"}");
}

/* @of: (nullable): the label, zone or line; @keys: names and values of topics, NULL at the end */
static void G_GNUC_NULL_TERMINATED
announce_entity (const SlHome *home, const Entity *entity, const char *of, SlHomeAnnounce announce,
                 gpointer user_data, ...)
{
  g_autofree char *id = id_of (home->topic), *device = slug (home->device),
                  *part = of != NULL ? slug (of) : NULL;
  /* Two labels may differ in other characters alone. */
  g_autofree char *mine = of != NULL
                            ? g_strdup_printf ("%s_%s_%08x", part, entity->word, g_str_hash (of))
                            : g_strdup (entity->word);
  g_autofree char *unique = g_strdup_printf ("%s_%s", id, mine);
  g_autofree char *object = of != NULL ? g_strdup_printf ("%s_%s_%s", device, part, entity->word)
                                       : g_strdup_printf ("%s_%s", device, entity->word);
  g_autofree char *entity_id = g_strdup_printf ("%s.%s", entity->component, object);
  g_autoptr (GString) json = g_string_new ("{"), name = g_string_new (entity->name);
  if (of != NULL)
    g_string_replace (name, "%s", of, 1);
  add (json, "name", name->str);
  add (json, "unique_id", unique);
  add (json, "object_id", object);
  add (json, "default_entity_id", entity_id);
  add (json, "availability_topic", home->availability);
  va_list keys;
  va_start (keys, user_data);
  for (const char *key = va_arg (keys, const char *); key != NULL;
       key = va_arg (keys, const char *))
    add (json, key, va_arg (keys, const char *));
  va_end (keys);
  g_string_append_printf (json, ",%s", entity->more);
  add_device (json, home, id);
  g_string_append_c (json, '}');
  g_autofree char *topic =
    g_strdup_printf ("%s/%s/%s/%s/config", home->prefix, entity->component, id, mine);
  announce (user_data, topic, json->str);
}

static void
announce_command (const SlHome *home, SlHomeCommand command, SlHomeAnnounce announce,
                  gpointer user_data)
{
  g_autofree char *state = g_strdup_printf ("%s/%s", home->topic, sl_home_command_names[command]),
                  *set = g_strconcat (state, "/set", NULL);
  announce_entity (home, &commands[command], NULL, announce, user_data, "state_topic", state,
                   "command_topic", set, NULL);
}

void
sl_home_announce_device (const SlHome *home, gboolean picture, gboolean threshold,
                         SlHomeAnnounce announce, gpointer user_data)
{
  g_autofree char *pictures = g_strconcat (home->topic, "/picture", NULL);
  announce_entity (home, &objects, NULL, announce, user_data, "state_topic", home->topic, NULL);
  announce_command (home, SL_HOME_ENABLED, announce, user_data);
  if (threshold)
    announce_command (home, SL_HOME_THRESHOLD, announce, user_data);
  if (picture)
    announce_entity (home, &picture_entity, NULL, announce, user_data, "topic", pictures, NULL);
}

/* Between the beginning and the end there is a name: "zones/entered" is the zone "entered". */
static guint
find_count (const char *level)
{
  const gsize length = strlen (level);
  guint i = 0;
  while (i + 1 < G_N_ELEMENTS (counts)
         && (length <= strlen (counts[i].begin) + strlen (counts[i].end)
             || !g_str_has_prefix (level, counts[i].begin)
             || !g_str_has_suffix (level, counts[i].end)))
    i++;
  return i;
}

gboolean
sl_home_is_sum (const char *level)
{
  return counts[find_count (level)].sum;
}

void
sl_home_announce_count (const SlHome *home, const char *level, SlHomeAnnounce announce,
                        gpointer user_data)
{
  const guint i = find_count (level);
  const gsize begin = strlen (counts[i].begin), end = strlen (counts[i].end);
  g_autofree char *of = g_strndup (level + begin, strlen (level) - begin - end),
                  *state = g_strdup_printf ("%s/%s", home->topic, level);
  for (guint e = 0;
       e < G_N_ELEMENTS (counts[i].entities) && counts[i].entities[e].component != NULL; e++)
    announce_entity (home, &counts[i].entities[e], of, announce, user_data, "state_topic", state,
                     NULL);
}

gboolean
sl_home_read (SlHomeCommand command, const char *text, gsize bytes, gdouble *number,
              const char **expected)
{
  char word[MAX_COMMAND_BYTES + 1] = "", *end = word;
  *expected = command == SL_HOME_ENABLED ? "ON or OFF" : "a number from 0 to 1";
  if (bytes == 0 || bytes > MAX_COMMAND_BYTES)
    return FALSE;
  memcpy (word, text, bytes);
  if (strlen (word) != bytes)
    return FALSE;
  if (command == SL_HOME_ENABLED) {
    *number = strcmp (word, "ON") == 0;
    return *number == 1 || strcmp (word, "OFF") == 0;
  }
  if (strspn (word, "0123456789.") != bytes)
    return FALSE;
  *number = g_ascii_strtod (word, &end);
  return *end == '\0' && end != word && *number >= 0 && *number <= 1;
}
