/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties on a message bus. The bus decides who may call; the log has the user of each change.
 */
#include "tools/run/dbus.h"

#include <gio/gio.h>
#include <string.h>

#include "core/base/fail.h"
#include "tools/run/log.h"
#include "tools/run/worker.h"

#define BUS_NAME "org.sightline.Run"
#define INTERFACE "org.sightline.Pipeline"
#define FOLDER "/org/sightline/pipelines/"

static const char interface_xml[] =
  "<node><interface name='" INTERFACE "'>"
  "<property name='Name' type='s' access='read'/><property name='State' type='s' access='read'/>"
  "<property name='Threshold' type='d' access='readwrite'/>"
  "<property name='Classes' type='s' access='readwrite'/>"
  "<property name='Rate' type='d' access='readwrite'/>"
  "<property name='Recording' type='b' access='readwrite'/>"
  "<property name='Redaction' type='b' access='readwrite'/></interface></node>";

struct _SlRunDbus
{
  GDBusConnection *connection;
  GDBusNodeInfo *info;
  GArray *objects; /* of guint: registrations */
};

/* FALSE: @property is no setting. */
static gboolean
kind_of (const char *property, SlLiveKind *kind)
{
  for (guint i = 0; i < SL_N_LIVE; i++)
    if (g_ascii_strcasecmp (property, sl_live_rows[i].key) == 0) {
      *kind = (SlLiveKind) i;
      return TRUE;
    }
  return FALSE;
}

static GstElement *
find (SlWorker *worker, SlLiveKind kind)
{
  GstElement *pipeline = sl_worker_pipeline (worker);
  return pipeline != NULL ? sl_live_find (pipeline, kind) : NULL;
}

/* What is not stated, or not known, is "", -1 and 0. */
static GVariant *
value_of (SlWorker *worker, SlLiveKind kind)
{
  g_autoptr (GstElement) element = find (worker, kind);
  g_autofree char *text = element != NULL ? sl_live_text (element, kind) : g_strdup ("");
  const gdouble number = g_ascii_strtod (text, NULL);
  if (kind == SL_LIVE_CLASSES)
    return g_variant_new_string (text);
  if (kind == SL_LIVE_RECORDING || kind == SL_LIVE_REDACTION)
    return g_variant_new_boolean (strcmp (text, "true") == 0);
  if (kind == SL_LIVE_RATE)
    return g_variant_new_double (
      element != NULL && number >= 1 ? sl_live_frame_rate (element) / number : 0);
  return g_variant_new_double (*text != '\0' ? number : -1);
}

static GVariant *
on_get (GDBusConnection *connection, const char *sender, const char *path, const char *interface,
        const char *property, GError **error, gpointer data)
{
  SlWorker *worker = data;
  SlLiveKind kind;
  if (kind_of (property, &kind))
    return value_of (worker, kind);
  return g_variant_new_string (strcmp (property, "Name") == 0
                                 ? sl_worker_name (worker)
                                 : sl_worker_state_name (sl_worker_state (worker)));
}

/* @text: of @value, which must live as long */
static SlLiveWish
wish_of (SlLiveKind kind, GVariant *value)
{
  SlLiveWish wish = { .kind = SL_LIVE_NOTHING };
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_BOOLEAN)) {
    wish.kind = g_variant_get_boolean (value) ? SL_LIVE_ON : SL_LIVE_OFF;
  } else if (g_variant_is_of_type (value, G_VARIANT_TYPE_STRING)) {
    wish.text = (char *) g_variant_get_string (value, NULL);
    wish.kind = *wish.text != '\0' ? SL_LIVE_TEXT : SL_LIVE_NOTHING;
  } else {
    wish.number = g_variant_get_double (value);
    if (kind == SL_LIVE_RATE ? wish.number != 0 : wish.number != -1)
      wish.kind = SL_LIVE_NUMBER;
  }
  return wish;
}

/* (transfer full): "user 1000", as the bus knows it. */
static char *
user_of (GDBusConnection *connection, const char *sender)
{
  guint32 user = 0;
  g_autoptr (GVariant) answer = g_dbus_connection_call_sync (
    connection, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
    "GetConnectionUnixUser", g_variant_new ("(s)", sender), G_VARIANT_TYPE ("(u)"),
    G_DBUS_CALL_FLAGS_NONE, 1000, NULL, NULL);
  if (answer == NULL)
    return g_strdup (sender);
  g_variant_get (answer, "(u)", &user);
  return g_strdup_printf ("user %u", user);
}

static void
tell_changed (GDBusConnection *connection, const char *path, const char *property, GVariant *value)
{
  GVariantBuilder changed;
  g_variant_builder_init (&changed, G_VARIANT_TYPE ("a{sv}"));
  g_variant_builder_add (&changed, "{sv}", property, value);
  g_dbus_connection_emit_signal (connection, NULL, path, "org.freedesktop.DBus.Properties",
                                 "PropertiesChanged",
                                 g_variant_new ("(sa{sv}as)", INTERFACE, &changed, NULL), NULL);
}

