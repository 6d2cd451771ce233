/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Announcements against what Home Assistant documents of entities that MQTT discovery makes: which
 * keys each kind has, of which type, which must be there, what classes and units they allow, and of
 * which characters ids are.
 */
#include <json-glib/json-glib.h>
#include <string.h>

#include "plugins/publish/home.h"
#include "plugins/publish/pace.h"
#include "tests/support/program.h"

typedef struct
{
  const char *name;
  GType type;
} Key;

/* What the pages of all five kinds have: "MQTT Sensor", "MQTT binary sensor", "MQTT Switch", "MQTT
 * Number", "MQTT Camera". */
static const Key common_keys[] = {
  { "availability_mode", G_TYPE_STRING },
  { "availability_template", G_TYPE_STRING },
  { "availability_topic", G_TYPE_STRING },
  { "default_entity_id", G_TYPE_STRING },
  { "enabled_by_default", G_TYPE_BOOLEAN },
  { "encoding", G_TYPE_STRING },
  { "entity_category", G_TYPE_STRING },
  { "entity_picture", G_TYPE_STRING },
  { "icon", G_TYPE_STRING },
  { "json_attributes_template", G_TYPE_STRING },
  { "json_attributes_topic", G_TYPE_STRING },
  { "name", G_TYPE_STRING },
  { "object_id", G_TYPE_STRING },
  { "payload_available", G_TYPE_STRING },
  { "payload_not_available", G_TYPE_STRING },
  { "platform", G_TYPE_STRING },
  { "unique_id", G_TYPE_STRING },
};
/* What each has beside that; the first @needed of them are required. */
static const struct
{
  const char *component;
  guint needed;
  Key keys[16];
} kinds[] = {
  { "sensor",
    1,
    { { "state_topic", G_TYPE_STRING },
      { "device_class", G_TYPE_STRING },
      { "expire_after", G_TYPE_INT64 },
      { "force_update", G_TYPE_BOOLEAN },
      { "last_reset_value_template", G_TYPE_STRING },
      { "qos", G_TYPE_INT64 },
      { "state_class", G_TYPE_STRING },
      { "suggested_display_precision", G_TYPE_INT64 },
      { "unit_of_measurement", G_TYPE_STRING },
      { "value_template", G_TYPE_STRING } } },
  { "binary_sensor",
    1,
    { { "state_topic", G_TYPE_STRING },
      { "device_class", G_TYPE_STRING },
      { "expire_after", G_TYPE_INT64 },
      { "force_update", G_TYPE_BOOLEAN },
      { "off_delay", G_TYPE_INT64 },
      { "payload_off", G_TYPE_STRING },
      { "payload_on", G_TYPE_STRING },
      { "qos", G_TYPE_INT64 },
      { "value_template", G_TYPE_STRING } } },
  { "switch",
    1,
    { { "command_topic", G_TYPE_STRING },
      { "command_template", G_TYPE_STRING },
      { "device_class", G_TYPE_STRING },
      { "optimistic", G_TYPE_BOOLEAN },
      { "payload_off", G_TYPE_STRING },
      { "payload_on", G_TYPE_STRING },
      { "qos", G_TYPE_INT64 },
      { "retain", G_TYPE_BOOLEAN },
      { "state_off", G_TYPE_STRING },
      { "state_on", G_TYPE_STRING },
      { "state_topic", G_TYPE_STRING },
      { "value_template", G_TYPE_STRING } } },
  { "number",
    1,
    { { "command_topic", G_TYPE_STRING },
      { "command_template", G_TYPE_STRING },
      { "device_class", G_TYPE_STRING },
      { "max", G_TYPE_INT64 },
      { "min", G_TYPE_INT64 },
      { "mode", G_TYPE_STRING },
      { "optimistic", G_TYPE_BOOLEAN },
      { "payload_reset", G_TYPE_STRING },
      { "qos", G_TYPE_INT64 },
      { "retain", G_TYPE_BOOLEAN },
      { "state_topic", G_TYPE_STRING },
      { "step", G_TYPE_DOUBLE },
      { "unit_of_measurement", G_TYPE_STRING },
      { "value_template", G_TYPE_STRING } } },
  { "camera", 1, { { "topic", G_TYPE_STRING }, { "image_encoding", G_TYPE_STRING } } },
};
static const Key device_keys[] = {
  { "configuration_url", G_TYPE_STRING }, { "hw_version", G_TYPE_STRING },
  { "manufacturer", G_TYPE_STRING },      { "model", G_TYPE_STRING },
  { "model_id", G_TYPE_STRING },          { "name", G_TYPE_STRING },
  { "serial_number", G_TYPE_STRING },     { "suggested_area", G_TYPE_STRING },
  { "sw_version", G_TYPE_STRING },        { "via_device", G_TYPE_STRING },
};

