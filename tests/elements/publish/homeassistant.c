/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Announcements against what Home Assistant documents of a sensor that MQTT discovery makes: which keys there are, of which type, which must
 * be there, which exclude each other, and of which characters an object id is.
 */
#include <json-glib/json-glib.h>
#include <string.h>

#include "plugins/publish/topic.h"

typedef struct
{
  const char *name;
  GType type;
} Key;

/* The pages "MQTT Sensor" and "MQTT discovery". */
static const Key sensor_keys[] = {
  { "availability_mode", G_TYPE_STRING },
  { "availability_template", G_TYPE_STRING },
  { "availability_topic", G_TYPE_STRING },
  { "default_entity_id", G_TYPE_STRING },
  { "device_class", G_TYPE_STRING },
  { "enabled_by_default", G_TYPE_BOOLEAN },
  { "encoding", G_TYPE_STRING },
  { "entity_category", G_TYPE_STRING },
  { "entity_picture", G_TYPE_STRING },
  { "expire_after", G_TYPE_INT64 },
  { "force_update", G_TYPE_BOOLEAN },
  { "icon", G_TYPE_STRING },
  { "json_attributes_template", G_TYPE_STRING },
  { "json_attributes_topic", G_TYPE_STRING },
  { "last_reset_value_template", G_TYPE_STRING },
  { "name", G_TYPE_STRING },
  { "object_id", G_TYPE_STRING },
  { "payload_available", G_TYPE_STRING },
  { "payload_not_available", G_TYPE_STRING },
  { "platform", G_TYPE_STRING },
  { "qos", G_TYPE_INT64 },
  { "state_class", G_TYPE_STRING },
  { "state_topic", G_TYPE_STRING },
  { "suggested_display_precision", G_TYPE_INT64 },
  { "unique_id", G_TYPE_STRING },
  { "unit_of_measurement", G_TYPE_STRING },
  { "value_template", G_TYPE_STRING },
};
static const Key device_keys[] = {
  { "configuration_url", G_TYPE_STRING }, { "hw_version", G_TYPE_STRING },
  { "manufacturer", G_TYPE_STRING },      { "model", G_TYPE_STRING },
  { "model_id", G_TYPE_STRING },          { "name", G_TYPE_STRING },
  { "serial_number", G_TYPE_STRING },     { "suggested_area", G_TYPE_STRING },
  { "sw_version", G_TYPE_STRING },        { "via_device", G_TYPE_STRING },
};

static void
assert_keys (JsonObject *object, const Key *keys, guint n, const char *nested)
{
  g_autoptr (GList) members = json_object_get_members (object);
  for (const GList *member = members; member != NULL; member = member->next) {
    const char *name = member->data;
    guint i = 0;
    if (strcmp (name, nested) == 0)
      continue;
    while (i < n && strcmp (keys[i].name, name) != 0)
      i++;
    if (i == n)
      g_error ("Home Assistant knows no key \"%s\"", name);
    g_assert_cmpstr (g_type_name (json_node_get_value_type (json_object_get_member (object, name))), ==, g_type_name (keys[i].type));
  }
}

static void
assert_id (const char *id)
{
  g_assert_cmpuint (strspn (id, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-"), ==, strlen (id));
  g_assert_cmpuint (strlen (id), >, 0);
}

/* (transfer full): the announcement, which is one of a sensor. */
static JsonNode *
assert_sensor (const char *text)
{
  g_autoptr (GError) error = NULL;
  JsonNode *root = json_from_string (text, &error);
  g_assert_no_error (error);
  g_assert_true (JSON_NODE_HOLDS_OBJECT (root));
  JsonObject *sensor = json_node_get_object (root);
  assert_keys (sensor, sensor_keys, G_N_ELEMENTS (sensor_keys), "device");
  g_assert_true (json_object_has_member (sensor, "state_topic"));
  /* A device is only made of what has a unique id, and needs something to know it by. */
  g_assert_true (json_object_has_member (sensor, "unique_id"));
  assert_id (json_object_get_string_member (sensor, "unique_id"));
  JsonObject *device = json_object_get_object_member (sensor, "device");
  assert_keys (device, device_keys, G_N_ELEMENTS (device_keys), "identifiers");
  JsonArray *identifiers = json_object_get_array_member (device, "identifiers");
  g_assert_cmpuint (json_array_get_length (identifiers), ==, 1);
  assert_id (json_array_get_string_element (identifiers, 0));
  return root;
}

static void
test_objects (void)
{
  static const char *const names[] = { "slpublish0", "the \"door\"\\", "T\xc3\xbcr\n1" };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *text = sl_mqtt_discovery ("yard/door", i == 0 ? "yard/door/available" : NULL, "sightline-host-door", names[i]);
    g_autoptr (JsonNode) root = assert_sensor (text);
    JsonObject *sensor = json_node_get_object (root);
    g_assert_cmpint (json_object_has_member (sensor, "availability_topic"), ==, i == 0);
    g_assert_cmpstr (json_object_get_string_member (sensor, "state_topic"), ==, "yard/door");
    g_assert_cmpstr (json_object_get_string_member (sensor, "json_attributes_topic"), ==, "yard/door");
  }
}

/* Two labels that differ in characters alone that no id may have. */
static void
test_counts (void)
{
  static const char *const labels[] = { "person", "traffic light", "traffic-light", "traffic.light", "zones/the \"door\"", "T\xc3\xbcr" };
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (labels); i++) {
    char *object_id = NULL;
    g_autofree char *text = sl_mqtt_count_discovery ("yard/door", "yard/door/available", "sightline-host-door", labels[i], &object_id);
    g_autofree char *topic = g_strconcat ("yard/door/", labels[i], NULL);
    g_autoptr (JsonNode) root = assert_sensor (text);
    JsonObject *sensor = json_node_get_object (root);
    assert_id (object_id);
    g_assert_cmpstr (json_object_get_string_member (sensor, "unique_id"), ==, object_id);
    g_assert_cmpstr (json_object_get_string_member (sensor, "state_topic"), ==, topic);
    g_assert_cmpstr (json_object_get_string_member (sensor, "name"), ==, labels[i]);
    g_assert_true (g_hash_table_add (seen, object_id));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/publish-homeassistant/objects", test_objects);
  g_test_add_func ("/publish-homeassistant/counts", test_counts);
  return g_test_run ();
}