static gboolean
on_set (GDBusConnection *connection, const char *sender, const char *path, const char *interface,
        const char *property, GVariant *value, GError **error, gpointer data)
{
  SlWorker *worker = data;
  SlLiveKind kind = SL_LIVE_THRESHOLD;
  kind_of (property, &kind);
  g_autoptr (GstElement) element = find (worker, kind);
  g_autofree char *why = sl_live_why_not (kind, element, sl_worker_description (worker));
  g_autofree char *text = NULL;
  const SlLiveWish wish = wish_of (kind, value);
  if (why != NULL)
    return sl_fail (error, SL_ERROR_ARGUMENT, "%s: %s", sl_live_rows[kind].key, why);
  if (!sl_live_check (kind, element, &wish, &text, error))
    return FALSE;
  g_autofree char *before = sl_live_text (element, kind);
  if (!sl_live_set (sl_worker_live (worker), element, kind, text, error))
    return FALSE;
  g_autofree char *now = sl_live_text (element, kind), *user = user_of (connection, sender);
  sl_run_log (SL_LOG_INFO, sl_worker_name (worker), "changed",
              "%s of the message bus: %s: '%s' instead of '%s'", user, sl_live_rows[kind].property,
              now, before);
  tell_changed (connection, path, property, value_of (worker, kind));
  return TRUE;
}

static const GDBusInterfaceVTable interface_table = { .get_property = on_get,
                                                      .set_property = on_set };

/* (transfer full): letters and digits stay, the rest is "_XX" as in names of systemd's units. */
static char *
path_of (const char *name)
{
  GString *path = g_string_new (FOLDER);
  for (const char *at = name; *at != '\0'; at++)
    if (g_ascii_isalnum (*at))
      g_string_append_c (path, *at);
    else
      g_string_append_printf (path, "_%02x", (guchar) *at);
  return g_string_free (path, FALSE);
}

static gboolean
offer (SlRunDbus *dbus, GPtrArray *workers, GError **error)
{
  dbus->info = g_dbus_node_info_new_for_xml (interface_xml, error);
  for (guint i = 0; dbus->info != NULL && i < workers->len; i++) {
    g_autofree char *path = path_of (sl_worker_name (workers->pdata[i]));
    const guint object =
      g_dbus_connection_register_object (dbus->connection, path, dbus->info->interfaces[0],
                                         &interface_table, workers->pdata[i], NULL, error);
    if (object == 0)
      return FALSE;
    g_array_append_val (dbus->objects, object);
  }
  return dbus->info != NULL;
}

/* FALSE where the bus does not give the name, or another program has it. */
static gboolean
take_name (SlRunDbus *dbus, GError **error)
{
  guint32 reply = 0;
  g_autoptr (GVariant) answer = g_dbus_connection_call_sync (
    dbus->connection, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
    "RequestName", g_variant_new ("(su)", BUS_NAME, 4), G_VARIANT_TYPE ("(u)"),
    G_DBUS_CALL_FLAGS_NONE, 5000, NULL, error);
  if (answer == NULL)
    return FALSE;
  g_variant_get (answer, "(u)", &reply);
  return reply == 1
         || sl_fail (error, SL_ERROR_OPEN,
                     "another program has the name " BUS_NAME ": expected one that runs alone");
}

static GBusType
type_of (const char *bus)
{
  return strcmp (bus, "session") == 0  ? G_BUS_TYPE_SESSION
         : strcmp (bus, "system") == 0 ? G_BUS_TYPE_SYSTEM
                                       : G_BUS_TYPE_NONE;
}

gboolean
sl_run_dbus_check (const char *bus, GError **error)
{
  return bus == NULL || type_of (bus) != G_BUS_TYPE_NONE
         || sl_fail (error, SL_ERROR_ARGUMENT, "--dbus: expected session or system, got '%s'", bus);
}

SlRunDbus *
sl_run_dbus_new (const char *bus, GPtrArray *workers, GError **error)
{
  SlRunDbus *dbus = g_new0 (SlRunDbus, 1);
  dbus->objects = g_array_new (FALSE, FALSE, sizeof (guint));
  dbus->connection = g_bus_get_sync (type_of (bus), NULL, error);
  if (dbus->connection != NULL)
    g_dbus_connection_set_exit_on_close (dbus->connection, FALSE);
  if (dbus->connection != NULL && offer (dbus, workers, error) && take_name (dbus, error))
    return dbus;
  g_prefix_error (error, "--dbus %s: ", bus);
  sl_run_dbus_free (dbus);
  return NULL;
}

void
sl_run_dbus_free (SlRunDbus *dbus)
{
  if (dbus == NULL)
    return;
  for (guint i = 0; i < dbus->objects->len; i++)
    g_dbus_connection_unregister_object (dbus->connection, g_array_index (dbus->objects, guint, i));
  g_array_unref (dbus->objects);
  g_clear_pointer (&dbus->info, g_dbus_node_info_unref);
  g_clear_object (&dbus->connection);
  g_free (dbus);
}