static const Key origin_keys[] = { { "name", G_TYPE_STRING },
                                   { "sw_version", G_TYPE_STRING },
                                   { "support_url", G_TYPE_STRING } };

static const Key *
find_key (const Key *keys, guint n, const char *name)
{
  for (guint i = 0; i < n && keys[i].name != NULL; i++)
    if (strcmp (keys[i].name, name) == 0)
      return &keys[i];
  return NULL;
}

static void
assert_key (JsonObject *object, const char *name, const Key *key)
{
  if (key == NULL)
    g_error ("Home Assistant knows no key \"%s\" there", name);
  g_assert_cmpstr (g_type_name (json_node_get_value_type (json_object_get_member (object, name))),
                   ==, g_type_name (key->type));
}

static void
assert_nested (JsonObject *object, const Key *keys, guint n)
{
  g_autoptr (GList) members = json_object_get_members (object);
  for (const GList *member = members; member != NULL; member = member->next)
    if (strcmp (member->data, "identifiers") != 0)
      assert_key (object, member->data, find_key (keys, n, member->data));
}

static void
assert_id (const char *id)
{
  g_assert_cmpuint (strspn (id, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-"), ==, strlen (id));
  g_assert_cmpuint (strlen (id), >, 0);
}

static const char *
text_of (JsonObject *object, const char *key)
{
  return json_object_has_member (object, key) ? json_object_get_string_member (object, key) : NULL;
}

static gboolean
is_one_of (const char *text, const char *const *list)
{
  return text == NULL || g_strv_contains (list, text);
}

/* What the pages on entities allow: "Sensor", "Binary sensor", "Entity". */
static void
assert_values (JsonObject *entity, const char *component)
{
  static const char *const state_classes[] = { "measurement", "measurement_angle", "total",
                                               "total_increasing", NULL };
  static const char *const categories[] = { "config", "diagnostic", NULL };
  static const char *const classes[] = { "occupancy",    "motion",  "presence",
                                         "connectivity", "problem", NULL };
  g_assert_true (is_one_of (text_of (entity, "state_class"), state_classes));
  g_assert_true (is_one_of (text_of (entity, "entity_category"), categories));
  if (strcmp (component, "binary_sensor") == 0)
    g_assert_true (is_one_of (text_of (entity, "device_class"), classes));
  if (text_of (entity, "icon") != NULL)
    g_assert_true (g_str_has_prefix (text_of (entity, "icon"), "mdi:"));
}

/* @user_data: (element-type utf8 JsonNode): topic -> announcement, each of them checked. */
static void
take (gpointer user_data, const char *topic, const char *text)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) levels = g_strsplit (topic, "/", -1);
  JsonNode *root = json_from_string (text, &error);
  guint kind = 0;
  g_assert_no_error (error);
  g_assert_true (JSON_NODE_HOLDS_OBJECT (root));
  JsonObject *entity = json_node_get_object (root);
  /* <discovery_prefix>/<component>/<node_id>/<object_id>/config */
  g_assert_cmpuint (g_strv_length (levels), ==, 5);
  g_assert_cmpstr (levels[0], ==, "homeassistant");
  g_assert_cmpstr (levels[4], ==, "config");
  assert_id (levels[2]);
  assert_id (levels[3]);
  while (kind < G_N_ELEMENTS (kinds) && strcmp (kinds[kind].component, levels[1]) != 0)
    kind++;
  g_assert_cmpuint (kind, <, G_N_ELEMENTS (kinds));
  g_autoptr (GList) members = json_object_get_members (entity);
  for (const GList *member = members; member != NULL; member = member->next) {
    const Key *key = find_key (common_keys, G_N_ELEMENTS (common_keys), member->data);
    if (strcmp (member->data, "device") != 0 && strcmp (member->data, "origin") != 0)
      assert_key (entity, member->data,
                  key != NULL
                    ? key
                    : find_key (kinds[kind].keys, G_N_ELEMENTS (kinds[kind].keys), member->data));
  }
  for (guint i = 0; i < kinds[kind].needed; i++)
    g_assert_true (json_object_has_member (entity, kinds[kind].keys[i].name));
  assert_values (entity, levels[1]);
  /* A device is only made of what has a unique id, and needs something to know it by. */
  assert_id (text_of (entity, "unique_id"));
  assert_id (text_of (entity, "object_id"));
  g_autofree char *entity_id = g_strdup_printf ("%s.%s", levels[1], text_of (entity, "object_id"));
  g_assert_cmpstr (text_of (entity, "default_entity_id"), ==, entity_id);
  JsonObject *device = json_object_get_object_member (entity, "device");
  assert_nested (device, device_keys, G_N_ELEMENTS (device_keys));
  assert_nested (json_object_get_object_member (entity, "origin"), origin_keys,
                 G_N_ELEMENTS (origin_keys));
  JsonArray *identifiers = json_object_get_array_member (device, "identifiers");
  g_assert_cmpuint (json_array_get_length (identifiers), ==, 1);
  g_assert_cmpstr (json_array_get_string_element (identifiers, 0), ==, levels[2]);
  g_assert_true (g_hash_table_insert (user_data, g_strdup (topic), root)); /* none twice */
}

static GHashTable *
taken_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) json_node_unref);
}

/* (transfer none): the entity whose name is @name. */
static JsonObject *
named (GHashTable *taken, const char *component, const char *name)
{
  GHashTableIter iter;
  gpointer topic, root;
  g_autofree char *begin = g_strdup_printf ("homeassistant/%s/", component);
  g_hash_table_iter_init (&iter, taken);
  while (g_hash_table_iter_next (&iter, &topic, &root))
    if (g_str_has_prefix (topic, begin)
        && strcmp (text_of (json_node_get_object (root), "name"), name) == 0)
      return json_node_get_object (root);
  g_error ("there is no %s \"%s\"", component, name);
}

static void
test_device (void)
{
  g_autoptr (GHashTable) taken = taken_new ();
  const SlHome home = { "homeassistant", "yard/door", "yard/door/available",
                        "the \"door\"\\ T\xc3\xbcr\n1" };
  sl_home_announce_device (&home, TRUE, TRUE, take, taken);
  g_assert_cmpuint (g_hash_table_size (taken), ==, 4);
  JsonObject *threshold = named (taken, "number", "Threshold"),
             *enabled = named (taken, "switch", "Publishing");
  g_assert_cmpstr (text_of (threshold, "command_topic"), ==, "yard/door/threshold/set");
  g_assert_cmpstr (text_of (threshold, "state_topic"), ==, "yard/door/threshold");
  g_assert_cmpstr (text_of (enabled, "command_topic"), ==, "yard/door/enabled/set");
  g_assert_cmpstr (text_of (named (taken, "camera", "Picture"), "topic"), ==, "yard/door/picture");
  g_assert_cmpstr (text_of (named (taken, "sensor", "Objects"), "state_topic"), ==, "yard/door");
  g_assert_cmpstr (text_of (named (taken, "sensor", "Objects"), "availability_topic"), ==,
                   "yard/door/available");
  g_autoptr (GHashTable) least = taken_new ();
  const SlHome plain = { "homeassistant", "yard/door", NULL, "door" };
  sl_home_announce_device (&plain, FALSE, FALSE, take, least);
  g_assert_cmpuint (g_hash_table_size (least), ==, 2);
}

/* The same camera has the same ids however its element is called; another topic has others. */
static void
test_ids (void)
{
  g_autoptr (GHashTable) taken = taken_new ();
  const char *topics[] = { "sightline/till1", "sightline/till2", "sightline_till1",
                           "sightline/till+1" };
  for (guint i = 0; i < G_N_ELEMENTS (topics); i++) {
    const SlHome home = { "homeassistant", topics[i], NULL, "till" };
    sl_home_announce_device (&home, TRUE, TRUE, take,
                             taken); /* which fails where one comes twice */
    sl_home_announce_count (&home, "person", take, taken);
  }
  g_assert_cmpuint (g_hash_table_size (taken), ==, 4 * 6);
}

/* Two labels that differ in characters alone that no id may have. */
static void
test_counts (void)
{
  static const struct
  {
    const char *level, *component, *name, *class, *unit;
  } rows[] = {
    { "person", "sensor", "person", "measurement", "objects" },
    { "person", "binary_sensor", "person present", NULL, NULL },
    { "traffic light", "sensor", "traffic light", "measurement", "objects" },
    { "traffic-light", "sensor", "traffic-light", "measurement", "objects" },
    { "zones/the \"door\"", "sensor", "the \"door\" inside", "measurement", "objects" },
    { "zones/the \"door\"", "binary_sensor", "the \"door\" occupied", NULL, NULL },
    { "zones/the \"door\"/entered", "sensor", "the \"door\" entered", "total_increasing", NULL },
    { "zones/entered", "sensor", "entered inside", "measurement", "objects" },
    { "zones/entered", "binary_sensor", "entered occupied", NULL, NULL },
    { "zones/entered/entered", "sensor", "entered entered", "total_increasing", NULL },
    { "lines/in/in", "sensor", "in in", "total_increasing", "crossings" },
    { "lines/way/in", "sensor", "way in", "total_increasing", "crossings" },
    { "lines/way/out", "sensor", "way out", "total_increasing", "crossings" },
    { "T\xc3\xbcr", "sensor", "T\xc3\xbcr", "measurement", "objects" },
  };
  g_autoptr (GHashTable) taken = taken_new ();
  const SlHome home = { "homeassistant", "yard/door", "yard/door/available", "door" };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (i == 0 || strcmp (rows[i].level, rows[i - 1].level) != 0)
      sl_home_announce_count (&home, rows[i].level, take, taken);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    JsonObject *entity = named (taken, rows[i].component, rows[i].name);
    g_autofree char *topic = g_strconcat ("yard/door/", rows[i].level, NULL);
    g_assert_cmpstr (text_of (entity, "state_topic"), ==, topic);
    g_assert_cmpstr (text_of (entity, "state_class"), ==, rows[i].class);
    g_assert_cmpstr (text_of (entity, "unit_of_measurement"), ==, rows[i].unit);
    g_assert_cmpint (sl_home_is_sum (rows[i].level), ==,
                     g_strcmp0 (rows[i].class, "total_increasing") == 0);
    if (strcmp (rows[i].component, "binary_sensor") == 0)
      g_assert_cmpstr (text_of (entity, "device_class"), ==, "occupancy");
  }
}

/* Whatever comes from the broker: only what is meant is obeyed. */
static void
test_commands (void)
{
  static const struct
  {
    SlHomeCommand command;
    const char *text;
    gdouble number; /* below 0: refused */
  } rows[] = {
    { SL_HOME_ENABLED, "ON", 1 },
    { SL_HOME_ENABLED, "OFF", 0 },
    { SL_HOME_ENABLED, "on", -1 },
    { SL_HOME_ENABLED, "ONN", -1 },
    { SL_HOME_ENABLED, "", -1 },
    { SL_HOME_THRESHOLD, "0.35", 0.35 },
    { SL_HOME_THRESHOLD, "1", 1 },
    { SL_HOME_THRESHOLD, "0", 0 },
    { SL_HOME_THRESHOLD, "1.01", -1 },
    { SL_HOME_THRESHOLD, "-0.1", -1 },
    { SL_HOME_THRESHOLD, "nan", -1 },
    { SL_HOME_THRESHOLD, "inf", -1 },
    { SL_HOME_THRESHOLD, "1e-1", -1 },
    { SL_HOME_THRESHOLD, "0x1", -1 },
    { SL_HOME_THRESHOLD, " 0.5", -1 },
    { SL_HOME_THRESHOLD, "0.5.5", -1 },
    { SL_HOME_THRESHOLD, ".", -1 },
    { SL_HOME_THRESHOLD, "0,5", -1 },
    { SL_HOME_THRESHOLD, "0.55555555555555555555", -1 },
  };
  const char *expected;
  gdouble number;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const gboolean good =
      sl_home_read (rows[i].command, rows[i].text, strlen (rows[i].text), &number, &expected);
    g_assert_cmpint (good, ==, rows[i].number >= 0);
    if (good)
      g_assert_cmpfloat (number, ==, rows[i].number);
    g_assert_cmpstr (expected, ==,
                     rows[i].command == SL_HOME_ENABLED ? "ON or OFF" : "a number from 0 to 1");
  }
  g_assert_false (sl_home_read (SL_HOME_THRESHOLD, "0.5\0", 4, &number, &expected));
}

static gboolean
takes (SlPace *pace, const char *line, gint64 ms)
{
  return sl_pace_takes (pace, line, strlen (line), 1000 + ms * 1000);
}

#define CAT "{\"objects\":[{\"roi_type\":\"cat\",\"id\":1}]}"
#define NONE "{\"objects\":[]}"
#define EVENT                                                              \
  "{\"objects\":[],\"analysis\":{\"zones\":[],\"lines\":[],\"inside\":[]," \
  "\"events\":[{\"event\":\"empty\",\"zone\":\"a\"}]}}"

/* Lines a second apart at least, of changes alone, and events in any case. */
static void
test_pace (void)
{
  SlPace pace = { 0 };
  sl_pace_init (&pace, 1000000, TRUE, TRUE);
  g_assert_true (takes (&pace, NONE, 0));
  g_assert_false (takes (&pace, NONE, 2000));
  g_assert_true (takes (&pace, CAT, 3000));
  g_assert_false (takes (&pace, NONE, 3500));
  g_assert_false (takes (&pace, CAT, 3600));
  g_assert_true (takes (&pace, CAT, 4100)); /* it changed meanwhile */
  g_assert_false (takes (&pace, CAT, 9000));
  g_assert_true (takes (&pace, EVENT, 9010));
  g_assert_true (takes (&pace, EVENT, 9020));
  sl_pace_init (&pace, 0, FALSE, FALSE);
  for (guint i = 0; i < 3; i++)
    g_assert_true (takes (&pace, CAT, 0));
  sl_pace_clear (&pace);
}

static void
ignore (gpointer user_data, const char *label, guint count)
{
}

/* A class is told after five lines in a row with a followed object; a zone at once; flickering
 * never. */
static void
test_confirmed (void)
{
  SlLabelCounts *counts = sl_label_counts_new ();
  for (guint i = 0; i < 40; i++) {
    g_autofree char *line = g_strdup_printf (
      "{\"objects\":[{\"roi_type\":\"cat\",\"id\":1},{\"roi_type\":\"vase\"}%s]%s}",
      i % 3 == 0 ? ",{\"roi_type\":\"dog\",\"id\":2}" : "",
      i >= 10 ? ",\"analysis\":{\"zones\":[{\"name\":\"door\",\"inside\":0}]}" : "");
    sl_label_counts_update (counts, line, strlen (line), ignore, NULL);
    g_autofree char *told = sl_label_counts_take_confirmed (counts);
    if (i == 4)
      g_assert_cmpstr (told, ==, "cat\n");
    else if (i == 10)
      g_assert_true (strlen (told) == strlen ("cat\nzones/door\n")
                     && strstr (told, "zones/door\n") != NULL && strstr (told, "cat\n") != NULL);
    else
      g_assert_null (told);
  }
  sl_label_counts_free (counts);
}

TEST_MAIN (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/publish-homeassistant/device", test_device);
  g_test_add_func ("/publish-homeassistant/ids", test_ids);
  g_test_add_func ("/publish-homeassistant/counts", test_counts);
  g_test_add_func ("/publish-homeassistant/commands", test_commands);
  g_test_add_func ("/publish-homeassistant/pace", test_pace);
  g_test_add_func ("/publish-homeassistant/confirmed", test_confirmed);
  return g_test_run ();
}
